"""What is found once more in the occurrences of a guarded event is warned of, and nothing else is."""

from __future__ import annotations

import pytest

import obep

ONTOLOGY = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Room a owl:Class . :Urgent a owl:Class . :celsius a owl:DatatypeProperty . :state a owl:DatatypeProperty ."""
HOT = "EVENT Hot AS (Room and celsius some number) IF { ?this :celsius ?t FILTER(?t > 30) }\n"
ITEM = "@prefix : <http://e/#> . :r a :Room , :Urgent ; :celsius 35.0 ; :state 'open' ."


@pytest.mark.parametrize(
    ("other", "times", "warned"),
    [
        ("(Room and celsius some number)", 2, "each Hot may be found as E once more"),
        ("(Room and celsius some number[> 5])", 2, "each Hot may be found as E once more"),
        ("(Room and (state value 'open' or celsius some number))", 3, "each Hot may be found as E once more"),
        ("(Room and state value 'open')", 1, None),
        ("(Room and Urgent)", 1, None),
        ("(Urgent and Hot)", 0, None),  # it names the guarded event: that is meant
        (
            "(Room and celsius some number) IF { ?this :celsius ?t FILTER(?t > 20) }",
            1,
            None,
        ),
        ("(Room and celsius some number) IF { ?this :state ?s FILTER(?s = 'open') }", 1, None),
    ],
)
def test_a_warning_where_an_event_is_found_once_more(tmp_path, other, times, warned):
    (tmp_path / "onto.ttl").write_text(ONTOLOGY)
    text = f"PREFIX : <http://e/#> VOCAB <onto.ttl> FROM STREAM <s>\n{HOT}EVENT E AS {other}\nRETURN E"
    query = obep.load(text=text, folder=tmp_path)
    said = [
        one.message for one in query.warnings if one.code == "OBEP245" and one.message.startswith("each Hot")
    ]
    assert said == ([warned] if warned else [])
    engine = query.engine()
    found = [*engine.push(ITEM, at=1, stream="s"), *engine.advance(10)]
    assert len(found) == times


NEAR = "EVENT Hot AS (in some Room) IF { ?this :celsius ?t FILTER(?t > 30) }\n"
BARE = "EVENT Hot AS (celsius some number) IF { ?this :celsius ?t FILTER(?t > 30) }\n"


@pytest.mark.parametrize(
    ("other", "times"),
    [
        ("AS (in some Room)", 2),
        ("AS (in some Hall)", 0),
        ("ON <s> AS (in some Room)", 1),
        ("AS (celsius some number)", 2),
        ("AS (celsius some number and state value 'open')", 1),  # the occurrence hands on celsius alone
        ("AS (celsius some number[> 5])", 1),
        ("AS (celsius some number[< 5])", 0),
        ("ON <s> AS (celsius some number)", 1),  # the remedy: messages only
    ],
)
def test_what_is_asked_for_is_all_that_the_class_says(other, times):
    hot = NEAR if "in some" in other else BARE
    text = f"PREFIX : <http://e/#> FROM STREAM <s>\n{hot}EVENT E {other}\nRETURN E"
    query = obep.load(text=text)
    engine = query.engine()
    item = "@prefix : <http://e/#> . :r :celsius 35.0 ; :state 'open' ; :in :hall . :hall a :Room ."
    found = [*engine.push(item, at=1, stream="s"), *engine.advance(10)]
    assert len(found) == times
    warned = [one.message for one in query.warnings if one.code == "OBEP245"]
    assert warned == (["each Hot may be found as E once more"] if times == 2 else [])
