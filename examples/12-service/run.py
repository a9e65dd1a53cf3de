"""A broker, the service, 300 simulated points and the page, until Ctrl-C. Nothing outside of this machine."""

from __future__ import annotations

import asyncio
import json
import math
import os
import random
import shutil
import signal
import socket
import subprocess
import sys
import time
from datetime import UTC, datetime
from pathlib import Path

import paho.mqtt.client as mqtt

HERE = Path(__file__).parent
POINTS = 300


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return int(one.getsockname()[1])


def start_broker(port: int) -> subprocess.Popen[bytes]:
    """Mosquitto, or the broker written in Python that `pip install amqtt` brings."""
    mosquitto = shutil.which("mosquitto") or shutil.which("mosquitto", path="/usr/sbin")
    if mosquitto:
        return subprocess.Popen([mosquitto, "-p", str(port)], stderr=subprocess.DEVNULL)
    return subprocess.Popen([sys.executable, __file__, "--broker", str(port)], stderr=subprocess.DEVNULL)


async def run_broker(port: int) -> None:
    from amqtt.broker import Broker

    listeners = {"default": {"type": "tcp", "bind": f"127.0.0.1:{port}"}}
    await Broker({"listeners": listeners, "auth": {"allow-anonymous": True}}).start()
    await asyncio.Event().wait()


def temperature(point: int, now: float) -> float:
    """Rooms swing slowly; a few points jump now and then."""
    swing = 24 + 5 * math.sin(now / 40 + point / 5 // 1)
    return round(swing + (4 if random.random() < 0.01 else 0) + random.uniform(-0.2, 0.2), 1)


def simulate(port: int) -> None:
    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    for _ in range(100):  # until the broker is there
        try:
            client.connect("127.0.0.1", port)
            break
        except OSError:
            time.sleep(0.1)
    client.loop_start()
    while True:
        for point in range(1, POINTS + 1):
            now = time.time()
            at = datetime.fromtimestamp(now, UTC).isoformat(timespec="milliseconds")
            said = {"point": f"p{point}", "time": at, "value": temperature(point, now)}
            client.publish(f"plant/p{point}", json.dumps(said), qos=1)
            time.sleep(1 / POINTS)


def main() -> None:
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    port = free_port()
    broker = start_broker(port)
    command = [sys.executable, "-m", "obep", "studio", str(HERE), *sys.argv[1:]]
    studio = subprocess.Popen(command, env={**os.environ, "BROKER_PORT": str(port)})
    try:
        simulate(port)
    except KeyboardInterrupt:
        pass
    finally:
        for one in (studio, broker):
            one.terminate()
            one.wait()


if __name__ == "__main__":
    if sys.argv[1:2] == ["--broker"]:
        asyncio.run(run_broker(int(sys.argv[2])))
    else:
        main()
