"""Blocks of N-Quads that hold no error: their statements by two calls of the parser, whole graphs at once.

The graph that is recognised at once is the most common one: its time first, then its statements, then those
of another graph. Where many of them have equally many statements, their terms are read as columns. Everything
else goes to `Gathering` statement by statement, with the same result.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import islice, takewhile

import pyoxigraph

from obep.model import Term, Triple

_N_QUADS = pyoxigraph.RdfFormat.N_QUADS
FEW = 8
"""So many graphs are not worth columns."""


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


TripleColumns = tuple[Sequence[Term], Sequence[Term], Sequence[Term]]
"""The subjects, properties and objects of triples."""


@dataclass(slots=True)
class AlikeGraphs:
    """Graphs that follow each other, each with its time before it, and with equally many triples."""

    names: list[Term]
    times: list[str]
    triples: list[TripleColumns]
    """Those that stand first in each graph, those that stand second, and so on."""
    end: int
    """Where the next statement stands."""


def alike_graphs(statements: Sequence[str], first: int, time_property: Term, most: int) -> AlikeGraphs | None:
    """The graphs from a place on, as many as are alike; `None` if these are few.

    Each has at most `most` characters, and no triple twice.
    """
    one = whole_graph(statements, first, time_property)
    if one is None:
        return None
    width = one[4] - first
    most_graphs = (len(statements) - first - 2) // width  # a statement of another graph follows
    mark = f" {time_property} "
    heads = takewhile(lambda place: mark in statements[place], range(first, len(statements), width))
    count = sum(1 for _ in islice(heads, most_graphs))
    while count > FEW:
        found = _alike(statements, first, first + count * width, width, time_property)
        if found is not None and _another_follows(statements, found.end, found.names[-1]):
            longest = max(map(len, statements[first : found.end]))
            return found if longest * width <= most else None
        count //= 2
    return None


def _alike(
    statements: Sequence[str], first: int, end: int, width: int, time_property: Term
) -> AlikeGraphs | None:
    try:
        names, properties, times = zip(
            *[one.split(" ", 2) for one in statements[first:end:width]], strict=True
        )
        triples: list[TripleColumns] = []
        for place in range(first + 1, first + width):
            terms = [one.split(" ", 2) for one in statements[place:end:width]]
            subjects, predicates, rest = zip(*terms, strict=True)
            objects, _, graphs = zip(*[one.rpartition(" ") for one in rest], strict=True)
            if graphs != names:
                return None
            triples.append((subjects, predicates, objects))
    except ValueError:  # a statement of fewer terms
        return None
    said = [predicates[0] for _, predicates, _ in triples]
    plain = set(properties) == {time_property} and "" not in times and " " not in "".join(times)
    if not plain or {time[0] for time in times} != {'"'} or len(set(said)) < len(said):
        return None
    lexical = [time[1 : time.rindex('"')] for time in times]
    return AlikeGraphs(list(names), lexical, triples, end)
