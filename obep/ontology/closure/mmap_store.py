"""A closed K in a file that processes share: written once, mapped into memory by all that come after.

The file is a digest of all the rest, a header in msgpack (names, sets of types, where the sections lie) and
sections of 32-bit numbers: terms with an index by hash, types, edges in both directions, the assertions of K.
What is looked up often is kept beside it as Python values.
"""

from __future__ import annotations

from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, TypeVar, overload
from zlib import crc32

import msgspec

from obep.model import RDF_TYPE, Assertion, Term, Triple
from obep.ontology.bundle.cache import seal, unseal
from obep.ontology.closure.store import Store
from obep.ontology.owl.axioms import DataRange
from obep.ontology.rules.program import Program

MAGIC = b"obep-k-3"
KEPT = 1 << 14
"""Values of one kind that are kept as Python values."""
_NOWHERE = 0xFFFFFFFF
T = TypeVar("T")


class Header(msgspec.Struct):
    """The header before the sections."""

    key: str
    size: int
    concepts: list[str]
    relations: list[str]
    words: list[str]
    """The classes and properties of K's assertions."""
    type_sets: list[list[int]]
    sections: dict[str, tuple[int, int]]
    """Name -> (offset, length) in bytes, from the end of the header."""


def relation_names(program: Program) -> list[str]:
    """The names of numbered relations, to compare programs by."""
    return [str(role) for role in program.relations.names]


# --- writing


