"""A run on Spark that goes on with another lateness: it holds from the watermark on, and time goes on."""

from __future__ import annotations

from itertools import cycle
from pathlib import Path

import pytest
from spark_cases import embedded, query, rows, shown
from test_detecting import Buckets

S = 1_000_000


@pytest.mark.parametrize("name", ["keyed", "deadlines"])
@pytest.mark.parametrize("lateness", [(0, 5 * S), (5 * S, 0), (5 * S, 2 * S), (2 * S, 0, 5 * S)])
def test_items_in_order_give_the_same_whatever_the_lateness_becomes(
    tmp_path: Path, name: str, lateness: tuple[int, ...]
) -> None:
    given = sorted(rows(120), key=lambda row: row[1])
    last = given[-1][1]
    given += [(stream, last + 1000 * S, "") for stream in ("s", "t")]
    parts = [given[at : at + 25] for at in range(0, len(given), 25)]
    found: list[tuple[object, ...]] = []
    kept: dict[int, tuple[object, dict[object, object]]] = {}
    for number, (part, late) in enumerate(zip(parts, cycle(lateness), strict=False)):
        buckets = Buckets(tmp_path, query(name), lateness=late, begun=str(number))
        buckets.resume(kept)
        found += buckets.run(part)
        kept = buckets.kept()
    found += buckets.run([(stream, last + 2000 * S, "") for stream in ("s", "t")])
    whole = embedded(name, given, close=False, lateness=0)[0]
    assert sorted(found) == sorted(shown(whole).elements())
    assert found
