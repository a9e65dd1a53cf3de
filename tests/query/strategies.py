"""Hypothesis strategies for queries: ASTs that the parser can produce.

`query_files()` is the main one; `patterns()`, `descriptions()`, `conditions()` and `guards()` make parts.
The names that they make resolve under `PREFIXES`.
"""

from __future__ import annotations

import typing
from dataclasses import replace

from hypothesis import strategies as st

from obep.query import ast
from obep.query.print.comments import places

XSD = "http://www.w3.org/2001/XMLSchema#"
OWL = "http://www.w3.org/2002/07/owl#"
BASE = "http://example.org/base/"
PREFIXES = {"": "http://example.org/building#", "ex": "http://example.org/other/", "e-2.x": "urn:x:"}
PREFIX_DECLS = tuple(ast.PrefixDecl(prefix, iri) for prefix, iri in PREFIXES.items())


def name(text: str) -> ast.Name:
    """A name by its text, resolved by hand."""
    if text.startswith("<"):
        iri = text[1:-1]
        return ast.Name(text, f"<{iri if ':' in iri else BASE + iri}>")
    prefix, colon, local = text.partition(":")
    if not colon:
        prefix, local = "", text
    return ast.Name(text, f"<{PREFIXES[prefix]}{local.replace(chr(92), '')}>")


def xsd(local: str) -> ast.Name:
    return ast.Name(f"xsd:{local}", f"<{XSD}{local}>")


PREFIXED = [
    ":First", ":seq", ":5x", ":a.b", "ex:Room", "ex:event", "e-2.x:y", r"ex:a\,b", "ex:", "ex:%41", ":a:b",
]  # fmt: skip
IRIS = ["<http://example.org/x#Y>", "<urn:a:b>", "<http://example.org/ü>"]

# Words that are free in each place, though they are reserved elsewhere.
EVENT_TEXTS = ["BusyRoom", "FreeRoom", "A", "B", "a", "x-y", "Straße", "_z9", "Firstly", "some", "on", "all"]
CLASS_TEXTS = [
    "Room", "contains", "Within", "First", "seq", "Some", "AND", "On", "If", "Policy", "Construct",
    "partition", "Строка", "a",
]  # fmt: skip
PROPERTY_TEXTS = [*CLASS_TEXTS, "armedWith", "value-of", "Thing"]
GUARD_TEXTS = ["Room", "first", "seq", "within", "some", "and", "getDURATION", "A"]
CONDITION_TEXTS = ["Open", "first", "and", "filter", "event", "a"]


def names(texts: list[str]) -> st.SearchStrategy[ast.Name]:
    return st.sampled_from([*texts, *PREFIXED, *IRIS]).map(name)


event_names = names(EVENT_TEXTS)
property_names = names(PROPERTY_TEXTS)
individuals = names(CLASS_TEXTS)
THING = ast.Name("Thing", f"<{OWL}Thing>")
guard_names = names(GUARD_TEXTS) | st.just(THING)
condition_names = names(CONDITION_TEXTS) | st.just(THING)
CLASS_WORDS = {
    "Thing": OWL + "Thing",
    "Nothing": OWL + "Nothing",
    "integer": XSD + "integer",
    "decimal": XSD + "decimal",
    "float": XSD + "float",
    "string": XSD + "string",
    "number": "urn:obep:number",
}
class_words = names(CLASS_TEXTS) | st.sampled_from(
    [ast.Name(word, f"<{iri}>") for word, iri in CLASS_WORDS.items()]
)
aliases = st.sampled_from(
    ["R1", "r2", "first", "5x", "WITHIN", "ex:R", "Straße", "A", "B", "<http://example.org/,-b>"]
)
variables = st.sampled_from(["room", "sensor", "x", "this", "v_1", "größe", "1"]).map(ast.Var)
file_iris = st.sampled_from(["building.ttl", "a/b.ttl", "http://example.org/x#y", "", "ü", "../x"])

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8) | st.sampled_from(
    ['"', "\\", "'''", '"""', "\n", "\r\n", "\x00", "5", "true", "# no comment", "é"]
)
durations = st.builds(
    ast.Duration,
    st.sampled_from([0, 1, 1_000, 500_000, 1_000_000, 300_000_000, 3_600_000_000, 172_800_000_000])
    | st.integers(0, 10**13),
)

