"""The slots of the variables of one scope: a group with those in it, without the inside of sub-selects."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obep.model import Term
from obep.query import ast
from obep.query.group_walk import AtomColumns, projected
from obep.query.walk import children


class RowLayout:
    """Variables by name, each with its slot. Hidden ones are added while a group is translated."""

    def __init__(self, names: Iterable[str]) -> None:
        self.slots: dict[str, int] = {name: slot for slot, name in enumerate(dict.fromkeys(names))}

    def slot(self, variable: ast.Var | str) -> int:
        name = variable if isinstance(variable, str) else variable.name
        return self.slots.setdefault(name, len(self.slots))

    def hidden(self, kind: str) -> int:
        """A slot for a variable that the text does not have."""
        return self.slot(f"_:{kind} {len(self.slots)}")

    def __len__(self) -> int:
        return len(self.slots)


def mentioned(node: ast.Node, atoms: Mapping[Term, AtomColumns]) -> list[str]:
    """The variables that a node mentions in its own scope, in the order of the text."""
    found: list[str] = []
    stack = [node]
    while stack:
        current = stack.pop()
        if isinstance(current, ast.Var):
            found.append(current.name)
        elif isinstance(current, ast.Select):
            found += projected(current, atoms)
        else:
            if isinstance(current, ast.Atom):
                found += atoms.get(current.name.iri, ())
            stack += reversed(children(current))
    return found
