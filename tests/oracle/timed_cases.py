"""Random small files of EP-SPARQL, with a stream and K. The tree and its text are made here side by side:
the oracle evaluates the tree, the engine reads the text, so that a mistake of the parser shows."""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, fields, is_dataclass
from functools import partial
from typing import Literal as Choice

from obep.model import SECOND
from obep.query import ast
from oracle.timed_semantics import XSD, Occurs, Statement, Triple, written

BASE = "http://e/"
INDIVIDUALS = ("a", "b", "c")
NUMBERS = ("1", "2", "3", "02")
PLAIN = ("p", "q", "v")
"""Predicates of the stream; v has numbers."""

Operator = Choice["SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL"]
TIGHT: tuple[Operator, ...] = ("SEQ", "EQUALS")
LOOSE: tuple[Operator, ...] = ("OPTIONALSEQ", "EQUALSOPTIONAL")


def name(word: str) -> ast.Name:
    return ast.Name(f":{word}", f"<{BASE}{word}>")


def number(lexical: str) -> ast.Literal:
    return ast.Literal(lexical, ast.Name("xsd:integer", f"<{XSD}integer>"))


# --- text -----------------------------------------------------------------------------------------------


def text_of(node: object) -> str:
    """A node as EP-SPARQL writes it, with no more braces than D22 needs."""
    match node:
        case ast.Var():
            return node.name if node.name.startswith("_:") else f"?{node.name}"
        case ast.Name():
            return node.text
        case ast.Literal():
            return node.lexical if node.lexical[0] != "0" else f'"{node.lexical}"^^xsd:integer'
        case ast.Duration():
            return f"{node.micros // SECOND} s"
        case ast.TriplePattern():
            return " ".join(map(text_of, (node.subject, node.predicate, node.object)))
        case ast.PathPattern():
            return f"{text_of(node.subject)} {path_text(node.path)} {text_of(node.object)}"
        case ast.Bgp():
            return " . ".join(map(text_of, node.patterns)) + " ."
        case ast.Group():
            return "{ " + " ".join(map(text_of, node.elements)) + " }"
        case ast.GroupUnion():
            return " UNION ".join(map(text_of, node.groups))
        case ast.TimedJoin():
            return f"{text_of(node.left)} {node.operator} {text_of(node.right)}"
        case ast.GroupOptional():
            return f"OPTIONAL {text_of(node.group)}"
        case ast.GroupMinus():
            return f"MINUS {text_of(node.group)}"
        case ast.Bind():
            return f"BIND({text_of(node.expression)} AS {text_of(node.variable)})"
        case ast.Values():
            variables = " ".join(map(text_of, node.variables))
            rows = " ".join("(" + " ".join(map(cell, row)) + ")" for row in node.rows)
            return f"VALUES ({variables}) {{ {rows} }}"
        case ast.Select():
            return "{ " + select_text(node) + " }"
        case ast.Filter():
            return f"FILTER({condition_text(node.condition)})"
    return condition_text(node)


def path_text(path: object) -> str:
    match path:
        case ast.PathInverse():
            return f"^({path_text(path.path)})"
        case ast.PathAlternative():
            return "(" + "|".join(map(path_text, path.branches)) + ")"
        case ast.PathSequence():
            return "(" + "/".join(map(path_text, path.steps)) + ")"
        case ast.PathRepeat():
            return f"({path_text(path.path)}){path.times}"
    return text_of(path)


def cell(node: object) -> str:
    return "UNDEF" if node is None else text_of(node)


def condition_text(node: object) -> str:
    match node:
        case ast.Comparison() | ast.Arithmetic():
            return f"{text_of(node.left)} {node.operator} {text_of(node.right)}"
        case ast.Conjunction() | ast.Disjunction():
            word = " && " if isinstance(node, ast.Conjunction) else " || "
            return word.join(f"({text_of(operand)})" for operand in node.operands)
        case ast.Negation():
            return f"!({text_of(node.operand)})"
        case ast.Call():
            return f"{node.function}({text_of(node.arguments[0])})"
        case ast.TimeFunction():
            return f"{node.function}()"
        case ast.Exists():
            return ("NOT " if node.negated else "") + f"EXISTS {text_of(node.group)}"
    raise TypeError(node)


