"""Where the functions for the grammar's rules are kept, and the file that they work for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NamedTuple

from obep.query import ast
from obep.query.parse.file_scope import Scope

Children = list[Any]
RULES: dict[str, Callable[[Children], Any]] = {}


class _Reading(threading.local):
    """The file that this thread is reading; the parser itself is shared by all threads."""

    scope: Scope


reading = _Reading()


class Clause(NamedTuple):
    """A clause of an event on its way there: the field that it fills, its first and last part, its value."""

    field: str
    word: Any
    last: Any
    value: Any


def rule(function: Callable[[Children], Any]) -> Callable[[Children], Any]:
    """Make a function the callback of the rule of its name (`not_` is that of `not`)."""
    RULES[function.__name__.strip("_")] = function
    return function


def is_token(child: Any, *types: str) -> bool:
    """Whether a child is a token of one of these types."""
    return getattr(child, "type", None) in types


def nodes(children: Children, *kinds: type) -> tuple[Any, ...]:
    """The children that are nodes, of these kinds."""
    return tuple(child for child in children if isinstance(child, kinds or (ast.Node,)))
