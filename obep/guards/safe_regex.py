"""REGEX and REPLACE over untrusted patterns: Python's `re` where it is surely quick, else an automaton."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import lru_cache

from obep.guards.regex_automaton import Automaton
from obep.guards.typed_values import ExpressionError
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
    cost,
    size,
)

LONGEST_TEXT = 100_000
MOST_STEPS = 300_000
"""A few milliseconds of backtracking; what might need more is left to the automaton. REPLACE has no other
matcher, so it may take fifty times that."""


class Matcher:
    """A pattern with its flags, made ready."""

    __slots__ = ("_automaton", "_cost", "_flags", "_python", "_size", "_tree")

    def __init__(self, pattern: str, flags: str) -> None:
        self._tree = parse_regex(pattern, flags)
        self._flags = flags
        self._size = size(self._tree)
        self._python = _in_python(self._tree, flags)
        self._cost = cost(self._tree) if self._python is not None else None
        self._automaton: Automaton | None = None

    def search(self, text: str) -> bool:
        """Whether some part of the text matches."""
        if self._python is not None and self._steps(len(text)) <= MOST_STEPS:
            return self._python.search(text) is not None
        if len(text) > LONGEST_TEXT:
            raise ExpressionError
        if self._automaton is None:
            self._automaton = Automaton(self._tree, self._flags)
        return self._automaton.search(text)

    def replace(self, text: str, replacement: str) -> str:
        """The text with every match replaced; a pattern that matches nothing at all is an error (XPath)."""
        python = self._python
        if python is None or self._steps(len(text)) > 50 * MOST_STEPS or python.search("") is not None:
            raise ExpressionError
        pieces = _replacement(replacement, python.groups)

        def piece_by_piece(match: re.Match[str]) -> str:
            return "".join(piece if isinstance(piece, str) else match[piece] or "" for piece in pieces)

        return python.sub(piece_by_piece, text)

    def _steps(self, length: int) -> int:
        """At most so many steps: the ways from one place, the places, and the size of the pattern."""
        if self._cost is None:
            return 1000 * MOST_STEPS
        return self._cost.factor * int((length + 1) ** (self._cost.degree + 1)) * self._size


@lru_cache(maxsize=512)
def _compiled(pattern: str, flags: str) -> Matcher | None:
    try:
        return Matcher(pattern, flags)
    except RegexError:
        return None


def matcher(pattern: str, flags: str = "") -> Matcher:
    """The matcher of a pattern, remembered; one that cannot be used is SPARQL's error.

    >>> matcher("^(a+)+$").search("a" * 5_000 + "b")
    False
    """
    found = _compiled(pattern, flags)
    if found is None:
        raise ExpressionError
    return found


def text_test(pattern: str, flags: str) -> Callable[[str], bool]:
    """The test of a regular expression of SHACL; a text that takes too long does not match."""
    found = Matcher(pattern, flags)

    def matches(text: str) -> bool:
        try:
            return found.search(text)
        except ExpressionError:
            return False

    return matches


def _replacement(text: str, groups: int) -> list[str | int]:
    """A replacement as text and numbers of groups: `$1` is a group, `\\$` and `\\\\` are characters."""
    pieces: list[str | int] = []
    at = 0
    while at < len(text):
        character = text[at]
        at += 1
        if character == "\\":
            if text[at : at + 1] not in ("\\", "$"):
                raise ExpressionError
            pieces.append(text[at])
            at += 1
        elif character == "$":
            end = at
            # the longest number that is a group's (XPath, fn:replace)
            while (
                end < len(text)
                and text[end] in "0123456789"
                and (end == at or int(text[at : end + 1]) <= groups)
            ):
                end += 1
            if end == at:
                raise ExpressionError
            number = int(text[at:end])
            pieces.append(number if number <= groups else "")
            at = end
        else:
            pieces.append(character)
    return pieces


def _in_python(tree: Regex, flags: str) -> re.Pattern[str] | None:
    """The pattern for Python's `re`, where that has the same meaning."""
    text = _written(tree, "m" in flags)
    if text is None:
        return None
    options = (re.IGNORECASE if "i" in flags else 0) | (re.DOTALL if "s" in flags else 0)
    return re.compile(text, options | (re.MULTILINE if "m" in flags else 0))


def _written(node: Regex, lines: bool) -> str | None:
    if isinstance(node, Characters):
        return _set(node)
    if isinstance(node, AnyCharacter):
        return "."
    if isinstance(node, Edge):
        return node.which if lines or node.which == "^" else r"\Z"  # Python's $ also stands before a last \n
    if isinstance(node, Sequence):
        parts = [_written(part, lines) for part in node.parts]
        return None if None in parts else "".join(part for part in parts if part is not None)
    if isinstance(node, Branches):
        branches = [_written(branch, lines) for branch in node.branches]
        return None if None in branches else "|".join(branch for branch in branches if branch is not None)
    inner = _written(node.part, lines)
    if inner is None:
        return None
    if isinstance(node, Group):
        return f"({'' if node.capturing else '?:'}{inner})"
    assert isinstance(node, Repeat)
    count = f"{{{node.least},{'' if node.most is None else node.most}}}"
    return f"(?:{inner}){count}{'?' if node.reluctant else ''}"


def _set(node: Characters) -> str | None:
    if node.categories or node.minus is not None:
        return None
    ranges = "".join(
        re.escape(low) if low == high else f"{re.escape(low)}-{re.escape(high)}" for low, high in node.ranges
    )
    escapes = "".join(f"\\{escape}" for escape in node.escapes)
    return f"[{'^' if node.negated else ''}{ranges}{escapes}]"
