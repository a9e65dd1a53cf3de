"""Times that name no zone: those of the `zone` that obep.toml gives a source or a mapping, else UTC."""

from __future__ import annotations

import json
import pickle
from dataclasses import replace
from pathlib import Path

import pytest

from obep.config.toml_file import load_config
from obep.errors import ObepError
from obep.formats import read_items, read_items_of
from obep.formats.likely_mapping import likely_mapping
from obep.formats.record_mapping import make_mapping
from obep.formats.timestamps import parse_instant, show_instant
from obep.formats.zones import zone_named
from obep.model import DeadLetter, Item
from obep.streams.sources.open_sources import make_reading

BERLIN = zone_named("Europe/Berlin")
GRAPH = "<http://e/s> <http://e/p> 1 ."
TEMPLATE = '[sources.s.mapping]\ntemplate = "<http://e/s> <http://e/p> {v} ."\ntime = "ts"\n'
GERMAN = TEMPLATE + 'time_format = "%d.%m.%Y %H:%M:%S"\n'


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("2026-03-02 08:00:00", "2026-03-02T07:00:00Z"),
        ("2026-07-02T08:00", "2026-07-02T06:00:00Z"),
        ("2026-07-02", "2026-07-01T22:00:00Z"),
        ("2026-07-02T08:00:00Z", "2026-07-02T08:00:00Z"),
        ("2026-07-02T08:00:00-05:00", "2026-07-02T13:00:00Z"),
        ("1782979200", "2026-07-02T08:00:00Z"),
        # clocks go back at 03:00: the first of the two, in summer time
        ("2026-10-25T02:30:00", "2026-10-25T00:30:00Z"),
        ("2026-10-25T03:00:00", "2026-10-25T02:00:00Z"),
        # clocks go forward at 02:00: 02:30 never comes, and is 03:30
        ("2026-03-29T02:30:00", "2026-03-29T01:30:00Z"),
        ("2026-03-29T03:30:00", "2026-03-29T01:30:00Z"),
        # the end of a day of 23 hours
        ("2026-03-29T24:00:00", "2026-03-29T22:00:00Z"),
        # an offset with seconds, as clocks went by the sun
        ("1890-01-01T00:00:00", "1889-12-31T23:06:32Z"),
    ],
)
def test_a_text_without_a_zone_is_in_the_one_of_its_source(text: str, shown: str) -> None:
    assert show_instant(parse_instant(text, zone=BERLIN)) == shown


def test_what_lies_outside_the_years_is_no_time_in_any_zone() -> None:
    for text in ("0001-01-01T00:00:00", "9999-12-31T24:00:00"):
        with pytest.raises(ValueError):
            parse_instant(text, zone=zone_named("+02:00") if text[0] == "0" else zone_named("-02:00"))


ISO, LOCAL = "2026-03-02 08:00:00", "02.03.2026 08:00:00"
QUADS = '<http://e/s> <http://e/p> "1" <http://e/g> .\n<http://e/g> <{}generatedAtTime> "{}" .\n'
SENT = {
    "jsonl": ("", json.dumps({"time": ISO, "graph": GRAPH})),
    "json": ("", json.dumps([{"time": ISO, "graph": GRAPH}])),
    "csv": ("", f"time;graph\n{ISO};{GRAPH}\n"),
    "nq": ("", QUADS.format("http://www.w3.org/ns/prov#", ISO)),
    "jsonl, mapped": (TEMPLATE, json.dumps({"ts": ISO, "v": 1})),
    "jsonl, with a form": (GERMAN, json.dumps({"ts": LOCAL, "v": 1})),
    "csv, with a form": (GERMAN, f"ts;v\n{LOCAL};1\n"),
}
ENGINES = ("embedded", "spark")


