"""Rules about queries over windows: their names, their windows, SPARQL's own rules."""

from __future__ import annotations

from collections.abc import Iterator

from obep.algebra.timed.translate_timed import TimedScope
from obep.algebra.translate import layout_of
from obep.errors import Diagnostic, ObepError, Span
from obep.lints.analysis.event_order import Definitions
from obep.lints.language_errors.state_definition_errors import calls_of
from obep.query import ast
from obep.query.diagnostics import listed, say
from obep.query.group_walk import group_variables
from obep.query.linked_queries import link_queries
from obep.query.walk import Cycle, children, layered, walk

Found = Iterator[Diagnostic]
LATER = "The query is read and checked, but the engine does not carry this out yet."


def check_queries(definitions: Definitions) -> Found:
    """All errors of the queries of a file."""
    files = definitions.linked.files
    yield from _named_twice(files)
    yield from _cycles(definitions)
    for file in files:
        yield from _different_graphs(file)
        for register in file.queries:
            yield from _windows(definitions, file, register)
            yield from _states(definitions, file, register)
            yield from _expressions(file, register)
            yield from _not_carried_out(file, register)
            yield from _over_timed_triples(file, register)
            for node in walk(register):
                if isinstance(node, ast.Select):
                    yield from _grouping(file, node, register)
                elif isinstance(node, ast.Group):
                    yield from _bound_before(file, node)


def _named_twice(files: tuple[ast.QueryFile, ...]) -> Found:
    first: dict[str, Span] = {}
    for file in files:
        for register in file.queries:
            if register.name is None:
                continue
            if register.name.iri in first:
                reason = (
                    f"The first is in line {first[register.name.iri].line}, and an answer names its query."
                )
                message = f"two queries are called {register.name.text}"
                yield say("OBEP703", file, register.name.span, message, reason, f"{register.name.iri}2")
            first.setdefault(register.name.iri, register.name.span)


def _cycles(definitions: Definitions) -> Found:
    queries = link_queries(definitions.linked.files)
    known = frozenset(query.name for query in queries.values())
    try:
        layered({iri: {f"<{name}>" for name in query.reads(known)} for iri, query in queries.items()})
    except Cycle as cycle:
        names = " → ".join(iri[1:-1] for iri in cycle.events)
        register = queries[cycle.events[0]].register
        file = next(one for one in definitions.linked.files if register in one.queries)
        message = (
            "queries read each other's answers" if len(cycle.events) > 2 else "a query reads its own answers"
        )
        reason = f"{names}. An answer is decided after all that it is made of."
        yield say("OBEP704", file, register.span, message, reason, "a query of its own for one direction")


def _different_graphs(file: ast.QueryFile) -> Found:
    """T and K are those of the file."""
    if file.language == "obep":
        return
    graphs = [{one.graph.iri for one in query.graphs if not one.named} for query in file.queries]
    for query, own in zip(file.queries, graphs, strict=True):
        if own != graphs[0]:
            message = "the queries of this file read different static graphs"
            reason = "All queries of a file share its ontology and its static graph."
            yield say("OBEP149", file, query.span, message, reason, "a file for each")
            return


def _windows(definitions: Definitions, file: ast.QueryFile, register: ast.Register) -> Found:
    known = [one.name for one in register.windows if one.role == "window"]
    known += [one.name for one in file.windows]
    for node in walk(register):
        if isinstance(node, ast.WindowGroup) and isinstance(node.window, str) and node.window not in known:
            near = definitions.near(node.window, known)
            shown = listed([f"<{name}>" for name in known]) if known else "none"
            reason = f"FROM NAMED WINDOW declares one; here that is {shown}."
            remedy = f"<{near}>" if near else f"FROM NAMED WINDOW <{node.window}> ON <stream> [RANGE 5 min]"
            yield say("OBEP121", file, node.span, f"there is no window <{node.window}>", reason, remedy)
    lengths = [("RANGE", one.range) for one in register.windows] + [
        ("STEP", one.step) for one in register.windows
    ]
    for word, length in [*lengths, ("COMPUTE EVERY", register.every)]:
        if length is not None and length.micros <= 0:
            reason = "Nothing lies in no time, and a window that is never moved on is never looked at."
            yield say("OBEP124", file, length.span, f"a {word} of zero", reason, f"{word} 1 s")


def _states(definitions: Definitions, file: ast.QueryFile, register: ast.Register) -> Found:
    states = definitions.linked.states
    for node in walk(register):
        if isinstance(node, ast.Atom) and node.name.iri not in states:
            near = definitions.near(node.name.text, [state.name.text for state in states.values()])
            reason = f"{node.name.text}(…) in a group is a state that holds."
            remedy = near or f"STATE {node.name.text}(?k) …"
            yield say("OBEP100", file, node.span, f"there is no state {node.name.text}", reason, remedy)


