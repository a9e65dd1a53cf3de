"""The building over MQTT: an app that embeds the engine.

    python live.py [host] [port]

It subscribes to building/temperature, building/smoke and building/occupancy, makes an item of each device's
own JSON, and prints what the query finds and why. Ctrl-C ends it. Needs paho-mqtt (pip install 'obep[mqtt]').
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import paho.mqtt.client as mqtt

import obep
from obep.config import load_config

HERE = Path(__file__).parent
TEMPLATE = """
@prefix : <http://example.org/building#> . @prefix sosa: <http://www.w3.org/ns/sosa/> .
[] sosa:madeBySensor :sensor-%s ; sosa:observedProperty :%s ; sosa:hasSimpleResult %r .
"""


def item(topic: str, record: dict[str, Any]) -> tuple[str, str | float, str]:
    """Graph, instant and stream of a message."""
    stream = topic.rsplit("/", 1)[-1]
    if stream == "temperature":
        celsius = float(record["temp"]) if record["unit"] == "degC" else (float(record["temp"]) - 32) / 1.8
        return TEMPLATE % (name_of(record["device"]), "temperature", celsius), record["ts"] / 1000, stream
    if stream == "smoke":
        return (
            TEMPLATE % (name_of(record["id"]), "smoke", float(record["obscuration"])),
            record["when"],
            stream,
        )
    return TEMPLATE % (name_of(record["sensor"]), "people", int(record["count"])), record["at"], stream


def name_of(text: object) -> str:
    """Only letters and digits of what a device calls itself: nothing else may get into the graph."""
    return "".join(c for c in str(text) if c.isalnum())


def main(host: str = "localhost", port: str = "1883") -> None:
    """Run until Ctrl-C."""
    query = obep.load(HERE / "query.obep", catalogue=load_config(None, HERE).catalogue)
    engine = query.engine(lateness="5 s", idle="30 s", on_dead_letter=lambda one: print(one, file=sys.stderr))

    def on_message(client: mqtt.Client, userdata: object, message: mqtt.MQTTMessage) -> None:
        try:
            graph, at, stream = item(message.topic, json.loads(message.payload))
            for hit in engine.push(graph, at=at, stream=stream):
                print(hit.event, hit.bindings, hit.why(), sep="\n", flush=True)
        except (ValueError, KeyError, TypeError, obep.ObepError) as problem:
            print(f"{message.topic}: not understood: {problem}", file=sys.stderr)

    client = mqtt.Client(mqtt.CallbackAPIVersion.VERSION2)
    client.on_connect = lambda client, *rest: client.subscribe("building/#", qos=1)
    client.on_message = on_message
    client.connect(host, int(port))
    client.loop_forever()


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    except KeyboardInterrupt:
        print("stopped", file=sys.stderr)
