"""`obep run --engine spark`: the lines that the embedded engine prints, from files and from live sources."""

from __future__ import annotations

import json
import urllib.request
from collections import Counter
from collections.abc import Iterable, Sequence
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from brokers import free_port, mqtt_broker
from cli.shell import obep
from kafka_broker import consume, produce
from live_ends import interrupting, subscribed, tcp_server
from pyarrow import parquet

from obep.config.toml_file import Config
from obep.formats import read_items
from obep.run.case_comparison import difference
from obep.run.cases import EXPECTED
from obep.run.cases import expected as worked_out
from obep.run.load_query import load
from obep.run.run_spec import Inlet, Order, Target
from obep.spark.driver.spark_run import SparkRun
from obep.streams.sinks.open_sinks import CallSink, MemorySink

pytestmark = pytest.mark.spark
EXAMPLES = sorted(path.parent for path in (Path(__file__).parents[2] / "examples").glob("*/query.obep"))
EXAMPLE = EXAMPLES[0]


def lines(text: str) -> Counter[str]:
    return Counter(text.splitlines())


def test_files_give_the_lines_of_the_embedded_engine(spark: Any, tmp_path: Path) -> None:
    stream = tmp_path / "stream.jsonl"
    stream.write_text(
        (EXAMPLE / "stream.jsonl").read_text()
        + '{"stream": "doors", "time": 8, "graph": "no graph"}\n'
        + '{"stream": "elsewhere", "time": 8, "graph": ""}\n'
    )
    said = {}
    for engine in ("embedded", "spark"):
        sinks = ["-", tmp_path / f"{engine}.jsonl", tmp_path / f"{engine}.nq"]
        arguments = [part for sink in sinks for part in ("--sink", sink)]
        letters = tmp_path / f"{engine}-letters.jsonl"
        more = (
            "--source",
            f"{stream}",
            "--dead-letters",
            letters,
            "--engine",
            engine,
            *(("--master", "local[2]") if engine == "spark" else ()),
        )
        said[engine] = obep("run", EXAMPLE / "query.obep", *more, *arguments)
        assert said[engine].status == 0, said[engine].err
    assert lines(said["spark"].out) == lines(said["embedded"].out) != Counter()
    for ending in (".jsonl", ".nq"):
        there, here = (lines((tmp_path / f"{engine}{ending}").read_text()) for engine in said)
        assert there == here != Counter(), ending
    there, here = (lines((tmp_path / f"{engine}-letters.jsonl").read_text()) for engine in said)
    number = stream.read_text().splitlines().index('{"stream": "doors", "time": 8, "graph": "no graph"}') + 1
    numbered = f',"line":{number}}}'  # Spark reads the lines of a file in parts, and does not know it
    assert any(letter.endswith(numbered) for letter in there)
    assert Counter(letter.replace(numbered, "}") for letter in there) == here
    detected = [json.loads(line)["detected"] for line in said["spark"].out.splitlines()]
    assert detected == sorted(detected)


LIVE = """PREFIX : <http://e/>
FROM STREAM <files>
FROM STREAM <lines>
FROM STREAM <messages>
FROM STREAM <topic>
EVENT A AS Alpha
EVENT B AS Beta
EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s
EVENT Lonely MATCH A(?r) NOT FOLLOWED BY B(?r) WITHIN 3 s
RETURN AB, Lonely AS EVENT STREAM
"""


def record(stream: str, offset: int, n: int) -> dict[str, Any]:
    kind = "Alpha" if (n + offset) % 3 else "Beta"
    return {"stream": stream, "time": n, "graph": f"<http://e/x{n % 4}> a <http://e/{kind}> ."}


STREAMS = ("files", "lines", "messages", "topic")
FIRST, SECOND = range(10), (*range(10, 20), 1000)
"""What comes before the stop and after it; the last one moves time far beyond all others."""


def records(stream: str, numbers: Iterable[int]) -> list[bytes]:
    return [json.dumps(record(stream, STREAMS.index(stream), n)).encode() for n in numbers]


