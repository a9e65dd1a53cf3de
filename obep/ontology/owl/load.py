"""Ontology files and graphs: what is read, and from where.

In: paths. Out: `Axioms` (T), a `Graph` (K). Turtle, N-Triples, RDF/XML, JSON-LD and OWL/XML; `owl:imports`
are looked up in a catalogue, and nothing is ever fetched from the network.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from decimal import Decimal
from hashlib import blake2b, file_digest
from math import isinf, isnan
from os.path import relpath
from pathlib import Path

from obep.config.catalogue import is_lenient
from obep.errors import ObepError, fail, sentence
from obep.formats.input_limits import Limits, Refused, check_nesting
from obep.model import Term, Triple
from obep.ontology.bundle.cache import content_hash, digest_of
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL
from obep.ontology.owl.literals import literal
from obep.ontology.owl.rdf_nodes import Unreadable
from obep.ontology.owl.rdf_to_owl import axioms_of
from obep.ontology.owl.static_graph import Graph
from obep.ontology.owl.xml_limits import check_xml
from obep.ontology.shacl.shacl_terms import without_shacl

SUFFIXES = {
    ".ttl": "turtle",
    ".turtle": "turtle",
    ".n3": "turtle",
    ".nt": "ntriples",
    ".jsonld": "jsonld",
    ".json": "jsonld",
    ".rdf": "xml",
    ".owl": "xml",
    ".xml": "xml",
    ".owx": "xml",
}
"""The formats of ontologies and graphs, by the endings of their files."""
LARGE = 4 << 20
"""Bytes from which on a graph is read once and kept in a file that processes share."""
_IMPORTS = f"<{OWL}imports>"
_WEB = ("<http://", "<https://")
_BASE = "urn:obep:file"
"""A relative name in an ontology means the ontology's own place, which has no name here."""
_ROOT = "http://obep.invalid"
_PLACE = f"{_ROOT}{'/folder' * 9}/file"


def load_ontology(paths: Iterable[Path], catalogue: Mapping[str, Path] | None = None) -> Axioms:
    """T from its files and all that they import."""
    return axioms_in(ontology_files(paths, {} if catalogue is None else catalogue))


def axioms_in(files: Mapping[Path, list[Triple]]) -> Axioms:
    """T from the triples of its files."""
    try:
        every = dict.fromkeys(triple for triples in files.values() for triple in triples)
        return axioms_of(without_shacl(every))
    except Unreadable as error:
        raise _placed(error, files) from None


def _placed(error: Unreadable, files: Mapping[Path, list[Triple]]) -> ObepError:
    """The error with its file."""
    for path, triples in files.items():
        if any(error.node in (s, o) for s, _, o in triples):
            return error.placed(triples, str(path))
    return error


def load_graph(paths: Iterable[Path], cache_dir: Path | None = None) -> Graph:
    """K: the triples of its files, each once; large ones are read once, and kept below `cache_dir`."""
    files = list(paths)
    large = cache_dir is not None and size_of_files(files) >= LARGE
    key = content_hash([_named(path) for path in files]) if large else ""
    place = (cache_dir or Path()) / "graphs" / f"{key}.g"
    known = Graph.kept(place, key) if key else None
    if known is not None:
        return known
    triples: dict[Triple, None] = {}
    for path in files:
        triples.update(dict.fromkeys(read_rdf(path)))
    graph = Graph(triples)
    if key:
        del triples
        graph.keep(place, key)
        return Graph.kept(place, key) or graph
    return graph


def size_of_files(paths: Iterable[Path]) -> int:
    """How many bytes files have together."""
    return sum(map(_size, paths))


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0  # it is read, and the error reported, later


def _named(path: Path) -> tuple[str, str]:
    """A name for a file and its content."""
    with path.open("rb") as file:
        return str(path), file_digest(file, lambda: blake2b(digest_size=20)).hexdigest()


def read_rdf(path: Path) -> list[Triple]:
    """The triples of a file; blank nodes get labels of their own for each file."""
    return _triples(path, file_bytes(path))


