"""What the fuzzer begins with: the queries, ontologies, items and settings that the repository has."""

from __future__ import annotations

import json
from collections.abc import Callable
from functools import cache
from pathlib import Path

import pyoxigraph

from obep.formats.record_mapping import Mapping, make_mapping

ROOT = Path(__file__).parents[2]
EXAMPLES = ROOT / "examples"
DATA = Path(__file__).parent / "data"
SERIAL = {
    "turtle": pyoxigraph.RdfFormat.TURTLE,
    "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
    "rdfxml": pyoxigraph.RdfFormat.RDF_XML,
    "jsonld": pyoxigraph.RdfFormat.JSON_LD,
}


def words(*kinds: str) -> tuple[bytes, ...]:
    """The words of some kinds of text, for mutations by token."""
    return tuple(word for kind in kinds for word in (DATA / f"words-of-{kind}.txt").read_bytes().split())


def literals() -> tuple[str, ...]:
    """Literals that some function or datatype stumbles over."""
    return tuple((DATA / "literals.txt").read_text("utf-8").splitlines())


@cache
def queries() -> tuple[bytes, ...]:
    """Queries that are right, and those of the tests for mistakes."""
    data = ROOT / "tests" / "query" / "data"
    return tuple(path.read_bytes() for path in sorted((*EXAMPLES.rglob("*.obep"), *data.rglob("*.obep"))))


@cache
def language_queries(ending: str) -> tuple[bytes, ...]:
    """Queries of another language: examples, those of the papers, and those of tests."""
    data = ROOT / "tests" / "query" / "data"
    found = sorted((*EXAMPLES.rglob(f"*{ending}"), *data.rglob(f"*{ending}")))
    return tuple(path.read_bytes() for path in found if path.suffix == ending)


@cache
def runnable_queries() -> tuple[bytes, ...]:
    """The queries of the examples, their files named from the folder of all examples."""
    examples = tuple(
        path.read_bytes()
        .replace(b"VOCAB <", b"VOCAB <%b/" % folder)
        .replace(b"GRAPH <", b"GRAPH <%b/" % folder)
        for path in sorted(EXAMPLES.rglob("query.obep"))
        if (folder := path.parent.name.encode()) != b"06-building"
    )
    return (*examples, *((DATA / "families.obep").read_bytes(),) * 3)


@cache
def ontologies(format: str) -> tuple[bytes, ...]:
    """The ontologies of the examples and one of all kinds of axioms, in a format."""
    if format == "owlxml":
        return ((DATA / "all-kinds.owx").read_bytes(),)
    texts = [path.read_bytes() for path in sorted(EXAMPLES.rglob("*.ttl")) if path.name != "sosa.ttl"]
    texts = [text for text in texts if len(text) < 6000 and b"owl:imports" not in text]
    texts += [(DATA / "all-kinds.ttl").read_bytes()] * 3
    if format == "turtle":
        return tuple(texts)
    return tuple(_serialized(text, format) for text in texts)


PREFIXES = (
    "@prefix : <http://e/> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> . "
    "@prefix owl: <http://www.w3.org/2002/07/owl#> . "
    "@prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> . "
)
GRAPHS = (
    ":x a :A , :C ; :r [ a :B ; :v 3 ] , :y . :y a :B ; owl:sameAs :x .",
    ":x :r ( 1 2 ) ; :v 1, 2 ; a [ owl:unionOf ( :A :B ) ] . [] a owl:AllDifferent ; owl:members ( :x :y ) .",
    ":x owl:sameAs :y . :y owl:sameAs :z . :z owl:sameAs :x ; a :B ; :r :x . :x owl:differentFrom :z .",
)


@cache
def graphs() -> tuple[str, ...]:
    """Turtle of single messages, for the events of data/items.obep."""
    some = literals()
    made = [f":x a :A ; :v {one} ; :w {some[-place]} ." for place, one in enumerate(some)]
    return tuple(PREFIXES + one for one in (*made, *GRAPHS))


def items(format: str) -> tuple[bytes, ...]:
    """Files of items in a format."""
    if format in ("jsonl", "json"):
        return _json_items(format)
    if format == "csv":
        return TABLES
    if format == "nquads":
        return QUADS[0], b"".join(QUADS)
    if format == "trig":
        return tuple(PREFIXES.encode() + one for one in TRIG)
    if format == "parquet":
        return (_parquet(),)
    timed = (f"{one} :x <{TIME}> 5 ." for one in graphs())
    return tuple(_serialized(one.encode(), format) for one in timed)


TIME = "http://www.w3.org/ns/prov#generatedAtTime"
TABLES = (
    b'time,graph,id,v\n1,"<http://e/a> <http://e/b> 1 .",x,2\n2,"<http://e/x> a <http://e/A> .",y,\n',
    b"id;v;w;time\r\nx;1,5;a;2026-01-01\r\ny;;b;3\r\n",
    b'time\tid\tv\tw\tunit\n1\tx\t"2"\t""""\tdegF\n',
)
QUADS = (
    b'<http://e/g> <%b> "3" .\n' % TIME.encode(),
    b"<http://e/x> <http://www.w3.org/1999/02/22-rdf-syntax-ns#type> <http://e/A> <http://e/g> .\n",
    b'<http://e/h> <%b> "2026-01-01T00:00:00Z" .\n' % TIME.encode(),
    b'<http://e/x> <http://e/v> "a"@en <http://e/h> .\n_:b <http://e/r> _:c <http://e/h> .\n',
)
TRIG = (
    b":g <%b> 3 . :g { :x a :A ; :v 5 }" % TIME.encode(),
    b':g <%b> "2026-01-01" . :g { :x a :A ; :r [ :v ( 1 2 ) ] } GRAPH :h { :y a :B } :h <%b> 3 .'
    % (TIME.encode(), TIME.encode()),
)


