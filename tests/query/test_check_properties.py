"""Laws of check: it answers every query that parses, in order, and its remedies are right."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest
from hypothesis import given, settings
from strategies import query_files

from obep.codes import CODES
from obep.errors import Diagnostic
from obep.lints.check_query import check
from obep.query import ast
from obep.query.link import Linked, link
from obep.query.parse.parser import parse
from obep.query.print.printer import show

DATA = Path(__file__).parent / "data"
KNOWN = "".join(f"EVENT {name} AS Room{n}\n" for n, name in enumerate(("Alarm", "Ack", "Door", "Person")))


def linked(text: str) -> Linked:
    return link(parse(text), Path("/nonexistent"))


def codes(text: str) -> list[str]:
    return [diagnostic.code for diagnostic in check(linked(text))]


@pytest.mark.slow
@given(query_files())
@settings(max_examples=150, deadline=None)
def test_check_answers_whatever_parses(file: ast.QueryFile) -> None:
    found = check(linked(show(replace(file, sources=()))))
    for diagnostic in found:
        assert diagnostic.code in CODES
        assert diagnostic.span is not None
        assert str(diagnostic).count("\n") >= 3
        warns = diagnostic.code.startswith("OBEP2") or diagnostic.code in ("OBEP766", "OBEP771")
        assert (diagnostic.severity == "warning") == warns
    places = [d.span.start for d in found if d.span]
    assert places == sorted(places)


@pytest.mark.slow
@given(query_files())
@settings(max_examples=100, deadline=None)
def test_the_canonical_form_has_its_parentheses(file: ast.QueryFile) -> None:
    found = codes(show(replace(file, sources=())))
    assert not {"OBEP202", "OBEP203"} & set(found)


def told(name: str) -> list[Diagnostic]:
    path = DATA / "checks" / f"{name}.obep"
    return check(link(parse(path.read_text("utf-8"), path.name), path.parent))


@pytest.mark.parametrize(
    "name",
    [
        "103-no-bound", "110-in-the-middle", "113-inside-within", "113-through-an-event", "118-copies",
        "124-zero", "200-during", "200-seq", "200-without", "201-not", "205-frozen", "206-instant",
        "219-never-comes", "219-never-inside",
    ],
)  # fmt: skip
def test_a_remedy_that_is_a_pattern_is_not_complained_of_again(name: str) -> None:
    """The remedy in the place of the pattern: the same code is not said of it a second time."""
    source = (DATA / "checks" / f"{name}.obep").read_text("utf-8")
    prologue = "".join(
        line for line in source.splitlines(True) if " AS (" in line or line.startswith("PREFIX")
    )
    prologue += "EVENT Silent MATCH Alarm NOT FOLLOWED BY Acknowledged WITHIN 10 min\n"
    prologue += "EVENT Entering MATCH FreeRoom SEQ BusyRoom WITHIN 5 min\n"
    said = told(name)
    assert said
    for diagnostic in said:
        pattern = re.split(r"   or ", diagnostic.remedy.removeprefix("MATCH "))[0]
        assert diagnostic.code not in codes(f"{prologue}EVENT Mended MATCH {pattern}\n")


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        # between N and L a variable may tie; outside only by way of L
        ("(Alarm(?x) SEQ Door) WITHOUT Ack(?x) WITHIN 1 h", []),
        ("((Alarm(?x) SEQ Door) WITHOUT Ack(?x)) SEQ Person(?x) WITHIN 1 h", []),
        ("((Alarm SEQ Door) WITHOUT Ack(?x)) SEQ Person(?x) WITHIN 1 h", ["OBEP108"]),
        ("Person(?x) SEQ (Alarm NOT FOLLOWED BY Ack(?x) WITHIN 1 min) WITHIN 1 h", ["OBEP108"]),
        # within N the same rule holds inside N
        ("(Alarm(?x) SEQ Door) WITHOUT ((Ack(?y) SEQ Person(?x)) WITHOUT Door(?y) AS d) WITHIN 1 h", []),
        ("(Alarm(?x) SEQ Door) WITHOUT ((Ack SEQ Person) WITHOUT Door(?x) AS d) WITHIN 1 h", ["OBEP108"]),
        # two negations are tied to each other only by what stands left of both
        ("(((Alarm SEQ Door) WITHOUT Ack(?x)) WITHOUT Person(?x)) WITHIN 1 h", ["OBEP108"]),
        ("(((Alarm(?x) SEQ Door) WITHOUT Ack(?x)) WITHOUT Person(?x)) WITHIN 1 h", []),
    ],
)
def test_a_negation_is_tied_to_its_left_side_only(pattern: str, expected: list[str]) -> None:
    assert codes(f"{KNOWN}EVENT H MATCH {pattern}") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("(Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 5 min", ["OBEP113"]),
        ("(Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 6 min", []),
        ("(Door OR (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 5 min", ["OBEP113"]),
        ("(Door SEQ (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 5 min", ["OBEP113"]),
        ("((Alarm NOT FOLLOWED BY Ack WITHIN 1 min) TIMES 3) WITHIN 3 min", ["OBEP113"]),
        ("((Alarm NOT FOLLOWED BY Ack WITHIN 1 min) TIMES 3) WITHIN 4 min", []),
        ("(Door DURING (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 5 min", ["OBEP113"]),
        ("((Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 4 min) WITHIN 3 min", ["OBEP113"]),
        ("(OPTIONAL(Alarm NOT FOLLOWED BY Ack WITHIN 5 min) SEQ Door) WITHIN 5 min", ["OBEP113"]),
    ],
)
def test_what_takes_too_long_never_matches(pattern: str, expected: list[str]) -> None:
    assert codes(f"{KNOWN}EVENT H MATCH {pattern}") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("Door NOT FOLLOWED BY (Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 5 min", ["OBEP219"]),
        ("Door NOT FOLLOWED BY (Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 6 min", []),
        ("((Door SEQ Person) WITHOUT (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 5 min", ["OBEP219"]),
        ("((Door SEQ Person) WITHOUT (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 6 min", []),
        ("((Door SEQ Person) WITHIN 9 min) WITHOUT ((Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 5 min)",
         ["OBEP219"]),
        # a negation inside of a negation: what the inner one leaves could never be found, either
        ("(Door NOT FOLLOWED BY (Alarm NOT FOLLOWED BY Ack WITHIN 5 min) WITHIN 5 min) WITHIN 5 min",
         ["OBEP113"]),
        ("(NOT (Alarm NOT FOLLOWED BY Ack WITHIN 5 min)) WITHIN 5 min", ["OBEP201"]),
        ("(NOT (Door OR (Alarm NOT FOLLOWED BY Ack WITHIN 5 min))) WITHIN 5 min", ["OBEP219"]),
    ],
)  # fmt: skip
def test_a_negation_of_what_never_is_found_is_warned_of_and_runs(pattern: str, expected: list[str]) -> None:
    assert codes(f"{KNOWN}EVENT H MATCH {pattern}") == expected


@pytest.mark.parametrize(
    ("pattern", "expected"),
    [
        ("Alarm SEQ Ack", ["OBEP200"]),
        ("(Alarm SEQ Ack) WITHIN 1 h", []),
        ("(Alarm SEQ Ack WITHIN 1 h) OR Door", []),
        ("Door AND Alarm", []),
        ("Alarm FINISHES Door", []),
        ("(LAST Alarm) SEQ Ack", []),
        ("(FIRST (Alarm SEQ Ack)) SEQ Door", ["OBEP200"]),
        ("Alarm NOT FOLLOWED BY (Ack SEQ Door) WITHIN 1 h", []),
        ("(Alarm AND Door) NOT FOLLOWED BY Ack WITHIN 1 h", []),
        ("OPTIONAL(Alarm) SEQ Door", ["OBEP200"]),
        ("OPTIONAL(Alarm) AND Door", []),
    ],
)
def test_state_without_a_bound_is_named_and_nothing_else(pattern: str, expected: list[str]) -> None:
    assert codes(f"{KNOWN}EVENT H MATCH {pattern}") == expected


def test_an_error_has_no_further_errors_for_company() -> None:
    text = f"{KNOWN}EVENT H(?x) MATCH Alarm AS a SEQ Ack AS b SEQ Door PARTITION BY ?x\n"
    guard = "IF { EVENT c { ?x :p ?y } EVENT a { ?x :p ?y } FILTER(?y > 3) } CONSTRUCT { ?this :of ?y }"
    assert codes(text + guard) == ["OBEP107"]


def test_independent_errors_are_reported_together_in_their_order() -> None:
    text = f"{KNOWN}EVENT H(?z) MATCH Alarn SEQ Ack AS Door POLICY recent IF {{ FILTER(?q > 3) }}\nRETURN I"
    assert codes(text) == ["OBEP120", "OBEP100", "OBEP101", "OBEP120", "OBEP100"]
