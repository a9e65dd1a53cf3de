"""Items that queries of one pipeline refuse: one dead letter each, which names the queries.

Such an item was not taken, though some query may take it: all that comes is processed, or a dead letter.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from obep.engine.query import Query
from obep.model import DeadLetter, Item
from obep.spark.stages.bucket_blocks import Fillings


def settle(fillings: Sequence[Fillings], names: Sequence[str]) -> None:
    """Leaves one letter for each item that is refused, with the first of the queries that refuse it."""
    said: dict[Item, dict[int, list[DeadLetter]]] = {}
    for number, filling in enumerate(fillings):
        for item, letter in filling.refused:
            said.setdefault(item, {}).setdefault(number, []).append(letter)
        filling.refused = []
    for item, by_query in said.items():
        first, letters = next(iter(by_query.items()))
        reasons = [(names[number], own[0].reason) for number, own in by_query.items()]
        merged = letters[0]._replace(reason=_reason(reasons))
        for _ in letters:  # the same item may have come several times
            fillings[first].refused.append((item, merged))
            for number, filling in enumerate(fillings):
                if number not in by_query:
                    filling.withdraw(item)


def _reason(said: Sequence[tuple[str, str]]) -> str:
    """What the queries say, each reason once.

    >>> _reason([("a.obep", "no"), ("b.obep", "no"), ("c.obep", "never")])
    'no (a.obep, b.obep); never (c.obep)'
    """
    by_reason: dict[str, list[str]] = {}
    for name, reason in said:
        by_reason.setdefault(reason, []).append(name)
    return "; ".join(f"{reason} ({', '.join(names)})" for reason, names in by_reason.items())


def query_names(queries: Sequence[Query]) -> list[str]:
    """What people call the queries: their files, or their places in the list where that is not clear."""
    files = [Path(query.linked.file.name).name for query in queries]
    count = Counter(files)
    return [file if count[file] == 1 else f"query {number}" for number, file in enumerate(files, 1)]
