"""Back-pressure: what is raised while too much waits for the engine."""

from __future__ import annotations


class Busy(Exception):
    """The queue is full; the same may be sent again later."""
