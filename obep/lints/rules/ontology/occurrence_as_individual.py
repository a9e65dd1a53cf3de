"""an occurrence compared with an individual

What it does: Finds a variable that stands for the occurrence of a composite event in one place and for an
individual of items in another.

Why: `Off(?p)` of a composite event without parameters binds ?p to the occurrence, whose name is `urn:obep:…`.
No individual of an item has this name, so the pattern never matches.

Example:

    EVENT Off MATCH R(?p) SEQ S(?p) WITHIN 5 min
    EVENT Again MATCH Off(?p) SEQ R(?p) WITHIN 1 h

Fix:

    EVENT Off(?p) MATCH R(?p) SEQ S(?p) WITHIN 5 min
    EVENT Again MATCH Off(?p) SEQ R(?p) WITHIN 1 h
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.pattern_durations import Measures
from obep.lints.analysis.pattern_layout import lay_out
from obep.model import Term
from obep.query import ast
from obep.query.diagnostics import warn
from obep.query.pattern_walk import operands
from obep.query.walk import reachable

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP251"
NAME = "occurrence-as-individual"
SEVERITY = "warning"

Way = tuple[tuple[ast.Pattern, int], ...]
"""From the top of a pattern to a leaf: through which operators, and which operand of each."""


class _Use(NamedTuple):
    """A variable of a leaf, and the events of which it is the individual; none where that is not known."""

    variable: ast.Var
    leaf: ast.Leaf
    way: Way
    of: frozenset[Term]


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    kinds = _Kinds(bundle)
    found = []
    for iri, event in bundle.linked.events.items():
        if isinstance(event, ast.CompositeEvent):
            by_name: dict[str, list[_Use]] = {}
            for use in kinds.uses(event.pattern):
                by_name.setdefault(use.variable.name, []).append(use)
            for uses in by_name.values():
                apart = next(kinds.apart(uses), None)
                if apart is not None:
                    found.append(kinds.warning(iri, *apart))
    return found


class _Kinds:
    """The meanings of the parameters of events."""

    def __init__(self, bundle: Bundle) -> None:
        self._bundle, self._events = bundle, bundle.linked.events
        self._definitions = Definitions(bundle.linked)
        self._known: dict[tuple[Term, int], frozenset[Term]] = {}
        self._reached: dict[Term, set[Term]] = {}
        for iri in (iri for group in self._definitions.groups for iri in group):  # parts come first
            event = self._events[iri]
            if isinstance(event, ast.CompositeEvent) and event.parameters:
                self._look_at(event)

    def _look_at(self, event: ast.CompositeEvent) -> None:
        binding = list(self._binding(event.pattern))
        for number, parameter in enumerate(event.parameters):
            same = (use.of for use in binding if use.variable.name == parameter.name)
            self._known[event.name.iri, number] = frozenset().union(*same)

    def uses(self, pattern: ast.Pattern) -> Iterator[_Use]:
        """The variables of all leaves; those under NOT bind nothing."""
        todo: list[tuple[ast.Pattern, Way]] = [(pattern, ())]
        while todo:
            node, way = todo.pop()
            if isinstance(node, ast.Leaf):
                for number, variable in enumerate(node.parameters):
                    yield _Use(variable, node, way, self._of(node.event.iri, number))
            elif not isinstance(node, ast.Not):
                below = list(enumerate(operands(node)))
                todo += [(operand, (*way, (node, number))) for number, operand in reversed(below)]

    def apart(self, uses: list[_Use]) -> Iterator[tuple[_Use, Term, Term]]:
        """The use that is an occurrence, whose, and the event whose individual never is that."""
        for one in uses:
            for occurrence in sorted(iri for iri in one.of if not self._is_logical(iri)):
                for other in uses:
                    if not _joined(one.way, other.way):
                        continue
                    for event in sorted(other.of):
                        same = event == occurrence and one.leaf.event.iri != other.leaf.event.iri
                        if not same and self._never(event, occurrence):  # a part may be named once more
                            yield one, occurrence, event

    def _of(self, iri: Term, number: int) -> frozenset[Term]:
        """The events of which a parameter is the individual: one, or more where it ties them together."""
        event = self._events.get(iri)
        if event is None or isinstance(event, ast.GraphEvent):  # a state, a group: any individual
            return frozenset()
        if isinstance(event, ast.CompositeEvent) and event.parameters:
            return self._known.get((iri, number), frozenset())  # it may be built on itself
        return frozenset((iri,))

    def _binding(self, pattern: ast.Pattern) -> Iterator[_Use]:
        """The variables of the leaves that take part in every candidate."""
        for use in self.uses(pattern):
            if not any(isinstance(node, ast.Or | ast.Optional) for node, _ in use.way) and not _denied(
                use.way
            ):
                yield use

    def _never(self, event: Term, occurrence: Term) -> bool:
        """Whether no individual of an event is ever the occurrence of a composite.

        It may be one where the event is found in an occurrence (SPEC §3): by its definition, by T, or by what
        is constructed. Nothing is found in an occurrence that it is itself made of.
        """
        logical = self._is_logical(event)
        if logical and event in self._parts(occurrence):
            return True
        if logical and occurrence in self._parts(event):
            return False
        return not any(
            (self._events[iri].construct and event not in self._parts(iri))
            or (iri in self._bundle.t.classes and (iri == occurrence or self._is_logical(iri)))
            for iri in (occurrence, *reachable(occurrence, self._users))
        )

    @cached_property
    def _users(self) -> dict[Term, list[Term]]:
        """The events that are built on each event."""
        found: dict[Term, list[Term]] = {iri: [] for iri in self._events}
        for iri, parts in self._definitions.parts.items():
            for part in parts:
                found[part].append(iri)
        return found

    def _is_logical(self, iri: Term) -> bool:
        return isinstance(self._events[iri], ast.LogicalEvent)

    def _parts(self, iri: Term) -> set[Term]:
        if iri not in self._reached:
            self._reached[iri] = reachable(iri, self._definitions.parts)
        return self._reached[iri]

    def warning(self, iri: Term, use: _Use, occurrence: Term, other: Term) -> Diagnostic:
        name, variable = self._events[occurrence].name.text, f"?{use.variable.name}"
        another = f"another {name}" if occurrence == other else self._events[other].name.text
        whose = "individual" if self._is_logical(other) else "occurrence"
        return warn(
            CODE, self._bundle.linked.file_of[iri], use.variable.span,
            f"{variable} is the occurrence of {name}, and the {whose} of {another}",
            f"{name} has no parameters, so {variable} is the occurrence itself, which has a name of its own "
            "(urn:obep:…). Only items about occurrences can make the two equal.",
            self._with_parameter(occurrence, use.variable),
        )  # fmt: skip

    def _with_parameter(self, occurrence: Term, variable: ast.Var) -> str:
        """The composite with a parameter: of this name, if its pattern has it, or the first that it binds."""
        event, linked = self._events[occurrence], self._bundle.linked
        assert isinstance(event, ast.CompositeEvent)
        scope = lay_out(event, linked.file_of[occurrence], Measures(self._definitions))
        individuals = [use.variable.name for use in self._binding(event.pattern) if use.of]
        bound = [*individuals, *scope.reported]
        if not bound:
            return f"EVENT {event.name.text}(?{variable.name}) MATCH …   with ?{variable.name} in its pattern"
        chosen = variable.name if variable.name in bound else bound[0]
        return f"EVENT {event.name.text}(?{chosen}) MATCH …"


def _joined(one: Way, other: Way) -> bool:
    """Whether two leaves are compared: their ways part at no OR, and no negation further down holds one."""
    for at, ((node, number), (_, another)) in enumerate(zip(one, other, strict=False), 1):
        if number != another:
            return not (isinstance(node, ast.Or) or _denied(one[at:]) or _denied(other[at:]))
    return False


def _denied(way: Way) -> bool:
    """Whether a way leads into what a negation denies."""
    return any(isinstance(node, ast.Without | ast.NotFollowedBy) and number == 1 for node, number in way)
