"""The reasoner: the one door to Java.

In: T as `Axioms`, a small ABox (an item and its component of K; never all of K), questions. Out: plain Python
values. T is loaded once and kept; the ABox of a question is laid over it and removed again. The role box
is worked out before HermiT sees it. What goes wrong on the other side comes out as an `ObepError`.
"""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import Any

from obep.errors import fail
from obep.ontology.hermit.hermit_reasoner import INCONSISTENT, Hierarchy, Inconsistent, Loaded
from obep.ontology.hermit.java import start_java
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Assertion

__all__ = ["INCONSISTENT", "Hierarchy", "Inconsistent", "Reasoner", "shared_reasoner"]

KEPT = 4
"""The number of T that a reasoner keeps loaded."""
TIMEOUT = 60.0
"""Seconds that one question may take."""


class Reasoner:
    """Answers about T and a small ABox. One question at a time; other threads wait."""

    def __init__(self, timeout: float = TIMEOUT) -> None:
        self.calls = 0
        """The number of questions to HermiT."""
        self._timeout = timeout
        self._lock = threading.RLock()
        self._loaded: OrderedDict[int, tuple[Axioms, Loaded]] = OrderedDict()

    def entails(
        self, axioms: Axioms, abox: Sequence[Assertion], goals: Sequence[Assertion]
    ) -> list[bool] | Inconsistent:
        """For each goal whether T and the ABox entail it; `INCONSISTENT` if they contradict each other."""
        with self._ask(axioms) as loaded, loaded.overlay(abox, goals) as tableau:
            self.calls += 1
            if not tableau.satisfiable():
                return INCONSISTENT
            return [not tableau.satisfiable(without=goal) for goal in goals]

    def consistent(self, axioms: Axioms, abox: Sequence[Assertion] = ()) -> bool:
        """Whether T and the ABox have a model."""
        with self._ask(axioms) as loaded, loaded.overlay(abox) as tableau:
            self.calls += 1
            return tableau.satisfiable()

    def entails_one(self, axioms: Axioms, abox: Sequence[Assertion], goal: Assertion) -> bool:
        """Whether T and the ABox entail the goal; an inconsistent ABox entails it."""
        with self._ask(axioms) as loaded, loaded.overlay(abox, (goal,)) as tableau:
            self.calls += 1
            return not tableau.satisfiable(without=goal)

    def classify(self, axioms: Axioms) -> Hierarchy | Inconsistent:
        """The hierarchy of the named classes; `INCONSISTENT` if T (with its own assertions) has no model."""
        with self._ask(axioms) as loaded:
            self.calls += 1
            return loaded.classify()

    @contextmanager
    def _ask(self, axioms: Axioms) -> Iterator[Loaded]:
        """T, loaded; what Java throws becomes an error of ours, and T is loaded anew after it."""
        start_java()
        import jpype

        with self._lock:
            try:
                yield self._load(axioms)
            except jpype.JException as error:
                _, loaded = self._loaded.pop(id(axioms), (None, None))
                if loaded is not None:
                    loaded.dispose()
                raise _explained(error, self._timeout) from None

    def _load(self, axioms: Axioms) -> Loaded:
        kept = self._loaded.get(id(axioms))  # held by reference, so the id stays its own
        if kept is None:
            kept = self._loaded[id(axioms)] = (axioms, Loaded(axioms, self._timeout))
        self._loaded.move_to_end(id(axioms))
        while len(self._loaded) > KEPT:
            self._loaded.popitem(last=False)[1][1].dispose()
        return kept[1]


@lru_cache(maxsize=1)
def shared_reasoner() -> Reasoner:
    """The reasoner that the parts of one process share."""
    return Reasoner()


def _explained(error: Any, timeout: float) -> Exception:
    """Turn an exception of HermiT into an error with a remedy."""
    kind = str(error.getClass().getSimpleName()) if hasattr(error, "getClass") else type(error).__name__
    message = " ".join(str(error.getMessage() or kind).split())
    if kind == "TimeOutException":
        return fail(
            "OBEP343",
            f"the reasoner gave up after {timeout:g} s",
            reason="Case analysis and counting can take exponential time.",
            remedy="simplify the axioms that the event needs the reasoner for (`obep explain` names them)",
        )
    if kind in ("OutOfMemoryError", "StackOverflowError"):
        return fail("OBEP343", f"the reasoner ran out of memory ({kind})", remedy="OBEP_JAVA_HEAP=4g")
    return fail(
        "OBEP342",
        "the reasoner cannot read the ontology",
        reason=f"{kind}: {message}",
        remedy="keep to OWL 2 DL: a regular role hierarchy, and no transitive property in a cardinality",
    )
