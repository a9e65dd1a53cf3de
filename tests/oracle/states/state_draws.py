"""Random states of each kind over the events A, B, C, D, R, the windows of a case, and states drawn before.

A drawn state has the parameter ?x, or none. Values are few and small, so that conditions are often true.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from random import Random

from obep.query import ast
from oracle.guard_semantics import parts
from oracle.state_cases import (
    agg,
    as_,
    begin,
    bgp,
    block,
    cmp,
    end,
    episode,
    group,
    leaf,
    n,
    s,
    triples,
    use,
    v,
)

KINDS = {
    "FROM TO": 5, "OVER": 9, "OVER STATE": 2.2, "CLASS OF K": 1.3, "CLASS ON": 1.3, "GROUP ON": 2,
    "SUB-SELECT ON": 1.3, "GROUP": 4.5, "DAILY": 1.7, "ON EVENT": 2.4,
}  # fmt: skip
NUMERIC = (
    "SUM", "AVG", "MIN", "MAX", "FIRST", "LAST", "RATE", "SLOPE", "STDDEV", "MEDIAN", "PERCENTILE",
    "TIMEAVG", "TIMEAVG", "TIMEAVG", "CHANGES", "TRAVEL", "TURNS", "SAMPLE", "COUNT",
)  # fmt: skip
WINDOWS = ("LATEST", "LATEST r", "LATEST STEP", "LATEST BY", "LATEST BY", "RANGE", "RANGE STEP", "ROWS")
ROME, NEW_YORK = "Europe/Rome", "America/New_York"
SHIFTS = {  # the instants at which clocks are changed, and what they show just before
    1711846800: (ROME, 120), 1729990800: (ROME, 180),
    1710054000: (NEW_YORK, 120), 1730613600: (NEW_YORK, 120),
}  # fmt: skip
"""2024-03-31T01:00Z, 2024-10-27T01:00Z, 2024-03-10T07:00Z, 2024-11-03T06:00Z."""


@dataclass
class StateDraw:
    """Draws the states and windows of a case."""

    random: Random
    windows: dict[str, ast.Window] = field(default_factory=dict)
    made: list[ast.State] = field(default_factory=list)
    shift: int = 0
    """The second at which clocks are changed, where a calendar has that in its zone."""

    def chance(self, share: float) -> bool:
        return self.random.random() < share

    def some(self, low: int, high: int) -> ast.Duration:
        return s(self.random.randint(low, high))

    # windows

    def window(self, name: str) -> str:
        """A window of that name, drawn when it is first asked for."""
        if name not in self.windows:
            kind = self.random.choice(WINDOWS)
            stream = "s" if name == "w" or self.chance(0.3) else "t"
            reach, step = self.some(2, 7), s(self.random.choice((1, 2, 3)))
            given: dict[str, ast.Window] = {
                "LATEST": ast.Window(name, stream, "latest"),
                "LATEST r": ast.Window(name, stream, "latest", reach),
                "LATEST STEP": ast.Window(name, stream, "latest", reach if self.chance(0.5) else None, step),
                "LATEST BY": ast.Window(
                    name, stream, "latest", reach if self.chance(0.6) else None, by=triples("?o of ?s")
                ),
                "RANGE": ast.Window(name, stream, "range", reach),
                "RANGE STEP": ast.Window(name, stream, "range", reach, step),
                "ROWS": ast.Window(name, stream, "rows", rows=self.random.choice((1, 2, 3, 5))),
            }
            self.windows[name] = given[kind]
        return name

    def values_in(self, name: str, variable: str) -> str:
        """The pattern of a value of ?x in a window: by its subject, or by a node for each reading."""
        if self.windows[name].by:
            return f"?o{variable} of ?x . ?o{variable} v ?{variable}"
        return f"?x v ?{variable}"

    # states

    def keyed(self) -> list[ast.State]:
        return [state for state in self.made if state.parameters]

    def state(self, name: str) -> ast.State:
        """A state over what there is."""
        kinds = dict(KINDS)
        if not self.keyed():
            del kinds["OVER STATE"]
        kind = self.random.choices(list(kinds), list(kinds.values()))[0]
        made = self._of(kind, name)
        self.made.append(made)
        return made

    def _of(self, kind: str, name: str) -> ast.State:
        match kind:
            case "FROM TO":
                return self.from_to(name)
            case "OVER":
                return self.over(name)
            case "OVER STATE":
                return self.over_state(name)
            case "CLASS OF K":
                guard = ast.Guard((), (), triples("?this floor f1")) if self.chance(0.3) else None
                return ast.ClassState(n(name), v("x"), ast.ClassName(n("Sensor")), guard=guard)
            case "CLASS ON":
                kind_of = self.random.choice("ABCD")
                return ast.ClassState(n(name), v("x"), ast.ClassName(n(f"Kind{kind_of}")), self.window("w"))
            case "GROUP ON":
                return self.group_on(name)
            case "SUB-SELECT ON":
                return self.counted(name)
            case "GROUP":
                return self.group(name)
            case "ON EVENT":
                return self.on_event(name)
        return self.daily(name)

    def from_to(self, name: str) -> ast.EventState:
        first, second, third = self.random.sample("ABCD", 3)
        starts: list[ast.Pattern] = [
            leaf(first, "x", "p"),
            leaf(first, "x", "p"),
            ast.Seq((leaf(first, "x", "p"), leaf(third, "x", "p2"))),
            ast.Or((leaf(first, "x", "p"), leaf(third, "x", "p2"))),
        ]
        ends: list[ast.Pattern] = [leaf(second, "x", "q"), leaf(second, "x", "q"), leaf(second, "", "q")]
        for below in self.keyed():
            starts.append(begin(below.name.text, "x", "p"))
            starts.append(ast.While(leaf(first, "x", "p"), use(below.name.text, "x")))
            ends.append(end(below.name.text, "x", None, "q"))
        start, finish = self.random.choice(starts), self.random.choice(ends)
        guard = None
        by_letter = isinstance(start, ast.Leaf) and start.moment == "event"
        if by_letter and isinstance(finish, ast.Leaf) and finish.moment == "event" and self.chance(0.25):
            blocks = (
                ast.Block(("p",), triples("?this v ?pv"), ()),
                ast.Block(("q",), triples("?this v ?qv"), ()),
            )
            condition = cmp("?qv", self.random.choice(("<=", "!=", ">")), "?pv")
            guard = ast.Guard(blocks, (ast.Filter(condition),) if self.chance(0.8) else ())
        timeout = self.some(2, 6) if self.chance(0.45) else None
        limit = self.some(2, 8) if self.chance(0.35) else None
        return ast.EventState(n(name), v("x"), start, finish, timeout, limit, guard)

    def over(self, name: str) -> ast.OverState:
        letters = self.random.sample("ABCDR", 2)
        names = "x" if self.chance(0.8) else ""
        read = leaf(letters[0], "x" if names or self.chance(0.5) else "", "r")
        pattern: ast.Pattern = read
        guard: ast.Guard | None = block("r", "?this v ?v")
        if self.chance(0.2):
            pattern = ast.Seq((leaf(letters[1], "x", "r0"), read))
        elif self.keyed() and self.chance(0.2):
            below = self.random.choice(self.keyed()).name.text
            pattern, guard = (begin if self.chance(0.5) else episode)(below, "x", None), None  # type: ignore[operator]
        elif self.chance(0.15):
            guard = None
        step = s(self.random.choice((1, 2, 3))) if self.chance(0.3) else None
        each = None
        if names and self.keyed() and self.chance(0.5):
            each = use(self.random.choice(self.keyed()).name.text, "x")
        group_by = v("x v") if names and guard and not each and self.chance(0.35) else ()
        wanted, having = self.conditions(guard is not None, each is not None or not names)
        return ast.OverState(
            n(name), v(names), pattern, self.some(2, 7), step, each, guard, group_by, wanted, having
        )

    def conditions(
        self, values: bool, empty: bool
    ) -> tuple[tuple[ast.Projection, ...], ast.Expression | None]:
        """AGGREGATE and HAVING, most often true at some time."""
        wanted = [as_("n", agg("COUNT"))]
        if values:
            for number in range(self.random.choice((1, 1, 2))):
                function = self.random.choice(NUMERIC)
                percent = self.random.choice((10, 50, 90, 100)) if function == "PERCENTILE" else None
                wanted.append(as_(f"y{number}", agg(function, "v", percent)))
        elif self.chance(0.3):
            return (), None
        if self.chance(0.15):
            return tuple(wanted), None
        options: list[ast.Expression] = [
            cmp("?n", ">=", self.random.choice((1, 1, 2, 3))),
            cmp("?n", "<=", 2),
        ]
        if empty:
            options += [cmp("?n", "=", 0)] * 2
        if values:
            options += [cmp("?y0", self.random.choice((">=", "<=")), self.random.choice((0, 1, 2, 3)))] * 3
        options += [agg("FULL")] * 2
        having = self.random.choice(options)
        if self.chance(0.2):
            connective = ast.Disjunction if self.chance(0.5) else ast.Conjunction
            having = connective((having, self.random.choice(options)))
        elif self.chance(0.1):
            having = ast.Negation("!", having)
        return tuple(wanted), having

    def over_state(self, name: str) -> ast.OverState:
        below = self.random.choice(self.keyed()).name.text
        wanted = (as_("y0", agg("HELD")),)
        having = (
            cmp(agg("HELD"), self.random.choice((">=", "<=")), self.some(1, 3)) if self.chance(0.7) else None
        )
        step = s(self.random.choice((1, 2, 3)))
        return ast.OverState(
            n(name), v("x"), use(below, "x"), self.some(3, 6), step, None, None, (), wanted, having
        )

    def limit(self, variable: str) -> ast.Filter:
        return ast.Filter(
            cmp(f"?{variable}", self.random.choice((">", "<=", "!=")), self.random.choice((1, 2, 3)))
        )

    def group_on(self, name: str) -> ast.GroupState:
        window = self.window("w")
        seen = self.values_in(window, "t")
        if self.chance(0.35):
            silent = ast.Filter(
                ast.Exists(group(seen, *([self.limit("t")] if self.chance(0.5) else [])), True)
            )
            return ast.GroupState(n(name), v("x"), group("?x a Sensor", silent), window)
        return ast.GroupState(n(name), v("x"), group(seen, self.limit("t")), window)

    def counted(self, name: str) -> ast.GroupState:
        window = self.window("w")
        select = ast.Select(
            (ast.Projection(ast.Var("x")), as_("n", agg("COUNT"))),
            group(self.values_in(window, "t")),
            group_by=(ast.Projection(ast.Var("x")),),
            having=(cmp("?n", ">=", self.random.choice((1, 2))),),
        )
        return ast.GroupState(n(name), v("x"), select, window)

    def group(self, name: str) -> ast.GroupState:
        """Of K, windows and atoms together."""
        elements: list[object] = []
        bound: list[str] = []
        if self.chance(0.75) or not self.keyed():
            window = self.window("w")
            elements.append(ast.WindowGroup(window, group(self.values_in(window, "t"))))
            bound.append("t")
        if self.chance(0.25):
            window = self.window("u")
            elements.append(ast.WindowGroup(window, group(self.values_in(window, "t2"))))
            bound.append("t2")
        if self.keyed() and (not elements or self.chance(0.6)):
            below = self.random.choice(self.keyed()).name
            lasting = self.some(1, 3) if self.chance(0.5) else None
            atom = ast.Atom(below, v("x"), lasting)
            if elements and self.chance(0.3):
                elements.append(ast.Filter(ast.Exists(group(atom), True)))
            else:
                elements.append(atom)
        if self.chance(0.3):
            elements.append(bgp("?x max ?m"))
            bound.append("m")
        if len(bound) > 1:
            one, other = self.random.sample(bound, 2)
            elements.append(ast.Filter(cmp(f"?{one}", self.random.choice((">=", "<")), f"?{other}")))
        elif bound and self.chance(0.7):
            elements.append(self.limit(bound[0]))
        return ast.GroupState(n(name), v("x"), group(*elements))

    def on_event(self, name: str) -> ast.State:
        """By a window over the occurrences of an event: what they are made of, and that they are."""
        letter = self.random.choice("ABCD")
        window = f"e{letter}"
        reach = self.some(2, 6)
        frames = [ast.Window(window, "", "range", reach, event=n(letter))] * 2
        frames.append(ast.Window(window, "", "latest", reach if self.chance(0.5) else None, event=n(letter)))
        frames.append(ast.Window(window, "", "rows", rows=self.random.choice((1, 2, 3)), event=n(letter)))
        self.windows.setdefault(window, self.random.choice(frames))
        if self.windows[window].kind != "latest" and self.chance(0.6):
            return self.on_occurrences(name, letter, window)
        what = f"?x a {self.random.choice((letter, f'Kind{letter}'))}"
        if self.chance(0.25):
            return ast.ClassState(n(name), v("x"), ast.ClassName(n(f"Kind{letter}")), window)
        if self.chance(0.3):
            return ast.GroupState(n(name), v("x"), group(what, bgp("?x max ?m"), self.limit("m")), window)
        if self.chance(0.3):
            silent = ast.Filter(ast.Exists(group(ast.WindowGroup(window, group(what))), True))
            return ast.GroupState(n(name), v("x"), group("?x a Sensor", silent))
        return ast.GroupState(n(name), v("x"), group(ast.WindowGroup(window, group(what))))

    def on_occurrences(self, name: str, letter: str, window: str) -> ast.GroupState:
        """By the occurrences in a window: that there is one, that there is none, how many there are."""
        atom = ast.Atom(n(letter), v("x"))
        if self.chance(0.4):
            wanted = (ast.Projection(ast.Var("x")), as_("n", agg("COUNT")))
            enough = cmp("?n", self.random.choice((">=", "<=")), self.random.choice((1, 2)))
            by = (ast.Projection(ast.Var("x")),)
            return ast.GroupState(
                n(name), v("x"), ast.Select(wanted, group(atom), group_by=by, having=(enough,)), window
            )
        if self.chance(0.3):
            silent = ast.Filter(ast.Exists(group(ast.WindowGroup(window, group(atom))), True))
            return ast.GroupState(n(name), v("x"), group("?x a Sensor", silent))
        if self.chance(0.4):
            return ast.GroupState(n(name), v("x"), group(atom, bgp("?x max ?m"), self.limit("m")), window)
        return ast.GroupState(n(name), v("x"), group(ast.WindowGroup(window, group(atom))))

    def daily(self, name: str) -> ast.DailyState:
        """Its edge lies a minute after midnight, or about a change of clocks, where the stream is then."""
        if self.shift or (self.chance(0.65) and not any(isinstance(s, ast.DailyState) for s in self.made)):
            self.shift = self.shift or self.random.choice(list(SHIFTS))
            return self.about_a_shift(name)
        ends = self.chance(0.5)
        zone = self.random.choice((None, "UTC", ROME))
        late = 60 if zone == ROME else 0
        start, finish = ((late or 1440) - 30, late + 1) if ends else (late + 1, late + 5)
        days: tuple[ast.Weekday, ...] = ()
        if self.chance(0.4):
            days = ("Wed", "Thu") if self.chance(0.8) else ("Mon",)
        return ast.DailyState(n(name), (), start % 1440, finish, days, zone)

    def about_a_shift(self, name: str) -> ast.DailyState:
        zone, shown = SHIFTS[self.shift]
        near = [shown + minutes for minutes in (-120, -61, -60, -59, -31, -30, -1, 0, 1, 30, 59, 60, 61)]
        start, finish = self.random.sample([minute for minute in near if minute >= 0], 2)
        days: tuple[ast.Weekday, ...] = ("Sat", "Sun") if self.chance(0.3) else ()
        return ast.DailyState(n(name), (), start, finish, days, zone)

    # bindings

    def bindings(self, state: ast.State) -> list[str]:
        """Variables of a state beside its parameters that have numbers."""
        if isinstance(state, ast.OverState):
            names = [p.variable.name for p in state.aggregates]
            held = isinstance(state.over, ast.StateUse)
            return [] if held else [*names, *(["v"] if state.group_by else [])]
        if isinstance(state, ast.GroupState) and isinstance(state.group, ast.Select):
            return ["n"]
        if isinstance(state, ast.GroupState):
            known = {"t", "t2", "m"}
            outer = [node for node in state.group.elements if not isinstance(node, ast.Filter)]
            return sorted({p.name for p in parts(tuple(outer)) if isinstance(p, ast.Var)} & known)
        return []
