"""A query over windows while it runs: at its evaluation times it answers, and its answers are a stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from math import gcd
from typing import Any

from obep.algebra.evaluation import Row
from obep.algebra.select_node import evaluate
from obep.algebra.term_order import written
from obep.algebra.translate import translate
from obep.engine.event_run import EventRun
from obep.engine.queries.answers import TRUTH, Records, graph, less
from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_window import QueryWindow
from obep.engine.states.followed_group import FollowedGroup
from obep.engine.states.state_run import StateRun
from obep.formats.input_limits import Refused
from obep.model import Answer, DeadLetter, Item, Occurrence, Term, id_digest, id_prefix
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.plan.query_plan import default_window, why_answered_anew
from obep.plan.state_plan import RowShare
from obep.query import ast
from obep.query.function_signatures import CHANGING
from obep.query.linked_queries import ASK, LinkedQuery
from obep.query.walk import walk


class QueryRun(EventRun):
    """One query."""

    timed = True

    def __init__(
        self,
        query: LinkedQuery,
        windows: Sequence[QueryWindow],
        dataset: QueryDataset,
        states: Mapping[Term, StateRun],
        readers: Sequence[QueryWindow],
        bundle: Any = None,
        share: RowShare | None = None,
    ) -> None:
        """`readers`: the windows that hold its answers; without a bundle nothing is kept. `share`: the rows
        that are given here, if not all."""
        self.plan = EventPlan(query.iri, query.name, 0)
        self.windows, self._dataset, self._readers = windows, dataset, readers
        self._query, self._form = query, query.register.form
        self._atoms = [node for node in walk(query.register) if isinstance(node, ast.Atom)]
        held = [one.name.iri for one in self._atoms if one.name.iri in states]
        columns = {iri: states[iri].state.extra for iri in held}
        if query.match is not None:
            columns[query.match.event] = query.match.others
        self._select = translate(query.select, columns)
        self._share = share
        self._place = 0 if share is None else self._select.columns.index(share.variable)
        self._kept: FollowedGroup | None = None
        """Its rows, where they can be kept while triples come and go."""
        if bundle is not None and why_answered_anew(query, self._select, bundle) is None:
            known = {one.window.name: one for one in windows if one.window.role != "graph"}
            self._kept = FollowedGroup(self._select, default_window(query), states, known, dataset)
        self._loaded = False
        """Whether the last answer comes out of a snapshot, and the rows are not compared with it yet."""
        self._operator = query.register.operator
        self._report = query.settings.get("report", "nonempty")
        self._steps = query.steps
        if query.match is None and not readers and self._report != "change":
            self.grid = gcd(*self._steps) or None
        calls = {node.function for node in walk(query.register) if isinstance(node, ast.Call)}
        self._varies = not CHANGING.isdisjoint(one for one in calls if isinstance(one, str)) or bool(held)
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

    def see_knowledge(self) -> None:
        self._last = None

    # --- evaluation times

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        moved = self._look()
        if self._at is None and all(window.fed is None for window in self.windows):
            return ()
        self._at = at
        due = any(at % step == 0 for step in self._steps) and not self._is_idle() if self._steps else moved
        if due:
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
            if self._reports_changes and not self._loaded:
                return self._changes(at)
            answer = self._answer(at)
        except Refused as refused:
            self._refuse(at, refused.code, refused.reason)
            self._give_up()
            return ()
        if answer is None:
            return ()
        if self._operator == "rstream":
            holds = any(window.triples for window in self.windows)
            reported = {"all": True, "change": changed}.get(self._report, holds)
            return self._as_answer(at, answer, empty=isinstance(self._form, ast.Select)) if reported else ()
        before, self._before = self._before, () if self._reports_changes else answer
        self._loaded = False
        if self._operator == "istream":
            return self._as_answer(at, less(answer, before), "+")
        return self._as_answer(at, less(before, answer), "-")

    @property
    def _reports_changes(self) -> bool:
        """Whether its answers are the rows that came or went, and these are known."""
        return self._kept is not None and self._operator != "rstream" and isinstance(self._form, ast.Select)

    def _changes(self, at: int) -> Sequence[Occurrence]:
        """The rows that came, or those that went, since the last answer."""
        assert self._kept is not None
        if not self._is_consistent(at):
            return ()
        op, sign = ("+", 1) if self._operator == "istream" else ("-", -1)
        changes = self._kept.changes(at)
        found = self._own([row for row, number in changes.items() for _ in range(number * sign)])
        return self._as_answer(at, sorted(found, key=written), op)

    def _give_up(self) -> None:
        """There were so many rows that they are no longer kept: from now on evaluate anew."""
        if self._kept is not None and self._kept.lost:
            if self._reports_changes and not self._loaded:
                self._before = self._own(_all(self._kept.rows))
            self._kept.stop()
            self._kept = None

    def _is_consistent(self, at: int) -> bool:
        self._dataset.now = at
        if not self._dataset.consistent:
            self._refuse(at, "OBEP621", "the items of its windows contradict the ontology")
            return False
        return True

    def _answer(self, at: int) -> Records | None:
        """The answer at an instant; nothing where a window contradicts T and K."""
        if not self._is_consistent(at):
            return None
        if self._kept is None:
            rows = evaluate(self._select, self._dataset, at, self._query.name)
        else:
            self._kept.changes(at)
            rows = _all(self._kept.rows)
        rows = self._own(rows)
        if isinstance(self._form, ast.AskQuery):
            return [(TRUTH[bool(rows)],)]
        if isinstance(self._form, ast.ConstructQuery):
            return graph(self._query.name, self._form.template, self._select.columns, rows)
        return rows if self._form.order_by or self._kept is not None else sorted(rows, key=written)

    def _own(self, rows: list[Row]) -> list[Row]:
        """The rows that are given here."""
        if (share := self._share) is None:
            return rows
        place = self._place
        return [row for row in rows if share.has(row[place])]

    def _as_answer(
        self,
        at: int,
        records: Records,
        op: str = "",
        span: tuple[int, int, str] | None = None,
        *,
        empty: bool = False,
    ) -> Sequence[Occurrence]:
        """`span`: the interval and the name of the match that it is an answer of; `empty`: also without
        records."""
        if not (records or empty):
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
        before = self._before
        if self._reports_changes and not self._loaded and self._kept is not None:
            before = self._own(_all(self._kept.rows))
        return [self._changed, self._at, self._last, [list(one) for one in before]]

    def load(self, data: Any, unpack: Unpack) -> None:
        self._changed, self._at, self._last, before = data
        self._before = [tuple(one) for one in before]
        self._dataset.settle()
        self._loaded = True
        if self._kept is not None:
            self._kept.reload()

    def size(self) -> int:
        return len(self._before)


def _all(rows: Mapping[Row, int]) -> list[Row]:
    """The rows of a bag, each as often as it is there, in the order of their terms."""
    return sorted([row for row, number in rows.items() for _ in range(number)], key=written)


def windows_seen(query: LinkedQuery) -> Iterable[ast.Window]:
    """The windows that a query looks at: in OBEP those of the file that it names."""
    named = {node.window for node in walk(query.register) if isinstance(node, ast.WindowGroup)}
    every = any(isinstance(name, ast.Var) for name in named)
    own = query.register.windows
    return [
        one for one in query.windows if every or one.name in named or any(one.name == o.name for o in own)
    ]
