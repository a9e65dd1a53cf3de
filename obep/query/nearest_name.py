"""The known name that was probably meant: for unknown events, aliases, variables, classes, keywords."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from itertools import groupby

ALIKE = 0.8
"""The similarity, at most 1, from which on one name is probably the other misspelt."""
_LONGEST = 64  # a longer name is no slip of one letter, and the comparison is quadratic


def nearest(word: str, known: Iterable[str]) -> str | None:
    """The name of `known` that `word` was probably meant to be, if one is near enough.

    A name is a prefix and a local part: the right local part with another prefix is nearer than any
    misspelling, and of two misspellings the one with the same prefix is nearer.

    >>> nearest("BussyRoom", ["FreeRoom", "BusyRoom"])
    'BusyRoom'
    >>> nearest("ex:BusyRoom", [":BusyRom", "b:BusyRoom"])
    'b:BusyRoom'
    >>> nearest("Window", ["BusyRoom"]) is None
    True
    """
    prefix, local = split(word)
    if not local or len(local) > _LONGEST:
        return None
    allowed = max(1, len(local) // 3)
    lower, letters = local.lower(), set(local.lower())
    best: tuple[tuple[int, bool, str], str] | None = None
    for name in known:
        other_prefix, other = split(name)
        if name == word or not other or abs(len(other) - len(local)) > allowed:
            continue
        if len(letters ^ set(other.lower())) > 2 * allowed:  # a slip changes two letters at most
            continue
        far = _distance(lower, other.lower(), allowed)
        if far is None or (far and len(local) < 3):  # in words of one or two letters, one letter is too much
            continue
        allowed = min(allowed, far)  # what is farther is no better
        rank = (2 * far + (local != other and not far), other_prefix != prefix, name)
        if best is None or rank < best[0]:
            best = (rank, name)
    return best[1] if best else None


def misspelt(word: str, known: Iterable[str]) -> str | None:
    """The name of `known` that `word` is most likely a slip of, where `word` is not known to be wrong.

    More is needed than for `nearest`: the same prefix, no other number, and most letters, of each word in it.

    >>> misspelt(":celcius", [":celsius"]), misspelt(":minTemp", [":maxTemp"]), misspelt(":room1", [":room2"])
    (':celsius', None, None)
    >>> misspelt(":tank-nrth", [":tank-north"]), misspelt(":tank-south", [":tank-north"])
    (':tank-north', None)
    """
    prefix, local = split(word)
    near = nearest(word, (name for name in known if split(name)[0] == prefix))
    if near is None or not alike(local.lower(), split(near)[1].lower()):
        return None
    words, others = ([w.lower() for w in _WORD.findall(one)] for one in (local, split(near)[1]))
    if len(words) != len(others):  # a word more makes another name, two words in one do not
        slip = not (set(words) <= set(others) or set(others) <= set(words))
    else:
        slip = all(map(_slip, words, others))
    return near if slip else None


_WORD = re.compile(r"[^\W\d_]?[^\W\d_A-Z]+|[A-Z]+(?![a-z])")
"""The words of a name: `sensorB` has two, as `sensor-b` has."""


def _slip(left: str, right: str) -> bool:
    """Whether a word is the other one misspelt, and no word of its own: A is not B, nok not ok, and north not
    south."""
    long = min(len(left), len(right)) > 2
    if sorted(left) == sorted(right) or (long and SequenceMatcher(None, left, right).ratio() >= ALIKE):
        return True
    return [letter for letter, _ in groupby(left)] == [letter for letter, _ in groupby(right)]


def alike(left: str, right: str) -> bool:
    """Whether two names have most letters in common, and the same numbers.

    >>> alike("clima", "climate"), alike("doors", "doors2"), alike("doors", "smoke")
    (True, False, False)
    """
    if [c for c in left if c.isdigit()] != [c for c in right if c.isdigit()]:
        return False
    return SequenceMatcher(None, left, right).ratio() >= ALIKE


def split(name: str) -> tuple[str, str]:
    """A name as prefix and local part.

    >>> split("Room"), split(":Room"), split("ex:Room"), split("<http://e.org/b#Room>")
    (('', 'Room'), ('', 'Room'), ('ex', 'Room'), ('<http://e.org/b#', 'Room'))
    """
    if name.startswith("<"):
        body = name.rstrip(">")
        cut = max(body.rfind("#"), body.rfind("/"), body.rfind(":")) + 1
        return body[:cut], body[cut:]
    prefix, colon, local = name.partition(":")
    return (prefix, local) if colon else ("", name)


def _distance(left: str, right: str, limit: int) -> int | None:
    """The number of letters that are added, lost, changed or swapped with their neighbour, up to `limit`."""
    before: list[int] = []
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, previous, row = row, before, [i]
        for j, b in enumerate(right, 1):
            cost = min(before[j] + 1, row[j - 1] + 1, before[j - 1] + (a != b))
            if i > 1 and j > 1 and a == right[j - 2] and b == left[i - 2]:
                cost = min(cost, previous[j - 2] + 1)
            row.append(cost)
        if min(row) > limit:
            return None
    return row[-1] if row[-1] <= limit else None
