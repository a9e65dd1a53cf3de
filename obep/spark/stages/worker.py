"""What a Python worker of Spark keeps while it lives: the queries that it has compiled, by their bundle file.

The bundle travels as a file (`spark.addArtifacts`); nothing of a query is pickled.
"""

from __future__ import annotations

import gc
from bisect import bisect_right
from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, count
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import msgspec

from obep.engine.query import Query
from obep.engine.split.key_routes import Layout
from obep.errors import fail
from obep.plan.components import Component, components
from obep.spark.stages.bucket_blocks import Share
from obep.spark.stages.route import Routes
from obep.spark.stages.state_identity import ask_name, surroundings

if TYPE_CHECKING:
    from obep.engine.knowledge.prepared_items import PreparedItems

QUERIES = 256
"""Compiled queries that a worker keeps: more than one pipeline has, which goes through them all each time."""
SWEEP = 256
"""Once in so many tasks all that is warm is searched for unused cycles. Where much is remembered, that takes
half a second."""
DROPPED = 2_000
"""So many engines that are not warm any more are looked for at once: each is a cycle."""


@dataclass(frozen=True)
class Job:
    """What stage 1 and stage 2 need to know; small, and safe to pickle: strings and numbers."""

    bundles: tuple[str, ...]
    """The names of the bundle files, one a query."""
    buckets: int
    numbers: tuple[int, ...]
    """The key of each bucket (`obep.spark.stages.buckets`)."""
    partitions: int
    """The partitions of the state that the keys were chosen for."""
    widths: tuple[int, ...]
    """How many of the buckets each query has."""
    lateness: int = 0
    idle: int | None = None
    future: int | None = None
    streams: tuple[str, ...] = ()
    """The streams of all queries, which share one clock."""
    bounded: bool = False
    rdf: bool = False
    forms: tuple[str, ...] = ()
    """The texts wanted of each occurrence: `event` (a JSON line), `nquads`, `trig`, `why`."""
    drop_state: bool = False
    """Begin anew where the state is that of another query."""
    lints: bool = False
    """Whether the rules about streams observe items."""
    contents: tuple[bytes, ...] = ()
    """The bundles themselves, where their files do not reach the workers of a stream (on Connect)."""
    begun: str = ""
    """Another one for each start: the time between two of them does not count as silence."""
    max_keys: int | None = None
    """How many values of PARTITION BY each event remembers."""
    prepares: bytes = b""
    """What K decides of items before they are matched: a `Preparation`, encoded."""
    watched: bool = False
    """Whether the query may be replaced while it runs: then the clock is reported, for buckets that begin."""
    clock: bytes = b""
    """The clock that buckets without state begin with, encoded."""
    graphs: tuple[str, ...] = ()
    """Digests of static graphs before: their state goes on under the one of now."""

    @property
    def named(self) -> bool:
        """Whether the output names the items of occurrences, as RDF does."""
        return self.rdf or not {"nquads", "trig"}.isdisjoint(self.forms)


_contents: dict[str, bytes] = {}


def hold(job: Job) -> None:
    """Know the bundles that came with a job."""
    _contents.update(zip(job.bundles, job.contents, strict=False))


_tasks = count(1)
_dropped = 0


def drop(engines: int) -> None:
    """So many engines are needed no more."""
    global _dropped
    _dropped += engines


def rest() -> None:
    """At the end of a task. Spark collects garbage now, and would look at all that is warm for nothing."""
    global _dropped
    if next(_tasks) % SWEEP == 0 or _dropped >= DROPPED:
        _dropped = 0
        gc.unfreeze()
        gc.collect()
    gc.freeze()


class Where(NamedTuple):
    """What a bucket of a job runs."""

    query: int
    bundle: str
    bucket: int
    """Its number among those of its query."""
    component: Component
    share: tuple[int, int]
    """Which bucket of its component it is, of how many."""


