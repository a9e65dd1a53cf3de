"""`obep run --watch` on Spark: another query goes on from the checkpoint, at the end of a micro-batch.

Comes in: the query that runs and the one that its files are now. Goes out: what keeps its state. That is
decided for each component, by the identity that the checkpoint has of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from obep.engine.query import Query
from obep.engine.replacing.meaning import meanings
from obep.engine.replacing.replace_query import named, resolved
from obep.engine.replacing.replacement import Changed, Replacement, difference
from obep.errors import ObepError
from obep.formats.timestamps import Style
from obep.model import Alert, Triple
from obep.output.form_texts import LINE, Found
from obep.output.json_writer import to_line
from obep.run.changing.query_watch import GRAPH, QueryWatch, require_change
from obep.spark.driver.manifest import Manifest
from obep.spark.driver.parquet import written_names
from obep.spark.stages.state_identity import what_changed

if TYPE_CHECKING:
    from obep.spark.driver.spark_run import SparkRun


class SparkWatch(QueryWatch):
    """Looks at the files of a run's query, and lets the run go on with another at its next boundary."""

    def look_at(self, run: SparkRun) -> None:
        """Check the query that the files are now."""
        changed = self.changed()
        if not changed:
            return
        refuse = self.refuse_graph if changed == GRAPH else self.refuse
        try:
            query = self.checked()
            run.require_fitting(query)
            if changed == GRAPH:
                require_change(run.query, *graph_difference(run.query, query))
        except ObepError as error:
            refuse(error)
        else:
            run.go_on_with(query, keeps_state=changed == GRAPH)

    def went_on(
        self, before: Query, query: Query, done: Replacement, style: Style | None, *, kept_state: bool
    ) -> None:
        """Say what has become of the query that ran."""
        if not kept_state:
            self.replaced(query, done, style)
            return
        self._follow(query)
        self.changed_graph(*graph_difference(before, query))


def graph_difference(before: Query, after: Query) -> tuple[list[Triple], list[Triple]]:
    """The triples that are new in the static graph of a query, and those that have gone."""
    old, new = frozenset(before.bundle.k.once()), frozenset(after.bundle.k.once())
    return sorted(new - old), sorted(old - new)


def replacement(
    before: Query, after: Query, old: Manifest, new: Manifest, watermark: int | None, firing: Iterable[Alert]
) -> Replacement:
    """What keeps its state, what begins, and what goes: what shares a component with something that changed
    begins anew."""
    found = difference(meanings(before), meanings(after))
    same = {name for name, one in new.components.items() if not _differs(old, name, one)}
    begins = {event for name in new.components if name not in same for event in name.split(" ")}
    digests = meanings(after)
    anew = [Changed(name, digests[name], digests[name]) for name in found.kept if name in begins]
    changed = (*found.changed, *anew)
    ended = {*found.gone, *(one.name for one in changed)}
    streams, others = before.linked.streams, after.linked.streams
    return Replacement(
        before=before.hash,
        after=after.hash,
        watermark=watermark,
        waiting=None,
        kept=named(name for name in found.kept if name not in begins),
        begun=named(found.begun),
        changed=tuple(one for one in changed if named((one.name,))),
        gone=named(found.gone),
        streams_added=tuple(one for one in others if one not in streams),
        streams_removed=tuple(one for one in streams if one not in others),
        resolved=tuple(resolved(one, watermark or 0) for one in firing if one.event in ended),
    )


def _differs(old: Manifest, name: str, now: dict[str, object]) -> bool:
    there = old.components.get(name)
    return there is None or bool(what_changed(there, now))


def parquet_columns(query: Query) -> tuple[str, ...]:
    """The columns of a folder of Parquet that the query is written to."""
    return written_names(bool(query.plan.alerting), "rows" in query.plan.returned.values())


def resolved_record(alert: Alert, style: Style | None) -> Found:
    """The record of an alert that a replacement resolves."""
    times = (alert.start, alert.end, alert.detected)
    return Found(
        alert.event.strip("<>"), alert.id, *times, {LINE: to_line(alert, style) + "\n"}, alert.status
    )
