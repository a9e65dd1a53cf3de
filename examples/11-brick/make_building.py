"""Make `building.ttl`, `model.jsonl`, `telemetry.jsonl`: a Brick model, its change, and a day of telemetry.

Usage: make_building.py [MINUTES] [SEED]. Six zones on two floors, each with a VAV box, two
air handlers, and a meter. The thermometer of the last zone is added at noon. Temperatures are multiples
of 0.3, so that no rate is exactly a threshold.
"""

import json
import random
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path

MINUTES = int(sys.argv[1]) if len(sys.argv) > 1 else 1440
draw = random.Random(int(sys.argv[2]) if len(sys.argv) > 2 else 11)
BEGIN = datetime(2026, 3, 2, tzinfo=UTC)
HERE = Path(__file__).parent
ZONES = range(1, 7)
NOON = 720
THERMOMETER = "Zone_Air_Temperature_Sensor"
PREFIXES = [
    "@prefix : <http://example.org/building#> .",
    "@prefix brick: <https://brickschema.org/schema/Brick#> .",
    "@prefix ref: <https://brickschema.org/schema/Brick/ref#> .",
]
model = [
    "# Made by make_building.py.",
    *PREFIXES,
    "",
    ":building a brick:Building .",
    ":f1 a brick:Floor . :f2 a brick:Floor .",
]
added: list[str] = []
ids: dict[tuple[str, str], str] = {}
said: dict[int, list[dict[str, object]]] = {}


def point(thing: str, kind: str) -> None:
    """A point of a thing, with the id of its timeseries."""
    id = ids[thing, kind] = f"ts-{draw.randrange(16**8):08x}"
    name = f":{thing}.{kind}".replace("_", "")
    to = added if (thing, kind) == (f"z{ZONES[-1]}", THERMOMETER) else model
    to.append(f":{thing} brick:hasPoint {name} .")
    to.append(
        f"{name} a brick:{kind} ; "
        f'ref:hasExternalReference [ a ref:TimeseriesReference ; ref:hasTimeseriesId "{id}" ] .'
    )


def say(minute: int, thing: str, kind: str, value: object) -> None:
    said.setdefault(minute, []).append({"id": ids[thing, kind], "v": value})


for ahu in ("ahu1", "ahu2"):
    model.append(f":{ahu} a brick:Air_Handling_Unit .")
    for kind in ("On_Off_Status", "Heating_Command", "Cooling_Command"):
        point(ahu, kind)
model.append(":meter a brick:Electrical_Meter .")
point("meter", "Electric_Energy_Sensor")
for n in ZONES:
    model.append(f":z{n} a brick:HVAC_Zone ; brick:isPartOf :f{1 + n // 4} ; :setpoint 21 .")
    model.append(f":vav{n} a brick:Variable_Air_Volume_Box ; brick:feeds :z{n} .")
    model.append(f":ahu{1 + n // 4} brick:feeds :vav{n} .")
    point(f"vav{n}", "Supply_Air_Flow_Sensor")
    for kind in (
        THERMOMETER,
        "Zone_CO2_Level_Sensor",
        "Occupancy_Sensor",
        "Open_Close_Status",
        "Reset_Command",
    ):
        point(f"z{n}", kind)

for n in ZONES[:-1]:
    heat = 22.0
    for minute in range(n % 4, MINUTES, 4):
        heat = min(23.6, max(20.4, heat + draw.uniform(-0.9, 0.9) - (heat - 21.6) / 8))
        if not (n == 2 and 600 <= minute < 660):  # an hour of silence
            say(
                minute,
                f"z{n}",
                THERMOMETER,
                22.5 if n == 5 and minute > 900 else round(round(heat / 0.3) * 0.3, 1),
            )
for n in (1, 4):
    for minute in range(0, MINUTES, 4):
        say(minute, f"z{n}", "Zone_CO2_Level_Sensor", draw.randint(820, 1070))
for n in (1, 2):
    for minute in range(n, MINUTES, 31):
        say(minute, f"ahu{n}", "Heating_Command", draw.randint(0, 14))
        say(minute, f"ahu{n}", "Cooling_Command", draw.randint(0, 14))
    for minute in range(5 * n, MINUTES, 17):
        say(minute, f"ahu{n}", "On_Off_Status", draw.choice(["on", "off"]))
for n in ZONES:
    for minute in range(3 * n, MINUTES, 97):
        say(minute, f"vav{n}", "Supply_Air_Flow_Sensor", draw.randint(0, 14))
    for minute in range(7 * n, MINUTES, 211):
        say(minute, f"z{n}", "Open_Close_Status", draw.choice(["open", "shut", "shut"]))
    for minute in range(11 * n, MINUTES, 307):
        say(minute, f"z{n}", "Occupancy_Sensor", draw.choice(["motion", "motion", "empty"]))
    for minute in range(13 * n, MINUTES, 401):
        say(minute, f"z{n}", "Reset_Command", "acknowledged")
for minute in range(0, MINUTES, 15):
    say(minute, "meter", "Electric_Energy_Sensor", draw.randint(40, 75))

for minute in range(NOON - 20, MINUTES, 4):  # it speaks before the model knows it
    say(minute, f"z{ZONES[-1]}", THERMOMETER, draw.choice([21.6, 22.2, 23.1, 23.4]))


def time_of(minute: int) -> str:
    return f"{BEGIN + timedelta(minutes=minute):%Y-%m-%dT%H:%M:%SZ}"


lines = [
    json.dumps(
        {
            "gateway": "g1",
            "ts": time_of(minute),
            "readings": readings,
        },
        separators=(",", ":"),
    )
    for minute, readings in sorted(said.items())
]
(HERE / "building.ttl").write_text("\n".join(model) + "\n", "utf-8")
change = {"time": time_of(NOON), "insert": "\n".join([*PREFIXES, *added])}
(HERE / "model.jsonl").write_text(json.dumps(change) + "\n", "utf-8")
(HERE / "telemetry.jsonl").write_text("\n".join(lines) + "\n", "utf-8")
