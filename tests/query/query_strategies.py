"""Hypothesis strategies for files of queries in each language: ASTs that its parser can produce."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from hypothesis import strategies as st
from strategies import (
    BASE,
    PREFIX_DECLS,
    durations,
    file_iris,
    selects,
    several_triples,
    simple_groups,
    windows,
)

from obep.model import RDF_TYPE
from obep.query import ast
from obep.query.free_variables import mapped

NAMES = ["IsIn", "q-1", "<http://example.org/out>", "ex:Out"]


def _prefixed(node: Any) -> Any:
    """The same tree without bare names, which other languages refuse."""

    def change(part: ast.Node) -> ast.Node:
        if isinstance(part, ast.Name) and ":" not in part.text and part.iri not in (RDF_TYPE, "<E1>"):
            return replace(part, text=part.iri)
        return part

    return mapped(node, change)


def _named(text: str) -> ast.Name:
    iri = {"ex:Out": "http://example.org/other/Out"}.get(text, text.strip("<>"))
    return ast.Name(text, iri)


def _window(window: ast.Window, language: ast.Language, role: str) -> ast.Window:
    if window.event is not None and language != "obep":
        window = replace(window, event=None, stream="s")
    if language in ("csparql", "epsparql"):
        return replace(window, name=window.stream, role=role)  # type: ignore[arg-type]
    if language == "rsepql" and window.kind not in ("range", "landmark", "fixed"):
        return ast.Window(window.name, window.stream, "all")
    return window


EVENT = ast.Leaf(ast.Name("E1", "<E1>"))


def _with_first(select: ast.Select, element: ast.GroupElement) -> ast.Select:
    return replace(select, where=replace(select.where, elements=(element, *select.where.elements)))


def queries(language: ast.Language) -> st.SearchStrategy[ast.Register]:
    """Queries of a language."""
    chosen = selects
    if language == "epsparql":
        tight = st.sampled_from(["SEQ", "EQUALS"])
        joins = st.builds(ast.TimedJoin, tight, simple_groups, simple_groups)
        loose = st.sampled_from(["OPTIONALSEQ", "EQUALSOPTIONAL"])
        both = joins | st.builds(ast.TimedJoin, loose, joins | simple_groups, joins)
        chosen = st.builds(_with_first, selects, both)
    elif language == "rsepql":
        chosen = st.builds(_with_first, selects, st.just(ast.MatchGroup(ast.Seq((EVENT, ast.First(EVENT))))))
    elif language == "sparkwave":
        beside = st.builds(lambda a, b: ast.SideBySide((a, b)), simple_groups, simple_groups)
        chosen = st.builds(_with_first, selects, beside | st.builds(ast.Timewindow, durations))
    bodies = chosen.map(lambda one: replace(one, projection=(), distinct=False, reduced=False))
    forms = chosen | st.builds(ast.ConstructQuery, several_triples, bodies) | st.builds(ast.AskQuery, bodies)
    graphs = st.builds(
        lambda iri, named: ast.FromGraph(ast.Name(f"<{iri}>", f"<{iri}>"), named), file_iris, st.booleans()
    )
    roles = st.sampled_from(["default", "graph"])
    framed = st.builds(lambda one, role: _window(one, language, role), windows, roles)
    texts = NAMES if language != "obep" else ["<http://example.org/out>", "<out>"]
    alone = language in ("epsparql", "rsepql", "sparkwave")
    plain = language in ("csparql", "epsparql")
    operators = st.just("rstream") if plain else st.sampled_from(["rstream", "istream", "dstream"])
    return st.builds(
        ast.Register,
        st.none() if alone else st.sampled_from(texts).map(_named),
        forms,
        operators,
        st.none() if alone else st.none() | durations,
        st.lists(graphs, max_size=2).map(tuple),
        st.just(()) if language == "sparkwave" else st.lists(framed, max_size=2).map(tuple),
        st.booleans() if language == "csparql" else st.just(False),
        st.sampled_from([None, "owl", "simple"]) if language == "rspql" else st.none(),
    )


settings_lines = st.sampled_from(
    [
        ast.Setting("entailment", "simple"),
        ast.Setting("policy", "recent"),
        ast.Setting("report", "change"),
        ast.Setting("closed", "left"),
    ]
)
stream_sources = st.builds(ast.StreamSource, file_iris, st.sampled_from(["IsIn", "http://example.org/out"]))


@st.composite
def language_files(draw: st.DrawFn, language: ast.Language) -> ast.QueryFile:
    """Files with one or two queries."""
    found = tuple(draw(st.lists(queries(language), min_size=1, max_size=2)))
    other = language != "obep"
    return ast.QueryFile(
        BASE,
        PREFIX_DECLS,
        (ast.Source("vocab", "t.ttl"),) if draw(st.booleans()) else (),
        (),
        (),
        (),
        queries=_prefixed(found) if other else found,
        settings=tuple(draw(st.lists(settings_lines, max_size=2))) if other else (),
        stream_sources=tuple(draw(st.lists(stream_sources, max_size=1))) if other else (),
        language=language,
    )
