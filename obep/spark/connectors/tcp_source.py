"""Lines of a TCP connection as a streaming source of Spark (`obep-tcp`), spooled to files.

Spark's own socket source cannot go on from a checkpoint. Here a line that was read stays in the spool until
the micro-batch that read it is done; only what the other side sends without a connection is lost.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from threading import Event, Thread
from typing import Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader

from obep.errors import fail
from obep.spark.connectors.spark_spool import SCHEMA, SpooledReader
from obep.streams.sources.arriving_lines import Arriving
from obep.streams.sources.tcp import Line

AGAIN_S = 1.0
"""How long to wait before connecting again."""


class TcpDataSource(DataSource):
    """`spark.readStream.format("obep-tcp").option("host", …).option("port", …).option("spool", FOLDER)`."""

    @classmethod
    def name(cls) -> str:
        return "obep-tcp"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return TcpReader(dict(self.options))


class TcpReader(SpooledReader):
    """Reads lines, and connects again when the connection is lost."""

    def listen(self) -> None:
        self._stopped = Event()
        try:
            connection = self._connect()
        except OSError as error:
            where = f"tcp://{self._options['host']}:{self._options['port']}"
            raise fail("OBEP552", f"{where} does not answer: {error.strerror or error}") from None
        self.report_connection("")  # it may have been, before Spark started this once more
        Thread(target=self._follow, args=(connection,), name="obep tcp", daemon=True).start()

    def stop(self) -> None:
        if self._spool is not None:
            self._stopped.set()

    def _connect(self) -> socket.socket:
        connection = socket.create_connection((self._options["host"], int(self._options["port"])), 10)
        connection.settimeout(None)
        return connection

    def _follow(self, connection: socket.socket) -> None:
        while True:
            why = "it ended the connection"
            try:
                with connection:
                    self._read_lines(connection)
            except OSError as error:  # the other side may break off
                why = error.strerror or str(error)
            self.report_connection(why)
            while True:
                if self._stopped.wait(AGAIN_S):
                    return
                with suppress(OSError):
                    connection = self._connect()
                    self.report_connection("")
                    break

    def _read_lines(self, connection: socket.socket) -> None:
        """Of a line that is too long its beginning is taken, which is long enough to be refused.

        So is half a line where the connection breaks off: it is refused, and not lost without a word.
        """
        most = int(self._options["limit"])
        rest = False
        with connection.makefile("rb", buffering=0) as file:
            raw = Line(file)
            lines = Arriving(raw)
            while line := lines.readline(most + 2):
                if not rest and line.rstrip(b"\n"):
                    self.take("", line.rstrip(b"\n"))
                rest = not line.endswith(b"\n")
        if raw.broken:
            raise OSError(raw.broken)
