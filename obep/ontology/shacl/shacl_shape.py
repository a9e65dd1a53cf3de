"""Shapes, read: which nodes conform, and what is wrong with those that do not."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import NamedTuple

from obep.model import Term
from obep.ontology.shacl.shape_paths import Path, ends, properties_of
from obep.ontology.shacl.triple_index import TripleIndex

_DEPTH = 100


class Wrong(NamedTuple):
    """A wrong value, with a message of its own."""

    value: Term | None
    message: str


Test = Callable[[TripleIndex, Term, list[Term]], Iterable[Term | Wrong | None]]
"""Which values of a focus node are wrong; `None` where it is not a matter of one value."""


class Result(NamedTuple):
    """Something that is wrong with a focus node."""

    focus: Term
    shape: Term
    constraint: str
    """The word of SHACL that is not met."""
    value: Term | None
    message: str
    severity: str
    """`Violation`, `Warning` or `Info`."""
    called: str = ""
    """The shape in words, where it has no name."""


@dataclass(eq=False)
class Shape:
    """A node shape, or a property shape (it has a path)."""

    node: Term
    path: Path | None = None
    tests: list[tuple[str, Test]] = field(default_factory=list)
    nested: list[Shape] = field(default_factory=list)
    """The shapes of sh:property, whose results are results of this one."""
    called: str = ""
    """Its name in messages, if it has no IRI."""
    message: str = ""
    severity: str = "Violation"
    deactivated: bool = False
    reads: set[Term] = field(default_factory=set)
    """The properties that its own tests read, beside those of its path."""
    parts: list[Shape] = field(default_factory=list)
    """All shapes that it uses."""
    classes: set[Term] = field(default_factory=set)
    """The classes of its tests."""
    reads_all: bool = False
    """Whether it may read any property."""
    sparql: bool = False
    """Whether it has a constraint in SPARQL."""

    def results(self, data: TripleIndex, focus: Term) -> Iterator[Result]:
        """The violations of a node; a shape that recurs at the same node holds there."""
        running = _running.get()
        key = (id(self), focus)
        if self.deactivated or key in running or len(running) > _DEPTH:
            return
        _running.set(running | {key})
        try:
            values = [focus] if self.path is None else ends(data, self.path, focus)
            for constraint, test in self.tests:
                for bad in test(data, focus, values):
                    value, own = bad if isinstance(bad, Wrong) else (bad, "")
                    said = own or self.message
                    yield Result(focus, self.node, constraint, value, said, self.severity, self.called)
            for inner in self.nested:
                for value in values:
                    yield from inner.results(data, value)
        finally:
            _running.set(running)

    def conforms(self, data: TripleIndex, focus: Term) -> bool:
        """Whether nothing is wrong with a node."""
        for _ in self.results(data, focus):
            return False
        return True

    def properties(self, seen: set[int] | None = None) -> frozenset[Term] | None:
        """The properties that it reads; `None` if that may be any."""
        seen = set() if seen is None else seen
        if id(self) in seen:
            return frozenset()
        seen.add(id(self))
        found = set(self.reads)
        if self.path is not None:
            found |= properties_of(self.path)
        for part in (*self.nested, *self.parts):
            more = part.properties(seen)
            if more is None:
                return None
            found |= more
        return None if self.reads_all else frozenset(found)


_running: ContextVar[frozenset[tuple[int, Term]]] = ContextVar("shapes that run", default=frozenset())
