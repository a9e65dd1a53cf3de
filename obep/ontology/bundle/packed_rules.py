"""The SHACL rules of a query as a part of its bytes: what they added, and what they are applied to again.

K may change in the process that unpacks them, which need not have the files of T.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from functools import partial
from pathlib import Path

import msgspec

from obep.model import Triple
from obep.ontology.bundle.packed_axioms import pack_axioms, unpack_axioms
from obep.ontology.bundle.shacl_model import Applied, Model, RuleLine, RuleNames
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.static_graph import Facts, Graph
from obep.ontology.shacl.read_rules import Unread
from obep.ontology.shacl.read_shapes import MakePattern

Files = Callable[[], Mapping[Path, list[Triple]]]


class PackedRules(msgspec.Struct, array_like=True):
    """The rules, and what they were applied to."""

    inferred: list[Triple]
    rules: list[RuleLine]
    unread: list[Unread]
    shapes: str
    t: memoryview
    facts: Facts
    k: memoryview
    names: msgspec.Raw
    """A `RuleNames` or nothing; sets in order, so that a query has the same bytes in each process."""
    files: list[tuple[str, memoryview]] | None
    """The triples of each file of T; nothing where they are read again."""


def pack_rules(applied: Applied | None, *, with_files: bool) -> PackedRules | None:
    """The rules as data; nothing if there are none."""
    if applied is None or applied.model is None:
        return None
    model = applied.model
    return PackedRules(
        list(applied.inferred),
        list(applied.rules),
        list(applied.unread),
        model.shapes,
        memoryview(pack_axioms(model.axioms)),
        model.k.facts,
        memoryview(model.k.pack()),
        msgspec.Raw(msgspec.msgpack.encode(applied.names, order="deterministic")),
        [*_packed(model.files())] if with_files else None,
    )


def unpack_rules(
    packed: PackedRules, t: Axioms, k: Graph, make_pattern: MakePattern, files: Files | None
) -> Applied:
    """The rules again, for T and K with what they have added; `files` reads those of T if they are needed."""
    read = files if packed.files is None else partial(_unpacked, packed.files)
    assert read is not None, "the files are in the bytes, or can be read"
    said = Graph.packed(packed.facts, packed.k)
    names = msgspec.msgpack.decode(packed.names, type=RuleNames | None)
    model = Model(unpack_axioms(packed.t), said, packed.shapes, read, make_pattern, names=names)
    added, rules, unread = tuple(packed.inferred), tuple(packed.rules), tuple(packed.unread)
    return Applied(t, k, added, rules, unread, model, names)


def _packed(files: Mapping[Path, list[Triple]]) -> Iterator[tuple[str, memoryview]]:
    for path, triples in files.items():
        yield str(path), memoryview(msgspec.msgpack.encode(triples))


def _unpacked(packed: list[tuple[str, memoryview]]) -> dict[Path, list[Triple]]:
    return {Path(path): msgspec.msgpack.decode(data, type=list[Triple]) for path, data in packed}
