"""What is fuzzed: for each target how an input is made from a random generator, and what is done with it.

A target takes bytes and raises nothing but `ObepError`; one of items raises nothing at all.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache, partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple
from zlib import crc32

import fuzz_corpus as corpus
import fuzz_models as models
import fuzz_service as service
import msgspec
from fuzz_mutations import mutated, mutated_tree

from obep.config.toml_file import load_config
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.engine.snapshots.sealed import sealed, unsealed
from obep.errors import ObepError
from obep.formats import FORMATS, read_items
from obep.formats.input_limits import Limits
from obep.lints.check_query import check
from obep.model import Item
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.load import load_graph, load_ontology
from obep.output.json_writer import to_line
from obep.query.ast import Language
from obep.query.languages import LANGUAGES
from obep.query.link import link
from obep.query.parse.parser import parse, parse_bytes
from obep.query.print.printer import show
from obep.query.translation.translate_file import as_obep
from obep.run.checkpoint import NAME, Checkpoint, Standing
from obep.run.load_query import load
from obep.run.questions.translation import translation
from obep.run.run_spec import aim, bind
from obep.streams.sources.open_sources import make_reading

Make = Callable[[Random], bytes]
Take = Callable[[bytes], object]
SUFFIXES = {"turtle": "ttl", "ntriples": "nt", "rdfxml": "rdf", "jsonld": "jsonld", "owlxml": "owx"}


class Target(NamedTuple):
    """`raises`: whether an ObepError is an answer; else nothing may be raised."""

    make: Make
    take: Take
    raises: bool = True


@cache
def _temporary() -> TemporaryDirectory[str]:
    ram = Path("/dev/shm")
    return TemporaryDirectory(prefix="obep-fuzz-", dir=ram if ram.is_dir() else None)


def folder() -> Path:
    """A folder for files that a target has to read."""
    return Path(_temporary().name)


# --- queries ---------------------------------------------------------------------------------------------


def take_language(language: Language, data: bytes) -> None:
    """Parse a query of another language, print it, parse it again, check it, and translate it."""
    file = parse_bytes(data, language=language)
    assert parse(show(file), language=language) == file, "what is printed is the same query"
    check(link(file, folder()))
    text = translation(file)
    assert parse(text) == as_obep(file), "what is printed is the same query"


def take_query(data: bytes) -> None:
    """Parse, print, parse again, link and check."""
    file = parse_bytes(data)  # its text may say that it is in another language
    assert parse(show(file), language=file.language) == file, "what is printed is the same query"
    check(link(file, folder()))


def take_run(data: bytes) -> None:
    """Compile with the ontologies of the examples, run over a few items, and ask why not."""
    query = load(text=data.decode("utf-8", "replace"), folder=corpus.EXAMPLES, java=False, cache_dir=folder())
    query.explain()
    query._repr_html_()
    with query.engine() as engine:
        found = engine.push_items(_example_items())
        for event in query.linked.events:
            str(engine.why_not(event))
        for one in (*found, *engine.close()):
            to_line(one)


@cache
def _example_items() -> tuple[Item, ...]:
    """The first items of each example."""
    found: list[Item] = []
    for path in sorted(corpus.EXAMPLES.rglob("stream.jsonl")):
        some = [one for one in read_items(path.read_bytes(), "jsonl") if isinstance(one, Item)]
        found += some[:6]
    return tuple(sorted(found, key=lambda item: item.at))


# --- ontologies ------------------------------------------------------------------------------------------


def take_ontology(suffix: str, data: bytes) -> None:
    """Read T (and now and then K), compile it for some of its names, and look at an item."""
    path = folder() / f"o.{suffix}"
    path.write_bytes(data)
    axioms = load_ontology([path])
    k = load_graph([path]) if crc32(data) % 3 == 0 else ()
    classes = [one for one in sorted(axioms.classes) if _can_be_written(one)][:3]
    roles = [one for one in sorted(axioms.object_properties) if _can_be_written(one)][:1]
    definitions = [*classes, *(f"({one} some Thing)" for one in roles), "Thing"]
    events = "\n".join(f"EVENT E{number} AS {one}" for number, one in enumerate(definitions))
    linked = link(parse(f"PREFIX : <http://q/>\n{events}\nRETURN ALL"))
    query = Query(linked, compile_bundle(linked, axioms, k, java=False, cache_dir=folder()))
    with query.engine() as engine:
        triples = [
            ("<http://e/x>", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", one) for one in classes
        ]
        triples += [("<http://e/x>", one, "<http://e/y>") for one in roles]
        engine.push_items([Item("", 1, tuple(triples))])


def _can_be_written(name: str) -> bool:
    return name.startswith("<http://e")


# --- items -----------------------------------------------------------------------------------------------


@cache
def _item_query() -> Query:
    return load(corpus.DATA / "items.obep", java=False, cache_dir=folder())


def take_items(format: str, data: bytes) -> None:
    """Read with one of the mappings or none, and run; nothing may be raised."""
    some = corpus.mappings()
    mapping = some[crc32(data) % len(some)] if format in ("jsonl", "json", "csv", "parquet") else None
    limits = Limits(item_bytes=1 << 16, nesting=100)
    found = list(read_items(data, format, "s", rename=True, mapping=mapping, limits=limits))
    engine = _item_query().engine(lateness=2)
    out = [*engine.push_items(found), *engine.close()]
    assert engine.counters["items"] == len(found)
    for one in out:
        to_line(one)


# --- settings --------------------------------------------------------------------------------------------


def take_config(data: bytes) -> None:
    """Read obep.toml, bind its sources and sinks, and make the reader of each source."""
    path = folder() / "obep.toml"
    path.write_bytes(data)
    config = load_config(path, folder())
    bind([], tuple(config.sources)[:1], config)
    bind([], (), config)
    aim([], "", config)
    for name, settings in config.sources.items():
        make_reading(name, settings, config)


# --- what is kept ----------------------------------------------------------------------------------------


@cache
def _stateful_query() -> Query:
    return load(corpus.DATA / "state.obep", java=False, cache_dir=folder())


def _items_at(*instants: int) -> list[Item]:
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    return [
        Item(
            "s",
            at * 1_000_000,
            (("<http://e/x>", kind, f"<http://e/{'AB'[at % 2]}>"), ("<http://e/x>", "<http://e/k>", '"1"')),
        )
        for at in instants
    ]


@cache
def _snapshot() -> bytes:
    engine = _stateful_query().engine(lateness=2)
    engine.push_items(_items_at(1, 2, 4, 5, 6, 7))
    return engine.snapshot()


def _opened() -> Engine:
    return _stateful_query().engine(lateness=2)


def take_snapshot(data: bytes) -> None:
    """Restore; a snapshot that is taken goes on, and can be made again."""
    engine = _opened()
    engine.restore(data)
    engine.push_items(_items_at(8, 9, 12))
    engine.snapshot()
    engine.close()


def take_written_snapshot(data: bytes) -> None:
    """Restore one that somebody has written under a right digest, wrong types and all, and go on."""
    take_snapshot(sealed(data))


def make_state(rng: Random) -> bytes:
    return msgspec.msgpack.encode(mutated_tree(rng, msgspec.msgpack.decode(unsealed(_snapshot(), "", ""))))


@cache
def _standing() -> bytes:
    sources = {"s": {"a.jsonl": 120}, "t": {"0": 3}}
    standing = Standing(
        _stateful_query().hash, _snapshot(), sources, {"out.jsonl": 7}, {"s": "a file"}, "iso"
    )
    return sealed(msgspec.msgpack.encode(standing))


def take_checkpoint(data: bytes) -> None:
    """Load from a file, and restore the engine."""
    (folder() / NAME).write_bytes(data)
    standing = Checkpoint(folder()).load(_stateful_query().hash)
    if standing is not None:
        _opened().restore(standing.state)


def take_written_checkpoint(data: bytes) -> None:
    take_checkpoint(sealed(data))


def make_standing(rng: Random) -> bytes:
    return msgspec.msgpack.encode(mutated_tree(rng, msgspec.msgpack.decode(unsealed(_standing(), "", ""))))


# --- all of them -----------------------------------------------------------------------------------------


def _of(texts: Callable[[], tuple[bytes, ...]], *kinds: str) -> Make:
    tokens = corpus.words(*kinds)

    def make(rng: Random) -> bytes:
        return mutated(rng, texts(), tokens)

    return make


@cache
def targets() -> dict[str, Target]:
    """All targets by name."""
    found = {
        "query": Target(_of(corpus.queries, "queries"), take_query),
        **{
            f"query-{language}": Target(
                _of(partial(corpus.language_queries, known.ending), "queries"),
                partial(take_language, language),
            )
            for language, known in LANGUAGES.items()
            if language != "obep"
        },
        "run": Target(_of(corpus.runnable_queries, "queries"), take_run),
    }
    for format, suffix in SUFFIXES.items():
        make = _of(
            partial(corpus.ontologies, format), "owl", *(() if format == "owlxml" else ("rdf", "json"))
        )
        found[f"ontology-{format}"] = Target(make, partial(take_ontology, suffix))
    for format in FORMATS:
        make = _of(partial(corpus.items, format), "json", "rdf")
        found[f"items-{format}"] = Target(make, partial(take_items, format), raises=False)
    found["shapes"] = Target(
        _of(corpus.shapes, "rdf", "owl", "shacl"), lambda data: models.take_shapes(folder(), data)
    )
    found["changes"] = Target(
        _of(corpus.changes, "json", "rdf", "updates"), models.take_changes, raises=False
    )
    found["records"] = Target(_of(corpus.lines("models.jsonl"), "json"), models.take_records, raises=False)
    found["mappings"] = Target(
        _of(corpus.texts("models.toml"), "toml"), lambda data: models.take_mappings(folder(), data)
    )
    found["service"] = Target(
        _of(service.requests, "json", "queries"),
        lambda data: service.take_request(folder(), data),
        raises=False,
    )
    found["config"] = Target(_of(corpus.configs, "toml"), take_config)
    found["snapshot"] = Target(_of(lambda: (_snapshot(),), "json"), take_snapshot)
    found["snapshot-written"] = Target(make_state, take_written_snapshot)
    found["checkpoint"] = Target(_of(lambda: (_standing(),), "json"), take_checkpoint)
    found["checkpoint-written"] = Target(make_standing, take_written_checkpoint)
    return found


def answers(target: Target, data: bytes) -> Any:
    """Take an input; an ObepError is an answer where the target may raise one, and it can be printed."""
    try:
        return target.take(data)
    except ObepError as error:
        if not target.raises or error.code == "OBEP599":
            raise
        assert str(error)
        return error.code
