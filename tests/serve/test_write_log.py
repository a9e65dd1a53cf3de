"""The log of a service gives back what was appended, or refuses; a frame that was cut short is dropped."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.serve.write_log import WriteLog

BODIES = [b"one", b"", b"three\n" * 20]


def written(folder: Path) -> Path:
    log = WriteLog(folder)
    for body in BODIES:
        log.append(body)
    log.close()
    [path] = folder.glob("*.log")
    return path


def read(folder: Path, start: int = 0) -> list[bytes]:
    return [body for _, body in WriteLog(folder).frames(start)]


def test_frames_come_back_in_order_and_numbers_go_on(tmp_path: Path) -> None:
    written(tmp_path)
    log = WriteLog(tmp_path)
    assert list(log.frames(0)) == list(enumerate(BODIES)) and log.next == 3
    assert read(tmp_path, 2) == BODIES[2:]
    log.cut()
    log.append(b"four")
    assert [path.name for path in tmp_path.glob("*.log")] == ["00000000000000000003.log"]
    assert list(WriteLog(tmp_path).frames(3)) == [(3, b"four")]


def test_a_log_that_was_cut_anywhere_gives_the_frames_before_the_cut(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    for length in range(len(data) + 1):
        path.write_bytes(data[:length])
        found = read(tmp_path)
        assert found == BODIES[: len(found)]
        path.write_bytes(data[:length] + bytes(len(data) - length))  # as a disk may leave it after a failure
        assert read(tmp_path) == found or length == len(data)
    assert read(tmp_path) == BODIES


def test_a_log_with_a_changed_byte_is_refused_and_never_gives_something_else(tmp_path: Path) -> None:
    path = written(tmp_path)
    data = path.read_bytes()
    for place in range(len(data)):
        path.write_bytes(data[:place] + bytes([data[place] ^ 0x41]) + data[place + 1 :])
        with pytest.raises(ObepError, match="OBEP573"):
            read(tmp_path)


def test_a_missing_file_of_the_log_is_refused(tmp_path: Path) -> None:
    path = written(tmp_path)
    with pytest.raises(ObepError, match="OBEP573"):
        list(WriteLog(tmp_path).frames(-1))
    other = tmp_path / "00000000000000000005.log"
    other.write_bytes(path.read_bytes())
    with pytest.raises(ObepError, match="OBEP573"):
        read(tmp_path)
