"""Which rules are exact, and which only bound what follows.

In: the rules of T with their bounds. Out: `Profile`: the rules of the lower and of the upper reading, and for
each rule that only the upper one has, why, in words. The conditions under which existentials may share one
witness are those of docs/reasoning.md; each is looked for, none is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from obep.model import Term
from obep.ontology.closure.store import Store
from obep.ontology.owl.axioms import DIFFERENT_FROM, NOTHING, SAME_AS, THING, DataAnd, DataNot, DataRange
from obep.ontology.owl.data_ranges import size_of
from obep.ontology.owl.verbalise import name
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.normal_form import Normal
from obep.ontology.rules.program import FILL, IS, SELF_IN, Program, witness_name
from obep.ontology.rules.promised_values import tested
from obep.ontology.rules.relevance import Clauses, relevant
from obep.ontology.rules.role_relations import SAME, Relations
from obep.ontology.rules.rule_kinds import Bound, Role, Rule, Symbol
from obep.ontology.rules.universals import Universals
from obep.ontology.rules.witness_sharing import Sharing, promised, promiser

_R = TypeVar("_R", bound=Rule)
_WITNESSES = 6
"""The most witnesses of a `min`; beyond them it is left to the reasoner."""
Static = Callable[[list[Rule]], tuple[Program, Store]]
"""Build a program and close T alone under it."""


@dataclass(slots=True)
class Profile:
    """The two readings of T."""

    lower: list[Rule]
    upper: list[Rule]
    why: dict[Rule, str] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)
    """Axioms without an upper bound: every answer is open."""
    clauses: Clauses = ()
    hints: frozenset[Rule] = frozenset()
    """Rules that a reasoner found: they follow from the others, so an exact event stays exact."""

    def exact(self) -> bool:
        """Whether the rules say it all."""
        return not self.opaque and not self.why

    def reasons(self, goal: Symbol, relations: Relations) -> list[str]:
        """Describe why an event needs the reasoner; also what may make an item contradict T."""
        return self.reasons_of((goal,), relations)

    def reasons_of(self, goals: Iterable[Symbol | int], relations: Relations) -> list[str]:
        """The same for some concepts and relations together."""
        if not self.why:  # a query may have thousands of events
            return list(dict.fromkeys(self.opaque))
        rules = [rule for rule in self.upper if rule not in self.hints]
        used, _ = relevant(rules, (*goals, NOTHING), relations, self.clauses)
        return list(dict.fromkeys([*self.opaque, *(w for rule, w in self.why.items() if rule in used)]))


def profile(
    rules: Mapping[Rule, Bound],
    normal: Normal,
    relations: Relations,
    datatypes: Mapping[Term, DataRange],
    static: Static,
) -> Profile:
    """Sorts the rules."""
    found = _Sorter(rules, normal, relations, datatypes).sort(static)
    found.clauses = normal.counted({*found.lower, *(rule for rule in found.upper if rule not in rules)})
    return found


class _Sorter:
    def __init__(
        self,
        rules: Mapping[Rule, Bound],
        normal: Normal,
        relations: Relations,
        datatypes: Mapping[Term, DataRange],
    ) -> None:
        self.relations, self.datatypes, self.normal = relations, datatypes, normal
        self.lower = {rule: None for rule, bound in rules.items() if bound != Bound.UPPER}
        self.upper = {rule: None for rule, bound in rules.items() if bound != Bound.LOWER}
        only = {rule for rule, bound in rules.items() if bound == Bound.UPPER}
        self.why = {rule: words for rule, words in normal.why.items() if rule in only}
        self.opaque = list(normal.opaque)

    def _of(self, kind: type[_R]) -> list[_R]:
        return [rule for rule in self.upper if isinstance(rule, kind)]

    def sort(self, static: Static) -> Profile:
        self._data_witnesses()
        self._sharing = Sharing(self.upper, self.lower, self.relations, self.normal)
        self._counted_witnesses()
        promised_surely = [rule for rule in self.lower if isinstance(rule, r.Witness)]
        for rule in dict.fromkeys((*self._of(r.Witness), *promised_surely)):
            if words := self._sharing.spoils(rule):
                self._only_upper(rule, words)
        self._reflexive()
        if any(isinstance(rule, r.Witness | r.Fill | r.Is) for rule in self.upper):
            self._universal(static)
        while any(isinstance(rule, r.Witness) for rule in self.lower) and self._may_be_spoilt():
            if not self._static_spoilt(*static(list(self.lower))):
                break
        return Profile(list(self.lower), list(self.upper), self.why, list(dict.fromkeys(self.opaque)))

    def _only_upper(self, rule: Rule, words: str) -> None:
        self.lower.pop(rule, None)
        self.why.setdefault(rule, words)

    # --- data

    def _data_witnesses(self) -> None:
        """A value that is promised but not given: what surely holds of it, and what perhaps."""
        counts: dict[int, list[r.Count]] = {}
        for count in self._of(r.Count):
            counts.setdefault(self.relations.of(count.property)[0], []).append(count)
        promises = self._of(r.DataWitness)
        self._keyed(promises)
        by_property: dict[Term, list[r.DataWitness]] = {}
        for rule in promises:
            by_property.setdefault(rule.property, []).append(rule)
        compared = self._compared_values()
        for property, some in by_property.items():
            above = dict.fromkeys(number for number, _ in self.relations.above(property))
            tests = [count for number in above for count in counts.get(number, ())]
            compares = not compared.isdisjoint(above)
            values = tested(property, some, tests, self.datatypes, compared=compares)
            for rule in some:
                if not values.has_values(rule):  # nothing is of its premise
                    impossible = r.Sub((rule.premise,), NOTHING)
                    self._follows(impossible, rule in self.lower, self.why.get(rule, ""))
                self._data_witness(rule, *values.of(rule))
            for follows in values.rules():
                self._follows(follows, True, "")
        self._shared_values(promises)
        for rule in promises:
            for rules in (self.lower, self.upper, self.why):
                rules.pop(rule, None)

    def _follows(self, rule: Rule, surely: bool, words: str) -> None:
        """A rule that another one comes to: of both readings, or of the upper one only."""
        if surely:
            self.lower[rule] = self.upper[rule] = None
            self.why.pop(rule, None)
        elif rule not in self.upper:
            self._only_in_upper(rule, words)

    def _compared_values(self) -> set[int]:
        """The relations whose values are compared with each other, not only with T's constants."""
        found = {self.relations.of(role)[0] for x in self._of(r.Key) for role in x.roles}
        for x in self._of(r.RolesApart):
            found |= {self.relations.of(x.first)[0], self.relations.of(x.second)[0]}
        return found

    def _data_witness(self, rule: r.DataWitness, surely: list[Symbol], perhaps: list[r.Count]) -> None:
        words = (
            f"the {name(rule.property)} that {promiser(rule, self.normal)} promises, if none is given: "
            "its value is open"
        )
        for passed in surely:
            self._follows(r.Sub((rule.premise,), passed), rule in self.lower, words)
        for count in perhaps:
            self._follows(r.Sub((rule.premise,), count.head), False, words)

    def _shared_values(self, promises: list[r.DataWitness]) -> None:
        """A promised value of a property may be one of another property that is disjoint with it."""
        apart = [(self.relations.of(x.first)[0], x.second) for x in self._of(r.RolesApart)]
        apart += [(self.relations.of(x.second)[0], x.first) for x in self._of(r.RolesApart)]
        for rule in promises:
            above = {number for number, _ in self.relations.above(rule.property)}
            words = f"the {name(rule.property)} that {promiser(rule, self.normal)} promises: which is open"
            for number, other in apart:
                if number not in above or not isinstance(other, str):
                    continue
                given = f"~shared({rule.property},{other},{rule.premise},{rule.range})"
                self._only_in_upper(r.Count(other, rule.range, 1, given), words)
                self._only_in_upper(r.Sub((rule.premise, given), NOTHING), words)
                for second in promises:
                    both = {n for n, _ in self.relations.above(second.property)}
                    if self.relations.of(other)[0] in both:
                        premises = tuple(dict.fromkeys((rule.premise, second.premise)))
                        self._only_in_upper(r.Sub(premises, NOTHING), words)

    def _keyed(self, promises: list[r.DataWitness]) -> None:
        """Promised values of a key make individuals equal where there are too few of them."""
        keyed = {self.relations.of(role)[0] for x in self._of(r.Key) for role in x.roles}
        tied = [x for x in promises if any(n in keyed for n, _ in self.relations.above(x.property))]
        if not tied:
            return
        forbidding, _ = relevant(list(self.upper), (NOTHING,), self.relations)
        for rule in tied:
            above = {number for number, _ in self.relations.above(rule.property)}
            outside = [
                DataNot(x.range)
                for x in forbidding
                if isinstance(x, r.Count) and self.relations.of(x.property)[0] in above
            ]
            if size_of(DataAnd((rule.range, *outside)), self.datatypes) is not None:
                self.opaque.append(f"{name(rule.property)} is a key, and its value is open")

    # --- witnesses

    def _counted_witnesses(self) -> None:
        """`min 2` on the right is one witness, unless it matters that there are two: they may be made equal.

        Whoever counts along the role does that, and a witness that is one of some named individuals.
        """
        counted = {self.relations.of(x.role)[0] for x in self._of(r.Merge)}
        named = bool(self._of(r.Is))
        for rule in [x for x in self._of(r.Witness) if x.count > 1]:
            if not named and not any(number in counted for number, _ in self.relations.above(rule.role)):
                continue
            words = f"{name(rule.role)} min {rule.count}: counting"
            if rule.count > _WITNESSES:
                self.opaque.append(words)
                continue
            del self.upper[rule]
            fillers = [f"{rule.filler}~{n}" for n in range(rule.count)]
            for filler in fillers:
                self._only_in_upper(r.Witness(rule.premise, rule.role, filler), words)
                self._only_in_upper(r.Sub((filler,), rule.filler), words)
            for one, other in combinations(fillers, 2):
                names = (witness_name(rule.role, one), witness_name(rule.role, other))
                self._only_in_upper(r.Edge(DIFFERENT_FROM, *names), words)

    def _only_in_upper(self, rule: Rule, words: str) -> None:
        self.upper[rule] = None
        self.why.setdefault(rule, words)

    def _may_be_spoilt(self) -> bool:
        """Whether anything can tie a witness to a name, make it equal to another, or forbid a loop."""
        return any(
            isinstance(rule, r.Is | r.Fill | r.Merge | r.Key | r.RolesApart | r.Edge)
            or (isinstance(rule, r.SelfIn) and rule != r.UNEQUAL_TO_ITSELF)
            for rule in (*self.lower, *self.upper)
        )

    def _static_spoilt(self, program: Program, store: Store) -> bool:
        """Witnesses that are tied to a name, equal to another, or their own successors where it counts."""
        bad = dict.fromkeys(self._in_circles(program, store), "in a circle of disjoint properties")
        loops = {op[1] for op in program.flat if op[0] == SELF_IN}
        loops |= {self.relations.of(x.first)[0] for x in self._of(r.RolesApart)}
        for w in program.witnesses:
            ops = [op for c in store.types[w] for op in program.concept_ops[c]]
            if any(op[0] == IS or (op[0] == FILL and op[2] not in program.witnesses) for op in ops):
                bad[w] = "tied to a named individual"
            elif store.forwards.get(w * len(program.stored) + SAME):
                bad[w] = "equal to another"
            elif any(store.has_edge(number, w, w) for number in loops):
                bad[w] = "its own successor"
        spoilt = [
            rule
            for rule in self.lower
            if isinstance(rule, r.Witness) and program.names.witness(rule.role, rule.filler) in bad
        ]
        for rule in spoilt:
            words = bad[program.names.witness(rule.role, rule.filler)]
            self._only_upper(rule, f"{promised(rule, self.normal)}: {words}")
        return bool(spoilt)

    def _in_circles(self, program: Program, store: Store) -> Iterator[int]:
        """Witnesses that two disjoint properties lead to from the same witness, one of them by chance.

        Where one witness stands for many, a property that leads back to one of the many leads back to all.
        """
        width = len(program.stored)
        apart = [(self.relations.of(x.first), self.relations.of(x.second)) for x in self._of(r.RolesApart)]
        for rule in [x for x in self.lower if isinstance(x, r.Witness)] if apart else ():
            w, above = program.names.witness(rule.role, rule.filler), self.relations.above(rule.role)
            for (one, back), (other, other_back) in apart:
                for way in (False, True):
                    pair = (one, back != way), (other, other_back != way)
                    if set(pair) <= set(above):
                        continue  # it cannot exist
                    (_, first_back), (_, second_back) = pair
                    ends = (store.forwards if first_back else store.backwards).get(w * width + one, ())
                    if any(
                        store.has_edge(other, w, u) if second_back else store.has_edge(other, u, w)
                        for u in ends
                        if u in program.witnesses
                    ):
                        yield w

    # --- what holds of everything

    def _reflexive(self) -> None:
        """What everything has to itself is not written down, so it can be neither counted nor compared."""
        reflexive = Universals(self.upper, self.relations).reflexive
        for rule in self.upper:
            roles: tuple[Role, ...] = ()
            if isinstance(rule, r.Merge):
                roles = (rule.role,)
            elif isinstance(rule, r.RolesApart):
                roles = (rule.first, rule.second)
            elif isinstance(rule, r.Key):
                roles = rule.roles
            elif isinstance(rule, r.Join | r.JoinEdge):
                roles = tuple(role for role, _, _ in rule.body.edges)
            for role in roles:
                if self.relations.of(role)[0] in reflexive:
                    joined = isinstance(rule, r.Join | r.JoinEdge)
                    how = "part of the body of a rule" if joined else "bounded"
                    self.opaque.append(f"{name(role)} is reflexive, and {how}")
            if isinstance(rule, r.Chain) and reflexive:
                for still, goes in ((rule.first, rule.second), (rule.second, rule.first)):
                    known = self.relations.above(goes)
                    if self.relations.of(still)[0] in reflexive and self.relations.of(rule.sup) not in known:
                        self.opaque.append(f"{name(still)} may be reflexive, and is part of a chain")

    def _universal(self, static: Static) -> None:
        """What everything has, and what everything has because of that."""
        while self._more_universal(static):
            pass

    def _more_universal(self, static: Static) -> bool:
        """What everything has (a successor, a value, an identity) makes more hold of everything."""
        universal = Universals(self.upper, self.relations).universal
        promising = [x for x in self.upper if isinstance(x, r.Witness | r.Fill | r.Is)]
        if universal.isdisjoint(x.premise for x in promising):  # and closing what T says may take long
            return False
        upper, lower = static(list(self.upper)), static(list(self.lower))
        before = len(self.upper), len(self.lower)
        for rule in promising:
            if not self._is_universal(rule.premise, upper[0]):
                continue
            words = f"everything has {name(getattr(rule, 'role', SAME_AS))}: a bound on the domain"
            if not isinstance(rule, r.Witness) or self._sharing.passes_through(rule.role):
                self.opaque.append(words)
                continue
            if separated := self._sharing.spoils(rule):
                self.opaque.append(separated)
                continue
            for exists in self._of(r.Exists):
                if self.relations.of(exists.role) not in self.relations.above(rule.role):
                    continue
                follows = r.Sub((THING,), exists.head)
                certain = rule in self.lower and exists in self.lower
                if certain and self._everything_has(rule, exists, *lower):
                    self.lower[follows] = self.upper[follows] = None
                    self.why.pop(follows, None)
                elif follows not in self.upper and self._everything_has(rule, exists, *upper):
                    self._only_in_upper(follows, words)
        return before != (len(self.upper), len(self.lower))

    def _everything_has(self, rule: r.Witness, exists: r.Exists, program: Program, store: Store) -> bool:
        if not self._is_universal(rule.premise, program):
            return False
        known = store.types[program.names.witness(rule.role, rule.filler)]
        return self._is_universal(exists.filler, program) or program.names.concept(exists.filler) in known

    @staticmethod
    def _is_universal(symbol: Symbol, program: Program) -> bool:
        return symbol == THING or program.names.concept(symbol) in program.universal
