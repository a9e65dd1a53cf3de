"""Clauses as axioms of OWL, so that they apply to items by the rules of T, with explanations.

A body whose variables hang together as a tree is a class expression, or a chain of properties from one end of
the head to the other. A class on the way is a property that its members have to themselves (`HasSelf`).
A chain may begin or end with the property that it gives. Others that lead back to themselves are not regular:
OWL does not have them. Such a rule, and a body whose variables form a cycle, is a DL-safe rule: it holds of
named individuals.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from hashlib import blake2b

from obep.model import RDF_TYPE, Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Axiom
from obep.ontology.owl.data_parts import data_properties_in, object_properties_of
from obep.ontology.owl.rdf_nodes import BUILT_IN
from obep.ontology.rules.locality import parts_of
from obep.ontology.shacl.rule_clauses import FOCUS, Among, Clause, Has, IsA, KOnly

TEST = "urn:obep:test:"
"""The prefix of properties that the members of a class expression have to themselves."""


class ClauseAxioms:
    """The axioms of the clauses of a model."""

    def __init__(self, t: Axioms) -> None:
        self._t = t
        self._data = set(t.data_properties)
        self._roles = set(t.object_properties)
        self.found: dict[Axiom, None] = {}
        self._leads: dict[Term, set[Term]] = {}
        """For each property those that follow from it, as chains and inclusions say."""
        self._chained: set[tuple[Term, Term]] = set()
        for axiom in t.axioms:
            self._lead(axiom)

    def add(self, clauses: Iterable[Clause]) -> None:
        """Takes the clauses of one rule, all or none; raises `KOnly`."""
        clauses = tuple(clauses)
        new = [axiom for clause in clauses for axiom in self._of(clause)]
        known = {name: set(above) for name, above in self._leads.items()}, set(self._chained)
        if any(isinstance(axiom, ax.SubChain | ax.SubProperty) for axiom in new):
            for axiom in new:
                self._lead(axiom)
            if any(one in self._reached(sup) for one, sup in self._chained):
                self._leads, self._chained = known
                new = [_Joined(clause, self._is_data).axiom() for clause in clauses]
        self.found.update(dict.fromkeys(new))

    def _of(self, clause: Clause) -> list[Axiom]:
        try:
            return _Tree(clause, self._is_data).axioms()
        except KOnly:
            return [_Joined(clause, self._is_data).axiom()]

    def axioms(self) -> Axioms:
        """All of them, with the names that they use."""
        every = Axioms(tuple(self.found))
        classes = {part.iri for one in self.found for _, part in parts_of(one) if isinstance(part, ax.Class)}
        roles = object_properties_of(every)
        for axiom in self.found:
            match axiom:
                case ax.SubChain(chain, sup):
                    roles.update(map(_name, (*chain, sup)))
                case ax.SubProperty(sub, sup):
                    roles.update((_name(sub), _name(sup)))
        return Axioms(
            every.axioms,
            frozenset(classes) - {ax.THING, ax.NOTHING},
            frozenset(roles),
            frozenset(data_properties_in(every.axioms)),
        )

    def _is_data(self, property: Term, literal: bool) -> bool:
        """Whether a property has literals, where something says so; a property is of one kind."""
        if property in self._t.annotation_properties or property.startswith(BUILT_IN):
            raise KOnly(f"{property} is not an object property")
        if property not in self._data and property not in self._roles:
            (self._data if literal else self._roles).add(property)
        if literal and property not in self._data:
            raise KOnly(f"{property} has a literal, and is an object property")
        return property in self._data

    def _lead(self, axiom: Axiom) -> None:
        match axiom:
            case ax.SubProperty(sub, sup):
                self._edge(sub, sup)
            case ax.EquivalentProperties(operands):
                for one in operands:
                    for other in operands:
                        self._edge(one, other)
            case ax.InverseProperties(first, second):
                self._edge(first, second)
                self._edge(second, first)
            case ax.SubChain(chain, sup) if not (len(chain) == 2 and chain[0] == chain[1] == sup):
                end = next((place for place in (0, -1) if chain[place] == sup), None)
                others = chain if end is None else chain[1:] if end == 0 else chain[:-1]
                for role in others:  # a chain may go on along its own property, at one of its ends
                    self._edge(role, sup)
                    self._chained.add((_name(role), _name(sup)))

    def _edge(self, sub: ax.ObjectProperty, sup: ax.ObjectProperty) -> None:
        self._leads.setdefault(_name(sub), set()).add(_name(sup))

    def _reached(self, begin: Term) -> set[Term]:
        found, waiting = {begin}, [begin]
        while waiting:
            more = self._leads.get(waiting.pop(), set()) - found
            found |= more
            waiting += more
        return found


class _Body:
    """The body of a clause."""

    def __init__(self, clause: Clause, is_data: Callable[[Term, bool], bool]) -> None:
        self.head = clause.head
        self._is_data = is_data
        body = list(dict.fromkeys(clause.body))
        self._classes = [one for one in body if isinstance(one, IsA)]
        self._ranges: dict[str, list[ax.DataRange]] = {one.node: [] for one in body if isinstance(one, Among)}
        for one in body:
            if isinstance(one, Among):
                self._ranges[one.node].append(one.range)
        self._edges = [one for one in body if isinstance(one, Has)]

    def _nodes(self) -> set[str]:
        """The variables that the body mentions, and the focus."""
        ends = {end for one in self._edges for end in (one.subject, one.object) if end.startswith("?")}
        return {FOCUS, *ends, *(one.node for one in self._classes), *self._ranges}

    def _holds_together(self, links: list[tuple[str, str]], nodes: set[str]) -> bool:
        """Whether the links lead from the focus to all nodes, those of the head among them."""
        reached, waiting = {FOCUS}, [FOCUS]
        while waiting:
            near = waiting.pop()
            more = {b if a == near else a for a, b in links if near in (a, b)} - reached
            reached |= more
            waiting += more
        return reached == nodes and {one for one in self.head[::2] if one.startswith("?")} <= nodes

    def _in_class(self, at: str) -> list[ax.ClassExpression]:
        """The classes that the body asks of a variable."""
        if at in self._ranges:
            raise KOnly("it compares something other than a value of a data property")
        return [one.of for one in self._classes if one.node == at and one.of != ax.TOP]

    def _to_constant(self, at: str, edge: Has) -> ax.ClassExpression:
        """An edge from a variable to an individual or a literal, or the other way."""
        far = _other(edge, at)
        if far.startswith('"'):
            self._is_data(edge.property, True)
            return ax.DataValue(edge.property, far)
        if self._is_data(edge.property, False):
            raise KOnly(f"{edge.property} has an individual, and is a data property")
        return ax.Value(_role(edge, at), far)

    def _to_value(self, edge: Has) -> ax.ClassExpression:
        """An edge from a variable to a value."""
        far = edge.object
        if any(far == one.subject for one in self._edges) or any(one.node == far for one in self._classes):
            raise KOnly("it has conditions on a value beyond its range")
        ranges = self._ranges.get(far, [])
        return ax.DataSome(
            edge.property,
            ax.DataAnd(tuple(ranges)) if len(ranges) > 1 else ranges[0] if ranges else ax.ANY_LITERAL,
        )


class _Joined(_Body):
    """A body of any form, as that of a DL-safe rule."""

    def axiom(self) -> Axiom:
        """The rule."""
        nodes, values = self._nodes(), set[str]()
        classes: list[ax.ClassAtom] = []
        links: dict[ax.PropertyAtom, None] = {}
        for edge in self._edges:
            ends = [end for end in (edge.subject, edge.object) if end.startswith("?")]
            if not ends:
                raise KOnly("a triple of it is fixed")
            if len(ends) == 1:
                classes.append(ax.ClassAtom(self._to_constant(ends[0], edge), ends[0]))
            elif self._is_data(edge.property, edge.object in self._ranges):
                if edge.object in values or edge.object in self.head:
                    raise KOnly("it carries a value along properties, or compares values with each other")
                values.add(edge.object)
                classes.append(ax.ClassAtom(self._to_value(edge), edge.subject))
            else:
                links[ax.PropertyAtom(edge.property, *ends)] = None
        nodes -= values
        if not self._holds_together([(one.source, one.target) for one in links], nodes):
            raise KOnly("its variables do not hang together")
        classes += [ax.ClassAtom(of, node) for node in sorted(nodes) for of in self._in_class(node)]
        return ax.SafeRule((*dict.fromkeys(classes), *links), self._concluded())

    def _concluded(self) -> ax.ClassAtom | ax.PropertyAtom:
        subject, property, object_ = self.head
        fixed = not object_.startswith("?")
        if property == RDF_TYPE and subject.startswith("?") and fixed:
            return ax.ClassAtom(ax.Class(object_), subject)
        data = property != RDF_TYPE and self._is_data(property, object_.startswith('"'))
        if property == RDF_TYPE or not (subject.startswith("?") or object_.startswith("?")):
            raise KOnly("its head is fixed, or its class is a variable")
        if data and object_.startswith('"'):
            return ax.ClassAtom(ax.DataValue(property, object_), subject)
        if data:
            raise KOnly(f"{property} has an individual, and is a data property")
        if fixed:
            return ax.ClassAtom(ax.Value(property, object_), subject)
        if not subject.startswith("?"):
            return ax.ClassAtom(ax.Value(ax.Inverse(property), subject), object_)
        return ax.PropertyAtom(property, subject, object_)


class _Tree(_Body):
    """A body whose variables form a tree, looked at from one of them."""

    def __init__(self, clause: Clause, is_data: Callable[[Term, bool], bool]) -> None:
        super().__init__(clause, is_data)
        pairs = [(one.subject, one.object) for one in self._edges]
        if any(not s.startswith("?") for s, _ in pairs):
            raise KOnly("a subject of it is fixed")
        nodes, links = self._nodes(), [pair for pair in pairs if pair[1].startswith("?")]
        if len(links) != len(nodes) - 1 or not self._holds_together(links, nodes):
            raise KOnly("its variables do not hang together as a tree")

    def axioms(self) -> list[Axiom]:
        subject, property, object_ = self.head
        if not subject.startswith("?"):
            raise KOnly("the subject of its head is fixed")
        if property == RDF_TYPE:
            if object_.startswith("?"):
                raise KOnly("the class of its head is a variable")
            return [ax.SubClassOf(self._expression(subject), ax.Class(object_))]
        if not object_.startswith("?"):
            data = self._is_data(property, object_.startswith('"'))
            if data and not object_.startswith('"'):
                raise KOnly(f"{property} has an individual, and is a data property")
            sup = ax.DataValue(property, object_) if data else ax.Value(property, object_)
            return [ax.SubClassOf(self._expression(subject), sup)]
        if subject == object_:
            raise KOnly("both ends of its head are one variable")
        return self._between(subject, property, object_)

    def _between(self, subject: str, property: Term, object_: str) -> list[Axiom]:
        """The axioms of a head with two variables: an inclusion or a chain of properties."""
        way = self._way(subject, object_)
        if any(self._is_data(edge.property, False) for edge in way):
            return self._of_values(way, subject, property, object_)
        if self._is_data(property, False):
            raise KOnly(f"{property} has an individual, and is a data property")
        roles: list[ax.ObjectProperty] = []
        found: list[Axiom] = []
        near = subject
        for number in range(len(way) + 1):
            side = self._parts(near, way)
            implied = {ax.Some(_role(edge, near), ax.TOP) for edge in way[max(number - 1, 0) : number + 1]}
            side = [part for part in side if part not in implied]
            if side:
                test = f"<{TEST}{blake2b(repr(side).encode(), digest_size=8).hexdigest()}>"
                found.append(ax.SubClassOf(_and(side), ax.HasSelf(test)))
                roles.append(test)
            if number < len(way):
                roles.append(_role(way[number], near))
                near = _other(way[number], near)
        sub = roles[0] if len(roles) == 1 else None
        return [*found, ax.SubChain(tuple(roles), property) if sub is None else ax.SubProperty(sub, property)]

    def _of_values(self, way: list[Has], subject: str, property: Term, object_: str) -> list[Axiom]:
        sides = [
            part for part in self._parts(subject, way) if part != ax.DataSome(way[0].property, ax.ANY_LITERAL)
        ]
        if len(way) != 1 or sides or object_ in self._ranges or not self._is_data(property, True):
            raise KOnly("it carries a value along properties, or under a condition")
        return [ax.SubDataProperty(way[0].property, property)]

    def _way(self, begin: str, end: str) -> list[Has]:
        """The edges from one variable to another."""
        waiting: list[tuple[str, list[Has]]] = [(begin, [])]
        while waiting:
            near, way = waiting.pop()
            if near == end:
                return way
            waiting += [
                (_other(edge, near), [*way, edge])
                for edge in self._edges
                if near in (edge.subject, edge.object) and edge not in way and edge.object.startswith("?")
            ]
        raise KOnly("its variables do not hang together as a tree")

    def _expression(self, at: str, without: Has | None = None) -> ax.ClassExpression:
        return _and(self._parts(at, [without] if without is not None else []))

    def _parts(self, at: str, without: list[Has]) -> list[ax.ClassExpression]:
        """The conditions of the body on a variable, without some edges."""
        found = self._in_class(at)
        near = [edge for edge in self._edges if at in (edge.subject, edge.object) and edge not in without]
        return list(dict.fromkeys((*found, *(self._part(at, edge) for edge in near))))

    def _part(self, at: str, edge: Has) -> ax.ClassExpression:
        far = _other(edge, at)
        if not far.startswith("?"):
            return self._to_constant(at, edge)
        if self._is_data(edge.property, far in self._ranges):
            return self._to_value(edge)
        return ax.Some(_role(edge, at), self._expression(far, edge))


def _role(edge: Has, at: str) -> ax.ObjectProperty:
    """The property in the direction from a node."""
    return edge.property if edge.subject == at else ax.Inverse(edge.property)


def _other(edge: Has, at: str) -> str:
    return edge.object if edge.subject == at else edge.subject


def _and(parts: list[ax.ClassExpression]) -> ax.ClassExpression:
    return ax.TOP if not parts else parts[0] if len(parts) == 1 else ax.And(tuple(parts))


def _name(role: ax.ObjectProperty) -> Term:
    return role.property if isinstance(role, ax.Inverse) else role