def _triples(path: Path, data: bytes) -> list[Triple]:
    format = _format(path, data)
    if format.endswith("xml"):
        check_xml(data, path)
    elif format == "jsonld":
        _check_nesting(data, path)
    try:
        triples = _owl_xml(data, path) if format == "owlxml" else _parse(data, format)
    except ObepError:
        raise
    except Exception as error:  # each parser has exceptions of its own
        if "LoadDocumentCallback" in str(error):
            raise fail(
                "OBEP302",
                "the file cannot be read as RDF: its JSON-LD context is a link",
                file=str(path),
                reason="obep fetches nothing from the network.",
                remedy='write the context itself into the file: "@context": {…}',
            ) from None
        raise fail(
            "OBEP302",
            "the file cannot be read as RDF",
            file=str(path),
            reason=str(error),
            remedy="correct it there; if it has another format, change its extension (.ttl .nt .owl .jsonld)",
        ) from None
    prefix = blake2b(str(path).encode() + data, digest_size=5).hexdigest()
    names: dict[Term, Term] = {}

    def own(term: Term) -> Term:
        return names.setdefault(term, f"_:f{prefix}b{len(names)}") if term.startswith("_") else term

    return [(own(s), p, own(o)) for s, p, o in triples]


def _check_nesting(data: bytes, path: Path) -> None:
    """The parser of JSON-LD calls itself for each bracket, and takes time by the square of them."""
    try:
        check_nesting(data, Limits().nesting)
    except Refused as error:
        raise fail(
            "OBEP302",
            "the file is refused: it is nested too deeply",
            file=str(path),
            reason=sentence(error.reason),
            remedy="give inner nodes an @id each and write them beside each other, or save it as Turtle",
        ) from None


def _format(path: Path, data: bytes) -> str:
    format = SUFFIXES.get(path.suffix.lower()) or _sniff(data)
    if format == "xml":
        return "owlxml" if _is_owl_xml(data) else "rdfxml"
    return format


def file_bytes(path: Path) -> bytes:
    """The content of a file of RDF, without a byte order mark."""
    try:
        if path.exists() and not path.is_file():  # nothing may ever come out of a pipe, or no end of it
            kind = "a folder" if path.is_dir() else "a pipe, a device or the like"
            raise fail(
                "OBEP301", f"{path} cannot be read", reason=f"It is {kind}.", remedy="save it as a file"
            )
        return path.read_bytes().removeprefix(b"\xef\xbb\xbf")  # a byte order mark is no RDF
    except OSError as error:
        raise fail(
            "OBEP301",
            f"{path} cannot be read",
            reason=error.strerror or str(error),
            remedy=f"check the path and who may read it: ls -l {path}",
        ) from None


def ontology_files(
    paths: Iterable[Path],
    catalogue: Mapping[str, Path],
    read: dict[Path, tuple[int, str]] | None = None,
    missing: dict[str, Path] | None = None,
) -> dict[Path, list[Triple]]:
    """The triples of T's files, and of all that they import; `read` takes their lengths and digests.

    Imports that the catalogue lacks are errors, all of them at once; with a lenient catalogue `missing` takes
    them, each with the first file that imports it.
    """
    found: dict[Path, list[Triple]] = {}
    lacking: dict[str, Path] = {} if missing is None else missing
    waiting = list(paths)
    while waiting:
        path = waiting.pop(0).resolve()
        if path in found:
            continue
        data = file_bytes(path)
        found[path] = _triples(path, data)
        if read is not None:
            read[path] = len(data), digest_of(data)
        relative: dict[str, str] | None = None
        for _, p, o in found[path]:
            if p == _IMPORTS:
                imported, written = catalogue.get(o[1:-1]), o[1:-1]
                if imported is None and not o.startswith(_WEB):  # nothing relative to our base is that
                    relative = _as_written(path) if relative is None else relative
                    written = relative.get(written, written)
                    imported = catalogue.get(written)
                if imported is None:
                    lacking.setdefault(written, path)
                else:
                    waiting.append(imported)
    if lacking and not is_lenient(catalogue):
        raise _not_imported(lacking)
    return found


