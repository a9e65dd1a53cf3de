"""a variable that nothing binds

What it does: Finds a variable of SELECT, FILTER, BIND, HAVING, ORDER BY or a template that no pattern of the
query, or of the group of a state or event, binds.

Why: The variable has no value in any solution: a column stays empty, a FILTER is never true, a triple of the
template is never made. BOUND(?v) and COALESCE are not reported.

Example:

    SELECT (?sum / ?count AS ?mean) { ?point :hasSum ?prevsum ; :hasCount ?prevcount }

Fix:

    SELECT (?prevsum / ?prevcount AS ?mean) { ?point :hasSum ?prevsum ; :hasCount ?prevcount }
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.analysis.registered_queries import registered, select_of
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import children, walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP766"
NAME = "variable-bound-nowhere"
SEVERITY = "warning"
BINDING = ast.Bgp | ast.Values | ast.Atom | ast.Leaf


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for register, file in registered(context.definitions):
        select = select_of(register)
        template = register.form.template if isinstance(register.form, ast.ConstructQuery) else ()
        bound = {name for part in (select, *register.events) for name in _bound(part)}
        yield from _unbound(context, file, (*template, select), bound, "query")
    for file in context.definitions.linked.files:
        for definition in (*file.events, *file.states):
            if isinstance(definition, ast.GraphEvent | ast.GroupState):
                bound = {*_bound(definition.group), *(one.name for one in definition.parameters)}
                yield from _unbound(context, file, (definition.group,), bound, "group")


def _unbound(
    context: QueryContext, file: ast.QueryFile, parts: Iterable[ast.Node], bound: set[str], whole: str
) -> Iterator[Diagnostic]:
    used = [variable for part in parts for variable in _used(part)]
    for variable in {one.name: one for one in reversed(used)}.values():
        if variable.name in bound or variable.name.startswith("_:"):
            continue
        near = context.definitions.near_variable(variable.name, bound)
        yield say(
            CODE,
            file,
            variable.span,
            f"?{variable.name} is bound nowhere",
            f"No pattern of the {whole} has it, so it has no value in any solution.",
            f"?{near}" if near else f"a pattern with ?{variable.name}",
        )


def _bound(root: ast.Node) -> Iterator[str]:
    """The variables that any part of a query may bind."""
    for node in walk(root):
        if isinstance(node, BINDING):
            yield from (part.name for part in walk(node) if isinstance(part, ast.Var))
        elif isinstance(node, ast.Bind) or (isinstance(node, ast.Projection) and node.expression is not None):
            yield node.variable.name
        elif isinstance(node, ast.GraphGroup | ast.WindowGroup):
            named = node.graph if isinstance(node, ast.GraphGroup) else node.window
            if isinstance(named, ast.Var):
                yield named.name


def _used(node: ast.Node) -> Iterator[ast.Var]:
    """The variables that are asked for, without those of BOUND and COALESCE."""
    if isinstance(node, ast.Call) and node.function in ("BOUND", "COALESCE"):
        return
    if isinstance(node, ast.Var):
        yield node
    for child in children(node):
        if not isinstance(node, BINDING):
            yield from _used(child)
