"""A test case as data: composite events, a stream written in one line, what they must report.

The stream: items separated by spaces, each the occurrences found in it, joined by `+`. `A3x(p=1|2)` is an
occurrence of :A at second 3 whose individual is :x, with the explanation `:x :p 1, 2`; without a name the
individual is called like the occurrence (`A3`). `A1-3x` lasts from 1 to 3 (found at 3, as over a window).
A trailing `'` gives the item a triple that explains nothing, `_3` is an item with only that; `|9` at the end
moves time on to second 9 before the stream is closed.

The answers: `A1 B3 [1,3]@3` for the parts, the interval and the instant of detection; contexts in
parentheses; a composite part is `H[1,3]`. Only what differs from the usual is written: `~1` is a since other
than the least start, `/x` a partition value.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

from obep.model import RDF_TYPE, SECOND, Assertion, EagerOccurrence, Item, Occurrence, Term
from obep.query import ast
from oracle.guard_semantics import XSD
from oracle.leaf_windows import declared
from oracle.semantics import Found, detect

EX = "http://example.org/"
LOGICAL = ("A", "B", "C", "D")
"""The logical events that the streams of the tests have."""


class Arrival(NamedTuple):
    """An item and what abstraction found in it."""

    item: Item
    occurrences: tuple[Occurrence, ...]


@dataclass(frozen=True)
class Case:
    """Composite events over a finished stream."""

    events: tuple[ast.CompositeEvent, ...]
    arrivals: tuple[Arrival, ...]
    end: int

    def oracle(self) -> list[Found]:
        occurrences = [o for arrival in self.arrivals for o in arrival.occurrences]
        return detect(self.events, occurrences, [a.item for a in self.arrivals], self.end)

    def instants(self) -> Iterator[tuple[int, list[Arrival]]]:
        """The arrivals of each instant, in the order of time."""
        for at in sorted({arrival.item.at for arrival in self.arrivals}):
            yield at, [arrival for arrival in self.arrivals if arrival.item.at == at]


# --- the stream in one line -------------------------------------------------------------------------------


def iri(name: str) -> Term:
    """The term of a bare name."""
    return f"<{EX}{name}>"


def integer(value: int) -> Term:
    return f'"{value}"^^<{XSD}integer>'


_TOKEN = re.compile(r"([A-Z]+)(?:(\d+)-)?(\d+)([a-z]\w*)?(?:\(([^)]*)\))?")


def read_stream(text: str) -> tuple[tuple[Arrival, ...], int]:
    """The arrivals, and the instant to which time moves before the end.

    >>> (arrival,), end = read_stream("A3x(p=1|2)+B3")
    >>> [o.individual for o in arrival.occurrences], end
    (['<http://example.org/x>', '<http://example.org/B3>'], 3000000)
    """
    arrivals: list[Arrival] = []
    end = 0
    for number, word in enumerate(text.split()):
        if word.startswith("|"):
            end = int(word[1:]) * SECOND
            continue
        extra = word.endswith("'") or word.startswith("_")
        occurrences = () if word.startswith("_") else tuple(map(_occurrence, word.rstrip("'").split("+")))
        at = int(word[1:]) * SECOND if word.startswith("_") else occurrences[0].detected
        triples = {triple for o in occurrences for triple, when in o.explanation if when == at}
        if extra:
            triples.add((iri(f"item{number}"), iri("extra"), integer(number)))
        arrivals.append(Arrival(Item("s", at, tuple(sorted(triples))), occurrences))
    arrivals.sort(key=lambda arrival: arrival.item.at)
    return tuple(arrivals), max([end, *(arrival.item.at for arrival in arrivals)])


def _occurrence(word: str) -> Occurrence:
    match = _TOKEN.fullmatch(word)
    assert match, word
    event, start, end, name, data = match.groups()
    individual = iri(name or word.split("(")[0])
    first, last = int(start or end) * SECOND, int(end) * SECOND
    explanation: set[Assertion] = {((individual, RDF_TYPE, iri("Kind")), last)}
    if start:
        explanation.add(((individual, RDF_TYPE, iri("Begun")), first))
    for piece in filter(None, (data or "").split(",")):
        prop, values = piece.split("=")
        explanation |= {((individual, iri(prop), integer(int(v))), last) for v in values.split("|")}
    return EagerOccurrence(iri(event), individual, tuple(sorted(explanation)), first, last, last, first)


def show_stream(case: Case) -> str:
    """The stream as `read_stream` reads it."""
    words = [show_arrival(arrival) for arrival in case.arrivals]
    return " ".join([*words, f"|{case.end // SECOND}"])


def show_arrival(arrival: Arrival) -> str:
    extra = any(predicate == iri("extra") for _, predicate, _ in arrival.item.triples)
    if not arrival.occurrences:
        return f"_{arrival.item.at // SECOND}"
    return "+".join(map(show_occurrence, arrival.occurrences)) + ("'" if extra else "")


def show_occurrence(o: Occurrence) -> str:
    name = label(o)
    data: dict[str, list[str]] = {}
    for (_, predicate, value), _ in sorted(o.explanation):
        if predicate != RDF_TYPE:
            data.setdefault(short(predicate), []).append(value.split('"')[1])
    return name + (f"({','.join(f'{p}={chr(124).join(vs)}' for p, vs in data.items())})" if data else "")


def short(term: Term) -> str:
    """A term without its namespace."""
    return term.split('"')[1] if term.startswith('"') else term.rstrip(">").rsplit("/", 1)[-1]


def label(o: Occurrence) -> str:
    """How an occurrence is written in a stream, without its data."""
    span = f"{o.start // SECOND}-" if o.start != o.end else ""
    name = f"{short(o.event)}{span}{o.end // SECOND}"
    return name if short(o.individual) == name else name + short(o.individual)


# --- the answers ------------------------------------------------------------------------------------------


def show_answer(o: Occurrence) -> str:
    """One answer in one line.

    >>> arrivals, _ = read_stream("A1")
    >>> show_answer(arrivals[0].occurrences[0])
    'A1'
    """
    if not o.parts and not o.individual.startswith("<urn:"):
        return label(o)
    words = []
    for part in o.parts:
        within = part.occurrence
        word = label(within) if not within.parts else f"{short(within.event)}{_interval(within)}"
        words.append(f"({word})" if part.context else word)
    text = f"{' '.join(words)} {_interval(o)}@{o.detected // SECOND}"
    if o.since != min([o.start, *(p.occurrence.start for p in o.parts)]):
        text += f"~{o.since // SECOND}"
    if o.partition:
        text += "/" + ",".join(map(short, o.partition))
    return text.strip()


def _interval(o: Occurrence) -> str:
    return f"[{o.start // SECOND},{o.end // SECOND}]"


def answers(found: Iterable[Found], event: str = "H") -> set[str]:
    """The answers of one event, each as a line."""
    return {show_answer(hit.occurrence) for hit in found if hit.occurrence.event == iri(event)}


def bindings(found: Iterable[Found], event: str = "H") -> dict[str, set[str]]:
    """For each answer its bindings, such as `x=1 y=2`."""
    return {
        show_answer(hit.occurrence): {
            " ".join(f"{name}={short(value)}" for name, value in sorted(row.items()))
            for row in hit.occurrence.bindings
        }
        for hit in found
        if hit.occurrence.event == iri(event)
    }


# --- the query in text ------------------------------------------------------------------------------------

PREAMBLE = "".join(f"EVENT {name} AS KindOf{name}\n" for name in LOGICAL)


def query_text(composites: str) -> str:
    """A whole file around some composite events."""
    return f"PREFIX : <{EX}>\n{declared(composites)}{PREAMBLE}{composites}\nRETURN ALL\n"


def read_case(composites: str, stream: str) -> Case:
    """A case from the text of its composite events and its stream."""
    from obep.query.parse.parser import parse

    arrivals, end = read_stream(stream)
    events = parse(query_text(composites)).events
    return Case(tuple(e for e in events if isinstance(e, ast.CompositeEvent)), arrivals, end)