def place_of(job: Job, number: int) -> Where:
    """What a bucket of the job runs; no other bundle is looked at."""
    ends = list(accumulate(job.widths))
    query = bisect_right(ends, number)
    bucket = number - ends[query] + job.widths[query]
    layout = agreed_layout(job, query)
    return Where(query, job.bundles[query], bucket, layout.component_of(bucket), layout.share_of(bucket))


def agreed_layout(job: Job, query: int) -> Layout:
    """The buckets of a query; refused if they are others here than on the driver."""
    layout = layout_of(job.bundles[query], job.buckets, job.max_keys is not None)
    if layout.width != job.widths[query]:
        raise fail(
            "OBEP657",
            f"the driver has {job.widths[query]} buckets for this query, its worker {layout.width}",
            reason="They split the query differently, so they run different versions of obep.",
            remedy="install the same obep for the driver and for PYSPARK_PYTHON of the executors",
        )
    return layout


@lru_cache(maxsize=QUERIES)
def query_of(bundle: str) -> Query:
    """The query in a bundle file, compiled once in this process."""
    if bundle in _contents:
        return Query.from_bytes(_contents[bundle])
    from pyspark import SparkFiles

    path = Path(bundle)
    return Query.from_bundle(path if path.is_absolute() else Path(SparkFiles.get(bundle)))


@lru_cache(maxsize=QUERIES)
def matcher_of(bundle: str) -> Any:
    """The matcher of a query, with its caches."""
    from obep.abstraction.matcher import Matcher

    query = query_of(bundle)
    return Matcher(query.bundle, query.asks.all)


@lru_cache(maxsize=QUERIES)
def layout_of(bundle: str, buckets: int, capped: bool = False) -> Layout:
    """The buckets of a query; `capped`: with `max_keys`."""
    return Layout(components_of(query_of(bundle), capped), buckets)


@lru_cache(maxsize=QUERIES)
def around(bundle: str) -> tuple[str, str]:
    """Digests of a query's ontology and static graph."""
    return surroundings(query_of(bundle))


@lru_cache(maxsize=QUERIES)
def ask_names(bundle: str) -> tuple[str, ...]:
    """What each ask of a query is called in a state."""
    return tuple(ask_name(ask) for ask in query_of(bundle).asks.all)


def routes_of(job: Job, query: int, share: Share) -> Routes:
    """Where the occurrences of a query go."""
    capped = job.max_keys is not None
    return _routes(job.bundles[query], job.buckets, share, job.named, capped, job.prepares)


@lru_cache(maxsize=QUERIES)
def _routes(bundle: str, buckets: int, share: Share, named: bool, capped: bool, prepares: bytes) -> Routes:
    """The same; `named`: with the names of their items."""
    query, layout = query_of(bundle), layout_of(bundle, buckets, capped)
    prepared = prepared_by(prepares, query)
    if prepared is not None:
        prepared.begin(query.bundle.with_rules)
    return Routes(layout, query.asks.all, share, named, prepared)


def prepared_by(prepares: bytes, query: Query) -> PreparedItems | None:
    """What makes items ready by the K of a query."""
    if not prepares:
        return None
    from obep.lints.item_validation import Preparation

    return msgspec.msgpack.decode(prepares, type=Preparation).made(query.bundle)


def shares(job: Job) -> list[Share]:
    """What each query of a job has to do with the streams."""
    reads = [streams_of(query_of(bundle)) for bundle in job.bundles]
    known = frozenset[str]().union(*reads) if all(reads) else frozenset[str]()
    found = []
    earlier: frozenset[str] | None = frozenset()
    for own in reads:
        found.append(Share(own, known, earlier))
        earlier = earlier | own if own and earlier is not None else None
    return found


def streams_of(query: Query) -> frozenset[str]:
    """The streams that a query reads; none: any."""
    return frozenset(query.linked.streams)


def components_of(query: Query, capped: bool = False) -> tuple[Component, ...]:
    """The components of a query's plan; `capped`: with `max_keys`."""
    return components(query.plan, query.derived, judges=bool(query.linked.models), capped=capped)
