"""T without data: values become individuals, data ranges become classes of them, for HermiT.

HermiT's own datatypes give wrong answers: counting over a union or an intersection of ranges, and floats
that lie close together. So it sees none. `ranges.cells` cuts all values into cells that the ranges of T do
not cut further, and knows how large each is. A cell becomes a class, a small one with a name for each value;
a data property becomes an object property. Values and objects are kept apart: axioms that would also hold of
a value are restricted to objects. What T and an ABox entail about objects stays the same:

- Only the cell of a value matters, and which values are equal. A bijection of values that respects the
  cells of T keeps every axiom true.
- A cell with more values than axioms and assertions can ask for is as good as an infinite one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from fractions import Fraction
from functools import lru_cache
from hashlib import blake2b
from itertools import combinations

from obep.model import Term
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Assertion, Axiom, ClassExpression, DataRange, Inverse, ObjectProperty
from obep.ontology.owl.data_parts import (
    data_properties_in,
    individuals_in,
    literals_in,
    object_properties_of,
    ranges_in,
    values_asked,
)
from obep.ontology.owl.data_ranges import Cell, cells, undecidable, unfolded
from obep.ontology.owl.literals import Value, comparable, holds_value, value
from obep.ontology.owl.value_spaces.text_automata import TooComplex
from obep.ontology.rules.locality import parts_of

OBJECT = ax.Class("<urn:obep:object>")
"""The class of everything that is not a value."""
GIVEN = 16
"""Values of an ABox that the names of T's cells allow for; for more, T is loaded anew."""
_VALUE = ax.Class("<internal:obep#value>")
_SOMETHING = "<urn:obep:something>"
"""An object: OWL's domain is not empty, and values alone do not count."""


