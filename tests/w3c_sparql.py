"""Runs the W3C's SPARQL 1.1 query evaluation tests through obep: `python tests/w3c_sparql.py DIR`.

DIR holds folders with a manifest.ttl (mf:entries of mf:QueryEvaluationTest, each with qt:query, qt:data,
qt:graphData, and an mf:result as .srx, .srj, .csv, .tsv, .ttl, .nt or .rdf). A query is read as EP-SPARQL, of
which SPARQL is a part, and evaluated over the graphs by obep's algebra. What obep leaves out (DIALECTS 12:
SERVICE, DESCRIBE, updates) and entailment regimes are named with the reason. Exit status 1 if a case fails.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from itertools import takewhile
from math import isfinite
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urljoin, urlparse

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent / "algebra"))

import pyoxigraph as ox
import rdflib
from guards.rdflib_terms import from_rdflib
from memory_dataset import ListedDataset, ListedGraph
from rdflib.collection import Collection
from rdflib.compare import isomorphic
from rdflib.namespace import RDF, RDFS
from rdflib.plugins.sparql.results.rdfresults import RDFResult
from rdflib.query import Result
from w3c_report import report

from obep.algebra.select_node import SelectNode, evaluate
from obep.algebra.template import instantiate
from obep.algebra.translate import translate
from obep.errors import ObepError
from obep.guards.guard_terms import literal
from obep.guards.typed_values import datatype_of, parsed
from obep.guards.value_order import RANK
from obep.model import Term, Triple
from obep.ontology.owl.literals import parts
from obep.query import ast
from obep.query.parse.parser import parse

MF = rdflib.Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-manifest#")
QT = rdflib.Namespace("http://www.w3.org/2001/sw/DataAccess/tests/test-query#")
ENT = rdflib.Namespace("http://www.w3.org/ns/entailment/")
SD = rdflib.URIRef("http://www.w3.org/ns/sparql-service-description#entailmentRegime")
KINDS = (MF.QueryEvaluationTest, MF.CSVResultFormatTest)
TABLES = {".srx": "xml", ".srj": "json", ".csv": "csv", ".tsv": "tsv"}
LEFT_OUT = ("OBEP702",)
Row = tuple[Term | None, ...]


class NotExpressible(Exception):
    """Something that obep has no way to answer, and why."""


@dataclass
class Case:
    """A test: its files, by their IRIs."""

    name: str
    query: str
    result: str
    data: list[str] = field(default_factory=list)
    named: list[tuple[str, str]] = field(default_factory=list)
    """The name of a graph and its file."""
    regime: bool = False


def cases(folder: Path) -> Iterator[Case]:
    """The evaluation tests of all manifests of a folder; a manifest may include others."""
    for path in sorted(folder.rglob("manifest*.ttl")):
        graph = rdflib.Graph().parse(path, format="turtle", publicID=path.resolve().as_uri())
        for entries in graph.objects(None, MF.entries):
            for entry in Collection(graph, entries):
                if any((entry, RDF.type, kind) in graph for kind in KINDS):
                    yield _case(graph, entry)


def _case(graph: rdflib.Graph, entry: Any) -> Case:
    action = graph.value(entry, MF.action)
    regimes = [*graph.objects(action, SD), *graph.objects(entry, SD)]
    case = Case(
        str(graph.value(entry, MF.name) or entry),
        str(graph.value(action, QT.query)),
        str(graph.value(entry, MF.result)),
        [str(one) for one in graph.objects(action, QT.data)],
        regime=any(ENT.Simple not in (one, *_listed(graph, one)) for one in regimes),
    )
    for one in graph.objects(action, QT.graphData):
        file = graph.value(one, QT.graph) or one
        case.named.append((str(graph.value(one, RDFS.label) or file), str(file)))
    return case


def _listed(graph: rdflib.Graph, one: Any) -> list[Any]:
    return list(Collection(graph, one)) if (one, RDF.first, None) in graph else []


def _path(iri: str) -> Path:
    return Path(unquote(urlparse(iri).path))


# --- asking


def graph_of(iri: str) -> list[Triple]:
    """The triples of a file, with literals as they are written."""
    format = ox.RdfFormat.from_extension(_path(iri).suffix[1:])
    quads = ox.parse(path=str(_path(iri)), format=format, base_iri=iri, rename_blank_nodes=True)
    return [(str(one.subject), str(one.predicate), _plain(str(one.object))) for one in quads]


def _plain(term: Term) -> Term:
    return term.removesuffix("^^<http://www.w3.org/2001/XMLSchema#string>")


@dataclass
class CaseDataset(ListedDataset):
    """A dataset that finds graphs by names relative to the query: after GRAPH obep keeps them as written."""

    base: str = ""

    def graph(self, name: Term) -> ListedGraph | None:
        return super().graph(f"<{urljoin(self.base, name[1:-1])}>")


def dataset(case: Case, register: ast.Register) -> CaseDataset:
    """The graphs of the query's FROM and FROM NAMED, or those of the manifest."""
    if register.graphs:
        files = [(urljoin(case.query, one.graph.iri[1:-1]), one.named) for one in register.graphs]
        default = [iri for iri, named in files if not named]
        named = [(iri, iri) for iri, is_named in files if is_named]
    else:
        default, named = case.data, case.named
    triples = {triple: None for iri in default for triple in graph_of(iri)}
    graphs = {f"<{name}>": ListedGraph(graph_of(file)) for name, file in named}
    return CaseDataset(list(triples), graphs, base=case.query)


def read(case: Case) -> ast.Register:
    text = _path(case.query).read_text("utf-8")
    file = parse(f"BASE <{case.query}>\n{text}", _path(case.query).name, "epsparql")
    if len(file.queries) != 1:
        raise NotExpressible(f"there are {len(file.queries)} queries")
    return file.queries[0]


