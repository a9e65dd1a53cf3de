"""Why something was reported that no item says: it follows from another occurrence (SPEC §3, strata)."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell import embedded, hot, obep, reading

import obep as library

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (celsius some number[> 30])
EVENT Rise(?x) MATCH Hot(?x) SEQ Hot(?x) AS later WITHIN 1 min
  CONSTRUCT { ?this :concerns ?x . }
EVENT Alarm AS (Rise and concerns some (celsius some number[> 35]))
EVENT Twice MATCH Alarm SEQ Alarm AS again WITHIN 1 min
RETURN Alarm, Rise, Twice
"""
GUARDED = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Warm AS (celsius some number[> 20]) IF { ?this :celsius ?c . FILTER(?c > 25) }
EVENT Hot AS (Warm and celsius some number[> 30])
RETURN Hot, Warm
"""


def alarm(rise: str, first: tuple[int, int], second: tuple[int, int]) -> list[str]:
    """By hand: of what explains an Alarm only the degrees were in an item, the rest is a Rise's."""
    (begin, cool), (end, warm) = first, second
    return [
        f"Alarm from {begin} to {end} of {rise}",
        f'  a celsius "{warm}"  (seen at {end})',
        f"  {rise} concerns a  (follows from Rise)",
        f"  {rise} type Rise  (follows from Rise)",
        f"  Rise from {begin} to {end}",
        "    with ?x = a",
        f"    Hot at {begin} of a",
        f'      a celsius "{cool}"  (seen at {begin})',
        f"    later: Hot at {end} of a",
        f'      a celsius "{warm}"  (seen at {end})',
    ]


@pytest.fixture
def query(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    Path("s.jsonl").write_text(reading(1, "a", 35) + reading(2, "a", 36))
    return hot(tmp_path, QUERY)


def test_what_no_item_says_follows_from_an_occurrence_whose_causes_are_shown_too(query: Path) -> None:
    said = embedded(query, "--source", "s.jsonl", "--why", "--quiet")
    [rise] = [one["id"] for one in said.records if one["event"].endswith("Rise")]
    assert said.err.splitlines()[:10] == alarm(rise, (1, 35), (2, 36))


def test_a_snapshot_keeps_what_occurrences_follow_from() -> None:
    query = library.load(text=QUERY)
    facts = "<http://e/a> <http://e/celsius> {} ."
    before, after = query.engine(), query.engine()
    before.push(facts.format(35), at=1)
    [first] = [one for one in before.push(facts.format(36), at=2) if one.event == "<http://e/Rise>"]
    after.restore(before.snapshot())
    after.push(facts.format(31), at=3)
    hits = after.push(facts.format(40), at=4)
    # The Alarms that end at 4 are of (1,4), (2,4) twice, and (3,4), which alone comes after the one of (1,2).
    [twice] = [one for one in hits if one.event == "<http://e/Twice>"]
    [last] = [one for one in hits if one.event == "<http://e/Rise>" and one.start == 3_000_000]
    told = twice.why().splitlines()
    assert [line.removeprefix("  ") for line in told[1:11]] == alarm(first.id, (1, 35), (2, 36))
    assert told[11] == f"  again: Alarm from 3 to 4 of {last.id}"


def test_a_guarded_event_is_followed_to_the_item(tmp_path: Path) -> None:
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 35))
    said = embedded(hot(tmp_path, GUARDED), "--source", tmp_path / "s.jsonl", "--why", "--quiet")
    assert said.err.splitlines()[:6] == [
        "Hot at 1 of a",
        '  a celsius "35"  (seen at 1)',
        "  a type Warm  (follows from Warm)",
        "  Warm at 1 of a",
        '    with ?c = "35"',
        '    a celsius "35"  (seen at 1)',
    ]


def test_why_tells_from_the_file_what_an_occurrence_follows_from(query: Path) -> None:
    said = embedded(query, "--source", "s.jsonl", "--sink", "out.jsonl", "--why", "--quiet")
    assert said.status == 0
    lines = Path("out.jsonl").read_text().splitlines(keepends=True)
    Path("few.jsonl").write_text("".join(line for line in lines if '"id":"urn:obep:Alarm' in line))
    for file in ("out.jsonl", "few.jsonl"):  # its line alone is enough
        title, id, *rest = obep("why", "urn:obep:Alarm", file).out.splitlines()
        assert id.startswith("  urn:obep:Alarm:")
        assert [title, *rest] == said.err.splitlines()[:10]


def test_a_file_in_which_occurrences_follow_from_each_other_is_told_all_the_same(tmp_path: Path) -> None:
    line = (
        '{{"event":"http://e/{0}","id":"urn:obep:{0}:1","start":1,"end":1,"detected":1,"bindings":[],"because":'
        '[{{"event":"http://e/{1}","alias":"{1}","individual":"urn:obep:{1}:1","start":1,"end":1,"assertions":'
        '["<http://e/x> <http://e/p> <http://e/{1}> ."],"because":[]}}]}}\n'
    )
    (tmp_path / "out.jsonl").write_text(line.format("A", "B") + line.format("B", "A"))
    told = obep("why", "urn:obep:A:1", tmp_path / "out.jsonl")
    assert told.status == 0
    assert told.out.splitlines() == [
        "A at 1",
        "  urn:obep:A:1",
        "  B at 1",
        "    A at 1",
        "      B at 1 of urn:obep:B:1",
        "        x p B  (at 1)",
        "        (its causes are not in the file)",
    ]


@pytest.mark.parametrize(
    "line",
    [
        '{"id": "urn:obep:A:1", "event": 3}',
        '{"id": "urn:obep:A:1", "event": "http://e/A", "because": 7}',
        '{"id": "urn:obep:A:1", "event": "http://e/A", "because": [{"assertions": [3]}]}',
        '{"id": "urn:obep:A:1", "event": "http://e/A", "bindings": ["x"]}',
        '["urn:obep:A:1"]',
    ],
)
def test_a_line_that_is_none_of_ours_is_passed_over(tmp_path: Path, line: str) -> None:
    ours = '{"id": "urn:obep:A:12", "event": "http://e/A", "start": 1, "end": 2, "because": []}'
    (tmp_path / "out.jsonl").write_text(f"{line}\n{ours}\n")
    told = obep("why", "urn:obep:A:1", tmp_path / "out.jsonl")
    assert (told.status, told.err) == (0, "")
    assert told.out.split("\n")[:2] == ["A from 1 to 2", "  urn:obep:A:12"]
