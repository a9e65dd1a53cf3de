"""Diagnostics about a query, and the user's own text inside them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from obep.errors import Diagnostic, Severity, Span
from obep.query.ast import Node, QueryFile
from obep.query.print.printer import show

_LONGEST = 110


def say(
    code: str, file: QueryFile, span: Span, message: str, reason: str = "", remedy: str = ""
) -> Diagnostic:
    """A diagnostic at a place of `file`; the codes 200-299 are warnings."""
    start = file.text.rfind("\n", 0, span.start) + 1
    end = file.text.find("\n", span.start)
    line = _line(file.text, start, end if end >= 0 else len(file.text))
    severity: Severity = "warning" if code.startswith("OBEP2") else "error"
    return Diagnostic(code, message, file.name, span, reason, remedy, line, severity)


@lru_cache(maxsize=16)
def _line(text: str, start: int, end: int) -> str:
    """A line, cut out once for all that is said about it."""
    return text[start:end].rstrip("\r")


def quote(node: Node) -> str:
    """A piece of the query on one line, in its canonical form; a very long one loses its middle."""
    text = " ".join(show(node).split())
    return text if len(text) <= _LONGEST else f"{text[:70]} … {text[-30:]}"


def twice_in_a_list(file: QueryFile, where: str, members: Sequence[tuple[str, Span]]) -> Iterator[Diagnostic]:
    """OBEP217: what stands in a list again changes nothing."""
    seen: set[str] = set()
    for text, span in members:
        if text in seen:
            yield say(
                "OBEP217", file, span, f"{text} stands twice in {where}",
                "Once is enough; perhaps another one was meant.", f"remove one {text}",
            )  # fmt: skip
        seen.add(text)


def listed(names: Sequence[str], last: str = "and") -> str:
    """Names as in a sentence, at most four of them.

    >>> listed(["A"]), listed(["A", "B"]), listed(["A", "B", "C"]), listed(list("ABCDEF"))
    ('A', 'A and B', 'A, B and C', 'A, B, C and 3 more')
    """
    if len(names) > 4:
        names = [*names[:3], f"{len(names) - 3} more"]
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} {last} {names[-1]}"
