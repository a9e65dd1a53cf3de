"""Axioms as bytes and back, in msgpack: for other processes, and for the next start.

Only the classes of `axioms` can come out of it; nothing is pickled. A run of `C SubClassOf D` between names,
which is most of a large ontology, is two lists of numbers in a table of names.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import fields
from typing import Any

import msgspec

from obep.model import Term
from obep.ontology.owl import axioms as owl
from obep.ontology.owl.axiom_set import Axioms, Deferred
from obep.ontology.owl.axioms import Axiom, Class, SubClassOf
from obep.ontology.rules import rule_kinds

_CLASSES = {
    name: one
    for module in (owl, rule_kinds)
    for name, one in vars(module).items()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one is not msgspec.Struct
}
UNREADABLE = (msgspec.MsgspecError, KeyError, TypeError, IndexError, ValueError)
"""What bytes raise that are none of ours."""
_Run = tuple[list[int], list[int]]


class _Packed(msgspec.Struct, array_like=True):
    names: list[Term]
    declared: list[list[int]]
    about_data: list[Any]
    """Those that every start looks at, once more."""
    axioms: memoryview
    """Axioms in msgpack: a run of subclasses and what lies above each, or another axiom."""


_Axioms = list[dict[str, list[Any]] | list[list[int]]]


def pack_axioms(axioms: Axioms) -> bytes:
    """T as bytes."""
    names: dict[Term, int] = {}

    def number(name: Term) -> int:
        return names.setdefault(name, len(names))

    packed: list[Any] = []
    run: _Run = ([], [])
    for axiom in axioms.axioms:
        match axiom:
            case SubClassOf(Class(sub), Class(sup)):
                if not run[0]:
                    packed.append(run)
                run[0].append(number(sub))
                run[1].append(number(sup))
            case _:
                run = ([], [])
                packed.append(_pack(axiom))
    declared = [[number(name) for name in sorted(getattr(axioms, one.name))] for one in fields(axioms)[1:]]
    about_data = pack_values(axioms.about_data)
    data = memoryview(msgspec.msgpack.encode(packed))
    return msgspec.msgpack.encode(_Packed(list(names), declared, about_data, data))


def unpack_axioms(data: bytes | memoryview) -> Axioms:
    """T again, with axioms that are read when they are first used. Raises one of `UNREADABLE` for other data.

    `data` must be the result of `pack_axioms`: if it comes from a file, the caller has checked its digest.
    """
    packed = msgspec.msgpack.decode(data, type=_Packed)
    names = packed.names
    axioms = Deferred(lambda: tuple(_axioms(packed)), tuple(unpack_values(packed.about_data)))
    return Axioms(axioms, *(frozenset(map(names.__getitem__, some)) for some in packed.declared))


def _axioms(packed: _Packed) -> Iterator[Axiom]:
    names = packed.names
    known = dict(zip(names, names, strict=True))
    classes = [Class(name) for name in names]
    for one in msgspec.msgpack.decode(packed.axioms, type=_Axioms):
        if isinstance(one, dict):
            yield _unpack(one, known)
        else:
            subs, sups = one
            yield from map(SubClassOf, map(classes.__getitem__, subs), map(classes.__getitem__, sups))


def pack_values(values: Iterable[object]) -> list[Any]:
    """Parts of axioms or rules, as what msgpack can write."""
    return [_pack(one) for one in values]


def unpack_values(values: Iterable[Any]) -> list[Any]:
    """The same again."""
    known: dict[Term, Term] = {}
    return [_unpack(one, known) for one in values]


def _pack(value: Any) -> Any:
    """A part of T as its class and fields, a tuple as a list of one kind; recursion is as deep as T nests."""
    if isinstance(value, msgspec.Struct):
        return {type(value).__name__: [_pack(getattr(value, name)) for name in value.__struct_fields__]}
    if isinstance(value, tuple):
        return [_pack(one) for one in value]
    return value


def _unpack(value: Any, known: dict[Term, Term]) -> Any:
    """The same again; equal names are one object."""
    if isinstance(value, dict):
        ((name, arguments),) = value.items()
        return _CLASSES[name](*[_unpack(one, known) for one in arguments])
    if isinstance(value, list):
        return tuple([_unpack(one, known) for one in value])
    return known.setdefault(value, value) if isinstance(value, str) else value
