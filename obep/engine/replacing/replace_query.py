"""Put another query in place of the one that runs; called under the engine's lock."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

from msgspec import structs

from obep.engine.query import Query
from obep.engine.replacing.generations import Generation
from obep.engine.replacing.meaning import meanings
from obep.engine.replacing.replacement import REPLACED, Difference, Replacement, difference
from obep.errors import fail
from obep.model import Alert, DeadLetter, Item, Term, without_record
from obep.query.states_in_patterns import GROUP

if TYPE_CHECKING:
    from obep.engine.engine import Engine

History = Iterable[Item | DeadLetter]


class _Prepared(NamedTuple):
    """A replacement that is worked out and changes nothing yet."""

    record: Replacement
    found: Difference
    new: Generation | None
    """The version of everything that begins; None if nothing does."""
    moved: frozenset[Term]
    """Definitions with the same meaning and no state: the new version takes them over."""
    left: tuple[tuple[Generation, frozenset[Term]], ...]
    """The older versions, each with the definitions that it keeps."""


def compared(engine: Engine, query: Query, warm: int | None, history: History | None) -> Replacement:
    """Compare two queries without replacing one."""
    return _prepare(engine, query, warm, history).record


def replaced(engine: Engine, query: Query, warm: int | None, history: History | None) -> Replacement:
    """Do it."""
    prepared = _prepare(engine, query, warm, history)
    found = prepared.found
    ended = {*found.gone, *(one.name for one in found.changed)}
    engine.held.end(ended, engine.clock.watermark or 0)
    _swap(engine, query, prepared)
    engine.held.replace(query.plan.states, query.linked.states, found.starting)
    engine.clock.follow(query.linked.streams)
    return prepared.record


def _prepare(engine: Engine, query: Query, warm: int | None, history: History | None) -> _Prepared:
    """Build the new version, warm it, and say what the replacement does."""
    if warm is not None and history is None:
        raise fail(
            "OBEP871",
            "there is no history to build the state from",
            reason="An engine keeps no items once they are processed.",
            remedy="replace(query, warm=…, history=items), or without warm to begin empty",
        )
    found = _difference(engine, query)
    record = _record(engine, query, found)
    watermark = engine.clock.watermark
    new = _begin(engine, query, found)
    firing: list[Alert] = []
    if new is not None and history is not None and watermark is not None:
        _warm(engine, new, watermark, warm, history)
        firing = [one for one in new.runtime.firing() if one.event in found.starting]
    moved = frozenset[Term]() if new is None else frozenset(found.kept) - _remembering(query)
    left = _left(engine, frozenset(found.kept) - moved)
    still = {one.id for one in firing}
    record = structs.replace(
        record,
        warmed=named(sorted(found.starting)) if new is not None and history is not None else (),
        resolved=tuple(one for one in record.resolved if one.id not in still),
        firing=tuple(one for one in firing if one.id not in {old.id for old in record.resolved}),
        generations=max(1, sum(bool(shown) for _, shown in left) + (new is not None)),
    )
    return _Prepared(record, found, new, moved, left)


def _left(engine: Engine, kept: frozenset[Term]) -> tuple[tuple[Generation, frozenset[Term]], ...]:
    """The versions that run, each with what it decides of these."""
    running = engine.running
    if running.versions is None:
        return ((running.all()[0], kept & _named_in(engine.query)),)
    return tuple((one, kept & (one.shown or frozenset())) for one in running.all())


def _difference(engine: Engine, query: Query) -> Difference:
    if not isinstance(query, Query):
        raise fail(
            "OBEP870", f"{type(query).__name__} is no query", remedy='engine.replace(obep.load("query.obep"))'
        )
    if engine.running.has_own_matcher:
        raise fail(
            "OBEP870",
            "the query of this engine cannot be replaced",
            reason="It was made with its own matcher, which belongs to one query.",
            remedy="make the engine without matcher=",
        )
    query.require_returns()
    return difference(meanings(engine.query), meanings(query))


def _record(engine: Engine, query: Query, found: Difference) -> Replacement:
    before, after = engine.query.linked.streams, query.linked.streams
    ended = {*found.gone, *(one.name for one in found.changed)}
    at = engine.clock.watermark
    return Replacement(
        before=engine.query.hash,
        after=query.hash,
        watermark=at,
        waiting=len(engine.buffer),
        kept=named(found.kept),
        begun=named(found.begun),
        changed=tuple(one for one in found.changed if not _is_part(one.name)),
        gone=named(found.gone),
        streams_added=tuple(one for one in after if one not in before),
        streams_removed=tuple(one for one in before if one not in after),
        resolved=tuple(resolved(one, at or 0) for one in engine.firing() if one.event in ended),
    )


def resolved(alert: Alert, at: int) -> Alert:
    """The alert of a state that goes."""
    at = max(at, alert.start)
    return replace(alert, status="resolved", end=at, detected=at, until=at, ended=REPLACED)


def _begin(engine: Engine, query: Query, found: Difference) -> Generation | None:
    """Make the version of everything that begins; None if nothing does."""
    if not found.starting and found.kept:
        return None
    all_of_it = found.starting >= _remembering(query)
    names = None if all_of_it else found.starting
    changes = engine.running.knowledge_of(query)
    changes.judged = engine.running.changes.judged
    if query.bundle.k.digest == engine.query.bundle.k.digest:
        changes.load(*engine.running.changes.dump())  # another K begins as its files say
    return Generation(query, changes, engine.running.new_runtime, names)


def _swap(engine: Engine, query: Query, prepared: _Prepared) -> None:
    """Let the older versions decide what they go on with, and the new one the rest."""
    new, moved = prepared.new, prepared.moved
    if new is not None:
        new.shown = prepared.found.starting | moved
        for one, _ in prepared.left:
            shown = _named_in(engine.query) if one.shown is None else one.shown
            new.reported |= one.reported | one.runtime.seen_now(moved & shown)
            new.began_at = max(new.began_at, one.runtime.now or 0)
    for one, shown in prepared.left:
        one.shown = shown
    going_on = [one for one, shown in prepared.left if shown]
    begun = [] if new is None else [new]
    engine.running.go_on_with([*going_on, *begun] or [prepared.left[-1][0]], query)


def _named_in(query: Query) -> frozenset[Term]:
    return frozenset((*query.linked.events, *query.linked.states, *query.linked.queries))


def _remembering(query: Query) -> frozenset[Term]:
    """The events, states and queries that may have state."""
    plan = query.plan
    free = {
        one.event
        for one in plan.events
        if one.root is None and not one.window and one.prompt and one.event not in plan.derived
    }
    return _named_in(query) - free


def _warm(engine: Engine, new: Generation, watermark: int, warm: int | None, history: History) -> None:
    """Build its state from what came before, unseen."""
    first = None if warm is None else watermark - warm
    items = [
        one
        for one in history
        if isinstance(one, Item)
        and one.stream not in new.changes.streams
        and one.at <= watermark
        and (first is None or one.at >= first)
    ]
    letters, counters = len(engine.letters), dict(engine.counters)
    new.runtime.observer = None
    for whole in sorted(items, key=lambda one: one.at):
        new.process(whole, without_record(whole))
    new.advance(watermark)
    del engine.letters[letters:]  # they were reported when the items came
    engine.counters.clear()
    engine.counters.update(counters)


def named(names: Iterable[Term]) -> tuple[Term, ...]:
    """Without groups that stand in a MATCH, which have no name in the file."""
    return tuple(name for name in names if not _is_part(name))


def _is_part(name: Term) -> bool:
    return name.startswith(f"<{GROUP}")
