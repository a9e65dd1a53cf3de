"""Regular expressions of XPath, as SPARQL's REGEX and REPLACE take them: their syntax.

Patterns are untrusted. They are read here into a small tree, never handed to Python as they are; the tree
says how many steps a backtracking matcher could need, and `obep.guards.safe_regex` chooses a matcher by that.
"""

from __future__ import annotations

from dataclasses import replace

from obep.query.xpath_regex_tree import (
    AnyCharacter,
    Branches,
    Characters,
    Edge,
    Group,
    Regex,
    Repeat,
    Sequence,
    size,
)

LONGEST_PATTERN = 1_000
LARGEST = 2_000
"""Nodes after the counted repetitions are written out."""

_CATEGORIES = {"L": "ultmo", "M": "nce", "N": "dlo", "P": "cdseifo", "Z": "slp", "S": "mcko", "C": "cfon"}
_CONTROLS = {"n": "\n", "r": "\r", "t": "\t"}


class RegexError(ValueError):
    """A pattern that cannot be carried out; the message says why."""


def parse_regex(pattern: str, flags: str = "") -> Regex:
    """The tree of a pattern; raises RegexError for what XPath does not have, and for what is too large.

    >>> parse_regex("^a+")
    Sequence(parts=(Edge(which='^'), Repeat(part=Characters(ranges=(('a', 'a'),), categories=(), escapes='', \
negated=False, minus=None), least=1, most=None, reluctant=False)))
    """
    for flag in flags:
        if flag not in "imsx":
            raise RegexError(f"{flag!r} is not one of the flags i, m, s, x")
    if len(pattern) > LONGEST_PATTERN:
        raise RegexError(f"it is longer than {LONGEST_PATTERN} characters")
    reader = _Reader(pattern, "x" in flags)
    tree = reader.branches(0)
    if reader.more():
        raise RegexError(f"nothing opens the ) at {reader.at + 1}")
    if size(tree) > LARGEST:
        raise RegexError("its counted repetitions are too large")
    return tree


