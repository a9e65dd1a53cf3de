"""numbers of another datatype

What it does: Finds numbers in a stream whose datatype an event over their property does not accept. The
message names the event if others accept it.

Why: In OWL no `xsd:double` is an `xsd:float` or an `xsd:decimal`, so the event is never found. (An
`xsd:integer` is an `xsd:decimal`.) `{v}` in a mapping makes an `xsd:double` of `4.8` and an `xsd:integer` of
`4`. A definition with an alternative that accepts the numbers is not reported. The first 500 items of each
stream that the event reads are checked.

Example:

    EVENT Hot AS (celsius some xsd:double[> 30])
    template = ":{id} :celsius {v} ."

Fix:

    EVENT Hot AS (celsius some number[> 30])          # or {v:double} in the template
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.lints.analysis.asked_numbers import AskedNumbers, values_of
from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import StreamStats
from obep.model import Item, Term, local_name
from obep.ontology.bundle.stream_readers import FEW, Listening
from obep.ontology.owl.literals import NUMBERS, parts, space_of, value
from obep.ontology.owl.verbalise import prefixed
from obep.ontology.rules.findable_numbers import Asked
from obep.query.ast import Name
from obep.query.diagnostics import listed
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP569"
NAME = "number-datatype"
SEVERITY = "warning"


def watch(bundle: Bundle, here: Listening) -> AskedNumbers | None:
    watched = AskedNumbers.of(bundle, here)
    return watched if watched is not None and watched.asked else None


def observe(watched: AskedNumbers, item: Item, stats: StreamStats) -> None:
    for _, p, o in item.triples:
        if o[0] != '"' or p not in watched.asked:
            continue
        stats.facts[CODE, item.stream, "value", p] += 1
        if value(o).space in NUMBERS:
            stats.facts[CODE, item.stream, "typed", p, parts(o)[1]] += 1
        if not watched.number_as_text(p, o) and watched.asked[p].misses(o):
            stats.facts[CODE, item.stream, "missed", p, parts(o)[1]] += 1


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    for fact, count in sorted(stats.facts.items(), key=lambda one: (one[0][:4], -one[1], one[0])):
        if fact[0] == CODE and fact[2] == "missed":
            _, stream, _, property, datatype = fact
            total = stats.facts[CODE, stream, "value", property]
            asked = run.watched(stream).asked[property]
            yield Finding(
                stream,
                f"{values_of(stats, stream, property, count, total)} are {prefixed(datatype)}, and the "
                f"ontology or the query asks for {_datatypes(asked)}   {_remedy(asked)}",
                about=property,
            )
    yield from _of_single_events(stats, run)


def _of_single_events(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    """Numbers that one event takes, and that another one, which asks for some, misses."""
    typed: dict[tuple[Term, str], set[Term]] = {}
    for fact in stats.facts:
        if fact[0] == CODE and fact[2] == "typed":
            typed.setdefault((fact[3], fact[1]), set()).add(fact[4])
    missing: dict[tuple[Term, Term], str] = {}
    taking: set[tuple[Term, Term]] = set()
    asks: dict[tuple[Term, Term], Asked] = {}
    for (property, stream), datatypes in sorted(typed.items()):
        numbers = sum(stats.facts[CODE, stream, "typed", property, one] for one in datatypes)
        mixed = numbers < stats.facts[CODE, stream, "value", property]  # there is text as well
        said = any(stats.facts[CODE, stream, "missed", property, one] for one in datatypes)
        for event, asked in _askers(run, stream, property):
            asks[event, property] = asked
            if mixed or said or not asked.spaces.isdisjoint(map(space_of, datatypes)):
                taking.add((event, property))
            else:
                missing.setdefault((event, property), stream)
    for (event, property), stream in missing.items():
        if (event, property) not in taking:
            total = stats.facts[CODE, stream, "value", property]
            are = listed(list(map(prefixed, sorted(typed[property, stream]))))
            asked = asks[event, property]
            yield Finding(
                stream,
                f"{values_of(stats, stream, property, total, total)} are {are}, which others take, and "
                f"{local_name(event)} asks for {_datatypes(asked)}   {_remedy(asked)}",
                about=property,
            )


def _askers(run: RunContext, stream: str, property: Term) -> Iterator[tuple[Term, Asked]]:
    """The events that ask numbers of a property, each with what it takes; of many, those that name it."""
    bundle, here = run.query.bundle, run.watched(stream).here
    few = len(here.events) <= FEW
    for event in here.events:
        names = (node.iri for node in walk(event.description) if isinstance(node, Name))
        if few or any(bundle.implies(property, name) for name in names):
            asked = bundle.asked_numbers(here.alone_with(event))
            if property in asked:
                yield event.name.iri, asked[property]


def _datatypes(asked: Asked) -> str:
    return listed(list(map(prefixed, asked.datatypes)), "or")


def _remedy(asked: Asked) -> str:
    return f"({{field:{asked.field_type}}} in the mapping, or `number` in the query)"
