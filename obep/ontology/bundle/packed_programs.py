"""The programs of a compiled query as bytes and back, in msgpack: what runs, without the rules behind it.

In: a bundle whose rules decide plain items (those that assert no event's class). Out: its names, relations,
programs and closed facts, as data that another process reads in place of T. Nothing is pickled; only the
classes of axioms and rules can come out.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
from msgspec.structs import asdict

from obep.model import Term, Triple
from obep.ontology.bundle.compile import Bundle, OpenNames
from obep.ontology.bundle.packed_axioms import pack_values, unpack_values
from obep.ontology.bundle.relevant_names import Answers
from obep.ontology.closure.mmap_store import MappedStore, open_store
from obep.ontology.closure.runnable import Reading
from obep.ontology.closure.store import Store
from obep.ontology.owl.axioms import DataRange
from obep.ontology.owl.literals import value
from obep.ontology.rules.program import Names, Program, Tables
from obep.ontology.rules.role_relations import Relations
from obep.ontology.rules.value_tests import ValueTests


class _Facts(msgspec.Struct, array_like=True):
    """A store that is not mapped."""

    terms: list[Term]
    type_sets: list[frozenset[int]]
    type_of: list[int]
    forwards: dict[int, tuple[int, ...]]
    backwards: dict[int, tuple[int, ...]]
    canonical: list[Term]
    asserted: list[tuple[int, int, Triple]]
    extra_witnesses: set[int]


class _Packed(msgspec.Struct, array_like=True):
    concepts: list[str]
    last_goal: int
    individuals: list[Term]
    ranges: list[Any]
    roles: list[Any]
    inclusions: list[Any]
    lower: Tables
    asserted: Tables | None
    """None: the lower one."""
    facts: _Facts | None
    mapped: tuple[str, str] | None
    """The file and the key of facts that are mapped."""
    t_alone: _Facts | None
    """None: the same facts."""
    tests: list[Any]
    answers: Answers
    open_names: OpenNames | None


def pack_programs(bundle: Bundle) -> bytes | None:
    """What the bundle runs; nothing where plain items need the reasoner."""
    if not bundle.exact_for_most:
        return None
    lower, asserted = bundle.lower, bundle.lower_asserted
    store, names = lower.store, bundle.names
    alone = store.t_alone
    mapped = store.place if isinstance(store, MappedStore) else None
    if isinstance(alone, MappedStore) or (mapped is not None and store.extra_witnesses):
        return None
    _ = bundle.hash
    packed = _Packed(
        list(names.concepts),
        names.last_goal,
        list(names.individuals),
        pack_values(names.ranges),
        pack_values(bundle.relations.roles),
        pack_values(bundle.relations.inclusions),
        _tables(lower.program),
        None if asserted is lower.program else _tables(asserted),
        None if mapped is not None else _facts(store),
        mapped,
        None if alone is store or alone is None else _facts(alone),
        pack_values(bundle.value_tests.rules),
        bundle.answers,
        bundle.open_names,
    )
    return msgspec.msgpack.encode(packed)


def unpack_programs(data: bytes | memoryview, bundle: Bundle) -> bool:
    """Give a bundle its programs, so that its rules need not be made; whether they were all there."""
    packed = msgspec.msgpack.decode(data, type=_Packed)
    names = Names(())
    names.concepts = {name: number for number, name in enumerate(packed.concepts)}
    names.last_goal = packed.last_goal
    names.individuals = {name: number for number, name in enumerate(packed.individuals)}
    for one in unpack_values(packed.ranges):
        names.test(one)
    relations = Relations(unpack_values(packed.roles), unpack_values(packed.inclusions))
    lower = _unpacked(packed.lower, relations, names)
    datatypes = bundle.definitions.axioms.datatype_definitions
    if packed.facts is not None:
        store: Store = _store(packed.facts, lower, datatypes)
    else:
        path, key = packed.mapped or ("", "")
        found = open_store(Path(path), lower, key, datatypes)
        if found is None:
            return False
        store = found
    store.t_alone = store if packed.t_alone is None else _store(packed.t_alone, lower, datatypes)
    bundle.take_programs(
        relations,
        Reading(lower, store),
        lower if packed.asserted is None else _unpacked(packed.asserted, relations, names),
        ValueTests(unpack_values(packed.tests), relations),
        packed.answers,
        packed.open_names,
    )
    return True


def _tables(program: Program) -> Tables:
    return Tables(*(getattr(program, name) for name in Tables.__struct_fields__))


def _unpacked(packed: Tables, relations: Relations, names: Names) -> Program:
    return Program(**asdict(packed), relations=relations, names=names)


def _facts(store: Store) -> _Facts:
    sets: dict[frozenset[int], int] = {}
    type_of = [sets.setdefault(types, len(sets)) for types in store.types]
    return _Facts(
        list(store.terms),
        list(sets),
        type_of,
        dict(store.forwards),
        dict(store.backwards),
        list(store.canonical.values()),
        store.asserted(),
        store.extra_witnesses,
    )


def _store(packed: _Facts, program: Program, datatypes: Mapping[Term, DataRange]) -> Store:
    ids = {term: number for number, term in enumerate(packed.terms)}
    store = Store(packed.terms, ids, len(program.stored), program.names.ranges, datatypes)
    store.types = [packed.type_sets[number] for number in packed.type_of]
    store.forwards, store.backwards = packed.forwards, packed.backwards
    store.canonical = {value(term): term for term in packed.canonical}
    store.remember(packed.asserted)
    store.extra_witnesses = packed.extra_witnesses
    return store
