"""SGLang's parser interface: a tool-call detector and a reasoning detector that run one format spec.

A file of `analyzer export --to sglang-plugin` calls `register`; SGLang's own package is imported there and nowhere else.

How SGLang works with them (0.5.23): one of each for every request and choice. The reasoning detector gets every delta of the
turn, and what it calls normal text goes to the tool detector where the request has tools, else to the client. Neither sees
the prompt; the reasoning detector is told whether the request wants reasoning.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any, Final

from analyzer.agent.ids import CallIds
from analyzer.chat import Tool
from analyzer.errors import ExportError, UsageError
from analyzer.export import structural_tag
from analyzer.export.result import Options as ExportOptions
from analyzer.integrations.halves import CallsHalf, Halves, ReasoningHalf, Start, closers
from analyzer.integrations.plugins import LOG, Asked, tag_for
from analyzer.integrations.returned import ReturnedCalls
from analyzer.runtime.assemble import assemble
from analyzer.runtime.events import ArgumentsDelta, CallStart, Event, TextDelta
from analyzer.runtime.options import DEFAULT
from analyzer.runtime.parser import Parser
from analyzer.runtime.prompts import prompt_for
from analyzer.spec.document import parse_spec

if TYPE_CHECKING:
    from analyzer.spec.model import Spec


OPTIONS: Final = DEFAULT.with_(reasoning="content")
"""Reasoning that no reasoning detector took stays in the text."""


def register(name: str, spec_text: str) -> tuple[type, type | None]:
    """Make SGLang know a spec under a name; return the two detectors, None for reasoning where the format has none.

    To be called before the server reads its arguments, in each of its processes. Raises `ImportError` outside of SGLang,
    `SpecError` for a text that is no spec.
    """
    from sglang.srt.function_call.base_format_detector import (  # noqa: PLC0415  (only inside the server)
        BaseFormatDetector,
    )
    from sglang.srt.function_call.core_types import ToolCallItem  # noqa: PLC0415
    from sglang.srt.function_call.function_call_parser import FunctionCallParser  # noqa: PLC0415
    from sglang.srt.parser.reasoning_parser import (  # noqa: PLC0415
        BaseReasoningFormatDetector,
        ReasoningParser,
    )

    spec = parse_spec(spec_text, file=f"{name} (plug-in)")
    shared = {"spec": spec, "types": sys.modules[ToolCallItem.__module__]}
    tools = type("SpecDetector", (DetectorLogic, BaseFormatDetector), shared)
    FunctionCallParser.ToolCallParserEnum[name] = tools
    if not spec.reasoning:
        return tools, None
    shared = {"spec": spec, "types": sys.modules[BaseReasoningFormatDetector.__module__]}
    reasoning = type("SpecReasoningDetector", (ReasoningDetectorLogic, BaseReasoningFormatDetector), shared)
    ReasoningParser.DetectorMap[name.lower()] = reasoning
    return tools, reasoning


class DetectorLogic:
    """The tool-call detector. In front of SGLang's `BaseFormatDetector` among the bases."""

    spec: Spec
    types: Any
    """SGLang's module of `ToolCallItem` and so on."""

    def __init__(self) -> None:
        super().__init__()
        self._half: CallsHalf | None = None
        self._returned = ReturnedCalls(CallIds())
        segment = self.spec.calls
        self.bot_token = segment.open.strip() if segment is not None else ""
        self.eot_token = segment.close.strip() if segment is not None else ""

    def has_tool_call(self, text: str) -> bool:
        """Whether parsing takes anything out of the text: calls, or markers of the format."""
        parsed = _whole(self.spec, text, None)
        return bool(parsed.tool_calls) or (parsed.content or "") != text

    def detect_and_parse(self, text: str, tools: list[Any]) -> Any:
        """Read a whole text; `tool_index` is the tool's place in the request, as SGLang has it there."""
        asked = Asked.of(tools)
        message = _whole(self.spec, text, asked.tools)
        places = {tool.name: place for place, tool in enumerate(asked.tools)}
        items = [
            self.types.ToolCallItem(
                tool_index=places.get(call.name, -1), name=call.name, parameters=call.arguments
            )
            for call in message.tool_calls
        ]
        return self.types.StreamingParseResult(normal_text=message.content or "", calls=items)

    def parse_streaming_increment(self, new_text: str, tools: list[Any]) -> Any:
        """Read one more delta; `tool_index` counts the calls."""
        if self._half is None:
            self._half = CallsHalf(self.spec, Asked.of(tools).tools, OPTIONS)
        return self._told(self._half.feed(new_text))

    def finish(self, tools: list[Any]) -> Any:
        """Say what is left when the stream is over."""
        del tools
        return self._told([] if self._half is None else self._half.finish())

    def supports_structural_tag(self) -> bool:
        """Return False: the older form, which SGLang would make of `structure_info`, says less than `get_structural_tag`."""
        return False

    def parses_required_natively(self) -> bool:
        """Return True: forced calls come in the format's own spelling, too."""
        return True

    def structure_info(self) -> Callable[[str], Any]:
        """Return what begins and ends a call of a tool; raises `ExportError` where the older form cannot say it."""

        def info(name: str) -> Any:
            payload = structural_tag.export(self.spec, [Tool(name)], ExportOptions(legacy=True)).payload
            [structure] = payload["structures"]
            return self.types.StructureInfo(structure["begin"], structure["end"], payload["triggers"][0])

        return info

    def get_structural_tag(
        self,
        tools: list[Any] | None = None,
        tool_choice: Any = "auto",
        thinking_mode: bool = False,  # noqa: FBT001, FBT002  (SGLang's signature)
        parallel_tool_calls: bool = True,  # noqa: FBT001, FBT002
    ) -> Any:
        """Return the structural tag, None where nothing can be said.

        SGLang asks when a call is forced or a tool is strict, so `auto` is constrained here. A forced call behind reasoning
        that no reasoning parser takes is left free: the tag would forbid the reasoning.
        """
        asked = Asked.of(tools, tool_choice, parallel_tool_calls)
        if asked.choice == "none" or (asked.forced and thinking_mode and self.spec.reasoning):
            return None
        if asked.choice == "auto":
            asked = Asked(asked.tools, "auto", asked.parallel, strict=True)
        try:
            payload = tag_for(self.spec, asked)
        except (ExportError, UsageError) as error:
            LOG.warning("Calls are not constrained: %s", error)
            return None
        if payload is None:
            return None
        from xgrammar import StructuralTag  # noqa: PLC0415  (SGLang has it)

        return StructuralTag.model_validate(payload)

    def _told(self, events: Iterable[Event]) -> Any:
        content: list[str] = []
        items: list[Any] = []
        for event in self._returned(events):
            if isinstance(event, TextDelta):
                content.append(event.text)
            elif isinstance(event, CallStart):
                items.append(self.types.ToolCallItem(tool_index=event.index, name=event.name, parameters=""))
            elif isinstance(event, ArgumentsDelta) and event.text:
                items.append(self.types.ToolCallItem(tool_index=event.index, parameters=event.text))
        return self.types.StreamingParseResult(normal_text="".join(content), calls=items)


