"""A bundle as bytes and back: the query's text, T, K and what HermiT found, in msgpack with a version.

Only the classes of `axioms` can come out of it; nothing is pickled, and no file is opened.
"""

from __future__ import annotations

import mmap
from dataclasses import fields
from pathlib import Path
from typing import Any

import msgspec

from obep.errors import ObepError, fail
from obep.model import Term
from obep.ontology.bundle.compile import Bundle
from obep.ontology.hermit.java import has_java
from obep.ontology.owl import axioms as owl
from obep.ontology.owl.axioms import Axioms
from obep.ontology.owl.static_graph import Facts, Graph
from obep.query.link import assemble
from obep.query.parse.parser import parse

VERSION = 6
_CLASSES = {
    name: one
    for name, one in vars(owl).items()
    if isinstance(one, type) and issubclass(one, msgspec.Struct) and one is not msgspec.Struct
}


class _Packed(msgspec.Struct, array_like=True):
    version: int
    files: list[tuple[str, str]]
    axioms: list[Any]
    declared: list[list[Term]]
    facts: Facts
    k: memoryview
    """K stays packed: a process that finds it closed in a file never looks at its triples."""
    subsumptions: list[tuple[Term, Term]]
    java: bool
    """Whether the reasoner may be asked, if there is a Java where the bundle is read."""
    cache_dir: str
    """Where somebody has chosen to remember things; empty: where one does so on that machine."""
    max_explanations: int | None
    max_work: int | None


def to_bytes(bundle: Bundle) -> bytes:
    """The bundle, for another process."""
    declared = [sorted(getattr(bundle.t, field.name)) for field in fields(Axioms)[1:]]
    return msgspec.msgpack.encode(
        _Packed(
            VERSION,
            [(file.name, file.text) for file in bundle.linked.files],
            [_pack(axiom) for axiom in bundle.t.axioms],
            declared,
            bundle.k.facts,
            memoryview(bundle.k.pack()),
            list(bundle.subsumptions),
            bundle.java,
            str(bundle.chosen_dir or ""),
            bundle.max_explanations,
            bundle.max_work,
        )
    )


def from_path(path: Path) -> Bundle:
    """The bundle in a file, which is mapped, not read."""
    try:
        with path.open("rb") as file:
            return from_bytes(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)))
    except (OSError, ValueError) as error:
        raise _unreadable(str(error)) from None


def from_bytes(data: bytes | memoryview) -> Bundle:
    """The bundle again. It was checked when it was made, and is not checked again."""
    try:
        packed = msgspec.msgpack.decode(data, type=_Packed)
        axioms = tuple(_unpack(axiom) for axiom in packed.axioms)
    except (msgspec.MsgspecError, KeyError, TypeError, IndexError) as error:
        raise _unreadable(str(error)) from None
    if packed.version != VERSION:
        raise _unreadable(f"it has version {packed.version}, this obep reads version {VERSION}")
    linked = assemble([parse(text, name) for name, text in packed.files], Path())
    t = Axioms(axioms, *(frozenset(names) for names in packed.declared))
    return Bundle(
        linked,
        t,
        Graph.packed(packed.facts, packed.k),
        subsumptions=packed.subsumptions,
        java=packed.java and has_java(),
        cache_dir=Path(packed.cache_dir) if packed.cache_dir else None,
        max_explanations=packed.max_explanations,
        max_work=packed.max_work,
    )


def _unreadable(reason: str) -> ObepError:
    return fail(
        "OBEP309",
        "the bundle cannot be read",
        reason=reason,
        remedy="run the same version of obep on the driver and on all workers",
    )


def _pack(value: Any) -> Any:
    """A part of T as its class and fields, a tuple as a list of one kind; recursion is as deep as T nests."""
    if isinstance(value, msgspec.Struct):
        return {type(value).__name__: [_pack(getattr(value, name)) for name in value.__struct_fields__]}
    if isinstance(value, tuple):
        return [_pack(one) for one in value]
    return value


def _unpack(value: Any) -> Any:
    if isinstance(value, dict):
        ((name, arguments),) = value.items()
        return _CLASSES[name](*(_unpack(one) for one in arguments))
    if isinstance(value, list):
        return tuple(_unpack(one) for one in value)
    return value
