"""`obep run --engine spark`: the lines that the embedded engine prints, from files and from live sources."""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from threading import Thread
from typing import Any

import pytest
from brokers import mqtt_broker
from cli.shell import obep
from kafka_broker import consume, produce

from obep.config import Config
from obep.engine.query import load
from obep.formats import read_items
from obep.streams.order import Inlet, Order, Target

pytestmark = pytest.mark.spark
EXAMPLE = Path(__file__).parents[2] / "examples" / "01-rooms"


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
            "--master",
            "local[2]",
            "--engine",
            engine,
        )
        said[engine] = obep("run", EXAMPLE / "query.obep", *more, *arguments)
        assert said[engine].status == 0, said[engine].err
    assert lines(said["spark"].out) == lines(said["embedded"].out) != Counter()
    for ending in (".jsonl", ".nq", "-letters.jsonl"):
        there, here = (lines((tmp_path / f"{engine}{ending}").read_text()) for engine in said)
        assert there == here != Counter(), ending
    detected = [json.loads(line)["detected"] for line in said["spark"].out.splitlines()]
    assert detected == sorted(detected)


@contextmanager
def tcp_server(payload: bytes) -> Iterator[int]:
    """Sends the payload to each client, and keeps the connection."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        clients: list[socket.socket] = []

        def serve() -> None:
            while True:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                clients.append(client)
                client.sendall(payload)

        Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        for client in clients:
            client.close()


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


def records(stream: str, offset: int) -> list[bytes]:
    """Twenty items, and one that moves time far beyond them."""
    found = []
    for n in (*range(20), 1000):
        kind = "Alpha" if (n + offset) % 3 else "Beta"
        graph = f"<http://e/x{n % 4}> a <http://e/{kind}> ."
        found.append(json.dumps({"stream": stream, "time": n, "graph": graph}).encode())
    return found


def test_live_sources_run_side_by_side(spark: Any, kafka: str, tmp_path: Path) -> None:
    """A folder, a socket, MQTT and (where there is a broker) Kafka, until all is decided."""
    from obep.spark.compose import SparkRun

    (tmp_path / "query.obep").write_text(LIVE)
    query = load(tmp_path / "query.obep", java=False)
    folder = tmp_path / "in"
    folder.mkdir()
    given = {name: records(name, n) for n, name in enumerate(("files", "lines", "messages", "topic"))}
    (folder / "0.jsonl").write_bytes(b"\n".join(given["files"]))
    with ExitStack() as stack:
        port = stack.enter_context(tcp_server(b"\n".join(given["lines"]) + b"\n"))
        mqtt = stack.enter_context(mqtt_broker())
        inlets = [
            Inlet("files", f"dir:{folder}", trusted=True),
            Inlet("lines", f"tcp://127.0.0.1:{port}", trusted=True),
            Inlet("messages", mqtt.uri("rooms") + "?client_id=obep-test", trusted=True),
        ]
        sinks = [Target("lines", str(tmp_path / "out.jsonl"), True, form="event")]
        if kafka:
            produce(kafka, "rooms", given["topic"])
            inlets.append(Inlet("topic", f"kafka://{kafka}/rooms", trusted=True))
            sinks.append(Target("found", f"kafka://{kafka}/found", True, form="event"))
        else:
            given.pop("topic")
        order = Order(
            tmp_path / "query.obep",
            Config(tmp_path),
            tuple(inlets),
            tuple(sinks),
            lateness=60_000_000,
            idle=600_000_000 if kafka else 5_000_000,
            checkpoint=tmp_path / "checkpoint",
            master="local[2]",
        )
        run = SparkRun(order, query)
        published = []

        def look() -> None:
            if not published:  # there is a spool once the broker has confirmed the subscription
                spool = tmp_path / "checkpoint" / "spool" / "2"
                if spool.exists():
                    published.append(1)
                    mqtt.publish("rooms", *given["messages"])
            if run.tally.processed >= 21 * len(given) and run.tally.watermark == 940_000_000:
                run.stop()

        run.on_turn = look
        run.go()
        run.close()
        expected = embedded_ids(query, given)
        found = [json.loads(line)["id"] for line in (tmp_path / "out.jsonl").read_text().splitlines()]
        assert Counter(found) == expected
        assert run.tally.late == run.tally.refused == 0
        if kafka:
            assert Counter({key for key, _ in consume(kafka, "found")}) == expected


def embedded_ids(query: Any, given: dict[str, list[bytes]]) -> Counter[str]:
    engine = query.engine(lateness=60)
    items = [item for all_ in given.values() for item in read_items(b"\n".join(all_), "jsonl")]
    found = engine.push_items(sorted(items, key=lambda item: item.at))
    return Counter(one.id for one in found)


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
    assert "OBEP653" in second.err and "Entering" in second.err
    assert "its definition" in second.err
