"""names that differ in case alone

What it does: Finds two names in a query of another language, or in the queries of a file, that differ only in
capital letters.

Why: Names are case-sensitive: `hasStockprice` and `hasStockPrice` are two properties. If a class and a
property or an individual have such names (`:Room`, `:room`), ignore this rule.

Example:

    SELECT ?c { { ?c :hasStockprice ?p } SEQ { ?c :hasStockPrice ?q } }

Fix:

    SELECT ?c { { ?c :hasStockPrice ?p } SEQ { ?c :hasStockPrice ?q } }
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.query import ast
from obep.query.diagnostics import say
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.lints.context import QueryContext

CODE = "OBEP767"
NAME = "names-differ-in-case"
SEVERITY = "warning"


def check(context: QueryContext) -> Iterator[Diagnostic]:
    for file in context.definitions.linked.files:
        first: dict[str, ast.Name] = {}
        said: set[str] = set()
        for register in file.queries:
            for name in (one for part in (register.form, *register.events) for one in _names(part)):
                other = first.setdefault(name.iri.lower(), name)
                if other.iri != name.iri and name.iri not in said:
                    said.add(name.iri)
                    reason = f"Line {other.span.line} has {other.text}; capital letters make another name."
                    message = f"{name.text} and {other.text} differ in case alone"
                    yield say(CODE, file, name.span, message, reason, other.text)


def _names(root: ast.Node) -> Iterator[ast.Name]:
    return (node for node in walk(root) if isinstance(node, ast.Name) and node.iri)
