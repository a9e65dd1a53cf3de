"""What the driver delivers of a micro-batch, also if Spark runs it once more: no JVM is needed."""

from __future__ import annotations

import pickle
from collections import Counter
from pathlib import Path

import msgspec
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from spark_cases import embedded, rows

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.model import Occurrence
from obep.output.form_texts import Found
from obep.run.run_spec import Order, Target, aim
from obep.spark.driver.delivery import Delivery
from obep.spark.driver.parquet import WRITTEN, Parts, Place, Writing, Written
from obep.spark.stages.found_columns import occurrences_payload
from obep.spark.stages.record_batches import COLUMNS
from obep.streams.sinks.open_sinks import CallSink, MemorySink

RETURNED = {"<http://e/AB>": "event", "<http://e/ABC>": "rdf"}


def write(parts: Parts, batch: int, found: list[Occurrence], rdf: bool = False) -> None:
    """As an executor writes and the driver puts in place."""
    writing = Writing([Place("d", str(parts.folder), ())], texts=False)
    parts.put(batch, [file for one in run(writing, found, rdf) for file in one.files.values()])


def run(writing: Writing, found: list[Occurrence], rdf: bool = False) -> list[Written]:
    """What a task says that it wrote."""
    payloads = pa.array([occurrences_payload(found, rdf, (COLUMNS,))], pa.binary())
    given = pickle.loads(pickle.dumps(writing))(iter([pa.RecordBatch.from_arrays([payloads], ["payload"])]))
    rows = [row for batch in given for row in batch.to_pylist()]
    return [msgspec.json.decode(row["progress"], type=Written) for row in rows if row["kind"] == WRITTEN]


def ids(folder: Path) -> list[str]:
    found: list[str] = pq.read_table(folder).column("id").to_pylist()
    return found


def test_a_micro_batch_that_runs_again_replaces_its_part(tmp_path: Path) -> None:
    found, _ = embedded("keyed", rows(60), close=True)
    parts = Parts(tmp_path / "out.parquet", 0)
    write(parts, 0, [])
    write(parts, 1, found[:3])
    write(parts, 2, found[3:7])
    run(Writing([Place("d", str(parts.folder), ())], texts=False), found[3:7])  # killed before it was put
    again = Parts(tmp_path / "out.parquet", 2)
    assert ids(tmp_path / "out.parquet") == [one.id for one in found[:3]]
    write(again, 2, found[3:7])
    write(again, 2, found[3:7])
    write(again, 3, [])
    assert ids(tmp_path / "out.parquet") == [one.id for one in found[:7]]
    assert [path.name for path in sorted((tmp_path / "out.parquet").iterdir())] == [
        f"part-0000000{n}-0000.parquet" for n in range(3)
    ]  # the first one says the columns, others are there if there is something in them


def test_what_an_executor_wrote_elsewhere_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ObepError, match="OBEP554"):
        Parts(tmp_path / "out.parquet", 0).put(0, [str(tmp_path / "elsewhere" / ".part-1.tmp")])


def test_a_folder_that_an_executor_does_not_have_is_said(tmp_path: Path) -> None:
    writing = Writing([Place("d", str(tmp_path / "elsewhere"), ())], texts=False)
    with pytest.raises(ObepError, match="OBEP554") as caught:
        run(writing, embedded("keyed", rows(60), close=True)[0])
    assert "No such file" in str(caught.value) and "other machines" in str(caught.value)


def test_parquet_has_the_columns_of_detect(tmp_path: Path) -> None:
    found, _ = embedded("stacked", rows(60), close=True)
    write(Parts(tmp_path / "out.parquet", 0), 0, found, rdf=True)
    table = pq.read_table(tmp_path / "out.parquet")
    assert table.column_names == [
        "event",
        "id",
        "start",
        "end",
        "detected",
        "bindings",
        "because",
        "bounded",
        "rdf",
    ]
    assert table.schema.field("start").type == pa.timestamp("us", tz="UTC")
    first = table.slice(0, 1).to_pylist()[0]
    assert [dict(row) for row in first["bindings"]] == [dict(row) for row in found[0].bindings]
    assert len(first["because"]) == len(found[0].parts) and found[0].id in first["rdf"]


