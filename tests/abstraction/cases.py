"""Small reasoning problems as text: T, K and items in Turtle, events in obep's language."""

from __future__ import annotations

from collections.abc import Iterable

import pyoxigraph

from obep.abstraction.matcher import Matched, Matcher
from obep.model import DeadLetter, Item, Occurrence, Term, Triple
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import SafeRule
from obep.ontology.owl.rdf_to_owl import axioms_of
from obep.query.link import Linked, link
from obep.query.parse.parser import parse

BASE = "http://e/"
PREFIXES = f"""
@prefix : <{BASE}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
"""


def turtle(text: str, prefix: str = "") -> tuple[Triple, ...]:
    """The triples of a text with the usual prefixes; blank nodes get a prefix."""
    found = pyoxigraph.parse(PREFIXES + text, pyoxigraph.RdfFormat.TURTLE)
    names: dict[str, str] = {}

    def term(node: object) -> str:
        written = str(node)
        return names.setdefault(written, f"_:{prefix}{len(names)}") if written[0] == "_" else written

    return tuple((term(q.subject), term(q.predicate), term(q.object)) for q in found)


def ontology(text: str) -> Axioms:
    """T in Turtle."""
    return axioms_of(turtle(text, "t"))


def linked(events: str) -> Linked:
    """Events with the prefixes of Turtle."""
    header = "\n".join(
        line.replace("@prefix", "PREFIX").removesuffix(" .") for line in PREFIXES.strip().splitlines()
    )
    return link(parse(f"{header}\n{events}\n"))


def bundle(
    t: str, events: str, k: str = "", *, java: bool = False, rules: tuple[SafeRule, ...] = ()
) -> Bundle:
    """A compiled problem; `rules` are axioms of T that no file of OWL has."""
    return compile_bundle(linked(events), ontology(t) | Axioms(rules), turtle(k, "k"), java=java)


def item(text: str, at: int = 7, stream: str = "s") -> Item:
    """An item of triples in Turtle."""
    return Item(stream, at, turtle(text, "i"))


def short(term: Term) -> str:
    """A term as the cases write it."""
    if term.startswith(f"<{BASE}"):
        return f":{term[len(BASE) + 1 : -1]}"
    if term == "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>":
        return "a"
    if term == "<http://www.w3.org/2002/07/owl#sameAs>":
        return "="
    return term.split("^^")[0]


def shown(occurrences: Iterable[Occurrence]) -> set[str]:
    """`H(:x) <= :x :p :y ; :y a :C`, with a star on what is of the item."""
    found = set()
    for occurrence in occurrences:
        because = sorted(
            " ".join(map(short, triple)) + ("" if at is None else "*")
            for triple, at in occurrence.explanation
        )
        event = short(occurrence.event).removeprefix(":")
        found.add(f"{event}({short(occurrence.individual)}) <= {' ; '.join(because)}")
    return found


def found(matcher: Matcher, text: str) -> set[str]:
    """What a matcher finds in an item; `{"clash: …"}` for a dead letter."""
    answer = matcher.match(item(text))
    if isinstance(answer, DeadLetter):
        return {f"clash: {answer.reason}"}
    assert isinstance(answer, Matched)
    return shown(answer.occurrences)
