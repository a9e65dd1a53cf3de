"""The variables that are in scope after a group (SPARQL 1.1, 18.2.1): those of `SELECT *`."""

from __future__ import annotations

from collections.abc import Mapping

from obep.model import Term
from obep.query import ast
from obep.query.group_walk import group_variables

AtomColumns = tuple[str, ...]
"""The variables of a state beside its parameters, which join by name (STATES 2)."""
HIDDEN = "_:"


def visible(group: ast.Group, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    """The variables that a group may bind, each once, without blank nodes."""
    return list(group_variables(group, atoms))


def projected(select: ast.Select, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    """The columns of a SELECT, in its order."""
    if select.projection:
        return [one.variable.name for one in select.projection]
    return list(group_variables(select, atoms))
