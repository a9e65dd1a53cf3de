"""T and the definitions in normal form: small rules over named and auxiliary concepts.

In: axioms. Out: `Normal`, whose rules say together what T says, as far as rules can. Where they cannot (case
analysis, counting, …), a rule that says too much is marked UPPER, and `why` says why, in words.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from obep.model import Term, body_of
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axioms import NOTHING, THING, ClassExpression, DataRange, inverse
from obep.ontology.owl.literals import Value, value
from obep.ontology.owl.verbalise import show
from obep.ontology.rules.negation_normal import flattened, is_left, nnf, single
from obep.ontology.rules.rule_kinds import (
    Bound,
    Count,
    DataWitness,
    Exists,
    Fill,
    Is,
    Member,
    Merge,
    Role,
    Rule,
    SelfIn,
    SelfOut,
    Sub,
    Symbol,
    Witness,
)

UNSAID = "what is not said is not false"


@dataclass(slots=True)
class Normal:
    """Rules with their bound; `asserted` matter only where an event's class is asserted."""

    rules: dict[Rule, Bound] = field(default_factory=dict)
    asserted: dict[Rule, Bound] = field(default_factory=dict)
    named: dict[Symbol, ClassExpression] = field(default_factory=dict)
    """Auxiliary names of parts of definitions, for a classification to find out about."""
    why: dict[Rule, str] = field(default_factory=dict)
    """For a rule that belongs to the upper bound only: what rules cannot carry, in words."""
    clauses: list[tuple[tuple[Rule, ...], ...]] = field(default_factory=list)
    """For each case analysis the rules of its cases: it leads to something only if every case does."""
    standing: set[Rule] = field(default_factory=set)
    """The rules that T states outside of every case analysis; some may be cases of one as well."""
    opaque: list[str] = field(default_factory=list)
    """What has no upper bound either, in words."""
    unwritten: set[Term] = field(default_factory=set)
    """The names in what T says and no rule does: whatever leads to them counts."""
    sources: dict[Rule, set[ax.Axiom]] = field(default_factory=dict)
    """The axioms that a rule comes from; a rule of a definition has none."""
    implied: dict[Rule, Term] = field(default_factory=dict)
    """The event of whose definition a rule says what its individuals have (`H SubClassOf B`)."""

    def counted(self, found_out: Collection[Rule] = ()) -> tuple[tuple[tuple[Rule, ...], ...], ...]:
        """The case analyses. A case that T states by itself, or that was found out, counts by itself, too."""
        cases = dict.fromkeys(rule for clause in self.clauses for case in clause for rule in case)
        alone = (rule for rule in cases if rule in self.standing or rule in found_out)
        return (*self.clauses, *(((rule,),) for rule in alone))


