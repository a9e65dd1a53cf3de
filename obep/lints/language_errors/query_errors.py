"""Rules about queries over windows: their names, their windows, SPARQL's own rules."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from obep.algebra.timed.translate_timed import TimedScope
from obep.algebra.translate import layout_of
from obep.errors import Diagnostic, ObepError, Span
from obep.lints.analysis.event_order import Definitions
from obep.lints.language_errors.state_definition_errors import calls_of
from obep.lints.language_errors.state_errors import occurrences_counted
from obep.query import ast
from obep.query.diagnostics import listed, say
from obep.query.group_walk import atoms_by_window, group_variables
from obep.query.linked_queries import LinkedQuery, absolute_name, layered_queries, link_queries
from obep.query.timestamp_calls import timestamps, without_triple
from obep.query.walk import Cycle, children, leaves, walk

Found = Iterator[Diagnostic]
LATER = "The query is read and checked, but the engine does not carry this out yet."


def check_queries(definitions: Definitions) -> Found:
    """All errors of the queries of a file."""
    files = definitions.linked.files
    yield from _named_twice(files)
    yield from _cycles(definitions)
    linked = {id(query.register): query for query in link_queries(files).values()}
    yield from _unlike_streams(definitions, linked.values())
    for file in files:
        yield from _different_graphs(file)
        for register in file.queries:
            yield from _declared_twice(file, register)
            yield from _windows(definitions, file, register)
            yield from _matches(definitions, file, register)
            yield from _graphs_of_items(file, register)
            yield from _states(definitions, file, register)
            unreadable = list(_expressions(file, register))
            yield from unreadable
            yield from _not_carried_out(file, register)
            if id(register) in linked and not unreadable:
                yield from _over_timed_triples(file, linked[id(register)])
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
            iri = absolute_name(file, register.name.iri)
            if iri in first:
                reason = f"The first is in line {first[iri].line}, and an answer names its query."
                message = f"two queries are called {register.name.text}"
                yield say("OBEP101", file, register.name.span, message, reason, f"{register.name.iri}2")
            first.setdefault(iri, register.name.span)


def _declared_twice(file: ast.QueryFile, register: ast.Register) -> Found:
    """A window and an event of EVENT ON have names of their own."""
    windows = [(f"window <{one.name}>", one.span) for one in register.windows if one.role == "window"]
    events = [(f"event {one.name.text}", one.name.span) for one in register.events]
    first: dict[str, Span] = {}
    for what, span in (*windows, *events):
        if what in first:
            reason = f"The first is in line {first[what].line}, and a name means one of them."
            remedy = "another name for the second"
            yield say("OBEP101", file, span, f"the {what} is declared twice", reason, remedy)
        first.setdefault(what, span)


def _cycles(definitions: Definitions) -> Found:
    queries = link_queries(definitions.linked.files)
    try:
        layered_queries(queries)
    except Cycle as cycle:
        names = " → ".join(queries[iri].name for iri in cycle.events)
        register = queries[cycle.events[0]].register
        file = next(one for one in definitions.linked.files if register in one.queries)
        message = (
            "queries read each other's answers" if len(cycle.events) > 2 else "a query reads its own answers"
        )
        reason = f"{names}. An answer is decided after all that it is made of."
        yield say("OBEP102", file, register.span, message, reason, "a query of its own for one direction")


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
        if not isinstance(node, ast.WindowGroup | ast.WindowEvent):
            continue
        if isinstance(node.window, str) and node.window not in known:
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
            reason = "The durations of a window must be longer than zero."
            yield say("OBEP124", file, length.span, f"a {word} of zero", reason, f"{word} 1 s")


def _matches(definitions: Definitions, file: ast.QueryFile, register: ast.Register) -> Found:
    """One MATCH at most; in RSEP-QL it is of events that the query declares."""
    known = [event.name.text for event in register.events]
    matches = [node for node in walk(register.form) if isinstance(node, ast.MatchGroup)]
    patterns = [match.pattern for match in matches if file.language != "obep"]
    for leaf in (leaf for pattern in patterns for leaf in leaves(pattern)):
        if leaf.event.text not in known:
            near = definitions.near(leaf.event.text, known)
            reason = "MATCH is made of the events of EVENT ON, and none of them has that name."
            remedy = near or f"EVENT ON <w> {{ … }} AS {leaf.event.text}"
            yield say("OBEP100", file, leaf.span, f"there is no event {leaf.event.text}", reason, remedy)
    for match in matches[1:]:
        reason = "A query is answered when a match of its MATCH is decided, so it can have one."
        yield say("OBEP011", file, match.span, "a second MATCH", reason, "a query of its own for it")


def _graphs_of_items(file: ast.QueryFile, register: ast.Register) -> Found:
    """GRAPH in WINDOW, GRAPH and WINDOW in EVENT ON: an item is one graph."""
    for node in walk(register):
        if isinstance(node, ast.WindowGroup | ast.WindowEvent):
            word = "WINDOW" if isinstance(node, ast.WindowGroup) else "EVENT ON"
            for inner in walk(node.group):
                if isinstance(inner, ast.GraphGroup | ast.WindowGroup):
                    what = "GRAPH" if isinstance(inner, ast.GraphGroup) else "WINDOW"
                    reason = "What is asked here is one graph: what items say together, or one of them."
                    message = f"{what} inside {word}"
                    yield say("OBEP702", file, inner.span, message, reason, f"{what} beside {word}")


def _states(definitions: Definitions, file: ast.QueryFile, register: ast.Register) -> Found:
    states = definitions.linked.states
    held = {one.name: one for one in file.windows if one.event is not None}
    for node, name in atoms_by_window(register):
        window = held.get(name) if isinstance(name, str) else None
        if window is not None and window.event is not None and window.event.iri == node.name.iri:
            yield from occurrences_counted(definitions, file, node, window)
        elif node.name.iri not in states:
            near = definitions.near(node.name.text, [state.name.text for state in states.values()])
            reason = f"{node.name.text}(…) in a group is a state that holds."
            remedy = near or f"STATE {node.name.text}(?k) …"
            yield say("OBEP100", file, node.span, f"there is no state {node.name.text}", reason, remedy)


def _expressions(file: ast.QueryFile, register: ast.Register) -> Found:
    for node in walk(register):
        if isinstance(node, ast.Filter):
            yield from calls_of(node.condition, file, aggregates=False, windows=True)
        elif isinstance(node, ast.Bind):
            yield from calls_of(node.expression, file, aggregates=False, windows=True)
        elif isinstance(node, ast.Select):
            keys = [one.expression for one in node.order_by]
            found = [one.expression for one in node.projection if one.expression is not None]
            for expression in (*found, *keys, *node.having):
                yield from calls_of(expression, file, aggregates=True, windows=True)
    for call in without_triple(register):
        message = "no triple pattern beside timestamp() has its argument"
        reason = (
            "timestamp(?v) is when a triple of its own group with ?v was seen; a path has no such triple."
        )
        remedy = "a variable of a triple pattern of the group, or timestamp(?s, :p, ?o)"
        yield say("OBEP191", file, call.span, message, reason, remedy)


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
    if file.language != "csparql" or register.every is not None:
        return
    stepped = [one for one in register.windows if one.step is not None or one.rows is not None]
    for window in register.windows:
        if stepped and window.kind == "all":
            message = "a FROM STREAM without a window stands beside one with STEP"
            reason = "Nothing says when what came in this stream is over."
            yield say("OBEP706", file, window.span, message, reason, "[RANGE 10 s STEP 1 s]")


def _over_timed_triples(file: ast.QueryFile, query: LinkedQuery) -> Found:
    """Parts that patterns over timed triples do not have or do not support yet."""
    register = query.register
    if not query.timed:
        return
    for call in timestamps(register):
        reason = "A pattern over timed triples has no windows: each triple has its own instant."
        remedy = "getSTARTTIME() or getENDTIME()" if file.language == "epsparql" else "[RANGE 10 s STEP 1 s]"
        yield say("OBEP751", file, call.span, "timestamp() over streams without STEP", reason, remedy)
    yield from _streams_of_patterns(file, query)
    form = query.timed_form
    select = form if isinstance(form, ast.Select) else form.select
    if file.language == "csparql" and any(isinstance(one, ast.Aggregate) for one in walk(select)):
        message = "an aggregate over streams without STEP"
        reason = "Without STEP or COMPUTE EVERY the query is a pattern, which is decided at each match."
        yield say("OBEP751", file, register.span, message, reason, "[RANGE 10 s STEP 1 s]")
    try:
        TimedScope(layout_of(select)).group(select.where)
    except ObepError as error:
        for found in error.diagnostics:
            if found.code not in ("OBEP190", "OBEP191"):  # reported where the function stands
                yield say(found.code, file, register.span, found.message, found.reason, found.remedy)


def _streams_of_patterns(file: ast.QueryFile, query: LinkedQuery) -> Found:
    """FROM STREAM of a pattern over timed triples."""
    windows = query.register.windows
    for window in windows:
        if file.language == "epsparql" and window.kind != "all":
            reason = "A solution lasts from its first to its last triple; a FILTER bounds that."
            remedy = "FROM STREAM <s>, and FILTER(getDURATION() < 10 s)"
            yield say("OBEP702", file, window.span, "a window in EP-SPARQL", reason, remedy)
        elif window.kind in ("now", "latest"):
            message = "FROM STREAM with such a window, and without STEP, is not supported yet"
            yield say("OBEP149", file, window.span, message, LATER, "[RANGE 10 s]")
    if file.language == "csparql" and len({window.range is None for window in windows}) > 1:
        message = "a FROM STREAM without RANGE beside one with it is not supported yet"
        yield say("OBEP149", file, windows[0].span, message, LATER, "a RANGE for all, or STEP")


def _unlike_streams(definitions: Definitions, queries: Iterable[LinkedQuery]) -> Found:
    """Rules feed one stream, and what other queries answer is no item of a pattern."""
    known = frozenset(query.name for query in queries)
    file = definitions.linked.file
    timed = [query for query in queries if query.timed]
    for query in timed:
        if query.reads(known):
            message = "a pattern over timed triples that reads the answers of a query is not supported yet"
            yield say("OBEP149", file, query.register.span, message, LATER, "[RANGE 10 s STEP 1 s]")
    rules = [one for one in timed if isinstance(one.register.form, ast.ConstructQuery)]
    streams = {frozenset(one.stream for one in query.windows) for query in timed}
    if file.language == "epsparql" and rules and len(streams) > 1:
        message = "rules and queries over different streams are not supported yet"
        yield say("OBEP149", file, rules[0].register.span, message, LATER, "the same FROM STREAM in all")
