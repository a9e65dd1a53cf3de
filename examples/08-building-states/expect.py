"""Make `expected.jsonl` from `stream.jsonl` without obep: each rule is looked at anew at every minute.

All messages come at whole minutes and all durations are whole minutes, so nothing changes in between.
examples/11-brick reads another building and calls `expectations`, too: its rules are the same.
"""

import json
import re
from collections.abc import Callable, Iterable
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path
from zoneinfo import ZoneInfo

HERE = Path(__file__).parent
XSD = "http://www.w3.org/2001/XMLSchema#"
Row = tuple[int, Fraction]
Spell = tuple[int, int | None]


def expectations(
    begin: datetime,
    numbers: dict[tuple[str, str], list[Row]],
    words: dict[tuple[str, str], list[int]],
    floor: dict[str, str],
    fed_by: dict[str, str],
    meter: str,
) -> list[dict[str, object]]:
    """The lines of `expected.jsonl`.

    `numbers` and `words` are what things say, by the minute since `begin`; `floor` is that of each zone,
    `fed_by` the air handler of each box.
    """
    last = max(row[0] for rows in numbers.values() for row in rows)
    last = max(last, *(max(times) for times in words.values()))
    minutes = range(last + 1)

    def rows(key: str, name: str, t: int, length: int) -> list[Row]:
        return [row for row in numbers.get((key, name), []) if t - length < row[0] <= t]

    def latest(key: str, name: str, t: int) -> Fraction:
        found = rows(key, name, t, 5)
        return found[-1][1] if found else Fraction(-1)

    def times(key: str, word: str) -> list[int]:
        return words.get((key, word), [])

    def episodes(holds: Callable[[int], bool]) -> list[Spell]:
        found, since = [], None
        for t in minutes:
            if holds(t) and since is None:
                since = t
            elif since is not None and not holds(t):
                found.append((since, t))
                since = None
        return found if since is None else [*found, (since, None)]

    def switched(
        ons: list[int], offs: list[int], timeout: int = 10**9, limit: int = 10**9
    ) -> Callable[[int], bool]:
        held, since, wound = set(), None, 0
        for t in minutes:
            if since is not None and (t in offs or t >= wound + timeout or t >= since + limit):
                since = None
            if t in ons:
                since, wound = (t if since is None else since), t
            if since is not None:
                held.add(t)
        return held.__contains__

    expected: list[dict[str, object]] = []

    def expect(event: str, start: int | None, end: int | None, **values: str) -> None:
        line: dict[str, object] = {"event": event}
        if start is not None and end is not None:
            line |= {
                key: f"{begin + timedelta(minutes=t):%Y-%m-%dT%H:%M:%SZ}"
                for key, t in (("start", start), ("end", end))
            }
        bound = {
            key: f"<http://example.org/building#{value}>" if key != "h" else f'"{value}"^^<{XSD}integer>'
            for key, value in values.items()
        }
        expected.append(line | {"bindings": [bound]})

    def full(key: str, name: str, t: int, length: int) -> bool:
        """Whether the rows up to t reach back to t - length, with no gap longer than length."""
        back = t
        for when, _ in reversed([row for row in numbers.get((key, name), []) if row[0] <= t]):
            if back - when > length:
                break
            back = when
        return back <= t - length

    def falling(key: str, t: int, is_open: Callable[[int], bool]) -> bool:
        found = [row for row in rows(key, "temperature", t, 10) if is_open(row[0])]
        if len(found) < 2:
            return False
        return (found[-1][1] - found[0][1]) / (found[-1][0] - found[0][0]) < Fraction(-2, 10)

    def lasting(spells: Iterable[Spell], length: int) -> list[Spell]:
        return [(b, x) for b, x in spells if b + length <= (last if x is None else x)]

    raised: dict[str, list[int]] = {f: [] for f in sorted({*floor.values()})}
    for z in floor:
        hot = episodes(lambda t, z=z: latest(z, "temperature", t) > 23)  # 1, 9, 11
        raised[floor[z]] += [b for b, _ in hot]
        for b, x in lasting(hot, 10):
            expect("Overheated", b, b + 10, z=z)
            if x is not None:
                expect("Cleared", x, x, z=z)
            stops = [*times(z, "acknowledged"), *([] if x is None else [x])]
            for n in range(1, 25):
                due = b + 10 + 5 * n
                if due > last or any(b + 10 <= stop < due for stop in stops):
                    break
                expect("Nag", b, due, z=z)
        for b, _ in episodes(lambda t, z=z: t >= 15 and not rows(z, "temperature", t, 15)):  # 3
            spoke = any(at <= b for at, _ in numbers.get((z, "temperature"), []))
            expect("Missing", *((b, b) if spoke else (None, None)), z=z)

        def stuck(t: int, z: str = z) -> bool:  # 4
            values = [value for _, value in rows(z, "temperature", t, 60)]
            return len(values) >= 10 and len({*values}) == 1 and full(z, "temperature", t, 60)

        for b, _ in episodes(stuck):
            expect("Frozen", b, b, z=z)

        def stuffy(t: int, z: str = z) -> bool:  # 5
            values = [value for _, value in rows(z, "co2", t, 10)]
            return len(values) >= 3 and sum(values) / len(values) > 1000

        for b, x in episodes(stuffy):
            if x is not None:
                expect("BadAir", b, x, z=z)
        is_open = switched(times(z, "open"), times(z, "shut"), limit=1440)  # 6
        for b, _ in episodes(lambda t, z=z, o=is_open: falling(z, t, o)):
            expect("HeatLost", b, b, z=z)
        occupied = switched(times(z, "motion"), times(z, "empty"), timeout=30)  # 8
        for b, _ in episodes(occupied):
            local = (begin + timedelta(minutes=b)).astimezone(ZoneInfo("Europe/Rome"))
            if local.hour >= 20 or local.hour < 6:
                expect("AfterHours", b, b, z=z)

    for a in sorted({*fed_by.values()}):
        fighting = episodes(lambda t, a=a: latest(a, "heating", t) > 5 and latest(a, "cooling", t) > 5)  # 2
        for b, x in fighting:
            if x is not None:
                expect("Fighting", b, x, a=a)
        starts = times(a, "on")
        for b, x in episodes(lambda t, starts=starts: sum(t - 60 < at <= t for at in starts) > 3):  # 7
            if x is not None:
                expect("ShortCycles", b, x, a=a)
        stopped = switched(times(a, "off"), times(a, "on"), limit=1440)  # 10
        for v in (box for box, fed in fed_by.items() if fed == a):
            for at, flow in numbers.get((v, "flow"), []):
                if flow < 5 and not stopped(at):
                    expect("BoxFault", at, at, v=v)
    for f, begun in raised.items():  # 11
        for b, _ in episodes(lambda t, begun=begun: sum(t - 60 < at <= t for at in begun) >= 3):
            expect("ManyAlarms", b, b, f=f)

    def odd(t: int, hour: int) -> bool:  # 12
        read = [row for row in rows(meter, "energy", t, 7 * 1440) if (begin.hour + row[0] // 60) % 24 == hour]
        values = [value for _, value in read]
        return len(values) >= 3 and abs(values[-1] - sum(values) / len(values)) > 10

    for hour in range(24):
        for b, _ in episodes(lambda t, hour=hour: odd(t, hour)):
            expect("Unusual", b, b, m=meter, h=str(hour))
    return expected


def main() -> None:
    begin = datetime(2026, 3, 2, 8, tzinfo=UTC)
    numbers: dict[tuple[str, str], list[Row]] = {}
    words: dict[tuple[str, str], list[int]] = {}
    for line in (HERE / "stream.jsonl").read_text("utf-8").splitlines():
        record = json.loads(line)
        minute = (datetime.fromisoformat(record["time"]) - begin) // timedelta(minutes=1)
        said = record["graph"].split(" . ", 1)[1]
        subject = re.match(r":(\w+)", said)[1]
        for name, number, word in re.findall(r':(\w+) (?:([\d.]+)|"(\w+)") [;.]', said):
            if word:
                words.setdefault((subject, word), []).append(minute)
            else:
                numbers.setdefault((subject, name), []).append((minute, Fraction(number)))
    floor = {"z1": "f1", "z2": "f1", "z3": "f2", "z4": "f2"}
    expected = expectations(begin, numbers, words, floor, {"v1": "a1"}, "m1")
    (HERE / "expected.jsonl").write_text("".join(json.dumps(line) + "\n" for line in expected), "utf-8")


if __name__ == "__main__":
    main()
