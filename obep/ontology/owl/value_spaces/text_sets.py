"""Sets of strings: how many strings there are for each way to match some patterns and lengths.

Each pattern becomes an automaton over classes of characters that all patterns treat alike. The automata run
side by side. A dynamic program over the length counts the strings for each combination of matches.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, TypeVar

from obep.ontology.owl.facet_pattern import read_pattern
from obep.ontology.owl.value_spaces.text_automata import MOST_STATES, Automaton, TooComplex, alphabet_of
from obep.query import xpath_regex_tree as rx

MANY = 10**15
"""From here on a number of values counts as infinite: no axiom asks for so many."""
_LONGEST = 2_000
"""Characters up to which lengths are counted where there are patterns."""
_K = TypeVar("_K")
State = tuple[int, ...]
"""A state of each automaton."""
Key = tuple[tuple[bool, ...], int]
"""Which patterns a string matches, and the class of its length."""


class Texts(NamedTuple):
    """The strings of one key: one of them, and how many there are (`None`: infinitely many)."""

    key: Key
    example: str
    size: int | None


class TextSets:
    """All strings, divided by patterns and lengths."""

    def __init__(self, patterns: Sequence[str], lengths: Iterable[int]) -> None:
        self._bounds = sorted({edge for n in lengths for edge in (n, n + 1) if edge > 0})
        trees = [tree for tree in map(read_pattern, patterns) if not isinstance(tree, str)]
        if len(trees) < len(patterns) or sum(map(rx.size, trees)) > MOST_STATES:
            raise TooComplex
        self._alphabet = alphabet_of(trees)
        self._automata = [Automaton(tree, self._alphabet) for tree in trees]

    def key(self, text: str) -> Key:
        """The key of a string."""
        state = tuple(automaton.start for automaton in self._automata)
        for character in text:
            state = self._step(state, self._alphabet.number(character))
        return self._matches(state), bisect_right(self._bounds, len(text))

    def all(self) -> list[Texts]:
        """Every key that some string has."""
        if not self._automata:
            return list(self._by_length())
        if self._bounds and self._bounds[-1] > _LONGEST:
            raise TooComplex
        return self._count()

    def _by_length(self) -> Iterator[Texts]:
        characters = sum(self._alphabet.weights)
        low = 0
        for number, high in enumerate([*self._bounds, None]):
            size = None
            if high is not None and high <= 3:  # more are too many to count
                size = sum(characters**n for n in range(low, high))
            yield Texts(((), number), "a" * low, None if size is None or size >= MANY else size)
            low = high or 0

    def _step(self, state: State, letter: int) -> State:
        return tuple(a.step(s, letter) for a, s in zip(self._automata, state, strict=True))

    def _matches(self, state: State) -> tuple[bool, ...]:
        return tuple(a.accepts[s] for a, s in zip(self._automata, state, strict=True))

    def _count(self) -> list[Texts]:
        found: dict[Key, tuple[str, int]] = {}
        start = tuple(automaton.start for automaton in self._automata)
        layer: dict[State, tuple[str, int]] = {start: ("", 1)}
        for length in range(self._bounds[-1] if self._bounds else 0):
            number = bisect_right(self._bounds, length)
            for state, (example, count) in layer.items():
                _add(found, (self._matches(state), number), example, count)
            layer = self._next(layer)
        sizes: dict[Key, tuple[str, int | None]] = dict(found)
        last = len(self._bounds)
        for matches, example, size in self._tail(layer):
            known = sizes.get((matches, last), ("", 0))[1]
            more = None if size is None or known is None else size + known
            sizes[matches, last] = (example, more)
        return [Texts(k, e, None if n is None or n >= MANY else n) for k, (e, n) in sizes.items()]

    def _next(self, layer: dict[State, tuple[str, int]]) -> dict[State, tuple[str, int]]:
        after: dict[State, tuple[str, int]] = {}
        for state, (example, count) in layer.items():
            for letter, weight in enumerate(self._alphabet.weights):
                _add(
                    after,
                    self._step(state, letter),
                    example + self._alphabet.examples[letter],
                    min(count * weight, MANY),
                )
        if len(after) > MOST_STATES:
            raise TooComplex
        return after

    def _tail(
        self, layer: dict[State, tuple[str, int]]
    ) -> Iterator[tuple[tuple[bool, ...], str, int | None]]:
        """The strings that go on from here, for as long as they like, by what they match."""
        edges: dict[State, dict[State, int]] = {}
        examples = {state: example for state, (example, _) in layer.items()}
        waiting = list(layer)
        while waiting:
            state = waiting.pop(0)
            if state in edges:
                continue
            edges[state] = {}
            if len(edges) > MOST_STATES:
                raise TooComplex
            for letter, weight in enumerate(self._alphabet.weights):
                after = self._step(state, letter)
                edges[state][after] = edges[state].get(after, 0) + weight
                examples.setdefault(after, examples[state] + self._alphabet.examples[letter])
                waiting.append(after)
        counts = {state: layer[state][1] if state in layer else 0 for state in edges}
        endless = _after_a_circle(edges, counts)
        for state in edges:
            yield self._matches(state), examples[state], None if state in endless else counts[state]


def _add(found: dict[_K, tuple[str, int]], key: _K, example: str, count: int) -> None:
    known = found.get(key)
    found[key] = (example, count) if known is None else (known[0], min(known[1] + count, MANY))


def _after_a_circle(edges: dict[State, dict[State, int]], counts: dict[State, int]) -> set[State]:
    """The states that strings of every length reach; the counts of the others are completed on the way."""
    entering = dict.fromkeys(edges, 0)
    for reached in edges.values():
        for state in reached:
            entering[state] += 1
    free = [state for state, number in entering.items() if not number]
    left = set(edges)
    while free:
        state = free.pop()
        left.discard(state)
        for after, weight in edges[state].items():
            counts[after] = min(counts[after] + counts[state] * weight, MANY)
            entering[after] -= 1
            if not entering[after]:
                free.append(after)
    return left
