"""The field `tool_calls` of a response template: how one call is found and what its body is parsed with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from analyzer.errors import ExportError
from analyzer.export.patterns import alternatives, literal, maybe, of_parts, optional, soft
from analyzer.export.result import Losses
from analyzer.spec.model import CallsSegment, JsonLayout, SequenceLayout, Spec
from analyzer.spec.parts import ArgumentsSlot, IdSlot, NameSlot, Part, QuotedCodec, TypeSlot


@dataclass(frozen=True, slots=True)
class Call:
    """One call: what opens it (a pattern), what its body is, what closes it (literals, most wanted first)."""

    open: str
    close: tuple[str, ...]
    body: dict[str, Any]
    next: str = ""
    """Where a call has no closer: the literal that begins the next one."""


def calls_field(spec: Spec, losses: Losses, target: str) -> dict[str, Any]:
    """Return the field; `ExportError` where no parser of a response template reads the calls."""
    segment = spec.calls
    assert segment is not None  # noqa: S101  (the caller asked)
    if len(segment.layouts) > 1:
        losses.add("other_layouts", "Only the first spelling of a call is read.")
    layout = segment.layouts[0]
    if segment.array:
        return _array(spec, segment, layout, losses, target)
    if isinstance(layout, SequenceLayout) and _is_python(segment, layout):
        return _python(segment, losses, target)
    call = (
        _json(layout, losses, target)
        if isinstance(layout, JsonLayout)
        else _sequence(spec, layout, losses, target)
    )
    return _framed(spec, segment, call, losses, target)


def _framed(spec: Spec, segment: CallsSegment, call: Call, losses: Losses, target: str) -> dict[str, Any]:
    """One region a call, with the section's markers as optional parts of the first opener and the last closer."""
    before = alternatives([_marker(segment.open), _marker(segment.separator)])
    own = call.open
    first = call.next
    written = (spec.turn.header, *(prompt.text for prompt in spec.turn.prompts))
    if first and any(text.strip().endswith(first) for text in written):
        raise ExportError(
            "the prompt writes what opens the first call",
            target=target,
            hint="A response template finds a call by its opener in the model's own text.",
        )
    if not own and not segment.open.strip():
        raise ExportError("nothing opens a call", target=target, hint="A region needs an opener.")
    gap = optional(_white(_content_close(spec)))
    opener = f"{gap}{maybe(before) if own else before}{own}"
    field: dict[str, Any] = {"open_pattern": opener, "repeats": True}
    section_close = segment.close if segment.close.strip() else ""
    if call.close:
        field.update(_closed(call.close, section_close))
        losses.add(
            "closer_in_value",
            f"An argument that holds {call.close[0].strip()!r} ends the call too early: the call is lost.",
        )
    else:
        ends = [section_close, segment.end.literal if segment.end else "", *spec.grammar.stops]
        separators = [literal(segment.separator)] if segment.separator.strip() else []
        following = [f"(?={literal(call.next)})"] if call.next else []
        if own.startswith("(?="):  # a bare object: the next one ends it, not its own beginning
            following = [rf"(?<=\}}){_marker(segment.separator)}{own}"]
            separators = []
            if segment.parallel and not segment.separator:
                losses.add(
                    "adjacent_calls",
                    "Of calls that follow one another directly only a single one is read: nothing parts them.",
                )
        closers = [*separators, *following, *[literal(end.strip()) for end in ends if end.strip()]]
        if closers:
            field["close_pattern"] = "|".join(dict.fromkeys(closers))
            losses.add("closer_in_value", "An argument that holds what begins the next call ends the call.")
    return {**field, **call.body}


def _closed(closes: tuple[str, ...], section_close: str) -> dict[str, Any]:
    """The closer as literals where they are few, which servers can make a grammar of."""
    plain = list(dict.fromkeys(spelling for close in closes for spelling in (close, close.strip())))
    if not section_close:
        return {"close": plain[0] if len(plain) == 1 else plain}
    joined = [f"{close}{section_close}" for close in plain]
    joined += [f"{close}{section_close.lstrip()}" for close in plain]
    return {"close": list(dict.fromkeys([*joined, *plain]))}


def _marker(text: str) -> str:
    """A marker with soft ends; white space alone is optional as it is."""
    return soft(text) if text.strip() else literal(text)


def _white(text: str) -> str:
    return text if not text.strip() else ""


