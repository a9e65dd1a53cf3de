"""Which rules are exact, and which only bound what follows.

In: the rules of T with their bounds. Out: `Profile`: the rules of the lower and of the upper reading, and for
each rule that only the upper one has, why, in words. The conditions under which existentials may share one
witness are those of REASONING 4.1; each is looked for, none is assumed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import TypeVar

from obep.model import Term
from obep.ontology import rules as r
from obep.ontology.axioms import DIFFERENT_FROM, NOTHING, SAME_AS, THING, DataRange
from obep.ontology.normal import Normal
from obep.ontology.program import FILL, IS, SELF_IN, Program, witness_name
from obep.ontology.ranges import lies
from obep.ontology.relations import SAME, Directed, Relations
from obep.ontology.relevance import Clauses, relevant
from obep.ontology.rules import Bound, Role, Rule, Symbol
from obep.ontology.store import Store
from obep.ontology.universals import Universals
from obep.ontology.words import name

_R = TypeVar("_R", bound=Rule)
_WITNESSES = 6
"""How many witnesses a `min` may have before it is left to the reasoner."""
Static = Callable[[list[Rule]], tuple[Program, Store]]
"""Builds a program and closes what T says by itself under it."""


@dataclass(slots=True)
class Profile:
    """The two readings of T."""

    lower: list[Rule]
    upper: list[Rule]
    why: dict[Rule, str] = field(default_factory=dict)
    opaque: list[str] = field(default_factory=list)
    """What has no upper bound: every answer is open."""
    clauses: Clauses = ()
    hints: frozenset[Rule] = frozenset()
    """What a reasoner found out: it follows from the others, so an event that is exact stays so."""

    def exact(self) -> bool:
        """Whether the rules say it all."""
        return not self.opaque and not self.why

    def reasons(self, goal: Symbol, relations: Relations) -> list[str]:
        """What makes an event need the reasoner, in words; also what may make an item contradict T."""
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
    found.clauses = tuple(normal.clauses)
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
        self.lower = {rule: None for rule, bound in rules.items() if bound & Bound.LOWER}
        self.upper = {rule: None for rule, bound in rules.items() if bound & Bound.UPPER}
        only = {rule for rule, bound in rules.items() if bound == Bound.UPPER}
        self.why = {rule: words for rule, words in normal.why.items() if rule in only}
        self.opaque = list(normal.opaque)

    def _of(self, kind: type[_R]) -> list[_R]:
        return [rule for rule in self.upper if isinstance(rule, kind)]

    def sort(self, static: Static) -> Profile:
        self._data_witnesses()
        self._look = _Look(self.upper, self.relations, self.normal)
        self._counted_witnesses()
        for rule in self._of(r.Witness):
            if words := self._look.spoils(rule):
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
        """A value that nobody gave: what surely holds of it, and what perhaps."""
        counts: dict[int, list[r.Count]] = {}
        for count in self._of(r.Count):
            counts.setdefault(self.relations.of(count.property)[0], []).append(count)
        for rule in self._of(r.DataWitness):
            for number, _ in self.relations.above(rule.property):
                for count in counts.get(number, ()):
                    self._data_witness(rule, count)
            for rules in (self.lower, self.upper, self.why):
                rules.pop(rule, None)

    def _data_witness(self, rule: r.DataWitness, count: r.Count) -> None:
        place = lies(rule.range, count.range, self.datatypes)
        follows = r.Sub((rule.premise,), count.head)
        if place == "inside" and rule.count >= count.least == 1 and rule in self.lower:
            self.lower[follows] = self.upper[follows] = None
            self.why.pop(follows, None)
        elif place != "apart" and follows not in self.upper:
            self.upper[follows] = None
            self.why[follows] = (
                f"the {name(rule.property)} that {_promiser(rule, self.normal)} promises, if none is given: "
                "its value is open"
            )

    # --- witnesses

    def _counted_witnesses(self) -> None:
        """`min 2` on the right is one witness, unless somebody counts; then it is two different ones."""
        counted = {self.relations.of(x.role)[0] for x in self._of(r.Merge)}
        for rule in [x for x in self._of(r.Witness) if x.count > 1]:
            if not any(number in counted for number, _ in self.relations.above(rule.role)):
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
        """Whether anything can tie a witness to a name, make it equal to somebody, or forbid a loop."""
        return any(
            isinstance(rule, r.Is | r.Fill | r.Merge | r.Key | r.RolesApart | r.Edge)
            or (isinstance(rule, r.SelfIn) and rule != r.UNEQUAL_TO_ITSELF)
            for rule in (*self.lower, *self.upper)
        )

    def _static_spoilt(self, program: Program, store: Store) -> bool:
        """Witnesses that are tied to a name, equal to somebody, or their own successors where it counts."""
        bad: dict[int, str] = {}
        loops = {op[1] for op in program.flat if op[0] == SELF_IN}
        loops |= {self.relations.of(x.first)[0] for x in self._of(r.RolesApart)}
        for w in program.witnesses:
            ops = [op for c in store.types[w] for op in program.concept_ops[c]]
            if any(op[0] == IS or (op[0] == FILL and op[2] not in program.witnesses) for op in ops):
                bad[w] = "tied to a named individual"
            elif store.forwards.get(w * len(program.stored) + SAME):
                bad[w] = "equal to somebody"
            elif any(store.has_edge(number, w, w) for number in loops):
                bad[w] = "its own successor"
        spoilt = [
            rule
            for rule in self.lower
            if isinstance(rule, r.Witness) and program.names.witness(rule.role, rule.filler) in bad
        ]
        for rule in spoilt:
            words = bad[program.names.witness(rule.role, rule.filler)]
            self._only_upper(rule, f"{_promised(rule, self.normal)}: {words}")
        return bool(spoilt)

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
            for role in roles:
                if self.relations.of(role)[0] in reflexive:
                    self.opaque.append(f"{name(role)} is reflexive, and bounded")

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
            if not isinstance(rule, r.Witness) or self._look.passes_through(rule.role):
                self.opaque.append(words)
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


class _Look:
    """Who looks at which relation, and in which direction."""

    def __init__(self, rules: Iterable[Rule], relations: Relations, normal: Normal) -> None:
        self._relations, self._normal = relations, normal
        self._conditions: dict[Directed, Role] = {}
        self._steps: set[Directed] = set()
        self._bounded: dict[int, Role] = {}
        self._apart: set[int] = set()
        self._chains: list[tuple[Directed, tuple[Directed, ...]]] = []
        self._known: dict[Role, frozenset[Directed]] = {}
        for rule in rules:
            match rule:
                case r.Exists(role, filler) if filler != THING:
                    self._conditions.setdefault(relations.of(role), role)
                case r.Chain(first, second, sup):
                    self._steps |= {relations.of(first), relations.of(second)}
                    self._chains.append((relations.of(second), relations.above(sup)))
                case r.Merge(_, role):
                    self._bounded.setdefault(relations.of(role)[0], role)
                case r.RolesApart(first, second):
                    self._apart |= {relations.of(first)[0], relations.of(second)[0]}

    def into(self, role: Role) -> frozenset[Directed]:
        """The relations, with direction, that lead into a witness of this role."""
        if role not in self._known:
            into = set(self._relations.above(role))
            size = 0
            while size < (size := len(into)):
                for second, above in self._chains:
                    if second in into:
                        into.update(above)
            self._known[role] = frozenset(into)
        return self._known[role]

    def spoils(self, witness: r.Witness) -> str:
        """Why a witness cannot be shared, because somebody looks back from it; empty if nobody does."""
        into = self.into(witness.role)
        who = _promised(witness, self._normal)
        for number, backwards in sorted(into):
            back = (number, not backwards)
            if back in self._conditions:
                return f"{who}, and {name(self._conditions[back])} looks back: existentials with inverses"
            if back in self._steps:
                return f"{who}, and a chain looks back: existentials with inverses"
            if number in self._bounded:
                return f"{who}, and {name(self._bounded[number])} is bounded: existentials with equality"
            chained = any((number, way) in above for way in (False, True) for _, above in self._chains)
            if number in self._apart and chained:
                return f"{who}, and disjoint properties along a chain"
        return ""

    def passes_through(self, role: Role) -> bool:
        """Whether a chain or a bound goes through the witnesses of a role."""
        return any(edge in self._steps or edge[0] in self._bounded for edge in self.into(role))


def _promised(witness: r.Witness, normal: Normal) -> str:
    """Somebody whom the ontology or a definition promises, by a class that has a name."""
    kind = "" if witness.filler.startswith("~") else f" (a {name(witness.filler)})"
    return f"the {name(witness.role)}{kind} that {_promiser(witness, normal)} promises"


def _promiser(rule: Rule, normal: Normal) -> str:
    """Who says that there is somebody, or some value: an axiom, or the definition of an event."""
    event = None if rule in normal.sources else normal.implied.get(rule)
    return "the ontology" if event is None else f"the definition of {name(event)}"
