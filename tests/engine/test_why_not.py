"""Why an event was not reported: the candidates that came furthest, and what refused them."""

from __future__ import annotations

from random import Random

import pytest
from engine_cases import engine, ttl

import obep
from obep.errors import ObepError

HEAD = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT C AS ClassC\n"


def after(pattern: str, *items: tuple[int, str]):
    running = engine(f"{HEAD}EVENT H MATCH {pattern}\nRETURN H")
    for at, graph in items:
        running.push(ttl(graph), at=at)
    running.advance(100)
    return running.why_not("H")


def only_reason(found) -> tuple[str, str]:
    [refusal] = found.refusals
    [reason] = refusal.reasons
    return reason.kind, reason.text


A, B = (1, ":x a :ClassA ; :p 3 ."), (4, ":y a :ClassB ; :p 2 .")
BLOCKS = "IF { EVENT A { ?this :p ?v } EVENT B { ?this :p ?w } %s }"


@pytest.mark.parametrize(
    ("pattern", "items", "reason"),
    [
        ("A(?i) SEQ B(?i)", (A, B), ("variable", "?i is x in A, y in B")),
        (
            "A SEQ B " + BLOCKS % "FILTER(?v < ?w)",
            (A, B),
            ("filter", 'FILTER(?v < ?w) is not true for ?v = "3", ?w = "2"'),
        ),
        (
            "A SEQ B IF { EVENT B { ?this :q ?w } }",
            (A, B),
            ("block", "EVENT B { ?this :q ?w . } finds nothing in B"),
        ),
        ("A SEQ B WITHIN 2 s", (A, B), ("within", "it took 3 s, and WITHIN is 2 s")),
        ("(A SEQ B) WITHOUT C", (A, (2, ":c a :ClassC ."), B), ("without", "C at 2 lies inside")),
        ("A NEXT B", (A, (2, ":z a :ClassA ."), B), ("next", "A at 2 lies between")),
        ("(FIRST A) SEQ B", ((0, ":z a :ClassA ."), A, B), ("choice", "A at 0 is the first one")),
    ],
)
def test_it_names_what_refused_a_candidate(pattern, items, reason):
    found = after(pattern, *items)
    kinds = {(one.kind, one.text) for refusal in found.refusals for one in refusal.reasons}
    assert reason in kinds
    assert reason[1] in str(found)


def test_it_names_the_occurrences():
    [refusal] = after("A(?i) SEQ B(?i)", A, B).refusals
    assert [(part.alias, part.occurrence.individual) for part in refusal.parts] == [
        ("A", "<http://e/#x>"),
        ("B", "<http://e/#y>"),
    ]


def test_a_partial_match_says_what_it_waits_for():
    found = after("A SEQ B SEQ C", A, B)
    assert str(found).splitlines() == [
        "H was reported never.",
        "  A: once lately",
        "  B: once lately",
        "  C: never lately",
        "A at 1 (x), B at 4 (y) waits for C",
    ]


def test_what_was_reported_is_not_among_the_refused():
    found = after("A SEQ B", A, B)
    assert found.reported == 1 and found.refusals == ()


def test_an_event_that_is_not_defined():
    with pytest.raises(ObepError) as error:
        engine(f"{HEAD}EVENT H MATCH A SEQ B\nRETURN H").why_not("G")
    assert error.value.code == "OBEP100"


def test_it_can_be_asked_of_individuals():
    running = engine(f"{HEAD}EVENT H(?i) MATCH A(?i) SEQ B(?i) WITHIN 2 s\nRETURN H")
    for at, graph in (
        (0, ":x a :ClassA ."),
        (1, ":x a :ClassB ."),
        (2, ":y a :ClassA ."),
        (9, ":y a :ClassB ."),
        (10, ":x a :ClassB ."),
    ):
        running.push(ttl(graph), at=at)
    assert [running.why_not(f"H{who}").reported for who in ("", "(:x)", "(_)", "(:y)")] == [1, 1, 1, 0]
    found = running.why_not("H(:y)")
    assert str(found).startswith("H(y) was reported never.\n  A: once lately\n  B: once lately\n")
    assert only_reason(found) == ("within", "it took 7 s, and WITHIN is 2 s")
    with pytest.raises(ObepError) as error:
        running.why_not("H(:x, :y)")
    assert error.value.code == "OBEP579"


def test_it_looks_as_far_back_as_the_engine_remembers():
    said = []
    for remember in (2, None):
        running = obep.Engine(
            engine(f"{HEAD}EVENT H(?i) MATCH A(?i) SEQ B(?i)\nRETURN H").query,
            remember=remember,
            matcher=engine(f"{HEAD}EVENT H(?i) MATCH A(?i) SEQ B(?i)\nRETURN H").running.matcher,
        )
        for at, who in enumerate("xyyy"):
            running.push(ttl(f":{who} a :ClassA ."), at=at)
        said.append(running.why_not("H(:x)").seen["A"])
    assert said == [0, 1]


