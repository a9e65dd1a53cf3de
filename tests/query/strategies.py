"""Hypothesis strategies for queries: ASTs that the parser can produce.

`query_files()` is the main one; `patterns()`, `descriptions()`, `conditions()` and `guards()` make parts.
The names that they make resolve under `PREFIXES`.
"""

from __future__ import annotations

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
facets = st.builds(ast.Facet, st.sampled_from(FACETS), facet_literals)
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

leaves = st.builds(
    ast.Leaf, event_names, st.lists(variables, max_size=2).map(tuple), st.none() | aliases
) | st.builds(ast.Leaf, event_names)
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
atoms = (
    variables
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
instants = st.integers(0, 10**6).map(lambda s: s * 1_000_000) | st.integers(-(10**16), 10**17)
windows = st.one_of(
    st.builds(
        ast.Window, file_iris, file_iris, st.just("range"), range=durations, step=st.none() | durations
    ),
    st.builds(ast.Window, file_iris, file_iris, st.just("landmark"), start=instants),
    st.builds(ast.Window, file_iris, file_iris, st.just("rows"), rows=st.integers(1, 10**6)),
    st.builds(
        lambda n, s, a, b: ast.Window(n, s, "fixed", start=min(a, b), end=max(a, b)),
        file_iris,
        file_iris,
        instants,
        instants,
    ),
)
sources = st.builds(ast.Source, st.sampled_from(["vocab", "graph", "stream", "include"]), file_iris)
return_names = names(["BusyRoom", "A", "seq", "First", "on"])
forms = st.sampled_from(["event", "rdf"])
returns = st.builds(ast.Return, st.sampled_from(["all", "named"]), st.just(()), forms) | st.builds(
    ast.Return, st.just("listed"), st.lists(return_names, min_size=1, max_size=3).map(tuple), forms
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
        tuple(draw(st.lists(logical_events | composite_events, max_size=3))),
        tuple(draw(st.lists(returns, max_size=2))),
    )
    count = len(list(places(file)))
    chosen = sorted(draw(st.lists(st.integers(0, count), max_size=3)))
    above = [ast.Comment(draw(comment_texts), before) for before in chosen]
    by = draw(st.sets(st.integers(0, count - 1), max_size=3)) if count else set()
    beside = [ast.Comment(draw(comment_texts), place, beside=True) for place in by]
    comments = sorted([*above, *beside], key=lambda comment: (comment.before, comment.beside))
    return replace(file, comments=tuple(comments))


def _alone(node: ast.Event | ast.Window | ast.Return) -> ast.QueryFile:
    windows = (node,) if isinstance(node, ast.Window) else ()
    events = (node,) if isinstance(node, ast.LogicalEvent | ast.CompositeEvent) else ()
    returns = (node,) if isinstance(node, ast.Return) else ()
    return ast.QueryFile(None, PREFIX_DECLS, (), windows, events, returns)


_X = name("X")
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
    returns.map(_alone),
)
"""Files that hold one thing, so that every corner of the grammar comes up soon."""
