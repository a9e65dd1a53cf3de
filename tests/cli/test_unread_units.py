"""OBEP563: values whose unit is not read, and is another one than that of the definition."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot

QUERY = """PREFIX : <http://e/#>
FROM GRAPH <static.ttl>
FROM STREAM <s>
EVENT Low AS (pressure some number[< 4 kPa])
RETURN Low
"""
PREFIXES = """@prefix : <http://e/#> . @prefix qudt: <http://qudt.org/schema/qudt/> .
@prefix unit: <http://qudt.org/vocab/unit/> . @prefix cdt: <https://w3id.org/cdt/> .
@prefix brick: <https://brickschema.org/schema/Brick#> . """
PA = "of http://e/#pressure in unit:PA are compared as they are, and the query asks for kPa"


@pytest.mark.parametrize(
    ("graphs", "settings", "said"),
    [
        (
            [":a :pressure 3 ; qudt:unit unit:PA .", ":a :pressure 4 ; qudt:unit unit:PA ."],
            "",
            f"2 values {PA}",
        ),
        ([":known :pressure 3000 ."], "", f"1 value {PA}"),
        ([':a :pressure "3 Pa"^^cdt:ucum .'], "", "1 value of http://e/#pressure in Pa are compared"),
        ([":a :pressure 3 ; qudt:unit unit:PA .", ":known :pressure 3 ."], 'units = "qudt"', ""),
        (
            [
                ":a :pressure 3 ; qudt:unit unit:KiloPA .",
                ":a :pressure 3000 .",
                ":a :other 3 ; qudt:unit unit:PA .",
            ],
            "",
            "",
        ),
    ],
)
def test_a_unit_that_is_not_read_is_warned_of(
    tmp_path: Path, graphs: list[str], settings: str, said: str
) -> None:
    (tmp_path / "static.ttl").write_text(f"{PREFIXES} :known brick:hasUnit unit:PA .")
    lines = [json.dumps({"time": at, "graph": PREFIXES + graph}) for at, graph in enumerate(graphs)]
    (tmp_path / "s.jsonl").write_text("\n".join(lines))
    (tmp_path / "obep.toml").write_text(f'[sources.s]\nuri = "s.jsonl"\n{settings}\n')
    done = embedded(hot(tmp_path, QUERY))
    assert done.status == 0
    assert ("OBEP563" in done.err) == bool(said)
    assert said in done.err
