"""Another query in place of one that runs: what is kept, what begins, what goes, what is refused."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest

import obep
from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import SECOND, Alert, Item, Occurrence

XSD = "http://www.w3.org/2001/XMLSchema#"
HEAD = """PREFIX : <http://e.org/>
FROM STREAM <s>
EVENT A AS (v value 1)
EVENT B AS (v value 2)
"""
PAIR = "EVENT P(?x) MATCH A(?x) SEQ B(?x) WITHIN 10 s\n"
HOT = "STATE Hot(?x) FROM A(?x) TO B(?x)\n"
RETURN_ALL = "RETURN ALL\n"


def query(*definitions: str, head: str = HEAD, returns: str = RETURN_ALL) -> Query:
    return obep.load(text=head + "".join(definitions) + returns, java=False)


def item(at: int, value: int, of: str = "x", stream: str = "s") -> Item:
    triple = (f"<http://e.org/{of}>", "<http://e.org/v>", f'"{value}"^^<{XSD}integer>')
    return Item(stream, at * SECOND, (triple,))


def told(hits: list[Occurrence]) -> list[tuple[str, int, int]]:
    found = []
    for hit in hits:
        name = hit.event.strip("<>").rsplit("/", 1)[1]
        status = f" {hit.status}" if isinstance(hit, Alert) else ""
        found.append((name + status, hit.start // SECOND, hit.end // SECOND))
    return found


def names(terms: Any) -> list[str]:
    return sorted(one.strip("<>").rsplit("/", 1)[1] for one in terms)


def test_what_means_the_same_keeps_its_state_and_what_is_new_begins_empty() -> None:
    engine = query(PAIR, "EVENT Q(?x) MATCH A(?x) SEQ B(?x) WITHIN 20 s\n").engine()
    engine.push_items([item(1, 1)])
    done = engine.replace(
        query(
            "# a comment\n",
            "EVENT R(?x) MATCH A(?x) SEQ B(?x) WITHIN 30 s\n",
            PAIR,
            "EVENT Q(?x) MATCH A(?x) SEQ B(?x) WITHIN 9 s\n",
        )
    )
    assert (names(done.kept), names(done.begun), names(done.gone)) == (["A", "B", "P"], ["R"], [])
    assert (
        names(one.name for one in done.changed) == ["Q"] and done.changed[0].before != done.changed[0].after
    )
    assert told(engine.push_items([item(2, 2)])) == [("B", 2, 2), ("P", 1, 2)]
    engine.push_items([item(3, 1)])
    assert sorted(told(engine.push_items([item(4, 2)]))) == [
        ("B", 4, 4),
        ("P", 1, 4),
        ("P", 3, 4),
        ("Q", 3, 4),
        ("R", 3, 4),
    ]


def test_a_definition_that_refers_to_a_changed_one_has_changed() -> None:
    before = query("EVENT Low AS (v value 3)\n", "EVENT L(?x) MATCH Low(?x) SEQ B(?x) WITHIN 9 s\n", PAIR)
    after = query("EVENT Low AS (v value 4)\n", "EVENT L(?x) MATCH Low(?x) SEQ B(?x) WITHIN 9 s\n", PAIR)
    compared = before.engine().compare(after)
    assert names(one.name for one in compared.changed) == ["L", "Low"]
    assert names(compared.kept) == ["A", "B", "P"]


def test_another_static_graph_changes_all(tmp_path: Any) -> None:
    (tmp_path / "k.ttl").write_text("<http://e.org/x> a <http://e.org/Room> .")
    text = HEAD.replace("FROM STREAM", "FROM GRAPH <k.ttl>\nFROM STREAM") + PAIR + RETURN_ALL
    engine = obep.load(text=text, folder=tmp_path, java=False).engine()
    (tmp_path / "k.ttl").write_text("<http://e.org/y> a <http://e.org/Room> .")
    compared = engine.compare(obep.load(text=text, folder=tmp_path, java=False))
    assert compared.kept == () and names(one.name for one in compared.changed) == ["A", "B", "P"]


def test_the_dry_run_changes_nothing() -> None:
    engine = query(PAIR).engine()
    engine.push_items([item(1, 1)])
    before = engine.snapshot()
    record = engine.compare(query("EVENT R(?x) MATCH A(?x) SEQ A(?x) WITHIN 9 s\n"))
    assert names(record.gone) == ["P"] and names(record.begun) == ["R"]
    assert engine.snapshot() == before


@pytest.mark.parametrize("warm", [None, "10 s"])
@pytest.mark.parametrize(
    "after",
    [
        query(PAIR, "STATE Hot(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h\n", returns="RETURN Hot AS ALERTS\n"),
        query("STATE Hot(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h\n", returns="RETURN Hot AS ALERTS\n"),
        query(HOT, returns="RETURN Hot AS ALERTS\n"),
        query(PAIR),
    ],
)
def test_the_dry_run_says_what_the_replacement_then_does(after: Query, warm: str | None) -> None:
    items = [item(1, 1), item(1, 1, "y"), item(2, 3)]
    engine = query(PAIR, HOT, returns="RETURN Hot AS ALERTS\n").engine()
    engine.push_items(items)
    before = engine.snapshot()
    history = None if warm is None else items
    planned = engine.compare(after, warm=warm, history=history)
    assert engine.snapshot() == before
    assert planned.to_json() == engine.replace(after, warm=warm, history=history).to_json()


@pytest.mark.parametrize("wrong", ["no query", query(PAIR, returns="").linked])
def test_what_is_no_query_changes_nothing(wrong: Any) -> None:
    engine = query(PAIR).engine()
    engine.push_items([item(1, 1)])
    before = engine.snapshot()
    with pytest.raises(ObepError) as refused:
        engine.replace(wrong)
    assert refused.value.code == "OBEP870" and engine.snapshot() == before


def test_a_query_that_returns_nothing_changes_nothing() -> None:
    engine = query(PAIR).engine()
    before = engine.snapshot()
    for refuse in (engine.replace, engine.compare):
        with pytest.raises(ObepError) as refused:
            refuse(query(PAIR, returns=""))
        assert refused.value.code == "OBEP572"
    assert engine.snapshot() == before


def test_a_closed_engine_and_one_with_its_own_matcher_take_no_other_query() -> None:
    closed = query(PAIR).engine()
    closed.close()
    with pytest.raises(ObepError) as refused:
        closed.replace(query(PAIR))
    assert refused.value.code == "OBEP571"
    own = query(PAIR)
    with pytest.raises(ObepError) as refused:
        own.engine(matcher=own.engine().running.matcher).replace(query(PAIR))
    assert refused.value.code == "OBEP870"


def test_the_same_query_a_hundred_times_is_the_identity() -> None:
    first = query(PAIR, HOT, returns="RETURN ALL\nRETURN Hot AS ALERTS\n")
    engine, plain = first.engine(steady=lambda: 0), first.engine(steady=lambda: 0)
    for at in range(1, 101):
        one = item(at, 1 + at % 2)
        assert told(engine.push_items([one])) == told(plain.push_items([one]))
        done = engine.replace(first)
        assert done.begun == done.changed == done.gone == () and done.generations == 1
    assert engine.snapshot() == plain.snapshot()


@pytest.mark.slow
def test_a_hundred_changes_of_one_rule_leave_two_versions() -> None:
    def rule(number: int) -> Query:
        return query(PAIR, f"EVENT Q(?x) MATCH A(?x) SEQ B(?x) WITHIN {number} s\n")

    engine, plain = rule(1).engine(), rule(1).engine()
    for at in range(2, 102):
        one = item(at, 1 + at % 2)
        kept = [hit for hit in told(engine.push_items([one])) if hit[0] != "Q"]
        assert kept == [hit for hit in told(plain.push_items([one])) if hit[0] != "Q"]
        assert engine.replace(rule(at)).generations == 2


def test_items_that_wait_are_judged_by_the_new_query() -> None:
    engine = query(PAIR).engine(lateness=5)
    engine.push_items([item(1, 1), item(2, 2)])
    done = engine.replace(query("EVENT R(?x) MATCH A(?x) SEQ B(?x) WITHIN 10 s\n", returns="RETURN R\n"))
    assert done.waiting == 2 and told(engine.push_items([item(20, 3)])) == [("R", 1, 2)]


def test_an_event_that_is_returned_from_now_on_has_its_state() -> None:
    engine = query(PAIR, returns="RETURN A\n").engine()
    engine.push_items([item(1, 1)])
    engine.replace(query(PAIR, returns="RETURN P\n"))
    assert told(engine.push_items([item(2, 1), item(3, 2)])) == [("P", 1, 3), ("P", 2, 3)]


def test_an_alert_whose_state_goes_is_resolved_and_one_that_is_kept_goes_on() -> None:
    cold = "STATE Cold(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h\n"
    engine = query(HOT, cold, returns="RETURN Hot AS ALERTS\nRETURN Cold AS ALERTS\n").engine()
    firing = [one for one in engine.push_items([item(1, 1), item(2, 3)]) if isinstance(one, Alert)]
    done = engine.replace(query(cold, returns="RETURN Cold AS ALERTS\n"))
    (resolved,) = done.resolved
    assert (resolved.status, resolved.ended, resolved.until) == ("resolved", "replaced", 2 * SECOND)
    assert resolved.id in {one.id for one in firing} and resolved.to_json()["ended"] == "replaced"
    assert [one.event for one in engine.firing()] == ["<http://e.org/Cold>"]
    assert told(engine.push_items([item(3, 2), item(4, 3)])) == [("Cold resolved", 1, 3)]
    assert engine.counters["occurrences"] == 4


def test_callbacks_follow_the_state_that_is_kept_and_the_one_that_begins() -> None:
    engine = query(HOT, "STATE S(?x) FROM A(?x) TO B(?x)\n", PAIR).engine()
    calls: list[tuple[str, int, int | None]] = []

    def note(held: Any) -> None:
        until = None if held.until is None else held.until // SECOND
        calls.append((held.state[-2:-1], held.since // SECOND, until))

    engine.on_state("Hot", note)
    engine.on_state("S", note)
    engine.push_items([item(1, 1), item(2, 3)])
    engine.replace(query(HOT, "STATE S(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h\n", PAIR))
    assert sorted(calls, key=str) == sorted([("S", 1, None), ("t", 1, None), ("S", 1, 2)], key=str)
    calls.clear()
    engine.push_items([item(3, 1, "y"), item(4, 2), item(5, 3)])
    assert sorted(calls, key=str) == sorted([("S", 3, None), ("t", 3, None), ("t", 1, 4)], key=str)
    assert [held.since // SECOND for held in engine.states("Hot")] == [3]


def test_history_builds_the_state_of_what_begins_and_reports_nothing_of_it() -> None:
    items = [item(1, 1, "old"), item(5, 1, "new"), item(6, 1, "x")]
    rule = "EVENT R(?x) MATCH A(?x) SEQ B(?x) WITHIN 1 min\n"
    engine = query(PAIR).engine()
    engine.push_items(items)
    done = engine.replace(query(PAIR, rule, returns="RETURN R\n"), warm="2 s", history=items)
    assert names(done.warmed) == ["R"]
    later = [item(7, 2, "old"), item(8, 2, "new"), item(9, 2)]
    assert told(engine.push_items(later)) == [("R", 5, 8), ("R", 6, 9)]
    whole = query(PAIR, rule, returns="RETURN R\n").engine()
    whole.push_items(items[1:])
    assert told(whole.push_items(later)) == [("R", 5, 8), ("R", 6, 9)]


def test_an_alert_that_the_history_makes_fire_is_in_the_record_and_one_that_goes_on_is_not_resolved() -> None:
    hotter = "STATE Hot(?x) FROM A(?x) TO B(?x) TIMEOUT 1 h\n"
    alerts = "RETURN Hot AS ALERTS\n"
    items = [item(1, 1), item(1, 1, "y")]
    engine = query(HOT, returns=alerts).engine()
    engine.push_items([items[0], item(2, 3)])
    done = engine.replace(query(hotter, returns=alerts), history=items)
    assert done.resolved == () and [one.labels for one in done.firing] == [{"x": "<http://e.org/y>"}]
    assert len(engine.firing()) == 2
    assert told(engine.push_items([item(3, 2), item(4, 3)])) == [("Hot resolved", 1, 3)]


def test_warm_without_history_is_refused() -> None:
    engine = query(PAIR).engine()
    before = engine.snapshot()
    with pytest.raises(ObepError) as refused:
        engine.replace(query(HOT), warm="10 min")
    assert refused.value.code == "OBEP871" and engine.snapshot() == before


def test_a_history_that_fails_changes_nothing() -> None:
    engine = query(PAIR).engine()
    engine.push_items([item(1, 1)])
    before = engine.snapshot()

    def broken() -> Any:
        yield item(1, 1)
        raise OSError("the disk is gone")

    with pytest.raises(OSError, match="disk"):
        engine.replace(query(PAIR, "EVENT R(?x) MATCH A(?x) SEQ B(?x) WITHIN 9 s\n"), history=broken())
    assert engine.snapshot() == before


def test_a_snapshot_has_the_replacement_and_only_the_new_query_goes_on_from_it() -> None:
    first, second = query(PAIR), query(PAIR, "EVENT R(?x) MATCH A(?x) SEQ A(?x) WITHIN 9 s\n")
    engine = first.engine()
    engine.push_items([item(1, 1)])
    engine.replace(second)
    state = engine.snapshot()
    again = second.engine()
    again.restore(state)
    later = [item(2, 1), item(3, 1), item(4, 2)]
    assert told(again.push_items(later)) == told(engine.push_items(later))
    with pytest.raises(ObepError) as refused:
        first.engine().restore(state)
    assert refused.value.code == "OBEP573"


def test_streams_come_and_go_with_the_query() -> None:
    both = HEAD.replace("FROM STREAM <s>", "FROM STREAM <s>\nFROM STREAM <t>")
    engine = query(PAIR, head=both, returns="RETURN P\n").engine(lateness=1)
    engine.push_items([item(1, 1), item(1, 3, stream="t"), item(9, 2)])
    assert engine.clock.holding() == ("t",)
    done = engine.replace(query(PAIR, returns="RETURN P\n"))
    assert done.streams_removed == ("t",) and done.streams_added == () and engine.clock.holding() == ("s",)
    assert told(engine.push_items([item(10, 3)])) == [("P", 1, 9)]
    assert engine.replace(query(PAIR, head=both)).streams_added == ("t",)


def test_a_new_stream_is_waited_for_from_the_replacement_on() -> None:
    clock = [0]
    both = HEAD.replace("FROM STREAM <s>", "FROM STREAM <s>\nFROM STREAM <t>")
    engine = query(PAIR).engine(idle=10, steady=lambda: clock[0])
    for second in range(0, 60, 5):
        clock[0] = second * SECOND
        engine.push_items([item(second + 1, 1)])
    assert engine.clock.watermark == 56 * SECOND
    engine.replace(query(PAIR, head=both))
    engine.push_items([item(60, 1)])
    assert engine.clock.watermark == 56 * SECOND and engine.waiting == 1
    clock[0] += 11 * SECOND
    engine.push_items([item(61, 1)])
    assert engine.clock.watermark == 61 * SECOND


WINDOWED = """PREFIX : <http://e.org/>
FROM STREAM <s>
FROM NAMED WINDOW <w> ON <s> [RANGE 10 s]
REGISTER ISTREAM <first> AS SELECT ?x ?v { WINDOW <w> { ?x :v ?v } }
"""
MORE = "REGISTER DSTREAM <second> AS SELECT ?x ?v { WINDOW <w> { ?x :v ?v } }\n"


def windowed(more: str = "") -> Query:
    return obep.load(text=WINDOWED + more, dialect="obep", java=False)


def rows(hits: list[Occurrence]) -> list[tuple[str, int, list[str]]]:
    return [
        (hit.event.strip("<>")[-5:], hit.end // SECOND, [row["x"][-2] for row in hit.bindings])
        for hit in hits
    ]


def test_a_query_over_a_window_keeps_its_rows_while_another_begins() -> None:
    engine = windowed().engine()
    assert rows(engine.push_items([item(1, 5, "a"), item(2, 6, "b")])) == [("first", 1, ["a"])]
    done = engine.replace(windowed(MORE))
    assert len(done.kept) == 1 and len(done.begun) == 1
    found = rows(engine.push_items([item(3, 5, "a"), item(4, 7, "c")]))
    state = engine.snapshot()
    engine = windowed(MORE).engine()
    engine.restore(state)
    found += rows(engine.push_items([item(40, 9, "d"), item(41, 9, "d")]))
    kept = [row for row in found if row[0] == "first"]
    alone = windowed().engine()
    alone.push_items([item(1, 5, "a"), item(2, 6, "b")])
    later = [item(3, 5, "a"), item(4, 7, "c"), item(40, 9, "d"), item(41, 9, "d")]
    assert kept == rows(alone.push_items(later)) and ("first", 2, ["b"]) in kept
    assert [row for row in found if row[0] != "first"] == [("econd", 13, ["a"]), ("econd", 14, ["c"])]


TIMED = """PREFIX : <http://e.org/>
SELECT ?x FROM STREAM <s> WHERE { { ?x :v 1 } SEQ { ?x :v 2 } }
"""


def test_a_query_of_another_language_keeps_its_state() -> None:
    one = obep.load(text=TIMED, dialect="epsparql", java=False)
    other = obep.load(text=TIMED.replace(":v 2", ":v 3"), dialect="epsparql", java=False)
    engine = one.engine()
    engine.push_items([item(1, 1)])
    assert len(engine.replace(obep.load(text="# again\n" + TIMED, dialect="epsparql", java=False)).kept) == 1
    assert len(engine.push_items([item(2, 2), item(3, 4)])) == 1
    assert engine.replace(other).kept == ()
    assert engine.push_items([item(4, 3), item(5, 4)]) == []


def test_a_query_is_replaced_while_other_threads_push() -> None:
    engine = query(PAIR).engine()
    changes = [query(PAIR, f"EVENT Q(?x) MATCH A(?x) SEQ B(?x) WITHIN {n} s\n") for n in (1, 2, 3)]
    found: list[Occurrence] = []

    def push(of: str) -> None:
        for _ in range(50):
            found.extend(engine.push_items([item(1, 1, of)]))

    with ThreadPoolExecutor(3) as pool:
        pushing = [pool.submit(push, of) for of in "ab"]
        swapping = pool.submit(lambda: [engine.replace(changes[n % 3]) for n in range(30)])
        for one in (*pushing, swapping):
            one.result()
    assert sorted(hit.individual for hit in found) == ["<http://e.org/a>", "<http://e.org/b>"], "each once"
    engine.push_items([item(2, 2, "a")])
    assert engine.counters["items"] == 101


def test_why_not_asks_the_version_that_decides() -> None:
    engine = query(PAIR).engine()
    engine.push_items([item(1, 1)])
    engine.replace(query(PAIR, "EVENT R(?x) MATCH A(?x) SEQ B(?x) WITHIN 9 s\n"))
    assert "at 1" in str(engine.why_not("P(:x)")) and "A: never lately" not in str(engine.why_not("P(:x)"))


def test_the_record_reads_well_as_lines_and_as_json() -> None:
    engine: Engine = query(PAIR, HOT, returns="RETURN P\nRETURN Hot AS ALERTS\n").engine()
    engine.push_items([item(1, 1), item(2, 3)])
    record = engine.compare(query(PAIR, "EVENT R(?x) MATCH A(?x) SEQ A(?x) WITHIN 9 s\n"))
    assert list(record.lines("integer")) == [
        "at 2, with 0 items waiting",
        "keeps its state: A, B, P",
        "begins: R",
        "goes: Hot",
        "resolved: Hot with ?x = x",
    ]
    plain = record.to_json()
    assert plain["gone"] == ["http://e.org/Hot"] and plain["watermark"] == 2 * SECOND


ROOMS = """PREFIX : <http://e.org/>
FROM GRAPH <k.ttl>
FROM STREAM <s>
EVENT Warm AS (Room and v value 1)
EVENT Cold AS (Room and v value 2)
EVENT P(?x) MATCH Warm(?x) SEQ Cold(?x) WITHIN 1 min
"""


def test_changes_of_the_static_graph_reach_all_versions_and_snapshots(tmp_path: Any) -> None:
    (tmp_path / "k.ttl").write_text("<http://e.org/x> a <http://e.org/Room> .")

    def rooms(more: str) -> Query:
        return obep.load(text=ROOMS + more + "RETURN ALL", folder=tmp_path, java=False)

    more = "EVENT Q(?x) MATCH Warm(?x) SEQ Cold(?x) WITHIN 9 s\n"
    engine = rooms("").engine()
    engine.push_items([item(1, 1)])
    engine.update(insert="<http://e.org/y> a <http://e.org/Room> .", at=2)
    done = engine.replace(rooms(more))
    assert done.changed == () and done.generations == 2
    engine.update(
        insert="<http://e.org/z> a <http://e.org/Room> .",
        delete="<http://e.org/x> a <http://e.org/Room> .",
        at=4,
    )
    state = engine.snapshot()
    again = rooms(more).engine()
    again.restore(state)
    for one in (engine, again):
        early = told(one.push_items([item(3, 2), item(3, 1, "y")]))
        assert sorted(early) == [("Cold", 3, 3), ("P", 1, 3), ("Warm", 3, 3)]
        late = told(one.push_items([item(5, 2), item(5, 2, "y"), item(6, 1, "z"), item(7, 2, "z")]))
        assert sorted(late) == [
            ("Cold", 5, 5),
            ("Cold", 7, 7),
            ("P", 3, 5),
            ("P", 6, 7),
            ("Q", 3, 5),
            ("Q", 6, 7),
            ("Warm", 6, 6),
        ]


def test_what_was_reported_at_the_open_instant_is_not_reported_again() -> None:
    engine = query(PAIR).engine()
    assert told(engine.push_items([item(1, 1)])) == [("A", 1, 1)]
    for seconds in (20, 30):  # all that remembers anything begins anew
        engine.replace(query(f"EVENT P(?x) MATCH A(?x) SEQ B(?x) WITHIN {seconds} s\n"))
        assert engine.push_items([item(1, 1)]) == []
    assert told(engine.push_items([item(2, 1), item(3, 2)])) == [
        ("A", 2, 2),
        ("B", 3, 3),
        ("P", 1, 3),
        ("P", 2, 3),
    ]
