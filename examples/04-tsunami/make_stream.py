"""Make `stream.jsonl`: three buoys in the tide for nine hours, and a wave that passes one of them.

Each hour a buoy sends the mean pressure of the hour (in mm of water), and 5.25 minutes later a reading. The
wave lifts the last but one reading of station D46403 by 45 mm.
"""

import json
import math
from pathlib import Path

STATIONS = {"D21414": 0.0, "D46403": 1.1, "D46404": 2.3}
PERIOD = 12.42  # hours of the tide
HEIGHT = 300.0  # mm
DEPTH = 4_000_000.0


def tide(hour: float, phase: float) -> float:
    return DEPTH + HEIGHT * math.sin(2 * math.pi * hour / PERIOD + phase)


def line(hour: float, triple: str) -> str:
    seconds = round(hour * 3600)
    time = f"2026-03-23T{seconds // 3600:02}:{seconds // 60 % 60:02}:{seconds % 60:02}Z"
    return json.dumps(
        {"stream": "buoys", "time": time, "graph": f"@prefix : <http://example.org/sea#> . {triple}"}
    )


lines = []
for hour in range(9):
    for station, phase in STATIONS.items():
        lines.append(line(hour, f":{station} :meanPressure {tide(hour, phase):.1f} ."))
    for station, phase in STATIONS.items():
        wave = 45.0 if (station, hour) == ("D46403", 7) else 0.0
        lines.append(
            line(hour + 5.25 / 60, f":{station} :pressure {tide(hour + 5.25 / 60, phase) + wave:.1f} .")
        )
Path(__file__).with_name("stream.jsonl").write_text("\n".join(lines) + "\n")
