"""Profile the numbers of a field: values, steps, gaps between readings, runs of equal values."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby, pairwise
from operator import itemgetter

from obep.model import Item, Term

NUMBERS = ("integer>", "decimal>", "double>", "float>")


@dataclass
class Profile:
    """The readings of one property, each list in order of size."""

    name: Term
    values: list[float] = field(default_factory=list)
    steps: list[float] = field(default_factory=list)
    """From a reading to the next of the same individual, without the sign."""
    gaps: list[float] = field(default_factory=list)
    """Microseconds from a reading to the next of the same individual."""
    runs: list[float] = field(default_factory=list)
    """Readings of an individual in a row with the same value."""
    falls: int = 0
    """Readings that are less than the one before; of a counter there are none."""
    messages: dict[Term, set[int]] = field(default_factory=lambda: defaultdict(set))
    """The numbers of the items that have a reading, by individual."""

    @property
    def distinct(self) -> int:
        return len(set(self.values))

    def is_silent_with(self, other: Profile) -> bool:
        """Whether the other field of an individual is absent wherever this one is."""
        return all(
            one in other.messages and other.messages[one] <= mine for one, mine in self.messages.items()
        )


def quantile(ordered: Sequence[float], part: float) -> float:
    """The value below which that part lies, by nearest rank.

    >>> quantile([1, 2, 3, 4], 0.5)
    2
    """
    return ordered[max(0, min(len(ordered) - 1, round(part * len(ordered)) - 1))]


def profiles(items: Iterable[Item]) -> list[Profile]:
    """A profile of each property with numbers, the most frequent first."""
    series: dict[tuple[Term, Term], list[tuple[int, float]]] = defaultdict(list)
    found: dict[Term, Profile] = {}
    for number, item in enumerate(items):
        for subject, name, value in _numbers(item):
            series[name, subject].append((item.at, value))
            found.setdefault(name, Profile(name)).messages[subject].add(number)
    for (name, _), readings in series.items():
        profile = found[name]
        readings.sort(key=itemgetter(0))
        profile.values += [value for _, value in readings]
        profile.steps += [abs(b - a) for (_, a), (_, b) in pairwise(readings)]
        profile.falls += sum(b < a for (_, a), (_, b) in pairwise(readings))
        profile.gaps += [later - at for (at, _), (later, _) in pairwise(readings)]
        profile.runs += [len(list(run)) for _, run in groupby(value for _, value in readings)]
    for profile in found.values():
        for numbers in (profile.values, profile.steps, profile.gaps, profile.runs):
            numbers.sort()
    return sorted(found.values(), key=lambda one: -len(one.values))


def disorder(items: Iterable[Item]) -> int:
    """The microseconds by which an item comes after a later one, at most."""
    latest: int | None = None
    most = 0
    for item in items:
        latest = item.at if latest is None else max(latest, item.at)
        most = max(most, latest - item.at)
    return most


def _numbers(item: Item) -> Iterator[tuple[Term, Term, float]]:
    for subject, name, value in item.triples:
        if value.endswith(NUMBERS):
            number = float(value[1 : value.rindex('"')])
            if number - number == 0:  # neither infinite nor NaN
                yield subject, name, number
