"""A TCP connection that lines are read from (`tcp://host:port`)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from obep.errors import fail
from obep.formats import format_named, read_file
from obep.formats.stream_reader import Reading
from obep.streams.sources.arriving_lines import Arriving, Raw
from obep.streams.sources.batches import Batch, Position, batched
from obep.streams.stream_uri import Address


class TcpSource:
    """Connects to a server and reads until it closes the connection."""

    live = True
    ends = False
    lost = ""

    def __init__(self, name: str, address: Address, reading: Reading, format: str = "") -> None:
        if address.port is None:
            raise fail("OBEP512", f"{address.shown}: a port is needed", remedy="tcp://host:9999")
        self.name = name
        self._reading = reading
        self._format = format_named(format or address.option("format", "jsonl"))
        try:
            self._socket = socket.create_connection((address.host or "localhost", address.port), 10)
        except OSError as error:
            raise fail("OBEP552", f"{address.shown} does not answer: {error.strerror or error}") from None
        self._socket.settimeout(None)
        self._stopped = False

    def batches(self, start: Position) -> Iterator[Batch]:
        """Yield batches from now on: a connection has no position to resume from."""
        line = Line(self._socket.makefile("rb", buffering=0))
        arriving = Arriving(line)
        file = cast(BinaryIO, arriving)
        yield from batched(read_file(file, self._format, self._reading), {}, lambda: arriving.pending)
        if line.broken and not self._stopped:
            raise fail(
                "OBEP550",
                f"{self.name}: the connection broke off: {line.broken}",
                reason="What came before is read; half a record at its end is among the dead letters.",
            )

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        self._stopped = True
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()


class Line:
    """The bytes of a connection; one that is reset ends, and `broken` says why."""

    def __init__(self, raw: Raw) -> None:
        self._raw = raw
        self.broken = ""

    def read(self, n: int, /) -> bytes | None:
        try:
            return self._raw.read(n)
        except (OSError, ValueError) as error:  # closed by a stop, or by the other side
            self.broken = getattr(error, "strerror", None) or str(error)
            return b""
