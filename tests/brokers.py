"""Real brokers on loopback for the tests: MQTT by amqtt, in a thread of this process, and by mosquitto where
it is installed.

from brokers import mqtt_broker
with mqtt_broker() as broker: ...     # broker.uri("topic"), broker.publish("topic", payload)
"""

from __future__ import annotations

import asyncio
import logging
import os
import shutil
import socket
import ssl
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from queue import Queue
from threading import Event, Thread
from typing import Any


@dataclass(frozen=True)
class MqttBroker:
    """Where a broker listens."""

    port: int
    host: str = "127.0.0.1"
    scheme: str = "mqtt"
    ca: Path | None = None
    """The certificate by which to know it, with TLS."""
    departed: Queue[str] | None = None
    """The clients that the broker knows to have gone, where it says so."""

    def uri(self, topic: str, userinfo: str = "") -> str:
        return f"{self.scheme}://{userinfo}{self.host}:{self.port}/{topic}"

    def client(self, username: str = "", password: str = "") -> Any:
        """A client of this broker, not connected yet."""
        import paho.mqtt.client as paho
        from paho.mqtt.enums import CallbackAPIVersion

        client = paho.Client(CallbackAPIVersion.VERSION2)
        if username:
            client.username_pw_set(username, password)
        if self.ca is not None:
            client.tls_set_context(ssl.create_default_context(cafile=str(self.ca)))
        return client

    def publish(
        self, topic: str, *payloads: bytes, username: str = "", password: str = "", retain: bool = False
    ) -> None:
        """Sends messages and returns when the broker has them all (QoS 1)."""
        client = self.client(username, password)
        client.connect(self.host, self.port)
        client.loop_start()
        for payload in payloads:
            client.publish(topic, payload, qos=1, retain=retain).wait_for_publish(10)
        client.disconnect()
        client.loop_stop()

    def wait_until_gone(self, client_id: str) -> None:
        """Returns when the broker knows that a client has gone, and keeps what comes for it.

        mosquitto has one thread: it has read the farewell before whatever somebody sends who comes later.
        """
        while self.departed is not None and self.departed.get(timeout=60) != client_id:
            pass


TABOO = "top-secret"


@contextmanager
def mqtt_broker(
    *, passwords: Path | None = None, certificate: Path | None = None, key: Path | None = None
) -> Iterator[MqttBroker]:
    """A broker that lives as long as the block; with a file of passwords nobody is anonymous."""
    from mqtt_departures import Departures

    port = free_port()
    listener: dict[str, Any] = {"type": "tcp", "bind": f"127.0.0.1:{port}"}
    if certificate is not None:
        listener |= {"ssl": True, "certfile": str(certificate), "keyfile": str(key)}
    plugins: dict[str, Any] = {
        "amqtt.plugins.authentication.AnonymousAuthPlugin": {"allow_anonymous": passwords is None},
        "mqtt_departures.Departures": {},
        "amqtt.plugins.topic_checking.TopicTabooPlugin": {},  # nobody but admin may have TABOO
    }
    if passwords is not None:
        plugins["amqtt.plugins.authentication.FileAuthPlugin"] = {"password_file": str(passwords)}
    config = {"listeners": {"default": listener}, "plugins": plugins}
    started, stop, failure = Event(), Event(), []
    departed = Departures.of = Queue[str]()

    async def serve() -> None:
        from amqtt.broker import Broker

        broker = Broker(config)
        try:
            await broker.start()
        except Exception as error:
            failure.append(error)
            return
        finally:
            started.set()
        await asyncio.get_running_loop().run_in_executor(None, stop.wait)
        await broker.shutdown()

    for name in ("amqtt", "transitions"):
        logging.getLogger(name).setLevel(logging.CRITICAL)
    thread = Thread(target=lambda: asyncio.run(serve()), name="amqtt", daemon=True)
    thread.start()
    assert started.wait(20), "the broker did not start"
    if failure:
        raise failure[0]
    try:
        yield MqttBroker(port, scheme="mqtts" if certificate else "mqtt", ca=certificate, departed=departed)
    finally:
        stop.set()
        thread.join(20)


PARTS = Path(sys.prefix) / "parts"
"""Where `make parts` unpacks mosquitto."""


class NoMosquitto(Exception):
    """It is not installed here."""


@contextmanager
def mosquitto_broker(
    folder: Path,
    *,
    user: tuple[str, str] | None = None,
    certificate: Path | None = None,
    key: Path | None = None,
) -> Iterator[MqttBroker]:
    """The same by mosquitto; with a user nobody is anonymous."""
    places = os.pathsep.join((os.environ.get("PATH", ""), f"{PARTS}/usr/sbin", f"{PARTS}/usr/bin"))
    server, passwords = (shutil.which(name, path=places) for name in ("mosquitto", "mosquitto_passwd"))
    if server is None or passwords is None:
        raise NoMosquitto("mosquitto is not installed (make parts)")
    libraries = ":".join(str(path) for path in PARTS.glob("**/lib/*-linux-*"))
    environment = {**os.environ, "LD_LIBRARY_PATH": libraries} if libraries else {**os.environ}
    port = free_port()
    settings = [f"listener {port} 127.0.0.1", f"allow_anonymous {'false' if user else 'true'}"]
    if os.geteuid() == 0:
        settings.append("user root")  # it would take another, who may not read the files here
    if user is not None:
        words = folder / "mosquitto.passwords"
        command = [passwords, "-b", "-c", str(words), *user]
        subprocess.run(command, check=True, capture_output=True, env=environment)
        settings.append(f"password_file {words}")
    if certificate is not None:
        settings += [f"certfile {certificate}", f"keyfile {key}"]
    (folder / "mosquitto.conf").write_text("\n".join(settings) + "\n")
    with (folder / "mosquitto.log").open("wb") as log:
        command = [server, "-c", str(folder / "mosquitto.conf")]
        broker = subprocess.Popen(command, stdout=log, stderr=log, env=environment)
    try:
        wait_until_open(port, broker)
        yield MqttBroker(port, scheme="mqtts" if certificate else "mqtt", ca=certificate)
    finally:
        broker.terminate()
        broker.wait(20)


def wait_until_open(port: int, server: subprocess.Popen[bytes]) -> None:
    """Returns when a server listens; one that ends, or takes a minute, is an error."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        if server.poll() is not None:
            raise RuntimeError(f"the server ended at once with {server.returncode}")
        with socket.socket() as probe:
            probe.settimeout(1)
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise RuntimeError("the server did not open its port in 60 s")


def passwords_for(folder: Path, username: str, password: str) -> Path:
    """A file of passwords with one user."""
    from pwdlib import PasswordHash
    from pwdlib.hashers.argon2 import Argon2Hasher

    path = folder / "passwords"
    path.write_text(f"{username}:{PasswordHash((Argon2Hasher(),)).hash(password)}\n")
    return path


def free_port() -> int:
    """A port that nobody listens on."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def self_signed(folder: Path) -> tuple[Path, Path]:
    """A certificate for this machine, by name and by address, and its key."""
    certificate, key = folder / "cert.pem", folder / "key.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1",
         "-keyout", str(key), "-out", str(certificate)],
        check=True, capture_output=True,
    )  # fmt: skip
    return certificate, key
