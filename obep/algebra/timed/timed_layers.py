"""In which order the rules of an instant run: what a rule derives comes before what looks at it (D26)."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence, Set
from typing import NamedTuple

from obep.errors import fail
from obep.model import RDF_TYPE, Term
from obep.query import ast
from obep.query.walk import children, components, walk

Follow = Callable[[Term], Set[Term]]
"""The properties and classes that a triple of one may give under T, itself included."""


class Rule(NamedTuple):
    """A CONSTRUCT that feeds the stream: its name, its template and its group."""

    name: str
    template: tuple[ast.TriplePattern, ...]
    where: ast.Group


class _Look(NamedTuple):
    """A triple pattern that sees the triples of its own instant."""

    name: Term | None
    """Its property, or its class; `None`: any."""
    negative: bool


def layers(rules: Sequence[Rule], follow: Follow, *, naive: bool = False) -> list[list[int]]:
    """The rules by number: each group feeds itself and the groups after it.

    `naive`: by that policy a new solution left of a SEQ keeps the older ones from making pairs.
    """
    looks = [[*_looks(rule.where, False), *(_lefts(rule.where) if naive else ())] for rule in rules]
    gives = [{_name_of(triple) for triple in rule.template} for rule in rules]

    def feeds(number: int, look: _Look) -> bool:
        given = gives[number]
        return look.name is None or None in given or any(look.name in follow(one) for one in given if one)

    def needed(number: int) -> list[int]:
        return [n for n in range(len(rules)) if any(feeds(n, look) for look in looks[number])]

    found = [sorted(group) for group in components(range(len(rules)), needed)]
    for group in found:
        for number in group:
            denied = [look for look in looks[number] if look.negative]
            if any(feeds(n, look) for n in group for look in denied):
                raise _cycle([rules[n].name for n in group])
    return found


def is_recursive(group: Sequence[int], rules: Sequence[Rule], follow: Follow) -> bool:
    """Whether rules may feed themselves at one instant."""
    if len(group) > 1:
        return True
    rule = rules[group[0]]
    given = {_name_of(triple) for triple in rule.template}
    return any(
        look.name is None or None in given or any(look.name in follow(one) for one in given if one)
        for look in _looks(rule.where, False)
    )


def _looks(node: ast.Node, negative: bool) -> Iterator[_Look]:
    """The patterns that see what ends at the instant itself; those left of a SEQ see what was before."""
    if isinstance(node, ast.TriplePattern):
        yield _Look(_name_of(node), negative)
    elif isinstance(node, ast.PathPattern):
        yield from (_Look(one, negative) for one in _names_of(node.path))
    elif isinstance(node, ast.TimedJoin):
        yield from _looks(node.right, negative or node.operator == "EQUALSOPTIONAL")
        if node.operator in ("EQUALS", "EQUALSOPTIONAL"):
            yield from _looks(node.left, negative)
        elif node.operator == "OPTIONALSEQ" and isinstance(node.left, ast.Group):
            for element in node.left.elements:  # its filters are decided with the right side
                if isinstance(element, ast.Filter):
                    yield from _exists(element.condition, True)
    elif isinstance(node, ast.GroupOptional | ast.GroupMinus):
        yield from _looks(node.group, True)
    elif isinstance(node, ast.Filter):
        yield from _exists(node.condition, negative)
    elif isinstance(node, ast.Bind | ast.Projection):
        if node.expression is not None:
            yield from _exists(node.expression, True)
    elif isinstance(node, ast.Bgp):
        for pattern in node.patterns:
            yield from _looks(pattern, negative)
    elif isinstance(node, ast.Group):
        for element in node.elements:
            yield from _looks(element, negative)
    elif isinstance(node, ast.GroupUnion):
        for group in node.groups:
            yield from _looks(group, negative)
    elif isinstance(node, ast.Select):
        yield from _looks(node.where, negative)
        for one in node.projection:
            yield from _looks(one, negative)


def _lefts(where: ast.Group) -> Iterator[_Look]:
    for node in walk(where):
        if isinstance(node, ast.TimedJoin) and node.operator in ("SEQ", "OPTIONALSEQ"):
            yield from _looks(node.left, True)


def _exists(node: ast.Node, negative: bool) -> Iterator[_Look]:
    """What EXISTS in an expression sees; it is negative where its being true may make a condition false."""
    if isinstance(node, ast.Exists):
        yield from _looks(node.group, negative or node.negated)
        return
    plain = isinstance(node, ast.Conjunction | ast.Disjunction)
    for one in children(node):
        yield from _exists(one, negative or not plain)


def _name_of(triple: ast.TriplePattern) -> Term | None:
    named = triple.predicate
    if isinstance(named, ast.Name) and named.iri == RDF_TYPE:
        return triple.object.iri if isinstance(triple.object, ast.Name) else None
    return named.iri if isinstance(named, ast.Name) else None


def _names_of(path: ast.Path) -> Iterator[Term | None]:
    for node in walk(path):
        if isinstance(node, ast.PathNegated | ast.PathRepeat):  # any property, or no step at any node
            yield None
        elif isinstance(node, ast.Name):
            yield None if node.iri == RDF_TYPE else node.iri


def _cycle(names: list[str]) -> Exception:
    shown = " → ".join([*names, names[0]])
    return fail(
        "OBEP714",
        f"rules depend on themselves through a negation: {shown}",
        reason="OPTIONAL, EQUALSOPTIONAL, MINUS and NOT EXISTS need all triples of an instant at once.",
        remedy="read earlier triples: put the pattern left of a SEQ, or use OPTIONALSEQ",
    )
