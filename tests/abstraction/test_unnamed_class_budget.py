"""T and K are compiled once more for a new unnamed class of an item: that counts against its budget."""

from __future__ import annotations

import pytest

import obep

QUERY = "PREFIX : <http://e/#> FROM GRAPH <k.ttl> FROM STREAM <s>\nEVENT H AS (r some C)\nRETURN H"
UNNAMED = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:x a [ a owl:Restriction ; owl:onProperty :r ; owl:someValuesFrom :C ] ."""
PLAIN = "@prefix : <http://e/#> . :x :r :y . :y a :C ."


@pytest.mark.parametrize(("max_work", "refused"), [(None, False), (100, True), (5_000, False)])
def test_a_large_static_graph_is_not_closed_for_each_unnamed_class(tmp_path, max_work, refused) -> None:
    (tmp_path / "k.ttl").write_text(
        "@prefix : <http://e/#> . " + "".join(f":k{n} :r :k{n + 1} . " for n in range(100))
    )
    letters: list[obep.DeadLetter] = []
    query = obep.load(text=QUERY, folder=tmp_path, java=False, max_work=max_work)
    engine = query.engine(on_dead_letter=letters.append)
    hits = [engine.push(item, at=at) for at, item in enumerate((UNNAMED, PLAIN, UNNAMED))]
    assert [len(some) for some in hits] == ([0, 1, 0] if refused else [1, 1, 1])
    assert [letter.code for letter in letters] == (["OBEP628"] * 2 if refused else [])
