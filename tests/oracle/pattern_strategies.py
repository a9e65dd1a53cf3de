"""Random cases: patterns of every operator nested in every other, guards with several solutions, windows,
partitions, policies, composites on composites, and streams with ties that have a fair chance to match.

`Maker` draws from a `random.Random`, so a seed is a case; `cases()` is the same as a hypothesis strategy.
What SPEC §9 refuses is mostly avoided here and otherwise left to the checker (`valid_case` in
`pattern_runs`).
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from hypothesis import strategies as st

from obep.model import SECOND
from obep.query import ast
from oracle.guard_semantics import XSD, alias_of, bound_by
from oracle.pattern_cases import EX, Case, iri, read_stream
from oracle.pattern_semantics import leaves_of

OPERATORS = (
    "SEQ", "NEXT", "AND", "JOIN", "OR", "ALLEN", "DURING", "CONTAINS", "NOT", "FIRST", "LAST", "OPTIONAL",
    "EVERY", "TIMES", "WITHOUT", "NOT FOLLOWED BY", "WITHIN",
)  # fmt: skip
ALLEN = (
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "FINISHES", "FINISHEDBY",
)  # fmt: skip
POLICIES = ("chronological", "recent", "naive")
FOCUSED = (
    # a memory that is bounded below, above or beside a view, which has another horizon
    "((FIRST X) OR (Y WITHIN 2 s)) SEQ Z", "((LAST X) OR ((X SEQ Y) WITHIN 3 s)) SEQ Z",
    "(FIRST ((LAST X) OR Y)) WITHIN 3 s", "((FIRST ((LAST X) OR Y)) SEQ Z) WITHIN 4 s",
    "(X DURING G) NOT FOLLOWED BY (LAST Y) WITHIN 2 s", "X SEQ ((LAST Y) OR (Z WITHIN 2 s))",
    "(X SEQ Y) WITHOUT ((LAST Z) OR (Y WITHIN 2 s))", "(LAST ((X OR Y) SEQ Z)) SEQ Y",
    "(FIRST ((X OR Y) SEQ Z)) SEQ X", "(FIRST (X OR (Y JOIN Z))) SEQ Y",
    "X NOT FOLLOWED BY (Y NOT FOLLOWED BY Z WITHIN 3 s) WITHIN 2 s",
    # where the decisions of SPEC §4-§6 meet: X, Y, Z are any events, G is a composite that lasts
    "X SEQ Y", "X SEQ Y SEQ Z", "X SEQ (Y SEQ Z)", "X SEQ (Y NEXT Z)", "(X NEXT Y) SEQ Z",
    "(X SEQ Y) NEXT Z", "X NEXT (Y SEQ Z)", "X SEQ (Y TIMES 2)", "(X SEQ Y) TIMES 2", "(X TIMES 2) SEQ Y",
    "(X SEQ Y) WITHOUT Z", "(X SEQ Y SEQ Z) WITHOUT Y", "(X SEQ Y) WITHOUT (Y SEQ Z)",
    "((LAST X) SEQ Y) WITHOUT Z", "(X SEQ Y) NOT FOLLOWED BY Z WITHIN 2 s",
    "X SEQ (Y NOT FOLLOWED BY Z WITHIN 2 s)", "(X NOT FOLLOWED BY Y WITHIN 2 s) SEQ Z",
    "(X DURING G) NOT FOLLOWED BY Y WITHIN 1 s", "(LAST X) NOT FOLLOWED BY Y WITHIN 2 s",
    "X NOT FOLLOWED BY (Y NEXT Z) WITHIN 3 s", "(X OR LAST Y) NOT FOLLOWED BY Z WITHIN 2 s",
    "OPTIONAL(X) SEQ Y", "OPTIONAL(X) SEQ Y SEQ Z", "OPTIONAL(X SEQ Y) SEQ Z", "OPTIONAL(X DURING G) SEQ Y",
    "(OPTIONAL(X) SEQ Y) WITHOUT Z", "OPTIONAL(X) AND Y", "X SEQ (Y DURING G)", "(X DURING G) SEQ Y",
    "(X DURING G) SEQ (Y DURING G)", "(X DURING G) NEXT (Y DURING G)", "X NEXT (Y DURING G)",
    "(X DURING G) NEXT Y", "(Y DURING G) TIMES 2", "(X SEQ (Y DURING G)) WITHOUT (Z DURING G)",
    "(X SEQ Y) WITHOUT (Z DURING G)", "(G SEQ X) WITHOUT (Y DURING G)", "G CONTAINS (X SEQ Y)",
    "(G CONTAINS X) SEQ Y", "X DURING (Y SEQ Z)", "(X JOIN Y) CONTAINS Z", "(FIRST X) SEQ Y",
    "(LAST X) SEQ Y", "X SEQ (LAST Y)", "(LAST X) SEQ (LAST Y)", "FIRST (X SEQ Y)",
    "(FIRST (X SEQ Y)) SEQ Z", "(LAST (X SEQ Y)) SEQ Z", "(FIRST (X NEXT Y)) SEQ Z",
    "(LAST (X NEXT Y)) SEQ Z", "(FIRST ((X SEQ Y) WITHOUT Z)) SEQ Y", "(LAST ((X SEQ Y) WITHOUT Z)) SEQ X",
    "(FIRST (X NOT FOLLOWED BY Y WITHIN 2 s)) SEQ Z", "(LAST (X NOT FOLLOWED BY Y WITHIN 1 s)) SEQ Z",
    "(FIRST (OPTIONAL(X) SEQ Y)) SEQ Z", "(LAST (OPTIONAL(X) SEQ Y)) SEQ Z",
    "(LAST (OPTIONAL(X) AND Y)) SEQ Z", "(FIRST (X OR LAST Y)) SEQ Z", "(LAST (X OR FIRST Y)) SEQ Z",
    "((LAST X) OR Y) SEQ Z", "(LAST (X DURING G)) SEQ Y", "(FIRST (X JOIN Y)) SEQ Z",
    "(LAST (X AND Y)) SEQ Z", "FIRST ((LAST X) NEXT Y)", "X WITHOUT (LAST Y)", "(X SEQ Y) WITHOUT (LAST Z)",
    "(X SEQ Y) WITHOUT (FIRST (Z SEQ X))", "(X SEQ Y) WITHOUT (X NEXT Z)",
    "(X SEQ Y) WITHOUT (OPTIONAL(X) SEQ Z)", "(X SEQ Y) WITHOUT (Z WITHIN 2 s)",
    "((FIRST X) SEQ Y) WITHIN 3 s", "((LAST X) SEQ Y) WITHIN 2 s", "((FIRST X) WITHIN 2 s) SEQ Y",
    "((LAST X) WITHIN 2 s) SEQ Y", "(OPTIONAL(X) SEQ Y) WITHIN 2 s", "(X NEXT (Y DURING G)) WITHIN 3 s",
    "((LAST (X DURING G)) SEQ Y) WITHIN 3 s", "((X SEQ Y) WITHOUT (Z DURING G)) WITHIN 3 s",
    "(X SEQ Y SEQ Z) WITHIN 4 s", "((X SEQ Y) WITHIN 3 s) SEQ Z", "X SEQ ((Y SEQ Z) WITHIN 2 s)",
    "(X NOT FOLLOWED BY (Y DURING G) WITHIN 2 s) WITHIN 3 s", "((X NEXT Y) WITHIN 2 s) TIMES 2", "NOT X",
    "X AND NOT Y", "X SEQ NOT Y", "(NOT X) NEXT Y", "(NOT X) SEQ Y", "NOT (X AND Y)", "NOT (X OR Y)",
    "(LAST NOT X) SEQ Y", "(X SEQ Y) WITHOUT (NOT Z)", "(NOT X) TIMES 2", "X DURING (NOT Y SEQ Z)",
    "G MEETS G", "G OVERLAPS G", "X STARTS G", "X FINISHES G", "G STARTEDBY X", "G SEQ G", "G AND G",
    "G NEXT X", "(X JOIN Y) OVERLAPS (X JOIN Z)", "(X SEQ Y) MEETS (Y SEQ Z)", "G BEFORE X", "X AFTER G",
    "(LAST G) SEQ X", "NOT (X SEQ Y)", "NOT (X JOIN Y)", "(X DURING G) SEQ (Y NEXT Z)",
    "X SEQ (Y NEXT (Z DURING G))", "(LAST (X SEQ Y)) NEXT Z", "X SEQ (Y DURING (X SEQ Z))",
    "(X DURING (Y SEQ Z)) SEQ X", "(FIRST (X WITHOUT Y)) SEQ Z", "(LAST (G WITHOUT X)) SEQ Y",
    "(LAST (G NEXT X)) SEQ Y", "(X SEQ Y) DURING G", "((X SEQ Y) NEXT Z) SEQ X", "(X NEXT X) SEQ Y",
    "(X SEQ (Y DURING G)) TIMES 2", "(EVERY LAST X) SEQ Y", "(FIRST (X NEXT (Y DURING G))) SEQ Z",
)  # fmt: skip
NEVER_NESTED = frozenset({("TIMES", "FIRST"), ("TIMES", "LAST")})
"""(outer, inner) that SPEC §9 refuses."""

THIS = ast.Var("this")


def name(text: str) -> ast.Name:
    return ast.Name(text, iri(text))


def seconds(count: int) -> ast.Duration:
    return ast.Duration(count * SECOND)


def number(value: int) -> ast.Literal:
    return ast.Literal(str(value), ast.Name("xsd:integer", f"<{XSD}integer>"))


# --- what a case is made of -------------------------------------------------------------------------------


def operator_of(node: ast.Pattern) -> str | None:
    """The name under which a node counts in the mix; `None` for a leaf."""
    match node:
        case ast.Leaf():
            return None
        case ast.Allen(relation):
            return relation if relation in ("DURING", "CONTAINS") else "ALLEN"
        case ast.NotFollowedBy():
            return "NOT FOLLOWED BY"
    return type(node).__name__.upper()


def operands_of(node: ast.Pattern) -> tuple[ast.Pattern, ...]:
    match node:
        case ast.Leaf():
            return ()
        case (
            ast.Seq(operands) | ast.Next(operands) | ast.And(operands) | ast.Join(operands) | ast.Or(operands)
        ):
            return operands
        case ast.Allen(_, left, right) | ast.Without(left, right) | ast.NotFollowedBy(left, right):
            return (left, right)
    return (node.operand,)


def with_operands(node: ast.Pattern, operands: Sequence[ast.Pattern]) -> ast.Pattern:
    """The same operator over other operands."""
    if isinstance(node, ast.Seq | ast.Next | ast.And | ast.Join | ast.Or):
        return replace(node, operands=tuple(operands))
    if isinstance(node, ast.Allen | ast.Without | ast.NotFollowedBy):
        return replace(node, left=operands[0], right=operands[1])
    return replace(node, operand=operands[0])


def nestings(node: ast.Pattern, around: frozenset[str] = frozenset()) -> Iterator[tuple[str, str]]:
    """All (outer, inner) operators of a pattern."""
    here = operator_of(node)
    if here is not None:
        yield from ((outer, here) for outer in around)
        around |= {here}
    for operand in operands_of(node):
        yield from nestings(operand, around)


def operators_of(case: Case) -> set[str]:
    """The operators and clauses of a case."""
    used: set[str] = set()
    todo: list[ast.Pattern] = [event.pattern for event in case.events]
    while todo:
        node = todo.pop()
        used |= {operator_of(node)} - {None}  # type: ignore[arg-type]
        todo.extend(operands_of(node))
    for event in case.events:
        used.add(event.policy)
        if event.partition_by:
            used.add("PARTITION BY")
        if event.guard and (event.guard.filters or any(b.filters for b in event.guard.blocks)):
            used.add("FILTER")
    if len(case.events) > 1:
        used.add("stacked")
    return used


# --- drawing them -----------------------------------------------------------------------------------------


@dataclass
class Maker:
    """Draws one case."""

    random: Random
    nest: tuple[str, str] | None = None
    """An operator that the main pattern must have, and one that must be inside it."""
    focus: str | None = None
    """One of FOCUSED to fill in, instead of a pattern drawn at random."""
    keyed: bool = False
    """Every event that can be is partitioned."""
    keen: bool = False
    """Guards everywhere, that refuse much: for what is decided where."""
    budget: int = 0
    """Leaves that may still be made."""
    fresh: int = 0
    dense: bool = False
    """A small pattern over a crowded stream, where operators get in each other's way; else a large one."""
    lasting: bool = False
    """Some logical occurrences have an interval."""
    heads: dict[str, tuple[ast.Var, ...]] = field(default_factory=dict)
    """The parameters of the composites made so far."""

    def case(self) -> Case:
        chance = self.random.random
        events: list[ast.CompositeEvent] = []
        if self.focus:
            return self.focused(self.focus)
        self.dense = chance() < 0.65
        self.letters = self.random.sample("ABCD", 2 if chance() < (0.75 if self.dense else 0.5) else 3)
        for lower in "FG"[: self.random.choices((0, 1, 2), (60, 30, 0 if self.dense else 10))[0]]:
            events.append(self.event(lower, depth=1 if self.dense else 2, leaves=2 if self.dense else 3))
            self.letters.append(lower)
        depth, leaves = (2, 3) if self.dense else self.random.choice(((2, 5), (3, 5), (3, 5), (4, 5), (5, 6)))
        events.append(self.event("H", depth, leaves, self.nest))
        if chance() < 0.15:
            events.insert(-1, self.sibling(events[-1]))
        arrivals, end = read_stream(self.stream(events))
        return Case(tuple(events), arrivals, end)

    def focused(self, text: str) -> Case:
        """A small pattern of a given shape over a crowded stream."""
        self.dense = True
        self.letters = self.random.sample("ABCD", self.random.choice((2, 3)))
        events: list[ast.CompositeEvent] = []
        if "G" in re.findall(r"\w+", text):
            lasting = self.random.choice(("X SEQ Y", "X SEQ Y", "X JOIN Y", "X NOT FOLLOWED BY Y WITHIN 2 s"))
            events.append(self.guarded("G", self.filled(lasting)))
        events.append(self.guarded("H", self.filled(text)))
        if self.random.random() < 0.15:
            events.insert(-1, self.sibling(events[-1]))
        arrivals, end = read_stream(self.stream(events))
        return Case(tuple(events), arrivals, end)

    def sibling(self, event: ast.CompositeEvent) -> ast.CompositeEvent:
        """Another event with the same pattern or a part of it, so that the two have something to share."""
        other = replace(event, name=name("K"), policy="unrestricted")
        if self.random.random() < 0.4:
            other = replace(other, pattern=ast.Within(other.pattern, seconds(self.random.choice((3, 5)))))
        if any(_positive_seq(other.pattern)):
            other = replace(other, policy=self.random.choice(("unrestricted", *POLICIES)))
        if other.guard and self.random.random() < 0.4:
            other = replace(other, guard=replace(other.guard, filters=()))
        return other

    def filled(self, text: str) -> ast.Pattern:
        from obep.query.parse.parser import parse

        letters = {place: self.random.choice(self.letters) for place in "XYZ"}
        text = re.sub(r"\b[XYZ]\b", lambda place: letters[place[0]], text)
        (event,) = parse(f"PREFIX : <{EX}> EVENT H MATCH {text}").events
        assert isinstance(event, ast.CompositeEvent)
        return event.pattern

    # patterns

    def event(
        self, called: str, depth: int, leaves: int, nest: tuple[str, str] | None = None
    ) -> ast.CompositeEvent:
        self.budget = leaves
        if nest:
            pattern = self.nested(nest, depth)
        else:
            pattern = self.pattern(depth, frozenset())
            if isinstance(pattern, ast.Leaf):
                pattern = ast.Seq((pattern, self.leaf()))
        if self.random.random() < 0.3:
            pattern = self.bounded(pattern)
        return self.guarded(called, pattern)

    def bounded(self, node: ast.Pattern) -> ast.Pattern:
        """The pattern with a WITHIN around some of its operands, at every level."""
        operands = [self.bounded(operand) for operand in operands_of(node)]
        bound = isinstance(node, ast.Within | ast.Optional)
        operands = [
            operand
            if bound or isinstance(operand, ast.Within | ast.Optional) or self.random.random() < 0.7
            else ast.Within(operand, seconds(self.random.choice((1, 2, 3, 4, 6))))
            for operand in operands
        ]
        return with_operands(node, operands) if operands else node

    def nested(self, nest: tuple[str, str], depth: int) -> ast.Pattern:
        outer, inner = nest
        banned = frozenset(i for o, i in NEVER_NESTED if o == outer)
        core = self.operator(inner, max(1, depth - 2), banned)
        if self.random.random() < 0.3:
            between = self.random.choice([o for o in OPERATORS if (o, inner) not in NEVER_NESTED])
            if (outer, between) not in NEVER_NESTED:
                core = self.operator(between, 1, banned, core)
        return self.operator(outer, max(1, depth - 1), frozenset(), core)

    def pattern(self, depth: int, banned: frozenset[str]) -> ast.Pattern:
        if depth == 0 or self.budget <= 1 or self.random.random() < 0.15:
            return self.leaf()
        weights = [
            0 if o in banned else {"SEQ": 4, "AND": 1.5, "NOT": 1, "EVERY": 0.5}.get(o, 1.5)
            for o in OPERATORS
        ]
        return self.operator(self.random.choices(OPERATORS, weights)[0], depth, banned)

    def leaf(self) -> ast.Leaf:
        self.budget -= 1
        return ast.Leaf(name(self.random.choice(self.letters)))

    def operator(
        self, kind: str, depth: int, banned: frozenset[str], core: ast.Pattern | None = None
    ) -> ast.Pattern:
        """A node of that kind; `core` is one of its operands if given."""
        banned |= {i for o, i in NEVER_NESTED if o == kind}
        given = [core] if core is not None else []

        def operands(count: int) -> list[ast.Pattern]:
            made = [*given, *(self.pattern(depth - 1, banned) for _ in range(count - len(given)))]
            self.random.shuffle(made)
            return made

        if kind in ("SEQ", "NEXT", "AND", "JOIN", "OR"):
            node = {"SEQ": ast.Seq, "NEXT": ast.Next, "AND": ast.And, "JOIN": ast.Join, "OR": ast.Or}[kind]
            made = operands(3 if self.random.random() < 0.15 and self.budget > 2 else 2)
            return node(tuple(self._flat(node, made)))
        if kind in ("ALLEN", "DURING", "CONTAINS"):
            relation = self.random.choice(ALLEN) if kind == "ALLEN" else kind
            return ast.Allen(relation, *operands(2))
        if kind == "WITHOUT":
            return ast.Without(*operands(2))
        if kind == "NOT FOLLOWED BY":
            return ast.NotFollowedBy(*operands(2), seconds(self.random.randint(1, 4)))
        if kind == "OPTIONAL":
            first, second = operands(2) if core is None else (core, self.pattern(depth - 1, banned))
            around = ast.Seq if self.random.random() < 0.7 else ast.And
            rest = second.operands if isinstance(second, around) else (second,)
            if isinstance(rest[0], ast.Optional):
                rest = (second,) if not isinstance(second, around) else (ast.Every(second),)
            return around((ast.Optional(first), *rest))
        (operand,) = operands(1)
        match kind:
            case "NOT":
                return ast.Not(operand)
            case "FIRST":
                return ast.First(operand)
            case "LAST":
                return ast.Last(operand)
            case "EVERY":
                return ast.Every(operand)
            case "TIMES":
                return ast.Times(operand, self.random.choice((2, 2, 2, 3)))
        return ast.Within(operand, seconds(self.random.choice((2, 3, 4, 5, 6, 8))))

    @staticmethod
    def _flat(node: type, made: list[ast.Pattern]) -> Iterator[ast.Pattern]:
        """A chain of one operator is one node, as the parser makes it: only the first operand is merged."""
        if isinstance(made[0], node) and not isinstance(made[0].operands[0], ast.Optional):  # type: ignore[attr-defined]
            yield from made[0].operands  # type: ignore[attr-defined]
            yield from made[1:]
        else:
            yield from made

    # guards

    def guarded(self, called: str, pattern: ast.Pattern) -> ast.CompositeEvent:
        """The event with aliases, variables, a guard, a partition, a policy, parameters."""
        chance = self.random.random
        with_guards = self.keyed or self.keen or chance() < 0.65
        named = Counter(leaf.event.text for leaf in leaves_of(pattern))
        has_not = any(isinstance(node, ast.Not) for node in _nodes(pattern))
        self.blocks: list[ast.Block] = []
        self.plain = not with_guards
        self.key: str | None = None
        if with_guards and (self.keyed or chance() < (0.1 if self.keen else 0.25)) and not has_not:
            self.key = self.random.choice("kv")
        everyone = chance() < (0.7 if self.keen else 0.5)
        pattern = self.dressed(pattern, ("v", "w", "i"), named, everyone, under_not=False)
        event = ast.CompositeEvent(name(called), pattern)
        if self.blocks:
            event = replace(event, guard=ast.Guard(tuple(self.blocks), ()))
        by = [self.key] if self.key else []
        if not has_not and with_guards and chance() < 0.06 and not {"F", "G"} & set(named):
            told = ast.Block((), (ast.TriplePattern(THIS, name("p"), ast.Var("e")),), ())
            event = replace(event, guard=ast.Guard((*self.blocks, told), ()))
            by += ["e"] if by else []
        event = replace(event, partition_by=tuple(map(ast.Var, by)))
        if chance() < 0.75 and any(_positive_seq(pattern)):
            event = replace(event, policy=self.random.choice(POLICIES))
        if with_guards and chance() < (0.75 if self.keen else 0.45):
            filters = tuple(filter(None, (self.filter(event) for _ in range(self.random.choice((1, 1, 2))))))
            if filters:
                blocks = event.guard.blocks if event.guard else ()
                event = replace(event, guard=ast.Guard(blocks, filters))
        positive = sorted({v for leaf in _positive(pattern) for v in bound_by(event, leaf)})
        if called != "H" and positive and chance() < 0.7:
            self.heads[called] = tuple(map(ast.Var, self.random.sample(positive, min(len(positive), 2))))
            event = replace(event, parameters=self.heads[called])
        return event

    def dressed(
        self,
        node: ast.Pattern,
        allowed: tuple[str, ...],
        named: Counter[str],
        everyone: bool,
        under_not: bool,
    ) -> ast.Pattern:
        """The pattern with aliases on its leaves, and their blocks noted."""

        def dress(operand: ast.Pattern, allowed: tuple[str, ...] = allowed) -> ast.Pattern:
            return self.dressed(operand, allowed, named, everyone, under_not or isinstance(node, ast.Not))

        match node:
            case ast.Leaf():
                return self.dressed_leaf(node, allowed, named, everyone, under_not)
            case ast.Without(left, right) | ast.NotFollowedBy(left, right):
                self.fresh += 1
                own = f"n{self.fresh}"
                left = dress(left, (*allowed, own))
                event = ast.CompositeEvent(name("X"), left, guard=ast.Guard(tuple(self.blocks), ()))
                seen = {v for leaf in _positive(left) for v in bound_by(event, leaf)}
                return replace(node, left=left, right=dress(right, (*sorted(seen), f"m{self.fresh}")))
        return with_operands(node, [dress(operand) for operand in operands_of(node)])

    def dressed_leaf(
        self, leaf: ast.Leaf, allowed: tuple[str, ...], named: Counter[str], everyone: bool, under_not: bool
    ) -> ast.Leaf:
        chance, text = self.random.random, leaf.event.text
        twice = named[text] > 1
        if chance() < (0.6 if twice else 0.3) or (twice and (self.key or self.keen)):
            self.fresh += 1
            leaf = replace(leaf, alias=f"a{self.fresh}")
        else:
            leaf = replace(leaf)
        if under_not or self.plain:
            return leaf
        readable = leaf.alias is not None or not twice
        numbers = [v for v in allowed if v != "i"]
        often = 0.45 if self.keen else 0.3
        wanted = {v for v in numbers if chance() < (0.7 if everyone and v == "v" else often)}
        if self.key:
            wanted.add(self.key)
        composite = text in "FG"
        head = self.heads.get(text, ())
        if composite:
            if head and (chance() < 0.8 or self.key):
                pool = list(
                    dict.fromkeys([*([self.key] if self.key else ()), *sorted(wanted), *numbers, "v"])
                )
                pool += pool
                leaf = replace(leaf, parameters=tuple(ast.Var(v) for v in pool[: len(head)]))
            elif not head and chance() < 0.1:
                leaf = replace(leaf, parameters=(ast.Var("c"),))
            return leaf  # a block would need a graph, and the oracle has none of composites
        if chance() < 0.3 and "i" in allowed and self.key != "i":
            leaf = replace(leaf, parameters=(ast.Var("i"),))
        if not readable or not wanted:
            return leaf
        triples = tuple(
            ast.TriplePattern(THIS, name("q" if v in ("w", "m1") and chance() < 0.5 else "p"), ast.Var(v))
            for v in sorted(wanted)
        )
        filters = ()
        if chance() < (0.25 if self.keen else 0.12):
            limit = number(2) if chance() < 0.7 else ast.Var("w")
            compared = ast.Comparison(self._comparison(), ast.Var(sorted(wanted)[0]), limit)
            filters = (ast.Filter(compared),)
        if not filters and not twice and chance() < 0.1 and self._merge(alias_of(leaf), triples):
            return leaf
        self.blocks.append(ast.Block((alias_of(leaf),), triples, filters))
        return leaf

    def _merge(self, alias: str, triples: tuple[ast.TriplePattern, ...]) -> bool:
        """Say it in the block of another alias: `EVENT a, b { … }`."""
        for index, block in enumerate(self.blocks):
            if block.triples == triples and alias not in block.aliases:
                self.blocks[index] = replace(block, aliases=(*block.aliases, alias))
                return True
        return False

    def filter(self, event: ast.CompositeEvent) -> ast.Filter | None:
        """A condition over variables or times of the event; the checker refuses what ties a negation."""
        leaves = list(leaves_of(event.pattern))
        bound = sorted({v for leaf in leaves for v in bound_by(event, leaf) if v != "i"})
        counted = Counter(map(alias_of, leaves))
        aliases = [alias for alias, count in counted.items() if count == 1]
        options = ["whole"]
        if bound:
            options += ["constant", "constant"]
        if len(bound) > 1:
            options += ["variables"] * 4
        if aliases:
            options += ["duration", "times", "times"]

        def condition(kind: str) -> ast.Expression:
            draw = self.random.choice
            match kind:
                case "constant":
                    return ast.Comparison(self._comparison(), ast.Var(draw(bound)), number(draw((1, 2, 3))))
                case "variables":
                    first, second = self.random.sample(bound, 2)
                    return ast.Comparison(self._comparison(), ast.Var(first), ast.Var(second))
                case "duration":
                    length = ast.TimeFunction("getDURATION", draw(aliases))
                    return ast.Comparison(self._comparison(), length, seconds(draw((1, 2, 3))))
                case "times":
                    one, other = (
                        ast.TimeFunction(draw(("getSTARTTIME", "getENDTIME")), draw(aliases)) for _ in "12"
                    )
                    if draw((True, False)):
                        return ast.Comparison(self._comparison(), one, other)
                    return ast.Comparison(
                        draw(("<", "<=", ">=")), ast.Arithmetic("-", one, other), seconds(draw((1, 2, 3)))
                    )
            return ast.Comparison(
                draw(("<", "<=", ">=")), ast.TimeFunction("getDURATION", None), seconds(draw((1, 2, 3, 4)))
            )

        made = condition(self.random.choice(options))
        if self.random.random() < 0.15:
            other = condition(self.random.choice(options))
            made = self.random.choice((ast.Conjunction, ast.Disjunction))((made, other))
        elif self.random.random() < 0.15:
            made = ast.Negation("!", made)
        return ast.Filter(made)

    def _comparison(self) -> str:
        return self.random.choice(("=", "!=", "<", "<=", ">", ">="))

    # streams

    def stream(self, events: Sequence[ast.CompositeEvent]) -> str:
        """A stream that follows the main pattern at least once, with other things around it."""
        patterns = {event.name.text: event.pattern for event in events}
        leaves = [leaf.event.text for event in events for leaf in leaves_of(event.pattern)]
        used = [letter for letter in leaves if letter not in patterns] or [self.letters[0]]
        placed: list[tuple[str, int]] = []
        if len(leaves) <= 3 and self.random.random() < 0.2:  # a longer stream, so that state has to expire
            starts, others, most = [self.random.randint(0, 24) for _ in range(5)], 4, 20
        elif self.dense:
            starts, others, most = [self.random.randint(0, 2) for _ in "12"], self.random.randint(3, 9), 12
        else:
            starts, others, most = [self.random.randint(0, 2)], self.random.choice((0, 1, 2, 4)), 12
        for start in starts:
            self.place(patterns["H"], start, patterns, placed)
        latest = max([4, *(at for _, at in placed)])
        placed += [(self.random.choice(used), self.random.randint(0, latest)) for _ in range(others)]
        self.random.shuffle(placed)
        placed = placed[:most]
        data = any(
            event.guard or any(leaf.parameters for leaf in leaves_of(event.pattern)) for event in events
        )
        self.lasting = self.random.random() < 0.1  # as what is found in a composite, or over a window
        if self.random.random() < 0.2:  # gaps that are longer than many bounds
            placed, latest = [(event, 3 * at) for event, at in placed], 3 * latest
        placed.sort(key=lambda p: p[1])
        items = self.items([(at, self.word(event, at, data)) for event, at in placed])
        if self.random.random() < 0.2:
            items.append(f"_{self.random.randint(0, latest)}")
        end = latest + self.random.choice((0, 1, 3, 5))
        return " ".join([*items, f"|{end}"])

    def word(self, event: str, at: int, data: bool) -> str:
        chance, draw = self.random.random, self.random.choice
        begun = (
            f"{self.random.randint(max(0, at - 3), at - 1)}-"
            if self.lasting and at and chance() < 0.5
            else ""
        )
        word = f"{event}{begun}{at}" + (draw("xxyz") if data or chance() < 0.4 else "")
        if data:
            common = 0.8 if self.keen else 0.9
            values = {p: draw(("1", "1", "2", "2", "1|2", "2|3")) for p in "pq" if chance() < common}
            if values:
                word += "(" + ",".join(f"{p}={v}" for p, v in values.items()) + ")"
        return word

    def items(self, words: Sequence[tuple[int, str]]) -> list[str]:
        """Some of the occurrences of one instant are found in one item."""
        items: list[tuple[int, str]] = []
        for at, word in words:
            if items and items[-1][0] == at and self.random.random() < 0.35:
                items[-1] = (at, f"{items[-1][1]}+{word}")
            else:
                items.append((at, word))
        return [item + ("'" if self.random.random() < 0.25 else "") for _, item in items]

    def place(
        self, node: ast.Pattern, at: int, patterns: dict[str, ast.Pattern], placed: list[tuple[str, int]]
    ) -> tuple[int, int]:
        """Occurrences that would satisfy the node from `at` on, as far as that is easy; the interval."""

        def below(operand: ast.Pattern, start: int) -> tuple[int, int]:
            return self.place(operand, start, patterns, placed)

        match node:
            case ast.Leaf(event):
                if event.text in patterns:
                    return below(patterns[event.text], at)
                placed.append((event.text, at))
                return at, at
            case ast.Seq(operands) | ast.Next(operands):
                start = end = None
                for operand in operands:
                    first, last = below(operand, at if end is None else end + self.random.choice((1, 1, 2)))
                    start, end = (first if start is None else start), last
                return start or at, end or at
            case ast.And(operands) | ast.Join(operands):
                found = [
                    below(o, at if isinstance(node, ast.And) else at + self.random.choice((0, 1)))
                    for o in operands
                ]
                return min(f for f, _ in found), max(e for _, e in found)
            case ast.Or(operands):
                return below(self.random.choice(operands), at)
            case ast.Allen(relation, left, right):
                return self._allen(relation, left, right, at, below)
            case ast.Without(left, _):
                return below(left, at)
            case ast.NotFollowedBy(left, _, within):
                start, end = below(left, at)
                return start, end + (within.micros // SECOND if within else 0)
            case ast.Times(operand, count):
                start, end = below(operand, at)
                for _ in range(count - 1):
                    _, end = below(operand, end + 1)
                return start, end
            case ast.Not():
                placed.append((self.random.choice([x for x in self.letters if x not in patterns]), at))
                return at, at
        return below(node.operand, at)

    def _allen(self, relation: str, left: ast.Pattern, right: ast.Pattern, at: int, below) -> tuple[int, int]:  # type: ignore[no-untyped-def]
        if relation in ("AFTER", "METBY", "OVERLAPPEDBY", "STARTEDBY", "CONTAINS", "FINISHEDBY"):
            left, right = right, left
        inverse = {"METBY": "MEETS", "AFTER": "BEFORE", "OVERLAPPEDBY": "OVERLAPS", "FINISHEDBY": "FINISHES"}
        first, last = below(
            left, at + (1 if relation in ("DURING", "CONTAINS", "FINISHES", "FINISHEDBY") else 0)
        )
        match inverse.get(relation, relation):
            case "BEFORE":
                start, end = below(right, last + 1)
            case "MEETS":
                start, end = below(right, last)
            case "OVERLAPS":
                start, end = below(right, first + 1)
            case _:
                start, end = below(right, at)
        return min(first, start), max(last, end)


def _nodes(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    yield pattern
    for operand in operands_of(pattern):
        yield from _nodes(operand)


def _positive_nodes(pattern: ast.Pattern) -> Iterator[ast.Pattern]:
    """The nodes outside every negation."""
    yield pattern
    if isinstance(pattern, ast.Without | ast.NotFollowedBy):
        yield from _positive_nodes(pattern.left)
    elif not isinstance(pattern, ast.Not):
        for operand in operands_of(pattern):
            yield from _positive_nodes(operand)


def _positive(pattern: ast.Pattern) -> Iterator[ast.Leaf]:
    return (node for node in _positive_nodes(pattern) if isinstance(node, ast.Leaf))


def _positive_seq(pattern: ast.Pattern) -> Iterator[bool]:
    return (True for node in _positive_nodes(pattern) if isinstance(node, ast.Seq))


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Random cases for hypothesis."""
    random = draw(st.randoms(use_true_random=False))
    return Maker(random).case()
