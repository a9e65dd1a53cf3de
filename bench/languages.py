"""Queries over windows (issue 15), from parsed items, on one core: kept against evaluated anew.

    python bench/languages.py                   both experiments
    python bench/languages.py --items 400000    the aggregate over more items

The same items go to an engine that keeps its rows and closure and to one that makes them anew at each
evaluation time; their answers are compared. 001's experiment is also done by owlrl, which closes the union of
the window once. Times are those of the processor.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from unittest.mock import patch

from owlrl import DeductiveClosure, OWLRL_Semantics
from rdflib import Graph, URIRef

import obep
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.model import SECOND, Item

NS = "http://example.org/"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
AGGREGATE = f"""PREFIX : <{NS}>
REGISTER RSTREAM <means> AS SELECT ?s (AVG(?v) AS ?mean)
FROM NAMED WINDOW <w> ON <s> [RANGE 10 s STEP 1 s] WHERE {{ WINDOW <w> {{ ?s :reads ?v }} }} GROUP BY ?s"""
REACHED = f"""PREFIX : <{NS}>
VOCAB <isin.ttl>
REGISTER ISTREAM <reached> AS SELECT ?x ?y
FROM NAMED WINDOW <w> ON <s> [RANGE {{size}} s STEP {{step}} s]
WHERE {{{{ WINDOW <w> {{{{ ?x :isIn ?y }}}} }}}}"""
OWL = "http://www.w3.org/2002/07/owl#"
ISIN = f"<{NS}isIn> a <{OWL}ObjectProperty> , <{OWL}TransitiveProperty> ."


@contextmanager
def anew() -> Iterator[None]:
    """Engines made in here keep nothing: windows are closed, and queries evaluated, from nothing."""
    with (
        patch("obep.engine.queries.query_run.why_answered_anew", return_value="the experiment"),
        patch("obep.abstraction.windows.window_closure.why_closed_anew", return_value="the experiment"),
    ):
        yield


def seconds(engine: Engine, items: list[Item]) -> tuple[float, list[str]]:
    """The time of the processor that items take, and the answers to them."""
    begun = time.process_time()
    found = engine.push_items(items)
    return time.process_time() - begun, [f"{one.detected} {one.bindings}" for one in found]


def both(query: Query, filling: list[Item], items: list[Item]) -> tuple[float, float]:
    """The times of items after others, kept and anew."""
    kept = query.engine(remember=0)
    with anew():
        other = query.engine(remember=0)
    kept.push_items(filling)
    other.push_items(filling)
    first, found = seconds(kept, items)
    second, wanted = seconds(other, items)
    assert found == wanted
    return first, second


def aggregate(number: int, keys: int = 1000) -> None:
    """A mean for each of 1,000 keys, RANGE 10 s STEP 1 s, an item each 0.1 ms: after 100,000 items as many
    leave the window as come."""
    random = Random(number)
    names = [f"<{NS}s{key}>" for key in range(keys)]
    items = [
        Item("s", at * 100, ((random.choice(names), f"<{NS}reads>", f'"{value}"^^{INTEGER}'),))
        for at, value in enumerate(random.choices(range(1000), k=number))
    ]
    query = obep.load(text=AGGREGATE, dialect="rspql", java=False)
    kept, other = both(query, [], items)
    print(f"aggregate, {keys:,} keys: {number / kept:,.0f} items/s kept, {number / other:,.0f} anew")


def _edge(at: int, places: int, random: Random) -> Item:
    """A triple from one place to one after it: the chains have an end."""
    first = random.randrange(places - 10)
    ends = (f"<{NS}p{n}>" for n in (first, first + random.randint(1, 9)))
    return Item("s", at * SECOND, ((next(ends), f"<{NS}isIn>", next(ends)),))


def by_owlrl(items: list[Item]) -> tuple[float, int]:
    """The time that owlrl takes to close the union of items, and how many pairs of isIn there are then."""
    graph = Graph()
    graph.parse(data=ISIN, format="turtle")
    for item in items:
        graph.parse(data="".join(f"{' '.join(triple)} .\n" for triple in item.triples), format="nt")
    begun = time.process_time()
    DeductiveClosure(OWLRL_Semantics).expand(graph)
    return time.process_time() - begun, len(list(graph.subject_objects(URIRef(f"{NS}isIn"))))


def reached(folder: Path, size: int, changes: tuple[float, ...], steps: int = 3) -> None:
    """001's experiment: chains of isIn in a window; a part of it changes from one step to the next."""
    random = Random(size)
    alone: float | None = None
    for change in changes:
        step = max(1, round(size * change))
        text = REACHED.format(size=size, step=step)
        query = obep.load(text=text, dialect="rspql", folder=folder, java=False)
        full = -(-2 * size // step) * step
        items = [_edge(at, 2 * size, random) for at in range(full + step * steps)]
        kept, other = both(query, items[:full], items[full:])
        if alone is None:  # the window is as large whatever the step is
            alone, _ = by_owlrl(items[-size:])
        ratios = f"anew takes {other / kept:.1f} times as long, owlrl {alone * steps / kept:,.0f} times"
        print(f"isIn, {size:,} triples, {change:.1%} new a step: {ratios}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=200_000)
    parser.add_argument("--size", type=int, default=1_000)
    chosen = parser.parse_args()
    aggregate(chosen.items)
    with TemporaryDirectory() as folder:
        (Path(folder) / "isin.ttl").write_text(ISIN, encoding="utf-8")
        reached(Path(folder), chosen.size, (0.001, 0.01, 0.025, 0.1, 0.25, 0.5))


if __name__ == "__main__":
    main()
