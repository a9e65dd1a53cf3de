"""What obep says when something is wrong: a code, a place, the reason, and what to do.

Everything that leaves obep on purpose is an `ObepError` with one or more `Diagnostic`s. Values that obep.toml
takes from the environment (`${NAME}`) stand in none of them; see `obep.secrets`.
"""

from __future__ import annotations

from dataclasses import dataclass
from textwrap import wrap
from typing import Literal, NamedTuple

from obep.secrets import hide

Severity = Literal["error", "warning"]
MOST = 1000
"""Characters of a line that are printed."""


class Span(NamedTuple):
    """A place in a text: offsets for slicing, lines and columns (from 1) for people."""

    start: int
    end: int
    line: int
    column: int
    end_line: int
    end_column: int


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to say about a query, an ontology, a configuration or a run.

    `line_text` is the source line that `span` begins in, so that a diagnostic prints itself.
    """

    code: str
    message: str
    file: str = ""
    span: Span | None = None
    reason: str = ""
    remedy: str = ""
    line_text: str = ""
    severity: Severity = "error"

    def __post_init__(self) -> None:
        for name in ("message", "file", "reason", "remedy"):  # also a library's users print these
            object.__setattr__(self, name, hide(getattr(self, name)))

    def __str__(self) -> str:
        message = printable(_cut(self.message))
        lines = [f"{self.code}  {'warning: ' if self.severity == 'warning' else ''}{message}"]
        if self.span is not None:
            lines.append(f"  {printable(self.file)}:{self.span.line}:{self.span.column}")
            lines.extend(self._excerpt(self.span))
        elif self.file:
            lines.append(f"  {printable(self.file)}")
        for line in self.reason.splitlines():
            lines.extend(
                f"  {part}"
                for part in wrap(printable(_cut(line)), 100, break_on_hyphens=False, break_long_words=False)
            )
        if self.remedy:
            first, *rest = self.remedy.splitlines()
            lines.append(f"  Try:  {printable(first)}")
            lines.extend(f"        {printable(line)}" for line in rest)
        return "\n".join(lines)

    def _excerpt(self, span: Span) -> list[str]:
        if not self.line_text:
            return []
        text = self.line_text.replace("\t", " ")
        width = span.end_column - span.column if span.end_line == span.line else len(text) - span.column + 1
        column = span.column
        if len(text) > 160:  # a very long line is cut around the caret
            cut = max(0, column - 60)
            text, column = text[cut : cut + 160], column - cut
        width = max(1, min(width, len(text) - column + 1))
        number = f"{span.line:>5}"
        return [f"{number} | {printable(text)}", f"{' ' * len(number)} | {' ' * (column - 1)}{'^' * width}"]

    def to_json(self) -> dict[str, object]:
        """The same record for machines (`--format json`)."""
        record: dict[str, object] = {
            "code": self.code,
            "severity": self.severity,
            "message": self.message,
            "file": self.file,
            "reason": self.reason,
            "remedy": self.remedy,
        }
        if self.span is not None:
            record |= {
                "line": self.span.line,
                "column": self.span.column,
                "endLine": self.span.end_line,
                "endColumn": self.span.end_column,
            }
        return record


class ObepError(Exception):
    """The one exception that obep raises on purpose."""

    def __init__(self, *diagnostics: Diagnostic) -> None:
        super().__init__("\n\n".join(str(d) for d in diagnostics))
        self.diagnostics = diagnostics

    @property
    def code(self) -> str:
        return self.diagnostics[0].code


def fail(code: str, message: str, *, reason: str = "", remedy: str = "", file: str = "") -> ObepError:
    """An error without a place in a query.

    >>> str(fail("OBEP500", "no such file", remedy="obep init"))
    'OBEP500  no such file\\n  Try:  obep init'
    """
    return ObepError(Diagnostic(code, message, file=file, reason=reason, remedy=remedy))


class Stopped(ObepError):
    """A failure while running, which nothing in the query or the configuration mends: exit status 1."""


def stopped(code: str, message: str, *, reason: str = "", remedy: str = "") -> Stopped:
    """An error that ends a run which was under way."""
    return Stopped(Diagnostic(code, message, reason=reason, remedy=remedy))


def _cut(text: str) -> str:
    """What may quote a very long word, without most of it."""
    return text if len(text) <= MOST else f"{text[: MOST // 2]} … {text[-MOST // 2 :]}"


def printable(text: str) -> str:
    r"""Any text for a terminal: control characters are shown, not obeyed.

    >>> printable("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)


def count(number: int, noun: str) -> str:
    """Write a number of things.

    >>> count(1, "event"), count(2, "event"), count(0, "error")
    ('1 event', '2 events', 'no errors')
    """
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
