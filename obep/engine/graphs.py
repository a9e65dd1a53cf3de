"""Whatever a program calls a graph, as the triples of an item."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obep.engine.rdf import triples
from obep.errors import fail
from obep.model import Occurrence, Term, Triple


def triples_of(graph: Any, stream: str, at: int, format: str | None = None) -> tuple[Triple, ...]:
    """The triples of an rdflib graph, of triples, of Turtle, N-Triples or JSON-LD text, or of a dict.

    Blank nodes become private to the item.
    """
    from obep.formats.limits import Limits, Refused
    from obep.formats.rdf import item_triples, parse_graph

    try:
        if isinstance(graph, str | bytes | dict):
            found = parse_graph(graph, format or _format_of(graph), Limits())
            message = graph.encode() if isinstance(graph, str) else repr(graph).encode()
            return item_triples(found, stream, at, message)
        found = [_triple(triple) for triple in _iterate(graph)]
        lines = sorted(" ".join("_:" if term[0] == "_" else term for term in triple) for triple in found)
        return item_triples(found, stream, at, "\n".join(lines).encode())
    except Refused as refused:
        raise fail(refused.code, refused.reason) from None


class Plain:
    """The graph of a composite occurrence without reasoning: A ∪ H(c) ∪ constructed."""

    vocabulary: frozenset[Term] = frozenset()

    def __init__(self, occurrence: Occurrence) -> None:
        self._triples = triples(occurrence)

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The triples with these terms."""
        return [t for t in self._triples if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]

    wide = narrow


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
        raise fail("OBEP570", f"{triple!r} is no triple") from None
    return _term(s), _term(p), _term(o)


def _term(term: Any) -> Term:
    if hasattr(term, "n3"):  # rdflib's; a str too, so it is asked first
        return _canonical(str(term.n3()), term)
    text = term if isinstance(term, str) else str(term)
    if text[:1] in ("<", '"', "_"):
        return text
    raise fail("OBEP570", f"{text!r} is no term", remedy='<http://example.org/a>, "text" or _:label')


def _canonical(text: str, term: Any) -> Term:
    """rdflib writes long strings in three quotes and numbers bare; N-Triples does neither."""
    if text[:1] in ("<", "_"):
        return text
    from obep.guards.terms import literal

    datatype = getattr(term, "datatype", None)
    language = getattr(term, "language", None) or ""
    return (
        literal(str(term), f"<{datatype}>", language) if datatype else literal(str(term), language=language)
    )
