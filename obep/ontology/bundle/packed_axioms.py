"""Axioms as bytes and back, in msgpack: for other processes, and for the next start.

Only the classes of `axioms` can come out of it; nothing is pickled. A run of `C SubClassOf D` between names,
which is most of a large ontology, is two lists of numbers in a table of names.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from typing import Any

import msgspec

from obep.model import Term
from obep.ontology.owl import axioms as owl
from obep.ontology.owl.axioms import Axiom, Axioms, Class, SubClassOf

_CLASSES = {
    name: one
    for name, one in vars(owl).items()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one is not msgspec.Struct
}
UNREADABLE = (msgspec.MsgspecError, KeyError, TypeError, IndexError, ValueError)
"""What bytes raise that are none of ours."""
_Run = tuple[list[int], list[int]]


class _Packed(msgspec.Struct, array_like=True):
    names: list[Term]
    axioms: list[dict[str, list[Any]] | list[list[int]]]
    """A run of subclasses and what lies above each, or another axiom."""
    declared: list[list[int]]


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
    return msgspec.msgpack.encode(_Packed(list(names), packed, declared))


def unpack_axioms(data: bytes | memoryview) -> Axioms:
    """T again; one of `UNREADABLE` if it is none."""
    packed = msgspec.msgpack.decode(data, type=_Packed)
    names = packed.names
    known = dict(zip(names, names, strict=True))
    classes = [Class(name) for name in names]

    def axioms() -> Iterator[Axiom]:
        for one in packed.axioms:
            if isinstance(one, dict):
                yield _unpack(one, known)
            else:
                subs, sups = one
                above = map(classes.__getitem__, sups)
                yield from map(SubClassOf, map(classes.__getitem__, subs), above)

    return Axioms(tuple(axioms()), *(frozenset(map(names.__getitem__, some)) for some in packed.declared))


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
