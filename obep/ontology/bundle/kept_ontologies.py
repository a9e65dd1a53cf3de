"""T of a large ontology, kept for the next start under a hash of its files.

In: the paths of VOCAB and the catalogue. Out: an `Ontology`. What is kept names each file that was read, also
the imported ones, with a digest of its bytes: a changed byte anywhere, another catalogue or another obep, and
the files are read again. A damaged file is as good as none, and nothing in it is trusted code.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from obep import __version__
from obep.config.catalogue import is_lenient
from obep.errors import ObepError
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.cache import content_hash, digest_of, seal, unseal
from obep.ontology.bundle.packed_axioms import UNREADABLE, pack_axioms, unpack_axioms
from obep.ontology.owl import load
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL, RDF, RDFS, XSD
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS
from obep.ontology.shacl.shacl_terms import has_shacl

LARGE = 1 << 17
"""Bytes from which on files of T are kept; smaller ones are read as soon."""
_MAGIC = b"obep-t4\n"
_OF_OWL = tuple(f"<{namespace}" for namespace in (OWL, RDF, RDFS, XSD))


class Ontology(NamedTuple):
    """T, and of each of its files what the rules about words of OWL look at."""

    axioms: Axioms
    words: Mapping[Path, list[Triple]]
    """The first use of each word in the namespaces of OWL, and what the file says such a word is."""
    shapes: str = ""
    """A name for the content of the files, where they have shapes of SHACL."""
    missing: Mapping[str, Path] = {}
    """The imports that were left out, each with the file that names it."""
    files: Mapping[Path, list[Triple]] | None = None
    """What was read, where nothing was kept."""
    read: Mapping[str, str] = {}
    """All files that were read, with digests of their bytes."""


class _Kept(msgspec.Struct, array_like=True):
    key: str
    files: list[tuple[str, str]]
    """All that was read, with its digests."""
    words: list[list[Triple]]
    shapes: str
    axioms: memoryview
    missing: dict[str, str]


def load_t(paths: Iterable[Path], catalogue: Mapping[str, Path], cache_dir: Path) -> Ontology:
    """T from its files and all that they import, or as it was kept."""
    roots = [path.resolve() for path in paths]
    key = _key(roots, catalogue)
    place = cache_dir / "ontologies" / f"{key}.t"
    known = _kept(place, key) if key else None
    if known is not None:
        return known
    read: dict[Path, tuple[int, str]] = {}
    missing: dict[str, Path] = {}
    files = load.ontology_files(roots, catalogue, read, missing)
    has_shapes = any(has_shacl(triples) for triples in files.values())
    shapes = content_hash(sorted(digest for _, digest in read.values())) if has_shapes else ""
    words = {path: _words(triples) for path, triples in files.items()}
    named = {str(path): digest for path, (_, digest) in read.items()}
    found = Ontology(load.axioms_in(files), words, shapes, missing, files, named)
    if key and sum(length for length, _ in read.values()) >= LARGE:
        kept = _Kept(
            key,
            list(named.items()),
            list(words.values()),
            shapes,
            memoryview(pack_axioms(found.axioms)),
            {iri: str(path) for iri, path in missing.items()},
        )
        seal(place, _MAGIC, (msgspec.msgpack.encode(kept),))
    return found


def _key(roots: list[Path], catalogue: Mapping[str, Path]) -> str:
    """A name for what T is made of; empty if some of it cannot be read."""
    try:
        code = sorted((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in _code())
        files = [(str(path), _digest(path)) for path in roots]
    except (OSError, ObepError):  # it is said when the file is read
        return ""
    names = sorted((iri, str(path)) for iri, path in catalogue.items())
    return content_hash((__version__, code, files, names, is_lenient(catalogue)))


def _code() -> Iterable[Path]:
    """The modules that make axioms of files: while they are worked on, the version stays."""
    return Path(load.__file__).parent.glob("*.py")


def _digest(path: Path) -> str:
    return digest_of(load.file_bytes(path))


def _kept(place: Path, key: str) -> Ontology | None:
    data = unseal(place, _MAGIC)
    if data is None:
        return None
    try:
        kept = msgspec.msgpack.decode(data, type=_Kept)
        if kept.key != key or any(_digest(Path(path)) != digest for path, digest in kept.files):
            return None
        words = {Path(path): some for (path, _), some in zip(kept.files, kept.words, strict=True)}
        missing = {iri: Path(path) for iri, path in kept.missing.items()}
        return Ontology(unpack_axioms(kept.axioms), words, kept.shapes, missing, None, dict(kept.files))
    except (OSError, ObepError, *UNREADABLE):
        return None


def _words(triples: Iterable[Triple]) -> list[Triple]:
    """The triples that show what a file uses of OWL: each word's first use as a property and as an object."""
    verbs: set[Term] = set()
    objects: set[Term] = set()
    found: list[Triple] = []
    for triple in triples:
        s, p, o = triple
        is_use = p not in verbs and p.startswith(_OF_OWL)
        if o.startswith(_OF_OWL) and o not in objects and p not in ANNOTATIONS:
            objects.add(o)
            is_use = True
        if is_use or (p == RDF_TYPE and s.startswith(_OF_OWL)):
            verbs.add(p)
            found.append(triple)
    return found