def _expressions(file: ast.QueryFile, register: ast.Register) -> Found:
    for node in walk(register):
        if isinstance(node, ast.Filter):
            yield from calls_of(node.condition, file, aggregates=False)
        elif isinstance(node, ast.Bind):
            yield from calls_of(node.expression, file, aggregates=False)
        elif isinstance(node, ast.Select):
            keys = [one.expression for one in node.order_by]
            found = [one.expression for one in node.projection if one.expression is not None]
            for expression in (*found, *keys, *node.having):
                yield from calls_of(expression, file, aggregates=True)


def _grouping(file: ast.QueryFile, node: ast.Select, register: ast.Register) -> Found:
    """SELECT * with GROUP BY; a projected variable that is not grouped."""
    aggregated = any(
        isinstance(part, ast.Aggregate)
        for one in (*node.projection, *node.having, *node.order_by)
        for part in walk(one)
    )
    if not node.group_by and not aggregated:
        return
    form = register.form
    named = node is form or (not isinstance(form, ast.Select) and node is not form.select)
    if not node.projection and named:
        message = "SELECT * cannot stand with GROUP BY"
        reason = "A group has the variables of GROUP BY and aggregates."
        yield say("OBEP705", file, node.span, message, reason, "SELECT ?key (COUNT(*) AS ?n)")
    known = {one.variable.name for one in node.group_by}
    for one in node.projection:
        used = [one.variable] if one.expression is None else [*_outside_aggregates(one.expression)]
        for variable in used:
            if variable.name not in known:
                message = f"?{variable.name} is not grouped"
                reason = "A group of rows has one value of the variables of GROUP BY only."
                remedy = f"GROUP BY ?{variable.name}, or an aggregate such as SAMPLE(?{variable.name})"
                yield say("OBEP705", file, variable.span, message, reason, remedy)
        known.add(one.variable.name)


def _outside_aggregates(expression: ast.Node) -> Iterator[ast.Var]:
    if isinstance(expression, ast.Aggregate | ast.Exists):
        return
    if isinstance(expression, ast.Var):
        yield expression
        return
    for child in children(expression):
        yield from _outside_aggregates(child)


def _bound_before(file: ast.QueryFile, group: ast.Group) -> Found:
    """BIND to a variable that its group binds before."""
    for place, element in enumerate(group.elements):
        if isinstance(element, ast.Bind):
            before = ast.Group(group.elements[:place])
            if element.variable.name in group_variables(before):
                name = f"?{element.variable.name}"
                reason = "BIND gives a variable its value, so nothing before it may."
                yield say("OBEP705", file, element.span, f"{name} is bound before", reason, f"AS {name}2")


def _not_carried_out(file: ast.QueryFile, register: ast.Register) -> Found:
    for node in walk(register):
        if isinstance(node, ast.MatchGroup | ast.WindowEvent):
            message = f"{'MATCH' if isinstance(node, ast.MatchGroup) else 'EVENT ON'} is not carried out yet"
            yield say("OBEP149", file, node.span, message, LATER, "WINDOW <w> { … }")
    for node in walk(register):
        called = node.function if isinstance(node, ast.Call) else None
        if isinstance(called, ast.Name) and called.iri.lower().endswith("timestamp>"):
            message = "timestamp() is not carried out yet"
            yield say("OBEP149", file, node.span, message, LATER, "leave it out")
    if file.language != "csparql" or register.every is not None:
        return
    stepped = [one for one in register.windows if one.step is not None or one.rows is not None]
    if register.windows and not stepped:
        message = "a C-SPARQL query without STEP is not carried out yet"
        yield say(
            "OBEP149", file, register.span, message, LATER, "COMPUTE EVERY 1 s, or [RANGE 10 s STEP 1 s]"
        )
    for window in register.windows:
        if stepped and window.kind == "all":
            message = "a FROM STREAM without a window stands beside one with STEP"
            reason = "Nothing says when what came in this stream is over."
            yield say("OBEP706", file, window.span, message, reason, "[RANGE 10 s STEP 1 s]")


def _over_timed_triples(file: ast.QueryFile, register: ast.Register) -> Found:
    """What EP-SPARQL and Sparkwave do not have, and what is not carried out yet."""
    if file.language not in ("epsparql", "sparkwave"):
        return
    for one in file.settings:
        if one.key == "policy" and one.value != "unrestricted":
            yield say("OBEP149", file, one.span, "POLICY is not carried out yet", LATER, "leave it out")
    for window in register.windows:
        message = "FROM STREAM is not carried out yet in EP-SPARQL"
        yield say("OBEP149", file, window.span, message, LATER, "leave it out: all streams are one")
    select = register.form if isinstance(register.form, ast.Select) else register.form.select
    try:
        TimedScope(layout_of(select)).group(select.where)
    except ObepError as error:
        for found in error.diagnostics:
            yield say(found.code, file, register.span, found.message, found.reason, found.remedy)
