"""A matcher that never goes back: time grows with the text, whatever the pattern (Thompson's construction).

States of the automaton become sets of states while a text is read, and are remembered. Used where Python's
`re` could backtrack for too long; it answers whether there is a match, not where.
"""

from __future__ import annotations

from collections.abc import Iterable

from obep.query.xpath_regex_tree import (
    AnyCharacter,
    Branches,
    Characters,
    Edge,
    Group,
    Regex,
    Repeat,
    Sequence,
)

_MOST_REMEMBERED = 20_000
"""Transitions that are remembered before they are cleared."""


class Automaton:
    """Whether a text contains a match of a pattern."""

    def __init__(self, tree: Regex, flags: str = "") -> None:
        self._lines = "m" in flags
        self._any = "s" in flags
        self._folded = "i" in flags
        self._reads: list[tuple[Characters | AnyCharacter, int] | None] = []
        """For a state that reads a character: which, and the next state."""
        self._moves: list[list[tuple[str, int]]] = []
        """For each state where it goes without reading: always (""), at a beginning (^) or an end ($)."""
        self._accepts = self._state()
        self._start = self._build(tree, self._accepts)
        self._remembered: dict[frozenset[int], dict[str, frozenset[int] | None]] = {}
        self._count = 0

    def search(self, text: str) -> bool:
        """Whether some part of the text matches."""
        now: frozenset[int] | None = self._closure({self._start}, begins=True)
        for character in text:
            assert now is not None
            known = self._remembered.get(now)
            if known is None:
                known = self._remembered[now] = {}
            if character in known:
                now = known[character]
            else:
                now = self._remember(known, character, self._after(now, character))
            if now is None:
                return True
        assert now is not None
        return self._accepts in self._closure(
            now, begins=not text or (self._lines and text[-1] == "\n"), ends=True
        )

    def _remember(
        self, known: dict[str, frozenset[int] | None], character: str, after: frozenset[int] | None
    ) -> frozenset[int] | None:
        self._count += 1
        if self._count > _MOST_REMEMBERED:
            self._remembered.clear()
            self._count = 0
        known[character] = after
        return after

    def _after(self, now: frozenset[int], character: str) -> frozenset[int] | None:
        """The states after a character; `None` once there is a match."""
        if self._accepts in now:
            return None
        if self._lines and character == "\n":
            now = self._closure(now, begins=False, ends=True)
            if self._accepts in now:
                return None
        reached = {self._start}  # a match may begin anywhere
        for state in now:
            read = self._reads[state]
            if read is not None and self._matches(read[0], character):
                reached.add(read[1])
        after = self._closure(reached, begins=self._lines and character == "\n")
        return None if self._accepts in after else after

    def _matches(self, wanted: Characters | AnyCharacter, character: str) -> bool:
        if isinstance(wanted, AnyCharacter):
            return self._any or character != "\n"
        return wanted.holds(character, self._folded)

    def _closure(self, states: Iterable[int], begins: bool, ends: bool = False) -> frozenset[int]:
        reached = set(states)
        waiting = list(reached)
        while waiting:
            for condition, target in self._moves[waiting.pop()]:
                passes = not condition or (begins if condition == "^" else ends)
                if passes and target not in reached:
                    reached.add(target)
                    waiting.append(target)
        return frozenset(reached)

    def _state(self, reads: tuple[Characters | AnyCharacter, int] | None = None) -> int:
        self._reads.append(reads)
        self._moves.append([])
        return len(self._reads) - 1

    def _build(self, node: Regex, then: int) -> int:
        """The state from which `node` leads to `then`."""
        if isinstance(node, Characters | AnyCharacter):
            return self._state((node, then))
        if isinstance(node, Group):
            return self._build(node.part, then)
        if isinstance(node, Sequence):
            for part in reversed(node.parts):
                then = self._build(part, then)
            return then
        if isinstance(node, Repeat):
            return self._repeat(node, then)
        state = self._state()
        if isinstance(node, Branches):
            self._moves[state] = [("", self._build(branch, then)) for branch in node.branches]
        else:
            assert isinstance(node, Edge)
            self._moves[state] = [(node.which, then)]
        return state

    def _repeat(self, node: Repeat, then: int) -> int:
        if node.most is None:
            loop = self._state()
            self._moves[loop] = [("", then), ("", self._build(node.part, loop))]
            then = loop
        else:
            for _ in range(node.most - node.least):
                choice = self._state()
                self._moves[choice] = [("", then), ("", self._build(node.part, then))]
                then = choice
        for _ in range(node.least):
            then = self._build(node.part, then)
        return then
