"""Which events of a family a candidate belongs to, and with which of its rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from obep.guards.constant_index import Index, comparisons
from obep.guards.filter_closures import Compiler
from obep.guards.typed_values import ExpressionError, Value
from obep.model import Term
from obep.operators.candidates import PARTS, ROWS, Candidate, Rows
from obep.operators.row_join import Test, compile_test
from obep.plan.event_families import Family
from obep.plan.nodes import Condition, Read, walk
from obep.query.ast import Expression

Choose = Callable[[Candidate], Iterator[tuple[Term, Candidate]]]


def by_leaf(family: Family) -> Choose:
    """Events that differ in what one leaf reads: the occurrence there decides whose asks are answered."""
    place, root = family.leaf, family.root
    assert place is not None
    leaf = [node for node in walk(root) if isinstance(node, Read)][place]
    columns = [root.variables.index(name) for name in leaf.variables]
    events: dict[tuple[Term, int], list[Term]] = {}
    for event, read in family.members.items():
        assert isinstance(read, Read)
        events.setdefault((read.event, read.ask), []).append(event)

    def choose(candidate: Candidate) -> Iterator[tuple[Term, Candidate]]:
        part = candidate[PARTS][place]
        assert part is not None
        for ask, own in part.solutions.items():
            named = events.get((part.event, ask))
            if named is None:
                continue
            rows = candidate[ROWS]
            kept = tuple([row for row in rows if tuple([row[at] for at in columns]) in own])
            if kept:
                found = _with_rows(candidate, kept)
                for event in named:
                    yield event, found

    return choose


def by_condition(family: Family) -> Choose:
    """Events that differ in a condition: those whose comparison with a constant may hold are tested."""
    root = family.root
    events = list(family.members)
    tests: list[Test] = []
    entries: dict[Expression, list[tuple[int, str, Value]]] = {}
    for number, condition in enumerate(family.members.values()):
        assert isinstance(condition, Condition)
        test = compile_test((condition,), root.variables, root.aliases)
        assert test is not None
        tests.append(test)
        subject, operator, constant = comparisons(condition.expression)[0]
        entries.setdefault(subject, []).append((number, operator, constant))
    compiler = Compiler({name: at for at, name in enumerate(root.variables)}, {})
    indexed = [(compiler.value(subject), Index(found)) for subject, found in entries.items()]
    sure = root.sure.issuperset(root.variables)

    def numbers(rows: Rows) -> list[int]:
        found: set[int] = set()
        for value_of, index in indexed:
            for row in rows:
                try:
                    found.update(index.may_hold(value_of(row, ())))
                except ExpressionError:  # so is every condition over it
                    continue
        return sorted(found)

    def choose(candidate: Candidate) -> Iterator[tuple[Term, Candidate]]:
        start, end, _, _, parts, rows = candidate
        for number in numbers(rows) if sure else range(len(tests)):
            kept = tests[number](rows, parts, start, end)
            if kept:
                yield events[number], _with_rows(candidate, kept)

    return choose


def _with_rows(candidate: Candidate, rows: Rows) -> Candidate:
    start, end, done, since, parts, all_rows = candidate
    return candidate if rows == all_rows else (start, end, done, since, parts, rows)
