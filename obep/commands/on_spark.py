"""A run on Spark as the program runs it: progress on standard error, signals, exit status."""

from __future__ import annotations

import re
import signal
import sys
import time
from types import FrameType
from typing import Any

from obep.commands.progress import Progress, shown_watermark
from obep.commands.refusals import complain, remark
from obep.commands.terminal import escaped
from obep.engine.blocks import NOTED
from obep.engine.query import load
from obep.errors import ObepError
from obep.streams.order import Order
from obep.streams.refused import refused

FAILED, MENDABLE, INTERRUPTED, TERMINATED = 1, 2, 130, 143

STOPPED, REFUSED = "OBEP655", "OBEP552"
_NOT_LET_IN = re.compile(r"\.(Sasl|Ssl)AuthenticationException: (.*?)(?: SQLSTATE.*)?$", re.MULTILINE)
"""How the client of Kafka says, somewhere in Java's words, that the broker and we do not trust each other."""


def run_on_spark(order: Order) -> int:
    """Runs the query; the exit status."""
    from obep.spark.compose import SparkRun

    progress = Progress(quiet=order.quiet, as_json=order.log_json)
    query = load(
        order.query,
        allowed=order.config.allowed,
        catalogue=order.config.catalogue,
        cache_dir=order.config.cache,
        strict=order.strict,
        require_complete=order.require_complete,
    )
    for diagnostic in query.warnings if not order.quiet else ():
        print(f"{diagnostic}\n", file=sys.stderr)
    run = SparkRun(order, query, for_terminal=escaped)
    run.on_turn = lambda: progress.move(lambda: figures(run))
    endpoint = _endpoint(order.metrics, run) if order.metrics else None
    caught: list[int] = []
    before = {number: _catch(number, run, caught) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        run.go()
        run.close()
    except ObepError:
        raise  # said before anything ran: the user's to mend
    except Exception as error:  # Spark's own errors have many classes, and most are Java's
        progress.end(figures(run), stopped=True)
        text = explained(error, order)
        print(text, file=sys.stderr)
        return MENDABLE if text.startswith(REFUSED) else FAILED
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
        if endpoint is not None:
            endpoint.close()
    progress.end(figures(run), stopped=bool(caught))
    remark(run.tally.noted, progress)
    failed = _complain(run, order, progress)
    if caught:
        return INTERRUPTED if caught[0] == signal.SIGINT else TERMINATED
    return FAILED if failed else 0


def figures(run: Any) -> dict[str, object]:
    """For people: the progress line and the summary."""
    tally = run.tally
    return {
        "items": tally.processed + tally.late,
        "occurrences": tally.occurrences,
        "late": tally.late,
        "refused": tally.refused,
        "watermark": shown_watermark(tally.watermark, tally.style),
        "holding": ", ".join(tally.holding) if run.order.idle is not None else "",
        "pending": sum(tally.pending.values()),
        "undelivered": len(run.delivery.failed),
        "unknown": tally.noted["unknown"],
        "lag": lag(run),
        "state": run.state_bytes,
        "skew": tally.skew,
    }


def lag(run: Any) -> float | None:
    """How many seconds the watermark of a live run lies behind the clock on the wall."""
    watermark = run.tally.watermark
    if not run.live or watermark is None or run.tally.style == "integer":
        return None
    return max(0.0, time.time() - int(watermark) / 1_000_000)


def explained(error: Exception, order: Order) -> str:
    """What went wrong, without the traces of three languages: in our own words if there are any."""
    text = str(error)
    if kept_out := _NOT_LET_IN.search(text):
        brokers = ", ".join(inlet.shown for inlet in order.inlets if "kafka://" in inlet.uri)
        return str(refused(brokers, kept_out[2], certificate=kept_out[1] == "Ssl"))
    ours = re.search(r"OBEP\d{3}  .*?(?=\n\s*\n|\n\s+at |\nJVM stacktrace|\Z)", text, re.DOTALL)
    if ours:
        return ours[0].rstrip()
    lines = [line for line in text.splitlines() if line.strip()]
    last = next((line for line in reversed(lines) if re.match(r"\w*(Error|Exception)\b", line)), "")
    return f"{STOPPED}  Spark stopped: {lines[0] if lines else type(error).__name__}" + (
        f"\n  {last}" if last else ""
    )


def _catch(number: int, run: Any, caught: list[int]) -> Any:
    def ask(number: int, frame: FrameType | None) -> None:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)
        caught.append(number)
        run.stop()

    return signal.signal(number, ask)


def _endpoint(where: str, run: Any) -> Any:
    from obep.streams.endpoint import Endpoint

    return Endpoint(where, lambda: metrics(run))


def metrics(run: Any) -> dict[str, Any]:
    """For Prometheus."""
    tally, delivery = run.tally, run.delivery
    return {
        "up": 1,
        "items_total": tally.processed + tally.late,
        "occurrences_total": dict(delivery.occurrences),
        "late_total": tally.late,
        "refused_total": {code: n for code, n in delivery.letter_counts.items() if code != "OBEP640"},
        "undelivered_total": len(delivery.failed),
        "pending": sum(tally.pending.values()),
        **{f"{name}_total": tally.noted[name] for name in NOTED},
        "state_bytes": run.state_bytes,
        "bucket_skew": tally.skew,
        **({} if tally.watermark is None else {"watermark_seconds": tally.watermark / 1_000_000}),
        **({} if (behind := lag(run)) is None else {"lag_seconds": behind}),
        **({"holding": dict.fromkeys(tally.holding, 1)} if tally.holding else {}),
    }


def _complain(run: Any, order: Order, progress: Progress) -> bool:
    """Says what did not go well, also where nobody watches a terminal; whether the run failed by it."""
    delivery, kept = run.delivery, order.dead_letters is not None
    counts, first = delivery.letter_counts, delivery.first_letters
    taken = run.tally.processed
    whole = () if taken else tuple(first.values())
    nothing = complain(counts, first, progress, kept=kept, taken=taken, query=run.query, whole=whole)
    for id, reason in delivery.failed[:5]:
        progress.error("OBEP555", f"{id}: {reason}")
    return nothing or bool(delivery.failed)
