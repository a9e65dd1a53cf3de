"""Settings for reading the records of a stream, and notes about what was read."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, tzinfo
from typing import TYPE_CHECKING, Any

from obep.formats.input_limits import Limits, Refused
from obep.formats.timestamps import Style, parse_instant, style_of_text
from obep.model import DeadLetter, Item, Term

if TYPE_CHECKING:
    from obep.formats.record_mapping import Mapping
    from obep.formats.time_hints import Doubt

GENERATED_AT = "<http://www.w3.org/ns/prov#generatedAtTime>"
NO_ARRIVAL = ", and a file has no time of arrival"
SHOWN = 4000
"""Characters of a refused record that its dead letter shows: all of what most devices send."""


@dataclass(frozen=True, slots=True)
class FirstTimes:
    """The first two instants of a source that differ, and why the unit of the first one is doubtful."""

    first: int
    doubt: Doubt | None = None
    second: int | None = None

    @property
    def settled(self) -> bool:
        """Whether no further instant can change what is known about the unit."""
        return self.doubt is None or self.second is not None

    @property
    def wrong_unit(self) -> Doubt | None:
        """The doubt, unless the second instant lies too far from the first one for it."""
        if self.doubt is None or self.second is None or self.doubt.holds(self.second):
            return self.doubt
        return None

    def then(self, later: FirstTimes) -> FirstTimes:
        """The times of a source in which those of `later` follow these."""
        if self.settled:
            return self
        second = later.first if later.first != self.first else later.second
        return FirstTimes(self.first, self.doubt, second)


@dataclass(slots=True)
class Notes:
    """Notes of a reader: for the summary, and to print instants in the style of the input."""

    arrivals: int = 0
    """Items that had no time and took that of their arrival."""
    likely: str = ""
    """Where the time of the first of them probably stands."""
    styles: dict[str, Style] = field(default_factory=dict)
    """By source, how the first time in it was written."""
    firsts: dict[str, FirstTimes] = field(default_factory=dict)
    """By source, its first times; they show whether the unit is probably not the one that was set."""
    settled: set[str] = field(default_factory=set)
    """The sources about whose times nothing more is noted."""
    said: list[tuple[str, str]] = field(default_factory=list)
    """Warnings about a source, each a code and a message, until they are shown."""

    @property
    def doubts(self) -> dict[str, Doubt]:
        """By source, why the unit of its times is probably not the one that was set."""
        return {source: doubt for source, one in self.firsts.items() if (doubt := one.wrong_unit)}

    @property
    def style(self) -> Style | None:
        """The style of printed instants: numbers of seconds if all sources use them."""
        styles = self.styles.values()
        return "iso" if "iso" in styles else "integer" if styles else None


@dataclass(slots=True)
class Reading:
    """The settings of one stream's reader."""

    stream: str = ""
    """The stream of records that name none; with `rename`, of all."""
    rename: bool = False
    source: str = ""
    """Where the records come from, to tell sources of one run apart."""
    unit: str = "s"
    """The unit of times that are numbers."""
    zone: tzinfo = UTC
    """The zone of times that are texts without one."""
    time_property: Term = GENERATED_AT
    """The property that gives the time of a graph that has no envelope around it."""
    prologue: str = ""
    """`@prefix` lines put before Turtle in JSON lines, so that messages can be short."""
    mapping: Mapping | None = None
    mapped: tuple[str, ...] = ()
    """The streams that have a mapping, where the source is bound to none and so has none itself."""
    extra: dict[str, Any] = field(default_factory=dict)
    """Fields that mappings see beside those of a record: the topic of its message, say."""
    arrival: Callable[[], int] | None = None
    """Gives the time of items that have none; without it they are refused (a file has no arrival, or a
    mapping names the field of the time)."""
    limits: Limits = field(default_factory=Limits)
    growing: bool = False
    """Whether more may come after the end, for another run: what is not finished there is left for it."""
    notes: Notes = field(default_factory=Notes)
    lazily: bool = False
    """Whether records may come as `Mapped`, without their triples."""
    in_program: bool = False
    """Whether a program gives the mapping, so that messages do not name obep.toml."""

    def instant(
        self,
        value: str | int | float | None,
        unit: str = "",
        guess: Callable[[], str] = lambda: "",
        zone: tzinfo | None = None,
    ) -> int:
        """The instant that a record's time stands for; `guess` says where else the time may stand."""
        if value is None or value == "":
            if self.arrival is None:
                likely = guess()
                hint = f": {likely}" if likely else "" if self.in_program else NO_ARRIVAL
                raise Refused("OBEP602", f"there is no time{hint}")
            if not self.notes.arrivals:
                self.notes.likely = guess()
            self.notes.arrivals += 1
            return self.arrival()
        try:
            at = parse_instant(value, unit or self.unit, zone or self.zone)
        except ValueError as error:
            raise Refused("OBEP603", f"time: {error}{self._hint(value, unit or self.unit)}") from None
        if self.source not in self.notes.settled:
            self._note(value, at, unit or self.unit)
        return at

    def _note(self, value: str | int | float, at: int, unit: str) -> None:
        """Note how the first time is written and whether its unit is doubtful, and the next other one."""
        from obep.formats.time_hints import doubtful_unit

        notes, source = self.notes, self.source
        here = FirstTimes(at)
        if source not in notes.firsts:
            notes.styles[source] = style_of_text(value) if unit == "s" else "iso"
            here = FirstTimes(at, doubtful_unit(value, at, unit, self.place("for its source")))
        else:
            here = notes.firsts[source].then(here)
        notes.firsts[source] = here
        if here.settled:
            notes.settled.add(source)

    def place(self, where: str) -> str:
        """Where a setting belongs, for messages: obep.toml, or the mapping of a program."""
        return "in the mapping" if self.in_program else f"{where} in obep.toml"

    def _hint(self, value: str | int | float, unit: str) -> str:
        """Suggest a setting for a time that cannot be read."""
        from obep.formats.time_hints import likely_form, likely_unit
        from obep.formats.zones import has_no_zone

        if found := likely_unit(value, unit):
            return f"; {found.meant}: {found.setting(self.place('for its source'))}"
        if isinstance(value, str) and (form := likely_form(value)):
            place = self.place("in the mapping of its source")
            read = f'; time_format = "{form}" {place} would read it'
            zone = ', and zone = "Europe/Berlin" there, say, if it is not UTC'
            return f"{read}{zone}" if has_no_zone(form) else read
        return ""

    def leave(self, what: str, more: str = "") -> None:
        """Notes that the end of the input is left for the next run."""
        left = f"{what} is not finished, and is left for the next run{more}"
        self.notes.said.append(("OBEP592", f"{self.source or self.stream}: {left}"))

    def without_mapping(self) -> str:
        """Suggest a mapping for records that need one."""
        if not self.mapped:
            return "give the stream a mapping in obep.toml"
        given = " or ".join(f"--source {stream}={self.source}" for stream in self.mapped)
        return f"{given} reads them with the mapping in obep.toml"

    def named(self, stream: str | None) -> str:
        """The stream of a record that says it belongs to `stream`."""
        return self.stream if self.rename or not stream else stream


def as_sent(item: Item) -> str:
    """The record that an item was read from, as far as one is known; else its triples."""
    if item.sent:
        return item.sent.decode("utf-8", "replace").rstrip("\r\n")
    said = " ".join(f"{s} {p} {o} ." for s, p, o in item.triples)
    if item.removed is None:
        return said
    gone = " ".join(f"{s} {p} {o} ." for s, p, o in item.removed)
    return f"DELETE DATA {{ {gone} }} ; INSERT DATA {{ {said} }}"


def dead(
    refused: Refused, stream: str, raw: bytes | str, at: int | None = None, *, line: int = 0
) -> DeadLetter:
    """The dead letter of a refused record, with the beginning of what it was."""
    shown = raw[: SHOWN * 4].decode("utf-8", "replace") if isinstance(raw, bytes) else raw
    shown = shown.rstrip("\r\n")
    shown = shown if len(shown) <= SHOWN else f"{shown[:SHOWN]}…"
    return DeadLetter(stream, at, refused.code, refused.reason, shown, line)
