"""What an answer costs when it is written: its line of JSON, and its id alone.

    python -m bench lines            the answers of W1 in 200,000 records, five rounds
    python bench/lines.py --n 20000 --rounds 3

The answers are found in a file of records as `obep run` reads it, and those of a block are written before the
next one is read. Only the writing is measured.
"""

from __future__ import annotations

import argparse
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

from figures import Figure, show
from w1 import MAPPING, QUERY, pairs, write_files

import obep
from obep.engine.bulk import rarely_collected
from obep.engine.reporter import line_of
from obep.formats import read_blocks
from obep.formats.record_mapping import make_mapping
from obep.formats.stream_reader import Reading
from obep.model import Occurrence
from obep.output.json_writer import id_line

WRITERS = {
    "a line of JSON": (lambda one: line_of(one, "iso"), 5.0),
    "its id alone": (lambda one: id_line(one.record_id), 1.0),
}
"""How an answer is written, and the microseconds that are asked for (issue 19)."""


def lots(path: Path) -> Iterator[Sequence[Occurrence]]:
    """The answers of W1, as many together as are found together."""
    query = obep.load(text=QUERY)
    [stream] = query.linked.streams
    mapping = make_mapping(tomllib.loads(MAPPING)["sources"]["s"]["mapping"], "bench")
    reading = Reading(stream, lazily=True, mapping=mapping)
    engine = query.engine(remember=0)
    with path.open("rb") as file:
        for block in read_blocks(file, "jsonl", reading, 256):
            yield list(engine.push_items(block))
    yield engine.close()


def cost(path: Path, write: Callable[[Occurrence], bytes], expected: int) -> float:
    """Microseconds of processor time for an answer."""
    took, found = 0.0, 0
    for some in lots(path):
        begin = time.process_time()
        text = b"".join([write(one) for one in some])
        took += time.process_time() - begin
        found += text.count(b"\n")
    assert found == expected, (found, expected)
    return took / found * 1e6


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--n", type=int, default=200_000, help="the number of records")
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    spent: dict[str, list[float]] = {name: [] for name in WRITERS}
    with tempfile.TemporaryDirectory() as folder, rarely_collected():
        write_files(Path(folder), given.n)
        path = Path(folder) / "w1.jsonl"
        expected = pairs(path)
        for _ in range(given.rounds):
            for name, (write, _) in WRITERS.items():
                spent[name].append(cost(path, write, expected))
    show(Figure(name, tuple(spent[name]), "us", most=most) for name, (_, most) in WRITERS.items())


if __name__ == "__main__":
    main()
