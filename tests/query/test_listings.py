"""The listings of the OBEP paper, the older form of its authors and SPEC §2 parse as printed."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.lints.check_query import check
from obep.query import ast
from obep.query.link import link
from obep.query.parse.parser import parse, read_query
from obep.query.print.printer import show
from obep.query.walk import alias_of, leaves

LISTINGS = Path(__file__).parent / "data" / "listings"
NS = "http://example.org/obep#"


def read(name: str) -> ast.QueryFile:
    return read_query(LISTINGS / name)


@pytest.mark.parametrize("path", sorted(LISTINGS.glob("*.obep")), ids=lambda path: path.stem)
def test_every_listing_prints_and_reads_back(path: Path) -> None:
    file = read_query(path)
    assert parse(show(file)) == file


def test_logical_events_of_listing_1_4() -> None:
    busy, free = read("1_4.obep").events
    assert isinstance(busy, ast.LogicalEvent)
    assert (busy.name.iri, free.name.iri) == (f"<{NS}BusyRoom>", f"<{NS}FreeRoom>")
    assert isinstance(busy.description, ast.Intersection)
    room, armed = busy.description.operands
    assert isinstance(room, ast.ClassName)
    assert room.name.iri == f"<{NS}Room>"
    assert isinstance(armed, ast.Some)
    assert isinstance(armed.filler, ast.Intersection)
    observes = armed.filler.operands[1]
    assert isinstance(observes, ast.Some)
    assert isinstance(observes.filler, ast.ClassName)
    assert observes.filler.name.iri == "<http://www.w3.org/2002/07/owl#Thing>"


def test_composite_events_of_listing_1_5() -> None:
    entering, exiting = read("1_5.obep").events
    for event, names in ((entering, ["FreeRoom", "BusyRoom"]), (exiting, ["BusyRoom", "FreeRoom"])):
        assert isinstance(event, ast.CompositeEvent)
        assert isinstance(event.pattern, ast.Seq)
        assert [alias_of(leaf) for leaf in leaves(event.pattern)] == names


def test_guard_and_frame_of_listing_1_6() -> None:
    (entering,) = read("1_6.obep").events
    assert isinstance(entering, ast.CompositeEvent)
    assert isinstance(entering.pattern, ast.Within)
    assert entering.pattern.within.micros == 300_000_000
    assert entering.guard is not None
    assert [block.aliases for block in entering.guard.blocks] == [("BusyRoom",), ("FreeRoom",)]
    (triple,) = entering.guard.blocks[0].triples
    assert triple.predicate == ast.Name(":armedWith", f"<{NS}armedWith>")


def test_listing_1_10_is_the_whole_query() -> None:
    file = read("1_10.obep")
    assert [event.name.text for event in file.events] == [
        "RankChange", "StockPrice", "UpRank", "DownRank", "UpPrice", "DownPrice", "Alert",
    ]  # fmt: skip
    rank = file.events[0]
    assert isinstance(rank, ast.LogicalEvent)
    assert rank.description == ast.Some(ast.Name("rank", f"<{NS}rank>"), None)
    up = file.events[2]
    assert isinstance(up, ast.CompositeEvent)
    assert [alias_of(leaf) for leaf in leaves(up.pattern)] == ["R1", "R2"]
    alert = file.events[-1]
    assert isinstance(alert, ast.CompositeEvent)
    assert isinstance(alert.pattern, ast.Within)
    assert isinstance(alert.pattern.operand, ast.Or)
    assert file.returns == (ast.Return("listed", (ast.Name("Alert", f"<{NS}Alert>"),), "rdf"),)


def test_older_syntax_means_the_same() -> None:
    older = read("older.obep")
    newer = parse(
        """PREFIX : <http://example.org/>
        EVENT :A AS Room and armedWith some Sensor
        NAMED EVENT :B AS Room
        NAMED EVENT :H MATCH EVERY (:A SEQ :B) WITHIN 5 s
          IF { EVENT A { ?x :p ?y . } EVENT B { ?x :p ?y . } }
        EVENT :G MATCH :A SEQ :B WITHIN 5 s IF { EVENT A { ?x :p ?y . } EVENT B { ?x :p ?y . } }
        EVENT :F MATCH :A SEQ :B WITHIN 5 s IF { EVENT A { ?x :p ?y . } }
        EVENT :E MATCH :A SEQ :B
        RETURN ALL AS EVENT STREAM
        RETURN NAMED AS RDF STREAM
        RETURN :H, :G, :F AS EVENT STREAM"""
    )
    assert older.events == newer.events
    assert older.returns == newer.returns


def test_the_file_of_the_specification() -> None:
    file = read("spec_2.obep")
    assert file.base == "http://example.org/"
    assert [(source.kind, source.iri) for source in file.sources] == [
        ("vocab", "building.ttl"),
        ("graph", "rooms.ttl"),
        ("stream", "doors"),
        ("include", "common.obep"),
    ]
    (window,) = file.windows
    assert (window.name, window.stream, window.kind) == ("recent", "doors", "range")
    assert window.range is not None
    assert window.step is not None
    assert (window.range.micros, window.step.micros) == (10_000_000, 1_000_000)
    leaving = file.events[-1]
    assert isinstance(leaving, ast.CompositeEvent)
    assert leaving.parameters == (ast.Var("room"),)
    assert [leaf.parameters for leaf in leaves(leaving.pattern)] == [(ast.Var("room"),)] * 2


@pytest.mark.parametrize("names", [["1_4", "1_5"], ["1_4", "1_6"], ["1_10"]])
def test_listings_check_clean(names: list[str]) -> None:
    text = "".join((LISTINGS / f"{name}.obep").read_text(encoding="utf-8") for name in names)
    errors = [one for one in check(link(parse(text), LISTINGS)) if one.severity == "error"]
    assert errors == []
