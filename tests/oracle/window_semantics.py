"""Windows, slow and direct: SPEC §7 as it stands, one evaluation after the other, all subsets tried.

Shares no code with `obep.engine.windows` or `obep.abstraction`; what some triples entail is told by whoever
calls it. Instants are whole numbers here, and every one of them is looked at.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

from obep.model import Assertion, Item, Term, Triple

Entails = Callable[[frozenset[Triple]], "frozenset[tuple[Term, Term]] | None"]
"""The (event, individual) that some triples and T entail; `None` if they contradict T."""


@dataclass(frozen=True)
class Frame:
    """What stands in the brackets; `text` is how a query says it."""

    text: str
    range: int | None = None
    step: int | None = None
    first: int | None = None
    last: int | None = None
    rows: int | None = None


@dataclass(frozen=True)
class Found:
    """An occurrence that must be there."""

    event: Term
    individual: Term
    explanation: frozenset[Assertion]
    start: int
    end: int
    detected: int


def inside(frame: Frame, items: Sequence[Item], now: int) -> list[Item]:
    """The items in the window at an instant."""
    come = [item for item in items if item.at <= now]
    if frame.range is not None:
        return [item for item in come if now - frame.range < item.at]
    if frame.rows is not None:  # the last n, and whoever came together with the first of them
        return [item for item in come if sum(other.at > item.at for other in come) < frame.rows]
    return [
        item
        for item in come
        if (frame.first is None or frame.first <= item.at) and (frame.last is None or item.at <= frame.last)
    ]


def occurrences(
    frame: Frame, items: Sequence[Item], k: Iterable[Triple], entails: Entails, until: int
) -> Iterator[Found]:
    """All occurrences that are decided up to an instant, in the order of their detection."""
    static = frozenset(k)
    taken = [item for item in items if entails(static | frozenset(item.triples)) is not None]
    before: list[frozenset[Assertion]] = []
    for now in range(min((item.at for item in taken), default=0), until + 1):
        if frame.step is not None and now % frame.step:
            continue
        seen = frozenset((triple, one.at) for one in inside(frame, taken, now) for triple in one.triples)
        union = frozenset(triple for triple, _ in seen)
        if entails(static | union) is None:
            continue  # it would entail everything (D3)
        # What the window says, it need not be told by K (an item and K are read so, too).
        behind = frozenset((triple, None) for triple in static - union)
        for (event, individual), sets in sorted(minimal(seen, behind, entails).items()):
            for one in sorted(sets, key=str):
                used = one & seen
                if not used or any(used <= earlier for earlier in before):
                    continue  # K alone says so (D2), or it has been reported
                instants = [at for _, at in used if at is not None]
                yield Found(event, individual, one, min(instants), max(instants), now)
        before.append(seen)


def minimal(
    seen: frozenset[Assertion], behind: frozenset[Assertion], entails: Entails
) -> dict[tuple[Term, Term], list[frozenset[Assertion]]]:
    """For whatever is entailed, all minimal sets of timestamped assertions that entail it."""
    found: dict[tuple[Term, Term], list[frozenset[Assertion]]] = {}
    everything = sorted(seen | behind, key=str)
    for size in range(len(everything) + 1):
        for some in combinations(everything, size):
            chosen = frozenset(some)
            for goal in entails(frozenset(triple for triple, _ in chosen)) or ():
                sets = found.setdefault(goal, [])
                if not any(smaller <= chosen for smaller in sets):
                    sets.append(chosen)
    return found
