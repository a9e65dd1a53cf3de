"""Queries and graph events explained in text: when they are evaluated, and whether anew."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from obep.abstraction.windows.incremental_reasons import why_evaluated_anew
from obep.algebra.timed.translate_timed import asks_history, lasts_less_than
from obep.algebra.translate import translate
from obep.model import Term
from obep.plan.query_plan import why_answered_anew
from obep.query import ast
from obep.query.linked_queries import LinkedQuery
from obep.query.parse.spelling import show_micros
from obep.query.print.print_lines import Lines
from obep.query.print.print_queries import write_query
from obep.query.print.print_windows import window_clause
from obep.query.print.printer import show
from obep.query.state_expansion import extra_variables
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.plan.plan import Plan
    from obep.query.link import Linked


def explained_queries(linked: Linked, bundle: Bundle, plan: Plan) -> Iterator[str]:
    """The queries, each with its text: when it is evaluated, whether anew, how its answers are a stream."""
    yield "\nqueries"
    for query in plan.queries:
        yield f"\n  {query.name}   {', '.join(_manner(query, bundle))}"
        if query.language == "obep":
            named = set(_windows(query.register))
            yield from (f"    {window_clause(one)}" for one in query.windows if one.name in named)
        lines = Lines()
        write_query(linked.queries[query.iri].register, lines, query.language)
        yield from (f"    {line}" for line in lines.written)


def _manner(query: LinkedQuery, bundle: Bundle) -> Iterator[str]:
    if query.timed:
        rule = isinstance(query.register.form, ast.ConstructQuery) and query.language != "csparql"
        yield "a rule over timed triples" if rule else "a pattern over timed triples"
        form = query.timed_form
        select = form if isinstance(form, ast.Select) else form.select
        anew = asks_history(select)
        yield (
            "incremental, but for EXISTS in an expression: over all triples so far" if anew else "incremental"
        )
        yield "answered when it is matched"
        bound = lasts_less_than(select)
        yield "nothing bounds how long it lasts" if bound is None else f"lasts less than {show_micros(bound)}"
        return
    if query.match is not None:
        yield "an event pattern over windows"
        yield "incremental"
        others = len(query.select.where.elements) > 1
        yield f"answered when it is matched{', its WHERE evaluated anew for each match' if others else ''}"
        return
    yield query.register.operator.upper()
    why = why_answered_anew(query, translate(query.select, _extra(bundle)), bundle)
    yield "incremental" if why is None else f"evaluated anew ({why})"
    steps = " and ".join(f"every {show_micros(step)}" for step in query.steps)
    yield steps or "when an item enters or leaves"


def _extra(bundle: Bundle) -> Mapping[Term, tuple[str, ...]]:
    states = bundle.expanded.states
    return {iri: extra_variables(one, states) for iri, one in states.items()}


def explained_graph_event(event: ast.GraphEvent, bundle: Bundle, windows: Mapping[str, str]) -> Iterator[str]:
    """A graph event: over what it is looked for, and whether by what changed alone.

    `windows` says what each window keeps.
    """
    parameters = ", ".join(show(var) for var in event.parameters)
    head = f"  {event.name.text}{f'({parameters})' if parameters else ''}   graph event"
    if event.on not in windows:
        stream = f" of <{event.on}>" if event.on is not None else ""
        yield f"{head}, evaluated for each item{stream}"
    else:
        why = why_evaluated_anew(bundle, translate(event.group, _extra(bundle)), event.on)
        manner = "incremental" if why is None else f"evaluated anew at each change: {why}"
        yield f"{head}, {manner}"
    asked = {*_windows(event.group), event.on}
    every = any(isinstance(one, ast.Var) for one in asked)
    yield from (f"    keeps <{name}>: {kept}" for name, kept in windows.items() if every or name in asked)
    yield f"    {show(event.group)}"


def _windows(node: ast.Node) -> Iterator[str | ast.Var]:
    return (one.window for one in walk(node) if isinstance(one, ast.WindowGroup))
