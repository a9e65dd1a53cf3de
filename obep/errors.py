"""What obep says when something is wrong: a code, a place, the reason, and what to do.

Everything that leaves obep on purpose is an `ObepError` with one or more `Diagnostic`s. Values that obep.toml
takes from the environment (`${NAME}`) stand in none of them; see `obep.secrets`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import Any, Literal, NamedTuple

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


_STYLES = {
    "error": "color:#c5221f;font-weight:bold",
    "warning": "color:#a15c00;font-weight:bold",
    "place": "color:#777",
    "line": "",
    "caret": "color:#c5221f;font-weight:bold",
    "remedy": "color:#188038",
}
"""How notebooks show the lines of a diagnostic."""
_COLOURS = {"error": "1;31", "warning": "1;33", "place": "2", "line": "0", "caret": "1;31", "remedy": "32"}
"""The same for terminals."""


def monospaced(html: str) -> str:
    """Lines whose columns stand below each other in a notebook: JupyterLab has another font for `pre`."""
    style = "font-family:monospace;white-space:pre;overflow-x:auto;background:none;margin:.3em 0"
    return f'<pre style="{style}">{html}</pre>'


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """One thing to say about a query, an ontology, a configuration or a run.

    `line_text` is the source line that `span` begins in, so that a diagnostic prints itself.

    >>> print(Diagnostic("OBEP551", "MQTT needs paho-mqtt", remedy='pip install "obep[mqtt]"'))
    OBEP551  MQTT needs paho-mqtt
      Try:  pip install "obep[mqtt]"
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
        return "\n".join(line for _, line in self._lines())

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        """What IPython shows in a terminal."""
        printer.text(str(self))

    def _repr_html_(self) -> str:
        spans = (f'<span style="{_STYLES[kind]}">{escape(line)}</span>' for kind, line in self._lines())
        return monospaced("\n".join(spans))

    def coloured(self) -> str:
        """The same text for a terminal with colours."""
        lines = (f"\x1b[{_COLOURS[kind]}m{line}\x1b[0m" for kind, line in self._lines())
        return "\n".join(lines)

    def _lines(self) -> Iterator[tuple[str, str]]:
        """The lines of its text, each with what it is."""
        message = printable(_cut(self.message))
        yield self.severity, f"{self.code}  {'warning: ' if self.severity == 'warning' else ''}{message}"
        if self.span is not None:
            yield "place", f"  {printable(self.file)}:{self.span.line}:{self.span.column}"
            yield from zip(("line", "caret"), self._excerpt(self.span), strict=False)
        elif self.file:
            yield "place", f"  {printable(self.file)}"
        for line in self.reason.splitlines():
            for part in wrap(printable(_cut(line)), 100, break_on_hyphens=False, break_long_words=False):
                yield "line", f"  {part}"
        if self.remedy:
            first, *rest = self.remedy.splitlines()
            yield "remedy", f"  Try:  {printable(first)}"
            for line in rest:
                yield "remedy", f"        {printable(line)}"

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


class Diagnostics(tuple[Diagnostic, ...]):
    """All that is to be said about one thing; a notebook shows them one below the other."""

    def __str__(self) -> str:
        return "\n\n".join(map(str, self))

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(str(self) or "()")

    def _repr_html_(self) -> str:
        return "".join(one._repr_html_() for one in self)


class ObepError(Exception):
    """The one exception that obep raises on purpose; `diagnostics` are all that is wrong.

    >>> import obep
    >>> try:
    ...     obep.load(text="EVENT A AS")
    ... except obep.ObepError as error:
    ...     print(error.code, error.diagnostics[0].message)
    OBEP079 a class is missing after AS
    """

    def __init__(self, *diagnostics: Diagnostic) -> None:
        self.diagnostics = Diagnostics(diagnostics)
        super().__init__(str(self.diagnostics))

    @property
    def code(self) -> str:
        return self.diagnostics[0].code

    def _repr_html_(self) -> str:
        return self.diagnostics._repr_html_()

    def _render_traceback_(self) -> list[str]:
        """What IPython shows in place of a traceback: what is wrong, with the caret in colour."""
        return [line for one in self.diagnostics for line in (*one.coloured().split("\n"), "")]


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


def sentence(text: str) -> str:
    """A reason as a sentence.

    >>> sentence("the path has no end")
    'The path has no end.'
    """
    return f"{text[:1].upper()}{text[1:].rstrip('.')}."


def count(number: int, noun: str) -> str:
    """Write a number of things.

    >>> count(1, "event"), count(2, "event"), count(0, "error")
    ('1 event', '2 events', 'no errors')
    """
    return f"{number or 'no'} {noun}{'' if number == 1 else 's'}"
