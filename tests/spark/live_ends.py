"""The other ends of live runs: a server of lines, a client of a broker, a hand at Ctrl-C."""

from __future__ import annotations

import os
import signal
import socket
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from queue import Queue
from threading import Event, Lock, Thread

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


class Line:
    """A line to a server that can be cut, and mended."""

    def __init__(self, server: socket.socket, port: int) -> None:
        self.port: int = server.getsockname()[1]
        self._server, self._to = server, port
        self._whole = True
        self._ends: list[socket.socket] = []
        self._lock = Lock()
        Thread(target=self._accept, daemon=True).start()

    def cut(self) -> None:
        """Both ends lose each other; who calls again is not let through."""
        with self._lock:
            self._whole = False
            ends, self._ends = self._ends, []
        for end in ends:
            with suppress(OSError):
                end.shutdown(socket.SHUT_RDWR)

    def mend(self) -> None:
        with self._lock:
            self._whole = True

    def _accept(self) -> None:
        while True:
            try:
                here, _ = self._server.accept()
            except OSError:
                return
            with self._lock:
                if not self._whole:
                    here.close()
                    continue
                there = socket.create_connection(("127.0.0.1", self._to))
                self._ends += [here, there]
            for one, other in ((here, there), (there, here)):
                Thread(target=_pass_on, args=(one, other), daemon=True).start()


def _pass_on(one: socket.socket, other: socket.socket) -> None:
    with suppress(OSError):
        while data := one.recv(65536):
            other.sendall(data)
    with suppress(OSError):
        other.shutdown(socket.SHUT_RDWR)


@contextmanager
def line_to(port: int) -> Iterator[Line]:
    """A line to a server of this machine."""
    with socket.create_server(("127.0.0.1", 0)) as server:
        line = Line(server, port)
        yield line
        line.cut()


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
    """Presses Ctrl-C, as it were, as soon as something holds, and once more while the run stops."""
    done = Event()

    def watch() -> None:
        while not when():
            if done.wait(0.05):
                return
        os.kill(os.getpid(), signal.SIGINT)
        if not done.wait(0.2):
            os.kill(os.getpid(), signal.SIGINT)

    before = signal.signal(signal.SIGINT, lambda *_: None)  # the second may come when the run has ended
    thread = Thread(target=watch, daemon=True)
    thread.start()
    try:
        yield
    finally:
        done.set()
        thread.join(60)
        signal.signal(signal.SIGINT, before)
