"""Run a query on the embedded engine: open, run, watch and close everything."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from obep.abstraction.matcher import NOTED
from obep.config.output_forms import writes_empty
from obep.config.toml_file import Config
from obep.engine.admission import OnDeadLetter
from obep.engine.bulk import rarely_collected, uncollected
from obep.engine.clock import Clock
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.replacing.running import EVICTED
from obep.engine.time_letters import LATE
from obep.errors import ObepError
from obep.formats.stream_reader import Notes
from obep.lints.item_validation import prepared_items
from obep.output.row_writer import RowIds
from obep.plan.plan import Plan
from obep.run.checkpoint import Checkpoint, Standing, require_same_sources
from obep.run.dead_letters import Letters
from obep.run.outlets import make_outlet
from obep.run.pipeline import Outlet, Run
from obep.run.progress import Progress, shown_watermark
from obep.run.refused_records import complain
from obep.run.run_locks import Locks
from obep.run.run_notes import Absences, connected_sinks, opened, say_noted, say_skipped
from obep.run.run_spec import Inlet, Order, Target, bindings, file_of, origin_of
from obep.run.signals import exit_status
from obep.run.watched_run import watch
from obep.streams.sinks.output_files import Warn, continued_at, output_key
from obep.streams.sources.batches import Source, Waiting
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
    with uncollected():
        query = opened(order)
    with Locks() as locks:
        locks.take(order)
        return _run(order, query, progress)


def _run(order: Order, query: Query, progress: Progress) -> int:
    lints, observer = _lints(order, query, progress) if order.workers == 1 else (None, None)
    run, engine = _opened(order, query, progress, observer)
    for source in run.sources.values():
        if isinstance(source, FileSource):
            source.read_lazily()
    before, figures = engine.counters["processed"], Figures(run, engine)
    absences = Absences()
    run.on_turn = lambda run: _turn(run, progress, figures, absences, lints, observer)
    for sink in _connected_sinks(run).values():  # no turn comes to its end while a sink waits
        sink.waits = lambda: absences.look(_connected_sinks(run), progress)
    if order.watch:
        from obep.run.changing.query_watch import QueryWatch

        run.between = QueryWatch(order, query, run.notes, progress).look
    sources = run.sources.values()
    free, ends = ([one.name for one in sources if one.ends is ended] for ended in (False, True))
    if lints is not None:
        lints.check_config(free, ends)
    say_skipped(_skipped(run), progress)
    endpoint = _endpoint(order.metrics, figures) if order.metrics else None
    with rarely_collected():
        caught, status = watch(run, progress, figures.line, endpoint, _broken)
    if status is not None:
        return status
    say_noted(run.notes.said, progress)
    taken = engine.counters["processed"] - before + engine.waiting
    failed = _complain(run, order, progress, taken, query)
    if lints is not None and observer is not None:
        stats = observer.stats
        stats.take_notes(run.notes)
        stats.items.update(run.items_by_stream)
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


def _opened(order: Order, query: Query, progress: Progress, observer: Observer | None) -> tuple[Run, Engine]:
    """The run and its engine; in each process its own, where there are several."""
    if order.workers == 1:
        return open_run(order, query, progress.warn, observer)
    from obep.run.processes.workers import require_files, require_splitting, run_share, start_workers

    matcher = require_splitting(order, query)
    run, engine = open_run(order, query, progress.warn, matcher=matcher)
    require_files(run)
    for source in run.sources.values():
        if isinstance(source, FileSource):
            source.read_lazily()
    if not start_workers(run, engine, matcher, order.workers):
        run_share(run)
    return run, engine


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
    absences.look({**run.sources, **_connected_sinks(run)}, progress)
    say_noted(run.notes.said, progress)
    if lints is not None and observer is not None:
        observer.stats.take_notes(run.notes)
        lints.turn(observer.stats)
    progress.move(figures.line)


def _broken(error: Exception) -> tuple[str, int] | None:
    return (str(error), FAILED) if isinstance(error, ObepError) else None


def _connected_sinks(run: Run) -> dict[str, Waiting]:
    return connected_sinks({key: outlet.sink for key, outlet in run.outlets.items()})


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
    checkpoint = Checkpoint(order.checkpoint) if order.checkpoint is not None else None
    standing = checkpoint.load(query.hash) if checkpoint is not None else None
    if standing is not None:
        require_same_sources(standing, order.inlets)
    notes = Notes()
    sources = {inlet.key: open_inlet(inlet, order, query, notes) for inlet in order.inlets}
    letters = open_letters(order, standing, warn)
    live = any(source.live for source in sources.values())
    usual = engine_settings(order, query, letters.take, live=live)
    engine = query.engine(**usual | {"observer": observer} | settings)
    ids = RowIds()
    run = Run(
        engine,
        sources,
        open_outlets(order, query.plan, notes, ids, standing, warn),
        letters,
        query.hash,
        checkpoint,
        frozenset(query.linked.streams),
        query.linked.models,
        notes=notes,
        idle=order.idle is not None,
        origins={inlet.key: origin_of(inlet) for inlet in order.inlets},
        row_ids=ids,
    )
    if standing is not None:
        run.restore(standing, resume=resume)
    return run, engine


def open_inlet(inlet: Inlet, order: Order, query: Query, notes: Notes, *, waits: bool = False) -> Source:
    """A source of a run; its mapping looks up in the K of the query, or with `waits` each engine does."""
    streams, models = query.linked.streams, query.linked.models
    return open_source(
        inlet.name,
        inlet.uri,
        order.config.with_lookups(query.bundle.with_rules, waits=waits or order.watch or bool(models)),
        stream=streams[0] if len(streams) == 1 else "",
        trusted=inlet.trusted,
        notes=notes,
        spool=_spool(order, inlet),
        resumes=order.checkpoint is not None,
    )


def open_letters(order: Order, standing: Standing | None, warn: Warn) -> Letters:
    """The dead letters of a run, where a checkpoint says that they stand."""
    dead, known = order.dead_letters, None if standing is None else standing.outputs
    return Letters(dead, 0 if dead is None else continued_at(output_key(dead), dead, known, warn))


def open_outlets(
    order: Order, plan: Plan, notes: Notes, ids: RowIds, standing: Standing | None, warn: Warn
) -> dict[str, Outlet]:
    """The sinks of a run, where a checkpoint says that they stand."""
    known = None if standing is None else standing.outputs
    return {
        one.key: make_outlet(one, order, plan, notes, _start(one, order.config, known, warn), ids)
        for one in order.targets
    }


def engine_settings(
    order: Order, query: Query, on_dead_letter: OnDeadLetter, *, live: bool
) -> dict[str, Any]:
    """The settings of the engine of a run."""
    return {
        "lateness": _seconds(order.lateness),
        "idle": _seconds(order.idle),
        "future": _seconds(order.future if order.future is not None else DAY if live else None),
        "on_dead_letter": on_dead_letter,
        "max_keys": order.config.engine.get("max_keys"),
        "max_because": order.config.engine.get("max_because"),
        "gives_empty": any(writes_empty(target.form) for target in order.targets),
        "remember": 0,  # only `obep why-not` asks why not
        "prepares": partial(prepared_items, order.config, query.bundle),
    }


def _seconds(micros: int | None) -> timedelta | None:
    return None if micros is None else timedelta(microseconds=micros)


def _start(target: Target, config: Config, known: Mapping[str, int] | None, warn: Warn) -> int:
    """The position from which a sink continues; only files have one."""
    path = file_of(target, config)
    return 0 if path is None else continued_at(target.key, path, known, warn)


class Counted(Protocol):
    """As much of an engine as is counted."""

    @property
    def clock(self) -> Clock: ...

    @property
    def counters(self) -> Mapping[str, int]: ...

    @property
    def pending(self) -> int: ...


class Figures:
    """The counters of a run."""

    def __init__(self, run: Run, engine: Counted) -> None:
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
    """The number of records of standard input that the checkpoint has."""
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
        items_by_stream=run.items_by_stream,
        bindings=bindings(order, run.streams),
    )
    for _, reason in run.failed[:5]:
        progress.error("OBEP555", reason)
    return nothing or bool(run.failed)
