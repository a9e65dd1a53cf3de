"""A K of 1,000,000 triples: how long the first process needs, and how much memory each one.

`python bench/static.py [--triples 1000000]` starts two processes, one after the other: the first closes K and
puts it into a file, the second finds it there.
"""

from __future__ import annotations

import argparse
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from reasoning import EVENTS, building, rooms, templated

from obep.abstraction.matcher import Matcher
from obep.ontology.compile import Bundle, compile_bundle
from obep.ontology.packing import from_path, to_bytes
from obep.query.link import link
from obep.query.parser import parse


def memory() -> str:
    """The most that this process has held."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024:,} MB"


def first(folder: Path, triples: int) -> Bundle:
    """Closes K, and packs the bundle."""
    k = rooms(triples // 4)
    print(f"first process:   {len(k):,} triples in memory {memory():>10}")
    begin = time.process_time()
    bundle = compile_bundle(link(parse(EVENTS)), building(), k, java=False, cache_dir=folder)
    seconds = time.process_time() - begin
    print(
        f"                 closed and written in {seconds:.1f} s (asked for 15), {memory()} (asked for 1 GB)"
    )
    (folder / "bundle").write_bytes(to_bytes(bundle))
    return bundle


def further(folder: Path) -> Bundle:
    """Opens the bundle."""
    begin = time.process_time()
    bundle = from_path(folder / "bundle")
    bundle.cache_dir = folder
    store = type(bundle.lower.store).__name__
    print(f"further process: opened in {time.process_time() - begin:.2f} s ({store}), {memory()}")
    return bundle


def run(bundle: Bundle, triples: int) -> None:
    """Items over all of K, first seen and seen again."""
    matcher = Matcher(bundle)
    items = templated(60_000, triples // 4)
    for title in ("first seen", "seen again"):
        begin = time.process_time()
        for item in items:
            matcher.match(item)
        rate = len(items) / (time.process_time() - begin)
        print(f"                 {title}: {rate:,.0f} items/s, {memory()}")


def main() -> None:
    """Prints a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--triples", type=int, default=1_000_000)
    parser.add_argument("--folder", type=Path)
    parser.add_argument("--further", action="store_true")
    chosen = parser.parse_args()
    if chosen.folder is not None:
        run(
            further(chosen.folder) if chosen.further else first(chosen.folder, chosen.triples), chosen.triples
        )
        return
    with tempfile.TemporaryDirectory() as folder:
        again = [sys.executable, __file__, "--folder", folder, "--triples", str(chosen.triples)]
        subprocess.run(again, check=True)
        subprocess.run([*again, "--further"], check=True)


if __name__ == "__main__":
    main()
