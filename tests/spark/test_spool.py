"""The spool between an MQTT broker and Spark: what is in it survives, what is committed leaves it."""

from __future__ import annotations

import errno
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from threading import Event

import pytest
from brokers import MqttBroker, NoMosquitto, mosquitto_broker, mqtt_broker, passwords_for, self_signed
from live_ends import tcp_server

pytest.importorskip("pyspark")

from obep.config.toml_file import Config
from obep.config.toml_values import Secret
from obep.errors import ObepError
from obep.spark.connectors.connection_status import LOST, OtherEnd
from obep.spark.connectors.mqtt_source import MqttReader
from obep.spark.connectors.spark_sources import kafka_options, require_answer
from obep.spark.connectors.spark_spool import Range, SpooledReader
from obep.spark.connectors.tcp_source import TcpReader
from obep.streams.spool import NEXT, Spool
from obep.streams.stream_uri import parse_address


def test_messages_keep_their_numbers_over_a_restart(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 1, b"0"), ("a", 2, b"1")])
    spool.append([("b", 3, b"2")])
    again = Spool(tmp_path)
    assert again.next == 3
    again.append([("b", 4, b"3")])
    assert [first for first, _ in again.files(0, None)] == [0, 2, 3]


def test_readers_get_exactly_their_range(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", n, str(n).encode()) for n in range(5)])
    spool.append([("a", n, str(n).encode()) for n in range(5, 8)])
    reader = MqttReader({"spool": str(tmp_path), "uri": "mqtt://127.0.0.1/a"})
    assert [data for _, _, data in reader.read(Range(3, 6))] == [b"3", b"4", b"5"]


def test_what_is_committed_leaves_and_numbers_go_on(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 0, b"0"), ("a", 0, b"1")])
    spool.append([("a", 0, b"2")])
    spool.forget(1)  # the first file is still needed
    assert [first for first, _ in spool.files(0, None)] == [0, 2]
    spool.forget(3)
    assert list(spool.files(0, None)) == []
    assert Spool(tmp_path).next == 3


def test_a_torn_write_is_no_file(tmp_path: Path) -> None:
    spool = Spool(tmp_path)
    spool.append([("a", 0, b"0")])
    (tmp_path / ".00000000000000000001.spool.tmp").write_bytes(b"half")
    assert Spool(tmp_path).next == 1


def test_a_message_is_acknowledged_when_it_is_in_the_spool_and_not_before(tmp_path: Path) -> None:
    told: list[tuple[list[int], int]] = []

    class Reader(SpooledReader):
        def listen(self) -> None:
            """Messages come by hand."""

        def acknowledge(self, tokens: Sequence[int]) -> None:
            told.append((list(tokens), Spool(tmp_path).next))  # as who starts after a crash finds it

    reader = Reader({"spool": str(tmp_path)})
    assert reader.initialOffset() == {NEXT: 0}
    for number in (1, 2):
        reader.take("rooms", b"x", number)
    assert told == []
    assert reader.latestOffset() == {NEXT: 2}
    assert told == [([1, 2], 2)]
    assert reader.latestOffset() == {NEXT: 2}
    assert told == [([1, 2], 2)]


def until(reader: SpooledReader, count: int) -> list[bytes]:
    """Ask, as Spark does, until so many messages are in the spool; what is in it."""
    pause = Event()
    start = 0
    while (end := reader.latestOffset()[NEXT]) < count:
        pause.wait(0.02)
    return [data for _, _, data in reader.read(Range(start, end))]


@pytest.mark.slow
def test_mqtt_over_tls_needs_the_certificate(tmp_path: Path) -> None:
    certificate, key = self_signed(tmp_path)
    with mqtt_broker(certificate=certificate, key=key) as broker:
        options = {"uri": broker.uri("rooms"), "spool": str(tmp_path / "spool")}
        with pytest.raises(ObepError, match="OBEP552"):
            MqttReader(options).initialOffset()
        reader = MqttReader({**options, "ca": str(certificate), "tls": "True", "qos": "1"})
        assert reader.initialOffset() == {NEXT: 0}
        broker.publish("rooms", b"one", b"two")
        assert until(reader, 2) == [b"one", b"two"]
        reader.stop()


