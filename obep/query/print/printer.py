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
from obep.query.print.print_states import write_state
from obep.query.walk import declarations

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
    for group in (head, [text(one) for one in (*file.sources, *file.windows)]):
        if group:
            lines.space()
        for declaration in group:
            lines.place(0, declaration)
    for declared in declarations(file):
        lines.space()
        if isinstance(declared, ast.LogicalEvent | ast.CompositeEvent | ast.GraphEvent):
            write_event(declared, lines)
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


SOURCES = {"vocab": "VOCAB", "graph": "FROM GRAPH", "stream": "FROM STREAM", "include": "INCLUDE"}


@text.register
def _(node: ast.Source) -> str:
    return f"{SOURCES[node.kind]} <{node.iri}>"


@text.register
def _(node: ast.Window) -> str:
    source = f"EVENT {word(node.event, 'event')}" if node.event is not None else f"<{node.stream}>"
    return f"FROM NAMED WINDOW <{node.name}> ON {source} [{_frame(node)}]"


def _frame(node: ast.Window) -> str:
    step = f" STEP {text(node.step)}" if node.step else ""
    if node.kind == "rows":
        return f"ROWS {node.rows}" + (f" STEP {node.rows_step}" if node.rows_step is not None else "")
    if node.kind == "triples":
        return f"RANGE TRIPLES {node.rows}"
    if node.kind == "latest":
        by = f" BY {{ {' '.join(text(triple) for triple in node.by)} }}" if node.by else ""
        return f"LATEST{f' {text(node.range)}' if node.range else ''}{step}{by}"
    if node.kind == "landmark":
        return f"LANDMARK {_instant(node.start)}"
    if node.kind == "fixed":
        return f"FROM {_instant(node.start)} TO {_instant(node.end)}"
    assert node.range is not None
    if node.kind == "now":
        assert node.until is not None
        return f"FROM NOW - {text(node.range)} TO NOW - {text(node.until)}{step}"
    return f"RANGE {text(node.range)}{step}"


def _instant(micros: int | None) -> str:
    """Numbers of seconds stay numbers as long as they are not dates of our days."""
    from obep.formats.timestamps import show_instant

    assert micros is not None
    if micros % 1_000_000 == 0 and 0 <= micros < 10**15:
        return str(micros // 1_000_000)
    return f'"{show_instant(micros)}"'


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
