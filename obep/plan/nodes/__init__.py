"""The nodes of a plan: what operators will be, with all that is known of their candidates beforehand.

A node says which aliases its candidates bind (`aliases`, in the order of their parts), which variables
their rows have (`variables`), and four facts that decide how much the operators need to remember:
`punctual` (done = end), `rooted` (since = start), `point` (start = end) and `view` (its live candidates may
vanish again, SPEC §4).
"""

from __future__ import annotations

from obep.plan.nodes.binary import (
    Binary,
    Either,
    Fallback,
    Negation,
    Next,
    Pair,
    Pick,
    Relation,
    Silence,
    Without,
)
from obep.plan.nodes.contextual import InState, Never, Repeated, Unless, While
from obep.plan.nodes.node import Alias, Condition, Node, Read, ReadAny, walk
from obep.plan.nodes.unary import Check, Choice, InWindow, Rest, Settle, Unary, Within

__all__ = [
    "Alias",
    "Binary",
    "Check",
    "Choice",
    "Condition",
    "Either",
    "Fallback",
    "InState",
    "InWindow",
    "Negation",
    "Never",
    "Next",
    "Node",
    "Pair",
    "Pick",
    "Read",
    "ReadAny",
    "Relation",
    "Repeated",
    "Rest",
    "Settle",
    "Silence",
    "Unary",
    "Unless",
    "While",
    "Within",
    "Without",
    "walk",
]
