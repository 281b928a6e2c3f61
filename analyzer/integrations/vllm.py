"""vLLM's parser interface: a tool parser and a reasoning parser that run one format spec.

A file of `analyzer export --to vllm-plugin` calls `register`; vLLM's own package is imported there and nowhere else.

How vLLM works with them (0.33, `DelegatingParser`): one pair for each request and choice. Both get deltas of text alone
(`engine_based_streaming`). The reasoning parser is asked first, until it says that reasoning is over, and hands on the text
it still holds; from then on the tool parser gets every delta. The structured-output engine makes reasoning parsers of its
own, which only see token ids: a grammar starts where reasoning is closed.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_right
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final

from analyzer.agent.ids import CallIds
from analyzer.integrations.halves import (
    CallsHalf,
    ReasoningHalf,
    Start,
    closed_start,
    closers,
    closes_reasoning,
    start_of,
)
from analyzer.integrations.openai import delta as chat_delta
from analyzer.integrations.plugins import Asked, tag_for
from analyzer.integrations.returned import ReturnedCalls
from analyzer.runtime.assemble import assemble
from analyzer.runtime.events import Event, ReasoningDelta
from analyzer.runtime.options import DEFAULT
from analyzer.runtime.parser import Parser
from analyzer.runtime.prompts import prompt_end, prompt_for
from analyzer.spec.document import parse_spec

if TYPE_CHECKING:
    from analyzer.spec.model import Spec

SLACK: Final = 16
"""So many more tokens of a prompt's end are decoded than it has characters at most."""


def register(name: str, spec_text: str) -> tuple[type, type]:
    """Make vLLM know a spec under a name; return the tool parser and the reasoning parser.

    Raises `ImportError` outside of vLLM, `SpecError` for a text that is no spec.
    """
    from vllm.reasoning.abs_reasoning_parsers import (  # noqa: PLC0415  (only inside the server)
        ReasoningParser,
        ReasoningParserManager,
    )
    from vllm.tool_parsers.abstract_tool_parser import (  # noqa: PLC0415
        DeltaMessage,
        StructuredOutputsParams,
        ToolParser,
        ToolParserManager,
    )

    spec = parse_spec(spec_text, file=f"{name} (plug-in)")
    shared = {
        "spec": spec,
        "protocol": sys.modules[DeltaMessage.__module__],
        "structured_outputs": StructuredOutputsParams,
    }
    tools = type("SpecToolParser", (ToolParserLogic, ToolParser), dict(shared))
    reasoning = type("SpecReasoningParser", (ReasoningParserLogic, ReasoningParser), dict(shared))
    ToolParserManager.register_module(name, module=tools)
    ReasoningParserManager.register_module(name, module=reasoning)
    return tools, reasoning


class _Shared:
    """What both parsers know."""

    spec: Spec
    protocol: Any
    """vLLM's module of `DeltaMessage`, `DeltaToolCall` and so on."""
    structured_outputs: Any
    """vLLM's `StructuredOutputsParams`."""
    engine_based_streaming = True
    model_tokenizer: Any

    def _kept(self, request: Any) -> Any:
        """The request, with special tokens in the text and the format's stops."""
        request.skip_special_tokens = False
        if hasattr(request, "spaces_between_special_tokens"):
            request.spaces_between_special_tokens = False
        stops = self._stop_ids()
        if stops and hasattr(request, "stop_token_ids"):
            request.stop_token_ids = list(dict.fromkeys([*(request.stop_token_ids or ()), *stops]))
        return request

    def _stop_ids(self) -> list[int]:
        """The tokens that end a turn; a stop that is no token of its own is left to the runtime."""
        vocabulary = self.model_tokenizer.get_vocab()
        return [vocabulary[stop] for stop in self.spec.grammar.stops if stop in vocabulary]

    def _told(self, events: Iterable[Event]) -> Any:
        """Events, already numbered, as one `DeltaMessage`; None when they say nothing."""
        content: list[str] = []
        reasoning: list[str] = []
        calls: dict[int, Any] = {}
        for event in events:
            said = chat_delta(event, "reasoning") or {}
            content.append(said.get("content", ""))
            reasoning.append(said.get("reasoning", ""))
            for piece in said.get("tool_calls", ()):
                known = calls.get(piece["index"])
                if known is None:
                    function = self.protocol.DeltaFunctionCall(**piece["function"])
                    calls[piece["index"]] = self.protocol.DeltaToolCall(**{**piece, "function": function})
                else:
                    known.function.arguments += piece["function"]["arguments"]
        fields: dict[str, Any] = {
            "content": "".join(content) or None,
            "reasoning": "".join(reasoning) or None,
            "tool_calls": list(calls.values()),
        }
        return self.protocol.DeltaMessage(**fields) if any(fields.values()) else None


