"""The tree of a regular expression of XPath, and what matching it may cost."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, NamedTuple


@dataclass(frozen=True, slots=True)
class Characters:
    """One character out of a set: ranges, Unicode categories, the escapes `d`, `s`, `w`, `D`, `S`, `W`."""

    ranges: tuple[tuple[str, str], ...] = ()
    categories: tuple[tuple[str, bool], ...] = ()
    escapes: str = ""
    negated: bool = False
    minus: Characters | None = None

    def holds(self, character: str, folded: bool = False) -> bool:
        """Whether a character is in the set; `folded` does not tell upper from lower case."""
        forms = {character, character.lower(), character.upper()} if folded else (character,)
        found = any(self._lists(form) for form in forms if len(form) == 1)
        return found != self.negated and not (self.minus is not None and self.minus.holds(character, folded))

    def _lists(self, character: str) -> bool:
        return (
            any(low <= character <= high for low, high in self.ranges)
            or any(_escaped(escape, character) for escape in self.escapes)
            or any(
                unicodedata.category(character).startswith(category) != inverse
                for category, inverse in self.categories
            )
        )


@dataclass(frozen=True, slots=True)
class AnyCharacter:
    """The dot."""


@dataclass(frozen=True, slots=True)
class Edge:
    """`^` or `$`."""

    which: Literal["^", "$"]


@dataclass(frozen=True, slots=True)
class Sequence:
    parts: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Branches:
    branches: tuple[Regex, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    part: Regex
    least: int
    most: int | None
    reluctant: bool = False


@dataclass(frozen=True, slots=True)
class Group:
    part: Regex
    capturing: bool


Regex = Characters | AnyCharacter | Edge | Sequence | Branches | Repeat | Group


class Cost(NamedTuple):
    """At most `factor * n ** degree` ways to try from one place of a text of length n."""

    factor: int
    degree: int


def size(node: Regex) -> int:
    """The number of nodes with every counted repetition written out."""
    if isinstance(node, Sequence):
        return 1 + sum(map(size, node.parts))
    if isinstance(node, Branches):
        return 1 + sum(map(size, node.branches))
    if isinstance(node, Group):
        return 1 + size(node.part)
    if isinstance(node, Repeat):
        return 1 + size(node.part) * max(1, node.least, node.most or 0)
    return 1


def cost(node: Regex) -> Cost | None:
    """The steps of a backtracking matcher from one place; None if they grow exponentially."""
    if isinstance(node, Group):
        return cost(node.part)
    if isinstance(node, Sequence):
        return _product(map(cost, node.parts))
    if isinstance(node, Branches):
        costs = [cost(branch) for branch in node.branches]
        known = [one for one in costs if one is not None]
        if len(known) < len(costs):
            return None
        return Cost(sum(one.factor for one in known), max(one.degree for one in known))
    if isinstance(node, Repeat):
        return _cost_of_repeat(node)
    return Cost(1, 0)


def _cost_of_repeat(node: Repeat) -> Cost | None:
    inner = cost(node.part)
    if inner is None:
        return None
    if node.most is None:
        return Cost(1, 1) if inner == Cost(1, 0) else None
    choices = Cost(node.most - node.least + 1, 0)
    return _product([choices, *[inner] * (node.most if inner != Cost(1, 0) else 1)])


def _product(costs: Iterable[Cost | None]) -> Cost | None:
    factor, degree = 1, 0
    for one in costs:
        if one is None:
            return None
        factor, degree = factor * one.factor, degree + one.degree
        if factor > 1_000_000 or degree > 10:
            return None
    return Cost(factor, degree)


def _escaped(escape: str, character: str) -> bool:
    kind = escape.lower()
    if kind == "d":
        found = unicodedata.category(character) == "Nd"
    elif kind == "s":
        found = character.isspace()
    else:
        found = character.isalnum() or character == "_"
    return found != escape.isupper()