@pytest.mark.parametrize("seed", range(20))
def test_of_a_single_pair_it_names_the_guard_that_refused_it(seed: int):
    """One A, one B, three conditions: what why_not says against them is just what is not true."""
    random = Random(seed)
    v, w, gap = random.randrange(3), random.randrange(3), random.randrange(1, 4)
    x, y = random.choice("xy"), random.choice("xy")
    found = after(
        "A(?i) SEQ B(?i) WITHIN 3 s " + BLOCKS % "FILTER(?v < ?w)",
        (0, f":{x} a :ClassA ; :p {v} ."),
        (gap, f":{y} a :ClassB ; :p {w} ."),
    )
    expected = set()
    if x != y:
        expected.add("variable")
    elif not v < w:
        expected.add("filter")
    if gap >= 3:
        expected.add("within")
    told = {reason.kind for refusal in found.refusals for reason in refusal.reasons}
    assert told == expected and found.reported == (not expected)


def test_why_names_the_guards_that_were_met():
    running = engine(f"{HEAD}EVENT H MATCH A SEQ B {BLOCKS % 'FILTER(?v > ?w)'}\nRETURN H")
    running.push(ttl(A[1]), at=1)
    running.push(ttl(B[1]), at=4)
    [hit] = running.close()
    assert [line.strip() for line in hit.why().splitlines() if " as " in line] == [
        "as EVENT A { ?this :p ?v . }",
        "as EVENT B { ?this :p ?w . }",
        "as FILTER(?v > ?w)",
    ]


def test_an_absence_whose_deadline_lies_beyond_the_end_is_undecided():
    running = engine(f"{HEAD}EVENT H MATCH A NOT FOLLOWED BY B WITHIN 5 s\nRETURN H")
    running.push(ttl(A[1]), at=1)
    running.push(ttl(":c a :ClassC ."), at=3)
    assert str(running.why_not("H")).splitlines()[-1] == "A at 1 (x) is decided at 6; time has come to 3"
    running.close()
    found = running.why_not("H")
    assert str(found).splitlines()[-1] == "A at 1 (x) is decided at 6; the stream ended before, at 3"
    assert [one.until for one in found.waiting] == [6_000_000] and found.refusals == ()


def test_what_comes_before_an_absence_is_decided_is_too_early():
    found = after("(A NOT FOLLOWED BY C WITHIN 5 s) SEQ B", A, B)
    assert only_reason(found) == ("order", "B at 4 is not in the relation SEQ to A at 1, which ends at 6")


def test_filters_that_are_true_of_different_solutions_only():
    items = (1, ":x a :ClassA ; :p 1 , 2 ."), (4, ":y a :ClassB .")
    filters = " ".join(f"FILTER({one} || getENDTIME(B) < getSTARTTIME(A))" for one in ("?v > 1", "?v < 2"))
    found = after(f"A SEQ B IF {{ EVENT A {{ ?this :p ?v }} {filters} }}", *items)
    kind, text = only_reason(found)
    assert (
        kind == "filter" and text.count("FILTER(") == 2 and text.endswith("are not true of the same solution")
    )


def test_variables_that_agree_one_by_one_only():
    blocks = "IF { EVENT A { ?this :p ?v ; :q ?w } EVENT B { ?this :p ?v ; :q ?w } }"
    one = (1, ":x a :ClassA ; :p 1 ; :q 1 .  :x :p 2 .")
    other = (4, ":y a :ClassB ; :p 1 , 2 ; :q 1 .")
    assert after(f"A SEQ B {blocks}", one, other).refusals == ()
    apart = "IF { EVENT A { ?s :p ?v . ?s :q ?w } EVENT B { ?t :p ?v . ?t :q ?w } }"
    one = (1, ":x a :ClassA . :m :p 1 ; :q 2 . :n :p 2 ; :q 1 .")
    other = (4, ":y a :ClassB . :m :p 1 ; :q 1 . :n :p 2 ; :q 2 .")
    assert only_reason(after(f"A SEQ B {apart}", one, other)) == (
        "variable",
        "?v and ?w do not agree at once",
    )


def test_an_event_that_stands_twice_without_aliases():
    found = after("A SEQ A SEQ B", A, B)
    assert [(part.alias, part.occurrence.start) for part in found.waiting[-1].parts] == [("A", 1_000_000)]
    assert only_reason(after("A SEQ A SEQ B WITHIN 2 s", A, (2, ":z a :ClassA ."), B))[0] == "within"


