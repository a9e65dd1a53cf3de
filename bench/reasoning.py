"""How fast items become occurrences, on one core, beside what is asked for: `python bench/reasoning.py`.

All figures of reasoning in one table (`--only paper|gap|k|classes` for a part of it). RDF parsing is apart.
- paper: K of 4,000 triples (1,000 rooms with a sensor each), the two events of the paper, items of 2.2
  triples; measured in turns, so that a busy machine hurts all alike. `limit` is a bare loop that makes the
  occurrences out of thin air: nothing that returns them can be faster.
- gap (`cases.py`): T with case analysis. k (`static.py`): 1,000,000 triples. classes (`hierarchy.py`).
"""

from __future__ import annotations

import argparse
import random
import time
from collections.abc import Callable, Sequence

from figures import Figure, show

from obep.abstraction.matcher import Matched, Matcher
from obep.model import RDF_TYPE, EagerOccurrence, Item, Triple
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/building#"
EVENTS = f"""
PREFIX : <{NS}>
EVENT BusyRoom AS (Room and armedWith some (Sensor and observesPerson some Thing))
EVENT FreeRoom AS (Room and armedWith some (Sensor and observesNobody some Thing))
"""


def name(local: str) -> str:
    """A term of the example."""
    return f"<{NS}{local}>"


def building() -> Axioms:
    """Listing 1.1 of the paper, and a transitive property that no event looks at."""
    roles = ("armedWith", "deployedIn", "observes", "observesPerson", "observesNobody", "partOf")
    return Axioms(
        (
            ax.InverseProperties(name("deployedIn"), name("armedWith")),
            ax.SubProperty(name("observesPerson"), name("observes")),
            ax.SubProperty(name("observesNobody"), name("observes")),
            ax.Transitive(name("partOf")),
        ),
        frozenset(map(name, ("Room", "Sensor", "Person"))),
        frozenset(map(name, roles)),
    )


def rooms(count: int) -> list[Triple]:
    """Four triples for each room."""
    found: list[Triple] = []
    for n in range(count):
        room, sensor = name(f"r{n}"), name(f"s{n}")
        found += [
            (room, RDF_TYPE, name("Room")),
            (sensor, RDF_TYPE, name("Sensor")),
            (room, name("armedWith"), sensor),
            (room, name("partOf"), name(f"b{n // 50}")),
        ]
    return found


def templated(count: int, sensors: int, seed: int = 1) -> list[Item]:
    """Sensors that see somebody, or nobody; new names in every item."""
    rng = random.Random(seed)
    items = []
    for n in range(count):
        sensor, somebody = name(f"s{rng.randrange(sensors)}"), name(f"p{n}")
        if rng.random() < 0.6:
            triples = [(sensor, name("observesPerson"), somebody), (somebody, RDF_TYPE, name("Person"))]
            if rng.random() < 0.4:
                triples.append((somebody, name("near"), sensor))
        else:
            triples = [(sensor, name("observesNobody"), somebody), (somebody, name("at"), sensor)]
        items.append(Item("doors", n, tuple(triples)))
    return items


def paper(k: int = 1000) -> Bundle:
    """The bundle that is measured."""
    return compile_bundle(link(parse(EVENTS)), building(), rooms(k), java=False)


Way = Callable[[Sequence[Item]], int]


def ways(bundle: Bundle, items: Sequence[Item]) -> dict[str, tuple[Way, int | None]]:
    """What is measured, with what the issue asks for."""
    fresh, warm = Matcher(bundle, remember=0), Matcher(bundle)
    found = [warm.match(item) for item in items]
    ready = [one.occurrences for one in found if isinstance(one, Matched)]

    def decide(some: Sequence[Item]) -> int:
        return sum(len(fresh.evaluator.decide(item.triples).hits) for item in some)

    def explain(some: Sequence[Item]) -> int:
        return sum(len(fresh.match(item).occurrences) for item in some)  # type: ignore[union-attr]

    def remember(some: Sequence[Item]) -> int:
        return sum(len(warm.match(item).occurrences) for item in some)  # type: ignore[union-attr]

    def cold(some: Sequence[Item]) -> int:
        matcher = Matcher(bundle)
        return sum(len(matcher.match(item).occurrences) for item in some)  # type: ignore[union-attr]

    def limit(some: Sequence[Item]) -> int:
        total = 0
        for item, occurrences in zip(some, ready, strict=True):
            made = tuple(
                [
                    EagerOccurrence(o.event, o.individual, o.explanation, item.at, item.at, item.at, item.at)
                    for o in occurrences
                ]
            )
            total += len(Matched(item, made).occurrences)
        return total

    return {
        "deciding alone, nothing remembered": (decide, 40_000),
        "with all explanations, nothing remembered": (explain, 20_000),
        "with all explanations, cold": (cold, None),
        "with all explanations, warm": (remember, 300_000),
        "limit: a loop that only makes them": (limit, None),
    }


def figures(items: int, rounds: int, naive: float) -> list[Figure]:
    """The table of the paper's events; `naive` are the seconds for the naive way."""
    bundle, stream = paper(), templated(items, 1000)
    measured = ways(bundle, stream)
    rates: dict[str, list[float]] = {title: [] for title in measured}
    for _ in range(rounds):
        for title, (way, _) in measured.items():
            begin = time.process_time()
            way(stream)
            rates[title].append(items / (time.process_time() - begin))
    found = [Figure(title, tuple(rates[title]), least=wanted) for title, (_, wanted) in measured.items()]
    if naive:
        found.append(Figure("HermiT for every item, the naive way", every_item(bundle, stream, naive)))
    return found


def every_item(bundle: Bundle, items: Sequence[Item], seconds: float) -> tuple[float, ...]:
    """The rate of HermiT with T and all of K inside it, by the clock."""
    from naive_hermit import items_per_second

    graphs = [item.triples for item in items]
    found = items_per_second(
        bundle.definitions.axioms, bundle.k, graphs, list(bundle.linked.events), seconds=seconds
    )
    return (found.items_per_second,)


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--naive", type=float, default=5, help="seconds for the naive way")
    parser.add_argument("--only", choices=("paper", "gap", "k", "classes"))
    chosen = parser.parse_args()
    import cases
    import hierarchy
    import static

    parts: dict[str, Callable[[], list[Figure]]] = {
        "paper": lambda: figures(chosen.items, chosen.rounds, chosen.naive),
        "gap": lambda: cases.figures(chosen.items, chosen.rounds, chosen.naive),
        "k": lambda: static.figures(min(chosen.rounds, 3)),
        "classes": lambda: hierarchy.figures(chosen.rounds),
    }
    show(one for name, measure in parts.items() if chosen.only in (None, name) for one in measure())


if __name__ == "__main__":
    main()
