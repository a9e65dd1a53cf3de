"""What K decides of an item before it is matched: what the ids of its record stand for, and its shapes.

An item of t is prepared by K(t), so that is done when its instant has come, and not when it is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from obep.formats.item_checks import Checks, refused_by
from obep.formats.quantities import Quantities
from obep.formats.record_mapping import make_mapping, with_index
from obep.formats.reference_lookup import ChangingIndex, Lookup
from obep.model import DeadLetter, Item, Triple

if TYPE_CHECKING:
    from obep.formats.record_mapping import Mapping as RecordMapping

Triples = Callable[[], Iterable[Triple]]
Lookups = Mapping[str, tuple[Mapping[str, Any], str]]
"""By stream, the settings of a mapping with a lookup, and where they stand."""


class Follower(Protocol):
    """Follows the changes of K."""

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None: ...


class PreparedItems:
    """Makes items ready by the K of now; it follows the changes of K."""

    def __init__(self, lookups: Lookups, checks: Checks, quantities: Mapping[str, Quantities]) -> None:
        """Each by the streams that ask for it; the last are those whose graphs have units."""
        self._lookups, self._checks, self._quantities = lookups, checks, quantities
        self._mappings: dict[str, RecordMapping] = {}
        self._indexes: list[ChangingIndex] = []
        self._k: Triples = tuple
        self.made: dict[Item, Item] | None = None
        """The items of records that have waited, if an observer needs them."""

    def begin(self, k: Triples) -> None:
        """K is another one, as a whole; `k` gives its triples as they are when it is called."""
        self._k = k
        self._mappings.clear()
        self._indexes.clear()
        for check in self._checks.values():
            check.begin(k())
        for quantities in self._quantities.values():
            quantities.begin(k())

    def change(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """K has changed."""
        followers: tuple[Follower, ...] = (*self._checks.values(), *self._quantities.values(), *self._indexes)
        for one in followers:
            one.change(come, gone)

    def prepared(self, item: Item) -> Item | DeadLetter:
        """The item as K makes it, or why it is none."""
        found: Item | DeadLetter = item
        if item.record:
            found = self._mapping(item.stream).resume(item)
            if self.made is not None and isinstance(found, Item):
                self.made[item] = found
        quantities = self._quantities.get(item.stream)
        if quantities is not None and isinstance(found, Item):
            found = quantities.converted(found)
        check = self._checks.get(item.stream)
        return found if check is None or isinstance(found, DeadLetter) else refused_by(check, found)

    def _mapping(self, stream: str) -> RecordMapping:
        if stream not in self._mappings:
            settings, where = self._lookups[stream]
            self._mappings[stream] = make_mapping(with_index(settings, where, self._index), where)
        return self._mappings[stream]

    def _index(self, lookup: Lookup) -> ChangingIndex:
        self._indexes.append(ChangingIndex(lookup, self._k()))
        return self._indexes[-1]
