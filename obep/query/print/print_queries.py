"""Queries over windows, and the settings of a file, each in its own language."""

from __future__ import annotations

from obep.errors import Span
from obep.query import ast
from obep.query.print.canonical_text import text
from obep.query.print.print_groups import Piece, braced, modifiers, pieces, selected
from obep.query.print.print_lines import Lines
from obep.query.print.print_windows import stream_clause, win_clause, window_clause


@text.register
def _(node: ast.Setting) -> str:
    return f"{node.key.upper()} {node.value}"


@text.register
def _(node: ast.StreamSource) -> str:
    bare = node.source.isidentifier()
    return f"STREAM <{node.iri}> IS {node.source if bare else f'<{node.source}>'}"


@text.register
def _(node: ast.FromGraph) -> str:
    return f"FROM {'NAMED ' if node.named else ''}{node.graph.text}"


@text.register
def _(node: ast.Register) -> str:
    lines = Lines()
    write_query(node, lines, "obep")
    return "\n".join(lines.written)


def write_query(node: ast.Register, lines: Lines, language: ast.Language) -> None:
    """A query: its head, what it selects, its dataset, its group."""
    for piece in query_pieces(node, language):
        piece.write(lines, 0)


def query_pieces(node: ast.Register, language: ast.Language) -> list[Piece]:
    """The parts of a query, each of which is a place."""
    found = [Piece(head, node.span) for head in _head(node, language)]
    form = node.form
    select = form if isinstance(form, ast.Select) else form.select
    default = "istream" if language == "rsepql" else "rstream"
    said = f" {node.operator.upper()}" if not found and node.operator != default else ""
    if isinstance(form, ast.Select):
        found.append(Piece(" ".join([f"SELECT{said}", *selected(form)]), form.span))
    elif isinstance(form, ast.ConstructQuery):
        triples = tuple(Piece(text(triple), triple.span) for triple in form.template)
        found.append(Piece(f"CONSTRUCT{said} {{", form.span, triples, "}"))
    else:
        found.append(Piece(f"ASK{said}", form.span))
    found += [Piece(text(one), one.span) for one in node.graphs]
    found += [Piece(_window(one, language), one.span) for one in node.windows]
    found += [_event(one) for one in node.events]
    closing = " ".join(["}", *modifiers(select)])
    found.append(Piece("WHERE {", select.where.span, tuple(pieces(select.where)), closing))
    return found


def _head(node: ast.Register, language: ast.Language) -> list[str]:
    """`REGISTER … AS`; nothing where the query has no name."""
    if node.name is None:
        return []
    every = f" COMPUTE EVERY {text(node.every)}" if node.every is not None else ""
    if language == "csparql":
        kind = "STREAM" if node.as_stream else "QUERY"
        return [f"REGISTER {kind} {node.name.text}{every} AS"]
    regime = ""
    if node.entailment is not None:
        iri = "Simple" if node.entailment == "simple" else "OWL-Direct"
        regime = f" UNDER ENTAILMENT REGIME <http://www.w3.org/ns/entailment/{iri}>"
    return [f"REGISTER {node.operator.upper()} {node.name.text}{regime}{every} AS"]


def _window(node: ast.Window, language: ast.Language) -> str:
    if language in ("csparql", "epsparql"):
        return stream_clause(node)
    return win_clause(node) if language == "rsepql" else window_clause(node)


def _event(node: ast.WindowEvent) -> Piece:
    head = f"EVENT ON {node.written or f'<{node.window}>'}"
    piece = braced(node.group, head, node.span)
    return piece._replace(closing=f"{piece.closing} AS {node.name.text}")


def where_span(node: ast.Register) -> Span:
    """Where the braces of a query stand."""
    form = node.form
    return (form if isinstance(form, ast.Select) else form.select).where.span
