"""A second generator of random cases, independent of `pattern_strategies` and of hypothesis.

A seed is a query and some streams. Patterns are drawn by their number of operators, each operator as likely
as any other at every level, over an alphabet of two or three events; streams are short, with ties, and some
have gaps that are longer than the bounds in the pattern. Nothing makes a stream fit its pattern, so that many
cases are tried in little time instead.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from random import Random

from oracle.pattern_strategies import ALLEN, NEVER_NESTED, OPERATORS, POLICIES

UNARY = ("NOT", "FIRST", "LAST", "EVERY", "TIMES", "WITHIN")
BINARY = tuple(operator for operator in OPERATORS if operator not in UNARY)
PAIRS = tuple((o, i) for o in OPERATORS for i in OPERATORS if (o, i) not in NEVER_NESTED)
"""(outer, inner): every operator directly below every other."""
TRIPLES = tuple(
    (outer, first, second)
    for outer, first in PAIRS
    for second in OPERATORS
    if (outer, second) not in NEVER_NESTED
    and (OPERATORS.index(first) <= OPERATORS.index(second) if outer in BINARY else (first, second) in PAIRS)
)
"""Two operators beside each other below a binary one; below a unary one, the second is below the first."""
CHAINS = tuple(
    (outer, inner, innermost)
    for outer, inner in PAIRS
    for innermost in OPERATORS
    if outer in BINARY and (inner, innermost) in PAIRS and (outer, innermost) not in NEVER_NESTED
)
"""The same for the second below the first and that below a binary one."""
WEIGHTS = {"SEQ": 3, "WITHIN": 2, "FIRST": 2, "LAST": 2, "OR": 2}
"""What is drawn more often than the rest, where nothing asks for a certain pair."""
STRIDE = 1361
"""In this order the triples come, so that a few seeds have a bit of everything."""
DENSE, SPARSE = (0, 0, 1, 1, 1, 2), (0, 1, 2, 3, 5, 9)
"""The steps in time of a stream."""


@dataclass
class Shape:
    """A pattern before it is text: an operator over operands, or a leaf with the letter of its event."""

    operator: str
    operands: tuple[Shape, ...] = ()
    letter: str = ""
    number: int = 0
    """Seconds of WITHIN and NOT FOLLOWED BY, copies of TIMES, which relation of Allen's, SEQ or AND."""
    alias: str = ""
    individual: str = ""

    def nodes(self) -> Iterator[Shape]:
        yield self
        for operand in self.operands:
            yield from operand.nodes()

    @property
    def is_sequence(self) -> bool:
        """Whether a policy speaks of it."""
        return self.operator == "SEQ" or (self.operator == "OPTIONAL" and self.number % 3 != 0)

    def pairs(self) -> Iterator[tuple[str, str]]:
        """The operators that stand directly below another."""
        for node in self.nodes():
            yield from ((node.operator, below.operator) for below in node.operands if below.operator)

    def named(self) -> Iterator[Shape]:
        """The leaves that a guard may speak of: those under no NOT."""
        if self.operator != "NOT":
            if not self.operator:
                yield self
            for operand in self.operands:
                yield from operand.named()

    def __str__(self) -> str:
        below = [f"({operand})" if operand.operator else str(operand) for operand in self.operands]
        match self.operator:
            case "":
                alias = f" AS {self.alias}" if self.alias else ""
                text = f"{self.letter}{self.individual}{alias}"
                return f"({text})" if alias else text
            case "ALLEN":
                return f" {ALLEN[self.number % len(ALLEN)]} ".join(below)
            case "OPTIONAL":
                return f"OPTIONAL {below[0]} {'SEQ' if self.number % 3 else 'AND'} {below[1]}"
            case "NOT FOLLOWED BY":
                return f"{below[0]} NOT FOLLOWED BY {below[1]} WITHIN {1 + self.number % 4} s"
            case "TIMES":
                return f"{below[0]} TIMES {3 if self.number == 8 else 2}"
            case "WITHIN":
                return f"{below[0]} WITHIN {2 + self.number % 6} s"
            case "NOT" | "FIRST" | "LAST" | "EVERY":
                return f"{self.operator} {below[0]}"
        return f" {self.operator} ".join(below)


