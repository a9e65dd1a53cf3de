"""The sources of a run as one DataFrame of raw rows: files, folders, Kafka, MQTT, a socket, a rate.

Comes in: the inlets of an order. Goes out: a DataFrame of `RAW`, bounded or streaming, and how to read it.
"""

from __future__ import annotations

import socket
import sys
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.config.toml_file import Config, secret_of
from obep.errors import fail
from obep.formats import format_named
from obep.run.run_spec import Inlet, Order
from obep.spark.connectors.connection_status import OtherEnd
from obep.spark.connectors.standard_input import keep
from obep.spark.readers.raw_rows import RAW, Inflow
from obep.streams.kafka import brokers_of, topic_of
from obep.streams.kafka_options import MECHANISM, harmless, not_taken, unknown
from obep.streams.sources.files import format_of, refuse_folder, unreadable
from obep.streams.sources.open_sources import make_reading, place_of
from obep.streams.stream_uri import Address, parse_address

if TYPE_CHECKING:
    from pyspark.sql import DataFrame, SparkSession

ANSWER_S = 10.0
KNOWN_TO_JAVA = ("PLAIN", "SCRAM-SHA-256", "SCRAM-SHA-512", "GSSAPI", "OAUTHBEARER")
"""Mechanisms of SASL that Java's client has by itself."""
LIVE = ("dir", "tcp", "mqtt", "mqtts", "kafka", "rate")


@dataclass(frozen=True)
class Opened:
    """What is read, and how."""

    rows: DataFrame
    inflows: tuple[Inflow, ...]
    skipped: int
    """Records of standard input that the checkpoint has."""
    ends: Mapping[str, OtherEnd]
    """Whom its sources listen to, as far as we connect ourselves; by the keys of the inlets."""


def address_of(inlet: Inlet) -> Address:
    """The parts of an inlet's URI; `rate:5` is five items a second, for demonstrations."""
    if inlet.uri.startswith("rate:"):
        return Address(inlet.uri, "rate", inlet.uri.removeprefix("rate:"))
    return parse_address(inlet.uri)


def is_live(order: Order) -> bool:
    """Whether some source goes on for ever."""
    return any(lives(address_of(inlet)) for inlet in order.inlets)


def lives(address: Address) -> bool:
    """Whether a source goes on for ever."""
    return address.scheme in LIVE


def input_files(order: Order) -> list[Path]:
    """The files that a run reads by their names."""
    return [
        _path_of(one, order) for one in order.inlets if address_of(one).scheme == "file" and not is_stdin(one)
    ]


def input_folders(order: Order) -> list[Path]:
    """The folders that a run watches."""
    found = [_path_of(one, order) for one in order.inlets if address_of(one).scheme == "dir"]
    return [path for path in found if path.is_dir()]


def is_stdin(inlet: Inlet) -> bool:
    """Whether a source is standard input."""
    return inlet.uri == "-" or inlet.uri.startswith("-.")


def _path_of(inlet: Inlet, order: Order) -> Path:
    path = address_of(inlet).path
    return (Path(path) if inlet.trusted else order.config.file(path)).absolute()


def open_sources(
    spark: SparkSession, order: Order, streaming: bool, scratch: Path, alone: str = ""
) -> Opened:
    """All sources of a run. `scratch` is a folder that lives as long as the checkpoint."""
    frames, inflows, skipped = [], [], 0
    ends: dict[str, OtherEnd] = {}
    for number, inlet in enumerate(order.inlets):
        opening = Opening(spark, order, inlet, number, streaming, scratch, alone)
        frames.append(opening.rows())
        inflows.append(opening.inflow)
        skipped += opening.skipped
        if opening.end is not None:
            ends[inlet.key] = opening.end
    return Opened(reduce(lambda a, b: a.unionByName(b), frames), tuple(inflows), skipped, ends)