def _not_imported(missing: Mapping[str, Path]) -> ObepError:
    """The error about all imports that are missing, with the lines to write."""
    names = [f"<{iri}>" for iri in missing]
    which, more = f"{names[0]}, which is", ""
    if len(names) > 1:
        which, more = f"{len(names)} ontologies that are", f": {', '.join(names)}"
    lines = [f'"{iri}" = "a file of yours"' for iri in missing]
    lines[0] += "      # in obep.toml"
    return fail(
        "OBEP304",
        f"the ontology imports {which} not in the catalogue{more}",
        file=str(next(iter(missing.values()))),
        reason='obep fetches nothing from the network. missing_imports = "warn" under [ontology] leaves out '
        "imports that no event needs; obep ontology add NAME FILE copies a file and writes its line.",
        remedy="\n".join(("[ontology.catalogue]", *lines)),
    )


def _as_written(path: Path) -> dict[str, str]:
    """The relative imports of a file, as its author wrote them.

    Where the base is a path, one sees what was relative to it; `urn:obep:file` has no folders.
    """
    data = file_bytes(path)
    format = _format(path, data)
    if format == "owlxml":
        return {}
    plain, placed = (
        [o[1:-1] for _, p, o in _parse(data, format, base) if p == _IMPORTS] for base in (_BASE, _PLACE)
    )
    folder = _PLACE.rpartition("/")[0]
    return {
        one: relpath(other.removeprefix(_ROOT), folder.removeprefix(_ROOT))
        if other.startswith(f"{_ROOT}/folder/")
        else other.removeprefix(_ROOT)
        for one, other in zip(plain, placed, strict=True)
        if one != other
    }


def _parse(data: bytes, format: str, base: str = _BASE) -> list[Triple]:
    import pyoxigraph

    formats = {
        "turtle": pyoxigraph.RdfFormat.TURTLE,
        "ntriples": pyoxigraph.RdfFormat.N_TRIPLES,
        "jsonld": pyoxigraph.RdfFormat.JSON_LD,
        "rdfxml": pyoxigraph.RdfFormat.RDF_XML,
    }
    quads = pyoxigraph.parse(data, formats[format], base_iri=base, rename_blank_nodes=False)
    known: dict[Term, Term] = {}

    def one(node: object) -> Term:  # equal terms are one object: a large graph names each of them often
        term = str(node)
        return known.setdefault(term, term)

    return [(one(quad.subject), one(quad.predicate), one(quad.object)) for quad in quads]


def _sniff(data: bytes) -> str:
    head = data[:2000].lstrip()
    if head.startswith((b"<?xml", b"<rdf:RDF", b"<Ontology", b"<!DOCTYPE")):
        return "xml"
    return "jsonld" if head.startswith((b"{", b"[")) and b"@" in head else "turtle"


def _is_owl_xml(data: bytes) -> bool:
    return re.search(rb"<(?:\w+:)?Ontology\s[^>]*xmlns", data) is not None and b"<rdf:RDF" not in data


def _owl_xml(data: bytes, path: Path) -> list[Triple]:
    from io import BytesIO

    try:
        from owlready2 import owlxml_2_ntriples
    except ImportError:
        remedy = 'pip install "obep[java]", or save it as Turtle or RDF/XML'
        raise fail("OBEP551", "reading OWL/XML needs owlready2", file=str(path), remedy=remedy) from None

    triples: list[Triple] = []

    def node(name: str) -> Term:
        return name if name.startswith("_") else f"<{name}>"

    def on_object(s: str, p: str, o: str) -> None:
        triples.append((node(s), f"<{p}>", node(o)))

    def on_data(s: str, p: str, o: str | float, datatype: str) -> None:
        text = _number(o, datatype) if isinstance(o, float) else str(o)
        if datatype and datatype.startswith("@"):
            term = literal(text, language=datatype[1:])
        else:
            term = literal(text, f"<{datatype}>") if datatype else literal(text)
        triples.append((node(s), f"<{p}>", term))

    owlxml_2_ntriples.parse(BytesIO(data), on_object, on_data)
    return triples


def _number(number: float, datatype: str) -> str:
    """A number that owlready2 has read, as XML Schema writes it."""
    if isinf(number) or isnan(number):
        return "NaN" if isnan(number) else "INF" if number > 0 else "-INF"
    return repr(number) if datatype.endswith(("double", "float")) else format(Decimal(repr(number)), "f")
