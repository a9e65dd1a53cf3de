"""Queries over windows under T: kept while triples come and go = evaluated anew at each evaluation time.

The reference closes the union of each window from nothing and evaluates the whole query. OBEP_CASES is the
number of random cases, OBEP_SEED where their seeds begin.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from engine.test_kept_groups import FRAMES, Drawn

from obep.abstraction.windows import window_closure
from obep.engine.queries import query_run
from obep.engine.queries.query_run import QueryRun
from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import Item
from obep.ontology.bundle.compile import compile_bundle
from obep.query.link import assemble
from obep.query.parse.parser import parse

CASES = int(os.environ.get("OBEP_CASES", "40"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
SELECTS = (
    "SELECT ?x",
    "SELECT *",
    "SELECT DISTINCT ?x",
    "SELECT ?x (COUNT(*) AS ?n) (MAX(?x) AS ?m)",
    "SELECT (COUNT(DISTINCT ?x) AS ?n)",
    "ASK",
    "CONSTRUCT { ?x :seen ?x }",
)


class DrawnQueries(Drawn):
    """Two random queries: of OBEP over windows by name, or of C-SPARQL over one default window."""

    def _text(self) -> Iterator[str]:
        choose = self.random.choice
        self.language = choose(("obep", "csparql"))
        frames = [
            choose([one for one in FRAMES if "LATEST" not in one or self.language == "obep"]) for _ in "vw"
        ]
        if self.language == "obep":
            yield from (
                f"FROM NAMED WINDOW <{name}> ON <s> [{frame}]"
                for name, frame in zip("vw", frames, strict=True)
            )
        for number, frame in enumerate(frames):
            select = choose(SELECTS)
            every = choose(("", " COMPUTE EVERY 1 s", " COMPUTE EVERY 3 s"))
            end = "GROUP BY ?x" if "?x (COUNT" in select else ""
            if self.language == "obep":
                operator = choose(("RSTREAM", "ISTREAM", "DSTREAM"))
                inside = (
                    f"WINDOW <v> {{ {self._block()} }} {choose(('', f'WINDOW <w> {{ {self._block()} }}'))}"
                )
                yield f"REGISTER {operator} <q{number}>{every} AS {select} WHERE {{ {inside} }} {end}"
            else:
                every = every or " COMPUTE EVERY 2 s"
                yield (
                    f"REGISTER QUERY q{number}{every} AS {select} FROM STREAM <s> [{frame}] "
                    f"WHERE {{ {self._block()} }} {end}"
                )


@contextmanager
def anew() -> Iterator[None]:
    """Engines made in here keep nothing."""
    patch = pytest.MonkeyPatch()
    patch.setattr(query_run, "why_answered_anew", lambda *_: "the test says so")
    patch.setattr(window_closure, "why_closed_anew", lambda *_: "the test says so")
    try:
        yield
    finally:
        patch.undo()


def compared(seed: int) -> Counter[str]:
    drawn = DrawnQueries(seed)
    text = "PREFIX : <http://example.org/>\n" + drawn.text
    linked = assemble([parse(text, "q", language=drawn.language)], Path())
    try:
        query = Query(linked, compile_bundle(linked, drawn.t, tuple(drawn.small.k), java=False))
    except ObepError:  # T contradicts K
        return Counter()
    letters: tuple[list[object], list[object]] = ([], [])
    kept = query.engine(remember=0, on_dead_letter=letters[0].append)
    with anew():
        other = query.engine(remember=0, on_dead_letter=letters[1].append)
    count: Counter[str] = Counter(cases=1, kept=_kept(kept))
    assert not _kept(other)
    for item in drawn.items():
        wanted = _told(other, item)
        assert _told(kept, item) == wanted, (seed, text)
        count["answers"] += len(wanted)
        if drawn.random.random() < 0.1:
            state = kept.snapshot()
            kept = query.engine(remember=0, on_dead_letter=letters[0].append)
            kept.restore(state)
    assert list(map(repr, kept.close())) == list(map(repr, other.close())), (seed, text)
    assert letters[0] == letters[1]
    count["refused"] += len(letters[0])
    return count


def _told(engine: object, item: Item) -> list[str]:
    return [f"{one!r} {one.constructed} {one.op}" for one in engine.push_items([item])]  # type: ignore[attr-defined]


def _kept(engine: object) -> int:
    runs = engine.running.runtime._runs  # type: ignore[attr-defined]
    return sum(run._kept is not None for run in runs if isinstance(run, QueryRun))


@pytest.mark.slow
def test_what_is_kept_is_what_would_be_found_anew() -> None:
    count: Counter[str] = Counter()
    for seed in range(SEED, SEED + CASES):
        count += compared(seed)
    assert count["cases"] > 0.5 * CASES
    assert count["kept"] > 0.5 * count["cases"]
    assert count["answers"] > count["cases"]
