"""The laws of STATES 7 as properties of any evaluator: the oracle itself, and every engine.

An evaluator takes a case and gives the occurrences that it reports, told as `state_semantics.told` does. Each
law takes one and a random case, and gives what is wrong: nothing, if the law holds.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from random import Random

from obep.model import SECOND, Item, Term
from obep.query import ast
from oracle.guard_semantics import parts
from oracle.pattern_cases import iri
from oracle.state_cases import begin, composite, end, episode, group, n, query, read_k, v
from oracle.state_semantics import Told, evaluate
from oracle.state_strategies import SOURCES, K, StateCase, StateCases
from oracle.states.state_draws import StateDraw
from oracle.states.state_numbers import comparable

Report = tuple[tuple[object, ...], int, int, int]
"""(k, start, end, detected)."""
Evaluator = Callable[[StateCase], Counter[Told]]


def oracle_evaluator(case: StateCase) -> Counter[Told]:
    return evaluate(case.file, case.items, case.k, end=case.end).occurrences


def probed(random: Random, name: str = "S1") -> tuple[StateCase, ast.State, int]:
    """A case whose events look at one of its states: BEGIN, END, FOR d, and FOR d said in another way."""
    drawing = StateCases(random)
    drawing.states = StateDraw(random)
    drawing.states.state("S0")
    state = drawing.states.state(name)
    names = " ".join(p.name for p in state.parameters)
    d = random.randint(1, 4)
    absent = ast.NotFollowedBy(begin(name, names, "b"), end(name, names, None, "e"), ast.Duration(d * SECOND))
    events = [
        composite("P1", begin(name, names)),
        composite("P2", end(name, names)),
        composite("P3", episode(name, names, d)),
        composite("P4", absent),
        composite("P5", episode(name, names)),
        composite("P6", end(name, names, d)),
    ]
    returns = ast.Return("listed", tuple(event.name for event in events))
    file = query(*SOURCES, *drawing.states.windows.values(), *drawing.states.made, *events, returns)
    items, last = drawing.stream()
    return StateCase(file, tuple(read_k(K)), tuple(items), last), state, d * SECOND


def reports(found: Counter[Told], event: str, names: tuple[str, ...]) -> list[Report]:
    """The occurrences of an event, in the order of detection."""
    listed = []
    for told in found.elements():
        if told[0] == iri(event):
            rows = [dict(row) for row in told[7]]  # type: ignore[union-attr]
            key = tuple(rows[0][name] for name in names) if names else ()
            listed.append((key, told[1], told[2], told[3]))
    return sorted(listed, key=lambda r: (r[3], r[1], repr(r[0])))  # type: ignore[return-value]


def names_of(state: ast.State) -> tuple[str, ...]:
    return tuple(p.name for p in state.parameters)


# --- episodes ---------------------------------------------------------------------------------------------


def begin_and_end_alternate(evaluator: Evaluator, seed: int) -> str:
    """For each key BEGIN and END alternate, at different instants; a calendar may begin before the run."""
    case, state, _ = probed(Random(seed))
    found, names = evaluator(case), names_of(state)
    marks = [(at, key, "BEGIN") for key, _, _, at in reports(found, "P1", names)]
    marks += [(at, key, "END") for key, _, _, at in reports(found, "P2", names)]
    before: dict[object, tuple[int, str]] = {}
    for at, key, kind in sorted(marks, key=lambda m: (m[0], repr(m[1]))):
        last_at, last = before.get(key, (at - 1, "BEGIN" if isinstance(state, ast.DailyState) else "END"))
        if last == kind and not (isinstance(state, ast.DailyState) and key not in before):
            return f"{kind} twice for {key}"
        if last_at >= at:
            return f"{last} and {kind} of {key} at {at}"
        before[key] = (at, kind)
    return ""


def for_d_is_an_absence_of_the_end(evaluator: Evaluator, seed: int) -> str:
    """S FOR d is BEGIN S NOT FOLLOWED BY END S WITHIN d."""
    case, state, _ = probed(Random(seed))
    if isinstance(state, ast.DailyState):  # an edge before the run has no BEGIN
        return ""
    found, names = evaluator(case), names_of(state)
    held, absent = reports(found, "P3", names), reports(found, "P4", names)
    return "" if held == absent else f"{held} is not {absent}"


def for_d_fires_iff_the_episode_lasts_d(evaluator: Evaluator, seed: int) -> str:
    """Of the episodes that are over: those that lasted d have fired, and END FOR d has seen the same."""
    case, state, d = probed(Random(seed))
    if isinstance(state, ast.DailyState):  # an episode may have lasted d before the run
        return ""
    found, names = evaluator(case), names_of(state)
    ended = reports(found, "P5", names)
    long = {(key, start) for key, start, finish, _ in ended if finish - start >= d}
    closed = {(key, start) for key, start, _, _ in ended}
    fired = {(key, start) for key, start, _, _ in reports(found, "P3", names)} & closed
    late = sorted((repr(key), at) for key, _, finish, at in ended if finish - _start(ended, key, finish) >= d)
    ends = sorted((repr(key), at) for key, _, _, at in reports(found, "P6", names))
    if fired != long:
        return f"fired {fired}, but {long} lasted"
    return "" if ends == late else f"END FOR {ends}, but {late} lasted"


def _start(ended: list[Report], key: object, finish: int) -> int:
    return next(start for k, start, f, _ in ended if k == key and f == finish)


# --- what holds -------------------------------------------------------------------------------------------


def held_at(found: Counter[Told], names: tuple[str, ...], t: int) -> set[tuple[object, ...]]:
    """What holds at t, by BEGIN and END alone."""
    on: Counter[tuple[object, ...]] = Counter(k for k, _, _, at in reports(found, "P1", names) if at <= t)
    on.subtract(k for k, _, _, at in reports(found, "P2", names) if at <= t)
    return {key for key, count in on.items() if count > 0}


def over_is_recomputed_from_the_last_d(evaluator: Evaluator, seed: int) -> str:
    """OVER a leaf at t holds as it does for one who has seen the items of (t - d, t] alone."""
    random = Random(seed)
    for _ in range(40):
        case, state, _ = probed(random)
        if isinstance(state, ast.OverState) and _forgets(state):
            break
    else:
        return ""
    names, found = names_of(state), evaluator(case)
    for t in sorted({item.at for item in case.items} | {case.end}):
        if state.step and t % state.step.micros:
            continue
        recent = tuple(item for item in case.items if t - state.within.micros < item.at <= t)
        alone = evaluator(replace(case, items=recent, end=t)) if recent else Counter[Told]()
        if held_at(found, names, t) != held_at(alone, names, t):
            return f"at {t}: {held_at(found, names, t)}, of the last d alone {held_at(alone, names, t)}"
    return ""


def _forgets(state: ast.OverState) -> bool:
    """An event of items with a key, and nothing that knows what was before."""
    plain = isinstance(state.over, ast.Leaf) and state.over.moment == "event" and state.parameters
    full = any(isinstance(p, ast.Aggregate) and p.function == "FULL" for p in parts(state))
    return bool(plain) and state.each is None and not full


def latest_is_a_fold(evaluator: Evaluator, seed: int) -> str:
    """LATEST holds, for each subject, what the last instant said; after r nothing."""
    random = Random(seed)
    reach = random.choice((None, 2, 4))
    window = ast.Window("w", "s", "latest", None if reach is None else ast.Duration(reach * SECOND))
    state = ast.GroupState(n("S1"), v("x t"), group(ast.WindowGroup("w", group("?x v ?t"))))
    events = [composite("P1", begin("S1", "x t")), composite("P2", end("S1", "x t"))]
    returns = ast.Return("listed", tuple(event.name for event in events))
    drawing = StateCases(random)
    drawing.states = StateDraw(random)
    items, last = drawing.stream()
    case = StateCase(query(*SOURCES, window, state, *events, returns), (), tuple(items), last)
    found = evaluator(case)
    instants = {t for item in items for t in (item.at, item.at + (reach or 0) * SECOND) if t <= last}
    for t in sorted(instants):
        expected = {tuple(map(comparable, pair)) for pair in _folded(items, t, reach)}
        if held_at(found, ("x", "t"), t) != expected:
            return f"at {t}: {held_at(found, ('x', 't'), t)}, folded {expected}"
    return ""


def _folded(items: list[Item], t: int, reach: int | None) -> Iterator[tuple[Term, Term]]:
    values: dict[Term, tuple[int, set[Term]]] = {}
    for item in items:
        for subject, predicate, value in item.triples:
            if item.stream == "s" and item.at <= t and predicate == iri("v"):
                at, known = values.get(subject, (item.at, set()))
                values[subject] = (item.at, (known if at == item.at else set()) | {value})
    for subject, (at, known) in values.items():
        if reach is None or at > t - reach * SECOND:
            yield from ((subject, value) for value in known)


def other_keys_change_nothing(evaluator: Evaluator, seed: int) -> str:
    """Split by key: what holds for x does not change when items about y say nothing of y."""
    case, state, _ = probed(Random(seed))
    if not _is_keyed(case):
        return ""
    quiet = tuple(_without(item, iri("y")) for item in case.items)
    names = names_of(state)
    whole, alone = evaluator(case), evaluator(replace(case, items=quiet))
    for event in ("P1", "P2", "P3", "P5"):
        ours = [r for r in reports(whole, event, names) if iri("x") in r[0]]
        theirs = [r for r in reports(alone, event, names) if iri("x") in r[0]]
        if ours != theirs:
            return f"{event}: {ours}, without y {theirs}"
    return ""


def splitting_by_key_changes_nothing(evaluator: Evaluator, seed: int) -> str:
    """Each key alone, then all together: the same. K knows a key of which no item says anything."""
    random = Random(seed)
    for _ in range(40):
        case, state, _ = probed(random)
        if _is_keyed(case) and not isinstance(state, ast.DailyState):
            break
    else:
        return ""
    silent = iri("n")
    case = replace(case, k=(*case.k, *((silent, p, o) for s, p, o in case.k if s == iri("x"))))
    names, whole = names_of(state), evaluator(case)
    for key in (iri("x"), iri("y"), silent):
        others = {iri(name) for name in "xyn"} - {key}
        quiet = tuple(_without(item, *others) for item in case.items)
        alone = evaluator(replace(case, items=quiet))
        for event in ("P1", "P2", "P3", "P4", "P5", "P6"):
            ours = [r for r in reports(whole, event, names) if key in r[0]]
            theirs = [r for r in reports(alone, event, names) if key in r[0]]
            if ours != theirs:
                return f"{event} of {key}: {ours}, alone {theirs}"
    return ""


def _is_keyed(case: StateCase) -> bool:
    """Whether nothing in the states knows of another key: no ROWS, which count all items."""
    leaves = [p for s in case.file.states for p in parts(s) if isinstance(p, ast.Leaf)]
    keyed = all(s.parameters for s in case.file.states) and all(p.parameters for p in leaves)
    return keyed and not any(window.kind == "rows" for window in case.file.windows)


def _without(item: Item, *keys: Term) -> Item:
    """The item with another subject that no state knows, if it is about a key."""
    if not any(key in triple for triple in item.triples for key in keys):
        return item
    return item._replace(triples=((iri("q"), iri("says"), iri("nothing")),))


LAWS = (
    begin_and_end_alternate,
    for_d_is_an_absence_of_the_end,
    for_d_fires_iff_the_episode_lasts_d,
    over_is_recomputed_from_the_last_d,
    latest_is_a_fold,
    other_keys_change_nothing,
    splitting_by_key_changes_nothing,
)
