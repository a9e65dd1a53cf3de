"""Stage 2 without a JVM: what a bucket keeps, and what it may trust of what is warm in the process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import msgspec
import numpy as np
import pyarrow as pa
import pytest
from spark_cases import HEAD, QUERIES, Row, embedded, item, micros, query, rows, shown

pytest.importorskip("pyspark")

from pyspark.sql import Row as SparkRow
from pyspark.sql.streaming.tws_tester import TwsTester

import obep
from obep.engine.blocks import STYLES, decode_block
from obep.engine.query import Query
from obep.engine.split.key_routes import Layout
from obep.errors import ObepError
from obep.formats.timestamps import show_instant
from obep.output.json_writer import to_json, to_line
from obep.spark.readers.item_rows import read_graphs
from obep.spark.stages import stage2
from obep.spark.stages.buckets import component_numbers, partition_of
from obep.spark.stages.record_batches import unwrapped
from obep.spark.stages.route import Arrived, Columns, Routes
from obep.spark.stages.stage1 import STAMP, abstracting
from obep.spark.stages.stage2 import Detecting
from obep.spark.stages.state_pages import unsqueezed
from obep.spark.stages.worker import Job, components_of, matcher_of, place_of

LATENESS = 500_000
NESTED = {"seen", "detected", "bindings", "because", "follows_from"}
"""What a line says of a cause, but no column."""


class Buckets:
    """All buckets of a query, each micro-batch of rows through both stages, as Spark would run them."""

    def __init__(self, folder: Path, of: Query, buckets: int = 2, **settings: Any) -> None:
        path = folder / f"{of.hash}.bundle"
        path.write_bytes(of.to_bundle())
        self.layout = layout = Layout(components_of(of), buckets)
        numbers = component_numbers(layout.parts(), 2)
        self.job = Job(
            (str(path),),
            buckets,
            numbers,
            2,
            (layout.width,),
            streams=("s", "t"),
            **{"lateness": LATENESS, **settings},
        )
        self.routes = Routes(layout, of.asks.all)
        self.tester = TwsTester(Detecting(self.job))
        self.pending = 0
        """As all buckets told of the last micro-batch."""

    def kept(self) -> dict[int, tuple[Any, dict[Any, Any]]]:
        """The state of each bucket that has one: its clock and its pages."""
        peek, pages = self.tester.peekValueState, self.tester.peekMapState
        return {n: (peek("clock", n), dict(pages("pages", n))) for n in self.job.numbers if peek("clock", n)}

    def resume(self, kept: dict[int, tuple[Any, dict[Any, Any]]]) -> None:
        """Go on from a state."""
        self.tester = TwsTester(Detecting(self.job))
        for number, (clock, pages) in kept.items():
            self.tester.updateValueState("clock", number, clock)
            self.tester.updateMapState("pages", number, pages)

    def run(self, batch: list[Row], now: int = 1) -> list[tuple[object, ...]]:
        return [_plain(one) for one in self.records(map(item, batch), now)]

    def records(self, batch: Iterable[Arrived], now: int = 1, **counters: int) -> list[dict[str, Any]]:
        """The occurrences, as rows of all columns."""
        found: list[dict[str, Any]] = []
        self.pending = 0
        blocks = self.routes.fill(batch, matcher_of(self.job.bundles[0])).encode({"now": now, **counters})
        for number, block in zip(self.job.numbers, blocks, strict=True):
            for row in self.tester.test(number, [SparkRow(bucket=number, block=block)]):
                for part in unwrapped([row.payload]):
                    rows = part.to_pylist()
                    found += [one for one in rows if one["kind"] not in ("letter", "progress")]
                    told = [json.loads(one["progress"]) for one in rows if one["kind"] == "progress"]
                    self.pending += sum(one["pending"] for one in told)
        return found


def _plain(one: dict[str, Any]) -> tuple[object, ...]:
    return (one["event"], one["id"], *(micros(one[name]) for name in ("start", "end", "detected")))


def in_four(count: int = 200) -> list[list[Row]]:
    """Rows in four parts, cut inside instants."""
    given = rows(count)
    step = count // 4 + 1
    return [given[at : at + step] for at in range(0, count, step)]


def expected(name: str, batches: list[list[Row]]) -> list[tuple[object, ...]]:
    flat = [row for batch in batches for row in batch]
    return sorted(shown(embedded(name, flat, close=False, lateness=0.5)[0]).elements())


@pytest.mark.parametrize("name", [*QUERIES])
@pytest.mark.parametrize("warm", [True, False])
def test_batches_give_what_the_embedded_engine_gives(tmp_path: Path, name: str, warm: bool) -> None:
    buckets = Buckets(tmp_path, query(name))
    found = []
    for batch in in_four():
        if not warm:
            stage2._warm.clear()  # the Python worker is another one
        found += buckets.run(batch)
    assert found
    assert sorted(found) == expected(name, in_four())


def in_columns(batch: list[Row]) -> Iterator[Columns]:
    """The items of a batch as columns, a stream after the other."""
    for stream in ("s", "t"):
        items = [item(row) for row in batch if row[0] == stream]
        graphs = list(dict.fromkeys(one.triples for one in items))
        numbers = [graphs.index(one.triples) for one in items]
        yield Columns(
            stream, np.array([one.at for one in items], np.int64), np.array(numbers, np.intp), graphs
        )


@pytest.mark.parametrize(
    "name", ["keyed", "deadlines", "partitioned", "stacked", "guarded", "whole items", "states", "graph"]
)
def test_columns_of_items_give_what_the_items_give(tmp_path: Path, name: str) -> None:
    buckets = Buckets(tmp_path, query(name))
    found = [_plain(one) for batch in in_four() for one in buckets.records(in_columns(batch))]
    assert found
    assert sorted(found) == expected(name, in_four())


@pytest.mark.parametrize("name", ["keyed", "guarded", "partitioned"])
def test_items_that_differ_in_nothing_that_matters_are_matched_once(tmp_path: Path, name: str) -> None:
    """Each says something else that nobody looks at; that it is unknown is counted for each."""

    def noisy(batch: list[Row], first: int) -> list[Row]:
        noise = "<http://e/noise> <http://e/count>"
        return [(s, at, f"{text}\n{noise} {first + n} .") for n, (s, at, text) in enumerate(batch)]

    buckets = Buckets(tmp_path, query(name))
    buckets.routes = Routes(buckets.layout, query(name).asks.all, named=False)
    seen: list[Any] = []
    matcher = matcher_of(buckets.job.bundles[0])
    counting = SimpleNamespace(
        relevant=matcher.relevant, match=lambda one: seen.append(one) or matcher.match(one)
    )
    found, unknown = [], 0
    for number, batch in enumerate(in_four()):
        arrived = list(in_columns(noisy(batch, 1000 * number)))
        found += [_plain(one) for one in buckets.records(arrived)]
        blocks = buckets.routes.fill(arrived, counting).encode({})
        unknown += sum(decode_block(block).counters.get("unknown", 0) for block in blocks)
    assert found
    assert sorted(found) == expected(name, in_four())
    assert not seen  # all of it was known from the first time
    assert unknown >= 200


def test_each_of_the_items_that_contradict_the_ontology_has_a_letter(tmp_path: Path) -> None:
    (tmp_path / "t.ttl").write_text(
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "<http://e/Alpha> a owl:Class ; owl:disjointWith <http://e/Beta> .\n"
        "<http://e/Beta> a owl:Class . <http://e/Gamma> a owl:Class ."
    )
    text = (
        "VOCAB <t.ttl>\n" + HEAD + "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s\nRETURN AB AS EVENT STREAM"
    )
    buckets = Buckets(tmp_path, obep.load(text=text, folder=tmp_path, java=False), buckets=1)
    both = "<http://e/x> a <http://e/Alpha> , <http://e/Beta> ."
    alone = "<http://e/x> a <http://e/Alpha> ."
    given = [("s", 1_000_000, both), ("s", 2_000_000, alone), ("s", 3_000_000, both)]
    (block,) = buckets.routes.fill(in_columns(given), matcher_of(buckets.job.bundles[0])).encode({})
    read = decode_block(block)
    assert [(letter.at, letter.code) for letter in read.letters] == [
        (1_000_000, "OBEP620"),
        (3_000_000, "OBEP620"),
    ]
    assert read.maxima == {"s": 3_000_000}
    assert [list(times) for _, times in read.arrived()] == [[2_000_000]]


@pytest.mark.parametrize("name", ["keyed", "deadlines", "stacked", "guarded", "logical"])
def test_columns_of_what_came_in_blocks_say_what_json_says(tmp_path: Path, name: str) -> None:
    """Also where a part has come in an earlier micro-batch, and is made again from the state."""
    buckets = Buckets(tmp_path, query(name))
    found: dict[str, dict[str, Any]] = {}
    for batch in in_four():
        stage2._warm.clear()
        found |= {one["id"]: one for one in buckets.records(map(item, batch))}
    flat = [row for batch in in_four() for row in batch]
    right = [to_json(one, "iso") for one in embedded(name, flat, close=False, lateness=0.5)[0]]
    assert len(right) == len(found) > 2
    for record in right:
        row = found[str(record["id"])]
        assert [dict(binding) for binding in row["bindings"]] == record["bindings"]
        because = [
            {
                **{field: part[field] for field in ("event", "alias", "individual", "assertions")},
                "start": show_instant(micros(part["start"])),
                "end": show_instant(micros(part["end"])),
            }
            for part in row["because"]
        ]
        # The parts of parts, and when each assertion was seen, are in JSON alone.
        flat = [{name: part[name] for name in because[0]} for part in record["because"]]  # type: ignore[attr-defined]
        assert because == flat
        assert all(part.keys() - because[0] <= NESTED for part in record["because"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    "name",
    [name for name in QUERIES if name not in ("unkeyed", "policy", "window", "window of rows")],
)
@pytest.mark.parametrize("style", ["integer", pytest.param("iso", marks=pytest.mark.slow)])
def test_lines_are_those_of_the_embedded_engine(tmp_path: Path, name: str, style: str) -> None:
    buckets = Buckets(tmp_path, query(name), forms=("event",))
    counters = {"now": 1, "style": STYLES.index(style)}
    found: list[str] = []
    for batch in in_four():
        given = [(s, at, text.replace("http://e/x", "http://e/100%25x")) for s, at, text in batch]
        found += [one["texts"][0] for one in buckets.records(map(item, given), **counters)]
        stage2._warm.clear()
    flat = [(s, at, t.replace("http://e/x", "http://e/100%25x")) for b in in_four() for s, at, t in b]
    right = [to_line(one, style) + "\n" for one in embedded(name, flat, close=False, lateness=0.5)[0]]
    assert sorted(found) == sorted(right) != []


DEEP = """EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s CONSTRUCT { ?this :about ?r . }
EVENT Warm AS Alpha IF { ?this :heat ?h . FILTER (?h > 3) }
EVENT ABC(?r) MATCH AB(?r) AS both SEQ C(?r) WITHIN 9 s
EVENT Hot AS (AB and about some Alpha)
EVENT Deep MATCH (Hot SEQ ABC) WITHIN 9 s
EVENT Held MATCH Warm DURING ABC WITHIN 9 s
RETURN Hot, Deep, Held AS EVENT STREAM"""
KNOWN = "".join(f"<http://e/x{n}> <http://e/kind> <http://e/fast> .\n" for n in range(8))


@pytest.mark.slow
@pytest.mark.parametrize("text", [DEEP, QUERIES["keyed"], QUERIES["stacked"]])
def test_lines_have_the_causes_of_parts_that_came_in_blocks_and_through_the_state(
    tmp_path: Path, text: str
) -> None:
    (tmp_path / "k.ttl").write_text(KNOWN)
    head = HEAD.replace("A AS Alpha", "A AS (Alpha and kind value fast)")
    of = obep.load(text=f"FROM GRAPH <k.ttl>\n{head}{text}", folder=tmp_path, java=False)
    buckets = Buckets(tmp_path, of, forms=("event",))
    found: list[str] = []
    for batch in in_four():
        counters = {"now": 1, "style": STYLES.index("integer")}
        found += [one["texts"][0] for one in buckets.records(map(item, batch), **counters)]
        stage2._warm.clear()
    flat = [item(row) for batch in in_four() for row in batch]
    right = [to_line(one, "integer") + "\n" for one in of.engine(lateness=0.5).push_items(flat)]
    assert sorted(found) == sorted(right)
    assert any('"seen":[' in line for line in right)
    if text is DEEP:
        told = {kind for line in right for kind in ("Deep", "Held", "Hot") if f'"urn:obep:{kind}:' in line}
        assert told == {"Deep", "Held", "Hot"}
        assert any('"follows_from":[{' in line for line in right)


def test_what_is_warm_under_another_version_is_not_used(tmp_path: Path) -> None:
    """The bucket ran elsewhere in between: this process has the segments of two batches ago."""
    batches = in_four()
    here = Buckets(tmp_path, query("keyed"))
    found = here.run(batches[0])
    stale = {key: warm._replace(segments=dict(warm.segments)) for key, warm in stage2._warm.items()}
    stage2._warm.clear()
    found += here.run(batches[1])
    stage2._warm.clear()
    stage2._warm.update(stale)
    found += here.run(batches[2]) + here.run(batches[3])
    assert sorted(found) == expected("keyed", batches)


def test_a_failed_attempt_leaves_nothing_behind(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    batches = in_four()
    buckets = Buckets(tmp_path, query("keyed"))
    found = buckets.run(batches[0])
    before = buckets.kept()
    with monkeypatch.context() as patched:
        patched.setattr(stage2, "found_payloads", lambda *rest: 1 / 0)
        with pytest.raises(ZeroDivisionError):
            buckets.run(batches[1])
    buckets.resume(before)  # Spark throws the writes of a failed task away
    for batch in batches[1:]:
        found += buckets.run(batch)
    assert sorted(found) == expected("keyed", batches)


def alpha(room: str, at: int) -> Row:
    return ("s", at, f"<http://e/{room}> a <http://e/Alpha> .")


def pages(buckets: Buckets) -> dict[int, dict[int, bytes]]:
    """The pages of the only bucket, with the segments in each."""
    [number] = buckets.job.numbers
    stored = buckets.tester.peekMapState("pages", number)
    decode = msgspec.msgpack.Decoder(dict[int, bytes]).decode
    return {page: decode(unsqueezed(data)) for (page,), (data,) in stored.items()}


def test_only_touched_segments_are_written(tmp_path: Path) -> None:
    buckets = Buckets(tmp_path, query("keyed"), buckets=1)
    buckets.run([alpha(f"x{n}", n) for n in range(8)])
    buckets.run([alpha("x1", 2_000_000)])  # wakes all others, which were waiting for the watermark
    before = pages(buckets)
    buckets.run([alpha("x1", 3_000_000)])
    after = pages(buckets)
    [(page, written)] = [(page, content) for page, content in after.items() if page not in before]
    assert len(written) == 1 < sum(map(len, before.values())) == 8
    assert {key: content for key, content in after.items() if key != page} == before


@pytest.mark.slow
@pytest.mark.parametrize("warm", [True, False])
def test_what_a_batch_writes_does_not_depend_on_the_rooms_that_are_idle(tmp_path: Path, warm: bool) -> None:
    """Twenty times as many rooms wait for their Beta; the batches after them are the same."""
    written = []
    for idle in (200, 4000):
        buckets = Buckets(tmp_path, query("keyed"), buckets=1)
        buckets.run([alpha(f"idle{n}", n) for n in range(idle)])
        buckets.run([alpha("x1", 1_000_000)])
        before = pages(buckets)
        for second in range(2, 6):
            if not warm:
                stage2._warm.clear()
            buckets.run([alpha("x1", second * 1_000_000)])
            after = pages(buckets)
            new = [content for page, content in after.items() if page not in before]
            written.append(sum(len(segment) for content in new for segment in content.values()))
            before = after
    few, many = written[:4], written[4:]
    assert max(many) <= 2 * max(few)


def test_rooms_that_come_once_need_no_engine_of_their_own_and_stand_apart_from_busy_ones(
    tmp_path: Path,
) -> None:
    buckets = Buckets(tmp_path, query("keyed"), buckets=1)
    busy = [alpha(f"x{room}", at) for at in range(9) for room in (1, 2)]
    buckets.run([alpha(f"idle{n}", n) for n in range(500)] + busy)
    key = (buckets.job.bundles[0], 0)
    assert not stage2._warm[key].segments
    newest = [segment for _, content in sorted(pages(buckets).items()) for segment in content]
    buckets.run(busy_later := [alpha(f"x{room}", 2_000_000) for room in (1, 2)])
    assert len(stage2._warm[key].segments) > 2  # all that waited for the watermark
    buckets.run(busy_later)
    buckets.run(busy_later)
    assert sorted(stage2._warm[key].segments) == sorted(newest[:2])


def test_rooms_that_nothing_comes_from_any_more_are_forgotten(tmp_path: Path) -> None:
    """The horizon is 5 s; what lies beyond it is taken from the state without being looked at."""
    buckets = Buckets(tmp_path, query("keyed"), buckets=1)
    buckets.run([alpha(f"idle{n}", n) for n in range(500)])
    buckets.run([alpha("x1", 1_000_000)])
    assert sum(map(len, pages(buckets).values())) > 400
    buckets.run([alpha("x1", 30_000_000)])
    buckets.run([alpha("x1", 31_000_000)])
    assert sum(map(len, pages(buckets).values())) == 1


def test_a_bounded_input_keeps_no_state_and_closes(tmp_path: Path) -> None:
    given = rows(100)
    buckets = Buckets(tmp_path, query("deadlines"), bounded=True)
    found = buckets.run(given)
    assert sorted(found) == sorted(
        shown(embedded("deadlines", given, close=True, lateness=0.5)[0]).elements()
    )
    assert buckets.kept() == {}


def test_deadlines_beyond_the_end_of_a_bounded_input_are_counted_as_pending(tmp_path: Path) -> None:
    """x1 has its B in time; the deadlines of x2 and x3 lie at 5 s and 5.5 s, and the input ends at 2.5 s."""
    buckets = Buckets(tmp_path, query("deadlines"), bounded=True)
    beta: Row = ("s", 1_000_000, "<http://e/x1> a <http://e/Beta> .")
    given = [alpha("x1", 0), beta, alpha("x2", 2_000_000), alpha("x3", 2_500_000)]
    assert buckets.run(given) == []
    assert buckets.pending == 2


def _pairs(found: list[tuple[object, ...]]) -> list[tuple[object, ...]]:
    """What the change is about; logical events beside it keep their state in any case."""
    return sorted(one for one in found if one[0] == "http://e/AB")


CHANGES = {
    "a comment": ("EVENT AB", "# who follows whom\nEVENT AB", True),
    "another event beside it": ("EVENT AB", "EVENT CA MATCH C(?x) SEQ A(?x) WITHIN 1 s\nEVENT AB", True),
    "a longer WITHIN": ("WITHIN 5 s", "WITHIN 6 s", False),
    "one more triple in K": ("FROM STREAM <s>", "FROM GRAPH <k.nt>\nFROM STREAM <s>", False),
}


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_changed_query_can_go_on_from(tmp_path: Path, change: str) -> None:
    old, new, goes_on = CHANGES[change]
    (tmp_path / "k.nt").write_text("<http://e/x1> <http://e/in> <http://e/room1> .\n")
    text = HEAD + "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s\nRETURN ALL AS EVENT STREAM"
    before = obep.load(text=text, java=False)
    after = obep.load(text=text.replace(old, new, 1), folder=tmp_path, java=False)
    batches = in_four()
    first = Buckets(tmp_path, before)
    found = first.run(batches[0]) + first.run(batches[1])
    stage2._warm.clear()
    second = Buckets(tmp_path, after)
    second.resume(first.kept())
    if goes_on:
        found += second.run(batches[2]) + second.run(batches[3])
        assert _pairs(found) == expected("keyed", batches)
        return
    with pytest.raises(ObepError, match="OBEP558"):
        second.run(batches[2])
    stage2._warm.clear()
    dropped = Buckets(tmp_path, after, drop_state=True)
    dropped.resume(first.kept())
    again = dropped.run(batches[2])
    stage2._warm.clear()  # what is read again is not the old state
    again += dropped.run(batches[3])
    stage2._warm.clear()
    fresh = Buckets(tmp_path, after)
    assert _pairs(again) == _pairs(fresh.run(batches[2]) + fresh.run(batches[3])) != []


def test_a_window_of_another_length_does_not_go_on_with_the_items_of_the_old_one(tmp_path: Path) -> None:
    text = HEAD + QUERIES["window"]
    first = Buckets(tmp_path, obep.load(text=text, java=False))
    first.run(in_four()[0])
    stage2._warm.clear()
    second = Buckets(tmp_path, obep.load(text=text.replace("[RANGE 1 s]", "[RANGE 2 s]"), java=False))
    second.resume(first.kept())
    with pytest.raises(ObepError, match="OBEP558"):
        second.run(in_four()[1])


def test_what_is_cut_off_in_a_window_is_counted(tmp_path: Path) -> None:
    told = [("s", n * 1_000, "<http://e/x> a <http://e/Alpha> .") for n in range(40)]
    told.append(("s", 50_000, "<http://e/x> a <http://e/Beta> ."))
    _, progress = at_once(tmp_path, query("window"), told)
    assert progress["capped"] == 1 and progress["occurrences"] == 32


def test_a_window_that_clashes_is_no_item_that_was_refused(tmp_path: Path) -> None:
    owl = "http://www.w3.org/2002/07/owl#"
    apart = f"<http://e/Gamma> <{owl}disjointWith> <http://e/Alpha> . <http://e/Beta> a <{owl}Class> ."
    (tmp_path / "t.ttl").write_text(apart)
    text = HEAD.replace("FROM STREAM <s>", "VOCAB <t.ttl>\nFROM STREAM <s>") + QUERIES["window"]
    told = [("s", n, f"<http://e/x> a <http://e/{c}> .") for n, c in enumerate(("Alpha", "Gamma", "Beta"))]
    parts, progress = at_once(tmp_path, obep.load(text=text, folder=tmp_path, java=False), told)
    assert [part["code"] for part in parts if part["kind"] == "letter"] == ["OBEP621", "OBEP621"]
    assert (progress["processed"], progress["refused"], progress["derived"]) == (3, 0, 2)


def at_once(folder: Path, of: Query, told: list[Row]) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """All that the only bucket of a bounded run says, and its progress."""
    buckets = Buckets(folder, of, bounded=True)
    blocks = buckets.routes.fill(map(item, told), matcher_of(buckets.job.bundles[0])).encode({"now": 1})
    (number,) = buckets.job.numbers
    rows = buckets.tester.test(number, [SparkRow(bucket=number, block=blocks[0])])
    parts = [one for part in unwrapped([row.payload for row in rows]) for one in part.to_pylist()]
    (progress,) = [json.loads(one["progress"]) for one in parts if one["kind"] == "progress"]
    return parts, progress


def test_time_goes_on_without_data(tmp_path: Path) -> None:
    """A heartbeat: one stream is silent too long, so time is that of the other, and deadlines fall due."""
    buckets = Buckets(tmp_path, query("deadlines"), idle=10_000_000)
    alpha = "<http://e/x1> a <http://e/Alpha> ."
    assert buckets.run([("s", 0, alpha), ("t", 0, alpha), ("s", 20_000_000, "")], now=1_000_000) == []
    assert buckets.run([], now=5_000_000) == []
    [lonely] = buckets.run([], now=12_000_000)
    assert lonely[0] == "http://e/Lonely" and lonely[4] == 3_000_000


def test_a_worker_that_splits_the_query_otherwise_is_refused(tmp_path: Path) -> None:
    """On a cluster the executors may have another version of obep than the driver."""
    job = Buckets(tmp_path, query("keyed")).job
    with pytest.raises(ObepError, match="OBEP657"):
        list(abstracting(replace(job, widths=(99,)), read_graphs)(iter(())))


def test_a_checkpoint_with_other_partitions_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its state lies under other keys: it would begin anew without a word."""
    buckets = Buckets(tmp_path, query("keyed"), buckets=1)
    [number] = buckets.job.numbers

    class Task:
        def __init__(self, partition: int) -> None:
            self.partitionId = lambda: partition

    there = partition_of(number, buckets.job.partitions)
    monkeypatch.setattr(stage2.TaskContext, "get", lambda: Task(there))
    buckets.run(in_four()[0])
    monkeypatch.setattr(stage2.TaskContext, "get", lambda: Task(there + 1))
    with pytest.raises(ObepError, match="OBEP558"):
        buckets.run(in_four()[1])


