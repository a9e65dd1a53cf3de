"""The statements of a file over timed triples: rules that feed the stream (DIALECTS 4), and queries."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

from obep.algebra.bag_node import BagNode
from obep.algebra.dataset import Dataset
from obep.algebra.evaluation import Evaluation, Row
from obep.algebra.template import instantiate
from obep.algebra.term_order import written
from obep.algebra.timed.kept_occurrences import JoinPlaces, KeptOccurrences
from obep.algebra.timed.shaped_triples import ShapedTriples
from obep.algebra.timed.timed_layers import Follow, Rule, is_recursive, layers
from obep.algebra.timed.timed_node import Round, TimedNode
from obep.algebra.timed.timed_solution import Solution, SolutionMemory
from obep.algebra.timed.translate_timed import TimedScope
from obep.algebra.timed.triple_history import History
from obep.algebra.timed.triple_occurrences import TripleOccurrence, TripleOccurrences, Wanted, WantedTriples
from obep.algebra.translate import layout_of, select_from
from obep.formats.input_limits import Refused
from obep.model import Term, Triple, id_digest
from obep.query import ast
from obep.query.free_variables import HIDDEN, mapped
from obep.query.walk import walk

TOO_MANY = "OBEP648"
"""The code where rules derive more than that at one instant."""
MAX_DERIVED = 10_000
"""Triples that rules may derive at one instant (D27)."""
CloseTriple = Callable[[Triple], Iterable[Triple]]
"""The triples that a derived triple entails with T and K, and that K does not entail."""


class TimedRow(NamedTuple):
    """A row of an answer; after DISTINCT, an aggregate or another modifier it has no interval."""

    values: dict[str, Term]
    start: int | None = None
    end: int | None = None


class TimedGraph(NamedTuple):
    """The triples that a rule derives from one solution."""

    triples: tuple[Triple, ...]
    start: int
    end: int


class TimedAnswer(NamedTuple):
    """The answer of a statement at an instant."""

    statement: str
    rows: list[TimedRow]
    graphs: list[TimedGraph]


class _Given(BagNode):
    """The rows of the solutions that were decided."""

    def __init__(self, node: TimedNode) -> None:
        self.certain, self.possible = node.certain, node.possible
        self.given: list[Row] = []

    def rows(self, run: Evaluation) -> list[Row]:
        return list(self.given)


class _Statement:
    def __init__(self, name: str, select: ast.Select, policy: ast.Policy, reach: int | None) -> None:
        self.name, self._reach = name, reach
        self.layout = layout_of(select)
        self._history = History(reach)
        self._scope = TimedScope(self.layout, self._history, policy=policy)
        self.node = self._scope.group(select.where)
        self.solutions: dict[Solution, None] = {}
        self._marks = sorted(self.node.marks)
        self._used: set[Term] = set()
        """The marks of what the solutions of this instant are made of."""
        self._seen = 0

    def start(self, k: Dataset) -> None:
        self.node.timeless(self._run(k, 0))

    def look(self, at: int, new: TripleOccurrences, old: KeptOccurrences, k: Dataset) -> list[Solution]:
        """The solutions that end at an instant and were not found at the last look at it."""
        if len(new) == self._seen:
            return []
        added = new.since(self._seen)
        self._seen = len(new)
        self._history.see(old, new)
        shaped = new.shaped
        if shaped is not None and (added is not new or old.may_join(shaped)):
            shaped = None
        every = self.node.found(Round(at, added, new, old, self._run(k, at), shaped))
        found = (self._unmarked(one) for one in every if not one.is_over(self._reach, at))
        fresh = [one for one in dict.fromkeys(found) if one not in self.solutions]
        self.solutions.update(dict.fromkeys(fresh))
        return fresh

    def _unmarked(self, solution: Solution) -> Solution:
        if not self._marks:
            return solution._replace(since=None)
        row = [*solution.row]
        for slot in self._marks:
            self._used |= {mark for mark in [row[slot]] if mark is not None}
            row[slot] = None
        return solution._replace(row=tuple(row), since=None)

    def close(self, at: int, *, answered: bool = True) -> None:
        self.node.close(at)
        if answered and self._used:
            self.node.consume(self._used)
        self.solutions, self._used, self._seen = {}, set(), 0

    def forget(self) -> None:
        self.node.forget()
        self.solutions, self._used, self._seen = {}, set(), 0

    def asked(self) -> Iterator[Wanted]:
        """The constants of its triple patterns."""
        yield from self.node.asked()
        yield from self._history.asked()

    def keeps(self) -> Iterator[int | None]:
        """How long it looks for triples that came before; `None` is for ever."""
        yield from self.node.keeps()
        if self._history.groups:
            yield self._reach

    def _run(self, k: Dataset, at: int) -> Evaluation:
        return Evaluation.of(k, len(self.layout), at, self.name)


class _Rule(_Statement):
    def __init__(self, name: str, form: ast.ConstructQuery, policy: ast.Policy, reach: int | None) -> None:
        super().__init__(name, form.select, policy, reach)
        self._template = form.template
        places = [
            one for triple in form.template for one in (triple.subject, triple.predicate, triple.object)
        ]
        names = {one.name for one in places if isinstance(one, ast.Var)}
        self._names = {name for name in names if not name.startswith("_:")}
        for one in sorted(self._names):  # also what the WHERE does not mention: it is unbound
            self.layout.slot(one)

    def graphs(self, solutions: Iterable[Solution]) -> Iterator[TimedGraph]:
        """The triples of each solution that binds all of the template."""
        for solution in solutions:
            bound = {name: solution.row[self.layout.slot(name)] for name in self._names}
            terms = {name: value for name, value in bound.items() if value is not None}
            if solution.start is None or solution.end is None or len(terms) < len(bound):
                continue

            def blank(name: str, one: Solution = solution) -> Term:
                values = [value or "" for value in one.row]
                said = "\0".join([self.name, name, *values, str(one.start), str(one.end)])
                return f"_:b{id_digest(said.encode())}"

            triples = [instantiate(pattern, terms, blank) for pattern in self._template]
            made = tuple(triple for triple in triples if triple is not None)
            yield TimedGraph(made, solution.start, solution.end)


def _times_as_variables(select: ast.Select) -> ast.Select:
    """The same SELECT; its columns and modifiers read the times of a solution from variables of its group."""
    functions: dict[ast.TimeFunction, ast.Var] = {}

    def change(part: ast.Node) -> ast.Node:
        if not isinstance(part, ast.TimeFunction):
            return part
        return functions.setdefault(part, ast.Var(f"{HIDDEN}{part.function}"))

    def changed(parts: Any) -> Any:
        return mapped(parts, change)

    columns, grouped = changed(select.projection), changed(select.group_by)
    having, order = changed(select.having), changed(select.order_by)
    binds = tuple(ast.Bind(function, variable) for function, variable in functions.items())
    where = replace(select.where, elements=(*select.where.elements, *binds))
    return replace(select, projection=columns, group_by=grouped, having=having, order_by=order, where=where)


class _Query(_Statement):
    def __init__(
        self, name: str, form: ast.Select | ast.AskQuery, policy: ast.Policy, reach: int | None
    ) -> None:
        select = _times_as_variables(form if isinstance(form, ast.Select) else form.select)
        super().__init__(name, select, policy, reach)
        self._asks = isinstance(form, ast.AskQuery)
        self._rows = _Given(self.node)
        self._select = select_from(select, self.layout, self._rows, self._scope.exists)
        top = (*select.projection, *select.having, *select.order_by)
        aggregates = any(isinstance(one, ast.Aggregate) for part in top for one in walk(part))
        self._plain = not (
            aggregates or select.group_by or select.having or select.distinct or select.order_by
            or select.limit is not None or select.offset or select.values is not None
        )  # fmt: skip

    def rows(self, k: Dataset, at: int) -> list[TimedRow]:
        """The answer to the solutions of an instant."""
        decided = [one for one in self.solutions if one.start is not None]
        if not decided:
            return []
        if self._asks:
            return [TimedRow({"ask": '"true"^^<http://www.w3.org/2001/XMLSchema#boolean>'})]
        decided.sort(key=lambda one: (one.start, written(one.row)))
        self._rows.given = [one.row for one in decided]
        rows = self._select.rows(self._run(k, at))
        named = [
            {name: value for name, value in zip(self._select.columns, row, strict=True) if value is not None}
            for row in rows
        ]
        if not self._plain:
            return [TimedRow(values) for values in named]
        return [TimedRow(values, one.start, one.end) for values, one in zip(named, decided, strict=True)]


class TimedProgram:
    """Rules and queries over one stream of triples, from instant to instant.

    `k` is the closed static graph, `follow` says what triples of a property or class may give under T, and
    `close` what a derived triple says.
    """

    def __init__(
        self,
        statements: Sequence[tuple[str, ast.Select | ast.ConstructQuery | ast.AskQuery]],
        k: Dataset,
        follow: Follow,
        close: CloseTriple,
        max_derived: int = MAX_DERIVED,
        *,
        feeds: bool = True,
        policy: ast.Policy = "unrestricted",
        reach: int | None = None,
    ) -> None:
        """`feeds`: whether a CONSTRUCT is a rule, whose triples all statements see. `policy`: which
        solutions SEQ pairs (D23). `reach`: the longest RANGE of the streams (D37)."""
        self._k, self._close, self._most = k, close, max_derived
        self._rules = [
            _Rule(name, form, policy, reach)
            for name, form in statements
            if isinstance(form, ast.ConstructQuery)
        ]
        self._queries = [
            _Query(name, form, policy, reach)
            for name, form in statements
            if not isinstance(form, ast.ConstructQuery)
        ]
        rules = [
            Rule(name, form.template, form.select.where)
            for name, form in statements
            if isinstance(form, ast.ConstructQuery)
        ]
        self._layers = [
            ([self._rules[n] for n in group], is_recursive(group, rules, follow))
            for group in (layers(rules, follow, naive=policy == "naive") if feeds else ())
        ]
        self._all: list[_Statement] = [*self._rules, *self._queries]
        self._shapes = frozenset(shape for one in self._all for shape in one.node.shapes())
        self._horizon = _longest(one for statement in self._all for one in statement.keeps())
        self._places = JoinPlaces(one for statement in self._all for one in statement.node.joins())
        self._old = self._kept()
        self.asked = WantedTriples(one for statement in self._all for one in statement.asked())
        """The constants of its triple patterns: what they may match."""
        for one in self._all:
            one.start(k)

    def take(
        self,
        at: int,
        triples: Mapping[Triple, int] | ShapedTriples,
        refuse: Callable[[Refused], None] | None = None,
    ) -> list[TimedAnswer]:
        """The answers to the triples of an instant, each with its lead; all of it is known now.

        Where rules derive too much none of that counts (D27): `refuse` is called, and queries are answered.
        """
        asked = self._all
        try:
            new = self._derived(at, self._of(at, triples))
        except Refused as refused:
            for one in self._all:
                one.forget()
            new, asked = self._of(at, triples), [*self._queries]
            if refuse is None or refused.code != TOO_MANY:
                self._finish(at, new, ())
                raise
            refuse(refused)
        answers = self._answers(at, new, asked)
        self._finish(at, new, asked)
        return answers

    def dump(self) -> Any:
        """The state as plain lists."""
        memories = [
            [list(one) for one in memory] for statement in self._all for memory in statement.node.memories()
        ]
        return [[list(one) for one in self._old], memories]

    def load(self, data: Any) -> None:
        occurrences, memories = data
        self._old = self._kept()
        self._old.load(TripleOccurrence(tuple(triple), *times) for triple, *times in occurrences)
        for memory, solutions in zip(self._memories(), memories, strict=True):
            memory.load(Solution(tuple(row), *times) for row, *times in solutions)

    def size(self) -> int:
        """The number of kept triples and solutions."""
        return len(self._old) + sum(map(len, self._memories()))

    def _memories(self) -> Iterator[SolutionMemory]:
        for statement in self._all:
            yield from statement.node.memories()

    def _kept(self) -> KeptOccurrences:
        return KeptOccurrences(self._shapes, self._places, expires=self._horizon is not None)

    def _of(self, at: int, triples: Mapping[Triple, int] | ShapedTriples) -> TripleOccurrences:
        if isinstance(triples, ShapedTriples):
            return TripleOccurrences(self._shapes, triples, at)
        new = TripleOccurrences(self._shapes)
        for triple, lead in triples.items():
            new.add(TripleOccurrence(triple, at, at, lead))
        return new

    def _derived(self, at: int, new: TripleOccurrences) -> TripleOccurrences:
        """The triples of an instant with all that rules derive from them."""
        derived = set[TripleOccurrence]()
        for rules, recursive in self._layers:
            while True:
                before = len(new)
                for rule in rules:
                    for graph in rule.graphs(rule.look(at, new, self._old, self._k)):
                        self._add(graph, new, derived)
                if len(new) == before or not recursive:
                    break
        return new

    def _add(self, graph: TimedGraph, new: TripleOccurrences, derived: set[TripleOccurrence]) -> None:
        for triple in graph.triples:
            one = TripleOccurrence(triple, graph.start, graph.end)
            if one in derived:
                continue
            derived.add(one)
            if len(derived) > self._most:
                raise Refused(TOO_MANY, f"rules derive more than {self._most:,} triples at one instant")
            for said in self._close(triple):
                new.add(TripleOccurrence(said, graph.start, graph.end))

    def _answers(self, at: int, new: TripleOccurrences, asked: Iterable[_Statement]) -> list[TimedAnswer]:
        answers = []
        for one in asked:
            one.look(at, new, self._old, self._k)
            graphs = list(one.graphs(one.solutions)) if isinstance(one, _Rule) else []
            rows = one.rows(self._k, at) if isinstance(one, _Query) else []
            if graphs or rows:
                answers.append(TimedAnswer(one.name, rows, graphs))
        return answers

    def _finish(self, at: int, new: TripleOccurrences, answered: Sequence[_Statement]) -> None:
        for one in self._all:
            one.look(at, new, self._old, self._k)
            one.close(at, answered=one in answered)
        if self._horizon != 0:
            self._old.keep(new, at)
        if self._horizon:
            self._old.expire(at - self._horizon)


def _longest(horizons: Iterable[int | None]) -> int | None:
    """The greatest of some horizons; `None` is for ever."""
    found = list(horizons)
    return None if None in found else max((one for one in found if one is not None), default=0)
