"""What a run says beside its figures, whichever engine ran it, also where nobody watches a terminal."""

from __future__ import annotations

from collections.abc import Container, Iterable, Mapping, Sequence
from pathlib import Path
from threading import Lock

from obep.abstraction.matcher import MAX_EXPLANATIONS
from obep.engine.blocks import EVICTED
from obep.engine.query import Query
from obep.formats.stream_reader import Notes
from obep.formats.timestamps import Style
from obep.lints.rules.config.unknown_mapped_name import slips_of_mappings
from obep.lints.rules.stream.duplicate_explanations import Repeats
from obep.lints.rules.stream.stream_times_disjoint import TimesApart
from obep.lints.rules.stream.unknown_names import Strangers
from obep.model import Term, local_name
from obep.query.diagnostics import listed
from obep.run.console import write_for_run
from obep.run.load_query import load
from obep.run.overwrite_guard import require_apart
from obep.run.progress import Progress
from obep.run.run_spec import Order
from obep.streams.sources.batches import Heard, Waiting


def opened(order: Order) -> Query:
    """The query of a run, compiled; its warnings have been said, and nothing that it reads is written."""
    query = load(
        order.query,
        allowed=order.config.allowed,
        catalogue=order.config.catalogue,
        cache_dir=order.config.cache,
        strict=order.strict,
        require_complete=order.require_complete,
        max_explanations=order.config.engine.get("max_explanations"),
        max_work=order.config.engine.get("max_work"),
        ignore=order.config.ignore,
    )
    if not order.quiet:
        write_for_run(query.warnings)
    linked, config = query.linked, order.config.path
    require_apart(
        order,
        {
            **{Path(file.name): "the query" for file in linked.files},
            **dict.fromkeys(linked.vocab, "the ontology"),
            **dict.fromkeys(linked.graphs, "the static graph"),
            **({} if config is None else {config: "the configuration"}),
        },
    )
    return query


def say_mappings(query: Query, order: Order) -> frozenset[tuple[str, Term]]:
    """Warns of names in mappings that nobody knows; which of which streams they are."""
    slips = slips_of_mappings(query.bundle, order.config)
    if not order.quiet:
        write_for_run(slip.said for slip in slips if slip.said.code not in order.config.ignore)
    return frozenset((slip.stream, slip.name) for slip in slips)


def heard_sinks(sinks: Mapping[str, object]) -> dict[str, Waiting]:
    """Those whose other end may be away, by keys that no source has."""
    return {f"sink {key}": sink for key, sink in sinks.items() if isinstance(sink, Waiting)}


class Absences:
    """Says once that the other end of a source or sink is away, and once that it is back."""

    def __init__(self) -> None:
        self._away: set[str] = set()
        self._lock = Lock()  # on Spark a micro-batch is delivered in a thread of its own

    def look(self, ends: Mapping[str, Heard], progress: Progress) -> None:
        with self._lock:
            for key, source in ends.items():
                why = source.away
                if why and key not in self._away:
                    self._away.add(key)
                    progress.warn("OBEP552", f"{source.name} is away ({why}); obep goes on when it is back")
                elif not why and key in self._away:
                    self._away.remove(key)
                    progress.warn("OBEP552", f"{source.name} is back")


def _open_events(query: Query) -> str:
    """The events about which the rules alone do not know all."""
    bundle = query.bundle
    need = [iri for iri, words in bundle.status.items() if words != "exact" or iri in bundle.guard_status]
    return listed([local_name(iri) for iri in need])


def remark(noted: Mapping[str, int], query: Query, progress: Progress) -> None:
    """Says what a run left out, though it refused nothing (`obep.engine.blocks.NOTED`)."""
    most = query.bundle.max_explanations or MAX_EXPLANATIONS
    if (capped := noted.get("capped", 0)) and most >= MAX_EXPLANATIONS:  # fewer are what somebody asked for
        progress.warn(
            "OBEP561",
            f"{capped} times an event had more explanations in one item than are kept, which is {most}",
        )
    if undecided := noted.get("undecided", 0):
        progress.warn(
            "OBEP562",
            f"{_items(undecided)} not decided for lack of a reasoner, or since it gave up, so there may be "
            f"more of {_open_events(query)}   (--require-complete refuses a run without a reasoner)",
        )
    if evicted := noted.get(EVICTED, 0):
        progress.warn(
            "OBEP589",
            f"{evicted:,} value{'' if evicted == 1 else 's'} of PARTITION BY forgotten, since there were "
            "more than max_keys: events of theirs may be missing",
            "a larger max_keys under [engine] in obep.toml, or a WITHIN",
        )


def say_findings(strangers: Strangers, repeats: Repeats, progress: Progress) -> None:
    """Warns of what the first items and occurrences of a run seem to have wrong."""
    for code, message in strangers.findings():
        progress.warn(code, message)
    for code, message, remedy in repeats.findings():
        progress.warn(code, message, remedy)


def say_apart(times: TimesApart, found: Container[Term], style: Style | None, progress: Progress) -> None:
    """Warns of streams that are read together, and whose times lie far apart; at the end of all there is."""
    for code, message, remedy in times.findings(found, style):
        progress.warn(code, message, remedy)


def _items(count: int) -> str:
    return "1 item was" if count == 1 else f"{count:,} items were"


def say_doubts(notes: Notes, progress: Progress, sources: Iterable[str]) -> None:
    """Warns of the sources among these whose times are probably in another unit, once each."""
    for source in notes.doubts.keys() & set(sources):
        doubt = notes.doubts.pop(source)
        progress.warn("OBEP566", f"{source}: {doubt.said}", doubt.remedy)


def say_noted(said: list[tuple[str, str]], progress: Progress) -> None:
    """Warns of what was noted about sources and sinks, once each."""
    while said:
        progress.warn(*said.pop(0))


def say_arrivals(notes: Notes, progress: Progress) -> None:
    """Warns of items that had no time."""
    if notes.arrivals:
        likely = f"; {notes.likely}" if notes.likely else ""
        progress.warn("OBEP557", f"{notes.arrivals} items had no time and took that of their arrival{likely}")


def say_skipped(records: int, progress: Progress) -> None:
    """Says how many records of standard input the checkpoint has."""
    if records:
        are = "record is" if records == 1 else f"{records:,} records are"
        progress.warn(
            "OBEP563",
            f"standard input: the first {are} skipped, the checkpoint has them; send the whole input again",
        )


def say_unordered(free: Sequence[str], ends: Sequence[str], order: Order, progress: Progress) -> None:
    """Warns if the order of the items may differ from run to run: `free` sources may go on for ever."""
    if order.idle is not None or not free or len(free) + len(ends) == 1 or (order.lateness and not ends):
        return
    progress.warn(
        "OBEP559",
        f"{', '.join(free)}: live beside {', '.join(ends) or 'each other'}, and nothing says how long they "
        "wait for one another, so what comes first may differ from run to run   (--idle 30s waits so long)",
    )
