"""The oracle of timed solutions: DIALECTS 3 and 4 by brute force over all triple occurrences. No ontology.

`closed` gives all triple occurrences with what rules derive, `solutions_of` the solutions of a statement over
them. It shares no code with the engine.

Readings chosen where the text leaves room. Each is the one closest to the letter.

 T1  A blank node of a BGP is no part of μ: its solutions differ only in variables (SPARQL 1.1, 18.3).
 T2  The solutions of a sub-select are a set too: what projection makes equal over one interval is one.
 T3  F is the FILTERs that stand directly in the group of the optional operand; where that operand is a UNION
     or a chain without braces of its own there is no F.
 T4  A comparison of the times of a solution with ⊥ in a FILTER is an error, so it is not true.
 T5  EXISTS sees the times of the row that its FILTER looks at; in F these are those of l ⋈ r.
 T6  DISTINCT at the top gives each row once an instant; any start of the solutions with that row will do.
 T7  An ill-formed triple of a template (a literal as its subject) is left out; the others are derived.
 T8  ⊥ EQUALS ⊥ is false, as any comparison with ⊥.
 T9  Zero steps of `p?` bind both ends to one term. Between two variables that is a subject or object of any
     triple occurrence, which brings its interval (else a graph at one instant would not give SPARQL's rows);
     a constant, or what EXISTS puts in, needs no triple: ⊥.
 T10 EXISTS puts nothing into a sub-select: that is evaluated first, and joined. For MINUS, a variable that
     was put in counts as shared where both sides have it. Both as pyoxigraph has it.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple, TypeVar

from obep.query import ast

XSD = "http://www.w3.org/2001/XMLSchema#"
INTEGER = f"^^<{XSD}integer>"
LARGEST = 4000

Known = TypeVar("Known")

Triple = tuple[str, str, str]
Row = frozenset[tuple[str, str]]
Statement = ast.Select | ast.ConstructQuery | ast.AskQuery


class Occurs(NamedTuple):
    """A triple and its interval; of a timeless one both ends are `None`."""

    triple: Triple
    start: int | None
    end: int | None


class Solution(NamedTuple):
    """⟨μ, α, ω⟩; ⊥ is `None`."""

    row: Row
    start: int | None
    end: int | None


Psi = set[Solution]
NOTHING = Solution(frozenset(), None, None)


class TooLargeCase(Exception):
    """There are more solutions than brute force should look at."""


class Invalid(Exception):
    """The error of an expression."""


@dataclass(frozen=True)
class World:
    """The triple occurrences, timeless ones among them; with what EXISTS puts in for variables."""

    occurring: frozenset[Occurs]
    given: Row = frozenset()

    def term(self, node: object, row: dict[str, str]) -> str | None:
        if isinstance(node, ast.Var):
            return dict(self.given).get(node.name, row.get(node.name))
        return written(node)


def written(node: object) -> str:
    """A name or literal as N-Triples."""
    if isinstance(node, ast.Name):
        return node.iri
    assert isinstance(node, ast.Literal) and not node.language
    return f'"{node.lexical}"' + (f"^^{node.datatype.iri}" if node.datatype else "")


# --- joining --------------------------------------------------------------------------------------------


def compatible(one: Row, other: Row) -> bool:
    values = dict(one)
    return all(values.get(name, term) == term for name, term in other)


def joined(left: Solution, right: Solution) -> Solution:
    starts = [time for time in (left.start, right.start) if time is not None]
    ends = [time for time in (left.end, right.end) if time is not None]
    return Solution(left.row | right.row, min(starts, default=None), max(ends, default=None))


def before(left: Solution, right: Solution) -> bool:
    return left.end is not None and right.start is not None and left.end < right.start


def same_interval(left: Solution, right: Solution) -> bool:
    return left.start is not None and (left.start, left.end) == (right.start, right.end)


def ends_by(right: Solution, left: Solution) -> bool:
    """r.ω <= l.ω."""
    return right.end is None or (left.end is not None and right.end <= left.end)


Relation = Callable[[Solution, Solution], bool]


def pairs(left: Psi, right: Psi, related: Relation) -> Iterator[tuple[Solution, Solution]]:
    for one in left:
        for other in right:
            if compatible(one.row, other.row) and related(one, other):
                yield one, other


def join(left: Psi, right: Psi, related: Relation = lambda left, right: True) -> Psi:
    return limited({joined(*pair) for pair in pairs(left, right, related)})


def left_join(must: Psi, may: Psi, related: Relation, conditions: Sequence[object], world: World) -> Psi:
    """The pairs that pass F, and each of `must` that has none; `related` takes (must, may)."""
    good = [pair for pair in pairs(must, may, related) if passes(joined(*pair), conditions, world)]
    partnered = {one for one, _ in good}
    return limited({joined(*pair) for pair in good} | (must - partnered))


def limited(solutions: Psi) -> Psi:
    if len(solutions) > LARGEST:
        raise TooLargeCase
    return solutions


# --- patterns -------------------------------------------------------------------------------------------


def of_group(group: ast.Group, world: World) -> Psi:
    solutions, conditions = without_filters(group, world)
    return {solution for solution in solutions if passes(solution, conditions, world)}


def without_filters(group: ast.Group, world: World) -> tuple[Psi, list[object]]:
    """The solutions of all but the FILTERs of a group, and these."""
    solutions: Psi = {NOTHING}
    conditions: list[object] = []
    for element in group.elements:
        if isinstance(element, ast.Filter):
            conditions.append(element.condition)
        elif isinstance(element, ast.GroupOptional):
            may, optional = without_filters(element.group, world)
            solutions = left_join(solutions, may, lambda must, may: ends_by(may, must), optional, world)
        elif isinstance(element, ast.GroupMinus):
            before_it = in_scope(group.elements[: group.elements.index(element)])
            put_in = dict(world.given).keys() & before_it & in_scope(element.group.elements)
            solutions = minus(solutions, of_group(element.group, world), bool(put_in))
        elif isinstance(element, ast.Bind):
            solutions = {extended(solution, element, world) for solution in solutions}
        else:
            solutions = join(solutions, of_operand(element, world))
    return solutions, conditions


def of_operand(node: object, world: World) -> Psi:
    if isinstance(node, ast.Bgp):
        return of_bgp(node, world)
    if isinstance(node, ast.Group):
        return of_group(node, world)
    if isinstance(node, ast.GroupUnion):
        return {solution for group in node.groups for solution in of_group(group, world)}
    if isinstance(node, ast.Values):
        return of_values(node, world)
    if isinstance(node, ast.Select):
        return of_sub_select(node, world)
    assert isinstance(node, ast.TimedJoin), node
    return of_timed_join(node, world)


def of_timed_join(node: ast.TimedJoin, world: World) -> Psi:
    if node.operator == "SEQ":
        return join(of_operand(node.left, world), of_operand(node.right, world), before)
    if node.operator == "EQUALS":
        return join(of_operand(node.left, world), of_operand(node.right, world), same_interval)
    if node.operator == "OPTIONALSEQ":
        may, conditions = optional_operand(node.left, world)
        must = of_operand(node.right, world)
        return left_join(must, may, lambda must, may: before(may, must), conditions, world)
    may, conditions = optional_operand(node.right, world)
    return left_join(of_operand(node.left, world), may, same_interval, conditions, world)


def optional_operand(node: object, world: World) -> tuple[Psi, list[object]]:
    if isinstance(node, ast.Group):
        return without_filters(node, world)
    return of_operand(node, world), []


def of_bgp(bgp: ast.Bgp, world: World) -> Psi:
    solutions: Psi = {NOTHING}
    for pattern in bgp.patterns:
        if isinstance(pattern, ast.TriplePattern):
            matches = {found for known in world.occurring for found in matching(pattern, known, world)}
        else:
            matches = of_path(pattern.subject, pattern.path, pattern.object, world)
        solutions = join(solutions, matches)
    return {
        Solution(frozenset(pair for pair in row if not pair[0].startswith("_:")), start, end)
        for row, start, end in solutions
    }


def matching(pattern: ast.TriplePattern, known: Occurs, world: World) -> Iterator[Solution]:
    row: dict[str, str] = {}
    given = dict(world.given)
    for node, term in zip((pattern.subject, pattern.predicate, pattern.object), known.triple, strict=True):
        expected = world.term(node, row)
        if expected is not None and expected != term:
            return
        if isinstance(node, ast.Var) and node.name not in given:
            row[node.name] = term
    yield Solution(frozenset(row.items()), known.start, known.end)


def of_path(subject: object, path: object, value: object, world: World) -> Psi:
    """The pairs of terms that a path connects, each over the interval of the triples between them."""
    match path:
        case ast.Name():
            pattern = ast.TriplePattern(subject, path, value)  # type: ignore[arg-type]
            return {found for known in world.occurring for found in matching(pattern, known, world)}
        case ast.PathInverse():
            return of_path(value, path.path, subject, world)
        case ast.PathAlternative():
            return {found for one in path.branches for found in of_path(subject, one, value, world)}
        case ast.PathSequence():
            found: Psi = {NOTHING}
            ends = [subject, *(ast.Var(f"_:step{id(step)}") for step in path.steps[1:]), value]
            for at, step in enumerate(path.steps):
                found = join(found, of_path(ends[at], step, ends[at + 1], world))
            between = {one.name for one in ends[1:-1] if isinstance(one, ast.Var)}
            return {one._replace(row=frozenset(p for p in one.row if p[0] not in between)) for one in found}
        case ast.PathRepeat():
            assert path.times == "?"
            return of_path(subject, path.path, value, world) | no_step(subject, value, world)
    raise TypeError(path)


def no_step(subject: object, value: object, world: World) -> Psi:
    """T9."""
    known = [term for end in (subject, value) if (term := world.term(end, {})) is not None]
    if len(set(known)) > 1:
        return set()
    names = [end.name for end in (subject, value) if isinstance(end, ast.Var)]
    free = [one for one in names if one not in dict(world.given)]
    if known:
        return {Solution(frozenset((one, known[0]) for one in free), None, None)}
    return {
        Solution(frozenset((one, term) for one in free), occurs.start, occurs.end)
        for occurs in world.occurring
        for term in (occurs.triple[0], occurs.triple[2])
    }


def in_scope(elements: Iterable[object]) -> set[str]:
    """The variables that the elements of a group may bind."""
    found: set[str] = set()
    for node in elements:
        match node:
            case ast.Bgp():
                for pattern in node.patterns:
                    places = [pattern.subject, pattern.object]
                    if isinstance(pattern, ast.TriplePattern):
                        places.append(pattern.predicate)
                    found |= {one.name for one in places if isinstance(one, ast.Var)}
            case ast.Group():
                found |= in_scope(node.elements)
            case ast.GroupOptional():
                found |= in_scope(node.group.elements)
            case ast.GroupUnion():
                found |= in_scope(node.groups)
            case ast.TimedJoin():
                found |= in_scope((node.left, node.right))
            case ast.Bind():
                found.add(node.variable.name)
            case ast.Values():
                found |= {one.name for one in node.variables}
            case ast.Select():
                shown = {one.variable.name for one in node.projection}
                found |= shown or in_scope(node.where.elements)
    return {one for one in found if not one.startswith("_:")}


def minus(left: Psi, right: Psi, shares: bool) -> Psi:
    """`shares`: both sides have a variable that EXISTS has put in."""

    def removes(other: Solution, one: Solution) -> bool:
        shared = dict(one.row).keys() & dict(other.row).keys()
        return (bool(shared) or shares) and compatible(one.row, other.row) and ends_by(other, one)

    return {one for one in left if not any(removes(other, one) for other in right)}


def extended(solution: Solution, bind: ast.Bind, world: World) -> Solution:
    try:
        value = value_of(bind.expression, solution, world)
    except Invalid:
        return solution
    return solution._replace(row=solution.row | {(bind.variable.name, as_term(value))})


def of_values(values: ast.Values, world: World) -> Psi:
    given = dict(world.given)
    found: Psi = set()
    for terms in values.rows:
        named = zip(values.variables, terms, strict=True)
        row = {variable.name: written(term) for variable, term in named if term is not None}
        if all(given.get(name, term) == term for name, term in row.items()):
            kept = ((name, term) for name, term in row.items() if name not in given)
            found.add(Solution(frozenset(kept), None, None))
    return found


def of_sub_select(select: ast.Select, world: World) -> Psi:
    given = dict(world.given)
    found: Psi = set()
    for solution in of_group(select.where, World(world.occurring)):
        shown = projected(solution, select)
        if compatible(shown.row, world.given):
            found.add(shown._replace(row=frozenset(pair for pair in shown.row if pair[0] not in given)))
    return found


def projected(solution: Solution, select: ast.Select) -> Solution:
    if not select.projection:
        return solution
    kept = {projection.variable.name for projection in select.projection}
    return solution._replace(row=frozenset(pair for pair in solution.row if pair[0] in kept))


# --- conditions -----------------------------------------------------------------------------------------


def passes(solution: Solution, conditions: Sequence[object], world: World) -> bool:
    return all(holds(condition, solution, world) is True for condition in conditions)


def holds(node: object, solution: Solution, world: World) -> bool | None:
    """The effective boolean value; `None` is an error."""
    try:
        value = value_of(node, solution, world)
    except Invalid:
        return None
    if isinstance(value, int):
        return bool(value)
    return None


def value_of(node: object, solution: Solution, world: World) -> int | str:
    """A truth value, a number (of a time: microseconds), or a term."""
    if isinstance(node, ast.Disjunction | ast.Conjunction):
        decisive = isinstance(node, ast.Disjunction)
        values = [holds(operand, solution, world) for operand in node.operands]
        if decisive in values:
            return decisive
        return checked(None if None in values else not decisive)
    if isinstance(node, ast.Negation) and node.operator == "!":
        value = holds(node.operand, solution, world)
        return checked(None if value is None else not value)
    if isinstance(node, ast.Comparison):
        return compared(node, solution, world)
    if isinstance(node, ast.Arithmetic):
        return added(node, solution, world)
    if isinstance(node, ast.Call):
        assert node.function == "BOUND"
        return world.term(node.arguments[0], dict(solution.row)) is not None
    if isinstance(node, ast.Exists):
        return exists(node, solution, world)
    if isinstance(node, ast.TimeFunction):
        return time_of(node, solution)
    if isinstance(node, ast.Duration):
        return node.micros
    return as_value(checked(world.term(node, dict(solution.row))))


def checked(value: Known | None) -> Known:
    if value is None:
        raise Invalid
    return value


def exists(node: ast.Exists, solution: Solution, world: World) -> bool:
    inner = World(world.occurring, frozenset({**dict(world.given), **dict(solution.row)}.items()))
    found = any(ends_by(other, solution) for other in of_group(node.group, inner))
    return found is not node.negated


def time_of(node: ast.TimeFunction, solution: Solution) -> int:
    start, end = checked(solution.start), checked(solution.end)
    return {"getSTARTTIME": start, "getENDTIME": end, "getDURATION": end - start}[node.function]


COMPARING: dict[str, Callable[[int, int], bool]] = {
    "=": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    ">": operator.gt,
    "<=": operator.le,
    ">=": operator.ge,
}


def compared(node: ast.Comparison, solution: Solution, world: World) -> bool:
    left, right = (value_of(side, solution, world) for side in (node.left, node.right))
    if isinstance(left, int) and isinstance(right, int):
        return COMPARING[node.operator](left, right)
    if node.operator not in ("=", "!="):
        raise Invalid
    return (left == right) is (node.operator == "=")


def added(node: ast.Arithmetic, solution: Solution, world: World) -> int:
    assert node.operator == "+"
    left, right = (value_of(side, solution, world) for side in (node.left, node.right))
    if not (isinstance(left, int) and isinstance(right, int)):
        raise Invalid
    return left + right


def as_value(term: str) -> int | str:
    return int(term[1 : -len(INTEGER) - 1]) if term.endswith(INTEGER) else term


def as_term(value: int | str) -> str:
    if isinstance(value, bool):
        return f'"{str(value).lower()}"^^<{XSD}boolean>'
    return value if isinstance(value, str) else f'"{value}"{INTEGER}'


# --- rules and files ------------------------------------------------------------------------------------


def where(statement: Statement) -> ast.Group:
    return statement.where if isinstance(statement, ast.Select) else statement.select.where


def solutions_of(statement: Statement, occurring: Iterable[Occurs]) -> Psi:
    """The solutions that are decided: those with an interval."""
    found = of_group(where(statement), World(frozenset(occurring)))
    return {solution for solution in found if solution.end is not None}


def instances(rule: ast.ConstructQuery, solution: Solution) -> frozenset[Triple]:
    """What a rule derives from a solution; nothing where some variable of its template is unbound."""
    row = dict(solution.row)
    made: set[Triple] = set()
    for pattern in rule.template:
        nodes = (pattern.subject, pattern.predicate, pattern.object)
        terms = [row.get(node.name) if isinstance(node, ast.Var) else written(node) for node in nodes]
        if None in terms:
            return frozenset()
        subject, predicate, value = (term for term in terms if term is not None)
        if subject.startswith("<") and predicate.startswith("<"):
            made.add((subject, predicate, value))
    return frozenset(made)


def closed(strata: Iterable[Iterable[ast.ConstructQuery]], items: Iterable[Occurs]) -> set[Occurs]:
    """S: instant by instant, the rules of each stratum until nothing new ends at it (D26)."""
    given = set(items)
    known = {one for one in given if one.end is None}
    strata = [list(stratum) for stratum in strata]
    for instant in sorted({one.end for one in given if one.end is not None}):
        known |= {one for one in given if one.end == instant}
        for stratum in strata:
            while new := derived(stratum, known, instant) - known:
                known |= new
                if len(known) > LARGEST // 20:
                    raise TooLargeCase
    return known


def derived(rules: Iterable[ast.ConstructQuery], known: set[Occurs], instant: int) -> set[Occurs]:
    return {
        Occurs(triple, solution.start, solution.end)
        for rule in rules
        for solution in solutions_of(rule, known)
        if solution.end == instant
        for triple in instances(rule, solution)
    }
