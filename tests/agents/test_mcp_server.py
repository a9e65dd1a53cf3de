"""`obep mcp` as agents meet it: a process of its own, driven by the client of the official SDK."""

from __future__ import annotations

import hashlib
import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import anyio
import pytest

from obep.agents.project_sample import Project
from obep.agents.project_tools import MOST_CHARACTERS, Tools, bounded
from obep.errors import ObepError

if TYPE_CHECKING:  # the SDK takes a second of processor time to load
    from mcp.types import CallToolResult

QUERY = """PREFIX : <http://example.org/>
FROM STREAM <stations>
EVENT Empty AS (bikes value 0)
EVENT Filled AS (bikes some number[> 0])
EVENT Starved(?station) MATCH Empty(?station) NOT FOLLOWED BY Filled(?station) WITHIN 15 min
RETURN Starved
"""
ROWS = [
    {"station": "A1", "timestamp": 1767261600000, "bikes": 3},
    {"station": "B2", "timestamp": 1767261660000, "bikes": 0},
    {"station": "A1", "timestamp": 1767262500000, "bikes": 2},
    {"station": "B2", "timestamp": 1767263700000, "bikes": 5},
]
COMMUTERS = Path(__file__).parents[2] / "examples" / "09-languages" / "commuters" / "query.csparql"
TOOLS = {"check", "explain", "translate", "run", "why", "why_not", "backtest", "propose_mapping"}


