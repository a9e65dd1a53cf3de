"""Many queries for one pipeline: each reads streams of its own, all of them share one clock.

The cases worked out by hand (`test_oracle_by_hand`, `test_oracle_found`), random ones by the makers of the
oracle's test, and the examples. A part of what a case calls `A` is an individual of the class `KindOfA`.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import count, islice
from pathlib import Path
from random import Random

from oracle.pattern_cases import EX, LOGICAL, Case, read_case
from oracle.pattern_runs import case_text, drawn, refusals
from oracle.pattern_strategies import FOCUSED, Maker
from oracle.test_oracle_by_hand import GUARDS, ROWS
from oracle.test_oracle_found import FOUND
from spark_cases import QUERIES, Row, item, query, shown

import obep
from obep.engine.query import Query
from obep.model import RDF_TYPE, SECOND, Item

LEFT_OUT = ("08-building-states", "11-brick")
"""The stream of the first goes on for days, beyond END; the second looks its ids up in its static graph."""
EXAMPLES = sorted(
    path.parent
    for path in (Path(__file__).parents[2] / "examples").glob("*/query.obep")
    if path.parent.name not in LEFT_OUT
)
SEED = int(os.environ.get("OBEP_SEED", "0"))
LATENESS = 2.5
END = 100_000 * SECOND
"""An instant after all others, by which all is decided."""
CUTS = (4, 7, 11, 7_200)
"""Seconds at which one micro-batch ends and the next begins."""


@dataclass(frozen=True)
class Member:
    """A query with its rows, and what they are called in a report."""

    name: str
    query: Query
    rows: tuple[Row, ...]

    def expected(self, given: Sequence[Row], close: bool = False) -> Counter[tuple[object, ...]]:
        """What the embedded engine finds in the rows of its streams."""
        engine = self.query.engine(lateness=LATENESS)
        found = engine.push_items([item(row) for row in given if row[0] in self.query.linked.streams])
        return shown([*found, *engine.close()] if close else found)


# --- cases ------------------------------------------------------------------------------------------------


def by_hand() -> Iterator[tuple[str, Case]]:
    """All cases that were worked out by hand."""
    for name, (event, stream, _) in {**ROWS, **GUARDS}.items():
        yield name, read_case(f"EVENT H MATCH {event}", stream)
    for name, seen in FOUND.items():
        yield name, read_case(seen.query, seen.stream)


def at_random(number: int) -> Iterator[tuple[str, Case]]:
    """Random cases that the checker accepts: of given shapes, and free ones."""
    makers = (
        Maker(Random(SEED + n), focus=FOCUSED[n % len(FOCUSED)] if n % 2 else None, keyed=n % 5 == 0)
        for n in count()
    )
    accepted = (case for maker in makers if (case := drawn(maker)) is not None)
    for n, case in enumerate(islice(accepted, number)):
        yield f"random {SEED}:{n} {case_text(case)}", case


def members(cases: Iterable[tuple[str, Case]]) -> list[Member]:
    return [
        _member(name, case, f"case{number}")
        for number, (name, case) in enumerate(cases)
        if not refusals(case)
    ]


def _member(name: str, case: Case, stream: str) -> Member:
    returned = ", ".join(f":{event.name.text.lstrip(':')}" for event in case.events)
    head = "".join(f"EVENT {letter} AS KindOf{letter}\n" for letter in LOGICAL)
    text = f"PREFIX : <{EX}>\nFROM STREAM <{stream}>\n{head}{case_text(case)}\nRETURN {returned}\n"
    return Member(name, obep.load(text=text, java=False), tuple(_rows(case, stream)))


def _rows(case: Case, stream: str) -> Iterator[Row]:
    for arrival in case.arrivals:
        triples = {t for t in arrival.item.triples if t[1] != RDF_TYPE}
        for one in arrival.occurrences:
            triples |= {t for t, _ in one.explanation if t[1] != RDF_TYPE}
            letter = one.event.rstrip(">").rsplit("/", 1)[-1]
            triples.add((one.individual, RDF_TYPE, f"<{EX}KindOf{letter}>"))
        yield stream, arrival.item.at + SECOND, _text(sorted(triples))


def _text(triples: Iterable[tuple[str, str, str]]) -> str:
    return "\n".join(f"{s} {p} {o} ." for s, p, o in triples)


# --- examples ---------------------------------------------------------------------------------------------


def examples() -> list[Member]:
    """Each example with the items of its files, moved so that they begin at the first second."""
    return [_example(folder) for folder in EXAMPLES]


def _example(folder: Path) -> Member:
    from obep.config.toml_file import load_config
    from obep.run.cases import inlets
    from obep.run.run_spec import bind
    from obep.streams.sources.open_sources import open_source

    config = load_config(None, folder)
    found = obep.load(folder / "query.obep", catalogue=config.catalogue)
    streams = found.linked.streams
    alone = streams[0] if len(streams) == 1 else ""
    items = [
        record
        for inlet in inlets(folder) or bind((), streams, config)
        for batch in open_source(inlet.name, inlet.uri, config, stream=alone, trusted=inlet.trusted).batches(
            {}
        )
        for record in batch.records
        if isinstance(record, Item)
    ]
    first = min(one.at for one in items) - SECOND
    rows = [(one.stream, one.at - first, _text(one.triples)) for one in items]
    return Member(folder.name, found, tuple(sorted(rows, key=lambda row: row[1])))


def plain(rows: Sequence[Row]) -> list[Member]:
    """The nine queries of `spark_cases`, over one stream of rows."""
    return [Member(name, query(name), tuple(rows) if not n else ()) for n, name in enumerate(QUERIES)]


# --- all together -----------------------------------------------------------------------------------------


def batches(given: Sequence[Member], seed: int = SEED, cuts: Sequence[int] = CUTS) -> list[list[Row]]:
    """The rows of all members, out of order by no more than the lateness, cut inside instants.

    At each cut every stream says how far time has come, with an item that is empty.
    """
    rnd = Random(seed)
    streams = sorted({stream for member in given for stream in member.query.linked.streams})
    arriving = [
        (row[1] + rnd.randrange(0, 2 * SECOND, SECOND // 4), row) for member in given for row in member.rows
    ]
    for cut in cuts:
        arriving += [(cut * SECOND, (stream, cut * SECOND, "")) for stream in streams]
    arriving.sort(key=lambda one: (one[0], rnd.random()))
    last = [(stream, END, "") for stream in streams]
    ends = [cut * SECOND for cut in cuts]
    parts = [
        [row for at, row in arriving if low < at <= high]
        for low, high in zip([-1, *ends], [*ends, END], strict=True)
    ]
    return [*parts[:-1], [*parts[-1], *last]]


def cut_inside_instants(parts: Sequence[Sequence[Row]]) -> int:
    """How many instants of a stream lie in more than one micro-batch."""
    seen: dict[tuple[str, int], set[int]] = {}
    for number, part in enumerate(parts):
        for stream, at, graph in part:
            if graph:
                seen.setdefault((stream, at), set()).add(number)
    return sum(len(numbers) > 1 for numbers in seen.values())


def expected(
    given: Sequence[Member], parts: Sequence[Sequence[Row]], close: bool = False
) -> Counter[tuple[object, ...]]:
    """What all of them find, embedded; what several queries find counts several times."""
    flat = [row for part in parts for row in part]
    found: Counter[tuple[object, ...]] = Counter()
    for member in given:
        found += member.expected(flat, close)
    return found


__all__ = ["Member", "at_random", "batches", "by_hand", "examples", "expected", "members", "plain"]