numbers = st.sampled_from(
    [("5", "integer"), ("0", "integer"), ("007", "integer"), ("5.5", "decimal"), (".5", "decimal"),
     ("1e5", "double"), ("1.5E-3", "double"), ("true", "boolean"), ("false", "boolean")]
).map(lambda pair: ast.Literal(pair[0], xsd(pair[1])))  # fmt: skip
signed = st.sampled_from([("-5", "integer"), ("+5", "integer"), ("-0.5", "decimal"), ("-1e5", "double")]).map(
    lambda pair: ast.Literal(pair[0], xsd(pair[1]))
)
languages = st.sampled_from(["en", "en-gb", "de-1996"])


def literals(datatypes: st.SearchStrategy[ast.Name]) -> st.SearchStrategy[ast.Literal]:
    known = st.sampled_from(["dateTime", "float", "integer", "string"]).map(xsd)
    return (
        numbers
        | signed
        | st.builds(ast.Literal, texts)
        | st.builds(lambda text, tag: ast.Literal(text, language=tag), texts, languages)
        | st.builds(ast.Literal, texts, known | datatypes)
    )


# --- class expressions ---------------------------------------------------------------------------------

properties = property_names | property_names.map(ast.Inverse)
floats = st.sampled_from(["5", "1.5"]).map(lambda text: ast.Literal(text, xsd("float")))
class_literals = literals(class_words) | floats
facet_literals = (
    st.sampled_from(["30", "-30.5", "1e3", ".5"]).map(ast.Literal)
    | st.builds(ast.Literal, texts)
    | floats
    | st.builds(ast.Literal, texts, class_words)
    | st.builds(lambda text, tag: ast.Literal(text, language=tag), texts, languages)
)
FACETS = ["<", "<=", ">", ">=", "length", "minLength", "maxLength", "pattern", "langRange"]
facet_numbers = st.sampled_from(["30", "-30.5", "1e3", ".5"]).map(ast.Literal) | floats
UNITS = ["degC", "m/s", "min", "Self", "[degF]", "%", "event", "m3", ""]
units = names([]) | st.sampled_from(UNITS).map(ast.Literal)
facets = st.builds(ast.Facet, st.sampled_from(FACETS), facet_literals) | st.builds(
    ast.Facet, st.sampled_from(FACETS), facet_numbers, units
)
members = individuals | class_literals
simple_descriptions = (
    st.builds(ast.ClassName, class_words)
    | st.builds(ast.OneOf, st.lists(members, min_size=1, max_size=3).map(tuple))
    | st.builds(ast.Restriction, class_words, st.lists(facets, min_size=1, max_size=3).map(tuple))
    | st.builds(ast.HasSelf, properties)
    | st.builds(ast.Value, properties, members)
    | st.builds(ast.Some, properties, st.none())
)


def _larger_descriptions(inner: st.SearchStrategy[ast.Description]) -> st.SearchStrategy[ast.Description]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return (
        st.builds(ast.Intersection, several)
        | st.builds(ast.Union, several)
        | st.builds(ast.Complement, inner)
        | st.builds(ast.Some, properties, inner)
        | st.builds(ast.Only, properties, inner)
        | st.builds(
            ast.Cardinality,
            st.sampled_from(["min", "max", "exactly"]),
            st.integers(0, 10**6),
            properties,
            st.none() | inner,
        )
    )


def descriptions() -> st.SearchStrategy[ast.Description]:
    """Class expressions."""
    return st.recursive(simple_descriptions, _larger_descriptions, max_leaves=5)


# --- patterns ------------------------------------------------------------------------------------------