@pytest.mark.slow
def test_the_driver_knows_that_a_broker_is_away_until_it_is_back(tmp_path: Path) -> None:
    folder = tmp_path / "spool"
    folder.mkdir()
    (folder / LOST).write_text("by a run that was killed")
    end = OtherEnd("doors", folder)
    assert end.lost == ""
    with mqtt_broker() as broker:
        reader = MqttReader({"uri": broker.uri("rooms"), "spool": str(folder)})
        reader.initialOffset()
        seen: list[str] = []
        gone, back = Event(), Event()
        assert reader._connection is not None
        client = reader._connection.client
        lost, connected = client.on_disconnect, client.on_connect
        client.on_disconnect = lambda *given: (lost(*given), seen.append(end.lost), gone.set())[0]
        client.on_connect = lambda *given: (connected(*given), seen.append(end.lost), back.set())[0]
        client.socket().shutdown(socket.SHUT_RDWR)  # the line is cut; paho calls again by itself
        assert gone.wait(30) and back.wait(30)
        assert seen[0] and seen[1] == "", seen
        reader.stop()
        assert end.lost == "", "whoever goes himself is not away"


def test_a_reader_that_is_started_once_more_hears_the_other_end(tmp_path: Path) -> None:
    end = OtherEnd("lines", tmp_path)
    (tmp_path / LOST).write_text("to the reader before it")
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        reader = TcpReader({"host": "127.0.0.1", "port": port, "limit": "20", "spool": str(tmp_path)})
        reader.initialOffset()
        assert end.lost == ""
        reader.stop()


def test_the_driver_knows_that_a_connection_is_lost_until_there_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("obep.spark.connectors.tcp_source.AGAIN_S", 0.01)
    end, seen, back = OtherEnd("lines", tmp_path), list[str](), Event()

    class Reader(TcpReader):
        def report_connection(self, why: str) -> None:
            super().report_connection(why)
            seen.append(end.lost)
            if len(seen) == 3:
                back.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        reader = Reader({"host": "127.0.0.1", "port": port, "limit": "20", "spool": str(tmp_path)})
        reader.initialOffset()
        server.accept()[0].close()
        assert back.wait(30)
        assert seen == ["", "it ended the connection", ""]
        reader.stop()


@pytest.mark.parametrize("reset", [False, True])
def test_a_line_that_is_cut_by_the_end_of_a_connection_is_taken_and_the_reason_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, reset: bool
) -> None:
    monkeypatch.setattr("obep.spark.connectors.tcp_source.AGAIN_S", 0.01)
    taken, seen, here, gone = list[bytes](), list[str](), Event(), Event()

    class Reader(TcpReader):
        def take(self, topic: str, data: bytes, token: object = None) -> None:
            taken.append(data)
            here.set()

        def report_connection(self, why: str) -> None:
            seen.append(why)
            if why:
                gone.set()

    with socket.create_server(("127.0.0.1", 0)) as server:
        port = str(server.getsockname()[1])
        reader = Reader({"host": "127.0.0.1", "port": port, "limit": "20", "spool": str(tmp_path)})
        reader.initialOffset()
        near = server.accept()[0]
        near.sendall(b"whole\nha")
        assert here.wait(30)  # what came with it has been read as well
        if reset:
            near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        near.close()
        assert gone.wait(30)
        reader.stop()
    assert taken == [b"whole", b"ha"]
    assert seen[1] == (os.strerror(errno.ECONNRESET) if reset else "it ended the connection")


@contextmanager
def secured_broker(kind: str, folder: Path) -> Iterator[MqttBroker]:
    """One that wants TLS, a name and a password."""
    certificate, key = self_signed(folder)
    if kind == "amqtt":
        passwords = passwords_for(folder, "me", "hush-hush")
        with mqtt_broker(passwords=passwords, certificate=certificate, key=key) as broker:
            yield broker
        return
    try:
        user = ("me", "hush-hush")
        with mosquitto_broker(folder, user=user, certificate=certificate, key=key) as broker:
            yield broker
    except NoMosquitto as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["amqtt", "mosquitto"])
