"""The seam between the rules and a full reasoner: what is asked where lower and upper bound differ.

The matcher asks a `Question` about one item. A `Gap` (HermiT, or a stand-in in a test) answers it
completely: consistency, and all minimal explanations of each goal. Guards ask for single facts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Protocol

from obep.model import Term, Triple

Goal = tuple[Term, Term]
"""An event's class and an individual."""


@dataclass(frozen=True, slots=True)
class Question:
    """Which goals follow from T, the item and what it touches of K, and why."""

    item: tuple[Triple, ...]
    background: tuple[Triple, ...]
    """The item's component of K, or all of K where the component does not decide (REASONING 4.3)."""
    goals: tuple[Goal, ...]
    """The goals between the bounds."""
    lower: Mapping[Goal, tuple[frozenset[Triple], ...]] = field(default_factory=dict)
    """Sets that surely entail a goal (each minimal for the rules, perhaps not for T)."""
    check_consistency: bool = False
    """Whether the rules leave open that item and background clash."""
    max_explanations: int = 32
    max_asked: int | None = None
    """The most questions to the reasoner; beyond it `OverBudget` is raised."""


@dataclass(frozen=True, slots=True)
class Answer:
    """All minimal explanations of each goal that follows; a goal that does not follow has no entry.

    `clash` is a minimal set that contradicts T, or `None` when item and background are consistent.
    """

    explanations: Mapping[Goal, tuple[frozenset[Triple], ...]] = field(default_factory=dict)
    clash: frozenset[Triple] | None = None
    capped: bool = False
    asked: int = 0
    """The number of questions to the reasoner; a cached answer counts as many."""


class Gap(Protocol):
    """A reasoner that can decide what the rules cannot."""

    def decide(self, question: Question) -> Answer: ...

    def entails(self, triples: tuple[Triple, ...], fact: Triple) -> bool:
        """Whether T and the triples entail one more."""
        ...
