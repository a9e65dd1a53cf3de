"""Blocks of N-Quads that hold no error: their statements by two calls of the parser, whole graphs at once.

The graph that is recognised at once is the most common one: its time first, then its statements, then those
of another graph. Everything else goes to `Gathering` statement by statement, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence

import pyoxigraph

from obep.model import Term, Triple

_N_QUADS = pyoxigraph.RdfFormat.N_QUADS


def statements_of(block: bytes) -> list[str] | None:
    """The statements of whole lines, as they print; `None` if one cannot be read, or is not of terms alone.

    Blank nodes and triple terms have labels and checks of their own.
    """
    if b"_:" in block or b"<<" in block:
        return None
    try:
        written = pyoxigraph.serialize(pyoxigraph.parse(block, _N_QUADS), format=_N_QUADS)
    except (SyntaxError, ValueError):
        return None
    assert written is not None, "it is not written to a file"
    return written.decode().split(" .\n")[:-1]  # a line end in a text is escaped


WholeGraph = tuple[Term, str, list[Triple], int, int]
"""A graph with its time before it: its name, that time, its triples, its size, and where the next begins."""


def whole_graph(statements: Sequence[str], first: int, time_property: Term) -> WholeGraph | None:
    """The graph whose time stands at a place, if all of it stands there and another graph follows."""
    name, p, time = statements[first].split(" ", 2)
    if p != time_property or time[0] != '"' or '"' not in time[time.rfind(" ") + 1 :]:
        return None  # another statement, or a time within a graph
    end = f" {name}"
    cut = -len(end)
    triples: list[Triple] = []
    size, place = 0, first
    for place in range(first + 1, len(statements)):  # read after the loop
        statement = statements[place]
        if statement[cut:] != end:
            break
        try:
            s, p, o = statement[:cut].split(" ", 2)
        except ValueError:  # of three terms: it is outside of the graph that it is about
            break
        triples.append((s, p, o))
        size += len(statement)
    if not triples or not _another_follows(statements, place, name):
        return None
    return name, time[1 : time.rindex('"')], triples, size, place


def _another_follows(statements: Sequence[str], place: int, name: Term) -> bool:
    """Whether the next statement that is of a graph, if it stands here, is of another one."""
    for statement in statements[place : place + 2]:
        graph = statement[statement.rfind(" ") + 1 :]
        if '"' not in graph and statement.count(" ") > 2:
            return graph != name
    return False
