"""Random patterns over states and events: every operator of SPEC §4 and STATES 3 over every other."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from obep.query import ast
from oracle.guard_semantics import parts
from oracle.pattern_strategies import ALLEN
from oracle.state_cases import n, s, v
from oracle.states.state_draws import StateDraw

OPERATORS = {
    "SEQ": 3, "AND": 1.5, "JOIN": 1.5, "OR": 1.5, "ALLEN": 4, "DURING": 2.8, "NEXT": 2, "WITHOUT": 1.5,
    "NOT FOLLOWED BY": 1.5, "OPTIONAL": 1.5, "FIRST": 1.5, "LAST": 1.5, "EVERY": 1.5, "TIMES": 2,
    "WITHIN": 2, "NOT": 1.2, "WHILE": 3.5, "UNLESS": 3, "REPEATED": 2.5,
}  # fmt: skip
LONG = ("MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY")
LEAVES = ("BEGIN", "END", "END FOR", "EPISODE", "FOR")
OF_STATES = ("WHILE", "UNLESS", "REPEATED")
NEVER = {("TIMES", "FIRST"), ("TIMES", "LAST")} | {("NOT", inner) for inner in (*LEAVES, "WHILE", "UNLESS")}
"""What SPEC §9 and STATES 3 refuse."""
PAIRS = tuple(
    (outer, inner)
    for outer in OPERATORS
    for inner in (*LEAVES, *OPERATORS)
    if (outer in OF_STATES or inner in (*LEAVES, *OF_STATES)) and (outer, inner) not in NEVER
)
"""(outer, inner): what states bring below every operator, and every operator below what they bring."""
NODES = {
    ast.Seq: "SEQ", ast.And: "AND", ast.Join: "JOIN", ast.Or: "OR", ast.Next: "NEXT", ast.Without: "WITHOUT",
    ast.NotFollowedBy: "NOT FOLLOWED BY", ast.First: "FIRST", ast.Last: "LAST", ast.Every: "EVERY",
    ast.Times: "TIMES", ast.Within: "WITHIN", ast.Not: "NOT", ast.While: "WHILE", ast.Unless: "UNLESS",
    ast.Repeated: "REPEATED",
}  # fmt: skip


@dataclass
class PatternDraw:
    """Draws one pattern."""

    random: Random
    states: StateDraw
    lower: list[ast.GraphEvent | ast.CompositeEvent] = field(default_factory=list)
    """The events that it may use."""
    aliases: int = 0
    core: ast.Pattern | None = None
    """Stands in the place of the next operand that is drawn."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def forced(self, outer: str, inner: str) -> ast.Pattern:
        """One operator with another, or with a leaf of a state, directly below it."""
        if inner in LEAVES:
            core: ast.Pattern = self.state_leaf(inner)
        else:
            core = self.operator(inner, 0, frozenset({"NOT"}) if outer == "NOT" else frozenset())
        self.core = core
        return self.operator(outer, 0, frozenset())

    def pattern(self, operators: int, banned: frozenset[str]) -> ast.Pattern:
        if self.core is not None:
            core, self.core = self.core, None
            return core
        if not operators:
            return self.leaf(states="NOT" not in banned)
        kinds = {kind: weight for kind, weight in OPERATORS.items() if kind not in banned}
        return self.operator(self.random.choices(list(kinds), list(kinds.values()))[0], operators - 1, banned)

    def pair(self, below: int, banned: frozenset[str]) -> tuple[ast.Pattern, ast.Pattern]:
        share = self.random.randint(0, below)
        return self.pattern(share, banned), self.pattern(below - share, banned)

    def operator(self, kind: str, below: int, banned: frozenset[str]) -> ast.Pattern:
        random = self.random
        match kind:
            case "SEQ" | "AND" | "JOIN" | "OR" | "NEXT":
                node = next(node for node, name in NODES.items() if name == kind)
                first, second = self.pair(below, banned)
                return node((*first.operands, second) if isinstance(first, node) else (first, second))  # type: ignore[operator, no-any-return]
            case "ALLEN":
                return self.allen(below, banned)
            case "DURING":
                return ast.Allen(random.choice(("DURING", "CONTAINS")), *self.pair(below, banned))
            case "WITHOUT":
                return ast.Without(*self.pair(below, banned))
            case "NOT FOLLOWED BY":
                return ast.NotFollowedBy(*self.pair(below, banned), s(random.randint(1, 4)))
            case "OPTIONAL":
                first, second = self.pair(below, banned)
                return random.choice((ast.Seq, ast.Seq, ast.And))((ast.Optional(first), second))
            case "NOT":
                return ast.Not(self.pattern(min(below, 1), banned | {"NOT", "WHILE", "UNLESS"}))
            case "TIMES":
                return ast.Times(self.pattern(below, banned | {"FIRST", "LAST"}), 2)
            case "WHILE" | "UNLESS":
                beside = ast.While if kind == "WHILE" else ast.Unless
                return beside(self.pattern(below, banned), self.use())
            case "REPEATED":
                operand = self.pattern(below, banned)
                until = self.pattern(0, banned) if self.chance(0.6) else None
                most = random.randint(1, 3) if until is None or self.chance(0.3) else None
                return ast.Repeated(operand, s(random.randint(1, 3)), until, most)
            case "WITHIN":
                return ast.Within(self.pattern(below, banned), s(random.randint(2, 6)))
        operand = self.pattern(below, banned)
        return {"FIRST": ast.First, "LAST": ast.Last, "EVERY": ast.Every}[kind](operand)

    def allen(self, below: int, banned: frozenset[str]) -> ast.Allen:
        """Most relations need intervals: often one side is an episode, or both are."""
        relation = self.random.choice(ALLEN)
        given = self.core is not None
        left, right = self.pair(below, banned)
        if relation not in ("BEFORE", "AFTER") and "NOT" not in banned and self.chance(0.7):
            right = self.whole()
            if not given and (relation in LONG or self.chance(0.3)):
                left = self.whole()
        return ast.Allen(relation, left, right)

    # leaves

    def whole(self) -> ast.Leaf:
        """An episode, or one that has lasted for some time."""
        return self.state_leaf(self.random.choice(("EPISODE", "FOR")), self.random.choice("xz"))

    def use(self) -> ast.StateUse:
        state = self.random.choice(self.states.made)
        names = self.random.choice(("x", "x", "x", "k")) if state.parameters else ""
        return ast.StateUse(state.name, v(names))

    def leaf(self, states: bool) -> ast.Leaf:
        names = self.random.choice(("x", "x", "", "z"))
        if states and self.chance(0.55):
            return self.state_leaf(self.random.choice((*LEAVES, "BEGIN", "FOR")), names)
        self.aliases += 1
        alias = f"a{self.aliases}"
        if states and self.lower and self.chance(0.2):
            below = self.random.choice(self.lower)
            return ast.Leaf(below.name, v(names or "x") if below.parameters[:1] == v("x") else (), alias)
        return ast.Leaf(n(self.random.choice("AABBCDR")), v(names), alias)

    def state_leaf(self, kind: str, names: str = "x") -> ast.Leaf:
        self.aliases += 1
        state = self.random.choice(self.states.made)
        given = v(names) if state.parameters else ()
        moment: ast.Moment = {"BEGIN": "begin", "END": "end", "END FOR": "end"}.get(kind, "episode")  # type: ignore[assignment]
        held = s(self.random.randint(1, 3)) if kind.endswith("FOR") else None
        return ast.Leaf(state.name, given, f"a{self.aliases}", moment=moment, lasting=held)


