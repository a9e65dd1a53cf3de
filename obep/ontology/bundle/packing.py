"""A bundle as bytes and back: the query's syntax tree, T, K, what HermiT found, and the programs that run.

It is msgpack with a version, after a digest of it. Only the classes of axioms, rules and the syntax tree can
come out; nothing is pickled. T is read when something asks for more than the programs.
"""

from __future__ import annotations

import mmap
from hashlib import blake2b
from pathlib import Path

import msgspec

from obep.errors import ObepError, fail
from obep.model import Term
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.packed_axioms import UNREADABLE, pack_axioms, unpack_axioms
from obep.ontology.bundle.packed_programs import pack_programs, unpack_programs
from obep.ontology.bundle.packed_rules import Files, PackedRules, pack_rules, unpack_rules
from obep.ontology.hermit.java import has_java
from obep.ontology.owl.static_graph import Facts, Graph
from obep.ontology.shacl.read_shapes import MakePattern
from obep.query.link import Linked, assemble
from obep.query.packed_ast import pack_files, unpack_files

VERSION = 13
_DIGEST = 16


class _Packed(msgspec.Struct, array_like=True):
    version: int
    files: memoryview
    t: memoryview
    facts: Facts
    k: memoryview
    """K stays packed: a process that finds it closed in a file never looks at its triples."""
    named: list[tuple[Term, Facts, memoryview]]
    """The static graphs of FROM NAMED."""
    subsumptions: list[tuple[Term, Term]]
    java: bool
    """Whether the reasoner may be asked, if there is a Java where the bundle is read."""
    cache_dir: str
    """The chosen cache folder; empty: the default of that machine."""
    max_explanations: int | None
    max_work: int | None
    programs: memoryview | None
    """Nothing where plain items need the reasoner."""
    shacl: PackedRules | None


def to_bytes(bundle: Bundle, *, with_files: bool = True) -> bytes:
    """The bundle, for another process; `with_files`: one that may not have the files of T."""
    programs = pack_programs(bundle)
    data = msgspec.msgpack.encode(
        _Packed(
            VERSION,
            memoryview(pack_files(bundle.linked.files)),
            memoryview(pack_axioms(bundle.t)),
            bundle.k.facts,
            memoryview(bundle.k.pack()),
            [(name, graph.facts, memoryview(graph.pack())) for name, graph in bundle.named.items()],
            list(bundle.subsumptions),
            bundle.java,
            str(bundle.chosen_dir or ""),
            bundle.max_explanations,
            bundle.max_work,
            None if programs is None else memoryview(programs),
            pack_rules(bundle.shacl, with_files=with_files),
        )
    )
    return _digest(data) + data


def _digest(data: bytes | memoryview) -> bytes:
    return blake2b(data, digest_size=_DIGEST).digest()


def from_path(path: Path, make_pattern: MakePattern) -> Bundle:
    """The bundle in a file, which is mapped, not read."""
    try:
        with path.open("rb") as file:
            return from_bytes(memoryview(mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ)), make_pattern)
    except (OSError, ValueError) as error:
        raise _unreadable(str(error)) from None


def from_bytes(
    data: bytes | memoryview,
    make_pattern: MakePattern,
    *,
    linked: Linked | None = None,
    files: Files | None = None,
) -> Bundle:
    """The bundle again. It was checked when it was made, and is not checked again.

    `linked`: the same query, where it has been read; the bytes are then this user's own, and T stays packed
    until it is looked at. `files` reads the files of T where they are not in the bytes.
    """
    digest, data = data[:_DIGEST], data[_DIGEST:]
    try:
        packed = msgspec.msgpack.decode(data, type=_Packed)
        if packed.version != VERSION:
            raise _unreadable(f"it has version {packed.version}, this obep reads version {VERSION}")
        if digest != _digest(data):
            raise _unreadable("it is damaged")
        t = unpack_axioms(packed.t)
        if linked is None:
            _ = len(t.axioms)  # what is wrong with them is said now
            linked = assemble(unpack_files(packed.files), Path())
    except UNREADABLE as error:
        raise _unreadable(str(error)) from None
    bundle = Bundle(
        linked,
        t,
        Graph.packed(packed.facts, packed.k),
        named={name: Graph.packed(facts, data) for name, facts, data in packed.named},
        subsumptions=packed.subsumptions,
        java=packed.java and has_java(),
        cache_dir=Path(packed.cache_dir) if packed.cache_dir else None,
        max_explanations=packed.max_explanations,
        max_work=packed.max_work,
    )
    if packed.programs is not None:
        unpack_programs(packed.programs, bundle)
    if packed.shacl is not None:
        bundle.shacl = unpack_rules(packed.shacl, bundle.t, bundle.k, make_pattern, files)
    return bundle


def _unreadable(reason: str) -> ObepError:
    return fail(
        "OBEP573",
        "the bundle cannot be read",
        reason=reason,
        remedy="run the same version of obep on the driver and on all workers",
    )
