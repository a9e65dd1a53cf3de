"""From matched items to blocks: which bucket and which segment of it each occurrence goes to.

Input: items. Output: one block for each bucket and batch (`bucket_blocks`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from obep.abstraction.matcher import NOTED
from obep.engine.blocks import encode_group, whole_group
from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.split.key_routes import REMEMBERED, Graph, KeyRoutes, Layout, Matching, Routed
from obep.formats.stream_reader import as_sent
from obep.guards.block_queries import Ask
from obep.model import DeadLetter, Item
from obep.spark.stages.bucket_blocks import Fillings, Share

UNKNOWN = "OBEP616"
_NONE = (0,) * (len(NOTED) - 1)


@dataclass(frozen=True)
class Columns:
    """Items of one stream as columns: what they say, each once, and which of it each says when."""

    stream: str
    times: NDArray[np.int64]
    says: NDArray[np.intp]
    graphs: Sequence[Graph]

    def items(self) -> Iterator[Item]:
        """The items one by one."""
        for at, said in zip(self.times.tolist(), self.says.tolist(), strict=True):
            yield Item(self.stream, at, self.graphs[said])

    def where(self, chosen: NDArray[np.bool_] | slice) -> Columns:
        """Some of them."""
        return Columns(self.stream, self.times[chosen], self.says[chosen], self.graphs)


Arrived = Item | DeadLetter | Columns
"""What a reader makes of rows."""


class Routes(KeyRoutes):
    """Fills the blocks of the buckets of a layout with the occurrences of matched items."""

    def __init__(
        self,
        layout: Layout,
        asks: Iterable[Ask] = (),
        share: Share | None = None,
        named: bool = True,
        prepares: PreparedItems | None = None,
    ) -> None:
        """The arguments are those of `KeyRoutes`. Where the output does not name the items, those count as
        equal that differ only in what no event looks at.
        """
        super().__init__(layout, asks, named, prepares)
        self._share = share or Share()
        self._relevant: dict[tuple[str, Graph], Routed] = {}

    def fill(self, batch: Iterable[Arrived], matcher: Matching) -> Fillings:
        """The blocks of all buckets, before they are bytes."""
        filling = Fillings(self.width, self._share)
        reads = self._share.reads
        for one in batch:
            if isinstance(one, DeadLetter):
                filling.refuse(one)
            elif reads and one.stream not in reads:
                self._pass(one, filling)
            elif isinstance(one, Item):
                self._add(one, matcher, filling)
            elif not self._timeless:
                for item in one.items():
                    self._add(item, matcher, filling)
            else:
                self._add_all(one, matcher, filling)
        return filling

    def _pass(self, one: Item | Columns, filling: Fillings) -> None:
        """What this query does not read moves time all the same, unless no query reads it."""
        known = self._share.known
        if not known or one.stream in known:
            if isinstance(one, Item):
                filling.arrive(one.stream, one.at)
            else:
                filling.arrive_all(one.stream, one.times)
            return
        reason = f"the query reads {', '.join(sorted(known))}, not {one.stream or 'items without a stream'}"
        for item in (one,) if isinstance(one, Item) else one.items():
            filling.refuse(DeadLetter(item.stream, item.at, UNKNOWN, reason, as_sent(item)))

    def _add(self, item: Item, matcher: Matching, filling: Fillings) -> None:
        if self._judged:
            filling.arrive(item.stream, item.at)
            group = encode_group(whole_group(item))
            for block in filling.blocks:
                block.add(item.at, 0, group)
            return
        routed = self.route(item, matcher)
        if isinstance(routed, DeadLetter):
            filling.contradict(item, routed)
            return
        places, counts = routed
        filling.note(counts)
        filling.arrive(item.stream, item.at)
        for bucket, segment, group in places:
            filling.blocks[bucket].add(item.at, segment, group)

    def _add_all(self, columns: Columns, matcher: Matching, filling: Fillings) -> None:
        """Each graph is matched once; the rest is done column by column."""
        found: list[list[tuple[int, int, bytes]]] = []
        noted: dict[int, tuple[int, ...]] = {}
        refused = np.zeros(len(columns.graphs), np.bool_)
        remember = 2 * len(columns.graphs) <= len(columns.says)  # not worth it if few graphs come twice
        for number, graph in enumerate(columns.graphs):
            routed = self._remembered.get((columns.stream, graph)) if remember else None
            if routed is None:
                item = Item(columns.stream, 0, graph)
                some = self._match(item, matcher, remember) if self._named else self._matched(item, matcher)
                if remember and not self._named and not isinstance(some, DeadLetter):
                    self._remember(item, some)
                refused[number] = isinstance(some, DeadLetter)
                routed = ([], ()) if isinstance(some, DeadLetter) else some
            found.append(routed[0])
            if routed[1]:
                noted[number] = routed[1]
        if noted:
            saying = np.bincount(columns.says, minlength=len(columns.graphs))[list(noted)]
            filling.note(tuple((saying @ np.array(list(noted.values()))).tolist()))
        if refused.any():
            wrong = refused[columns.says]
            for item in columns.where(wrong).items():
                self._add(item, matcher, filling)  # each has a letter of its own
            columns = columns.where(~wrong)
        filling.arrive_all(columns.stream, columns.times)
        counts = np.array([len(places) for places in found], np.intp)
        flat = [place for places in found for place in places]
        if not flat:
            return
        entries = counts[columns.says]
        times = np.repeat(columns.times, entries)
        first = (np.cumsum(counts) - counts)[columns.says]
        within = np.arange(len(times)) - np.repeat(np.cumsum(entries) - entries, entries)
        filling.enter(times, np.repeat(first, entries) + within, flat)

    def _matched(self, item: Item, matcher: Matching) -> Routed | DeadLetter:
        """The same, remembered for all items that agree in what matters."""
        ready = self._ready(item)
        if isinstance(ready, DeadLetter):
            return ready
        kept, unknown = matcher.relevant(ready.triples)
        known = self._relevant.get((item.stream, kept))
        if known is None:
            found = self._route(ready, matcher)
            if isinstance(found, DeadLetter):
                return found
            if len(self._relevant) >= REMEMBERED:
                self._relevant.clear()
            known = self._relevant[item.stream, kept] = found[0], found[1][1:]  # the rest is unknown to T
        places, counts = known
        return places, (unknown, *(counts or _NONE)) if unknown or counts else ()
