"""A compiled query of a large ontology, kept on disk for the next start.

In: a linked query, its settings, and what compiling it has found. Out: the same bundle and diagnostics, as
long as every file that was read has the same bytes. The file is sealed with a digest and holds data only: a
damaged one, or one of another obep, is as good as none, and the query is compiled again.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

import msgspec

from obep import __version__
from obep.config.catalogue import is_lenient, looked_up, query_settings
from obep.errors import Diagnostic, ObepError
from obep.model import Term
from obep.ontology.bundle.cache import content_hash, digest_of, seal, unseal
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.packed_axioms import UNREADABLE
from obep.ontology.bundle.packed_rules import Files
from obep.ontology.bundle.packing import from_bytes, to_bytes
from obep.ontology.hermit.java import has_java
from obep.ontology.owl.load import file_bytes
from obep.ontology.shacl.read_shapes import MakePattern
from obep.query.link import Linked

LARGE = 1 << 17
"""Bytes of ontologies and static graphs from which on a query is kept; smaller ones are compiled as soon."""
MOST = 1 << 26
"""Bytes of a query that is kept; a larger one has a static graph that is kept by itself."""
_MAGIC = b"obep-q-4"


class Compiled(NamedTuple):
    """A query that was compiled without errors."""

    bundle: Bundle
    before: list[Diagnostic]
    """What was found before the units of mappings are checked, and after it."""
    after: list[Diagnostic]


class _Kept(msgspec.Struct, array_like=True):
    key: str
    files: dict[str, str]
    """All that was read, with its digests."""
    before: list[Diagnostic]
    after: list[Diagnostic]
    own: list[Diagnostic]
    looked_up: frozenset[Term]
    java: bool
    bundle: memoryview


class KeptBundles:
    """The kept form of one query with its settings."""

    def __init__(
        self, linked: Linked, catalogue: Mapping[str, Path], folder: Path, settings: Iterable[object]
    ) -> None:
        texts = [(file.name, file.language, file.text) for file in linked.files]
        named = sorted((name, str(path)) for name, path in linked.named.items())
        paths = [[str(path) for path in some] for some in (linked.vocab, linked.graphs)]
        files = sorted((iri, str(path)) for iri, path in catalogue.items())
        asked = (sorted(looked_up(catalogue)), repr(query_settings(catalogue)), is_lenient(catalogue))
        key = (
            __version__,
            _code(),
            has_java(),
            texts,
            str(linked.folder),
            paths,
            named,
            files,
            asked,
            *settings,
        )
        self.key = content_hash(key)
        self._linked, self._folder = linked, folder
        self._place = folder / "queries" / f"{self.key}.q"

    def read(self, files: Files, pattern: MakePattern) -> Compiled | None:
        """The query as it was kept, unless a file has changed since."""
        data = unseal(self._place, _MAGIC)
        if data is None:
            return None
        try:
            kept = msgspec.msgpack.decode(data, type=_Kept)
            if kept.key != self.key or digests(map(Path, kept.files)) != kept.files:
                return None
            bundle = from_bytes(kept.bundle, pattern, linked=self._linked, files=files)
        except (OSError, ObepError, *UNREADABLE):
            return None
        if not bundle.has_programs:
            return None
        bundle.looked_up, bundle.diagnostics, bundle.java = kept.looked_up, kept.own, kept.java
        return Compiled(bundle, kept.before, kept.after)

    def write(self, compiled: Compiled, read: Mapping[str, str]) -> None:
        """Keep a query, made of files with these digests.

        Not where plain items need the reasoner, nor where it gave up: next time it may do better.
        """
        bundle = compiled.bundle
        gave_up = bundle.java and any(one.code == "OBEP241" for one in bundle.diagnostics)
        if gave_up or not bundle.exact_for_most or digests(map(Path, read)) != read:
            return
        if not LARGE <= sum(os.path.getsize(path) for path in read) <= MOST:
            return
        kept = _Kept(
            self.key,
            dict(read),
            compiled.before,
            compiled.after,
            bundle.diagnostics,
            bundle.looked_up,
            bundle.java,
            memoryview(to_bytes(bundle, with_files=False)),
        )
        data = msgspec.msgpack.encode(kept)
        if len(data) <= MOST:
            seal(self._place, _MAGIC, (data,))


def digests(paths: Iterable[Path]) -> dict[str, str]:
    """A name for the content of each file; raises `ObepError` or `OSError` where one cannot be read."""
    return {str(path): digest_of(file_bytes(path)) for path in paths}


def _code() -> list[tuple[str, int, int]]:
    """The modules of obep: while they are worked on, the version stays."""
    found = []
    for folder, _, names in os.walk(Path(__file__).parents[2]):
        for name in names:
            if name.endswith(".py"):
                status = os.stat(os.path.join(folder, name))
                found.append((name, status.st_size, status.st_mtime_ns))
    return sorted(found)
