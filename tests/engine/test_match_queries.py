"""Event patterns over windows in queries (RSEP-QL; DIALECTS 6): which matches, when, and what they answer."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import obep
from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import Answer, Item
from obep.query.parse.parser import parse
from obep.query.print.printer import show

SECOND = 1_000_000
EX = "http://example.org/"
MODEST = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))


def item(at: int, *triples: str, stream: str = "S") -> Item:
    return Item(
        f"{EX}{stream}",
        at * SECOND,
        tuple((f"<{EX}{s}>", f"<{EX}{p}>", f"<{EX}{o}>") for s, p, o in map(str.split, triples)),
    )


FIGURE_1 = [
    item(2, "a1 p b1"),
    item(4, "a2 p b2"),
    item(6, "b1 q c1", "b2 q c2"),
    item(8, "b2 q c2"),
    item(10, "b1 q c1", "a3 p b3"),
]
E1, E2, E3, E4 = (2, 6, "a1 c1"), (4, 6, "a2 c2"), (4, 8, "a2 c2"), (2, 10, "a1 c1")


def example_4(landmark: int = 1, policy: str = "unrestricted", where: str = "MATCH { E1 SEQ E2 }") -> str:
    return (
        f"POLICY {policy} PREFIX : <{EX}> SELECT * FROM NAMED :S WIN [LND {landmark}] AS :w1 "
        "FROM NAMED :S WIN [RANGE 5] AS :w2 EVENT ON :w1 { ?x :p ?y . } AS E1 "
        f"EVENT ON :w2 {{ ?y :q ?z . }} AS E2 WHERE {{ {where} }}"
    )


def load(text: str, **settings: Any) -> Query:
    return obep.load(text=text, dialect="rsepql", **settings)


def run(query: Query, items: list[Item]) -> list[Answer]:
    engine = query.engine()
    found = [*engine.push_items(items), *engine.close()]
    return [one for one in found if isinstance(one, Answer)]


def shown(answers: list[Answer], names: str = "xz") -> list[tuple[int, int, str]]:
    """Start, end and the values of some variables; decided at the end."""
    assert all(one.detected == one.end and one.timed for one in answers)
    return [
        (one.start // SECOND, one.end // SECOND, " ".join(row[name][len(EX) + 1 : -1] for name in names))
        for one in answers
        for row in one.bindings
    ]


@pytest.mark.parametrize(
    ("policy", "found"),
    [
        ("unrestricted", [E1, E2, E3, E4]),
        ("chronological", [E1, E2]),
        ("recent", [E1, E2]),  # at 6 (D10); the paper evaluates at 8 and 10 only
        ("naive", [E2, E3]),  # at 10 the last of E1 is a3, which nothing follows
    ],
)
def test_figure_1_under_each_policy(policy: str, found: list[tuple[int, int, str]]) -> None:
    assert shown(run(load(example_4(policy=policy)), FIGURE_1)) == found


def test_example_4_as_it_is_printed_has_its_landmark_behind_the_stream() -> None:
    assert run(load(example_4(landmark=9)), FIGURE_1) == []


def test_range_bounds_the_left_of_a_sequence_and_nothing_on_its_right() -> None:
    text = example_4().replace(":w1 {", ":w3 {").replace(":w2 {", ":w1 {").replace(":w3 {", ":w2 {")
    # (t - 5, t]: a1 of 2 is in the window at 6; a2 of 4 at 6 and 8; a1 is not at 10
    assert shown(run(load(text), FIGURE_1)) == [E1, E2, E3]


def test_first_and_last_choose_among_what_is_live() -> None:
    first = example_4(where="MATCH { (FIRST E1) SEQ E2 }")
    assert shown(run(load(first), FIGURE_1)) == [E1, E4]
    last = example_4(where="MATCH { (LAST E1) SEQ E2 }")
    assert shown(run(load(last), FIGURE_1)) == [E2, E3]


def test_with_a_step_a_leaf_is_seen_from_the_next_multiple_on() -> None:
    text = example_4().replace("[LND 1]", "[RANGE 8 STEP 4]")
    # a1 of 2 is seen at 4 and gone at 12; a2 of 4 is seen at once: the same four
    assert shown(run(load(text), FIGURE_1)) == [E1, E2, E3, E4]
    late = load(text.replace("STEP 4", "STEP 7"))
    # at 7 both are seen, so what came at 6 is decided then; the window of E2 holds it for ever, on the right
    engine = late.engine()
    found = [one for one in [*engine.push_items(FIGURE_1), *engine.close()] if isinstance(one, Answer)]
    assert [(one.start // SECOND, one.end // SECOND, one.detected // SECOND) for one in found] == [
        (2, 6, 7), (4, 6, 7), (4, 8, 8), (2, 10, 10),
    ]  # fmt: skip


def test_a_match_stands_in_the_where_with_all_else_as_of_its_decision(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(f"<{EX}c1> <{EX}in> <{EX}r> . <{EX}a9> <{EX}p> <{EX}b1> .")
    where = "MATCH { E1 SEQ E2 } ?z :in ?r . OPTIONAL { WINDOW :w2 { ?new :p ?b } }"
    text = example_4(where=where).replace("SELECT *", "SELECT ?x ?z ?r ?new FROM <k.ttl>")
    found = run(load(text, folder=tmp_path), FIGURE_1)
    # a9 is static: an event sees what an item says and adds to it. Of c2 nothing is known.
    # at 6 (1, 6] holds a1 and a2; at 10 (5, 10] holds a3
    assert shown(found, ("x", "r", "new")) == [(2, 6, "a1 r a1"), (2, 6, "a1 r a2"), (2, 10, "a1 r a3")]


def test_construct_gives_a_graph_for_each_match() -> None:
    text = example_4().replace("SELECT *", "CONSTRUCT { ?x :leads ?z }")
    found = run(load(text), FIGURE_1)
    assert [one.detected // SECOND for one in found] == [6, 6, 8, 10]
    assert found[2].constructed == ((f"<{EX}a2>", f"<{EX}leads>", f"<{EX}c2>"),)


def test_what_is_optional_in_an_event_may_be_unbound() -> None:
    text = example_4().replace("{ ?y :q ?z . }", "{ ?y :q ?z . OPTIONAL { ?y :r ?w } }")
    (found,) = run(load(text), [item(1, "a p b"), item(2, "b q c")])
    assert [sorted(row) for row in found.bindings] == [["x", "y", "z"]]
    (found,) = run(load(text), [item(1, "a p b"), item(2, "b q c", "b r d")])
    assert [row["w"] for row in found.bindings] == [f"<{EX}d>"]


def test_without_match_it_is_a_query_over_windows_as_istream() -> None:
    found = run(load(example_4(where="WINDOW :w2 { ?x :p ?z }")), FIGURE_1)
    assert [(one.detected // SECOND, one.op) for one in found] == [(2, "+"), (4, "+"), (10, "+")]


TRIPLES = st.sampled_from(["a p b", "c p b", "b q d", "b q e", "a p d", "d q a"])
STREAMS = st.lists(
    st.tuples(st.integers(1, 3), st.lists(TRIPLES, min_size=1, max_size=3, unique=True)), max_size=8
)


def _items(gaps: list[tuple[int, list[str]]]) -> list[Item]:
    at, found = 0, []
    for gap, triples in gaps:
        at += gap
        found.append(item(at, *triples))
    return found


@pytest.mark.slow
@given(STREAMS, st.integers(1, 9), st.integers(1, 6))
@MODEST
def test_matches_are_the_pairs_of_the_definition(
    gaps: list[tuple[int, list[str]]], landmark: int, range_: int
) -> None:
    """By the formula: l of w1 before r of w2 with one ?y, l in w1 at r's instant."""
    items = _items(gaps)
    text = example_4(landmark).replace("[RANGE 5]", f"[RANGE {range_}]")
    swapped = text.replace(":w1 {", ":w3 {").replace(":w2 {", ":w1 {").replace(":w3 {", ":w2 {")
    for query, live in (
        (text, lambda left, right: left >= landmark),
        (swapped, lambda left, right: right >= landmark and right - range_ < left),
    ):
        expected = [
            (left.at // SECOND, right.at // SECOND, f"{s[len(EX) + 1 : -1]} {z[len(EX) + 1 : -1]}")
            for left in items
            for s, p, y in left.triples
            for right in items
            for y2, q, z in right.triples
            if p == f"<{EX}p>" and q == f"<{EX}q>" and y == y2 and left.at < right.at
            if live(left.at // SECOND, right.at // SECOND)
        ]
        assert sorted(shown(run(load(query), items))) == sorted(expected)


@pytest.mark.slow
@given(STREAMS, st.integers(0, 8), st.sampled_from(["unrestricted", "chronological", "recent", "naive"]))
@MODEST
def test_a_prefix_answers_a_prefix_and_a_snapshot_changes_nothing(
    gaps: list[tuple[int, list[str]]], cut: int, policy: str
) -> None:
    items = _items(gaps)
    query = load(example_4(policy=policy))
    whole = [one.id for one in run(query, items)]
    assert whole[: len(before := [one.id for one in run(query, items[:cut])])] == before
    engine = query.engine()
    found = list(engine.push_items(items[:cut]))
    again = query.engine()
    again.restore(engine.snapshot())
    found += [*again.push_items(items[cut:]), *again.close()]
    assert [one.id for one in found] == whole


@pytest.mark.parametrize(
    ("text", "code", "word"),
    [
        (example_4(where="MATCH { E1 SEQ E3 }"), "OBEP100", "E3"),
        (example_4(where="MATCH { E1 } MATCH { E2 }"), "OBEP011", "second"),
        (example_4().replace("EVENT ON :w2", "EVENT ON :w3"), "OBEP121", "w3"),
        (example_4().replace("{ ?y :q ?z . }", "{ GRAPH :g { ?y :q ?z } }"), "OBEP702", "GRAPH"),
        (example_4(where="WINDOW :w1 { GRAPH :g { ?y :q ?z } }"), "OBEP702", "GRAPH"),
    ],
)
def test_what_a_query_with_match_cannot_have_is_refused(text: str, code: str, word: str) -> None:
    with pytest.raises(ObepError) as caught:
        load(text)
    first = caught.value.diagnostics[0]
    assert first.code == code
    assert word in first.message
    assert first.remedy


# --- MATCH in the queries of OBEP (DIALECTS 8)

IN_OBEP = f"""PREFIX : <{EX}>
FROM STREAM <{EX}S>
FROM NAMED WINDOW <w> ON <{EX}S> [RANGE 5 s STEP 1 s]
EVENT Up(?x) AS {{ ?x :p ?y }}
EVENT Twice(?x) MATCH Up(?x) SEQ Up(?x) WITHIN 3 s
"""


def in_obep(text: str) -> Query:
    return obep.load(text=f"{IN_OBEP}{text}", java=False, lints=False)


def test_a_query_of_obep_answers_when_its_match_is_decided() -> None:
    """Events, composites and unnamed groups are parts of the pattern; the window is that of the instant."""
    query = in_obep("""REGISTER <q> AS SELECT ?x ?z (COUNT(?other) AS ?n)
    WHERE { MATCH { Twice(?x) SEQ { ?x :q ?z } AS then WITHIN 10 s } WINDOW <w> { ?other :p ?v } }
    GROUP BY ?x ?z""")
    items = [item(1, "a p b"), item(2, "a p c"), item(3, "b p c"), item(6, "a q d"), item(9, "b q e")]
    answers = run(query, items)
    assert shown(answers) == [(1, 6, "a d")]
    assert answers[0].bindings[0]["n"].startswith('"2"')  # at 6 the window holds what came after 1


def test_a_match_of_obep_with_a_negation_is_decided_at_its_deadline() -> None:
    query = in_obep("REGISTER <q> AS SELECT * WHERE { MATCH { Up(?x) NOT FOLLOWED BY Up(?y) WITHIN 2 s } }")
    answers = run(query, [item(1, "a p b"), item(2, "b p c"), item(9, "c q d")])
    assert [(one.start, one.end, one.bindings) for one in answers] == [
        (2 * SECOND, 4 * SECOND, ({"x": f"<{EX}b>"},))
    ]


def test_a_match_of_obep_may_construct_a_graph() -> None:
    query = in_obep("REGISTER <pairs> AS CONSTRUCT { ?x :seen ?x } WHERE { MATCH { Twice(?x) } }")
    answers = run(query, [item(1, "a p b"), item(2, "a p c")])
    assert [one.constructed for one in answers] == [((f"<{EX}a>", f"<{EX}seen>", f"<{EX}a>"),)]


@pytest.mark.parametrize(
    ("code", "text"),
    [
        ("OBEP100", "REGISTER <q> AS SELECT * WHERE { MATCH { Up(?x) SEQ Down(?x) } }"),
        ("OBEP011", "REGISTER <q> AS SELECT * WHERE { MATCH { Up(?x) } MATCH { Up(?y) } }"),
        ("OBEP702", "EVENT H AS { ?x :p ?y MATCH { Up(?x) } }\nRETURN H"),
    ],
)
def test_a_wrong_match_of_obep_is_refused_by_name(code: str, text: str) -> None:
    with pytest.raises(ObepError, match=code):
        in_obep(text)


def test_fmt_prints_a_match_of_obep_as_it_is_read() -> None:
    text = f"{IN_OBEP}REGISTER <q> AS SELECT * WHERE {{ MATCH {{ Up(?x) SEQ Up(?y) WITHIN 3 s }} ?x :r ?z }}"
    printed = show(parse(text))
    assert "MATCH { Up(?x) SEQ Up(?y) WITHIN 3 s }" in printed
    assert show(parse(printed)) == printed
