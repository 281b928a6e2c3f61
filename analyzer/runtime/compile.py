"""A spec as tables for the parser: made once for a spec, shared by all parsers, never changed.

Reads the spec's attributes only (`kind`, `slot`, the literals), so that importing the runtime does not import the models.
"""

from __future__ import annotations

import weakref
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Final

from analyzer.runtime.layouts import JsonProgram, Program, SequenceProgram, compile_layout, link_forks
from analyzer.runtime.leads import (
    closing_leads,
    lead_ins,
    leads_with,
    opener_leads,
    opener_tails,
    white_closes,
)
from analyzer.runtime.literals import MARKER, Lit
from analyzer.runtime.marks import BARE_LIST, Cue, Mark, Mode

if TYPE_CHECKING:
    from analyzer.runtime.options import Options
    from analyzer.spec.model import Spec


class Compiled:
    """One spec under one set of options."""

    __slots__ = (
        "__weakref__",
        "added_opens",
        "aliases",
        "all_tails",
        "anchored",
        "anchors",
        "array",
        "between",
        "closes_alone",
        "closes_beside",
        "content",
        "end_tokens",
        "goes_on",
        "header",
        "header_repeats",
        "id_pattern",
        "layouts",
        "lead_ins",
        "lead_ins_after",
        "opener_tails",
        "prompts",
        "reasoning",
        "reasoning_modes",
        "section",
        "section_mode",
        "section_open",
        "separators",
        "skip",
        "soft",
        "starts",
        "text",
        "usual_prompts",
    )  # fmt: skip

    def __init__(self, spec: Spec, options: Options) -> None:
        soft = options.soft_white_space
        self.soft = soft
        additions = spec.overlays if options.overlays else ()
        segments = [*spec.turn.segments]
        added: dict[int, str] = {}
        for addition in additions:
            segments.extend(addition.segments)
            added.update((id(segment), addition.overlay) for segment in addition.segments)
        self.header = Lit(spec.turn.header, soft=soft)
        self.header_repeats = bool(spec.turn.header) and spec.turn.header_repeats
        reasoning = [segment for segment in segments if segment.kind == "reasoning"]
        self.content = [segment for segment in segments if segment.kind == "content"]
        self.reasoning = [(Lit(r.open, soft=soft), Lit(r.close, soft=soft)) for r in reasoning]
        self.aliases: dict[str, tuple[str, str]] = {}
        self.added_opens: dict[str, str] = {}
        self.id_pattern: str | None = None
        calls = spec.calls
        self.layouts: list[Program] = []
        self.array = False
        self.separators: list[tuple[Lit, str]] = []
        self.section = (Lit("", soft=soft), Lit("", soft=soft))
        self.section_open: list[Lit] = []
        for addition in additions:
            for key, others in addition.key_aliases.items():
                self.aliases.update(dict.fromkeys(others, (key, addition.overlay)))
            self.id_pattern = addition.id_pattern or self.id_pattern
        if calls is not None:
            self._calls(calls, additions, soft)
        self._tables(spec, reasoning, additions, added, options)
        self.prompts: dict[str, Any] = {}
        self.usual_prompts: dict[str, str] = {}
        """The prompt without settings, by what it stands behind."""

    def _calls(self, calls: Any, additions: Iterable[Any], soft: bool) -> None:
        opener, closer = calls.open, calls.close
        self.array = calls.array
        if self.array:
            opener, closer = _without_brackets(opener, closer)
        self.section = (Lit(opener, soft=soft), Lit(closer, soft=soft))
        separators = [(calls.separator, "")]
        layouts = [(layout, "") for layout in calls.layouts]
        self.section_open = [self.section[0]] if opener.strip() else []
        for addition in additions:
            layouts.extend((layout, addition.overlay) for layout in addition.layouts)
            separators.extend((separator, addition.overlay) for separator in addition.separators)
            for extra in addition.call_opens:
                lit = Lit(_without_brackets(extra, "")[0] if self.array else extra, soft=soft)
                self.section_open.append(lit)
                if extra != calls.open:
                    self.added_opens[lit.text] = addition.overlay
        self.separators = [(Lit(separator, soft=soft), overlay) for separator, overlay in separators]
        if self.array:
            self.separators = [(Lit(",", soft=True), "")]
        self.layouts = [
            compile_layout(
                layout,
                soft=soft,
                aliases=self.aliases,
                id_pattern=self.id_pattern,
                separators=[lit for lit, _ in self.separators],
                section_close="]" if self.array else self.section[1].core,
            )
            for layout, _ in layouts
        ]
        for program, (_, overlay) in zip(self.layouts, layouts, strict=True):
            program.overlay = overlay
        link_forks(self.layouts)

    def _tables(
        self,
        spec: Spec,
        reasoning: list[Any],
        additions: Iterable[Any],
        added: dict[int, str],
        options: Options,
    ) -> None:
        soft = self.soft
        contents = self.content
        before_calls = closing_leads(contents, {"any", "beside_calls"})
        before_end = closing_leads(contents, {"any", "alone"})
        section_open, section_close = (lit.text for lit in self.section)
        if section_open and not section_open.strip():
            before_calls = leads_with(before_calls, section_open)
        self.between = tuple(
            (lit.text, overlay) for lit, overlay in self.separators if lit.text and not self.array
        )
        if section_close and not section_close.strip():
            self.between += ((section_close, ""),)
        after = _after_calls(spec)
        self.lead_ins = lead_ins(
            [c for c in contents if not (c in after and c.when == "beside_calls")], reasoning
        )
        self.lead_ins_after = lead_ins([c for c in after if c.when != "alone"], ())
        self.opener_tails = opener_tails(Lit(c.open, soft=soft) for c in contents)
        """The white space behind openers of content that are one literal but for it, by their first token."""
        tails = {tail for group in self.opener_tails.values() for tail in group}
        self.all_tails = tuple(sorted(tails, key=len, reverse=True))
        self.goes_on = any(not prompt.text for prompt in spec.turn.prompts)
        """Whether a turn may go on behind another message, without a header and what opens its content."""
        text: list[Mark] = []
        inside: list[Mark] = []  # what counts inside reasoning, whatever its segment
        section: list[Mark] = []
        ignored = [(literal, "") for literal in options.ignored]
        ignored += [(literal, addition.overlay) for addition in additions for literal in addition.ignored]
        text += [
            Mark(Cue.IGNORED, Lit(literal, soft=soft), 0, 0, (), overlay=overlay)
            for literal, overlay in ignored
        ]
        ends: dict[str, bool] = {}
        for segment in [*contents, *reasoning, *([spec.calls] if spec.calls else [])]:
            if segment.end is not None:
                # a literal that also ends a message in mid-turn ends no more than that
                ends[segment.end.literal] = ends.get(segment.end.literal, True) and segment.end.stop
        for literal in spec.grammar.stops:
            ends.setdefault(literal, True)
        for literal, stop in ends.items():
            lit = Lit(literal, soft=soft)
            mark = Mark(Cue.END, lit, 0, 0, leads_with(before_end, lit.lead), stop)
            text.append(mark)
            inside.append(mark._replace(leads=leads_with((), lit.lead)))
            section.append(mark)
        mark = Mark(Cue.HEADER, self.header, 0, 0, ())
        if spec.turn.header and self.header.strong:
            text.append(mark)
            section.append(mark)
            if spec.turn.header_repeats:
                inside.append(mark)
        elif spec.turn.header_repeats or (self.header.core and self.goes_on):
            text.append(mark)
        closes = []
        for number, (segment, (opener, closer)) in enumerate(zip(reasoning, self.reasoning, strict=True)):
            overlay = added.get(id(segment), "")
            text.append(
                Mark(Cue.REASONING_OPEN, opener, number, 0, leads_with((), opener.lead), overlay=overlay)
            )
            section.append(Mark(Cue.REASONING_OPEN, opener, number, 0, ()))
            inside.append(Mark(Cue.REASONING_OPEN, opener, number, 0, ()))
            if closer.core:
                closes.append(Mark(Cue.REASONING_CLOSE, closer, number, 0, leads_with((), closer.lead)))
                if all(segment.open.strip() != closer.text.strip() for segment in contents):
                    text.append(Mark(Cue.REASONING_CLOSE, closer, number, 0, ()))
            if segment.empty.strip() and not (soft and segment.empty.startswith(segment.open or "\0")):
                text.append(Mark(Cue.EMPTY, Lit(segment.empty, soft=soft), number, 0, ()))
        for number, segment in enumerate(contents):
            opener, closer = Lit(segment.open, soft=soft), Lit(segment.close, soft=soft)
            leads = opener_leads(contents, opener.head, soft=soft)
            mark = Mark(Cue.CONTENT_OPEN, opener, number, 0, leads, overlay=added.get(id(segment), ""))
            for table in (text, section):
                table.append(mark)
            if segment.close.strip():
                text.append(Mark(Cue.CONTENT_CLOSE, closer, number, 0, leads_with((), closer.lead)))
            if segment.empty.strip() and segment.empty not in {segment.open, segment.close}:
                text.append(Mark(Cue.EMPTY, Lit(segment.empty, soft=soft), number, 0, ()))
        self.end_tokens = frozenset(
            lit.tokens[-1] for lit in (Lit(end, soft=soft) for end in ends) if lit.tokens
        )
        """What the literals that end a turn or a message end with."""
        openers: list[Mark] = []
        if options.calls != "text":
            openers = self._openers(before_calls, section, options)
            text += openers
            text += self._led(before_calls)
            inside += [mark for mark in openers if mark.lit.strong and self._own(mark)]
            if self.section[1].core:
                text.append(Mark(Cue.SECTION_CLOSE, self.section[1], 0, 0, ()))
        self.closes_alone = white_closes(c for c in contents if c.when != "beside_calls")
        self.closes_beside = white_closes(c for c in after if c.when != "alone")
        self.text = Mode(text, self.closes_alone + self.closes_beside)
        self.reasoning_modes = [
            Mode([close for close in closes if close.number == number]
                 + [close for close in closes if close.number != number] + inside + _emptied(segment, number, soft=soft))
            for number, segment in enumerate(reasoning)
        ]  # fmt: skip
        self.section_mode = Mode(section)
        self.starts = [n for n, layout in enumerate(self.layouts) if not layout.opener.core]
        self.anchored = bool(self.layouts) and options.calls != "text" and not self.section_open and (
            self.array or any(len(layout.opener.core) < MARKER and not layout.opener.strong for layout in self.layouts)
        )  # fmt: skip
        self.anchors: list[Lit] = []
        if options.calls != "text":
            self.anchors = [lit for lit in self.section_open if len(lit.core) < MARKER and not lit.strong]
            self.anchored = self.anchored or bool(self.anchors)
        stops = [
            mark for mark in section if mark.cue in {Cue.END, Cue.HEADER, Cue.CALL_OPEN, Cue.SECTION_CLOSE}
        ]
        stops += [
            Mark(Cue.IGNORED, layout.closer, 0, self._last_token(layout.closer), ())
            for layout in self.layouts
            if layout.closer.core
        ]
        self.skip = Mode(stops)
        structure = {
            mark.lit.tokens[mark.token] for mark in section if mark.lit.core and mark.cue != Cue.SEPARATOR
        }
        for layout in self.layouts:
            layout.link(structure)

    def _last_token(self, closer: Lit) -> int:
        """The number of the last token of a call's closer that is not the turn's end as well."""
        own = (n for n, token in enumerate(closer.tokens) if token not in self.end_tokens)
        return max(own, default=len(closer.tokens) - 1)

    def _own(self, mark: Mark) -> bool:
        return mark.cue == Cue.SECTION_OPEN or (not self.section_open and not mark.inner)

    def _led(self, leads: Iterable[str]) -> list[Mark]:
        """Calls without a marker behind content: the white space that the template writes there, and their first character."""
        section = self.section[0]
        if self.section_open:
            starts = [(Cue.SECTION_OPEN, section.core, 0)] if section in self.section_open else []
        elif self.array:
            starts = [(Cue.SECTION_OPEN, "[", 0)]
        else:
            starts = [
                (Cue.CALL_OPEN, layout.opener.core or "{", number)
                for number, layout in enumerate(self.layouts)
                if layout.opener.core or isinstance(layout, JsonProgram)
            ]
        return [
            Mark(cue, Lit(lead + core, soft=False), number, 0, (), led=len(lead))
            for cue, core, number in starts
            if len(core) < MARKER and not Lit(core, soft=True).strong
            for lead in leads
            if lead and not lead.strip()
        ]

    def _openers(self, leads: tuple[str, ...], section: list[Mark], options: Options) -> list[Mark]:
        found = [
            Mark(Cue.SECTION_OPEN, lit, 0, 0, leads_with(leads, lit.lead))
            for lit in self.section_open
            if len(lit.core) >= MARKER or lit.strong
        ]
        for number, layout in enumerate(self.layouts):
            lit = layout.opener
            if not lit.core:
                if isinstance(layout, JsonProgram):
                    section.append(Mark(Cue.CALL_OPEN, Lit("{", soft=True), number, 0, ()))
                continue
            mark = Mark(Cue.CALL_OPEN, lit, number, 0, leads_with(leads, lit.lead))
            section.append(mark)
            usable = lit.strong or len(lit.core) >= MARKER
            if usable and (not self.section_open or options.missing_open):
                found.append(mark)
            if options.missing_open and self.soft and isinstance(layout, SequenceProgram):
                for token, piece in zip(lit.starts[1:], lit.pieces[1:], strict=True):
                    if Lit(piece, soft=True).strong and len(piece) >= MARKER:
                        inner = mark._replace(token=token, inner=True, leads=())
                        section.append(inner)
                        found.append(inner)
                        break
        close = self.section[1]
        if self.array:
            section.append(Mark(Cue.SECTION_CLOSE, Lit("]", soft=True), 0, 0, ()))
        elif close.core:
            section.append(Mark(Cue.SECTION_CLOSE, close, 0, 0, ()))
        if any(lit.core == "[" for lit in self.section_open[1:]) and close.core.startswith("]"):
            section.append(Mark(Cue.SECTION_CLOSE, Lit("]", soft=True), BARE_LIST, 0, ()))
        section += [
            Mark(Cue.SEPARATOR, lit, 0, 0, (), overlay=overlay)
            for lit, overlay in self.separators
            if lit.core
        ]
        return found


