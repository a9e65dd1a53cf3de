"""An item may say that something is of an event's class: all that the definition says of it follows."""

from __future__ import annotations

import pytest

import obep

HEAD = "PREFIX : <http://e/#> FROM STREAM <s>\n"
ROOM = "EVENT InRoom AS (in some Room)\n"
GUARDED = "EVENT Hot AS (in some Room) IF { ?this :celsius ?t FILTER(?t > 30) }\n"
DEEP = "EVENT Deep AS (in some (Room and by some Wall))\n"


@pytest.mark.parametrize(
    ("events", "item", "found"),
    [
        # Hot SubClassOf in some Room (SPEC §3, a guarded event), and that is what InRoom is.
        (GUARDED + ROOM, ":r a :Hot .", {"Hot": 1, "InRoom": 1}),
        # Deep EquivalentTo in some (Room and by some Wall), which is below both of the others.
        (
            DEEP + ROOM + "EVENT InSome AS (in some (by some Wall))\nEVENT At AS (by some Wall)\n",
            ":r a :Deep .",
            {"Deep": 1, "InRoom": 1, "InSome": 1},
        ),
        # Two explanations: what it is said to be, and where it is.
        (DEEP + ROOM, ":r a :Deep ; :in :h . :h a :Room .", {"Deep": 1, "InRoom": 2}),
        (DEEP + "EVENT InHall AS (in some Hall)\n", ":r a :Deep .", {"Deep": 1}),
    ],
)
def test_what_follows_from_the_class_of_an_event_is_found(events: str, item: str, found: dict) -> None:
    query = obep.load(text=f"{HEAD}{events}RETURN ALL", java=False)
    assert set(query.bundle.status.values()) == {"exact"}
    engine = query.engine()
    hits = [*engine.push(f"@prefix : <http://e/#> . {item}", at=1), *engine.close()]
    names = [hit.event.removeprefix("<http://e/#").removesuffix(">") for hit in hits]
    assert {name: names.count(name) for name in names} == found


def test_a_guarded_event_is_an_item_in_which_its_class_counts() -> None:
    query = obep.load(text=f"{HEAD}{GUARDED}{ROOM}RETURN InRoom", java=False)
    engine = query.engine()
    item = "@prefix : <http://e/#> . :r :in :h ; :celsius 35 . :h a :Room ."
    hits = [*engine.push(item, at=1), *engine.close()]
    # Once in the message, by where it is; once in the Hot, by its class (SPEC D2: that is its news).
    assert [[p.rsplit("#")[-1].strip(">") for (_, p, _), _ in hit.explanation] for hit in hits] == [
        ["type", "in"],
        ["type"],
    ]


def test_static_knowledge_and_the_witnesses_of_an_asserted_class_come_together(tmp_path) -> None:
    (tmp_path / "k.ttl").write_text("@prefix : <http://e/#> . :x :in :h . :h a :Room .")
    text = f"{HEAD}FROM GRAPH <k.ttl>\n{DEEP}{ROOM}RETURN ALL"
    hits = (
        obep.load(text=text, folder=tmp_path, java=False)
        .engine()
        .push("<http://e/#x> a <http://e/#Deep> .", at=1)
    )
    # That x is in a Room is known, and so no news; but it follows from the item, too (SPEC D2).
    assert sorted(hit.event for hit in hits) == ["<http://e/#Deep>", "<http://e/#InRoom>"]


def test_a_witness_that_a_definition_ties_to_a_named_one_is_explained() -> None:
    """World 4000/12: the tie leads backwards, nothing explained it, and the item was over its budget."""
    letters: list[obep.DeadLetter] = []
    query = obep.load(text=f"{HEAD}EVENT Tied AS (in some (inverse by value :b))\nRETURN Tied", java=False)
    engine = query.engine(on_dead_letter=letters.append)
    hits = engine.push("@prefix : <http://e/#> . :n a :Tied .", at=1)
    assert [hit.individual for hit in hits] == ["<http://e/#n>"] and not letters
