"""Write the progress, summary and warnings of a run to standard error, as text or JSON."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Callable, Collection, Iterable, Mapping

from obep.errors import Diagnostic
from obep.formats.timestamps import Style, show_instant
from obep.run.terminal_text import plain
from obep.secrets import hide, hide_in

BAR = 20
"""Characters of the bar."""


class Progress:
    """Without a terminal it shows only what went wrong; if quiet, only why the run failed."""

    def __init__(self, *, quiet: bool = False, as_json: bool = False, ignore: Collection[str] = ()) -> None:
        self._out = sys.stderr
        self._json = as_json
        self._quiet = quiet
        self._ignore = ignore
        self._moves = self._out.isatty() and not quiet and not as_json
        self._talks = self._moves or (as_json and not quiet)
        self._begun = time.monotonic()
        self._shown = 0.0
        self._width = 0

    def move(self, figures: Callable[[], Mapping[str, object]]) -> None:
        """Shows how far the run is, twice a second at most."""
        now = time.monotonic()
        if not self._moves or now - self._shown < 0.5:
            return
        self._shown = now
        line = _line(figures(), now - self._begun)
        self._out.write(f"\r{line:<{self._width}}")
        self._width = len(line)
        self._out.flush()

    def end(self, figures: Mapping[str, object], stopped: bool) -> None:
        """Shows what the run came to."""
        self._clear()
        seconds = round(time.monotonic() - self._begun, 3)
        if self._json and self._talks:
            self._say(
                {"level": "info", "message": "stopped" if stopped else "done", "seconds": seconds, **figures}
            )
        elif self._talks:
            self._out.write(f"{'Stopped. ' if stopped else ''}{_line(figures, seconds)}, {seconds:.1f} s\n")
            if figures.get("items") and figures.get("occurrences") == 0 and not stopped:
                self._out.write("Nothing was found. obep why-not EVENT QUERY shows what was missing.\n")

    def warn(self, code: str, message: str, remedy: str = "") -> None:
        """Says what went wrong, also without a terminal, and what may help."""
        self.show(Diagnostic(code, message, remedy=remedy, severity="warning"))

    def error(self, code: str, message: str, remedy: str = "") -> None:
        """Says why the run failed, and what may help."""
        self.show(Diagnostic(code, message, remedy=remedy))

    def say(self, message: str, lines: Iterable[str], record: Mapping[str, object] | None = None) -> None:
        """Says what has happened, with more lines or, as JSON, a record; nothing if quiet."""
        if self._quiet:
            return
        self._clear()
        if self._json:
            self._say({"level": "info", "message": message, **(record or {})})
        else:
            self._out.write("".join(f"{plain(line)}\n" for line in (message, *(f"  {one}" for one in lines))))
        self._out.flush()

    def show(self, one: Diagnostic) -> None:
        """Show a diagnostic, unless it is a warning that is switched off."""
        if one.severity == "warning" and (self._quiet or one.code in self._ignore):
            return
        self._clear()
        if self._json:
            more = {key: text for key in ("reason", "remedy") if (text := getattr(one, key))}
            self._say({"level": one.severity, "code": one.code, "message": one.message, **more})
        else:
            self._out.write(f"{one}\n")

    def _clear(self) -> None:
        if self._width:
            self._out.write(f"\r{'':<{self._width}}\r")
            self._width = 0

    def _say(self, record: Mapping[str, object]) -> None:
        self._out.write(json.dumps(hide_in(record), ensure_ascii=True, default=str) + "\n")


def _line(figures: Mapping[str, object], seconds: float) -> str:
    items = int(str(figures.get("items", 0)))
    parts = [f"{items:,} item{'' if items == 1 else 's'} ({items / max(seconds, 1e-3):,.0f}/s)"]
    found = int(str(figures.get("occurrences", 0)))
    parts.append(f"{found:,} occurrence{'' if found == 1 else 's'}")
    parts += [f"{figures.get(name, 0):,} {name}" for name in ("late", "refused")]
    others = ("pending", "undelivered", "unknown", "evicted")
    parts += [f"{figures[name]:,} {name}" for name in others if figures.get(name)]
    if figures.get("watermark") is not None:
        parts.insert(2, f"watermark {figures['watermark']}")
    if figures.get("lag") is not None:
        parts.insert(3, f"{figures['lag']:,.1f} s behind")
    if isinstance(share := figures.get("share"), float):
        parts.insert(0, f"[{'#' * int(BAR * share):<{BAR}}] {share:.0%}")
    if figures.get("state"):
        parts.append(f"state {int(str(figures['state'])) / 1e6:,.1f} MB")
    if isinstance(skew := figures.get("skew"), float) and skew >= 2:
        parts.append(f"busiest bucket {skew:.1f} times the average")
    if figures.get("holding"):
        parts.append(f"waiting for {plain(hide(str(figures['holding'])))}")
    return ", ".join(parts)


def shown_watermark(watermark: int | None, style: Style | None) -> str | int | float | None:
    """The watermark as the instants of the stream are written."""
    return None if watermark is None else show_instant(watermark, style or "iso")
