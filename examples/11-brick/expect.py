"""Make `expected.jsonl` from the model, its changes and the telemetry, without obep.

The rules are worked out by the program of examples/08-building-states; what is read differs. A reading counts
from the minute on in which the model knows its timeseries id.
"""

import importlib.util
import json
import re
from datetime import UTC, datetime, timedelta
from fractions import Fraction
from pathlib import Path

HERE = Path(__file__).parent
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
RULES = HERE.parent / "08-building-states" / "expect.py"
POINT = r':(\S+) a brick:(\w+) ;.*?hasTimeseriesId "(\S+)"'
HOLDER = r":(\w+) brick:hasPoint :(\S+) \."


def minute_of(time: str) -> int:
    return (datetime.fromisoformat(time) - BEGIN) // timedelta(minutes=1)


model = (HERE / "building.ttl").read_text("utf-8")
measures = dict(re.findall(r"brick:(\w+) :measures :(\w+)", (HERE / "words.ttl").read_text("utf-8")))
changes = [json.loads(line) for line in (HERE / "model.jsonl").read_text("utf-8").splitlines()]
points: dict[str, tuple[int, str, str]] = {}
for since, text in [(0, model), *((minute_of(one["time"]), one["insert"]) for one in changes)]:
    holder = {point: thing for thing, point in re.findall(HOLDER, text)}
    for point, kind, id in re.findall(POINT, text):
        points[id] = since, holder[point], measures[kind]

numbers: dict[tuple[str, str], list[tuple[int, Fraction]]] = {}
words: dict[tuple[str, str], list[int]] = {}
for line in (HERE / "telemetry.jsonl").read_text("utf-8").splitlines():
    record = json.loads(line, parse_float=Fraction)
    minute = minute_of(record["ts"])
    for reading in record["readings"]:
        since, subject, name = points[reading["id"]]
        if minute < since:
            continue  # a dead letter: the model does not know the id yet
        if isinstance(reading["v"], str):
            words.setdefault((subject, reading["v"]), []).append(minute)
        else:
            numbers.setdefault((subject, name), []).append((minute, Fraction(reading["v"])))

spec = importlib.util.spec_from_file_location("rules", RULES)
rules = importlib.util.module_from_spec(spec)
spec.loader.exec_module(rules)
floor = dict(re.findall(r"^:(z\d) .*brick:isPartOf :(f\d)", model, re.M))
fed_by = {box: ahu for ahu, box in re.findall(r"^:(ahu\d) brick:feeds :(vav\d)", model, re.M)}
expected = rules.expectations(BEGIN, numbers, words, floor, fed_by, "meter")
(HERE / "expected.jsonl").write_text("".join(json.dumps(line) + "\n" for line in expected), "utf-8")