def write_in_all_formats(folder: Path, numbers: Sequence[int]) -> None:
    """Some items as JSON lines, as TriG, as N-Quads and as Parquet."""
    told = [record("files", 0, n) for n in numbers]
    (folder / "0.jsonl").write_bytes(b"\n".join(records("files", numbers[0::4])))
    for ending, some in ((".trig", told[1::4]), (".nq", told[2::4])):
        text = ""
        for one in some:
            name, at = f"<http://e/m{one['time']}>", datetime.fromtimestamp(one["time"], UTC).isoformat()
            statement = one["graph"].replace(" a ", " <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> ")
            text += f"{name} {{ {one['graph']} }}\n" if ending == ".trig" else statement[:-1] + name + " .\n"
            text += f'{name} <{PROV}> "{at}"^^<http://www.w3.org/2001/XMLSchema#dateTime> .\n'
        (folder / f"1{ending}").write_text(text)
    parquet.write_table(pa.Table.from_pylist(told[3::4]), folder / ".3.parquet")
    (folder / ".3.parquet").rename(folder / "3.parquet")


PROV = "http://www.w3.org/ns/prov#generatedAtTime"


def test_live_sources_stop_and_go_on(spark: Any, kafka: str, tmp_path: Path) -> None:
    """A folder, a socket, MQTT and (where there is a broker) Kafka into all sinks, stopped in between."""
    (tmp_path / "query.obep").write_text(LIVE)
    query = load(tmp_path / "query.obep", java=False)
    folder = tmp_path / "in"
    folder.mkdir()
    streams = STREAMS if kafka else STREAMS[:3]
    memory, called = MemorySink(), list[str]()
    more = {"memory": memory, "call": CallSink(lambda id, payload: called.append(id))}
    with ExitStack() as stack:
        parts = [b"\n".join(records("lines", numbers)) + b"\n" for numbers in (FIRST, SECOND)]
        port = stack.enter_context(tcp_server(parts))
        mqtt = stack.enter_context(mqtt_broker())
        heard = stack.enter_context(subscribed(mqtt, "found"))
        inlets = [
            Inlet("files", f"dir:{folder}", trusted=True),
            Inlet("lines", f"tcp://127.0.0.1:{port}", trusted=True),
            Inlet("messages", mqtt.uri("rooms") + "?client_id=obep-test", trusted=True),
        ]
        sinks = [
            Target("lines", str(tmp_path / "out.jsonl"), True, form="event"),
            Target("trig", str(tmp_path / "out.trig"), True, form="rdf"),
            Target("parquet", str(tmp_path / "out.parquet"), True, form="columns"),
            Target("mqtt", mqtt.uri("found"), True, form="event"),
        ]
        if kafka:
            inlets.append(Inlet("topic", f"kafka://{kafka}/rooms", trusted=True))
            sinks.append(Target("found", f"kafka://{kafka}/found", True, form="event"))
        order = Order(
            tmp_path / "query.obep",
            Config(tmp_path),
            tuple(inlets),
            tuple(sinks),
            lateness=60_000_000,
            idle=600_000_000,
            checkpoint=tmp_path / "checkpoint",
            master="local[2]",
        )
        totals: Counter[str] = Counter()
        for numbers in (FIRST, SECOND):
            if kafka:
                produce(kafka, "rooms", records("topic", numbers))
            if numbers is FIRST:
                (folder / "a.jsonl").write_bytes(b"\n".join(records("files", numbers)))
            else:
                write_in_all_formats(folder, numbers)
            run = SparkRun(order, query, sinks=more)
            sent: list[bytes] = []

            def look(run: SparkRun = run, sent: list[bytes] = sent, all_: Sequence[int] = numbers) -> None:
                if run.tally.processed and not sent:  # a micro-batch has run: the broker knows us
                    sent += records("messages", all_)
                    mqtt.publish("rooms", *sent)
                if run.tally.processed >= len(all_) * len(streams):
                    run.stop()

            run.on_turn = look
            run.go()
            run.close()
            totals.update(processed=run.tally.processed, late=run.tally.late, refused=run.tally.refused)
        given = {name: records(name, (*FIRST, *SECOND)) for name in streams}
        expected = embedded_ids(query, given)
        assert len(expected) > 10
        lines = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert Counter(lines) == expected
        assert totals == {"processed": 21 * len(streams), "late": 0, "refused": 0}
        assert Counter(parquet.read_table(tmp_path / "out.parquet")["id"].to_pylist()) == expected
        rdf = (tmp_path / "out.trig").read_text()
        assert all(id in rdf for id in expected)
        assert Counter(id for id, _ in memory.sent) == Counter(called) == expected
        assert Counter(json.loads(payload)["id"] for payload in heard(len(expected))) == expected
        if kafka:
            assert Counter({key for key, _ in consume(kafka, "found")}) == expected