class Values:
    """The cells of T's data ranges, and axioms in their terms."""

    def __init__(self, t: Axioms, also: Iterable[DataRange] = (), given: int = GIVEN) -> None:
        """`also`: ranges that an ABox adds; `given`: how many values it may name."""
        self._t, self._definitions = t, t.datatype_definitions
        plain = dict.fromkeys((*ranges_in(t.axioms), *also))
        single = (ax.DataOneOf((literal,)) for literal in literals_in(t.axioms))
        self._number = {range: n for n, range in enumerate(dict.fromkeys((*plain, *single)))}
        self._ranges = tuple(unfolded(range, self._definitions) for range in self._number)
        try:
            self._cells: tuple[Cell, ...] = cells(self._ranges)
        except TooComplex:
            raise undecidable("A pattern has too many states.") from None
        self._index = {cell.inside: n for n, cell in enumerate(self._cells)}
        self._asked = sum(map(values_asked, t.axioms))
        self._given = given
        self._cell_of = lru_cache(4096)(self._find)

    # --- what has to be asked before

    def know(self, ranges: Iterable[DataRange]) -> bool:
        """Whether T has these ranges as well."""
        return all(range in self._number for range in ranges)

    def allow(self, given: int) -> bool:
        """Whether an ABox may name so many values."""
        most = self._asked + given
        return given <= self._given or not any(
            cell.size is not None and not self._small(cell) and cell.size <= most for cell in self._cells
        )

    def _small(self, cell: Cell) -> bool:
        return cell.size is not None and cell.size <= self._asked + self._given

    # --- cells

    def axioms(self) -> Iterator[Axiom]:
        """T in terms of values, and what values are."""
        for axiom in self._t.axioms:
            yield from self.said(axiom)
        yield from self._about_values()
        yield from self._about_objects()
        yield from self.objects(individuals_in(self._t.axioms))

    def _about_values(self) -> Iterator[Axiom]:
        every = [_cell(n) for n in range(len(self._cells))]
        yield ax.DisjointClasses((_VALUE, OBJECT))
        yield ax.ClassAssertion(OBJECT, _SOMETHING)
        yield ax.SubClassOf(_VALUE, ax.Or(tuple(every)))
        for n, cell in enumerate(self._cells):
            yield ax.SubClassOf(every[n], _VALUE)
            for bit in range(len(every).bit_length()):  # no two have the same bits: they are disjoint
                mark = ax.Class(f"<internal:obep#bit{bit}>")
                yield ax.SubClassOf(every[n], mark if n >> bit & 1 else ax.Not(mark))
            if self._small(cell):
                members = self._members(n)
                yield ax.SubClassOf(every[n], ax.OneOf(members))
                yield from (ax.ClassAssertion(every[n], member) for member in members)
                if len(members) > 1:
                    yield ax.DifferentIndividuals(members)

    def _about_objects(self) -> Iterator[Axiom]:
        for name in sorted(self._t.data_properties | data_properties_in(self._t.axioms)):
            if name == ax.BOTTOM_DATA_PROPERTY:
                yield ax.SubClassOf(ax.Some(_role(name), ax.TOP), ax.BOTTOM)
            yield ax.Domain(_role(name), OBJECT)
            yield ax.Range(_role(name), _VALUE)
        parts = [part for axiom in self._t.axioms for _, part in parts_of(axiom)]
        classes = {part.iri for part in parts if isinstance(part, ax.Class)} | self._t.classes
        for iri in sorted(classes - {ax.THING, ax.NOTHING}):
            yield ax.SubClassOf(ax.Class(iri), OBJECT)
        for role in sorted(object_properties_of(self._t)):
            yield ax.Domain(role, OBJECT)
            yield ax.Range(role, OBJECT)

    def _members(self, n: int) -> tuple[Term, ...]:
        cell = self._cells[n]
        if cell.members:
            return tuple(map(_name, cell.members))
        return tuple(f"<urn:obep:value:{n}:{k}>" for k in range(cell.size or 0))

    def _find(self, one: Value) -> int:
        return self._index[sum(holds_value(range, one) << n for n, range in enumerate(self._ranges))]

    def values(self, literals: Iterable[Term]) -> Iterator[Assertion]:
        """The axioms about the values of an ABox: their cells, and that they differ."""
        alike: dict[int, dict[Term, None]] = {}
        for one in dict.fromkeys(map(value, literals)):
            alike.setdefault(self._cell_of(one), {})[_name(one)] = None
        for n, names in alike.items():
            if self._small(self._cells[n]) and self._cells[n].members:
                continue
            yield from (ax.ClassAssertion(_cell(n), name) for name in names)
            if len(names) > 1:
                yield ax.DifferentIndividuals(tuple(names))

    def objects(self, individuals: Iterable[Term]) -> Iterator[Assertion]:
        """The axioms about named individuals."""
        return (ax.ClassAssertion(OBJECT, name) for name in sorted(set(individuals)))

    def laid(self, abox: Sequence[Assertion]) -> Iterator[Axiom]:
        """An ABox in terms of values."""
        for assertion in abox:
            yield from self.said(assertion)
        yield from self.values(literals_in(abox))
        yield from self.objects(individuals_in(abox))

    # --- axioms

    def said(self, axiom: Axiom) -> Iterator[Axiom]:
        """An axiom of T, of an ABox or of a goal, in terms of values."""
        match axiom:
            case ax.SubDataProperty(_, sup) if sup == ax.TOP_DATA_PROPERTY:
                return
            case ax.SubDataProperty(sub, sup):
                yield ax.SubProperty(_role(sub), _role(sup))
            case ax.EquivalentDataProperties(operands):
                yield ax.EquivalentProperties(tuple(map(_role, operands)))
            case ax.DisjointDataProperties(operands):
                yield ax.DisjointProperties(tuple(map(_role, operands)))
            case ax.DataDomain(role, expression):
                yield ax.Domain(_role(role), self.of(expression))
            case ax.DataPropertyRange(role, range):
                yield ax.Range(_role(role), self._class(range))
            case ax.FunctionalData(role):
                yield ax.Functional(_role(role))
            case ax.DatatypeDefinition():
                return
            case ax.HasKey(expression, roles, data):
                yield ax.HasKey(self.of(expression), (*roles, *map(_role, data)), ())
            case ax.DataAssertion(role, subject, literal):
                yield ax.PropertyAssertion(_role(role), subject, _name(value(literal)))
            case ax.NegativeDataAssertion(role, subject, literal):
                yield ax.ClassAssertion(ax.Not(ax.Value(_role(role), _name(value(literal)))), subject)
            case ax.ClassAssertion(expression, individual):
                yield ax.ClassAssertion(self.of(expression), individual)
            case ax.SafeRule():
                yield axiom.with_classes(self.of)
            case _:
                yield from self._of_objects(axiom)

    def _of_objects(self, axiom: Axiom) -> Iterator[Axiom]:
        """An axiom about objects, restricted to them if it would also apply to values."""
        match axiom:
            case ax.SubClassOf(sub, sup):
                yield _among_objects((self.of(sub),), self.of(sup))
            case ax.EquivalentClasses(operands):
                same = tuple(map(self.of, operands))
                if len({_of_values(one, guess) for one in same for guess in (False, True)}) == 1:
                    yield ax.EquivalentClasses(same)
                else:
                    for sub, sup in zip(same, same[1:] + same[:1], strict=True):
                        yield _among_objects((sub,), sup)
            case ax.DisjointClasses(operands):
                apart = tuple(map(self.of, operands))
                if sum(_of_values(one, True) for one in apart) < 2:
                    yield ax.DisjointClasses(apart)
                else:
                    for pair in combinations(apart, 2):
                        yield _among_objects(pair, ax.BOTTOM)
            case ax.DisjointUnion(name, operands):
                yield from self._of_objects(ax.EquivalentClasses((ax.Class(name), ax.Or(operands))))
                yield from self._of_objects(ax.DisjointClasses(operands))
            case ax.Domain(role, expression) | ax.Range(role, expression) if _universal(role):
                yield _among_objects((ax.TOP,), self.of(expression))
            case ax.Domain(role, expression):
                yield ax.Domain(role, self.of(expression))
            case ax.Range(role, expression):
                yield ax.Range(role, self.of(expression))
            case ax.PropertyAssertion(role) if _universal(role):
                return  # it is so anyway
            case ax.NegativePropertyAssertion(role, subject) if _universal(role):
                yield ax.ClassAssertion(ax.BOTTOM, subject)
            case ax.Reflexive(role):  # Self is for simple properties, and this one may be transitive
                named = role.property if isinstance(role, ax.Inverse) else role
                still = f"<internal:obep#still:{named[1:-1]}>"
                yield ax.SubClassOf(OBJECT, ax.HasSelf(still))
                yield ax.SubProperty(still, role)
            case _:
                _refuse_universal(axiom)
                yield axiom

    # --- expressions

    def of(self, expression: ClassExpression) -> ClassExpression:
        """A class expression in terms of values."""
        match expression:
            case ax.And(operands):
                return ax.And(tuple(map(self.of, operands)))
            case ax.Or(operands):
                return ax.Or(tuple(map(self.of, operands)))
            case ax.Not(operand):
                return ax.Not(self.of(operand))
            case ax.Some(role, filler):
                return ax.Some(role, self._filler(role, filler))
            case ax.Only(role, filler):
                outside = (ax.Not(OBJECT),) if _universal(role) else ()
                return ax.Only(role, ax.Or((self.of(filler), *outside)))
            case ax.Min(count, role, filler):
                return ax.Min(count, role, self._filler(role, filler))
            case ax.Max(count, role, filler):
                return ax.Max(count, role, self._filler(role, filler))
            case ax.Exactly(count, role, filler):
                return ax.Exactly(count, role, self._filler(role, filler))
        return self._of_data(expression)

    def _filler(self, role: ObjectProperty, filler: ClassExpression) -> ClassExpression:
        return ax.And((self.of(filler), OBJECT)) if _universal(role) else self.of(filler)

    def _of_data(self, expression: ClassExpression) -> ClassExpression:
        match expression:
            case ax.DataSome(role, range):
                if role == ax.TOP_DATA_PROPERTY:
                    return _truth(self._has(range, 1))
                return ax.Some(_role(role), self._class(range))
            case ax.DataOnly(role, range):
                if role == ax.TOP_DATA_PROPERTY:
                    return _truth(len(self._inside(range)) == len(self._cells))
                return ax.Only(_role(role), self._class(range))
            case ax.DataValue(role, literal):
                if role == ax.TOP_DATA_PROPERTY:
                    return ax.TOP
                return ax.Value(_role(role), _name(value(literal)))
            case ax.DataMin(count, role, range):
                if role == ax.TOP_DATA_PROPERTY or not self._has(range, count):
                    return _truth(self._has(range, count))
                return ax.Min(count, _role(role), self._class(range))
            case ax.DataMax(count, role, range):
                if role == ax.TOP_DATA_PROPERTY:
                    return _truth(not self._has(range, count + 1))
                return ax.Max(count, _role(role), self._class(range))
            case ax.DataExactly(count, role, range):
                least, most = ax.DataMin(count, role, range), ax.DataMax(count, role, range)
                return ax.And((self._of_data(least), self._of_data(most)))
        return expression

    def _inside(self, range: DataRange) -> list[int]:
        number = self._number[range]
        return [n for n, cell in enumerate(self._cells) if cell.inside >> number & 1]

    def _has(self, range: DataRange, count: int) -> bool:
        """Whether a range has so many values."""
        sizes = [self._cells[n].size for n in self._inside(range)]
        known = [size for size in sizes if size is not None]
        return len(known) < len(sizes) or sum(known) >= count

    def _class(self, range: DataRange) -> ClassExpression:
        """The values of a range: its cells, or all but the others where these are fewer."""
        inside = set(self._inside(range))
        outside = [_cell(n) for n in _numbers(self._cells) if n not in inside]
        if not outside:
            return ax.TOP
        if len(outside) < len(inside):
            return ax.Not(ax.Or(tuple(outside)))
        return ax.Or(tuple(_cell(n) for n in sorted(inside)))


