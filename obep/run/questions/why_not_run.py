"""Why an event did not occur: which of its parts did, and what it would have taken."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from copy import copy
from dataclasses import dataclass, field, replace
from typing import Unpack

from obep.engine.knowledge.prepared_items import PreparedItems
from obep.engine.query import EngineSettings, Query, run
from obep.errors import ObepError, count, fail
from obep.formats.stream_reader import as_sent
from obep.formats.timestamps import Style, show_instant
from obep.model import RDF_TYPE, DeadLetter, Item, Occurrence
from obep.output.why_tree import short
from obep.plan.nodes import Read
from obep.plan.plan import Plan
from obep.query import ast
from obep.query.nearest_name import nearest
from obep.query.print.printer import show
from obep.query.state_expansion import expand
from obep.query.walk import alias_of, leaves, walk
from obep.why_not.part_distances import distance
from obep.why_not.relaxing import group_relaxations, relaxations, timeless, undemanding
from obep.why_not.report import WhyNot
from obep.why_not.target import Question, StateQuestion, question, split, state_question

SHOWN = 5
"""Values of a property that are named."""


@dataclass
class Seen:
    """The observations of a run over all items."""

    items: list[Item]
    style: Style | None
    taken: list[Item] = field(default_factory=list)
    """The accepted items: only they can have had an effect."""
    unread: list[DeadLetter] = field(default_factory=list)
    """Records that are no items."""
    refused: list[DeadLetter] = field(default_factory=list)
    occurrences: dict[str, list[Occurrence]] = field(default_factory=dict)
    names: Counter[str] = field(default_factory=Counter)
    """Items in which a property or class is used."""
    values: dict[str, Counter[str]] = field(default_factory=dict)
    """The literals that a property has."""
    why_not: Callable[[str], WhyNot] | None = None
    """Asks the engine about an event."""
    plan: Plan | None = None
    """The plan of the query with every event returned."""

    def time(self, micros: int) -> object:
        return show_instant(micros, self.style or "iso")


def resolve(text: str, query: Query) -> Question | StateQuestion:
    """The question about an event or a state, by its IRI or the end of it, and perhaps about individuals."""
    events, states = query.linked.events, query.linked.states
    name, arguments = split(text)
    for iri, event in events.items():
        if name in (iri, iri[1:-1], event.name.text, short(iri)):
            return question(query.plan[iri], arguments, query.linked.file)
    for plan in query.plan.states:
        known = (plan.state, plan.state[1:-1], plan.name, short(plan.state))
        if plan.state in states and name in known:
            return state_question(plan, arguments, query.linked.file)
    for registered in query.plan.queries:
        if name in (registered.iri, registered.iri[1:-1], registered.name, short(registered.iri)):
            raise fail(
                "OBEP100",
                f"{name} is a query, and not an event or a state",
                reason="A query has rows, or none, whenever it is evaluated.",
                remedy="obep run --why, which shows its rows; obep explain says when it is evaluated",
            )
    near = nearest(name, [one.name.text for one in (*events.values(), *states.values())])
    raise fail(
        "OBEP100",
        f"the query defines no event {name}",
        remedy=near or "",
        reason="" if near else _known(query),
    )


def watch(
    query: Query,
    items: list[Item],
    style: Style | None,
    **settings: Unpack[EngineSettings],
) -> Seen:
    """Runs the query with every event returned."""
    prepares = settings.get("prepares", lambda: None)
    made: dict[Item, Item] = {}

    def keeping() -> PreparedItems | None:
        if (found := prepares()) is not None:
            found.made = made
        return found

    seen = Seen(items, style)
    everything = _returning(query, ast.Return("all", ()))
    seen.plan = everything.plan
    own: EngineSettings = {**settings, "on_dead_letter": seen.refused.append, "prepares": keeping}
    engine = everything.engine(**own)
    for occurrence in [*engine.push_items(items), *engine.close()]:
        seen.occurrences.setdefault(occurrence.event, []).append(occurrence)
    seen.why_not = engine.why_not
    seen.taken = [made.get(item, item) for item in _taken(items, seen.refused)]
    for item in seen.taken:
        used = {p for _, p, _ in item.triples} | {o for _, p, o in item.triples if p == RDF_TYPE}
        seen.names.update(used)
        for _, p, o in item.triples:
            if o[0] == '"':
                seen.values.setdefault(p, Counter())[o] += 1
    return seen


def _taken(items: Iterable[Item], letters: Iterable[DeadLetter]) -> Iterator[Item]:
    """The items that no dead letter is about; a letter about an occurrence or a window is about none."""
    refused = Counter((letter.stream, letter.at, letter.raw) for letter in letters if letter.raw)
    for item in items:
        key = (item.stream, item.at, as_sent(item) if refused else "")
        if refused.get(key):
            refused[key] -= 1
        else:
            yield item


def report(asked: Question, query: Query, seen: Seen, **settings: Unpack[EngineSettings]) -> Iterator[str]:
    """The reasons, line by line."""
    event, name = query.linked.events[asked.plan.event], str(asked)
    every = seen.occurrences.get(asked.plan.event, [])
    found = [one for one in every if asked.fits(one)]
    if found:
        yield f"{name} did occur: {_times(found, seen)}."
        yield f"obep why {found[0].id} OUTPUT shows why."
        return
    yield f"{name} did not occur in {count(len(seen.taken), 'item')}{between(seen)}{refusals(seen)}."
    if every:
        yield f"With others it did: {_times(every, seen)}."
    yield from (f"  {line}" for line in show(event).splitlines())
    if isinstance(event, ast.CompositeEvent):
        yield from _parts(event, asked, query, seen, settings)
    elif isinstance(event, ast.LogicalEvent):
        yield from _words(event, query, seen, asked.individual)
    elif isinstance(event, ast.GraphEvent):
        yield from _group(event, asked, query, seen, settings)
    yield from refused_lines(seen)


def refusals(seen: Seen) -> str:
    """The number of refused items and records."""
    more = len(seen.unread) + len(seen.items) - len(seen.taken)
    return f"; {more} more {'was' if more == 1 else 'were'} refused (see below)" if more else ""


def refused_lines(seen: Seen) -> Iterator[str]:
    """Why items and records were refused."""
    letters = [*seen.unread, *seen.refused]
    for code, number in Counter(letter.code for letter in letters).most_common():
        first = next(letter for letter in letters if letter.code == code)
        yield f"{number} refused with {code}; the first: {first.reason}"


def _parts(
    event: ast.CompositeEvent, asked: Question, query: Query, seen: Seen, settings: EngineSettings
) -> Iterator[str]:
    assert seen.plan is not None and seen.why_not is not None
    denied = _denied(event.pattern)
    lacking: list[ast.Event] = []
    places = seen.plan[event.name.iri].leaves
    moments = {alias_of(leaf): leaf for leaf in leaves(event.pattern) if leaf.moment != "event"}
    furthest = seen.why_not(asked.written) if moments else None
    for alias, moment in moments.items():
        number = furthest.seen.get(alias, 0) if furthest is not None else 0
        yield f"  {show(moment)}: {count(number, 'time') if number else 'never'}"
    events = [leaf for leaf in leaves(event.pattern) if leaf.moment == "event"]
    for leaf in dict.fromkeys((leaf.event.iri, leaf.event.text) for leaf in events):
        here = [place for place in places if place.event == leaf[0]]
        every = seen.occurrences.get(leaf[0], [])
        found = [one for one in every if not here or any(asked.takes(place, one) for place in here)]
        role = "  (must not happen)" if leaf[0] in denied else ""
        yield f"  {leaf[1]}: {_times(found, seen) if found else 'never'}{role}"
        if not found and leaf[0] not in denied and leaf[0] in query.linked.events:
            lacking.append(query.linked.events[leaf[0]])
    if lacking or (furthest is not None and furthest.states):
        for part in lacking:
            about = _about(part, asked, places)
            shown = "".join(f" with ?{name} = {short(value)}" for name, value in about.items())
            yield f"{part.name.text} never occurred{shown}:"
            yield from (f"  {line}" for line in show(part).splitlines())
            if isinstance(part, ast.LogicalEvent):
                yield from _words(part, query, seen, _individual(part, asked, event))
        yield from furthest.details() if furthest is not None and furthest.states else ()
        return
    yield from _nearly(event, asked, query, seen, settings)


def _about(part: ast.Event, asked: Question, places: Iterable[Read]) -> dict[str, str]:
    """The parameters that an event shares with the question, where it is a part."""
    shared = {name for place in places if place.event == part.name.iri for name in place.variables}
    return {name: value for name, value in asked.bound.items() if name in shared}


def _individual(part: ast.Event, asked: Question, event: ast.CompositeEvent) -> str | None:
    """The individual that a logical event would have to be about: `Low(?pen)`, if ?pen was asked for."""
    values = {
        asked.bound.get(leaf.parameters[0].name)
        for leaf in leaves(event.pattern)
        if leaf.event.iri == part.name.iri and leaf.parameters
    }
    return values.pop() if len(values) == 1 else None


def _nearly(
    event: ast.CompositeEvent, asked: Question, query: Query, seen: Seen, settings: EngineSettings
) -> Iterator[str]:
    """All parts are there: which condition keeps them apart?"""
    assert seen.why_not is not None
    furthest = seen.why_not(asked.written)
    yield from furthest.details()
    if any(one.until is not None for one in furthest.waiting):
        return
    enough = False
    for what, relaxed in relaxations(event, apart=not asked.values):
        number = _tried(relaxed, asked, query, seen, settings)
        if number:
            enough = True
            yield f"Without {what} it would have occurred {count(number, 'time')}."
    if not enough:
        number = _tried(undemanding(event, apart=not asked.values), asked, query, seen, settings)
        far = distance(event, _denied(event.pattern), _those(asked, seen), seen.style or "iso")
        both = timeless(event)
        timed = _tried(both[1], asked, query, seen, settings) if both and number else 0
        if both and timed:
            yield f"Without {both[0]} it would have occurred {count(timed, 'time')}."
        elif number:
            yield "No single condition prevents it. Without all of them its parts would match."
        if number and far:
            yield far
        if not number:
            yield "Its parts occurred, but never so that the pattern could join them."


def _group(
    event: ast.GraphEvent, asked: Question, query: Query, seen: Seen, settings: EngineSettings
) -> Iterator[str]:
    """Find the condition of a group that prevented it."""
    assert seen.why_not is not None
    yield from seen.why_not(asked.written).details()
    for what, group in group_relaxations(event.group) if isinstance(event.group, ast.Group) else ():
        number = _tried(replace(event, group=group), asked, query, seen, settings)
        if number:
            yield f"Without {what} it would have occurred {count(number, 'time')}."


def _those(asked: Question, seen: Seen) -> dict[str, list[Occurrence]]:
    """The occurrences of the parts that fit the given individuals."""
    places = asked.plan.leaves
    return {
        place.event: [one for one in seen.occurrences.get(place.event, []) if asked.takes(place, one)]
        for place in places
    }


def _tried(event: ast.Event, asked: Question, query: Query, seen: Seen, settings: EngineSettings) -> int:
    events = {**query.linked.events, event.name.iri: event}
    linked = replace(query.linked, events=events, returns=(ast.Return("listed", (event.name,)),))
    bundle = query.bundle
    if isinstance(event, ast.GraphEvent):  # matchers look for what the bundle says
        bundle = copy(bundle)
        bundle.linked, bundle.expanded = linked, expand(linked)
    try:
        return sum(map(asked.fits, run(Query(linked, bundle), seen.items, **settings)))
    except (ObepError, KeyError, ValueError):  # others use what this one no longer says
        return 0


def _words(event: ast.LogicalEvent, query: Query, seen: Seen, individual: str | None = None) -> Iterator[str]:
    """Count the uses of the names of a definition."""
    for name in dict.fromkeys(node for node in walk(event.description) if isinstance(node, ast.Name)):
        if name.iri in query.linked.events:
            found = seen.occurrences.get(name.iri, [])
            yield f"  {name.text}: {_times(found, seen) if found else 'never'}"
        elif not name.iri.startswith(("<http://www.w3.org/", "<urn:obep:")):
            number = seen.names.get(name.iri, 0)
            used = f"used in {number} of {len(seen.taken)} items" if number else "in no item"
            used += value_range(seen.values.get(name.iri))
            if any(name.iri in (p, o) for _, p, o in query.bundle.k):
                used += f", {'and' if number else 'but'} in the static graph"
            elif not number:
                used += _instead(name.iri, seen)
            yield f"  {name.text}: {used}"
    if seen.items and seen.why_not is not None:
        about = f"({individual})" if individual is not None else ""
        yield from seen.why_not(event.name.iri + about).details()


def value_range(found: Counter[str] | None) -> str:
    """The values of a property: from which to which number, or the commonest."""
    if not found:
        return ""
    try:
        numbers = sorted((float(short(one).strip('"')), short(one).strip('"')) for one in found)
    except ValueError:
        common = [short(one) for one, _ in found.most_common(SHOWN + 1)]
        return f", with {', '.join(common[:SHOWN])}{', …' if len(common) > SHOWN else ''}"
    least, most = numbers[0][1], numbers[-1][1]
    return f", with {least}" if least == most else f", with {least} to {most}"


def _instead(iri: str, seen: Seen) -> str:
    """The name that items use and that was probably meant."""
    near = nearest(iri, [name for name in seen.names if not name.startswith("<http://www.w3.org/")])
    return f"; is it {short(near)}?" if near else ""


def _denied(pattern: ast.Pattern) -> set[str]:
    denied: set[str] = set()
    for node in walk(pattern):
        if isinstance(node, ast.Without | ast.NotFollowedBy):
            denied |= {leaf.event.iri for leaf in leaves(node.right)}
        elif isinstance(node, ast.Repeated) and node.until is not None:
            denied |= {leaf.event.iri for leaf in leaves(node.until)}
        elif isinstance(node, ast.Not | ast.Optional):
            denied |= {leaf.event.iri for leaf in leaves(node.operand)}
    return denied


def _returning(query: Query, clause: ast.Return) -> Query:
    return Query(replace(query.linked, returns=(clause,)), query.bundle)


def _times(found: list[Occurrence], seen: Seen) -> str:
    first, last = min(o.start for o in found), max(o.end for o in found)
    when = (
        f"at {seen.time(first)}"
        if first == last
        else f"first at {seen.time(first)}, last at {seen.time(last)}"
    )
    return f"{count(len(found), 'time')}, {when}"


def between(seen: Seen) -> str:
    """From when to when the items were."""
    if not seen.taken:
        return ""
    first, last = min(i.at for i in seen.taken), max(i.at for i in seen.taken)
    return f" from {seen.time(first)} to {seen.time(last)}"


def _known(query: Query) -> str:
    defined = (*query.linked.events.values(), *query.linked.states.values())
    return "It defines: " + (", ".join(one.name.text for one in defined) or "queries only")