def asked_of(request: Any) -> Asked:
    """Read what a request of vLLM says about tools."""
    return Asked.of(request.tools, request.tool_choice, getattr(request, "parallel_tool_calls", None))


class ToolParserLogic(_Shared):
    """The tool parser. In front of vLLM's `ToolParser` among the bases."""

    supports_required_and_named = False
    """Forced calls come in the format's own spelling, too."""
    structural_tag_model = None
    skip_reasoning_parsing = False
    """Set by the server where there is no reasoning parser: reasoning stays in the content then."""

    def __init__(self, tokenizer: Any, tools: Any = None) -> None:
        super().__init__(tokenizer, tools)  # type: ignore[call-arg]
        self._half: CallsHalf | None = None
        self._returned = ReturnedCalls(CallIds(self.spec.input.ids))
        self._waiting: list[Event] = []

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens, set stops, and hold calls to a grammar where the request asks for it."""
        asked = asked_of(request)
        if not asked.tools or asked.choice == "none":
            return request
        free = asked.forced or request.extract_structured_outputs() is None
        tag = tag_for(self.spec, asked) if free else None
        if tag is not None:
            request.structured_outputs = self.structured_outputs(structural_tag=json.dumps(tag))
            for key in ("response_format", "text"):
                if hasattr(request, key):
                    setattr(request, key, None)
        return self._kept(request)

    def extract_tool_calls(self, model_output: str, request: Any) -> Any:
        """Read a whole output, or what the reasoning parser left of it."""
        half = self._new(request, None)
        returned = ReturnedCalls(CallIds(self.spec.input.ids), whole=True)
        message = assemble(returned([*half.feed(model_output), *half.finish()])).message
        calls = [
            self.protocol.ToolCall(
                id=call.id,
                function=self.protocol.FunctionCall(name=call.name, arguments=call.arguments),
            )
            for call in message.tool_calls
        ]
        return self.protocol.ExtractedToolCallInformation(
            tools_called=bool(calls), tool_calls=calls, content=message.content
        )

    def extract_tool_calls_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
        request: Any,
    ) -> Any:
        """Read one more delta; only `delta_text` counts."""
        del previous_text, current_text, previous_token_ids, current_token_ids, delta_token_ids
        first = self._half is None
        if self._half is None:
            self._half = self._new(request, closed_start(self.spec))
        events = [*self._waiting, *self._half.feed(delta_text)]
        self._waiting = []
        if first:  # the server may have reasoning of the same delta, and then takes none of ours
            place = next((at for at, event in enumerate(events) if isinstance(event, ReasoningDelta)), None)
            if place is not None:
                events, self._waiting = events[:place], events[place:]
        return self._told(self._returned(events))

    def finish_streaming(self) -> Any:
        """Say what is left when the stream is over."""
        if self._half is None:
            return None
        events, self._waiting = [*self._waiting, *self._half.finish()], []
        return self._told(self._returned(events))

    def _new(self, request: Any, behind: Start | None) -> CallsHalf:
        """A half for a request; `behind` is where it begins behind reasoning, or a prompt that closed it."""
        asked = asked_of(request)
        options = asked.options(
            DEFAULT.with_(reasoning="content") if self.skip_reasoning_parsing else DEFAULT
        )
        settings = getattr(request, "chat_template_kwargs", None) or {}
        alone = self.skip_reasoning_parsing or not self.spec.reasoning
        start = Start(prompt_for(self.spec, settings)) if alone else behind
        return CallsHalf(self.spec, asked.tools, options, start)


class ReasoningParserLogic(_Shared):
    """The reasoning parser. In front of vLLM's `ReasoningParser` among the bases."""

    def __init__(self, tokenizer: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(tokenizer, *args, **kwargs)  # type: ignore[call-arg]
        self._settings = kwargs.get("chat_template_kwargs") or {}
        self._prompt: str | None = None
        self._half: ReasoningHalf | None = None
        self._rest = ""
        self._over = False
        self._request: Any = None

    @property
    def reasoning_start_str(self) -> str | None:
        """What opens reasoning."""
        return next((item.open.strip() for item in self.spec.reasoning if item.open.strip()), None)

    @property
    def reasoning_end_str(self) -> str | None:
        """What closes reasoning."""
        return next(iter(closers(self.spec)), None)

    def adjust_request(self, request: Any) -> Any:
        """Keep special tokens and set stops."""
        return self._kept(request)

    # ------------------------------------------------------------------------------------------------- where it begins

    def set_prompt_token_ids(self, prompt_token_ids: Sequence[int]) -> None:
        """Take the rendered prompt."""
        self._prompt = self._end_of(prompt_token_ids)

    def adjust_initial_state_from_prompt(self, prompt_token_ids: Sequence[int]) -> None:
        """Take the rendered prompt."""
        self._prompt = self._end_of(prompt_token_ids)

    def is_reasoning_end(self, input_ids: Sequence[int]) -> bool:
        """Whether no reasoning is to come behind a prompt: the prompt closed it, or the format has none."""
        if not self.spec.reasoning:
            return True
        start = start_of(self.spec, self._end_of(input_ids), {})
        parser = Parser(self.spec, prompt=start.prompt)
        parser.feed(start.begun)
        return not parser.in_reasoning and closes_reasoning(self.spec, start.prompt + start.begun)

    def is_reasoning_end_streaming(self, input_ids: Sequence[int], delta_ids: Iterable[int]) -> bool:
        """Whether reasoning is closed within the last tokens; asked while it is open."""
        return self._closed_at(input_ids, len(list(delta_ids))) is not None

    def extract_content_ids(self, input_ids: list[int]) -> list[int]:
        """Return the tokens behind the one that closes reasoning."""
        at = self._closed_at(input_ids, len(input_ids))
        return [] if at is None else list(input_ids[at:])

    def _closed_at(self, ids: Sequence[int], new: int) -> int | None:
        """Behind which token reasoning is closed, among the last `new` ones."""
        marks = closers(self.spec)
        if not marks:
            return None
        first = max(0, len(ids) - new - max(map(len, marks)))
        window = list(ids[first:])

        def closed(size: int) -> int:
            text = self._decode(window[:size])
            return sum(text.count(mark) for mark in marks)

        before = len(window) - new
        known = closed(before)
        if closed(len(window)) == known:
            return None
        sizes = range(before + 1, len(window) + 1)
        return first + sizes[bisect_right(sizes, known, key=closed)]

    def _end_of(self, ids: Sequence[int]) -> str:
        """The end of a prompt: enough to know the generation prompt, else all of it."""
        longest = max((len(prompt.text) for prompt in self.spec.turn.prompts), default=0)
        tail = self._decode(ids[-longest - SLACK :])
        return tail if prompt_end(self.spec, tail) is not None else self._decode(ids)

    def _decode(self, ids: Sequence[int]) -> str:
        return str(self.model_tokenizer.decode(list(ids), skip_special_tokens=False)) if len(ids) else ""

    # -------------------------------------------------------------------------------------------------------- the output

    def extract_reasoning(self, model_output: str, request: Any) -> tuple[str | None, str | None]:
        """Split a whole output into reasoning and the rest, which the tool parser reads."""
        half = self._new(asked_of(request))
        first, last = half.feed(model_output), half.finish()
        return first.reasoning + last.reasoning or None, first.rest + last.rest or None

    def extract_reasoning_streaming(
        self,
        previous_text: str,
        current_text: str,
        delta_text: str,
        previous_token_ids: Sequence[int],
        current_token_ids: Sequence[int],
        delta_token_ids: Sequence[int],
    ) -> Any:
        """Read one more delta; only `delta_text` counts. The rest is handed on when reasoning is over."""
        del previous_text, current_text, previous_token_ids, current_token_ids, delta_token_ids
        if self._half is None:
            self._half = self._new(Asked())
        found = self._half.feed(delta_text)
        self._rest += found.rest
        self._over = self._half.over
        if not found.reasoning:
            return None
        return self.protocol.DeltaMessage(reasoning=found.reasoning)

    def has_engine_confirmed_reasoning_end(self) -> bool:
        """Whether the tool parser goes on from here."""
        return self._over

    def get_streaming_fallback_content(self, text: str, request: Any) -> str | None:
        """Take the request: the stream ends inside reasoning, and `finish_streaming` is not told of it."""
        del text
        self._request = request
        return None

    def finish_streaming(self) -> Any:
        """Hand over what is held; at the end of a stream that was all reasoning, read the calls that stood in it."""
        if self._half is None:
            return None
        if self._over:
            rest, self._rest = self._rest + self._half.hand_over(), ""
            return self.protocol.DeltaMessage(content=rest) if rest else None
        found = self._half.finish()
        rest, self._rest = self._rest + found.rest, ""
        asked = Asked() if self._request is None else asked_of(self._request)
        calls = CallsHalf(self.spec, asked.tools or None, asked.options())
        events = [*calls.feed(rest), *calls.finish()]
        if found.reasoning:
            events.insert(0, ReasoningDelta(found.reasoning, 0, 0))
        return self._told(ReturnedCalls(CallIds(self.spec.input.ids))(events))

    def _new(self, asked: Asked) -> ReasoningHalf:
        start = start_of(self.spec, self._prompt, self._settings)
        return ReasoningHalf(self.spec, start, tools=asked.tools or None, options=asked.options())
