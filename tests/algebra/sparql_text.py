"""Groups as SPARQL text, for other engines. A window is written as a graph, an atom as a table of rows."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import count

from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast
from obep.query.group_walk import projected

_NUMBERS = count(1)
Tables = Mapping[Term, list[tuple[Term | None, ...]]]


def select_text(select: ast.Select, atoms: Tables) -> str:
    columns = " ".join(
        f"?{one.variable.name}"
        if one.expression is None
        else f"({expression_text(one.expression, atoms)} AS ?{one.variable.name})"
        for one in select.projection
    )
    columns = columns or " ".join(f"?{name}" for name in projected(select, {}))  # `*` has those of paths, too
    words = ["SELECT", "DISTINCT" if select.distinct else "", columns or "*"]
    words += ["WHERE", group_text(select.where, atoms)]
    if select.group_by:
        words.append("GROUP BY")
        for key in select.group_by:
            if key.expression is None:
                words.append(f"?{key.variable.name}")
            else:
                words.append(f"({expression_text(key.expression, atoms)} AS ?{key.variable.name})")
    for condition in select.having:
        words.append(f"HAVING({expression_text(condition, atoms)})")
    if select.order_by:
        words.append("ORDER BY")
        for order in select.order_by:
            sign = "DESC" if order.descending else "ASC"
            words.append(f"{sign}({expression_text(order.expression, atoms)})")
    if select.limit is not None:
        words.append(f"LIMIT {select.limit}")
    if select.offset:
        words.append(f"OFFSET {select.offset}")
    if select.values is not None:
        words.append(_values(select.values))
    return " ".join(words)


def group_text(group: ast.Group, atoms: Tables) -> str:
    return "{ " + " ".join(_element(element, atoms) for element in group.elements) + " }"


def _element(element: ast.GroupElement, atoms: Tables) -> str:
    if isinstance(element, ast.Bgp):
        return " ".join(_pattern(pattern) for pattern in element.patterns)
    if isinstance(element, ast.GroupOptional):
        return f"OPTIONAL {group_text(element.group, atoms)}"
    if isinstance(element, ast.GroupUnion):
        return " UNION ".join(group_text(group, atoms) for group in element.groups)
    if isinstance(element, ast.GroupMinus):
        return f"MINUS {group_text(element.group, atoms)}"
    if isinstance(element, ast.Filter):
        return f"FILTER({expression_text(element.condition, atoms)})"
    if isinstance(element, ast.Bind):
        return f"BIND({expression_text(element.expression, atoms)} AS ?{element.variable.name})"
    if isinstance(element, ast.Values):
        return _values(element)
    if isinstance(element, ast.GraphGroup):
        graph = element.graph
        name = f"?{graph.name}" if isinstance(graph, ast.Var) else graph.iri
        return f"GRAPH {name} {group_text(element.group, atoms)}"
    if isinstance(element, ast.WindowGroup):
        assert isinstance(element.window, str)
        return f"GRAPH <{element.window}> {group_text(element.group, atoms)}"
    if isinstance(element, ast.Atom):
        names = " ".join(f"?{one.name}" for one in element.parameters)
        rows = " ".join(f"({' '.join(value or 'UNDEF' for value in row)})" for row in atoms[element.name.iri])
        return f"VALUES ({names}) {{ {rows} }}"
    if isinstance(element, ast.Group):
        return group_text(element, atoms)
    assert isinstance(element, ast.Select)
    return f"{{ {select_text(element, atoms)} }}"


def _values(values: ast.Values) -> str:
    names = " ".join(f"?{variable.name}" for variable in values.variables)
    rows = [" ".join("UNDEF" if one is None else term_of(one) for one in row) for row in values.rows]
    return f"VALUES ({names}) {{ {' '.join(f'({row})' for row in rows)} }}"


def _pattern(pattern: ast.TriplePattern | ast.PathPattern) -> str:
    subject, object_ = _place(pattern.subject), _place(pattern.object)
    if isinstance(pattern, ast.TriplePattern):
        return f"{subject} {_place(pattern.predicate)} {object_} ."
    return _path_pattern(subject, pattern.path, object_)


def _path_pattern(subject: str, path: ast.Path, object_: str) -> str:
    """A path as SPARQL 1.1, 18.2.2.4 rewrites it: other engines drop duplicates of alternatives."""
    if isinstance(path, ast.PathInverse):
        return _path_pattern(object_, path.path, subject)
    if isinstance(path, ast.PathAlternative):
        branches = [f"{{ {_path_pattern(subject, one, object_)} }}" for one in path.branches]
        return " UNION ".join(branches)
    if isinstance(path, ast.PathSequence):
        between = [f"?path{next(_NUMBERS)}" for _ in path.steps[1:]]
        ends = [subject, *between, object_]
        return " ".join(_path_pattern(ends[at], step, ends[at + 1]) for at, step in enumerate(path.steps))
    if isinstance(path, ast.PathNegated):  # oxigraph finds a pair once, or for each property, by its plan
        parts = [(subject, path.forward, object_), (object_, path.backward, subject)]
        return " UNION ".join(_any_but(*part) for part in parts if part[1])
    return f"{subject} {path_text(path)} {object_} ."


def _any_but(subject: str, names: tuple[ast.Name, ...], object_: str) -> str:
    property_ = f"?path{next(_NUMBERS)}"
    refused = ", ".join(name.iri for name in names)
    return f"{{ {subject} {property_} {object_} . FILTER({property_} NOT IN ({refused})) }}"


def _place(node: ast.Var | ast.Name | ast.Literal) -> str:
    if isinstance(node, ast.Var):
        return node.name if node.name.startswith("_:") else f"?{node.name}"
    return term_of(node)


def path_text(path: ast.Path) -> str:
    if isinstance(path, ast.Name):
        return path.iri
    if isinstance(path, ast.PathSequence):
        return f"({' / '.join(map(path_text, path.steps))})"
    if isinstance(path, ast.PathAlternative):
        return f"({' | '.join(map(path_text, path.branches))})"
    if isinstance(path, ast.PathInverse):
        return f"^({path_text(path.path)})"
    if isinstance(path, ast.PathRepeat):
        return f"({path_text(path.path)}){path.times}"
    names = [*(name.iri for name in path.forward), *(f"^{name.iri}" for name in path.backward)]
    return f"!({' | '.join(names)})"


def expression_text(node: ast.Expression, atoms: Tables) -> str:
    def inner(child: ast.Expression) -> str:
        return expression_text(child, atoms)

    if isinstance(node, ast.Var):
        return f"?{node.name}"
    if isinstance(node, ast.Name | ast.Literal):
        return term_of(node)
    if isinstance(node, ast.Comparison | ast.Arithmetic):
        return f"({inner(node.left)} {node.operator} {inner(node.right)})"
    if isinstance(node, ast.Membership):
        members = ", ".join(map(inner, node.members))
        return f"({inner(node.operand)} {'NOT IN' if node.negated else 'IN'} ({members}))"
    if isinstance(node, ast.Conjunction):
        return f"({' && '.join(map(inner, node.operands))})"
    if isinstance(node, ast.Disjunction):
        return f"({' || '.join(map(inner, node.operands))})"
    if isinstance(node, ast.Negation):
        return f"({node.operator}{inner(node.operand)})"
    if isinstance(node, ast.Exists):
        return f"{'NOT ' if node.negated else ''}EXISTS {group_text(node.group, atoms)}"
    if isinstance(node, ast.Aggregate):
        argument = "*" if node.argument is None else inner(node.argument)
        separator = "" if node.separator is None else f'; SEPARATOR="{node.separator}"'
        return f"{node.function}({'DISTINCT ' if node.distinct else ''}{argument}{separator})"
    assert isinstance(node, ast.Call)
    name = node.function.iri if isinstance(node.function, ast.Name) else node.function
    return f"{name}({', '.join(map(inner, node.arguments))})"
