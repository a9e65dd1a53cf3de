"""HermiT behind the seam of `gap`: decides what the rules cannot, with all minimal explanations.

In: questions about an item and its component of K. Out: complete answers. They are remembered by shape (all
names that T does not fix renamed, see `canonical`), in memory and in the cache directory, where all workers
of a machine find them; without Java what lies there is still answered.
"""

from __future__ import annotations

import sys
import threading
from collections import OrderedDict
from collections.abc import Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import TypeVar

import msgspec

from obep.model import Term, Triple
from obep.ontology.bundle.cache import Folder, axioms_hash, content_hash
from obep.ontology.closure.work_budget import OverBudget, Work
from obep.ontology.hermit.canonical_names import canonical, renamed_answer
from obep.ontology.hermit.justify import all_minimal, one_minimal
from obep.ontology.hermit.reasoner import Reasoner, shared_reasoner
from obep.ontology.hermit.reasoner_protocol import Answer, Goal, Question
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Assertion, Class, ClassAssertion
from obep.ontology.rules.locality import fixed_names

T = TypeVar("T")
REMEMBERED = 50_000
"""Answers that are kept in memory; the least recently used goes first."""


class HermitGap:
    """Answers by HermiT, each shape of question once."""

    def __init__(self, axioms: Axioms, cache_dir: Path | None = None) -> None:
        """`axioms` are T with the definitions of the events."""
        self.asked = 0
        """Shapes without a stored answer."""
        self._axioms = axioms
        self._answers: OrderedDict[str, Answer] = OrderedDict()
        self._facts: OrderedDict[str, bool] = OrderedDict()
        self._refused: OrderedDict[str, int] = OrderedDict()
        """Questions that took more asking than they may, and how much they may."""
        self._lock = threading.Lock()
        self._cache_dir = cache_dir

    @cached_property
    def _fixed(self) -> frozenset[Term]:
        """Made when the first question comes: most runs have none, and T may be large."""
        return fixed_names(self._axioms)

    @cached_property
    def _folder(self) -> Folder | None:
        chosen = self._cache_dir
        return None if chosen is None else Folder(chosen / "gap" / axioms_hash(self._axioms))

    def decide(self, question: Question) -> Answer:
        """The complete answer to a question."""
        shape, names = canonical(question, self._fixed)
        return renamed_answer(self._of_shape(shape), names)

    def entails(self, triples: tuple[Triple, ...], fact: Triple) -> bool:
        """Whether T and the triples entail one more; remembered like the answers to questions."""
        shape, _ = canonical(Question(triples, (fact,), ()), self._fixed)
        key = content_hash(("fact", shape.item, shape.background))
        with self._lock:
            known = self._facts.get(key)
        if known is None:
            known = None if self._folder is None else self._folder.read(key, bool)
        if known is None:
            known = self._entails(key, shape.item, shape.background[0])
        self._remember(self._facts, key, known)
        return known

    def _entails(self, key: str, triples: tuple[Triple, ...], fact: Triple) -> bool:
        goal = self._axioms.assertion(fact)
        if goal is None:
            return False
        self.asked += 1
        abox = [a for t in triples if (a := self._axioms.assertion(t)) is not None]
        found = shared_reasoner().entails_one(self._axioms, abox, goal)
        if self._folder is not None:
            self._folder.write(key, found)
        return found

    def _of_shape(self, shape: Question) -> Answer:
        key = content_hash(
            (shape.item, shape.background, shape.goals, shape.check_consistency, shape.max_explanations)
        )
        limit = shape.max_asked
        with self._lock:
            answer = self._answers.get(key)
            if answer is not None:
                self._answers.move_to_end(key)
                return answer
            if limit is not None and self._refused.get(key, -1) >= limit:
                raise OverBudget
        try:
            answer = self._read(key) or self._ask(key, shape)
        except OverBudget:
            self._remember(self._refused, key, limit or 0)
            raise
        self._remember(self._answers, key, answer)
        return answer

    def _remember(self, known: OrderedDict[str, T], key: str, found: T) -> None:
        with self._lock:
            known[key] = found
            if len(known) > REMEMBERED:
                known.popitem(last=False)

    def _read(self, key: str) -> Answer | None:
        record = None if self._folder is None else self._folder.read(key, _Record)
        return None if record is None else record.answer()

    def _ask(self, key: str, shape: Question) -> Answer:
        self.asked += 1
        answer = explain(self._axioms, shape, shared_reasoner())
        if self._folder is not None:
            self._folder.write(key, _Record.of(answer))
        return answer


def explain(axioms: Axioms, question: Question, reasoner: Reasoner) -> Answer:
    """The complete answer, from nothing but the reasoner."""
    meaning = {t: axioms.assertion(t) for t in sorted({*question.item, *question.background})}
    parts = [t for t, assertion in meaning.items() if assertion is not None]

    asked = Work(sys.maxsize if question.max_asked is None else question.max_asked)

    def abox(triples: Sequence[Triple]) -> list[Assertion]:
        asked.spend(1)
        return [assertion for t in triples if (assertion := meaning[t]) is not None]

    def entailed(goal: Assertion, triples: Sequence[Triple]) -> bool:
        return reasoner.entails_one(axioms, abox(triples), goal)

    if question.check_consistency and not reasoner.consistent(axioms, abox(parts)):
        clash = one_minimal(lambda s: not reasoner.consistent(axioms, abox(s)), parts)
        return Answer(clash=clash, asked=asked.done)
    item = set(question.item)
    explanations: dict[Goal, tuple[frozenset[Triple], ...]] = {}
    capped = False
    for event, individual in question.goals:
        goal = ClassAssertion(Class(event), individual)
        found = all_minimal(
            partial(entailed, goal),
            parts,
            cap=question.max_explanations,
            seeds=question.lower.get((event, individual), ()),
            wanted=lambda one: not item.isdisjoint(one),
        )
        capped |= found.capped
        if found.sets:
            explanations[event, individual] = found.sets
    return Answer(explanations, None, capped, asked.done)


class _Record(msgspec.Struct, frozen=True):
    """An answer as it is written down."""

    explanations: list[tuple[str, str, list[list[Triple]]]]
    clash: list[Triple] | None
    capped: bool
    asked: int = 0

    @staticmethod
    def of(answer: Answer) -> _Record:
        return _Record(
            [(event, c, [sorted(one) for one in sets]) for (event, c), sets in answer.explanations.items()],
            None if answer.clash is None else sorted(answer.clash),
            answer.capped,
            answer.asked,
        )

    def answer(self) -> Answer:
        return Answer(
            {(event, c): tuple(map(frozenset, sets)) for event, c, sets in self.explanations},
            None if self.clash is None else frozenset(self.clash),
            self.capped,
            self.asked,
        )
