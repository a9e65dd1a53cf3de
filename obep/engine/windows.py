"""A window while it runs: its items come in, are looked at together, and leave by their expiration times.

Only explanations that use an item that no evaluation has seen are looked for: all others have been reported,
or were cut off (SPEC D4). While the items together contradict T and K nothing is found (D3), and the new ones
stay new, until enough of the others have left. Where none ever leaves, a contradiction ends the window.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any, NamedTuple, Protocol

from obep.engine.event_run import EventRun
from obep.formats.units import converted_assertions
from obep.model import DeadLetter, Item, Occurrence, Term, as_converted
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.plan.window_plan import WindowPlan


class Held(NamedTuple):
    """An item in a window, with its expiration."""

    expires: int
    item: Item


class Gathering(Protocol):
    """As much of `obep.abstraction.windows.window_matcher` as a window needs."""

    def admit(self, item: Item, /) -> Item | DeadLetter: ...

    def keep(self, items: Iterable[Held], /) -> None: ...

    def forget(self, items: Iterable[Held], measure: int, /) -> None: ...

    def find(self, items: Sequence[Held], now: int, /) -> list[Occurrence] | DeadLetter: ...


class Windowed(EventRun):
    """One window, for all events that look at it; its reports are logical occurrences."""

    logical = True
    timed = True
    wants_items = True

    def __init__(
        self,
        window: WindowPlan,
        gathering: Callable[[], Gathering],
        on_dead_letter: Callable[[DeadLetter], None] | None,
    ) -> None:
        """`gathering` makes an empty one."""
        self.plan = EventPlan(f"WINDOW <{window.name}>", window.name, 0)
        self.longest = window.range
        self._window, self._gathering, self._on_dead_letter = window, gathering, on_dead_letter
        self._together = gathering()
        self._count = 0
        """Items that ever came in."""
        self._known: deque[Held] = deque()
        """The items that an evaluation has seen, in the order in which they leave."""
        self._fresh: deque[Held] = deque()
        self._changed = False
        """Whether items have come or gone since the last evaluation."""
        self._due: int | None = None
        self._ended = False

    def routes(self) -> Iterator[tuple[Term, Take]]:
        return iter(())

    def reach(self, at: int) -> None:
        if self._due is not None and self._due <= at:
            self._due = None

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        window = self._window
        if self._ended:
            return ()
        new = list(self._admitted(items))
        self._count += len(new)
        expires = window.expires(at, self._count)
        self._fresh.extend([Held(expires, item) for item in new])
        self._changed |= bool(new)
        self._drop(at)
        found: Sequence[Occurrence] = ()
        if self._fresh and self._changed and window.evaluated_at(at):
            found = self._evaluate(at)
        self._due = self._next_evaluation(at)
        return found

    def _admitted(self, items: Sequence[Item]) -> Iterator[Item]:
        """The items that the window takes, in single triples."""
        for item in items:
            if item.stream == self._window.stream and self._window.takes(item.at):
                admitted = self._together.admit(item)
                if isinstance(admitted, Item):
                    yield admitted
                elif self._on_dead_letter is not None:
                    self._on_dead_letter(admitted)

    def _evaluate(self, at: int) -> Sequence[Occurrence]:
        self._changed = False
        found = self._together.find(self._fresh, at)
        if isinstance(found, DeadLetter):
            if self._on_dead_letter is not None:
                self._on_dead_letter(found)
            if self._window.lasting:
                self._end()
            return ()
        self._together.keep(self._fresh)
        self._known.extend(self._fresh)
        self._fresh.clear()
        if found:
            self._trace(found)
        return found

    def _trace(self, found: Iterable[Occurrence]) -> None:
        """Which items the occurrences were found in."""
        items: dict[int, list[Item]] = {}
        for _, item in self._known:
            items.setdefault(item.at, []).append(item)
        for one in found:
            seen = [(item, triple) for triple, at in one.explanation if at is not None for item in items[at]]
            one.items = found_in = tuple(
                dict.fromkeys([item for item, triple in seen if triple in item.triples])
            )
            if any(item.converted for item in found_in):
                sent = [known for item in found_in for known in converted_assertions(item.at, item.converted)]
                one.explanation = as_converted(one.explanation, sent)

    def _drop(self, now: int) -> None:
        """Items leave; FROM … TO comes to its end."""
        window = self._window
        if window.over is not None and now > window.over and not self._ended:
            self._end()
            return
        measure = window.measure(now, self._count)
        gone, unseen = (_expired(held, measure) for held in (self._known, self._fresh))
        if gone:
            self._together.forget(gone, measure)
        self._changed |= bool(gone or unseen)

    def _end(self) -> None:
        """Nothing can be found any more."""
        self._ended = True
        self._known.clear()
        self._fresh.clear()
        self._together = self._gathering()

    def _next_evaluation(self, now: int) -> int | None:
        """When the window is looked at without a new item: at the next step, or when a clash may be gone."""
        if not self._fresh:
            return None
        due = self._window.next_step(now)
        if due is None and self._window.range is not None:
            due = min(held[0].expires for held in (self._known, self._fresh) if held)
        return due if due is not None and self._fresh[-1].expires > due else None

    def next_deadline(self) -> int | None:
        return self._due

    def pending(self) -> int:
        return int(self._due is not None)

    def prune(self, at: int) -> None:
        self._drop(at)

    def dump(self, pack: Pack) -> Any:
        held = [[(one.expires, one.item) for one in some] for some in (self._known, self._fresh)]
        return [self._count, self._changed, self._due, self._ended, pack(held)]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._count, self._changed, self._due, self._ended, held = data
        known, fresh = unpack(held)
        self._known = deque(Held(*one) for one in known)
        self._fresh = deque(Held(*one) for one in fresh)
        self._together = self._gathering()
        self._together.keep(self._known)

    def size(self) -> int:
        return len(self._known) + len(self._fresh)


def _expired(held: deque[Held], measure: int) -> list[Held]:
    """The items that leave."""
    gone = []
    while held and held[0].expires <= measure:
        gone.append(held.popleft())
    return gone