def _content_close(spec: Spec) -> str:
    return next((segment.close for segment in spec.content if segment.when != "alone" and segment.close), "")


# ------------------------------------------------------------------------------------------------------------------- JSON


def _transform(name: str, arguments: str, identity: str = "") -> dict[str, Any]:
    head = {"id": identity} if identity else {}
    return {**head, "type": "function", "function": {"name": name, "arguments": arguments}}


def _json_transform(layout: JsonLayout, root: str, losses: Losses, target: str) -> dict[str, Any]:
    if layout.name == "key":
        raise ExportError(
            "the tool's name is the key of the call's object",
            target=target,
            hint="A response template reads a name from a pattern or a fixed key only.",
        )
    if layout.arguments_codec == "python":
        raise ExportError("the arguments are a Python literal inside JSON", target=target)
    if layout.arguments_codec == "json_text":
        losses.add("arguments_as_text", "Arguments arrive as JSON text, as the format writes them.")
    names = [".".join([*root.split(), *path]) for path in (layout.name, layout.arguments, layout.id or ())]
    written = layout.id is not None and any(isinstance(part, IdSlot) for part in layout.parts)
    if layout.id is not None and not written:
        losses.add("id", "The call's id is not read.")
    return _transform(f"{{{names[0]}}}", f"{{{names[1]}}}", f"{{{names[2]}}}" if written else "")


def _json(layout: JsonLayout, losses: Losses, target: str) -> Call:
    body = {"content": "json", "transform": _json_transform(layout, "content", losses, target)}
    if layout.open.strip():
        return Call(
            soft(layout.open), (layout.close,) if layout.close.strip() else (), body, layout.open.strip()
        )
    return Call(_bare_opener(layout), (), body)


def _bare_opener(layout: JsonLayout) -> str:
    """Without a marker a call begins where an object with the first key does."""
    first = layout.parts[0] if layout.parts and isinstance(layout.parts[0], str) else '{"'
    return f"(?={soft(first)})"


def _array(spec: Spec, segment: CallsSegment, layout: Any, losses: Losses, target: str) -> dict[str, Any]:
    """All calls of a turn as one JSON array: one region, `transform_each`."""
    if not isinstance(layout, JsonLayout):
        raise ExportError("an array of calls that are no JSON objects", target=target)
    opener = segment.open.rstrip().removesuffix("[")
    closer = segment.close.lstrip().removeprefix("]")
    field: dict[str, Any] = {"content": "json", "transform_each": True}
    field["transform"] = _json_transform(layout, "", losses, target)
    white = optional(_white(_content_close(spec)))
    field["open_pattern"] = white + soft(opener) if opener.strip() else r"(?=\[\s*\{\s*\")"
    ends = [closer] if closer.strip() else []
    ends = ends or [end for end in (segment.end.literal if segment.end else "", *spec.grammar.stops) if end]
    if ends:
        plain = list(dict.fromkeys(text for end in ends for text in (end, end.strip())))
        field["close"] = plain[0] if len(plain) == 1 else plain
        losses.add("closer_in_value", f"An argument that holds {ends[0].strip()!r} ends the calls too early.")
    return field


# --------------------------------------------------------------------------------------------------------------- sequences


