"""`obep backtest`: the counts are those of a run; two versions differ as they should; pages are safe."""

from __future__ import annotations

import json
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from random import Random
from typing import Any

import pytest
from shell import embedded, obep, reading

from obep.config.toml_file import Config
from obep.model import EagerOccurrence, Occurrence
from obep.run.backtesting.backtest import backtest
from obep.run.backtesting.differences import Differences
from obep.run.backtesting.history import over_history
from obep.run.backtesting.tallies import MOST_KEYS, Tally
from obep.run.load_query import load
from obep.run.progress import Progress

QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (Sensor and celsius some number[> 30])
EVENT Cool AS (Sensor and celsius some number[<= 30])
EVENT Twice(?x) MATCH Hot(?x) SEQ Hot(?x) WITHIN 1 h
EVENT Alone(?x) MATCH Hot(?x) NOT FOLLOWED BY Hot(?x) WITHIN 30 min
STATE Burning(?x) FROM Hot(?x) TO Cool(?x)
RETURN Hot, Twice, Alone
RETURN Burning FOR 1 min AS ALERTS
"""


def project(folder: Path, text: str = QUERY, name: str = "q.obep") -> Path:
    (folder / name).write_text(text)
    return folder / name


def history(folder: Path, count: int = 120) -> str:
    """Readings of three sensors over two days, some of them late."""
    random = Random(7)
    lines = [
        reading(number * 1200, random.choice("abc"), random.choice((20, 33, 40))) for number in range(count)
    ]
    lines[50], lines[51] = lines[51], lines[50]
    (folder / "h.jsonl").write_text("".join(lines) + "no record\n")
    return f"s={folder / 'h.jsonl'}"


def counted(*arguments: str | Path) -> dict[str, Any]:
    said = obep("backtest", *arguments, "--as", "json", "--quiet")
    assert said.status == 0, said.err
    found: dict[str, Any] = json.loads(said.out)
    return found


def test_the_counts_are_those_of_a_run(tmp_path: Path) -> None:
    query, source = project(tmp_path), history(tmp_path)
    run = embedded(query, "--source", source, "--quiet")
    found = counted(query, "--source", source)
    expected = Counter(
        ("alert", one["alert"]) if "alert" in one else ("event", one["event"])
        for one in run.records
        if one.get("status") != "resolved"
    )
    got = {(one["kind"], one["name"][1:-1]): one["count"] for one in found["fired"] if one["kind"] != "state"}
    assert got == dict(expected) and len(got) == 4 and min(got.values()) > 5
    assert found["late"] == 1 and found["refused"] == 1 and found["items"] == 120
    counts = [one["count"] for one in found["fired"]]
    assert counts == sorted(counts, reverse=True), "the noisiest first"


def test_a_backtest_says_how_much_of_its_files_was_read(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    shares: list[object] = []
    monkeypatch.setattr(Progress, "move", lambda self, figures: shares.append(figures()["share"]))
    over_history(project(tmp_path), (history(tmp_path),), Config(tmp_path), quiet=True)
    assert shares and shares[-1] == 1.0 and shares == sorted(shares)


def test_days_and_keys_add_up_and_the_longest_episode_is_first(tmp_path: Path) -> None:
    found = counted(project(tmp_path), "--source", history(tmp_path))
    for one in found["fired"]:
        assert sum(one["days"].values()) == one["count"] == sum(key["count"] for key in one["keys"])
        assert set(one["days"]) <= {"1970-01-01", "1970-01-02"}
    (state,) = (one for one in found["fired"] if one["kind"] == "state")
    lengths = [one["seconds"] for one in state["longest"]]
    assert lengths == sorted(lengths, reverse=True) and len(lengths) == 10
    for one in state["longest"]:
        assert one["ended"] is None or one["ended"] - one["begun"] == one["seconds"] * 1_000_000


def test_the_same_version_does_not_differ(tmp_path: Path) -> None:
    query, source = project(tmp_path), history(tmp_path)
    found = counted(query, "--source", source, "--against", project(tmp_path, QUERY, "old.obep"))
    assert found["compared"] and found["differences"] == [] and found["left_out"] == 0
    assert all(one["count"] == one["before"] for one in found["fired"])


def test_what_is_new_gone_and_moved_is_listed_with_its_reason(tmp_path: Path) -> None:
    readings = [(0, 40), (600, 33), (60_000, 33), (120_000, 40), (121_800, 20)]
    lines = [reading(at, "a", celsius) for at, celsius in readings]
    (tmp_path / "h.jsonl").write_text("".join(lines))
    head = "PREFIX : <http://e/>\nFROM STREAM <s>\n"
    hot = "EVENT Hot AS (Sensor and celsius some number[> {}])\n"
    alone = "EVENT Alone(?x) MATCH Hot(?x) NOT FOLLOWED BY Hot(?x) WITHIN {} s\nRETURN Hot, Alone\n"
    new = project(tmp_path, head + hot.format(30) + alone.format(1800))
    old = project(tmp_path, head + hot.format(35) + alone.format(1800), "old.obep")
    source = f"s={tmp_path / 'h.jsonl'}"
    found = counted(new, "--source", source, "--against", old)
    told = [
        (one["change"], one["name"][10:-1], one["start"] // 10**6, one["end"] // 10**6)
        for one in found["differences"]
    ]
    assert told == [
        ("new", "Hot", 600, 600),
        ("moved", "Alone", 600, 2400),
        ("new", "Hot", 60_000, 60_000),
        ("new", "Alone", 60_000, 61_800),
    ]
    assert found["differences"][1]["before"] == [0, 1_800_000_000]
    assert all('celsius "33"' in one["why"] for one in found["differences"])
    back = counted(old, "--source", source, "--against", new)
    assert back["counts"] == {"gone": 3, "moved": 1}
    few = counted(new, "--source", source, "--against", old, "--differences", "1")
    assert len(few["differences"]) == 1 and few["left_out"] == 3 and few["counts"] == found["counts"]
    table = obep("backtest", new, "--source", source, "--against", old, "--quiet").out
    assert "differences: 3 new, 0 gone, 1 moved" in table and "~ moved event Alone from 600 to 2400" in table


ALERTS = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Open AS (Sensor and celsius value 1)
EVENT Shut AS (Sensor and celsius value 0)
STATE On(?x) FROM Open(?x) TO Shut(?x) LIMIT 1 d
RETURN On FOR {} min AS ALERTS
"""


