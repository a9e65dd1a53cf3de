"""`STATE S(?k) FROM P TO Q`: occurrences of P switch a key on, those of Q, TIMEOUT and LIMIT off."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from heapq import heapify, heappop, heappush
from typing import Any

from obep.engine.reporter import Detected, bindings_of
from obep.engine.states.episodes import Bindings, Key
from obep.engine.states.state_run import StateRun
from obep.guards.filter_closures import compile_condition
from obep.model import Assertion, Occurrence, Term
from obep.operators.candidates import NOTHING, ROWS, Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.nodes import Read
from obep.plan.plan import EventPlan
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.query.free_variables import variables
from obep.query.state_expansion import split_guard

Row = dict[str, Term]
_Switch = tuple[Bindings, tuple[Assertion, ...]]
"""What has switched a key on: its solutions, and why."""


class SwitchedState(StateRun):
    """A state by events."""

    def __init__(self, plan: StatePlan, leaves: Mapping[Term, EventPlan]) -> None:
        """`leaves` are patterns that are a single event: its occurrences come in as they are."""
        super().__init__(plan)
        self._from, self._to = (leaves.get(plan.part(part)) for part in ("from", "to"))
        definition = plan.definition
        assert isinstance(definition, ast.EventState)
        self._timeout = definition.timeout.micros if definition.timeout else None
        self._limit = definition.limit.micros if definition.limit else None
        self._on: list[Occurrence] = []
        self._off: list[Occurrence] = []
        self._timeouts: list[tuple[int, Key]] = []
        self._limits: list[tuple[int, Key]] = []
        self._last: dict[Key, int] = {}
        """When the last p came, for each key."""
        self._limited: dict[Key, int] = {}
        """When LIMIT switches each key off."""
        self._cut: set[Key] = set()
        """The keys that only LIMIT switches off at this instant."""
        self._tests = [_Test(one) for one in split_guard(definition).both]
        self._by: dict[tuple[int, ...], dict[Key, dict[Key, None]]] = {}
        """Open keys by some of their values: those that a q has bound."""
        self._key_of = None if self._from is None or plan.extra else _KeyOf(self._from, plan.parameters)
        """The key of an occurrence that switches on, where there is nothing else to know of it."""

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield _route(self.state.part("from"), self._from, self._on)
        yield _route(self.state.part("to"), self._to, self._off)

    def decide(self, at: int) -> None:
        if not (self._off or self._timeouts or self._limits) and (not self._on or self._switch_one(at)):
            return
        held = self.episodes.open
        now: dict[Key, _Switch | None] = {}
        """What each key has been switched to in this instant."""
        off: dict[Key, tuple[tuple[Assertion, ...], str]] = {}
        on = sorted(self._on, key=_order) if len(self._on) > 1 else tuple(self._on)
        for p in on:
            if p.start < at:
                self._switch_on(p, at, now)
        for q in sorted(self._off, key=_order):
            bindings, explanation = _solutions_and_cause(q, self._to)
            for key in self._joined(bindings, now):
                off.setdefault(key, (explanation, "changed"))
        for key in self._timed_out(at, now):
            off.setdefault(key, ((), "expired"))
        self._cut.clear()
        for key in self._at_limit(at):
            if key not in off:
                off[key] = ((), "changed")
                self._cut.add(key)
        for key in off:
            now[key] = None
        for p in on:
            if p.start >= at:
                self._switch_on(p, at, now)
        self._on.clear()
        self._off.clear()
        for key, switch in now.items():
            if switch is None:
                if key in held:
                    explanation, why = off[key]
                    self.episodes.end(key, at, explanation, why)
                    self._index(key, add=False)
                self._last.pop(key, None)
                self._limited.pop(key, None)
            elif key not in held:
                self.episodes.begin(key, at, *switch)
                self._index(key, add=True)
            if switch is not None:
                self._wind(key, at)

    def _switch_one(self, at: int) -> bool:
        """The same for one occurrence of which only its key counts; false if there is more to do."""
        key = None if self._key_of is None or len(self._on) > 1 else self._key_of(self._on[0])
        if key is None:
            return False
        if key not in self.episodes.open:
            self.episodes.begin(key, at, (), self._on[0].explanation)
            if self._by:
                self._index(key, add=True)
        self._on.clear()
        self._wind(key, at)
        return True

    def _switch_on(self, p: Occurrence, at: int, now: dict[Key, _Switch | None]) -> None:
        bindings, explanation = _solutions_and_cause(p, self._from)
        for key, rows in _by_key(bindings, self.state.parameters).items():
            if now.get(key) is None:
                extra = _distinct(
                    {name: row[name] for name in self.state.extra if name in row} for row in rows
                )
                now[key] = (extra, explanation)

    def _wind(self, key: Key, at: int) -> None:
        """TIMEOUT counts from the last p, LIMIT from the beginning, and anew if it is on after LIMIT."""
        if self._timeout is not None:
            self._last[key] = at
            heappush(self._timeouts, (at + self._timeout, key))
        if self._limit is not None and key not in self._limited:
            self._limited[key] = at + self._limit
            heappush(self._limits, (at + self._limit, key))

    def _joined(self, bindings: Bindings, now: dict[Key, _Switch | None]) -> Iterator[Key]:
        """The keys that hold, or were switched on in this instant, and that a q joins with."""
        for row in bindings or ({},):
            places = tuple(n for n, name in enumerate(self.state.parameters) if name in row)
            values = tuple(row[self.state.parameters[n]] for n in places)
            fresh = [k for k, switch in now.items() if switch is not None]
            for key in dict.fromkeys((*self._holding(places, values), *fresh)):
                if tuple(key[n] for n in places) == values and self._passes(key, row, now):
                    yield key

    def _holding(self, places: tuple[int, ...], values: Key) -> list[Key]:
        if len(places) == len(self.state.parameters):
            return [values] if values in self.episodes.open else []
        index = self._by.get(places)
        if index is None:
            index = self._by[places] = {}
            for key in self.episodes.open:
                index.setdefault(tuple(key[n] for n in places), {})[key] = None
        return list(index.get(values, ()))

    def _index(self, key: Key, *, add: bool) -> None:
        for places, index in self._by.items():
            values = tuple(key[n] for n in places)
            if add:
                index.setdefault(values, {})[key] = None
            else:
                index[values].pop(key, None)
                if not index[values]:
                    del index[values]

    def _passes(self, key: Key, row: Row, now: dict[Key, _Switch | None]) -> bool:
        """A FILTER over variables of P and Q, with the solutions of the p that began it."""
        episode = self.episodes.open.get(key)
        switch = now.get(key)
        began = episode.bindings if episode is not None else switch[0] if switch is not None else ()
        own = dict(zip(self.state.parameters, key, strict=True))
        return any(
            all(one.get(name, term) == term for name, term in row.items())
            and all(test({**one, **own, **row}) for test in self._tests)
            for one in began or ({},)
        )

    def _timed_out(self, at: int, now: dict[Key, _Switch | None]) -> Iterator[Key]:
        """The keys whose TIMEOUT falls on this instant."""
        while self._timeouts and self._timeouts[0][0] <= at:
            due, key = heappop(self._timeouts)
            last = self._last.get(key)
            # a p of this instant that began earlier winds it up again
            if last is not None and last + (self._timeout or 0) == due and now.get(key) is None:
                yield key

    def _at_limit(self, at: int) -> Iterator[Key]:
        """The keys whose LIMIT falls on this instant."""
        while self._limits and self._limits[0][0] <= at:
            due, key = heappop(self._limits)
            if self._limited.get(key) == due:
                del self._limited[key]
                yield key

    def ends_by_limit(self, key: Key) -> bool:
        return key in self._cut

    def next_change(self) -> int | None:
        if not (self._timeouts or self._limits):
            return None
        while self._timeouts and (
            self._last.get(self._timeouts[0][1], -1) + (self._timeout or 0) != self._timeouts[0][0]
        ):
            heappop(self._timeouts)
        while self._limits and self._limited.get(self._limits[0][1]) != self._limits[0][0]:
            heappop(self._limits)
        heads = [heap[0][0] for heap in (self._timeouts, self._limits) if heap]
        return min(heads, default=None)

    def dump_own(self, pack: Pack) -> Any:
        last, limited = list(self._last.items()), list(self._limited.items())
        return [pack(self._on), pack(self._off), last, limited]

    def load_own(self, data: Any, unpack: Unpack) -> None:
        on, off, last, limited = data
        self._on[:], self._off[:] = unpack(on), unpack(off)
        self._last = {tuple(key): at for key, at in last}
        self._limited = {tuple(key): at for key, at in limited if at is not None}
        self._by.clear()
        self._timeouts = [(at + (self._timeout or 0), key) for key, at in self._last.items()]
        self._limits = [(at, key) for key, at in self._limited.items()]
        heapify(self._timeouts)
        heapify(self._limits)


class _Test:
    """A condition over the variables of both patterns."""

    def __init__(self, one: ast.Filter) -> None:
        self._names = variables(one)
        index = {name: at for at, name in enumerate(self._names)}
        self._holds = compile_condition(one.condition, index, {})

    def __call__(self, values: Row) -> bool:
        return self._holds(tuple(values.get(name) for name in self._names), ())


class _KeyOf:
    """The values of a state's parameters in the solution of a leaf."""

    def __init__(self, leaf: EventPlan, parameters: tuple[str, ...]) -> None:
        self._free, self._ask = _read(leaf).free, _read(leaf).ask
        self._places = [dict(leaf.visible).get(name) for name in parameters]
        self._whole = None not in self._places

    def __call__(self, p: Occurrence) -> Key | None:
        """The key, if there is one solution that has all of it."""
        rows = NOTHING if self._free else p._rows_of(self._ask)
        if len(rows) != 1 or not self._whole:
            return None
        row, found = rows[0], []
        for place in self._places:
            value = None if place is None else row[place]
            if not value:
                return None
            found.append(value)
        return tuple(found)