def select_text(select: ast.Select) -> str:
    what = " ".join(text_of(projection.variable) for projection in select.projection) or "*"
    return f"SELECT {'DISTINCT ' if select.distinct else ''}{what} WHERE {text_of(select.where)}"


def statement_text(statement: Statement) -> str:
    if isinstance(statement, ast.Select):
        return select_text(statement)
    if isinstance(statement, ast.AskQuery):
        return f"ASK {text_of(statement.select.where)}"
    template = text_of(ast.Bgp(statement.template))
    return f"CONSTRUCT {{ {template} }} WHERE {text_of(statement.select.where)}"


# --- a case ---------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class TimedCase:
    statements: tuple[Statement, ...]
    strata: tuple[tuple[int, ...], ...]
    """The numbers of the rules, in the order in which they can be computed."""
    items: tuple[tuple[int, tuple[Triple, ...]], ...]
    """In order; instants in seconds."""
    timeless: tuple[Triple, ...]

    def text(self) -> str:
        head = [f"PREFIX : <{BASE}>", f"PREFIX xsd: <{XSD}>"]
        if self.timeless:
            head.append("FROM GRAPH <k.ttl>")
        return "\n".join([*head, *map(statement_text, self.statements)]) + "\n"

    def occurring(self) -> set[Occurs]:
        told = {Occurs(triple, at * SECOND, at * SECOND) for at, triples in self.items for triple in triples}
        return told | {Occurs(triple, None, None) for triple in self.timeless}

    def shown(self) -> str:
        items = "".join(f"  {at}: {turtle(triples)}\n" for at, triples in self.items)
        return f"{self.text()}{items}  K: {turtle(self.timeless)}"


def turtle(triples: tuple[Triple, ...]) -> str:
    return " ".join(" ".join(triple) + " ." for triple in triples)


def constructs(node: object) -> Iterator[str]:
    """The operators that a tree has, each as often as it stands there."""
    match node:
        case tuple():
            for part in node:
                yield from constructs(part)
            return
        case ast.TimedJoin():
            yield node.operator
        case ast.Exists():
            yield "NOT EXISTS" if node.negated else "EXISTS"
        case ast.TimeFunction():
            yield node.function
        case ast.Select():
            yield "SELECT"
        case ast.PathPattern():
            yield "path"
        case ast.Bgp() | ast.GroupUnion() | ast.GroupOptional() | ast.GroupMinus():
            yield type(node).__name__
        case ast.Bind() | ast.Values() | ast.Filter() | ast.AskQuery() | ast.ConstructQuery():
            yield type(node).__name__
        case ast.Group():
            if any(isinstance(element, ast.Select) for element in node.elements):
                yield "sub-select"
            if sum(not isinstance(element, ast.Filter) for element in node.elements) > 1:
                yield "side by side"
    if is_dataclass(node):
        for part in fields(node):
            yield from constructs(getattr(node, part.name))


EXPECTED = (
    *TIGHT,
    *LOOSE,
    *("GroupUnion", "GroupOptional", "GroupMinus", "EXISTS", "NOT EXISTS", "Filter", "Bind", "Values"),
    *("sub-select", "side by side", "ConstructQuery", "AskQuery", "path"),
    *("getSTARTTIME", "getENDTIME", "getDURATION"),
)


# --- drawing --------------------------------------------------------------------------------------------


