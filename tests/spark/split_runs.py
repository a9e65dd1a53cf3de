"""A case with states in several buckets, in this process: stage 1's routes, then an engine for each segment.

`python -m split_runs SEED CASES`, in tests/spark with tests/ on the path, compares random cases of the
oracle's generator, each as it is and with one thing returned, with one embedded engine: all lines are the
same.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from random import Random

from oracle.state_strategies import StateCase, StateCases

from obep.abstraction.matcher import Matcher
from obep.engine.blocks import Entry, decode_block
from obep.engine.knowledge.judged_items import JudgedItems
from obep.engine.query import Query
from obep.engine.segment import Segment
from obep.engine.split.key_routes import Layout
from obep.model import Occurrence
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.output.json_writer import to_line
from obep.plan.components import Component
from obep.query import ast
from obep.query.link import assemble
from obep.spark.stages.route import Routes
from obep.spark.stages.worker import components_of


def query_of(case: StateCase) -> Query:
    linked = assemble([case.file], Path())
    return Query(linked, compile_bundle(linked, Axioms(()), case.k, java=False))


def embedded(query: Query, case: StateCase) -> list[Occurrence]:
    """What one engine reports."""
    engine = query.engine(remember=0)
    return [*engine.push_items(case.items), *engine.advance(case.end / 1_000_000), *engine.close()]


def split(query: Query, case: StateCase, buckets: int, random: Random) -> list[Occurrence]:
    """What the buckets report, from micro-batches that the random number generator cuts.

    Now and then it stores a segment, and another one goes on from there; or the same one does, after it has
    gone on for a while as if nothing more came: what it held then is forgotten.
    """
    layout = Layout(components_of(query), buckets)
    routes, matcher = Routes(layout, query.asks.all), Matcher(query.bundle, query.asks.all)
    segments: dict[tuple[int, int], Segment] = {}

    def made(bucket: int) -> Segment:
        component = layout.component_of(bucket)
        plan = component.plan(query.plan, *layout.share_of(bucket))
        if not component.judges:
            return Segment(plan, matcher, split=component.begins)
        judge = JudgedItems(query, partial(routes.brought_to, bucket), None, speaks=not bucket)
        return Segment(plan, judge.matcher, judge=judge)

    found: list[Occurrence] = []
    for batch in _cut(case, random):
        for bucket, block in enumerate(routes.fill(batch, matcher).encode({})):
            for segment, entries in _entries(block).items():
                segments.setdefault((bucket, segment), made(bucket)).add(entries)
        for (bucket, number), segment in segments.items():
            if random.random() < 0.3:
                before = segment.dump()
                segment.release(random.choice((batch[-1].at, case.end)))
                segment.load(before)
            found += segment.release(batch[-1].at)
            if random.random() < 0.2:
                segments[bucket, number] = again = made(bucket)
                again.load(segment.dump())
    for segment in segments.values():
        found += segment.release(case.end)
        found += segment.close(case.end)
    return found


def _cut(case: StateCase, random: Random) -> Iterator[list[object]]:
    count = len(case.items)
    places = sorted({0, count, *(random.randrange(count) for _ in range(random.randint(0, 4)))})
    for low, high in pairwise(places):
        yield list(case.items[low:high])


def _entries(data: bytes) -> dict[int, list[Entry]]:
    block = decode_block(data)
    groups = block.groups_of({})
    found: dict[int, list[Entry]] = {}
    for at, segment, number in zip(*block.columns(), strict=True):
        found.setdefault(segment, []).append((at, groups[number]))
    return found


def difference(query: Query, case: StateCase, found: list[Occurrence], buckets: int, random: Random) -> str:
    """How the buckets differ from what one engine has found; empty if they do not."""
    one = Counter(to_line(o, "integer") for o in found)
    several = Counter(to_line(o, "integer") for o in split(query, case, buckets, random))
    lines = [f"missing: {line}" for line in (one - several).elements()]
    return "\n".join(sorted([*lines, *(f"too much: {line}" for line in (several - one).elements())]))


def variants(case: StateCase) -> Iterator[StateCase]:
    """The case, and the same with each thing returned alone: fewer things are split more often."""
    yield case
    for clause in case.file.returns:
        for name in clause.events:
            alone = replace(case.file, returns=(replace(clause, events=(name,)),))
            yield replace(case, file=alone)


@dataclass
class SplitTrials:
    """What a run has seen."""

    cases: int = 0
    split: int = 0
    """Cases in which something with states has several buckets."""
    answered: int = 0
    """Those of them with answers."""
    kinds: Counter[str] = field(default_factory=Counter)
    """The kinds of states in those that were split."""
    failures: list[str] = field(default_factory=list)

    def summary(self) -> str:
        return f"{self.cases} cases, {self.split} split, {self.answered} of these with answers"

    def take(self, seed: int) -> None:
        random = Random(seed)
        for number, case in enumerate(variants(StateCases.of(seed).case())):
            self.cases += 1
            query = query_of(case)
            keyed = [one for one in components_of(query) if one.keyed and (one.states or one.copies)]
            if not keyed:
                continue
            self.split += 1
            self.kinds.update({kind for one in keyed for kind in _kinds(query, one)})
            found = embedded(query, case)
            self.answered += bool(found)
            if problem := difference(query, case, found, random.choice((2, 3, 5)), random):
                self.failures.append(f"seed {seed}, variant {number}\n{problem}")


def _kinds(query: Query, component: Component) -> Iterator[str]:
    for state in query.plan.states:
        kind = type(state.definition).__name__
        if state.state in component.states:
            yield kind
            if isinstance(state.definition, ast.GroupState) and state.windows:
                yield "window"
            if isinstance(state.definition, ast.OverState) and state.definition.each is not None:
                yield "each"
        elif state.state in component.copies:
            yield f"{kind} everywhere"


def main(seed: int, cases: int) -> int:
    trials = SplitTrials()
    for number in range(seed, seed + cases):
        trials.take(number)
        if len(trials.failures) >= 5:
            break
        if number % 20 == 19:
            print(trials.summary(), flush=True)
    print(trials.summary())
    print(" ".join(f"{kind}={count}" for kind, count in trials.kinds.most_common()))
    print("\n\n".join(one[:2_000] for one in trials.failures))
    return bool(trials.failures)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
