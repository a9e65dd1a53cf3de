"""Health and metrics of a run over HTTP (`--metrics :9464`): `/metrics` in Prometheus' text, `/health`."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any

from obep.errors import fail
from obep.secrets import hide_in

Figures = Mapping[str, float | Mapping[str, float]]
"""Names of metrics with their value, or with values by a label's value."""

LABELS = {
    "occurrences_total": "event",
    "refused_total": "code",
    "items_total": "stream",
    "holding": "stream",
}
HELP = {
    "items_total": "Items that were read.",
    "occurrences_total": "Occurrences that were found.",
    "refused_total": "Records that went to the dead letters.",
    "late_total": "Items that came after the watermark.",
    "watermark_seconds": "The watermark, in seconds since the epoch.",
    "pending": "Deadlines that are not decided yet.",
    "unknown_total": "Statements whose class or property is not in the ontology.",
    "capped_total": "Events with more explanations in one item than are kept.",
    "undecided_total": "Items that needed the reasoner and had none.",
    "evicted_total": "Values of PARTITION BY that were discarded because of max_keys.",
    "undelivered_total": "Occurrences that a sink did not take.",
    "state_bytes": "Memory of the state stores (Spark).",
    "bucket_skew": "How much more the busiest bucket found than one has on average (Spark).",
    "lag_seconds": "How far the watermark is behind the system clock.",
    "holding": "The streams that hold the watermark back.",
    "state_size": "Candidates and occurrences that are remembered.",
    "up": "1 while the run continues.",
}


class Endpoint:
    """Serves the figures of a run until it is closed."""

    def __init__(
        self, where: str, figures: Callable[[], Figures], ready: Callable[[], bool] = lambda: True
    ) -> None:
        """`ready` says whether the sources are connected; before that `/health` says that the run starts."""
        host, _, port = where.rpartition(":")
        if not port.isdecimal() or int(port) > 65535:
            raise fail("OBEP514", f"{where!r} is not an address for metrics", remedy="--metrics :9464")
        handler = type("Answer", (_Answer,), {"figures": staticmethod(figures), "ready": staticmethod(ready)})
        try:
            self._server = ThreadingHTTPServer((host.strip("[]") or "127.0.0.1", int(port)), handler)
        except OSError as error:
            raise fail("OBEP514", f"no metrics at {where}: {error.strerror}") from None
        self.port: int = self._server.server_port
        Thread(target=self._server.serve_forever, name="obep metrics", daemon=True).start()

    def close(self) -> None:
        self._server.shutdown()
        self._server.server_close()


class _Answer(BaseHTTPRequestHandler):
    figures: Callable[[], Figures]
    ready: Callable[[], bool]
    wbufsize = -1  # head and body are sent at once: a run that ends leaves no half answer

    def do_GET(self) -> None:
        if self.path == "/metrics":
            self._say(200, "text/plain; version=0.0.4", prometheus(hide_in(self.figures())))
        elif self.path in ("/health", "/healthz"):
            status, word = (200, "ok") if self.ready() else (503, "starting")
            figures = hide_in(self.figures())
            self._say(status, "application/json", json.dumps({"status": word, **figures}) + "\n")
        else:
            self._say(404, "text/plain", "/metrics or /health\n")

    def log_message(self, format: str, *args: Any) -> None:
        """Says nothing: standard error is the run's."""

    def _say(self, status: int, kind: str, text: str) -> None:
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


def prometheus(figures: Figures) -> str:
    """Figures in Prometheus' text format.

    >>> print(prometheus({"items_total": {"doors": 3}}), end="")
    # HELP obep_items_total Items that were read.
    # TYPE obep_items_total counter
    obep_items_total{stream="doors"} 3
    """
    lines = []
    for name, value in figures.items():
        lines.append(f"# HELP obep_{name} {HELP.get(name, name)}")
        lines.append(f"# TYPE obep_{name} {'counter' if name.endswith('_total') else 'gauge'}")
        if isinstance(value, Mapping):
            label = LABELS.get(name, "name")
            lines.extend(
                f'obep_{name}{{{label}="{_escaped(key)}"}} {number}' for key, number in value.items()
            )
        else:
            lines.append(f"obep_{name} {value}")
    return "\n".join(lines) + "\n"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