@dataclass
class Draw:
    """Draws a query and its streams; `forced` are an operator and one or two that must stand below it."""

    random: Random
    forced: tuple[str, ...] = ()
    deep: bool = False
    """Whether the second of these stands below the first, also where the operator takes two."""
    shapes: list[Shape] = field(default_factory=list)
    """The patterns of what was drawn."""

    @classmethod
    def of(cls, seed: int) -> Draw:
        """What a seed stands for: first each pair of operators once, then triples, chains and free ones."""
        if seed < len(PAIRS):
            return cls(Random(seed), PAIRS[seed])
        if seed % 4 == 2:
            return cls(Random(seed), CHAINS[seed // 4 * STRIDE % len(CHAINS)], deep=True)
        return cls(Random(seed), TRIPLES[seed * STRIDE % len(TRIPLES)] if seed % 2 else ())

    def __post_init__(self) -> None:
        self.letters = self.random.sample("ABCD", self.random.choice((2, 3, 3)))
        self.guarded = self.random.random() < 0.6
        self.parameter = False
        """Whether the lower event has one."""

    # queries

    def query(self) -> str:
        """The text of the composite events, H the last of them."""
        self.shapes.clear()
        events = []
        logical = list(self.letters)
        if self.random.random() < 0.25:
            lower = self.shape(self.random.choice((1, 1, 2)), frozenset())
            events.append(self._event("F", lower))
            self.letters.append("F")
        if self.forced:
            main = self._forced(*self.forced)
        else:
            main = self.shape(
                self.random.choices((1, 2, 3, 4, 5, 6, 8), (1, 3, 5, 4, 3, 2, 1))[0], frozenset()
            )
        events.append(self._event("H", main))
        if self.random.random() < 0.1:  # a second event with the same pattern: the two share what they can
            events.insert(-1, re.sub(r" POLICY \w+", "", events[-1]).replace("EVENT H ", "EVENT K "))
        self.letters = logical
        return "\n".join(events)

    def shape(self, operators: int, banned: frozenset[str]) -> Shape:
        """A pattern of so many operators."""
        number = self.random.randrange(12)
        if not operators:
            return Shape("", letter=self.random.choice(self.letters), number=number)
        kinds = [kind for kind in OPERATORS if kind not in banned]
        kind = self.random.choices(kinds, [WEIGHTS.get(kind, 1) for kind in kinds])[0]
        return self._over(kind, number, banned, operators - 1)

    def _over(self, kind: str, number: int, banned: frozenset[str], below: int) -> Shape:
        banned = banned | {inner for outer, inner in NEVER_NESTED if outer == kind}
        if kind in UNARY:
            return Shape(kind, (self.shape(below, banned),), number=number)
        left = self.random.randint(0, below)
        return Shape(kind, (self.shape(left, banned), self.shape(below - left, banned)), number=number)

    def _forced(self, outer: str, *inner: str) -> Shape:
        """The operators that are asked for, with little else below and beside them, often under another."""
        banned = frozenset(i for o, i in NEVER_NESTED if o == outer)
        if outer in UNARY:
            found = Shape(outer, (self._chain(inner, banned),), number=self.random.randrange(12))
        else:
            ways = [inner] if self.deep else [(kind,) for kind in inner]
            below = [self._chain(way, banned) for way in ways]
            below += [self.shape(self.random.choice((0, 1)), banned)] * (2 - len(below))
            found = Shape(outer, self._shuffled(below), number=self.random.randrange(12))
        if self.random.random() < 0.85:
            kinds = [kind for kind in OPERATORS if kind not in ("TIMES", "EVERY", "NOT")]
            above = self.random.choices(kinds, [WEIGHTS.get(kind, 1) for kind in kinds])[0]
            others = [] if above in UNARY else [self.shape(self.random.choice((0, 0, 0, 1)), frozenset())]
            found = Shape(above, self._shuffled([found, *others]), number=self.random.randrange(12))
        return found

    def _chain(self, kinds: tuple[str, ...], banned: frozenset[str]) -> Shape:
        """The first over the second and so on, leaves elsewhere."""
        if not kinds:
            return self.shape(self.random.choice((0, 0, 0, 1)), banned)
        kind, *rest = kinds
        banned = banned | {inner for outer, inner in NEVER_NESTED if outer == kind}
        below = [self._chain(tuple(rest), banned)]
        if kind not in UNARY:
            below.append(self.shape(0, banned))
        return Shape(kind, self._shuffled(below), number=self.random.randrange(12))

    def _shuffled(self, shapes: list[Shape]) -> tuple[Shape, ...]:
        return tuple(self.random.sample(shapes, len(shapes)))

    def _event(self, name: str, shape: Shape) -> str:
        self.shapes.append(shape)
        blocks: list[str] = []
        by = ""
        if self.guarded:
            has_not = any(node.operator == "NOT" for node in shape.nodes())
            composite = any(node.letter == "F" for node in shape.nodes()) and not self.parameter
            by = "k" if not has_not and not composite and self.random.random() < 0.2 else ""
            self._dress(shape, by, blocks)
            blocks += self._filters(shape, blocks)
        head = name
        if name == "F" and any("?v" in block for block in blocks) and self.random.random() < 0.7:
            head = "F(?v)"
            self.parameter = True
        text = f"EVENT {head} MATCH {shape}"
        if by:
            text += f" PARTITION BY ?{by}"
        positive = _positive(shape)
        sequences = (
            node.operator == "SEQ" or (node.operator == "OPTIONAL" and node.number % 3) for node in positive
        )
        if any(sequences) and self.random.random() < 0.4:
            text += f" POLICY {self.random.choice(POLICIES)}"
        return text + (" IF { " + " ".join(blocks) + " }" if blocks else "")

    # guards

    def _dress(self, shape: Shape, by: str, blocks: list[str]) -> None:
        """Aliases, individuals and blocks; some leaves have none, so that rows are unbound under an OR."""
        for count, leaf in enumerate(shape.named()):
            leaf.alias = f"a{count}"
            if leaf.letter == "F":
                if self.parameter and (by or self.random.random() < 0.7):
                    leaf.individual = f"(?{by or self.random.choice('vw')})"
                continue
            if self.random.random() < 0.15:
                leaf.individual = "(?i)"
            asked = [by] if by else []
            asked += [name for name in "vw" if self.random.random() < 0.3]
            if asked:
                triples = " ".join(f"?this {'q' if name == 'w' else 'p'} ?{name} ." for name in asked)
                limit = f" FILTER(?{asked[0]} {self._sign()} 2)" if self.random.random() < 0.15 else ""
                blocks.append(f"EVENT {leaf.alias} {{ {triples}{limit} }}")

    def _filters(self, shape: Shape, blocks: list[str]) -> list[str]:
        """Conditions over several aliases or over the whole; the checker refuses what ties a negation."""
        if self.random.random() < 0.6:
            return []
        text = " ".join(blocks)
        names = [name for name in "vwk" if f"?{name}" in text]
        aliases = [leaf.alias for leaf in shape.named()]
        options = [f"getDURATION() {self._sign()} {self.random.choice((1, 2, 3))} s"]
        if names:
            options += [f"?{self.random.choice(names)} {self._sign()} {self.random.choice((1, 2))}"] * 2
        if len(names) > 1:
            options += [f"?{names[0]} {self._sign()} ?{names[1]}"] * 3
        if aliases:
            one, other = (self.random.choice(aliases) for _ in "12")
            options += [f"getENDTIME({one}) {self._sign()} getSTARTTIME({other})"] * 2
        return [f"FILTER({self.random.choice(options)})"]

    def _sign(self) -> str:
        return self.random.choice(("=", "!=", "<", "<=", ">", ">="))

    # streams

    def stream(self) -> str:
        """A stream in one line, as `pattern_cases` reads it."""
        steps = self.random.choice((DENSE, SPARSE))
        lasting = self.random.random() < 0.1
        at, words = self.random.choice((0, 1, 2)), []
        known = {node.letter for shape in self.shapes for node in shape.nodes()} & set(self.letters)
        pool = [*sorted(known) * 3, *self.letters]
        tie = False
        for _ in range(self.random.choice((3, 4, 5, 6, 7, 8, 9))):
            letter = self.random.choice(pool)
            step = self.random.choice(steps)
            at += step
            word = self._word(letter, at, lasting)
            if words and not step and self.random.random() < 0.35 and not tie:
                words[-1] = f"{words[-1]}+{word}"
            else:
                words.append(word)
            tie = self.random.random() < 0.2
            if tie:
                words[-1] += "'"
        if self.random.random() < 0.15:
            words.append(f"_{self.random.randint(0, at)}")
        return " ".join([*words, f"|{at + self.random.choice((0, 0, 1, 4))}"])

    def _word(self, letter: str, at: int, lasting: bool) -> str:
        begun = f"{self.random.randint(0, at - 1)}-" if lasting and at and self.random.random() < 0.5 else ""
        word = f"{letter}{begun}{at}{self.random.choice('xxxy')}"
        if not self.guarded:
            return word
        values = {name: self.random.choice("1122") for name in "pq" if self.random.random() < 0.85}
        if self.random.random() < 0.15:
            values["p"] = "1|2"
        return word + (f"({','.join(f'{p}={v}' for p, v in sorted(values.items()))})" if values else "")


def _positive(shape: Shape) -> Iterator[Shape]:
    """The nodes outside of every negation."""
    yield shape
    if shape.operator in ("WITHOUT", "NOT FOLLOWED BY"):
        yield from _positive(shape.operands[0])
    elif shape.operator != "NOT":
        for operand in shape.operands:
            yield from _positive(operand)
