"""The twelve rules of examples/08-building-states on a whole building, and their answers in pandas.

`python building_week.py DAYS ZONES [SEED]`, in tests/examples/: 7 days and 60 zones are 300 points. The
expected answers are made from what the comments of the query say, minute by minute, without obep: all
messages come at whole minutes, and all durations are whole minutes.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd

FOLDER = Path(__file__).parents[2] / "examples" / "08-building-states"
BASE = "http://example.org/building#"
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
DAY = 1440
Told = tuple[str, int | None, int | None, tuple[str, ...]]
"""Event, start and end in minutes (none where it is no whole one), bindings."""
Spell = tuple[int, int | None]


@dataclass
class Building:
    """Points with values and words, by minute."""

    days: int
    zones: int
    random: Random
    numbers: dict[tuple[str, str], dict[int, int]] = field(default_factory=dict)
    """Temperatures in tenths of a degree."""
    words: dict[tuple[str, str], list[int]] = field(default_factory=dict)

    @property
    def length(self) -> int:
        return self.days * DAY

    def floor(self, zone: int) -> str:
        return f"f{zone // 10}"

    def handlers(self) -> range:
        return range(max(1, self.zones // 4))

    def meters(self) -> range:
        return range(max(1, self.zones // 4))

    def draw(self) -> None:
        """The last zone never reports."""
        random = self.random
        for z in range(self.zones - 1):
            heat = 230
            for minute in range(random.randrange(4), self.length, 4):
                stuck = z % 7 == 3 and minute % (2 * DAY) < 200
                silent = z % 5 == 2 and 300 < minute % DAY < 330
                heat = heat if stuck else min(250, max(215, heat + random.randint(-9, 9)))
                if not silent:
                    self.say(f"z{z}", "temperature", minute, heat)
            for start in range(4 * 60, self.length, DAY):
                for minute in range(start, min(start + 180, self.length), 3):
                    self.say(f"z{z}", "co2", minute, random.randint(850, 1150))
            for minute in range(random.randrange(90), self.length, 97):
                word = random.choice(("open", "open", "shut", "motion", "motion", "empty", "acknowledged"))
                self.words.setdefault((f"z{z}", word), []).append(minute)
            for minute in range(random.randrange(30), self.length, 30):
                self.say(f"v{z}", "flow", minute, random.randint(0, 12))
        for a in self.handlers():
            for minute in range(random.randrange(20), self.length, 20):
                for name, most in (("heating", 20), ("cooling", 12)):
                    self.say(f"a{a}", name, minute, random.randint(0, most))
            minute = 0
            while (minute := minute + random.choice((6, 11, 19, 240))) < self.length:
                self.words.setdefault((f"a{a}", random.choice(("on", "on", "off"))), []).append(minute)
        for m in self.meters():
            for start in range(0, self.length, DAY):
                for hour in (1, 2, 3):
                    if start + hour * 60 < self.length:
                        self.say(f"m{m}", "energy", start + hour * 60, random.randint(40, 75))

    def say(self, subject: str, name: str, minute: int, value: int) -> None:
        self.numbers.setdefault((subject, name), {})[minute] = value

    # as the engine takes it

    def static(self) -> str:
        zones = [f":z{z} a :Zone ; :floor :{self.floor(z)} ; :setpoint 21 ." for z in range(self.zones)]
        boxes = [f":v{z} :fedBy :a{z % len(self.handlers())} ." for z in range(self.zones)]
        hours = f":clock :hour {', '.join(map(str, range(24)))} ."
        return "\n".join([f"@prefix : <{BASE}> .", *zones, *boxes, hours])

    def messages(self) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
        """(minute, subject, properties with their values as N-Triples), in the order of time."""
        said: dict[tuple[int, str, str], list[tuple[str, str]]] = {}
        for (subject, name), values in self.numbers.items():
            for minute, value in values.items():
                together = "both" if name in ("heating", "cooling") else name
                text = f"{value // 10}.{value % 10}" if name == "temperature" else str(value)
                kind = "decimal" if name == "temperature" else "integer"
                term = f'"{text}"^^<http://www.w3.org/2001/XMLSchema#{kind}>'
                said.setdefault((minute, subject, together), []).append((name, term))
        for (subject, word), minutes in self.words.items():
            for minute in minutes:
                said.setdefault((minute, subject, "status"), []).append(("status", f'"{word}"'))
        for minute, subject, together in sorted(said):
            yield minute, subject, said[minute, subject, together]

    def points(self) -> int:
        return len(self.numbers) + len({subject for subject, _ in self.words})


# --- the answers in pandas --------------------------------------------------------------------------------


class Expected:
    """What each rule gives."""

    def __init__(self, building: Building, last: int) -> None:
        self.building, self.last = building, last
        self.minutes = pd.RangeIndex(last + 1)
        self.found: Counter[Told] = Counter()

    def tell(self, event: str, start: int | None, end: int | None, *values: str) -> None:
        self.found[event, start, end, values] += 1

    def series(self, subject: str, name: str) -> pd.Series:
        values = self.building.numbers.get((subject, name), {})
        return pd.Series(values, dtype="float64").reindex(self.minutes)

    def times(self, subject: str, word: str) -> list[int]:
        return self.building.words.get((subject, word), [])

    def episodes(self, holds: pd.Series) -> list[Spell]:
        """From the first minute at which it holds to the first at which it does not."""
        flags = np.concatenate(([False], holds.to_numpy(dtype=bool)))
        edges = np.flatnonzero(flags[1:] != flags[:-1]).tolist()
        ends: list[int | None] = [*edges[1::2], *([None] if len(edges) % 2 else [])]
        return list(zip(edges[::2], ends, strict=True))

    def lasting(self, spells: list[Spell], length: int) -> list[Spell]:
        return [(b, x) for b, x in spells if b + length <= (self.last if x is None else x)]

    def switched(
        self, ons: list[int], offs: list[int], timeout: int = 10**9, limit: int = 10**9
    ) -> pd.Series:
        held = np.zeros(self.last + 1, dtype=bool)
        on, off, since, wound = set(ons), set(offs), -1, 0
        for t in range(self.last + 1):
            if since >= 0 and (t in off or t >= wound + timeout or t >= since + limit):
                since = -1
            if t in on:
                since, wound = (since if since >= 0 else t), t
            held[t] = since >= 0
        return pd.Series(held)

    def all(self) -> Counter[Told]:
        raised: dict[str, list[int]] = {}
        for z in range(self.building.zones):
            self.zone(f"z{z}", raised.setdefault(self.building.floor(z), []))
        for a in self.building.handlers():
            self.handler(a)
        for floor, begun in raised.items():  # 11
            often = pd.Series(np.bincount(begun, minlength=self.last + 1)[: self.last + 1])
            for b, _ in self.episodes(often.rolling(60, min_periods=1).sum() >= 3):
                self.tell("ManyAlarms", b, b, floor)
        for m in self.building.meters():
            self.meter(f"m{m}")
        return self.found

    def zone(self, z: str, raised: list[int]) -> None:
        heat = self.series(z, "temperature")
        hot = self.episodes(heat.ffill(limit=4) > 230)  # 1: the latest of 5 minutes
        raised += [b for b, _ in hot]
        for b, x in self.lasting(hot, 10):
            self.tell("Overheated", b, b + 10, z)
            if x is not None:
                self.tell("Cleared", x, x, z)
            self.nag(z, b, x)
        readings = heat.rolling(15, min_periods=1).count()  # 3
        for b, _ in self.episodes((readings == 0) & (self.minutes >= 15)):
            self.tell("Missing", *((b, b) if heat.notna().any() else (None, None)), z)
        for b, _ in self.episodes(self.stuck(heat)):  # 4
            self.tell("Frozen", b, b, z)
        co2 = self.series(z, "co2")  # 5
        often, total = (co2.rolling(10, min_periods=1).agg(how) for how in ("count", "sum"))
        for b, x in self.episodes((often >= 3) & (total > 1000 * often)):
            if x is not None:
                self.tell("BadAir", b, x, z)
        is_open = self.switched(self.times(z, "open"), self.times(z, "shut"), limit=DAY)  # 6
        for b, _ in self.episodes(self.falling(heat.where(is_open))):
            self.tell("HeatLost", b, b, z)
        occupied = self.switched(self.times(z, "motion"), self.times(z, "empty"), timeout=30)  # 8
        for b, _ in self.episodes(occupied):
            local = (BEGIN + timedelta(minutes=b)).astimezone(ZoneInfo("Europe/Rome"))
            if local.hour >= 20 or local.hour < 6:
                self.tell("AfterHours", b, b, z)
        parent = f"a{int(z[1:]) % len(self.building.handlers())}"  # 10
        stopped = self.switched(self.times(parent, "off"), self.times(parent, "on"), limit=DAY)
        for at, flow in self.building.numbers.get((f"v{z[1:]}", "flow"), {}).items():
            if flow < 5 and not stopped[at]:
                self.tell("BoxFault", at, at, f"v{z[1:]}")

    def nag(self, z: str, b: int, x: int | None) -> None:
        """9: every 5 minutes until it is acknowledged or cleared, at most 24 times."""
        stops = [*self.times(z, "acknowledged"), *([] if x is None else [x])]
        for n in range(1, 25):
            due = b + 10 + 5 * n
            if due > self.last or any(b + 10 <= stop < due for stop in stops):
                break
            self.tell("Nag", b, due, z)

    def stuck(self, heat: pd.Series) -> pd.Series:
        """The same value for an hour, ten times or more, with readings for the whole of it."""
        hour = heat.rolling(60, min_periods=1)
        there = hour.count() > 0
        since = pd.Series(self.minutes).where(there & ~there.shift(fill_value=False)).ffill()
        full = there & (pd.Series(self.minutes) - since >= 60)
        return full & (hour.count() >= 10) & (hour.max() == hour.min())

    def falling(self, heat: pd.Series) -> pd.Series:
        """More than 0.2 degrees a minute between the first and the last reading of ten minutes."""
        at = pd.Series(self.minutes, dtype="float64").where(heat.notna())
        last, end = heat.ffill(limit=9), at.ffill(limit=9)
        first, start = heat.bfill().shift(9), at.bfill().shift(9)  # the first one from t - 9 on
        first.iloc[:9], start.iloc[:9] = heat.bfill().iloc[0], at.bfill().iloc[0]
        return (end > start) & (last - first < -2 * (end - start))

    def handler(self, number: int) -> None:
        a = f"a{number}"
        heating, cooling = (self.series(a, name).ffill(limit=4) for name in ("heating", "cooling"))  # 2
        for b, x in self.episodes((heating > 5) & (cooling > 5)):
            if x is not None:
                self.tell("Fighting", b, x, a)
        starts = pd.Series(1.0, index=self.times(a, "on")).reindex(self.minutes)  # 7
        for b, x in self.episodes(starts.rolling(60, min_periods=1).count() > 3):
            if x is not None:
                self.tell("ShortCycles", b, x, a)

    def meter(self, m: str) -> None:
        """12: far from the mean of the same hour of the last seven days."""
        energy = self.series(m, "energy")
        for hour in range(24):
            mine = energy.where((8 + self.minutes // 60) % 24 == hour)
            if not mine.notna().any():
                continue
            often, total = (mine.rolling(7 * DAY, min_periods=1).agg(how) for how in ("count", "sum"))
            odd = (often >= 3) & ((mine.ffill() * often - total).abs() > 10 * often)
            for b, _ in self.episodes(odd):
                self.tell("Unusual", b, b, m, str(hour))


# --- obep -------------------------------------------------------------------------------------------------


def answers(building: Building) -> tuple[Counter[Told], int]:
    """What obep reports, and how many messages it took."""
    import obep
    from obep.model import SECOND, Item

    first = int(BEGIN.timestamp())
    with TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "static.ttl").write_text(building.static(), "utf-8")
        for file in ("query.obep", "ontology.ttl"):
            (folder / file).write_text((FOLDER / file).read_text("utf-8"), "utf-8")
        query = obep.load(folder / "query.obep", java=False)
    found: Counter[Told] = Counter()
    taken = 0
    with query.engine(remember=0) as engine:
        for minute, subject, said in building.messages():
            triples = tuple(sorted((f"<{BASE}{subject}>", f"<{BASE}{name}>", term) for name, term in said))
            item = Item("points", (first + 60 * minute) * SECOND, triples)
            found.update(_told(hit, first) for hit in engine.push_items([item]))
            taken += 1
        found.update(_told(hit, first) for hit in engine.close())
    return found, taken


def _told(hit, first: int) -> Told:  # type: ignore[no-untyped-def]
    (row,) = hit.bindings
    values = tuple(_short(row[name]) for name in sorted(row, key=lambda name: name == "h"))
    start, end = ((at - first * 1_000_000) / 60_000_000 for at in (hit.start, hit.end))
    event = hit.event[1:-1].removeprefix(BASE)
    if start != int(start):
        return (event, None, None, values)
    return (event, int(start), int(end), values)


def _short(term: str) -> str:
    return term.split('"')[1] if term.startswith('"') else term[1:-1].removeprefix(BASE)


def compare(days: int, zones: int, seed: int = 14) -> tuple[Building, Counter[Told], Counter[Told], int]:
    """The building, what pandas expects, what obep finds, and the number of messages."""
    building = Building(days, zones, Random(seed))
    building.draw()
    last = max(minute for minute, _, _ in building.messages())
    found, taken = answers(building)
    return building, Expected(building, last).all(), found, taken


def main(days: int, zones: int, seed: int = 14) -> int:
    began = time.process_time()
    building, expected, found, taken = compare(days, zones, seed)
    spent = time.process_time() - began
    print(f"{building.points()} points, {days} days, {taken} messages, {spent:.0f} s of CPU")
    for event in sorted({told[0] for told in expected | found}):
        ours, theirs = (sum(n for told, n in some.items() if told[0] == event) for some in (expected, found))
        print(f"{event:12} {ours:7} expected {theirs:7} found")
    for what, some in (("missing", expected - found), ("too many", found - expected)):
        print(f"{what}: {some.total()} {sorted(map(str, some))[:5]}")
    return int(expected != found)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