class Opening:
    """One source while it is opened."""

    def __init__(
        self,
        spark: SparkSession,
        order: Order,
        inlet: Inlet,
        number: int,
        streaming: bool,
        scratch: Path,
        alone: str,
    ) -> None:
        self._spark, self._order, self._inlet, self._number = spark, order, inlet, number
        self._streaming, self._scratch = streaming, scratch
        self._address = address_of(inlet)
        self._settings = order.config.sources.get(inlet.name, {}) if inlet.name else {}
        live = self._address.scheme in LIVE[1:]
        reading = make_reading(inlet.name, {**self._settings}, order.config, stream=alone, live=live)
        mapping = order.config.mapping_of(inlet.name) if inlet.name else None
        reading.source = inlet.name or self._address.shown
        reading.mapping = None  # compiled in the workers
        self._reading, self._mapping = reading, mapping
        self.inflow = Inflow("messages", "", reading, mapping)
        self.skipped = 0
        self.end: OtherEnd | None = None

    def rows(self) -> DataFrame:
        scheme = self._address.scheme
        opened = {"file": self._file, "dir": self._folder, "tcp": self._socket, "kafka": self._kafka}
        opened |= {"mqtt": self._mqtt, "mqtts": self._mqtt, "rate": self._rate}
        if scheme not in opened:
            raise fail("OBEP512", f"{self._address.shown} is no source")
        return opened[scheme]()

    def _is(self, kind: str, format: str) -> None:
        self.inflow = Inflow(kind, format, self._reading, self._mapping)

    def _file(self) -> DataFrame:
        given = self._settings.get("format", "")
        path, only = self._path()
        place = "" if self._inlet.trusted else place_of(self._inlet.name, self._order.config)
        refuse_folder(path, self._inlet.name, place)
        format, packed = format_of(path.name, given)
        if not path.is_file():
            raise unreadable(path, "there is no such file", place)
        if format == "jsonl" and not packed:
            self._is("lines", format)
            lines = self._reader().format("text").option("lineSep", "\n")
            if self._streaming:
                lines = lines.schema("value string").option("pathGlobFilter", only)
                return _raw(lines.load(str(path.parent)), self._number, data="cast(value as binary)")
            return _raw(lines.load(str(path)), self._number, data="cast(value as binary)")
        self._is("files", given)
        return self._whole(str(path.parent if self._streaming else path), only)

    def _folder(self) -> DataFrame:
        inlet = self._inlet
        path = Path(self._address.path) if inlet.trusted else self._order.config.file(self._address.path)
        if not path.is_dir():
            raise fail("OBEP550", f"{path} is no folder")
        self._is("files", self._settings.get("format", ""))
        return self._whole(str(path), "")

    def _whole(self, path: str, only: str) -> DataFrame:
        reader = self._reader().format("binaryFile")
        if self._streaming:
            reader = reader.schema("path string, modificationTime timestamp, length long, content binary")
            reader = reader.option("maxFilesPerTrigger", 16)
            if only:
                reader = reader.option("pathGlobFilter", only)
        return _raw(reader.load(path), self._number, name="path", data="content")

    def _socket(self) -> DataFrame:
        from obep.spark.connectors.tcp_source import TcpDataSource

        address = self._address
        if address.port is None:
            raise fail("OBEP512", f"{address.shown}: a port is needed", remedy="tcp://host:9999")
        self._is("messages", format_named(self._settings.get("format") or address.option("format", "jsonl")))
        self._spark.dataSource.register(TcpDataSource)
        reader = self._spark.readStream.format("obep-tcp").option("host", address.host or "localhost")
        reader = reader.option("port", str(address.port)).option(
            "limit", str(self._reading.limits.item_bytes)
        )
        reader = reader.option("spool", self._spool())
        return _raw(reader.load(), self._number, arrived="arrived", data="data")

    def _spool(self) -> str:
        """Where the messages of this source wait; it lives as long as the checkpoint."""
        folder = self._scratch / "spool" / str(self._number)
        self.end = OtherEnd(self._reading.source, folder)
        return str(folder)

    def _kafka(self) -> DataFrame:
        address, settings = self._address, self._settings
        self._is("messages", format_named(settings.get("format") or address.option("format", "json")))
        options = kafka_options(address, settings, self._order.config)
        require_options(settings, self._order.config, _known_options(self._spark))
        require_answer(address)
        reader = self._reader().format("kafka").option("kafka.bootstrap.servers", brokers_of(address))
        reader = reader.option("subscribe", topic_of(address))
        start = settings.get("start", address.option("start", "earliest"))
        reader = reader.option("startingOffsets", start).option("failOnDataLoss", "true")
        for name, value in options.items():
            reader = reader.option(f"kafka.{name}", value)
        return _raw(
            reader.load(),
            self._number,
            name="topic",
            key="cast(key as string)",
            arrived="unix_micros(timestamp)",
            data="value",
        )

    def _mqtt(self) -> DataFrame:
        from obep.spark.connectors.mqtt_source import MqttDataSource

        address, settings = self._address, self._settings
        self._is("messages", format_named(settings.get("format") or address.option("format", "json")))
        self._spark.dataSource.register(MqttDataSource)
        reader = self._spark.readStream.format("obep-mqtt").option("uri", self._inlet.uri)
        reader = reader.option("spool", self._spool())
        for name in ("username", "password", "client_id", "qos", "tls"):
            if name in settings:
                reader = reader.option(name, str(secret_of(settings[name])))
        for name in ("ca", "certificate", "key"):
            if name in settings:
                reader = reader.option(name, str(self._order.config.file(settings[name])))
        return _raw(reader.load(), self._number, name="topic", arrived="arrived", data="data")

    def _rate(self) -> DataFrame:
        """Items that say their number, for demonstrations: `{"value": n, "time": …}` through a mapping."""
        self._is("messages", "json")
        text = self._address.path
        if not text.isdecimal() or not int(text):
            raise fail("OBEP512", f"{self._inlet.uri} is no source", remedy="rate:5")
        rate = self._spark.readStream.format("rate").option("rowsPerSecond", int(text)).load()
        record = "to_json(named_struct('value', value, 'time', unix_micros(timestamp) / 1000000.0D))"
        return _raw(rate, self._number, arrived="unix_micros(timestamp)", data=f"cast({record} as binary)")

    def _path(self) -> tuple[Path, str]:
        """A file, and the glob of what belongs to it in its folder: standard input may be several."""
        uri = self._inlet.uri
        if is_stdin(self._inlet):
            folder, ending = self._scratch / "stdin" / str(self._number), uri[1:] or ".jsonl"
            lines = format_of(f"-{ending}", self._settings.get("format", "")) == ("jsonl", False)
            self.skipped = keep(sys.stdin.buffer, folder, ending, lines)
            return folder / f"{0:06d}{ending}", f"*{ending}"
        found = _path_of(self._inlet, self._order)
        return found, _quoted(found.name)

    def _reader(self) -> Any:
        return self._spark.readStream if self._streaming else self._spark.read


