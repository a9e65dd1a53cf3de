"""The oracle's guards (SPEC §5): solutions as sets of mappings, blocks over an explanation, FILTERs.

A mapping is a frozenset of (variable, term) pairs, so sets of mappings are plain sets. FILTER knows what the
tests need and no more: comparisons, `&& || !`, differences of times, the three time functions, durations.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from obep.model import Occurrence, Term, Triple
from obep.query import ast

Row = frozenset[tuple[str, Term]]
"""One solution: a partial mapping from variables to terms."""
Times = Mapping[str, tuple[int, int]]

NOTHING: Row = frozenset()
XSD = "http://www.w3.org/2001/XMLSchema#"
NUMERIC = tuple(f"^^<{XSD}{name}>" for name in ("integer", "decimal", "double", "float"))


# --- mappings ---------------------------------------------------------------------------------------------


def names(row: Row) -> frozenset[str]:
    """The variables that a mapping has a value for."""
    return frozenset(name for name, _ in row)


def merged(left: Row, right: Row) -> Row | None:
    """Both mappings as one, if they agree on what they share."""
    both = left | right
    return both if len(names(both)) == len(both) else None


def joined(tables: Iterable[frozenset[Row]]) -> frozenset[Row]:
    """⋈ of sets of mappings; of none it is the one empty mapping."""
    result: frozenset[Row] = frozenset([NOTHING])
    for table in tables:
        result = frozenset(row for a in result for b in table if (row := merged(a, b)) is not None)
    return result


# --- blocks -----------------------------------------------------------------------------------------------


def alias_of(leaf: ast.Leaf) -> str:
    """As written, or the event's name (SPEC §4)."""
    return leaf.alias or leaf.event.text.removeprefix(":")


def blocks_of(guard: ast.Guard | None, alias: str) -> list[ast.Block]:
    """The blocks that an alias has to satisfy; a block without aliases is `EVENT *`."""
    return [block for block in guard.blocks if not block.aliases or alias in block.aliases] if guard else []


def variables(node: object) -> frozenset[str]:
    """All variables in a piece of syntax."""
    return frozenset(part.name for part in parts(node) if isinstance(part, ast.Var))


def parts(node: object) -> Iterable[ast.Node]:
    """The node and all below it."""
    if isinstance(node, tuple):
        for member in node:
            yield from parts(member)
    elif isinstance(node, ast.Node):
        yield node
        for name in node.__dataclass_fields__:
            if name != "span":
                yield from parts(getattr(node, name))


def bound_by(event: ast.CompositeEvent, leaf: ast.Leaf) -> frozenset[str]:
    """The variables of an alias: its parameters and those of its blocks' triples."""
    in_blocks = (variables(block.triples) for block in blocks_of(event.guard, alias_of(leaf)))
    return (variables(leaf.parameters).union(*in_blocks)) - {"this"}


def solve_on_explanation(event: ast.CompositeEvent, leaf: ast.Leaf, occurrence: Occurrence) -> frozenset[Row]:
    """The solutions of a leaf over a logical occurrence whose graph is just its explanation.

    `H(?v)` is the individual, `?this` in a block too; the filters of the block that the block can decide
    are part of it.
    """
    triples = [triple for triple, _ in occurrence.explanation]
    rows: list[dict[str, Term]] = [{"this": occurrence.individual}]
    for parameter in leaf.parameters:
        rows = [row | {parameter.name: occurrence.individual} for row in rows]
    alias = alias_of(leaf)
    for block in blocks_of(event.guard, alias):
        for pattern in block.triples:
            rows = [
                found for row in rows for triple in triples for found in match_pattern(pattern, triple, row)
            ]
        for wanted in block.filters:
            if decided_in_block(event, leaf, wanted):
                condition, times = Condition.of(wanted.condition), {alias: (occurrence.start, occurrence.end)}
                rows = [row for row in rows if condition.holds(frozenset(row.items()), times, (0, 0))]
    return frozenset(
        frozenset((k, v) for k, v in row.items() if k != "this" and not k.startswith("_:")) for row in rows
    )


def decided_in_block(event: ast.CompositeEvent, leaf: ast.Leaf, wanted: ast.Filter) -> bool:
    """Whether a filter written in a block of this alias speaks of this alias alone."""
    condition = Condition.of(wanted.condition)
    inside = condition.variables <= bound_by(event, leaf) | {"this"} and condition.aliases <= {alias_of(leaf)}
    return inside and not condition.whole


def match_pattern(
    pattern: ast.TriplePattern, triple: Triple, row: Mapping[str, Term]
) -> Iterable[dict[str, Term]]:
    """The row with what a triple adds to it, if it matches."""
    found = dict(row)
    for place, term in zip((pattern.subject, pattern.predicate, pattern.object), triple, strict=True):
        if isinstance(place, ast.Var):
            if found.setdefault(place.name, term) != term:
                return
        elif term_of(place) != term:
            return
    yield found


