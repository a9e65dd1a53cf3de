"""names that differ in case alone

What it does: Finds two names in a query of another language, or in the queries of a file, that differ only in
capital letters.

Why: Names are case-sensitive: `hasStockprice` and `hasStockPrice` are two properties. A class and a property,
or a class and an individual, may have such names (`:Room`, `:room`): they are not reported.

Example:

    SELECT ?c { { ?c :hasStockprice ?p } SEQ { ?c :hasStockPrice ?q } }

Fix:

    SELECT ?c { { ?c :hasStockPrice ?p } SEQ { ?c :hasStockPrice ?q } }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Literal

from obep.errors import Diagnostic
from obep.model import RDF_TYPE
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import children, walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP767"
NAME = "names-differ-in-case"
SEVERITY = "warning"
Role = Literal["property", "class", "other"]
"""Names in different roles may differ in case alone: `:Room` is a class, `:room` a property."""
_PATHS = ast.PathSequence | ast.PathAlternative | ast.PathInverse | ast.PathRepeat | ast.PathNegated


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for file in context.definitions.linked.files:
        first: dict[tuple[Role, str], ast.Name] = {}
        said: set[str] = set()
        for register in file.queries:
            for role, name in (one for part in (register.form, *register.events) for one in _names(part)):
                other = first.setdefault((role, name.iri.lower()), name)
                if other.iri != name.iri and name.iri not in said:
                    said.add(name.iri)
                    reason = f"Line {other.span.line} has {other.text}; capital letters make another name."
                    message = f"{name.text} and {other.text} differ in case alone"
                    yield say(CODE, file, name.span, message, reason, other.text)


def _names(root: ast.Node) -> Iterator[tuple[Role, ast.Name]]:
    """The names below a node, each with what it stands for in its place."""
    for node in walk(root):
        if isinstance(node, ast.TriplePattern):
            typed = isinstance(node.predicate, ast.Name) and node.predicate.iri == RDF_TYPE
            yield from _in_role("property", node.predicate)
            yield from _in_role("other", node.subject)
            yield from _in_role("class" if typed else "other", node.object)
        elif isinstance(node, ast.PathPattern):
            for one in walk(node.path):
                yield from _in_role("property", one)
            yield from _in_role("other", node.subject)
            yield from _in_role("other", node.object)
        elif not isinstance(node, _PATHS):
            for one in children(node):
                yield from _in_role("other", one)


def _in_role(role: Role, node: ast.Node) -> Iterator[tuple[Role, ast.Name]]:
    if isinstance(node, ast.Name) and node.iri:
        yield role, node
