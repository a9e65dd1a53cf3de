"""The rows of a state's group, by the values of its parameters."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from obep.algebra.evaluation import Row
from obep.engine.states.episodes import Bindings, Key


class RowsByKey:
    """For each key the different values of the other variables, with how many rows have them."""

    def __init__(self, columns: Sequence[str], parameters: Sequence[str], extra: Sequence[str]) -> None:
        self._key = [columns.index(name) for name in parameters if name in columns]
        self._whole = len(self._key) == len(parameters)
        shown = [name for name in extra if name in columns]
        self._extra = [(name, columns.index(name)) for name in shown]
        self.found: dict[Key, dict[Row, int]] = {}

    def change(self, rows: Mapping[Row, int]) -> dict[Key, None]:
        """Rows come (above 0) and go; the keys that they belong to."""
        keys: dict[Key, None] = {}
        places = [place for _, place in self._extra]
        for key, row, number in self._keyed(rows):
            keys[key] = None
            known = self.found.get(key)
            if known is None:
                known = self.found[key] = {}
            extra = tuple([row[place] for place in places])
            left = known.get(extra, 0) + number
            if left:
                known[extra] = left
            else:
                del known[extra]
                if not known:
                    del self.found[key]
        return keys

    def keys_of(self, rows: Iterable[Row]) -> Iterator[Key]:
        """The keys that rows belong to."""
        return (key for key, _, _ in self._keyed(dict.fromkeys(rows, 0)))

    def _keyed(self, rows: Mapping[Row, int]) -> Iterator[tuple[Key, Row, int]]:
        """Rows without a value for each parameter belong to no key."""
        if self._whole:
            for row, number in rows.items():
                key = tuple([value for place in self._key if (value := row[place]) is not None])
                if len(key) == len(self._key):
                    yield key, row, number

    def bindings(self, key: Key) -> Bindings:
        """The values of the other variables, in order, without those that have none."""
        names = [name for name, _ in self._extra]
        found = [
            {name: value for name, value in zip(names, row, strict=True) if value is not None}
            for row in self.found[key]
        ]
        if len(found) > 1:
            found = sorted(
                {tuple(row.items()): row for row in found}.values(), key=lambda row: [*row.items()]
            )
        return tuple(row for row in found if row)
