"""Patterns as automata over classes of characters that all of them treat alike."""

from __future__ import annotations

import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from obep.query import xpath_regex_tree as rx

MOST_STATES = 4_000
_SURROGATES = (0xD800, 0xE000)
_END = sys.maxunicode + 1


class TooComplex(Exception):
    """A pattern with more states than are looked at."""


@dataclass(slots=True)
class Alphabet:
    """Classes of characters that all leaves of a pattern treat alike."""

    starts: list[int]
    classes: list[int]
    weights: list[int] = field(default_factory=list)
    examples: list[str] = field(default_factory=list)
    holds: list[dict[rx.Regex, bool]] = field(default_factory=list)

    def number(self, character: str) -> int:
        return self.classes[bisect_right(self.starts, ord(character)) - 1]


def alphabet_of(trees: Sequence[rx.Regex]) -> Alphabet:
    leaves = list(dict.fromkeys(leaf for tree in trees for leaf in _leaves(tree)))
    edges = {0, ord("a"), ord("a") + 1, *_SURROGATES}
    for leaf in leaves:
        edges.update(_changes(leaf))
    starts = sorted(edges - {_END})
    known: dict[tuple[bool, ...], int] = {}
    found = Alphabet(starts, [])
    for start, end in zip(starts, [*starts[1:], _END], strict=True):
        if start == _SURROGATES[0]:  # no characters
            found.classes.append(0)
            continue
        truth = tuple(bisect_right(_changes(leaf), start) % 2 == 1 for leaf in leaves)
        number = known.setdefault(truth, len(known))
        if number == len(found.weights):
            found.weights.append(0)
            found.examples.append(chr(start))
            found.holds.append(dict(zip(leaves, truth, strict=True)))
        found.weights[number] += end - start
        if start == ord("a"):
            found.examples[number] = "a"
        found.classes.append(number)
    return found


def _is(leaf: rx.Regex, character: str) -> bool:
    return leaf.holds(character) if isinstance(leaf, rx.Characters) else character not in "\n\r"


@lru_cache(maxsize=512)
def _changes(leaf: rx.Regex) -> tuple[int, ...]:
    """Where a set of characters begins, ends, begins again, …"""
    found: list[int] = []
    for edge in sorted(_edges(leaf) | {0}):
        if edge < _END and _is(leaf, chr(edge)) != bool(len(found) % 2):
            found.append(edge)
    return tuple(found)


def _leaves(node: rx.Regex) -> Iterator[rx.Regex]:
    match node:
        case rx.Characters() | rx.AnyCharacter():
            yield node
        case rx.Sequence(parts) | rx.Branches(parts):
            for part in parts:
                yield from _leaves(part)
        case rx.Group(part) | rx.Repeat(part):
            yield from _leaves(part)


def _edges(leaf: rx.Regex) -> set[int]:
    """Where a set of characters may begin or end."""
    if not isinstance(leaf, rx.Characters):
        return {10, 11, 13, 14}
    found = {edge for low, high in leaf.ranges for edge in (ord(low), ord(high) + 1)}
    if leaf.escapes or leaf.categories:
        found |= _unicode_edges()
    return found | (_edges(leaf.minus) if leaf.minus is not None else set())


@lru_cache(maxsize=1)
def _unicode_edges() -> frozenset[int]:
    """Where the kind of a character (its category, a letter or digit, a space) changes."""
    found, before = {0}, None
    for code in range(_END):
        character = chr(code)
        kind = (unicodedata.category(character), character.isalnum(), character.isspace())
        if kind != before:
            found.add(code)
            before = kind
    return frozenset(found)


# --- automata


class Automaton:
    """A pattern as a deterministic automaton, its states made when they are reached."""

    def __init__(self, tree: rx.Regex, alphabet: Alphabet) -> None:
        self._alphabet = alphabet
        self._steps: list[list[tuple[rx.Regex, int]]] = []
        self._free: list[list[tuple[str, int]]] = []
        first, last = self._place(), self._place()
        self._build(tree, first, last)
        self._last = last
        self._numbers: dict[tuple[frozenset[int], bool], int] = {}
        self._states: list[frozenset[int]] = []
        self.accepts: list[bool] = []
        self._known: dict[tuple[int, int], int] = {}
        self.start = self._number(self._closed({first}, "^"), at_start=True)

    def step(self, state: int, letter: int) -> int:
        """The state after one more character."""
        found = self._known.get((state, letter))
        if found is None:
            holds = self._alphabet.holds[letter]
            after = {to for place in self._states[state] for leaf, to in self._steps[place] if holds[leaf]}
            found = self._known[state, letter] = self._number(self._closed(after, ""), at_start=False)
        return found

    def _number(self, places: frozenset[int], *, at_start: bool) -> int:
        key = (places, at_start)
        if key not in self._numbers:
            if len(self._states) > MOST_STATES:
                raise TooComplex
            self._numbers[key] = len(self._states)
            self._states.append(places)
            self.accepts.append(self._last in self._closed(places, "^$" if at_start else "$"))
        return self._numbers[key]

    def _closed(self, places: Iterable[int], edges: str) -> frozenset[int]:
        found, waiting = set(places), list(places)
        while waiting:
            for edge, to in self._free[waiting.pop()]:
                if edge in edges and to not in found:  # the empty edge is in every text
                    found.add(to)
                    waiting.append(to)
        return frozenset(found)

    def _place(self) -> int:
        self._steps.append([])
        self._free.append([])
        return len(self._steps) - 1

    def _build(self, node: rx.Regex, first: int, last: int) -> None:
        match node:
            case rx.Characters() | rx.AnyCharacter():
                self._steps[first].append((node, last))
            case rx.Edge(which):
                self._free[first].append((which, last))
            case rx.Group(part):
                self._build(part, first, last)
            case rx.Branches(branches):
                for branch in branches:
                    self._build(branch, first, last)
            case rx.Sequence(parts):
                for part in parts:
                    after = self._place()
                    self._build(part, first, after)
                    first = after
                self._free[first].append(("", last))
            case rx.Repeat(part, least, most):
                self._repeat(part, least, most, first, last)

    def _repeat(self, part: rx.Regex, least: int, most: int | None, first: int, last: int) -> None:
        for _ in range(least):
            after = self._place()
            self._build(part, first, after)
            first = after
        if most is None:
            again = self._place()
            self._free[first].append(("", again))
            self._build(part, again, first)
        for _ in range((most or least) - least):
            self._free[first].append(("", last))
            after = self._place()
            self._build(part, first, after)
            first = after
        self._free[first].append(("", last))