def embedded_ids(query: Any, given: dict[str, list[bytes]]) -> Counter[str]:
    engine = query.engine(lateness=60)
    items = [item for all_ in given.values() for item in read_items(b"\n".join(all_), "jsonl")]
    found = engine.push_items(sorted(items, key=lambda item: item.at))
    return Counter(one.id for one in found)


def test_a_deadline_falls_due_without_data_and_ctrl_c_ends_the_run(spark: Any, tmp_path: Path) -> None:
    """A folder that stays silent: the heartbeat moves time. Started again, it goes on with what is new.

    Then there is a record of each kind beside it, and both engines count them alike.
    """
    query, folder, out = tmp_path / "query.obep", tmp_path / "in", tmp_path / "out.jsonl"
    query.write_text(
        "PREFIX : <http://e/>\nFROM STREAM <s>\nEVENT A AS Alpha\nEVENT B AS Beta\n"
        "EVENT Lonely(?x) MATCH A(?x) NOT FOLLOWED BY B(?x) WITHIN 2 s\nRETURN Lonely\n"
    )
    folder.mkdir()
    port = free_port()
    command = ("run", query, "--source", f"s=dir:{folder}", "--sink", out, "--idle", "1s", "--metrics")
    more = (f":{port}", "--checkpoint", tmp_path / "state", "--engine", "spark", "--master", "local[2]")
    seen: list[str] = []
    counted: Counter[str] = Counter()
    first = ""
    for number in (1, 2):
        at = datetime.now(UTC).isoformat()
        record = {"time": at, "graph": f"<http://e/x{number}> a <http://e/Alpha> ."}
        others = [{**record, "time": "2001-01-01T00:00:00Z"}, {**record, "time": "2500-01-01T00:00:00Z"}]
        others += [{**record, "graph": "no graph"}]
        lines = [json.dumps(one) + "\n" for one in ([record, *others] if number == 2 else [record])]
        first = "".join(lines) if number == 1 else first
        (folder / f".{number}").write_text("".join(lines))
        (folder / f".{number}").rename(folder / f"{number}.jsonl")

        def found_and_counted(number: int = number) -> bool:
            if not out.exists() or out.read_text().count("\n") < number:
                return False
            with urllib.request.urlopen(f"http://127.0.0.1:{port}/metrics", timeout=60) as answer:
                seen.append(answer.read().decode())
            return True

        with interrupting(found_and_counted):
            said = obep(*command, *more, "--log-format", "json")
        assert said.status == 130, said.err
        counted.update(figures := counts(said))
        found = [json.loads(line) for line in out.read_text().splitlines()]
        assert [one["bindings"][0]["x"] for one in found] == [
            f"<http://e/x{n}>" for n in range(1, number + 1)
        ]
        assert "obep_up 1" in seen[-1] and "obep_bucket_skew" in seen[-1] and "obep_lag_seconds" in seen[-1]
        assert 'obep_occurrences_total{event="http://e/Lonely"} 1' in seen[-1]
        assert f"obep_items_total {figures['items']}\n" in seen[-1]
    (folder / "1.jsonl").write_text("".join(lines))
    said = obep(*command, *more)
    assert said.status == 2 and f"OBEP558  {folder / '1.jsonl'} was replaced" in said.err, said.err
    (folder / "1.jsonl").write_text(first)
    here = tmp_path / "here.jsonl"
    with interrupting(lambda: here.exists() and here.read_text().count("\n") == 2):
        source = ("--source", f"s=dir:{folder}", "--sink", here, "--idle", "1s", "--engine", "embedded")
        embedded = obep("run", query, *source, "--log-format", "json")
    # 2 on time, one late and one of the year 2500; beside them what is no graph
    assert counted == counts(embedded) == {"items": 4, "late": 1, "refused": 2}


