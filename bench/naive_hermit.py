"""The naive way, for comparison: HermiT decides every item, T and all of K inside it.

`items_per_second` is what `bench/reasoning.py` prints beside the compiled rules; run as a script it measures
the door to Java itself: start, load, one question.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.hermit.reasoner import Inconsistent, Reasoner
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Class, ClassAssertion


@dataclass(frozen=True)
class Naive:
    """What was measured."""

    items_per_second: float
    items: int
    hits: int
    load_seconds: float


def items_per_second(
    axioms: Axioms,
    k: Sequence[Triple],
    items: Iterable[Sequence[Triple]],
    events: Sequence[Term],
    *,
    seconds: float = 10.0,
) -> Naive:
    """Asks HermiT about every (event, individual of the item), for at most `seconds`.

    `axioms` are T with the definitions of the events. The loading of T and K is not counted.
    """
    static = tuple(a for triple in k if (a := axioms.assertion(triple)) is not None)
    everything = replace(axioms, axioms=axioms.axioms + static)
    reasoner = Reasoner()
    started = time.perf_counter()
    reasoner.consistent(everything)
    loaded = time.perf_counter()
    count = hits = 0
    for item in items:
        abox = [a for triple in item if (a := axioms.assertion(triple)) is not None]
        goals = [ClassAssertion(Class(event), name) for event in events for name in _individuals(item)]
        answers = reasoner.entails(everything, abox, goals)
        hits += 0 if isinstance(answers, Inconsistent) else sum(answers)
        count += 1
        if time.perf_counter() - loaded > seconds:
            break
    return Naive(count / (time.perf_counter() - loaded), count, hits, loaded - started)


def _individuals(item: Sequence[Triple]) -> list[Term]:
    found: dict[Term, None] = {}
    for s, p, o in item:
        found[s] = None
        if p != RDF_TYPE and not o.startswith('"'):
            found[o] = None
    return list(found)


def main() -> None:
    """Measures the door to Java on a T with case analysis."""
    sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "ontology"))
    from owl import c, ontology, t

    from obep.ontology.owl import axioms as ax

    started = time.perf_counter()
    Reasoner().consistent(Axioms())
    print(f"first answer, with the start of Java   {time.perf_counter() - started:8.2f} s")

    T = ontology(
        *(ax.SubClassOf(c(f"C{i}"), c(f"C{i // 2}")) for i in range(1, 200)),
        ax.SubClassOf(c("Detection"), ax.Or((c("Human"), c("Pet")))),
        ax.SubClassOf(c("Human"), c("Presence")),
        ax.SubClassOf(c("Pet"), c("Presence")),
        ax.SubClassOf(ax.Some(t("by"), c("Presence")), c("H")),
        roles="in",
    )
    reasoner = Reasoner()
    started = time.perf_counter()
    reasoner.classify(T)
    print(f"classification of 200 classes          {time.perf_counter() - started:8.2f} s")
    goal = ClassAssertion(c("H"), t("x"))
    abox = [ax.PropertyAssertion(t("by"), t("x"), t("y")), ClassAssertion(c("Detection"), t("y"))]
    for count in (1, 10, 100, 2000):
        started = time.perf_counter()
        for _ in range(count):
            reasoner.entails_one(T, abox, goal)
        spent = (time.perf_counter() - started) / count * 1000
        print(f"one question, mean of {count:<5}            {spent:8.2f} ms")
    for size in (0, 1000, 4000):
        k = [(t(f"s{i}"), t("in"), t(f"r{i}")) for i in range(size)]
        item = ((t("s1"), t("by"), "_:d"), ("_:d", RDF_TYPE, t("Detection")))
        measured = items_per_second(T, k, [item] * 3000, [t("H")], seconds=5)
        print(f"every item by HermiT, K of {size:<5}       {measured.items_per_second:8.1f} items/s")


if __name__ == "__main__":
    main()
