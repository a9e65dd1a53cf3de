"""A group of very many parts is refused, or it runs: each part is joined to those before it."""

from __future__ import annotations

import pytest

import obep
from obep.algebra.translate import DEEPEST
from obep.errors import ObepError

PREFIX = "PREFIX : <http://e/#>\n"
WINDOW = f"REGISTER QUERY q AS {PREFIX} SELECT ?x FROM STREAM <s> [RANGE 10 s STEP 1 s] WHERE"
GROUPS = {
    "groups of Sparkwave": ("tpg", PREFIX + "SELECT * {{ {} }}", "{{ ?x :p ?y TIMEWINDOW (5000) }}", " AND "),
    "groups over timed triples": ("epsparql", PREFIX + "SELECT * {{ {} }}", "{{ ?x :p ?y }}", " "),
    "OPTIONAL over timed triples": (
        "epsparql",
        PREFIX + "SELECT * {{ {} }}",
        "OPTIONAL {{ ?x :p ?y{} }}",
        " ",
    ),
    "BIND over timed triples": ("epsparql", PREFIX + "SELECT * {{ {} }}", "BIND(1 AS ?z{})", " "),
    "triple patterns of a window": ("csparql", WINDOW + " {{ {} }}", "?x :p ?y{}", " . "),
    "OPTIONAL of a window": ("csparql", WINDOW + " {{ {} }}", "OPTIONAL {{ ?x :p ?y{} }}", " "),
}


def run(kind: str, parts: int) -> None:
    dialect, text, part, between = GROUPS[kind]
    group = between.join(part.format(number) for number in range(parts))
    query = obep.load(text=text.format(group), dialect=dialect)
    with query.engine() as engine:
        for at in (1, 2, 3):
            engine.push("@prefix : <http://e/#> . :a :p :b .", at=at, stream="s")


@pytest.mark.parametrize("kind", GROUPS)
def test_a_group_of_very_many_parts_is_refused_by_name(kind: str) -> None:
    """Fuzzing found groups that ended in a RecursionError."""
    with pytest.raises(ObepError, match=f"OBEP005  a group of {10 * DEEPEST} parts"):
        run(kind, 10 * DEEPEST)


@pytest.mark.parametrize("kind", GROUPS)
def test_a_group_that_is_almost_too_large_runs(kind: str) -> None:
    run(kind, DEEPEST - 1)
