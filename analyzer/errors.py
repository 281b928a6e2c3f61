"""The exceptions that this library raises on purpose.

::

    AnalyzerError              anything below; exit code 1
    ├── UsageError             the caller asked for something that cannot be done; exit code 2
    ├── TemplateError          a template cannot be found, read or compiled; exit code 3
    ├── SpecError              a format spec is not valid; exit code 4
    ├── ExportError            a spec cannot be expressed in the target asked for; exit code 5
    └── JobError               a long job could not be finished; exit code 7

Only misuse and unreadable input raise.  What a template does when it is rendered, and what a model writes, are
values (:mod:`analyzer.render.outcome`, and the problem events of the runtime), never exceptions.  ``str()`` of each
is one paragraph that says where, what was found and, where it helps, what to do.  Any other exception that leaves
this library is a bug worth a report.
"""

from __future__ import annotations

from typing import ClassVar


class AnalyzerError(Exception):
    """The root of the tree: ``found`` says what is wrong, ``hint`` what to do about it (empty: nothing to add).

    ``exit_code`` is the status that the command line ends with.
    """

    exit_code: ClassVar[int] = 1

    def __init__(self, found: str, *, hint: str = "") -> None:
        super().__init__(found)
        self.found = found
        self.hint = hint

    def where(self) -> str:
        """The place the error is about, as it begins the paragraph; empty when there is none."""
        return ""

    def __str__(self) -> str:
        place = self.where()
        sentence = self.found if self.found.endswith((".", "!", "?")) else f"{self.found}."
        paragraph = f"{place}: {sentence}" if place else sentence
        return " ".join(f"{paragraph} {self.hint}".split())


class UsageError(AnalyzerError):
    """The caller asked for something that cannot be done: a missing extra, a wrong option, no network."""

    exit_code: ClassVar[int] = 2


class TemplateError(AnalyzerError):
    """A template cannot be found, read or compiled.

    ``source`` is the file, hub id or template name; ``line`` is one-based, ``None`` when the whole source is meant.
    """

    exit_code: ClassVar[int] = 3

    def __init__(self, found: str, *, source: str = "", line: int | None = None, hint: str = "") -> None:
        super().__init__(found, hint=hint)
        self.source = source
        self.line = line

    def where(self) -> str:
        """``source, line N``, as far as they are known."""
        return _place(self.source, self.line)


class SpecError(AnalyzerError):
    """A format spec is not valid.

    ``file`` is where it was read from, ``line`` is one-based, ``path`` names the field (``turn.calls.layouts[0].open``).
    """

    exit_code: ClassVar[int] = 4

    def __init__(
        self, found: str, *, file: str = "", line: int | None = None, path: str = "", hint: str = ""
    ) -> None:
        super().__init__(found, hint=hint)
        self.file = file
        self.line = line
        self.path = path

    def where(self) -> str:
        """``file, line N, at path``, as far as they are known."""
        place = _place(self.file, self.line)
        if not self.path:
            return place
        return f"{place}, at {self.path}" if place else f"at {self.path}"


class ExportError(AnalyzerError):
    """A spec cannot be expressed in the target asked for; ``target`` is the target's name."""

    exit_code: ClassVar[int] = 5

    def __init__(self, found: str, *, target: str = "", hint: str = "") -> None:
        super().__init__(found, hint=hint)
        self.target = target

    def where(self) -> str:
        """The target's name."""
        return self.target


class JobError(AnalyzerError):
    """A long job could not be finished, through no fault of what it was to work on; what was done is kept."""

    exit_code: ClassVar[int] = 7


def _place(source: str, line: int | None) -> str:
    if line is None:
        return source
    return f"{source}, line {line}" if source else f"line {line}"
