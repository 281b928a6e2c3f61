"""Renders templates: requests in, outcomes out, in a process that can be stopped.

``outcome`` holds the values, ``worker`` the process and its in-process twin, ``messages`` the normalisation that
servers apply first.  ``environment`` (the Jinja environment) and ``facts`` (what a template's syntax tree says) are
imported by their own names, since they load jinja2.
"""

from analyzer.render.messages import as_transformers
from analyzer.render.outcome import (
    FAILURE_KINDS,
    STANDARD_VARIABLES,
    STOPPED,
    FailureKind,
    Outcome,
    Rendered,
    RenderFailure,
    RenderRequest,
)
from analyzer.render.worker import (
    DEFAULT_LIMITS,
    Fetch,
    InProcessRenderer,
    Limits,
    PipelinedRenderer,
    Renderer,
    RenderWorker,
    submit,
)

__all__ = [
    "DEFAULT_LIMITS",
    "FAILURE_KINDS",
    "STANDARD_VARIABLES",
    "STOPPED",
    "FailureKind",
    "Fetch",
    "InProcessRenderer",
    "Limits",
    "Outcome",
    "PipelinedRenderer",
    "RenderFailure",
    "RenderRequest",
    "RenderWorker",
    "Rendered",
    "Renderer",
    "as_transformers",
    "submit",
]
