"""Logical occurrences that have come from another process: what they tell, once for all of their instants."""

from __future__ import annotations

from dataclasses import MISSING, fields
from typing import Any

import msgspec

from obep.model import Occurrence, Solution, Term, Triple, item_name


class Told(msgspec.Struct, array_like=True, frozen=True, eq=False, gc=False):
    """A logical occurrence without its instant."""

    event: Term
    individual: Term
    explanation: tuple[tuple[Triple, bool], ...]
    """Each triple, and whether it was in the item and so has its instant."""
    solutions: dict[int, tuple[Solution, ...]]
    """By ask; shared by all occurrences that tell this, so nobody changes it."""
    bounded: bool = False
    """Whether a reasoner was needed and missing."""
    digest: str = ""
    """That of the item (`digest_of`); nothing where nobody wants to know which item it was."""
    named: bool = False
    """Whether its individual is its id (D39): then it is of one instant only."""


class Carried(Occurrence):
    """A logical occurrence at an instant. Its explanation is made when somebody asks for it."""

    __slots__ = ("told",)

    told: Told

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        if name == "explanation":
            at = self.start
            value: Any = tuple([(triple, at if own else None) for triple, own in self.told.explanation])
        elif name == "bounded":
            value = self.told.bounded
        elif name == "items":
            value = (item_name(self.told.digest, self.start),) if self.told.digest else ()
        elif name == "_id" and self.told.named:
            value = self.individual[1:-1]
        elif name in _DEFAULTS:
            value = _DEFAULTS[name]
        else:
            raise AttributeError(name)
        setattr(self, name, value)
        return value


_DEFAULTS = {field.name: field.default for field in fields(Occurrence) if field.default is not MISSING}


def carried(at: int, told: Told) -> Carried:
    """The occurrence again."""
    occurrence = _new(Carried)
    occurrence.told = told
    occurrence.event = told.event
    occurrence.individual = told.individual
    occurrence.start = occurrence.end = occurrence.detected = occurrence.since = at
    occurrence.solutions = told.solutions
    return occurrence


_new = Carried.__new__