def term_of(node: ast.Name | ast.Literal) -> Term:
    """A constant of a pattern as N-Triples."""
    if isinstance(node, ast.Name):
        return node.iri
    tail = f"^^{node.datatype.iri}" if node.datatype else f"@{node.language}" if node.language else ""
    return f'"{node.lexical}"{tail}'


# --- filters ----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Condition:
    """A FILTER, or its instance for one copy of a TIMES (then some names are the copy's own)."""

    expression: ast.Expression
    variables: frozenset[str]
    """After renaming."""
    aliases: frozenset[str]
    """Those that it names: whose times it reads, or whose block it stands in. After renaming."""
    whole: bool
    """It reads the times of the whole candidate, which only the top knows."""
    own_names: tuple[tuple[str, str], ...] = ()
    own_aliases: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(
        cls,
        expression: ast.Expression,
        own_names: Mapping[str, str] | None = None,
        own_aliases: Mapping[str, str] | None = None,
        stands_in: Iterable[str] = (),
    ) -> Condition:
        """The condition with the variables and aliases of a copy in the place of those written."""
        own_names, own_aliases = own_names or {}, own_aliases or {}
        timed = [part.alias for part in parts(expression) if isinstance(part, ast.TimeFunction)]
        named = {*stands_in, *(alias for alias in timed if alias is not None)}
        return cls(
            expression,
            frozenset(own_names.get(name, name) for name in variables(expression)),
            frozenset(own_aliases.get(alias, alias) for alias in named),
            None in timed,
            tuple(own_names.items()),
            tuple(own_aliases.items()),
        )

    def asked(self, row: Row, present: Iterable[str]) -> bool:
        """D8: whether all that it speaks of took part."""
        return self.variables <= names(row) and self.aliases <= set(present)

    def holds(self, row: Row, times: Times, whole: tuple[int, int]) -> bool:
        """Whether it is true; SPARQL's error is not true."""
        renamed, aliases, values = dict(self.own_names), dict(self.own_aliases), dict(row)

        def value(node: ast.Expression) -> Value:
            match node:
                case ast.Var(name):
                    return _value(values[renamed.get(name, name)])
                case ast.Name(_, iri):
                    return _value(iri)
                case ast.Literal():
                    return _value(term_of(node))
                case ast.Duration(micros):
                    return ("duration", micros)
                case ast.TimeFunction(function, alias):
                    start, end = whole if alias is None else times[aliases.get(alias, alias)]
                    if function == "getDURATION":
                        return ("duration", end - start)
                    return ("instant", start if function == "getSTARTTIME" else end)
                case ast.Arithmetic("-", left, right):
                    return _difference(value(left), value(right))
                case ast.Comparison(operator, left, right):
                    return _compared(operator, value(left), value(right))
                case ast.Negation("!", operand):
                    truth = _truth(value(operand))
                    return None if truth is None else ("boolean", not truth)
                case ast.Conjunction(operands):
                    return _decided([_truth(value(operand)) for operand in operands], stops=False)
                case ast.Disjunction(operands):
                    return _decided([_truth(value(operand)) for operand in operands], stops=True)
            raise NotImplementedError(f"the oracle has no {type(node).__name__}")

        return _truth(value(self.expression)) is True


Value = tuple[str, object] | None
"""A kind and a comparable value; `None` is SPARQL's error."""


def _value(term: Term) -> Value:
    if term.endswith(NUMERIC):
        return ("number", Fraction(term[1 : term.index('"', 1)]))
    if term == f'"true"^^<{XSD}boolean>' or term == f'"false"^^<{XSD}boolean>':
        return ("boolean", term.startswith('"true'))
    return ("term", term)


def _truth(value: Value) -> bool | None:
    return bool(value[1]) if value is not None and value[0] == "boolean" else None


def _difference(left: Value, right: Value) -> Value:
    kinds = (left and left[0], right and right[0])
    result = {("instant", "instant"): "duration", ("number", "number"): "number"}.get(kinds)  # type: ignore[call-overload]
    if result is None:
        return None
    return (result, left[1] - right[1])  # type: ignore[index, operator]


def _compared(operator: str, left: Value, right: Value) -> Value:
    if left is None or right is None:
        return None
    if left[0] != right[0] or left[0] == "term":
        if operator not in ("=", "!="):
            return None
        return ("boolean", (left == right) == (operator == "="))
    a, b = left[1], right[1]
    outcome = {
        "=": a == b,
        "!=": a != b,
        "<": a < b,  # type: ignore[operator]
        ">": a > b,  # type: ignore[operator]
        "<=": a <= b,  # type: ignore[operator]
        ">=": a >= b,  # type: ignore[operator]
    }
    return ("boolean", outcome[operator])


def _decided(truths: Sequence[bool | None], stops: bool) -> Value:
    """`||` (stops at true) and `&&` (stops at false), with SPARQL's errors."""
    if stops in truths:
        return ("boolean", stops)
    return None if None in truths else ("boolean", not stops)
