"""Run a query on the embedded engine: open, run, watch and close everything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.config.toml_file import Config
from obep.engine.blocks import EVICTED, NOTED
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.time_letters import LATE
from obep.errors import ObepError
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import item_checks
from obep.output.row_writer import RowIds
from obep.run.checkpoint import Checkpoint, require_same_sources
from obep.run.dead_letters import Letters
from obep.run.outlets import make_outlet
from obep.run.pipeline import Run
from obep.run.progress import Progress, shown_watermark
from obep.run.refused_records import complain
from obep.run.run_locks import Locks
from obep.run.run_notes import Absences, heard_sinks, opened, say_noted, say_skipped
from obep.run.run_spec import Inlet, Order, Target, bindings, file_of, origin_of
from obep.run.signals import exit_status
from obep.run.watched_run import watch
from obep.streams.sinks.output_files import Warn, continued_at, output_key
from obep.streams.sources.batches import Waiting
from obep.streams.sources.files import FileSource, PipeSource
from obep.streams.sources.open_sources import open_source

if TYPE_CHECKING:
    from obep.engine.observer import Observer
    from obep.lints.stream_rules import StreamObserver
    from obep.run.metrics_endpoint import Endpoint
    from obep.run.run_lints import RunLints

DAY = 86_400_000_000
FAILED = 1


def run_embedded(order: Order) -> int:
    """Runs the query; the exit status."""
    progress = Progress(quiet=order.quiet, as_json=order.log_json, ignore=order.config.ignore)
    query = opened(order)
    with Locks() as locks:
        locks.take(order)
        return _run(order, query, progress)


def _run(order: Order, query: Query, progress: Progress) -> int:
    lints, observer = _lints(order, query, progress)
    run, engine = open_run(order, query, progress.warn, observer)
    for source in run.sources.values():
        if isinstance(source, FileSource):
            source.read_lazily()
    before, figures = engine.counters["processed"], Figures(run, engine)
    absences = Absences()
    run.on_turn = lambda run: _turn(run, progress, figures, absences, lints, observer)
    for sink in _heard_sinks(run).values():  # no turn comes to its end while a sink waits
        sink.waits = lambda: absences.look(_heard_sinks(run), progress)
    if order.watch:
        from obep.run.changing.query_watch import QueryWatch

        run.between = QueryWatch(order, query, run.notes, progress).look
    sources = run.sources.values()
    free, ends = ([one.name for one in sources if one.ends is ended] for ended in (False, True))
    if lints is not None:
        lints.check_config(free, ends)
    say_skipped(_skipped(run), progress)
    endpoint = _endpoint(order.metrics, figures) if order.metrics else None
    caught, status = watch(run, progress, figures.line, endpoint, _broken)
    if status is not None:
        return status
    say_noted(run.notes.said, progress)
    taken = engine.counters["processed"] - before + engine.waiting
    failed = _complain(run, order, progress, taken, query)
    if lints is not None and observer is not None:
        stats = observer.stats
        stats.take_notes(run.notes)
        stats.items.update(run.heard)
        lints.end(
            stats,
            run.letters,
            run.streams,
            engine.counters,
            found=run.occurrences,
            style=run.notes.style,
            taken=taken,
            stopped=bool(caught),
            live=bool(free),
        )
    if caught:
        return exit_status(caught[0])
    return FAILED if failed else 0


def _lints(order: Order, query: Query, progress: Progress) -> tuple[RunLints | None, StreamObserver | None]:
    """The lints of a run and what listens to its engine for them, if they are wanted."""
    if not order.lints:
        return None, None
    from obep.lints.stream_rules import StreamObserver
    from obep.run.run_lints import RunLints

    lints = RunLints(query, order, progress)
    return lints, StreamObserver(lints.rules)


def _turn(
    run: Run,
    progress: Progress,
    figures: Figures,
    absences: Absences,
    lints: RunLints | None,
    observer: StreamObserver | None,
) -> None:
    """Show warnings about connections and first times as they come up, and the progress."""
    absences.look({**run.sources, **_heard_sinks(run)}, progress)
    say_noted(run.notes.said, progress)
    if lints is not None and observer is not None:
        observer.stats.take_notes(run.notes)
        lints.turn(observer.stats)
    progress.move(figures.line)


def _broken(error: Exception) -> tuple[str, int] | None:
    return (str(error), FAILED) if isinstance(error, ObepError) else None


def _heard_sinks(run: Run) -> dict[str, Waiting]:
    return heard_sinks({key: outlet.sink for key, outlet in run.outlets.items()})


def _endpoint(where: str, figures: Figures) -> Endpoint:
    from obep.run.metrics_endpoint import Endpoint

    return Endpoint(where, figures.metrics)


def _spool(order: Order, inlet: Inlet) -> Path | None:
    """Where messages of a source lie until the checkpoint has them."""
    if order.checkpoint is None:
        return None
    return order.checkpoint / "spool" / blake2b(inlet.key.encode(), digest_size=8).hexdigest()


def open_run(
    order: Order,
    query: Query,
    warn: Warn = lambda code, said: None,
    observer: Observer | None = None,
    *,
    resume: bool = True,
    **settings: Any,
) -> tuple[Run, Engine]:
    """The run with its sources, sinks and checkpoint; what cannot be opened is the user's to mend.

    `resume` is that of `Engine.restore`; `settings` are further ones of the engine.
    """
    config, notes = order.config.with_lookups(query.bundle.k.once), Notes()
    checkpoint = Checkpoint(order.checkpoint) if order.checkpoint is not None else None
    standing = checkpoint.load(query.hash) if checkpoint is not None else None
    if standing is not None:
        require_same_sources(standing, order.inlets)
    streams = query.linked.streams
    alone = streams[0] if len(streams) == 1 else ""
    sources = {
        inlet.key: open_source(
            inlet.name,
            inlet.uri,
            config,
            stream=alone,
            trusted=inlet.trusted,
            notes=notes,
            spool=_spool(order, inlet),
            resumes=checkpoint is not None,
        )
        for inlet in order.inlets
    }
    live = any(source.live for source in sources.values())
    known = None if standing is None else standing.outputs
    dead = order.dead_letters
    letters = Letters(dead, 0 if dead is None else continued_at(output_key(dead), dead, known, warn))
    usual: dict[str, Any] = {
        "lateness": _seconds(order.lateness),
        "idle": _seconds(order.idle),
        "future": _seconds(order.future if order.future is not None else DAY if live else None),
        "on_dead_letter": letters.take,
        "max_keys": config.engine.get("max_keys"),
        "remember": 0,  # only `obep why-not` asks why not
        "observer": observer,
        "checks": item_checks(config, query.bundle),
    }
    engine = query.engine(**usual | settings)
    ids = RowIds()
    outlets = {
        t.key: make_outlet(t, order, query, notes, _start(t, order.config, known, warn), ids)
        for t in order.targets
    }
    run = Run(
        engine,
        sources,
        outlets,
        letters,
        query.hash,
        checkpoint,
        frozenset(streams),
        query.linked.models,
        notes=notes,
        idle=order.idle is not None,
        origins={inlet.key: origin_of(inlet) for inlet in order.inlets},
        row_ids=ids,
    )
    if standing is not None:
        run.restore(standing, resume=resume)
    return run, engine


def _seconds(micros: int | None) -> timedelta | None:
    return None if micros is None else timedelta(microseconds=micros)


def _start(target: Target, config: Config, known: Mapping[str, int] | None, warn: Warn) -> int:
    """Where a sink goes on; only files have such a place."""
    path = file_of(target, config)
    return 0 if path is None else continued_at(target.key, path, known, warn)


class Figures:
    """What can be counted about a run."""

    def __init__(self, run: Run, engine: Engine) -> None:
        self._run = run
        self._engine = engine

    def line(self) -> dict[str, object]:
        """For people: the progress line and the summary."""
        run, clock = self._run, self._engine.clock
        late = run.letters.counts[LATE]
        return {
            "items": run.items,
            "occurrences": run.occurrences.total(),
            "late": late,
            "refused": run.letters.total - late,
            "watermark": shown_watermark(clock.watermark, run.notes.style),
            "holding": ", ".join(filter(None, clock.holding() if clock.idle is not None else run.waiting)),
            "pending": self._engine.pending,
            "undelivered": len(run.failed),
            "unknown": self._engine.counters.get("unknown", 0),
            EVICTED: self._engine.counters.get(EVICTED, 0),
        }

    def metrics(self) -> dict[str, Any]:
        """For Prometheus, from another thread: what the run changes meanwhile is copied before it is read."""
        run, watermark = self._run, self._engine.clock.watermark
        found, letters, noted = dict(run.occurrences), dict(run.letters.counts), dict(self._engine.counters)
        late = letters.pop(LATE, 0)
        return {
            "up": 1,
            "items_total": run.items,
            "occurrences_total": {event.strip("<>"): n for event, n in found.items()},
            "late_total": late,
            "refused_total": letters,
            "undelivered_total": len(run.failed),
            "pending": self._engine.pending,
            **{f"{name}_total": noted.get(name, 0) for name in (*NOTED, EVICTED)},
            **({} if watermark is None else {"watermark_seconds": watermark / 1_000_000}),
        }


def _skipped(run: Run) -> int:
    """How many records of standard input the checkpoint has."""
    pipes = (key for key, source in run.sources.items() if isinstance(source, PipeSource))
    return sum(run.positions.get(key, {}).get("records", 0) for key in pipes)


def _complain(run: Run, order: Order, progress: Progress, taken: int, query: Query) -> bool:
    """Report refused records and failed deliveries. Returns whether the run failed by them."""
    nothing = complain(
        run.letters,
        progress,
        kept=order.dead_letters is not None,
        taken=taken,
        query=query,
        streams=run.streams,
        heard=run.heard,
        bindings=bindings(order, run.streams),
    )
    for _, reason in run.failed[:5]:
        progress.error("OBEP555", reason)
    return nothing or bool(run.failed)
