"""A subject of the report: a template and what became of it, however that was found out."""

from __future__ import annotations

import re
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property

from analyzer.analysis import VERDICTS, Analysis, Note, with_stand_ins
from analyzer.corpus.result import Result
from analyzer.errors import AnalyzerError, TemplateError
from analyzer.report.capabilities import Capabilities, capabilities
from analyzer.spec.document import parse_spec
from analyzer.spec.model import Spec
from analyzer.template import Template


@dataclass(frozen=True)
class Subject:
    """One template of a report."""

    template: Template
    """With stand-ins for the special tokens that are not known."""
    verdict: str
    """One of `analyzer.analysis.VERDICTS`, or `crashed`."""
    spec: Spec | None = None
    calls_shown: bool = False
    """Whether the template renders calls."""
    failures: tuple[str, ...] = ()
    """Why it is not proven."""
    notes: tuple[Note, ...] = ()
    """What it refused; empty where only the result of a job is known."""

    @classmethod
    def of(cls, analysis: Analysis) -> Subject:
        """The subject of an analysis."""
        return cls(
            analysis.template,
            analysis.verdict,
            analysis.spec,
            analysis.calls_shown,
            analysis.failures,
            analysis.notes,
        )

    @classmethod
    def of_result(cls, result: Result, template: Template) -> Subject:
        """The subject of a corpus job's result and its template."""
        spec = parse_spec(result.spec) if result.spec else None
        with suppress(TemplateError):  # one that does not compile has no variables
            template = with_stand_ins(template)
        return cls(template, result.verdict, spec, result.renders_calls, result.failures)

    @classmethod
    def refused(cls, template: Template, error: AnalyzerError) -> Subject:
        """The subject of a template that cannot be analysed at all."""
        return cls(template, "refused", failures=(str(error),))

    @cached_property
    def slug(self) -> str:
        """The name of the template's page: letters, digits and hyphens, different for different templates."""
        words = re.sub(r"[^A-Za-z0-9.]+", "-", self.template.name).strip("-.")[:60] or "template"
        variant = "" if self.template.variant == "default" else f"-{self.template.variant}"
        variant = re.sub(r"[^A-Za-z0-9]+", "-", variant)[:20]
        return f"{words}{variant}-{self.template.sha256[:8]}"

    @cached_property
    def can(self) -> Capabilities:
        """The template's row of the matrix."""
        return capabilities(self.spec)

    @property
    def meaning(self) -> str:
        """What the verdict means."""
        return VERDICTS.get(self.verdict, "its process died, or had to be stopped")

    def analysis(self) -> Analysis:
        """The subject as an analysis, for what wants one."""
        return Analysis(self.template, self.spec, self.calls_shown, self.notes)