def require_answer(address: Address) -> None:
    """Refuse brokers of which none listens: Java's client would wait for them for minutes."""
    for broker in brokers_of(address).split(","):
        host, _, port = broker.strip().rpartition(":")
        try:
            socket.create_connection((host.strip("[]"), int(port)), ANSWER_S).close()
            return
        except (OSError, ValueError) as error:
            failed = error
    raise fail("OBEP552", f"{address.shown} does not answer: {failed}")


def require_options(settings: Mapping[str, Any], config: Config, known: Collection[str]) -> None:
    """Refuse options that Java's client would only warn of in its log, and a mechanism that needs more."""
    options = settings.get("options", {})
    for name in options:
        if known and name not in known:
            raise unknown(name, known, settings, config)
    mechanism = secret_of(options.get(MECHANISM))
    explained = {"sasl.jaas.config", "sasl.client.callback.handler.class"} & options.keys()
    if mechanism is not None and mechanism not in KNOWN_TO_JAVA and not explained:
        raise not_taken(MECHANISM, f"Unsupported SASL mechanism: {mechanism}", settings, config)


def _known_options(spark: SparkSession) -> Collection[str]:
    """The options that Java's client has; none if it cannot be asked."""
    try:
        jvm: Any = spark.sparkContext._jvm
        client = jvm.org.apache.kafka.clients.consumer.ConsumerConfig
        return frozenset(str(name) for name in client.configNames())
    except Exception:  # whatever keeps us from asking: the client will say it itself
        return frozenset()


def kafka_options(address: Address, settings: Mapping[str, Any], config: Config) -> dict[str, str]:
    """The settings of a source as Java's client has them: TLS from PEM files, a user by SASL.

    Java needs the mechanism for the name and password; the default is PLAIN.
    """
    found: dict[str, str] = {}
    options = harmless(settings, config)
    username = secret_of(settings.get("username")) or address.username
    secure = settings.get("tls", False)
    if username:
        password = secret_of(settings.get("password")) or address.password
        mechanism = options.get("sasl.mechanism", "PLAIN")
        kind = "scram.Scram" if mechanism.startswith("SCRAM-") else "plain.Plain"
        named = f"username={_quoted_java(username)} password={_quoted_java(password)}"
        module = f"org.apache.kafka.common.security.{kind}LoginModule"
        found |= {"sasl.mechanism": mechanism, "sasl.jaas.config": f"{module} required {named};"}
    if username or secure:
        found["security.protocol"] = ("SASL_" if username else "") + ("SSL" if secure else "PLAINTEXT")
    if "ca" in settings:
        found |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": _text(settings["ca"], config)}
    if "certificate" in settings:
        found |= {"ssl.keystore.type": "PEM", "ssl.keystore.key": _text(settings["key"], config)}
        found["ssl.keystore.certificate.chain"] = _text(settings["certificate"], config)
    return found | options


def _text(path: str, config: Config) -> str:
    try:
        return config.file(path).read_text("utf-8")
    except (OSError, UnicodeDecodeError) as error:
        raise fail("OBEP508", f"the certificates cannot be used: {path}: {error}") from None


def _quoted_java(text: str) -> str:
    """A string as JAAS reads it, where the end of a line would end it."""
    escaped = text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n").replace("\r", "\\r")
    return f'"{escaped}"'


def _raw(frame: DataFrame, source: int, **columns: str) -> DataFrame:
    """The columns of `RAW`; those that a source does not have are null."""
    made = {"source": str(source), **columns}
    return frame.selectExpr(
        *[f"cast({made.get(name, 'null')} as {type}) as {name}" for name, type in RAW.items()]
    )


def _quoted(name: str) -> str:
    """A name that a glob takes as it is."""
    return "".join(f"\\{c}" if c in "*?[]{}\\," else c for c in name)
