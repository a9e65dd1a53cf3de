"""Expressions in groups: those of guards, and EXISTS, NOW(), and the functions that make something new.

UUID, STRUUID, BNODE and RAND are functions of the query, the evaluation time, the solution and their place
in the text (D17), so that the same input gives the same output.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple, cast

from obep.algebra.bag_node import BagNode
from obep.algebra.dataset import Dated
from obep.algebra.evaluation import Evaluation, Row, Slots
from obep.algebra.row_layout import RowLayout
from obep.errors import ObepError, fail
from obep.guards.calendar import Moment
from obep.guards.filter_closures import Compiler, Evaluate, EvaluateTerm
from obep.guards.guard_terms import literal
from obep.guards.three_valued import Condition, Times, all_true
from obep.guards.three_valued import Row as AnyRow
from obep.guards.typed_values import ExpressionError, Value, parsed
from obep.model import Term
from obep.query.ast import Aggregate, Call, Conjunction, Exists, Expression, Group, Node, Var
from obep.query.function_signatures import CHANGING, check_expression
from obep.query.timestamp_calls import TIMESTAMP
from obep.query.walk import walk

XSD = "http://www.w3.org/2001/XMLSchema#"


class PlainTest(NamedTuple):
    """A condition over the variables of a row."""

    holds: Condition
    mentions: Slots


class ExistsTest(NamedTuple):
    """`[NOT] EXISTS { … }` as a condition of its own."""

    inner: BagNode
    negated: bool

    def holds(self, row: AnyRow, times: Times) -> bool:
        run = cast(Evaluation, times)
        return bool(self.inner.rows(run.seeded(cast(Row, row)))) is not self.negated


@dataclass(frozen=True, slots=True)
class Tested:
    """Conditions that must all be true; an error is not true."""

    holds: Callable[[Row, Evaluation], bool]
    plain: tuple[PlainTest, ...]
    """The conditions without EXISTS."""
    exists: tuple[ExistsTest, ...]
    """The conditions with EXISTS."""
    mentions: Slots
    """The slots of all variables in them, those in EXISTS included."""
    changing: bool
    """Whether the time or the rest of the solution makes a difference."""
    nested: bool
    """Whether an EXISTS stands inside another expression."""


@dataclass(frozen=True, slots=True)
class Computed:
    """The term that an expression gives; `None` for an error."""

    term: Callable[[Row, Evaluation], Term | None]
    mentions: Slots
    changing: bool
    nested: bool
    """Whether an EXISTS stands in it."""


class GroupCompiler(Compiler):
    """Turns expressions into closures over the rows of one scope.

    `aggregates` is where aggregates are allowed: each gets a hidden variable, which Grouping fills.
    """

    def __init__(
        self,
        layout: RowLayout,
        translate: Callable[[Group], BagNode],
        aggregates: dict[Aggregate, int] | None = None,
    ) -> None:
        super().__init__(layout.slots, {"": 0})
        self._layout = layout
        self._translate = translate
        self._aggregates = aggregates
        self._places = 0

    def tested(self, *conditions: Expression) -> Tested:
        """Conditions as one test."""
        parts = [part for one in conditions for part in _conjuncts(_checked(one))]
        plain = [
            PlainTest(self.test(part), self._mentions(part)) for part in parts if not isinstance(part, Exists)
        ]
        exists = [
            ExistsTest(self._translate(part.group), part.negated)
            for part in parts
            if isinstance(part, Exists)
        ]
        return Tested(
            all_true([*(one.holds for one in plain), *(one.holds for one in exists)]),
            tuple(plain),
            tuple(exists),
            self._mentions(*conditions),
            changing(*conditions),
            has_exists(*(part for part in parts if not isinstance(part, Exists))),
        )

    def computed(self, expression: Expression) -> Computed:
        """An expression whose errors are `None`."""
        value = self.term(_checked(expression))

        def term(row: Row, run: Evaluation) -> Term | None:
            try:
                return value(row, run)
            except ExpressionError:
                return None

        return Computed(term, self._mentions(expression), changing(expression), has_exists(expression))

    def test(self, node: Expression) -> Condition:
        if isinstance(node, Exists):
            return ExistsTest(self._translate(node.group), node.negated).holds
        return super().test(self._plain(node))

    def value(self, node: Expression) -> Evaluate:
        if isinstance(node, Call) and node.function == TIMESTAMP:
            return self._seen(node)
        if isinstance(node, Call) and node.function in CHANGING:
            if node.function == "NOW":
                return lambda row, times: Moment(times[0][1])
            term = self._made(node)
            return lambda row, times: parsed[term(row, times)]
        return super().value(self._plain(node))

    def term(self, node: Expression) -> EvaluateTerm:
        if isinstance(node, Call) and node.function in CHANGING and node.function != "NOW":
            return self._made(node)
        return super().term(self._plain(node))

    def _slot(self, node: Expression) -> int | None:
        return super()._slot(self._plain(node))

    def _plain(self, node: Expression) -> Expression:
        """An aggregate as the hidden variable that holds its value."""
        if not isinstance(node, Aggregate):
            return node
        if self._aggregates is None:
            raise fail(
                "OBEP153",
                f"{node.function} cannot be used here",
                reason="A FILTER or BIND is evaluated for one solution. Aggregates need all solutions.",
                remedy="HAVING, or a sub-select: { SELECT ?x (COUNT(*) AS ?n) { … } GROUP BY ?x }",
            )
        slot = self._aggregates.get(node)
        if slot is None:
            slot = self._aggregates[node] = self._layout.hidden(node.function)
        return Var(next(name for name, place in self._layout.slots.items() if place == slot))

    def _made(self, node: Call) -> EvaluateTerm:
        """A function whose value is a hash of where and when it stands."""
        self._places += 1
        function, place, names = node.function, self._places, self._layout.slots
        label = self.term(node.arguments[0]) if node.arguments else None

        def made(row: AnyRow, times: Times) -> Term:
            run = cast(Evaluation, times)
            own = str(place) if label is None else label(row, times)
            if label is not None and own[-1] != '"':
                raise ExpressionError  # BNODE takes a simple literal
            values = sorted([f"{name} {row[slot]}" for name, slot in names.items() if row[slot] is not None])
            pieces = (run.query, str(run[0][1]), *values, "", str(function), own)
            return _as_term(str(function), blake2b("\0".join(pieces).encode(), digest_size=16).digest())

        return made

    def _seen(self, node: Call) -> Evaluate:
        """The latest instant, in milliseconds, at which one of some triples was seen in a window."""
        terms = list(map(self.term, node.arguments))

        def seen(row: AnyRow, times: Times) -> Value:
            dataset = cast(Evaluation, times).dataset
            assert isinstance(dataset, Dated), "only queries over windows ask for it"
            said = [term(row, times) for term in terms]
            triples = zip(said[::3], said[1::3], said[2::3], strict=True)
            found = [at for triple in triples if (at := dataset.seen_at(triple)) is not None]
            if not found:
                raise ExpressionError  # all of them are static
            whole, rest = divmod(max(found), 1000)
            if not rest:
                return parsed[literal(str(whole), f"<{XSD}integer>")]
            return parsed[literal(f"{whole}.{rest:03}".rstrip("0"), f"<{XSD}decimal>")]

        return seen

    def _mentions(self, *expressions: Expression) -> Slots:
        found = {
            self._layout.slot(node) for one in expressions for node in walk(one) if isinstance(node, Var)
        }
        for one in expressions:
            for node in walk(one):
                if isinstance(node, Aggregate) and self._aggregates and node in self._aggregates:
                    found.add(self._aggregates[node])
        return frozenset(found)


def _conjuncts(condition: Expression) -> tuple[Expression, ...]:
    """The parts of `a && b`: at the top an error is as good as false, so each is a condition of its own."""
    return condition.operands if isinstance(condition, Conjunction) else (condition,)


def has_exists(*nodes: Node) -> bool:
    """Whether an EXISTS stands in one of the expressions."""
    return any(isinstance(part, Exists) for node in nodes for part in walk(node))


def changing(*nodes: Node) -> bool:
    """Whether the value of an expression depends on more than the variables in it."""
    return any(
        isinstance(part, Call) and (part.function in CHANGING or part.function == TIMESTAMP)
        for node in nodes
        for part in walk(node)
    )


def _checked(expression: Expression) -> Expression:
    checked = check_expression(expression, aggregates=True, windows=True)
    wrong = [said for said in checked if said.code != "OBEP420"]
    if wrong:
        raise ObepError(*wrong)
    return expression


def _as_term(function: str, digest: bytes) -> Term:
    text = digest.hex()
    if function == "BNODE":
        return f"_:b{text}"
    if function == "RAND":
        number = int.from_bytes(digest[:7], "big") >> 3  # 53 bits: each is a double below 1
        return literal(repr(number / (1 << 53)), "<http://www.w3.org/2001/XMLSchema#double>")
    uuid = f"{text[:8]}-{text[8:12]}-4{text[13:16]}-8{text[17:20]}-{text[20:]}"
    return literal(uuid) if function == "STRUUID" else f"<urn:uuid:{uuid}>"
