"""A case with states through the engine, told as the oracle tells it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from unittest.mock import patch

from obep.algebra.over.lone_rows import take_lone_rows
from obep.engine.query import Query
from obep.engine.reporter import Detected
from obep.engine.states import over_state
from obep.model import SECOND, Alert, Assertion, Item, Occurrence
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.operators.candidates import PARTS
from obep.query.ast import CompositeEvent, GraphEvent
from obep.query.link import assemble
from oracle.state_semantics import Told, rows_told
from oracle.state_strategies import StateCase


def engine_answers(case: StateCase, seed: int) -> tuple[Counter[Told], Counter[Told]]:
    """What the engine reports for a case; the seed chooses how the items arrive, and where it is restored."""
    query = query_of(case)
    how = Handling.in_lots(seed) if case.in_lots else Handling.of(seed)
    random = how.random
    engine = query.engine(remember=0, lateness=how.lateness)
    found: list[Occurrence] = []
    for lot in how.lots(case.items):
        found += engine.push_items(lot)
        item = lot[-1]
        if how.too_late and (watermark := engine.clock.watermark) is not None and random.random() < 0.2:
            assert engine.push_items([item._replace(at=watermark - 1)]) == []
        if how.restores and random.random() < 0.15:
            state = engine.snapshot()
            engine = query.engine(remember=0, lateness=how.lateness)
            engine.restore(state)
    found += engine.advance(case.end / SECOND)
    found += engine.close()
    told_alerts = [one for one in found if isinstance(one, Alert)]
    order = [(one.detected, one.status == "resolved") for one in told_alerts]
    assert order == sorted(order), "at one instant firing comes before resolved (STATES 4)"
    alerts = Counter(map(alert_told, told_alerts))
    return Counter(told(one, query) for one in found if not isinstance(one, Alert)), alerts


@dataclass
class Handling:
    """What may not matter: the order of arrival within the lateness, whether items come one by one or several
    at once, items that are too late, snapshots."""

    random: Random
    lateness: int
    """In seconds."""
    too_late: bool
    restores: bool
    most_at_once: int = 1

    @classmethod
    def of(cls, seed: int) -> Handling:
        random = Random(seed)
        lateness = random.choice((0, 0, 1, 3, 6))
        most = Random(f"lots of {seed}").choice((1, 1, 3, 30))
        return cls(random, lateness, random.random() < 0.2, random.random() < 0.4, most)

    @classmethod
    def in_lots(cls, seed: int) -> Handling:
        """Mostly in order, and always several at once."""
        random = Random(f"in lots {seed}")
        lateness = random.choice((0, 0, 0, 0, 0, 0, 0, 1))
        most = random.choice((4, 10, 30, 30))
        return cls(random, lateness, random.random() < 0.1, random.random() < 0.5, most)

    def order(self, items: Sequence[Item]) -> list[Item]:
        """The items as they arrive: any order that the lateness allows, also at one instant."""
        mixed = self.random.sample(items, len(items))
        latest = self.lateness * SECOND
        return sorted(mixed, key=lambda item: item.at + self.random.choice((0, latest // 2, latest)))

    def lots(self, items: Sequence[Item]) -> Iterator[list[Item]]:
        """The same, as they are pushed."""
        ordered, sizes = self.order(items), Random(len(items))
        while ordered:
            size = sizes.randint(1, self.most_at_once)
            yield ordered[:size]
            del ordered[:size]

    def names(self) -> Iterator[str]:
        """Which of EXPECTED it is."""
        flags = {"SHUFFLED": self.lateness > 0, "TOO LATE": self.too_late, "SNAPSHOT": self.restores}
        flags["LOTS"] = self.most_at_once > 1
        return (name for name, given in flags.items() if given)


@contextmanager
def rows_in_loop() -> Iterator[Counter[str]]:
    """Counts the rows that states by rows take in one loop, and how often such a loop finds a change."""
    found: Counter[str] = Counter()

    def counted(window: Any, rows: Any, place: int, until: int) -> Any:
        reached, changed = take_lone_rows(window, rows, place, until)
        found["rows"] += reached - place
        found["changes"] += changed is not None
        return reached, changed

    with patch.object(over_state, "take_lone_rows", counted):
        yield found


_known: list[tuple[StateCase, Query]] = []


def query_of(case: StateCase) -> Query:
    """The query of a case, compiled; that of the last case is kept, for its other streams."""
    if not _known or _known[0][0].file is not case.file or _known[0][0].k != case.k:
        linked = assemble([case.file], Path())
        made = Query(linked, compile_bundle(linked, Axioms(()), case.k, java=False))
        _known[:] = [(case, made)]
    return _known[0][1]


def told(o: Occurrence, query: Query) -> Told:
    return (
        o.event,
        o.start,
        o.end,
        o.detected,
        o.since,
        o.partition,
        identity(o, query),
        rows_told(o.bindings),
    )


def identity(o: Occurrence, query: Query) -> Told:
    event = query.linked.events.get(o.event)
    moments = query.expanded.moments
    if o.event in moments:
        moment = moments[o.event]
        names = [one.name for one in query.linked.states[moment.state].parameters]
        row = o.bindings[0] if o.bindings else {}
        kind = "for" if moment.kind == "episode" and moment.lasting is not None else moment.kind
        return (kind, moment.state, tuple(row[name] for name in names), o.start, o.end)
    if isinstance(event, GraphEvent):
        planned = query.expanded.events[o.event]
        row = o.bindings[0] if o.bindings else {}
        return (o.event, tuple(row.get(one.name, "") for one in planned.parameters), o.start, o.end)
    if not isinstance(event, CompositeEvent) or not o.parts:
        return (o.individual, frozenset(o.explanation), o.start, o.end)
    leaves = [part.occurrence for part in o.parts if not part.context]
    return (
        frozenset(Counter(identity(leaf, query) for leaf in leaves).items()),
        o.start,
        o.end,
        o.partition,
        rest(o, query),
    )


def rest(o: Occurrence, query: Query) -> frozenset[Assertion]:
    """What the NOTs of a composite add to it (D1)."""
    leaves = [part.occurrence for part in o.parts if not part.context]
    explained = {a for leaf in leaves for a in counted(leaf, query)}
    if not isinstance(o, Detected):  # it was in a snapshot, which does not say what is whose
        theirs = {a for leaf in leaves for a in leaf.explanation}
        return frozenset(a for a in o.explanation if a not in explained | theirs)
    assert o.by.plan.root is not None
    aliases = o.by.plan.root.aliases
    for candidate in o.candidates:  # several may be one occurrence (D1): the one whose parts are shown
        parts = [*zip(candidate[PARTS], aliases, strict=True)]
        shown_parts = [
            part for part, alias in parts if part is not None and alias.event and not alias.context
        ]
        if all(any(leaf is part for part in shown_parts) for leaf in leaves):
            break
    added = [part for part, alias in parts if part is not None and not (alias.event or alias.context)]
    return frozenset(a for part in added for a in part.explanation if a not in explained)


def counted(o: Occurrence, query: Query) -> frozenset[Assertion]:
    """The assertions that make an occurrence the same as another: none of states and graph events (D39, D43).

    These may have their cause in common with a NOT beside them, whose assertions count.
    """
    if o.event in query.expanded.moments or isinstance(query.linked.events.get(o.event), GraphEvent):
        return frozenset()
    if not o.parts:
        return frozenset(o.explanation)
    leaves = [part.occurrence for part in o.parts if not part.context]
    return rest(o, query).union(*(counted(leaf, query) for leaf in leaves))


def alert_told(one: Alert) -> Told:
    at = one.start + one.lasting if one.until is None else one.until
    head = (one.event, tuple(one.labels.values()), one.start, one.lasting)
    return (*head, one.status, at, one.ended, rows_told(one.bindings))
