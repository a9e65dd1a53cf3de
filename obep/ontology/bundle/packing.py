"""A bundle as bytes and back: the query's syntax tree, T, K and what HermiT found, in msgpack with a version.

Only the classes of `axioms` and of the syntax tree can come out of it; nothing is pickled, no file is opened.
"""

from __future__ import annotations

import mmap
from pathlib import Path

import msgspec

from obep.errors import ObepError, fail
from obep.model import Term
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.packed_axioms import UNREADABLE, pack_axioms, unpack_axioms
from obep.ontology.hermit.java import has_java
from obep.ontology.owl.static_graph import Facts, Graph
from obep.query.link import assemble
from obep.query.packed_ast import pack_files, unpack_files

VERSION = 9


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


def to_bytes(bundle: Bundle) -> bytes:
    """The bundle, for another process."""
    return msgspec.msgpack.encode(
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
        if packed.version != VERSION:
            raise _unreadable(f"it has version {packed.version}, this obep reads version {VERSION}")
        t = unpack_axioms(packed.t)
        linked = assemble(unpack_files(packed.files), Path())
    except UNREADABLE as error:
        raise _unreadable(str(error)) from None
    return Bundle(
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


def _unreadable(reason: str) -> ObepError:
    return fail(
        "OBEP309",
        "the bundle cannot be read",
        reason=reason,
        remedy="run the same version of obep on the driver and on all workers",
    )
