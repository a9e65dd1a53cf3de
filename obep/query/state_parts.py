"""The names of the hidden events that stand for the parts of states and of graph events."""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from obep.model import Occurrence, Term

GRAPH = "graph"
_REPORTED = re.compile(r"(<.+)#(begin|end|episode|graph)(?:-(\d+))?>")


class StatePart(NamedTuple):
    """The meaning of a hidden event: a moment of a state (and how long it has held), or a graph."""

    of: Term
    moment: str
    lasting: int | None


def part_of(state: Term, part: str, lasting: int | None = None) -> Term:
    """The event that stands for a part of a state.

    >>> part_of("<http://e.org/Hot>", "begin"), part_of("<http://e.org/Hot>", "end", 5)
    ('<http://e.org/Hot#begin>', '<http://e.org/Hot#end-5>')
    """
    return f"{state[:-1]}#{part}>" if lasting is None else f"{state[:-1]}#{part}-{lasting}>"


@lru_cache(1024)
def apart(event: Term) -> StatePart | None:
    """What `part_of` has made the name of an event of, if it is such a name.

    >>> apart("<http://e.org/Hot#end-5>")
    StatePart(of='<http://e.org/Hot>', moment='end', lasting=5)
    >>> apart("<http://e.org/Hot>") is None
    True
    """
    found = _REPORTED.fullmatch(event)
    if found is None:
        return None
    state, moment, lasting = found.groups()
    return StatePart(f"{state}>", moment, None if lasting is None else int(lasting))


def state_part(occurrence: Occurrence) -> StatePart | None:
    """Which moment of a state an occurrence is, or which graph; nothing for other events.

    These have their own ids as individuals. So an event named `begin` is another thing.
    """
    name = occurrence._id
    if not name or occurrence.parts or occurrence.individual != f"<{name}>":
        return None
    return apart(occurrence.event)


def is_moment(occurrence: Occurrence) -> bool:
    """Whether it is a moment of a state: BEGIN S, END S, S or S FOR d."""
    part = state_part(occurrence)
    return part is not None and part.moment != GRAPH


def moment_name(event: Term) -> Term:
    """The event of an END without the time that its episode lasts: an end is one occurrence (D43).

    >>> moment_name("<urn:S#end-5000000>")
    '<urn:S#end>'
    """
    part = apart(event)
    return part_of(part.of, part.moment) if part is not None and part.moment == "end" else event