def _route(event: Term, leaf: EventPlan | None, taken: list[Occurrence]) -> tuple[Term, Take]:
    """Which occurrences switch, and where they go."""
    if leaf is None:
        return event, taken.append
    read = _read(leaf)

    def take(occurrence: Occurrence) -> None:
        if read.free or occurrence._rows_of(read.ask):
            taken.append(occurrence)

    return read.event, take


def _read(leaf: EventPlan) -> Read:
    assert isinstance(leaf.root, Read)
    return leaf.root


def _solutions_and_cause(p: Occurrence, leaf: EventPlan | None) -> _Switch:
    """Its solutions, and why; without its id, which is not needed."""
    if leaf is not None:
        read = _read(leaf)
        return bindings_of(leaf, NOTHING if read.free else p._rows_of(read.ask)), p.explanation
    if isinstance(p, Detected) and isinstance(p.found, tuple):
        return bindings_of(p.by.plan, p.found[ROWS]), p.by.explanation(p.found)
    return p.bindings, p.explanation


def _by_key(bindings: Bindings, parameters: tuple[str, ...]) -> dict[Key, list[Row]]:
    found: dict[Key, list[Row]] = {}
    for row in bindings or ({},):
        key = tuple([row.get(name, "") for name in parameters])
        if "" not in key:
            found.setdefault(key, []).append(row)
    return found


def _distinct(rows: Any) -> Bindings:
    """Each row once, in an order that the data does not change; none if all are empty."""
    found = {tuple(row.items()): row for row in rows if row}
    return tuple(found[key] for key in sorted(found))


def _order(one: Occurrence) -> tuple[object, ...]:
    """The first reason comes first: by done, start and N-Triples."""
    return one.detected, one.start, one.end, [" ".join(triple) for triple, _ in one.explanation]
