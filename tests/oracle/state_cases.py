"""Queries with states as syntax trees in few words, and streams in one line, for the tests of the oracle.

A stream: items separated by spaces. `A3x(v=5,w=y)` is an item of stream `s` at second 3 that says
`:x a :KindA ; :v 5 ; :w :y`; `3x(v=5)` has no class; `+` joins two into one item; `t/A3x` is of stream `t`;
`|9` moves time on to second 9. EVENT A is `AS KindA`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from obep.model import RDF_TYPE, SECOND, Item, Term, Triple
from obep.query import ast
from oracle.guard_semantics import XSD
from oracle.pattern_cases import EX, iri
from oracle.state_semantics import Answer, evaluate

LETTERS = ("A", "B", "C", "D", "R")


def n(text: str) -> ast.Name:
    """A bare name."""
    return ast.Name(text, iri(text))


def v(names: str) -> tuple[ast.Var, ...]:
    """`"x y"` as variables."""
    return tuple(ast.Var(name) for name in names.split())


def s(amount: float) -> ast.Duration:
    """Seconds."""
    return ast.Duration(int(amount * SECOND))


def num(amount: int) -> ast.Literal:
    return ast.Literal(str(amount), ast.Name("xsd:integer", f"<{XSD}integer>"))


def leaf(event: str, names: str = "", alias: str | None = None) -> ast.Leaf:
    return ast.Leaf(n(event), v(names), alias)


def begin(state: str, names: str = "", alias: str | None = None) -> ast.Leaf:
    return ast.Leaf(n(state), v(names), alias, moment="begin")


def end(state: str, names: str = "", lasting: float | None = None, alias: str | None = None) -> ast.Leaf:
    return ast.Leaf(n(state), v(names), alias, moment="end", lasting=None if lasting is None else s(lasting))


def episode(state: str, names: str = "", lasting: float | None = None, alias: str | None = None) -> ast.Leaf:
    held = None if lasting is None else s(lasting)
    return ast.Leaf(n(state), v(names), alias, moment="episode", lasting=held)


def use(state: str, names: str = "") -> ast.StateUse:
    return ast.StateUse(n(state), v(names))


def place(text: str) -> ast.Var | ast.Name | ast.Literal:
    """`?x`, `a`, a number, or a bare name."""
    if text.startswith("?"):
        return ast.Var(text[1:])
    if text == "a":
        return ast.Name("a", RDF_TYPE)
    return num(int(text)) if text.lstrip("-").isdigit() else n(text)


def triples(text: str) -> tuple[ast.TriplePattern, ...]:
    """`"?z a Zone . ?z temp ?t"`."""
    return tuple(ast.TriplePattern(*map(place, piece.split())) for piece in text.split(" . "))  # type: ignore[arg-type]


def bgp(text: str) -> ast.Bgp:
    return ast.Bgp(triples(text))


def block(alias: str, text: str) -> ast.Guard:
    """`IF { EVENT alias { … } }`."""
    return ast.Guard((ast.Block((alias,), triples(text), ()),), ())


def cmp(left: object, operator: str, right: object) -> ast.Comparison:
    """A comparison; text is `place`d."""
    sides = [place(x) if isinstance(x, str) else num(x) if isinstance(x, int) else x for x in (left, right)]
    return ast.Comparison(operator, *sides)  # type: ignore[arg-type]


def agg(function: str, variable: str = "", percent: int | None = None) -> ast.Aggregate:
    argument = ast.Var(variable) if variable else None
    return ast.Aggregate(function, argument, percent=None if percent is None else num(percent))


def as_(variable: str, expression: ast.Expression) -> ast.Projection:
    return ast.Projection(ast.Var(variable), expression)


def group(*elements: object) -> ast.Group:
    """Text is triples; those side by side are one BGP."""
    made: list[object] = []
    for element in elements:
        one = bgp(element) if isinstance(element, str) else element
        if made and isinstance(one, ast.Bgp) and isinstance(made[-1], ast.Bgp):
            one = ast.Bgp((*made.pop().patterns, *one.patterns))  # type: ignore[attr-defined]
        made.append(one)
    return ast.Group(tuple(made))  # type: ignore[arg-type]


def composite(name: str, pattern: ast.Pattern, names: str = "", **more: object) -> ast.CompositeEvent:
    return ast.CompositeEvent(n(name), pattern, v(names), **more)  # type: ignore[arg-type]


def latest(name: str = "w", stream: str = "s", **more: object) -> ast.Window:
    return ast.Window(name, stream, "latest", **more)  # type: ignore[arg-type]


def alerts_of(state: str, lasting: float | None = None) -> ast.Return:
    return ast.Return("listed", (n(state),), "alerts", None if lasting is None else s(lasting))


def query(*parts: object) -> ast.QueryFile:
    """A file of states, events, windows and RETURNs; with the events A to D and R."""
    logical = [ast.LogicalEvent(n(letter), ast.ClassName(n(f"Kind{letter}"))) for letter in LETTERS]
    states = (ast.EventState, ast.OverState, ast.ClassState, ast.GroupState, ast.DailyState)
    events = (ast.LogicalEvent, ast.CompositeEvent, ast.GraphEvent)
    return ast.QueryFile(
        None,
        (ast.PrefixDecl("", EX),),
        tuple(p for p in parts if isinstance(p, ast.Source)),
        tuple(p for p in parts if isinstance(p, ast.Window)),
        (*logical, *(p for p in parts if isinstance(p, events))),  # type: ignore[arg-type]
        tuple(p for p in parts if isinstance(p, ast.Return)),
        tuple(p for p in parts if isinstance(p, states)),
    )


_WORD = re.compile(r"([A-Z]*)([\d.]+)([a-z_]\w*)?(?:\(([^)]*)\))?")


def read_items(text: str) -> tuple[list[Item], int]:
    """The items, and the end of the run."""
    items: list[Item] = []
    last = 0
    for word in text.split():
        if word.startswith("|"):
            last = int(float(word[1:]) * SECOND)
            continue
        stream, _, rest = word.rpartition("/")
        found: list[Triple] = []
        at = 0
        for piece in rest.split("+"):
            at, more = _said(piece)
            found += more
        items.append(Item(stream or "s", at, tuple(sorted(set(found)))))
    return items, max([last, *(item.at for item in items)])


def _said(piece: str) -> tuple[int, list[Triple]]:
    match = _WORD.fullmatch(piece)
    assert match, piece
    letter, seconds, name, data = match.groups()
    subject = "_:" + name[1:] if name and name.startswith("_") else iri(name or piece.split("(")[0])
    found: list[Triple] = [(subject, RDF_TYPE, iri(f"Kind{letter}"))] if letter else []
    for pair in filter(None, (data or "").split(",")):
        prop, values = pair.split("=")
        found += [(subject, iri(prop), term(value)) for value in values.split("|")]
    return int(float(seconds) * SECOND), found or [(subject, iri("says"), iri("nothing"))]


def term(text: str) -> Term:
    """A number, a blank node (`_b`), a text (`'n/a`) or a name."""
    if re.fullmatch(r"-?\d+", text):
        return f'"{text}"^^<{XSD}integer>'
    if re.fullmatch(r"-?\d+\.\d+", text):
        return f'"{text}"^^<{XSD}decimal>'
    if text.startswith("'"):
        return f'"{text[1:]}"'
    return "_:" + text[1:] if text.startswith("_") else iri(text)


def read_k(text: str) -> list[Triple]:
    """`"x a Sensor . x floor f1"` as K."""
    found = []
    for piece in filter(None, text.split(" . ")):
        subject, predicate, value = piece.split()
        found.append((iri(subject), RDF_TYPE if predicate == "a" else iri(predicate), term(value)))
    return found


# --- answers in few words ---------------------------------------------------------------------------------


def run(parts: Iterable[object], stream: str, k: str = "", **more: object) -> Answer:
    items, last = read_items(stream)
    return evaluate(query(*parts), items, read_k(k), end=last, **more)  # type: ignore[arg-type]


def short(found: Term) -> str:
    return found.split('"')[1] if found.startswith('"') else found.removeprefix(f"<{EX}").rstrip(">")


def seconds(at: int | None) -> str:
    """`3`, `3.5`; of one microsecond before 3 `3-`; nothing for an open end."""
    if at is None:
        return ""
    if (at + 1) % SECOND == 0:
        return f"{(at + 1) // SECOND}-"
    return f"{at / SECOND:g}"


def episodes(answer: Answer, state: str = "S") -> list[str]:
    """`x 1..5` for each episode, in order of their beginning; `x 1..` is open."""
    line = answer.run.lines[iri(state)]
    return [f"{','.join(map(short, e.key))} {seconds(e.b)}..{seconds(e.x)}".strip() for e in line.episodes]


def found(answer: Answer, event: str = "H") -> list[str]:
    """`[1,3]@3 x=1` for each occurrence; its bindings in order."""
    lines = []
    for o in answer.run.pool[iri(event)]:
        rows = sorted(" ".join(f"{k}={short(t)}" for k, t in sorted(row.items())) for row in o.bindings)
        shown = f"[{seconds(o.start)},{seconds(o.end)}]@{seconds(o.detected)} {'; '.join(rows)}"
        lines.append((o.detected, o.start, shown.strip()))
    return [line for _, _, line in sorted(lines)]


def value_at(answer: Answer, t: float, state: str = "S", variable: str = "y") -> set[str]:
    """The values of a binding at an instant, over all that holds then."""
    holding = answer.run.lines[iri(state)].at(int(t * SECOND))
    return {short(dict(row)[variable]) for rows in holding.values() for row in rows if variable in dict(row)}
