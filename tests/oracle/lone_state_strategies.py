"""Random cases of a state by rows that alone reads its event, and that so may take its rows in a loop.

Its items come mostly in order, many at once, each of one kind, with some ties and gaps. Patterns, alerts and
states that read it, and deadlines of other events, stop the loop now and then.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from obep.model import RDF_TYPE, SECOND, Item, Triple
from obep.query import ast
from oracle.pattern_cases import iri
from oracle.state_cases import (
    agg,
    as_,
    begin,
    block,
    cmp,
    composite,
    end,
    episode,
    group,
    leaf,
    n,
    query,
    read_k,
    s,
    term,
    use,
    v,
)
from oracle.state_strategies import K, StateCase
from oracle.states.state_draws import NUMERIC, StateDraw

SOURCES = (ast.Source("graph", "k.ttl"), ast.Source("stream", "s"))
STEPS = ((1, 1, 1, 1, 0, 2), (1, 1, 2, 3), (0.5, 0.5, 1, 1.5), (1, 1, 1, 8), (0, 0.25, 1, 4))
VALUES = (
    ("1", "2", "3", "4"),
    ("1", "2.5", "0.5", "3", "-1.25"),
    ("1", "1.0", "2", "2.0", "0.0000001", "3.000001"),
    ("1", "2", "2.5", "'none", "nothing", ""),
)
KINDS = ("AAAAAAAB", "AAAAB", "AAABBBCD", "AAAA", "AABBBB")


@dataclass
class LoneStateCases:
    """Draws cases."""

    random: Random
    states: StateDraw = field(init=False)

    @classmethod
    def of(cls, seed: int) -> LoneStateCases:
        return cls(Random(f"lone {seed}"))

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def cases(self, streams: int) -> Iterator[StateCase]:
        """One query over so many streams."""
        file = self.file()
        for _ in range(streams):
            items, last = self.stream()
            yield StateCase(file, tuple(read_k(K)), tuple(items), last, in_lots=True)

    def file(self) -> ast.QueryFile:
        self.states = StateDraw(self.random)
        self.states.made = made = [ast.ClassState(n("K"), v("x"), ast.ClassName(n("Sensor")))]
        rows = [self.over("S", "A")]
        if self.chance(0.25):
            rows.append(self.over("S2", "B"))
        made += rows
        made += self.readers(rows[0])
        events = list(self.events([*rows, *rows, made[-1]]))
        returns = [ast.Return("listed", tuple(event.name for event in events))] if events else []
        for state in made[1:]:
            if self.chance(0.5) or not events:
                lasting = s(self.random.randint(1, 3)) if self.chance(0.35) else None
                returns.append(ast.Return("listed", (state.name,), "alerts", lasting))
        if not returns:
            returns.append(ast.Return("listed", (rows[0].name,), "alerts"))
        return query(*SOURCES, *made, *events, *returns)

    def over(self, name: str, letter: str) -> ast.OverState:
        """A state by the rows of one event."""
        names = "x" if self.chance(0.85) else ""
        guard = block("r", "?this v ?v") if self.chance(0.9) else None
        each = use("K", "x") if names and self.chance(0.15) else None
        group_by = v("x v") if names and guard and not each and self.chance(0.2) else ()
        if guard and self.chance(0.5):
            wanted, having = self.bounds()
        else:
            wanted, having = self.states.conditions(guard is not None, each is not None or not names)
        read = leaf(letter, "x" if names or self.chance(0.5) else "", "r")
        within = s(self.random.choice((1, 2, 3, 4.5, 7)))
        return ast.OverState(n(name), v(names), read, within, None, each, guard, group_by, wanted, having)

    def bounds(self) -> tuple[tuple[ast.Projection, ...], ast.Expression]:
        """AGGREGATE and HAVING as most queries have them: all bounds must be kept."""
        functions = self.random.sample(("AVG", "MAX", "MIN", "SUM", "COUNT"), self.random.randint(1, 4))
        if self.chance(0.3):  # one alone, of any kind
            functions = [self.random.choice([one for one in NUMERIC if one != "PERCENTILE"])]
        wanted = [as_(f"y{place}", agg(function, "v")) for place, function in enumerate(functions)]
        having: ast.Expression | None = None
        for place in self.random.sample(range(len(functions)), self.random.randint(1, len(functions))):
            operator = self.random.choice((">", ">=", "<", "<=", ">", "!="))
            bound = cmp(f"?y{place}", operator, self.random.choice((0, 1, 2, 2, 3)))
            having = bound if having is None else ast.Conjunction((having, bound))
        assert having is not None
        return tuple(wanted), having

    def readers(self, state: ast.OverState) -> Iterator[ast.State]:
        """States that read the state."""
        if not state.parameters:
            return
        name = state.name.text
        if self.chance(0.15):
            bound = cmp(agg("HELD"), ">=", s(self.random.randint(1, 3)))
            wanted = (as_("h", agg("HELD")),)
            yield ast.OverState(n("O"), v("x"), use(name, "x"), s(5), s(1), None, None, (), wanted, bound)
        elif self.chance(0.2):
            elements: list[object] = [ast.Atom(n(name), v("x"), s(1) if self.chance(0.3) else None)]
            if (shown := self.states.bindings(state)) and self.chance(0.6):
                chosen = self.random.choice(sorted(shown))
                elements.append(ast.Filter(cmp(f"?{chosen}", self.random.choice((">=", "<")), 2)))
            yield ast.GroupState(n("T"), v("x"), group(*elements))

    def events(self, read: list[ast.State]) -> Iterator[ast.CompositeEvent]:
        """Patterns over the states, and one beside them that has deadlines."""
        for name in ("E", "F", "H"):
            if self.chance(0.65):
                state = self.random.choice(read)
                pattern = self.pattern(state)
                beside = isinstance(pattern, ast.While | ast.Unless)  # which bind nothing
                yield composite(name, pattern, guard=None if beside else self.guard(state))
        if self.chance(0.25):
            waiting = ast.NotFollowedBy(leaf("C", "x"), leaf("D", "x"), s(self.random.randint(1, 4)))
            yield composite("W", waiting)

    def pattern(self, state: ast.State) -> ast.Pattern:
        name, names = state.name.text, "x" if state.parameters else ""
        lasting = self.random.randint(1, 3)
        match self.random.randrange(9):
            case 0 | 1:
                return begin(name, names, "a")
            case 2 | 3:
                return end(name, names, None, "a")
            case 4:
                return end(name, names, lasting, "a")
            case 5:
                return episode(name, names, None, "a")
            case 6:
                return episode(name, names, lasting, "a")
            case 7:
                return ast.Seq((begin(name, names, "a"), leaf("C", "x")))
        beside = ast.While if self.chance(0.5) else ast.Unless
        return beside(leaf("C", "x", "a"), use(name, names))

    def guard(self, state: ast.State) -> ast.Guard | None:
        """A FILTER over a binding of the state."""
        names = sorted(self.states.bindings(state))
        if not names or not self.chance(0.3):
            return None
        bound = cmp(f"?{self.random.choice(names)}", self.random.choice((">=", "<=", "!=")), 2)
        return ast.Guard((), (ast.Filter(bound),))

    def stream(self) -> tuple[list[Item], int]:
        """Items with some ties and gaps, each of one kind, most with one value."""
        at, items = self.random.randint(0, 3) * SECOND, []
        steps, values = self.random.choice(STEPS), self.random.choice(VALUES)
        kinds = self.random.choice(KINDS)
        for _ in range(self.random.randint(10, 26)):
            at += round(self.random.choice(steps) * SECOND)
            said = tuple(sorted(set(self.said(values, self.random.choice(kinds)))))
            items.append(Item("s", at, said))
        return items, at + self.random.choice((0, 1, 3, 6)) * SECOND

    def said(self, values: tuple[str, ...], kind: str) -> Iterator[Triple]:
        subject = iri(self.random.choice("xxy"))
        yield (subject, RDF_TYPE, iri(f"Kind{kind}"))
        for _ in range(2 if self.chance(0.05) else 1):
            if value := self.random.choice(values):
                yield (subject, iri("v"), term(value))
