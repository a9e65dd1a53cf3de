"""A load on `obep serve`: small items over a WebSocket; how many a second, and how long answers take.

python bench/service_load.py --rate 20000 --seconds 60 --watchers 100 --slow 5

Watchers read in a process of their own. A slow one reads nothing; the service must drop it.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from urllib.request import urlopen

from websockets.asyncio.client import ClientConnection, connect

QUERY = """PREFIX : <http://e/>
FROM STREAM <points>
EVENT Hot AS (hot value true)
RETURN Hot
"""


def frame(first: int, size: int, every: int) -> str:
    """Items of one frame, of the same second; one of `every` is found."""
    second = first // 20_000
    lines = []
    for n in range(first, first + size):
        truth = "true" if n % every == 0 else "false"
        lines.append(f'{{"time": {second}, "graph": "<http://e/p{n}> <http://e/hot> {truth} ."}}\n')
    return "".join(lines)


async def send(
    socket: ClientConnection, rate: float, seconds: float, size: int, every: int, sent: dict[int, float]
) -> None:
    """Frames at the moments at which they are due, late or not."""
    begun = time.perf_counter()
    for number in range(int(rate * seconds / size)):
        due = begun + number * size / rate
        await asyncio.sleep(max(0.0, due - time.perf_counter()))
        sent[number] = due  # waiting for the window counts, too
        await socket.send(frame(number * size, size, every))


async def measure(url: str, rate: float, seconds: float, size: int, every: int) -> dict[str, float]:
    """Items a second and percentiles of the time from when a frame was due to its answer."""
    sent: dict[int, float] = {}
    took: list[float] = []
    total = int(rate * seconds / size)
    async with connect(f"{url}/streams/points", max_queue=None) as socket:
        begun = time.perf_counter()
        sender = asyncio.ensure_future(send(socket, rate, seconds, size, every, sent))
        while len(took) < total:
            answer = json.loads(await socket.recv())
            assert answer["status"] == 200, answer
            took.append(time.perf_counter() - sent[answer["frame"]])
        await sender
        passed = time.perf_counter() - begun
    took.sort()
    return {
        "items": total * size,
        "items_per_second": round(total * size / passed),
        "p50_ms": round(took[len(took) // 2] * 1000, 1),
        "p99_ms": round(took[int(len(took) * 0.99)] * 1000, 1),
        "most_ms": round(took[-1] * 1000, 1),
    }


async def read_all(url: str, watchers: int, slow: int) -> None:
    """Watch until the service ends; write down how many records each has got."""
    sockets = [await connect(f"{url}/watch", max_queue=16) for _ in range(watchers + slow)]
    print("watching", flush=True)
    counts = [0] * watchers

    async def read(number: int) -> None:
        async for _ in sockets[number]:
            counts[number] += 1

    await asyncio.gather(*map(read, range(watchers)), return_exceptions=True)
    print(json.dumps({"least": min(counts, default=0), "most": max(counts, default=0)}))


def watch(url: str, watchers: int, slow: int) -> subprocess.Popen[str]:
    """Begin to watch in another process."""
    numbers = ["--watch", url, "--watchers", str(watchers), "--slow", str(slow)]
    other = subprocess.Popen([sys.executable, __file__, *numbers], stdout=subprocess.PIPE, text=True)
    assert other.stdout is not None
    other.stdout.readline()
    return other


def watched(url: str, other: subprocess.Popen[str], expected: int, service: subprocess.Popen[str]) -> str:
    """End the service: how many watchers it has dropped, and how much the others have got."""
    page = urlopen(f"{url.replace('ws', 'http', 1)}/metrics").read().decode()
    dropped = next(line for line in page.splitlines() if line.startswith("obep_dropped_watchers_total"))
    service.terminate()
    got = json.loads(other.communicate()[0])
    return json.dumps({"dropped": int(dropped.split()[1]), "expected": expected, **got})


def processor_time(process: int) -> float:
    """Seconds of processor time that a process has taken, all its threads together."""
    fields = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rate", type=float, default=20_000, help="items a second")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--frame", type=int, default=200, help="items of a frame")
    parser.add_argument("--every", type=int, default=100, help="one item of so many is found")
    parser.add_argument("--watchers", type=int, default=0)
    parser.add_argument("--slow", type=int, default=0, help="watchers that read nothing")
    parser.add_argument("--watch", default="", help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.watch:
        asyncio.run(read_all(given.watch, given.watchers, given.slow))
        return
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "query.obep").write_text(QUERY)
        command = [sys.executable, "-m", "obep", "serve", folder, "--port", "0"]
        service = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
        assert service.stderr is not None
        try:
            said = service.stderr.readline()
            url = said.split(" on ")[1].strip().replace("http", "ws", 1)
            other = watch(url, given.watchers, given.slow) if given.watchers + given.slow else None
            before = processor_time(service.pid)
            found = asyncio.run(measure(url, given.rate, given.seconds, given.frame, given.every))
            spent = processor_time(service.pid) - before
            print(json.dumps({**found, "cpu_us_per_item": round(spent / found["items"] * 1e6, 1)}))
            if other is not None:
                print(watched(url, other, int(found["items"]) // given.every, service))
        finally:
            service.terminate()
            service.wait()


if __name__ == "__main__":
    main()
