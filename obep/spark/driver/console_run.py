"""A run on Spark as the program runs it: progress on standard error, signals, exit status."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from obep.abstraction.matcher import NOTED
from obep.engine.query import Query
from obep.engine.replacing.running import EVICTED
from obep.engine.time_letters import LATE
from obep.errors import ObepError, Stopped, fail
from obep.formats.stream_reader import Notes
from obep.run.progress import Progress, shown_watermark
from obep.run.refused_records import complain
from obep.run.run_locks import Locks
from obep.run.run_notes import Absences, connected_sinks, opened, say_noted, say_skipped
from obep.run.run_spec import Order, bindings
from obep.run.signals import exit_status
from obep.run.terminal_text import escaped, plain
from obep.run.watched_run import watch
from obep.secrets import hide
from obep.spark.connectors.heartbeat import other_sources
from obep.spark.driver.detection import require_returns
from obep.spark.driver.spark_errors import our_words
from obep.spark.stages.worker import streams_of
from obep.streams.login_refused import refused

if TYPE_CHECKING:
    from obep.run.run_lints import RunLints
    from obep.spark.driver.spark_run import SparkRun
    from obep.spark.driver.tally import Tally

FAILED, MENDABLE = 1, 2

STOPPED, REFUSED, UNDELIVERED, NOT_TAKEN = "OBEP655", "OBEP552", "OBEP555", "OBEP586"
MOST_RESULTS = "spark.driver.maxResultSize"
_KAFKA = re.compile(
    r"org\.apache\.kafka\.common\.errors\.(\w+)Exception: (.*?)(?: SQLSTATE.*)?$", re.MULTILINE
)
"""What the client of Kafka says, somewhere in Java's words."""
_OPTION = re.compile(
    r"org\.apache\.kafka\.common\.config\.ConfigException: (.*?)(?: SQLSTATE.*)?$", re.MULTILINE
)


def run_on_spark(order: Order) -> int:
    """Runs the query; the exit status."""
    progress = Progress(quiet=order.quiet, as_json=order.log_json, ignore=order.config.ignore)
    if "max_because" in order.config.engine:
        raise fail(
            "OBEP588",
            "max_because is set, which the Spark engine does not know",
            reason="On Spark the explanations of the last 100 rows of a group are kept.",
            remedy="no max_because under [engine] in obep.toml; or --engine embedded",
        )
    query = opened(order)
    require_returns([query])  # before Spark starts
    with Locks() as locks:
        locks.take(order)
        locks.take_folders(order)
        return _run(order, query, progress)


def _run(order: Order, query: Query, progress: Progress) -> int:
    from obep.spark.driver.spark_run import SparkRun

    run = SparkRun(order, query, for_terminal=escaped)
    lints = _lints(run, progress)
    absences = Absences()
    run.on_turn = lambda: _turn(run, progress, absences, lints)
    run.on_opened = lambda: say_skipped(run.skipped, progress)
    if order.watch:
        from obep.spark.driver.replaced_query import SparkWatch

        run.watch = SparkWatch(order, query, Notes(), progress)
    endpoint = _endpoint(order.metrics, run) if order.metrics else None
    caught, status = watch(run, progress, lambda: figures(run), endpoint, lambda error: _broken(error, run))
    if status is not None:
        return status
    say_noted(run.delivery.said, progress)
    failed = _complain(run, order, progress)
    if lints is not None:
        lints.end(
            run.stats,
            run.delivery.letters,
            streams_of(query),
            run.tally.noted,
            found={f"<{event}>" for event in run.delivery.occurrences},
            style=run.tally.style,
            taken=run.tally.processed,
            stopped=bool(caught),
            live=run.live,
        )
    if caught:
        return exit_status(caught[0])
    return FAILED if failed else 0


def _lints(run: SparkRun, progress: Progress) -> RunLints | None:
    """The lints of a run, if they are wanted; those about its configuration are shown."""
    if not run.order.lints:
        return None
    from obep.lints.rules.stream.duplicate_explanations import LOOKED_AT
    from obep.run.run_lints import RunLints
    from obep.spark.connectors.spark_sources import address_of, lives

    lints = RunLints(run.query, run.order, progress)
    run.compares = LOOKED_AT if lints.rules.compares else 0
    endless, ending = (
        [inlet.name or inlet.shown for inlet in run.order.inlets if lives(address_of(inlet)) is live]
        for live in (True, False)
    )
    lints.check_config(endless, ending)
    return lints


def _turn(run: SparkRun, progress: Progress, absences: Absences, lints: RunLints | None) -> None:
    """Show warnings about connections and first times as they come up, and the progress."""
    absences.look({**run.ends, **connected_sinks(run.delivery.sinks)}, progress)
    say_noted(run.delivery.said, progress)
    if lints is not None:
        lints.turn(run.stats)
    progress.move(lambda: figures(run))


