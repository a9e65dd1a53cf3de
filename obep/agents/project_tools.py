"""The tools of `obep mcp` as functions: text in, text out. None writes a file or opens a connection."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from obep.agents.project_sample import FIRST, Budget, Project, Sample
from obep.agents.sample_records import inside, plain_records, too_much
from obep.engine.query import Query
from obep.errors import ObepError, count, fail
from obep.formats.likely_mapping import likely_settings, mapping_text, typical
from obep.formats.record_fields import Record
from obep.formats.tables.frame_items import frame_items
from obep.formats.tables.mapped_records import whole
from obep.model import DeadLetter, Item, Occurrence, local_name
from obep.query.ast import Language
from obep.query.languages import written_in

Records = Sequence[Record] | Mapping[str, Sequence[Record]] | None
Files = Mapping[str, str] | None
MOST_CHARACTERS = 40_000
"""Of an answer."""
MOST_FOUND = 20_000
MOST_ASKED = 5_000
"""Items that why_not runs over again and again."""
SHOWN = 5


def bounded(text: str) -> str:
    """A text that is no longer than an answer may be, cut at the end of a line."""
    if len(text) <= MOST_CHARACTERS:
        return text
    kept = text[:MOST_CHARACTERS].rpartition("\n")[0] or text[:MOST_CHARACTERS]
    return f"{kept}\n… {len(text) - len(kept):,} more characters are left out"


class Tools:
    """The tools of an agent for a project."""

    def __init__(self, project: Project, seconds: float = 60) -> None:
        self.project = project
        self.seconds = seconds

    def check(self, query: str = "", path: str = "", dialect: Language | None = None) -> str:
        """Everything that is wrong or odd about a query."""
        try:
            loaded = self.project.load(query, path, dialect, lints=True)
        except ObepError as error:
            if {one.code for one in error.diagnostics} & {"OBEP883", "OBEP884", "OBEP885"}:
                raise
            return "\n\n".join(map(str, error.diagnostics))
        linked = loaded.linked
        defined = [
            f"{len(linked.events)} events" if len(linked.events) != 1 else "1 event",
            *([count(len(linked.states), "state")] if linked.states else ()),
            count(len(loaded.warnings), "warning"),
        ]
        return "\n\n".join((f"no errors: {', '.join(defined)}", *map(str, loaded.warnings)))

    def explain(self, query: str = "", path: str = "", dialect: Language | None = None) -> str:
        """Strata, dependencies and patterns of a query."""
        return self.project.load(query, path, dialect).explain()

    def translate(self, query: str = "", path: str = "", dialect: Language | None = None) -> str:
        """A query of another language in OBEP."""
        from obep.query.parse.parser import parse, read_query
        from obep.run.questions.translation import translation

        text = self.project.text(query, path)
        if path:
            return translation(read_query(inside(path, self.project.folder), dialect))
        return translation(parse(text, language=dialect or written_in(text)))

    def run(
        self,
        query: str = "",
        path: str = "",
        records: Records = None,
        files: Files = None,
        most: int = 20,
        dialect: Language | None = None,
    ) -> str:
        """Run a query on a sample; return the results as JSON lines after a summary."""
        from obep.output.json_writer import to_line

        loaded = self.project.load(query, path, dialect)
        sample, found = self._found(loaded, path, records, files)
        lines = [*_summary(sample, found), *(to_line(hit, sample.notes.style) for hit in found[:most])]
        if len(found) > most:
            lines.append(f"… {len(found) - most:,} more")
        return "\n".join(lines)

    def why(
        self,
        id: str = "",
        query: str = "",
        path: str = "",
        records: Records = None,
        files: Files = None,
        output: str = "",
    ) -> str:
        """The tree of causes of what a run or a sample has found."""
        if output:
            from obep.output.stored_occurrences import tree

            return tree(id, [inside(output, self.project.folder)])
        sample, found = self._found(self.project.load(query, path), path, records, files)
        wanted = [hit for hit in found if id in hit.id or id == local_name(hit.event)]
        for hit in wanted:
            hit.style = sample.notes.style or ""
        if not wanted:
            there = "\n".join(_summary(sample, found))
            return f"nothing with the id or name {id!r} is found\n{there}"
        left = [f"… {len(wanted) - SHOWN:,} more"] if len(wanted) > SHOWN else []
        return "\n\n".join([hit.why() for hit in wanted[:SHOWN]] + left)

    def why_not(
        self, event: str, query: str = "", path: str = "", records: Records = None, files: Files = None
    ) -> str:
        """Explain why an event did not occur, or a state did not hold, in a sample."""
        from obep.run.questions.why_not_run import report, resolve, watch
        from obep.run.questions.why_not_state import report_state
        from obep.why_not.target import StateQuestion

        loaded = self.project.load(query, path)
        wanted = resolve(event, loaded)
        sample = self.project.sample(loaded, path, records, files, MOST_ASKED)
        lateness = self.project.lateness(path)
        seen = watch(loaded, sample.items, sample.notes.style, remember=None, lateness=lateness)
        seen.unread = sample.refused
        if isinstance(wanted, StateQuestion):
            return "\n".join(report_state(wanted, loaded, seen, lateness=lateness))
        return "\n".join(report(wanted, loaded, seen, lateness=lateness))

    def backtest(
        self,
        query: str = "",
        path: str = "",
        records: Records = None,
        files: Files = None,
        against: str = "",
        against_path: str = "",
    ) -> str:
        """Count how often a query fires in a history, and compare another version."""
        from obep.run.backtesting.backtest import backtest
        from obep.run.backtesting.backtest_pages import table

        loaded = self.project.load(query, path)
        loaded.require_returns()
        old = self.project.load(against, against_path) if against or against_path else None
        sample = self.project.sample(loaded, path, records, files)
        found = backtest(
            loaded,
            Budget(self.seconds).batches(sample.items),
            against=old,
            style=lambda: sample.notes.style,
            lateness=self.project.lateness(path),
        )
        return "\n".join((*_reading(sample), *table(found)))

    def propose_mapping(
        self, records: Sequence[Record] | None = None, file: str = "", stream: str = "", names: str = ""
    ) -> str:
        """A mapping for obep.toml, and the triples that it makes of the first records."""
        if not records and not file:
            raise fail("OBEP885", "there are no records", remedy="records: […], or file: a path")
        real = (
            plain_records(inside(file, self.project.folder), FIRST) if file else list(records or ())[:FIRST]
        )
        if not real:
            raise fail("OBEP885", f"{file or 'the sample'} has no records that are JSON objects or rows")
        settings = likely_settings(typical(real), names or "http://example.org/", optional=True)
        items = list(map(whole, frame_items(real, mapping=settings, stream=stream).items))
        lines = ["To be added to obep.toml (nothing is written):", "", mapping_text(settings, stream), ""]
        lines.append(f"It makes of the first {count(min(SHOWN, len(items)), 'record')}:")
        lines += map(_shown, items[:SHOWN])
        refused = sum(isinstance(one, DeadLetter) for one in items)
        if refused:
            lines.append(f"{refused} of {len(items)} records would be refused")
        return "\n".join(lines)

    def _found(
        self, query: Query, path: str, records: Records, files: Files
    ) -> tuple[Sample, list[Occurrence]]:
        query.require_returns()
        sample = self.project.sample(query, path, records, files)
        engine = query.engine(
            remember=0,
            lateness=self.project.lateness(path),
            on_dead_letter=sample.refused.append,
            now=lambda: 0,
        )
        found: list[Occurrence] = []
        for batch in Budget(self.seconds).batches(sample.items):
            found += engine.push_items(batch)
            if len(found) > MOST_FOUND:
                raise too_much(f"more than {MOST_FOUND:,} are found")
        return sample, [*found, *engine.close()]


def _summary(sample: Sample, found: Sequence[Occurrence]) -> list[str]:
    by_event = Counter(local_name(hit.event) for hit in found)
    said = ", ".join(f"{number} {name}" for name, number in by_event.most_common()) or "nothing"
    return [*_reading(sample), f"{count(len(sample.items), 'item')}; found: {said}"]


def _reading(sample: Sample) -> list[str]:
    """Describe how the records were read, and which were refused."""
    lines = [
        f"obep.toml has no mapping of these records; this one was guessed:\n{mapping_text(one, stream)}"
        for stream, one in sample.mappings.items()
    ]
    if sample.refused:
        lines.append(f"{count(len(sample.refused), 'record')} refused:")
        lines += [f"  {one.code} {one.reason}" for one in sample.refused[:SHOWN]]
    return lines


def _shown(one: Item | DeadLetter) -> str:
    if isinstance(one, DeadLetter):
        return f"  refused: {one.code} {one.reason}"
    from obep.formats.timestamps import show_instant

    triples = " ".join(f"{s} {p} {o} ." for s, p, o in one.triples)
    return f"  at {show_instant(one.at, 'iso')}: {triples}"
