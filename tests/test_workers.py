"""A run in several processes gives the answers of one process, in the same order."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Sequence
from functools import cache
from io import BytesIO
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import example, given, settings
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
from obep.run.processes.workers import Answers, Worker, _Sending

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
    "EVENT H(?x) MATCH A(?x) TIMES 2 WITHIN 6 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) NEXT B(?x) WITHIN 6 s\nRETURN H",
    "EVENT H(?x) MATCH (A(?x) SEQ B(?x)) WITHOUT N(?x) WITHIN 6 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) JOIN B(?x) WITHIN 6 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) OR B(?x)\nRETURN H",
    "EVENT H(?x) MATCH (A(?x) OR N(?x)) SEQ B(?x) WITHIN 4 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) DURING (A(?x) SEQ B(?x)) WITHIN 9 s\nRETURN H",
    "EVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 6 s\nEVENT J(?x) MATCH B(?x) AND A(?x)\nRETURN H, J",
    "EVENT H(?x) MATCH A(?x) JOIN B(?x) WITHIN 6 s\nEVENT J(?x) MATCH H(?x) SEQ N(?x) WITHIN 9 s\n"
    "RETURN J, H",
    f"EVENT H MATCH (FIRST A AS a) SEQ B AS b WITHIN 6 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    f"EVENT H MATCH (LAST A AS a) SEQ B AS b WITHIN 6 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    f"EVENT H MATCH A AS a NEXT B AS b WITHIN 6 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    f"EVENT H MATCH A AS a JOIN B AS b WITHIN 6 s PARTITION BY ?r\n{ROOM}\nRETURN H",
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 9 s PARTITION BY ?r POLICY chronological\n{ROOM}\nRETURN H",
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 9 s PARTITION BY ?r POLICY naive\n{ROOM}\nRETURN H",
    "EVENT G AS ClassA IF { ?this :room ?r }\nEVENT K AS ClassB IF { ?this :room ?r }\nRETURN G, K",
)
REFUSED = {
    f"EVENT H MATCH A AS a SEQ B AS b WITHIN 5 s\n{ROOM}\nRETURN H": "no variable is the individual",
    "EVENT H(?x) MATCH A(?x) NOT FOLLOWED BY B(?x) WITHIN 5 s\nRETURN H": "deadlines",
    f"EVENT H MATCH A AS a SEQ B AS b PARTITION BY ?r, ?q\n{ROOM[:-1]} EVENT a {{ ?this :near ?q }} "
    "EVENT b { ?this :near ?q } }\nRETURN H": "several PARTITION BY",
    "STATE S(?x) FROM A(?x) TO B(?x)\nEVENT H(?x) MATCH BEGIN S(?x)\nRETURN H": "states",
    "EVENT H(?x) MATCH A(?x) SEQ B(?x) WITHIN 5 s\nRETURN A, H": "split by one value",
    "EVENT H(?x) MATCH OPTIONAL(A(?x)) SEQ B(?x) WITHIN 6 s\nRETURN H": "H has OPTIONAL",
    "EVENT H(?x) MATCH OPTIONAL(A(?x)) AND B(?x) WITHIN 6 s\nRETURN H": "H has OPTIONAL",
    "EVENT H(?x) MATCH A(?x) AND B(?x)\nEVENT J(?x) MATCH H(?x) JOIN N(?x) WITHIN 6 s\nRETURN J": (
        "J may end together with a composite or guarded part of it"
    ),
    "EVENT G AS ClassA IF { ?this :room ?r }\nEVENT H(?x) MATCH G(?x) JOIN B(?x) WITHIN 3 s\nRETURN H": (
        "H may end together with a composite or guarded part of it"
    ),
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

LATE_BETWEEN = [
    {"time": time, "kind": f"Class{kind}", "id": name, "room": room, "other": other}
    for time, kind, name, room, other in (
        (0, "B", "w", "r1", "r1"),
        (1, "A", "w", "r3", None),
        (0, "B", "w", "r1", "r1"),
        (0, "A", "w", "r2", "v"),
        (0, "A", "x", "r2", "v"),
        (1, "B", "v", "r1", "r1"),
        (1, "A", "w", "r3", "w"),
        (2, "B", "v", "r2", "v"),
        (1, "A", "w", "r2", "v"),
        (-3, "A", "w", "r2", None),
        (0, "B", "v", "r1", "v"),
        (2, "A", "x", "r3", "w"),
        (1, "A", "u", "r2", None),
    )
]
"""A late item between two of one instant: they are numbered all the same."""


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


@pytest.mark.slow
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
@example("EVENT H(?x) MATCH A(?x) OR B(?x)\nRETURN H", TEMPLATES[0], LATE_BETWEEN, 1, 0, 7, False)
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


def test_what_is_known_of_decisions_does_not_grow_with_the_kinds_of_records() -> None:
    kinds = range(40)
    events = "".join(f"EVENT K{kind} AS Kind{kind}\n" for kind in kinds)
    parts = " OR ".join(f"K{kind}(?x)" for kind in kinds)
    query = loaded(f"{events}EVENT H(?x) MATCH ({parts}) SEQ A(?x) WITHIN 5 s\nRETURN H")
    lines = [
        b'{"time": %d, "id": "x%d", "kind": "%s", "room": "r"}'
        % (n, n // 2 % 9, b"Kind%d" % (n // 2 % 40) if n % 2 else b"ClassA")
        for n in range(200)
    ]
    blocks = blocks_of(b"\n".join(lines), TEMPLATES[0], 1)
    alone, _ = in_batches(query, blocks, 0, None)
    found = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("obep.engine.split.shared_matcher.REMEMBERED", 4)
        for share in range(2):
            matcher = SharedMatcher(query, 2)
            matcher.share = share
            found += [one.id for some in in_batches(query, blocks, 0, matcher)[0] for one in some]
            assert 0 < len(matcher._emptied) <= 4
            assert 0 < len(matcher._sources) <= 4
    assert sorted(found) == sorted(one.id for some in alone for one in some)


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


@pytest.mark.slow
def test_processes_write_the_file_of_one_process(runs: Runs, tmp_path: Path) -> None:
    written = []
    for count in ("1", "3"):
        ends = ("jsonl", "nq", "csv")
        sinks = [part for end in ends for part in ("--sink", str(tmp_path / f"{count}.{end}"))]
        letters = tmp_path / f"{count}.dead"
        status, _, said = runs("--workers", count, "--no-lints", *sinks, "--dead-letters", str(letters))
        assert status == 0, said
        texts = [(tmp_path / f"{count}.{end}").read_bytes() for end in (*ends, "dead")]
        written.append((texts, said))
    assert written[0] == written[1]
    assert written[0][0][0].count(b"\n") > 500
    assert b"OBEP" in written[0][0][3]


def test_a_pipe_by_path_is_refused(tmp_path: Path) -> None:
    command = project(tmp_path, 6)
    os.mkfifo(tmp_path / "pipe.jsonl")
    held = os.open(tmp_path / "pipe.jsonl", os.O_RDWR)  # a writer: opening it for reading does not wait
    source = f"s={tmp_path / 'pipe.jsonl'}"
    said = CliRunner().invoke(app, [*command, "--workers", "2", "--quiet", "--source", source])
    os.close(held)
    assert said.exit_code == 2
    assert "OBEP519  --workers: s is a pipe" in said.output


def frame(answers: Answers) -> bytes:
    data = msgspec.msgpack.encode(answers)
    return len(data).to_bytes(8) + data


ANSWERS = Answers([(1, 1, 1, 1, 1)], [[b"text"]], {"H": 1})


@pytest.mark.parametrize("kept", (0, 5, 8, 12))
def test_a_short_message_is_an_ended_worker(kept: int) -> None:
    whole = frame(ANSWERS)
    worker = Worker(0, BytesIO(whole + whole[:kept]))
    assert worker.next() == ANSWERS
    with pytest.raises(ObepError, match="has ended before the run") as error:
        worker.next()
    assert error.value.code == "OBEP519"


def test_the_error_of_a_worker_is_said() -> None:
    worker = Worker(0, BytesIO(frame(Answers([], [], {}, "no room is left"))))
    with pytest.raises(ObepError, match="no room is left"):
        worker.next()


@pytest.mark.parametrize(("how", "words"), (("killed", "has ended before"), ("failed", "no memory here")))
def test_a_run_whose_worker_stops_says_so(
    how: str, words: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    send = _Sending.send

    def stop(self: Any, run: Any, found: Sequence[Occurrence]) -> None:
        if found and how == "failed":
            raise MemoryError("no memory here")
        if found:
            os.kill(os.getpid(), signal.SIGKILL)
        send(self, run, found)

    monkeypatch.setattr(_Sending, "send", stop)
    said = CliRunner().invoke(app, [*project(tmp_path, 300), "--workers", "2", "--quiet"])
    assert said.exit_code != 0
    assert "OBEP519" in said.output and words in said.output


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