def counts(said: Any) -> dict[str, int]:
    """What the summary of a run says of its records."""
    [summary] = [one for one in map(json.loads, said.err.splitlines()) if "items" in one]
    return {name: summary[name] for name in ("items", "late", "refused")}


def test_a_rate_is_a_source_for_demonstrations(spark: Any, tmp_path: Path) -> None:
    query, out = tmp_path / "query.obep", tmp_path / "out.jsonl"
    query.write_text(
        "PREFIX : <http://e/>\nFROM STREAM <ticks>\nEVENT Tick AS Ticked\n"
        "EVENT Two MATCH Tick NEXT Tick AS b\nRETURN Two\n"
    )
    (tmp_path / "obep.toml").write_text(
        '[sources.ticks]\nuri = "rate:5"\nmapping = "ticks"\n'
        '[mappings.ticks]\ntemplate = "<http://e/t{value}> a <http://e/Ticked> ."\ntime = "time"\n'
    )
    with interrupting(lambda: out.exists() and out.read_text().count("\n") > 3):
        more = ("--engine", "spark", "--master", "local[2]", "--log-format", "json")
        said = obep("run", query, "--sink", out, *more)
    assert said.status == 130, said.err
    assert "Traceback" not in said.err and "py4j" not in said.err  # though it was pressed twice
    summary = json.loads(said.err.splitlines()[-1])
    assert summary["message"] == "stopped" and summary["items"] > 3
    first = json.loads(out.read_text().splitlines()[0])
    assert [part["individual"] for part in first["because"]] == ["http://e/t0", "http://e/t1"]


def test_standard_input_is_read_to_its_end(spark: Any) -> None:
    data = (EXAMPLE / "stream.jsonl").read_bytes()
    said = {
        engine: obep("run", EXAMPLE / "query.obep", "--source", "-", "--engine", engine, stdin=data)
        for engine in ("embedded", "spark")
    }
    assert said["spark"].status == 0, said["spark"].err
    assert lines(said["spark"].out) == lines(said["embedded"].out) != Counter()


@pytest.mark.java
@pytest.mark.parametrize("folder", EXAMPLES, ids=lambda path: path.name)
def test_an_example_gives_the_lines_of_the_embedded_engine(spark: Any, folder: Path) -> None:
    """With the sources that its README names; and what it worked out by hand."""
    text = (folder / "README.md").read_text()
    [command] = [line.split() for line in text.splitlines() if line.strip().startswith("obep run ")]
    arguments = [part.replace("examples/", f"{EXAMPLES[0].parent}/") for part in command[1:]]
    place = arguments.index("embedded")
    said = {}
    for engine in ("embedded", "spark"):
        arguments[place] = engine
        said[engine] = obep(*arguments)
    assert {one.status for one in said.values()} == {0}, [one.err for one in said.values()]
    assert lines(said["spark"].out) == lines(said["embedded"].out) != Counter()
    assert difference(said["spark"].records, worked_out(folder / EXPECTED)) == []


def test_a_checkpoint_of_another_query_is_refused_before_anything_runs(spark: Any, tmp_path: Path) -> None:
    text = (EXAMPLE / "query.obep").read_text()
    for name in ("ontology.ttl", "static.ttl", "stream.jsonl"):
        (tmp_path / name).write_bytes((EXAMPLE / name).read_bytes())
    query = tmp_path / "query.obep"
    query.write_text(text)
    more = ("--source", tmp_path / "stream.jsonl", "--checkpoint", tmp_path / "state", "--engine", "spark")
    first = obep("run", query, *more, "--master", "local[2]")
    assert first.status == 0, first.err
    query.write_text(text.replace("WITHIN (5 min)", "WITHIN (6 min)"))
    second = obep("run", query, *more, "--master", "local[2]")
    assert second.status == 2
    assert "OBEP558" in second.err and "Entering" in second.err
    assert "its definition" in second.err
    query.write_text("# goes on\n" + text)
    assert obep("run", query, *more, "--master", "local[2]").status == 0
    query.write_text(text.replace("WITHIN (5 min)", "WITHIN (6 min)"))
    assert obep("run", query, *more, "--master", "local[2]", "--drop-state").status == 0
