"""How the cost of an item grows with the number of events in a query: CPU time, as ratios within one run.

    python bench/rules.py                    1, 10, 100 and 1,000 events of each kind
    python bench/rules.py --most 100         up to 100
    python bench/rules.py --only shared      one kind

`logical`: guarded logical events that differ in a constant. `filters`: such events of one class, with a
FILTER each. `guarded`: composites `A SEQ B` with a FILTER
over one alias each. `shared`: composites over one sub-pattern with another third event each. `constants`:
composites over one sub-pattern that differ in a constant.
"""

from __future__ import annotations

import argparse
import gc
import time
from collections.abc import Callable
from random import Random

from figures import Figure, show

import obep
from obep.model import RDF_TYPE, Item

NS = "http://example.org/"
MOST = 20.0
"""What 1,000 events that share sub-patterns may cost at most, measured in the cost of one."""
HEAD = f"PREFIX : <{NS}>\n"


def logical(n: int) -> str:
    """Guarded logical events."""
    return "".join(
        f"EVENT E{i} AS (Reading and amount some number[> {i}]) "
        f"IF {{ ?this :amount ?v . FILTER(?v > {i}) }}\n"
        for i in range(n)
    )


def filters(n: int) -> str:
    """Logical events of one class, each with a FILTER of its own."""
    return "".join(f"EVENT E{i} AS Reading IF {{ ?this :amount ?v . FILTER(?v > {i}) }}\n" for i in range(n))


def guarded(n: int) -> str:
    """Composites whose guards compare a value of one alias with a constant."""
    return "EVENT A AS ClassA\nEVENT B AS ClassB\n" + "".join(
        f"EVENT E{i} MATCH A(?k) SEQ B(?k) WITHIN 5 s "
        f"IF {{ EVENT B {{ ?k :amount ?x . FILTER(?x > {i}) }} }}\n"
        for i in range(n)
    )


def shared(n: int) -> str:
    """Composites over one sub-pattern, each with another third event."""
    return "EVENT A AS ClassA\nEVENT B AS ClassB\n" + "".join(
        f"EVENT C{i} AS ClassC{i}\nEVENT E{i} MATCH (A(?k) SEQ B(?k) WITHIN 1 s) SEQ C{i}(?k) WITHIN 2 s\n"
        for i in range(n)
    )


def constants(n: int) -> str:
    """Composites over one sub-pattern, with a condition over both of its aliases each."""
    guard = "EVENT A {{ ?k :amount ?x . }} EVENT B {{ ?k :amount ?y . }} FILTER(?y - ?x > {0})"
    return "EVENT A AS ClassA\nEVENT B AS ClassB\n" + "".join(
        f"EVENT E{i} MATCH A(?k) SEQ B(?k) WITHIN 1 s IF {{ {guard.format(i)} }}\n" for i in range(n)
    )


def reading(random: Random, number: int, kinds: int) -> Item:
    """A reading with a value; one in a hundred is larger than a few constants."""
    who = f"<{NS}s{random.randrange(50)}>"
    value = f'"{random.randrange(4) if random.random() < 0.99 else random.randrange(12)}"'
    literal = f"{value}^^<http://www.w3.org/2001/XMLSchema#integer>"
    kind = random.choice(("Reading", "ClassA", "ClassB", *(f"ClassC{i}" for i in range(kinds))))
    return Item("", number * 20_000, ((who, RDF_TYPE, f"<{NS}{kind}>"), (who, f"<{NS}amount>", literal)))


KINDS: dict[str, Callable[[int], str]] = {
    "logical": logical,
    "filters": filters,
    "guarded": guarded,
    "shared": shared,
    "constants": constants,
}


def cost(kind: str, events: int, items: int) -> tuple[float, float, int]:
    """CPU seconds of a run and of loading its query, and how many answers there are."""
    begin = time.process_time()
    query = obep.load(text=HEAD + KINDS[kind](events) + "RETURN ALL", java=False)
    engine = query.engine()
    loaded = time.process_time() - begin
    random = Random(3)
    stream = [reading(random, number, 10 if kind == "shared" else 0) for number in range(items)]
    engine.push_items(stream[: items // 2])  # what is remembered once
    gc.collect()
    begin = time.process_time()
    answers = len(engine.push_items(stream[items // 2 :]))
    return time.process_time() - begin, loaded, answers


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--most", type=int, default=1000)
    parser.add_argument("--items", type=int, default=3000)
    parser.add_argument("--only", choices=sorted(KINDS))
    arguments = parser.parse_args()
    figures = []
    for kind in [arguments.only] if arguments.only else KINDS:
        first = None
        for events in (1, 10, 100, 1000):
            if events > arguments.most:
                continue
            most = events
            seconds, loaded, answers = cost(kind, events, arguments.items)
            first = seconds if first is None else first
            rate = arguments.items / 2 / seconds
            print(
                f"  {kind:10} {events:>5} events: {rate:>9,.0f} items/s, {seconds / first:>6.1f} times one; "
                f"{answers:,} answers, loaded in {loaded:.1f} s",
                flush=True,
            )
        asked = MOST if most == 1000 and kind in ("shared", "constants") else None
        title = f"{kind}: cost of {most:,} events / of one"
        figures.append(Figure(title, (seconds / first,), "", most=asked))
    show(figures)


if __name__ == "__main__":
    main()