def write_store(store: Store, program: Program, key: str, path: Path) -> None:
    """Puts a store in place, in one step; a reader finds a whole file or none."""
    size = store.size
    blob = bytearray()
    offsets = array("Q", [0])
    for term in store.terms:
        blob += term.encode()
        offsets.append(len(blob))
    sets: dict[frozenset[int], int] = {}
    type_of = array("I", (sets.setdefault(store.types[x], len(sets)) for x in range(size)))
    words: dict[str, int] = {}
    sections: dict[str, bytes | bytearray | array[int]] = {
        "offsets": offsets,
        "terms": blob,
        "index": _index(store.terms),
        "types": type_of,
        **_edges("forwards", store.forwards, size, len(program.stored)),
        **_edges("backwards", store.backwards, size, len(program.stored)),
        **_assertions(store, words),
    }
    places: dict[str, tuple[int, int]] = {}
    at = 0
    for name, data in sections.items():
        length = len(data) * (data.itemsize if isinstance(data, array) else 1)
        places[name] = (at, length)
        at += -(-length // 8) * 8
    header = msgspec.msgpack.encode(
        Header(
            key, size, list(program.names.concepts), relation_names(program), list(words),
            [sorted(one) for one in sets], places,
        )
    )  # fmt: skip
    pieces: list[bytes | bytearray | array[int]] = [len(header).to_bytes(8, "little"), header]
    for data in sections.values():
        pieces += [_padding(pieces[-1]), data]
    seal(path, MAGIC, pieces)


def _padding(data: bytes | bytearray | array[int]) -> bytes:
    """The padding of the next section to a multiple of eight bytes."""
    return b"\0" * (-len(data) * (data.itemsize if isinstance(data, array) else 1) % 8)


def _index(terms: Sequence[Term]) -> array[int]:
    """An open hash table of the terms' numbers."""
    slots = 4
    while slots < 2 * len(terms):
        slots *= 2
    table = array("I", [_NOWHERE]) * slots
    for x, term in enumerate(terms):
        slot = crc32(term.encode()) & (slots - 1)
        while table[slot] != _NOWHERE:
            slot = (slot + 1) & (slots - 1)
        table[slot] = x
    return table


def _edges(name: str, edges: Mapping[int, Iterable[int]], size: int, width: int) -> dict[str, array[int]]:
    """For each x its edges, by relation: where they begin, their relations, their ends."""
    starts, relations, ends = array("I"), array("I"), array("I")
    keys = sorted(edges.items())
    place = 0
    for x in range(size):
        starts.append(len(ends))
        while place < len(keys) and keys[place][0] // width == x:
            key, found = keys[place]
            for y in found:
                relations.append(key % width)
                ends.append(y)
            place += 1
    starts.append(len(ends))
    return {f"{name}.starts": starts, f"{name}.relations": relations, f"{name}.ends": ends}


def _assertions(store: Store, words: dict[str, int]) -> dict[str, array[int]]:
    """The assertions by subject, those of classes first, then by object: their place is their number."""
    rows = []
    for s, p, o in store.triples:
        typed = p == RDF_TYPE
        word = words.setdefault(o if typed else p, len(words))
        rows.append((store.ids[s], not typed, 0 if typed else store.ids[o], word * 2 + typed))
    rows.sort()
    starts, predicates, objects = array("I"), array("I"), array("I")
    place = 0
    for x in range(store.size):
        starts.append(place)
        while place < len(rows) and rows[place][0] == x:
            predicates.append(rows[place][3])
            objects.append(rows[place][2])
            place += 1
    starts.append(place)
    return {"about.starts": starts, "about.predicates": predicates, "about.objects": objects}


# --- reading


def open_store(
    path: Path, program: Program, key: str, datatypes: Mapping[Term, DataRange]
) -> MappedStore | None:
    """The store in a file, if there is one that was made for this program and K."""
    data = unseal(path, MAGIC)
    if data is None:
        return None
    begin = 8 + int.from_bytes(data[:8], "little")
    try:
        header = msgspec.msgpack.decode(data[8:begin], type=Header)
    except msgspec.MsgspecError:
        return None
    sections = data[-(-begin // 8) * 8 :]
    whole = all(offset + length <= len(sections) for offset, length in header.sections.values())
    same = header.key == key and header.relations == relation_names(program)
    if not (whole and same) or header.concepts != list(program.names.concepts)[: len(header.concepts)]:
        return None
    found = MappedStore(header, sections, program, datatypes)
    found.place = (str(path), key)
    return found


class _Kept(dict[int, T]):
    """A cache of values that were read from a section, up to a limit."""

    def keep(self, key: int, found: T) -> T:
        if len(self) > KEPT:
            self.clear()
        self[key] = found
        return found


class _Terms(Sequence[Term]):
    def __init__(self, offsets: memoryview, blob: memoryview) -> None:
        self._offsets, self._blob = offsets, blob
        self._kept: _Kept[Term] = _Kept()

    def __len__(self) -> int:
        return len(self._offsets) - 1

    @overload
    def __getitem__(self, x: int) -> Term: ...
    @overload
    def __getitem__(self, x: slice) -> Sequence[Term]: ...
    def __getitem__(self, x: Any) -> Any:
        found = self._kept.get(x)
        if found is None:
            found = self._kept.keep(x, self.read(x).decode())
        return found

    def read(self, x: int) -> bytes:
        return bytes(self._blob[self._offsets[x] : self._offsets[x + 1]])


class _Ids(Mapping[Term, int]):
    """The numbers of terms; a term that is not there is looked for each time."""

    def __init__(self, terms: _Terms, index: memoryview) -> None:
        self._terms, self._index = terms, index
        self._mask = len(index) - 1
        self._kept: dict[Term, int] = {}

    def get(self, term: Term, default: Any = None) -> Any:
        found = self._kept.get(term)
        if found is not None:
            return found
        wanted = term.encode()
        slot = crc32(wanted) & self._mask
        while (x := self._index[slot]) != _NOWHERE:
            if self._terms.read(x) == wanted:
                if len(self._kept) > KEPT:
                    self._kept.clear()
                self._kept[term] = x
                return x
            slot = (slot + 1) & self._mask
        return default

    def __getitem__(self, term: Term) -> int:
        found = self.get(term)
        if found is None:
            raise KeyError(term)
        return int(found)

    def __contains__(self, term: object) -> bool:
        return self.get(term) is not None  # type: ignore[arg-type]  # only terms are asked for

    def __iter__(self) -> Iterator[Term]:
        return (self._terms.read(x).decode() for x in range(len(self._terms)))

    def __len__(self) -> int:
        return len(self._terms)


class _Edges(Mapping[int, tuple[int, ...]]):
    def __init__(self, width: int, starts: memoryview, relations: memoryview, ends: memoryview) -> None:
        self._width, self._starts, self._relations, self._ends = width, starts, relations, ends
        self._kept: _Kept[tuple[int, ...]] = _Kept()

    def get(self, key: int, default: Any = None) -> Any:
        found = self._kept.get(key)
        if found is None:
            x, relation = divmod(key, self._width)
            low, high = self._starts[x], self._starts[x + 1]
            low = bisect_left(self._relations, relation, low, high)
            high = bisect_right(self._relations, relation, low, high)
            found = self._kept.keep(key, tuple(self._ends[low:high]))
        return found or default

    def __getitem__(self, key: int) -> tuple[int, ...]:
        return tuple(self.get(key, ()))

    def __iter__(self) -> Iterator[int]:
        for x in range(len(self._starts) - 1):
            here = self._relations[self._starts[x] : self._starts[x + 1]]
            yield from (x * self._width + relation for relation in sorted(set(here)))

    def __len__(self) -> int:
        return sum(1 for _ in self)


class _Types(Sequence[frozenset[int]]):
    def __init__(self, type_of: memoryview, sets: list[list[int]]) -> None:
        self._type_of, self._sets = type_of, [frozenset(one) for one in sets]

    def __len__(self) -> int:
        return len(self._type_of)

    @overload
    def __getitem__(self, x: int) -> frozenset[int]: ...
    @overload
    def __getitem__(self, x: slice) -> Sequence[frozenset[int]]: ...
    def __getitem__(self, x: Any) -> Any:
        return self._sets[self._type_of[x]]


class _Assertions(Sequence[Assertion]):
    def __init__(self, store: MappedStore) -> None:
        self._store = store
        self._kept: _Kept[Assertion] = _Kept()

    def __len__(self) -> int:
        return len(self._store.predicates)

    @overload
    def __getitem__(self, number: int) -> Assertion: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Assertion]: ...
    def __getitem__(self, number: Any) -> Any:
        found = self._kept.get(number)
        if found is None:
            found = self._kept.keep(number, (self._store.triple(number), None))
        return found


class _Triples(Sequence[Triple]):
    def __init__(self, assertions: _Assertions) -> None:
        self._assertions = assertions

    def __len__(self) -> int:
        return len(self._assertions)

    @overload
    def __getitem__(self, number: int) -> Triple: ...
    @overload
    def __getitem__(self, number: slice) -> Sequence[Triple]: ...
    def __getitem__(self, number: Any) -> Any:
        return self._assertions[number][0]


class MappedStore(Store):
    """A store whose facts lie in a mapped file."""

    place: tuple[str, str]
    """The file, and the key of its content."""

    def __init__(
        self, header: Header, data: memoryview, program: Program, datatypes: Mapping[Term, DataRange]
    ) -> None:
        super().__init__((), {}, len(program.stored), program.names.ranges, datatypes)

        def section(name: str, kind: Literal["I", "Q", "B"] = "I") -> memoryview:
            offset, length = header.sections[name]
            return data[offset : offset + length].cast(kind)

        self._words = header.words
        terms = _Terms(section("offsets", "Q"), section("terms", "B"))
        self.terms, self.ids = terms, _Ids(terms, section("index"))
        self.size = header.size
        self.types = _Types(section("types"), header.type_sets)
        width = len(program.stored)
        self.forwards, self.backwards = (
            _Edges(width, *(section(f"{way}.{part}") for part in ("starts", "relations", "ends")))
            for way in ("forwards", "backwards")
        )
        self._starts, self._objects = section("about.starts"), section("about.objects")
        self.predicates = section("about.predicates")
        assertions = _Assertions(self)
        self.triples, self.assertions = _Triples(assertions), assertions

    def triple(self, number: int) -> Triple:
        """The assertion of this number."""
        subject = self.terms[bisect_right(self._starts, number) - 1]
        word, typed = divmod(self.predicates[number], 2)
        if typed:
            return (subject, RDF_TYPE, self._words[word])
        return (subject, self._words[word], self.terms[self._objects[number]])

    def _first_edge(self, x: int) -> int:
        """Where the assertions of classes end and those of properties begin."""
        low, high = self._starts[x], self._starts[x + 1]
        while low < high and self.predicates[low] % 2:
            low += 1
        return low

    def type_assertions(self, x: int) -> Sequence[int]:
        return range(self._starts[x], self._first_edge(x))

    def edge_assertions(self, x: int, y: int) -> Sequence[int]:
        low, high = self._first_edge(x), self._starts[x + 1]
        return range(
            low := bisect_left(self._objects, y, low, high), bisect_right(self._objects, y, low, high)
        )
