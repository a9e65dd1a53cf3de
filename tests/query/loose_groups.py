"""Groups and sub-selects, written in every way that the grammar allows; a part of `loose`."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hypothesis import strategies as st

from obep.query import ast
from obep.query.print.print_conditions import condition_text
from obep.query.print.printer import show

if TYPE_CHECKING:
    from loose import Writer


class GroupWriter:
    """Writes groups and sub-selects."""

    def __init__(self, writer: Writer) -> None:
        self.writer = writer

    def braced(self, node: ast.Group | ast.Select) -> str:
        if isinstance(node, ast.Select):
            return f"{{ {self.select(node)} }}"
        return f"{{ {self.body(node)} }}"

    def body(self, group: ast.Group) -> str:
        parts = []
        for element in group.elements:
            dot = not isinstance(element, ast.Bgp) and self.writer.flip()
            parts.append(self.element(element) + (" ." if dot else ""))
        return " ".join(parts)

    def of(self, group: ast.Group) -> str:
        """A group after a keyword; the braces of a sub-select may be its only ones."""
        only = group.elements[0] if len(group.elements) == 1 else None
        if isinstance(only, ast.Select) and self.writer.flip():
            return self.braced(only)
        return self.braced(group)

    def element(self, node: ast.GroupElement) -> str:
        word = self.writer.word
        if isinstance(node, ast.Bgp):
            return self.triples(node)
        if isinstance(node, ast.Group | ast.Select):
            return self.braced(node)
        if isinstance(node, ast.GroupUnion):
            return f" {word('union')} ".join(self.of(one) for one in node.groups)
        if isinstance(node, ast.GroupOptional):
            return f"{word('optional')} {self.of(node.group)}"
        if isinstance(node, ast.GroupMinus):
            return f"{word('minus')} {self.of(node.group)}"
        if isinstance(node, ast.GraphGroup):
            return f"{word('graph')} {self.writer.term(node.graph)} {self.of(node.group)}"
        if isinstance(node, ast.WindowGroup):
            window = node.window
            name = f"<{window}>" if isinstance(window, str) else self.writer.variable(window)
            return f"{word('window')} {name} {self.of(node.group)}"
        if isinstance(node, ast.Filter):
            exists = isinstance(node.condition, ast.Exists) and self.writer.flip()
            text = show(node.condition) if exists else self.constraint(node.condition)
            return f"{word('filter')} {text}"
        if isinstance(node, ast.Values):
            return self.values(node)
        if isinstance(node, ast.Atom):
            return self.atom(node)
        return show(node)

    def atom(self, node: ast.Atom) -> str:
        text = show(ast.Atom(node.name)).removesuffix("() .")
        text += self.writer.parameters(node.parameters) or "( )"
        if node.lasting is None:
            return text
        return f"{text} {self.writer.word('for')} {self.writer.duration(node.lasting).strip('()')}"

    def values(self, node: ast.Values) -> str:
        if len(node.variables) == 1 and self.writer.flip():
            return show(node)
        rows = [
            " ".join("UNDEF" if one is None else self.writer.term(one) for one in row) for row in node.rows
        ]
        names = " ".join(self.writer.variable(one) for one in node.variables)
        return f"{self.writer.word('values')} ({names}) {{ {' '.join(f'({row})' for row in rows)} }}"

    def constraint(self, node: ast.Expression) -> str:
        return self.bare(node) or f"({condition_text(node)})"

    def bare(self, node: ast.Expression) -> str:
        """A call without parentheses around it, where it can be one."""
        return show(node) if isinstance(node, ast.Call | ast.Aggregate) and self.writer.flip() else ""

    def key(self, node: ast.Projection) -> str:
        """A key of GROUP BY."""
        if node.expression is not None and node.variable.name.startswith("_:"):
            return self.bare(node.expression) or show(node)
        if node.expression is None and self.writer.flip():
            return f"({show(node)})"
        return show(node)

    def order(self, node: ast.OrderKey) -> str:
        if node.descending:
            return f"{self.writer.word('desc')} ({condition_text(node.expression)})"
        if isinstance(node.expression, ast.Var) and self.writer.flip():
            return self.writer.variable(node.expression)
        if bare := self.bare(node.expression):
            return bare
        return f"{self.writer.choose('', 'asc', 'ASC')} ({condition_text(node.expression)})"

    def select(self, node: ast.Select) -> str:
        word = self.writer.word
        parts = [word("select")]
        if node.distinct or node.reduced:
            parts.append(word("distinct" if node.distinct else "reduced"))
        parts += [show(one) for one in node.projection] or ["*"]
        parts += [self.writer.choose("", word("where")), self.of(node.where)]
        if node.group_by:
            parts += [self.writer.choose("GROUP BY", "group_by"), *(self.key(one) for one in node.group_by)]
        if node.having:
            parts += [word("having"), *(self.constraint(one) for one in node.having)]
        if node.order_by:
            parts += ["order by", *(self.order(one) for one in node.order_by)]
        slices = [f"{word('limit')} {node.limit}"] if node.limit is not None else []
        slices += [f"{word('offset')} {node.offset}"] if node.offset or self.writer.flip() else []
        parts += self.writer.draw(st.permutations(slices))
        parts += [self.values(node.values)] if node.values is not None else []
        return " ".join(parts)

    def triples(self, node: ast.Bgp) -> str:
        text = ""
        previous: ast.TriplePattern | ast.PathPattern | None = None
        for pattern in node.patterns:
            verb, before = _verb(pattern), _verb(previous) if previous is not None else None
            written = self.writer.term(pattern.object)
            if previous is not None and pattern.subject == previous.subject and self.writer.flip():
                text += f", {written}" if verb == before else f" ; {self.path(verb)} {written}"
            else:
                text += " . " if previous is not None else ""
                text += f"{self.writer.term(pattern.subject)} {self.path(verb)} {written}"
            previous = pattern
        return text + self.writer.choose(" .", " ; ", "")

    def path(self, node: ast.Path | ast.Var) -> str:
        if isinstance(node, ast.Name | ast.Var):
            return show(node)
        if isinstance(node, ast.PathNegated) and len(node.forward) + len(node.backward) == 1:
            return f"!{'^' if node.backward else ''}{(*node.forward, *node.backward)[0].text}"
        return f"({show(node)})" if self.writer.flip() else show(node)


def _verb(pattern: ast.TriplePattern | ast.PathPattern) -> ast.Path | ast.Var:
    return pattern.predicate if isinstance(pattern, ast.TriplePattern) else pattern.path
