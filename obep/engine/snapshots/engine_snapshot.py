"""The snapshot of an engine: write all of its state as bytes, and go on from it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import msgspec

from obep.engine.replacing.stored_generations import dump_generation
from obep.engine.snapshots.sealed import damaged, sealed, unsealed
from obep.engine.snapshots.snapshot_form import MISFITS, kept_in
from obep.errors import ObepError, fail
from obep.model import Item

if TYPE_CHECKING:
    from obep.engine.engine import Engine

SNAPSHOT = 12
"""The version of the format of snapshots."""
ANEW = "restore an older snapshot, or begin anew"


def write_snapshot(engine: Engine) -> bytes:
    """All of its state; called under the engine's lock."""
    running = engine.running
    waiting = [tuple(item) for _, item in engine.buffer]
    versions = [dump_generation(one, engine.query) for one in running.all()]
    changes = (running.changes.judged, *running.changes.dump())
    state = (engine.clock.dump(), engine.counters, waiting, versions, changes)
    return sealed(msgspec.msgpack.encode((SNAPSHOT, engine.query.hash, *state)))


def restore_snapshot(engine: Engine, data: bytes, resume: bool) -> None:
    """Go on from a snapshot, or refuse it and change nothing; called under the engine's lock."""
    body = unsealed(data, "the snapshot", ANEW)
    running, query = engine.running, engine.query
    try:
        version, of, *rest = msgspec.msgpack.decode(body)
        if (version, of) != (SNAPSHOT, query.hash):
            raise _other(version, of, query.hash)
        clock, counters, waiting, versions, (judged, *changes) = kept_in(rest)
        for *_, state in versions:
            _require_order(state[0], clock["watermark"], [item[1] for item in waiting])
        loaded = running.restored(versions, *changes)
        engine.clock.load(clock)
        if resume:
            engine.clock.resume()
        running.go_on_with(loaded, query)
        engine.held.follow()
        engine.counters.clear()
        engine.counters.update(counters)
        if running.observer is not None:
            running.observer.restarted()
        running.latest.restored = engine.clock.watermark
        engine.buffer.clear()
        running.changes.judged = judged
        for one in waiting:
            item = Item(*one)
            engine.buffer.add(item.at, item, ahead=item.stream in running.changes.streams)
    except MISFITS as error:
        reason = f"It is whole, but something in it has another form ({type(error).__name__}: {error})."
        raise damaged("the snapshot", reason, ANEW) from None


def _require_order(now: int | None, watermark: int | None, waiting: list[int]) -> None:
    """Refuse a state whose present lies beyond its watermark, or that holds items from before it."""
    if now is not None and (watermark is None or now > watermark):
        raise ValueError(f"it has come to {now}, and its watermark to {watermark}")
    if watermark is not None and waiting and min(waiting) < watermark:
        raise ValueError(f"an item of {min(waiting)} waits for a watermark of {watermark}")


def _other(version: object, of: object, here: str) -> ObepError:
    """The refusal of a snapshot of something else."""
    return fail(
        "OBEP573",
        "the snapshot is of another query, or of another version of obep",
        reason=f"It has version {version} and query {of}, not {SNAPSHOT} and {here}.",
        remedy="restore it with the query (and ontology) that it was made with, or begin anew",
    )
