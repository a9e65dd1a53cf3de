"""The canonical text of a query, or of a part of one: `parse(show(q)) == q`.

Operators of different kinds are set in parentheses even where precedence would do; names are printed as they
were written, and a word that is reserved where it stands gets its colon back (`:First`).
"""

from __future__ import annotations

from obep.query import ast
from obep.query.print import text
from obep.query.print.print_events import write_event
from obep.query.print.print_lines import Lines
from obep.query.print.print_names import show_alias, word
from obep.query.print.print_queries import write_query
from obep.query.print.print_states import write_state
from obep.query.walk import statements

__all__ = ["show", "show_alias"]


def show(node: ast.Node) -> str:
    """The canonical text of a node. A file ends with a newline, everything else is one line or a few.

    >>> from obep.query.parse.parser import parse
    >>> print(show(parse("event Hot as Room and(temp some xsd:double[>30])").events[0]))
    EVENT Hot AS Room and temp some xsd:double[> 30]
    """
    return text(node)


@text.register
def _(file: ast.QueryFile) -> str:
    """Declarations by kind, an empty line between the kinds, comments before what they speak of."""
    lines = Lines(file.comments)
    head = [f"BASE <{file.base}>"] if file.base is not None else []
    head += [text(prefix) for prefix in file.prefixes]
    settings = (*file.sources, *file.settings, *file.stream_sources, *file.windows)
    written = _tpg_setting if file.language == "sparkwave" else text
    for group in (head, [written(one) for one in settings]):
        if group:
            lines.space()
        for declaration in group:
            lines.place(0, declaration)
    for declared in statements(file):
        lines.space()
        if isinstance(declared, ast.LogicalEvent | ast.CompositeEvent | ast.GraphEvent):
            write_event(declared, lines)
        elif isinstance(declared, ast.Register):
            write_query(declared, lines, file.language)
        else:
            write_state(declared, lines)
    if file.returns:
        lines.space()
    for returned in file.returns:
        lines.place(0, text(returned))
    lines.rest()
    return "\n".join(lines.written) + "\n" if lines.written else ""


@text.register
def _(node: ast.PrefixDecl) -> str:
    return f"PREFIX {node.prefix}: <{node.iri}>"


SOURCES = {
    "vocab": "VOCAB",
    "graph": "FROM GRAPH",
    "named": "FROM NAMED GRAPH",
    "stream": "FROM STREAM",
    "model": "FROM STREAM",
    "include": "INCLUDE",
}


def _tpg_setting(node: ast.Node) -> str:
    """Sparkwave has words of its own for the ontology and the static graph."""
    if isinstance(node, ast.Source) and '"' not in node.iri:
        return f'{"EPSILON_ONTOLOGY" if node.kind == "vocab" else "STATIC_INSTANCES"} = "{node.iri}"'
    return text(node)


@text.register
def _(node: ast.Source) -> str:
    return f"{SOURCES[node.kind]} <{node.iri}>{' AS GRAPH' if node.kind == 'model' else ''}"


@text.register
def _(node: ast.Return) -> str:
    what = node.which.upper()
    if node.which == "listed":
        what = ", ".join(word(name, "return") for name in node.events)
    lasting = f" FOR {text(node.lasting)}" if node.lasting is not None else ""
    stream = " STREAM" if node.form in ("event", "rdf") else ""
    return f"RETURN {what}{lasting} AS {node.form.upper()}{stream}"


@text.register
def _(node: ast.Comment) -> str:
    return node.text
