"""Queries over windows: what they answer, when, and how answers become streams (DIALECTS 5)."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import obep
from obep.engine.queries.query_window import QueryWindow
from obep.errors import ObepError
from obep.formats import read_items
from obep.model import Answer, Item, Triple

SECOND = 1_000_000
MODEST = settings(max_examples=25, deadline=None, suppress_health_check=list(HealthCheck))
PREFIX = "PREFIX : <http://example.org/>\n"


def iri(local: str) -> str:
    return f"<http://example.org/{local}>"


def number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


def run(query: Any, items: list[Item], until: int | None = None) -> list[Answer]:
    """All answers; time goes on to `until`, in seconds, after the last item."""
    engine = query.engine()
    found = list(engine.push_items(items))
    if until is not None:
        found += engine.advance(until + 1)
    found += engine.close()
    last = None if until is None else until * SECOND
    return [one for one in found if isinstance(one, Answer) and (last is None or one.detected <= last)]


def said(at: int, *triples: Triple, stream: str = "s") -> Item:
    return Item(stream, at * SECOND, triples)


def rows(answers: list[Answer]) -> list[tuple[int, list[dict[str, str]], str]]:
    return [(one.detected // SECOND, list(one.bindings), one.op) for one in answers]


def p(subject: str, value: str) -> Triple:
    return iri(subject), iri("p"), iri(value)


# --- by hand --------------------------------------------------------------------------------------------


def test_an_aggregate_over_a_sliding_window() -> None:
    query = obep.load(
        text=f"{PREFIX}REGISTER QUERY q COMPUTE EVERY 2 s AS SELECT ?x (COUNT(*) AS ?n) "
        "FROM STREAM <s> [RANGE 4 s STEP 2 s] WHERE { ?x :p ?y } GROUP BY ?x HAVING (?n > 1)"
    )
    found = run(query, [said(1, p("a", "b")), said(2, p("a", "c")), said(3, p("b", "c"))], until=8)
    assert rows(found) == [
        (2, [{"x": iri("a"), "n": number(2)}], ""),
        (4, [{"x": iri("a"), "n": number(2)}], ""),
    ]


def test_windows_by_name_and_what_they_add_to_the_static_graph(tmp_path: Path) -> None:
    (tmp_path / "k.ttl").write_text(
        "@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        "@prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        ":Lamp a owl:Class ; rdfs:subClassOf :Thing1 . :Thing1 a owl:Class . :l a :Lamp ."
    )
    query = obep.load(
        text=f"{PREFIX}REGISTER RSTREAM <q> AS SELECT ?x ?y FROM <k.ttl> "
        "FROM NAMED WINDOW :w ON <s> [RANGE 2 s STEP 1 s] WHERE { WINDOW :w { ?x a :Thing1 } ?y a :Thing1 }",
        folder=tmp_path,
    )
    typed = (iri("m"), "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>", iri("Lamp"))
    found = run(query, [said(1, typed)], until=5)
    # the axiom of the FROM graph is used (D13); :l is of the static graph, and not in the window (D14)
    assert rows(found) == [(t, [{"x": iri("m"), "y": iri("l")}], "") for t in (1, 2)]


NAMED = """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:a a :Lamp ; :stands :attic ."""
LAMPS = """@prefix : <http://example.org/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:Lamp a owl:Class ; rdfs:subClassOf :Thing1 . :Thing1 a owl:Class . :b a :Lamp ; :stands :cellar ."""