class Normaliser:
    """Collects the rules of axioms and definitions."""

    def __init__(self) -> None:
        self.normal = Normal()
        self._lefts: dict[tuple[ClassExpression, Symbol], Symbol] = {}
        self._rights: dict[tuple[ClassExpression, Bound, bool], tuple[Symbol, tuple[Rule, ...]]] = {}
        self._bound = Bound.BOTH
        self._target = self.normal.rules
        self._axiom: ax.Axiom | None = None
        self._event: Term | None = None
        self._count = 0
        self._reason = ""
        self._case: list[Rule] | None = None
        """The rules of the case that is being written; `None` outside of case analyses."""
        self._literals: dict[Value, Term] = {}

    def add(self, axiom: ax.Axiom) -> None:
        """One axiom of T."""
        from obep.ontology.rules.axiom_rules import add_axiom

        self._axiom = axiom
        add_axiom(self, axiom)
        self._axiom = None

    def define(self, event: Term, body: ClassExpression, *, both: bool) -> None:
        """`EVENT H AS B`: `B SubClassOf H`, and `H SubClassOf B`, apart unless `both` are wanted always."""
        if self._is_left(event, body):
            return
        self.include(body, ax.Class(event))
        self.imply(event, body, asserted=not both)

    def define_body(self, event: Term, body: ClassExpression, *, asserted: bool) -> None:
        """`EVENT H AS B IF { … }`: B under a name of its own, and `H SubClassOf B`."""
        if self._is_left(event, body):
            return
        self.include(body, ax.Class(body_of(event)))
        self.imply(event, body, asserted=asserted)

    def _is_left(self, event: Term, body: ClassExpression) -> bool:
        """Whether a definition uses the universal property, and so is left to the reasoner."""
        from obep.ontology.rules.axiom_rules import mentioned

        names = set(mentioned(body))
        if names.isdisjoint(ax.UNIVERSAL):
            return False
        self.leave(f"{show(ax.Class(event))} is {show(body)}", names)
        return True

    def leave(self, words: str, names: Iterable[Term]) -> None:
        """An axiom that uses the universal property: no rule expresses it."""
        self.normal.opaque.append(f"{words}: the universal property")
        self.normal.unwritten.update(names)

    def imply(self, event: Term, body: ClassExpression, *, asserted: bool) -> None:
        """`H SubClassOf B`."""
        self._target = self.normal.asserted if asserted else self.normal.rules
        self._event = event
        self.right(event, nnf(body))
        self._target = self.normal.rules
        self._event = None

    def emit(self, rule: Rule, bound: Bound = Bound.BOTH) -> None:
        """A rule of the reading that is being written."""
        if bound != self._bound:
            bound &= self._bound
        known = self._target.get(rule, bound)
        self._target[rule] = bound if known == bound else known | bound
        if bound == Bound.UPPER:
            self.normal.why.setdefault(rule, self._reason)
        if self._case is not None:
            self._case.append(rule)
        else:
            self.normal.standing.add(rule)
        if self._axiom is not None:
            self.normal.sources.setdefault(rule, set()).add(self._axiom)
        elif self._event is not None:
            self.normal.implied.setdefault(rule, self._event)

    def fresh(self, expression: ClassExpression | None = None) -> Symbol:
        """A new auxiliary name, for this expression."""
        self._count += 1
        symbol = f"~{self._count}"
        if expression is not None and self._axiom is None:
            self.normal.named[symbol] = expression
        return symbol

    def include(self, sub: ClassExpression, sup: ClassExpression) -> None:
        """`sub SubClassOf sup`."""
        # What stands negated on the right is a premise, and what cannot be one on the left is a conclusion.
        self._clause([nnf(sub)], [nnf(sup)])

    def _clause(self, left: list[ClassExpression], right: list[ClassExpression]) -> None:
        premises: list[ClassExpression] = []
        waiting = left
        while waiting:
            expression = waiting.pop(0)
            if isinstance(expression, ax.And):
                waiting = [*expression.operands, *waiting]
            else:
                premises.append(expression)
        horn = [e for e in premises if is_left(e) or self._approximable(e)]
        hard = [e for e in premises if e not in horn]
        premise = self.left(ax.And(tuple(horn)))
        cases = [case for case in flattened((*right, *(nnf(ax.Not(e)) for e in hard))) if case != ax.BOTTOM]
        positive = [case for case in cases if not is_left(nnf(ax.Not(case)))]
        if ax.TOP in cases:
            return
        if hard and len(positive) > 1:
            moved = [self.left(nnf(ax.Not(case))) for case in cases if case not in positive]
            words = f"{' and '.join(map(show, hard))}: {UNSAID}"
            self._weaker(self._joined([premise, *moved]), positive, words)
        else:
            self.right(premise, single(cases))

    @staticmethod
    def _approximable(expression: ClassExpression) -> bool:
        """Whether an expression that rules cannot decide has its own name rather than a case on the right."""
        return not isinstance(expression, ax.Not | ax.Only | ax.Max | ax.DataOnly | ax.DataMax)

    # --- what stands on the left: a symbol that holds where the expression does

    def left(self, expression: ClassExpression, context: Symbol = THING) -> Symbol:
        """A symbol that holds where the expression does (or, if rules cannot tell, where `context` does)."""
        if isinstance(expression, ax.Class):
            return expression.iri
        key = (expression, THING if is_left(expression) else context)
        found = self._lefts.get(key)
        if found is None:
            found = self._lefts[key] = self._left(expression, context)
        return found

    def _left(self, expression: ClassExpression, context: Symbol) -> Symbol:
        with self._defining():
            match expression:
                case ax.And(operands):
                    return self._left_and(operands, context)
                case ax.Or(operands):
                    head = self.fresh(expression)
                    for operand in operands:
                        self.emit(Sub((self.left(operand, context),), head))
                    return head
            head = self.fresh(expression)
            self._left_restriction(expression, head, context)
            return head

    @contextmanager
    def _defining(self) -> Iterator[None]:
        """What defines an auxiliary name belongs to every reading, and to no case."""
        kept = self._target, self._bound, self._case
        self._target, self._bound, self._case = self.normal.rules, Bound.BOTH, None
        yield
        self._target, self._bound, self._case = kept

    def _left_and(self, operands: tuple[ClassExpression, ...], context: Symbol) -> Symbol:
        plain = [self.left(operand) for operand in operands if is_left(operand)]
        plain = list(dict.fromkeys(symbol for symbol in plain if symbol != THING))
        if context != THING and len(plain) < len(operands):
            plain.append(context)
        so_far = self._joined(plain)
        hard = [self.left(operand, so_far) for operand in operands if not is_left(operand)]
        return self._joined([so_far, *hard])

    def _joined(self, symbols: list[Symbol]) -> Symbol:
        symbols = list(dict.fromkeys(symbol for symbol in symbols if symbol != THING))
        if len(symbols) < 2:
            return symbols[0] if symbols else THING
        key = (ax.And(tuple(map(ax.Class, symbols))), "joined")
        head = self._lefts.get(key)
        if head is None:
            head = self._lefts[key] = self.fresh()
            with self._defining():
                so_far = symbols[0]
                for symbol in symbols[1:-1]:
                    between = self.fresh()
                    self.emit(Sub((so_far, symbol), between))
                    so_far = between
                self.emit(Sub((so_far, symbols[-1]), head))
        return head

    def _left_restriction(self, expression: ClassExpression, head: Symbol, context: Symbol) -> None:
        match expression:
            case ax.Some(role, filler):
                self.emit(Exists(role, self._filler(role, filler, context), head))
            case ax.Value(role, individual):
                self.emit(Exists(role, self.nominal(individual), head))
            case ax.OneOf(individuals):
                for individual in individuals:
                    self.emit(Sub((self.nominal(individual),), head))
            case ax.HasSelf(role):
                self.emit(SelfIn(role, head))
            case ax.DataSome(role, range):
                self.emit(Count(role, range, 1, head))
            case ax.DataValue(role, literal):
                self.emit(Count(role, ax.DataOneOf((literal,)), 1, head))
            case ax.DataMin(count, role, range):
                self.emit(Count(role, range, count, head))
            case ax.Min(count, role, filler):
                symbol = self._filler(role, filler, context)
                self._reason = f"{show(expression)}: counting"
                self.emit(Exists(role, symbol, head), Bound.BOTH if count <= 1 else Bound.UPPER)
            case _:  # not, only, max: the negation may hold instead
                otherwise = nnf(ax.Not(expression))
                self._weaker(context, (ax.Class(head), otherwise), f"{show(expression)}: {UNSAID}")

    def _filler(self, role: Role, filler: ClassExpression, context: Symbol) -> Symbol:
        if is_left(filler):
            return self.left(filler)
        reached = self.fresh()
        self._reason = f"{show(filler)}: {UNSAID}"
        self.emit(Exists(inverse(role), context, reached), Bound.UPPER)
        return self.left(filler, reached)

    def nominal(self, individual: Term) -> Symbol:
        """The symbol that holds of one individual."""
        symbol = f"{{{individual}}}"
        with self._defining():
            self.emit(Member(symbol, individual))
        return symbol

    def literal(self, term: Term) -> Term:
        """The literal of T that stands for all of its value."""
        return self._literals.setdefault(value(term), term)

    # --- what stands on the right

    def right(self, premise: Symbol, expression: ClassExpression) -> None:
        """Rules for `premise SubClassOf expression` (in negation normal form)."""
        match expression:
            case ax.Class(iri):
                if iri != THING:
                    self.emit(Sub((premise,), iri))
            case ax.And(operands):
                for operand in operands:
                    self.right(premise, operand)
            case ax.Or(operands):
                self._right_or(premise, operands)
            case ax.Not(operand):
                self.emit(Sub(tuple(dict.fromkeys((premise, self.left(operand)))), NOTHING))
            case ax.Some(_, ax.Class(iri)) | ax.Min(_, _, ax.Class(iri)) if iri == NOTHING:
                self.emit(Sub((premise,), NOTHING))
            case ax.Some(role, ax.OneOf((individual,))) | ax.Value(role, individual):
                self.emit(Fill(premise, role, individual))
            case ax.Some(role, filler):
                self.emit(Witness(premise, role, self._right_name(filler)))
            case ax.Only(role, filler):
                if filler != ax.TOP:
                    reached = filler.iri if isinstance(filler, ax.Class) else self.fresh()
                    self.emit(Exists(inverse(role), premise, reached))
                    if not isinstance(filler, ax.Class):
                        self.right(reached, filler)
            case ax.HasSelf(role):
                self.emit(SelfOut(premise, role))
            case ax.OneOf(individuals):
                self._right_one_of(premise, individuals)
            case _:
                self._right_counting(premise, expression)

    def _right_or(self, premise: Symbol, operands: tuple[ClassExpression, ...]) -> None:
        moved = [n for n in (nnf(ax.Not(operand)) for operand in operands) if is_left(n)]
        rest = [operand for operand in operands if not is_left(nnf(ax.Not(operand)))]
        rest = list(dict.fromkeys(flattened(rest)))
        if ax.TOP in rest:
            return
        rest = [operand for operand in rest if operand != ax.BOTTOM]
        premise = self._joined([premise, *(self.left(n) for n in moved)])
        if len(rest) == 1:
            self.right(premise, rest[0])
        elif not rest:
            self.emit(Sub((premise,), NOTHING))
        else:
            about = show(self._axiom) if self._axiom else " or ".join(map(show, rest))
            self._weaker(premise, rest, f"{about}: case analysis")

    def _weaker(self, premise: Symbol, cases: Iterable[ClassExpression], words: str) -> None:
        """All cases at once: too much, so for the upper bound only."""
        bound, self._bound = self._bound, self._bound & Bound.UPPER
        outer: list[Rule] | None = self._case
        found: list[tuple[Rule, ...]] = []
        for case in cases:
            rules: list[Rule] = []
            self._reason, self._case = words, rules
            self.right(premise, case)
            found.append(tuple(rules))
        self._bound, self._case = bound, outer
        if outer is not None:
            outer += [rule for rules_of_case in found for rule in rules_of_case]
        self.normal.clauses.append(tuple(found))

    def _right_one_of(self, premise: Symbol, individuals: tuple[Term, ...]) -> None:
        if len(individuals) == 1:
            self.emit(Is(premise, individuals[0]))
            return
        words = f"{show(ax.OneOf(individuals))} has several members: case analysis"
        self._weaker(premise, [ax.OneOf((individual,)) for individual in individuals], words)

    def _right_counting(self, premise: Symbol, expression: ClassExpression) -> None:
        match expression:
            case ax.Min(count, role, filler):
                self.emit(Witness(premise, role, self._right_name(filler), count))
            case ax.Max(0, role, filler):
                self.right(premise, ax.Only(role, nnf(ax.Not(filler))))
            case ax.Max(count, role, filler):
                of_filler = self.left(nnf(filler))
                self._reason = f"{show(expression)}: counting"
                self.emit(Merge(premise, role, of_filler, count), Bound.BOTH if count == 1 else Bound.UPPER)
            case ax.DataSome(role, ax.DataOneOf((literal,))):
                self.emit(Fill(premise, role, self.literal(literal)))
            case ax.DataSome(role, range):
                self.emit(DataWitness(premise, role, range))
            case ax.DataMin(count, role, range):
                self.emit(DataWitness(premise, role, range, count))
            case ax.DataOnly(role, range):
                self._right_too_many(premise, role, ax.DataNot(range), 1)
            case ax.DataMax(count, role, range):
                self._right_too_many(premise, role, range, count + 1)
            case ax.DataValue(role, literal):
                self.emit(Fill(premise, role, self.literal(literal)))
            case _:
                raise AssertionError(expression)

    def _right_too_many(self, premise: Symbol, role: Term, range: DataRange, least: int) -> None:
        head = self.left(ax.DataMin(least, role, range))
        self.emit(Sub((premise, head), NOTHING))

    def _right_name(self, filler: ClassExpression) -> Symbol:
        if isinstance(filler, ax.Class):
            return filler.iri
        key = (filler, self._bound, self._target is self.normal.rules)
        known = self._rights.get(key)
        if known is not None:
            if self._case is not None:  # what was written for another case belongs to this one, too
                self._case += known[1]
            return known[0]
        symbol = self.fresh()
        outer, rules = self._case, list[Rule]()
        self._case = None if outer is None else rules
        self.right(symbol, filler)
        self._case = outer
        if outer is not None:
            outer += rules
        self._rights[key] = symbol, tuple(rules)
        return symbol
