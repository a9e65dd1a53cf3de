"""Where occurrences go: files, standard output, brokers, webhooks, commands, a list, a function."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, Protocol, runtime_checkable

from obep.config.output_forms import ENDINGS, is_json
from obep.config.toml_file import Config
from obep.errors import fail, stopped
from obep.streams.sinks.output_files import open_output, safe_position
from obep.streams.sinks.queued_sink import Posted
from obep.streams.stream_uri import Address, parse_address

ALERTMANAGER = ("alertmanager", "alertmanagers")
"""The sinks that take alerts only."""
HALF = "What was written before is there, perhaps with half a line at its end."


class Sink(Protocol):
    """Something that occurrences go to."""

    def send(self, id: str, payload: bytes) -> None:
        """Takes one occurrence."""

    def flush(self) -> None:
        """Returns when everything sent has left: others can see it."""

    def position(self) -> int:
        """The position up to which a file is on disk; 0 for other sinks."""

    def close(self) -> None:
        """Flush and close."""


class ImmediateSink:
    """A sink whose records have left when `send` returns, and that has no file."""

    def flush(self) -> None:
        pass

    def position(self) -> int:
        return 0

    def close(self) -> None:
        pass


@runtime_checkable
class Repeating(Protocol):
    """A sink that sends alerts again while they fire."""

    def keep(self, payload: bytes) -> None:
        """Takes an alert that fired before this run."""


@contextmanager
def writing(what: Path | str) -> Iterator[None]:
    """Ends a run whose output finds no room any more, or that is cut off from it."""
    try:
        yield
    except BrokenPipeError:  # the reader has seen enough, which is no failure
        raise
    except OSError as error:
        words = f"{what} cannot be written: {error.strerror or error}"
        raise stopped("OBEP554", words, reason=HALF) from None


class FileSink:
    """A file that is written from the beginning, or from the position of a checkpoint on."""

    def __init__(self, path: Path, start: int = 0) -> None:
        self._file = open_output(path, start)
        self._path = path

    def send(self, id: str, payload: bytes) -> None:
        with writing(self._path):
            self._file.write(payload)

    def flush(self) -> None:
        with writing(self._path):
            self._file.flush()

    def position(self) -> int:
        with writing(self._path):
            return safe_position(self._file)

    def close(self) -> None:
        with writing(self._path):
            self._file.close()


class OutputSink:
    """Standard output; a line is out as soon as it is sent to a terminal or a pipe."""

    def __init__(self, file: BinaryIO | None = None) -> None:
        self._file = file or sys.stdout.buffer

    def send(self, id: str, payload: bytes) -> None:
        with writing("standard output"):
            self._file.write(payload)

    def flush(self) -> None:
        with writing("standard output"):
            self._file.flush()

    def position(self) -> int:
        return 0

    def close(self) -> None:
        self.flush()


class MemorySink(ImmediateSink):
    """A list, for tests and for programs that embed obep."""

    def __init__(self) -> None:
        self.sent: list[tuple[str, bytes]] = []

    def send(self, id: str, payload: bytes) -> None:
        self.sent.append((id, payload))


class CallSink(MemorySink):
    """A function that is called with the id and the payload."""

    def __init__(self, call: Callable[[str, bytes], object]) -> None:
        super().__init__()
        self._call = call

    def send(self, id: str, payload: bytes) -> None:
        self._call(id, payload)


def form_of(uri: str, wanted: str = "") -> str:
    """The requested form, or that of the file's extension; they must agree."""
    address = parse_address(uri)
    ending = ENDINGS.get(Path(address.path).suffix.lower()) if address.scheme == "file" else None
    if address.scheme == "file" and uri != "-" and ending is None:
        raise fail("OBEP510", f"{uri}: no format is known by this ending", remedy=" ".join(ENDINGS))
    fits = ending == wanted or (ending == "event" and is_json(wanted))
    if ending and wanted and not fits:
        raise fail(
            "OBEP513", f"{uri} holds {ending}, not {wanted}", remedy=f"--as {ending}, or another ending"
        )
    return wanted or ending or "event"


def require_one_topic(address: Address) -> None:
    """Refuse a topic of MQTT that stands for many: only a source can read those."""
    if address.scheme in ("mqtt", "mqtts") and any(sign in address.path for sign in "#+"):
        raise fail(
            "OBEP512",
            f"{address.shown}: messages go to one topic",
            reason="# and + match many topics, which only a source can read.",
            remedy="mqtt://host/topic",
        )


def open_sink(
    uri: str, settings: Mapping[str, Any], config: Config, start: int = 0, trusted: bool = True
) -> Sink:
    """The sink of a URI; `trusted` if the user typed it, and it may so lie anywhere."""
    address = parse_address(uri)
    if address.scheme == "file":
        if uri == "-":
            return OutputSink()
        if form_of(uri) == "columns":
            raise fail(
                "OBEP512", f"{uri}: only the engine spark writes Parquet", remedy="--engine spark, or .jsonl"
            )
        return FileSink(Path(address.path) if trusted else config.file(address.path), start)
    if address.scheme in ("http", "https"):
        from obep.streams.sinks.webhook import WebhookSink

        return Posted(WebhookSink(address, settings))
    return _open_other(address, settings, config)


def _open_other(address: Address, settings: Mapping[str, Any], config: Config) -> Sink:
    if address.scheme in ("mqtt", "mqtts"):
        require_one_topic(address)
        from obep.streams.mqtt import MqttSink

        return MqttSink(address, settings, config)
    if address.scheme == "kafka":
        from obep.streams.kafka import KafkaSink

        return KafkaSink(address, settings, config)
    if address.scheme in ALERTMANAGER:
        from obep.streams.sinks.alertmanager import AlertmanagerSink

        return AlertmanagerSink(address, settings, config)
    if address.scheme == "exec":
        from obep.streams.sinks.command import CommandSink

        return Posted(CommandSink(address, settings))
    raise fail(
        "OBEP512",
        f"{address.shown} is no sink",
        remedy="a path, -, mqtt://, kafka://, https://, alertmanager://, exec:COMMAND",
    )