def _without_brackets(opener: str, closer: str) -> tuple[str, str]:
    stripped = opener.rstrip()
    if stripped.endswith("["):
        opener = stripped[:-1]
    begun = closer.lstrip()
    if begun.startswith("]"):
        closer = begun[1:]
    return opener, closer


def _after_calls(spec: Spec) -> list[Any]:
    """The content segments that the template writes behind the calls."""
    segments = spec.turn.segments
    at = next((n for n, segment in enumerate(segments) if segment.kind == "calls"), len(segments))
    return [segment for segment in segments[at:] if segment.kind == "content"]


def _emptied(segment: Any, number: int, *, soft: bool) -> list[Mark]:
    """What closes reasoning that a prompt opened and that is empty, where the template spells that in its own way."""
    empty = segment.empty
    if soft or not segment.open or not empty.startswith(segment.open):
        return []
    return [Mark(Cue.EMPTY, Lit(empty[len(segment.open) :], soft=soft), number, 0, ())]


class _Tables:
    """The tables of one spec, by options."""

    __slots__ = ("_all", "_last", "spec")

    def __init__(self, spec: weakref.ref[Any]) -> None:
        self.spec = spec
        self._all: dict[Options, Compiled] = {}
        self._last: tuple[Options, Compiled] | None = None

    def of(self, spec: Spec, options: Options) -> Compiled:
        last = self._last
        if (
            last is not None and last[0] is options
        ):  # to hash options costs as much as all the rest of making a parser
            return last[1]
        found = self._all.get(options)
        if found is None:
            if len(self._all) >= _TABLES:
                self._all.clear()
            found = self._all[options] = Compiled(spec, options)
        self._last = (options, found)
        return found


_TABLES: Final = 64
"""For so many different options the tables of a spec are kept."""
_cache: dict[int, _Tables] = {}


def compile_spec(spec: Spec, options: Options) -> Compiled:
    """Return the tables of a spec, made once for each spec object and set of options."""
    key = id(spec)
    tables = _cache.get(key)
    if tables is None or tables.spec() is not spec:
        tables = _cache[key] = _Tables(weakref.ref(spec, lambda _, key=key: _cache.pop(key, None)))  # type: ignore[misc]
    return tables.of(spec, options)
