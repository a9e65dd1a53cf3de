"""Occurrences in RDF files, as the default graph describes them: a tree as far as the file goes.

It names the parts and items of each (`prov:wasDerivedFrom`). What a part says is in the file only if the part
was reported, too; aliases, bindings and when a fact was seen are not in RDF.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from obep.errors import fail
from obep.model import RDF_TYPE
from obep.output.rdf_writer import OBEP, PROV
from obep.output.why_tree import short

ITEM = "urn:obep:item:"


@dataclass
class Described:
    """An occurrence as RDF describes it."""

    id: str
    event: str = ""
    start: str = "?"
    end: str = "?"
    detected: str = ""
    bounded: bool = False
    status: str = ""
    """Of an alert: `firing`, or `resolved` if its end is in the file, too."""
    statements: list[str] = field(default_factory=list)
    """Its graph, but for what makes it an occurrence of its event."""
    individual: str = ""
    derived: list[str] = field(default_factory=list)
    """The names of its parts, and of the items that it was found in."""
    parts: dict[str, Described] = field(default_factory=dict)
    """The parts that the file describes."""

    def lines(self) -> Iterator[str]:
        """It, and below it what it was derived from, with what none of them says."""
        yield from self._lines("", frozenset({self.id}))

    def _lines(self, indent: str, met: frozenset[str]) -> Iterator[str]:
        about = f" of {short(self.individual)}" if self.individual else ""
        status = f"  ({self.status})" if self.status else ""
        bound = "  (a lower bound)" if self.bounded else ""
        yield f"{indent}{short(f'<{self.event}>')} {self._when()}{about}{bound}{status}"
        parts = {name: part for name, part in self.parts.items() if name not in met}
        below = set()
        if all(name in parts or name.startswith(ITEM) for name in self.derived):  # else it may be another's
            below = {text for part in parts.values() for text in (*part.statements, *part.derived)}
        yield from (f"{indent}  {_shown(text)}" for text in self.statements if text not in below)
        for name in self.derived:
            if name in parts:
                yield from parts[name]._lines(indent + "  ", met | {name})
            elif name not in below:
                yield f"{indent}  from {name}  ({self._lack(name)})"

    def _lack(self, name: str) -> str:
        """Why there is nothing below a name."""
        if name in self.parts:
            return "shown above"
        return "an item, which is not in the file" if name.startswith(ITEM) else "not in the file"

    def _when(self) -> str:
        text = f"at {self.start}" if self.start == self.end else f"from {self.start} to {self.end}"
        return text if self.detected in ("", self.end) else f"{text}, decided at {self.detected}"


def described(data: bytes, path: Path, id: str) -> dict[str, Described]:
    """The occurrences whose id holds `id`, by id; each with its parts, and theirs, that are there."""
    wanted = found = _described(data, path, lambda name: id in name)
    known, looked_for = dict(found), set(found)
    while names := {name for one in found.values() for name in one.derived} - looked_for:
        found = _described(data, path, names.__contains__)
        known |= found
        looked_for |= names
    for one in known.values():
        one.parts = {name: known[name] for name in one.derived if name in known}
    return wanted


def _described(data: bytes, path: Path, is_wanted: Callable[[str], bool]) -> dict[str, Described]:
    import pyoxigraph

    kind = pyoxigraph.RdfFormat.N_QUADS if path.suffix == ".nq" else pyoxigraph.RdfFormat.TRIG
    found: dict[str, Described] = {}
    try:
        for quad in pyoxigraph.parse(data, kind):
            graph, subject = quad.graph_name, quad.subject
            inside = isinstance(graph, pyoxigraph.NamedNode)
            name = graph if inside else subject
            if not isinstance(name, pyoxigraph.NamedNode) or not is_wanted(name.value):
                continue
            one = found.setdefault(name.value, Described(name.value))
            if inside:
                one.statements.append(str(quad.triple))
            else:
                _describe(one, quad.predicate.value, quad.object)
    except SyntaxError as error:
        raise fail("OBEP550", f"{path} cannot be read: {error}") from None
    occurrences = {name: one for name, one in found.items() if one.event}
    for one in occurrences.values():
        one.statements = list(dict.fromkeys(one.statements))  # an alert has two records
        _name(one)
    return occurrences


def _describe(one: Described, predicate: str, value: Any) -> None:
    text = value.value
    if predicate == f"{OBEP}event":
        one.event = text
    elif predicate == f"{OBEP}start":
        one.start = text
    elif predicate == f"{OBEP}end":
        one.end = text
    elif predicate == f"{PROV}generatedAtTime":
        one.detected = text
    elif predicate == f"{OBEP}bounded":
        one.bounded = text == "true"
    elif predicate == f"{OBEP}status":
        one.status = text
    elif predicate == f"{PROV}wasDerivedFrom":
        one.derived.append(text)


def _name(one: Described) -> None:
    """Find the individual of an occurrence: the only one of its class. A composite is its own."""
    end = f" {RDF_TYPE} <{one.event}>"
    typed = [text for text in one.statements if text.endswith(end)]
    if typed == [f"<{one.id}>{end}"]:
        one.statements.remove(typed[0])
    elif len(typed) == 1:
        one.individual = typed[0].removesuffix(end)
        one.statements.remove(typed[0])


def _shown(triple: str) -> str:
    return " ".join(map(short, triple.split(" ", 2)))
