"""The rows of a state's group, by the values of its parameters."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.algebra.evaluation import Row
from obep.algebra.live.join_input import change_count, row_of
from obep.engine.states.episodes import Bindings, Key


class RowsByKey:
    """For each key the different values of the other variables, with how many rows have them."""

    def __init__(self, columns: Sequence[str], parameters: Sequence[str], extra: Sequence[str]) -> None:
        self._whole = all(name in columns for name in parameters)
        self._values: Callable[[Row], Any] = row_of(
            [columns.index(one) for one in parameters if one in columns]
        )
        self._names = [name for name in extra if name in columns]
        self._extra = row_of([columns.index(name) for name in self._names])
        self.found: dict[Key, dict[Row, int]] = {}

    def change(self, rows: Mapping[Row, int]) -> dict[Key, None]:
        """Rows come (above 0) and go; the keys that they belong to."""
        keys: dict[Key, None] = {}
        for row, number in rows.items():
            key = self._key(row)
            if key is None:
                continue
            keys[key] = None
            change_count(self.found, key, self._extra(row), number)
        return keys

    def keys_of(self, rows: Iterable[Row]) -> Iterator[Key]:
        """The keys that rows belong to."""
        return (key for row in rows if (key := self._key(row)) is not None)

    def _key(self, row: Row) -> Key | None:
        """Rows without a value for each parameter belong to no key."""
        if not self._whole:
            return None
        key = self._values(row)
        return None if None in key else key

    def bindings(self, key: Key) -> Bindings:
        """The values of the other variables, in order, without those that have none."""
        found = [
            {name: value for name, value in zip(self._names, row, strict=True) if value is not None}
            for row in self.found[key]
        ]
        if len(found) > 1:
            found = sorted(
                {tuple(row.items()): row for row in found}.values(), key=lambda row: [*row.items()]
            )
        return tuple([row for row in found if row])