def test_files_of_others_in_the_folder_stay(tmp_path: Path) -> None:
    (tmp_path / "mine.parquet").write_bytes(b"")
    (tmp_path / "part-00000000.parquet").write_bytes(b"")
    Parts(tmp_path, 0)
    assert [path.name for path in tmp_path.iterdir()] == ["mine.parquet"]


def test_a_folder_that_cannot_be_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(ObepError, match="OBEP554"):
        Parts(tmp_path / "file", 0)


def order(folder: Path, *sinks: Target) -> Order:
    return Order(Path("-"), Config(folder), (), sinks)


def test_each_sink_gets_the_form_and_the_events_that_it_wants(tmp_path: Path) -> None:
    found, _ = embedded("stacked", rows(60), close=True)
    wide = [one for one in found if one.event == "<http://e/ABC>"]
    assert 0 < len(wide) < len(found)
    targets = list(
        aim([str(tmp_path / name) for name in ("a.jsonl", "b.trig", "c.nq")], "", Config(tmp_path))
    )
    targets.append(Target("d", str(tmp_path / "d.parquet"), True, form="columns", events=("ABC",)))
    memory, called = MemorySink(), list[str]()
    given = {"memory": memory, "call": CallSink(lambda id, payload: called.append(id))}
    delivery = Delivery(order(tmp_path, *targets), RETURNED, sinks=given)
    forms = delivery.forms()
    assert forms == ("columns", "event", "nquads", "trig")
    texts = {
        one.id: {"event": "{}\n", "nquads": f"# n {one.id}\n", "trig": f"# t {one.id}\n"} for one in found
    }
    sent = [Found(one.event[1:-1], one.id, one.start, one.end, one.detected, texts[one.id]) for one in found]
    delivery.open(0)
    writing = delivery.writing()
    assert writing is not None
    delivery.take(0, sent, (), run(writing, found))
    delivery.close()
    everyone = sorted(one.id for one in found)
    assert sorted(called) == sorted(id for id, _ in memory.sent) == everyone
    assert {payload for _, payload in memory.sent} == {b"{}\n"}
    assert len((tmp_path / "a.jsonl").read_text().splitlines()) == len(found)
    assert sorted(line[4:] for line in (tmp_path / "b.trig").read_text().splitlines()) == everyone
    assert sorted(line[4:] for line in (tmp_path / "c.nq").read_text().splitlines()) == everyone
    assert sorted(ids(tmp_path / "d.parquet")) == sorted(one.id for one in wide)


def test_what_only_parquet_wants_is_counted_and_not_sent_to_the_driver(tmp_path: Path) -> None:
    found, _ = embedded("stacked", rows(60), close=True)
    target = Target("d", str(tmp_path / "d.parquet"), True, form="columns", events=("ABC",))
    delivery = Delivery(order(tmp_path, target), RETURNED)
    delivery.open(0)
    writing = delivery.writing()
    assert writing is not None
    payloads = pa.array([occurrences_payload(found, False, delivery.forms())], pa.binary())
    sent = list(writing(iter([pa.RecordBatch.from_arrays([payloads], ["payload"])])))
    assert [row["kind"] for batch in sent for row in batch.to_pylist()] == [WRITTEN]
    delivery.take(0, (), (), run(writing, found))
    delivery.close()
    assert delivery.occurrences == Counter(one.event[1:-1] for one in found)
    assert sorted(ids(tmp_path / "d.parquet")) == sorted(o.id for o in found if o.event.endswith("/ABC>"))


def test_a_resumed_run_with_nothing_new_leaves_what_is_there(tmp_path: Path) -> None:
    found, _ = embedded("keyed", rows(60), close=True)
    target = Target("d", str(tmp_path / "d.parquet"), True, form="columns")
    lines = Target("e", str(tmp_path / "e.jsonl"), True, form="event")
    sent = [Found(o.event[1:-1], o.id, o.start, o.end, o.detected, {"event": f"{o.id}\n"}) for o in found]
    for again in (False, True):
        delivery = Delivery(order(tmp_path, target, lines), RETURNED, tmp_path / "delivered.json")
        if not again:
            delivery.open(0)
            writing = delivery.writing()
            assert writing is not None
            delivery.take(0, sent, (), run(writing, found))
        delivery.close()
        assert sorted(ids(tmp_path / "d.parquet")) == sorted(one.id for one in found)
        assert len((tmp_path / "e.jsonl").read_text().splitlines()) == len(found)
