"""What events, states and queries mean, as digests: equal ones find the same in the same items.

A digest covers the definition, all that it refers to, its windows, T and K. The order of the file, comments
and other definitions beside it do not change it.
"""

from __future__ import annotations

from collections.abc import Iterable
from hashlib import blake2b

from obep.engine.query import Query
from obep.model import Term
from obep.query import ast
from obep.query.linked_queries import LinkedQuery
from obep.query.walk import needs_of, reachable, used_definitions, windows_of


def meanings(query: Query) -> dict[Term, str]:
    """For each event, state and query of the file a digest of what it means."""
    linked = query.linked
    definitions: dict[Term, object] = {**linked.events, **linked.states, **linked.queries}
    needs = needs_of(linked, earlier=True) | {iri: _needs_of_query(iri, query) for iri in linked.queries}
    for iri, below in query.derived.items():
        if iri in needs:
            needs[iri] = needs[iri] | below
    windows = {window.name: window for window in linked.windows}
    own = {iri: _own(definition, windows) for iri, definition in definitions.items()}
    around = surroundings(query)
    spoken = [own[iri] for iri in linked.events if iri in query.bundle.names_in_t]
    alerts: dict[Term, list[str]] = {}
    for clause in linked.returns:
        for name in clause.events:
            if name.iri in linked.states:
                alerts.setdefault(name.iri, []).append(repr(clause.lasting))
    return {
        iri: digest(
            [*around, *spoken, *alerts.get(iri, ()), own[iri]]
            + [own[name] for name in sorted(reachable(iri, needs)) if name in own]
        )
        for iri in definitions
    }


def surroundings(query: Query) -> list[str]:
    """Digests of the ontology, of the static graphs, and of how far explanations are looked for."""
    bundle = query.bundle
    axioms = digest(sorted(map(repr, bundle.t.axioms)))
    named = [f"{name} {graph.digest}" for name, graph in sorted(bundle.named.items())]
    models = repr(sorted(query.linked.models))
    return [
        axioms,
        bundle.k.digest,
        models,
        *named,
        repr((bundle.max_explanations, bundle.max_work, bundle.java)),
    ]


def digest(pieces: Iterable[str]) -> str:
    """A name for some texts."""
    found = blake2b(digest_size=12)
    for piece in pieces:
        found.update(piece.encode("utf-8", "surrogatepass") + b"\0")
    return found.hexdigest()


def _own(definition: object, windows: dict[str, ast.Window]) -> str:
    """The digest of a definition and of the windows that it looks at."""
    if isinstance(definition, LinkedQuery):
        from obep.engine.queries.query_run import windows_seen

        seen = definition.windows if definition.timed else tuple(windows_seen(definition))
        parts = (
            definition.iri,
            definition.register,
            definition.language,
            sorted(definition.settings.items()),
        )
        return digest([repr(parts), *map(repr, seen)])
    assert isinstance(definition, ast.Node)
    looked = (windows[name] for name in windows_of(definition) if name in windows)
    return digest([repr(definition), *map(repr, looked)])


def _needs_of_query(iri: Term, query: Query) -> set[Term]:
    """What a query reads: events, states, the answers of other queries.

    Those whose solutions have intervals may read each other's triples, so each needs all of them.
    """
    queries = query.linked.queries
    one = queries[iri]
    streams = {window.stream for window in one.windows}
    found = {other.iri for other in queries.values() if other.name in streams or (one.timed and other.timed)}
    found |= used_definitions(one.register)
    found |= {window.event.iri for window in one.windows if window.event is not None}
    return found - {iri}
