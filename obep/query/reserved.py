"""The words that mean something in a place, as the grammar has them; for the printer and the messages."""

from __future__ import annotations

import re

ALLEN = (
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
)  # fmt: skip
RESERVED_EVENT = frozenset((
    "event", "named", "return", "match", "as", "subclassof", "if", "partition", "policy", "construct",
    "seq", "followed", "followed_by", "next", "without", "within", "or", "and", "equals", "join", "not",
    "not_followed_by", "first", "last", "optional", "every", "times", "before", "after", "meets",
    "metby", "overlaps", "overlappedby", "starts", "startedby", "during", "contains", "finishes",
    "finishedby", "prefix", "base", "vocab", "tbox", "from", "include",
))  # fmt: skip
"""In heads, patterns and aliases, in any case (the terminal EVENT_WORD)."""

_BARE = re.compile(r"[^\W\d](?:\w|-(?!>))*\Z")
_NUMBER = re.compile(
    r"[+-]?(?:(?P<double>(?:\d+(?:\.\d+)?|\.\d+)[eE][+-]?\d+)|(?P<decimal>\d*\.\d+)|(?P<integer>\d+))\Z",
    re.ASCII,
)


def is_bare(word: str) -> bool:
    """Whether a word can stand as an alias without a colon."""
    return _BARE.match(word) is not None and word.lower() not in RESERVED_EVENT


def bare_datatype(lexical: str) -> str | None:
    """The datatype of XSD that a bare literal of that spelling has.

    >>> bare_datatype("-5"), bare_datatype("5.0"), bare_datatype("true"), bare_datatype("x")
    ('integer', 'decimal', 'boolean', None)
    """
    if lexical in ("true", "false"):
        return "boolean"
    found = _NUMBER.match(lexical)
    return found.lastgroup if found else None