def alerts_compared(folder: Path, minutes: list[tuple[int, int]], new: int, old: int) -> dict[str, Any]:
    lines = [reading(minute * 60, "a", value) for minute, value in minutes]
    (folder / "h.jsonl").write_text("".join(lines))
    versions = [project(folder, ALERTS.format(n), f"{n}.obep") for n in (new, old)]
    return counted(versions[0], "--source", f"s={folder / 'h.jsonl'}", "--against", versions[1])


def of_minutes(found: dict[str, Any]) -> list[tuple[object, ...]]:
    return [
        (
            one["change"],
            *(one[name] // 60_000_000 for name in ("start", "end", "fires")),
            one["before"] and [at // 60_000_000 for at in one["before"]],
        )
        for one in found["differences"]
    ]


def test_an_alert_is_paired_with_that_of_the_same_episode_and_counts_once(tmp_path: Path) -> None:
    episodes = [(0, 1), (4, 0), (20, 1), (30, 0), (31, 0)]
    found = alerts_compared(tmp_path, episodes, 3, 5)
    assert of_minutes(found) == [("new", 0, 4, 3, None), ("moved", 20, 30, 23, [20, 30])]
    assert found["counts"] == {"new": 1, "moved": 1}
    back = alerts_compared(tmp_path, episodes, 5, 3)
    assert of_minutes(back) == [("gone", 0, 4, 3, None), ("moved", 20, 30, 25, [20, 30])]


def test_an_alert_that_is_open_for_days_or_at_the_end_counts_once(tmp_path: Path) -> None:
    ends_late = [(0, 1), (1000, 0), (1100, 1), (1104, 0), (1400, 0), (1430, 1), (1439, 1)]
    found = alerts_compared(tmp_path, ends_late, 3, 5)
    assert [one[:3] for one in of_minutes(found)] == [
        ("moved", 0, 1000),
        ("new", 1100, 1104),
        ("moved", 1430, 1433),
    ]


def test_a_line_of_what_moved_names_only_instants_that_differ(tmp_path: Path) -> None:
    alerts_compared(tmp_path, [(0, 1), (10, 0)], 3, 5)
    source = f"s={tmp_path / 'h.jsonl'}"
    table = obep(
        "backtest", tmp_path / "3.obep", "--source", source, "--against", tmp_path / "5.obep", "-q"
    ).out
    assert "~ moved alert On from 0 to 600, fires at 180, before at 300  x = a\n" in table


def test_the_nearest_in_time_are_paired_first() -> None:
    differences = Differences(3600, 10)

    def report(at: int, id: str) -> Occurrence:
        return EagerOccurrence("<e>", "<i>", (), at, at, at, at, _id=id)

    for at in (0, 10, 18):
        differences.add("new", report(at, f"n{at}"), ())
    for at in (12, 20):
        differences.add("gone", report(at, f"o{at}"), ())
    differences.end()
    told = sorted((one.start, one.change, one.before) for one in differences.found)
    assert told == [(0, "new", None), (10, "moved", (12, 12)), (18, "moved", (20, 20))]


class Tags(HTMLParser):
    """The elements of a page and their attributes."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.seen: list[tuple[str, dict[str, str | None]]] = []
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.seen.append((tag, dict(attrs)))


def test_literals_of_the_data_are_text_in_the_page(tmp_path: Path) -> None:
    evil = "</pre><script>alert(1)</script><img src=x onerror=alert(2)>\" ' &amp;"
    graph = f"<http://e/a> <http://e/says> {json.dumps(evil)} ."
    line = json.dumps({"stream": "s", "time": 1, "graph": graph}) + "\n"
    (tmp_path / "h.jsonl").write_text(line)
    head = "PREFIX : <http://e/>\nFROM STREAM <s>\n"
    said = "EVENT Said AS (says some rdfs:Literal)\n"
    group = "EVENT Word(?w) MATCH { ?x :says ?w }\n"
    new = project(tmp_path, head + said + group + "RETURN Word, Said\n", "<b>q.obep")
    old = project(tmp_path, head + said + "RETURN Said\n", "old.obep")
    source = f"s={tmp_path / 'h.jsonl'}"
    page = obep("backtest", new, "--source", source, "--against", old, "--as", "html", "--quiet").out
    tags = Tags(page)
    kinds = {tag for tag, _ in tags.seen}
    assert "&lt;script&gt;alert(1)" in page and "&lt;b&gt;q.obep" in page
    assert kinds.isdisjoint({"script", "img", "iframe", "object", "link", "b", "a", "form"})
    assert not any(name.startswith("on") for _, attributes in tags.seen for name in attributes)
    assert {name for _, attributes in tags.seen for name in attributes} <= {
        "lang", "charset", "http-equiv", "content", "class", "style",
    }  # fmt: skip
    assert "default-src 'none'" in page and "http://" not in page.split("</style>")[0]


def test_a_source_without_an_end_is_refused(tmp_path: Path) -> None:
    said = obep("backtest", project(tmp_path), "--source", "s=tcp://127.0.0.1:9")
    assert said.status == 2 and "OBEP874" in said.err


def test_a_wrong_query_is_refused_as_check_does(tmp_path: Path) -> None:
    query = project(tmp_path, QUERY.replace("RETURN Hot", "RETURN Hit"))
    said = obep("backtest", query, "--source", history(tmp_path))
    assert said.status == 2 and "OBEP100" in said.err and said.out == ""


def test_an_empty_history_has_no_items(tmp_path: Path) -> None:
    (tmp_path / "h.jsonl").write_text("")
    said = obep("backtest", project(tmp_path), "--source", f"s={tmp_path / 'h.jsonl'}", "--quiet")
    assert said.status == 0 and said.out.startswith("no items")


def test_a_program_gets_the_record_and_memory_is_bounded(tmp_path: Path) -> None:
    query = load(project(tmp_path))
    assert backtest(query, []).items == 0
    tally = Tally("event", "<e>", 2)
    for number in range(MOST_KEYS + 5):
        tally.add(0, (("x", str(number)),))
    assert tally.count == MOST_KEYS + 5 and len(tally.keys) == MOST_KEYS and tally.other_keys == 5
    for begun in range(5):
        tally.lasted((), begun, begun * 10, 0)
    assert [one.begun for one in tally.longest()] == [4, 3]
    assert Differences(0, 0).left_out == 0


@pytest.mark.parametrize("form", ["table", "html", "json"])
def test_each_form_has_all_names(tmp_path: Path, form: str) -> None:
    said = obep("backtest", project(tmp_path), "--source", history(tmp_path), "--as", form, "--quiet")
    assert said.status == 0 and all(name in said.out for name in ("Hot", "Twice", "Alone", "Burning"))