class _Reader:
    """A recursive descent over the pattern."""

    def __init__(self, pattern: str, spaced: bool) -> None:
        self.pattern = pattern
        self.at = 0
        self.spaced = spaced
        """The flag x: white space outside of classes means nothing."""

    def more(self) -> str:
        """The next character that means something, or nothing at the end."""
        while self.spaced and self.at < len(self.pattern) and self.pattern[self.at] in " \t\r\n":
            self.at += 1
        return self.pattern[self.at : self.at + 1]

    def take(self) -> str:
        if self.at >= len(self.pattern):
            raise RegexError("it ends too early")
        self.at += 1
        return self.pattern[self.at - 1]

    def branches(self, depth: int) -> Regex:
        if depth > 50:
            raise RegexError("its groups are nested deeper than 50")
        found = [self.sequence(depth)]
        while self.more() == "|":
            self.take()
            found.append(self.sequence(depth))
        return found[0] if len(found) == 1 else _one_set(found) or Branches(tuple(found))

    def sequence(self, depth: int) -> Regex:
        parts: list[Regex] = []
        while (character := self.more()) and character not in "|)":
            parts.append(self.repeated(self.atom(depth)))
        return parts[0] if len(parts) == 1 else Sequence(tuple(parts))

    def atom(self, depth: int) -> Regex:
        character = self.take()
        if character == "(":
            return self.group(depth)
        if character == "[":
            return self.set_of_characters(0)
        if character == ".":
            return AnyCharacter()
        if character in "^$":
            return Edge("^" if character == "^" else "$")
        if character == "\\":
            return self.escape()
        if character in "*+?{}]":
            raise RegexError(
                f"the {character} at {self.at} repeats or closes nothing; \\{character} is the character"
            )
        return Characters(((character, character),))

    def group(self, depth: int) -> Regex:
        capturing = self.pattern[self.at : self.at + 1] != "?"
        if not capturing:
            if self.pattern[self.at : self.at + 2] != "?:":
                raise RegexError("look-around and named groups are not in XPath; (?: is the only (? there is")
            self.at += 2
        inner = self.branches(depth + 1)
        if self.more() != ")":
            raise RegexError("a ( is not closed")
        self.take()
        return Group(inner, capturing)

    def repeated(self, atom: Regex) -> Regex:
        character = self.more()
        if not character or character not in "*+?{":
            return atom
        self.take()
        least, most = {"*": (0, None), "+": (1, None), "?": (0, 1)}.get(character) or self.counts()
        if isinstance(atom, Edge):
            raise RegexError(f"{atom.which} cannot be repeated")
        reluctant = self.more() == "?"
        if reluctant:
            self.take()
        if (following := self.more()) and following in "*+?{":
            raise RegexError(f"the {following} at {self.at + 1} repeats a repetition")
        return Repeat(atom, least, most, reluctant)

    def counts(self) -> tuple[int, int | None]:
        end = self.pattern.find("}", self.at)
        low, comma, high = self.pattern[self.at : end].partition(",") if end >= 0 else ("", "", "")
        self.at = end + 1
        if not _number(low) or (high and not _number(high)):
            raise RegexError("a { is not followed by {n}, {n,} or {n,m}; \\{ is the character")
        least = int(low)
        most = (int(high) if high else None) if comma else least
        if most is not None and most < least:
            raise RegexError(f"{{{low},{high}}} counts backwards")
        return least, most

    def escape(self) -> Characters:
        character = self.take()
        if character in _CONTROLS:
            return Characters(((_CONTROLS[character], _CONTROLS[character]),))
        if character in "dDsSwW":
            return Characters(escapes=character)
        if character in "pP":
            return Characters(categories=(self.category(character == "P"),))
        if character.isdigit():
            raise RegexError("a reference back to a group cannot be bounded in time")
        if character.isalnum():
            raise RegexError(f"XPath has no \\{character}")
        return Characters(((character, character),))

    def category(self, inverse: bool) -> tuple[str, bool]:
        end = self.pattern.find("}", self.at)
        name = self.pattern[self.at + 1 : end]
        known = name[:1] in _CATEGORIES and (len(name) == 1 or name[1:] in list(_CATEGORIES[name[0]]))
        if self.pattern[self.at : self.at + 1] != "{" or not known:
            raise RegexError("\\p is followed by a category of Unicode, such as \\p{L}")
        self.at = end + 1
        return name, inverse

    def set_of_characters(self, depth: int) -> Characters:
        if depth > 5:
            raise RegexError("its subtractions are nested deeper than 5")
        negated = self.pattern[self.at : self.at + 1] == "^"
        self.at += negated
        members: list[Characters] = []
        minus: Characters | None = None
        while True:
            character = self.take()
            if character == "]" and members:
                break
            if character == "-" and self.pattern[self.at : self.at + 1] == "[" and members:
                self.at += 1
                minus = self.set_of_characters(depth + 1)
                if self.take() != "]":
                    raise RegexError("after a subtraction the class must end")
                break
            if character == "[":
                raise RegexError("a [ in a class is written \\[")
            members.append(self.range_from(character))
        union = _one_set([*members])
        assert union is not None
        return replace(union, negated=negated, minus=minus)

    def range_from(self, character: str) -> Characters:
        first = self.escape() if character == "\\" else Characters(((character, character),))
        following = self.pattern[self.at : self.at + 2]
        if not first.ranges or len(following) < 2 or following[0] != "-" or following[1] in "]-[":
            return first
        self.at += 1
        end = self.take()
        last = self.escape() if end == "\\" else Characters(((end, end),))
        low = first.ranges[0][0]
        if not last.ranges or last.ranges[0][0] < low:
            raise RegexError(f"the range from {low} runs backwards")
        return Characters(((low, last.ranges[0][0]),))


def _one_set(branches: list[Regex]) -> Characters | None:
    """`a|b|[0-9]` as one set of characters: then nothing has to be tried twice."""
    plain = [one for one in branches if isinstance(one, Characters) and not one.negated and one.minus is None]
    if len(plain) < len(branches):
        return None
    return Characters(
        tuple(one for member in plain for one in member.ranges),
        tuple(one for member in plain for one in member.categories),
        "".join(member.escapes for member in plain),
    )


def _number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) <= 5
