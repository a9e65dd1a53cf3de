"""Random cases with states: states of each kind, patterns over them, graph events, alerts, and streams.

`StateCases(Random(seed)).case()` is one case. Every state leaf and operator of STATES 3 may stand below and
above every operator of SPEC §4; streams have ties and gaps, and there are two of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from obep.model import RDF_TYPE, SECOND, Item, Term, Triple
from obep.query import ast
from oracle.guard_semantics import parts
from oracle.pattern_cases import integer, iri
from oracle.state_cases import cmp, group, n, query, read_k, s, term, triples, v
from oracle.states.state_draws import StateDraw
from oracle.states.state_pattern_draws import PAIRS, PatternDraw

K = "x a Sensor . y a Sensor . x floor f1 . y floor f2 . x max 2 . y max 3"
SOURCES = (ast.Source("graph", "k.ttl"), ast.Source("stream", "s"), ast.Source("stream", "t"))


@dataclass(frozen=True)
class StateCase:
    """A query, K, and a finished stream in the order of time."""

    file: ast.QueryFile
    k: tuple[Triple, ...]
    items: tuple[Item, ...]
    end: int
    in_lots: bool = False
    """Whether most of its items come in order, many at once."""


@dataclass
class StateCases:
    """Draws cases."""

    random: Random
    pair: tuple[str, str] | None = None
    """H has the second of these directly below the first."""
    states: StateDraw = field(init=False)

    @classmethod
    def of(cls, seed: int) -> StateCases:
        """Of four times as many seeds as there are pairs, the first are for these, one after the other."""
        place = seed % (4 * len(PAIRS))
        return cls(Random(seed), PAIRS[place] if place < len(PAIRS) else None)

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def case(self) -> StateCase:
        return next(self.cases(1))

    def cases(self, streams: int) -> Iterator[StateCase]:
        """One query over so many streams."""
        file = self.file()
        for _ in range(streams):
            items, end = self.stream()
            yield StateCase(file, tuple(read_k(K)), tuple(items), end)

    def file(self) -> ast.QueryFile:
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
        return query(*SOURCES, *self.states.windows.values(), *self.states.made, *events, *returns)

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
        on = self.random.choice(("s", "t")) if self.chance(0.25) else None
        return ast.GraphEvent(n(name), group(*elements), v(self.random.choice(("x", "x", "x t"))), on)

    def composite(
        self, name: str, operators: int, events: list[ast.GraphEvent | ast.CompositeEvent]
    ) -> ast.CompositeEvent:
        drawing = PatternDraw(self.random, self.states, list(events))
        forced = self.pair if name == "H" else None
        pattern = drawing.forced(*forced) if forced else drawing.pattern(operators, frozenset())
        policy: ast.Policy = "unrestricted"
        if _has_sequence(pattern) and self.chance(0.5):
            policy = self.random.choice(("chronological", "recent", "naive"))
        keyed = all(one.parameters == v("x") for one in _leaves(pattern))
        split = keyed and not any(isinstance(node, ast.Not) for node in parts(pattern))
        partition = v("x") if split and self.chance(0.35) else ()
        guard = self.guard(pattern)
        names = (
            v("x")
            if self.chance(0.5) and any(v("x")[0] in one.parameters for one in _positive(pattern))
            else ()
        )
        return ast.CompositeEvent(n(name), pattern, names, partition, policy, guard)

    def guard(self, pattern: ast.Pattern) -> ast.Guard | None:
        positive = _positive(pattern)
        filters = self.over_bindings(positive)
        plain = [one for one in positive if one.moment == "event" and one.event.text in "ABCDR"]
        if not plain or not self.chance(0.35):
            return ast.Guard((), filters) if filters else None
        chosen = self.random.sample(plain, min(len(plain), 2))
        blocks = tuple(
            ast.Block((one.alias or "",), triples(f"?this v ?b{i}"), ()) for i, one in enumerate(chosen)
        )
        other = "?b1" if len(chosen) == 2 else self.random.choice((1, 2))
        condition = cmp("?b0", self.random.choice(("<=", ">=", "!=", "<")), other)
        return ast.Guard(blocks, (*filters, *([ast.Filter(condition)] if self.chance(0.7) else [])))

    def over_bindings(self, positive: list[ast.Leaf]) -> tuple[ast.Filter, ...]:
        """A FILTER over a binding of a state that is a leaf."""
        made = {state.name.iri: state for state in self.states.made}
        leaves = [one for one in positive if one.event.iri in made]
        names = sorted({name for one in leaves for name in self.states.bindings(made[one.event.iri])})
        if not names or not self.chance(0.5):
            return ()
        operator, limit = self.random.choice((("<=", 3), (">=", 1), ("!=", 2), (">=", 2), ("<=", 1)))
        return (ast.Filter(cmp(f"?{self.random.choice(names)}", operator, limit)),)

    # streams

    def stream(self) -> tuple[list[Item], int]:
        """Items with ties and gaps, most of stream s, each with a class, a value, and a node of its own."""
        daily = any(isinstance(state, ast.DailyState) for state in self.states.made)
        nodes = any(window.by for window in self.states.windows.values())
        at = self.random.randint(45, 57) if daily else self.random.randint(0, 3)
        if self.states.shift:
            at += self.states.shift - self.random.choice((0, 60, 60, 120))
        steps = self.random.choice(((0, 0, 1, 1, 1, 2), (0, 1, 1, 2, 3), (0, 1, 1, 1, 4, 8)))
        items: list[Item] = []
        for number in range(self.random.randint(11, 18)):
            at += self.random.choice(steps)
            stream = "t" if self.chance(0.2) else "s"
            items.append(Item(stream, at * SECOND, tuple(sorted(set(self.said(number, nodes))))))
        return items, (at + self.random.choice((0, 1, 3, 6))) * SECOND

    def said(self, number: int, nodes: bool) -> Iterator[Triple]:
        subject = iri(self.random.choice("xxy"))
        for letter in self.random.sample("AABBCDR", self.random.choice((1, 1, 1, 2))):
            yield (subject, RDF_TYPE, iri(f"Kind{letter}"))
        value: Term = integer(self.random.choice((1, 1, 2, 2, 3, 4)))
        if self.chance(0.1):
            value = term("2.5")
        if self.chance(0.05):  # no number: a text, a thing
            value = term("'none") if self.chance(0.7) else iri("none")
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
