"""Random replacements of random queries: what keeps its state goes on, what begins is as in a run of its own.

`python -m oracle.replacing_trials SEED TRIALS`, in tests/, runs them from a seed on. A trial draws a query
with states, patterns and graph events (`state_strategies`) and variants of it, runs one engine through all
of them, and for each replacement one engine that only ever knows the new query. At each step every event
must be reported as by the engine that began when it began.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field, replace
from pathlib import Path
from random import Random

import msgspec

from obep.engine.engine import Engine
from obep.engine.query import Query
from obep.errors import ObepError
from obep.model import SECOND, Alert, Item, Occurrence, Term
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.query import ast
from obep.query.link import assemble
from obep.query.walk import needs_of, reachable, windows_of
from oracle.state_cases import LETTERS, s
from oracle.state_engine import Handling
from oracle.state_strategies import StateCase, StateCases

COMPOSITES = ("E", "F", "H")


class Variants:
    """A query, and others that have some of its definitions, some that are changed, and new ones."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        cases = StateCases.of(seed)
        self.case: StateCase = cases.case()
        file = self.case.file
        below = [one for one in file.events if isinstance(one, ast.GraphEvent)]
        self.others = {
            name: cases.composite(name, self.random.choice((1, 1, 2)), list(below))
            for name in (*COMPOSITES, "I")
        }
        cases.states.state("N")
        self.states = tuple(cases.states.made)
        self.windows = tuple(cases.states.windows.values())

    def file(self) -> ast.QueryFile:
        """One of them."""
        random, base = self.random, self.case.file
        events: list[ast.Event] = []
        for event in base.events:
            if event.name.text in COMPOSITES and random.random() < 0.3:
                events.append(self.others[event.name.text])
            elif random.random() < (0.97 if isinstance(event, ast.LogicalEvent) else 0.85):
                events.append(event)
        if random.random() < 0.5:
            events.append(self.others["I"])
        kept = [one for one in self.states if random.random() < 0.85]
        file = replace(base, events=tuple(events), states=tuple(kept), windows=self.windows)
        return self._with_returns(_closed(file))

    def _with_returns(self, file: ast.QueryFile) -> ast.QueryFile:
        names = tuple(event.name for event in file.events)
        returns = [ast.Return("listed", names)] if names else []
        for state in file.states:
            if not isinstance(state, ast.DailyState):
                lasting = s(2) if self.random.random() < 0.2 else None
                returns.append(ast.Return("listed", (state.name,), "alerts", lasting))
        return replace(file, returns=tuple(returns))

    def query(self, file: ast.QueryFile) -> Query:
        linked = assemble([file], Path())
        return Query(linked, compile_bundle(linked, Axioms(()), self.case.k, java=False))


def _closed(file: ast.QueryFile) -> ast.QueryFile:
    """Without the definitions that name one that is not there."""
    written = {one.name.iri for one in (*file.events, *file.states)}
    while True:
        linked = assemble([file], Path())
        needs = needs_of(linked)
        missing = {
            iri
            for iri in written
            for name in _names(linked.events.get(iri) or linked.states[iri], linked.windows)
            if name.startswith("<http") and name not in written and name in _DEFINED
        }
        if not missing:
            return file
        gone = missing | {iri for iri in written if missing & reachable(iri, needs)}
        written -= gone
        file = replace(
            file,
            events=tuple(one for one in file.events if one.name.iri in written),
            states=tuple(one for one in file.states if one.name.iri in written),
        )


def _names(definition: ast.Event | ast.State, windows: tuple[ast.Window, ...]) -> set[Term]:
    from obep.query.walk import depends

    held = {window.name: window.event.iri for window in windows if window.event is not None}
    return depends(definition) | {held[name] for name in windows_of(definition) if name in held}


_DEFINED = frozenset(
    f"<http://example.org/{name}>" for name in (*LETTERS, "G", *COMPOSITES, "I", "N", "S0", "S1", "S2", "S3")
)


