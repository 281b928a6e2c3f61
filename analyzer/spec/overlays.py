"""Overlays: what models write and their templates do not show, as data.

An overlay says which *facts* of an inferred spec select it (`when`) and which spellings it `adds`. Nothing is selected by a
template's name or source. Additions stand apart in the spec, so strict mode and verification can leave them out.

An overlay may spell literals with the spec's own: `{calls.open}`, `{calls.close}`, `{calls.separator}` and `{turn.header}`
are replaced. `respell` makes further layouts of the spec's own layouts, with one text in their literals replaced.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final, Literal

from pydantic import Field, StrictBool, ValidationError

from analyzer.errors import SpecError
from analyzer.spec.document import to_data, validate
from analyzer.spec.model import Addition, JsonLayout, Layout, Spec, TextSegment
from analyzer.spec.parts import Frozen
from analyzer.spec.reader import read_document, read_text

FOLDER: Final = Path(__file__).parent.parent / "overlays"
"""Where the overlays of this package are."""


class Facts(Frozen):
    """What must be found in a spec; a fact that is not given selects nothing."""

    contains: tuple[str, ...] = ()
    """Texts that each stand in some literal of the spec, preserved tokens included."""
    lacks: tuple[str, ...] = ()
    """Texts that stand in no literal of the spec."""
    layout: Literal["json", "sequence"] | None = None
    """The kind of the canonical layout."""
    codec: str | None = None
    """The kind of a codec that the canonical layout uses."""
    calls_open: str | None = None
    """What opens the calls section; "" when nothing does."""
    bare: StrictBool | None = None
    """True: no literal stands before the first call's body, so nothing marks a call."""
    name_written: StrictBool | None = None
    """False: the layout writes an id and no name."""
    reasoning: StrictBool | None = None
    """Whether the spec has a segment of reasoning."""


class Respelling(Frozen):
    """A text in the literals of the spec's layouts, and what stands in its place in further layouts."""

    find: str = Field(min_length=1)
    """A text that stands in a literal of a layout."""
    put: str
    """What stands in its place; empty when it is left out."""


class Adds(Frozen):
    """What an overlay adds; the fields are those of an addition, see there."""

    layouts: tuple[Layout, ...] = ()
    """Further spellings of a call."""
    respell: tuple[Respelling, ...] = ()
    """Further spellings of a call, each made of the spec's own layouts by replacing one text."""
    segments: tuple[TextSegment, ...] = ()
    """Further segments of reasoning or content."""
    call_opens: tuple[str, ...] = ()
    """Further spellings of the opener of the calls section."""
    key_aliases: dict[str, tuple[str, ...]] = {}  # noqa: RUF012 - pydantic copies it
    """JSON layouts: other names of a key; only keys of the layout's paths count."""
    separators: tuple[str, ...] = ()
    """Further separators between calls."""
    ignored: tuple[str, ...] = ()
    """Literals that are dropped where they stand."""
    id_pattern: str | None = None
    """How an id that is all the template writes holds the name."""


class Overlay(Frozen):
    """One overlay file."""

    name: str = Field(min_length=1)
    """The overlay's name."""
    reason: str = Field(min_length=1)
    """What models write, in one sentence."""
    when: Facts
    """The facts that select it; all of them must hold."""
    adds: Adds
    """What it adds."""


def load_overlays(extra_paths: Iterable[str | Path] = ()) -> tuple[Overlay, ...]:
    """Return the overlays of this package and those of further files or folders; a further one replaces its namesake.

    Raises:
        SpecError: a file is no overlay, or two further files have the same name.
    """
    overlays = {overlay.name: overlay for overlay in _own_overlays()}
    seen: dict[str, Path] = {}
    for path in _files(extra_paths):
        overlay = _load(path)
        if overlay.name in seen:
            found = f"the overlay `{overlay.name}` is also in {seen[overlay.name]}"
            raise SpecError(found, file=str(path), path="name")
        seen[overlay.name] = path
        overlays[overlay.name] = overlay
    return tuple(overlays.values())


