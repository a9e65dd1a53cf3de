"""Groups, sub-selects and property paths."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from obep.errors import Span
from obep.query import ast
from obep.query.print.canonical_text import WIDTH, text
from obep.query.print.print_conditions import condition_text
from obep.query.print.print_lines import Lines
from obep.query.print.print_names import term, variables, word


class Piece(NamedTuple):
    """A part of a group that may stand on a line of its own: a triple, a FILTER, or braces around parts."""

    text: str
    span: Span
    inner: tuple[Piece, ...] = ()
    closing: str = ""
    """The end of a part with braces; empty for the others."""

    def line(self) -> str:
        """All of it on one line."""
        return " ".join([self.text, *(piece.line() for piece in self.inner), self.closing]).rstrip()

    def places(self) -> int:
        """The number of places after its first one."""
        return sum(1 + piece.places() for piece in self.inner) + bool(self.closing)

    def write(self, lines: Lines, indent: int) -> None:
        """On one line if it fits, and no comment stands inside."""
        if not self.closing or (not lines.commented(1, self.places()) and len(self.line()) <= WIDTH):
            lines.place(indent, self.line(), inner=self.places())
            return
        lines.place(indent, self.text)
        for piece in self.inner:
            piece.write(lines, indent + 1)
        lines.close(indent, self.closing)


def braced(node: ast.Group | ast.Select, head: str = "", span: Span | None = None) -> Piece:
    """A group or a sub-select in its braces, with what stands before them."""
    before = f"{head} " if head else ""
    if isinstance(node, ast.Group):
        return Piece(f"{before}{{", span or node.span, tuple(pieces(node)), "}")
    opening = " ".join(["SELECT", *selected(node), "WHERE {"])
    closing = " ".join(["}", *modifiers(node), "}"])
    return Piece(f"{before}{{ {opening}", span or node.span, tuple(pieces(node.where)), closing)


def pieces(group: ast.Group) -> Iterator[Piece]:
    """The parts of a group."""
    for element in group.elements:
        if isinstance(element, ast.Bgp):
            yield from (Piece(text(pattern), pattern.span) for pattern in element.patterns)
        elif isinstance(element, ast.GroupUnion):
            first, *rest = element.groups
            yield braced(first)
            yield from (braced(one, "UNION") for one in rest)
        elif isinstance(element, ast.Group | ast.Select):
            yield braced(element)
        elif isinstance(element, ast.SideBySide):
            first, *rest = element.groups
            yield braced(first)
            yield from (braced(one, "AND") for one in rest)
        elif isinstance(element, ast.TimedJoin):
            yield from _joined(element)
        elif isinstance(element, ast.GroupOptional):
            yield braced(element.group, "OPTIONAL", element.span)
        elif isinstance(element, ast.GroupMinus):
            yield braced(element.group, "MINUS", element.span)
        elif isinstance(element, ast.GraphGroup):
            yield braced(element.group, f"GRAPH {term(element.graph, 'guard')}", element.span)
        elif isinstance(element, ast.WindowGroup):
            yield braced(element.group, f"WINDOW {_window(element)}", element.span)
        else:
            yield Piece(text(element), element.span)


def _joined(node: ast.TimedOperand, word: str = "") -> Iterator[Piece]:
    """The groups of `{ … } SEQ { … }`, each with the operator before it."""
    if isinstance(node, ast.TimedJoin):
        yield from _joined(node.left, word)
        yield from _joined(node.right, node.operator)
    elif isinstance(node, ast.GroupUnion):
        first, *rest = node.groups
        yield braced(first, word)
        yield from (braced(one, "UNION") for one in rest)
    else:
        yield braced(node, word)


def _window(node: ast.WindowGroup) -> str:
    return text(node.window) if isinstance(node.window, ast.Var) else node.written or f"<{node.window}>"


def selected(node: ast.Select) -> list[str]:
    """The text after SELECT."""
    how = ["DISTINCT"] if node.distinct else ["REDUCED"] if node.reduced else []
    return [*how, *([text(one) for one in node.projection] or ["*"])]


def modifiers(node: ast.Select) -> list[str]:
    """The text after the group of a SELECT."""
    found = []
    if node.group_by:
        found.append("GROUP BY " + " ".join(text(key) for key in node.group_by))
    if node.having:
        found.append("HAVING " + " ".join(f"({condition_text(one)})" for one in node.having))
    if node.order_by:
        found.append("ORDER BY " + " ".join(text(key) for key in node.order_by))
    if node.limit is not None:
        found.append(f"LIMIT {node.limit}")
    if node.offset:
        found.append(f"OFFSET {node.offset}")
    if node.values is not None:
        found.append(text(node.values))
    return found


@text.register
def _(node: ast.Group) -> str:
    return braced(node).line()


@text.register
def _(node: ast.Select) -> str:
    return braced(node).line()


@text.register(ast.GroupUnion)
@text.register(ast.GroupOptional)
@text.register(ast.GroupMinus)
@text.register(ast.GraphGroup)
@text.register(ast.WindowGroup)
@text.register(ast.SideBySide)
@text.register(ast.TimedJoin)
@text.register(ast.Bgp)
def _(node: ast.GroupElement) -> str:
    return " ".join(piece.line() for piece in pieces(ast.Group((node,))))


@text.register
def _(node: ast.Projection) -> str:
    if node.expression is None:
        return text(node.variable)
    expression = condition_text(node.expression)
    if node.variable.name.startswith("_:"):
        return f"({expression})"
    return f"({expression} AS {text(node.variable)})"


@text.register
def _(node: ast.OrderKey) -> str:
    return f"{'DESC' if node.descending else 'ASC'}({condition_text(node.expression)})"


@text.register
def _(node: ast.Bind) -> str:
    return f"BIND({condition_text(node.expression)} AS {text(node.variable)})"


@text.register
def _(node: ast.Values) -> str:
    rows = [["UNDEF" if one is None else term(one, "guard") for one in row] for row in node.rows]
    if len(node.variables) == 1:
        return " ".join([f"VALUES {text(node.variables[0])} {{", *(one for (one,) in rows), "}"])
    names = " ".join(text(variable) for variable in node.variables)
    return " ".join([f"VALUES ({names}) {{", *(f"({' '.join(row)})" for row in rows), "}"])


@text.register
def _(node: ast.MatchGroup) -> str:
    return f"MATCH {{ {text(node.pattern)} }}"


@text.register
def _(node: ast.Timewindow) -> str:
    return f"TIMEWINDOW ({text(node.length)})"


@text.register
def _(node: ast.Atom) -> str:
    lasting = f" FOR {text(node.lasting)}" if node.lasting is not None else ""
    return f"{word(node.name, 'guard')}{variables(node.parameters) or '()'}{lasting} ."


# --- paths ----------------------------------------------------------------------------------------------


@text.register
def _(node: ast.PathPattern) -> str:
    return f"{term(node.subject, 'guard')} {_path(node.path)} {term(node.object, 'guard')} ."


def _path(node: ast.Path) -> str:
    return word(node, "guard") if isinstance(node, ast.Name) else text(node)


def _step(node: ast.Path, *kinds: type) -> str:
    """A path inside another; what binds looser than its place stands in parentheses."""
    return f"({text(node)})" if isinstance(node, kinds) else _path(node)


_LOOSE = (ast.PathSequence, ast.PathAlternative)
_TIGHT = (*_LOOSE, ast.PathInverse, ast.PathRepeat)


@text.register
def _(node: ast.PathAlternative) -> str:
    return " | ".join(_step(one, ast.PathAlternative) for one in node.branches)


@text.register
def _(node: ast.PathSequence) -> str:
    return " / ".join(_step(one, *_LOOSE) for one in node.steps)


@text.register
def _(node: ast.PathInverse) -> str:
    return f"^{_step(node.path, *_LOOSE, ast.PathInverse)}"


@text.register
def _(node: ast.PathRepeat) -> str:
    return f"{_step(node.path, *_TIGHT)}{node.times}"


@text.register
def _(node: ast.PathNegated) -> str:
    names = [*(_path(one) for one in node.forward), *(f"^{_path(one)}" for one in node.backward)]
    return f"!({' | '.join(names)})"
