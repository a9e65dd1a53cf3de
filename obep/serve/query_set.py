"""The queries of a service, each in an engine of its own: all get the items of the streams that they read.

Each has its own clock, ontology and static graph, as if it ran alone. Only what they return is shared, so no
two of them return the same name.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import timedelta
from itertools import chain

import msgspec

from obep.engine.admission import OnDeadLetter
from obep.engine.clock import Clock
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.replacing.meaning import meanings
from obep.engine.replacing.replace_query import named, resolved
from obep.engine.replacing.replacement import Replacement
from obep.engine.snapshots.sealed import damaged
from obep.errors import fail
from obep.model import Alert, DeadLetter, Item, Occurrence, Term, local_name
from obep.plan.plan import Plan

MakeEngine = Callable[[Query, OnDeadLetter], Engine]


class QuerySet:
    """Engines by the names of their queries. One thread changes it; any thread may read."""

    def __init__(self, make: MakeEngine, on_dead_letter: OnDeadLetter) -> None:
        self._make, self._on_dead_letter = make, on_dead_letter
        self._letters: list[DeadLetter] = []
        self._engines: dict[str, Engine] = {}  # never changed, only replaced: others read it

    def __iter__(self) -> Iterator[tuple[str, Engine]]:
        return iter(self._engines.items())

    def __len__(self) -> int:
        return len(self._engines)

    def __contains__(self, name: str) -> bool:
        return name in self._engines

    def __getitem__(self, name: str) -> Engine:
        """Raises OBEP855 for a query that does not run."""
        found = self._engines.get(name)
        if found is None:
            raise fail(
                "OBEP855",
                f"there is no query {name[:200]}",
                reason="It was never put, or it was deleted.",
                remedy=", ".join(self._engines),
            )
        return found

    @property
    def first(self) -> Engine:
        """The engine of the query that has run longest."""
        return next(iter(self._engines.values()))

    def reading(self, stream: str) -> list[Query]:
        """The queries that read a stream."""
        return [one.query for _, one in self if stream in one.query.linked.streams]

    # Of all of them

    @property
    def queries(self) -> dict[str, Query]:
        return {name: engine.query for name, engine in self}

    @property
    def streams(self) -> dict[str, None]:
        """The streams that any of them reads, in their order."""
        return dict.fromkeys(chain.from_iterable(one.query.linked.streams for _, one in self))

    @property
    def models(self) -> frozenset[str]:
        return frozenset(chain.from_iterable(one.query.linked.models for _, one in self))

    @property
    def clock(self) -> Clock:
        """The clock that is furthest back."""
        clocks = [one.clock for _, one in self]
        return min(clocks, key=lambda one: (one.watermark is not None, one.watermark or 0))

    @property
    def counters(self) -> Mapping[str, int]:
        total: Counter[str] = Counter()
        for _, one in self:
            total.update(dict(one.counters))
        return total

    @property
    def pending(self) -> int:
        return sum(one.pending for _, one in self)

    def firing(self) -> list[Alert]:
        return [alert for _, one in self for alert in one.firing()]

    def too_far(self, at: int) -> bool:
        return self.first.too_far(at)  # one setting and one date for all

    # What comes

    def push_items(self, items: Iterable[Item]) -> list[Occurrence]:
        """Each gets what it reads; time goes on for who gets nothing."""
        came = list(items)
        return self._all(lambda engine: _pushed(engine, came))

    def push_to_readers(self, stream: str, make: Callable[[Engine], Item]) -> list[Occurrence]:
        """Each that reads a stream gets an item of its own."""
        return self._all(
            lambda one: one.push_items([make(one)]) if stream in one.query.linked.streams else []
        )

    def tick(self) -> list[Occurrence]:
        return self._all(Engine.tick)

    def close(self) -> list[Occurrence]:
        return self._all(Engine.close)

    def _all(self, do: Callable[[Engine], list[Occurrence]]) -> list[Occurrence]:
        found: list[Occurrence] = []
        letters: Counter[DeadLetter] = Counter()
        for _, engine in self:
            self._letters.clear()
            found += do(engine)
            letters |= Counter(self._letters)  # a record that several refuse is one letter
        self._letters.clear()
        for letter in letters.elements():
            self._on_dead_letter(letter)
        return found

    # Which they are

    def add(self, name: str, query: Query) -> Engine:
        """Begin with one more query."""
        engine = self._make(query, self._letters.append)
        self._engines = {**self._engines, name: engine}
        return engine

    def require_apart(self, name: str, query: Query) -> None:
        """Refuse a query that returns what another one returns (OBEP867)."""
        wanted = returned_by(query.plan)
        for other, one in self.queries.items():
            if other != name and (both := sorted(wanted & returned_by(one.plan))):
                raise fail(
                    "OBEP867",
                    f"the query {other} returns {local_name(both[0])}, too",
                    reason="Events are requested by name, so only one query may return each.",
                    remedy=f"another name, RETURN without it, or DELETE /queries/{other}",
                )

    def compare(
        self, name: str, query: Query, warm: int | None = None, history: list[Item] | None = None
    ) -> Replacement:
        """What `put` would do."""
        self.require_apart(name, query)
        mine = _read_by(query, history)
        if name in self:
            return self[name].compare(query, warm=_length(warm), history=mine)
        return _begun(query, _warmed(self._make(query, lambda letter: None), warm, mine), mine is not None)

    def put(self, name: str, query: Query, warm: int | None, history: list[Item] | None) -> Replacement:
        """Run a query under a name; with `warm`, from the items of the last so many microseconds."""
        self.require_apart(name, query)
        mine = _read_by(query, history)
        if name in self:
            return self[name].replace(query, warm=_length(warm), history=mine)
        engine = _warmed(self.add(name, query), warm, mine)
        self._letters.clear()  # they were reported when the items came
        return _begun(query, engine, mine is not None)

    def rename(self, before: str, name: str) -> None:
        self._engines = {name if key == before else key: one for key, one in self}

    def remove(self, name: str, *, dry_run: bool = False) -> Replacement:
        """Run a query no longer; alerts that fire are resolved."""
        engine = self[name]
        if len(self) == 1:
            raise fail(
                "OBEP868",
                f"{name} is the only query",
                reason="A service without a query would have no streams.",
                remedy="put another one first, or stop the service",
            )
        if not dry_run:
            self._engines = {key: one for key, one in self if key != name}
        at = engine.clock.watermark
        return Replacement(
            before=engine.query.hash,
            after="",
            watermark=at,
            waiting=engine.waiting,
            kept=(),
            begun=(),
            changed=(),
            gone=named(meanings(engine.query)),
            resolved=tuple(resolved(one, at or 0) for one in engine.firing()),
            generations=0,
        )

    # Snapshots

    def snapshot(self) -> bytes:
        return msgspec.msgpack.encode({name: one.snapshot() for name, one in self})

    def restore(self, data: bytes, *, resume: bool = True) -> None:
        try:
            states = msgspec.msgpack.decode(data, type=dict[str, bytes])
        except (msgspec.MsgspecError, ValueError) as error:
            reason = f"Something in it has another form ({error})."
            raise damaged("the snapshot", reason, "obep serve --state ANOTHER-FOLDER") from None
        for name, engine in self:
            engine.restore(states[name], resume=resume)


def returned_by(plan: Plan) -> frozenset[Term]:
    """All names under which a query reports something."""
    return frozenset((*plan.returned, *plan.alerting, *(one.iri for one in plan.queries)))


def merged_plan(queries: Iterable[Query]) -> Plan:
    """What all of them return, for sinks."""
    first, *others = (one.plan for one in queries)
    return replace(
        first,
        events=tuple(chain(first.events, *(one.events for one in others))),
        states=tuple(chain(first.states, *(one.states for one in others))),
        queries=tuple(chain(first.queries, *(one.queries for one in others))),
        returned={event: form for one in (first, *others) for event, form in one.returned.items()},
    )


def _pushed(engine: Engine, items: list[Item]) -> list[Occurrence]:
    streams = engine.query.linked.streams
    mine = [item for item in items if item.stream in streams]
    return engine.push_items(mine) if mine else engine.tick()


def _read_by(query: Query, history: list[Item] | None) -> list[Item] | None:
    return None if history is None else [one for one in history if one.stream in query.linked.streams]


def _length(warm: int | None) -> timedelta | None:
    return None if warm is None else timedelta(microseconds=warm)


def _warmed(engine: Engine, warm: int | None, history: list[Item] | None) -> Engine:
    """A new engine with the state of the last part of the history."""
    if history:
        last = max(one.at for one in history)
        engine.push_items([one for one in history if warm is None or one.at >= last - warm])
    return engine


def _begun(query: Query, engine: Engine, warmed: bool) -> Replacement:
    """The record of a query that begins."""
    names = named(meanings(query))
    return Replacement(
        before="",
        after=query.hash,
        watermark=engine.clock.watermark,
        waiting=engine.waiting,
        kept=(),
        begun=names,
        changed=(),
        gone=(),
        warmed=names if warmed else (),
        streams_added=tuple(query.linked.streams),
        firing=tuple(engine.firing()),
    )