@dataclass
class Drawing:
    """Draws a case. `positive` and `negative` are the predicates that may stand in such places."""

    rng: random.Random
    positive: tuple[str, ...] = PLAIN
    negative: tuple[str, ...] = PLAIN
    any_predicate: bool = True
    large: bool = False
    fresh: Counter[str] = field(default_factory=Counter)

    def chance(self, share: float) -> bool:
        return self.rng.random() < share

    def new(self, stem: str) -> str:
        self.fresh[stem] += 1
        return f"{stem}{self.fresh[stem]}"

    # -- groups

    def pattern(self, negated: bool) -> ast.TriplePattern:
        rng = self.rng
        word = rng.choice(self.negative if negated else self.positive)
        subject: ast.Var | ast.Name = ast.Var(rng.choice("xxyyz"))
        if self.chance(0.1):
            subject = name(rng.choice(INDIVIDUALS))
        value: ast.Var | ast.Name | ast.Literal = ast.Var(rng.choice("nm" if word == "v" else "xyyz"))
        if self.chance(0.1):
            value = number(rng.choice(NUMBERS)) if word == "v" else name(rng.choice(INDIVIDUALS))
        elif self.chance(0.08):
            value = ast.Var("_:" + self.new("b"))
        if self.any_predicate and self.chance(0.04):
            return ast.TriplePattern(subject, ast.Var("w"), value)
        return ast.TriplePattern(subject, name(word), value)

    def path(self, negated: bool, depth: int = 2) -> ast.Path:
        words = [word for word in (self.negative if negated else self.positive) if word != "v"]
        kind = self.rng.random() if depth else 1
        inner = partial(self.path, negated, depth - 1)
        if kind < 0.4:
            return ast.PathRepeat(inner(), "?")
        if kind < 0.5:
            return ast.PathInverse(inner())
        if kind < 0.6:
            return ast.PathSequence((inner(), inner()))
        if kind < 0.7:
            return ast.PathAlternative((inner(), inner()))
        return name(self.rng.choice(words))

    def path_pattern(self, negated: bool) -> ast.PathPattern:
        subject: ast.Var | ast.Name = ast.Var(self.rng.choice("xyz"))
        value: ast.Var | ast.Name = ast.Var(self.rng.choice("xyz"))
        if self.chance(0.15):
            subject = name(self.rng.choice(INDIVIDUALS))
        if self.chance(0.15):
            value = name(self.rng.choice(INDIVIDUALS))
        path = self.path(negated)
        return ast.PathPattern(
            subject, ast.PathRepeat(path, "?") if isinstance(path, ast.Name) else path, value
        )

    def bgp(self, negated: bool) -> ast.Bgp:
        size = self.rng.choice((1, 1, 1, 1, 2, 2, 3) if self.large else (1, 1, 1, 1, 1, 2))
        patterns: list[ast.TriplePattern | ast.PathPattern] = [self.pattern(negated) for _ in range(size)]
        if self.any_predicate and self.chance(0.1):
            patterns[-1] = self.path_pattern(negated)
        return ast.Bgp(tuple(patterns))

    def group(self, depth: int, negated: bool = False, inside_exists: bool = False) -> ast.Group:
        elements: list[ast.GroupElement] = [self.core(depth, negated, inside_exists)]
        if depth > 0 and self.chance(0.45):
            elements.append(self.more(depth - 1, negated, inside_exists))
        if depth > 0 and self.chance(0.1):
            elements.append(self.more(depth - 1, negated, inside_exists))
        if self.chance(0.2):
            place = self.rng.randrange(1, len(elements) + 1)
            elements.insert(place, ast.Filter(self.condition(depth - 1, negated, inside_exists)))
        return ast.Group(tuple(elements))

    def core(self, depth: int, negated: bool, inside_exists: bool) -> ast.GroupElement:
        if depth > 0 and self.chance(0.55):
            return self.chain(depth - 1, negated, inside_exists)
        if depth > 0 and self.chance(0.12):
            return self.union(depth - 1, negated, inside_exists)
        return self.bgp(negated)

    def more(self, depth: int, negated: bool, inside_exists: bool) -> ast.GroupElement:
        group = partial(self.group, depth, inside_exists=inside_exists)
        kinds = ["bind", "values", "group", "union", "chain", "optional", "optional", "minus", "select"]
        match self.rng.choice(kinds):
            case "optional":
                return ast.GroupOptional(group(negated=True))
            case "minus":
                return ast.GroupMinus(group(negated=True))
            case "bind":
                value = self.exists(depth) if self.chance(0.2) else self.bound()
                return ast.Bind(value, ast.Var(self.new("d")))
            case "values":
                return self.values()
            case "select":
                names = self.rng.sample("xyzn", self.rng.choice((1, 2)))
                projection = tuple(ast.Projection(ast.Var(one)) for one in names)
                return ast.Select(projection, group(negated=negated))
            case "union":
                return self.union(depth, negated, inside_exists)
            case "chain":
                return self.chain(depth, negated, inside_exists)
        return group(negated=negated)

    def bound(self) -> ast.Expression:
        if self.chance(0.5):
            return ast.Arithmetic("+", ast.Var("n"), number("1"))
        return ast.Var(self.rng.choice("xyn"))

    def values(self) -> ast.Values:
        variables = self.rng.sample("xyz", self.rng.choice((1, 2)))
        rows = tuple(
            tuple(None if self.chance(0.15) else name(self.rng.choice(INDIVIDUALS)) for _ in variables)
            for _ in range(self.rng.choice((1, 2, 3)))
        )
        return ast.Values(tuple(map(ast.Var, variables)), rows)

    # -- chains of timed operators, by D22

    def union(self, depth: int, negated: bool, inside_exists: bool) -> ast.GroupUnion:
        return ast.GroupUnion(tuple(self.group(depth, negated, inside_exists) for _ in range(2)))

    def operand(self, depth: int, negated: bool, inside_exists: bool) -> ast.Group | ast.GroupUnion:
        if self.chance(0.12):
            return self.union(depth, negated, inside_exists)
        return self.group(depth, negated, inside_exists)

    def tight(self, depth: int, negated: bool, inside: bool, size: int) -> ast.TimedOperand:
        made: ast.TimedOperand = self.operand(depth, negated, inside)
        for _ in range(size - 1):
            word = self.rng.choice(("SEQ", "SEQ", "EQUALS"))
            made = ast.TimedJoin(word, made, self.operand(depth, negated, inside))  # type: ignore[arg-type]
        return made

    def chain(self, depth: int, negated: bool, inside: bool) -> ast.TimedJoin:
        if self.chance(0.5):
            made = self.tight(depth, negated, inside, self.rng.choice((2, 2, 2, 3)))
            assert isinstance(made, ast.TimedJoin)
            return made
        size = partial(self.rng.choice, (1, 1, 2))
        if self.chance(0.5):  # what is optional in OPTIONALSEQ ends before δ: any predicate will do
            left, right = (
                self.tight(depth, negated, inside, size()),
                self.tight(depth, negated, inside, size()),
            )
            made = ast.TimedJoin("OPTIONALSEQ", left, right)
        else:
            left, right = self.tight(depth, negated, inside, size()), self.tight(depth, True, inside, size())
            made = ast.TimedJoin("EQUALSOPTIONAL", left, right)
        if self.chance(0.15):
            made = ast.TimedJoin("EQUALSOPTIONAL", made, self.operand(depth, True, inside))
        return made

    # -- conditions

    def condition(self, depth: int, negated: bool, inside_exists: bool) -> ast.Expression:
        kind = self.rng.random()
        if kind < 0.3:
            return self.exists(depth)
        if kind < 0.55:
            return self.time_condition()
        if kind < 0.65 and depth > 0:
            if self.chance(0.5):
                return ast.Conjunction(tuple(self.condition(0, negated, inside_exists) for _ in range(2)))
            other = self.exists(depth) if self.chance(0.4) else self.time_condition()
            return ast.Disjunction((self.plain_condition(), other))
        if kind < 0.75:
            return ast.Negation("!", self.exists(depth) if self.chance(0.3) else self.plain_condition())
        return self.plain_condition()

    def exists(self, depth: int) -> ast.Exists:
        inner = self.group(1 if depth > 0 and self.chance(0.5) else 0, True, True)
        return ast.Exists(inner, negated=self.chance(0.6))

    def time_condition(self) -> ast.Expression:
        sign = self.rng.choice(("<", "<=", ">", ">=", "="))
        if self.chance(0.5):
            length = ast.Duration(self.rng.choice((1, 2, 3)) * SECOND)
            return ast.Comparison(sign, ast.TimeFunction("getDURATION", None), length)
        start, end = ast.TimeFunction("getSTARTTIME", None), ast.TimeFunction("getENDTIME", None)
        return ast.Comparison(self.rng.choice(("<", "=", "<=", "!=")), start, end)

    def plain_condition(self) -> ast.Expression:
        kind = self.rng.random()
        if kind < 0.25:
            return ast.Call("BOUND", (ast.Var(self.rng.choice("xyznm")),))
        if kind < 0.6:
            other: ast.Expression = ast.Var("m") if self.chance(0.4) else number(self.rng.choice("123"))
            return ast.Comparison(self.rng.choice(("<", ">=", "=", "!=")), ast.Var("n"), other)
        one, two = self.rng.sample("xyz", 2)
        value: ast.Expression = ast.Var(two) if self.chance(0.6) else name(self.rng.choice(INDIVIDUALS))
        return ast.Comparison(self.rng.choice(("=", "!=")), ast.Var(one), value)

    # -- streams

    def triple(self) -> Triple:
        word = self.rng.choice(PLAIN)
        value = number(self.rng.choice(NUMBERS)) if word == "v" else name(self.rng.choice(INDIVIDUALS))
        return (written(name(self.rng.choice(INDIVIDUALS))), written(name(word)), written(value))

    def items(self) -> tuple[tuple[int, tuple[Triple, ...]], ...]:
        instants = sorted(self.rng.choices(range(8), k=self.rng.choice((4, 5, 6, 7, 8))))
        return tuple((at, tuple(self.triple() for _ in range(self.rng.choice((1, 2, 3))))) for at in instants)


