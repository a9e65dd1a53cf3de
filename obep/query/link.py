"""A query with the files it includes: one table of events, in the order of definition.

Files are read only below the query's folder or one of the `allowed` ones; links are followed first.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from types import MappingProxyType
from urllib.parse import unquote

from obep.config.catalogue import query_settings
from obep.errors import Diagnostic, ObepError
from obep.query.ast import Event, GraphEvent, QueryFile, Return, Source, State, Window
from obep.query.languages import with_settings
from obep.query.linked_queries import LinkedQuery, link_queries, sources_of
from obep.query.matched_queries import declare_matches
from obep.query.parse.file_scope import Scope
from obep.query.parse.parser import read_query
from obep.query.recursion import earlier_parts
from obep.query.state_expansion import Moment
from obep.query.states_in_patterns import resolve_states


@dataclass(frozen=True)
class Linked:
    """A query file and all that it includes.

    Of an event or state that is defined twice the first definition counts; `check` reports the other.
    """

    file: QueryFile
    files: tuple[QueryFile, ...]
    """Included ones first, each once; the query itself is the last."""
    events: dict[str, Event]
    """Groups that stand in a MATCH are graph events of their own here."""
    states: dict[str, State]
    file_of: dict[str, QueryFile]
    """By the names of events and states."""
    vocab: tuple[Path, ...]
    graphs: tuple[Path, ...]
    named: Mapping[str, Path]
    """The static graphs of FROM NAMED, by their names as terms."""
    streams: tuple[str, ...]
    """The streams of FROM STREAM, and those of the windows."""
    windows: tuple[Window, ...]
    returns: tuple[Return, ...]
    folder: Path
    queries: Mapping[str, LinkedQuery] = field(default_factory=dict)
    models: frozenset[str] = frozenset()
    """The streams of FROM STREAM … AS GRAPH, whose items change K."""
    hidden: frozenset[str] = frozenset()
    """The events that only `state_expansion` has made."""
    moments: Mapping[str, Moment] = field(default_factory=dict)
    """The moments of states, by the hidden event that patterns read."""
    on_items: Mapping[str, GraphEvent] = field(default_factory=dict)
    """Graph events on items, by the hidden event that is looked for."""
    expanded: bool = False
    needs: Mapping[str, set[str]] = field(default_factory=dict)
    """For each state, and each event with WHILE or UNLESS, what must be decided before it."""

    @property
    def window_names(self) -> frozenset[str]:
        """The names that ON may use beside streams."""
        return frozenset(window.name for window in self.windows)

    @cached_property
    def earlier(self) -> Mapping[str, frozenset[str]]:
        """For each event that is built on itself the events of that cycle that it reads from before (D40)."""
        return earlier_parts(self)


def link(
    file: QueryFile,
    folder: Path | None = None,
    *,
    allowed: tuple[Path, ...] = (),
    catalogue: Mapping[str, Path] | None = None,
) -> Linked:
    """Read the INCLUDEs of a query. RETURNs of included files are theirs, not the query's.

    `catalogue` has the files of graphs that FROM names by IRIs of the web; that of an obep.toml has the
    settings of `[query]`, too.
    """
    home = (folder or Path()).resolve()
    file = with_settings(file, query_settings(catalogue))
    reader = _Reader((home, *(path.resolve() for path in allowed)), catalogue or {})
    reader.read(file, home)
    if reader.problems:
        raise ObepError(*reader.problems)
    return assemble(
        reader.files,
        home,
        vocab=tuple(dict.fromkeys(reader.paths["vocab"])),
        graphs=tuple(dict.fromkeys(reader.paths["graph"])),
        named=reader.named,
    )


def assemble(
    files: Sequence[QueryFile],
    folder: Path,
    *,
    vocab: tuple[Path, ...] = (),
    graphs: tuple[Path, ...] = (),
    named: Mapping[str, Path] = MappingProxyType({}),
) -> Linked:
    """One query of files that have been read, included ones first.

    What its names mean is known now: a leaf that names a state is an episode of it, a group in a MATCH is a
    leaf of a graph event, a RETURN of states returns alerts.
    """
    files = resolve_states(declare_matches(files))
    events: dict[str, Event] = {}
    states: dict[str, State] = {}
    file_of: dict[str, QueryFile] = {}
    for one in files:
        for event in one.events:
            if event.name.iri not in file_of:
                events[event.name.iri] = event
                file_of[event.name.iri] = one
        for state in one.states:
            if state.name.iri not in file_of:
                states[state.name.iri] = state
                file_of[state.name.iri] = one
    windows = tuple(window for one in files for window in one.windows)
    sources = [source for one in files for source in one.sources]
    streams = [source.iri for source in sources if source.kind in ("stream", "model")]
    queries = link_queries(files)
    answers = {query.name for query in queries.values()}
    own = [window for query in queries.values() for window in query.windows]
    streams += [one.stream for one in (*windows, *own) if one.event is None and one.stream not in answers]
    return Linked(
        file=files[-1],
        files=tuple(files),
        events=events,
        states=states,
        file_of=file_of,
        vocab=vocab,
        graphs=graphs,
        named=named,
        streams=tuple(dict.fromkeys(streams)),
        windows=windows,
        returns=files[-1].returns,
        folder=folder,
        queries=queries,
        models=frozenset(source.iri for source in sources if source.kind == "model"),
    )


_Open = tuple[Path, QueryFile, Path, Iterator[Source]]
"""A file that is being read: its path, itself, the folder of its paths, what is left of its sources."""


class _Reader:
    """Reads INCLUDEs depth first, without recursion; a file that is still open closes a cycle."""

    def __init__(self, roots: tuple[Path, ...], catalogue: Mapping[str, Path]) -> None:
        self.roots = roots
        self.catalogue = catalogue
        self.files: list[QueryFile] = []
        self.paths: dict[str, list[Path]] = {"vocab": [], "graph": []}
        self.named: dict[str, Path] = {}
        self.problems: list[Diagnostic] = []

    def read(self, file: QueryFile, home: Path) -> None:
        start = _own_path(file, home)
        open_files = {start: file}
        done: set[Path] = set()
        stack: list[_Open] = [(start, file, home, iter(sources_of(file)))]
        while stack:
            path, current, folder, rest = stack[-1]
            source = next(rest, None)
            if source is None:
                stack.pop()
                del open_files[path]
                done.add(path)
                self.files.append(current)
                continue
            if source.kind in ("stream", "model"):
                continue
            target = self._locate(source, current, folder)
            if target is None:
                continue
            if source.kind == "named":
                self.named.setdefault(f"<{source.iri}>", target)
            elif source.kind != "include":
                self.paths[source.kind].append(target)
            elif target in open_files:
                self._report_cycle(source, current, [*open_files], target)
            elif target not in done:
                included = self._read_included(source, current, target)
                if included is not None:
                    open_files[target] = included
                    stack.append((target, included, target.parent, iter(sources_of(included))))

    def _locate(self, source: Source, file: QueryFile, folder: Path) -> Path | None:
        """The path that a clause names; links are followed before it is compared with the folders."""
        if source.kind in ("graph", "named", "vocab") and source.iri in self.catalogue:
            return self.catalogue[source.iri]
        written = source.iri.removeprefix("file://") if source.iri.startswith("file:///") else source.iri
        if "://" in written or written.startswith("urn:"):
            self._report(
                "OBEP031", source, file, f"<{source.iri}> is not a file",
                "Nothing is fetched from the web: the same query must mean the same tomorrow.",
                "download it beside the query, or name it in the catalogue of obep.toml and import it there",
            )  # fmt: skip
            return None
        try:
            target = (folder / written).resolve()
            if not target.exists() and "%" in written:
                target = (folder / unquote(written)).resolve()
            inside = any(target.is_relative_to(root) for root in self.roots)
            exists, is_folder = target.exists(), target.is_dir()
        except (OSError, ValueError, RuntimeError):
            self._report(
                "OBEP031",
                source,
                file,
                f"<{source.iri}> is not a readable path",
                "",
                "check its spelling",
            )
            return None
        if not inside:
            self._report(
                "OBEP505", source, file, f"<{source.iri}> lies outside the query's folder",
                f"Files are read only below {' and '.join(str(root) for root in self.roots)}.",
                "copy it there, or allow its folder: --allow-path DIR",
            )  # fmt: skip
            return None
        if is_folder:
            self._report(
                "OBEP031", source, file, f"<{source.iri}> is a folder, not a file",
                "VOCAB, FROM GRAPH and INCLUDE name one file each.",
                f"<{source.iri.rstrip('/')}/…>, the file in it that you mean",
            )  # fmt: skip
            return None
        if exists and not target.is_file():  # nothing may ever come out of a pipe, or no end of it
            what = f"<{source.iri}> is a pipe, a device or the like, not a file"
            self._report("OBEP031", source, file, what, "", "save its output as a file")
            return None
        if not exists:
            self._report(
                "OBEP031", source, file, f"there is no file <{source.iri}>",
                f"Paths are relative to the file that names them, here {folder}.", _similar(target),
            )  # fmt: skip
            return None
        return target

    def _read_included(self, source: Source, file: QueryFile, target: Path) -> QueryFile | None:
        try:
            return read_query(target)
        except ObepError as error:
            if all(one.span is None for one in error.diagnostics):
                reason = error.diagnostics[0].message
                self._report("OBEP031", source, file, f"<{source.iri}> cannot be read", reason, "")
            else:
                self.problems.extend(error.diagnostics)
            return None

    def _report_cycle(self, source: Source, file: QueryFile, path: list[Path], target: Path) -> None:
        names = [one.name for one in [*path[path.index(target) :], target]]
        itself = len(names) == 2
        self._report(
            "OBEP034", source, file,
            f"{file.name} includes itself" if itself else "the files include each other",
            " → ".join(names) + ".",
            "remove this INCLUDE" if itself else "move the common definitions into a third file",
        )  # fmt: skip

    def _report(
        self, code: str, source: Source, file: QueryFile, message: str, reason: str, remedy: str
    ) -> None:
        scope = Scope(file.text, file.name)
        self.problems.append(scope.diagnostic(code, message, source.span, reason=reason, remedy=remedy))


def _own_path(file: QueryFile, home: Path) -> Path:
    """Where the query itself lies, so that an INCLUDE of itself is seen. A text has no such place."""
    for candidate in (Path(file.name), home / Path(file.name).name):
        try:
            if candidate.is_file():
                return candidate.resolve()
        except (OSError, ValueError):
            continue
    return home / "<query>"


def _similar(target: Path) -> str:
    from obep.query.nearest_name import nearest

    try:
        close = nearest(target.name, sorted(path.name for path in target.parent.iterdir()))
    except OSError:
        return "check its spelling"
    return f"<{close}>" if close else "check its spelling"