def _sequence(spec: Spec, layout: SequenceLayout, losses: Losses, target: str) -> Call:
    at = next(number for number, part in enumerate(layout.parts) if isinstance(part, ArgumentsSlot))
    before, slot, after = layout.parts[:at], layout.parts[at], layout.parts[at + 1 :]
    assert isinstance(slot, ArgumentsSlot)  # noqa: S101  (found as such)
    before = _named(spec, before, losses)
    if not before or isinstance(before[0], NameSlot):
        raise ExportError("nothing but the tool's name opens a call", target=target)
    closer = "".join(part for part in after if isinstance(part, str))
    if any(isinstance(part, NameSlot) for part in after) and not any(
        isinstance(part, NameSlot) for part in before
    ):
        raise ExportError("the tool's name stands after its arguments", target=target)
    if any(not isinstance(part, str) for part in after):
        raise ExportError("the closer of a call holds a slot", target=target)
    if slot.codec is None and _is_dialect(slot) and closer.lstrip().startswith("}"):
        quote = _quote(slot)
        last = str(before[-1]).rstrip().removesuffix("{")
        head = (*before[:-1], last) if last else before[:-1]
        kinds = {codec.kind for _, codec in slot.codecs} if slot.codecs is not None else set()
        if "python" in kinds:
            _lose_words(losses)
        closer = closer.lstrip().removeprefix("}")
        before, body = head, {"content": "json", "content_args": _dialect_args(quote, losses)}
    elif slot.codec is not None:
        body = _one_value(slot, losses, target)
    else:
        body = _items(slot, losses, target)
    identity = "{id}" if any(isinstance(part, IdSlot) for part in before) else ""
    name = "{name}" if _has_name(before) else "{id}"
    body["transform"] = _transform(name, "{content}", identity)
    following = (
        "{"
        if "content_args" in body and slot.codec is None and "tag_pattern" not in body["content_args"]
        else ""
    )
    first_of_item = next((part for part in slot.item or () if isinstance(part, str)), "")
    opener = of_parts(
        before, target, after=following or first_of_item or closer, reserved=_reserved(spec, before)
    )
    first = next((part for part in before if isinstance(part, str) and part.strip()), "")
    begins = isinstance(before[0], str) and bool(before[0].strip())
    return Call(opener, (closer,) if closer.strip() else (), body, first.strip() if begins else "")


def _reserved(spec: Spec, parts: Sequence[Part]) -> list[str]:
    """What stands in a name's place when other segments begin like a call: a literal beats a slot."""
    first = parts[0]
    if not isinstance(first, str) or not first.strip():
        return []
    opens = [*(one.open for one in spec.content), *(one.open for one in spec.reasoning)]
    found = [
        text.strip().removeprefix(first.strip()) for text in opens if text.strip().startswith(first.strip())
    ]
    return [text for text in found if text]


def _has_name(parts: Sequence[Part]) -> bool:
    return any(
        isinstance(part, NameSlot) or (isinstance(part, IdSlot) and "{name}" in (part.pattern or ""))
        for part in parts
    )


def _named(spec: Spec, parts: tuple[Part, ...], losses: Losses) -> tuple[Part, ...]:
    """The parts with an id that is all the format writes read by the pattern that an overlay gives."""
    if _has_name(parts):
        return parts
    pattern = next((added.id_pattern for added in spec.overlays if added.id_pattern), None)
    if pattern is None:
        losses.add("name_in_id", "The format writes only the call's id, so the id stands for the name.")
        return parts
    return tuple(
        part.model_copy(update={"pattern": pattern})
        if isinstance(part, IdSlot) and part.pattern is None
        else part
        for part in parts
    )


def _one_value(slot: ArgumentsSlot, losses: Losses, target: str) -> dict[str, Any]:
    codec = slot.codec
    if codec is not None and codec.kind == "json":
        return {"content": "json"}
    if codec is not None and codec.kind == "dialect":
        return {"content": "json", "content_args": _dialect_args(codec.quote, losses, bare=codec.bare_keys)}
    if codec is not None and codec.kind == "json_text":
        losses.add("arguments_as_text", "Arguments arrive as JSON text, as the format writes them.")
        return {"content": "json"}
    kind = codec.kind if codec is not None else "unknown"
    raise ExportError(f"no parser of a response template reads arguments written as {kind}", target=target)


def _dialect_args(quote: str, losses: Losses, *, bare: bool = True) -> dict[str, Any]:
    if bare:
        losses.add(
            "bare_keys",
            "Arguments whose names hold more than letters, digits and `_` are not read: such a call is lost.",
        )
    return {**({"unquoted_keys": True} if bare else {}), "string_delims": [[quote, quote]]}


def _quote(slot: ArgumentsSlot) -> str:
    string = slot.codecs.string if slot.codecs is not None else None
    return string.open if isinstance(string, QuotedCodec) else ""


def _is_dialect(slot: ArgumentsSlot) -> bool:
    """Whether the items make an object of JSON with quotes of its own."""
    item = slot.item or ()
    shape = [part if isinstance(part, str) else part.slot for part in item]
    quoted = slot.codecs is not None and slot.codecs.string.kind == "quoted"
    return quoted and shape == ["key", ":", "value"] and slot.separator.strip() == ","


