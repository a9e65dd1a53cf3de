"""A T with case analysis: 20 % of the items lie in the gap, K has 60 kinds of neighbourhood.

`python bench/cases.py`, or with all others `python bench/reasoning.py`. Says how often HermiT was asked,
beside the number of distinct pairs of item shape and neighbourhood; and how fast HermiT is for every item.
"""

from __future__ import annotations

import random
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from figures import Figure, show
from reasoning import every_item

from obep.abstraction.matcher import Matcher
from obep.model import RDF_TYPE, Item, Triple
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.hermit.hermit_gap import HermitGap
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/cases#"
KINDS = 60
EVENTS = f"""
PREFIX : <{NS}>
EVENT Visited AS Room and armedWith some (Sensor and detects some Visitor)
EVENT Quiet AS Room and armedWith some (Sensor and detects some Nothing_)
EVENT Human AS armedWith some (detects some HumanDetection)
"""


def name(local: str) -> str:
    """A term of the example."""
    return f"<{NS}{local}>"


def detections() -> Axioms:
    """`Detection is a HumanDetection or a PetDetection`, but a sensor of Kind0 detects no pets."""
    c = {local: ax.Class(name(local)) for local in ("Detection", "HumanDetection", "PetDetection", "Visitor")}
    classes = (*c, "Room", "Sensor", "Nothing_", *(f"Kind{n}" for n in range(8)))
    return Axioms(
        (
            ax.SubClassOf(c["Detection"], ax.Or((c["HumanDetection"], c["PetDetection"]))),
            ax.SubClassOf(c["HumanDetection"], c["Visitor"]),
            ax.SubClassOf(c["PetDetection"], c["Visitor"]),
            ax.SubClassOf(ax.Class(name("Kind0")), ax.Only(name("detects"), ax.Not(c["PetDetection"]))),
            *(ax.SubClassOf(ax.Class(name(f"Kind{n}")), ax.Class(name("Sensor"))) for n in range(8)),
        ),
        frozenset(map(name, classes)),
        frozenset(map(name, ("armedWith", "detects"))),
    )


def rooms(count: int) -> list[Triple]:
    """Rooms whose neighbourhoods are of 60 kinds: how many sensors, and of which kinds."""
    found: list[Triple] = []
    for n in range(count):
        kind = n % KINDS
        found.append((name(f"r{n}"), RDF_TYPE, name("Room")))
        for place in range(1 + kind // 16):
            sensor = name(f"s{n}") if place == 0 else name(f"s{n}x{place}")
            found.append((name(f"r{n}"), name("armedWith"), sensor))
            found.append((sensor, RDF_TYPE, name("Sensor")))
            found += [(sensor, RDF_TYPE, name(f"Kind{bit}")) for bit in range(4) if kind >> bit & 1]
    return found


def stream(count: int, sensors: int, seed: int = 1) -> list[Item]:
    """One item in five needs case analysis."""
    rng = random.Random(seed)
    items = []
    for n in range(count):
        sensor, seen = name(f"s{rng.randrange(sensors)}"), name(f"d{n}")
        kind = (
            "Detection" if rng.random() < 0.2 else rng.choice(("HumanDetection", "PetDetection", "Nothing_"))
        )
        items.append(Item("s", n, ((sensor, name("detects"), seen), (seen, RDF_TYPE, name(kind)))))
    return items


def bundle(count: int, folder: Path) -> Bundle:
    """The bundle that is measured."""
    return compile_bundle(link(parse(EVENTS)), detections(), rooms(count), cache_dir=folder)


def rate(matcher: Matcher, items: Sequence[Item]) -> float:
    """Items a second of one core."""
    begin = time.process_time()
    for item in items:
        matcher.match(item)
    return len(items) / (time.process_time() - begin)


def figures(count: int, rounds: int, naive: float, many_rooms: int = 600) -> list[Figure]:
    """The table; a pair is an item shape that needs case analysis, and a kind of neighbourhood."""
    with tempfile.TemporaryDirectory() as folder:
        compiled = bundle(many_rooms, Path(folder))
        items = stream(count, many_rooms)
        matcher = Matcher(compiled)
        begin = time.perf_counter()
        for item in items:
            matcher.match(item)
        cold = count / (time.perf_counter() - begin)
        rates = [rate(matcher, items) for _ in range(rounds)]
        assert isinstance(matcher.gap, HermitGap)
        found = [
            Figure(
                "case analysis, 20 % in the gap, 60 kinds of neighbourhood, warm", tuple(rates), least=50_000
            ),
            Figure("  cold, by the clock", (cold,)),
            Figure("  questions to HermiT", (matcher.gap.asked,), "", most=KINDS),
        ]
        if naive:
            found.append(Figure("  HermiT for every item, the naive way", every_item(compiled, items, naive)))
        return found


if __name__ == "__main__":
    show(figures(20_000, 5, 5))
