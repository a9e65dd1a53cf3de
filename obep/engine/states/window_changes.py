"""What has changed in a window since a group last looked at it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Followed(Generic[T]):
    """Triples or rows that came into a window or left it since a group last looked.

    What left at its last instant is apart.
    """

    def __init__(self, with_k: bool, stop: Callable[[Followed[T]], None]) -> None:
        """`with_k`: of the window with K (`ON <w>`), else of what it says and adds to K (`WINDOW <w>`)."""
        self.with_k, self._stop = with_k, stop
        self.entered: list[tuple[T, bool]] = []
        self.left: list[tuple[T, bool]] = []
        self.at = 0
        """When `left` left."""

    def stop(self) -> None:
        """Nobody looks any more."""
        self._stop(self)

    def take(self, changes: list[tuple[T, bool]], at: int, leaving: bool) -> None:
        if self.left and not (leaving and at == self.at):
            self.entered += self.left
            self.left = []
        if leaving:
            self.left += changes
            self.at = at
        else:
            self.entered += changes

    def looked(self, at: int) -> tuple[list[tuple[T, bool]], list[tuple[T, bool]]]:
        """What has changed, and what has left at this instant, each since the last look."""
        if self.left and self.at != at:
            self.take([], at, leaving=False)
        found = self.entered, self.left
        self.entered, self.left = [], []
        return found
