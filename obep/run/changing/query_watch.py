"""`obep run --watch`: another version of the query's files takes its place while it runs.

Comes in: the files of a query. Goes out: the query that they are now, once their content has changed. A wrong
one is reported and changes nothing; the next change of a file is looked at again. Of the files of FROM GRAPH
only what differs is changed, and all state stays; with a checkpoint, which is of one static graph, the query
is replaced.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from pathlib import Path

from obep.abstraction.matcher import Matcher
from obep.engine.knowledge.knowledge_changes import UPDATE, KnowledgeChanges
from obep.engine.knowledge.watched_graph import WatchedGraph
from obep.engine.query import Query
from obep.engine.replacing.replacement import Replacement
from obep.engine.runtime import Runtime
from obep.errors import ObepError, fail
from obep.formats.stream_reader import Notes
from obep.formats.timestamps import Style
from obep.model import DeadLetter, Item, Triple
from obep.run.outlets import outlet_of
from obep.run.pipeline import Outlet, Run
from obep.run.progress import Progress
from obep.run.run_notes import opened
from obep.run.run_spec import Order

EVERY_S = 1.0
"""Between two looks at the files."""
GRAPH, QUERY = "graph", "query"
"""What a change of files changes."""
Stamp = tuple[int, int]


class WatchedFiles:
    """Some files, and whether what stands in them has changed."""

    def __init__(self, paths: Iterable[Path]) -> None:
        self._digests: dict[Path, bytes] = {}
        self._stamps: dict[Path, Stamp | None] = {}
        self.follow(paths)

    def follow(self, paths: Iterable[Path]) -> None:
        """Watch these from now on; what is known of a file stays known."""
        paths = [*paths]
        self._stamps = {path: self._stamps[path] if path in self._stamps else _stamp(path) for path in paths}
        self._digests = {path: self._digests.get(path) or _digest(path) for path in paths}

    def changed(self) -> bool:
        """Whether a file has another content than at the last call; one with the same date is not read."""
        found = False
        for path, before in self._stamps.items():
            stamp = _stamp(path)
            if stamp == before:
                continue
            self._stamps[path] = stamp
            digest = _digest(path)
            found |= digest != self._digests[path]
            self._digests[path] = digest
        return found


class QueryWatch:
    """Looks at the files of a run's query between two turns, and replaces the query."""

    def __init__(
        self,
        order: Order,
        query: Query,
        notes: Notes,
        progress: Progress,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self._order, self._notes, self._progress, self._clock = order, notes, progress, clock
        self._files, self._graphs = WatchedFiles(()), WatchedFiles(())
        self._follow(query)
        self._looked = clock()

    def _follow(self, query: Query) -> None:
        self._files.follow(files_of(query))
        self._graphs.follow(query.linked.graphs)
        self._graph, self._query = WatchedGraph(query.linked.graphs), query

    def look(self, run: Run) -> None:
        """Replace the query of the run, if its files have changed and are right."""
        changed = self.changed()
        if changed == GRAPH and run.checkpoint is None:
            self._update(run)
        elif changed:
            try:
                query = self.checked()
                done = run.replace(query, self._outlets(run, query))
            except ObepError as error:
                self.refuse(error)
            else:
                self.replaced(query, done, self._notes.style)

    def changed(self) -> str:
        """What another content of the files changes: nothing, the static graph alone, or the query."""
        now = self._clock()
        if now - self._looked < EVERY_S:
            return ""
        self._looked = now
        graphs = self._graphs.changed()
        return QUERY if self._files.changed() else GRAPH if graphs else ""

    def checked(self) -> Query:
        """The query that the files are now; what is wrong with it is raised."""
        query = opened(self._order)
        self._require_sources(query)
        return query

    def refuse(self, error: ObepError) -> None:
        """Say why the query goes on as it is."""
        for one in error.diagnostics:
            self._progress.show(one)
        self._progress.say("the query was not replaced; the old one continues", ())

    def replaced(self, query: Query, done: Replacement, style: Style | None) -> None:
        """Say what was replaced, and watch the files of that query."""
        self._follow(query)
        self._progress.say("the query was replaced", done.lines(style), done.to_json())

    def _update(self, run: Run) -> None:
        """Change the static graph of the run by the triples that its files add and remove."""
        try:
            come, gone = self._graph.difference()
        except ObepError as error:
            self.refuse_graph(error)
            return
        try:
            require_change(self._query, come, gone, run.changes_of_graph())
        except ObepError as error:
            self._graph.take_back()
            self.refuse_graph(error)
            return
        run.update(come, gone)
        self.changed_graph(come, gone)

    def changed_graph(self, come: Sequence[Triple], gone: Sequence[Triple]) -> None:
        """Say how the static graph was changed."""
        changed = {"inserted": len(come), "deleted": len(gone)}
        self._progress.say(
            "the static graph was changed", [f"{n} {what}" for what, n in changed.items()], changed
        )

    def refuse_graph(self, error: ObepError) -> None:
        """Say why the static graph goes on as it is."""
        for one in error.diagnostics:
            self._progress.show(one)
        self._progress.say("the static graph was not changed; the old one is used", ())

    def _outlets(self, run: Run, query: Query) -> dict[str, Outlet]:
        """The sinks that are open, each as it writes what the new query returns."""
        return {
            target.key: outlet_of(
                target, self._order, query, self._notes, run.outlets[target.key].sink, run.row_ids
            )
            for target in self._order.targets
        }

    def _require_sources(self, query: Query) -> None:
        """Refuse a stream that no source of the run brings: sources are opened at the start."""
        names = {inlet.name for inlet in self._order.inlets}
        missing = [one for one in query.linked.streams if one not in names]
        if missing and "" not in names:  # records of a source without a name say their stream themselves
            raise fail(
                "OBEP872",
                f"the new query reads the stream {missing[0]}, which has no source in this run",
                reason="Sources are opened when a run starts.",
                remedy=f"start again with --source {missing[0]}=…",
            )


def files_of(query: Query) -> list[Path]:
    """The files that a query is made of, without those of the static graph."""
    linked = query.linked
    texts = (Path(file.name) for file in linked.files)
    return [*texts, *linked.vocab, *linked.named.values()]


def _stamp(path: Path) -> Stamp | None:
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_mtime_ns, found.st_size


def _digest(path: Path) -> bytes:
    try:
        return blake2b(path.read_bytes(), digest_size=16).digest()
    except OSError:  # an editor may just be writing it anew
        return b"missing"


def require_change(
    query: Query, come: Iterable[Triple], gone: Iterable[Triple], before: Iterable[Item] = ()
) -> None:
    """Refuse a change of the static graph that cannot be made while the query runs, after those before it."""
    changes = KnowledgeChanges(Matcher(query.bundle, query.asks.all), ())

    def made() -> Runtime:
        return Runtime(query.plan, changes.matcher)

    for item in (*before, Item(UPDATE, 0, tuple(come), removed=tuple(gone))):
        outcome, _ = changes.apply(item, made(), made)
    if isinstance(outcome, DeadLetter):
        raise fail(outcome.code, outcome.reason)
