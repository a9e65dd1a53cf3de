"""occurrences that differ only in their explanation

What it does: Counts the occurrences that differ from another one only in their explanation (the same event,
times, individuals and bindings), and shows how two of them differ. It does not count occurrences of an item
with several values of a property, such as two persons in a room.

Why: Each minimal explanation gives an occurrence. If the ontology, the static graph or an item states one
thing in several ways, there are more occurrences than expected. In a pattern they multiply. The first 2,000
occurrences of a run are checked; on Spark those that are written as JSON lines.

Example:

    :fedBy rdfs:domain :Point .
    :p1 a :Point ; :fedBy :F1 .          # each reading of p1 is a `Point and …` twice

Fix:

    :p1 :fedBy :F1 .                     # or max_explanations = 1 under [engine] in obep.toml
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from obep.lints.stream_context import Finding, RunContext
from obep.lints.stream_stats import Explanation, StreamStats
from obep.model import RDF_TYPE, Occurrence, Part, Term, Triple, local_name
from obep.ontology.owl.verbalise import name

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP581"
NAME = "duplicate-explanations"
SEVERITY = "warning"

LOOKED_AT = 2_000
"""Occurrences from the beginning of a run."""
FEWEST, MANY = 2, 0.1
"""Occurrences that are too many, and their share of all: few may well be two ways that matter."""
COMPARED = 50
"""Explanations that are compared with each other, to show two of them."""
MOST_STATIC = 1_000_000
"""Triples of a static graph that is looked through."""
MOST_SHOWN = 2
"""Assertions of one explanation that are shown."""


class Counted(NamedTuple):
    """An occurrence: all that people see of it but its explanation, and that."""

    event: Term
    rest: tuple[Any, ...]
    explanation: Explanation


def counted(occurrence: Occurrence) -> Counted:
    """An occurrence as it is counted."""
    parts = occurrence.parts or (Part(local_name(occurrence.event), occurrence),)
    leaves = tuple((a, o.event.strip("<>"), o.individual.strip("<>"), o.start, o.end, c) for a, o, c in parts)
    rest = (occurrence.start, occurrence.end, _rows(occurrence.bindings), leaves)
    facts = frozenset((n, t) for n, (_, o, c) in enumerate(parts) if not c for t, _ in o.explanation)
    return Counted(occurrence.event, rest, facts)


def counted_line(line: str) -> Counted:
    """Count an occurrence by its line of JSON (`obep.output.json_writer`)."""
    record = _decode(line)
    leaves = tuple((p.alias, p.event, p.individual, p.start, p.end, p.context) for p in record.because)
    rest = (record.start, record.end, _rows(record.bindings), leaves)
    facts = frozenset(
        (n, _triple(text)) for n, p in enumerate(record.because) if not p.context for text in p.assertions
    )
    return Counted(f"<{record.event}>", rest, facts)


class _Cause(msgspec.Struct):
    event: str
    alias: str
    individual: str
    start: str | float
    end: str | float
    assertions: list[str]
    context: bool = False


class _Line(msgspec.Struct):
    event: str
    start: str | float
    end: str | float
    bindings: list[dict[str, str]]
    because: list[_Cause]


_decode = msgspec.json.Decoder(_Line).decode


def _triple(text: str) -> Triple:
    s, p, o = text.removesuffix(" .").split(" ", 2)
    return s, p, o


def _rows(bindings: Iterable[dict[str, Term]]) -> tuple[Any, ...]:
    return tuple(tuple(sorted(row.items())) for row in bindings)


def observe_occurrences(found: Sequence[Occurrence], stats: StreamStats) -> None:
    """Observe occurrences as an engine gives them, while the run is young."""
    _observe(map(counted, found[: LOOKED_AT - stats.compared]), len(found), stats)


def observe_lines(lines: Sequence[str], stats: StreamStats) -> None:
    """Observe occurrences as lines of JSON."""
    _observe(map(counted_line, lines[: LOOKED_AT - stats.compared]), len(lines), stats)


def _observe(some: Iterable[Counted], of: int, stats: StreamStats) -> None:
    stats.occurrences += of
    for event, rest, explanation in some:
        stats.compared += 1
        stats.explanations.setdefault((event, *rest), set()).add(explanation)


def findings(stats: StreamStats, run: RunContext) -> Iterator[Finding]:
    several = {key: sets for key, sets in stats.explanations.items() if len(sets) > 1}
    if not several:
        return
    static = _static(several.values(), run.query.bundle)
    again = {key: count for key, sets in several.items() if (count := _again(sets, static))}
    total = sum(again.values())
    if total < FEWEST or total < MANY * stats.compared:
        return
    key = max(again, key=lambda key: (again[key], str(key[0])))
    one, other = _differing(several[key], static)
    first = "" if stats.compared == stats.occurrences else "the first "
    yield Finding(
        "",
        f"{total:,} of {first}{stats.compared:,} occurrences differ from another one only in their "
        f"explanation, most of them of {name(key[0])}: {_shown(one)} in one is {_shown(other)} in another",
        "remove duplicate statements from the ontology or the static graph, or keep one "
        "explanation: max_explanations = 1 under [engine] in obep.toml",
    )


def _static(several: Iterable[Iterable[Explanation]], bundle: Bundle) -> frozenset[Triple]:
    """The triples of K in the explanations."""
    asked = {triple for sets in several for one in sets for _, triple in one}
    k = bundle.k
    return frozenset(asked.intersection(k.once())) if k.facts.length <= MOST_STATIC else frozenset()


def _again(sets: set[Explanation], static: frozenset[Triple]) -> int:
    """How many of the explanations are others once more.

    Two that have different values of a property out of an item tell of two things: the item says both.
    """
    values: dict[tuple[int, Term, Term], set[Term]] = {}
    for part, (s, p, o) in {one for explanation in sets for one in explanation}:
        if p != RDF_TYPE and (s, p, o) not in static:
            values.setdefault((part, s, p), set()).add(o)
    several = {place: objects for place, objects in values.items() if len(objects) > 1}
    things = {
        frozenset((part, triple) for part, triple in one if triple[2] in several.get((part, *triple[:2]), ()))
        for one in sets
    }
    return len(sets) - len(things)


def _differing(sets: set[Explanation], static: frozenset[Triple]) -> tuple[set[Triple], set[Triple]]:
    """The shortest difference of two explanations."""
    some = sorted(sets, key=lambda one: (len(one), sorted(one)))[:COMPARED]
    apart = [(one - other, other - one) for one, other in combinations(some, 2)]
    again = [pair for pair in apart if all(pair) and _again(set(pair), static)] or apart
    shown = [({t for _, t in one}, {t for _, t in other}) for one, other in again]
    return min(shown, key=lambda pair: (sum(map(len, pair)), sorted(pair[0]), sorted(pair[1])))


def _shown(triples: set[Triple]) -> str:
    words = [" ".join(map(name, triple)) for triple in sorted(triples)]
    more = f" and {len(words) - MOST_SHOWN} more" if len(words) > MOST_SHOWN else ""
    return f"`{', '.join(words[:MOST_SHOWN])}`{more}"
