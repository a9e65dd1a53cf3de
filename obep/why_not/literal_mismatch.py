"""Literals of guards that the data has under another datatype: `?this :kW 20` does not find `20.0`.

In a triple a literal is the same term, or it is not there; a FILTER compares values.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import cache

from obep.guards.block_queries import Ask
from obep.guards.guard_terms import term_of
from obep.model import Item, Occurrence, Term, Triple
from obep.ontology.owl.axioms import DataOneOf
from obep.ontology.owl.literals import NUMBERS, parts, space_of, value
from obep.ontology.owl.verbalise import typed_literal
from obep.query.ast import Literal, Name, TriplePattern, Var
from obep.query.free_variables import THIS
from obep.query.print.printer import show
from obep.why_not.datatype_mismatch import mistyped

Said = Callable[[Occurrence], Iterable[Triple]]
"""The triples of an occurrence: its explanation, and the items of its instants."""


def said_in(items: Iterable[Item]) -> Said:
    """The triples of explanations and of the items of their instants."""

    @cache
    def at() -> dict[int, list[Triple]]:
        found: dict[int, list[Triple]] = {}
        for item in items:
            found.setdefault(item.at, []).extend(item.triples)
        return found

    def said(occurrence: Occurrence) -> Iterable[Triple]:
        explained = [triple for triple, _ in occurrence.explanation]
        instants = {when for _, when in occurrence.explanation if when is not None}
        return dict.fromkeys([*explained, *(t for when in sorted(instants) for t in at().get(when, ()))])

    return said


def other_terms(ask: Ask, occurrence: Occurrence, said: Said) -> str:
    """The literals that the data have instead of a block's, and a remedy; None if there are none."""
    for pattern in ask.triples:
        if isinstance(pattern.object, Literal) and isinstance(pattern.predicate, Name):
            there = [o for s, p, o in said(occurrence) if _fits(pattern, s, p, ask, occurrence)]
            wanted = term_of(pattern.object)
            other = next((o for o in there if o[0] == '"' and _same_value(wanted, o)), None)
            if other is not None and wanted not in there:
                return f"; {_difference(pattern, other, ask)}"
    return ""


def _fits(pattern: TriplePattern, s: Term, p: Term, ask: Ask, occurrence: Occurrence) -> bool:
    assert isinstance(pattern.predicate, Name)
    if p != pattern.predicate.iri:
        return False
    match pattern.subject:
        case Name(iri=iri):
            return s == iri
        case Var(name=name) if name in (THIS, *ask.names_this):
            return s == occurrence.individual
    return True


def _same_value(wanted: Term, other: Term) -> bool:
    return value(wanted) == value(other) or mistyped(DataOneOf((wanted,)), other)


def _difference(pattern: TriplePattern, other: Term, ask: Ask) -> str:
    assert isinstance(pattern.object, Literal)
    numbers = all(space_of(parts(one)[1]) in NUMBERS for one in (other, term_of(pattern.object)))
    it = typed_literal(other)
    if not numbers:
        return f"it is {it}, which is another term"
    nodes = [node for triple in ask.triples for node in (triple.subject, triple.object)]
    used = {node.name for node in nodes if isinstance(node, Var)}
    v = next(name for name in ("v", "w", "v1", "v2", "v3") if name not in used)
    written = f"{show(pattern.subject)} {show(pattern.predicate)} ?{v} FILTER(?{v} = {show(pattern.object)})"
    it = it.replace('"', "")
    return f"it is {it}: a literal in a triple is the same term; write {written}"
