"""`obep why ID FILE` tells what `obep run --why` told, from what the run wrote."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from shell import embedded, hot, obep, reading

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*/query.obep"))
QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT Hot AS (celsius some number[> 30])
EVENT Rise(?x) MATCH Hot(?x) SEQ Hot(?x) AS later WITHIN 1 min
EVENT Long(?x) MATCH Rise(?x) SEQ Hot(?x) AS third WITHIN 1 min
RETURN {}
"""


def trees(text: str) -> Iterator[list[str]]:
    """What `--why` says of each occurrence, without the guards that it met: they are in the query alone."""
    tree: list[str] = []
    for line in text.splitlines():
        if not line.startswith(" ") and tree:
            yield tree
            tree = []
        if not line.lstrip().startswith("as "):
            tree.append(line)
    yield tree


@pytest.mark.java
@pytest.mark.parametrize("query", EXAMPLES, ids=lambda path: path.parent.name)
def test_the_file_tells_of_every_example_what_the_run_told(
    query: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    stream = query.with_name("stream.jsonl")
    source = ["--source", stream] if stream.exists() else []
    said = embedded(query, *source, "--sink", "out.jsonl", "--why", "--quiet")
    assert said.status == 0
    told = list(trees(said.err))
    records = [json.loads(line) for line in Path("out.jsonl").read_text().splitlines()]
    assert len(told) == len(records) > 0
    for tree, record in zip(told, records, strict=True):
        title, id, *rest = obep("why", record["id"], "out.jsonl").out.splitlines()
        assert [title, *rest] == tree
        assert id == f"  {record['id']}"


def ran(folder: Path, returned: str) -> str:
    """The file is written; the id of the occurrence of Long."""
    (folder / "s.jsonl").write_text("".join(reading(at, "a", 30 + at) for at in (1, 2, 3)))
    sinks = ["--sink", folder / "out.nq", "--sink", folder / "out.trig", "--sink", folder / "out.jsonl"]
    said = embedded(hot(folder, QUERY.format(returned)), "--source", folder / "s.jsonl", *sinks, "--quiet")
    assert said.status == 0
    lines = (folder / "out.jsonl").read_text().splitlines()
    [id] = [record["id"] for record in map(json.loads, lines) if record["event"].endswith("Long")]
    return str(id)


@pytest.mark.parametrize("file", ["out.nq", "out.trig"])
def test_rdf_tells_a_tree_of_what_is_in_the_file(tmp_path: Path, file: str) -> None:
    """By hand: the first two make the Rise, the third comes after it; none says more than the parts say."""
    id = ran(tmp_path, "Hot, Rise, Long")
    told = obep("why", id, tmp_path / file).out.splitlines()
    items = [line.split("  from ")[1] for line in told if " from urn:obep:item:" in line]
    assert all(item.endswith("  (an item, which is not in the file)") for item in items)
    assert [line for line in told if " from urn:obep:item:" not in line] == [
        "Long from 1 to 3",
        f"  {id}",
        "  Rise from 1 to 2",
        "    Hot at 1 of a",
        '      a celsius "31"',
        "    Hot at 2 of a",
        '      a celsius "32"',
        "  Hot at 3 of a",
        '    a celsius "33"',
    ]
    assert [item.split(":")[3] for item in items] == ["1000000", "2000000", "3000000"]


@pytest.mark.parametrize("file", ["out.nq", "out.trig"])
def test_what_is_not_in_an_rdf_file_is_said_to_be_so(tmp_path: Path, file: str) -> None:
    id = ran(tmp_path, "Hot, Long")
    told = obep("why", id, tmp_path / file).out.splitlines()
    assert told[:5] == [
        "Long from 1 to 3",
        f"  {id}",
        '  a celsius "31"',
        '  a celsius "32"',
        '  a celsius "33"',
    ]
    assert told[5].startswith("  from urn:obep:Rise:") and told[5].endswith("  (not in the file)")
    assert told[6:8] == ["  Hot at 3 of a", '    a celsius "33"']


def test_an_rdf_file_in_which_occurrences_follow_from_each_other_is_told_all_the_same(tmp_path: Path) -> None:
    about = "<urn:obep:{0}:1> <{1}> {2} ."
    quads = []
    for one, other in (("A", "B"), ("B", "A")):
        quads.append(about.format(one, "https://w3id.org/obep#event", f"<http://e/{one}>"))
        quads.append(about.format(one, "http://www.w3.org/ns/prov#wasDerivedFrom", f"<urn:obep:{other}:1>"))
    (tmp_path / "out.nq").write_text("\n".join(quads) + "\n")
    told = obep("why", "urn:obep:A:1", tmp_path / "out.nq")
    assert told.status == 0
    assert told.out.splitlines() == [
        "A at ?",
        "  urn:obep:A:1",
        "  B at ?",
        "    from urn:obep:A:1  (shown above)",
    ]
