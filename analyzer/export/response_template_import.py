"""The other way: a hand-written response template as a spec.

The spec is as good as the template: what only a chat template shows (results, prompts after results, defects) is not in it,
so it stays `unverified`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from pydantic import ValidationError

from analyzer.errors import ExportError
from analyzer.export.pattern_reader import Group, Read, read_pattern
from analyzer.spec.model import (
    CallsSegment,
    ContentSegment,
    End,
    Grammar,
    JsonLayout,
    Layout,
    Prompt,
    ReasoningSegment,
    Segment,
    SequenceLayout,
    Spec,
    Turn,
)
from analyzer.spec.parts import (
    ArgumentsSlot,
    Codecs,
    DialectCodec,
    IdSlot,
    IndexSlot,
    JsonCodec,
    KeySlot,
    NameSlot,
    Part,
    RawCodec,
    ValueSlot,
)

TARGET: Final = "response-template"
_REASONING: Final = ("thinking", "reasoning_content", "reasoning")
_PLACEHOLDER: Final = re.compile(r"\{([\w.]+)\}")


def import_response_template(data: Mapping[str, Any]) -> Spec:
    """Return the spec of a response template, or of a tokenizer_config.json that holds one."""
    found = data.get("response_template", data)
    if not isinstance(found, Mapping) or not isinstance(found.get("fields"), Mapping):
        raise ExportError("this is no response template: it has no fields", target=TARGET)
    if found.get("version", 1) != 1:
        raise ExportError(f"version {found['version']!r} is not known", target=TARGET, hint="Known is 1.")
    fields = found["fields"]
    unknown = sorted(set(fields) - {*_REASONING, "content", "tool_calls"})
    if unknown:
        raise ExportError(
            f"the field {unknown[0]!r} is no part of a spec",
            target=TARGET,
            hint="A spec has reasoning, content and calls.",
        )
    try:
        return _spec(found, fields)
    except (ValidationError, KeyError, TypeError, AttributeError) as error:
        raise ExportError(f"the response template is not valid: {error}", target=TARGET) from error


def _spec(data: Mapping[str, Any], fields: Mapping[str, Any]) -> Spec:
    anchors = _listed(data.get("start_anchor"))
    header = min(anchors, key=len) if anchors else ""
    segments: list[Segment] = []
    for name in _REASONING:
        if name in fields:
            opener, closer = _edge(fields[name], "open"), _edge(fields[name], "close")
            field = "reasoning_content" if name == "thinking" else name
            segments.append(ReasoningSegment(fields=(field,), open=opener.text, close=closer.text))
    content = fields.get("content", {})
    ends = _listed(content.get("close")) or [_edge(content, "close").text]
    begin = _edge(content, "open").text
    end = End(literal=ends[0].strip()) if ends[0].strip() and not begin else None
    segments.append(ContentSegment(open=begin, close=ends[0] if begin else "", end=end))
    stops = tuple(text.strip() for text in ends[1 if begin else 0 :] if text.strip())
    grammar = Grammar(stops=stops)
    if "tool_calls" in fields:
        calls = _calls(fields["tool_calls"], end)
        segments.append(calls)
        trigger = calls.open or _opener(calls.layouts[0])
        if trigger.strip():
            grammar = grammar.model_copy(update={"triggers": (trigger.strip(),)})
    prompts = (Prompt(text=header),) if header else ()
    return Spec(turn=Turn(header=header, prompts=prompts, segments=tuple(segments)), grammar=grammar)


def _opener(layout: Layout) -> str:
    if isinstance(layout, JsonLayout):
        return layout.open
    first = layout.parts[0]
    return first if isinstance(first, str) else ""


def _listed(value: Any) -> list[str]:
    return [value] if isinstance(value, str) else list(value or ())


def _edge(field: Mapping[str, Any], edge: str) -> Read:
    """The opener or closer of a field: of several literals the first."""
    literals = _listed(field.get(edge))
    if literals:
        out = Read()
        out.put(literals[0])
        return out
    pattern = field.get(f"{edge}_pattern")
    return read_pattern(pattern, TARGET) if isinstance(pattern, str) else Read()


# ------------------------------------------------------------------------------------------------------------------ calls


def _calls(field: Mapping[str, Any], end: End | None) -> CallsSegment:
    opener, closer = _edge(field, "open"), _edge(field, "close").text
    if end is not None and closer.strip() == end.literal:
        closer = ""  # nothing closes the calls but the end of the message
    section_open = next((text for text in opener.optional if text.strip()), "")
    section_close = ""
    if section_open:
        closer, section_close = _parted(closer, _listed(field.get("close")))
    content, args = field.get("content", "text"), field.get("content_args", {})
    transform = field.get("transform")
    each = bool(field.get("transform_each"))
    if content == "json" and not _groups(opener):
        name, arguments, identity = _paths(transform, each=each)
        array = each
        layout: Layout = JsonLayout(
            open="" if array else opener.text.lstrip(),
            close="" if array else closer,
            name=name,
            arguments=arguments,
            id=identity,
        )
        if array:
            return CallsSegment(
                open=f"{opener.text.lstrip()}[",
                close=f"]{closer}",
                separator=", ",
                array=True,
                layouts=(layout,),
                end=end,
            )
        return CallsSegment(
            open=section_open, close=section_close, separator="\n", layouts=(layout,), end=end
        )
    layout = SequenceLayout(
        parts=(*_parts(opener), *_arguments(content, args), *([closer] if closer else []))
    )
    return CallsSegment(open=section_open, close=section_close, layouts=(layout,), end=end)


def _parted(closer: str, closers: Sequence[str]) -> tuple[str, str]:
    """A call's closer and the section's: one literal of the list begins with another."""
    shorter = [text for text in closers if text != closer and closer.startswith(text)]
    own = max(shorter, key=len, default=closer)
    return own, closer[len(own) :]


def _groups(read: Read) -> list[str]:
    return [piece.name for piece in read.pieces if isinstance(piece, Group)]


def _paths(transform: Any, *, each: bool) -> tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...] | None]:
    """Where name, arguments and id stand in the call's JSON."""
    if transform is None:
        return ("name",), ("arguments",), None
    if not isinstance(transform, Mapping):
        raise ExportError("the transform of tool_calls makes no call", target=TARGET)
    function = transform.get("function", transform)
    if function == "{content}":
        return ("name",), ("arguments",), None
    found = []
    for value in (function["name"], function["arguments"], transform.get("id")):
        place = _PLACEHOLDER.fullmatch(value) if isinstance(value, str) else None
        path = tuple(place[1].split(".")) if place else ()
        found.append(path if each else path[1:])
    if not found[0] or not found[1]:
        raise ExportError("the transform of tool_calls names no place of name and arguments", target=TARGET)
    return found[0], found[1], found[2] or None