def rows_of(select: ast.Select, data: ListedDataset) -> tuple[SelectNode, list[Row]]:
    node = translate(select)
    return node, evaluate(node, data)


def run(case: Case) -> bool:
    """Whether obep answers as it should."""
    if case.regime:
        raise NotExpressible("an entailment regime: T is given by VOCAB")
    register = read(case)
    data, form, path = dataset(case, register), register.form, _path(case.result)
    if isinstance(form, ast.ConstructQuery):
        node, rows = rows_of(form.select, data)
        return same_graph(constructed(form, node.columns, rows), graph_of(case.result))
    expected = result_of(path)
    if isinstance(form, ast.AskQuery):
        return bool(rows_of(form.select, data)[1]) == bool(expected.askAnswer)
    node, rows = rows_of(form, data)
    names = [str(one) for one in expected.vars or ()]
    wanted = [tuple(_expected(one.get(rdflib.Variable(name))) for name in names) for one in expected.bindings]
    if sorted(names) != sorted(node.columns):
        return False
    plain = path.suffix == ".csv"
    mine = [{name: row[node.columns.index(name)] for name in names} for row in rows]
    found = [tuple(one.values()) for one in mine]
    keys = takewhile(lambda one: isinstance(one, ast.Var), (key.expression for key in form.order_by))
    shown = takewhile(names.__contains__, (key.name for key in keys if isinstance(key, ast.Var)))
    ordered = [names.index(name) for name in shown]
    return same_rows(found, wanted, plain) and same_sequence(found, wanted, ordered)


def constructed(form: ast.ConstructQuery, columns: Sequence[str], rows: list[Row]) -> Iterator[Triple]:
    """The triples of a template, with blank nodes of their own for each solution."""
    for at, row in enumerate(rows):
        values = {name: term for name, term in zip(columns, row, strict=True) if term is not None}
        for pattern in form.template:
            made = instantiate(pattern, values, lambda name, at=at: f"{name}_{at}")  # type: ignore[misc]
            if made is not None:
                yield made


def result_of(path: Path) -> Any:
    if path.suffix in TABLES:
        with path.open("rb") as file:
            return Result.parse(file, format=TABLES[path.suffix])
    return RDFResult(str(path), format="turtle" if path.suffix == ".ttl" else None)


def _expected(term: Any) -> Term | None:
    return None if term is None else from_rdflib(term)


# --- comparing: blank nodes have no names, numbers have values


def same_rows(found: Sequence[Row], wanted: Sequence[Row], plain: bool) -> bool:
    """Whether two bags of rows are the same: each row is a node of a graph, its columns are edges."""
    edges = [
        [
            (f"_:row{at}", f"<urn:column:{place}>", value)
            for at, row in enumerate(rows)
            for place, value in enumerate(row)
            if value is not None
        ]
        for rows in (found, wanted)
    ]
    return len(found) == len(wanted) and same_graph(edges[0], edges[1], plain)


def same_sequence(found: Sequence[Row], wanted: Sequence[Row], places: list[int]) -> bool:
    """Whether the keys of ORDER BY come in the same order; blank nodes are all alike here."""

    def keys(rows: Sequence[Row]) -> list[list[Any]]:
        return [[_key(row[place]) for place in places] for row in rows]

    return keys(found) == keys(wanted)


def _key(term: Term | None) -> Any:
    """A term as ORDER BY sees it: numbers of several datatypes are equal."""
    if term is None or term[:2] == "_:":
        return term and "_:"
    return _number(term) if _number(term) is not None else term


def _number(term: Term) -> Any:
    value: Any = parsed[term] if term[0] == '"' else None
    if type(value) not in RANK:
        return None
    return Fraction(value) if not isinstance(value, float) or isfinite(value) else str(value)


def same_graph(found: Iterable[Triple], wanted: Iterable[Triple], plain: bool = False) -> bool:
    graphs = [rdflib.Graph(), rdflib.Graph()]
    for graph, triples in zip(graphs, (found, wanted), strict=True):
        for triple in triples:
            graph.add(tuple(_node(term, plain) for term in triple))
    return len(graphs[0]) == len(graphs[1]) and isomorphic(*graphs)


def _node(term: Term, plain: bool = False) -> Any:
    """A term as a node whose equality is that of results; `plain`: CSV knows no datatypes."""
    if term[:2] == "_:":
        return rdflib.BNode(term[2:])
    if term[0] == "<":
        return rdflib.Literal(term[1:-1]) if plain else rdflib.URIRef(term[1:-1])
    lexical = parts(term)[0]
    if plain:
        typed = literal(lexical, "<http://www.w3.org/2001/XMLSchema#decimal>")
        return rdflib.Literal(lexical if _number(typed) is None else _number(typed))
    number = _number(term)
    return rdflib.Literal(term if number is None else f"{datatype_of(parsed[term])} {number}")


# --- running


def results(folder: Path) -> Iterator[tuple[str, str, str]]:
    """For each case: `pass`, `fail` or `not expressible`, with its name and a reason."""
    for case in cases(folder):
        try:
            yield ("pass" if run(case) else "fail"), case.name, ""
        except NotExpressible as error:
            yield "not expressible", case.name, str(error)
        except ObepError as error:
            one = error.diagnostics[0]
            what = "not expressible" if one.code in LEFT_OUT else "fail"
            yield what, case.name, f"{one.code} {one.message} {one.reason}".strip()
        except Exception as error:  # a defect of obep, or a file that cannot be read
            yield "fail", case.name, f"{type(error).__name__}: {error}"


if __name__ == "__main__":
    sys.exit(report(results, __doc__))
