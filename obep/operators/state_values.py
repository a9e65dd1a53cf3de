"""State as plain values: what operators remember, for a snapshot that another process can go on from.

Occurrences stand in one table and are meant by their number there, since operators tell two of them apart by
identity (SPEC D11). Everything else is tuples, numbers and strings; nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from obep.model import (
    Assertion,
    EagerOccurrence,
    Item,
    Occurrence,
    Part,
    Sent,
    Term,
    Triple,
    conversion_of,
    conversions,
    convert,
    digest_of,
    item_name,
    with_conversions,
)
from obep.operators.candidates import Candidate
from obep.operators.wire import Carried, Content, carried

Plain = Any
"""A value that msgpack can encode."""
_OCCURRENCE = "o"
_ITEM = "i"


class Packing:
    """Makes plain values, and gathers the occurrences that they mean."""

    def __init__(self) -> None:
        self.occurrences: list[Plain] = []
        self.contents: list[Content] = []
        """The contents that occurrences share, each once."""
        self._content_numbers: dict[Content, int] = {}
        self._numbers: dict[int, int] = {}
        self._kept: list[Occurrence] = []  # so that no id is used again while we pack

    def __call__(self, value: Any) -> Plain:
        if isinstance(value, Occurrence):
            return {_OCCURRENCE: self._number(value)}
        if isinstance(value, Item):
            plain = [value.stream, value.at, value.triples, value.name]
            return {_ITEM: [*plain, value.converted] if value.converted else plain}
        if isinstance(value, tuple | list | set | frozenset):
            return [self(one) for one in value]
        return value

    def candidates(self, found: Iterable[Candidate]) -> Plain:
        """Pack several candidates, without checks for values that cannot occur."""
        number = self._number
        return [
            (
                *times,
                [None if part is None else {_OCCURRENCE: number(part)} for part in parts],
                rows,
            )
            for *times, parts, rows in found
        ]

    def _content_number(self, content: Content) -> int:
        number = self._content_numbers.setdefault(content, len(self.contents))
        if number == len(self.contents):
            self.contents.append(content)
        return number

    def _number(self, occurrence: Occurrence) -> int:
        number = self._numbers.get(id(occurrence))
        if number is None and type(occurrence) is Carried and occurrence._solutions is None:
            number = self._numbers[id(occurrence)] = len(self.occurrences)
            self._kept.append(occurrence)
            self.occurrences.append((occurrence.start, self._content_number(occurrence.content)))
        elif number is None:
            parts = [(part.alias, self._number(part.occurrence), part.context) for part in occurrence.parts]
            items = [self._source(one) for one in occurrence.items]
            number = self._numbers[id(occurrence)] = len(self.occurrences)
            self._kept.append(occurrence)
            self.occurrences.append(
                (
                    occurrence.event,
                    occurrence.individual,
                    occurrence.explanation,
                    (occurrence.start, occurrence.end, occurrence.detected, occurrence.since),
                    list(occurrence.solutions.items()),
                    parts,
                    occurrence.bindings,
                    occurrence.partition,
                    occurrence.constructed,
                    occurrence.bounded,
                    occurrence._id,
                    items,
                    conversions(occurrence.explanation),
                )
            )
        return number

    def _source(self, one: Item | Occurrence | Term) -> int | Term:
        """An item by its name; an occurrence that was an item by its number."""
        if isinstance(one, Occurrence):
            return self._number(one)
        return item_name(digest_of(one), one.at) if isinstance(one, Item) else one


class Unpacking:
    """Makes the values again, with one object for each occurrence of the table."""

    def __init__(self, occurrences: list[Plain], contents: list[Content]) -> None:
        self._occurrences: list[Occurrence] = []
        for packed in occurrences:
            if len(packed) == 2:
                at, number = packed
                self._occurrences.append(carried(at, contents[number]))
            else:
                self._occurrences.append(self._occurrence(packed))

    def candidates(self, plain: Plain) -> list[Candidate]:
        """Unpack the result of `Packing.candidates`."""
        known = self._occurrences
        return [
            (
                *times,
                tuple([None if part is None else known[part[_OCCURRENCE]] for part in parts]),
                tuple([_row(row) for row in rows]),
            )
            for *times, parts, rows in plain
        ]

    def __call__(self, value: Plain) -> Any:
        if isinstance(value, dict):
            ((kind, content),) = value.items()
            return self._occurrences[content] if kind == _OCCURRENCE else _item(*map(frozen, content))
        if isinstance(value, list):
            return tuple([self(one) for one in value])
        return value

    def _occurrence(self, packed: Plain) -> Occurrence:
        event, individual, explanation, (start, end, detected, since), solutions, parts, *rest = packed
        bindings, partition, constructed, bounded, id_, items, converted = rest
        return EagerOccurrence(
            event,
            individual,
            with_conversions(frozen(explanation), converted),
            start,
            end,
            detected,
            since,
            {ask: frozen(rows) for ask, rows in solutions},
            tuple(Part(alias, self._occurrences[number], context) for alias, number, context in parts),
            tuple(bindings),
            tuple(partition),
            frozen(constructed),
            bounded,
            id_,
            items=tuple([one if isinstance(one, str) else self._occurrences[one] for one in items]),
        )


def _item(stream: str, at: int, triples: Any, name: Term, converted: Plain = ()) -> Item:
    return Item(stream, at, triples, name, converted=sent_again(converted))


def sent_again(converted: Plain = ()) -> tuple[tuple[Triple, Sent], ...]:
    """Which triples of an item were converted, and what was sent, from plain values."""
    return tuple([(frozen(triple), Sent(*sent)) for triple, sent in converted])


def plain_assertions(explanation: Iterable[Assertion]) -> list[Plain]:
    """An explanation as plain values."""
    return [(*one, how) if (how := conversion_of(one)) else one for one in explanation]


def assertions_in(plain: Plain) -> tuple[Assertion, ...]:
    """What `plain_assertions` has made plain."""
    return tuple([convert((tuple(triple), at), "".join(how)) for triple, at, *how in plain])


def _row(plain: Plain) -> Any:
    """A row; or, below FIRST and LAST, the rows of a lot, `None` for one that did not take part."""
    if plain is None:
        return None
    return frozen(plain) if plain and isinstance(plain[0], list) else tuple(plain)


def frozen(value: Plain) -> Any:
    """Lists as tuples, all the way down."""
    return tuple([frozen(one) for one in value]) if isinstance(value, list) else value


Pack = Packing
Unpack = Unpacking


def dump_fields(owner: object, names: tuple[str, ...], pack: Pack) -> list[Plain]:
    """The named fields, as plain values."""
    return [
        pack.candidates(value) if hasattr(value, "refill") else pack(value) for value in _fields(owner, names)
    ]


def load_fields(owner: object, names: tuple[str, ...], data: list[Plain], unpack: Unpack) -> None:
    """Restore the named fields; their current values are dropped."""
    for name, value, plain in zip(names, _fields(owner, names), data, strict=True):
        if hasattr(value, "refill"):
            value.refill(unpack.candidates(plain))
        elif isinstance(value, list):
            value[:] = unpack(plain)
        elif isinstance(value, set):
            value.clear()
            value.update(unpack(plain))
        else:
            setattr(owner, name, unpack(plain))


def _fields(owner: object, names: tuple[str, ...]) -> list[Any]:
    found = []
    for name in names:
        value: Any = owner
        for step in name.split("."):
            value = getattr(value, step)
        found.append(value)
    return found