@pytest.mark.parametrize(
    ("head", "clause"),
    [
        ("", "FROM NAMED <named.ttl> FROM <lamps.ttl>"),
        ("VOCAB <t.ttl> FROM GRAPH <lamps.ttl> FROM NAMED GRAPH <named.ttl>", ""),
    ],
)
def test_a_named_graph_is_closed_by_itself_and_no_part_of_k(tmp_path: Path, head: str, clause: str) -> None:
    (tmp_path / "named.ttl").write_text(NAMED)
    (tmp_path / "lamps.ttl").write_text(LAMPS)
    (tmp_path / "t.ttl").write_text(LAMPS.partition(" :b a")[0])
    window = "FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 1 s]"
    head, clause = (f"{head} {window}", "") if head else (head, f"{clause} {window}")
    query = obep.load(
        text=f"{PREFIX}{head} REGISTER RSTREAM <q> AS SELECT * {clause} WHERE {{ WINDOW <w> {{ ?x :p ?y }} "
        "{ GRAPH ?g { ?z a :Thing1 ; :stands ?w } } UNION { ?z a :Thing1 } "
        "UNION { GRAPH <named.ttl> { ?z :stands :cellar } } UNION { GRAPH <none.ttl> { ?z ?p ?o } } }",
        dialect="obep" if head else "rspql",
        folder=tmp_path,
    )
    again = obep.engine.query.Query.from_bytes(query.to_bundle())
    for one in (query, again):
        ((at, found, _),) = rows(run(one, [said(1, p("m", "n"))], until=1))
        assert at == 1
        assert [{name: row[name] for name in "gzw" if name in row} for row in found] == [
            {"z": iri("b")},  # K is the default graph, and no named one
            {"g": "<named.ttl>", "z": iri("a"), "w": iri("attic")},
        ]


def test_what_leaves_is_told_as_a_difference() -> None:
    text = "REGISTER {0} <q> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 2 s] "
    text += "WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}"
    items = [said(1, p("a", "b")), said(2, p("a", "c"))]
    added = run(obep.load(text=PREFIX + text.format("ISTREAM")), items, until=9)
    left = run(obep.load(text=PREFIX + text.format("DSTREAM")), items, until=9)
    one = {"x": iri("a")}
    assert rows(added) == [(1, [one], "+"), (2, [one], "+")]
    assert rows(left) == [(3, [one], "-"), (4, [one], "-")]


