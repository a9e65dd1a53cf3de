"""Models as targets: SHACL shapes, changes of the static graph, lookups and units of mappings, kept files."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from zlib import crc32

import fuzz_corpus as corpus

from obep.config.toml_file import Config, load_config
from obep.engine.query import Query
from obep.formats import read_items_of
from obep.formats.rdf_text import read_turtle
from obep.lints.item_validation import prepared_items
from obep.lints.shape_findings import shape_findings
from obep.model import Item
from obep.output.json_writer import to_line
from obep.run.load_query import load
from obep.streams.sources.open_sources import make_reading

GRAPH, SHAPES = "models.ttl", "shapes.ttl"


def take_shapes(folder: Path, data: bytes) -> None:
    """Apply the rules of a file, validate the static graph by its shapes, and check items by them."""
    (folder / SHAPES).write_bytes(data)
    (folder / GRAPH).write_bytes((corpus.DATA / GRAPH).read_bytes())
    query = load(text=(corpus.DATA / "models.obep").read_text("utf-8"), folder=folder, java=False)
    query.explain()
    for one in shape_findings(query.bundle, {}):
        assert str(one)
    with query.engine() as engine:
        for item in _items():
            for one in engine.push_items([item]):
                to_line(one)
        engine.update(
            insert="<http://e/n> <http://e/p> <http://e/x> .", delete="<http://e/x> a <http://e/A> ."
        )
    path = folder / "obep.toml"
    path.write_text('[sources.s]\nuri = "s.jsonl"\nvalidate = "shapes.ttl"\n', "utf-8")
    checks = prepared_items(load_config(path, folder), query.bundle)
    assert checks is not None
    for item in _items():
        checks.prepared(item)


@cache
def _items() -> tuple[Item, ...]:
    """Nodes with values of several kinds, and with what K says of others."""
    prefix = "@prefix : <http://e/> . "
    texts = (
        ":n a :A ; :v 5, 7, 0 ; :p :x . :x :q :n .",
        ':n a :A ; :v "a"@en ; :p [ :q :y ] ; :w 3 .',
        ":y :p :n ; :v 1.5 . :n a :Hit .",
    )
    return tuple(Item("s", at, tuple(read_turtle(prefix + text))) for at, text in enumerate(texts, 1))


# --- changes of the static graph, and records that are looked up in it


@cache
def _model() -> Query:
    return load(corpus.DATA / "models.obep", java=False)


@cache
def _settings() -> Config:
    return load_config(corpus.DATA / "models.toml", corpus.DATA)


def take_changes(data: bytes) -> None:
    """Read records of a stream that changes the static graph, and go on; nothing may be raised."""
    config = _settings()
    found = list(read_items_of(data, "jsonl", make_reading("m", config.sources["m"], config)))
    with _model().engine(lateness=2) as engine:
        for one in found:
            engine.push_items([one, *_items()])
        assert engine.counters["items"] == len(found) * (1 + len(_items()))
        if crc32(data) % 4 == 0:  # it costs as much as all the rest
            with _model().engine(lateness=2) as other:
                other.restore(engine.snapshot())


def take_records(data: bytes) -> None:
    """Read records by a mapping that looks up ids and units; nothing may be raised."""
    _read_by(_settings(), ("points", "plain", "linked")[crc32(data) % 3], data)


def take_mappings(folder: Path, data: bytes) -> None:
    """Read settings of mappings, and records by all of them."""
    path = folder / "models.toml"
    path.write_bytes(data)
    config = load_config(path, folder)
    config.check_mappings()
    for name in config.sources:
        _read_by(config, name, (corpus.DATA / "models.jsonl").read_bytes())


def _read_by(config: Config, name: str, data: bytes) -> None:
    """Look up at once, and at the instant of the record; both give the same items."""
    bundle = _model().bundle
    at_once, late = config.with_lookups(bundle.k.once), config.with_lookups(bundle.k.once, waits=True)
    ready, waiting = (
        list(read_items_of(data, "jsonl", make_reading(name, some.sources[name], some)))
        for some in (at_once, late)
    )
    prepare = prepared_items(config, bundle)
    with _model().engine(lateness=2) as engine:
        if prepare is not None:
            prepare.begin(bundle.k.once)
            waiting = [prepare.prepared(one) if isinstance(one, Item) else one for one in waiting]
        assert ready == waiting
        for one in (*engine.push_items(ready), *engine.close()):
            to_line(one)
