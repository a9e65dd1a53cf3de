"""What the rules about streams find in some items, as a run shows it, without the command line."""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path

import obep
from obep.formats import read_items
from obep.lints.stream_context import RunContext
from obep.lints.stream_rules import StreamObserver, StreamRules
from obep.model import Item


def findings_in(folder: Path, query: str, graphs: Iterable[str], stream: str = "s") -> str:
    """The text of the warnings about a query and about items, one a second, with these graphs in Turtle."""
    loaded = obep.load(text=query, folder=folder)
    lines = "\n".join(json.dumps({"time": n, "graph": graph}) for n, graph in enumerate(graphs))
    items = [one for one in read_items(lines.encode(), "jsonl", stream) if isinstance(one, Item)]
    rules = StreamRules(loaded)
    observer = StreamObserver(rules)
    with loaded.engine(observer=observer, remember=0) as engine:
        found = {one.event for one in (*engine.push_items(items), *engine.close())}
    stats = observer.stats
    stats.items.update(item.stream for item in items)
    stats.noted.update(engine.counters)
    run = RunContext(
        loaded,
        lambda stream: None,
        loaded.linked.streams,
        found,
        "integer",
        ended=True,
        at_end=True,
        bounded=True,
    )
    warnings = [*loaded.warnings, *(one.diagnostic for one in rules.findings(stats, run))]
    return "".join(f"{one}\n" for one in warnings)
