"""A TCP connection that lines are read from (`tcp://host:port`)."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from contextlib import suppress
from typing import BinaryIO, cast

from obep.errors import fail
from obep.formats import format_named, read_file
from obep.formats.reading import Reading
from obep.streams.address import Address
from obep.streams.arriving import Arriving
from obep.streams.batches import Batch, Position, batched


class TcpSource:
    """Connects to a server and reads until it closes the connection."""

    live = True
    ends = False
    away = ""

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

    def batches(self, start: Position) -> Iterator[Batch]:
        """What was read before a restart is gone: a connection has no position."""
        arriving = Arriving(self._socket.makefile("rb", buffering=0))
        file = cast(BinaryIO, arriving)
        try:
            yield from batched(read_file(file, self._format, self._reading), {}, lambda: arriving.pending)
        except OSError:
            return  # stopped, or the other side broke off: the end either way

    def committed(self, position: Position) -> None:
        pass

    def stop(self) -> None:
        with suppress(OSError):
            self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
