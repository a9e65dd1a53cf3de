"""Standard input below a checkpoint: sent again, it goes on after what is known of it."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path

import pytest

pytest.importorskip("pyspark")

from obep.errors import ObepError
from obep.spark.connectors.standard_input import keep


def kept(folder: Path) -> list[bytes]:
    return [path.read_bytes() for path in sorted(folder.iterdir()) if not path.name.startswith(".")]


def test_what_is_sent_again_goes_on_after_what_is_there(tmp_path: Path) -> None:
    assert keep(BytesIO(b"1\n\n2"), tmp_path, ".jsonl", True) == 0
    assert keep(BytesIO(b"1\n\n2\n"), tmp_path, ".jsonl", True) == 2
    assert kept(tmp_path) == [b"1\n\n2"], "nothing new is no file"
    assert keep(BytesIO(b"1\n\n2\n3\n4\n"), tmp_path, ".jsonl", True) == 2
    assert keep(BytesIO(b"1\n\n2\n3\n4\n5\n"), tmp_path, ".jsonl", True) == 4
    assert kept(tmp_path) == [b"1\n\n2", b"3\n4\n", b"5\n"]


def test_an_input_that_ends_within_what_is_known_is_refused(tmp_path: Path) -> None:
    keep(BytesIO(b"1\n2\n"), tmp_path, ".jsonl", True)
    with pytest.raises(ObepError, match="ended after 1 records, and the checkpoint has 2 of it"):
        keep(BytesIO(b"3\n"), tmp_path, ".jsonl", True)
    assert kept(tmp_path) == [b"1\n2\n"]


def test_a_format_without_lines_is_not_sent_twice(tmp_path: Path) -> None:
    assert keep(BytesIO(b"<a> <b> <c> ."), tmp_path, ".ttl", False) == 0
    with pytest.raises(ObepError, match="OBEP558"):
        keep(BytesIO(b"<a> <b> <c> . <d> <e> <f> ."), tmp_path, ".ttl", False)


def test_an_empty_input_is_a_file_too(tmp_path: Path) -> None:
    assert keep(BytesIO(b""), tmp_path, ".jsonl", True) == 0
    assert kept(tmp_path) == [b""]
