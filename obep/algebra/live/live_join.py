"""The join of several sides, kept up to date by joining out from each change."""

from __future__ import annotations

from collections.abc import Callable
from itertools import chain

from obep.algebra.evaluation import Row, Slots
from obep.algebra.live.join_input import Change, JoinInput, LookupInput, Table, key_of, row_of


def connect(inputs: list[JoinInput], size: int, sink: Change) -> None:
    """Let each input join its changes with all others; `sink` takes rows of `size` slots."""
    for one in inputs:
        if not isinstance(one, LookupInput):
            others = [other for other in inputs if other is not one]
            one.start = _joining(list(one.slots), one.certain, others, size, sink)


def join_out(inputs: list[JoinInput], size: int, sink: Change) -> None:
    """The join of inputs that do not change, once."""
    _joining([], frozenset(), inputs, size, sink)((), 1)


def _joining(held: list[int], certain: Slots, others: list[JoinInput], size: int, sink: Change) -> Change:
    """Return a function that joins a row of the slots `held` with all others, smallest inputs first."""
    steps: list[Callable[[Change], Change]] = []
    held, left = list(held), list(others)
    while left:
        known = certain
        best = min(left, key=lambda other: other.cost(known))
        left.remove(best)
        steps.append(_step(best, held, certain))
        held += [slot for slot in best.slots if slot not in held]
        certain |= best.certain
    change = _laid_out(held, size, sink)
    for step in reversed(steps):
        change = step(change)
    return change


def _laid_out(held: list[int], size: int, sink: Change) -> Change:
    if held == list(range(size)):
        return sink
    places = [held.index(slot) if slot in held else len(held) for slot in range(size)]
    lay = row_of(places)
    if len(held) in places:
        return lambda row, number: sink(lay((*row, None)), number)
    return lambda row, number: sink(lay(row), number)


def _step(other: JoinInput, held: list[int], certain: Slots) -> Callable[[Change], Change]:
    """One lookup: the rows of another input that fit a row."""
    if isinstance(other, LookupInput):
        return _lookup(other, list(held), certain)
    key = tuple(slot for slot in other.slots if slot in other.certain and slot in certain)
    table = other.table(key)
    find = key_of([held.index(slot) for slot in key])
    rest = [slot for slot in other.slots if slot not in key]
    shared = [(at, held.index(slot)) for at, slot in enumerate(rest) if slot in held]
    if shared:
        added = row_of([at for at, slot in enumerate(rest) if slot not in held])
        return lambda following: _compatible_step(table, find, shared, added, following)
    if rest:
        return lambda following: _plain_step(table, find, following)
    return lambda following: _present_step(table, find, following)


def _plain_step(table: Table, find: Callable[[Row], object], following: Change) -> Change:
    def step(row: Row, number: int) -> None:
        found = table.get(find(row))
        if isinstance(found, tuple):
            following(row + found, number)
        elif found is not None:
            for rest, times in found.items():
                following(row + rest, number * times)

    return step


def _present_step(table: Table, find: Callable[[Row], object], following: Change) -> Change:
    """A lookup that adds no values."""

    def step(row: Row, number: int) -> None:
        found = table.get(find(row))
        if isinstance(found, tuple):
            following(row, number)
        elif found is not None:
            following(row, number * found[()])

    return step


def _compatible_step(
    table: Table,
    find: Callable[[Row], object],
    shared: list[tuple[int, int]],
    added: Callable[[Row], Row],
    following: Change,
) -> Change:
    """A lookup where slots that may be unbound are on both sides."""

    def step(row: Row, number: int) -> None:
        found = table.get(find(row), {})
        for rest, times in ((found, 1),) if isinstance(found, tuple) else found.items():
            merged = list(row)
            for at, place in shared:
                value = merged[place]
                if value is None:
                    merged[place] = rest[at]
                elif rest[at] is not None and rest[at] != value:
                    break
            else:
                following((*merged, *added(rest)), number * times)

    return step


def _lookup(other: LookupInput, held: list[int], certain: Slots) -> Callable[[Change], Change]:
    """A lookup in a graph; what it finds once for each triple."""
    pattern, match = other.pattern, other.match
    known = [(place, held.index(slot)) for place, slot in pattern.slots if slot in held]
    fresh = [slot for slot in other.slots if slot not in held]
    sources = [next(place for place, one in pattern.slots if one == slot) for slot in fresh]
    repeated = [(place, sources[fresh.index(slot)]) for place, slot in pattern.slots if slot in fresh]
    unsure = [(place, at) for place, at in known if held[at] not in certain]

    def with_following(following: Change) -> Change:
        def step(row: Row, number: int) -> None:
            wanted = list(pattern.constants)
            for place, at in known:
                wanted[place] = row[at]
            for triple in match(*wanted):
                if any(triple[place] != triple[first] for place, first in repeated):
                    continue
                merged = row
                for place, at in unsure:
                    if merged[at] is None:
                        merged = (*merged[:at], triple[place], *merged[at + 1 :])
                    elif merged[at] != triple[place]:
                        break
                else:
                    following(tuple(chain(merged, [triple[place] for place in sources])), number)

        return step

    return with_following
