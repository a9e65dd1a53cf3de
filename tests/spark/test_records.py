"""The columns of an occurrence say what its JSON record says."""

from __future__ import annotations

from collections.abc import Sequence

from spark_cases import embedded, micros, rows

from obep.formats.timestamps import parse_instant
from obep.model import DeadLetter, Occurrence
from obep.output.json_writer import to_json
from obep.run.load_query import load
from obep.spark.stages.bulk_causes import Causes
from obep.spark.stages.found_columns import occurrences_payload
from obep.spark.stages.record_batches import letters_payload, progress_payload, unwrapped


def test_columns_say_what_json_says() -> None:
    found = [
        one
        for name in ("keyed", "stacked", "guarded", "logical", "policy")
        for one in embedded(name, rows(60), close=True)[0]
    ]
    [batch] = unwrapped([occurrences_payload(found)])
    assert batch.num_rows == len(found) > 20
    for one, row in zip(found, batch.to_pylist(), strict=True):
        record = to_json(one, "iso")
        assert (row["event"], row["id"]) == (record["event"], record["id"])
        assert [dict(binding) for binding in row["bindings"]] == record["bindings"]
        for part, there in zip(row["because"], record["because"], strict=True):
            assert part["assertions"] == there["assertions"]
            assert (part["event"], part["alias"], part["individual"]) == (
                there["event"],
                there["alias"],
                there["individual"],
            )
            assert micros(part["start"]) == parse_instant(there["start"])
            assert micros(part["end"]) == parse_instant(there["end"])
            assert part["context"] == there.get("context", False)


def test_what_occurrences_have_in_common_may_be_known_from_others() -> None:
    found = [
        one for name in ("keyed", "stacked", "guarded") for one in embedded(name, rows(60), close=True)[0]
    ]
    known = Causes()
    shared = [row for n in range(0, len(found), 7) for row in told(found[n : n + 7], known)]
    assert len(known) > 5
    assert shared == [row for one in found for row in told([one], Causes())]


def told(found: Sequence[Occurrence], causes: Causes) -> list[dict[str, object]]:
    [batch] = unwrapped([occurrences_payload(found, causes=causes)])
    return batch.to_pylist()


def test_texts_take_the_place_of_columns() -> None:
    found, _ = embedded("keyed", rows(60), close=True)
    [batch] = unwrapped(
        [occurrences_payload(found[:1], forms=("event", "nquads", "trig", "why"), style="integer")]
    )
    [row] = batch.to_pylist()
    line, nquads, trig, why = row["texts"]
    assert line.endswith("}\n") and f'"start":{found[0].start / 1e6:g}' in line
    assert nquads == found[0].to_rdf("integer", "nquads")
    assert trig == found[0].to_rdf("integer", "trig")
    assert why.startswith("AB")
    assert row["because"] is None


def test_letters_and_progress_share_the_schema() -> None:
    letters = [DeadLetter("s", None, "OBEP602", "no time", "x", 3), DeadLetter("s", 5, "OBEP640", "late")]
    first, second = unwrapped([letters_payload(letters), progress_payload({"bucket": 1})])
    assert [row["code"] for row in first.to_pylist()] == ["OBEP602", "OBEP640"]
    assert [row["line"] for row in first.to_pylist()] == [3, 0]
    assert second.to_pylist()[0]["progress"] == '{"bucket":1}'
    assert first.schema == second.schema


def test_what_is_not_there_is_caused_by_nothing_that_people_see() -> None:
    query = load(text="PREFIX : <http://e/>\nEVENT A AS A0\nEVENT Other MATCH NOT A\nRETURN Other")
    with query.engine() as engine:
        [one] = engine.push("<http://e/x> a <http://e/B0> .", at=1, stream="s") + engine.close()
    [batch] = unwrapped([occurrences_payload([one])])
    [row] = batch.to_pylist()
    assert (row["event"], row["id"], row["because"]) == ("http://e/Other", one.id, [])
