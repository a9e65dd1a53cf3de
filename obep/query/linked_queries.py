"""The queries of linked files: their names, the windows that they see, and whose answers they read."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from obep.model import Term
from obep.query import ast
from obep.query.group_walk import group_variables, projected
from obep.query.parse.file_scope import DEFAULT_NAMESPACE
from obep.query.parse.spelling import is_absolute, resolve_iri
from obep.query.pattern_walk import is_denied, operands
from obep.query.timestamp_calls import with_triples
from obep.query.walk import layered, leaves, walk

ASK = "ask"
"""The variable of the answer to ASK."""


class Matched(NamedTuple):
    """The event pattern that a query looks for."""

    event: Term
    """The hidden event of its MATCH."""
    others: tuple[str, ...]
    """The variables that a match may leave unbound."""


@dataclass(frozen=True)
class LinkedQuery:
    """A query with its name, its windows and the settings of its file."""

    iri: Term
    """The name of its answers; absolute."""
    name: str
    """Its name in the file, also as a stream: `q1`, or an IRI that may be relative."""
    register: ast.Register
    windows: tuple[ast.Window, ...]
    """Its own, and in OBEP those of the file; their streams are sources, or queries."""
    language: ast.Language
    settings: dict[str, str]
    match: Matched | None = None

    @property
    def select(self) -> ast.Select:
        """The SELECT that it evaluates; of CONSTRUCT and ASK all variables of its WHERE."""
        form = self.register.form
        return with_triples(form if isinstance(form, ast.Select) else form.select)

    @property
    def columns(self) -> tuple[str, ...]:
        """The variables of its rows."""
        form = self.register.form
        if isinstance(form, ast.AskQuery):
            return (ASK,)
        atoms = {} if self.match is None else {self.match.event: self.match.others}
        found = projected(self.select, atoms)
        return found if self.select.projection else tuple(dict.fromkeys((*found, *self._of_match())))

    def _of_match(self) -> Iterator[str]:
        """The variables of the events in its MATCH, as long as it stands there."""
        groups = {one.name.iri: one.group for one in self.register.events}
        for node in walk(self.register.form):
            if isinstance(node, ast.MatchGroup):
                yield from variables_of_match(node)
                for leaf in leaves(node.pattern) if groups else ():
                    yield from group_variables(groups[leaf.event.iri])

    @property
    def steps(self) -> tuple[int, ...]:
        """Evaluation times are multiples of these: COMPUTE EVERY, or the STEPs; none: items give them."""
        if self.register.every is not None:
            return (self.register.every.micros,)
        return tuple(dict.fromkeys(one.step.micros for one in self.windows if one.step is not None))

    @property
    def timed(self) -> bool:
        """Whether its solutions have intervals (DIALECTS 3): EP-SPARQL, Sparkwave, C-SPARQL without STEP."""
        if self.language in ("epsparql", "sparkwave"):
            return True
        stepped = any(one.step is not None or one.rows is not None for one in self.windows)
        return self.language == "csparql" and bool(self.windows) and not stepped and not self.register.every

    @property
    def timed_form(self) -> ast.Select | ast.ConstructQuery | ast.AskQuery:
        """Its timed form; the RANGE of its streams bounds how long a solution lasts (D37)."""
        from obep.query.build.build_languages import within

        form: ast.Select | ast.ConstructQuery | ast.AskQuery = self.register.form
        return form if self.reach is None else within(form, ast.Duration(self.reach))

    @property
    def reach(self) -> int | None:
        """The longest RANGE of a pattern over timed triples (D37); `None`: some stream has none."""
        ranges = [one.range for one in self.windows]
        known = [one.micros for one in ranges if one is not None]
        return max(known) if self.language == "csparql" and known and len(known) == len(ranges) else None

    @property
    def named(self) -> tuple[Term, ...]:
        """The static graphs that it asks by their names."""
        return tuple(one.graph.iri for one in self.register.graphs if one.named)

    def reads(self, known: frozenset[str]) -> set[str]:
        """The names of the queries whose answers its windows hold."""
        return {window.stream for window in self.windows if window.event is None} & known


def variables_of_match(match: ast.MatchGroup) -> tuple[str, ...]:
    """The variables of a MATCH: those of its leaves, and of groups that stand in it, outside negations."""
    return tuple(dict.fromkeys(_variables_of(match.pattern)))


def _variables_of(pattern: ast.Pattern) -> Iterator[str]:
    if isinstance(pattern, ast.Leaf):
        yield from (one.name for one in pattern.parameters)
    elif isinstance(pattern, ast.GroupLeaf):
        yield from group_variables(pattern.group)
    for number, operand in enumerate(operands(pattern)):
        if not is_denied(pattern, number):
            yield from _variables_of(operand)


def link_queries(files: Sequence[ast.QueryFile]) -> dict[Term, LinkedQuery]:
    """The queries of files by their names, in the order of the text; of two with one name the first."""
    found: dict[Term, LinkedQuery] = {}
    number = 0
    for file in files:
        sources = {one.iri: one.source for one in file.stream_sources}
        for register in file.queries:
            if register.name is None:
                number += 1
            label = f"q{number}" if register.name is None else register.name.iri
            own = (*(file.windows if file.language == "obep" else ()), *register.windows)
            windows = tuple(replace(one, stream=sources.get(one.stream, one.stream)) for one in own)
            settings: dict[str, str] = {one.key: one.value for one in file.settings}
            iri = absolute_name(file, label)
            found.setdefault(iri, LinkedQuery(iri, label, register, windows, file.language, settings))
    return found


def absolute_name(file: ast.QueryFile, label: str) -> Term:
    """The IRI of a query: its name against BASE, else in the namespace of an undeclared `:`."""
    if file.base is None and not is_absolute(label) and "#" not in label:
        return f"<{DEFAULT_NAMESPACE}{label}>"
    return f"<{resolve_iri(file.base or DEFAULT_NAMESPACE, label)}>"


def layered_queries(queries: Mapping[Term, LinkedQuery]) -> list[list[Term]]:
    """Their names, each after those that it reads; raises Cycle."""
    called = {query.name: iri for iri, query in queries.items()}
    known = frozenset(called)
    return layered({iri: {called[name] for name in query.reads(known)} for iri, query in queries.items()})


def sources_of(file: ast.QueryFile) -> list[ast.Source]:
    """The clauses that name files: those of the prologue, and FROM <g> of queries.

    In languages other than OBEP the axioms of these graphs are used, too (D13), unless entailment is off.
    """
    graphs = [
        ast.Source("named" if one.named else "graph", one.graph.iri[1:-1], span=one.span)
        for query in file.queries
        for one in query.graphs
    ]
    found = [*file.sources, *graphs]
    if file.language == "obep":
        return found
    if is_simple(file):
        return [one for one in found if one.kind != "vocab"]
    return [*found, *(replace(one, kind="vocab") for one in found if one.kind == "graph")]


def is_simple(file: ast.QueryFile) -> bool:
    """Whether entailment is switched off."""
    said = {one.value for one in file.settings if one.key == "entailment"}
    said |= {query.entailment for query in file.queries if query.entailment is not None}
    return "simple" in said


def timed_programs(timed: Sequence[LinkedQuery]) -> list[list[LinkedQuery]]:
    """Group the statements over the same triple occurrences; each pattern of C-SPARQL is a group."""
    found: dict[object, list[LinkedQuery]] = {}
    for query in timed:
        streams = tuple(sorted({one.stream for one in query.windows}))
        found.setdefault(query.iri if query.language == "csparql" else streams, []).append(query)
    return [*found.values()]
