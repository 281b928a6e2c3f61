"""Random chat templates: each format of `tests.generated.formats` as the Jinja text that writes it.

The template is written from the spec alone, with the plainest Jinja there is; what it renders is what
`analyzer.verify.writer.write_turn` writes, and a test holds the two against each other.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hypothesis import strategies as st

from analyzer.spec import model, parts
from tests.generated.formats import Format, formats


@dataclass(frozen=True, slots=True)
class Generated:
    """A random format and its template."""

    format: Format
    text: str


def templates() -> st.SearchStrategy[Generated]:
    """Random formats with their templates."""
    return formats().map(lambda drawn: Generated(drawn, write_template(drawn)))


def quoted(text: str) -> str:
    """A text as a Jinja string."""
    escaped = (
        text.replace("\\", "\\\\")
        .replace("'", "\\'")
        .replace("\n", "\\n")
        .replace("\t", "\\t")
        .replace("\r", "\\r")
    )
    return f"'{escaped}'"


def out(*expressions: str) -> str:
    """A line that prints expressions."""
    shown = [expression for expression in expressions if expression != "''"]
    return "{{- " + " ~ ".join(shown) + " -}}" if shown else ""


def write_template(given: Format) -> str:
    """The template of a format."""
    return "\n".join(line for line in _lines(given) if line)


def _lines(given: Format) -> Iterator[str]:
    spec = given.spec
    yield from _macros(spec, given.json_style)
    if any(segment.kept == "current_turn" for segment in spec.reasoning):
        yield "{%- set ns = namespace(last=-1) -%}"
        yield "{%- for message in messages if message.role == 'user' -%}{%- set ns.last = ns.last + 1 -%}{%- endfor -%}"
        yield "{%- set seen = namespace(users=-1) -%}"
    yield out(quoted(given.bos))
    yield "{%- if tools -%}"
    yield out(quoted(given.system[0] + "Tools:\n"), "tools | tojson", quoted(given.system[1]))
    yield "{%- endif -%}"
    yield "{%- for message in messages -%}"
    yield "{%- if message.role == 'system' -%}"
    yield out(quoted(given.system[0]), "message.content", quoted(given.system[1]))
    yield "{%- elif message.role == 'user' -%}"
    if any(segment.kept == "current_turn" for segment in spec.reasoning):
        yield "{%- set seen.users = seen.users + 1 -%}"
    yield out(quoted(given.user[0]), "message.content", quoted(given.user[1]))
    yield "{%- elif message.role == 'tool' -%}"
    if spec.results is not None:
        yield from _results(spec.results)
    yield "{%- else -%}"
    yield from _turn(given)
    yield "{%- endif -%}"
    yield "{%- endfor -%}"
    yield "{%- if add_generation_prompt -%}"
    yield from _prompt(given)
    yield "{%- endif -%}"


def _prompt(given: Format) -> Iterator[str]:
    special = [prompt for prompt in given.spec.turn.prompts if prompt.set and prompt.after == "user"]
    for prompt in special:
        ((name, value),) = prompt.set.items()
        test = name if value else f"not {name}"
        yield "{%- if " + f"{name} is defined and {test}" + " -%}"
        yield out(quoted(prompt.text))
        yield "{%- else -%}"
    yield out(quoted(given.spec.turn.prompts[0].text))
    yield "{%- endif -%}" * len(special)


def _results(results: model.Results) -> Iterator[str]:
    shared = results.grouping == "shared_turn"
    first = "{%- if loop.first or loop.previtem.role != 'tool' -%}"
    last = "{%- if loop.last or loop.nextitem.role != 'tool' -%}"
    if shared:
        yield (
            first
            + out(quoted(results.header))
            + "{%- else -%}"
            + out(quoted(results.separator))
            + "{%- endif -%}"
        )
    else:
        yield out(quoted(results.header))
    content = {"raw": "message.content", "json": "message.content | tojson"}.get(results.content, "")
    spelt = {"id": "message.tool_call_id", "name": "message.name", "content": content}
    yield out(*(quoted(part) if isinstance(part, str) else f"({spelt[part.slot]})" for part in results.parts))
    yield (last + out(quoted(results.end)) + "{%- endif -%}") if shared else out(quoted(results.end))


# ------------------------------------------------------------------------------------------------------------- turns


def _turn(given: Format) -> Iterator[str]:
    turn = given.spec.turn
    yield out(quoted(turn.header))
    if turn.header_repeats:
        yield "{%- set said = namespace(any=false) -%}"
    segments = list(turn.segments)
    for segment in segments:
        value = {"reasoning": "thought", "content": "message.content"}.get(segment.kind, "message.tool_calls")
        test = value
        if turn.header_repeats and segment.kind == "content":  # an empty turn is a message too
            test = "message.content or not message.tool_calls"
        if segment.kind == "reasoning":
            shown = "true" if segment.kept == "always" else "seen.users == ns.last"
            yield "{%- set thought = (message.reasoning_content or '') if " + shown + " else '' -%}"
        when = {"alone": "not message.tool_calls", "beside_calls": "message.tool_calls"}.get(
            getattr(segment, "when", ""), ""
        )
        if when:
            yield "{%- if " + when + " -%}"
        yield "{%- if " + test + " -%}"
        if turn.header_repeats:
            yield (
                "{%- if said.any -%}" + out(quoted(turn.header)) + "{%- endif -%}{%- set said.any = true -%}"
            )
        if segment.kind == "calls":
            yield from _calls(segment, given)
        else:
            yield out(quoted(segment.open), value, quoted(segment.close))
        if turn.header_repeats and segment.end is not None:
            yield out(quoted(segment.end.literal))
        if segment.kind != "calls" and segment.empty:
            yield "{%- else -%}" + out(quoted(segment.empty))
        yield "{%- endif -%}"
        if when:
            yield "{%- endif -%}"
    if not turn.header_repeats:
        ends = [segment.end.literal for segment in segments if segment.end is not None]
        yield out(quoted(ends[-1]))
    yield out(quoted(given.after_end))


def _calls(segment: model.CallsSegment, given: Format) -> Iterator[str]:
    yield out(quoted(segment.open))
    yield "{%- for call in message.tool_calls -%}"
    yield "{%- set at = loop.index0 -%}"
    if segment.separator:
        yield "{%- if not loop.first -%}" + out(quoted(segment.separator)) + "{%- endif -%}"
    layout = segment.layouts[0]
    if layout.kind == "json":
        yield out(quoted(layout.open))
    for part in layout.parts:
        yield from _part(part, given)
    if layout.kind == "json":
        yield out(quoted(layout.close))
    yield "{%- endfor -%}"
    yield out(quoted(segment.close))


def _part(part: Any, given: Format) -> Iterator[str]:
    arguments = "call.function.arguments"
    if isinstance(part, str):
        yield out(quoted(part))
    elif isinstance(part, parts.NameSlot):
        yield out("call.function.name")
    elif isinstance(part, parts.IdSlot) and part.pattern is not None:
        before, _, after = part.pattern.partition("{name}")
        link = after.removesuffix("{index}")
        yield out(quoted(before), "call.function.name", quoted(link), f"(at + {part.start})")
    elif isinstance(part, parts.IdSlot):
        yield out("call.id")
    elif isinstance(part, parts.IndexSlot):
        yield out(f"(at + {part.start})")
    elif part.item is None:
        yield _whole(part.codec, arguments, given)
    else:
        yield "{%- for key, value in " + arguments + " | items -%}"
        if part.separator:
            yield "{%- if not loop.first -%}" + out(quoted(part.separator)) + "{%- endif -%}"
        yield out("item(key, value)")
        yield "{%- endfor -%}"


def _whole(codec: parts.Codec, arguments: str, given: Format) -> str:
    tojson = f"tojson({given.json_style})" if given.json_style else "tojson"
    if isinstance(codec, parts.JsonTextCodec):
        if given.text_arguments:
            return out(f"(({arguments} if {arguments} is string else ({arguments} | tojson)) | tojson)")
        return out(f"(({arguments} | tojson) | tojson)")
    if isinstance(codec, parts.JsonCodec):
        if given.text_arguments:
            return out(f"({arguments} if {arguments} is string else ({arguments} | {tojson}))")
        return out(f"({arguments} | {tojson})")
    return out(f"spell({arguments})")


# ------------------------------------------------------------------------------------------------------------ values


def _macros(spec: model.Spec, json_style: str) -> Iterator[str]:
    calls = spec.calls
    slots = [part for layout in calls.layouts for part in layout.parts] if calls is not None else []
    for slot in slots:
        if isinstance(slot, parts.ArgumentsSlot) and isinstance(slot.codec, parts.DialectCodec):
            yield from _dialect(slot.codec)
        elif isinstance(slot, parts.ArgumentsSlot) and slot.item is not None and slot.codecs is not None:
            yield from _item_macros(slot.item, slot.codecs, json_style)


def _dialect(codec: parts.DialectCodec) -> Iterator[str]:
    quote = quoted(codec.quote)
    key = "key" if codec.bare_keys else f"{quote} ~ key ~ {quote}"
    yield "{%- macro spell(value) -%}"
    yield "{%- if value is string -%}" + out(quote, "value", quote)
    yield "{%- elif value is mapping -%}" + out(quoted("{"))
    yield "{%- for key, inner in value | items -%}"
    yield (
        out("(',' if not loop.first else '')", key, "':'", "spell(inner)")
        + "{%- endfor -%}"
        + out(quoted("}"))
    )
    yield "{%- elif value is iterable -%}" + out(quoted("["))
    yield (
        "{%- for inner in value -%}"
        + out("(',' if not loop.first else '')", "spell(inner)")
        + "{%- endfor -%}"
    )
    yield out(quoted("]")) + "{%- else -%}" + out("(value | tojson)") + "{%- endif -%}"
    yield "{%- endmacro -%}"


_TYPE_TESTS = (
    ("null", "value is none"),
    ("boolean", "value is boolean"),
    ("string", "value is string"),
    ("integer", "value is integer"),
    ("number", "value is number"),
    ("object", "value is mapping"),
    ("array", "true"),
)


def _item_macros(item: tuple[parts.ItemPart, ...], codecs: parts.Codecs, json_style: str) -> Iterator[str]:
    yield "{%- macro spell(value) -%}"
    for number, (kind, test) in enumerate(_TYPE_TESTS):
        yield "{%- " + f"{'elif' if number else 'if'} {test}" + " -%}"
        yield _spelt(codecs.of(kind), kind, json_style)  # type: ignore[arg-type]
    yield "{%- endif -%}{%- endmacro -%}"
    yield "{%- macro item(key, value) -%}"
    for part in item:
        if isinstance(part, str):
            yield out(quoted(part))
        elif isinstance(part, parts.KeySlot):
            yield out("key")
        elif isinstance(part, parts.ValueSlot):
            yield out("spell(value)")
        else:
            for number, (kind, test) in enumerate(_TYPE_TESTS):
                word = part.words.get(kind, "")  # type: ignore[call-overload]
                yield "{%- " + f"{'elif' if number else 'if'} {test}" + " -%}" + out(quoted(word))
            yield "{%- endif -%}"
    yield "{%- endmacro -%}"


def _spelt(codec: parts.Codec, kind: str, json_style: str) -> str:
    if isinstance(codec, parts.NestedCodec):
        pairs = "value | items" if kind == "object" else "value"
        if kind == "object":
            return "{%- for key, inner in " + pairs + " -%}" + out("item(key, inner)") + "{%- endfor -%}"
        return (
            "{%- for inner in "
            + pairs
            + " -%}"
            + out(f"item({quoted(codec.array_key)}, inner)")
            + "{%- endfor -%}"
        )
    if isinstance(codec, parts.PythonCodec):
        return out("('%r' | format(value))")
    if isinstance(codec, parts.QuotedCodec):
        return out(quoted(codec.open), "value", quoted(codec.close))
    if isinstance(codec, parts.EscapedCodec):
        return out("(value | e)")
    if isinstance(codec, parts.CdataCodec):
        special = " or ".join(f"{quoted(character)} in value" for character in "<>&\n\r\"'")
        return (
            "{%- if "
            + special
            + " -%}"
            + out(quoted(codec.open), "value", quoted(codec.close))
            + ("{%- else -%}" + out("value") + "{%- endif -%}")
        )
    if isinstance(codec, parts.RawCodec):
        return out("value")
    tojson = f"tojson({json_style})" if json_style else "tojson"
    return out(f"(value | {tojson})")


def sample_messages(*, reasoning: bool) -> list[dict[str, Any]]:
    """Assistant messages that every format can write: text, one call, two calls, reasoning where there is any."""
    call = {"name": "get_weather", "arguments": {"city": "Paris", "days": 3, "deep": {"a": ["x"]}}}
    other = {"name": "list_hotels", "arguments": {"city": "New York", "full": True}}
    found: list[dict[str, Any]] = [
        {"content": "All is well."},
        {"content": "", "calls": [call]},
        {"content": "", "calls": [call, other]},
        {"content": "Let me look.", "calls": [other]},
    ]
    if reasoning:
        found += [{**message, "reasoning": "It may rain."} for message in found]
    return json.loads(json.dumps(found))  # type: ignore[no-any-return]
