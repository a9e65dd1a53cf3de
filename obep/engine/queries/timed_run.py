"""Queries and rules over timed triples while they run (EP-SPARQL; DIALECTS 3, 4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

from obep.abstraction.item_news import ItemNews
from obep.algebra.timed.shaped_triples import ShapedTriples
from obep.algebra.timed.timed_program import TimedAnswer, TimedProgram
from obep.engine.event_run import EventRun
from obep.engine.queries.query_dataset import QueryDataset
from obep.engine.queries.query_window import QueryWindow
from obep.formats.input_limits import Refused
from obep.model import Answer, DeadLetter, Item, Occurrence, Term, Triple, id_digest, id_prefix
from obep.ontology.bundle.following_names import following
from obep.operators.candidates import Take
from obep.operators.state_values import Pack, Unpack
from obep.plan.plan import EventPlan
from obep.plan.state_plan import RowShare
from obep.query import ast
from obep.query.linked_queries import LinkedQuery


class TimedRun(EventRun):
    """All statements over timed triples: they share one store of triples, and rules feed them all."""

    wants_items = True

    def __init__(
        self,
        queries: Sequence[LinkedQuery],
        dataset: QueryDataset,
        matcher: Any,
        readers: Mapping[Term, Sequence[QueryWindow]],
        shares: Mapping[Term, RowShare],
    ) -> None:
        """`readers`: the windows that hold the answers of each; rules of EP-SPARQL feed their own stream.
        `shares`: the rows that are given here, if not all."""
        name = f"TIMED {queries[0].iri}"
        self.plan = EventPlan(name, name, 0)
        self._queries, self._readers, self._shares = queries, readers, shares
        self._frames = {one.stream: one for one in queries[0].windows}
        self._matcher = matcher
        statements = [(query.iri, query.timed_form) for query in queries]
        self._program = TimedProgram(
            statements,
            dataset,
            self._follow,
            lambda triple: self._news.closed([triple]),
            feeds=queries[0].language != "csparql",
            reach=queries[0].reach,
            policy=cast(ast.Policy, queries[0].settings.get("policy", "unrestricted")),
        )
        self._news = ItemNews(matcher, self._program.asked)

    @property
    def heads(self) -> Iterable[Term]:
        return [query.iri for query in self._queries]

    def routes(self) -> Iterator[tuple[Term, Take]]:
        yield from ()

    def close(self, at: int, items: Sequence[Item]) -> Sequence[Occurrence]:
        items = [item for item in items if self._reads(item)]
        if not items:
            return ()
        triples = self._new(items)
        try:
            found = self._program.take(at, triples, lambda one: self._refuse(at, one.code, one.reason))
        except Refused as refused:
            self._refuse(at, refused.code, refused.reason)
            return ()
        answers = [answer for one in found for answer in _answers(one, at, self._shares.get(one.statement))]
        for answer in answers:
            for window in self._readers[answer.event] if answer.constructed else ():
                window.answer(Item(window.window.stream, at, answer.constructed))
        return answers

    def _new(self, items: Sequence[Item]) -> Mapping[Triple, int] | ShapedTriples:
        """What the items of an instant say and add to K (D14), each triple with its lead."""
        admit, triples = self._matcher.statements.admit, dict[Triple, int]()
        for item in items:
            if not isinstance(admitted := admit(item), Item):
                continue
            lead = self._lead(item.stream)
            new = self._news.of(admitted.triples, lead)
            if isinstance(new, ShapedTriples):
                if len(items) == 1:
                    return new
                new = new.triples()
            for triple in new:
                triples[triple] = min(lead, triples.get(triple, lead))
        return triples

    def _lead(self, stream: str) -> int:
        """How much less than the longest RANGE that of a stream is."""
        reach, frame = self._queries[0].reach, self._frames.get(stream)
        return 0 if reach is None or frame is None or frame.range is None else reach - frame.range.micros

    def _reads(self, item: Item) -> bool:
        """Whether an item is in one of its streams: all are, unless FROM STREAM names some."""
        if not self._frames:
            return True
        frame = self._frames.get(item.stream)
        return frame is not None and (
            (frame.start is None or frame.start <= item.at) and (frame.end is None or item.at <= frame.end)
        )

    def _follow(self, name: Term) -> set[Term]:
        return following(self._matcher.bundle, {name}, alone=False)

    def _refuse(self, at: int, code: str, reason: str) -> None:
        if self.on_dead_letter is not None:
            self.on_dead_letter(DeadLetter("", at, code, reason))

    def dump(self, pack: Pack) -> Any:
        return self._program.dump()

    def load(self, data: Any, unpack: Unpack) -> None:
        self._program.load(data)

    def size(self) -> int:
        return self._program.size()


def _answers(found: TimedAnswer, at: int, share: RowShare | None) -> Iterator[Answer]:
    """An answer for each interval: its rows, or what a rule derives."""
    met: Counter[str] = Counter()
    for row in found.rows:
        if share is not None and not share.has(row.values.get(share.variable)):
            continue
        met[said := repr(row)] += 1  # equal rows differ in their number
        number = met[said]
        if row.start is None or row.end is None:
            yield _answer(found.statement, at, at, number, bindings=(row.values,))
        else:
            yield _answer(found.statement, row.start, row.end, number, bindings=(row.values,), timed=True)
    for number, graph in enumerate(found.graphs):
        yield _answer(found.statement, graph.start, graph.end, number, constructed=graph.triples)


def _answer(event: Term, start: int, end: int, number: int, **said: Any) -> Answer:
    digest = id_digest("\0".join([event, str(start), str(end), str(number), repr(said)]).encode())
    return Answer(event, "", (), start, end, end, end, _id=f"{id_prefix(event)}{digest}", **said)
