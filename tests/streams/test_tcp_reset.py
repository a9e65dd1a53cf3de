"""A TCP peer that crashes is no orderly end: the run fails, and half a record is a dead letter."""

from __future__ import annotations

import socket
import struct
from pathlib import Path
from threading import Thread

import pytest

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.streams.sources.open_sources import open_source

WHOLE = b'{"time": 1, "graph": ""}\n'


@pytest.mark.parametrize("reset", [False, True])
def test_a_connection_that_is_reset_is_said_and_half_a_record_is_a_dead_letter(
    tmp_path: Path, reset: bool
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def serve() -> None:
            near, _ = server.accept()
            near.sendall(WHOLE + b'{"time": 2, "gr')
            near.recv(1)  # until the other side has read it
            if reset:
                near.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            near.close()

        Thread(target=serve, daemon=True).start()
        source = open_source("s", f"tcp://127.0.0.1:{server.getsockname()[1]}", Config(tmp_path))
        batches = source.batches({})
        records = list(next(batches).records)
        source._socket.sendall(b"x")  # type: ignore[attr-defined]
        try:
            for batch in batches:
                records += batch.records
            ended = ""
        except ObepError as error:
            ended = error.code
    assert [type(one) for one in records] == [Item, DeadLetter]
    assert ended == ("OBEP550" if reset else "")
