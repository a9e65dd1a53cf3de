"""Report the records that a run refused, on either engine."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set

import msgspec

from obep.engine.query import Query
from obep.engine.time_letters import LATE
from obep.formats.likely_mapping import likely_mapping
from obep.model import DeadLetter
from obep.run.dead_letters import Letters
from obep.run.progress import Progress


def complain(
    letters: Letters,
    progress: Progress,
    *,
    kept: bool,
    taken: int,
    query: Query,
    streams: Set[str],
    items_by_stream: Mapping[str, int],
    bindings: Sequence[str],
) -> bool:
    """Reports the number of dead letters of each code, and the first reason; also whether all records, or
    all records of a stream, were refused.

    `kept` is whether dead letters are in a file, `taken` how many items were not refused, `streams` are those
    of the query, `items_by_stream` counts the items that could be read, also those that were refused later
    (late items are no reason to fail), `bindings` are options that would give sources without a name to a
    stream with a mapping.
    """
    counts, first = letters.counts, letters.first
    refused = streams if taken else {stream for stream, _ in letters.first_of}
    first_of = sorted(letters.first_of.items(), key=lambda one: one[0][0])  # Spark has no order of its own
    taken_of = {stream for stream, items in items_by_stream.items() if items > letters.items[stream]}
    whole = [one for (stream, _), one in first_of if stream in refused - taken_of]
    hint = "" if kept else "   (--dead-letters FILE keeps them)"
    nothing = bool(counts) and not taken
    for code, number in counts.most_common()[nothing:]:
        letter = first[code]
        reason = f"{letter.stream}: {letter.reason}" if letter.stream else letter.reason
        progress.warn(code, f"{number} {'late' if code == LATE else 'refused'}; the first: {reason}{hint}")
    if nothing:
        [(code, number)] = counts.most_common(1)
        total = counts.total()
        which = "the only record was" if total == 1 else f"all {total} records were"
        share = "" if number == total else f", {number} of them"
        message = f"{which} refused{share} with {code}: {first[code].reason}{hint}"
        progress.error("OBEP560", message, _remedy(whole, query, bindings))
        return True
    for stream, code in {letter.stream: letter.code for letter in reversed(whole)}.items():
        own = [letter for letter in whole if letter.stream == stream]
        message = f"{stream}: every record was refused, the first with {code}"
        progress.error("OBEP560", message, _remedy(own, query, bindings))
    return bool(whole)


def _remedy(letters: Sequence[DeadLetter], query: Query, bindings: Sequence[str]) -> str:
    """Mappings to begin with, one for each stream of a device's own JSON; or the stream that has one."""
    found = {letter.stream: text for letter in letters if (text := _mapping(letter, query))}
    if bindings and "" in found:
        return " or ".join(bindings)
    return "in obep.toml, to be edited,\n" + "\n".join(found.values()) if found else ""


def _mapping(letter: DeadLetter, query: Query) -> str:
    try:
        record = msgspec.json.decode(letter.raw)
    except (msgspec.DecodeError, UnicodeError, RecursionError):
        return ""
    if letter.code != "OBEP601" or not isinstance(record, dict) or "graph" in record:
        return ""
    return likely_mapping(record, letter.stream, query.names)
