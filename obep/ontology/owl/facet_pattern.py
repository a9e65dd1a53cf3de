"""The facet `pattern`: whether a whole text matches, in time that no pattern can blow up.

Patterns are untrusted (they may come with an ontology from anywhere), so none is handed to a backtracking
matcher: the places that a part of the pattern can lead to are collected as sets.
"""

from __future__ import annotations

from functools import lru_cache

from obep.query.xpath_regex import RegexError, parse_regex
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

LONGEST = 4_000
"""Characters of a literal that is compared with a pattern; a longer one matches none."""


@lru_cache(maxsize=512)
def read_pattern(pattern: str) -> Regex | str:
    """The tree of a pattern, or why it cannot be one."""
    try:
        return parse_regex(pattern)
    except RegexError as error:
        return str(error)


def matches(pattern: str, text: str) -> bool:
    """Whether all of a text matches a pattern.

    >>> matches("(a+)+", "a" * 50), matches("(a+)+", "a" * 50 + "b")
    (True, False)
    """
    tree = read_pattern(pattern)
    if isinstance(tree, str) or len(text) > LONGEST:
        return False
    return len(text) in _ends(tree, text, frozenset({0}))


def _ends(node: Regex, text: str, starts: frozenset[int]) -> frozenset[int]:
    """Where matches of a part may end that begin at one of these places."""
    match node:
        case Characters():
            return frozenset(n + 1 for n in starts if n < len(text) and node.holds(text[n]))
        case AnyCharacter():
            return frozenset(n + 1 for n in starts if n < len(text) and text[n] not in "\n\r")
        case Edge(which):
            # In a facet the whole text is meant anyway, so ^ and $ are at its ends.
            return starts & {0 if which == "^" else len(text)}
        case Group(part):
            return _ends(part, text, starts)
        case Sequence(parts):
            for part in parts:
                if not starts:
                    break
                starts = _ends(part, text, starts)
            return starts
        case Branches(branches):
            return frozenset().union(*(_ends(branch, text, starts) for branch in branches))
        case Repeat(part, least, most):
            return _repeated(part, least, most, text, starts)


def _repeated(part: Regex, least: int, most: int | None, text: str, starts: frozenset[int]) -> frozenset[int]:
    for _ in range(least):
        starts = _ends(part, text, starts)
    found = starts
    for _ in range(len(text) + 1 if most is None else most - least):
        starts = _ends(part, text, starts) - found
        if not starts:
            break
        found |= starts
    return found
