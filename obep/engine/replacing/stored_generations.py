"""The versions of a query in a snapshot: the syntax tree of each older one travels with its state."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from obep.engine.knowledge.knowledge_changes import KnowledgeChanges
from obep.engine.query import Query
from obep.engine.replacing.generations import Generation, MakeRuntime
from obep.engine.snapshots.snapshot_form import Stored
from obep.model import Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.query.link import assemble
from obep.query.packed_ast import pack_files, unpack_files


def dump_generation(one: Generation, query: Query) -> Stored:
    """A version as plain values; `query` is the one that the snapshot is of."""
    files = b"" if one.query.hash == query.hash else pack_files(one.query.linked.files)
    names = None if one.names is None else sorted(one.names)
    reported = one.began_at, sorted(one.reported)
    return files, names, sorted(one.shown or ()), reported, one.runtime.dump()


def load_generation(
    stored: Stored,
    query: Query,
    knowledge_of: Callable[[Query], KnowledgeChanges],
    make_runtime: MakeRuntime,
    changes: Sequence[list[Triple]],
) -> Generation:
    """A version as it was. All versions have the T and K of the query that the snapshot is of."""
    files, names, shown, reported, state = stored
    version = older(files, query) if files else query
    linked = version.linked
    if unknown := {*(names or ()), *shown} - {*linked.events, *linked.states, *linked.queries}:
        raise ValueError(f"a version of its query does not define {min(unknown):.60}")
    knowledge = knowledge_of(version)
    come, gone = changes
    knowledge.load(come, gone)
    one = Generation(version, knowledge, make_runtime, None if names is None else frozenset(names))
    one.shown = frozenset(shown)
    one.began_at, one.reported = reported[0], frozenset(reported[1])
    one.runtime.load(state)
    return one


def older(files: bytes, query: Query) -> Query:
    """A query of packed files, with the ontology and the static graphs of another."""
    linked, bundle = assemble(unpack_files(files), Path()), query.bundle
    compiled = compile_bundle(
        replace(linked, named=query.linked.named),
        bundle.t,
        bundle.k,
        named=bundle.named,
        java=bundle.java,
        cache_dir=bundle.chosen_dir,
        max_explanations=bundle.max_explanations,
        max_work=bundle.max_work,
    )
    return Query(compiled.linked, compiled)