def project(folder: Path) -> Path:
    home = folder / "project"
    home.mkdir()
    (home / "starved.obep").write_text(QUERY)
    (home / "stations.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    (folder / "secret.jsonl").write_text('{"password": "swordfish"}\n')
    (home / "link.jsonl").symlink_to(folder / "secret.jsonl")
    return home


def prints(folder: Path) -> dict[str, str]:
    """Every file below a folder, with a hash of what is in it."""
    return {
        str(path.relative_to(folder)): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def text_of(result: CallToolResult) -> str:
    from mcp.types import TextContent

    [content] = result.content
    assert isinstance(content, TextContent)
    return content.text


async def _talk(home: Path, calls: list[tuple[str, dict[str, Any]]]) -> dict[str, Any]:
    from mcp import ClientSession, StdioServerParameters
    from mcp.client.stdio import stdio_client
    from pydantic import AnyUrl

    server = StdioServerParameters(command=sys.executable, args=["-m", "obep", "mcp", str(home)])
    async with stdio_client(server) as (read, write), ClientSession(read, write) as session:
        hello = await session.initialize()
        tools = (await session.list_tools()).tools
        guide = (await session.read_resource(AnyUrl("obep://guide"))).contents[0]
        answers = [await session.call_tool(name, arguments) for name, arguments in calls]
    return {"hello": hello, "tools": tools, "guide": guide, "answers": answers}


@pytest.mark.slow
def test_the_client_of_the_sdk_reaches_every_tool_and_nothing_is_written(tmp_path: Path) -> None:
    from mcp.types import TextResourceContents

    home = project(tmp_path)
    before = prints(tmp_path)
    sample = {"query": QUERY, "records": ROWS}
    calls: list[tuple[str, dict[str, Any]]] = [
        ("check", {"path": "starved.obep"}),
        ("check", {"query": "EVENT A AS Room\nEVENT B MATCH A NOT FOLLOWED BY A\nRETURN B\n"}),
        ("explain", {"query": QUERY}),
        ("run", {"path": "starved.obep", "files": {"stations": "stations.jsonl"}}),
        ("run", sample),
        ("why", {"id": "Starved", **sample}),
        ("why_not", {"event": "Starved(:A1)", **sample}),
        ("backtest", {**sample, "against": QUERY.replace("15 min", "2 h")}),
        ("translate", {"query": COMMUTERS.read_text("utf-8"), "dialect": "csparql"}),
        ("propose_mapping", {"records": ROWS, "stream": "stations"}),
        ("run", {"query": QUERY, "files": {"stations": "../secret.jsonl"}}),
        ("run", {"query": QUERY, "files": {"stations": "link.jsonl"}}),
        ("check", {"path": "/etc/passwd"}),
        ("check", {"query": "VOCAB <../secret.jsonl>\n" + QUERY}),
        ("no_such_tool", {}),
    ]
    said = anyio.run(_talk, home, calls)
    assert {tool.name for tool in said["tools"]} == TOOLS
    assert all(tool.annotations.readOnlyHint and tool.description for tool in said["tools"])
    assert said["hello"].serverInfo.name == "obep"
    assert isinstance(said["guide"], TextResourceContents)
    assert said["guide"].text.startswith("# ")
    errors = [answer.isError for answer in said["answers"]]
    assert errors == [False] * 10 + [True, True, True, False, True]
    texts = [text_of(answer) for answer in said["answers"]]
    assert texts[0].startswith("no errors: 3 events")
    assert "OBEP103" in texts[1]
    assert "Starved" in texts[2]
    assert "4 items; found: 1 Starved" in texts[3]
    assert texts[3] == texts[4]
    [hit] = [json.loads(line) for line in texts[4].splitlines() if line.startswith("{")]
    assert (hit["start"], hit["end"]) == ("2026-01-01T10:01:00Z", "2026-01-01T10:16:00Z")
    assert 'B2 bikes "0"  (seen at 2026-01-01T10:01:00Z)' in texts[5]
    assert "Empty" in texts[6]
    assert "Starved" in texts[7]
    assert "gone" in texts[7] or "new" in texts[7]
    assert texts[8].startswith(("PREFIX", "FROM"))
    assert 'template = ":{station} :bikes {bikes?} ."' in texts[9]
    assert "<http://example.org/A1> <http://example.org/bikes>" in texts[9]
    assert all("OBEP883" in text for text in texts[10:13])
    assert "OBEP505" in texts[13]
    assert not any("swordfish" in text or "root:" in text for text in texts)
    assert prints(tmp_path) == before


@pytest.fixture
def tools(tmp_path: Path) -> Tools:
    return Tools(Project(project(tmp_path), tmp_path / "cache"))


def refusal(work: Any) -> str:
    with pytest.raises(ObepError) as caught:
        work()
    return caught.value.diagnostics[0].code


def test_a_tool_without_a_query_or_a_sample_says_what_is_missing(tools: Tools) -> None:
    assert refusal(lambda: tools.check()) == "OBEP885"
    assert refusal(lambda: tools.check(QUERY, "starved.obep")) == "OBEP885"
    assert refusal(lambda: tools.run(QUERY)) == "OBEP885"
    assert refusal(lambda: tools.propose_mapping()) == "OBEP885"
    assert refusal(lambda: tools.run(QUERY, files={"doors": "stations.jsonl"})) == "OBEP570"


def test_a_tool_stops_at_its_bounds(tools: Tools) -> None:
    tools.seconds = -1
    assert refusal(lambda: tools.run(QUERY, records=ROWS)) == "OBEP884"
    assert refusal(lambda: tools.backtest(QUERY, records=ROWS)) == "OBEP884"
    assert refusal(lambda: tools.check("#" * 200_001)) == "OBEP884"
    assert refusal(lambda: tools.why_not("Starved", QUERY, records=ROWS * 1251)) == "OBEP884"


def test_an_answer_is_cut_at_the_end_of_a_line() -> None:
    text = "".join(f"{number}\n" for number in range(20_000))
    cut = bounded(text)
    assert len(cut) < MOST_CHARACTERS + 100
    *lines, last = cut.splitlines()
    assert lines == text.splitlines()[: len(lines)]
    assert last.startswith("… ")
    assert bounded("short") == "short"


def test_a_mapping_of_obep_toml_is_used_as_a_run_uses_it(tools: Tools) -> None:
    (tools.project.folder / "obep.toml").write_text(
        '[sources.stations.mapping]\nprefixes = { "" = "http://example.org/" }\n'
        'template = ":{station} :bikes {bikes} ."\ntime = "timestamp"\nunit = "ms"\n'
    )
    assert tools.run(QUERY, files={"": "stations.jsonl"}, most=0) == "4 items; found: 1 Starved\n… 1 more"


def test_records_that_are_rdf_already_need_no_mapping(tools: Tools) -> None:
    graph = "<http://example.org/B2> <http://example.org/bikes> 0 ."
    rows = [
        {"stream": "stations", "time": 0, "graph": graph},
        {"stream": "stations", "time": 901, "graph": ""},
    ]
    assert tools.run(QUERY, records=rows, most=0).startswith("2 items; found: 1 Starved")


def test_what_a_run_wrote_is_explained_from_its_file(tools: Tools) -> None:
    hits = tools.run(QUERY, records=ROWS).splitlines()
    [line] = [one for one in hits if one.startswith("{")]
    (tools.project.folder / "found.jsonl").write_text(f"{line}\n")
    assert "Empty at 2026-01-01T10:01:00Z of B2" in tools.why(json.loads(line)["id"], output="found.jsonl")
    assert refusal(lambda: tools.why("x", output="../secret.jsonl")) == "OBEP883"


def test_csv_is_read_with_the_mapping_that_is_proposed(tools: Tools) -> None:
    lines = [
        "station;timestamp;bikes",
        *(f"{row['station']};{row['timestamp']};{row['bikes']}" for row in ROWS),
    ]
    (tools.project.folder / "stations.csv").write_text("\n".join(lines))
    query = QUERY.replace("bikes value 0", "bikes some number[<= 0]")  # a cell is a double, which is not 0
    assert "4 items; found: 1 Starved" in tools.run(query, files={"": "stations.csv"}, most=0)
    assert "{bikes?:double}" in tools.propose_mapping(file="stations.csv")
