"""Queries over windows, their datasets, and the settings of a file."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from obep.query import ast
from obep.query.build.actions import Children, Clause, is_token, nodes, reading, rule
from obep.query.build.build_events import extent_of
from obep.query.build.build_files import frame_of
from obep.query.build.build_groups import named_iri, select
from obep.query.parse.spelling import span_between

# --- datasets -------------------------------------------------------------------------------------------


@rule
def from_graph(children: Children) -> ast.FromGraph:
    name, written = named_iri(children[-1])
    graph = ast.Name(written or f"<{name}>", f"<{name}>", span=span_between(children[-1]))
    named = any(is_token(child, "NAMED") for child in children)
    return ast.FromGraph(graph, named, span=span_between(children[0], children[-1]))


@rule
def from_stream(children: Children) -> ast.Window:
    """C-SPARQL's `FROM [NAMED] STREAM <s> [frame]`; the window has the name of its stream."""
    word, named, _, stream, *rest = children
    name, written = named_iri(stream)
    framed = is_token(rest[0], "LSQB")
    span = span_between(word, rest[-1] if framed else stream)
    frame: dict[str, Any] = frame_of(rest[1], rest[2:-1], span) if framed else {"kind": "all"}
    role: Any = "default" if named is None else "graph"
    return ast.Window(name, name, **frame, role=role, written=(written, written), span=span)


@rule
def from_window(children: Children) -> ast.Window:
    """RSP-QL's `FROM NAMED WINDOW <w> ON <s> [frame]`."""
    _, _, _, window, _, stream, _, word, *rest = children
    name, written = named_iri(window)
    source, source_written = named_iri(stream)
    span = span_between(children[0], children[-1])
    frame = frame_of(word, rest[:-1], span)
    return ast.Window(name, source, **frame, written=(written, source_written), span=span)


# --- forms ----------------------------------------------------------------------------------------------


class _Form:
    """A query without the words before it."""

    def __init__(self, form: Any, children: Children) -> None:
        self.form, self.span = form, form.span
        self.operator = next((c.value.lower() for c in children if is_token(c, "STREAM_OPERATOR")), None)
        self.graphs = nodes(children, ast.FromGraph)
        self.windows = nodes(children, ast.Window)
        self.events = nodes(children, ast.WindowEvent)


def _select(children: Children) -> ast.Select:
    """The SELECT of a query; the place is that of the whole query."""
    dataset = ast.FromGraph | ast.Window | ast.WindowEvent
    found: ast.Select = select([child for child in children if not isinstance(child, dataset)])
    return found


@rule
def select_query(children: Children) -> Any:
    return _Form(_select(children), children)


@rule
def template(children: Children) -> Any:
    return Clause(
        "template", children[0], children[-1], [t for c in children if isinstance(c, list) for t in c]
    )


@rule
def construct_query(children: Children) -> Any:
    clause = next(iter(nodes(children, Clause)))
    found = _select([c for c in children if c is not clause])
    return _Form(ast.ConstructQuery(tuple(clause.value), found, span=found.span), children)


@rule
def construct_where(children: Children) -> Any:
    """`CONSTRUCT WHERE { … }`: the template is the pattern."""
    clause = next(one for one in nodes(children, Clause) if one.field == "template")
    span = span_between(clause.word, clause.last)
    group = ast.Group((ast.Bgp(tuple(clause.value), span=span),) if clause.value else (), span=span)
    found = _select([group if child is clause else child for child in children])
    return _Form(ast.ConstructQuery(tuple(clause.value), found, span=found.span), children)


@rule
def ask_query(children: Children) -> Any:
    found = _select(children)
    return _Form(ast.AskQuery(found, span=found.span), children)


# --- REGISTER -------------------------------------------------------------------------------------------


@rule
def compute(children: Children) -> Any:
    return Clause("every", children[0], children[1], children[1])


REGIMES: dict[str, ast.Entailment] = {
    "Simple": "simple",
    **dict.fromkeys(("RDF", "RDFS", "D", "OWL-Direct", "OWL-RDF-Based"), "owl"),
}
"""The entailment regimes of SPARQL 1.1, by the end of their IRIs."""


@rule
def regime(children: Children) -> Any:
    word, iri = children
    name = iri.value[1:-1].rsplit("/", 1)[-1].rsplit("#", 1)[-1]
    if name not in REGIMES:
        reading.scope.error(
            "OBEP702",
            f"the entailment regime {name} is not known",
            span_between(iri),
            reason=f"The regimes are {', '.join(REGIMES)}. Rules of RIF cannot be run.",
            remedy="UNDER ENTAILMENT REGIME <http://www.w3.org/ns/entailment/OWL-Direct>",
        )
    return Clause("entailment", word, iri, REGIMES.get(name, "owl"))


@rule
def register(children: Children) -> ast.Register:
    from obep.query.build.build_languages import within

    form = next(child for child in children if isinstance(child, _Form))
    clauses = {clause.field: clause for clause in nodes(children, Clause)}
    name = next((child for child in children if is_token(child, "QUERY_NAME", "IRI")), None)
    said = next((child.value.lower() for child in children if is_token(child, "STREAM_OPERATOR")), None)
    if said is not None and form.operator not in (None, said):
        reading.scope.error(
            "OBEP011",
            f"the query is {said.upper()} and {form.operator.upper()}",
            form.span,
            reason="One word says how answers become a stream.",
            remedy="remove one of them",
        )
    default: Any = "istream" if reading.scope.language == "rsepql" else "rstream"
    return ast.Register(
        None if name is None else _called(name),
        form.form if "horizon" not in clauses else within(form.form, clauses["horizon"].value),
        said or form.operator or default,
        clauses["every"].value if "every" in clauses else None,
        form.graphs,
        form.windows,
        reading.scope.language == "csparql" and any(is_token(child, "STREAM") for child in children),
        clauses["entailment"].value if "entailment" in clauses else None,
        form.events,
        extent=extent_of(clauses),
        span=span_between(children[0], form),
    )


def _called(word: Any) -> ast.Name:
    """The name of a query: a bare word is the name itself, and takes no prefix."""
    if word.value.startswith("<"):
        return ast.Name(word.value, word.value[1:-1], span=span_between(word))
    if ":" in word.value:
        return replace(found := reading.scope.resolve(word), iri=found.iri[1:-1])
    return ast.Name(word.value, word.value, span=span_between(word))


# --- settings -------------------------------------------------------------------------------------------


@rule
def setting(children: Children) -> ast.Setting:
    word, value = children
    key: Any = word.type.lower().removesuffix("_setting")
    return ast.Setting(key, value.value.lower(), span=span_between(word, value))


@rule
def stream_source(children: Children) -> ast.StreamSource:
    _, iri, _, source = children
    called = _called(source).iri
    return ast.StreamSource(iri.value[1:-1], called, span=span_between(children[0], source))


# --- slips (D12) ----------------------------------------------------------------------------------------


@rule
def literal_without_hat(children: Children) -> ast.Literal:
    """`"PT30M"xsd:duration`."""
    text, word = children
    datatype = reading.scope.resolve_class(word)
    span = span_between(text, word)
    note_slip("^^ is missing before the datatype", f"{text.value}^^{word.value}", span)
    return ast.Literal(reading.scope.string(text), datatype, span=span)


def note_slip(message: str, remedy: str, span: Any) -> None:
    """Note what has one reading, though the language has it not."""
    reading.scope.slips.append(ast.Slip(message, remedy, span=span))
