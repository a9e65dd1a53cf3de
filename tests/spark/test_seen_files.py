"""A file of a watched folder that was changed after Spark has read it is noticed by a run that goes on."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from obep.errors import ObepError
from obep.spark.driver.seen_files import require_as_read


def listed(checkpoint: Path, name: str, *paths: Path) -> None:
    """Files in Spark's list, as they are now."""
    log = checkpoint / "spark" / "sources" / "0"
    log.mkdir(parents=True, exist_ok=True)
    entries = [
        {"path": path.as_uri(), "timestamp": path.stat().st_mtime_ns // 1_000_000, "batchId": 0}
        for path in paths
    ]
    (log / name).write_text("\n".join(["v1", *map(json.dumps, entries)]))


def changed(path: Path) -> None:
    path.write_text("another")
    before = path.stat()
    os.utime(path, ns=(before.st_atime_ns, before.st_mtime_ns + 5_000_000))


@pytest.mark.parametrize("name", ["0", "0.compact"])
def test_a_file_that_was_replaced_after_it_was_read_is_refused(tmp_path: Path, name: str) -> None:
    folder, checkpoint = tmp_path / "a folder", tmp_path / "kept"
    folder.mkdir()
    read, new = folder / "read 1%.jsonl", folder / "new.jsonl"
    read.write_text("one")
    listed(checkpoint, name, read)
    require_as_read(checkpoint, [folder])
    new.write_text("a file that Spark has not read")
    require_as_read(checkpoint, [folder])
    changed(read)
    with pytest.raises(ObepError, match="OBEP558") as caught:
        require_as_read(checkpoint, [folder])
    assert f"{read} was replaced or written on since it was read" in str(caught.value)
    read.rename(folder / "other.jsonl")
    require_as_read(checkpoint, [folder])


def test_a_file_that_spark_lists_again_is_known_by_its_newest_entry(tmp_path: Path) -> None:
    folder, checkpoint = tmp_path / "in", tmp_path / "kept"
    folder.mkdir()
    read = folder / "read.jsonl"
    read.write_text("one")
    listed(checkpoint, "9", read)
    changed(read)
    listed(checkpoint, "10", read)
    require_as_read(checkpoint, [folder])


def test_the_offsets_of_other_sources_are_no_files(tmp_path: Path) -> None:
    folder, log = tmp_path / "in", tmp_path / "kept" / "spark" / "sources" / "1"
    folder.mkdir()
    log.mkdir(parents=True)
    (log / "0").write_bytes(b'v1\n{"topic":{"0":5}}\n\xff')
    require_as_read(tmp_path / "kept", [folder])
