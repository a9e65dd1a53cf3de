"""A run in several processes gives the answers of one process, in the same order."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from typer.testing import CliRunner

import obep
from obep.cli.main import app
from obep.engine.query import Query
from obep.engine.reporter import line_of
from obep.engine.split.shared_matcher import SharedMatcher
from obep.errors import ObepError
from obep.formats import read_blocks
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Occurrence

HEAD = """PREFIX : <http://e/#>
FROM STREAM <s>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT N AS (near some ClassA)
"""
ROOM = "IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }"
SPLIT = (
    "EVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 5 s\nRETURN H",
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 5 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    f"EVENT H MATCH A AS a AND B AS b WITHIN 3 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    "EVENT G AS ClassA IF { ?this :room ?r }\nEVENT H(?x) MATCH G(?x) SEQ B(?x) WITHIN 3 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) AND B(?x) WITHIN 4 s\nEVENT J(?x) MATCH H(?x) SEQ B(?x) WITHIN 9 s\nRETURN H, J",
    "EVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 3 s\nEVENT J(?x) MATCH N(?x) SEQ A(?x) WITHIN 3 s\nRETURN H, J",
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 9 s PARTITION BY ?r POLICY recent\n{ROOM}\nRETURN H",
    "RETURN A, B",
)
REFUSED = {
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 5 s\n{ROOM}\nRETURN H": "no variable is the individual",
    "EVENT H(?x) MATCH A(?x) NOT FOLLOWED BY B(?x) WITHIN 5 s\nRETURN H": "deadlines",
    f"EVENT H MATCH A AS a SEQ B AS b PARTITION BY ?r, ?q\n{ROOM[:-1]} EVENT a {{ ?this :near ?q }} "
    "EVENT b { ?this :near ?q } }\nRETURN H": "several PARTITION BY",
    "STATE S(?x) FROM A(?x) TO B(?x)\nEVENT H(?x) MATCH BEGIN S(?x)\nRETURN H": "states",
    "EVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 5 s\nRETURN A, H": "split by one value",
}
TEMPLATES = (
    ":{id} a :{kind} ; :room :{room}, :{other?} .",
    ":{id} a :{kind} . :{other?} a :{kind} ; :near :{id} ; :room :{room} . :{room} :near :{id} .",
)
RECORD = st.fixed_dictionaries(
    {
        "time": st.sampled_from((0, 0, 1, 1, 2, -3)),
        "kind": st.sampled_from(("ClassA", "ClassB")),
        "id": st.sampled_from("uvwxyz"),
        "room": st.sampled_from(("r1", "r2", "r3", "r4")),
        "other": st.sampled_from(("r1", "r5", "v", "y", None)),
    }
)


@cache
def loaded(text: str) -> Query:
    return obep.load(text=HEAD + text, java=False, lints=False)


def blocks_of(lines: bytes, template: str, few: int) -> list[Any]:
    mapping = make_mapping({"template": template, "prefixes": {"": "http://e/#"}}, "mapping")
    reading = Reading(stream="s", source="s", mapping=mapping, lazily=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("obep.formats.tables.record_blocks.FEW", few)
        return list(read_blocks(BytesIO(lines), "jsonl", reading, 8))


def in_batches(
    query: Query, blocks: list[Any], lateness: int, matcher: Any
) -> tuple[list[list[Occurrence]], Any]:
    """What each batch finds, and the engine."""
    letters: list[DeadLetter] = []
    engine = query.engine(matcher=matcher, lateness=lateness, remember=0, on_dead_letter=letters.append)
    found = [engine.push_items(block) for block in blocks]
    found.append(engine.close())
    return found, (letters, engine.counters)


def merged(shares: Sequence[list[tuple[Any, bytes]]]) -> list[bytes]:
    """As the first process puts them together."""
    return [line for _, line in sorted((one for share in shares for one in share), key=lambda one: one[0])]


@settings(max_examples=max(80, int(os.environ.get("OBEP_EXAMPLES", "0"))), deadline=None)
@given(
    st.sampled_from(SPLIT),
    st.sampled_from(TEMPLATES),
    st.lists(RECORD, min_size=4, max_size=30),
    st.sampled_from((1, 100)),
    st.sampled_from((0, 2)),
    st.sampled_from((2, 3, 7)),
    st.booleans(),
)
def test_shares_together_are_one_process(
    text: str, template: str, drawn: list[dict[str, Any]], few: int, lateness: int, count: int, apart: bool
) -> None:
    """With ties, late items, items of several keys, and dead letters; batch by batch.

    `apart`: no two items have one instant, so blocks are fed as such.
    """
    at, lines = 0, [b'{"time": 0}']
    for record in drawn:
        at = max(at, at + record["time"]) + apart
        lines.append(json.dumps(record | {"time": at + min(record["time"], 0) * (not apart)}).encode())
    query = loaded(text)
    blocks = blocks_of(b"\n".join(lines), template, few)
    alone, counted = in_batches(query, blocks, lateness, None)
    shares = []
    for share in range(count):
        matcher = SharedMatcher(query, count)
        matcher.share = share
        batches: list[list[tuple[Any, bytes]]] = []
        letters: list[DeadLetter] = []
        engine = query.engine(matcher=matcher, lateness=lateness, remember=0, on_dead_letter=letters.append)

        def noted(found: list[Occurrence], matcher: SharedMatcher = matcher) -> list[tuple[Any, bytes]]:
            orders = [(matcher.order_of(one), line_of(one, "iso")) for one in found]
            matcher.forget()
            return orders

        batches = [noted(engine.push_items(block)) for block in blocks]
        batches.append(noted(engine.close()))
        same = {name: number for name, number in engine.counters.items() if name != "occurrences"}
        assert (letters, same) == (counted[0], {k: v for k, v in counted[1].items() if k != "occurrences"})
        shares.append(batches)
    for number, found in enumerate(alone):
        assert merged([share[number] for share in shares]) == [line_of(one, "iso") for one in found]


@pytest.mark.parametrize("text", REFUSED)
def test_what_cannot_be_split_is_refused_by_name(text: str) -> None:
    with pytest.raises(ObepError) as error:
        SharedMatcher(loaded(text), 2)
    assert error.value.code == "OBEP519"
    assert REFUSED[text] in str(error.value)


def project(folder: Path, count: int = 3000) -> list[str]:
    lines = [
        {
            "time": 1_700_000_000 + n // 3,
            "id": f"x{n % 5}",
            "kind": "ClassA" if n % 7 else "ClassB",
            "room": "r",
        }
        for n in range(count)
    ]
    lines[count // 2]["time"] = 5  # late
    (folder / "s.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
    (folder / "q.obep").write_text(HEAD + SPLIT[0])
    template = 'template = ":{id} a :{kind} ; :room :{room} ."'
    mapping = f'[sources.s.mapping]\nprefixes = {{ "" = "http://e/#" }}\n{template}\n'
    (folder / "obep.toml").write_text(f'[sources.s]\nuri = "s.jsonl"\n{mapping}')
    return ["run", str(folder / "q.obep"), "--engine", "embedded"]


Runs = Callable[..., tuple[int, str, str]]


@pytest.fixture
def runs(tmp_path: Path) -> Runs:
    command = project(tmp_path)

    def run(*options: str) -> tuple[int, str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "obep", *command, *options], capture_output=True, text=True
        )
        return done.returncode, done.stdout, done.stderr

    return run


def test_processes_write_the_file_of_one_process(runs: Runs, tmp_path: Path) -> None:
    written = []
    for count in ("1", "3"):
        sinks = ["--sink", str(tmp_path / f"{count}.jsonl"), "--sink", str(tmp_path / f"{count}.nq")]
        letters = tmp_path / f"{count}.dead"
        status, _, said = runs("--workers", count, "--no-lints", *sinks, "--dead-letters", str(letters))
        assert status == 0, said
        texts = [(tmp_path / f"{count}.{end}").read_bytes() for end in ("jsonl", "nq", "dead")]
        written.append((texts, said))
    assert written[0] == written[1]
    assert written[0][0][0].count(b"\n") > 500
    assert b"OBEP" in written[0][0][2]


def test_other_options_are_refused_by_name(tmp_path: Path) -> None:
    command = [*project(tmp_path, 6), "--workers", "2", "--quiet"]
    for options in (("--checkpoint", str(tmp_path / "state")), ("--watch",), ("--why",), ("--idle", "5s")):
        said = CliRunner().invoke(app, [*command, *options])
        assert said.exit_code == 2
        assert f"OBEP519  --workers: {options[0]}" in said.output
    piped = CliRunner().invoke(app, [*command, "--source", "s=-"], input="")
    assert piped.exit_code == 2 and "OBEP519  --workers: s is no file" in piped.output
    spark = CliRunner().invoke(app, [*command[:2], "--engine", "spark", "--workers", "2"])
    assert spark.exit_code == 2 and "OBEP518  --workers is for the embedded engine" in spark.output
