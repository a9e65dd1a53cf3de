"""What everyone asks of the AST: aliases, leaves, dependencies, strata."""

from __future__ import annotations

import threading

import pytest

from obep.query import ast
from obep.query.link import Linked, assemble, link
from obep.query.parse.parser import parse
from obep.query.print.printer import show
from obep.query.walk import Cycle, alias_of, depends, event_needs, leaves, strata, walk

NS = "http://example.org/obep#"


def linked(text: str) -> Linked:
    return link(parse(text))


def layers(text: str) -> list[list[str]]:
    return [[iri.removeprefix(f"<{NS}").rstrip(">") for iri in layer] for layer in strata(linked(text))]


def test_an_alias_is_the_one_written_or_the_name_of_the_event() -> None:
    (event,) = parse(
        "PREFIX ex: <http://e.org/> EVENT X MATCH A AS a SEQ :B AS :first SEQ :C SEQ ex:D SEQ E"
    ).events
    assert isinstance(event, ast.CompositeEvent)
    assert [alias_of(leaf) for leaf in leaves(event.pattern)] == ["a", "first", "C", "ex:D", "E"]


def test_a_block_and_a_leaf_agree_on_an_alias_however_they_are_written() -> None:
    (event,) = parse(
        "EVENT X MATCH :A SEQ B IF { EVENT A { } EVENT :B { } FILTER(getSTARTTIME(:A) > getENDTIME(B)) }"
    ).events
    assert isinstance(event, ast.CompositeEvent)
    assert event.guard is not None
    assert [block.aliases for block in event.guard.blocks] == [("A",), ("B",)]
    assert {alias_of(leaf) for leaf in leaves(event.pattern)} == {"A", "B"}
    assert [node.alias for node in walk(event) if isinstance(node, ast.TimeFunction)] == ["A", "B"]


def test_walk_goes_in_reading_order() -> None:
    (event,) = parse("EVENT X MATCH A SEQ (B OR C) WITHIN 5 s").events
    assert [type(node).__name__ for node in walk(event)] == [
        "CompositeEvent", "Name", "Within", "Seq", "Leaf", "Name", "Or", "Leaf", "Name", "Leaf", "Name",
        "Duration",
    ]  # fmt: skip


def test_dependencies_of_both_kinds() -> None:
    first, second = parse("EVENT X MATCH A SEQ A SEQ B EVENT Y AS Room and p some X").events
    assert depends(first) == {f"<{NS}A>", f"<{NS}B>"}
    assert depends(second) == {f"<{NS}Room>", f"<{NS}p>", f"<{NS}X>"}


def test_an_individual_is_no_dependency() -> None:
    (event,) = parse("EVENT X AS Room and p value X and (q some {X, 5} or inverse r value Y)").events
    assert depends(event) == {f"<{NS}{name}>" for name in ("Room", "p", "q", "r")}


def test_strata() -> None:
    text = """EVENT Top MATCH Mid SEQ Low
    EVENT Low AS Room
    EVENT Mid MATCH Low SEQ Other
    EVENT Other AS Hall
    EVENT Above AS Room and concerns some Top"""
    assert layers(text) == [["Low", "Other"], ["Mid"], ["Top"], ["Above"]]
    assert layers("") == []
    assert layers("EVENT A MATCH Unknown") == [["A"]]


@pytest.mark.parametrize(
    ("text", "cycle"),
    [
        ("EVENT A MATCH A SEQ B EVENT B AS Room", ["A", "A"]),
        ("EVENT A MATCH B EVENT B MATCH C EVENT C MATCH A", ["A", "B", "C", "A"]),
        ("EVENT X MATCH A EVENT A MATCH B EVENT B AS Room and p some A", ["A", "B", "A"]),
    ],
)
def test_a_cycle_is_named(text: str, cycle: list[str]) -> None:
    with pytest.raises(Cycle) as caught:
        strata(linked(text))
    assert [iri.removeprefix(f"<{NS}").rstrip(">") for iri in caught.value.events] == cycle


def test_a_chain_of_ten_thousand_events_has_as_many_strata() -> None:
    text = "EVENT E0 AS Room\n" + "".join(f"EVENT E{i + 1} MATCH E{i}\n" for i in range(2_000))
    assert len(strata(linked(text))) == 2_001


def test_the_first_definition_counts() -> None:
    found = linked("EVENT A AS Room EVENT A AS Hall")
    assert found.events[f"<{NS}A>"] == parse("EVENT A AS Room").events[0]


