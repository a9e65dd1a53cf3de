"""How two candidates can lie in time (SPEC §4), and where to look for the partners of one.

Operators remember candidates in the order of their end, so each relation says between which ends the
partners of a candidate lie, and whether two really stand in it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from obep.operators.candidates import END, START, Candidate

Range = tuple[int | None, int | None]


class Relation(NamedTuple):
    """`lefts` and `rights`: the ends of the left (right) partners of a right (left) candidate."""

    lefts: Callable[[Candidate], Range]
    rights: Callable[[Candidate], Range]
    holds: Callable[[Candidate, Candidate], bool]


def _mirrored(relation: Relation) -> Relation:
    holds = relation.holds
    return Relation(relation.rights, relation.lefts, lambda left, right: holds(right, left))


def _meets(left: Candidate, right: Candidate) -> bool:
    return left[START] < left[END] == right[START] < right[END]


def _overlaps(left: Candidate, right: Candidate) -> bool:
    return left[START] < right[START] < left[END] < right[END]


_SEQ = Relation(
    lambda right: (None, right[START] - 1),
    lambda left: (left[END] + 1, None),
    lambda left, right: left[END] < right[START],
)
_AND = Relation(
    lambda right: (right[END], right[END]),
    lambda left: (left[END], left[END]),
    lambda left, right: left[START] == right[START] and left[END] == right[END],
)
_JOIN = Relation(lambda right: (None, None), lambda left: (None, None), lambda left, right: True)
_MEETS = Relation(
    lambda right: (right[START], right[START]),
    lambda left: (left[END] + 1, None),
    _meets,
)
_OVERLAPS = Relation(
    lambda right: (right[START] + 1, right[END] - 1),
    lambda left: (left[END] + 1, None),
    _overlaps,
)
_STARTS = Relation(
    lambda right: (right[START], right[END] - 1),
    lambda left: (left[END] + 1, None),
    lambda left, right: left[START] == right[START] and left[END] < right[END],
)
_FINISHES = Relation(
    lambda right: (right[END], right[END]),
    lambda left: (left[END], left[END]),
    lambda left, right: left[END] == right[END] and left[START] > right[START],
)
_DURING = Relation(
    lambda right: (right[START], right[END]),
    lambda left: (left[END], None),
    lambda left, right: right[START] <= left[START] and left[END] <= right[END],
)

RELATIONS: dict[str, Relation] = {
    "SEQ": _SEQ,
    "AND": _AND,
    "JOIN": _JOIN,
    "AFTER": _mirrored(_SEQ),
    "MEETS": _MEETS,
    "METBY": _mirrored(_MEETS),
    "OVERLAPS": _OVERLAPS,
    "OVERLAPPEDBY": _mirrored(_OVERLAPS),
    "STARTS": _STARTS,
    "STARTEDBY": _mirrored(_STARTS),
    "DURING": _DURING,
    "CONTAINS": _mirrored(_DURING),
    "FINISHES": _FINISHES,
    "FINISHEDBY": _mirrored(_FINISHES),
}
