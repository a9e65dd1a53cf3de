"""What notebooks show: pictures, trees that fold, errors in colour; and no text of the data is HTML."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest

import obep
from obep.errors import Diagnostic, Span
from obep.frames.result import Table

EVIL = '<script>alert("x")</script><img src=x onerror=alert(1)>&amp;\'"'
QUERY = obep.load(
    text="""
PREFIX : <http://example.org/>
EVENT Hot AS (celsius some number[> 30])
EVENT Cold AS (celsius some number[< 10])
EVENT Swing(?room, ?note) MATCH Hot(?room) SEQ Cold(?room) WITHIN 1 h IF { EVENT Cold { ?room :note ?note } }
STATE Heated(?room) FROM Hot(?room) TO Cold(?room) TIMEOUT 1 d
RETURN Swing, Heated
"""
)
ROWS: list[dict[str, Any]] = [
    {"ts": "2026-01-01T10:00:00Z", "room": EVIL, "celsius": 35, "note": EVIL},
    {"ts": "2026-01-01T10:10:00Z", "room": EVIL, "celsius": 5, "note": EVIL},
    {"ts": EVIL, "room": EVIL, "celsius": 5, "note": EVIL},
]


class Tags(HTMLParser):
    """Which elements and attributes a text has, and whether all that is opened is closed."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[str] = []
        self.open: list[str] = []
        self.pieces: list[str] = []
        self.feed(text)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.open.append(tag)
        self.attributes += [name for name, _ in attrs]

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def handle_data(self, data: str) -> None:
        self.pieces.append(data)

    @property
    def text(self) -> str:
        return "".join(self.pieces)


WORDS = "div details summary pre span table caption tr th td svg g path text rect title b"
HARMLESS = frozenset(re.findall(r"\w+", WORDS))


def shown(value: Any) -> Tags:
    """The HTML of a value, which holds only what obep draws."""
    seen = Tags(value._repr_html_())
    assert set(seen.tags) <= HARMLESS
    assert not [name for name in seen.attributes if name.startswith("on") or name in ("src", "href")]
    assert seen.open == []
    return seen


def test_no_text_of_the_data_becomes_html() -> None:
    found = obep.detect(QUERY, ROWS, remember=None)
    assert (len(found.occurrences), len(found.dead_letters)) == (1, 1)
    for value in (found, found.found[0], found.occurrences, found.dead_letters, found.why_not("Swing")):
        shown(value)
    assert "<script>" in shown(found.dead_letters).text


def test_no_text_of_a_query_becomes_html() -> None:
    query = obep.load(
        text='PREFIX : <http://e/>\nEVENT A AS (note value "<script>alert(1)</script>")\nRETURN A'
    )
    assert "<script>" in shown(query).text
    error = obep.ObepError(Diagnostic("OBEP001", EVIL, EVIL, Span(0, 1, 1, 1, 1, 2), EVIL, EVIL, EVIL))
    assert EVIL in shown(error).text


def test_why_folds_where_there_is_something_below() -> None:
    found = obep.detect(QUERY, ROWS)
    seen = shown(found.occurrences[0])
    assert seen.tags.count("details") == 3  # the event and its two parts
    for line in found.occurrences[0].why().splitlines():
        assert line.strip() in seen.text


def test_a_result_draws_a_lane_for_each_event_and_state() -> None:
    seen = shown(obep.detect(QUERY, ROWS))
    assert seen.tags.count("rect") == 2
    assert {"Swing", "Heated"} <= set(re.findall(r"\w+", seen.text))
    assert "svg" not in shown(obep.detect(QUERY, [])).tags


