"""A file of the spool that was changed is refused with OBEP573: no message in it is taken for another."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.streams.spool import Message, Spool

MESSAGES: list[Message] = [("t", 1, b"one"), ("t", 2, b"two")]


@pytest.mark.parametrize("name", ["00000000000000000002.spool", "next"])
@pytest.mark.parametrize("damage", ["flipped", "cut", "empty"])
def test_a_damaged_spool_is_refused_with_what_to_do(tmp_path: Path, name: str, damage: str) -> None:
    spool = Spool(tmp_path)
    spool.append(MESSAGES)
    spool.append(MESSAGES)
    spool.forget(2)
    assert list(Spool(tmp_path).files(0, None)) == [(2, MESSAGES)]
    data = (tmp_path / name).read_bytes()
    kept = {"flipped": data[:-1] + bytes([data[-1] ^ 1]), "cut": data[:-1], "empty": b""}[damage]
    (tmp_path / name).write_bytes(kept)
    with pytest.raises(ObepError) as caught:
        Spool(tmp_path)
    assert caught.value.code == "OBEP573"
    assert f"rm {tmp_path / name}" in str(caught.value)
