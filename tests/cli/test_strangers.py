"""Items that nothing can look at are warned of, also where nobody watches a terminal."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from shell import embedded, hot

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Sensor a owl:Class . :celsius a owl:DatatypeProperty . :partOf a owl:ObjectProperty .
"""
QUERY = """PREFIX : <http://e/#>
VOCAB <o.ttl>
FROM STREAM <s>
EVENT Hot AS (celsius some number[> 30])
RETURN Hot
"""


def said(folder: Path, *graphs: str) -> str:
    (folder / "o.ttl").write_text(ONTOLOGY)
    lines = [json.dumps({"time": n, "graph": f"@prefix : <http://e/#> . {g}"}) for n, g in enumerate(graphs)]
    done = embedded(hot(folder, QUERY), "--source", "s=-", stdin="\n".join(lines).encode())
    assert done.status == 0
    return done.err


@pytest.mark.parametrize(
    ("graph", "reason"),
    [
        ("<x> <http://e/celsius> 35 .", "mostly http://e/celsius; is it http://e/#celsius?"),
        (":x :celcius 35 .", "mostly http://e/#celcius; is it http://e/#celsius?"),
        (":x a :Sensr .", "mostly http://e/#Sensr; is it http://e/#Sensor?"),
        (':x :partOf "y" .', "mostly http://e/#partOf, which needs an individual and has a literal"),
        (":x :celsius :y .", "mostly http://e/#celsius, which needs a literal and has an individual"),
        (":x :quiteOther 1 .", "mostly http://e/#quiteOther"),
    ],
)
def test_a_stream_of_unknown_vocabulary_is_named_with_what_was_meant(
    tmp_path: Path, graph: str, reason: str
) -> None:
    graph = graph.replace("<x>", "<http://e/#x>")
    start = "OBEP564  warning: s: all 2 items say only what neither the ontology nor the query knows, "
    assert said(tmp_path, graph, graph).startswith(start + reason)


def test_most_items_are_enough_where_a_name_is_near(tmp_path: Path) -> None:
    known, slip, other = ":x :celsius 1 .", ":x :celcius 35 .", ":x :quiteOther 1 ."
    assert "OBEP564  warning: s: 2 of 3 items say only" in said(tmp_path, known, slip, slip)
    assert said(tmp_path, known, known, slip) == ""
    assert said(tmp_path, known, other, other) == ""
    assert said(tmp_path, ":x a :Sensor ; :quiteOther 1 .") == ""


def test_numbers_that_are_text_are_warned_of(tmp_path: Path) -> None:
    text, number = ':x :celsius "35.5" .', ":x :celsius 35.5 ."
    err = said(tmp_path, text, text)
    assert err.startswith("OBEP565  warning: s: the values of http://e/#celsius are text")
    assert said(tmp_path, text, number) == ""
