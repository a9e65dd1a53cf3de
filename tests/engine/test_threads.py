"""An engine may be asked how it stands while other threads push: no answer is torn, nothing is said twice."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from threading import Barrier, Thread

import pytest

from obep.codes import CODES
from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.model import DeadLetter, Item
from obep.run.embedded import Figures, open_run
from obep.run.load_query import load
from obep.run.run_spec import Order, bind

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT A AS (AA and p some Thing)
EVENT B AS (BB and p some Thing)
EVENT Missing(?x) MATCH A(?x) NOT FOLLOWED BY B(?x) WITHIN 1 h PARTITION BY ?x
EVENT Pair(?x) MATCH A(?x) SEQ B(?x) WITHIN 1 h PARTITION BY ?x
RETURN Missing, Pair
"""
MANY = 400


@pytest.fixture(autouse=True)
def impatient() -> Iterator[None]:
    """Threads take turns as often as Python can."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def item(number: int, at: int) -> Item:
    name = f"<http://e/x{number}>"
    kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    return Item("s", at, ((name, kind, "<http://e/AA>"), (name, "<http://e/p>", "<http://e/o>")))


def test_figures_can_be_asked_while_another_thread_pushes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "q.obep").write_text(QUERY)
    (tmp_path / "s.jsonl").write_text("")
    query, config = load(tmp_path / "q.obep"), Config(tmp_path)
    run, engine = open_run(
        Order(tmp_path / "q.obep", config, bind([f"s={tmp_path}/s.jsonl"], ("s",), config), ()), query
    )
    figures, failed = Figures(run, engine), []

    def push() -> None:
        try:
            for n in range(MANY):
                engine.push_items([item(n, n * 1000)])
                run.occurrences[f"<http://e/E{n}>"] += 1
                run.letters.counts[f"OBEP{n}"] += 1
        except Exception as error:
            failed.append(error)

    thread = Thread(target=push, daemon=True)
    thread.start()
    seen: list[tuple[int, int]] = []
    while thread.is_alive():
        seen.append((engine.pending, engine.remembered))
        figures.metrics()
    assert seen
    thread.join()
    assert not failed
    assert [pending for pending, _ in seen] == sorted(pending for pending, _ in seen), (
        "each opens one deadline"
    )
    assert engine.pending == MANY


def test_each_dead_letter_is_told_once_whoever_pushes(tmp_path) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "q.obep").write_text(QUERY)
    told: list[DeadLetter] = []
    engine = load(tmp_path / "q.obep").engine(on_dead_letter=told.append)
    start = Barrier(4)

    def push(thread: int) -> None:
        start.wait()
        for n in range(MANY // 4):
            engine.push_items([DeadLetter("s", None, "OBEP600", "not JSON", f"{thread}:{n}")])

    threads = [Thread(target=push, args=(n,)) for n in range(4)]
    for one in threads:
        one.start()
    for one in threads:
        one.join()
    assert Counter(letter.raw for letter in told).most_common(1)[0][1] == 1
    assert len(told) == engine.counters["dead_letters"] == MANY // 4 * 4


@pytest.mark.parametrize(
    "at", [None, [], {}, object(), b"3", float("nan"), float("inf"), 1e308, 10**400, True]
)
def test_what_is_no_instant_is_refused_with_a_code(tmp_path, at: object) -> None:  # type: ignore[no-untyped-def]
    (tmp_path / "q.obep").write_text(QUERY)
    engine = load(tmp_path / "q.obep").engine()
    for ask in (lambda: engine.push("<http://e/a> a <http://e/AA> .", at=at), lambda: engine.advance(at)):  # type: ignore[arg-type]
        with pytest.raises(ObepError) as caught:
            ask()
        assert caught.value.code == "OBEP570" and "OBEP570" in CODES