@dataclass
class Trial:
    """One run with replacements, and the runs that it must agree with."""

    seed: int
    replacements: int = 0
    kept: int = 0
    hits: Counter[str] = field(default_factory=Counter)
    failure: str = ""

    def run(self) -> Trial:
        variants = Variants(self.seed)
        how = Handling.of(self.seed)
        random = how.random
        query = variants.query(variants.case.file)
        engine = query.engine(remember=0, lateness=how.lateness)
        self.began = dict.fromkeys(_names_of(query), 0)
        self.alone = [_alone(query, how.lateness)]
        came: list[Item] = []
        for item in how.order(variants.case.items):
            came.append(item)
            self._compare(engine, engine.push_items([item]), [one.push_items([item]) for one in self.alone])
            if self.failure:
                return self
            if random.random() < 0.25:
                query = self._replace(engine, variants, query, came)
            if how.restores and random.random() < 0.2:
                state = engine.snapshot()
                engine = query.engine(remember=0, lateness=how.lateness)
                engine.restore(state)
        to = variants.case.end / SECOND
        self._compare(engine, engine.advance(to), [one.advance(to) for one in self.alone])
        self._compare(engine, engine.close(), [one.close() for one in self.alone])
        return self

    def _replace(self, engine: Engine, variants: Variants, before: Query, history: list[Item]) -> Query:
        query = variants.query(variants.file())
        if not query.linked.returns:
            return before
        firing = {one.id: one for one in engine.firing()}
        self._replace_warm(engine, before, query, history)
        planned = engine.compare(query)
        done = engine.replace(query)
        assert planned.to_json() == done.to_json(), "the dry run says what happens"
        starting = {*done.begun, *(one.name for one in done.changed)}
        assert {*done.kept, *starting} == _names_of(query) and {*done.gone} == _names_of(before) - _names_of(
            query
        )
        ended = {one.id for one in firing.values() if one.event not in done.kept}
        assert {one.id for one in done.resolved} == ended
        assert {one.id for one in engine.firing()} == firing.keys() - ended
        self.replacements += 1
        self.kept += len(done.kept)
        alone = _alone(query, engine.clock.lateness / SECOND)
        alone.clock.load(msgspec.msgpack.decode(msgspec.msgpack.encode(engine.clock.dump())))
        for at, item in engine.buffer:
            alone.buffer.add(at, item)
        self.alone.append(alone)
        self.began = {
            name: self.began[name] if name in done.kept else len(self.alone) - 1 for name in _names_of(query)
        }
        return query

    def _replace_warm(self, engine: Engine, before: Query, query: Query, history: list[Item]) -> None:
        """The dry run with history says what a twin of the engine then does."""
        twin = before.engine(remember=0, lateness=engine.clock.lateness / SECOND)
        twin.restore(engine.snapshot())
        planned = engine.compare(query, warm="5 s", history=history)
        done = twin.replace(query, warm="5 s", history=history)
        assert planned.to_json() == done.to_json(), "the dry run says what happens"

    def _compare(self, engine: Engine, found: list[Occurrence], alone: list[list[Occurrence]]) -> None:
        returned = {*engine.query.plan.returned, *engine.query.plan.alerting}
        expected = Counter(
            _told(hit)
            for number, hits in enumerate(alone)
            for hit in hits
            if self.began.get(hit.event) == number and hit.event in returned
        )
        self.hits.update(hit.event for hit in found)
        if Counter(map(_told, found)) != expected and not self.failure:
            got = Counter(map(_told, found))
            self.failure = f"seed {self.seed}: more {got - expected}, less {expected - got}"


def _alone(query: Query, lateness: float) -> Engine:
    """An engine that only ever knows one query, and reports all of its events: RETURN may change."""
    engine = query.engine(remember=0, lateness=lateness)
    engine.running.runtime.show(frozenset(query.linked.events))
    return engine


def _names_of(query: Query) -> set[Term]:
    linked = query.linked
    return {name for name in (*linked.events, *linked.states) if not name.startswith("<urn:obep:group:")}


def _told(hit: Occurrence) -> str:
    more = (hit.status, hit.until, hit.ended) if isinstance(hit, Alert) else ()
    return repr((hit.event, hit.record_id, hit.detected, hit.bindings, hit.explanation, more))


def trials(seed: int, count: int) -> tuple[Counter[str], list[str]]:
    """Runs so many; what they met, and what failed."""
    met: Counter[str] = Counter()
    failures: list[str] = []
    for number in range(seed, seed + count):
        try:
            one = Trial(number).run()
        except ObepError as error:
            met["refused"] += 1
            if len(met) > 10**6:
                raise error
            continue
        met["trials"] += 1
        met["replacements"] += one.replacements
        met["kept"] += one.kept
        met["hits"] += sum(one.hits.values())
        if one.failure:
            failures.append(one.failure)
    return met, failures


if __name__ == "__main__":
    seen, failed = trials(int(sys.argv[1]), int(sys.argv[2]))
    print(dict(seen))
    sys.exit("\n".join(failed[:5]) if failed else 0)