def read(folder: Path, toml: str, format: str, data: str, engine: str = "embedded") -> Item | DeadLetter:
    """The only record of the source `s`, as the embedded engine reads it, or a worker of Spark."""
    (folder / "obep.toml").write_text(toml)
    config = load_config(None, folder)
    reading = make_reading("s", config.sources["s"], config)
    if engine == "embedded":
        [found] = read_items_of(data.encode(), format, reading)
        return found
    pa = pytest.importorskip("pyarrow")
    from obep.spark.readers.raw_rows import Inflow, RawRead

    inflow = Inflow("messages", format, replace(reading, mapping=None), config.mapping_of("s"))
    raw = pickle.loads(pickle.dumps(RawRead((inflow,))))
    row = {"source": 0, "name": "", "key": "", "arrived": None, "data": data.encode()}
    [found] = raw(pa.RecordBatch.from_pylist([row]))
    assert isinstance(found, Item | DeadLetter)
    return found


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", SENT)
def test_the_zone_of_a_source_counts_in_every_format(kind: str, engine: str, tmp_path: Path) -> None:
    mapping, data = SENT[kind]
    for zone, hour in (("Europe/Berlin", 7), ("+02:00", 6), ("-0330", 11.5), ("UTC", 8)):
        toml = f'[sources.s]\nzone = "{zone}"\n{mapping}'
        item = read(tmp_path, toml, kind.partition(",")[0], data, engine)
        assert isinstance(item, Item), item
        assert item.at == parse_instant("2026-03-02") + hour * 3_600_000_000


@pytest.mark.parametrize("engine", ENGINES)
def test_a_mapping_has_a_zone_of_its_own_and_then_counts_more(engine: str, tmp_path: Path) -> None:
    toml = f'[sources.s]\nzone = "+05:00"\n{GERMAN}zone = "Europe/Berlin"\n'
    item = read(tmp_path, toml, "jsonl", json.dumps({"ts": LOCAL, "v": 1}), engine)
    assert isinstance(item, Item) and show_instant(item.at) == "2026-03-02T07:00:00Z"


def at_of(record: dict[str, object], **settings: object) -> object:
    mapping = make_mapping({"template": "<http://e/s> <http://e/p> 1 .", **settings}, "m")
    [item] = read_items(json.dumps(record).encode(), "jsonl", "s", mapping=mapping)
    return show_instant(item.at) if isinstance(item, Item) else item


@pytest.mark.parametrize(
    ("text", "form"),
    [
        ("02.03.2026 08:00 +0300", "%d.%m.%Y %H:%M %z"),
        ("02.03.2026 08:00 +03:00", "%d.%m.%Y %H:%M %z"),
        ("02.03.2026 05:00 UTC", "%d.%m.%Y %H:%M %Z"),
        ("20260302T050000Z", "%Y%m%dT%H%M%SZ"),
    ],
)
def test_a_form_that_names_a_zone_needs_none(text: str, form: str) -> None:
    assert at_of({"time": text}, time_format=form, zone="Europe/Berlin") == "2026-03-02T05:00:00Z"


def test_a_form_may_give_times_with_odd_offsets_and_none_outside_the_years() -> None:
    form = {"time_format": "%d.%m.%Y", "zone": "Europe/Berlin"}
    assert at_of({"time": "01.01.1890"}, **form) == "1889-12-31T23:06:32Z"
    letter = at_of({"time": "01.01.0001"}, **form)
    assert isinstance(letter, DeadLetter) and letter.code == "OBEP603"


def test_the_date_times_of_a_template_are_in_the_zone_too() -> None:
    mapping = make_mapping(
        {"template": "<http://e/s> <http://e/p> {ts:dateTime} .", "time": "ts", "zone": "Europe/Berlin"}, "m"
    )
    [item] = read_items(b'{"ts": "2026-03-02 08:00:00"}', "jsonl", "s", mapping=mapping)
    assert isinstance(item, Item)
    assert item.triples[0][2].startswith('"2026-03-02T07:00:00Z"')


def test_a_mapping_of_a_program_with_an_unknown_zone_is_refused_with_the_nearest() -> None:
    with pytest.raises(ObepError) as caught:
        make_mapping({"template": "<http://e/s> <http://e/p> 1 .", "zone": "Europe/Berln"}, "mapping")
    assert caught.value.code == "OBEP522"
    assert 'Try:  zone = "Europe/Berlin"' in str(caught.value)


def test_who_is_told_of_a_form_is_told_of_the_zone() -> None:
    [letter] = read_items(json.dumps({"time": LOCAL, "graph": GRAPH}).encode(), "jsonl", "s")
    assert isinstance(letter, DeadLetter)
    assert 'would read it, and zone = "Europe/Berlin" there, say, if it is not UTC' in letter.reason
    assert '# zone = "Europe/Berlin"   if it is not UTC' in likely_mapping({"ts": LOCAL, "v": 1}, "s")
