"""The other half of a tool call: describe the tools, check the calls, run them, send the results back.

    tools = Registry()

    @tools.tool
    def read_file(path: str) -> str:
        '''Read a text file.'''

    checked = check(parsed, tools.tools)            # every problem, as data
    results = run(tools, checked)                   # one result for each call, in order
    messages += turn_messages(parsed.message, results)

See docs/agent.md.
"""

from __future__ import annotations

from analyzer.agent.choice import (
    broken_promise,
    chosen,
    force_tool,
    parser_options,
    to_anthropic_choice,
    tool_names,
    with_choice,
    without_tools,
)
from analyzer.agent.cost import Cost, Size, tool_cost
from analyzer.agent.definitions import (
    from_anthropic,
    from_mcp,
    from_openai,
    mcp_writers,
    to_anthropic,
    to_mcp,
    to_openai,
)
from analyzer.agent.dispatch import Limits, dispatch, idempotency_keys, run
from analyzer.agent.examples import example_of
from analyzer.agent.functions import Cancellation, FunctionTool, IdempotencyKey
from analyzer.agent.ids import IdMap, new_id, with_ids
from analyzer.agent.prompted import (
    OFFER,
    Answer,
    Call,
    FencedReplies,
    JsonReplies,
    Unparsed,
    history,
    response_format,
    system_text,
)
from analyzer.agent.prompted_parser import PromptedParser
from analyzer.agent.registry import Registry
from analyzer.agent.replies import Prepare, anthropic_turn, in_call_order, turn_messages
from analyzer.agent.results import ToolError, ToolResult
from analyzer.agent.stream import ChatStream, Note
from analyzer.agent.turns import ModelTurn, read_turn
from analyzer.agent.validation import KINDS, CallProblem, Checked, CheckedCall, check

__all__ = [
    "KINDS",
    "OFFER",
    "Answer",
    "Call",
    "CallProblem",
    "Cancellation",
    "ChatStream",
    "Checked",
    "CheckedCall",
    "Cost",
    "FencedReplies",
    "FunctionTool",
    "IdMap",
    "IdempotencyKey",
    "JsonReplies",
    "Limits",
    "ModelTurn",
    "Note",
    "Prepare",
    "PromptedParser",
    "Registry",
    "Size",
    "ToolError",
    "ToolResult",
    "Unparsed",
    "anthropic_turn",
    "broken_promise",
    "check",
    "chosen",
    "dispatch",
    "example_of",
    "force_tool",
    "from_anthropic",
    "from_mcp",
    "from_openai",
    "history",
    "idempotency_keys",
    "in_call_order",
    "mcp_writers",
    "new_id",
    "parser_options",
    "read_turn",
    "response_format",
    "run",
    "system_text",
    "to_anthropic",
    "to_anthropic_choice",
    "to_mcp",
    "to_openai",
    "tool_cost",
    "tool_names",
    "turn_messages",
    "with_choice",
    "with_ids",
    "without_tools",
]