def _items(slot: ArgumentsSlot, losses: Losses, target: str) -> dict[str, Any]:
    item, codecs = slot.item or (), slot.codecs
    assert codecs is not None  # noqa: S101  (the model demands it)
    closers = list(item[-1].words.values()) if isinstance(item[-1], TypeSlot) else [item[-1]]
    if not closers or not all(isinstance(closer, str) and closer.strip() for closer in closers):
        raise ExportError("nothing closes an argument's value", target=target)
    kinds: dict[str, str] = {kind: codec.kind for kind, codec in codecs}
    if "nested" in kinds.values():
        raise ExportError("containers are written as nested items", target=target)
    arguments: dict[str, Any] = {}
    if kinds["string"] == "cdata":
        cdata = codecs.string
        opens, closes = (literal(getattr(cdata, edge)) for edge in ("open", "close"))
        body = f"(?:{opens})?(?P<value>.*?)(?:{closes})?"
        pattern = of_parts(item, target, separator=slot.separator).replace("(?P<value>.*?)", body)
    else:
        pattern = of_parts(item, target, separator=slot.separator)
    arguments["tag_pattern"] = pattern
    if kinds["string"] == "json":
        arguments["value_parser"] = {"name": "json"}
        if "python" in (kinds["boolean"], kinds["null"]):
            _lose_words(losses)
    elif any(kind == "json" for kind in kinds.values()):
        losses.add(
            "types", "Arguments are text unless the reader is given the tools, whose schemas say the types."
        )
    if kinds["string"] == "raw" and any(str(closer).strip()[:1] in ("'", '"') for closer in closers):
        losses.add(
            "quotes", "A text with quotes is cut off at the first one: the format does not escape them."
        )
    if len(set(closers)) > 1:
        losses.add("any_closer", "What closes values of one type ends a value of any type that holds it.")
    if kinds["string"] == "escaped":
        losses.add("escapes", "Escaped characters in texts stay escaped.")
    if kinds["string"] in ("quoted", "dialect", "python", "json_text"):
        raise ExportError(f"no parser reads texts written as {kinds['string']} in items", target=target)
    if "python" in (kinds["array"], kinds["object"]):
        losses.add("python_containers", "Lists and objects arrive as the text of a Python literal.")
    return {"content": "xml-inline", "content_args": arguments}


def _lose_words(losses: Losses) -> None:
    losses.add("python_words", "Values written as Python words (`None`) are not JSON: such a call is lost.")


# ------------------------------------------------------------------------------------------------------------ Python calls


def _is_python(segment: CallsSegment, layout: SequenceLayout) -> bool:
    """Whether the section is `[name(key=value, ...), ...]`."""
    shape = [
        "(" if part == "(" else ")" if part == ")" else getattr(part, "slot", part) for part in layout.parts
    ]
    slot = next(part for part in layout.parts if isinstance(part, ArgumentsSlot))
    item = [part if isinstance(part, str) else part.slot for part in slot.item or ()]
    fits = shape == ["name", "(", "arguments", ")"] and item == ["key", "=", "value"]
    return fits and segment.open.rstrip().endswith("[") and segment.close.lstrip().startswith("]")


def _python(segment: CallsSegment, losses: Losses, target: str) -> dict[str, Any]:
    losses.add(
        "transformers_only", "`python-call-list` is read by transformers alone, not by vLLM and SGLang."
    )
    opener = segment.open.rstrip().removesuffix("[")
    closer = segment.close.lstrip().removeprefix("]")
    layout = segment.layouts[0]
    slot = next(part for part in getattr(layout, "parts", ()) if isinstance(part, ArgumentsSlot))
    string = slot.codecs.string.kind if slot.codecs is not None else "raw"
    if string not in ("quoted", "json", "python") or slot.separator.strip() != ",":
        raise ExportError("`python-call-list` does not read these arguments", target=target)
    if string == "quoted":
        losses.add(
            "quotes", "Texts with quotes or backslashes are not read back: the format does not escape them."
        )
    field: dict[str, Any] = {"content": "python-call-list", "transform_each": True}
    field["open_pattern"] = soft(opener) if opener.strip() else r"(?=\[\w[\w.-]*\()"
    if closer.strip():
        field["close"] = closer.strip()
        losses.add("closer_in_value", f"An argument that holds {closer.strip()!r} ends the calls too early.")
    elif segment.end is not None:
        field["close"] = segment.end.literal.strip()
    field["transform"] = _transform("{name}", "{arguments}")
    return field