def figures(run: SparkRun) -> dict[str, object]:
    """For people: the progress line and the summary."""
    tally = run.tally
    return {
        "items": tally.items,
        "occurrences": tally.occurrences,
        "late": tally.late,
        "refused": tally.refused,
        "watermark": shown_watermark(tally.watermark, tally.style),
        "holding": ", ".join(tally.holding) if run.order.idle is not None else "",
        "pending": sum(tally.pending.values()),
        "undelivered": len(run.delivery.failed),
        "unknown": tally.noted["unknown"],
        EVICTED: tally.noted[EVICTED],
        "lag": lag(run),
        "state": run.state_bytes,
        "skew": tally.skew,
    }


def lag(run: SparkRun) -> float | None:
    """How many seconds the watermark of a live run lies behind the clock on the wall."""
    return run.tally.lag if run.live else None


def _broken(error: Exception, run: SparkRun) -> tuple[str, int] | None:
    if isinstance(error, ObepError):  # what is said before anything ran is the user's to mend
        return (str(error), FAILED) if isinstance(error, Stopped) or error.code == UNDELIVERED else None
    text = explained(error, run.order)  # Spark's own errors have many classes, and most are Java's
    return text, status_of(text, run.tally)


def status_of(text: str, tally: Tally) -> int:
    """The exit status of a run that stopped; one may mend a broker that never answered, or a setting."""
    return MENDABLE if text.startswith((REFUSED, NOT_TAKEN)) and not tally.pending else FAILED


def explained(error: Exception, order: Order) -> str:
    """What went wrong, without the traces of three languages: in our own words if there are any."""
    text = str(error).strip() or type(error).__name__
    return "\n".join(map(plain, hide(_explained(text, order)).split("\n")))


def _explained(text: str, order: Order) -> str:
    if wrong := _OPTION.search(text):
        reads = ", ".join(inlet.shown for inlet in order.inlets if "kafka://" in inlet.uri)
        return str(fail(NOT_TAKEN, f"{reads}: Kafka's client does not take an option", reason=wrong[1]))
    if said := _KAFKA.search(text):
        return _of_kafka(said[1], said[2], order)
    if ours := our_words(text):
        return ours
    if changed := other_sources(text):
        return str(changed)
    if MOST_RESULTS in text:
        remedy = f"--sink FOLDER.parquet (the executors write it), or --conf {MOST_RESULTS}=8g"
        return str(fail(STOPPED, "a micro-batch has more results than the driver may take", remedy=remedy))
    lines = [line for line in text.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if re.match(r"\w*(Error|Exception)\b", line)), "")
    return f"{STOPPED}  Spark stopped: {lines[0]}" + (f"\n  {last}" if last else "")


def _of_kafka(kind: str, why: str, order: Order) -> str:
    """What the broker of a source says, by the class of Java's exception."""
    brokers = ", ".join(inlet.shown for inlet in order.inlets if "kafka://" in inlet.uri)
    if kind in ("SaslAuthentication", "SslAuthentication"):
        return str(refused(brokers, why, certificate=kind == "SslAuthentication"))
    if kind == "UnknownTopicOrPartition":
        return str(fail(REFUSED, f"{brokers}: there is no such topic"))
    if kind == "Timeout":
        return str(fail(REFUSED, f"{brokers} does not answer: {why}"))
    return f"{STOPPED}  Spark stopped: {brokers}: {why}"


def _endpoint(where: str, run: SparkRun) -> Any:
    from obep.run.metrics_endpoint import Endpoint

    return Endpoint(where, lambda: metrics(run), lambda: run.listens)


def metrics(run: SparkRun) -> dict[str, Any]:
    """For Prometheus, from another thread: what the run changes meanwhile is copied before it is read."""
    tally, delivery = run.tally, run.delivery
    letters = dict(delivery.letters.counts)
    return {
        "up": 1,
        "items_total": tally.items,
        "occurrences_total": dict(delivery.occurrences),
        "late_total": tally.late,
        "refused_total": {code: n for code, n in letters.items() if code != LATE},
        "undelivered_total": len(delivery.failed),
        "pending": sum(dict(tally.pending).values()),
        **{f"{name}_total": tally.noted[name] for name in (*NOTED, EVICTED)},
        "state_bytes": run.state_bytes,
        "bucket_skew": tally.skew,
        **({} if tally.watermark is None else {"watermark_seconds": tally.watermark / 1_000_000}),
        **({} if (behind := lag(run)) is None else {"lag_seconds": behind}),
        **({"holding": dict.fromkeys(tally.holding, 1)} if tally.holding else {}),
    }


def _complain(run: SparkRun, order: Order, progress: Progress) -> bool:
    """Report refused records and failed deliveries. Returns whether the run failed by them."""
    streams = streams_of(run.query)
    nothing = complain(
        run.delivery.letters,
        progress,
        kept=order.dead_letters is not None,
        taken=run.tally.processed,
        query=run.query,
        streams=streams,
        items_by_stream=run.stats.items,
        bindings=bindings(order, streams),
    )
    for _, reason in run.delivery.failed[:5]:
        progress.error("OBEP555", reason)
    return nothing or bool(run.delivery.failed)
