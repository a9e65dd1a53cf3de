"""Diagnostics about a query, and the user's own text inside them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache

from obep.errors import Diagnostic, Span
from obep.query.ast import Node, QueryFile
from obep.query.print.printer import show

_LONGEST = 110


def say(
    code: str, file: QueryFile, span: Span, message: str, reason: str = "", remedy: str = ""
) -> Diagnostic:
    """Make an error at a place of `file`; what a rule finds takes the severity of the rule."""
    start = file.text.rfind("\n", 0, span.start) + 1
    end = file.text.find("\n", span.start)
    line = _line(file.text, start, end if end >= 0 else len(file.text))
    return Diagnostic(code, message, file.name, span, reason, remedy, line)


def warn(
    code: str, file: QueryFile, span: Span, message: str, reason: str = "", remedy: str = ""
) -> Diagnostic:
    """Make a warning at a place of `file`."""
    return replace(say(code, file, span, message, reason, remedy), severity="warning")


@lru_cache(maxsize=16)
def _line(text: str, start: int, end: int) -> str:
    """A line of the text, cached for all messages about it."""
    return text[start:end].rstrip("\r")


def quote(node: Node) -> str:
    """A piece of the query on one line, in its canonical form; a very long one loses its middle."""
    text = " ".join(show(node).split())
    return text if len(text) <= _LONGEST else f"{text[:70]} … {text[-30:]}"


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as in a sentence, at most four of them.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"]), listed(list("ABCDEF"))
    ('A', 'A and B', 'A, B and C', 'A, B, C and 3 more')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
