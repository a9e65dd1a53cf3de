"""Cases: a folder with a query, its stream and the occurrences that are expected of it.

`query.obep` (or `query.csparql` and so on),
`stream.*` (records that name their streams, or those of the only stream; `stream.NAME.csv` is
bound to NAME; without one, the sources of obep.toml), and `expected.jsonl`. An expected line holds as much of
an occurrence as matters: its event (by IRI or name) and any of id, start, end, detected, bindings, because.
That of an alert has `alert` in place of `event`, and any of id, status, since, at, until, ended, labels;
that of a row has `query`, and any of at, start, end, row.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import msgspec

from obep.config.toml_file import load_config
from obep.errors import ObepError, fail
from obep.model import DeadLetter, Occurrence
from obep.output.json_writer import to_json
from obep.output.row_writer import to_rows
from obep.query.languages import LANGUAGES
from obep.run.case_comparison import NAMED, Record, difference, shortened
from obep.run.embedded import open_run
from obep.run.load_query import load
from obep.run.pipeline import Outlet
from obep.run.run_spec import Inlet, Order, bind, named
from obep.streams.sinks.open_sinks import MemorySink

QUERY, EXPECTED = "query.obep", "expected.jsonl"
EXAMPLE = '{"event": "Hot", "start": 3, "end": 7}'


@dataclass(frozen=True)
class Outcome:
    """The outcome of a case: no difference is success."""

    found: list[Record]
    difference: list[str]
    refused: list[DeadLetter]


def cases(paths: list[Path]) -> Iterator[Path]:
    """The folders of cases at or below the paths."""
    for path in paths:
        if query_of(path).is_file() and (path / EXPECTED).is_file():
            yield path
        elif path.is_dir():
            yield from sorted(
                wanted.parent for wanted in path.rglob(EXPECTED) if query_of(wanted.parent).is_file()
            )
        else:
            raise fail(
                "OBEP532", f"{path} is not a folder of cases", remedy=f"a folder with {QUERY} and {EXPECTED}"
            )


def query_of(folder: Path) -> Path:
    """The query of a case, in whichever language."""
    names = [f"query{known.ending}" for known in LANGUAGES.values()]
    return next((folder / name for name in names if (folder / name).is_file()), folder / QUERY)


def no_cases(roots: list[Path]) -> ObepError:
    """The error for a folder without cases."""
    queries = sorted(query for root in roots for query in root.rglob("*.obep"))
    if found := next((query.parent for query in queries if query.name == QUERY), None):
        return fail(
            "OBEP532",
            f"{found / QUERY} has no {EXPECTED} beside it, so there is nothing to compare with",
            reason=f"An expected line holds an occurrence, or as much of one as matters: {EXAMPLE}",
            remedy=f"obep test {found} --update writes the current results; check it before you keep it",
        )
    return fail(
        "OBEP532",
        f"there is no case in {', '.join(map(str, roots))}",
        reason=f"A case is a folder with {QUERY}, stream.* (or sources in obep.toml) and {EXPECTED}.",
        remedy=_first_case(queries),
    )


def _first_case(queries: list[Path]) -> str:
    """The remedy where a folder is no case, or has several queries."""
    match queries:
        case []:
            return "obep init FOLDER makes one"
        case [query]:
            return f"mv {query} {query.parent / QUERY}"
    return f"a folder for each query that is to be tested, in which it is called {QUERY}"


def run_case(folder: Path) -> Outcome:
    """Runs a case on the embedded engine and compares."""
    found, refused = occurrences(folder)
    wanted = expected(folder / EXPECTED)
    return Outcome(found, difference(found, wanted), refused)


def occurrences(folder: Path) -> tuple[list[Record], list[DeadLetter]]:
    """Everything that the query finds in the stream of the case, as records."""
    config = load_config(None, folder)
    settings = config.engine
    query = load(
        query_of(folder),
        catalogue=config.catalogue,
        cache_dir=config.cache,
        strict=settings.get("strict", False),
        max_explanations=settings.get("max_explanations"),
        max_work=settings.get("max_work"),
    )
    streams = query.linked.streams
    given = tuple(named(inlets(folder), streams, config))
    order = Order(
        query_of(folder),
        config,
        given or bind((), streams, config),
        (),
        settings.get("lateness", 0),
        settings.get("idle"),
    )
    run, _ = open_run(order, query)
    memory, notes = MemorySink(), run.notes
    returned = query.plan.returned

    def encode(occurrence: Occurrence) -> bytes:
        rows = returned.get(occurrence.event) == "rows"
        return msgspec.json.encode(
            to_rows(occurrence, notes.style) if rows else [to_json(occurrence, notes.style)]
        )

    run.outlets = {"case": Outlet(memory, encode)}
    run.go()
    return [record for _, payload in memory.sent for record in msgspec.json.decode(payload)], run.letters.some


def inlets(folder: Path) -> tuple[Inlet, ...]:
    """The stream files of a case."""
    found = []
    for path in sorted(folder.glob("stream.*")):
        parts = path.name.removesuffix(".gz").split(".")
        found.append(Inlet(parts[1] if len(parts) == 3 else "", str(path), trusted=True))
    return tuple(found)


def expected(path: Path) -> list[Record]:
    """The expected occurrences; a line that begins with # is a comment."""
    found = []
    for number, line in enumerate(path.read_text("utf-8-sig").splitlines(), 1):
        if line.strip() and not line.startswith("#"):
            try:
                record = msgspec.json.decode(line)
            except msgspec.DecodeError as error:
                raise fail("OBEP532", f"line {number} is not JSON: {error}", file=str(path)) from None
            if not isinstance(record, dict) or not any(key in record for key in NAMED):
                words = f"line {number} is not an occurrence: it has no event, no alert and no query"
                raise fail("OBEP532", words, file=str(path))
            found.append(record)
    return found


def as_expected(found: list[Record]) -> str:
    """The occurrences as lines for expected.jsonl."""
    return "".join(f"{msgspec.json.encode(shortened(one)).decode()}\n" for one in found)