def _parts(read: Read) -> list[Part]:
    slots: dict[str, Part] = {"name": NameSlot(), "id": IdSlot(), "index": IndexSlot()}
    unknown = [name for name in _groups(read) if name not in slots]
    if unknown:
        raise ExportError(f"the group {unknown[0]!r} of an opener is not known", target=TARGET)
    made = [piece if isinstance(piece, str) else slots[piece.name] for piece in read.pieces]
    if made and isinstance(made[0], str):
        made[0] = made[0].lstrip()
    return [part for part in made if part != ""]


def _arguments(content: str, args: Mapping[str, Any]) -> list[Part]:
    if content == "json":
        delimiters = args.get("string_delims")
        if delimiters:
            bare = bool(args.get("unquoted_keys"))
            return [ArgumentsSlot(codec=DialectCodec(quote=delimiters[0][0], bare_keys=bare))]
        return [ArgumentsSlot(codec=JsonCodec())]
    if content == "xml-inline":
        pieces = read_pattern(args["tag_pattern"], TARGET).pieces
        item = tuple(
            piece if isinstance(piece, str) else KeySlot() if piece.name == "key" else ValueSlot()
            for piece in pieces
        )
        parser = (args.get("value_parser") or {}).get("name")
        string = JsonCodec() if parser == "json" else RawCodec()
        return [ArgumentsSlot(item=item, codecs=Codecs(string=string))]
    raise ExportError(
        f"arguments parsed as {content!r} are not read", target=TARGET, hint="Read are json and xml-inline."
    )