def test_a_guarded_logical_event_names_its_guard():
    running = engine("EVENT G AS ClassA IF { ?this :p ?v . FILTER(?v > 5) }\nRETURN G")
    running.push(ttl(A[1]), at=1)
    running.close()
    found = running.why_not("G")
    assert only_reason(found) == ("block", "IF { ?this :p ?v . FILTER(?v > 5) } finds nothing in it")
    assert "G at 1 (x) came, but" in str(found)


def test_more_reports_than_are_remembered():
    running = engine(f"{HEAD}EVENT H MATCH A SEQ B\nRETURN H")
    for at in range(12):
        running.push(ttl(":x a :ClassA ."), at=at)
    for at in range(12, 24):
        running.push(ttl(":x a :ClassB ."), at=at)
    found = running.why_not("H")
    assert found.refusals == () and str(found).startswith("H was reported at least 100 times.")


KNOWN = """@prefix : <http://e/#> .
:room1 a :Room ; :armedWith :s1 . :room2 a :Room . :s1 a :Sensor ."""
LOGICAL = """PREFIX : <http://e/#> FROM GRAPH <known.ttl> FROM STREAM <s> FROM STREAM <t>
EVENT Free AS (Room and armedWith some (Sensor and observesNobody some Thing))
EVENT Hot AS (Room and celsius some number[> 30])
EVENT Armed AS (Room and armedWith some Sensor)
EVENT Elsewhere ON <t> AS Room and dusty value yes
EVENT Pair(?r) MATCH Hot(?r) SEQ Hot(?r) AS again CONSTRUCT { ?this :concerns ?r }
EVENT Serious AS (Pair and concerns some (Room and dusty value yes))
RETURN ALL"""


@pytest.fixture
def logical(tmp_path):
    (tmp_path / "known.ttl").write_text(KNOWN)
    return obep.load(text=LOGICAL, folder=tmp_path).engine()


def test_of_a_logical_event_it_tells_which_parts_hold_and_which_are_missing(logical):
    logical.push(ttl(":s1 :observesPerson :p ."), at=1, stream="s")
    assert str(logical.why_not("Free")).splitlines() == [
        "Free was reported never.",
        "room1, in the item at 1, is the nearest:",
        "  Room and armedWith some (Sensor and observesNobody some Thing): missing",
        "    Room: yes, known",
        "    armedWith some (Sensor and observesNobody some Thing): missing",
        "      armedWith some: yes, known",
        "      s1",
        "        Sensor and observesNobody some Thing: missing",
        "          Sensor: yes, known",
        "          observesNobody some Thing: missing",
    ]


def test_what_the_item_says_is_not_known(logical):
    logical.push(ttl(":room3 a :Room ; :celsius 25.5 ."), at=1, stream="s")
    assert str(logical.why_not("Hot")).splitlines()[1:] == [
        "room3, in the item at 1, is the nearest:",
        "  Room and celsius some number[> 30]: missing",
        "    Room: yes",
        '    celsius some number[> 30]: missing; it is "25.5"',
    ]


def test_what_is_known_anyway_is_no_news(logical):
    logical.push(ttl(":room1 :celsius 20 ."), at=1, stream="s")
    assert str(logical.why_not("Armed")).splitlines()[1:] == [
        "room1 is one by what is known alone: an item must say something new"
    ]


def test_only_items_of_its_stream_come_near(logical):
    logical.push(ttl(":room1 :dusty :no ."), at=1, stream="s")
    assert logical.why_not("Elsewhere").nearest is None
    logical.push(ttl(":room1 :celsius 20 ."), at=2, stream="t")
    assert logical.why_not("Elsewhere").nearest.item.at == 2_000_000


def test_an_occurrence_may_come_nearest_to_an_event_of_the_next_stratum(logical):
    logical.push(ttl(":room1 :celsius 40 ."), at=1, stream="s")
    [pair] = [hit for hit in logical.push(ttl(":room1 :celsius 41 ."), at=2, stream="s") if hit.parts]
    nearest = logical.why_not("Serious").nearest
    assert nearest.lacking.individual == f"<{pair.id}>"
    assert [line.strip() for line in nearest.lacking.lines()][-1] == "dusty value yes: missing"


CHAIN = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Truck a owl:Class . :Probe a owl:Class . :mountedIn a owl:ObjectProperty . :partOf a owl:ObjectProperty .
:onTruck a owl:ObjectProperty ; owl:propertyChainAxiom ( :mountedIn :partOf ) .
:carries a owl:ObjectProperty ; owl:inverseOf :onTruck . :celsius a owl:DatatypeProperty ."""
MOUNTED = """@prefix : <http://e/#> . :t1 a :Truck . :box1 :partOf :t1 .
:a1 :mountedIn :box1 . :p1 a :Probe ; :mountedIn :box1 ."""


@pytest.mark.parametrize("carries", ["carries", "inverse onTruck"])
def test_it_goes_along_a_property_as_the_ontology_has_it(tmp_path, carries):
    """box1 is only the middle of the chain that makes t1 carry p1; a1 is carried too, and fits worse."""
    (tmp_path / "onto.ttl").write_text(CHAIN)
    (tmp_path / "known.ttl").write_text(MOUNTED)
    text = f"""PREFIX : <http://e/#> VOCAB <onto.ttl> FROM GRAPH <known.ttl> FROM STREAM <s>
