"""events found twice because of a guarded event

What it does: Finds an event with IF whose class alone entails other events.

Why: Take the message `celsius 8`, and the events of the example. It is a `Reading` and a `Hot`. The
occurrence of `Hot` is then an item for the other events. This item says that something is a `Hot`, and every
`Hot` has the class of its definition, `celsius some number`. So `Reading` is found again, in the occurrence
of `Hot`. A definition that names the guarded event is not reported.

Example:

    EVENT Reading AS (celsius some number)
    EVENT Hot AS (celsius some number) IF { ?this :celsius ?v FILTER(?v > 6) }

Fix:

    EVENT Hot AS (celsius some number[> 6])
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Set
from functools import cache, reduce
from itertools import compress
from operator import or_
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.rules.ontology.property_not_carried import ways_to_have
from obep.model import Term
from obep.ontology.owl.axioms import THING
from obep.ontology.rules import rule_kinds as r
from obep.ontology.rules.relevance import weighed
from obep.query import ast
from obep.query.diagnostics import listed, warn
from obep.query.walk import event_needs, reachable, walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP245"
NAME = "found-by-class"
SEVERITY = "warning"
Ways = Callable[[Term, bool], Set[Term] | None]
"""For a class, or a property, the names of which one must be passed on; `None`: it may be there anyway."""


def check_bundle(bundle: Bundle) -> list[Diagnostic]:
    guarded = [iri for iri in bundle.linked.events if iri in bundle.definitions.guarded - bundle.names_in_t]
    found = found_by_class(bundle, guarded) if guarded else {}
    return [_warning(bundle, head, again) for head, again in found.items()]


def found_by_class(bundle: Bundle, guarded: list[Term]) -> dict[Term, list[ast.LogicalEvent]]:
    """For each guarded event the others that may be found in its occurrences, and do not name it."""
    events = bundle.linked.events
    needs = event_needs(bundle.linked)
    bit = {head: 1 << number for number, head in enumerate(guarded)}
    reached = weighed(
        [*bundle.normal.rules, *bundle.normal.asserted], events, bundle.relations,
        lambda rule: bit.get(_premise(rule), 0),
    )  # fmt: skip
    having: dict[ast.Node, int] = {}
    for head in guarded:
        definition = events[head]
        assert isinstance(definition, ast.LogicalEvent)
        for part in _conjuncts(definition.description):
            if isinstance(part, ast.Some):
                having[part] = having.get(part, 0) | bit[head]
    rules = bundle.normal.rules  # what another event would entail of its own occurrences is left out
    ways: Ways = cache(
        lambda name, is_class: _ways_to_be(bundle, name) if is_class else ways_to_have(bundle, name, rules)
    )
    passed_on = frozenset[Term]().union(*map(bundle.vocabulary, guarded))
    found: dict[Term, list[ast.LogicalEvent]] = {head: [] for head in guarded}
    for iri, event in events.items():
        if (
            isinstance(event, ast.LogicalEvent)
            and event.on is None
            and event.guard is None  # its guard would see the class alone
            and _may_hold(bundle, event.description, passed_on, ways)
        ):  # what it asks for may be what all in the class have
            bits = reached[iri] | reduce(or_, (having.get(part, 0) for part in walk(event.description)))
            below = reachable(iri, needs)
            for head in compress(guarded, map(int, f"{bits:b}"[::-1])):
                if (
                    head not in below
                    and iri not in {head, *reachable(head, needs)}
                    and _may_hold(bundle, event.description, bundle.vocabulary(head), ways)
                ):
                    found[head].append(event)
    return {head: again for head, again in found.items() if again}


def _conjuncts(part: ast.Description) -> Iterator[ast.Description]:
    if isinstance(part, ast.Intersection):
        for operand in part.operands:
            yield from _conjuncts(operand)
    else:
        yield part


def _premise(rule: r.Rule) -> Term:
    """The class whose membership alone entails something."""
    match rule:
        case r.Sub((premise,)) | r.Fill(premise) | r.SelfOut(premise) | r.Is(premise):
            return premise
    return ""


def _may_hold(bundle: Bundle, part: ast.Description, passed_on: Set[Term], ways: Ways) -> bool:
    """Whether an occurrence that passes on these names, and K, can have all that another event asks for."""
    match part:
        case ast.ClassName(name):
            return _may_be(ways(name.iri, True), passed_on)
        case ast.Intersection(operands):
            return all(_may_hold(bundle, one, passed_on, ways) for one in operands)
        case ast.Union(operands):
            return any(_may_hold(bundle, one, passed_on, ways) for one in operands)
        case ast.Some(property, filler):
            name = property.property if isinstance(property, ast.Inverse) else property
            led = _may_be(ways(name.iri, False), passed_on)
            if filler is None or name.iri in bundle.definitions.axioms.data_properties:
                return led
            return led and _may_hold(bundle, filler, passed_on, ways)
        case ast.Value(property):
            name = property.property if isinstance(property, ast.Inverse) else property
            return _may_be(ways(name.iri, False), passed_on)
    return True


def _may_be(ways: Set[Term] | None, passed_on: Set[Term]) -> bool:
    return ways is None or not ways.isdisjoint(passed_on)


def _ways_to_be(bundle: Bundle, name: Term) -> Set[Term] | None:
    """The classes of which one must be passed on; `None`: it is known before, or follows otherwise."""
    events, names = bundle.linked.events, bundle.vocabularies
    below = names.below(name)
    ways = {name, *below}.difference(*({one, *names.below(one)} for one in below & events.keys()))
    if name == THING or name in events or not ways.isdisjoint(bundle.k.facts.classes):
        return None
    if any(getattr(rule, "head", "") in ways and not _premise(rule) for rule in bundle.normal.rules):
        return None
    return ways


def _warning(bundle: Bundle, head: Term, again: list[ast.LogicalEvent]) -> Diagnostic:
    event = bundle.linked.events[head]
    name, others = event.name.text, listed([one.name.text for one in again])
    return warn(
        CODE,
        bundle.linked.file_of[head],
        event.name.span,
        f"each {name} may be found as {others} once more",
        f"With IF, each {name} is a message of its own to the other events, and its class has what {others} "
        f"{'asks' if len(again) == 1 else 'ask'} for. So one message with a {name} in it counts twice there.",
        f"EVENT {again[0].name.text} ON <{_stream(bundle)}> AS …   "
        "which looks at the messages of that stream only;\n"
        f"or no IF: write the condition into the class of {name}, as in number[> 6]",
    )


def _stream(bundle: Bundle) -> str:
    return next(iter(bundle.linked.streams), "stream")