def test_threads_share_the_parser() -> None:
    texts = [f"PREFIX : <http://e.org/{i}#> EVENT A{i} AS p{i} some (Room{i} and q only B)" for i in range(8)]
    found: dict[int, list[ast.QueryFile]] = {i: [] for i in range(8)}

    def read(i: int) -> None:
        for _ in range(20):
            found[i].append(parse(texts[i]))

    threads = [threading.Thread(target=read, args=(i,)) for i in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for i, files in found.items():
        assert len(files) == 20
        assert {file.events[0].name.iri for file in files} == {f"<http://e.org/{i}#A{i}>"}


def test_a_word_that_is_reserved_where_it_stands_is_printed_with_its_colon() -> None:
    def name(text: str) -> ast.Name:
        return ast.Name(text, f"<{NS}{text}>")

    event = ast.CompositeEvent(
        name("First"),
        ast.Leaf(name("seq"), (), "next"),
        guard=ast.Guard(
            (ast.Block(("next",), (ast.TriplePattern(ast.Var("x"), name("a"), name("filter")),), ()),), ()
        ),
    )
    logical = ast.LogicalEvent(name("X"), ast.Some(name("only"), ast.ClassName(name("Self"))))
    file = ast.QueryFile(None, (), (), (), (event, logical), (ast.Return("listed", (name("all"),)),))
    again = parse(show(file))
    iris = [node.iri for node in walk(file) if isinstance(node, ast.Name)]
    assert [node.iri for node in walk(again) if isinstance(node, ast.Name)] == iris


def test_a_long_line_is_folded_and_reads_back() -> None:
    text = (
        "EVENT Long MATCH " + " SEQ ".join(f"SomeEventWithALongName{i}" for i in range(5)) + " WITHIN 5 min"
    )
    text += (
        " IF { EVENT * { " + " . ".join(f"?room :aRatherLongProperty{i} ?value{i}" for i in range(4)) + " } }"
    )
    file = parse(text)
    shown = show(file)
    assert parse(shown) == file
    assert max(len(line) for line in shown.splitlines()) <= 100
    assert shown.splitlines()[:3] == [
        "EVENT Long MATCH",
        "    SomeEventWithALongName0",
        "    SEQ SomeEventWithALongName1",
    ]


# --- states ---------------------------------------------------------------------------------------------


def test_a_leaf_that_names_a_state_is_an_episode_of_it() -> None:
    found = linked(
        "STATE S(?x) FROM A TO B EVENT A AS Room EVENT B AS Door EVENT X MATCH S(?x) SEQ A RETURN S, X"
    )
    event = found.events[f"<{NS}X>"]
    assert isinstance(event, ast.CompositeEvent)
    assert [leaf.moment for leaf in leaves(event.pattern)] == ["episode", "event"]
    assert list(found.states) == [f"<{NS}S>"]
    assert found.file_of[f"<{NS}S>"] is found.file
    assert [(one.form, [name.text for name in one.events]) for one in found.returns] == [
        ("event", ["X"]),
        ("alerts", ["S"]),
    ]


def test_a_group_in_a_match_is_a_leaf_of_a_graph_event() -> None:
    found = linked("EVENT A AS Room EVENT X MATCH A SEQ { ?x :p ?y FILTER(?z > 5) } AS g SEQ { ?y :q [] }")
    event = found.events[f"<{NS}X>"]
    assert isinstance(event, ast.CompositeEvent)
    _, first, second = leaves(event.pattern)
    assert (alias_of(first), alias_of(second)) == ("g", "group2")
    for leaf, names in ((first, ["x", "y"]), (second, ["y"])):
        graph = found.events[leaf.event.iri]
        assert isinstance(graph, ast.GraphEvent)
        assert [variable.name for variable in leaf.parameters] == names
        assert leaf.parameters == graph.parameters
    assert assemble(found.files, found.folder) == found


def test_states_are_layers_between_events() -> None:
    text = """FROM NAMED WINDOW <w> ON EVENT X [RANGE 5 min]
      EVENT A AS Room STATE S FROM A TO A STATE T AS { S() } EVENT X MATCH A WHILE T
      STATE U ON <w> AS { ?x a :Room } STATE V AS { WINDOW <w> { ?x a :Room } }
      STATE W DAILY FROM 1:00 TO 2:00
      EVENT Y MATCH A IN <w>"""
    assert layers(text) == [["A", "W"], ["S"], ["T"], ["X"], ["Y", "U", "V"]]
    assert event_needs(linked(text))[f"<{NS}X>"] == {f"<{NS}A>"}


def test_a_state_may_not_depend_on_itself() -> None:
    with pytest.raises(Cycle):
        strata(linked("EVENT A AS Room STATE S FROM A WHILE T TO A STATE T AS { S() }"))


def test_an_alias_that_begins_with_a_colon_is_printed_with_one_more() -> None:
    file = parse("PREFIX x: <http://e/> EVENT A AS B EVENT H MATCH A AS :: SEQ A AS x:y RETURN H")
    assert "A AS :: SEQ A AS x:y" in show(file)
    assert parse(show(file)) == file