def apply_overlays(spec: Spec, overlays: Iterable[Overlay]) -> Spec:
    """Return the spec with an addition for each overlay that is selected and changes something."""
    present = {addition.overlay for addition in spec.overlays}
    added = [
        addition
        for overlay in overlays
        if overlay.name not in present and matches(spec, overlay.when)
        if (addition := _addition(spec, overlay)) is not None
    ]
    if not added:
        return spec
    pattern = next((addition.id_pattern for addition in added if addition.id_pattern is not None), None)
    bound = spec if pattern is None else _bound(spec, pattern)
    return bound.model_copy(update={"overlays": (*spec.overlays, *added)})


def _bound(spec: Spec, pattern: str) -> Spec:
    """Return the spec with `pattern` in the id slots that have none: without it no layout would say the name, in strict mode too."""
    calls = spec.calls
    if calls is None:
        return spec
    layouts = tuple(_layout_bound(layout, pattern) for layout in calls.layouts)
    segments = tuple(
        calls.model_copy(update={"layouts": layouts}) if segment is calls else segment
        for segment in spec.turn.segments
    )
    return spec.model_copy(update={"turn": spec.turn.model_copy(update={"segments": segments})})


def _layout_bound(layout: Layout, pattern: str) -> Layout:
    if isinstance(layout, JsonLayout) or _writes_name(layout):
        return layout
    parts = tuple(
        part.model_copy(update={"pattern": pattern})
        if not isinstance(part, str) and part.slot == "id"
        else part
        for part in layout.parts
    )
    return layout.model_copy(update={"parts": parts})


def matches(spec: Spec, facts: Facts) -> bool:
    """Whether everything that `facts` says is found in `spec`."""
    literals = list(_literals(spec))
    calls = spec.calls
    layout = calls.layouts[0] if calls else None
    needs_calls = (facts.layout, facts.codec, facts.calls_open, facts.bare, facts.name_written) != (None,) * 5
    if needs_calls and (calls is None or layout is None):
        return False
    tests = [
        all(any(text in literal for literal in literals) for text in facts.contains),
        not any(text in literal for literal in literals for text in facts.lacks),
        facts.reasoning is None or facts.reasoning == bool(spec.reasoning),
    ]
    if calls is not None and layout is not None:
        tests += [
            facts.layout is None or facts.layout == layout.kind,
            facts.codec is None or facts.codec in set(_codecs(layout)),
            facts.calls_open is None or facts.calls_open == calls.open,
            facts.bare is None or facts.bare == (not calls.open.strip(" \n[") and not _leads(layout)),
            facts.name_written is None or facts.name_written == _writes_name(layout),
        ]
    return all(tests)


# ------------------------------------------------------------------------------------------------------------ loading


@cache
def _own_overlays() -> tuple[Overlay, ...]:
    return tuple(_load(path) for path in sorted(FOLDER.glob("*.yaml")))


def _load(path: Path) -> Overlay:
    return validate(read_document(read_text(path), file=str(path)), Overlay)


def _files(paths: Iterable[str | Path]) -> Iterator[Path]:
    for path in map(Path, paths):
        yield from sorted(path.glob("*.yaml")) if path.is_dir() else [path]


# ----------------------------------------------------------------------------------------------------------- applying


def _addition(spec: Spec, overlay: Overlay) -> Addition | None:
    """Return what `overlay` adds to `spec`, without what is there already; None when nothing is left."""
    adds = _spelled(spec, overlay.adds)
    calls = spec.calls
    own = calls.layouts if calls else ()
    respelled = tuple(_respelled(own, adds.respell)) if adds.respell else ()
    literals = set(_literals(spec))
    new: dict[str, Any] = {
        "layouts": _without((*adds.layouts, *respelled), own) if calls else (),
        "segments": _without(adds.segments, spec.turn.segments),
        "call_opens": _without(adds.call_opens, (calls.open,)) if calls else (),
        "key_aliases": _aliases(own, adds),
        "separators": _without(adds.separators, (calls.separator,)) if calls else (),
        "ignored": _without(adds.ignored, literals),
        "id_pattern": adds.id_pattern if own and not _writes_name(own[0]) else None,
    }
    if not any(new.values()):
        return None
    return Addition(overlay=overlay.name, reason=overlay.reason, **new)