def test_a_large_result_is_shown_without_the_columns_of_all_records(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    rows = [{"t": n, "room": "a", "celsius": (35, 5)[n % 2]} for n in range(2400)]
    found = obep.detect(QUERY, rows, time="t", subject="room")
    assert (len(found.alerts), len(found.states)) == (2400, 1200)
    asked: list[int] = []
    made = Table.columns
    monkeypatch.setattr(Table, "columns", lambda table: asked.append(len(table)) or made(table))
    assert shown(found).text.count("20 of ") == 2
    assert repr(found.states) == "<Table of 1200: state, start, end, room, bindings>"
    assert asked == [20, 20, 1000]


def test_the_long_ids_of_a_table_come_last() -> None:
    seen = shown(obep.detect(QUERY, ROWS).states)
    names = [text for text in seen.pieces if text in ("state", "start", "end", "room")]
    assert names == ["state", "start", "end", "room"]
    heads = [text for text in shown(obep.detect(QUERY, ROWS).occurrences).pieces if text.isalpha()]
    assert heads[:3] == ["event", "start", "end"]
    assert heads[heads.index("bounded") + 1] == "id"


def test_terminals_and_lists_of_warnings_show_texts_and_not_the_insides_of_obep() -> None:
    from IPython.lib.pretty import pretty

    text = "PREFIX : <http://e/>\nEVENT A AS Room\nEVENT B MATCH A SEQ A\nRETURN B"
    query = obep.load(text=text)
    assert repr(query) == "<Query <query>: A, B>"
    [warning] = query.warnings
    assert pretty(query.warnings) == pretty(warning) == str(warning)
    assert shown(query.warnings).text == str(warning)
    with pytest.raises(obep.ObepError) as caught:
        obep.load(text="EVENT A AS")
    assert shown(caught.value.diagnostics).text == str(caught.value)


def test_a_query_draws_its_plan() -> None:
    text = """PREFIX : <http://e/>
    FROM STREAM <s>
    STATE Night DAILY FROM 20:00 TO 06:00
    EVENT A AS (note value "<script>")
    EVENT B(?x) MATCH (A(?x) AS a SEQ A(?x) AS b) WHILE Night WITHIN 5 min
    RETURN B"""
    seen = shown(obep.load(text=text))
    # the stream, the state, A, B, SEQ, WHILE and WITHIN
    assert seen.tags.count("rect") == 7
    # s to A, A to SEQ twice, SEQ to WHILE, Night to WHILE, WHILE to WITHIN, WITHIN to B; Night has no source
    assert seen.tags.count("path") == 7
    assert {"stream: s", "state: Night", "operator: WITHIN 5 min", "Night"} <= set(seen.pieces)


def test_the_plan_of_a_large_query_is_not_drawn() -> None:
    events = "\n".join(f"EVENT E{n} AS (v value {n})" for n in range(121))
    query = obep.load(text=f"PREFIX : <http://e/>\n{events}\nRETURN E1")
    assert "svg" not in shown(query).tags


def test_the_caret_of_an_error_is_coloured() -> None:
    with pytest.raises(obep.ObepError) as caught:
        obep.load(text="EVENT A AS Room\nEVENT B MATCH A NOT FOLLOWED BY A AS again\nRETURN B")
    assert re.search(
        r'<span style="color:#c5221f;font-weight:bold"> +\| +\^+</span>', caught.value._repr_html_()
    )
    assert 'style="font-family:monospace;white-space:pre;' in caught.value._repr_html_()
    lines = caught.value._render_traceback_()
    assert any(line.startswith("\x1b[1;31m") and "^^^" in line for line in lines)
    plain = re.sub(r"\x1b\[[\d;]*m", "", "\n".join(lines)).strip("\n")
    assert plain == str(caught.value)


def test_the_magic_checks_a_cell_and_keeps_the_query_under_its_name(
    capsys: pytest.CaptureFixture[str],
) -> None:
    from IPython.core.interactiveshell import InteractiveShell

    shell = InteractiveShell()
    shell.run_line_magic("load_ext", "obep")
    good = "PREFIX : <http://e/>\nEVENT Hot AS (celsius some number[> 30])\nRETURN Hot"
    shell.run_cell_magic("obep", "hot", good)
    assert isinstance(shell.user_ns["hot"], obep.Query)
    shell.run_cell_magic("obep", "", good)
    assert isinstance(shell.user_ns["query"], obep.Query)
    shell.run_cell_magic("obep", "hot", "EVENT A AS")
    assert isinstance(shell.user_ns["hot"], obep.Query)
    assert "OBEP" in capsys.readouterr().out
    for line in ("no name; x", "class"):
        shell.run_cell_magic("obep", line, good)
        assert "not the name of a variable" in capsys.readouterr().out


def test_progress_counts_the_records(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [{"t": second, "room": "a", "celsius": 35} for second in range(5_001)]
    obep.detect(QUERY, rows, time="t", subject="room", progress=True)
    said = capsys.readouterr().err
    assert said.split("\r")[1:] == ["5,000 records", "5,001 records\n"]


def test_a_result_is_plotted() -> None:
    import matplotlib

    matplotlib.use("agg")
    axes = obep.detect(QUERY, ROWS).plot()
    assert [label.get_text() for label in axes.get_yticklabels()] == ["Swing", "Heated"]


def test_the_times_of_a_plot_do_not_overlap() -> None:
    import matplotlib

    matplotlib.use("agg")
    rows = [{"t": 1_700_000_000 + n * 3, "room": "a", "celsius": (35, 5)[n % 2]} for n in range(30)]
    axes = obep.detect(QUERY, rows, time="t", subject="room").plot()
    axes.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in axes.get_xticklabels() if label.get_text()]
    assert len(boxes) > 2
    assert all(left.x1 < right.x0 for left, right in pairwise(boxes))


@pytest.mark.slow
def test_the_notebook_of_the_documentation_runs(tmp_path: Path) -> None:
    import jupytext
    from nbclient import NotebookClient

    path = Path(__file__).parents[2] / "docs" / "notebooks" / "frames.md"
    notebook = jupytext.read(path)
    NotebookClient(
        notebook, timeout=120, kernel_name="python3", resources={"metadata": {"path": tmp_path}}
    ).execute()
    shown = "".join(
        output.get("data", {}).get("text/html", "")
        for cell in notebook.cells
        for output in cell.get("outputs", ())
    )
    assert "<svg" in shown
    assert "OBEP103" in shown
