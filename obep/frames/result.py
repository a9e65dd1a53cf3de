"""The result of `obep.detect`: tables of occurrences, alerts, states, rows and dead letters."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence, Sized
from dataclasses import dataclass, field
from html import escape
from typing import TYPE_CHECKING, Any, Generic, TypeVar, overload

from obep.engine.states.held_states import Held
from obep.errors import Diagnostic, count, printable
from obep.frames.typed_columns import Column, Structs, of_terms, to_arrow, to_pandas, to_polars
from obep.model import Alert, Answer, DeadLetter, Occurrence, Term, local_name
from obep.output.json_writer import iri, parts_of
from obep.output.row_writer import Row, rows_of
from obep.query.ast import ConstructQuery

if TYPE_CHECKING:
    import pandas
    import polars
    import pyarrow

    from obep.engine.engine import Engine
    from obep.frames.result_picture import Mark
    from obep.why_not.report import WhyNot

One = TypeVar("One", Occurrence, Alert, Held, Row, DeadLetter)
CAUSE = Structs(
    (
        ("event", "text"),
        ("alias", "text"),
        ("individual", "text"),
        ("start", "time"),
        ("end", "time"),
        ("assertions", Structs(())),
    )
)


LOOKED_AT = 1000
"""Records whose columns a table names when it is printed."""


class Table(Generic[One]):
    """Records of one kind, in the order in which they came; as columns in any kind of frame.

    >>> table = Table([DeadLetter("doors", 3000000, "OBEP601", "there is no field graph")], letter_columns)
    >>> len(table), table[0].code, [column.name for column in table.columns()]
    (1, 'OBEP601', ['stream', 'at', 'code', 'reason', 'raw', 'line'])
    """

    def __init__(self, records: Sequence[One], columns: Any) -> None:
        self._records: Sequence[One] = records
        self._columns = columns

    def __len__(self) -> int:
        return len(self._records)

    def __iter__(self) -> Iterator[One]:
        return iter(self._records)

    @overload
    def __getitem__(self, place: int) -> One: ...

    @overload
    def __getitem__(self, place: slice) -> Table[One]: ...

    def __getitem__(self, place: int | slice) -> One | Table[One]:
        if isinstance(place, slice):
            return Table(self._records[place], self._columns)
        return self._records[place]

    def __repr__(self) -> str:
        names = ", ".join(column.name for column in self[:LOOKED_AT].columns())
        return f"<Table of {len(self)}: {names}>"

    def _repr_html_(self) -> str:
        return self._html("")

    def _html(self, style: str) -> str:
        """The first rows, with their instants in a style."""
        from obep.frames.result_picture import SHOWN, table_html

        return table_html(self[:SHOWN].columns(), len(self), style) if self._records else escape(repr(self))

    def columns(self) -> list[Column]:
        """The columns with their types."""
        made: list[Column] = self._columns(self._records)
        return made

    def to_arrow(self) -> pyarrow.Table:
        """An Arrow table; instants are `timestamp[us, UTC]`, causes and bindings lists of structs."""
        return to_arrow(self.columns())

    def to_pandas(self) -> pandas.DataFrame:
        """A frame of pandas."""
        return to_pandas(self.columns())

    def to_polars(self) -> polars.DataFrame:
        """A frame of polars."""
        return to_polars(self.columns())

    def __arrow_c_stream__(self, requested_schema: object = None) -> object:
        return self.to_arrow().__arrow_c_stream__(requested_schema)


@dataclass(eq=False)
class Result:
    """What a query finds in a frame.

    `mapping` are the settings by which the records became RDF: those that were given, or those that obep made
    of the columns. They can be written to obep.toml.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT Hot AS (celsius some number[> 30])\\nRETURN Hot")
    >>> rows = [{"t": 1, "room": "a", "celsius": 31.5}, {"t": 2}]
    >>> found = obep.detect(query, rows, time="t", subject="room")
    >>> len(found.occurrences), len(found.dead_letters), found.mapping["template"]
    (1, 1, ':{room} :celsius {celsius?} .')
    """

    engine: Engine
    """The engine after all records."""
    found: list[Occurrence]
    """All of it in the order of detection."""
    occurrences: Table[Occurrence]
    """The events that are returned."""
    alerts: Table[Alert]
    """States that are returned: a record when one begins to hold, and one when it does not any more."""
    states: Table[Held]
    """The episodes of all states."""
    rows: Table[Row]
    """Solutions of events that are returned AS ROWS, and of queries in other languages."""
    dead_letters: Table[DeadLetter]
    """Records that were refused, and why."""
    mapping: dict[str, Any] = field(default_factory=dict)
    """The settings of the mapping."""
    findings: list[Diagnostic] = field(default_factory=list)
    """Where nothing was found: the warnings of `obep run` about the records, which may say why."""

    @property
    def counters(self) -> dict[str, int]:
        """The numbers of items, occurrences and dead letters."""
        return dict(self.engine.counters)

    def why_not(self, event: str) -> WhyNot:
        """Explain why an event was not found; see `Engine.why_not`."""
        return self.engine.why_not(event)

    def plot(self, ax: Any = None) -> Any:
        """Occurrences and episodes on a time line of matplotlib; gives the axes."""
        from obep.frames.result_picture import plot_marks

        return plot_marks(self._marks(), ax)

    def _marks(self) -> list[Mark]:
        from obep.frames.result_picture import marks_of

        alerting = set(self.engine.query.plan.alerting)
        hits = [hit for hit in self.found if hit.event not in alerting]
        until = self.engine.clock.watermark or max([hit.end for hit in self.found], default=0)
        return marks_of(hits, list(self.states), until)

    def _repr_html_(self) -> str:
        from obep.frames.result_picture import time_line

        style = next((hit.style for hit in self.found), "")
        tables = (self.occurrences, self.alerts, self.states, self.rows, self.dead_letters)
        shown = "".join(one._html(style) for one in tables if len(one))
        return f"<div>{escape(printable(repr(self)))}</div>{time_line(self._marks(), style)}{shown}"

    def __repr__(self) -> str:
        kinds: dict[str, Sized] = {
            "occurrence": self.occurrences,
            "alert": self.alerts,
            "episode": self.states,
            "row": self.rows,
        }
        parts = [count(len(table), name) for name, table in kinds.items() if len(table)]
        text = f"<Result: {', '.join(parts) or 'nothing'} in {count(self.counters['items'], 'record')}"
        if self.dead_letters:
            [(code, _)] = Counter(letter.code for letter in self.dead_letters).most_common(1)
            first = next(letter for letter in self.dead_letters if letter.code == code)
            text += f"; {len(self.dead_letters)} refused ({code}: {first.reason})"
        if self.findings:
            text += f"; {self.findings[0].code}: {self.findings[0].message}"
        return f"{text}>"


def make_result(
    engine: Engine,
    found: list[Occurrence],
    held: Sequence[Held],
    letters: Sequence[DeadLetter],
    mapping: dict[str, Any],
) -> Result:
    """Sorts what an engine found into tables; the query alone says which columns of parameters they have."""
    plan, linked = engine.query.plan, engine.query.linked
    parameters = {one.event: one.parameters for one in plan.events}
    of_states = {one.state: one.parameters for one in plan.states}
    alerts = [hit for hit in found if isinstance(hit, Alert)]
    as_rows = [hit for hit in found if isinstance(hit, Answer) or plan.returned.get(hit.event) == "rows"]
    apart = {id(hit) for hit in (*alerts, *as_rows)}
    others = [hit for hit in found if id(hit) not in apart]
    in_rows = [event for event, form in plan.returned.items() if form == "rows"]
    of_events = _names(parameters, (event for event in plan.returned if event not in in_rows))
    answered = (one for one in linked.queries.values() if not isinstance(one.register.form, ConstructQuery))
    columns = (name for query in answered for name in query.columns)
    variables = list(dict.fromkeys((*_names(parameters, in_rows), *columns)))
    return Result(
        engine,
        found,
        Table(others, lambda hits: occurrence_columns(hits, of_events)),
        Table(alerts, lambda hits: alert_columns(hits, _names(of_states, plan.alerting))),
        Table(held, lambda episodes: held_columns(episodes, _names(of_states, linked.states))),
        Table([row for hit in as_rows for row in rows_of(hit)], lambda rows: row_columns(rows, variables)),
        Table(letters, letter_columns),
        mapping,
    )


def occurrence_columns(hits: Sequence[Occurrence], names: Collection[str]) -> list[Column]:
    """Events with their instants, what they are about, and why."""
    own = [None if hit.individual in ("", f"<{hit.id}>") else hit.individual for hit in hits]
    fixed = [
        Column("event", "text", [iri(hit.event) for hit in hits]),
        Column("id", "text", [hit.id for hit in hits]),
        Column("start", "time", [hit.start for hit in hits]),
        Column("end", "time", [hit.end for hit in hits]),
        Column("detected", "time", [hit.detected for hit in hits]),
        of_terms("individual", own),
    ]
    rest = [
        _bindings([hit.bindings for hit in hits], names),
        Column("because", CAUSE, [_because(hit) for hit in hits]),
    ]
    rest.append(Column("bounded", "flag", [hit.bounded for hit in hits]))
    values = {name: [_only(hit.bindings, name) for hit in hits] for name in names}
    return [*fixed, *_named(values, (*fixed, *rest)), *rest]


def alert_columns(alerts: Sequence[Alert], names: Collection[str]) -> list[Column]:
    """Alerts: a row when one fires, and one with the same id when it is resolved."""
    fixed = [
        Column("alert", "text", [iri(one.event) for one in alerts]),
        Column("id", "text", [one.id for one in alerts]),
        Column("status", "text", [one.status for one in alerts]),
        Column("since", "time", [one.start for one in alerts]),
        Column("at", "time", [one.start + one.lasting for one in alerts]),
        Column("until", "time", [one.until for one in alerts]),
        Column("ended", "text", [one.ended or None for one in alerts]),
    ]
    rest = [
        _bindings([one.bindings for one in alerts], names),
        Column("because", CAUSE, [_because(one) for one in alerts]),
    ]
    values = {name: [one.labels.get(name) for one in alerts] for name in names}
    return [*fixed, *_named(values, (*fixed, *rest)), *rest]


def held_columns(episodes: Sequence[Held], names: Collection[str]) -> list[Column]:
    """Episodes of states; one that still holds at the end has no end."""
    fixed = [
        Column("state", "text", [iri(one.state) for one in episodes]),
        Column("start", "time", [one.since for one in episodes]),
        Column("end", "time", [one.until for one in episodes]),
    ]
    rest = [_bindings([one.bindings for one in episodes], names)]
    values = {name: [one.parameters.get(name) for one in episodes] for name in names}
    return [*fixed, *_named(values, (*fixed, *rest)), *rest]


def row_columns(rows: Sequence[Row], variables: Iterable[str]) -> list[Column]:
    """Rows of queries, with a column for each variable: those that are known, and those that rows have."""
    fixed = [
        Column("query", "text", [row.query for row in rows]),
        Column("at", "time", [row.at for row in rows]),
        Column("start", "time", [row.start for row in rows]),
        Column("end", "time", [row.end for row in rows]),
        Column("op", "text", [row.op or None for row in rows]),
    ]
    names = dict.fromkeys((*variables, *(name for row in rows for name in row.row)))
    return [*fixed, *_named({name: [row.row.get(name) for row in rows] for name in names}, fixed)]


def letter_columns(letters: Sequence[DeadLetter]) -> list[Column]:
    """Records that took part in nothing, and why."""
    return [
        Column("stream", "text", [one.stream for one in letters]),
        Column("at", "time", [one.at for one in letters]),
        Column("code", "text", [one.code for one in letters]),
        Column("reason", "text", [one.reason for one in letters]),
        Column("raw", "text", [one.raw for one in letters]),
        Column("line", "integer", [one.line or None for one in letters]),
    ]


def _names(parameters: Mapping[Term, Sequence[str]], of: Iterable[Term]) -> list[str]:
    """The parameters of events or states, each once."""
    return list(dict.fromkeys(name for one in of for name in parameters.get(one, ())))


def _named(values: Mapping[str, Sequence[Term | None]], others: Iterable[Column]) -> list[Column]:
    """Columns of variables; one that is called like another column is written with its question mark."""
    taken = {column.name for column in others}
    return [of_terms(f"?{name}" if name in taken else name, terms) for name, terms in values.items()]


def _only(bindings: Sequence[Mapping[str, Term]], name: str) -> Term | None:
    """The value of a variable that is the same in all solutions."""
    values = {row.get(name) for row in bindings}
    return values.pop() if len(values) == 1 else None


def _bindings(bindings: Sequence[Sequence[Mapping[str, Term]]], parameters: Iterable[str]) -> Column:
    """The solutions; their fields are the parameters, also where there is no solution, and all others."""
    names = sorted({*parameters, *(name for rows in bindings for row in rows for name in row)})
    kind = Structs(tuple((name, "text") for name in names))
    values = [[{name: row.get(name) for name in names} for row in rows if names] for rows in bindings]
    return Column("bindings", kind, values)


def _because(hit: Occurrence) -> list[dict[str, Any]]:
    parts = parts_of(hit)
    causes = [(part.alias, part.occurrence) for part in parts] or [(local_name(hit.event), hit)]
    return [
        {
            "event": iri(one.event),
            "alias": alias,
            "individual": iri(one.individual),
            "start": one.start,
            "end": one.end,
            "assertions": [f"{s} {p} {o} ." for (s, p, o), _ in one.explanation],
        }
        for alias, one in causes
    ]
