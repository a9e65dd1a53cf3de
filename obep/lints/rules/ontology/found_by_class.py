"""events found twice because of a guarded event

What it does: Finds an event with IF whose class alone entails other events.

Why: An occurrence of `Hot` is an item for the other events. That item is a `Hot`, so it has the class of its
definition, without its guard. So `Reading` is found twice: in the message and in the occurrence of `Hot`. A
definition that names the guarded event is not reported.

Example:

    EVENT Reading AS (celsius some number)
    EVENT Hot AS (celsius some number) IF { ?this :celsius ?v FILTER(?v > 6) }

Fix:

    EVENT Hot AS (celsius some number[> 6])
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import Diagnostic
from obep.lints.rules.ontology.property_not_carried import may_be_there
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
    found: dict[Term, list[ast.LogicalEvent]] = {}
    for head in guarded:
        below = reachable(head, needs)
        for iri, event in events.items():
            if (
                isinstance(event, ast.LogicalEvent)
                and event.on is None
                and event.guard is None  # its guard would see the class alone
                and iri not in {head, *below}
                and (reached[iri] & bit[head] or _asks_for_the_same(event, events[head]))
                and head not in reachable(iri, needs)
                and _may_hold(bundle, event.description, head)
            ):
                found.setdefault(head, []).append(event)
    return found


def _asks_for_the_same(event: ast.LogicalEvent, head: ast.Event) -> bool:
    """Whether it asks for something that everything in the class of another has, by its definition."""
    assert isinstance(head, ast.LogicalEvent)
    had = [part for part in _conjuncts(head.description) if isinstance(part, ast.Some)]
    return any(part in had for part in walk(event.description))


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


def _may_hold(bundle: Bundle, part: ast.Description, head: Term) -> bool:
    """Whether an occurrence and K can have all that another event asks for."""
    match part:
        case ast.ClassName(name):
            return _may_be_one(bundle, name.iri, head)
        case ast.Intersection(operands):
            return all(_may_hold(bundle, one, head) for one in operands)
        case ast.Union(operands):
            return any(_may_hold(bundle, one, head) for one in operands)
        case ast.Some(property, filler):
            name = property.property if isinstance(property, ast.Inverse) else property
            if filler is None or name.iri in bundle.definitions.axioms.data_properties:
                return _may_lead(bundle, name, head)
            return _may_lead(bundle, name, head) and _may_hold(bundle, filler, head)
        case ast.Value(property):
            return _may_lead(
                bundle, property.property if isinstance(property, ast.Inverse) else property, head
            )
    return True


def _may_lead(bundle: Bundle, property: ast.Name, head: Term) -> bool:
    """Ignore what another event would entail of its own occurrences."""
    return may_be_there(bundle, property.iri, head, bundle.normal.rules)


def _may_be_one(bundle: Bundle, name: Term, head: Term) -> bool:
    """Whether members of a class are passed on, known before, or follow from more than their class."""
    events, names = bundle.linked.events, bundle.vocabularies
    below = names.below(name)
    ways = {name, *below}.difference(*({one, *names.below(one)} for one in below & events.keys()))
    if name == THING or name in events or ways & bundle.vocabulary(head):
        return True
    if not ways.isdisjoint(bundle.k.facts.classes):
        return True
    return any(getattr(rule, "head", "") in ways and not _premise(rule) for rule in bundle.normal.rules)


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