@cache
def _json_items(format: str) -> tuple[bytes, ...]:
    lines = [json.dumps({"stream": "s", "time": 1 + n, "graph": one}) for n, one in enumerate(graphs())]
    values = [1, {"@value": "x", "@language": "en"}]
    linked = {"@id": "http://e/x", "@type": "http://e/A", "http://e/v": values}
    record = {"id": "x", "v": 1e5, "w": None, "time": 3, "deep": {"a": [1, {"b": "c"}]}, "unit": "degF"}
    lines.append(json.dumps({"time": "2026-01-01T10:00:00+02:00", "graph": linked}))
    lines += [json.dumps(record), json.dumps({**record, "w": "2026-01-01"})] * 3
    if format == "json":
        return (*(line.encode() for line in lines), f"[{','.join(lines[:4])}]".encode())
    files = [path.read_bytes()[:4000] for path in sorted(EXAMPLES.rglob("*.jsonl"))]
    return (*files, *(line.encode() + b"\n" for line in lines), "\n".join(lines[:5]).encode())


def _serialized(turtle: bytes, format: str) -> bytes:
    quads = pyoxigraph.parse(turtle, SERIAL["turtle"], base_iri="http://e/")
    return pyoxigraph.serialize((quad.triple for quad in quads), format=SERIAL[format]) or b""


def _parquet() -> bytes:
    import io

    import pyarrow as pa
    import pyarrow.parquet as pq

    file = io.BytesIO()
    table = pa.table({"time": [1, 2], "graph": list(graphs()[:2]), "id": ["x", None], "v": [1.5, 2.0]})
    pq.write_table(table, file)
    return file.getvalue()


@cache
def mappings() -> tuple[Mapping | None, ...]:
    """How records may be read; the first is not at all."""
    template = "<http://e/{id}> a <http://e/A> ; <http://e/v> {v:double}, {w?} ."
    typed = "<http://e/{v}> <http://e/v> {v:integer}, {w?:iri} ."
    decimal = "<http://e/a> <http://e/v> {v:decimal} ."
    context = {"v": "http://e/v", "w": "http://e/w", "graph": "http://e/g"}
    settings: tuple[dict[str, object], ...] = (
        {"template": template, "units": {"v": "degF -> degC"}},
        {"template": "<http://e/x> <http://e/v> {v}, {w?:dateTime}, {deep.a?} .", "unit": "ns"},
        {"template": typed, "units": {"v": {"field": "unit", "to": "degC"}}},
        {"template": decimal, "time": "w", "time_format": "%Y-%m-%d", "zone": "+14:00"},
        {"context": context, "subject": "http://e/{id}"},
        {"context": {"@vocab": "http://e/"}, "time": "time", "unit": "ms"},
    )
    return (None, *(make_mapping(one, "m") for one in settings))


@cache
def configs() -> tuple[bytes, ...]:
    files = [path.read_bytes() for path in sorted(EXAMPLES.rglob("obep.toml"))]
    plain = "\n".join(line.removeprefix("# ") for line in (ROOT / "obep.toml").read_text("utf-8").split("\n"))
    own = (DATA / "obep.toml").read_bytes()
    return (*files, own, own, plain.encode())


def texts(name: str) -> Callable[[], tuple[bytes, ...]]:
    """A file of data/, whole."""
    return cache(lambda: ((DATA / name).read_bytes(),))


@cache
def shapes() -> tuple[bytes, ...]:
    """Shapes and rules: of all kinds, and without those in SPARQL, which items cannot be checked by."""
    whole = (DATA / "shapes.ttl").read_bytes()
    head, _, rest = whole.partition(b":S4 ")
    return whole, head + rest[rest.index(b":R1 ") :], head + b":S1 sh:property :S3 ."


def lines(name: str) -> Callable[[], tuple[bytes, ...]]:
    """The lines of a file of data/, and the whole file."""
    return cache(lambda: (*(DATA / name).read_bytes().splitlines(keepends=True), (DATA / name).read_bytes()))


CHANGES = (
    {"time": 1, "insert": ":x :p :k .", "delete": ":x :p :y . :y a :B ."},
    {
        "time": 2,
        "update": "PREFIX e: <http://e/> DELETE DATA { e:x e:p e:y } ; INSERT DATA { e:x e:v 5 . }",
    },
    {
        "time": "2026-11-19T00:00:00Z",
        "update": "BASE <http://e/> INSERT DATA { <k> <v> 1e5, 'a' ; a <A> } ;",
    },
    {"time": 3, "insert": ":n a :A ; :p [ :q ( :x 1 ) ] .", "id": "urn:a"},
    {"insert": "", "delete": ":none :p :x .", "stream": "m"},
    {"time": 4, "graph": ":x a :A ."},
)


@cache
def changes() -> tuple[bytes, ...]:
    """Changes of the static graph as JSON lines."""
    each = [json.dumps(one).encode() + b"\n" for one in CHANGES]
    return (*each, b"".join(each))
