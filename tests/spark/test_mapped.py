"""Plain columns as items: what the mapping of one row gives, also where rows are mapped together."""

from __future__ import annotations

import pickle
from typing import Any

import pyarrow as pa
import pytest

from obep.errors import ObepError
from obep.formats.mapping import make_mapping
from obep.formats.reading import Reading
from obep.formats.rows import read_row
from obep.model import DeadLetter, Item
from obep.spark.mapped import MappedRead

TEMPLATES = {
    "plain": "<http://e/room{room}> a <http://e/{kind}> .",
    "optional": '<http://e/room{room}> a <http://e/Alpha> ; <http://e/note> "in {kind?}" .',
    "typed": "<http://e/room{room}> <http://e/heat> {heat:double} .",
    "blank": "[] <http://e/in> <http://e/room{room}> .",
}


def batch() -> Any:
    times = [1_000_000, 2_000_000, 2_000_000, None, 5_500_000, 6_000_000]
    return pa.RecordBatch.from_pydict(
        {
            "ts": pa.array(times, pa.timestamp("us", tz="UTC")),
            "room": [1, 2, 1, 1, None, 1],
            "kind": ["Alpha", None, "Alpha", "Beta", "Beta", "Alpha"],
            "heat": [1.5, 2.5, 1.5, 1.5, 0.0, None],
        }
    )


@pytest.mark.parametrize("name", TEMPLATES)
def test_rows_mapped_together_are_rows_mapped_alone(name: str) -> None:
    settings = {"template": TEMPLATES[name], "time": "ts"}
    read = pickle.loads(pickle.dumps(MappedRead("s", settings)))
    reading = Reading(stream="s", rename=True, mapping=make_mapping(settings, "mapping"))
    expected = []
    for row in batch().to_pylist():
        row["ts"] = row["ts"] and row["ts"].isoformat()
        expected.append(read_row(row, b"", reading))
    found = list(read(batch()))
    for here, there in zip(found, expected, strict=True):
        assert type(here) is type(there)
        if isinstance(here, DeadLetter):
            assert (here.code, here.at) == (there.code, there.at)
        else:
            assert here.at == there.at and len(here.triples) == len(there.triples)
            assert name == "blank" or here.triples == there.triples
    items = [one for one in found if isinstance(one, Item)]
    if name == "blank":  # every item has its own
        assert len({item.triples[0][0] for item in items}) == len(items)


def test_a_wrong_mapping_is_refused_on_the_driver() -> None:
    with pytest.raises(ObepError, match="OBEP522"):
        MappedRead("s", {"time": "ts"})
