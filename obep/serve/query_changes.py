"""The texts of a service's queries, and how they are put in place of each other, now and in a replay."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from obep.engine.query import Query
from obep.engine.replacing.replacement import Replacement
from obep.errors import Diagnostic, ObepError, fail
from obep.model import Item
from obep.run.outlets import refit
from obep.run.pipeline import Outlet, Run
from obep.serve.entries import Removed, Replaced
from obep.serve.kept_queries import KeptQueries
from obep.serve.project import Project
from obep.serve.query_set import QuerySet, merged_plan
from obep.serve.standing import RunningText


class QueryChanges:
    """Knows which text each query has, and what its file held when it began."""

    def __init__(self, project: Project, texts: dict[str, RunningText]) -> None:
        self._project = project
        self.texts = texts
        """The queries that run, or were deleted, by name."""
        self.kept = KeptQueries(project.state / "queries")
        self._current: set[str] = set()
        """The hashes of queries that are as their files say now."""

    def run_in(self, queries: QuerySet, run: Run) -> None:
        """The engines and the run that are changed."""
        self._queries, self._run = queries, run

    def recorded(self, name: str, text: str, hash: str) -> Query:
        """The query that a snapshot or an entry of the log is of, whatever its files say now."""
        problem = None
        try:
            query = self._project.load(text, name)
            self._current.add(query.hash)
            if hash in ("", query.hash):
                return query
        except ObepError as error:
            problem = error
        kept = self.kept.find(hash) if hash else None
        if kept is not None:
            return kept
        raise problem or fail(
            "OBEP558",
            f"{self._project.state} is of another ontology, static graph or included file than there is now",
            reason="A service continues with the old query, and this obep cannot read its copy.",
            remedy="put the old files back, or obep serve --state ANOTHER-FOLDER to begin anew",
        )

    def of_files(self) -> Iterator[tuple[Replaced | Removed, Query | None]]:
        """What was changed while no service ran, a query or a file that it reads, as changes to be made."""
        paths = self._project.paths
        of_files = {name for name, one in self.texts.items() if one.of_file and not one.gone}
        gone = sorted(of_files - set(paths))
        new = [name for name in paths if name not in self.texts]
        renamed = dict(zip(new, gone, strict=False))  # a file with another name is the same query
        for name in gone[len(new) :]:
            if len(self._queries) > 1:
                yield Removed(name=name), None
        without_file = [name for name in self._queries.queries if name not in (*paths, *renamed.values())]
        for name in (*paths, *without_file):
            of_file = self._project.file_text(name) if name in paths else ""
            known = self.texts.get(renamed.get(name, name), RunningText(""))
            changed = name in paths and of_file not in (known.of_file, known.text)
            if not changed and name not in renamed and (known.gone or known.hash in self._current):
                continue
            text = of_file if changed else known.text
            was = renamed.get(name, "")
            query, _ = self.prepare(name, text, was)
            yield Replaced(name=name, text=text, of_file=of_file, hash=query.hash, was=was), query

    def prepare(self, name: str, text: str, was: str = "") -> tuple[Query, tuple[Diagnostic, ...]]:
        """Compile a text as the query of a name; raises all that is wrong with it."""
        checked = self._project.check(text, name)
        if checked.query is None:
            raise ObepError(*checked.diagnostics)
        self._queries.require_apart(was or name, checked.query)
        self._refitted({**self._queries.queries, was or name: checked.query})
        return checked.query, checked.diagnostics

    def replacement(self, name: str, query: Query, text: str, warm: int | None) -> Replaced:
        """The change that runs a query which was prepared from its text."""
        of_file = self.texts[name].of_file if name in self.texts else ""
        return Replaced(name=name, text=text, of_file=of_file, warm=warm, hash=query.hash)

    def replace(self, change: Replaced, query: Query, history: list[Item] | None) -> dict[str, Any]:
        """Make a change; what it did."""
        name, before = change.name, change.was or change.name
        outlets = self._refitted({**self._queries.queries, before: query})
        done = self._queries.put(before, query, change.warm, history)
        if change.was:
            self._queries.rename(before, name)
            self.texts.pop(before, None)
        self.texts = {**self.texts, name: RunningText(change.text, change.of_file, query.hash)}
        return self._changed(outlets, done)

    def remove(self, change: Removed) -> dict[str, Any]:
        """Run a query no longer; what that did."""
        left = {name: query for name, query in self._queries.queries.items() if name != change.name}
        outlets = self._refitted(left or self._queries.queries)
        done = self._queries.remove(change.name)
        texts = {name: one for name, one in self.texts.items() if name != change.name}
        if change.name in self._project.paths:
            texts[change.name] = RunningText("", self.texts[change.name].of_file, gone=True)
        self.texts = texts
        return self._changed(outlets, done)

    def _refitted(self, queries: Mapping[str, Query]) -> dict[str, Outlet]:
        """The sinks as they take what other queries return; raises what does not fit."""
        order, plan = self._project.order(()), merged_plan(queries.values())
        targets = {target.key: target for target in order.targets}
        return {
            key: refit(outlet, targets[key], order, plan, self._run.notes, self._run.row_ids)
            for key, outlet in self._run.outlets.items()
        }

    def _changed(self, outlets: Mapping[str, Outlet], done: Replacement) -> dict[str, Any]:
        self._run.outlets, self._run.streams = outlets, frozenset(self._queries.streams)
        self._run.send(list(done.records))
        return {"replacement": done.to_json()}
