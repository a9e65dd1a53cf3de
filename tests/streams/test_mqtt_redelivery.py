"""What an MQTT broker sends again: taken once while it is not acknowledged, and never lost."""

from __future__ import annotations

import random
from pathlib import Path
from threading import Event
from types import SimpleNamespace
from typing import Any

import pytest
from brokers import MqttBroker, NoMosquitto, mosquitto_broker
from test_mqtt import Line

from obep.config.toml_file import Config
from obep.streams.mqtt import MqttSource, Subscription, Token
from obep.streams.sources.open_sources import open_source
from obep.streams.stream_uri import parse_address

paho = pytest.importorskip("paho.mqtt.client")


class Client:
    """The other side of a subscription: connected or not; remembers what is acknowledged."""

    def __init__(self) -> None:
        self.connected, self.acknowledged = False, list[int]()

    def is_connected(self) -> bool:
        return self.connected

    def ack(self, number: int, qos: int) -> None:
        self.acknowledged.append(number)

    def subscribe(self, topic: str, qos: int) -> None:
        """Nothing is sent here."""


class Reader:
    """A subscription that is fed by hand, and what it has taken."""

    def __init__(self) -> None:
        self.subscription = Subscription(parse_address("mqtt://127.0.0.1/t"), {}, Config(Path("/")))
        self.client: Any = Client()
        self.subscription.client = self.client
        self.taken: list[str] = []
        self.waiting: list[Token] = []

    def connect(self, resumed: bool) -> None:
        self.client.connected = True
        flags, reason = SimpleNamespace(session_present=resumed), SimpleNamespace(is_failure=False)
        self.subscription._connected(self.client, None, flags, reason, None)

    def lose(self) -> None:
        self.client.connected = False

    def come(self, number: int, text: str, again: bool = False) -> None:
        message = paho.MQTTMessage(mid=number)
        message.qos, message.dup = 1, again
        if not self.subscription.is_again(message):
            self.taken.append(text)
            self.waiting.append(self.subscription.token(message))

    def store(self) -> None:
        self.subscription.acknowledge(self.waiting)
        self.waiting.clear()


def test_what_comes_again_before_it_is_acknowledged_is_taken_once_and_acknowledged_once() -> None:
    reader = Reader()
    reader.connect(resumed=False)
    reader.come(1, "one")
    reader.come(1, "one", again=True)
    reader.store()
    assert (reader.taken, reader.client.acknowledged) == (["one"], [1])


def test_a_marked_message_with_the_number_of_an_acknowledged_one_is_taken() -> None:
    """It may be a new one, whose first sending was lost with a connection."""
    reader = Reader()
    reader.connect(resumed=False)
    reader.come(1, "one")
    reader.store()
    reader.lose()
    reader.connect(resumed=True)
    reader.come(1, "two", again=True)
    assert reader.taken == ["one", "two"]


def test_a_message_without_the_mark_is_new_whatever_its_number() -> None:
    reader = Reader()
    reader.connect(resumed=False)
    reader.come(1, "one")
    reader.come(1, "two")
    assert reader.taken == ["one", "two"]


def test_a_new_session_knows_no_number_of_the_one_before_it() -> None:
    reader = Reader()
    reader.connect(resumed=False)
    reader.come(1, "one")
    reader.lose()
    reader.connect(resumed=False)
    reader.store()  # of the session before: 1 is nobody's here
    assert reader.client.acknowledged == []
    reader.come(1, "two", again=True)
    reader.store()
    assert (reader.taken, reader.client.acknowledged) == (["one", "two"], [1])


def test_what_was_stored_while_the_line_was_cut_is_acknowledged_when_it_comes_again() -> None:
    reader = Reader()
    reader.connect(resumed=False)
    reader.come(1, "one")
    reader.lose()
    reader.store()
    assert reader.client.acknowledged == []
    reader.connect(resumed=True)
    reader.come(1, "one", again=True)
    assert (reader.taken, reader.client.acknowledged) == (["one"], [1])
    reader.come(1, "two")
    assert reader.taken == ["one", "two"]


