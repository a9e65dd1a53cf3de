"""A checkpoint that cannot be gone on from is refused before Spark runs anything: no JVM is needed."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

pytest.importorskip("pyspark")

from spark_cases import HEAD

import obep
from obep.engine.query import Query
from obep.errors import ObepError
from obep.spark.driver.manifest import (
    HEAD as FILE_HEAD,
)
from obep.spark.driver.manifest import (
    manifest,
    read_manifest,
    require_same,
    require_same_files,
    write_manifest,
)

TEXT = HEAD + "EVENT AB(?r) MATCH A(?r) SEQ B(?r) WITHIN 5 s\nRETURN AB AS EVENT STREAM"
CHANGES = {
    "a comment": ("EVENT AB", "# who follows whom\nEVENT AB", ""),
    "a new event beside it": ("EVENT AB", "EVENT CA MATCH C(?x) SEQ A(?x) WITHIN 1 s\nEVENT AB", ""),
    "a longer WITHIN": ("WITHIN 5 s", "WITHIN 6 s", "its definition"),
    "one more triple in K": ("FROM STREAM <s>", "FROM GRAPH <k.nt>\nFROM STREAM <s>", "static graph"),
    "another name": ("EVENT AB(?r)", "EVENT BA(?r)", "it is gone"),
}


def changed(folder: Path, old: str, new: str) -> Query:
    (folder / "k.nt").write_text("<http://e/x1> <http://e/in> <http://e/room1> .\n")
    text = TEXT.replace(old, new, 1)
    if "EVENT CA" in new:
        text = text.replace("RETURN AB", "RETURN AB, CA")
    if "EVENT BA" in new:
        text = text.replace("RETURN AB", "RETURN BA")
    return obep.load(text=text, folder=folder, java=False)


@pytest.mark.parametrize("change", CHANGES)
def test_what_a_checkpoint_of_another_query_says(tmp_path: Path, change: str) -> None:
    old, new, why = CHANGES[change]
    before = obep.load(text=TEXT, java=False)
    write_manifest(tmp_path, manifest(before, 2, 2, ["s"]))
    kept = read_manifest(tmp_path)
    assert kept is not None
    after = changed(tmp_path, old, new)
    if not why:
        require_same(kept, manifest(after, 2, 2, ["s"]))
        return
    with pytest.raises(ObepError) as caught:
        require_same(kept, manifest(after, 2, 2, ["s"]))
    assert caught.value.code == "OBEP558"
    assert why in str(caught.value) and "--drop-state" in str(caught.value)
    assert "drop_state=True" in str(caught.value)


def test_all_events_that_changed_are_named(tmp_path: Path) -> None:
    """The static graph is that of all; one of them is gone, which is said beside."""
    three = "EVENT CA MATCH C(?x) SEQ A(?x) WITHIN 1 s\nEVENT AB"
    (tmp_path / "k.nt").write_text("<http://e/x1> <http://e/in> <http://e/room1> .\n")
    text = TEXT.replace("EVENT AB", three, 1).replace("RETURN AB", "RETURN AB, CA")
    before = obep.load(text=text, java=False)
    grown = text.replace("FROM STREAM <s>", "FROM GRAPH <k.nt>\nFROM STREAM <s>", 1)
    kept = manifest(before, 2, 2, ["s"])
    with pytest.raises(ObepError, match="OBEP558") as caught:
        after = obep.load(text=grown, folder=tmp_path, java=False)
        require_same(kept, manifest(after, 2, 2, ["s"]))
    [said] = caught.value.diagnostics
    assert "AB" in said.message and "CA" in said.message and "concerns all events" in said.reason
    with pytest.raises(ObepError, match="OBEP558") as caught:
        after = obep.load(text=grown.replace("CA", "AC"), folder=tmp_path, java=False)
        require_same(kept, manifest(after, 2, 2, ["s"]))
    first, second = sorted(caught.value.diagnostics, key=lambda one: "gone" in one.reason)
    assert "AB" in first.message and "static graph" in first.reason and "CA" in second.message


def test_other_sources_and_other_buckets_are_refused(tmp_path: Path) -> None:
    query = obep.load(text=TEXT, java=False)
    kept = manifest(query, 2, 2, ["s"])
    with pytest.raises(ObepError, match="OBEP558"):
        require_same(kept, manifest(query, 2, 2, ["t"]))
    with pytest.raises(ObepError, match="OBEP558"):
        require_same(kept, manifest(query, 2, 4, ["s"]))


CONTENT = b'{"time": 1}\n'
LONG = CONTENT * (FILE_HEAD // len(CONTENT) + 2)


@pytest.mark.parametrize(
    ("old", "new", "why"),
    [
        (CONTENT, CONTENT, ""),
        (CONTENT, CONTENT * 2, "has grown"),
        (LONG, LONG + CONTENT, "has grown"),
        (CONTENT * 2, CONTENT, "rotated"),
        (CONTENT, CONTENT.replace(b"1", b"2"), "rotated"),
        (LONG, CONTENT.replace(b"1", b"2") + LONG, "rotated"),
    ],
)
def test_a_file_that_spark_has_read_and_that_has_changed_is_refused(
    tmp_path: Path, old: bytes, new: bytes, why: str
) -> None:
    query = obep.load(text=TEXT, java=False)
    path = tmp_path / "in.jsonl"
    path.write_bytes(old)
    write_manifest(tmp_path, manifest(query, 2, 2, ["s"], files=[path, tmp_path / "not there"]))
    kept = read_manifest(tmp_path)
    assert kept is not None and [*kept.files] == [str(path)]
    path.write_bytes(new)
    other = tmp_path / "other.jsonl"
    other.write_bytes(new)
    require_same_files(kept, manifest(query, 2, 2, ["s"], files=[other]))  # Spark has not read it
    now = manifest(query, 2, 2, ["s"], files=[path])
    if not why:
        require_same_files(kept, now)
        return
    with pytest.raises(ObepError, match="OBEP558") as caught:
        require_same_files(kept, now)
    assert why in str(caught.value)


def test_a_manifest_without_files_is_that_of_an_older_obep(tmp_path: Path) -> None:
    query = obep.load(text=TEXT, java=False)
    path = tmp_path / "in.jsonl"
    path.write_bytes(CONTENT)
    now = manifest(query, 2, 2, ["s"], files=[path])
    written = msgspec.to_builtins(now)
    del written["files"]
    (tmp_path / "obep.json").write_bytes(msgspec.json.encode(written))
    kept = read_manifest(tmp_path)
    assert kept is not None
    require_same_files(kept, now)


def test_a_manifest_that_is_damaged_is_an_error(tmp_path: Path) -> None:
    assert read_manifest(tmp_path) is None
    for data in (b"{", b"", b"\xff", b'{"partitions": "2"}'):
        (tmp_path / "obep.json").write_bytes(data)
        with pytest.raises(ObepError, match="OBEP573"):
            read_manifest(tmp_path)
