"""Guesses about times that were not found or not understood, for dead letters: what to set in obep.toml."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from difflib import get_close_matches
from itertools import chain, islice
from typing import Any, NamedTuple

import msgspec

from obep.formats.record_arrays import WHOLE
from obep.formats.record_fields import Record, look_up
from obep.formats.timestamps import UNITS, parse_instant, show_instant

LIKELY = frozenset(
    (
        "timestamp", "ts", "datetime", "date", "at", "when", "epoch", "instant", "utc", "timems", "timens",
        "observed", "created", "sent", "observedat", "measuredat", "recordedat", "createdat", "sentat",
        "phenomenontime", "resulttime", "eventtime", "observationtime", "measurementtime", "recordtime",
    )
)  # fmt: skip
"""Names of fields that devices put times in, in lower case and without `_`, `-` and spaces."""

FORMS = (
    "%d.%m.%Y %H:%M:%S",
    "%d.%m.%Y %H:%M",
    "%d.%m.%Y",
    "%m/%d/%Y %H:%M:%S",
    "%m/%d/%Y %H:%M",
    "%m/%d/%Y %I:%M:%S %p",
    "%m/%d/%Y %I:%M %p",
    "%d/%m/%Y %H:%M:%S",
    "%d/%m/%Y %H:%M",
    "%Y/%m/%d %H:%M:%S",
    "%Y/%m/%d %H:%M",
    "%Y%m%dT%H%M%SZ",
    "%a, %d %b %Y %H:%M:%S %z",
    "%a %b %d %H:%M:%S %Y",
    "%d/%b/%Y:%H:%M:%S %z",
)
"""Ways to write a date-time that are not ISO 8601."""

SEARCHED, LONGEST = 50, 64
"""Fields of a record, and their letters, among which one that was misspelt is looked for."""
LISTED = 12
"""Fields of a record that a message names."""
ELEMENTS = 4
"""Elements of an array whose fields are looked at: the others mostly have the same."""
DEEPEST = 8
"""The greatest depth of objects and arrays that is searched for a field."""
BEGINNING = 3
"""Letters that two names share at least, if one is the beginning of the other."""

GZIP, UTF16 = b"\x1f\x8b", (b"\xff\xfe", b"\xfe\xff")
"""The first bytes of compressed data, and of UTF-16 text of some Windows programs."""
AS_CSV = 'a file ends in .csv, standard input is -.csv, others set format = "csv" in obep.toml'
_NO_CSV = re.compile(rb"""[\[\]{}]|\A\s*([<@#]|"[^"]*"\s*:)""")

NAMING = ("id", "@id", "device", "deviceid", "sensor", "sensorid", "name", "station", "machine", "tag", "uid")
"""Names of fields that say who a record is about, as `LIKELY` is written."""

NOW = range(parse_instant("1990-01-01"), parse_instant("2100-01-01"))
"""Where the times of devices mostly lie."""
DAY = 86_400_000_000


def likely_time(record: dict[str, Any]) -> str:
    """The field that probably holds the time of a record, or nothing.

    >>> likely_time({"id": 1, "meta": {"phenomenonTime": "2026-01-01T10:00:00Z"}})
    'meta.phenomenonTime'
    >>> likely_time({"machine": 7, "t": 1767261600, "watts": 2100})
    't'
    """
    fields = flat_fields(record)
    return written_time(fields) or counted_time(fields)


def written_time(fields: Mapping[str, Any]) -> str:
    """The field that is called like a time, or has one written out."""
    named = (path for path, value in fields.items() if last_step(path) in LIKELY and _is_time(value))
    written = (path for path, value in fields.items() if isinstance(value, str) and is_date_time(value))
    return next(named, next(written, ""))


class LikelyUnit(NamedTuple):
    """A unit in which a number is a recent time, and that time."""

    unit: str
    at: int

    @property
    def meant(self) -> str:
        """The number as a time in this unit."""
        return f"in {self.unit} it would be {show_instant(self.at)}"

    def setting(self, place: str) -> str:
        """The setting for it; `place` says where it is set."""
        return f'unit = "{self.unit}" {place}'


def likely_unit(value: str | int | float, unit: str) -> LikelyUnit | None:
    """Another unit in which a number is a recent time, if there is one.

    >>> likely_unit(1767261600000, "s").meant
    'in ms it would be 2026-01-01T10:00:00Z'
    """
    for other in UNITS:
        try:
            at = parse_instant(value, other)
        except ValueError:
            continue
        if other != unit and at in NOW:
            return LikelyUnit(other, at)
    return None


@dataclass(frozen=True, slots=True)
class Doubt:
    """Why the unit of a source's times is probably another: its first time, and what that would be."""

    said: str
    remedy: str
    at: int
    most: int
    """The greatest distance of the next time if the times are recent: a day, in the unit as it was read."""

    def holds(self, at: int) -> bool:
        """Whether the next instant confirms it: a simulation takes steps that would be years."""
        return abs(at - self.at) <= self.most


def doubtful_unit(
    value: str | int | float, at: int, unit: str, place: str = "for its source in obep.toml"
) -> Doubt | None:
    """Doubts about the unit in which a time was read as `at`; none if it may well be the right one.

    Small numbers, as simulations count them, are times of our days in no unit.

    >>> doubtful_unit(1767261600000, parse_instant(1767261600000, "us"), "us").remedy
    'unit = "ms" for its source in obep.toml'
    >>> doubtful_unit(3, 3000, "ms"), doubtful_unit(1767261600000, 1767261600000000, "ms")
    (None, None)
    """
    if at in NOW or (likely := likely_unit(value, unit)) is None:
        return None
    most = DAY * UNITS[unit] // UNITS[likely.unit]
    said = f'with unit = "{unit}" the first time, {value}, is {show_instant(at)}; {likely.meant}'
    return Doubt(said, likely.setting(place), at, most)


def likely_bytes(data: bytes) -> str:
    """What bytes that are no text in UTF-8 probably are, and what helps; or nothing.

    >>> likely_bytes("Wärme".encode("latin-1"))
    'byte 2 is no UTF-8 (0xe4): iconv -f LATIN1 -t UTF-8 makes it so, if it is Latin-1'
    """
    if data.startswith(GZIP):
        return "it is compressed with gzip: such a file ends in .gz, standard input is then -.jsonl.gz, say"
    if data.startswith(UTF16) or 3 * data.count(b"\0") > len(data):  # a later line has no mark
        return "it is UTF-16, and UTF-8 is needed: iconv -f UTF-16 -t UTF-8 makes it so"
    try:
        data.decode()
    except UnicodeDecodeError as error:
        if error.reason != "unexpected end of data":  # only a beginning may be known
            byte = f"byte {error.start + 1} is no UTF-8 (0x{data[error.start]:02x})"
            return f"{byte}: iconv -f LATIN1 -t UTF-8 makes it so, if it is Latin-1"
    return ""


def likely_other(data: bytes) -> str:
    """Guess what bytes that are not JSON are, and suggest a setting; empty if unknown."""
    return likely_bytes(data) or likely_lines(data) or likely_csv(data)


def likely_lines(data: bytes) -> str:
    """What helps against a message of several records, one a line; or nothing.

    >>> likely_lines(b'{"t": 1}\\n{"t": 2}')
    'records line by line are format = "jsonl" for the source in obep.toml'
    >>> likely_lines(b'{"t":\\n1')
    ''
    """
    first, *rest = data.strip().split(b"\n", 1)
    try:
        if rest and isinstance(msgspec.json.decode(first), dict):
            return 'records line by line are format = "jsonl" for the source in obep.toml'
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        pass
    return ""


def hinted(reason: str, hint: str) -> str:
    """The reason, and what helps if that is known."""
    return f"{reason}; {hint}" if hint else reason


def likely_csv(line: bytes) -> str:
    """What helps against a line that was to be JSON, and is probably CSV; or nothing.

    >>> likely_csv(b"time,id,watts")
    'it looks like CSV: a file ends in .csv, standard input is -.csv, others set format = "csv" in obep.toml'
    >>> likely_csv(b'"time": 1, "id": 2')
    ''
    """
    marks = any(mark in line for mark in (b",", b";", b"\t"))
    if marks and not _NO_CSV.search(line) and not line.rstrip().endswith(b","):
        return f"it looks like CSV: {AS_CSV}"
    return ""


def likely_form(text: str) -> str:
    """The `time_format` that a text probably has, or nothing.

    >>> likely_form("31.12.2026 23:59")
    '%d.%m.%Y %H:%M'
    """
    for form in FORMS:
        try:
            datetime.strptime(text.strip(), form)
        except ValueError:
            continue
        return form
    return ""


def is_date_time(text: str) -> bool:
    """Whether a text is a time that is written out, and no number."""
    return any(c in text for c in "-./:") and not text.replace(".", "", 1).isdecimal() and _is_time(text)


def _is_time(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, str | int | float):
        return False
    try:
        parse_instant(value, "s")
    except ValueError as error:
        return "outside the years" in str(error) or (isinstance(value, str) and bool(likely_form(value)))
    return True


def counted_time(flat: Mapping[str, Any]) -> str:
    """A field with so large a number that it is probably a present time: in ms or finer, or in seconds if it
    is the only such one and not an id."""
    large = [path for path, value in flat.items() if type(value) is int and value > NOW.start // 1000]
    if found := next((path for path in large if likely_unit(flat[path], "s")), ""):
        return found
    numbers = [(path, value) for path, value in flat.items() if type(value) in (int, float)]
    first, last = NOW.start // 1_000_000, NOW.stop // 1_000_000
    seconds = [path for path, value in numbers if first <= value < last and bare_name(path) not in NAMING]
    return seconds[0] if len(seconds) == 1 else ""


def likely_field(record: Record, path: str) -> str:
    """The field of a record that was probably meant, or nothing.

    >>> likely_field({"probe": "p1", "tempC": 2.0}, "temp")
    'tempC'
    """
    same = _NUMBERS.sub(".0", path)  # another element of an array is none that was meant
    return nearest_path(path, [name for name in _names(record) if _NUMBERS.sub(".0", name) != same])


def fields_there(record: Record) -> str:
    """The fields that a record has, or the first of them, for a message about one that it lacks.

    >>> fields_there({"probe": "p1", "air": {"val": 2.0}, "obs": [{"v": 1}]})
    'the record has probe, air.val, obs.0.v'
    """
    names = _names(record)
    more = ", …" if len(names) > LISTED else ""
    return f"the record has {', '.join(names[:LISTED])}{more}" if names else "the record has no fields"


def _names(record: Record) -> list[str]:
    return [name for name in islice(flat_fields(record), SEARCHED) if len(name) <= LONGEST]


def nearest_path(path: str, paths: Collection[str]) -> str:
    """The path that was probably meant, or nothing: one that ends alike, is spelt alike, or begins alike.

    >>> nearest_path("val", ["air.unit", "air.val"]), nearest_path("hum", ["temp", "air.humidity"])
    ('air.val', 'air.humidity')
    """
    if len(path) > LONGEST:
        return ""
    last = last_step(path)
    ends = {other: last_step(other) for other in paths}
    alike = (other for other, end in ends.items() if end == last)
    spelt = get_close_matches(path, paths, 1)
    begun = (
        other
        for other, end in ends.items()
        if min(len(end), len(last)) >= BEGINNING and (end.startswith(last) or last.startswith(end))
    )
    return next(chain(alike, spelt, begun), "")


_NUMBERS = re.compile(r"\.\d+(?=\.|\Z)", re.ASCII)


def flat_fields(record: Record) -> dict[str, Any]:
    """The single values of a record by their paths, those that lie in objects or arrays last."""
    own = [(name, value) for name, value in record.items() if name != WHOLE]
    leaves = _leaves(own, DEEPEST)
    return {path: value for path, value in leaves if look_up(record, path) is value}  # names may have dots


def _leaves(fields: Collection[tuple[str, Any]], deep: int) -> Iterator[tuple[str, Any]]:
    for path, value in fields:
        if not isinstance(value, dict | list):
            yield path, value
    for path, value in fields if deep else ():
        if isinstance(value, dict):
            yield from _leaves([(f"{path}.{key}", inner) for key, inner in value.items()], deep - 1)
        elif isinstance(value, list):
            yield from _leaves([(f"{path}.{n}", inner) for n, inner in enumerate(value[:ELEMENTS])], deep - 1)


def bare_name(path: str) -> str:
    """A path as `LIKELY` is written."""
    return "".join(c for c in path.lower() if c not in "_- ")


def last_step(path: str) -> str:
    """The last step of a path, as `LIKELY` is written."""
    return bare_name(path.rsplit(".", 1)[-1])