# Names that BEGIN, END and STATE may stand before: words that go on a pattern are none.
state_names = names(["Hot", "a", "x-y", "Straße", "_z9", "Begin", "End"])
parameters = st.lists(variables, max_size=2).map(tuple)
plain_leaves = st.builds(ast.Leaf, event_names, parameters, st.none() | aliases) | st.builds(
    ast.Leaf, event_names
)
leaves = (
    plain_leaves
    | st.builds(ast.Leaf, state_names, parameters, st.none() | aliases, moment=st.just("begin"))
    | st.builds(
        ast.Leaf,
        state_names,
        parameters,
        st.none() | aliases,
        moment=st.just("end"),
        lasting=st.none() | durations,
    )
    | st.builds(ast.Leaf, event_names, parameters, st.none() | aliases, lasting=durations)
    | st.builds(ast.Leaf, event_names, parameters, st.none() | aliases, window=file_iris)
    | st.deferred(lambda: st.builds(ast.GroupLeaf, groups() | selects, st.none() | aliases))
)
state_uses = st.builds(ast.StateUse, event_names, parameters)
ALLEN = [
    "BEFORE", "AFTER", "MEETS", "METBY", "OVERLAPS", "OVERLAPPEDBY",
    "STARTS", "STARTEDBY", "DURING", "CONTAINS", "FINISHES", "FINISHEDBY",
]  # fmt: skip


def _larger_patterns(inner: st.SearchStrategy[ast.Pattern]) -> st.SearchStrategy[ast.Pattern]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    chains = [st.builds(kind, several) for kind in (ast.Seq, ast.Next, ast.And, ast.Join, ast.Or)]
    unary = [st.builds(kind, inner) for kind in (ast.Not, ast.First, ast.Last, ast.Optional, ast.Every)]
    return st.one_of(
        *chains,
        *unary,
        st.builds(ast.Allen, st.sampled_from(ALLEN), inner, inner),
        st.builds(ast.Times, inner, st.integers(1, 1000)),
        st.builds(ast.Without, inner, inner),
        st.builds(ast.NotFollowedBy, inner, inner, st.none() | durations),
        st.builds(ast.Within, inner, durations),
        st.builds(ast.While, inner, state_uses),
        st.builds(ast.Unless, inner, state_uses),
        st.builds(ast.Repeated, inner, durations, st.none() | inner, st.none() | st.integers(1, 100)),
    )


def patterns() -> st.SearchStrategy[ast.Pattern]:
    """Patterns of MATCH."""
    return st.recursive(leaves, _larger_patterns, max_leaves=6)


# --- guards --------------------------------------------------------------------------------------------

