"""Conditions of FILTER as Python closures, compiled once for each plan.

An expression is compiled for what its parent wants of it: its truth (`test`), its value (`value`), or its
term (`term`), for the functions that look at lexical forms and datatypes.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from decimal import Decimal

from obep.errors import ObepError
from obep.guards.arithmetic import DECIMAL, PLAIN, calculate, negative, positive
from obep.guards.calendar import Lapse, Moment
from obep.guards.casts import cast
from obep.guards.guard_terms import term_of
from obep.guards.sparql_functions import MAKE_TERMS, OVER_TERMS, OVER_VALUES
from obep.guards.three_valued import Condition, Row, Times, all_of, all_true, any_of, first_of
from obep.guards.typed_values import ExpressionError, Value, parse_term, parsed, term_of_value
from obep.guards.value_order import OPERATORS, ORDERED, RANK, as_double, compare, equal, truth
from obep.model import Term
from obep.query.ast import (
    Arithmetic,
    Call,
    Comparison,
    Conjunction,
    Disjunction,
    Duration,
    Expression,
    Literal,
    Membership,
    Name,
    Negation,
    TimeFunction,
    Var,
)
from obep.query.function_signatures import check_expression

SMALL = 1 << 62
"""Integers below it are surely none that have too many digits."""
_EXACT = (Decimal, int)
"""The types that are calculated as decimals beside a decimal."""
Evaluate = Callable[[Row, Times], Value]
EvaluateTerm = Callable[[Row, Times], Term]


def compile_condition(condition: Expression, index: Mapping[str, int], times: Mapping[str, int]) -> Condition:
    """A condition over rows (values by the index of their variable) and times (by alias, "" for the whole).

    A type error, or an unbound variable where SPARQL errs, is: not true.
    """
    wrong = check_expression(condition)
    if wrong:
        raise ObepError(*wrong)
    compiler = Compiler(index, times)
    # At the top an error is as good as false, so the parts of a conjunction can stop at the first one.
    parts = condition.operands if isinstance(condition, Conjunction) else (condition,)
    return all_true([compiler.test(part) for part in parts])


class Compiler:
    """Turns expressions into closures over one layout of rows and times."""

    def __init__(self, index: Mapping[str, int], times: Mapping[str, int]) -> None:
        self._index = index
        self._times = times

    def test(self, node: Expression) -> Condition:
        """The effective boolean value."""
        if isinstance(node, Comparison):
            return self._comparison(node)
        if isinstance(node, Conjunction):
            return all_of([self.test(operand) for operand in node.operands])
        if isinstance(node, Disjunction):
            return any_of([self.test(operand) for operand in node.operands])
        if isinstance(node, Negation) and node.operator == "!":
            inner = self.test(node.operand)
            return lambda row, times: not inner(row, times)
        if isinstance(node, Membership):
            return self._membership(node)
        if isinstance(node, Call) and node.function == "BOUND":
            return self._bound(node)
        value = self.value(node)
        return lambda row, times: truth(value(row, times))

    def value(self, node: Expression) -> Evaluate:
        """The value."""
        if isinstance(node, Var):
            slot = self._index.get(node.name)
            if slot is None:
                return _error
            return lambda row, times: parsed[row[slot]]
        if isinstance(node, Name | Literal):
            constant = parse_term(term_of(node))
            return lambda row, times: constant
        if isinstance(node, Duration):
            duration = Lapse(node.micros)
            return lambda row, times: duration
        if isinstance(node, Arithmetic):
            return self._arithmetic(node)
        if isinstance(node, Negation) and node.operator != "!":
            inner, turn = self.value(node.operand), negative if node.operator == "-" else positive
            return lambda row, times: turn(inner(row, times))
        if isinstance(node, TimeFunction):
            return self._time(node)
        if isinstance(node, Call) and node.function != "BOUND":
            return self._call(node)
        return self.test(node)

    def term(self, node: Expression) -> EvaluateTerm:
        """The term, with its lexical form as it was written."""
        if isinstance(node, Var):
            return self._term_of_variable(node)
        if isinstance(node, Name | Literal):
            constant = term_of(node)
            return lambda row, times: constant
        if isinstance(node, Call) and node.function == "IF":
            test, *branches = self.test(node.arguments[0]), *map(self.term, node.arguments[1:])
            return lambda row, times: branches[0 if test(row, times) else 1](row, times)
        if isinstance(node, Call) and node.function == "COALESCE":
            return first_of(list(map(self.term, node.arguments)))
        if isinstance(node, Call) and node.function in MAKE_TERMS:
            make = MAKE_TERMS[node.function]
            arguments = list(map(self.term, node.arguments))
            return lambda row, times: make(*[argument(row, times) for argument in arguments])
        value = self.value(node)
        return lambda row, times: term_of_value(value(row, times))

    def _term_of_variable(self, node: Var) -> EvaluateTerm:
        slot = self._index.get(node.name, -1)

        def term(row: Row, times: Times) -> Term:
            found = row[slot] if slot >= 0 else None
            if found is None:
                raise ExpressionError
            return found

        return term

    def _call(self, node: Call) -> Evaluate:
        function = node.function
        if isinstance(function, Name):
            datatype, inner = function.iri[1:-1], self.value(node.arguments[0])
            return lambda row, times: cast(datatype, inner(row, times))
        if function == "IF":
            test, *branches = self.test(node.arguments[0]), *map(self.value, node.arguments[1:])
            return lambda row, times: branches[0 if test(row, times) else 1](row, times)
        if function == "COALESCE":
            return first_of(list(map(self.value, node.arguments)))
        if function in MAKE_TERMS:
            term = self.term(node)
            return lambda row, times: parsed[term(row, times)]
        over: Callable[..., Value]
        arguments: list[Evaluate] | list[EvaluateTerm]
        if function in OVER_TERMS:
            over, arguments = OVER_TERMS[function], list(map(self.term, node.arguments))
        else:
            over, arguments = OVER_VALUES[function], list(map(self.value, node.arguments))
        if len(arguments) == 1:
            only = arguments[0]
            return lambda row, times: over(only(row, times))
        return lambda row, times: over(*[argument(row, times) for argument in arguments])

    def _time(self, node: TimeFunction) -> Evaluate:
        place = self._times[node.alias or ""]
        if node.function == "getSTARTTIME":
            return lambda row, times: Moment(times[place][0])
        if node.function == "getENDTIME":
            return lambda row, times: Moment(times[place][1])

        def duration(row: Row, times: Times) -> Value:
            start, end = times[place]
            return Lapse(end - start)

        return duration

    def _comparison(self, node: Comparison) -> Condition:
        sign, apply = node.operator, OPERATORS[node.operator]
        left, right = self._slot(node.left), self._slot(node.right)
        if left is not None and right is not None:  # two variables: nearly all joins of guards
            one, other = left, right

            def variables(row: Row, times: Times) -> bool:
                a, b = parsed[row[one]], parsed[row[other]]
                kind = type(a)
                if kind is type(b) and kind in ORDERED:
                    return apply(a, b)
                return compare(sign, a, b)

            return variables
        if left is not None and isinstance(node.right, Name | Literal | Duration):
            slot, constant = left, self.value(node.right)((), ())
            fixed = type(constant) if type(constant) in ORDERED else None
            double = as_double(constant) if fixed in RANK else None

            def with_constant(row: Row, times: Times) -> bool:
                a = parsed[row[slot]]
                kind = type(a)
                if kind is fixed:
                    return apply(a, constant)
                if kind is float and double is not None:  # sensors send doubles, people write 20
                    return apply(a, double)
                return compare(sign, a, constant)

            return with_constant
        first, second = self.value(node.left), self.value(node.right)

        def values(row: Row, times: Times) -> bool:
            a, b = first(row, times), second(row, times)
            kind = type(a)
            if kind is type(b) and kind in ORDERED:
                return apply(a, b)
            return compare(sign, a, b)

        return values

    def _arithmetic(self, node: Arithmetic) -> Evaluate:
        sign, left, right = node.operator, self.value(node.left), self.value(node.right)
        plain = PLAIN[sign] if sign != "/" else None
        exact = DECIMAL[sign]

        def calculated(row: Row, times: Times) -> Value:
            a, b = left(row, times), right(row, times)
            kind = type(a)
            if (kind is Decimal and type(b) in _EXACT) or (kind is int and type(b) is Decimal):
                try:  # as `calculate` does, without its questions
                    return exact(a, b)  # type: ignore[arg-type]  # an int counts as a Decimal there
                except ArithmeticError:
                    raise ExpressionError from None
            if kind is type(b) and plain is not None:
                if kind is float:
                    result: float = plain(a, b)
                    return result
                if kind is int:
                    whole: int = plain(a, b)
                    if -SMALL < whole < SMALL:
                        return whole
            return calculate(sign, a, b)

        return calculated

    def _slot(self, node: Expression) -> int | None:
        return self._index.get(node.name) if isinstance(node, Var) else None

    def _bound(self, node: Call) -> Condition:
        argument = node.arguments[0]
        slot = self._slot(argument)
        if slot is None:
            return lambda row, times: False
        return lambda row, times: row[slot] is not None

    def _membership(self, node: Membership) -> Condition:
        operand, negated = self.value(node.operand), node.negated
        members = [self.value(member) for member in node.members]

        def one_of(row: Row, times: Times) -> bool:
            value, failed = operand(row, times), False
            for member in members:
                try:
                    if equal(value, member(row, times)):
                        return not negated
                except ExpressionError:
                    failed = True
            if failed:
                raise ExpressionError
            return negated

        return one_of


def _error(row: Row, times: Times) -> Value:
    raise ExpressionError
