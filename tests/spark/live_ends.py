"""The other ends of live runs: a server of lines, a client of a broker, a hand at Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from queue import Queue
from threading import Event, Thread

from brokers import MqttBroker


@contextmanager
def tcp_server(payloads: Sequence[bytes]) -> Iterator[int]:
    """Sends one payload to each client in turn, and keeps the connections."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        clients: list[socket.socket] = []

        def serve() -> None:
            for payload in payloads:
                try:
                    client, _ = server.accept()
                except OSError:
                    return
                clients.append(client)
                client.sendall(payload)

        Thread(target=serve, daemon=True).start()
        yield server.getsockname()[1]
        for client in clients:
            client.close()


@contextmanager
def subscribed(
    broker: MqttBroker, topic: str, username: str = "", password: str = ""
) -> Iterator[Callable[[int], list[bytes]]]:
    """Hears a topic; what is given waits for so many messages."""
    heard: Queue[bytes] = Queue()
    ready = Event()
    client = broker.client(username, password)
    client.on_message = lambda client, userdata, message: heard.put(message.payload)
    client.on_subscribe = lambda *rest: ready.set()
    client.connect(broker.host, broker.port)
    client.subscribe(topic, 1)
    client.loop_start()
    assert ready.wait(20)
    yield lambda count: [heard.get(timeout=60) for _ in range(count)]
    client.disconnect()
    client.loop_stop()


@contextmanager
def interrupting(when: Callable[[], bool]) -> Iterator[None]:
    """Presses Ctrl-C, as it were, as soon as something holds."""
    done = Event()

    def watch() -> None:
        while not when():
            if done.wait(0.05):
                return
        os.kill(os.getpid(), signal.SIGINT)

    thread = Thread(target=watch, daemon=True)
    thread.start()
    yield
    done.set()
    thread.join(60)