def kind_of(node: object) -> str:
    """The name of a node in PAIRS; nothing for an event."""
    match node:
        case ast.Leaf(moment="event"):
            return ""
        case ast.Leaf(moment=moment):
            name = {"begin": "BEGIN", "end": "END", "episode": "EPISODE"}[moment]
            longer = {"END": "END FOR", "EPISODE": "FOR"}
            return longer.get(name, name) if node.lasting else name
        case ast.Allen(relation):
            return "DURING" if relation in ("DURING", "CONTAINS") else "ALLEN"
        case ast.Seq(operands) | ast.And(operands) if isinstance(operands[0], ast.Optional):
            return "OPTIONAL"
    return NODES.get(type(node), "")  # type: ignore[arg-type]


def pairs_of(pattern: ast.Pattern) -> set[tuple[str, str]]:
    """(outer, inner) for all that stands directly below something."""
    found: set[tuple[str, str]] = set()
    for node in parts(pattern):
        for inner in _operands(node):
            found.add((kind_of(node), kind_of(inner)))
    return found


def _operands(node: object) -> Iterator[ast.Node]:
    for name in ("operands", "operand", "left", "right", "until"):
        for inner in parts(getattr(node, name, ())):
            whole = inner.operand if isinstance(inner, ast.Optional) else inner
            yield whole
            break
        if name == "operands":
            for inner in getattr(node, name, ())[1:]:
                yield inner