def test_the_broker_keeps_what_comes_while_nobody_listens_for_a_client_id(tmp_path: Path, kind: str) -> None:
    """amqtt does so for those who give a name and a password, mosquitto for all; over TLS here."""
    with secured_broker(kind, tmp_path) as broker:
        me = {"username": "me", "password": "hush-hush"}
        options = {"uri": broker.uri("rooms"), "spool": str(tmp_path / "spool"), "client_id": "obep-test"}
        options |= {"ca": str(broker.ca), **me}
        reader = MqttReader(options)
        assert reader.initialOffset() == {NEXT: 0}
        broker.publish("rooms", b"one", **me)
        assert until(reader, 1) == [b"one"]
        reader.commit({NEXT: 1})
        reader.stop()
        broker.wait_until_gone("obep-test")
        broker.publish("rooms", b"two", b"three", **me)
        again = MqttReader(options)
        assert sorted(until(again, 3)) == [b"three", b"two"]
        again.stop()
        with pytest.raises(ObepError, match="OBEP552") as caught:
            MqttReader({**options, "password": "wrong-word"}).initialOffset()
        assert "wrong-word" not in str(caught.value)


def test_lines_of_a_connection_go_on_after_it_breaks_off(tmp_path: Path) -> None:
    with tcp_server([b"one\n" + b"x" * 50 + b"\ntwo\n", b"three\n"]) as port:
        options = {"host": "127.0.0.1", "port": str(port), "limit": "20", "spool": str(tmp_path / "spool")}
        reader = TcpReader(options)
        assert reader.initialOffset() == {NEXT: 0}
        assert until(reader, 3) == [b"one", b"x" * 22, b"two"]  # too long: its beginning, which is refused
        reader.commit({NEXT: 3})
        again = TcpReader(options)  # after a restart: another connection, the numbers go on
        assert again.latestOffset()[NEXT] >= 3
        assert until(again, 4) == [b"three"]
        reader.stop()
        again.stop()


def test_a_server_that_does_not_answer_is_an_error(tmp_path: Path) -> None:
    with tcp_server([]) as port:
        pass
    options = {"host": "127.0.0.1", "port": str(port), "limit": "20", "spool": str(tmp_path)}
    with pytest.raises(ObepError, match="OBEP552"):
        TcpReader(options).initialOffset()


def test_brokers_of_kafka_of_which_none_listens_are_an_error_at_once() -> None:
    with tcp_server([b""]) as port:
        require_answer(parse_address(f"kafka://127.0.0.1:1,127.0.0.1:{port}/topic"))
    with pytest.raises(ObepError, match="OBEP552") as caught:
        require_answer(parse_address("kafka://me:hush@127.0.0.1:1/topic"))
    assert "hush" not in str(caught.value)


def test_settings_of_kafka_are_those_of_its_java_client(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("CA")
    address = parse_address("kafka://host:9093/topic")
    assert kafka_options(address, {}, Config(tmp_path)) == {}
    settings = {
        "username": "me",
        "password": Secret('a"b'),
        "tls": True,
        "ca": "ca.pem",
        "options": {"max.poll.records": "5"},
    }
    assert kafka_options(address, settings, Config(tmp_path)) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": "org.apache.kafka.common.security.plain.PlainLoginModule required "
        'username="me" password="a\\"b";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": "CA",
        "max.poll.records": "5",
    }
    scrambled = {**settings, "options": {"sasl.mechanism": Secret("SCRAM-SHA-512")}}
    given = kafka_options(address, scrambled, Config(tmp_path))
    assert given["sasl.mechanism"] == "SCRAM-SHA-512"
    assert given["sasl.jaas.config"].startswith(
        "org.apache.kafka.common.security.scram.ScramLoginModule required "
    )
    with pytest.raises(ObepError, match="OBEP508"):
        kafka_options(address, {"tls": True, "ca": "nowhere.pem"}, Config(tmp_path))