def drawn_case(seed: int) -> TimedCase:
    rng = random.Random(seed)
    drawing = Drawing(rng, large=rng.random() < 0.3)
    rules = rng.choice((0, 0, 1, 1, 2))
    queries = rng.choice((1, 1, 2)) if rules < 2 else 1
    heads = ["p" if rng.random() < 0.25 else "d", "e"][:rules]
    mutual = rules == 2 and rng.random() < 0.4
    unruled = tuple(word for word in PLAIN if word not in heads)
    statements: list[Statement] = []
    for place, head in enumerate(heads):
        drawing.any_predicate = False
        drawing.positive = (*PLAIN, *(heads if mutual else heads[: place + 1]))
        drawing.negative = unruled if mutual or place == 0 else (*unruled, heads[0])
        statements.append(drawn_rule(drawing, head))
    drawing.positive = drawing.negative = (*PLAIN, *heads, *heads)
    drawing.any_predicate = True
    statements.extend(drawn_query(drawing) for _ in range(queries))
    strata = (tuple(range(rules)),) if mutual else tuple((place,) for place in range(rules))
    timeless = tuple(drawing.triple() for _ in range(rng.choice((0, 0, 1, 2, 3))))
    return TimedCase(tuple(statements), strata, drawing.items(), timeless)


def drawn_rule(drawing: Drawing, head: str) -> ast.ConstructQuery:
    rng = drawing.rng
    where = drawing.group(rng.choice((0, 1, 1, 2)))
    names = sorted(set(re.findall(r"[?]([xyz])", text_of(where)))) if rng.random() < 0.95 else []
    subject, value = rng.choice(names or "xyz"), rng.choice(names or "xyz")
    template = [ast.TriplePattern(ast.Var(subject), name(head), ast.Var(value))]
    if rng.random() < 0.15:
        template.append(ast.TriplePattern(ast.Var(value), name(head), name("a")))
    return ast.ConstructQuery(tuple(template), ast.Select((), where))


def drawn_query(drawing: Drawing) -> Statement:
    rng = drawing.rng
    where = drawing.group(rng.choice((1, 1, 1, 2, 2, 3)))
    kind = rng.random()
    if kind < 0.12:
        return ast.AskQuery(ast.Select((), where))
    if kind < 0.6:
        return ast.Select((), where)
    names = rng.sample("xyzn", rng.choice((1, 2)))
    projection = tuple(ast.Projection(ast.Var(one)) for one in names)
    return ast.Select(projection, where, distinct=rng.random() < 0.3)