EVENT Cold AS (Truck and {carries} some (Probe and celsius some number[< -30]))
RETURN Cold"""
    running = obep.load(text=text, folder=tmp_path).engine()
    running.push(ttl(":p1 :celsius 4.0 ."), at=1, stream="s")
    assert str(running.why_not("Cold")).splitlines()[1:] == [
        "t1, in the item at 1, is the nearest:",
        f"  Truck and {carries} some (Probe and celsius some number[< -30]): missing",
        "    Truck: yes, known",
        f"    {carries} some (Probe and celsius some number[< -30]): missing",
        f"      {carries} some: yes, known",
        "      p1",
        "        Probe and celsius some number[< -30]: missing",
        "          Probe: yes, known",
        '          celsius some number[< -30]: missing; it is "4.0"',
    ]


def test_a_block_that_looks_at_the_explanation_alone_says_so(tmp_path):
    """SPEC D7: Sensitive is a subclass of the Bay that defines Hot, so only its explanation is asked.

    There it says that b is a Bay, and nothing of Sensitive; the whole item does.
    """
    (tmp_path / "t.ttl").write_text(
        "@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .\n"
        "@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .\n"
        ":Bay a owl:Class . :hot a owl:ObjectProperty . :Sensitive a owl:Class ; rdfs:subClassOf :Bay .\n"
    )
    query = (
        "PREFIX : <http://e/>\nVOCAB <t.ttl>\nFROM STREAM <s>\nEVENT Hot AS (Bay and hot some owl:Thing)\n"
    )
    item = "@prefix : <http://e/> . :b a :Bay ; :hot :x . :b a :Sensitive ."
    told = []
    for kind in (":Sensitive", "?kind"):
        match = f"EVENT H MATCH Hot AS it IF {{ EVENT it {{ ?this a {kind} . }} }}\nRETURN H\n"
        (tmp_path / "q.obep").write_text(query + match)
        running = obep.load(tmp_path / "q.obep", java=False).engine()
        found = running.push(item, at=1) + running.advance(2)
        told.append((len(found), str(running.why_not("H"))))
    (narrow, why), (wide, _) = told
    assert narrow < wide
    assert "Sensitive belongs to what defines it, so only its explanation is looked at" in why


WINDOWS_AND_GROUPS = """PREFIX : <http://e/>
FROM STREAM <s>
FROM NAMED WINDOW <w> ON <s> [RANGE 3 s]
EVENT Large(?x) AS { ?x :p ?y . ?x :kind ?k . FILTER(?y > 3) }
EVENT A AS (p some number)
EVENT B AS (q some number)
EVENT AB(?x) MATCH A(?x) IN <w> SEQ B(?x)
RETURN Large, AB
"""


def _asked(event: str, *items: tuple[float, str]) -> list[str]:
    engine = obep.load(text=WINDOWS_AND_GROUPS, java=False).engine()
    for at, text in items:
        engine.push(f"@prefix : <http://e/> . {text} .", at=at)
    return str(engine.why_not(event)).split("\n")[1:]


def test_a_leaf_that_had_left_its_window_is_told_with_the_instant() -> None:
    """D35: in (t - 3 s, t] an item of 1 is no more at 4."""
    *_, last = _asked("AB", (1, ":a :p 2"), (5, ":a :q 2"), (9, ":b :r 1"))
    assert last == "  A left <w> at 4, before the rest came"
    assert not any(
        "left <w>" in line for line in _asked("AB", (1, ":a :p 2"), (3, ":a :q 2"), (9, ":b :r 1"))
    )


@pytest.mark.parametrize(
    ("event", "said"),
    [
        ("Large", 'in the item at 2 FILTER(?y > 3) is not true for ?y = "2"'),
        ("Large(<http://e/b>)", "in the item at 4 nothing matches ?x :kind ?k with ?x = b"),
        ("Large(<http://e/z>)", "in the item at 9 nothing matches ?x :p ?y with ?x = z"),
    ],
)
def test_a_graph_event_tells_what_the_nearest_item_lacks(event: str, said: str) -> None:
    items = ((1, ":a :kind :k"), (2, ":a :p 2 ; :kind :k"), (4, ":b :p 7"), (9, ":c :r 1"))
    assert _asked(event, *items)[-1] == said
