"""Prometheus Alertmanager (`alertmanager://host:9093`): alerts by its API v2, repeated while they fire.

Alertmanager takes an alert for resolved that it has not got for its `resolve_timeout` (5 minutes by default).
So each alert that fires is sent again every minute. What makes two alerts one is their labels.
"""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime
from itertools import islice
from threading import Condition, Thread
from typing import Any

import msgspec

from obep.config.toml_file import Config
from obep.config.toml_values import duration
from obep.errors import ObepError, fail
from obep.formats.timestamps import parse_instant, show_instant
from obep.output.json_records import AlertRecord
from obep.streams.sinks.http_post import HttpPost, Refusal
from obep.streams.sinks.queued_sink import unexpected
from obep.streams.sinks.webhook import pause
from obep.streams.stream_uri import Address
from obep.streams.tls_settings import tls_context

PORT = 9093
RESEND = 60_000_000
"""Between two times that an alert is sent, in microseconds."""
BATCH = 64
"""Alerts in one request."""
HELD = 10_000
"""Records that wait for the Alertmanager before the engine has to."""

_decode, _encode = msgspec.json.Decoder(AlertRecord).decode, msgspec.json.Encoder().encode


class PostedAlert(msgspec.Struct):
    """An alert in Alertmanager's form; instants are microseconds."""

    id: str
    labels: dict[str, str]
    annotations: dict[str, str]
    starts: int
    ends: int | None

    @property
    def identity(self) -> tuple[tuple[str, str], ...]:
        """The identity of the alert for Alertmanager."""
        return tuple(sorted(self.labels.items()))


