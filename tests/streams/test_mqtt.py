"""MQTT against a real broker: messages in and out, passwords, TLS."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from threading import Event, Thread

import pytest
from brokers import TABOO, MqttBroker, NoMosquitto, mosquitto_broker, mqtt_broker, passwords_for, self_signed

from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.streams.mqtt import MqttSink, MqttSource
from obep.streams.sinks.open_sinks import open_sink
from obep.streams.sources.batches import Batch, Position, Source
from obep.streams.sources.open_sources import open_source
from obep.streams.spool import Spool

pytest.importorskip("paho")
pytest.importorskip("amqtt")


@pytest.fixture(scope="module", params=["amqtt", "mosquitto"])
def broker(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[MqttBroker]:
    if request.param == "amqtt":
        with mqtt_broker() as started:
            yield started
        return
    try:
        with mosquitto_broker(tmp_path_factory.mktemp("mosquitto")) as started:
            yield started
    except NoMosquitto as reason:
        pytest.skip(str(reason))


def take(source: Source, count: int) -> list[Item | DeadLetter]:
    """The first records of a live source, which is then stopped."""
    found: list[Item | DeadLetter] = []
    for batch in source.batches({}):
        found.extend(batch.records)
        if len(found) >= count:
            source.stop()
            break
    return found


def test_messages_become_items_and_wrong_ones_dead_letters(broker: MqttBroker, tmp_path: Path) -> None:
    source = open_source("doors", broker.uri("site/+/door"), Config(tmp_path))
    broker.publish("site/a/door", b'{"time": 1, "graph": ""}', b"broken")
    broker.publish("site/a/window", b'{"time": 9, "graph": ""}')
    broker.publish("site/b/door", b'[{"time": 2, "graph": ""}, {"time": 3, "graph": ""}]')
    records = take(source, 4)
    assert [r.at for r in records] == [1_000_000, None, 2_000_000, 3_000_000]
    assert {r.stream for r in records} == {"doors"}


def test_a_mapping_sees_the_topic_and_a_message_without_time_has_its_arrival(
    broker: MqttBroker, tmp_path: Path
) -> None:
    (tmp_path / "obep.toml").write_text(f"""
        [sources.thermo]
        uri = "{broker.uri("mapped/#")}"
        [sources.thermo.mapping]
        template = "<http://e/{{_levels.1}}> <http://e/t> {{t}} ."
    """)
    config = load_config(None, tmp_path)
    source = open_source("thermo", config.sources["thermo"]["uri"].reveal(), config, trusted=False)
    broker.publish("mapped/kitchen", b'{"t": 21}')
    [item] = take(source, 1)
    assert isinstance(item, Item)
    assert item.triples[0][0] == "<http://e/kitchen>"
    assert item.at > 1_700_000_000_000_000


def test_occurrences_are_published(broker: MqttBroker, tmp_path: Path) -> None:
    source = open_source("", broker.uri("alarms"), Config(tmp_path))
    sink = open_sink(broker.uri("alarms"), {}, Config(tmp_path))
    for n in range(3):
        sink.send(f"urn:{n}", b'{"time": %d, "graph": ""}' % n)
    sink.flush()
    assert [r.at for r in take(source, 3)] == [0, 1_000_000, 2_000_000]
    sink.close()


@pytest.mark.slow
def test_credentials_come_from_the_environment_and_are_not_printed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKER_WORD", "hush-hush")
    with mqtt_broker(passwords=passwords_for(tmp_path, "me", "hush-hush")) as broker:
        (tmp_path / "obep.toml").write_text(f"""
            [sources.doors]
            uri = "{broker.uri("t")}"
            username = "me"
            password = "${{BROKER_WORD}}"
        """)
        config = load_config(None, tmp_path)
        source = open_source("doors", broker.uri("t"), config)
        broker.publish("t", b'{"time": 1, "graph": ""}', username="me", password="hush-hush")
        assert [r.at for r in take(source, 1)] == [1_000_000]
        for userinfo in ("", "me:wrong-word@"):
            with pytest.raises(ObepError) as caught:
                open_source("", broker.uri("t", userinfo), Config(tmp_path))
            assert caught.value.code == "OBEP552"
            assert 'password = "${VARIABLE}"' in str(caught.value)
            assert "wrong-word" not in str(caught.value)


def test_a_broker_that_refuses_the_topic_is_not_listened_to_in_vain(tmp_path: Path) -> None:
    with mqtt_broker() as broker:
        with pytest.raises(ObepError) as caught:
            open_source("", broker.uri(TABOO), Config(tmp_path))
        assert caught.value.code == "OBEP552"
        assert f"refuses: no subscription to {TABOO}" in str(caught.value)


def test_tls_checks_the_certificate(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    with mqtt_broker(certificate=certificate, key=key) as broker:
        (tmp_path / "obep.toml").write_text(f"""
            [sources.doors]
            uri = "{broker.uri("t")}"
            ca = "cert.pem"
        """)
        config = load_config(None, tmp_path)
        source = open_source("doors", broker.uri("t"), config)
        sink = open_sink(broker.uri("t"), config.sources["doors"], config)
        sink.send("urn:1", b'{"time": 1, "graph": ""}')
        assert [r.at for r in take(source, 1)] == [1_000_000]
        sink.close()
        with pytest.raises(ObepError) as caught:
            open_source("", broker.uri("t"), Config(tmp_path))
        assert caught.value.code == "OBEP552"
        assert "self-signed certificate" in str(caught.value) and 'ca = "FILE.pem"' in str(caught.value)
        (tmp_path / "obep.toml").write_text(
            f"[sources.doors]\nuri = '{broker.uri('t')}'\nca = 'missing.pem'\n"
        )
        with pytest.raises(ObepError) as caught:
            open_source("doors", broker.uri("t"), load_config(None, tmp_path))
        assert caught.value.code == "OBEP508"


@pytest.mark.slow
def test_tls_and_a_password_together_let_a_source_and_a_sink_in(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("BROKER_WORD", "hush-hush")
    certificate, key = self_signed(tmp_path)
    passwords = passwords_for(tmp_path, "me", "hush-hush")
    with mqtt_broker(passwords=passwords, certificate=certificate, key=key) as broker:
        common = f"""uri = "{broker.uri("t")}"\nca = "cert.pem"\nusername = "me"\n"""
        common += 'password = "${BROKER_WORD}"\n'
        (tmp_path / "obep.toml").write_text(f"[sources.s]\n{common}\n[sinks.s]\n{common}")
        config = load_config(None, tmp_path)
        source = open_source("s", broker.uri("t"), config)
        sink = open_sink(broker.uri("t"), config.sinks["s"], config)
        sink.send("urn:1", b'{"time": 1, "graph": ""}')
        assert [r.at for r in take(source, 1)] == [1_000_000]
        sink.close()
        wrong = {**config.sinks["s"], "password": "wrong-word"}
        with pytest.raises(ObepError) as caught:
            open_sink(broker.uri("t"), wrong, config)
        assert caught.value.code == "OBEP552"
        assert "wrong-word" not in str(caught.value)


def test_what_was_acknowledged_is_in_the_spool_until_a_checkpoint_has_it(
    broker: MqttBroker, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    told: list[object] = []
    append = Spool.append
    monkeypatch.setattr(Spool, "append", lambda own, some: (append(own, some), told.append("safe"))[0])
    config, spool = Config(tmp_path), tmp_path / "spool"

    def reading(start: Position) -> tuple[MqttSource, Iterator[Batch]]:
        source = open_source("doors", broker.uri("kept"), config, spool=spool)
        assert isinstance(source, MqttSource)
        ack = source.client.ack
        monkeypatch.setattr(source.client, "ack", lambda mid, qos: (told.append("ack"), ack(mid, qos))[1])
        return source, source.batches(start)

    source, batches = reading({})
    broker.publish("kept", b'{"time": 1, "graph": ""}')
    first = next(batches)
    broker.publish("kept", b'{"time": 2, "graph": ""}')
    second = next(batches)
    assert told == ["safe", "ack", "safe", "ack"]
    assert (first.position, second.position) == ({"next": 1}, {"next": 2})
    batches.close()  # and nothing was committed: as after a kill

    source, batches = reading({})
    assert [record.at for _ in range(2) for record in next(batches).records] == [1_000_000, 2_000_000]
    batches.close()

    source, batches = reading(first.position)
    again = next(batches)
    assert ([record.at for record in again.records], again.position) == ([2_000_000], {"next": 2})
    source.committed(again.position)
    broker.publish("kept", b'{"time": 3, "graph": ""}')
    assert next(batches).position == {"next": 3}
    batches.close()
    assert [number for number, _ in Spool(spool).files(0, None)] == [2], "what a checkpoint has is gone"


@pytest.mark.slow
def test_a_broker_that_goes_away_is_known_to_be_away_until_it_is_back(
    broker: MqttBroker, tmp_path: Path
) -> None:
    source = open_source("doors", broker.uri("any"), Config(tmp_path))
    assert isinstance(source, MqttSource) and source.lost == ""
    seen: list[str] = []
    gone, back = Event(), Event()
    lost, connected = source.client.on_disconnect, source.client.on_connect
    source.client.on_disconnect = lambda *given: (lost(*given), seen.append(source.lost), gone.set())[0]
    source.client.on_connect = lambda *given: (connected(*given), seen.append(source.lost), back.set())[0]
    line = source.client.socket()
    assert line is not None
    line.shutdown(socket.SHUT_RDWR)  # the line is cut; paho calls again by itself
    assert gone.wait(30) and back.wait(30)
    assert seen[0] and seen[1] == "", seen
    source.stop()
    assert source.lost == "", "whoever goes himself is not away"


class Line:
    """A line to a broker that can be cut, and laid again."""

    def __init__(self, port: int) -> None:
        self._behind, self._ends = port, list[socket.socket]()
        self._server = socket.create_server(("127.0.0.1", 0))
        self.port = self._server.getsockname()[1]
        Thread(target=self._serve, args=(self._server,), daemon=True).start()

    def cut(self) -> None:
        self._server.shutdown(socket.SHUT_RDWR)
        for one in (self._server, *self._ends):
            with suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()
        self._ends.clear()

    def lay(self) -> None:
        self._server = socket.create_server(("127.0.0.1", self.port))
        Thread(target=self._serve, args=(self._server,), daemon=True).start()

    def _serve(self, server: socket.socket) -> None:
        with suppress(OSError):
            while True:
                near, _ = server.accept()
                far = socket.create_connection(("127.0.0.1", self._behind))
                self._ends += [near, far]
                for one, other in ((near, far), (far, near)):
                    Thread(target=self._pass, args=(one, other), daemon=True).start()

    def _pass(self, one: socket.socket, other: socket.socket) -> None:
        with suppress(OSError):
            while data := one.recv(1 << 16):
                other.sendall(data)
        for end in (one, other):
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)


@pytest.mark.slow
def test_nothing_is_lost_while_the_broker_of_a_sink_is_away(broker: MqttBroker, tmp_path: Path) -> None:
    source = open_source("s", broker.uri("t"), Config(tmp_path))
    line = Line(broker.port)
    sink = open_sink(f"mqtt://127.0.0.1:{line.port}/t", {}, Config(tmp_path))
    assert isinstance(sink, MqttSink)
    sink.send("urn:1", b'{"time": 1, "graph": ""}')
    sink.flush()
    gone = Event()
    lost = sink.client.on_disconnect
    sink.client.on_disconnect = lambda *given: (lost(*given), gone.set())[0]
    line.cut()
    assert gone.wait(30)
    for number in (2, 3, 4):
        sink.send(f"urn:{number}", f'{{"time": {number}, "graph": ""}}'.encode())
    flushed, waited = Event(), Event()
    sink.waits = lambda: waited.set() if sink.lost else None
    Thread(target=lambda: (sink.flush(), flushed.set()), daemon=True).start()
    assert waited.wait(30), "who waits can say that it is away"
    assert sink.lost and not flushed.is_set()
    line.lay()
    assert flushed.wait(60), "it goes on when the broker is back"
    assert {r.at for r in take(source, 4)} == {1_000_000, 2_000_000, 3_000_000, 4_000_000}
    sink.close()


@pytest.mark.slow
def test_a_stop_does_not_wait_for_a_broker_that_is_away(broker: MqttBroker, tmp_path: Path) -> None:
    line = Line(broker.port)
    sink = open_sink(f"mqtt://127.0.0.1:{line.port}/t", {}, Config(tmp_path))
    assert isinstance(sink, MqttSink)
    gone = Event()
    lost = sink.client.on_disconnect
    sink.client.on_disconnect = lambda *given: (lost(*given), gone.set())[0]
    line.cut()
    assert gone.wait(30)
    sink.send("urn:1", b"{}")
    sink.hurry()
    with pytest.raises(ObepError) as caught:
        sink.flush()
    assert caught.value.code == "OBEP555"
