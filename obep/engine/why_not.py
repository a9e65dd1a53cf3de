"""Why an event was not reported: what came furthest, and what it waits for or what refused it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from obep.engine.nearly import Nearly, nearly
from obep.engine.output import LOOKS_LIKE_NUMBERS
from obep.engine.reasons import Reason, reasons
from obep.engine.why import short
from obep.formats.instants import Style, show_instant
from obep.model import Occurrence, Part, Term
from obep.plan.nodes import Node, Pair, Read, walk
from obep.plan.plan import EventPlan

FEW = 3
"""So many of each are told."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Occurrences that came in the right order, and all that kept them from being reported."""

    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Occurrences that would be a part of it, and the aliases that have not come.

    Where none is missing, the end of an instant or a deadline is.
    """

    parts: tuple[Part, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class WhyNot:
    """What can be said about an event that was not reported."""

    event: str
    reported: int
    """How often it was reported after all."""
    seen: Mapping[str, int]
    """How many occurrences each of its parts has had lately."""
    refusals: tuple[Refusal, ...]
    waiting: tuple[Waiting, ...]
    style: Style

    def __str__(self) -> str:
        lines = [f"{self.event} was reported {_times(self.reported)}."]
        for name, count in self.seen.items():
            lines.append(f"  {name}: {_times(count)} lately")
        for refusal in self.refusals:
            lines.append(f"{_told(refusal.parts, self.style)} came in the right order, but")
            lines.extend(f"  {reason.text}" for reason in refusal.reasons)
        lines.extend(
            f"{_told(one.parts, self.style)} waits for {', '.join(one.missing) or 'its time'}"
            for one in self.waiting
        )
        return "\n".join(lines)


def why_not(
    plan: EventPlan,
    recent: Mapping[Term, Sequence[Occurrence]],
    reported: Sequence[Occurrence],
    came_in: Style | None = None,
) -> WhyNot:
    """The candidates that came furthest; those with the fewest reasons against them first."""
    seen = {leaf.alias: len(recent.get(leaf.event, ())) for leaf in plan.leaves}
    latest = max((o.detected for found in recent.values() for o in found), default=0)
    style: Style = came_in or ("integer" if abs(latest) < LOOKS_LIKE_NUMBERS else "iso")
    refusals: list[tuple[int, int, Refusal]] = []
    waiting: list[Waiting] = []
    if plan.root is not None:
        told = {frozenset(id(part.occurrence) for part in one.parts) for one in reported}
        for candidate in nearly(plan.root, recent):
            if frozenset(map(id, candidate.parts.values())) not in told:
                against = tuple(reasons(plan, candidate, recent, style))
                if against:
                    refusals.append((len(against), -candidate.done, Refusal(_parts(candidate), against)))
                else:
                    waiting.append(Waiting(_parts(candidate), ()))
        if not (refusals or waiting):
            waiting = _waiting(plan.root, recent)
    refusals.sort(key=lambda one: one[:2])
    chosen = tuple(refusal for _, _, refusal in refusals[:FEW])
    return WhyNot(plan.name, len(reported), seen, chosen, tuple(waiting[-FEW:]), style)


def _waiting(root: Node, recent: Mapping[Term, Sequence[Occurrence]]) -> list[Waiting]:
    """The partial matches with the most aliases, and what they lack."""
    best: list[Waiting] = []
    most = 0
    for node in walk(root):
        if isinstance(node, Pair | Read) and node.aliases != root.aliases:
            found = nearly(node, recent)
            size = len(node.aliases)
            if found and size > most:
                missing = [alias.name for alias in root.aliases if alias not in node.aliases and alias.name]
                best, most = [Waiting(_parts(one), tuple(missing)) for one in found], size
    return best


def _parts(candidate: Nearly) -> tuple[Part, ...]:
    return tuple(Part(alias, occurrence) for alias, occurrence in candidate.parts.items())


def _told(parts: tuple[Part, ...], style: Style) -> str:
    return ", ".join(
        f"{part.alias} at {show_instant(part.occurrence.start, style)} ({short(part.occurrence.individual)})"
        for part in parts
    )


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