def _without(items: Sequence[Any], present: Iterable[Any]) -> tuple[Any, ...]:
    there = list(present)
    return tuple(
        item for number, item in enumerate(items) if item not in there and item not in items[:number]
    )


def _aliases(layouts: Sequence[Layout], adds: Adds) -> dict[str, tuple[str, ...]]:
    """Return the aliases of keys that some layout's paths go through."""
    keys = {
        key
        for layout in layouts
        if isinstance(layout, JsonLayout) and layout.name != "key"
        for key in (*layout.name, *layout.arguments)
    }
    found = {key: _without(names, keys) for key, names in adds.key_aliases.items() if key in keys}
    return {key: names for key, names in found.items() if names}


def _spelled(spec: Spec, adds: Adds) -> Adds:
    """Return `adds` with the spec's own literals in place of their names."""
    calls = spec.calls
    names = {
        "{calls.open}": calls.open if calls else "",
        "{calls.close}": calls.close if calls else "",
        "{calls.separator}": calls.separator if calls else "",
        "{turn.header}": spec.turn.header,
    }

    def spell(value: Any) -> Any:
        if isinstance(value, str):
            for name, literal in names.items():
                value = value.replace(name, literal)
            return value
        if isinstance(value, dict):
            return {key: spell(item) for key, item in value.items()}
        return [spell(item) for item in value] if isinstance(value, list) else value

    return Adds.model_validate(spell(to_data(adds)))


def _respelled(layouts: Sequence[Layout], respellings: Sequence[Respelling]) -> Iterator[Layout]:
    """Yield the layouts that differ from one of `layouts` in one text."""
    for respelling in respellings:
        for layout in layouts:
            if not any(respelling.find in literal for literal in _layout_literals(layout)):
                continue
            data = to_data(layout)
            for key in ("open", "close"):
                if key in data:
                    data[key] = data[key].replace(respelling.find, respelling.put)
            texts = [
                part.replace(respelling.find, respelling.put) if isinstance(part, str) else part
                for part in data.get("parts", [])
            ]
            data["parts"] = [part for part in texts if part != ""]
            try:
                yield type(layout).model_validate(data)
            except ValidationError:  # pragma: no cover - a respelling leaves slots alone
                continue


# -------------------------------------------------------------------------------------------------------------- facts


def _writes_name(layout: Layout) -> bool:
    if isinstance(layout, JsonLayout):
        return True
    slots = [part for part in layout.parts if not isinstance(part, str)]
    return any(slot.slot == "name" or (slot.slot == "id" and slot.pattern is not None) for slot in slots)


def _leads(layout: Layout) -> str:
    """Return the literal that a call of this layout begins with."""
    if isinstance(layout, JsonLayout):
        return layout.open.strip()
    first = layout.parts[0]
    return first.strip() if isinstance(first, str) else ""


def _codecs(layout: Layout) -> Iterator[str]:
    if isinstance(layout, JsonLayout):
        yield layout.arguments_codec
        return
    for part in layout.parts:
        if isinstance(part, str) or part.slot != "arguments":
            continue
        if part.codec is not None:
            yield part.codec.kind
        if part.codecs is not None:
            for name in type(part.codecs).model_fields:
                yield getattr(part.codecs, name).kind


def _literals(spec: Spec) -> Iterator[str]:
    yield from (prompt.text for prompt in spec.turn.prompts)
    yield spec.turn.header
    for segment in spec.turn.segments:
        yield from (segment.open, segment.close)
        if segment.end is not None:
            yield segment.end.literal
        if segment.kind == "calls":
            yield segment.separator
            for layout in segment.layouts:
                yield from _layout_literals(layout)
        else:
            yield segment.empty
    if spec.results is not None:
        results = spec.results
        yield from (results.header, results.open, results.close, results.separator, results.end)
        yield from (part for part in results.parts if isinstance(part, str))
    yield from spec.grammar.preserved_tokens


def _layout_literals(layout: Layout) -> Iterator[str]:
    if isinstance(layout, JsonLayout):
        yield from (layout.open, layout.close)
    for part in layout.parts:
        if isinstance(part, str):
            yield part
        elif part.slot == "arguments" and part.item is not None:
            for item in part.item:
                if isinstance(item, str):
                    yield item
                elif item.slot == "type":
                    yield from item.words.values()
