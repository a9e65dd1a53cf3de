"""Groups and SELECTs of the syntax tree as nodes of the algebra (SPARQL 1.1, 18.2)."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType

from obep.algebra.bag_node import BagNode
from obep.algebra.group_expressions import GroupCompiler, Tested
from obep.algebra.nodes.atom_rows import AtomRows
from obep.algebra.nodes.basic_graph_pattern import BasicGraphPattern
from obep.algebra.nodes.extend import Extend
from obep.algebra.nodes.filter_bag import FilterBag
from obep.algebra.nodes.graph_block import EachGraph, GraphBlock
from obep.algebra.nodes.grouping import AggregateColumn, Grouping
from obep.algebra.nodes.left_join import LeftJoin
from obep.algebra.nodes.minus import Minus
from obep.algebra.nodes.sub_select import SubSelect
from obep.algebra.nodes.union_bags import UnionBags
from obep.algebra.nodes.values_table import ValuesTable
from obep.algebra.nodes.window_block import EachWindow, WindowBlock
from obep.algebra.row_layout import RowLayout, mentioned
from obep.algebra.select_node import SelectNode
from obep.algebra.translate_path import Place, joined, translate_path, triple_match
from obep.errors import fail
from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast
from obep.query.free_variables import HIDDEN
from obep.query.group_walk import AtomColumns, group_variables, projected

DEEPEST = 100
"""Groups inside groups, and the parts of each: a part is joined to those before it."""


def translate(query: ast.Group | ast.Select, atoms: Mapping[Term, AtomColumns] | None = None) -> SelectNode:
    """The algebra of a group (all its variables are columns) or of a SELECT.

    `atoms` names, for states and events, the columns that they have beside their parameters.
    """
    return _translate_select(_as_select(query), atoms or {}, 0)


def _as_select(query: ast.Group | ast.Select) -> ast.Select:
    return query if isinstance(query, ast.Select) else ast.Select((), query)


def _translate_select(select: ast.Select, atoms: Mapping[Term, AtomColumns], depth: int) -> SelectNode:
    layout = layout_of(select, atoms)
    scope = _Scope(layout, atoms, depth)
    return _modified(select, scope, layout, scope.group(select.where))


def select_from(
    select: ast.Select, layout: RowLayout, rows: BagNode, exists: Callable[[ast.Group], BagNode]
) -> SelectNode:
    """The projection and the modifiers of a SELECT over rows that come from elsewhere; `exists` translates
    the groups of EXISTS in them."""
    return _modified(select, _Scope(layout, {}, 0, exists), layout, rows)


def layout_of(select: ast.Select, atoms: Mapping[Term, AtomColumns] = MappingProxyType({})) -> RowLayout:
    """The slots of the variables of a SELECT."""
    return RowLayout([*group_variables(select.where, atoms), *_of_scope(select, atoms)])


def _modified(select: ast.Select, scope: _Scope, layout: RowLayout, node: BagNode) -> SelectNode:
    aggregates: dict[ast.Aggregate, int] = {}
    compiler = GroupCompiler(layout, scope.exists, aggregates)
    extends = [
        (layout.slot(one.variable), compiler.computed(one.expression))
        for one in select.projection
        if one.expression is not None
    ]
    having = compiler.tested(*select.having) if select.having else None
    order = tuple((compiler.computed(key.expression), key.descending) for key in select.order_by)
    if select.group_by or aggregates:
        node = scope.grouping(node, select.group_by, aggregates)
    if select.values is not None:
        node = joined(node, scope.values(select.values))
    for slot, computed in extends:
        node = Extend(node, slot, computed)
    if having is not None:
        node = FilterBag(node, having)
    return SelectNode(
        node,
        layout,
        projected(select, scope.atoms),
        distinct=select.distinct,
        order=order,
        limit=select.limit,
        offset=select.offset,
    )


def _of_scope(select: ast.Select, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    parts = (select.where, *select.projection, *select.group_by, *select.having, *select.order_by)
    more = parts if select.values is None else (*parts, select.values)
    return [name for part in more for name in mentioned(part, atoms)]


def deeper(depth: int, parts: int) -> int:
    """The depth below a group with so many parts; refused if that is too deep to be evaluated."""
    below = depth + max(parts, 1)
    if below > DEEPEST:
        raise fail(
            "OBEP005",
            "nested too deeply" if parts < DEEPEST // 2 else f"a group of {parts} parts",
            reason=f"Groups inside groups and the parts of each, taken together, may be {DEEPEST}.",
            remedy="use fewer braces: { a { b } } is usually the same as { a b }; or split the query",
        )
    return below


class _Scope:
    """Translates the groups of one scope, which share a layout."""

    def __init__(
        self,
        layout: RowLayout,
        atoms: Mapping[Term, AtomColumns],
        depth: int,
        exists: Callable[[ast.Group], BagNode] | None = None,
    ) -> None:
        self._layout = layout
        self.atoms = atoms
        self._depth = depth
        self.exists = exists or self.group
        self._compiler = GroupCompiler(layout, self.exists)

    def group(self, group: ast.Group) -> BagNode:
        node, tested = self._parts(group)
        return node if tested is None else FilterBag(node, tested)

    def _parts(self, group: ast.Group) -> tuple[BagNode, Tested | None]:
        """Split a group into its filters and the rest: a filter applies to the whole group."""
        patterns = sum(len(one.patterns) - 1 for one in group.elements if isinstance(one, ast.Bgp))
        filters = sum(isinstance(one, ast.Filter) for one in group.elements)
        depth, self._depth = self._depth, deeper(self._depth, len(group.elements) + patterns - filters)
        node: BagNode = BasicGraphPattern()
        conditions: list[ast.Expression] = []
        for element in group.elements:
            if isinstance(element, ast.Filter):
                conditions.append(element.condition)
            elif isinstance(element, ast.GroupOptional):
                optional, tested = self._parts(element.group)
                node = LeftJoin(node, optional, tested or self._compiler.tested())
            elif isinstance(element, ast.GroupMinus):
                node = Minus(node, self.group(element.group))
            elif isinstance(element, ast.Bind):
                slot = self._layout.slot(element.variable)
                node = Extend(node, slot, self._compiler.computed(element.expression))
            else:
                node = joined(node, self._element(element))
        all_of = self._compiler.tested(*conditions) if conditions else None
        self._depth = depth
        return node, all_of

    def _element(self, element: ast.GroupElement) -> BagNode:
        """An element that is joined to what stands before it."""
        if isinstance(element, ast.Bgp):
            return self._bgp(element)
        if isinstance(element, ast.GroupUnion):
            return UnionBags(tuple(self.group(group) for group in element.groups))
        if isinstance(element, ast.Values):
            return self.values(element)
        if isinstance(element, ast.GraphGroup):
            inner = self.group(element.group)
            if isinstance(element.graph, ast.Var):
                return EachGraph(self._layout.slot(element.graph), inner)
            return GraphBlock(element.graph.iri, inner)
        if isinstance(element, ast.WindowGroup):
            inner = self.group(element.group)
            if isinstance(element.window, ast.Var):
                return EachWindow(self._layout.slot(element.window), inner)
            return WindowBlock(element.window, inner)
        if isinstance(element, ast.Atom):
            names = [*(one.name for one in element.parameters), *self.atoms.get(element.name.iri, ())]
            lasting = None if element.lasting is None else element.lasting.micros
            slots = tuple(map(self._layout.slot, names))
            return AtomRows(element.name.iri, slots, len(element.parameters), lasting)
        if isinstance(element, ast.Select):
            select = _translate_select(element, self.atoms, self._depth)
            return SubSelect(select, tuple(map(self._layout.slot, select.columns)))
        assert isinstance(element, ast.Group)
        return self.group(element)

    def _bgp(self, bgp: ast.Bgp) -> BagNode:
        node: BagNode = BasicGraphPattern()
        for pattern in bgp.patterns:
            subject, object_ = self._place(pattern.subject), self._place(pattern.object)
            if isinstance(pattern, ast.TriplePattern):
                one: BagNode = BasicGraphPattern(
                    (triple_match(subject, self._place(pattern.predicate), object_),)
                )
            else:
                one = translate_path(self._layout, subject, pattern.path, object_)
            node = joined(node, one)
        return node

    def values(self, values: ast.Values) -> ValuesTable:
        rows = tuple(tuple(None if one is None else term_of(one) for one in row) for row in values.rows)
        return ValuesTable(tuple(map(self._layout.slot, values.variables)), rows)

    def grouping(
        self, node: BagNode, keys: tuple[ast.Projection, ...], aggregates: dict[ast.Aggregate, int]
    ) -> Grouping:
        for key in keys:
            if key.expression is not None:
                slot = self._layout.slot(key.variable)
                node = Extend(node, slot, self._compiler.computed(key.expression))
        columns = tuple(
            AggregateColumn(one, None if one.argument is None else self._compiler.computed(one.argument), at)
            for one, at in aggregates.items()
        )
        shown = tuple(slot for name, slot in self._layout.slots.items() if not name.startswith(HIDDEN))
        return Grouping(node, tuple(self._layout.slot(key.variable) for key in keys), columns, shown)

    def _place(self, node: ast.Var | ast.Name | ast.Literal) -> Place:
        return self._layout.slot(node) if isinstance(node, ast.Var) else term_of(node)
