"""The building over MQTT: an app that embeds the engine.

    python live.py [host] [port]

It subscribes to building/temperature, building/smoke and building/occupancy, reads each device's own JSON
with the mappings of obep.toml, and prints what the query finds and why. Ctrl-C ends it.
Needs pip install 'obep[mqtt]'.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import paho.mqtt.client as mqtt

import obep
from obep.config.toml_file import load_config
from obep.formats import read_items_of
from obep.streams.sources.open_sources import make_reading

HERE = Path(__file__).parent


def refused(letter: obep.DeadLetter) -> None:
    """What cannot be read, or comes too late, is said and not lost."""
    print(letter.code, letter.stream, letter.reason, file=sys.stderr, flush=True)


def main(host: str = "localhost", port: str = "1883") -> None:
    """Run until Ctrl-C."""
    config = load_config(None, HERE)
    readings = {name: make_reading(name, config.sources[name], config, live=True) for name in config.sources}
    query = obep.load(HERE / "query.obep", catalogue=config.catalogue)
    engine = query.engine(lateness="5 s", idle="30 s", on_dead_letter=refused)

    def report(hits: list[obep.Occurrence]) -> None:
        for hit in hits:
            print(hit.event, hit.why(), sep="\n", flush=True)

    def on_message(client: mqtt.Client, userdata: object, message: mqtt.MQTTMessage) -> None:
        if reading := readings.get(message.topic.rsplit("/", 1)[-1]):
            report(engine.push_items(read_items_of(message.payload, "json", reading)))

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.on_connect = lambda client, *rest: client.subscribe("building/#", qos=1)
    client.on_message = on_message
    client.connect(host, int(port))
    client.loop_start()  # in a thread of its own, which also connects again
    while True:
        time.sleep(1)
        report(engine.tick())  # time goes on when all are silent: that is when sensors are missed


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
