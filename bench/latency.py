"""How long a push takes until its answer is there, and what a live occurrence takes in memory, one core.

python bench/latency.py                    10,000 items a second for a minute: p50, p99, p99.9, max
python bench/latency.py --seconds 10 --freeze
python bench/latency.py --memory           bytes for each live occurrence of a pattern

Items come by a clock: one that is not taken in time waits, and its waiting counts. `--freeze` sets the
collector of the process as `obep run` and `obep serve` do. Asked: p99 under 1 ms, max under 20 ms; at most
400 bytes.
"""

from __future__ import annotations

import argparse
import gc
import time
import tracemalloc
from contextlib import nullcontext
from random import Random

import obep
from obep.engine.bulk import rarely_collected
from obep.formats.record_mapping import make_mapping
from obep.formats.tables.record_blocks import RecordBlock
from obep.formats.triple_template import Template
from obep.model import RDF_TYPE, Item

QUERY = """PREFIX : <http://example.org/w#>
FROM STREAM <s>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?r) MATCH A AS a SEQ B AS b WITHIN 5 s
IF { EVENT a { ?this :room ?r . } EVENT b { ?this :room ?r . } }
RETURN H
"""
W = "<http://example.org/w#"
EACH = 100_000
"""Nanoseconds between two items."""


def items(count: int) -> list[Item]:
    """Events of 10,000 rooms, ten for each millisecond."""
    random, made = Random(7), []
    for n in range(count):
        kind, room = random.choice("AB"), random.randrange(10_000)
        name = f"{W}e{n}>"
        triples = ((name, RDF_TYPE, f"{W}Class{kind}>"), (name, f"{W}room>", f"{W}r{room}>"))
        made.append(Item("s", n * EACH // 1000, triples))
    return made


def latency(seconds: int, freeze: bool) -> None:
    """Push items by the clock, and show how long each took from when it was due."""
    engine = obep.load(text=QUERY).engine(remember=0)
    given, spent, answers = items(seconds * 10_000), [], 0
    for item in given[:2000]:
        engine.push_items((item,))
    with rarely_collected() if freeze else nullcontext():
        clock, first = time.perf_counter_ns, time.perf_counter_ns()
        for n, item in enumerate(given[2000:]):
            due = first + n * EACH
            while clock() < due:
                pass
            answers += len(engine.push_items((item,)))
            spent.append(clock() - due)
    spent.sort()
    shown = {"p50": 0.5, "p99": 0.99, "p99.9": 0.999}
    figures = [f"{name} {spent[int(len(spent) * part)] / 1e6:.3f} ms" for name, part in shown.items()]
    print(f"{len(spent):,} items, {answers:,} answers: {', '.join(figures)}, max {spent[-1] / 1e6:.3f} ms")


def memory(count: int) -> None:
    """Show the bytes for each A that waits for its B, from items and from mapped records."""
    mapping = make_mapping(
        {"prefixes": {"": W[1:]}, "template": ":e{n} a :Class{kind} ; :room :{room} ."}, "mapping"
    )
    template = mapping.triples
    assert isinstance(template, Template)

    def records(first: int, last: int) -> RecordBlock:
        span = range(first, last)
        columns = [
            [f"{W}e{n}>" for n in span],
            [f"{W}ClassA>"] * len(span),
            [f"{W}r{n % 1000}>" for n in span],
        ]
        order = [f"{slot.places[0].path}" for slot in template.slots]
        named = dict(zip(("n", "kind", "room"), columns, strict=True))
        rooms = {name: name for name in named["room"]}
        named["room"] = [rooms[name] for name in named["room"]]
        return RecordBlock("s", template, list(span), [[*named[path]] for path in order], [b""] * len(span))

    for name in ("items", "mapped records"):
        engine = obep.load(text=QUERY).engine(remember=0)
        engine.push_items(items(2)[:1])
        for start in range(10, 2010, 1000):
            engine.push_items(records(start, start + 1000))
        gc.collect()
        before = engine.remembered
        tracemalloc.start()
        for start in range(3000, 3000 + count, 1000):
            if name == "items":
                engine.push_items([one.item() for one in records(start, start + 1000)])
            else:
                engine.push_items(records(start, start + 1000))
        gc.collect()
        size, _ = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        live = engine.remembered - before
        print(f"from {name}: {size / live:.0f} bytes for each of {live:,} live occurrences")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--seconds", type=int, default=60)
    parser.add_argument("--freeze", action="store_true")
    parser.add_argument("--memory", action="store_true")
    parser.add_argument("--count", type=int, default=20_000, help="for --memory")
    arguments = parser.parse_args()
    if arguments.memory:
        memory(arguments.count)
    else:
        latency(arguments.seconds, arguments.freeze)


if __name__ == "__main__":
    main()
