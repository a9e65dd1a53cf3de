"""A cap on the values of PARTITION BY in obep.toml: counted, said, and refused where it means nothing."""

from __future__ import annotations

import json
from pathlib import Path

from shell import Said, embedded, hot, obep

QUERY = """PREFIX : <http://e/#>
FROM STREAM <s>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?k) MATCH (LAST A(?k)) SEQ B(?k) PARTITION BY ?k
RETURN H
"""


def run(folder: Path, toml: str) -> Said:
    (folder / "obep.toml").write_text(toml)
    kinds = [(n, "A", n) for n in range(1, 6)] + [(n + 5, "B", n) for n in range(1, 6)]
    lines = [
        json.dumps({"time": at, "graph": f"<http://e/#k{key}> a <http://e/#Class{kind}> ."})
        for at, kind, key in kinds
    ]
    (folder / "s.jsonl").write_text("\n".join(lines))
    return embedded(hot(folder, QUERY), "--source", folder / "s.jsonl", "--log-format", "json")


def test_values_that_were_forgotten_are_counted_and_said(tmp_path: Path) -> None:
    done = run(tmp_path, "[engine]\nmax_keys = 2\n")
    assert done.status == 0 and len(done.records) == 2
    assert "OBEP589" in done.err and "max_keys under [engine] in obep.toml" in done.err
    records = [json.loads(line) for line in done.err.splitlines() if line.startswith("{")]
    assert [record["evicted"] for record in records if record["message"] == "done"] == [3]


def test_without_a_cap_all_values_are_remembered_and_the_warning_names_the_setting(tmp_path: Path) -> None:
    done = run(tmp_path, "")
    assert len(done.records) == 5 and "OBEP589" not in done.err
    assert "OBEP200" in done.err and "max_keys" in done.err


def test_a_cap_on_explanations_in_obep_toml_reaches_the_engine_and_spark_refuses_it(tmp_path: Path) -> None:
    text = """PREFIX : <http://e/#>
FROM STREAM <s>
EVENT B AS ClassB
STATE Often OVER B(?k) WITHIN 60 s AGGREGATE (COUNT(*) AS ?n) HAVING (?n >= 4)
RETURN Often AS ALERTS
"""
    (tmp_path / "obep.toml").write_text("[engine]\nmax_because = 2\n")
    said = [
        json.dumps({"time": n, "graph": f"<http://e/#k{n}> a <http://e/#ClassB> ."}) for n in (*range(5), 70)
    ]
    (tmp_path / "s.jsonl").write_text("\n".join(said))
    done = embedded(hot(tmp_path, text), "--source", tmp_path / "s.jsonl")
    [firing, _] = done.records
    assert [one["seen"] for one in firing["because"]] == [[2, 3]]
    done = obep("run", hot(tmp_path, text), "--engine", "spark", "--source", tmp_path / "s.jsonl")
    assert done.status == 2 and "OBEP588" in done.err and "max_because" in done.err