@pytest.mark.parametrize("seed", range(200))
def test_nothing_is_lost_and_nothing_doubled_but_what_crosses_its_acknowledgement(seed: int) -> None:
    """A broker that cuts lines, forgets sessions, sends again and gives numbers anew, at random."""
    choose, reader = random.Random(seed), Reader()
    flying: dict[int, tuple[str, bool]] = {}  # by number: the text, whether it was sent before
    kept, unsure = set[str](), set[str]()
    count, heard = 0, 0
    reader.connect(resumed=False)

    def send(number: int, arrives: bool) -> None:
        text, before = flying[number]
        if number in reader.client.acknowledged[heard:]:
            unsure.add(text)  # the acknowledgement is on its way
        flying[number] = (text, True)
        if arrives:
            reader.come(number, text, again=before)

    for _ in range(choose.randrange(5, 60)):
        match choose.choice(["new", "new", "again", "store", "answer", "cut", "forget"]):
            case "new" if len(flying) < 3:
                count += 1
                number = min({1, 2, 3} - set(flying))
                flying[number] = (f"m{count}", False)
                kept.add(f"m{count}")
                send(number, arrives=choose.random() < 0.8)
            case "again" if flying:
                send(choose.choice(sorted(flying)), arrives=choose.random() < 0.8)
            case "store":
                reader.store()
            case "answer":  # the broker reads what was acknowledged
                for number in reader.client.acknowledged[heard:]:
                    flying.pop(number, None)
                heard = len(reader.client.acknowledged)
            case "cut" | "forget" as how:
                reader.lose()
                unsure |= {flying[n][0] for n in reader.client.acknowledged[heard:] if n in flying}
                heard = len(reader.client.acknowledged)
                if choose.random() < 0.5:
                    reader.store()
                if how == "forget":
                    kept -= {text for text, _ in flying.values() if text not in reader.taken}
                    flying.clear()
                reader.connect(resumed=how == "cut")
                for number in sorted(flying):  # a session that goes on begins with what is not acknowledged
                    send(number, arrives=True)
    for number in sorted(flying):
        send(number, arrives=True)
    assert set(reader.taken) == kept
    doubled = {text for text in reader.taken if reader.taken.count(text) > 1}
    assert doubled <= unsure, (doubled, unsure)


@pytest.fixture
def mosquitto(tmp_path: Path) -> Any:
    try:
        with mosquitto_broker(tmp_path) as started:
            yield started
    except NoMosquitto as reason:
        pytest.skip(str(reason))


@pytest.mark.slow
def test_a_line_that_is_cut_before_a_message_is_stored_doubles_nothing(
    mosquitto: MqttBroker, tmp_path: Path
) -> None:
    line = Line(mosquitto.port)
    uri = f"mqtt://127.0.0.1:{line.port}/t?client_id=obep-again"
    source = open_source("s", uri, Config(tmp_path), spool=tmp_path / "spool")
    assert isinstance(source, MqttSource)
    came, back, marked = Event(), Event(), list[bool]()
    arrived, confirmed = source.client.on_message, source.client.on_subscribe

    def note(client: Any, userdata: Any, message: Any) -> None:
        marked.append(message.dup)
        assert arrived is not None
        arrived(client, userdata, message)
        came.set()

    source.client.on_message = note
    mosquitto.publish("t", b'{"time": 1, "graph": ""}')
    assert came.wait(30)
    assert confirmed is not None
    source.client.on_subscribe = lambda *given: (confirmed(*given), back.set())[0]
    came.clear()
    line.cut()
    line.lay()
    assert back.wait(60) and came.wait(60)
    mosquitto.publish("t", b'{"time": 2, "graph": ""}')
    batches, found = source.batches({}), list[Any]()
    while not found or found[-1].at != 2_000_000:
        found += next(batches).records
    batches.close()
    assert marked == [False, True, False], "the broker sends again what is not acknowledged"
    assert [record.at for record in found] == [1_000_000, 2_000_000]
