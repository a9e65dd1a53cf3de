"""T without transitive properties and chains, with the same answers: their work is done by classes.

HermiT does this itself, wrongly where inverses come in (it loses answers, and invents some; REASONING 5.3
found the first kind), so it is not left to it. `R only C` with a complex R says: along every path whose
properties spell a word that is included in R, the end is a C. The words of R are those of an automaton
(Horrocks and Sattler); each of its states becomes a class, each step an axiom.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from itertools import combinations

from msgspec.structs import replace

from obep.errors import ObepError, fail
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import Axiom, ClassExpression, Inverse, ObjectProperty, SubClassOf, inverse
from obep.ontology.owl.role_box import inclusions, super_roles
from obep.ontology.owl.verbalise import name
from obep.ontology.rules.locality import parts_of
from obep.ontology.rules.negation_normal import is_left, nnf

Step = tuple[int, ObjectProperty | None, int]
"""From a state to another, along a property or for nothing."""
INTERNAL = "internal:obep#"
"""HermiT keeps classes of such names to itself."""

_SIMPLE_ONLY = (
    ax.Functional, ax.InverseFunctional, ax.Irreflexive, ax.Asymmetric,
    ax.Min, ax.Max, ax.Exactly, ax.HasSelf,
)  # fmt: skip


def without_complex_roles(axioms: tuple[Axiom, ...], words: Words) -> tuple[Axiom, ...]:
    """Axioms with the same answers, none of which makes a property transitive or a chain."""
    return tuple(Rewriting(words, "t").axioms(axioms)) if words.complex else axioms


class Words:
    """Which words of properties are included in a property."""

    def __init__(self, axioms: Iterable[Axiom]) -> None:
        axioms = tuple(axioms)
        above = super_roles(axioms)
        self._chosen = _representatives(above)
        self._bodies: dict[ObjectProperty, set[tuple[ObjectProperty, ...]]] = defaultdict(set)
        for sub, sup in inclusions(axioms):
            self._add((sub,), sup)
        for axiom in axioms:
            if isinstance(axiom, ax.Transitive):
                self._add((axiom.property,) * 2, axiom.property)
            elif isinstance(axiom, ax.SubChain):
                self._add(axiom.chain, axiom.sup)
        long = {head for head, bodies in self._bodies.items() if any(len(body) > 1 for body in bodies)}
        self._complex = self._closed(long)
        self.complex = {role for role in self._chosen if self._chosen[role] in self._complex} | self._complex
        """The properties with words longer than one, and those above them."""
        self._automata: dict[ObjectProperty, list[Step]] = {}

    def automaton(self, role: ObjectProperty) -> list[Step]:
        """Steps from state 0 to state 1 that spell the words of a complex role."""
        return self._automaton(self.chosen(role), ())

    def chosen(self, role: ObjectProperty) -> ObjectProperty:
        """The one that stands for all that are equivalent to it."""
        return self._chosen.get(role, role)

    def _add(self, body: tuple[ObjectProperty, ...], head: ObjectProperty) -> None:
        forth = tuple(map(self.chosen, body)), self.chosen(head)
        back = tuple(self.chosen(inverse(role)) for role in reversed(body)), self.chosen(inverse(head))
        for word, above in (forth, back):
            if word != (above,):
                self._bodies[above].add(word)

    def _closed(self, found: set[ObjectProperty]) -> set[ObjectProperty]:
        while more := {h for h, bodies in self._bodies.items() if any((b,) in bodies for b in found)} - found:
            found = found | more
        return found

    def _automaton(self, role: ObjectProperty, below: tuple[ObjectProperty, ...]) -> list[Step]:
        if role in below or inverse(role) in below:
            raise _irregular(role)
        known = self._automata.get(role)
        if known is None:
            known = self._automata[role] = list(self._steps(role, (*below, role)))
        return known

    def _steps(self, role: ObjectProperty, below: tuple[ObjectProperty, ...]) -> Iterator[Step]:
        fresh = 2
        yield 0, role, 1
        for body in sorted(self._bodies[role], key=str):
            ends = role == body[0], role == body[-1]
            inner = body[ends[0] : len(body) - ends[1]] if len(body) > 1 else body
            if body == (role, role):
                yield 1, None, 0
                continue
            if role in inner or all(ends):
                raise _irregular(role)
            if len(body) == 1 and body[0] not in self._complex:
                continue  # HermiT handles simple inclusions
            here, last = (1 if ends[0] else 0), (0 if ends[1] else 1)
            for i, step in enumerate(inner):
                there, fresh = (last, fresh) if i == len(inner) - 1 else (fresh, fresh + 1)
                if step not in self._complex:
                    yield here, step, there
                else:
                    steps = self._automaton(step, below)
                    yield here, None, fresh
                    yield from ((fresh + a, by, fresh + b) for a, by, b in steps)
                    yield fresh + 1, None, there
                    fresh += 1 + max(max(a, b) for a, _, b in steps)
                here = there


class Rewriting:
    """Puts classes for the states of automata in the place of `only` over complex roles."""

    def __init__(self, words: Words, prefix: str) -> None:
        """`prefix` keeps the new classes apart from those of another rewriting."""
        self._words = words
        self._prefix = prefix
        self._states: dict[tuple[ObjectProperty, ClassExpression], ClassExpression] = {}
        self._extra: list[Axiom] = []
        self._count = 0

    def axioms(self, axioms: Iterable[Axiom]) -> Iterator[Axiom]:
        """The axioms, rewritten."""
        for axiom in axioms:
            if isinstance(axiom, ax.Transitive | ax.SubChain) and not _is_inclusion(axiom):
                continue
            if any(isinstance(p, str | Inverse) and p in self._words.complex for _, p in parts_of(axiom)):
                _check_simple(axiom, self._words.complex)
                yield from self._axiom(axiom)
            else:
                yield axiom
            while self._extra:
                yield self._extra.pop()

    def _axiom(self, axiom: Axiom) -> Iterator[Axiom]:
        match axiom:
            case ax.SubClassOf(sub, sup):
                yield self._states_that(ax.Or((ax.Not(sub), sup)))
            case ax.EquivalentClasses(operands):
                for sub, sup in zip(operands, (*operands[1:], operands[0]), strict=True):
                    yield self._states_that(ax.Or((ax.Not(sub), sup)))
            case ax.DisjointClasses(operands):
                for one, other in combinations(operands, 2):
                    yield self._states_that(ax.Or((ax.Not(one), ax.Not(other))))
            case ax.DisjointUnion(term, operands):
                yield from self._axiom(ax.EquivalentClasses((ax.Class(term), ax.Or(operands))))
                yield from self._axiom(ax.DisjointClasses(operands))
            case ax.Domain(role, domain):
                yield self._states_that(ax.Or((ax.Only(role, ax.BOTTOM), domain)))
            case ax.Range(role, range):
                yield self._states_that(ax.Only(role, range))
            case ax.DataDomain(role, domain):
                yield replace(axiom, domain=self._named(domain, positive=True))
            case ax.HasKey(expression):
                yield replace(axiom, expression=self._named(expression, positive=False))
            case ax.SafeRule():
                body = axiom.with_classes(lambda one: self._named(one, positive=False)).body
                yield replace(axiom, body=body)
            case ax.ClassAssertion(expression, individual):
                yield ax.ClassAssertion(self._rewritten(nnf(expression)), individual)
            case ax.NegativePropertyAssertion(role, subject, object):
                yield ax.ClassAssertion(self._rewritten(ax.Only(role, ax.Not(ax.OneOf((object,))))), subject)
            case _:
                yield axiom

    def _states_that(self, expression: ClassExpression) -> Axiom:
        return SubClassOf(ax.TOP, self._rewritten(nnf(expression)))

    def _rewritten(self, e: ClassExpression) -> ClassExpression:
        """In negation normal form, and wherever it stands, only what makes it true matters."""
        match e:
            case ax.And(operands):
                return ax.And(tuple(map(self._rewritten, operands)))
            case ax.Or(operands):
                return ax.Or(tuple(map(self._rewritten, operands)))
            case ax.Not(ax.Value(role, individual)) if role in self._words.complex:
                return self._rewritten(ax.Only(role, ax.Not(ax.OneOf((individual,)))))
            case ax.Only(role, filler) if role in self._words.complex:
                return self._state(role, filler)
            case ax.Some(role, filler):
                return ax.Some(role, self._rewritten(filler))
            case ax.Only(role, filler):
                return ax.Only(role, self._rewritten(filler))
            case ax.Min(count, role, filler):
                return ax.Min(count, role, self._rewritten(filler))
            case ax.Max(count, role, filler):
                return ax.Max(count, role, self._named(filler, positive=False))
        return e

    def _state(self, role: ObjectProperty, filler: ClassExpression) -> ClassExpression:
        """What stands for `role only filler`.

        Where the filler only denies something, its opposite is handed backwards, to what can reach it,
        instead of the filler forwards: that leaves HermiT nothing to guess.
        """
        key = self._words.chosen(role), filler
        if key not in self._states:
            steps = self._words.automaton(role)
            states = [self._fresh() for _ in range(1 + max(max(a, b) for a, _, b in steps))]
            denies = is_left(nnf(filler, False))
            self._states[key] = ax.Not(states[0]) if denies else states[0]
            for here, by, there in steps:
                one, other = states[here], states[there]
                if denies:
                    self._extra.append(SubClassOf(other if by is None else ax.Some(by, other), one))
                else:
                    self._extra.append(SubClassOf(one, other if by is None else ax.Only(by, other)))
            last = states[1] if denies else ax.Not(states[1])
            self._extra.append(self._states_that(ax.Or((last, filler))))
        return self._states[key]

    def _named(self, expression: ClassExpression, *, positive: bool) -> ax.Class:
        """A class that is inside the expression, or (not positive) around it."""
        if isinstance(expression, ax.Class):
            return expression
        named = self._fresh()
        pair = (ax.Not(named), expression) if positive else (ax.Not(expression), named)
        self._extra.append(self._states_that(ax.Or(pair)))
        return named

    def _fresh(self) -> ax.Class:
        self._count += 1
        return ax.Class(f"<{INTERNAL}{self._prefix}{self._count}>")


def _is_inclusion(axiom: Axiom) -> bool:
    return isinstance(axiom, ax.SubChain) and len(axiom.chain) == 1


def _representatives(
    above: dict[ObjectProperty, frozenset[ObjectProperty]],
) -> dict[ObjectProperty, ObjectProperty]:
    """One for all that are equivalent; that of the inverse is the inverse, unless the role is symmetric."""
    chosen: dict[ObjectProperty, ObjectProperty] = {}
    for role in sorted(above, key=lambda r: (isinstance(r, Inverse), str(r))):
        if role not in chosen:
            same = {other for other in above[role] if role in above[other]}
            for other in same:
                chosen[other] = role
            for other in same:
                chosen.setdefault(inverse(other), inverse(role))
    return chosen


def _check_simple(axiom: Axiom, complex_roles: set[ObjectProperty]) -> None:
    for part in (axiom, *(part for _, part in parts_of(axiom))):
        counted = isinstance(part, _SIMPLE_ONLY) and {part.property}
        disjoint = isinstance(part, ax.DisjointProperties) and set(part.operands)
        for role in (counted or disjoint or set()) & complex_roles:
            raise fail(
                "OBEP342",
                "the ontology is not in OWL 2 DL",
                reason=f"{name(role)} is transitive or made of chains: nothing may be counted along it, and\n"
                "it may not be functional, irreflexive, asymmetric or disjoint.",
                remedy="count along a sub-property that is not transitive",
            )


def _irregular(role: ObjectProperty) -> ObepError:
    return fail(
        "OBEP342",
        "the ontology is not in OWL 2 DL",
        reason=f"The chains for {name(role)} lead back to it, which makes them irregular.",
        remedy="break the cycle between the chains",
    )
