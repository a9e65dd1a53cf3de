"""A case with states through the engine, as a user runs it: text in, items in some order, answers out.

The order is shuffled within a lateness, items may come too late to count, and engines go on from snapshots:
nothing of that may change an answer (STATES 7). What only the engine knows is in `state_leaf` and
`alerts_told`: how its occurrences and alerts look.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

import obep
from obep.model import SECOND, Item, Occurrence
from oracle.state_semantics import Told, identity, rows_told
from oracle.state_strategies import StateCase


def case_text(case: StateCase) -> str:
    """The query as it would be written."""
    from obep.query.print.printer import show

    return show(case.file)


def arrivals(case: StateCase, random: Random, lateness: int) -> list[Item]:
    """The items in an order that the lateness allows; sometimes, at the end, one that is too late."""
    order = random.sample(case.items, len(case.items))
    order.sort(key=lambda item: item.at + random.random() * lateness)
    last = max(item.at for item in order)
    old = Item("s", last - lateness - 2 * SECOND, case.items[-1].triples)
    return [*order, old] if random.random() < 0.3 and old.at >= 0 else order


def engine_answers(case: StateCase, seed: int) -> tuple[Counter[Told], Counter[Told]]:
    """The occurrences and the alerts that an engine reports, told as the oracle tells them."""
    random = Random(seed)
    lateness = random.choice((0, 0, 1, 3)) * SECOND
    often = random.choice((0.0, 0.0, 0.3))
    with TemporaryDirectory() as folder:
        Path(folder, "k.ttl").write_text("".join(f"{s} {p} {o} .\n" for s, p, o in case.k), "utf-8")
        query = obep.load(text=case_text(case), folder=folder, java=False)
    settings = {"lateness": lateness / SECOND}
    engine = query.engine(**settings)
    reported: list[object] = []
    for item in arrivals(case, random, lateness):
        reported += engine.push_items((item,))
        if random.random() < often:
            data = engine.snapshot()
            engine = query.engine(**settings)
            engine.restore(data)
    reported += engine.advance(case.end / SECOND)
    reported += engine.close()
    occurrences = [found for found in reported if isinstance(found, Occurrence)]
    alerts = [found for found in reported if not isinstance(found, Occurrence)]
    return Counter(map(occurrence_told, occurrences)), Counter(alerts_told(alerts))


def occurrence_told(o: Occurrence) -> Told:
    """As `state_semantics.told`, with the engine's own leaves of states."""
    return (o.event, o.start, o.end, o.detected, o.since, o.partition, made_of(o), rows_told(o.bindings))


def made_of(o: Occurrence) -> Told:
    """As `state_semantics.identity`."""
    leaf = state_leaf(o)
    if leaf is not None:
        return leaf
    if not o.parts:
        return identity(o)
    leaves = [p.occurrence for p in o.parts if not p.context]
    explained = {a for part in leaves for a in part.explanation}
    rest = frozenset(a for a in o.explanation if a not in explained)
    return (frozenset(Counter(map(made_of, leaves)).items()), o.start, o.end, o.partition, rest)


def state_leaf(o: Occurrence) -> Told | None:
    """(kind, S, k, start, end) of BEGIN, END, S or FOR; (H, parameters, start, end) of a graph event.

    To be filled in with the engine: kinds are `begin`, `end`, `episode` and `for`.
    """
    raise NotImplementedError


def alerts_told(records: Iterable[object]) -> Iterable[Told]:
    """(S, k, b, d, status, at, ended, bindings) of each record. To be filled in with the engine."""
    raise NotImplementedError


def returned(case: StateCase, found: Counter[Told]) -> Counter[Told]:
    """Those of the events that the query returns."""
    names = {name.iri for wanted in case.file.returns for name in wanted.events}
    return Counter({told: count for told, count in found.items() if told[0] in names})