def _numbers(of: Sequence[object]) -> Iterable[int]:
    return range(len(of))


def _cell(n: int) -> ax.Class:
    return ax.Class(f"<internal:obep#cell{n}>")


def _role(data_property: Term) -> Term:
    """The object property that stands for a data property."""
    return f"{data_property[:-1]}~data>"


@lru_cache(1 << 14)
def _name(one: Value) -> Term:
    """The individual that stands for a value."""
    exact: object = one.point
    if one.space == "real":  # Python writes only so many digits in decimal
        ratio = Fraction(comparable(one.point))
        exact = f"{ratio.numerator:x}/{ratio.denominator:x}"
    text = repr((one.space, exact, one.extra))
    return f"<urn:obep:value:{blake2b(text.encode(errors='replace'), digest_size=12).hexdigest()}>"


def _truth(holds: bool) -> ClassExpression:
    return ax.TOP if holds else ax.BOTTOM


def _universal(role: ObjectProperty) -> bool:
    return (role.property if isinstance(role, Inverse) else role) == ax.TOP_OBJECT_PROPERTY


def _among_objects(premises: tuple[ClassExpression, ...], sup: ClassExpression) -> Axiom:
    """An inclusion, restricted to objects if a value might not have it."""
    sub = ax.And(premises) if len(premises) > 1 else premises[0]
    if _of_values(sub, True) and not _of_values(sup, False):
        sub = ax.And((OBJECT, *premises))
    return ax.SubClassOf(sub, sup)


def _of_values(expression: ClassExpression, guess: bool) -> bool:
    """Whether an expression holds of what has no class and relates to nothing, as values do.

    `guess` is the answer where that depends on others.
    """
    match expression:
        case ax.Class(iri):
            return iri == ax.THING
        case ax.And(operands):
            return all(_of_values(operand, guess) for operand in operands)
        case ax.Or(operands):
            return any(_of_values(operand, guess) for operand in operands)
        case ax.Not(operand):
            return not _of_values(operand, not guess)
        case ax.Some(role) | ax.Min(_, role) | ax.Only(role) | ax.Max(_, role) if _universal(role):
            return guess
        case ax.Exactly(_, role) if _universal(role):
            return guess
        case ax.Value(role) if _universal(role):
            return True
        case ax.Only() | ax.Max():
            return True
        case ax.Min(count) | ax.Exactly(count):
            return count == 0
    return False


def _refuse_universal(axiom: Axiom) -> None:
    roles = {part for _, part in parts_of(axiom) if isinstance(part, str)}
    trivial = isinstance(axiom, ax.SubProperty) and _universal(axiom.sup)
    if ax.TOP_OBJECT_PROPERTY in roles and not trivial:
        raise undecidable("It has data, and says of the universal property that it implies another one.")
