"""The graphs and instants that a program pushes, as triples and microseconds."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime
from functools import lru_cache
from typing import Any

from obep.errors import ObepError, fail
from obep.formats.time_hints import likely_unit
from obep.formats.timestamps import parse_instant
from obep.model import Term, Triple

Instant = str | int | float | datetime

_TERM = re.compile(
    r"""<[a-zA-Z][a-zA-Z0-9+.-]*:(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>"""
    r"""|_:[\w](?:[\w.:-]*[\w:-])?"""
    r"""|"(?:[^"\\\n\r]|\\[tbnrf"'\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*"
        (?:@[a-zA-Z]{1,8}(?:-[a-zA-Z0-9]{1,8})*
        |\^\^<[a-zA-Z][a-zA-Z0-9+.-]*:(?:[^\x00-\x20<>"{}|^`\\]|\\u[0-9A-Fa-f]{4}|\\U[0-9A-Fa-f]{8})*>)?""",
    re.VERBOSE,
)
"""A term as N-Triples writes it: an IRI, a blank node or a literal."""
_UNDECLARED = re.compile(r"The prefix (\S*:) has not been declared")
"""What the parser of Turtle says: the prefixes of the query are its own."""


@lru_cache(65536)
def is_term(text: str) -> bool:
    """Whether a text is one whole term of N-Triples."""
    return _TERM.fullmatch(text) is not None


def triples_of(graph: Any, stream: str, at: int, format: str | None = None) -> tuple[Triple, ...]:
    """The triples of an rdflib graph, of triples, of Turtle, N-Triples or JSON-LD text, or of a dict.

    Blank nodes become private to the item.
    """
    from obep.formats.input_limits import Limits, Refused
    from obep.formats.rdf_text import item_triples, parse_graph

    try:
        if isinstance(graph, str | bytes | dict):
            found = parse_graph(graph, format or _format_of(graph), Limits())
            message = graph.encode() if isinstance(graph, str) else repr(graph).encode()
            return item_triples(found, stream, at, message)
        found = [_triple(triple) for triple in _iterate(graph)]
        lines = sorted(" ".join("_:" if term[0] == "_" else term for term in triple) for triple in found)
        return item_triples(found, stream, at, "\n".join(lines).encode())
    except Refused as refused:
        prefix = _UNDECLARED.search(refused.reason)
        remedy = f"@prefix {prefix[1]} <http://example.org/> .   before the triples" if prefix else ""
        raise fail(refused.code, refused.reason, remedy=remedy) from None


def refuse_blank_nodes(triples: Iterable[Triple]) -> None:
    """Refuse blank nodes in deleted triples: they never denote a node of the static graph."""
    from obep.formats.graph_changes import require_named
    from obep.formats.input_limits import Refused

    try:
        require_named(triples)
    except Refused as refused:
        raise fail(refused.code, refused.reason) from None


def _format_of(text: str | bytes | dict[str, object]) -> str:
    if isinstance(text, dict):
        return "jsonld"
    first = text.lstrip()[:1]
    return "jsonld" if first in ("{", b"{") else "turtle"


def _iterate(graph: Any) -> Iterable[Any]:
    if isinstance(graph, Iterable):
        return graph
    raise fail(
        "OBEP570",
        f"{type(graph).__name__} is no graph",
        remedy="an rdflib graph, triples, Turtle, N-Triples or JSON-LD text, or a JSON-LD dict",
    )


def _triple(triple: Any) -> Triple:
    try:
        s, p, o = triple
    except (TypeError, ValueError):
        raise fail("OBEP570", f"{triple!r} is not a triple") from None
    found = _term(s), _term(p), _term(o)
    if found[0][0] == '"' or found[1][0] != "<":
        raise fail(
            "OBEP570",
            f"{triple!r} is not a triple",
            reason="A subject cannot be a literal, and a property must be an IRI.",
        )
    return found


def _term(term: Any) -> Term:
    if hasattr(term, "n3"):  # rdflib's; a str too, so it is asked first
        try:
            return _canonical(str(term.n3()), term)
        except ObepError:
            raise
        except Exception as error:  # rdflib has no class of its own for what it cannot write
            raise fail("OBEP570", f"{str(term)!r} is no term", reason=str(error)) from None
    text = term if isinstance(term, str) else str(term)
    return _require(text)


def _require(text: str) -> Term:
    """The text, if it is one whole term of N-Triples: what follows it would be statements of its own."""
    if is_term(text):
        return text
    raise fail("OBEP570", f"{text!r} is no term", remedy='<http://example.org/a>, "text" or _:label')


def _canonical(text: str, term: Any) -> Term:
    """rdflib writes long strings in three quotes and numbers bare; N-Triples does neither."""
    if text[:1] in ("<", "_"):
        return _require(text)
    from obep.guards.guard_terms import literal

    datatype = getattr(term, "datatype", None)
    language = getattr(term, "language", None) or ""
    if datatype:
        return _require(literal(str(term), f"<{datatype}>", language))
    return _require(literal(str(term), language=language))


def written(at: Instant) -> str | int | float:
    """An instant as items have it; a datetime without a zone is UTC."""
    return at.isoformat() if isinstance(at, datetime) else at


def instant_of(at: Any) -> int:
    """In microseconds."""
    remedy = '"2026-01-01T10:00:00Z", a datetime, or a number of seconds'
    if not isinstance(at, str | int | float):
        raise fail("OBEP570", f"{type(at).__name__} is no instant", remedy=remedy)
    try:
        return parse_instant(at)
    except ValueError as error:
        likely = None if isinstance(at, str) else likely_unit(at, "s")
        reason = likely.meant if likely else ""
        raise fail("OBEP570", str(error), reason=reason, remedy=remedy) from None
