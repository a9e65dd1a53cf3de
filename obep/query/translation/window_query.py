"""Queries over windows (C-SPARQL, RSP-QL, RSEP-QL without MATCH) as REGISTER of OBEP.

The default graph of C-SPARQL is the windows of FROM STREAM with the static graph; in OBEP it is the static
graph alone. So a triple pattern becomes one over the window, or, where there is a static graph, the distinct
solutions of both.
"""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

from obep.query import ast
from obep.query.linked_queries import LinkedQuery
from obep.query.translation.untranslatable import Refusals
from obep.query.walk import walk

Translated = tuple[list[ast.Window], ast.Register]


def window_query(query: LinkedQuery, refused: Refusals, knowledge: bool) -> Translated:
    """The windows of a query, and the query over them."""
    register = query.register
    _refuse_clauses(query, refused)
    windows = windows_of(query)
    default = [one for one in query.windows if one.role == "default"]
    if len(default) > 1 and knowledge:
        reason = "What several windows entail together is a graph that OBEP has no name for."
        refused.add(
            default[1], "FROM STREAM twice with an ontology or a static graph", reason, "one FROM STREAM"
        )
    named = {f"<{one.name}>": _name(one) for one in query.windows if one.role == "graph"}
    form = register.form
    select = form if isinstance(form, ast.Select) else form.select
    static = {one.graph.iri for one in register.graphs if one.named}
    rewriting = _Rewriting([_name(one) for one in default], named, static, knowledge, refused)
    select = replace(select, where=rewriting.where(select.where), **rewriting.outside(select))
    name = ast.Name(f"<{query.name}>", query.name)
    said = replace(
        register,
        name=name,
        form=select if isinstance(form, ast.Select) else replace(form, select=select),
        graphs=(),
        windows=(),
        as_stream=False,
        entailment=None,
    )
    return windows, said


def windows_of(query: LinkedQuery) -> list[ast.Window]:
    """The windows of a query as declarations of OBEP."""
    return [replace(one, name=_name(one), role="window", written=()) for one in query.windows]


def _name(window: ast.Window) -> str:
    """A window of C-SPARQL has the name of its stream, which OBEP refuses."""
    return window.name if window.role == "window" else f"{window.name}/window"


def _refuse_clauses(query: LinkedQuery, refused: Refusals) -> None:
    for window in query.windows:
        if window.kind == "all":
            reason = "A window of OBEP has a frame."
            refused.add(window, "a stream without a frame", reason, "[RANGE 10 s STEP 1 s]")
    for node in walk(query.register):
        if isinstance(node, ast.MatchGroup | ast.WindowEvent):
            what = "MATCH in a query" if isinstance(node, ast.MatchGroup) else "EVENT ON"
            reason = (
                "The rows of a pattern have the time of its match, those of a query that of an evaluation."
            )
            refused.add(node, what, reason, "EVENT H(?x) MATCH …, and RETURN H AS ROWS")
        called = node.function if isinstance(node, ast.Call) else ""
        if (called.iri if isinstance(called, ast.Name) else called).lower().strip(">").endswith("timestamp"):
            refused.add(node, "timestamp()", "A group sees triples, not when they came.", "SEQ, in a MATCH")


class _Rewriting:
    """Groups of C-SPARQL: what stands outside of GRAPH looks at the default windows."""

    def __init__(
        self,
        default: list[str],
        named: dict[str, str],
        static: set[str],
        knowledge: bool,
        refused: Refusals,
    ) -> None:
        """`named` are the graphs that are windows, `static` those of FROM NAMED."""
        self.default, self.named, self.static = default, named, static
        self.knowledge, self.refused = knowledge, refused

    def where(self, where: ast.Group) -> ast.Group:
        graphs = any(isinstance(node, ast.GraphGroup) for node in walk(where))
        if len(self.default) == 1 and not self.knowledge and not graphs:
            return ast.Group((ast.WindowGroup(self.default[0], where),))
        found: ast.Group = self._changed(where)
        return found

    def outside(self, select: ast.Select) -> dict[str, Any]:
        """The other parts of a SELECT, where EXISTS may stand."""
        parts = ("projection", "group_by", "having", "order_by")
        return {name: self._changed(getattr(select, name)) for name in parts}

    def _changed(self, value: Any) -> Any:
        if isinstance(value, tuple):
            return tuple(self._changed(one) for one in value)
        if isinstance(value, ast.GraphGroup):
            return self._graph(value)
        if isinstance(value, ast.WindowGroup):
            return replace(value, written="")
        if isinstance(value, ast.Group):
            elements = [part for one in value.elements for part in self._element(one)]
            return replace(value, elements=tuple(elements))
        if not isinstance(value, ast.Node):
            return value
        slots = [slot.name for slot in fields(value) if slot.compare]
        return replace(value, **{name: self._changed(getattr(value, name)) for name in slots})

    def _element(self, element: ast.GroupElement) -> list[ast.GroupElement]:
        if not self.default or not isinstance(element, ast.Bgp):
            return [self._changed(element)]
        if len(self.default) == 1 and not self.knowledge:
            return [ast.WindowGroup(self.default[0], ast.Group((element,)))]
        return [self._anywhere(pattern) for pattern in element.patterns]

    def _anywhere(self, pattern: ast.TriplePattern | ast.PathPattern) -> ast.GroupElement:
        """The distinct solutions of a pattern over the windows and the static graph."""
        terms = [node for node in walk(pattern) if isinstance(node, ast.Var)]
        if (
            isinstance(pattern, ast.PathPattern)
            or not terms
            or any(one.name.startswith("_:") for one in terms)
        ):
            what = "this pattern over a window and a static graph"
            reason = "The two are one graph here; in OBEP a pattern looks at one of them."
            self.refused.add(pattern, what, reason, "a triple with variables for each step")
        alone = ast.Group((ast.Bgp((pattern,)),))
        places: list[ast.Group] = [ast.Group((ast.WindowGroup(one, alone),)) for one in self.default]
        if self.knowledge:
            places.append(alone)
        shown = tuple(ast.Projection(one) for one in dict.fromkeys(terms))
        where = ast.Group((ast.GroupUnion(tuple(places)),))
        return ast.Select(shown, where, distinct=True)

    def _graph(self, group: ast.GraphGroup) -> ast.GroupElement:
        if isinstance(group.graph, ast.Name) and group.graph.iri in self.named:
            return ast.WindowGroup(self.named[group.graph.iri], group.group)
        named = group.graph.iri in self.static if isinstance(group.graph, ast.Name) else not self.named
        if named:
            return group
        reason = "Windows and static graphs have different words there: WINDOW and GRAPH."
        self.refused.add(group, "GRAPH of a variable, or of a graph that is not named", reason, "GRAPH <g>")
        return group
