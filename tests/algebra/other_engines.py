"""The same query asked of rdflib and of pyoxigraph."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from functools import lru_cache
from typing import Any

import pyoxigraph as ox
import rdflib
from guards.rdflib_terms import from_rdflib, to_rdflib
from memory_dataset import ListedDataset

from obep.guards.typed_values import datatype_of, parsed
from obep.guards.value_order import RANK
from obep.model import Term, Triple

Bag = Counter[frozenset[tuple[str, Any]]]


def bag(columns: Iterable[str], rows: Iterable[Iterable[Term | None]]) -> Bag:
    """Rows as a multiset of bound columns; numbers by datatype and value, which have many forms."""
    names = list(columns)
    return Counter(
        frozenset(
            (name, _comparable(value)) for name, value in zip(names, row, strict=True) if value is not None
        )
        for row in rows
    )


def _comparable(term: Term) -> Any:
    value: Any = parsed[term] if term[0] == '"' else term
    return (datatype_of(value), value) if type(value) in RANK else term


def graphs_of(dataset: ListedDataset) -> list[tuple[str, list[Triple]]]:
    named = [(iri[1:-1], graph.triples) for iri, graph in dataset.named.items()]
    return [*named, *((iri, graph.triples) for iri, graph in dataset.windowed.items())]


def by_rdflib(text: str, dataset: ListedDataset, names: Sequence[str]) -> Bag:
    store = rdflib.Dataset(default_union=False)
    for triple in dataset.triples:
        store.add(tuple(map(to_rdflib, triple)))
    for iri, triples in graphs_of(dataset):
        graph = store.graph(rdflib.URIRef(iri))
        for triple in triples:
            graph.add(tuple(map(to_rdflib, triple)))
    result = store.query(text)
    found = [row.asdict() for row in result]
    rows = [[from_rdflib(row[name]) if name in row else None for name in names] for row in found]
    return bag(names, rows)


def by_oxigraph(text: str, dataset: ListedDataset, names: Sequence[str]) -> Bag:
    store = ox.Store()
    for s, p, o in dataset.triples:
        store.add(ox.Quad(_node(s), _node(p), _node(o)))
    for iri, triples in graphs_of(dataset):
        graph = ox.NamedNode(iri)
        store.add_graph(graph)
        for s, p, o in triples:
            store.add(ox.Quad(_node(s), _node(p), _node(o), graph))
    result = store.query(text)
    rows = [[None if one[name] is None else _term(one[name]) for name in names] for one in result]
    return bag(names, rows)


@lru_cache(1000)
def _node(term: Term) -> Any:
    node = to_rdflib(term)
    if isinstance(node, rdflib.URIRef):
        return ox.NamedNode(str(node))
    if isinstance(node, rdflib.BNode):
        return ox.BlankNode(str(node))
    if node.language:
        return ox.Literal(str(node), language=node.language)
    return (
        ox.Literal(str(node), datatype=ox.NamedNode(str(node.datatype)))
        if node.datatype
        else ox.Literal(str(node))
    )


def _term(node: Any) -> Term:
    text = str(node)
    return text.removesuffix("^^<http://www.w3.org/2001/XMLSchema#string>")
