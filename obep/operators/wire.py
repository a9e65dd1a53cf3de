"""Logical occurrences of another process: those that differ only in their instant share one content."""

from __future__ import annotations

from typing import Any

import msgspec

from obep.model import LazyOccurrence, Solution, Term, Triple, item_name, with_conversions


class Content(msgspec.Struct, array_like=True, frozen=True, eq=False, gc=False):
    """A logical occurrence without its instant."""

    event: Term
    individual: Term
    explanation: tuple[tuple[Triple, bool], ...]
    """Each triple, and whether it was in the item and so has its instant."""
    solutions: dict[int, tuple[Solution, ...]]
    """By ask. All occurrences with this content share it, so it is never changed."""
    bounded: bool = False
    """Whether a reasoner was needed and missing."""
    digest: str = ""
    """The digest of the item (`digest_of`); empty where it is not needed."""
    named: bool = False
    """Whether its individual is its id (D39): then it is of one instant only."""
    converted: tuple[str, ...] = ()
    """For each triple how its number was converted, or nothing (`conversions`)."""


class Carried(LazyOccurrence):
    """A logical occurrence at an instant. Its explanation is made when it is first read."""

    __slots__ = ("content",)

    content: Content

    @property
    def event(self) -> Term:  # type: ignore[override]  # it is that of its content
        return self.content.event

    @property
    def individual(self) -> Term:  # type: ignore[override]
        return self.content.individual

    @property
    def bounded(self) -> bool:  # type: ignore[override]
        return self.content.bounded

    def make_field(self, name: str) -> Any:
        if name == "solutions":
            return self.content.solutions
        if name == "explanation":
            at = self.start
            said = tuple([(triple, at if own else None) for triple, own in self.content.explanation])
            return with_conversions(said, self.content.converted)
        if name == "items":
            return (item_name(self.content.digest, self.start),) if self.content.digest else ()
        if name == "_id" and self.content.named:
            return self.individual[1:-1]
        return super().make_field(name)


def carried(at: int, content: Content) -> Carried:
    """Make the occurrence with a content at an instant."""
    occurrence = _new(Carried)
    occurrence.content, occurrence.start = content, at
    occurrence._solutions = occurrence._written = occurrence._stamp = None
    return occurrence


_new = Carried.__new__
