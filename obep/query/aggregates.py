"""The aggregates of SPARQL and of states (STATES.md 2): their names, and what they take."""

from __future__ import annotations

from typing import NamedTuple


class Usage(NamedTuple):
    """The syntax of an aggregate."""

    written: str
    reason: str
    arguments: tuple[int, ...] = (1,)
    """The allowed numbers of arguments; the `*` of COUNT is one."""
    distinct: bool = False


def _of_values(name: str) -> Usage:
    reason = f"{name} takes one expression, and may have DISTINCT before it."
    return Usage(f"{name}(?x)", reason, distinct=True)


def _in_time(name: str) -> Usage:
    return Usage(f"{name}(?x)", f"{name} takes one expression. Its rows are ordered by time.")


def _of_group(name: str) -> Usage:
    return Usage(f"{name}()", f"{name} is about the whole group, so it has no argument.", (0,))


AGGREGATES: dict[str, Usage] = {
    **{name: _of_values(name) for name in ("SUM", "MIN", "MAX", "AVG", "SAMPLE", "STDDEV", "MEDIAN")},
    "COUNT": Usage("COUNT(*) or COUNT(?x)", "COUNT takes * or one expression.", distinct=True),
    "GROUP_CONCAT": Usage(
        'GROUP_CONCAT(?x; SEPARATOR=", ")', "It takes one expression, and a SEPARATOR.", distinct=True
    ),
    "PERCENTILE": Usage("PERCENTILE(?x, 95)", "It takes an expression and a number, 0 < p <= 100.", (2,)),
    **{
        name: _in_time(name)
        for name in ("FIRST", "LAST", "RATE", "SLOPE", "TIMEAVG", "CHANGES", "TRAVEL", "TURNS")
    },
    **{name: _of_group(name) for name in ("FULL", "HELD")},
}
"""By their names in upper case."""
