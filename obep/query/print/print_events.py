"""Events, their clauses and guards."""

from __future__ import annotations

from obep.query import ast
from obep.query.print import print_descriptions, print_patterns
from obep.query.print.canonical_text import text
from obep.query.print.print_groups import Piece, braced
from obep.query.print.print_lines import Lines
from obep.query.print.print_names import show_alias, term, variables, word


@text.register(ast.LogicalEvent)
@text.register(ast.CompositeEvent)
@text.register(ast.GraphEvent)
def _(node: ast.Event) -> str:
    lines = Lines()
    write_event(node, lines)
    return "\n".join(lines.written)


def write_event(node: ast.Event, lines: Lines) -> None:
    """The clauses of an event in their canonical order."""
    head = _head(node)
    if isinstance(node, ast.LogicalEvent):
        on = f" ON <{node.on}>" if node.on is not None else ""
        lines.folded(0, f"{head}{on} AS", print_descriptions.segments(node.description))
    elif isinstance(node, ast.GraphEvent):
        group_piece(node).write(lines, 0)
    else:
        lines.folded(0, f"{head}{variables(node.parameters)} MATCH", print_patterns.segments(node.pattern))
        if node.partition_by:
            lines.place(1, f"PARTITION BY {', '.join(text(v) for v in node.partition_by)}")
        if node.policy != "unrestricted":
            lines.place(1, f"POLICY {node.policy}")
    if node.guard is not None:
        write_guard(node.guard, lines, 1)
    if node.construct:
        lines.block(1, "CONSTRUCT", [text(triple) for triple in node.construct])


def group_piece(node: ast.GraphEvent) -> Piece:
    """A graph event's head and group as one part with braces."""
    on = f" ON <{node.on}>" if node.on is not None else ""
    return braced(node.group, f"{_head(node)}{variables(node.parameters)}{on} AS", node.span)


def _head(node: ast.Event) -> str:
    return f"{'NAMED ' if node.named else ''}EVENT {word(node.name, 'event')}"


def write_guard(guard: ast.Guard, lines: Lines, indent: int) -> None:
    """IF and its blocks and filters."""
    lines.place(indent, "IF {")
    lines.side_by_side(indent + 1, [text(triple) for triple in guard.own])
    for block in guard.blocks:
        _write_block(block, lines, indent + 1)
    for one in guard.filters:
        lines.place(indent + 1, text(one))
    lines.close(indent, "}")


def _write_block(block: ast.Block, lines: Lines, indent: int) -> None:
    names = ", ".join(show_alias(alias) for alias in block.aliases) or "*"
    lines.block(indent, f"EVENT {names}", [text(part) for part in (*block.triples, *block.filters)])


@text.register
def _(node: ast.Guard) -> str:
    lines = Lines()
    write_guard(node, lines, 0)
    return "\n".join(lines.written)


@text.register
def _(node: ast.Block) -> str:
    lines = Lines()
    _write_block(node, lines, 0)
    return "\n".join(lines.written)


@text.register
def _(node: ast.TriplePattern) -> str:
    return " ".join([*(term(one, "guard") for one in (node.subject, node.predicate, node.object)), "."])
