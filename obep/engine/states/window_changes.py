"""Passes the changes of a window to the groups that read it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Followed(Generic[T]):
    """Triples or rows that come into a window or leave it: a group is fed with them at once.

    What left at the last instant waits until the group looks, or until something else changes.
    """

    def __init__(
        self,
        with_k: bool,
        feed: Callable[[list[tuple[T, bool]]], None],
        stop: Callable[[Followed[T]], None],
    ) -> None:
        """`with_k`: of the window with K (`ON <w>`), else of what it says and adds to K (`WINDOW <w>`)."""
        self.with_k, self._feed, self._stop = with_k, feed, stop
        self.left: list[tuple[T, bool]] = []
        self.at = 0
        """When `left` left."""

    def stop(self) -> None:
        """Stop following."""
        self._stop(self)

    def take(self, changes: list[tuple[T, bool]], at: int, leaving: bool) -> None:
        if self.left and not (leaving and at == self.at):
            self._feed(self.left)
            self.left = []
        if leaving:
            self.left += changes
            self.at = at
        else:
            self._feed(changes)

    def looked(self, at: int) -> list[tuple[T, bool]]:
        """What has left at this instant since the last look; the group is fed with all else."""
        if self.left and self.at != at:
            self.take([], at, leaving=False)
        found, self.left = self.left, []
        return found
