"""Values from the environment (`${NAME}` in obep.toml), and how they are kept out of all output of obep.

A value is remembered when it is read, for as long as the process lives, and stands as `${NAME}` in everything
that is said afterwards: diagnostics, logs, progress, labels of metrics, reasons of dead letters. What obep
delivers (occurrences, the raw text of dead letters) is data, and stays as it is.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from typing import Any, TextIO
from urllib.parse import quote, unquote

SHORTEST = 4
"""Characters from which on a value is looked for. A shorter one is found in ordinary words, and no secret."""

_references: dict[str, str] = {}
_known: tuple[re.Pattern[str], list[str]] | None = None
"""What finds the values, the longest first, and what each of its groups is said as."""


def remember(value: str, reference: str) -> None:
    """From now on the value is said as its reference, in whichever way it is written."""
    global _known
    new = {way for way in _ways(value) if len(way.strip()) >= SHORTEST} - _references.keys()
    if not new:
        return
    _references.update(dict.fromkeys(new, reference))
    longest = sorted(_references.items(), key=lambda one: len(one[0]), reverse=True)
    # a reference is left alone, since texts may pass here more than once
    found = re.compile("|".join([r"\$\{\w+\}", *(f"({_pattern(way)})" for way, _ in longest)]))
    _known = found, [reference for _, reference in longest]


def forget() -> None:
    """Everything is said as it is again."""
    global _known
    _references.clear()
    _known = None


def hide(text: str) -> str:
    """A text as it may be said.

    >>> remember("hush-hush", "${WORD}")
    >>> hide("mqtt://host/hush-hush does not answer")
    'mqtt://host/${WORD} does not answer'
    >>> remember(" " * SHORTEST, "${NOTHING}")
    >>> hide("spaces are no secret    ")
    'spaces are no secret    '
    >>> forget()
    """
    if _known is None:
        return text
    pattern, references = _known
    return pattern.sub(lambda found: references[found.lastindex - 1] if found.lastindex else found[0], text)


def hide_in(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record as it may be said: its own keys are ours, all other texts may be the user's."""
    return {key: _hidden(value) for key, value in record.items()}


def _hidden(value: Any) -> Any:
    """Numbers stay numbers, also if one is the value of a variable."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {_hidden(key): _hidden(one) for key, one in value.items()}
    if isinstance(value, list | tuple):
        return [_hidden(one) for one in value]
    return value


class Discreet:
    """A stream for people that hides secrets in all that is written, tracebacks included."""

    def __init__(self, file: TextIO) -> None:
        self._file = file

    def write(self, text: str) -> int:
        return self._file.write(hide(text) if isinstance(text, str) else text)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._file, name)


def _ways(value: str) -> set[str]:
    """How a value may be written in a message: as it is or a line of it, in a URI, as a path, in quotes."""
    texts = {value, value.strip(), *(line.strip() for line in value.splitlines())}
    plain = {way for text in texts for way in (text, unquote(text), os.path.normpath(text))}
    plain |= {quote(text, safe, errors="replace") for text in texts for safe in ("/", "")}
    return plain | {way for one in plain for way in (repr(one)[1:-1], _escaped(one), json.dumps(one)[1:-1])}


def _pattern(way: str) -> str:
    """Spaces in it may have become the end of a line."""
    return r"\s+".join(map(re.escape, re.split(r"\s+", way)))


def _escaped(text: str) -> str:
    """As `obep.errors.printable` writes it."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode("ascii") for c in text)
