"""Guards: a 3-way SEQ with arithmetic in its FILTER over 1,000 keys, from parsed items (issue 19).

    python -m bench guards
    python -m bench guards --rounds 1 --n 5000

One item a millisecond, of a random room and class, with an amount. A loop that shares nothing with obep takes
the same items and must find as many answers.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections import deque
from fractions import Fraction
from random import Random

from figures import Figure, show

import obep
from obep.model import RDF_TYPE, Item

NS = "http://example.org/"
DECIMAL = "<http://www.w3.org/2001/XMLSchema#decimal>"
QUERY = f"""PREFIX : <{NS}>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT C AS ClassC
EVENT H(?room) MATCH A(?room) AS a SEQ B(?room) AS b SEQ C(?room) AS c WITHIN 5 s
IF {{ EVENT a {{ ?room :amount ?x }} EVENT b {{ ?room :amount ?y }} EVENT c {{ ?room :amount ?z }}
     FILTER(?z - ?y > (?y - ?x) * 2 + 1.5) }}
RETURN H
"""
SECOND = 1_000_000


class Loop:
    """What the query must find, by hand, with exact numbers."""

    def __init__(self) -> None:
        self.a: dict[str, deque[tuple[int, Fraction]]] = {}
        self.pairs: dict[str, list[tuple[int, Fraction, Fraction]]] = {}
        self.found = 0

    def take(self, item: Item) -> None:
        (room, _, kind), (_, _, amount) = item.triples
        value, since = Fraction(amount.split('"')[1]), item.at - 5 * SECOND
        if kind.endswith("A>"):
            self.a.setdefault(room, deque()).append((item.at, value))
        elif kind.endswith("B>"):
            waiting = self.a.get(room, deque())
            while waiting and waiting[0][0] <= since:
                waiting.popleft()
            self.pairs.setdefault(room, []).extend((at, x, value) for at, x in waiting)
        else:
            pairs = self.pairs[room] = [one for one in self.pairs.get(room, ()) if one[0] > since]
            self.found += sum(value - y > (y - x) * 2 + Fraction(3, 2) for _, x, y in pairs)


def items(random: Random, start: int, count: int, keys: int) -> list[Item]:
    """Items a millisecond apart, after an instant."""
    found = []
    for number in range(1, count + 1):
        room, tenths = f"<{NS}room{random.randrange(keys)}>", random.randint(150, 350)
        amount = f'"{tenths // 10}.{tenths % 10}"^^{DECIMAL}'
        triples = (room, RDF_TYPE, f"<{NS}Class{random.choice('ABC')}>"), (room, f"<{NS}amount>", amount)
        found.append(Item("", start + number * 1000, triples))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--items", type=int, default=20_000)
    parser.add_argument("--keys", type=int, default=1_000)
    given = parser.parse_args()
    engine, loop, random = obep.load(text=QUERY, java=False).engine(remember=0), Loop(), Random(1)
    rates: list[float] = []
    loops: list[float] = []
    answers = 0
    for number in range(given.rounds + 1):  # the first fills the memories, and is not counted
        some = items(random, number * given.items * 1000, given.items, given.keys)
        gc.collect()
        gc.disable()
        begin = time.process_time()
        answers += len(engine.push_items(some))
        between = time.process_time()
        for item in some:
            loop.take(item)
        end = time.process_time()
        gc.enable()
        if number:
            rates.append(given.items / (between - begin))
            loops.append(given.items / (end - between))
    assert answers == loop.found > 0, (answers, loop.found)
    print(f"  {answers:,} answers, as by hand")
    show(
        (
            Figure("3-way SEQ with arithmetic, by keys", tuple(rates), least=40_000),
            Figure("  a loop by hand, with exact numbers", tuple(loops)),
        )
    )


if __name__ == "__main__":
    main()
