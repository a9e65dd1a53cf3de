"""What the rules about streams cost: CPU time, as shares of a run from JSON lines to JSON lines.

    python bench/stream_rules.py                    a run of 50,000 items, seven rounds
    python bench/stream_rules.py --items 5000       a shorter one, in which the rules look at more
of the items

The share of a rule is measured within one run: the time in its functions, of the time of all. The whole is
measured by runs with and without lints that take turns. Its ontology, static graph and query make every rule
that observes items look at them.
"""

from __future__ import annotations

import argparse
import gc
import json
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from random import Random
from typing import Any

from figures import Figure, show

import obep
from obep.config.toml_file import load_config
from obep.engine.query import Query
from obep.lints import stream_rules
from obep.lints.rules.stream.duplicate_explanations import observe_occurrences
from obep.lints.stream_context import RunContext
from obep.lints.stream_rules import StreamObserver, StreamRules
from obep.run.embedded import open_run
from obep.run.run_spec import Order, aim, bind

MOST = 2.0
"""Percent of a run that a rule may cost."""
T = """@prefix : <http://e/#> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
:Probe a owl:Class . :Pen a owl:Class . :Door a owl:Class . :inPen a owl:ObjectProperty .
:oxygen a owl:DatatypeProperty . :state a owl:DatatypeProperty . :depth a owl:DatatypeProperty .
"""
K = "@prefix : <http://e/#> . " + " ".join(f":Pen{n} a :Pen ." for n in range(1000))
QUERY = """PREFIX : <http://e/#>
VOCAB <t.ttl>
FROM GRAPH <k.ttl>
FROM STREAM <probes>
FROM STREAM <doors>
EVENT Low AS (Probe and oxygen some number[< 1] and inPen some Pen)
EVENT Deep AS (depth some xsd:double[> 3])
EVENT Open AS (Door and state value "open")
EVENT Both(?x) MATCH Low(?x) SEQ Open(?x) WITHIN 5 s
RETURN ALL
"""


def write(folder: Path, items: int) -> None:
    """Write the query and its stream."""
    random = Random(7)
    (folder / "t.ttl").write_text(T)
    (folder / "k.ttl").write_text(K)
    (folder / "q.obep").write_text(QUERY)
    with (folder / "s.jsonl").open("w") as out:
        for n in range(items):
            who = f"<http://e/#p{random.randrange(500)}>"
            if random.random() < 0.5:
                said = f"a <http://e/#Probe> ; <http://e/#oxygen> {random.random() * 10:.2f} ; "
                said += f"<http://e/#inPen> <http://e/#Pen{random.randrange(1000)}> ; <http://e/#depth> 2.5e0"
            else:
                said = f'a <http://e/#Door> ; <http://e/#state> "{random.choice(("open", "shut"))}"'
            stream = "probes" if "Probe" in said else "doors"
            out.write(json.dumps({"stream": stream, "time": n // 10, "graph": f"{who} {said} ."}) + "\n")


class Timed:
    """The CPU time spent in functions, by what they are called."""

    def __init__(self) -> None:
        self.seconds: Counter[str] = Counter()

    def around(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def run(*arguments: Any) -> Any:
            start = time.process_time()
            found = function(*arguments)
            if isinstance(found, Iterator):
                found = list(found)
            self.seconds[name] += time.process_time() - start
            return found

        return run


def run_once(folder: Path, query: Query, rules: StreamRules | None) -> float:
    """The CPU seconds of a run, with what the rules find at its end."""
    (folder / "out.jsonl").unlink(missing_ok=True)
    config = load_config(None, folder)
    sources = bind([str(folder / "s.jsonl")], query.linked.streams, config)
    order = Order(folder / "q.obep", config, sources, aim([str(folder / "out.jsonl")], "", config))
    observer = None if rules is None else StreamObserver(rules)
    gc.collect()
    start = time.process_time()
    run, _ = open_run(order, query, observer=observer)
    run.go()
    run.close()
    if rules is not None and observer is not None:
        observer.stats.items.update(run.items_by_stream)
        context = RunContext(query, lambda stream: None, query.linked.streams, ended=True, bounded=True)
        rules.findings(observer.stats, context)
    return time.process_time() - start


def timed_rules(query: Query, timed: Timed) -> StreamRules:
    """The rules, with a clock around each."""
    rules = StreamRules(query)
    stream_rules.observe_occurrences = timed.around(stream_rules.DUPLICATES, observe_occurrences)
    rules._rules = [
        replace(
            rule,
            watch=rule.watch and timed.around(rule.code, rule.watch),
            observe=rule.observe and timed.around(rule.code, rule.observe),
            findings=rule.findings and timed.around(rule.code, rule.findings),
        )
        for rule in rules._rules
    ]
    return rules


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    options.add_argument("--items", type=int, default=50_000)
    options.add_argument("--rounds", type=int, default=7)
    given = options.parse_args()
    folder = Path(tempfile.mkdtemp())
    write(folder, given.items)
    query = obep.load(folder / "q.obep", java=False)
    run_once(folder, query, StreamRules(query))  # warm
    shares: dict[str, list[float]] = {}
    whole: list[float] = []
    for _ in range(given.rounds):
        timed = Timed()
        total = run_once(folder, query, timed_rules(query, timed))
        stream_rules.observe_occurrences = observe_occurrences
        for code, seconds in timed.seconds.items():
            shares.setdefault(code, []).append(100 * seconds / total)
        without, with_rules = run_once(folder, query, None), run_once(folder, query, StreamRules(query))
        whole.append(100 * (with_rules / without - 1))
    names = {rule.code: rule.name for rule in StreamRules(query)._rules}
    figures = [
        Figure(f"{code} {names[code]}, of a run of {given.items:,} items", tuple(values), "%", most=MOST)
        for code, values in sorted(shares.items())
    ]
    show([*figures, Figure("all rules, over a run without lints", tuple(whole), "%")])


if __name__ == "__main__":
    main()
