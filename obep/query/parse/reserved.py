"""The words that mean something in a place, as the grammar has them; for the printer and the messages."""

from __future__ import annotations

import re
from typing import Literal

RESERVED_EVENT = frozenset((
    "event", "named", "return", "match", "as", "subclassof", "if", "partition", "policy", "construct",
    "seq", "followed", "followed_by", "next", "without", "within", "or", "and", "equals", "join", "not",
    "not_followed_by", "first", "last", "optional", "every", "times", "before", "after", "meets",
    "metby", "overlaps", "overlappedby", "starts", "startedby", "during", "contains", "finishes",
    "finishedby", "prefix", "base", "vocab", "tbox", "from", "include",
))  # fmt: skip
"""In heads, patterns and aliases, in any case (the terminal EVENT_WORD)."""

Place = Literal["event", "class", "guard", "condition", "return"]
"""Where a bare name can stand."""
_ANYWHERE = frozenset(("event", "named", "return"))
_RESERVED: dict[Place, tuple[frozenset[str], frozenset[str]]] = {
    "event": (RESERVED_EVENT, frozenset()),
    "class": (
        _ANYWHERE | {"match"},
        frozenset((
            "and", "or", "not", "some", "only", "value", "min", "max", "exactly", "Self", "that", "inverse",
            "true", "false",
        )),
    ),
    "guard": (
        _ANYWHERE | {
            "match", "as", "subclassof", "filter", "optional", "union", "minus", "graph", "service", "bind",
            "values", "select", "exists", "construct",
        },
        frozenset(("a", "true", "false")),
    ),
    "condition": (frozenset(("in", "not", "exists")), frozenset(("true", "false"))),
    "return": (
        _ANYWHERE | {
            "as", "all", "and", "or", "rdf", "stream", "to", "into", "prefix", "base", "vocab", "tbox",
            "from", "include",
        },
        frozenset(),
    ),
}  # fmt: skip
"""The reserved words of a place: those in any case, and those in this case only."""

_BARE = re.compile(r"[^\W\d](?:\w|-(?!>))*\Z")
_NUMBER = re.compile(
    r"[+-]?(?:(?P<double>(?:\d+(?:\.\d+)?|\.\d+)[eE][+-]?\d+)|(?P<decimal>\d*\.\d+)|(?P<integer>\d+))\Z",
    re.ASCII,
)


def is_bare(word: str) -> bool:
    """Whether a word can stand as an alias without a colon."""
    return _BARE.match(word) is not None and word.lower() not in RESERVED_EVENT


def is_reserved(word: str, place: Place) -> bool:
    """Whether a bare word means something else where a name is to stand.

    >>> is_reserved("First", "event"), is_reserved("First", "class"), is_reserved("and", "class")
    (True, False, True)
    """
    in_any_case, in_this_case = _RESERVED[place]
    return word.lower() in in_any_case or word in in_this_case


def bare_datatype(lexical: str) -> str | None:
    """The datatype of XSD that a bare literal of that spelling has.

    >>> bare_datatype("-5"), bare_datatype("5.0"), bare_datatype("true"), bare_datatype("x")
    ('integer', 'decimal', 'boolean', None)
    """
    if lexical in ("true", "false"):
        return "boolean"
    found = _NUMBER.match(lexical)
    return found.lastgroup if found else None
