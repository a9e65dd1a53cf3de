"""Random changes of a random dataset, given to a live group and compared with evaluating anew."""

from __future__ import annotations

from collections import Counter

from memory_dataset import ListedDataset, ListedGraph
from random_groups import GRAPHS, STATES, WINDOWS, Choices, Groups, row, triple

from obep.algebra.live.fact_source import (
    DEFAULT_GRAPH,
    FactSource,
    atom_source,
    named_graph,
    window_graph,
)
from obep.algebra.live.live_group import LiveGroup
from obep.algebra.select_node import evaluate
from obep.algebra.translate import translate
from obep.query import ast


def random_query(c: Choices, depth: int = 2) -> ast.Select:
    groups = Groups(c, alone=True)
    return groups.select(depth) if c.chance(40) else ast.Select((), groups.group(depth))


def empty_dataset() -> ListedDataset:
    return ListedDataset(
        [],
        {one.iri: ListedGraph() for one in GRAPHS},
        {one: ListedGraph() for one in WINDOWS},
        {one.iri: [] for one in STATES},
    )


def graphs_of(data: ListedDataset) -> list[tuple[FactSource, ListedGraph]]:
    named = [(named_graph(iri), graph) for iri, graph in data.named.items()]
    return [
        (DEFAULT_GRAPH, data),
        *named,
        *((window_graph(name), graph) for name, graph in data.windowed.items()),
    ]


def change(c: Choices, data: ListedDataset, live: LiveGroup, static: bool) -> None:
    """Add or remove a fact somewhere."""
    if c.chance(20):
        name = c.pick(STATES).iri
        rows = data.atoms[name]
        feed = [live.atom(atom_source(name, None, window)) for window in (None, *WINDOWS)]
        if rows and c.chance(40):
            gone = rows.pop(c.number(0, len(rows) - 1))
            for one in feed:
                one.remove(gone)
        else:
            rows.append(row(c))
            for one in feed:
                one.add(rows[-1])
        return
    source, graph = c.pick(graphs_of(data)[static:])
    if graph.triples and c.chance(30):
        live.graph(source).remove(graph.triples.pop(c.number(0, len(graph.triples) - 1)))
        return
    new = triple(c)
    if new not in graph.triples:
        graph.triples.append(new)
        live.graph(source).add(new)


def differences(c: Choices, query: ast.Select, static: bool = False) -> str:
    """What a live group and evaluating anew disagree on, after each of some changes.

    `static`: the default graph does not change, and is looked up.
    """
    select, data = translate(query), empty_dataset()
    if static:
        data.triples += list(dict.fromkeys(triple(c) for _ in range(c.number(0, 12))))
    live = LiveGroup(select, {DEFAULT_GRAPH: ListedGraph(list(data.triples))} if static else None)
    before: Counter[tuple[str | None, ...]] = Counter()
    for size in (40, *(6,) * c.number(1, 4)):
        for _ in range(c.number(size // 2, size)):
            change(c, data, live, static)
        changes = live.changes()
        after = Counter(evaluate(select, data))
        if Counter(live.rows) != after:
            return f"rows {live.rows}, anew {after}, of {data}"
        wanted = {one: after[one] - before[one] for one in after | before if after[one] != before[one]}
        if wanted != changes:
            return f"changes {changes}, wanted {wanted}"
        before = after
    return ""