def test_a_constructed_graph_is_a_stream_that_another_query_reads() -> None:
    query = obep.load(
        text=f"{PREFIX}STREAM <http://example.org/hot> IS Hot\n"
        "REGISTER STREAM Hot COMPUTE EVERY 1 s AS CONSTRUCT { _:x :about ?x } "
        "FROM STREAM <s> [RANGE 1 s STEP 1 s] WHERE { ?x :p :hot }\n"
        "REGISTER QUERY Times COMPUTE EVERY 5 s AS SELECT (COUNT(*) AS ?n) "
        "FROM STREAM <http://example.org/hot> [RANGE 5 s STEP 5 s] WHERE { ?h :about :a }"
    )
    assert query.linked.streams == ("s",)
    items = [said(1, p("a", "hot")), said(2, p("b", "hot")), said(3, p("a", "hot"))]
    found = run(query, items, until=6)
    graphs = [one for one in found if one.constructed]
    assert [one.detected // SECOND for one in graphs] == [1, 2, 3]
    (_, predicate, about) = graphs[1].constructed[0]
    assert (predicate, about) == (iri("about"), iri("b"))
    # the blank node is one for each solution: those of 1 and 3 are the same one
    assert rows([one for one in found if one.bindings]) == [(5, [{"n": number(1)}], "")]


def test_ask_and_report() -> None:
    text = (
        "REPORT {0} REGISTER RSTREAM <q> COMPUTE EVERY 1 s AS ASK FROM NAMED WINDOW <w> ON <s> [RANGE 2 s] "
    )
    where = "WHERE { WINDOW <w> { :a :p ?y } }"
    true, false = (
        {"ask": f'"{one}"^^<http://www.w3.org/2001/XMLSchema#boolean>'} for one in ("true", "false")
    )

    def answers(report: str) -> list[tuple[int, bool]]:
        query = obep.load(text=PREFIX + text.format(report) + where, dialect="rspql")
        found = rows(run(query, [said(1, p("a", "b"))], until=5))
        assert all(row in ([true], [false]) for _, row, _ in found)
        return [(at, row == [true]) for at, row, _ in found]

    assert answers("nonempty") == [(1, True), (2, True)]
    assert answers("all") == [(1, True), (2, True), (3, False), (4, False), (5, False)]
    assert answers("change") == [(1, True), (3, False)]


def test_closed_left_moves_the_edges() -> None:
    text = f"{PREFIX}CLOSED left REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT ?x FROM STREAM <s> "
    text += "[RANGE 2 s STEP 1 s] "
    found = run(obep.load(text=text + "WHERE { ?x :p ?y }"), [said(1, p("a", "b"))], until=6)
    assert [at for at, _, _ in rows(found)] == [2, 3]


def test_obep_queries_see_windows_of_the_file_and_states() -> None:
    query = obep.load(
        text=f"{PREFIX}FROM STREAM <s>\nFROM NAMED WINDOW <w> ON <s> [RANGE 10 s]\n"
        "EVENT On AS (p value on)\nEVENT Off AS (p value off)\n"
        "STATE Running(?f) FROM On(?f) TO Off(?f) LIMIT 1 d\n"
        "REGISTER ISTREAM <running> COMPUTE EVERY 5 s AS SELECT ?f "
        "WHERE { Running(?f) WINDOW <w> { ?f :p ?y } }\n"
    )
    found = run(query, [said(1, p("a", "on")), said(7, p("b", "on")), said(8, p("a", "off"))], until=12)
    assert rows(found) == [(5, [{"f": iri("a")}], "+"), (10, [{"f": iri("b")}], "+")]


def test_rows_are_lines_and_a_graph_is_rdf() -> None:
    query = obep.load(text=f"{PREFIX}REGISTER ISTREAM <q> AS SELECT ?x FROM NAMED WINDOW <w> ON <s> "
                      "[RANGE 2 s] WHERE { WINDOW <w> { ?x :p ?y } }")  # fmt: skip
    (answer,) = run(query, [said(1, p("a", "b"))])
    name = "http://example.org/obep#q"
    assert answer.to_json() == {"query": name, "at": 1, "rows": [{"x": iri("a")}], "op": "+"}
    assert answer.to_rows() == [{"query": name, "at": 1, "row": {"x": iri("a")}, "op": "+"}]


@pytest.mark.parametrize(
    ("base", "head", "absolute"),
    [
        ("", "REGISTER RSTREAM <light> AS", "http://example.org/obep#light"),
        ("", "REGISTER RSTREAM <#light> AS", "http://example.org/obep#light"),
        ("", "REGISTER RSTREAM <http://e/light> AS", "http://e/light"),
        ("BASE <http://e/ns/q>\n", "REGISTER RSTREAM <light> AS", "http://e/ns/light"),
        ("BASE <http://e/>\n", "", "http://e/q1"),
        ("", "", "http://example.org/obep#q1"),
    ],
)
def test_the_name_of_a_query_is_absolute_so_its_rdf_can_be_read(base: str, head: str, absolute: str) -> None:
    text = (
        f"{base}{PREFIX}{head} CONSTRUCT {{ ?x a :Light }} FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 1 s] "
        "WHERE { WINDOW <w> { ?x :p ?y } }"
    )
    answer = run(obep.load(text=text, dialect="rspql"), [said(1, p("a", "b"))], until=2)[0]
    assert answer.to_json()["query"] == absolute
    for form in ("nquads", "trig"):
        (item,) = read_items(answer.to_rdf(format=form).encode(), form)
        assert isinstance(item, Item), form


def test_two_spellings_of_one_name_are_two_queries_of_one_name() -> None:
    query = (
        "REGISTER RSTREAM {} AS SELECT ?x FROM NAMED WINDOW <w> ON <s> [RANGE 2 s] "
        "WHERE {{ WINDOW <w> {{ ?x :p ?y }} }}\n"
    )
    with pytest.raises(ObepError, match="OBEP101"):
        obep.load(
            text=PREFIX + query.format("<q>") + query.format("<http://example.org/obep#q>"), dialect="rspql"
        )


def test_a_query_goes_on_from_a_snapshot() -> None:
    query = obep.load(
        text=f"{PREFIX}REGISTER ISTREAM <q> AS SELECT ?x (COUNT(*) AS ?n) FROM NAMED WINDOW <w> ON <s> "
        "[RANGE 3 s STEP 1 s] WHERE { WINDOW <w> { ?x :p ?y } } GROUP BY ?x"
    )
    items = [said(1, p("a", "b")), said(2, p("a", "c")), said(4, p("b", "b")), said(6, p("a", "b"))]
    whole = run(query, items, until=9)
    for cut in range(len(items) + 1):
        engine = query.engine()
        found = list(engine.push_items(items[:cut]))
        other = query.engine()
        other.restore(engine.snapshot())
        found += [*other.push_items(items[cut:]), *other.advance(10), *other.close()]
        assert [one.to_json() for one in found] == [one.to_json() for one in whole]
    again = type(query).from_bytes(query.to_bundle())
    assert [one.to_json() for one in run(again, items, until=9)] == [one.to_json() for one in whole]


# --- laws -----------------------------------------------------------------------------------------------

FRAMES = [
    "RANGE {r} s", "RANGE {r} s STEP {s} s", "RANGE {r} s TUMBLING", "ROWS {r}", "RANGE TRIPLES {r}",
    "LANDMARK {s}",
    "FROM {s} TO {e}", "FROM NOW - {e} s TO NOW - {r} s STEP {s} s", "FROM NOW - {e} s TO NOW - {s} s",
]  # fmt: skip
streams = st.lists(
    st.tuples(
        st.integers(1, 12),
        st.lists(st.tuples(st.sampled_from("ab"), st.sampled_from("bc")), min_size=1, max_size=2),
    ),
    min_size=1,
    max_size=6,
).map(
    lambda found: [
        said(at, *(p(*one) for one in pairs)) for at, pairs in sorted(found, key=lambda one: one[0])
    ]
)
UNTIL = 16


def inside(frame: str, items: list[Item], at: int, r: int, s: int, e: int) -> list[int]:
    """The numbers of the items that are in a window at a second, from the table of DIALECTS 5."""
    times = [item.at // SECOND for item in items]
    seen = [n for n, t in enumerate(times) if t <= at]
    slid = at - at % s if "STEP" in frame else at - at % r if "TUMBLING" in frame else at
    if frame.startswith("ROWS"):
        first = times[seen[-r:][0]] if seen else 0
        return [n for n in seen if times[n] >= first]
    if "TRIPLES" in frame:
        kept: list[int] = []
        for instant in sorted({times[n] for n in seen}, reverse=True):
            if sum(len(set(items[n].triples)) for n in kept) >= r:
                break
            kept += [n for n in seen if times[n] == instant]
        return sorted(kept)
    if frame.startswith("RANGE"):
        return [n for n, t in enumerate(times) if slid - r < t <= slid]
    if frame.startswith("LANDMARK"):
        return [n for n in seen if times[n] >= s]
    if frame.startswith("FROM {s}"):
        return [n for n in seen if s <= times[n] <= e]
    return [n for n, t in enumerate(times) if slid - e < t <= slid - (r if "STEP" in frame else s)]


@pytest.mark.slow
@given(
    st.sampled_from(FRAMES),
    st.integers(1, 3),
    st.integers(1, 3),
    st.integers(4, 6),
    streams,
    st.sampled_from([0, 2]),
)
@MODEST
def test_rstream_is_evaluation_from_nothing_and_differences_sum_up_to_it(
    frame: str, r: int, s: int, e: int, items: list[Item], every: int
) -> None:
    def answers(operator: str) -> dict[int, Counter[Any]]:
        compute = f" COMPUTE EVERY {every} s" if every else ""
        text = (
            f"{PREFIX}REGISTER {operator} <q>{compute} AS SELECT ?x ?y FROM NAMED WINDOW <w> ON <s> "
            f"[{frame.format(r=r, s=s, e=e)}] WHERE {{ WINDOW <w> {{ ?x :p ?y }} OPTIONAL {{ ?y :q ?z }} }}"
        )
        found = run(obep.load(text=text, lints=False), items, until=UNTIL)
        return {one.detected // SECOND: Counter(tuple(row.items()) for row in one.bindings) for one in found}

    first = items[0].at // SECOND
    contents = {at: inside(frame, items, at, r, s, e) for at in range(first - 1, UNTIL + 1)}
    step = every or (s if "STEP" in frame else r if "TUMBLING" in frame else 0)
    times = [
        at for at in range(first, UNTIL + 1) if (at % step == 0 if step else contents[at] != contents[at - 1])
    ]
    wanted = {}
    for at in times:
        triples = {triple for n in contents[at] for triple in items[n].triples}
        wanted[at] = Counter((("x", a), ("y", b)) for a, _, b in triples)
    assert answers("RSTREAM") == {at: bag for at, bag in wanted.items() if bag}
    added, left = answers("ISTREAM"), answers("DSTREAM")
    sum_of: Counter[Any] = Counter()
    for at in times:
        sum_of = sum_of + added.pop(at, Counter()) - left.pop(at, Counter())
        assert sum_of == wanted[at]
    assert not added
    assert not left


# --- what is refused ------------------------------------------------------------------------------------

WINDOW = "FROM NAMED WINDOW <w> ON <s> [RANGE 5 s]"
REFUSED = [
    ("REGISTER QUERY q AS SELECT (COUNT(*) AS ?n) FROM STREAM <s> [RANGE 5 s] { ?x :p ?y }",
     "OBEP751", "STEP"),
    ("REGISTER QUERY q AS SELECT ?x FROM STREAM <s> [RANGE 5 s] FROM STREAM <t> { ?x :p ?y }",
     "OBEP149", "RANGE"),
    ("REGISTER QUERY q AS SELECT ?x FROM STREAM <r> [RANGE 5 s] { ?x :p ?y }\n"
     "REGISTER STREAM r COMPUTE EVERY 1 s AS CONSTRUCT { ?x :p ?y } FROM STREAM <s> [RANGE 1 s] { ?x :p ?y }",
     "OBEP149", "answers"),
    ("REGISTER QUERY q AS SELECT ?x FROM STREAM <s> [RANGE 5 s STEP 1 s] FROM STREAM <t> { ?x :p ?y }",
     "OBEP706", "STEP"),
    ("REGISTER RSTREAM <q> AS SELECT ?x @W { WINDOW <v> { ?x :p ?y } }",
     "OBEP121", "<v>"),
    ("REGISTER RSTREAM <q> AS SELECT ?x FROM NAMED WINDOW <w> ON <q> [RANGE 5 s] { WINDOW <w> { ?x :p ?y } }",
     "OBEP102", "its own"),
    ("REGISTER RSTREAM <q> AS SELECT * @W { WINDOW <w> { ?x :p ?y } } GROUP BY ?x",
     "OBEP705", "GROUP BY"),
    ("REGISTER RSTREAM <q> AS SELECT ?y (COUNT(*) AS ?n) @W "
     "{ WINDOW <w> { ?x :p ?y } } GROUP BY ?x", "OBEP705", "?y"),
    ("REGISTER RSTREAM <q> AS SELECT ?y @W "
     "{ WINDOW <w> { ?x :p ?y } BIND(1 AS ?y) }", "OBEP705", "?y"),
    ("REGISTER RSTREAM <q> AS SELECT ?y @W "
     "{ WINDOW <w> { ?x :p ?y } FILTER(COUNT(?x) > 1) }", "OBEP153", "COUNT"),
    ("REGISTER RSTREAM <q> AS SELECT ?y FROM NAMED WINDOW <w> ON <s> [RANGE 0 s] { WINDOW <w> { ?x :p ?y } }",
     "OBEP124", "RANGE"),
    ("REGISTER RSTREAM <q> AS SELECT ?y @W { WINDOW <w> { ?x :p ?y } :Hot(?y) }",
     "OBEP100", "Hot"),
    ("REGISTER QUERY q COMPUTE EVERY 1 s AS ASK { ?x :p ?y } "
     "REGISTER QUERY q COMPUTE EVERY 1 s AS ASK { ?x :q ?y }",
     "OBEP101", "q"),
    ("REGISTER RSTREAM <q> AS SELECT ?y @W @W { WINDOW <w> { ?x :p ?y } }", "OBEP101", "window <w>"),
    ("SELECT ?z FROM NAMED <s> WIN [RANGE 5] AS <w> EVENT ON <w> { ?x :p ?y } AS E "
     "EVENT ON <w> { ?y :q ?z } AS E WHERE { MATCH { E SEQ E } }", "OBEP101", "event E"),
    ("REGISTER RSTREAM <q> AS SELECT ?y @W { WINDOW <w> { ?x :p ?y } FILTER(getDURATION(c) < 1 s) }",
     "OBEP107", "no c in"),
    ("SELECT ?x { { ?x :p ?y } SEQ { ?x :q ?y } FILTER(getDURATION(c) < 1 s) }", "OBEP107", "no c in"),
    ("@W STATE S(?x) ON <w> AS { ?x :p ?y FILTER(getENDTIME(c) > ?y) } RETURN S", "OBEP107", "no c in"),
]  # fmt: skip


def test_a_column_of_a_timed_query_reads_the_times_of_its_solution() -> None:
    """From 5 to 6 the solution lasts a second; its columns once said that it lasted no time."""
    where = "{ { ?x :p ?y } SEQ { ?x :q ?z } FILTER(getDURATION() < 5 s) }"
    items = [said(5, p("a", "b")), said(6, (iri("a"), iri("q"), iri("b")))]
    xsd = "http://www.w3.org/2001/XMLSchema#"
    for columns, value in (
        ("(getDURATION() AS ?v)", f'"PT1S"^^<{xsd}dayTimeDuration>'),
        ("(MAX(getSTARTTIME()) AS ?v)", f'"1970-01-01T00:00:05Z"^^<{xsd}dateTime>'),
    ):
        text = f"{PREFIX}SELECT {columns} WHERE {where}"
        (answer,) = run(obep.load(text=text, dialect="epsparql"), items, until=9)
        assert answer.to_json()["rows"] == [{"v": value}]


@pytest.mark.parametrize(("text", "code", "word"), REFUSED)
def test_a_query_that_cannot_run_is_refused_by_name(text: str, code: str, word: str) -> None:
    with pytest.raises(ObepError) as caught:
        obep.load(text=PREFIX + text.replace("@W", WINDOW))
    found = [one for one in caught.value.diagnostics if one.code == code]
    assert found, caught.value
    assert word in found[0].message
    assert found[0].remedy


def test_a_slip_of_a_paper_is_taken_with_a_warning() -> None:
    query = obep.load(
        text=f"{PREFIX}REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT ?x FROM STREAM <s> [RANGE 5 s] "
        '{ ?x :p ?y FILTER(?y > "PT1H"xsd:duration) }'
    )
    assert [one.code for one in query.warnings] == ["OBEP707"]


def test_no_evaluation_time_lies_before_the_item_that_ends_a_pause() -> None:
    """While the window is empty nothing is reported; the next evaluation time is after the next item."""
    text = (
        f"{PREFIX}REGISTER QUERY q COMPUTE EVERY 2 s AS SELECT ?x FROM STREAM <s> [RANGE 1 s] {{ ?x :p ?y }}"
    )
    found = run(
        obep.load(text=text), [said(1, p("a", "b")), said(5, p("a", "b")), said(6, p("b", "b"))], until=9
    )
    assert rows(found) == [(6, [{"x": iri("b")}], "")]


def test_a_property_that_the_query_does_not_name_is_found_by_its_variable() -> None:
    """The second pattern looks up a property that the first has found, and that nothing declares."""
    text = "REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT ?x ?y FROM STREAM <s> [RANGE 1 s] "
    text += "{ ?x ?z ?x . ?y ?z ?x }"
    items = [said(1, p("a", "a"), p("b", "a"))]
    found = rows(run(obep.load(text=PREFIX + text), items))
    assert found == [(1, [{"x": iri("a"), "y": iri("a")}, {"x": iri("a"), "y": iri("b")}], "")]


def test_a_path_of_no_steps_leads_from_a_property_that_is_no_node() -> None:
    """SPARQL puts ?z in for EXISTS: `:q :q* :q` holds, though :q is neither subject nor object."""
    text = (
        "PREFIX : <http://example.org/>\nREGISTER QUERY q COMPUTE EVERY 1 s AS SELECT ?z "
        "FROM STREAM <s> [RANGE 5 s STEP 1 s] WHERE { ?x ?z ?w FILTER(EXISTS { ?z (:q*)+ ?z }) }"
    )
    item = Item("s", SECOND, (("<http://example.org/a>", "<http://example.org/q>", '"1"'),))
    engine = obep.load(text=text, lints=False, java=False).engine()
    found = [*engine.push_items([item]), *engine.close()]
    assert [one.bindings for one in found] == [({"z": "<http://example.org/q>"},)]


def rows_at_once(where: str, triples: tuple[Triple, ...]) -> list[dict[str, str]]:
    """The rows of a query over triples of one instant."""
    text = (
        f"REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT * FROM STREAM <s> [RANGE 5 s STEP 1 s] WHERE {where}"
    )
    found = run(obep.load(text=PREFIX + text, lints=False, java=False), [said(1, *triples)])
    return [row for one in found for row in one.bindings]


def test_an_optional_group_in_another_sees_nothing_of_what_is_outside() -> None:
    """Trial 4114361. Of :b :q :a the inner group finds ?z = :c, which the outer ?z = :b does not join."""
    where = "{ ?w :p ?z VALUES ?z { :b } OPTIONAL { ?x :q ?y OPTIONAL { ?y :p ?z . ?w :q ?x } } }"
    q = iri("q")
    triples = (p("c", "b"), p("a", "c"), (iri("b"), q, iri("a")), (iri("c"), q, iri("b")))
    assert rows_at_once(where, triples) == [{"w": iri("c"), "z": iri("b"), "x": iri("c"), "y": iri("b")}]


def test_minus_at_the_begin_of_a_group_takes_nothing_away() -> None:
    """Trial 4007301. The solution before it has no variable, so none in common with the MINUS."""
    where = "{ ?z :p ?x OPTIONAL { MINUS { ?z :q ?w } ?w :p ?x } }"
    triples = (p("c", "b"), (iri("c"), iri("q"), iri("a")))
    assert rows_at_once(where, triples) == [{"z": iri("c"), "x": iri("b"), "w": iri("c")}]


def test_whether_nothing_is_numeric_is_an_error() -> None:
    """Trial 4018787. Without ?y: an error or false is an error, so the row is not there."""
    where = "{ ?z :p ?x OPTIONAL { ?x :q ?y } FILTER(!ISNUMERIC(?y) || BOUND(?y)) }"
    triples = (p("c", "b"), p("c", "d"), (iri("d"), iri("q"), iri("a")))
    assert rows_at_once(where, triples) == [{"z": iri("c"), "x": iri("d"), "y": iri("a")}]


def test_explain_says_when_a_query_is_evaluated() -> None:
    text = "REGISTER QUERY q COMPUTE EVERY 90 s AS SELECT ?x FROM STREAM <s> [RANGE 5 min] { ?x :p ?y }"
    said = obep.load(text=PREFIX + text).explain()
    assert "q   RSTREAM, incremental, every 90 s\n    REGISTER QUERY q COMPUTE EVERY 90 s AS\n" in said
    assert "    FROM STREAM <s> [RANGE 5 min]\n    WHERE { ?x :p ?y . }" in said
    assert "on Spark\n  q   split by ?x" in said


def test_a_sequence_of_ep_sparql_is_a_row_when_its_last_triple_comes() -> None:
    text = "SELECT ?x { { ?x :p ?y } SEQ { ?x :q ?z } FILTER(getDURATION() < 5 s) }"
    later = (iri("a"), iri("q"), iri("c"))
    found = run(obep.load(text=PREFIX + text), [said(1, p("a", "b")), said(4, later), said(9, later)])
    assert rows(found) == [(4, [{"x": iri("a")}], "")]


STAMPED = (
    "PREFIX f: <http://larkc.eu/csparql/sparql/jena/ext#>\n"
    "REGISTER QUERY q COMPUTE EVERY 1 s AS SELECT ?x ?y (f:timestamp(?x, :p, ?y) AS ?at) "
    "(timestamp(?y) AS ?of) FROM STREAM <s> [RANGE 4 s STEP 1 s] WHERE { ?x :p ?y }"
)


def test_timestamp_is_when_a_triple_was_last_seen_or_could_be_inferred(tmp_path: Path) -> None:
    """D34, worked out by hand. p is transitive: a p c follows from what was said at 3 and at 2.0005."""
    owl = "http://www.w3.org/2002/07/owl#"
    (tmp_path / "t.ttl").write_text(f"{iri('p')} a <{owl}TransitiveProperty> , <{owl}ObjectProperty> .")
    (tmp_path / "k.ttl").write_text(f"{iri('k')} {iri('p')} {iri('a')} .")
    between = said(2, p("b", "c"))._replace(at=2_000_500)
    items = [said(1, p("a", "b")), between, said(3, p("a", "b")), said(4, p("z", "z"))]

    def stamps(text: str) -> dict[str, tuple[str | None, str | None]]:
        *_, (at, last, _) = rows(run(obep.load(text=text, folder=tmp_path), items))
        assert at == 4
        return {one["x"][-2] + one["y"][-2]: (one.get("at"), one.get("of")) for one in last}

    third = '"2000.5"^^<http://www.w3.org/2001/XMLSchema#decimal>'
    plain = {"ab": (number(3000),) * 2, "bc": (third,) * 2, "zz": (number(4000),) * 2}
    assert stamps(PREFIX + STAMPED) == plain
    assert stamps(f"VOCAB <t.ttl>\nFROM GRAPH <k.ttl>\n{PREFIX}{STAMPED}") == plain | {
        "ac": (third,) * 2,
        "kb": (number(3000),) * 2,
        "kc": (third,) * 2,
        "ka": (None, None),
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        *(
            (STAMPED.replace("timestamp(?y)", f"timestamp({arguments})"), "OBEP191")
            for arguments in ("?x, ?y", "", "5", ":c", "?z")
        ),
        (STAMPED.replace("?x :p ?y }", "?x :p/:q ?y }"), "OBEP191"),
        ("SELECT ?x { ?x :p ?y FILTER(timestamp(?x) > 3) }", "OBEP751"),
        ("EVENT A AS P IF { ?this :p ?y FILTER(timestamp(?y) > 3) }\nRETURN A", "OBEP190"),
    ],
)
def test_timestamp_is_refused_where_there_is_no_window_or_no_triple(text: str, code: str) -> None:
    with pytest.raises(ObepError) as caught:
        obep.load(text=PREFIX + text)
    assert code in {one.code for one in caught.value.diagnostics}


def test_a_query_counts_the_occurrences_in_a_window_of_an_event() -> None:
    """Alarms of a at 3 and 7, RANGE 10 s: the first leaves at 13, the second at 17."""
    head = (
        f"{PREFIX}FROM STREAM <s>\nFROM NAMED WINDOW <alarms> ON EVENT Alarm [RANGE 10 s]\n"
        "EVENT Hot AS (p some owl:Thing)\nEVENT Alarm(?z) MATCH Hot(?z) AS a SEQ Hot(?z) AS b WITHIN 5 s\n"
    )
    asked = (
        "REGISTER RSTREAM <c> AS SELECT ?z (COUNT(*) AS ?n) WHERE {{ WINDOW <alarms> {{ {} }} }} GROUP BY ?z"
    )
    items = [said(at, p(who, "x")) for at, who in ((1, "a"), (3, "a"), (4, "b"), (7, "a"), (30, "c"))]
    query = obep.load(text=f"{head}{asked.format('Alarm(?z)')}\nRETURN Alarm")
    assert rows(run(query, items)) == [
        (3, [{"z": iri("a"), "n": number(1)}], ""),
        (7, [{"z": iri("a"), "n": number(2)}], ""),
        (13, [{"z": iri("a"), "n": number(1)}], ""),
    ]
    for wrong, code in (("Hot(?z)", "OBEP100"), ("Alarm(?z, ?y)", "OBEP116")):
        with pytest.raises(ObepError) as caught:
            obep.load(text=f"{head}{asked.format(wrong)}\nRETURN Alarm")
        assert caught.value.code == code


@pytest.mark.parametrize("closed", ["", "CLOSED left\n"])
def test_items_between_two_evaluation_times_are_given_together(
    monkeypatch: pytest.MonkeyPatch, closed: str
) -> None:
    """400 items of 2 s: the window closes at the first item, and at each step; also from a snapshot."""
    closings: list[int] = []
    close = QueryWindow.close

    def counted(window: QueryWindow, at: int, items: Any) -> Any:
        closings.append(len(items))
        return close(window, at, items)

    monkeypatch.setattr(QueryWindow, "close", counted)
    text = f"{closed}REGISTER RSTREAM <q> AS SELECT (COUNT(*) AS ?n) (MAX(?y) AS ?last) "
    text += "FROM NAMED WINDOW <w> ON <s> [RANGE 2 s STEP 1 s] { WINDOW <w> { ?x :p ?y } }"
    query = obep.load(text=PREFIX + text)
    items = [Item("s", at * 5000, ((iri(f"x{at}"), iri("p"), number(at)),)) for at in range(1, 401)]
    engine = query.engine()
    found = list(engine.push_items(items[:100]))
    again = query.engine()
    again.restore(engine.snapshot())
    found += [*again.push_items(items[100:]), *again.advance(5), *again.close()]
    assert sum(closings) == 400
    assert len(closings) <= 12
    left = bool(closed)
    wanted = [(1, 200 - left), (2, 400 - left), (3, 200 + left), *([(4, 1)] if left else [])]
    counts = [(one.detected // SECOND, row["n"]) for one in found for row in one.bindings]
    assert counts == [(at, number(count)) for at, count in wanted]
