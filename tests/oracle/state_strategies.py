"""Random cases with states: states of each kind, patterns over them, graph events, alerts, and streams.

`StateCases(Random(seed)).case()` is one case. Every state leaf and operator of STATES 3 may stand below and
above every operator of SPEC §4; streams have ties and gaps, and there are two of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from random import Random

from obep.model import RDF_TYPE, SECOND, Item, Term, Triple
from obep.query import ast
from oracle.guard_semantics import parts
from oracle.pattern_cases import integer, iri
from oracle.pattern_strategies import ALLEN
from oracle.state_cases import cmp, group, n, query, read_k, s, term, triples, v
from oracle.states.state_draws import StateDraw

K = "x a Sensor . y a Sensor . x floor f1 . y floor f2 . x max 2 . y max 3"
SOURCES = (ast.Source("graph", "k.ttl"), ast.Source("stream", "s"), ast.Source("stream", "t"))
OPERATORS = {
    "SEQ": 3, "AND": 1.5, "JOIN": 1.5, "OR": 1.5, "ALLEN": 4, "DURING": 2, "NEXT": 1.5, "WITHOUT": 1.5,
    "NOT FOLLOWED BY": 1.5, "OPTIONAL": 1.5, "FIRST": 1.5, "LAST": 1.5, "EVERY": 1.5, "TIMES": 2,
    "WITHIN": 2, "NOT": 1.2, "WHILE": 3.5, "UNLESS": 3, "REPEATED": 2.5,
}  # fmt: skip


LONG = ("MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY")


@dataclass(frozen=True)
class StateCase:
    """A query, K, and a finished stream in the order of time."""

    file: ast.QueryFile
    k: tuple[Triple, ...]
    items: tuple[Item, ...]
    end: int


@dataclass
class StateCases:
    """Draws cases."""

    random: Random
    aliases: int = 0
    lower: list[ast.GraphEvent | ast.CompositeEvent] = field(default_factory=list)
    """The events that a pattern may use."""
    states: StateDraw = field(init=False)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def case(self) -> StateCase:
        self.states = StateDraw(self.random)
        for number in range(self.random.choice((3, 3, 4))):
            self.states.state(f"S{number}")
        events: list[ast.GraphEvent | ast.CompositeEvent] = []
        if self.chance(0.6):
            events.append(self.graph_event("G"))
        for name in ("E", "F", "H"):
            events.append(self.composite(name, self.random.choice((1, 1, 1, 2, 2, 3)), events))
        returns = [ast.Return("listed", tuple(event.name for event in events))]
        for state in self.states.made:
            lasting = s(self.random.randint(1, 3)) if self.chance(0.35) else None
            if not isinstance(state, ast.DailyState):
                returns.append(ast.Return("listed", (state.name,), "alerts", lasting))
        file = query(*SOURCES, *self.states.windows.values(), *self.states.made, *events, *returns)
        items, end = self.stream()
        return StateCase(file, tuple(read_k(K)), tuple(items), end)

    # events

    def graph_event(self, name: str) -> ast.GraphEvent:
        if self.chance(0.35):
            window = self.states.window("w")
            seen = self.states.values_in(window, "t")
            return ast.GraphEvent(n(name), group(seen, self.states.limit("t")), v("x"), window)
        elements: list[object] = ["?x v ?t"]
        if self.chance(0.3):
            elements.append(triples_of("?x max ?m"))
            elements.append(ast.Filter(cmp("?t", "<=", "?m")))
        elif self.chance(0.5):
            elements.append(self.states.limit("t"))
        if self.states.keyed() and self.chance(0.4):
            elements.append(ast.Atom(self.random.choice(self.states.keyed()).name, v("x")))
        return ast.GraphEvent(n(name), group(*elements), v(self.random.choice(("x", "x", "x t"))))

    def composite(
        self, name: str, operators: int, events: list[ast.GraphEvent | ast.CompositeEvent]
    ) -> ast.CompositeEvent:
        self.aliases, self.lower = 0, list(events)
        pattern = self.pattern(operators, frozenset())
        policy: ast.Policy = "unrestricted"
        if _has_sequence(pattern) and self.chance(0.5):
            policy = self.random.choice(("chronological", "recent", "naive"))
        partition = (
            v("x") if all(one.parameters == v("x") for one in _leaves(pattern)) and self.chance(0.35) else ()
        )
        guard = self.guard(pattern)
        names = (
            v("x")
            if self.chance(0.5) and any(v("x")[0] in one.parameters for one in _positive(pattern))
            else ()
        )
        return ast.CompositeEvent(n(name), pattern, names, partition, policy, guard)

    def guard(self, pattern: ast.Pattern) -> ast.Guard | None:
        plain = [one for one in _positive(pattern) if one.moment == "event" and one.event.text in "ABCDR"]
        if not plain or not self.chance(0.35):
            return None
        chosen = self.random.sample(plain, min(len(plain), 2))
        blocks = tuple(
            ast.Block((one.alias or "",), triples(f"?this v ?b{i}"), ()) for i, one in enumerate(chosen)
        )
        other = "?b1" if len(chosen) == 2 else self.random.choice((1, 2))
        condition = cmp("?b0", self.random.choice(("<=", ">=", "!=", "<")), other)
        return ast.Guard(blocks, (ast.Filter(condition),) if self.chance(0.7) else ())

    # patterns

    def pattern(self, operators: int, banned: frozenset[str]) -> ast.Pattern:
        if not operators:
            return self.leaf(states="NOT" not in banned)
        kinds = {kind: weight for kind, weight in OPERATORS.items() if kind not in banned}
        return self.operator(self.random.choices(list(kinds), list(kinds.values()))[0], operators - 1, banned)

    def operator(self, kind: str, below: int, banned: frozenset[str]) -> ast.Pattern:
        def pair() -> tuple[ast.Pattern, ast.Pattern]:
            share = self.random.randint(0, below)
            return self.pattern(share, banned), self.pattern(below - share, banned)

        random = self.random
        match kind:
            case "SEQ" | "AND" | "JOIN" | "OR" | "NEXT":
                node = {"SEQ": ast.Seq, "AND": ast.And, "JOIN": ast.Join, "OR": ast.Or, "NEXT": ast.Next}[
                    kind
                ]
                first, second = pair()
                return node((*first.operands, second) if isinstance(first, node) else (first, second))
            case "ALLEN":
                return self.allen(pair)
            case "DURING":
                return ast.Allen(random.choice(("DURING", "CONTAINS")), *pair())
            case "WITHOUT":
                return ast.Without(*pair())
            case "NOT FOLLOWED BY":
                return ast.NotFollowedBy(*pair(), s(random.randint(1, 4)))
            case "OPTIONAL":
                first, second = pair()
                return random.choice((ast.Seq, ast.Seq, ast.And))((ast.Optional(first), second))
            case "NOT":
                return ast.Not(self.pattern(min(below, 1), banned | {"NOT", "WHILE", "UNLESS"}))
            case "TIMES":
                return ast.Times(self.pattern(below, banned | {"FIRST", "LAST"}), 2)
            case "WHILE" | "UNLESS":
                node_ = ast.While if kind == "WHILE" else ast.Unless
                return node_(self.pattern(below, banned), self.use())
            case "REPEATED":
                operand = self.pattern(below, banned)
                until = self.pattern(0, banned) if self.chance(0.6) else None
                most = random.randint(1, 3) if until is None or self.chance(0.3) else None
                return ast.Repeated(operand, s(random.randint(1, 3)), until, most)
            case "WITHIN":
                return ast.Within(self.pattern(below, banned), s(random.randint(2, 6)))
        operand = self.pattern(below, banned)
        return {"FIRST": ast.First, "LAST": ast.Last, "EVERY": ast.Every}[kind](operand)

    def allen(self, pair: Callable[[], tuple[ast.Pattern, ast.Pattern]]) -> ast.Allen:
        """Most relations need intervals: often one side is an episode, or both are."""
        relation = self.random.choice(ALLEN)
        left, right = pair()
        if relation not in ("BEFORE", "AFTER") and self.chance(0.7):
            right = self.whole()
            left = self.whole() if relation in LONG or self.chance(0.3) else left
        return ast.Allen(relation, left, right)

    def whole(self) -> ast.Leaf:
        """An episode, or one that has lasted for some time."""
        self.aliases += 1
        state = self.random.choice(self.states.made)
        held = s(self.random.randint(1, 4)) if self.chance(0.5) else None
        names = v(self.random.choice("xz")) if state.parameters else ()
        return ast.Leaf(state.name, names, f"a{self.aliases}", moment="episode", lasting=held)

    def use(self) -> ast.StateUse:
        state = self.random.choice(self.states.made)
        names = self.random.choice(("x", "x", "x", "k")) if state.parameters else ""
        return ast.StateUse(state.name, v(names))

    def leaf(self, states: bool) -> ast.Leaf:
        self.aliases += 1
        alias = f"a{self.aliases}"
        names = self.random.choice(("x", "x", "", "z"))
        if states and self.chance(0.55):
            return self.state_leaf(alias, names)
        if states and self.lower and self.chance(0.2):
            below = self.random.choice(self.lower)
            return ast.Leaf(below.name, v(names or "x") if below.parameters[:1] == v("x") else (), alias)
        return ast.Leaf(n(self.random.choice("AABBCDR")), v(names), alias)

    def state_leaf(self, alias: str, names: str) -> ast.Leaf:
        state = self.random.choice(self.states.made)
        given = v(names) if state.parameters else ()
        moment, lasting = self.random.choice(
            (
                ("begin", 0),
                ("begin", 0),
                ("end", 0),
                ("end", 1),
                ("episode", 0),
                ("episode", 1),
                ("episode", 1),
            )
        )
        held = s(self.random.randint(1, 3)) if lasting else None
        return ast.Leaf(state.name, given, alias, moment=moment, lasting=held)  # type: ignore[arg-type]

    # streams

    def stream(self) -> tuple[list[Item], int]:
        """Items with ties and gaps, most of stream s, each with a class, a value, and a node of its own."""
        daily = any(isinstance(state, ast.DailyState) for state in self.states.made)
        nodes = any(window.by for window in self.states.windows.values())
        at = self.random.randint(45, 57) if daily else self.random.randint(0, 3)
        steps = self.random.choice(((0, 0, 1, 1, 1, 2), (0, 1, 1, 2, 3), (0, 1, 1, 1, 4, 8)))
        items: list[Item] = []
        for number in range(self.random.randint(11, 18)):
            at += self.random.choice(steps)
            stream = "t" if self.chance(0.15) else "s"
            items.append(Item(stream, at * SECOND, tuple(sorted(set(self.said(number, nodes))))))
        return items, (at + self.random.choice((0, 1, 3, 6))) * SECOND

    def said(self, number: int, nodes: bool) -> Iterator[Triple]:
        subject = iri(self.random.choice("xxy"))
        for letter in self.random.sample("AABBCDR", self.random.choice((1, 1, 1, 2))):
            yield (subject, RDF_TYPE, iri(f"Kind{letter}"))
        value: Term = integer(self.random.choice((1, 1, 2, 2, 3, 4)))
        if self.chance(0.1):
            value = term("2.5")
        if self.chance(0.03):
            value = term("'none")
        if self.chance(0.9):
            yield (subject, iri("v"), value)
        if nodes:
            node = iri(f"o{number}")
            yield (node, iri("of"), subject)
            yield (node, iri("v"), value)


def triples_of(text: str) -> ast.Bgp:
    return ast.Bgp(triples(text))


def _leaves(pattern: object) -> list[ast.Leaf]:
    return [node for node in parts(pattern) if isinstance(node, ast.Leaf)]


def _positive(pattern: object) -> list[ast.Leaf]:
    """The leaves outside every negation and every TIMES."""
    match pattern:
        case ast.Leaf():
            return [pattern]
        case ast.Not() | ast.Times():
            return []
        case ast.Without(left, _) | ast.NotFollowedBy(left, _, _) | ast.While(left) | ast.Unless(left):
            return _positive(left)
        case ast.Repeated(operand):
            return _positive(operand)
    return [leaf for part in _operands(pattern) for leaf in _positive(part)]


def _has_sequence(pattern: object) -> bool:
    """Whether a policy speaks of a SEQ outside every negation."""
    match pattern:
        case ast.Seq():
            return True
        case ast.Leaf() | ast.Not():
            return False
        case ast.Without(left, _) | ast.NotFollowedBy(left, _, _) | ast.While(left) | ast.Unless(left):
            return _has_sequence(left)
        case ast.Repeated(operand):
            return _has_sequence(operand)
    return any(map(_has_sequence, _operands(pattern)))


def _operands(pattern: object) -> list[object]:
    names = [name for name in ("operands", "operand", "left", "right") if hasattr(pattern, name)]
    found = [getattr(pattern, name) for name in names]
    return [part for one in found for part in (one if isinstance(one, tuple) else (one,))]
