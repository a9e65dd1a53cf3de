"""Make `stream.jsonl`: four zones, an air handler and a meter. Usage: make_stream.py [MINUTES] [SEED]

Temperatures and CO2 come for MINUTES (default 180) from Monday 08:00 UTC on; the meter is read at three
hours a day for five days.
"""

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

MINUTES = int(sys.argv[1]) if len(sys.argv) > 1 else 180
draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 14)
BEGIN = datetime(2026, 3, 2, 8, tzinfo=UTC)
said: list[tuple[int, str]] = []


def say(minute: int, triples: str) -> None:
    said.append((minute, triples))


for zone in (1, 2):
    heat = 23.0
    for minute in range(0, MINUTES, 3):
        heat = min(25.0, max(21.5, heat + draw.uniform(-0.9, 0.9)))
        say(minute, f":z{zone} :temperature {heat:.1f} .")
for minute in range(0, MINUTES, 4):
    say(minute, f":z3 :temperature {20.5 if minute > 60 else 20 + minute % 3} .")
for minute in range(0, MINUTES, 4):
    say(minute, f":z1 :co2 {draw.randint(850, 1150)} .")
for minute in range(0, MINUTES, 7):
    say(minute, f":a1 :heating {draw.randint(0, 20)} ; :cooling {draw.randint(0, 12)} .")
    say(minute + 1, f":v1 :flow {draw.randint(0, 12)} .")
for minute in range(5, MINUTES, 11):
    say(minute, f':a1 :status "{draw.choice(["on", "off"])}" .')
for minute in range(2, MINUTES, 29):
    say(minute, f':z{draw.randint(1, 2)} :status "{draw.choice(["open", "open", "shut"])}" .')
for minute in range(20, MINUTES, 37):
    say(minute, f':z{draw.randint(1, 2)} :status "acknowledged" .')
for minute in range(10, 5 * 1440, 317):
    say(minute, f':z{draw.randint(1, 3)} :status "motion" .')
for day in range(5):
    for hour in (1, 2, 3):
        say(day * 1440 + hour * 60, f":m1 :energy {draw.randint(40, 75)} .")

lines = [
    json.dumps(
        {
            "stream": "points",
            "time": f"{BEGIN + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}",
            "graph": f"@prefix : <http://example.org/building#> . {triples}",
        }
    )
    for minute, triples in sorted(said)
]
Path(__file__).with_name("stream.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