blanks = st.sampled_from(["_:b1", "_:x", "_:a.b"]).map(ast.Var)
predicates = (
    guard_names | variables | st.just(ast.Name("a", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"))
)
guard_datatypes = guard_names | st.just(ast.Name("integer", f"<{XSD}integer>"))
terms = variables | guard_names | blanks | literals(guard_datatypes)
triples = st.builds(ast.TriplePattern, terms, predicates, terms)


def _sharing(found: list[ast.TriplePattern], shared: list[int]) -> tuple[ast.TriplePattern, ...]:
    """Some triples with the subject, or the subject and predicate, of the one before."""
    for at, how_much in enumerate(shared[: max(0, len(found) - 1)]):
        before, here = found[at], found[at + 1]
        if how_much > 0:
            here = replace(here, subject=before.subject)
        if how_much > 1:
            here = replace(here, predicate=before.predicate)
        found[at + 1] = here
    return tuple(found)


several_triples = st.builds(
    _sharing, st.lists(triples, max_size=4), st.lists(st.integers(0, 2), min_size=3, max_size=3)
)

FUNCTIONS = ["REGEX", "IF", "COALESCE", "STR", "BOUND", "SECONDS", "CONTAINS", "ABS", "FOO"]
casts = st.sampled_from(
    [xsd("double"), xsd("string"), ast.Name("integer", f"<{XSD}integer>"), name("<http://example.org/x#Y>")]
)
arguments = variables | condition_names | literals(condition_names)
OF_VALUES = ["COUNT", "SUM", "MIN", "MAX", "AVG", "SAMPLE", "STDDEV", "MEDIAN", "GROUP_CONCAT"]
IN_TIME = ["FIRST", "LAST", "RATE", "SLOPE", "TIMEAVG", "CHANGES", "TRAVEL", "TURNS"]
aggregates = (
    st.builds(ast.Aggregate, st.just("COUNT"), distinct=st.booleans())
    | st.builds(ast.Aggregate, st.sampled_from(OF_VALUES), arguments, st.booleans())
    | st.builds(ast.Aggregate, st.just("GROUP_CONCAT"), arguments, st.booleans(), texts)
    | st.builds(ast.Aggregate, st.sampled_from(IN_TIME), arguments)
    | st.builds(
        ast.Aggregate,
        st.just("PERCENTILE"),
        arguments,
        percent=st.sampled_from(["95", "100", "0.5"]).map(
            lambda text: ast.Literal(text, xsd("decimal" if "." in text else "integer"))
        ),
    )
    | st.builds(ast.Aggregate, st.sampled_from(["FULL", "HELD"]))
)
atoms = (
    variables
    | aggregates
    | condition_names
    | literals(condition_names)
    | durations
    | st.builds(
        ast.TimeFunction,
        st.sampled_from(["getSTARTTIME", "getENDTIME", "getDURATION"]),
        st.none() | aliases,
    )
)


def _larger_conditions(inner: st.SearchStrategy[ast.Expression]) -> st.SearchStrategy[ast.Expression]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    any_number = st.lists(inner, max_size=3).map(tuple)
    return st.one_of(
        st.builds(ast.Comparison, st.sampled_from(["=", "!=", "<", ">", "<=", ">="]), inner, inner),
        st.builds(ast.Membership, inner, any_number, st.booleans()),
        st.builds(ast.Disjunction, several),
        st.builds(ast.Conjunction, several),
        st.builds(ast.Arithmetic, st.sampled_from(["+", "-", "*", "/"]), inner, inner),
        st.builds(ast.Negation, st.sampled_from(["!", "-", "+"]), inner),
        st.builds(ast.Call, st.sampled_from(FUNCTIONS) | casts, any_number),
    )


def conditions() -> st.SearchStrategy[ast.Expression]:
    """Conditions of FILTER."""
    return st.recursive(atoms, _larger_conditions, max_leaves=6)


calls = st.builds(ast.Call, st.sampled_from(FUNCTIONS), st.lists(atoms, max_size=2).map(tuple))
filters = st.lists(st.builds(ast.Filter, conditions() | calls), max_size=2).map(tuple)
blocks = st.builds(ast.Block, st.lists(aliases, max_size=3).map(tuple), several_triples, filters)


def guards(*, own: bool) -> st.SearchStrategy[ast.Guard]:
    """Guards; those of a logical event may have triples of their own."""
    return st.builds(
        ast.Guard, st.lists(blocks, max_size=2).map(tuple), filters, several_triples if own else st.just(())
    )


# --- groups --------------------------------------------------------------------------------------------

path_names = guard_names | st.just(ast.Name("a", "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"))
negated_paths = st.builds(
    ast.PathNegated, st.lists(path_names, max_size=2).map(tuple), st.lists(path_names, max_size=2).map(tuple)
)


def _larger_paths(inner: st.SearchStrategy[ast.Path]) -> st.SearchStrategy[ast.Path]:
    several = st.lists(inner, min_size=2, max_size=3).map(tuple)
    return st.one_of(
        st.builds(ast.PathSequence, several),
        st.builds(ast.PathAlternative, several),
        st.builds(ast.PathInverse, inner),
        st.builds(ast.PathRepeat, inner, st.sampled_from(["?", "*", "+"])),
    )


paths = _larger_paths(st.recursive(path_names | negated_paths, _larger_paths, max_leaves=3)) | negated_paths
path_patterns = st.builds(ast.PathPattern, terms, paths, terms)
bgps = st.builds(
    lambda plain, with_path: ast.Bgp((*plain, *with_path)),
    st.builds(
        _sharing,
        st.lists(triples, min_size=1, max_size=3),
        st.lists(st.integers(0, 2), min_size=2, max_size=2),
    ),
    st.lists(path_patterns, max_size=1),
)
casted = st.builds(ast.Call, casts, st.lists(atoms, max_size=2).map(tuple))
group_conditions = conditions() | calls | casted | aggregates
exists = st.deferred(lambda: st.builds(ast.Exists, groups(), st.booleans()))
group_filters = st.builds(ast.Filter, group_conditions | exists)
binds = st.builds(ast.Bind, group_conditions, variables)
constants = st.none() | guard_names | literals(guard_datatypes)


@st.composite
def value_tables(draw: st.DrawFn) -> ast.Values:
    """VALUES with as many values in each row as variables."""
    found = tuple(draw(st.lists(variables, max_size=2)))
    row = st.lists(constants, min_size=len(found), max_size=len(found)).map(tuple)
    return ast.Values(found, tuple(draw(st.lists(row, max_size=2))))


state_atoms = st.builds(ast.Atom, names(["Hot", "within"]), parameters, st.none() | durations)
simple_elements = bgps | group_filters | binds | value_tables() | state_atoms


def _grouped(elements: list[ast.GroupElement]) -> ast.Group:
    """Triples that stand side by side are one Bgp."""
    found: list[ast.GroupElement] = []
    for element in elements:
        if isinstance(element, ast.Bgp) and found and isinstance(found[-1], ast.Bgp):
            found[-1] = ast.Bgp((*found[-1].patterns, *element.patterns))
        else:
            found.append(element)
    return ast.Group(tuple(found))


def _larger_groups(inner: st.SearchStrategy[ast.Group]) -> st.SearchStrategy[ast.Group]:
    elements = (
        simple_elements
        | inner
        | st.builds(ast.GroupOptional, inner)
        | st.builds(ast.GroupMinus, inner)
        | st.builds(ast.GroupUnion, st.lists(inner, min_size=2, max_size=3).map(tuple))
        | st.builds(ast.GraphGroup, guard_names | variables, inner)
        | st.builds(ast.WindowGroup, file_iris | variables, inner)
        | _selects(inner)
    )
    return st.lists(elements, min_size=1, max_size=2).map(_grouped)


def _numbered(keys: list[ast.Projection]) -> tuple[ast.Projection, ...]:
    """Keys without a variable of their own have one that counts them."""
    number, found = 0, []
    for key in keys:
        if key.variable.name == "_:group":
            number += 1
            key = ast.Projection(ast.Var(f"_:group{number}"), key.expression)
        found.append(key)
    return tuple(found)


computed = st.builds(ast.Projection, variables, atoms | calls | _larger_conditions(atoms))
grouping = (
    st.builds(ast.Projection, variables)
    | computed
    | st.builds(ast.Projection, st.just(ast.Var("_:group")), calls | casted | aggregates)
)


def _selects(inner: st.SearchStrategy[ast.Group]) -> st.SearchStrategy[ast.Select]:
    return st.builds(
        lambda how, *parts: ast.Select(*parts[:2], how == 1, how == 2, *parts[2:]),
        st.integers(0, 2),
        st.lists(st.builds(ast.Projection, variables) | computed, max_size=2).map(tuple),
        inner,
        st.lists(grouping, max_size=2).map(_numbered),
        st.lists(group_conditions | exists, max_size=2).map(tuple),
        st.lists(st.builds(ast.OrderKey, variables | calls | casted | atoms, st.booleans()), max_size=2).map(
            tuple
        ),
        st.none() | st.integers(0, 100),
        st.integers(0, 2),
        st.none() | value_tables(),
    )


simple_groups = st.lists(simple_elements, max_size=2).map(_grouped)


def groups() -> st.SearchStrategy[ast.Group]:
    """Groups, the empty one too."""
    return st.recursive(simple_groups, _larger_groups, max_leaves=3)


selects = _selects(simple_groups)
full_groups = groups().filter(lambda group: bool(group.elements)) | selects

# --- states --------------------------------------------------------------------------------------------

WEEK = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
clocks = st.integers(0, 24 * 60) | variables
event_states = st.builds(
    ast.EventState,
    state_names,
    parameters,
    patterns(),
    patterns(),
    st.none() | durations,
    st.none() | durations,
    st.none() | guards(own=False),
)
over_states = st.builds(
    ast.OverState,
    state_names,
    parameters,
    patterns() | st.builds(ast.StateUse, state_names, parameters),
    durations,
    step=st.none() | durations,
    each=st.none() | state_uses,
    guard=st.none() | guards(own=False),
    group_by=parameters,
    aggregates=st.lists(computed, max_size=2).map(tuple),
    having=st.none() | group_conditions,
)
class_states = st.builds(
    ast.ClassState,
    state_names,
    parameters,
    descriptions(),
    st.none() | file_iris,
    st.none() | guards(own=True),
)
group_states = st.builds(ast.GroupState, state_names, parameters, groups() | selects, st.none() | file_iris)
daily_states = st.builds(
    ast.DailyState,
    state_names,
    parameters,
    clocks,
    clocks,
    st.lists(st.sampled_from(WEEK), unique=True).map(tuple) | st.just(tuple(WEEK[:5])) | variables,
    st.none() | texts | variables,
    st.none() | guards(own=True),
)
states = event_states | over_states | class_states | group_states | daily_states

# --- files ---------------------------------------------------------------------------------------------

logical_events = st.builds(
    ast.LogicalEvent,
    event_names,
    descriptions(),
    on=st.none() | file_iris,
    guard=st.none() | guards(own=True),
    construct=several_triples,
    named=st.booleans(),
)
composite_events = st.builds(
    ast.CompositeEvent,
    event_names,
    patterns(),
    parameters=st.lists(variables, max_size=2).map(tuple),
    partition_by=st.lists(variables, max_size=2).map(tuple),
    policy=st.sampled_from(["unrestricted", "chronological", "recent", "naive"]),
    guard=st.none() | guards(own=False),
    construct=several_triples,
    named=st.booleans(),
)
graph_events = st.builds(
    ast.GraphEvent,
    event_names,
    full_groups,
    parameters=parameters,
    on=st.none() | file_iris,
    guard=st.none() | guards(own=True),
    construct=several_triples,
    named=st.booleans(),
)
instants = st.integers(0, 10**6).map(lambda s: s * 1_000_000) | st.integers(-(10**16), 10**17)
latest_windows = st.builds(
    ast.Window,
    file_iris,
    file_iris,
    st.just("latest"),
    range=st.none() | durations,
    step=st.none() | durations,
    by=several_triples,
)
windows = st.one_of(
    st.builds(ast.Window, file_iris, st.just(""), st.just("range"), range=durations, event=event_names),
    st.builds(ast.Window, file_iris, file_iris, st.just("triples"), rows=st.integers(1, 10**6)),
    latest_windows,
    st.builds(
        lambda n, s, a, b, step: ast.Window(
            n, s, "now", range=ast.Duration(a + b), until=ast.Duration(b), step=step
        ),
        file_iris,
        file_iris,
        st.integers(1, 10**9),
        st.just(0) | st.integers(0, 10**9),
        st.none() | durations,
    ),
    st.builds(
        ast.Window, file_iris, file_iris, st.just("range"), range=durations, step=st.none() | durations
    ),
    st.builds(lambda n, s, d: ast.Window(n, s, "range", range=d, step=d), file_iris, file_iris, durations),
    st.builds(ast.Window, file_iris, file_iris, st.just("landmark"), start=instants),
    st.builds(
        ast.Window,
        file_iris,
        file_iris,
        st.just("rows"),
        rows=st.integers(1, 10**6),
        rows_step=st.none() | st.integers(1, 100),
    ),
    st.builds(
        lambda n, s, a, b: ast.Window(n, s, "fixed", start=min(a, b), end=max(a, b)),
        file_iris,
        file_iris,
        instants,
        instants,
    ),
)
sources = st.builds(
    ast.Source, st.sampled_from(["vocab", "graph", "named", "stream", "model", "include"]), file_iris
)
return_names = names(["BusyRoom", "A", "seq", "First", "on"])
forms = st.sampled_from(["event", "rdf", "rows", "alerts"])
returns = st.builds(
    ast.Return, st.sampled_from(["all", "named"]), st.just(()), forms, st.none() | durations
) | st.builds(
    ast.Return,
    st.just("listed"),
    st.lists(return_names, min_size=1, max_size=3).map(tuple),
    forms,
    st.none() | durations,
)
comment_texts = st.sampled_from(["#", "# why", '# a "quote', "## <not an iri", "#é"])


@st.composite
def query_files(draw: st.DrawFn) -> ast.QueryFile:
    """Whole files, with comments before any of their clauses."""
    file = ast.QueryFile(
        draw(st.none() | st.just(BASE)),
        PREFIX_DECLS,
        tuple(draw(st.lists(sources, max_size=3))),
        tuple(draw(st.lists(windows, max_size=1))),
        tuple(draw(st.lists(logical_events | composite_events | graph_events, max_size=2))),
        tuple(draw(st.lists(returns, max_size=2))),
        tuple(draw(st.lists(states, max_size=2))),
    )
    count = len(list(places(file)))
    chosen = sorted(draw(st.lists(st.integers(0, count), max_size=3)))
    above = [ast.Comment(draw(comment_texts), before) for before in chosen]
    by = draw(st.sets(st.integers(0, count - 1), max_size=3)) if count else set()
    beside = [ast.Comment(draw(comment_texts), place, beside=True) for place in by]
    comments = sorted([*above, *beside], key=lambda comment: (comment.before, comment.beside))
    return replace(file, comments=tuple(comments))


def _alone(node: ast.Event | ast.State | ast.Window | ast.Return) -> ast.QueryFile:
    windows = (node,) if isinstance(node, ast.Window) else ()
    events = (node,) if isinstance(node, ast.LogicalEvent | ast.CompositeEvent | ast.GraphEvent) else ()
    returns = (node,) if isinstance(node, ast.Return) else ()
    states = () if windows or events or returns else (node,)
    return ast.QueryFile(None, PREFIX_DECLS, (), windows, events, returns, typing.cast(typing.Any, states))


_X = name("X")
_THIS = ast.Var("this")
_ROOM = ast.ClassName(name("Room"))
_absences = st.builds(ast.NotFollowedBy, leaves, leaves, st.none() | durations)
_small_patterns = _larger_patterns(leaves)
_small_descriptions = _larger_descriptions(simple_descriptions)
_small_conditions = _larger_conditions(atoms)


_few_triples = st.lists(triples, max_size=1).map(tuple)
_small_blocks = st.builds(ast.Block, st.lists(aliases, max_size=3).map(tuple), _few_triples, st.just(()))


def _matching(found: st.SearchStrategy[ast.Pattern]) -> st.SearchStrategy[ast.QueryFile]:
    return found.map(lambda pattern: _alone(ast.CompositeEvent(_X, pattern)))


def _described(found: st.SearchStrategy[ast.Description]) -> st.SearchStrategy[ast.QueryFile]:
    return found.map(lambda description: _alone(ast.LogicalEvent(_X, description)))


def _guarded(found: st.SearchStrategy[ast.Guard]) -> st.SearchStrategy[ast.QueryFile]:
    return found.map(lambda guard: _alone(ast.LogicalEvent(_X, _ROOM, guard=guard)))


ONE_PART_FILES: tuple[st.SearchStrategy[ast.QueryFile], ...] = (
    _matching(_larger_patterns(_small_patterns)),
    _matching(_absences),
    _matching(st.builds(ast.NotFollowedBy, _absences, leaves, st.none() | durations)),
    _matching(st.builds(ast.Without, _absences, leaves)),
    _matching(st.builds(ast.Within, leaves, durations)),
    _described(simple_descriptions),
    _described(_small_descriptions),
    _described(st.builds(ast.Value, properties, numbers | signed | floats)),
    _guarded(guards(own=True)),
    _guarded(st.builds(ast.Guard, st.just(()), filters, several_triples)),
    _guarded(
        st.builds(
            ast.Guard, st.lists(_small_blocks, min_size=2, max_size=3).map(tuple), st.just(()), _few_triples
        )
    ),
    _guarded(_larger_conditions(_small_conditions).map(lambda c: ast.Guard((), (ast.Filter(c),)))),
    several_triples.map(lambda found: _alone(ast.LogicalEvent(_X, _ROOM, construct=found))),
    windows.map(_alone),
    latest_windows.map(_alone),
    paths.map(
        lambda path: _alone(ast.GraphEvent(_X, ast.Group((ast.Bgp((ast.PathPattern(_THIS, path, _THIS),)),))))
    ),
    group_filters.map(lambda one: _alone(ast.GraphEvent(_X, ast.Group((one,))))),
    state_atoms.map(lambda one: _alone(ast.GraphEvent(_X, ast.Group((one,))))),
    full_groups.map(lambda group: _alone(ast.GraphEvent(_X, group))),
    selects.map(lambda group: _alone(ast.GraphEvent(_X, group))),
    bgps.map(lambda bgp: _alone(ast.GraphEvent(_X, ast.Group((bgp,))))),
    _larger_groups(simple_groups).map(lambda group: _alone(ast.GraphEvent(_X, group))),
    states.map(_alone),
    daily_states.map(_alone),
    st.builds(
        ast.OverState, state_names, parameters, leaves, durations, having=group_conditions | aggregates
    ).map(_alone),
    _matching(leaves),
    returns.map(_alone),
)
"""Files that hold one thing, so that every corner of the grammar comes up soon."""
