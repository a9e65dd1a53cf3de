"""A query over windows while it runs: at its evaluation times it answers, and its answers are a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any

from obep.algebra.select_node import evaluate
from obep.algebra.term_order import written
from obep.algebra.translate import translate
from obep.engine.event_run import Running
from obep.engine.queries.answers import TRUTH, Records, graph, less
from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_window import QueryWindow
from obep.engine.states.state_run import StateRun
from obep.formats.input_limits import Refused
from obep.model import Answer, DeadLetter, Item, Occurrence, Term, id_digest, id_prefix
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.query import ast
from obep.query.linked_queries import ASK, LinkedQuery
from obep.query.walk import walk

TIMED = frozenset(("NOW", "RAND", "UUID", "STRUUID", "BNODE"))
"""Functions whose values change with the evaluation time (D17)."""


class QueryRun(Running):
    """One query."""

    timed = True

    def __init__(
        self,
        query: LinkedQuery,
        windows: Sequence[QueryWindow],
        dataset: QueryDataset,
        states: Mapping[Term, StateRun],
        readers: Sequence[QueryWindow],
    ) -> None:
        """`readers`: the windows that hold its answers."""
        self.plan = EventPlan(query.iri, query.name, 0)
        self.windows, self._dataset, self._readers = windows, dataset, readers
        self._query, self._form = query, query.register.form
        self._atoms = [node for node in walk(query.register) if isinstance(node, ast.Atom)]
        held = [one.name.iri for one in self._atoms if one.name.iri in states]
        columns = {iri: states[iri].state.extra for iri in held}
        if query.match is not None:
            columns[query.match.event] = query.match.others
        self._select = translate(query.select, columns)
        self._operator = query.register.operator
        self._report = query.settings.get("report", "nonempty")
        self._steps = query.steps
        calls = {node.function for node in walk(query.register) if isinstance(node, ast.Call)}
        self._varies = not TIMED.isdisjoint(one for one in calls if isinstance(one, str)) or bool(held)
        self._changed = False
        """Whether a window has changed since the last evaluation."""
        self._at: int | None = None
        """The last instant that has closed, since the first item."""
        self._last: int | None = None
        """When it was last evaluated."""
        self._before: Records = ()
        """The last answer, where differences are taken."""

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield from ()

    def connect(self, touch: Callable[[], None]) -> None:
        for window in self.windows:
            window.watchers.append(touch)

    # --- evaluation times

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        moved = self._look()
        if self._at is None and all(window.fed is None for window in self.windows):
            return ()
        self._at = at
        if any(at % step == 0 for step in self._steps) if self._steps else moved:
            return self._evaluate(at)
        return ()

    def _look(self) -> bool:
        """Whether a window has changed since it was last asked."""
        moved = False
        for window in self.windows:
            moved |= window.moved
            window.moved = False
        if moved:
            self._changed = True
            self._dataset.settle()
        return moved

    def next_deadline(self) -> int | None:
        if self._at is None or not self._steps or self._is_idle():
            return None
        return min(self._at - self._at % step + step for step in self._steps)

    def _is_idle(self) -> bool:
        """Whether nothing is reported until a window changes."""
        if self._changed or self._last is None:
            return False
        if self._operator == "rstream" and self._report != "change":
            return self._report == "nonempty" and not any(window.triples for window in self.windows)
        return not self._varies

    # --- answers

    def _evaluate(self, at: int) -> Sequence[Occurrence]:
        changed, self._changed, self._last = self._changed, False, at
        try:
            answer = self._answer(at)
        except Refused as refused:
            self._refuse(at, refused.code, refused.reason)
            return ()
        if answer is None:
            return ()
        if self._operator == "rstream":
            holds = any(window.triples for window in self.windows)
            reported = {"all": True, "change": changed}.get(self._report, holds)
            return self._told(at, answer) if reported else ()
        before, self._before = self._before, answer
        if self._operator == "istream":
            return self._told(at, less(answer, before), "+")
        return self._told(at, less(before, answer), "-")

    def _answer(self, at: int) -> Records | None:
        """The answer at an instant; nothing where a window contradicts T and K."""
        self._dataset.now = at
        if not self._dataset.consistent:
            self._refuse(at, "OBEP621", "the items of its windows contradict the ontology")
            return None
        rows = evaluate(self._select, self._dataset, at, self._query.name)
        if isinstance(self._form, ast.AskQuery):
            return [(TRUTH[bool(rows)],)]
        if isinstance(self._form, ast.ConstructQuery):
            return graph(self._query.name, self._form.template, self._select.columns, rows)
        return rows if self._form.order_by else sorted(rows, key=written)

    def _told(
        self, at: int, records: Records, op: str = "", span: tuple[int, int, str] | None = None
    ) -> Sequence[Occurrence]:
        """`span`: the interval and the name of the match that it is an answer of."""
        if not records:
            return ()
        event = self.plan.event
        start, end, of = span or (at, at, "")
        digest = id_digest("\0".join([event, str(at), op or of]).encode())
        answer = Answer(event, "", (), start, end, at, start, _id=f"{id_prefix(event)}{digest}", op=op)
        answer.timed = span is not None
        if isinstance(self._form, ast.ConstructQuery):
            answer.constructed = tuple(records)  # type: ignore[arg-type]  # these are triples
            for window in self._readers:
                window.answer(Item(self._query.name, at, answer.constructed))
        else:
            columns = (ASK,) if isinstance(self._form, ast.AskQuery) else self._select.columns
            answer.bindings = tuple(
                {name: value for name, value in zip(columns, row, strict=True) if value is not None}
                for row in records
            )
        return (answer,)

    def _refuse(self, at: int, code: str, reason: str) -> None:
        if self.on_dead_letter is not None:
            self.on_dead_letter(DeadLetter("", at, code, f"in the query {self._query.name}: {reason}"))

    # --- snapshots

    def dump(self, pack: Pack) -> Any:
        return [self._changed, self._at, self._last, [list(one) for one in self._before]]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._changed, self._at, self._last, before = data
        self._before = [tuple(one) for one in before]
        self._dataset.settle()

    def size(self) -> int:
        return len(self._before)


def windows_seen(query: LinkedQuery) -> Iterable[ast.Window]:
    """The windows that a query looks at: in OBEP those of the file that it names."""
    named = {node.window for node in walk(query.register) if isinstance(node, ast.WindowGroup)}
    every = any(isinstance(name, ast.Var) for name in named)
    own = query.register.windows
    return [
        one for one in query.windows if every or one.name in named or any(one.name == o.name for o in own)
    ]
