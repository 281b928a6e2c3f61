"""Options that many commands have, and options that exclude each other."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import click
from click.core import ParameterSource

from analyzer.cli.places import claim_output

_Function = TypeVar("_Function", bound=Callable[..., Any])


def json_option(help_text: str) -> Callable[[_Function], _Function]:
    """`--json`, as the parameter `as_json`: standard output is JSON and nothing else."""
    return printed_option("--json", "as_json", help_text)


def printed_option(name: str, parameter: str, help_text: str) -> Callable[[_Function], _Function]:
    """A flag that says what standard output holds; two of them, or one and `-o -`, are a usage error."""

    def claim(ctx: click.Context, param: click.Parameter, value: bool) -> bool:
        if value:
            claim_output(ctx, param)
        return value

    return click.option(name, parameter, is_flag=True, callback=claim, help=help_text)


def set_option(what: str) -> Callable[[_Function], _Function]:
    """`--set KEY=VALUE`, any number of times, as the parameter `settings`; `what` says what a variable changes."""
    help_text = f"A variable of the template; {what}; may be given again."
    return click.option("--set", "settings", metavar="KEY=VALUE", multiple=True, help=help_text)


def not_both(first: str, second: str, why: str) -> None:
    """Raise `click.UsageError` when both options stand on the command line: one of them would be ignored."""
    context = click.get_current_context()
    if _is_given(context, first) and _is_given(context, second):
        raise click.UsageError(f"{first} and {second} exclude each other: {why}", context)


def only_with(option: str, other: str, why: str) -> None:
    """Raise `click.UsageError` when the option stands on the command line without the other one: it would be ignored."""
    context = click.get_current_context()
    if _is_given(context, option) and not _is_given(context, other):
        raise click.UsageError(f"{option} needs {other}: {why}", context)


def _is_given(context: click.Context, option: str) -> bool:
    """Whether the option stands on the command line (of a pair such as `--verify/--no-verify` that one of the two)."""
    param = next(param for param in context.command.params if option in (*param.opts, *param.secondary_opts))
    name = param.name or ""
    if context.get_parameter_source(name) is not ParameterSource.COMMANDLINE:
        return False
    return not context.params[name] if option in param.secondary_opts else context.params[name] is not False