def _whole(spec: Spec, text: str, tools: tuple[Tool, ...] | None) -> Any:
    half = CallsHalf(spec, tools, OPTIONS)
    return assemble(ReturnedCalls(CallIds(), whole=True)([*half.feed(text), *half.finish()])).message


class ReasoningDetectorLogic:
    """The reasoning detector. In front of SGLang's `BaseReasoningFormatDetector` among the bases."""

    spec: Spec
    types: Any
    """SGLang's module of `StreamingParseResult`."""
    stream_reasoning: bool
    _force_nonempty_content: bool
    _accumulated_reasoning: str

    def __init__(
        self,
        stream_reasoning: bool = True,  # noqa: FBT001, FBT002  (SGLang's signature)
        force_reasoning: bool | None = None,  # noqa: FBT001
        *,
        tool_call_parser_active: bool = False,
        continue_final_message: bool = False,
        previous_content: str = "",
        force_nonempty_content: bool = False,
    ) -> None:
        opener = next((item.open.strip() for item in self.spec.reasoning if item.open.strip()), "")
        super().__init__(  # type: ignore[call-arg]
            opener,
            closers(self.spec)[0] if closers(self.spec) else "",
            force_reasoning=bool(force_reasoning),
            stream_reasoning=stream_reasoning,
            continue_final_message=continue_final_message,
            previous_content=previous_content,
            force_nonempty_content=force_nonempty_content,
        )
        self._tools_follow = tool_call_parser_active
        if continue_final_message:
            self._start = Start(self.spec.turn.header, previous_content)
        else:
            self._start = Start(_prompt(self.spec, reasoning=force_reasoning))
        self._half = self._new()
        self._held = ""

    def _detect_and_parse_impl(self, text: str) -> Any:
        half = self._new()
        first, last = half.feed(text), half.finish()
        return self._told(Halves(first.reasoning + last.reasoning, first.rest + last.rest))

    def _parse_streaming_increment_impl(self, new_text: str) -> Any:
        found = self._half.feed(new_text)
        self._in_reasoning = self._half.reasoning_open
        if self.stream_reasoning:
            return self._told(found)
        self._held += found.reasoning
        if self._half.reasoning_open:
            return self._told(Halves("", found.rest))
        held, self._held = self._held, ""
        return self._told(Halves(held, found.rest))

    def finish(self) -> Any:
        """Say what is left when the stream is over."""
        reasoning_open = self._half.reasoning_open
        found = self._half.finish()
        held, self._held = self._held, ""
        if self._force_nonempty_content and reasoning_open:
            said = f"{self._accumulated_reasoning}{held}{found.reasoning}{found.rest}"
            self._accumulated_reasoning = ""
            return self._told(Halves("", said))
        return self._told(Halves(held + found.reasoning, found.rest))

    def _new(self) -> ReasoningHalf:
        return ReasoningHalf(self.spec, self._start, rest="raw" if self._tools_follow else "content")

    def _told(self, found: Halves) -> Any:
        return self.types.StreamingParseResult(normal_text=found.rest, reasoning_text=found.reasoning)


def _prompt(spec: Spec, *, reasoning: bool | None) -> str:
    """The generation prompt of a request that wants reasoning or not; the default one where none is of that kind."""
    default = prompt_for(spec, {})
    texts = [default, *(prompt.text for prompt in spec.turn.prompts)]
    if reasoning is None:
        return default
    fitting = [text for text in texts if Parser(spec, prompt=text).in_reasoning is reasoning]
    return fitting[0] if fitting else default
