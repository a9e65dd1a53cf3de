"""A K of 1,000,000 triples: how long the first process needs, and how much memory each one.

`python bench/static.py [--triples 1000000] [--rounds 3]`. The first process closes K, puts it into a file and
packs the bundle. While it lives, a second one opens the bundle as a worker of Spark does, and a third one
loads the same query from its files, as a second `obep run` does.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from figures import Figure, show
from reasoning import EVENTS, building, rooms, templated

from obep.abstraction.matcher import Matcher
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.bundle.packing import to_bytes
from obep.query.link import link
from obep.query.parse.parser import parse

ITEMS = 50_000
VOCAB = """@prefix : <http://example.org/building#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
:Room a owl:Class . :Sensor a owl:Class . :Person a owl:Class . :observes a owl:ObjectProperty .
:armedWith a owl:ObjectProperty . :deployedIn a owl:ObjectProperty ; owl:inverseOf :armedWith .
:observesPerson a owl:ObjectProperty ; rdfs:subPropertyOf :observes .
:observesNobody a owl:ObjectProperty ; rdfs:subPropertyOf :observes .
:partOf a owl:ObjectProperty , owl:TransitiveProperty .
"""


def memory() -> dict[str, float]:
    """The most that this process has held, and its share of what is shared now, in MB."""
    found = {}
    # Not from getrusage, which counts what the parent held before this process became one of its own.
    for file in ("status", "smaps_rollup"):
        for line in Path("/proc/self", file).read_text().splitlines():
            name, _, rest = line.partition(":")
            if name in ("VmHWM", "Pss"):
                found["most" if name == "VmHWM" else name] = int(rest.split()[0]) / 1024
    return found


def first(folder: Path, triples: int) -> Bundle:
    """Closes K, and packs the bundle."""
    k = rooms(triples // 4)
    begin = time.process_time()
    bundle = compile_bundle(link(parse(EVENTS)), building(), k, java=False, cache_dir=folder)
    _ = bundle.lower
    tell({"seconds": time.process_time() - begin, **memory()})
    (folder / "bundle").write_bytes(to_bytes(bundle))
    return bundle


def further(folder: Path) -> Bundle:
    """Opens the bundle as a worker of Spark does."""
    from obep.spark.stages.worker import around, query_of

    query = query_of(str(folder / "bundle"))
    around(str(folder / "bundle"))
    return query.bundle  # type: ignore[no-any-return]


def again(folder: Path) -> Bundle:
    """Loads the query from its files, where another process has done so."""
    import obep

    return obep.load(folder / "query.obep", java=False, cache_dir=folder).bundle  # type: ignore[no-any-return]


def run(bundle: Bundle, triples: int) -> None:
    """Items over all of K, made some at a time: it is not they that are measured."""
    matcher = Matcher(bundle)
    seconds = 0.0
    for seed in range(ITEMS // 1000):
        items = templated(1000, triples // 4, seed)
        begin = time.process_time()
        for item in items:
            matcher.match(item)
        seconds += time.process_time() - begin
    tell({"rate": ITEMS / seconds, **memory()})


def tell(figures: dict[str, float]) -> None:
    """A line for the process that started this one."""
    print(json.dumps(figures), flush=True)


def figures(rounds: int, triples: int = 1_000_000) -> list[Figure]:
    """The table."""
    found = [_round(triples) for _ in range(rounds)]

    def values(process: str, name: str) -> tuple[float, ...]:
        return tuple(one[process][name] for one in found)

    size = f"K of {triples:,} triples"
    return [
        Figure(f"{size}: closed and written, first process", values("first", "seconds"), "s", most=15),
        Figure("  most memory, first process", values("first", "most"), "MB", most=1000),
        Figure("  a worker of Spark: opened in", values("worker", "seconds"), "s"),
        Figure(f"  most memory after {ITEMS:,} items, a worker", values("worker", "most"), "MB", most=200),
        Figure("  its share of what is shared (PSS)", values("worker", "Pss"), "MB"),
        Figure("  rate of a worker, every item new", values("worker", "rate")),
        Figure("  a second start of the query: loaded in", values("again", "seconds"), "s"),
        Figure(
            f"  most memory after {ITEMS:,} items, a second start", values("again", "most"), "MB", most=200
        ),
    ]


def _round(triples: int) -> dict[str, dict[str, float]]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        (folder / "t.ttl").write_text(VOCAB)
        with (folder / "k.nt").open("w") as file:
            file.writelines(f"{s} {p} {o} .\n" for s, p, o in rooms(triples // 4))
        prologue = "VOCAB <t.ttl>\nFROM GRAPH <k.nt>\nFROM STREAM <doors>\nEVENT"
        (folder / "query.obep").write_text(EVENTS.replace("EVENT", prologue, 1) + "RETURN BusyRoom\n")
        begun = _start("first", folder, triples)
        assert begun.stdout is not None
        found = {"first": json.loads(begun.stdout.readline())}
        begun.stdout.readline()  # it has run over K, and waits
        _told(_start("again", folder, triples))  # whoever comes first reads the file
        for way in ("worker", "again"):
            found[way] = _told(_start(way, folder, triples))
        begun.communicate(b"")
        return found


def _start(way: str, folder: Path, triples: int) -> Any:
    command = [sys.executable, __file__, "--way", way, "--folder", str(folder), "--triples", str(triples)]
    kept = os.environ | {"OBEP_CACHE": str(folder)}
    return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=kept)


def _told(process: Any) -> dict[str, float]:
    out, _ = process.communicate(b"")
    assert process.returncode == 0
    told: dict[str, float] = {}
    for line in out.splitlines():
        told |= json.loads(line)
    return told


def main() -> None:
    """Prints a table; with --way it is one of the processes that are measured."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--way", choices=("first", "worker", "again"))
    chosen = parser.parse_args()
    if chosen.way is None:
        show(figures(chosen.rounds, chosen.triples))
        return
    begin = time.process_time()
    if chosen.way == "first":
        bundle = first(chosen.folder, chosen.triples)
    else:
        bundle = further(chosen.folder) if chosen.way == "worker" else again(chosen.folder)
        _ = bundle.lower
        tell({"seconds": time.process_time() - begin})
    run(bundle, chosen.triples)
    sys.stdin.read()


if __name__ == "__main__":
    main()