class AlertmanagerSink:
    """Posts alerts in a thread of its own, in order, and keeps those that fire, to send them again.

    While the Alertmanager cannot be reached, records wait. What it refuses is kept in `failed`.
    """

    def __init__(
        self,
        address: Address,
        settings: Mapping[str, Any],
        config: Config,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.name = address.shown
        self.lost = ""
        self.waits: Callable[[], None] = lambda: None
        self.failed: list[tuple[str, str]] = []
        self._http = _http(address, settings, config)
        self._every = _interval(address, settings)
        self._labels = {label_name(name): value for name, value in settings.get("labels", {}).items()}
        self._clock = clock
        self._turned = Condition()
        self._waiting: dict[str, PostedAlert] = {}
        """Records that have not been taken, by their ids."""
        self._firing: dict[str, PostedAlert] = {}
        """By the id of the alert."""
        self._alike: Counter[tuple[tuple[str, str], ...]] = Counter()
        """The number of alerts with the same labels."""
        self._again: Iterator[str] = iter(())
        """The ids of those that are to be sent again now."""
        self._due = clock() + self._every
        self._hurried = self._closing = False
        self._broken: ObepError | None = None
        self._thread = Thread(target=self._run, name="obep sink", daemon=True)
        self._thread.start()

    def send(self, id: str, payload: bytes) -> None:
        """Take the line of an alert."""
        alert = self._posted(_decode(payload))
        self._wait(lambda: len(self._waiting) < HELD)
        with self._turned:
            if alert.ends is None:
                self._begin(alert)
            else:
                self._end(alert)
                if self._alike[alert.identity]:
                    return  # another alert with these labels fires, say with another FOR
            self._waiting[id] = alert
            self._turned.notify_all()

    def keep(self, payload: bytes) -> None:
        """An alert that fired before this run: it is sent again when its time comes."""
        alert = self._posted(_decode(payload))
        with self._turned:
            self._begin(alert)

    def flush(self) -> None:
        """Wait until the Alertmanager has everything, also while it cannot be reached."""
        self._wait(lambda: not self._waiting)

    def position(self) -> int:
        return 0

    def hurry(self) -> None:
        """Stop waiting for an Alertmanager that cannot be reached. May be called from a signal."""
        self._hurried = True

    def close(self) -> None:
        """Sends what waits, and ends."""
        try:
            self.flush()
        finally:
            with self._turned:
                self._closing = True
                self._turned.notify_all()
            self._thread.join()

    # --- the thread that sends

    def _run(self) -> None:
        try:
            while not self._closing:
                with self._turned:
                    batch = self._choose()
                    if not batch:
                        self._turned.wait(min(0.2, max(0.0, self._due - self._clock())))
                if batch:
                    self._deliver(batch)
        except Exception as error:  # whatever it is, it must not end this thread alone
            with self._turned:
                self._broken = unexpected(next(iter(self._waiting), self.name), error)
                self._waiting.clear()  # a run that goes on from a checkpoint sends them
                self._turned.notify_all()

    def _choose(self) -> dict[str, PostedAlert]:
        """The next alerts to send: new records, or some that are due again."""
        if self._waiting:
            return dict(islice(self._waiting.items(), BATCH))
        ids = list(islice(self._again, BATCH))
        if not ids and self._clock() >= self._due:
            self._again = iter(list(self._firing))
            self._due = self._clock() + self._every
            ids = list(islice(self._again, BATCH))
        return {id: self._firing[id] for id in ids if id in self._firing}

    def _deliver(self, batch: dict[str, PostedAlert]) -> None:
        """Send until it is taken or refused, or until the run is stopped."""
        attempts = 0
        while (refusal := self._post(batch)) is not None and refusal.passes and not self._ending:
            attempts += 1
            self.lost = refusal.reason
            self._rest(pause(attempts))
        if refusal is not None and not refusal.passes and len(batch) > 1:
            for id, alert in batch.items():  # which of them is refused, and why
                self._deliver({id: alert})
            return
        with self._turned:
            self.lost = refusal.reason if refusal is not None and refusal.passes else ""
            for id, alert in batch.items():
                if refusal is not None and (id in self._waiting or not refusal.passes):
                    self.failed.append((id, f"{self.name} did not take {id}: {refusal.reason}"))
                    self._end(alert)
                self._waiting.pop(id, None)
            self._turned.notify_all()

    def _post(self, batch: Mapping[str, PostedAlert]) -> Refusal | None:
        now = round(datetime.now(UTC).timestamp() * 1_000_000)
        return self._http.post(_encode([_as_posted(alert, now) for alert in batch.values()]), {})

    def _rest(self, seconds: float) -> None:
        until = self._clock() + seconds
        while not self._ending and (left := until - self._clock()) > 0:
            with self._turned:
                self._turned.wait(min(0.2, left))

    @property
    def _ending(self) -> bool:
        return self._hurried or self._closing

    def _begin(self, alert: PostedAlert) -> None:
        self._end(alert)
        self._firing[alert.id] = alert
        self._alike[alert.identity] += 1

    def _end(self, alert: PostedAlert) -> None:
        if (known := self._firing.pop(alert.id, None)) is not None:
            self._alike[known.identity] -= 1
            if not self._alike[known.identity]:
                del self._alike[known.identity]

    # --- the others

    def _wait(self, done: Callable[[], bool]) -> None:
        while not done():
            with self._turned:
                if not done():
                    self._turned.wait(0.2)
            self.waits()
        self._require_whole()

    def _require_whole(self) -> None:
        if self._broken is not None:
            raise self._broken

    def _posted(self, record: AlertRecord) -> PostedAlert:
        labels = {label_name(name): value for name, value in record.labels.items()}
        ends = None if record.until is None else parse_instant(record.until)
        notes = {"id": record.id, "state": record.alert, "since": _shown(parse_instant(record.since))}
        if record.ended:
            notes["ended"] = record.ended
        values: dict[str, list[str]] = {}
        for row in record.bindings:
            for name, value in row.items():
                if value not in (met := values.setdefault(label_name(name), [])):
                    met.append(value)
        annotations = {name: ", ".join(several) for name, several in values.items()} | notes
        return PostedAlert(record.id, labels | self._labels, annotations, parse_instant(record.at), ends)


def label_name(name: str) -> str:
    """A variable's name as Alertmanager allows one.

    >>> label_name("zone"), label_name("größe"), label_name("2nd")
    ('zone', 'gr_f6__df_e', '_2nd')
    """
    plain = re.sub(r"[^0-9A-Za-z_]", lambda found: f"_{ord(found[0]):x}_", name)
    return f"_{plain}" if plain[:1].isdigit() else plain


def _http(address: Address, settings: Mapping[str, Any], config: Config) -> HttpPost:
    if not address.host:
        raise fail("OBEP512", f"{address.shown}: a host is needed", remedy="alertmanager://host:9093")
    secure = address.scheme == "alertmanagers" or settings.get("tls", False)
    host = f"[{address.host}]" if ":" in address.host else address.host
    prefix = f"/{address.path.strip('/')}" if address.path.strip("/") else ""
    url = f"http{'s' if secure else ''}://{host}:{address.port or PORT}{prefix}/api/v2/alerts"
    return HttpPost(address, url, settings, tls_context(settings, config) if secure else None)


def _interval(address: Address, settings: Mapping[str, Any]) -> float:
    given = address.option("resend")
    every = duration(given, "resend") if given else settings.get("resend", RESEND)
    if not every:
        raise fail(
            "OBEP503", f"{address.shown}: resend is a duration greater than zero", remedy="resend=1min"
        )
    return float(every / 1_000_000)


def _as_posted(alert: PostedAlert, now: int) -> dict[str, object]:
    """The JSON object of an alert. Alertmanager refuses one that ends before it begins, and one of the
    future does not fire: an instant that has not come is now."""
    starts = min(alert.starts, now)
    posted: dict[str, object] = {
        "labels": alert.labels,
        "annotations": alert.annotations,
        "startsAt": _shown(starts),
    }
    if alert.ends is not None:
        posted["endsAt"] = _shown(max(starts, min(alert.ends, now)))
    return posted


def _shown(instant: int) -> str:
    return str(show_instant(instant))
