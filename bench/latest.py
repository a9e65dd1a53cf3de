"""LATEST: a group of three points and a FILTER, from parsed items, by 100 and by 10,000 keys (issue 14).

    python bench/latest.py            both, interleaved
    python bench/latest.py --rounds 1 --items 5000

Temperatures drift, as those of rooms do: about one item in a hundred begins or ends an episode.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from random import Random

from figures import Figure, show

import obep
from obep.engine.engine import Engine
from obep.model import Item

EX = "http://example.org/obep#"
QUERY = """
FROM NAMED WINDOW <now> ON <points> [LATEST 5 min]
STATE TooHot(?z) AS {
  WINDOW <now> { ?z :temperature ?t ; :setpoint ?s ; :occupied ?o } FILTER(?t > ?s + 2 && ?o > 0)
}
RETURN TooHot AS ALERTS
"""
MILLISECOND = 1000


def number(value: int) -> str:
    return f'"{value}"^^<http://www.w3.org/2001/XMLSchema#integer>'


class Building:
    """Zones with a setpoint, people and a temperature, one item a millisecond."""

    def __init__(self, keys: int) -> None:
        self.random = Random(keys)
        self.zones = [f"<{EX}z{n}>" for n in range(keys)]
        self.degrees = [self.random.randint(15, 24) for _ in self.zones]
        self.at = 0

    def start(self) -> Iterator[Item]:
        """Everything about each zone once."""
        for zone, degrees in zip(self.zones, self.degrees, strict=True):
            values = {"setpoint": 21, "occupied": 1, "temperature": degrees}
            self.at += MILLISECOND
            yield Item(
                "points",
                self.at,
                tuple((zone, f"<{EX}{name}>", number(value)) for name, value in values.items()),
            )

    def items(self, count: int) -> Iterator[Item]:
        """One point of one zone in each."""
        for _ in range(count):
            self.at += MILLISECOND
            zone = self.random.randrange(len(self.zones))
            kind = self.random.random()
            if kind < 0.02:
                name, value = "occupied", self.random.randint(0, 1)
            elif kind < 0.1:
                name, value = "setpoint", 21
            else:
                drift = self.random.choice((-1, 0, 0, 1))
                value = self.degrees[zone] = min(max(self.degrees[zone] + drift, 10), 30)
                name = "temperature"
            yield Item("points", self.at, ((self.zones[zone], f"<{EX}{name}>", number(value)),))


def seconds(engine: Engine, items: list[Item]) -> tuple[float, int]:
    begin = time.process_time()
    found = engine.push_items(items)
    return time.process_time() - begin, len(found)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--items", type=int, default=20_000)
    given = parser.parse_args()
    query = obep.load(text=QUERY, java=False)
    few, many = Building(100), Building(10_000)
    engines = []
    for building in (few, many):
        engine = query.engine(remember=0)
        engine.push_items(list(building.start()))
        engines.append((engine, building))
    times: tuple[list[float], list[float]] = ([], [])
    alerts = 0
    for _ in range(given.rounds):
        for (engine, building), spent in zip(engines, times, strict=True):
            took, found = seconds(engine, list(building.items(given.items)))
            spent.append(took)
            alerts += found
    share = alerts / (2 * given.rounds * given.items)
    print(f"  {share:.1%} of the items begin or end an episode")
    rates = tuple(given.items / took for took in times[1])
    ratios = tuple(more / less for less, more in zip(*times, strict=True))
    show(
        (
            Figure("LATEST, three points and a FILTER, 10,000 keys", rates, least=50_000),
            Figure("LATEST: an item of 10,000 keys against one of 100", ratios, "times", most=1.1),
        )
    )


if __name__ == "__main__":
    main()
