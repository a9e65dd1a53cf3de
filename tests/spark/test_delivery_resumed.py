"""The sinks of a run on Spark that goes on: what was delivered stays, whatever sinks the run has now."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.model import DeadLetter
from obep.output.form_texts import Found
from obep.run.run_spec import Order, aim
from obep.spark.driver.delivery import Delivery

RETURNED = {"<http://e/A>": "event"}


def opened(folder: Path, sinks: list[str], *, dead: bool = False) -> Delivery:
    targets = aim([str(folder / sink) for sink in sinks], "", Config(folder))
    letters = folder / "dead" if dead else None
    order = Order(Path("-"), Config(folder), (), targets, dead_letters=letters)
    return Delivery(order, RETURNED, folder / "delivered.json")


def found(batch: int) -> list[Found]:
    return [Found("http://e/A", f"urn:{batch}", 0, 0, batch, {"event": f"{batch}\n"})]


def lines(path: Path) -> list[int]:
    return [int(line) for line in path.read_text().splitlines()] if path.exists() else []


Start = tuple[list[str], int, bool]
"""The sinks besides a.jsonl and where it stands among them, its micro-batches, and whether the last of them
runs again at the next start."""
start = st.tuples(
    st.lists(st.sampled_from(["b.jsonl", "c.jsonl"]), unique=True), st.integers(0, 3), st.booleans()
)


@pytest.mark.slow
@given(st.lists(st.tuples(start, st.booleans()), max_size=6))
@example([((["b.jsonl"], 0, False), True), ((["b.jsonl"], 2, False), True)])
@example([(([], 2, False), True), ((["b.jsonl"], 1, True), False), (([], 1, False), True)])
def test_a_sink_of_all_starts_has_each_micro_batch_once(starts: list[tuple[Start, bool]]) -> None:
    with TemporaryDirectory() as name:
        folder, batch, delivered = Path(name), 0, 0
        before: dict[str, set[int]] = {}
        for (others, batches, again), first in starts:
            delivery = opened(folder, ["a.jsonl", *others] if first else [*others, "a.jsonl"])
            delivery.require_notes(begun=delivered > 0)
            for _ in range(batches):
                delivery.take(batch, found(batch), [])
                batch = delivered = batch + 1
            delivery.close()
            assert lines(folder / "a.jsonl") == list(range(delivered))
            batch -= again and batches > 0
            for sink in before.keys() | set(others):
                now = set(lines(folder / sink))
                assert len(now) == len(lines(folder / sink)), f"{sink} has a micro-batch twice"
                assert {one for one in before.get(sink, ()) if one < batch} <= now
                before[sink] = now


@pytest.mark.parametrize("noted", [False, True])
def test_a_sink_that_was_left_out_of_a_broken_micro_batch_has_nothing_twice(
    tmp_path: Path, noted: bool
) -> None:
    """Two runs are killed in the midst of a micro-batch (or after it, if `noted`); b is not in the second."""
    for sinks in (["a.jsonl", "b.jsonl"], ["a.jsonl"], ["a.jsonl", "b.jsonl"]):
        delivery = opened(tmp_path, sinks)
        if sinks == ["a.jsonl", "b.jsonl"] or noted:
            delivery.take(0, found(0), [])
        else:
            with pytest.raises(ZeroDivisionError):
                delivery.take(0, found(0), Breaking())
        delivery.close()
    assert (lines(tmp_path / "a.jsonl"), lines(tmp_path / "b.jsonl")) == ([0], [0])


class Breaking(list[DeadLetter]):
    """Letters of a micro-batch whose delivery breaks off at them."""

    def __iter__(self) -> Iterator[DeadLetter]:
        raise ZeroDivisionError


@pytest.mark.parametrize("keep", ["", "{", '{"batch":1,"before":{},"after":{}}', "half"])
def test_positions_that_are_damaged_are_refused_with_what_to_do(tmp_path: Path, keep: str) -> None:
    """It said only "Traceback"."""
    delivery = opened(tmp_path, ["a.jsonl"])
    delivery.take(0, found(0), [])
    delivery.close()
    notes = tmp_path / "delivered.json"
    notes.write_text(notes.read_text()[:-20] if keep == "half" else keep)
    again = opened(tmp_path, ["a.jsonl"])
    for attempt in (lambda: again.require_notes(begun=True), lambda: again.take(1, found(1), [])):
        with pytest.raises(ObepError) as caught:
            attempt()
        assert caught.value.code == "OBEP573"
        assert str(notes) in str(caught.value) and "Try:" in str(caught.value)
    assert lines(tmp_path / "a.jsonl") == [0]


def test_a_position_that_was_changed_is_noticed(tmp_path: Path) -> None:
    delivery = opened(tmp_path, ["a.jsonl"])
    delivery.take(0, found(0), [])
    delivery.close()
    notes = tmp_path / "delivered.json"
    kept = json.loads(notes.read_text())
    kept["noted"]["after"] = dict.fromkeys(kept["noted"]["after"], 0)
    notes.write_text(json.dumps(kept, separators=(",", ":")))
    with pytest.raises(ObepError, match="OBEP573"):
        opened(tmp_path, ["a.jsonl"]).require_notes(begun=True)


def test_positions_that_are_missing_cut_no_sink(tmp_path: Path) -> None:
    delivery = opened(tmp_path, ["a.jsonl"])
    delivery.require_notes(begun=False)
    delivery.take(0, found(0), [])
    delivery.close()
    (tmp_path / "delivered.json").unlink()
    with pytest.raises(ObepError, match="OBEP573") as caught:
        opened(tmp_path, ["a.jsonl"]).require_notes(begun=True)
    assert "missing" in str(caught.value)
    assert lines(tmp_path / "a.jsonl") == [0]


def test_dead_letters_that_were_rotated_begin_anew_with_a_word(tmp_path: Path) -> None:
    letter = DeadLetter("s", None, "OBEP600", "not JSON", "x")
    first = opened(tmp_path, ["a.jsonl"], dead=True)
    first.take(0, [], [letter])
    first.close()
    (tmp_path / "dead").rename(tmp_path / "dead.1")
    second = opened(tmp_path, ["a.jsonl"], dead=True)
    second.require_notes(begun=True)
    second.take(1, [], [letter])
    second.close()
    assert [code for code, _ in second.said] == ["OBEP558"]
    assert (tmp_path / "dead").read_bytes() == (tmp_path / "dead.1").read_bytes()


def test_a_sink_that_the_checkpoint_does_not_know_is_refused_before_spark_starts(tmp_path: Path) -> None:
    first = opened(tmp_path, ["a.jsonl"])
    first.take(0, found(0), [])
    first.close()
    (tmp_path / "b.jsonl").write_text("somebody's\n")
    with pytest.raises(ObepError, match="OBEP558"):
        opened(tmp_path, ["a.jsonl", "b.jsonl"]).require_notes(begun=True)