def test_each_bucket_of_several_queries_has_its_component(tmp_path: Path) -> None:
    """Those of the first query come first; each runs the part that it was counted for."""
    both = [Buckets(tmp_path, query(name)).job for name in ("stacked", "logical", "policy")]
    job = replace(
        both[0],
        bundles=tuple(one.bundles[0] for one in both),
        numbers=tuple(range(sum(len(one.numbers) for one in both))),
        widths=tuple(one.widths[0] for one in both),
    )
    found = [place_of(job, number) for number in range(len(job.numbers))]
    wanted = [
        place_of(one, number)._replace(query=query)
        for query, one in enumerate(both)
        for number in range(len(one.numbers))
    ]
    assert found == wanted
    assert [one.query for one in found] == sorted(one.query for one in found)


def test_each_query_sees_the_items_of_its_streams_and_each_item_is_accounted_for_once(tmp_path: Path) -> None:
    """Two queries over two streams, both stages; an item of a third stream is nobody's."""
    text = "PREFIX : <http://e/>\nFROM STREAM <{}>\nEVENT A AS Alpha\nRETURN A"
    jobs = [Buckets(tmp_path, obep.load(text=text.format(name), java=False)).job for name in "st"]
    numbers = tuple(range(sum(len(job.numbers) for job in jobs)))
    bundles, widths = (job.bundles[0] for job in jobs), (job.widths[0] for job in jobs)
    job = replace(jobs[0], bundles=tuple(bundles), widths=tuple(widths), numbers=numbers, bounded=True)
    given = {
        "stream": ["s", "s", "t", "u"],
        "time": [1, 2, 3, 4],
        "graph": ["<http://e/x> a <http://e/Alpha> ."] * 4,
    }
    stamp = pa.array([7] * 4, pa.timestamp("us", tz="UTC"))
    [blocks] = abstracting(job, read_graphs)(iter([pa.RecordBatch.from_pydict({**given, STAMP: stamp})]))
    tester = TwsTester(Detecting(job))
    found: list[dict[str, Any]] = []
    for row in blocks.to_pylist():
        for one in tester.test(row["bucket"], [SparkRow(**row)]):
            found += [record for batch in unwrapped([one.payload]) for record in batch.to_pylist()]
    assert sorted(micros(r["start"]) for r in found if r["kind"] == "occurrence") == [1, 2, 3]
    assert [(r["stream"], r["code"]) for r in found if r["kind"] == "letter"] == [("u", "OBEP616")]
    assert sum(json.loads(r["progress"])["processed"] for r in found if r["kind"] == "progress") == 3
