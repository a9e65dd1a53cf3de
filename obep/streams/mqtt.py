"""MQTT topics as sources and sinks, by paho (`mqtt://host/topic`, `mqtts://` for TLS)."""

from __future__ import annotations

import queue
import ssl
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from threading import Condition, Event, Lock
from typing import TYPE_CHECKING, Any

from obep.config.toml_file import Config, secret_of
from obep.errors import fail
from obep.formats import format_named, read_items_of
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Item
from obep.streams.login_refused import refused
from obep.streams.sources.batches import SIZE, Batch, Position
from obep.streams.sources.files import now
from obep.streams.spool import NEXT, Message, Spool
from obep.streams.stream_uri import Address
from obep.streams.tls_settings import tls_context

if TYPE_CHECKING:
    import paho.mqtt.client as paho

ANSWER_S = 30.0
"""How long a connected broker may take for a message."""
HELD = 10_000
"""Messages that wait for the engine before the broker has to."""
Token = tuple[int, int, int]
"""By which a message is acknowledged: its number, its QoS and its session."""


class Connection:
    """A connected client; paho reconnects when the connection is lost."""

    def __init__(self, address: Address, settings: Mapping[str, Any], config: Config) -> None:
        try:
            import paho.mqtt.client as paho
            from paho.mqtt.enums import CallbackAPIVersion
        except ImportError:
            raise fail("OBEP551", "MQTT needs paho-mqtt", remedy='pip install "obep[mqtt]"') from None
        if not address.path:
            raise fail("OBEP512", f"{address.shown}: a topic is needed", remedy="mqtt://host/topic")
        identity = settings.get("client_id") or address.option("client_id")
        self.address = address
        self.topic = address.path
        self.qos = int(settings.get("qos", address.option("qos", "1")))
        self.client: paho.Client = paho.Client(
            CallbackAPIVersion.VERSION2, client_id=identity, clean_session=not identity
        )
        username = secret_of(settings.get("username")) or address.username
        if username:
            self.client.username_pw_set(username, secret_of(settings.get("password")) or address.password)
        secure = address.scheme == "mqtts" or settings.get("tls", False)
        if secure:
            self.client.tls_set_context(tls_context(settings, config))
        self._port = address.port or (8883 if secure else 1883)
        self._answered = Event()
        self._refusal = ""
        self.lost = ""
        """Why the connection to the broker is lost."""
        self.resumed = False
        """Whether the broker resumes the session of our `client_id`."""
        self.client.on_connect = self._connected
        self.client.on_disconnect = self._lost

    def open(self) -> None:
        """Connects; a broker that does not answer, or says no, is an error."""
        try:
            self.client.connect(self.address.host or "localhost", self._port)
        except ssl.SSLCertVerificationError as error:
            raise refused(self.address.shown, error.verify_message, certificate=True) from None
        except (OSError, ValueError) as error:
            raise fail("OBEP552", f"{self.address.shown} does not answer: {error}") from None
        self.client.loop_start()
        answered = self._answered.wait(10)
        if self._refusal:
            self.close()
            raise refused(self.address.shown, self._refusal, certificate=False)
        if not answered:
            self.close()
            raise fail("OBEP552", f"{self.address.shown} does not answer: no word in 10 s")

    def close(self) -> None:
        self.client.disconnect()
        self.client.loop_stop()

    def ready(self) -> None:
        """Called at each connection, also after a lost one."""

    def turned(self) -> None:
        """Called when `lost` may have changed."""

    def _connected(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        self.lost = self._refusal = str(reason) if reason.is_failure else ""
        self.resumed = bool(flags.session_present)
        if not self._refusal:
            self.ready()
        self.turned()
        self._answered.set()

    def _lost(self, client: Any, userdata: Any, flags: Any, reason: Any, properties: Any) -> None:
        self.lost = _words(reason) if reason.is_failure else ""
        self.turned()


class Subscription(Connection):
    """Subscribed to its topic at each connection.

    Who acknowledges by hand asks `is_again` of each message and calls `acknowledge` when it is safe. A broker
    sends a message of QoS 1 again, marked and with the same number, as long as it has no acknowledgement.
    """

    def __init__(self, address: Address, settings: Mapping[str, Any], config: Config) -> None:
        super().__init__(address, settings, config)
        self._unacknowledged: dict[int, bool] = {}
        """Messages of QoS 1 of this session, by number; whether they are safe."""
        self._session = 0
        """Sessions before this one. In each the broker counts its messages anew."""
        self._counting = Lock()

    def is_again(self, message: paho.MQTTMessage) -> bool:
        """Whether the broker has sent this before, and it is taken but not acknowledged.

        After an acknowledgement the number is free: a marked message may then be a new one that was lost on
        its way, and is taken.
        """
        if message.qos != 1:
            return False
        with self._counting:
            again = message.dup and message.mid in self._unacknowledged
            if not again:
                self._unacknowledged[message.mid] = False
            elif self._unacknowledged[message.mid]:
                del self._unacknowledged[message.mid]
                self.client.ack(message.mid, message.qos)
            return again

    def token(self, message: paho.MQTTMessage) -> Token:
        """The token of a message for `acknowledge`."""
        return message.mid, message.qos, self._session

    def acknowledge(self, tokens: Iterable[Token]) -> None:
        """These are safe. While the connection is lost, they are acknowledged when they come again."""
        with self._counting:
            for number, qos, session in tokens:
                if session != self._session:
                    continue  # the broker has forgotten it, and may have given its number to another
                if qos == 1 and not self.client.is_connected():
                    self._unacknowledged[number] = True
                else:
                    self._unacknowledged.pop(number, None)
                    self.client.ack(number, qos)

    def open(self) -> None:
        """Connects, and returns when the broker keeps for us what comes from then on."""
        self._confirmed = Event()
        self.client.on_subscribe = self._subscribed
        super().open()
        # some send first what they have kept, and wait for each of it to be acknowledged, which is done later
        answered, why = self._confirmed.wait(60 if self.resumed else 10), self.lost
        if why:
            self.close()
            raise refused(self.address.shown, why, certificate=False)
        if not answered:
            self.close()
            raise fail("OBEP552", f"{self.address.shown} does not confirm the subscription")

    def ready(self) -> None:
        if not self.resumed:
            with self._counting:
                self._session += 1
                self._unacknowledged.clear()
        self.client.subscribe(self.topic, self.qos)

    def _subscribed(self, client: Any, userdata: Any, number: int, reasons: Any, properties: Any) -> None:
        """Check the subscription: a broker may accept the connection and refuse the topic."""
        failures = [str(reason) for reason in reasons if reason.is_failure]
        if failures:
            self.lost = f"no subscription to {self.topic}: {', '.join(failures)}"
            self.turned()
        self._confirmed.set()


class MqttSource(Subscription):
    """The messages of a topic; each is a document, and mappings see its topic as `_topic` and `_levels`."""

    live = True
    ends = False

    def __init__(
        self,
        name: str,
        address: Address,
        reading: Reading,
        settings: Mapping[str, Any],
        config: Config,
        format: str = "",
        spool: Path | None = None,
    ) -> None:
        """`spool` keeps messages until a checkpoint has them; without it there is no checkpoint."""
        super().__init__(address, settings, config)
        self.name = name
        self._reading = reading
        self._format = format_named(format or address.option("format", "json"))
        self._messages: queue.Queue[tuple[paho.MQTTMessage, Token]] = queue.Queue(HELD)
        self._spool = Spool(spool) if spool is not None else None
        self._forgotten = 0
        """Messages of the spool that the checkpoint has."""
        if self._spool is not None:
            self.client.manual_ack_set(True)
        self._stopped = Event()
        self._is_read = False
        self.client.on_message = self._arrived
        self.open()

    def batches(self, start: Position) -> Iterator[Batch]:
        """The messages of the spool, then those of the broker, which keeps the others for a `client_id`."""
        self._is_read = True
        try:
            if self._spool is not None:
                self._spool.next = max(self._spool.next, start.get(NEXT, 0))
                yield from self._spooled(self._spool, start.get(NEXT, 0))
            while not self._stopped.is_set():
                if come := self._come():
                    messages = [(one.topic, now(), bytes(one.payload)) for one, _ in come]
                    yield self._batch(messages, [token for _, token in come])
        finally:
            self._stopped.set()
            self.close()

    def _come(self) -> list[tuple[paho.MQTTMessage, Token]]:
        """The messages that are there, after a short while."""
        messages = []
        try:
            messages.append(self._messages.get(timeout=0.2))
            while len(messages) < SIZE:
                messages.append(self._messages.get_nowait())
        except queue.Empty:
            pass
        return messages

    def _spooled(self, spool: Spool, start: int) -> Iterator[Batch]:
        """Earlier messages that are in no checkpoint."""
        for first, messages in spool.files(start, None):
            records = [one for message in messages[max(0, start - first) :] for one in self._read(message)]
            yield Batch(records, {NEXT: first + len(messages)})

    def _batch(self, messages: list[Message], tokens: list[Token]) -> Batch:
        """Messages as records; with a spool they are stored before they are acknowledged."""
        position: Position = {}
        if self._spool is not None:
            if self._forgotten:
                self._spool.forget(self._forgotten)
                self._forgotten = 0
            self._spool.append(messages)
            self.acknowledge(tokens)
            position = {NEXT: self._spool.next}
        return Batch([record for message in messages for record in self._read(message)], position)

    def committed(self, position: Position) -> None:
        """Remembered for the thread that reads, which alone touches the spool."""
        self._forgotten = position.get(NEXT, 0)

    def stop(self) -> None:
        """Only asks: it may be called from a signal, while the client waits for room in the queue."""
        self._stopped.set()
        if not self._is_read:
            self.close()

    def _arrived(self, client: Any, userdata: Any, message: Any) -> None:
        if self._spool is not None and self.is_again(message):
            return
        came = message, self.token(message)
        while not self._stopped.is_set():
            try:
                self._messages.put(came, timeout=0.2)
                return
            except queue.Full:
                continue

    def _read(self, message: Message) -> Iterator[Item | DeadLetter]:
        topic, arrived, payload = message
        extra = {"_topic": topic, "_levels": topic.split("/")}
        arrival = None if self._reading.arrival is None else lambda: arrived
        return read_items_of(payload, self._format, replace(self._reading, extra=extra, arrival=arrival))


class MqttSink(Connection):
    """Publishes each occurrence as one message; messages wait while the connection is lost."""

    def __init__(self, address: Address, settings: Mapping[str, Any], config: Config) -> None:
        super().__init__(address, settings, config)
        self.name = address.shown
        self.waits: Callable[[], None] = lambda: None
        """Called now and then while it waits."""
        self._turned = Condition()
        self._sent = self._taken = 0
        self._hurried = False
        self.client.on_publish = self._published
        self.open()

    def send(self, id: str, payload: bytes) -> None:
        """Hands a message to the client, which sends it again after a lost connection (`qos` 1 and 2)."""
        self._wait(lambda: self._sent - self._taken < HELD)
        if self.qos:
            self._sent += 1
            self.client.publish(self.topic, payload, self.qos)
            return
        while self.client.publish(self.topic, payload).rc:  # it keeps nothing of this quality
            self._wait(self.client.is_connected)

    def flush(self) -> None:
        """Wait until the broker has everything, also while the connection is lost."""
        self._wait(lambda: self._taken >= self._sent)

    def hurry(self) -> None:
        """Stop waiting for a disconnected broker. May be called from a signal."""
        self._hurried = True

    def turned(self) -> None:
        with self._turned:
            self._turned.notify_all()

    def _published(self, client: Any, userdata: Any, mid: int, reason: Any, properties: Any) -> None:
        with self._turned:
            self._taken += bool(self.qos)
            self._turned.notify_all()

    def _wait(self, done: Callable[[], bool]) -> None:
        """Returns when it is done; a broker that is there and takes nothing for a while is an error."""
        patient, taken = time.monotonic() + ANSWER_S, self._taken
        while not done():
            if self._hurried and not self.client.is_connected():
                raise fail(
                    "OBEP555", f"{self.address.shown} lost the connection, and has not taken all messages"
                )
            if not self.client.is_connected() or taken != self._taken:
                patient, taken = time.monotonic() + ANSWER_S, self._taken
            if time.monotonic() > patient:
                raise fail("OBEP555", f"{self.address.shown} takes no more messages")
            with self._turned:
                if not done():
                    self._turned.wait(0.2)
            self.waits()

    def position(self) -> int:
        return 0

    def close(self) -> None:
        if self._answered.is_set() and not self._refusal:
            self.flush()
        super().close()


def _words(reason: object) -> str:
    """Why a connection was lost, as people say it: paho has no better word for most of it.

    >>> _words("Unspecified error"), _words("Keep alive timeout")
    ('the connection broke off', 'Keep alive timeout')
    """
    return "the connection broke off" if str(reason) == "Unspecified error" else str(reason)
