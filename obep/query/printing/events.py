"""Events, their clauses and guards, as lines that a comment may stand before."""

from __future__ import annotations

from collections.abc import Iterator

from obep.query import ast
from obep.query.printing import descriptions, patterns
from obep.query.printing.canonical import INDENT, WIDTH, text
from obep.query.printing.words import show_alias, term, variables, word

Line = tuple[int, str]
"""Indentation and text. A negative indentation (~n) is a line that no comment counts, such as a bracket."""


@text.register(ast.LogicalEvent)
@text.register(ast.CompositeEvent)
def _(node: ast.Event) -> str:
    return "\n".join(indented(event_lines(node)))


def indented(lines: Iterator[Line]) -> Iterator[str]:
    """Lines with their spaces; a text of several lines is moved as a whole."""
    for indent, written in lines:
        for line in written.split("\n"):
            yield INDENT * max(indent, ~indent) + line


def event_lines(node: ast.Event) -> Iterator[Line]:
    """The clauses of an event in their canonical order."""
    head = f"{'NAMED ' if node.named else ''}EVENT {word(node.name, 'event')}"
    if isinstance(node, ast.LogicalEvent):
        on = f" ON <{node.on}>" if node.on is not None else ""
        yield 0, _folded(f"{head}{on} AS", descriptions.segments(node.description))
    else:
        yield 0, _folded(f"{head}{variables(node.parameters)} MATCH", patterns.segments(node.pattern))
        if node.partition_by:
            yield 1, f"PARTITION BY {', '.join(text(v) for v in node.partition_by)}"
        if node.policy != "unrestricted":
            yield ~1, f"POLICY {node.policy}"
    if node.guard is not None:
        yield from _guard(node.guard)
    if node.construct:
        yield 1, _block("CONSTRUCT", [text(triple) for triple in node.construct])


def _folded(head: str, segments: list[str]) -> str:
    """On one line, or each segment on its own."""
    line = " ".join([head, *segments])
    if len(line) <= WIDTH or len(segments) == 1:
        return line
    return f"\n{INDENT * 2}".join([head, *segments])


def _guard(guard: ast.Guard) -> Iterator[Line]:
    yield 1, "IF {"
    if guard.own:
        triples = [text(triple) for triple in guard.own]
        yield 2, (" " if len(" ".join(triples)) <= WIDTH else "\n").join(triples)
    yield from ((2, text(block)) for block in guard.blocks)
    yield from ((2, text(one)) for one in guard.filters)
    yield ~1, "}"


@text.register
def _(node: ast.Guard) -> str:
    return "\n".join(line[len(INDENT) :] for line in indented(_guard(node)))


@text.register
def _(node: ast.Block) -> str:
    names = ", ".join(show_alias(alias) for alias in node.aliases) or "*"
    return _block(f"EVENT {names}", [text(part) for part in (*node.triples, *node.filters)])


def _block(head: str, parts: list[str]) -> str:
    line = " ".join([head, "{", *parts, "}"])
    if len(line) <= WIDTH:
        return line
    return "\n".join([f"{head} {{", *(INDENT + part for part in parts), "}"])


@text.register
def _(node: ast.TriplePattern) -> str:
    return " ".join([*(term(one, "guard") for one in (node.subject, node.predicate, node.object)), "."])
