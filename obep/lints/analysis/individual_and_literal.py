"""Individuals that a guard compares with literals (OBEP219)."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from obep.errors import Diagnostic
from obep.lints.analysis.event_order import Definitions
from obep.lints.analysis.incomparable_values import FLIPPED, instead
from obep.lints.analysis.number_and_text import ORDER
from obep.query.ast import (
    Call,
    Comparison,
    CompositeEvent,
    Event,
    Filter,
    GraphEvent,
    Literal,
    LogicalEvent,
    Membership,
    Name,
    Node,
    Not,
    NotFollowedBy,
    Optional,
    Or,
    QueryFile,
    TriplePattern,
    Var,
    Without,
)
from obep.query.diagnostics import quote, say
from obep.query.parse.file_scope import namespaces
from obep.query.walk import alias_of, leaves, walk

THIS = "this"
_IRI = re.compile(r"[a-zA-Z][\w+.-]*:[^\s<>\"{}|^`\\]+")
_LOCAL = re.compile(r"\w[\w-]*")


def individual_and_literal(definitions: Definitions) -> Iterator[Diagnostic]:
    """OBEP219: an individual is an IRI or a blank node, never a literal, nor more or less than one."""
    for event, file in definitions.all():
        for filter_, individuals in _filters(event, definitions):
            for node in walk(filter_):
                found = _asked_for(node)
                if found is not None and found[0].name in individuals:
                    var, literal = found
                    yield say(
                        "OBEP219",
                        file,
                        node.span,
                        f"{quote(node)} is never true of an individual",
                        f"?{var.name} stands for an individual, which has a name and no value.",
                        _by_name(node, var, literal, file),
                    )


def _asked_for(node: Node) -> tuple[Var, Literal] | None:
    """A variable that a condition compares with a literal."""
    if isinstance(node, Comparison) and node.operator in FLIPPED:
        for var, literal in ((node.left, node.right), (node.right, node.left)):
            if isinstance(var, Var) and isinstance(literal, Literal):
                return var, literal
    elif isinstance(node, Membership) and isinstance(node.operand, Var) and not node.negated:
        first, *others = node.members or (node.operand,)
        if isinstance(first, Literal) and all(isinstance(one, Literal) for one in others):
            return node.operand, first
    return None


class _Reading(NamedTuple):
    """The variables of an alias's block, and those that can only be individuals."""

    bound: frozenset[str]
    individuals: frozenset[str]


def _filters(event: Event, definitions: Definitions) -> Iterator[tuple[Filter, frozenset[str]]]:
    """The filters of a guard, each with the variables that are individuals where it is decided."""
    guard = event.guard
    if guard is None:
        return
    if isinstance(event, LogicalEvent):
        individuals = _reading(guard.own).individuals | {THIS}
        yield from ((filter_, individuals) for filter_ in guard.filters)
        return
    if isinstance(event, GraphEvent):
        return
    readings = _readings(event, definitions)
    anywhere = _anywhere(event, readings.values())
    for block in guard.blocks:
        here = [readings[alias] for alias in block.aliases or readings if alias in readings]
        own = frozenset.intersection(*(one.individuals for one in here)) if here else frozenset()
        yield from ((filter_, anywhere | own | {THIS}) for filter_ in block.filters)
    yield from ((filter_, anywhere) for filter_ in guard.filters)


def _readings(event: CompositeEvent, definitions: Definitions) -> dict[str, _Reading]:
    """By alias. The parameters of a logical event are its individual, those of a composite may be values."""
    assert event.guard is not None
    found: dict[str, _Reading] = {}
    for leaf in leaves(event.pattern):
        alias = alias_of(leaf)
        blocks = [block for block in event.guard.blocks if not block.aliases or alias in block.aliases]
        asked = _reading(triple for block in blocks for triple in block.triples)
        names = frozenset(variable.name for variable in leaf.parameters)
        logical = isinstance(definitions.events.get(leaf.event.iri), LogicalEvent)
        individuals = asked.individuals | (names if logical else frozenset())
        found[alias] = _Reading(asked.bound | names, individuals)
    return found


def _reading(triples: Iterable[TriplePattern]) -> _Reading:
    places = [(triple.subject, triple.predicate, triple.object) for triple in triples]
    return _Reading(
        frozenset(one.name for three in places for one in three if isinstance(one, Var)),
        frozenset(one.name for s, p, _ in places for one in (s, p) if isinstance(one, Var)),
    )


def _anywhere(event: CompositeEvent, readings: Iterable[_Reading]) -> frozenset[str]:
    """The variables that are individuals in every candidate; where an alias may be missing, by each."""
    readings = list(readings)
    found = frozenset(name for one in readings for name in one.individuals)
    missing = Or | Optional | Not | Without | NotFollowedBy
    if not any(isinstance(node, missing) for node in walk(event.pattern)):
        return found
    return frozenset(
        name for name in found if all(name in one.individuals for one in readings if name in one.bound)
    )


def _by_name(node: Node, var: Var, literal: Literal, file: QueryFile) -> str:
    """The comparison with the individual's name, or with what else may have been meant."""
    if literal.datatype is not None:
        value = quote(node).replace(quote(var), "?value")
        return f"{quote(var)} :property ?value . FILTER({value})   (its value, by the property that has it)"
    if isinstance(node, Comparison) and node.operator in ORDER:
        text = instead(node, var, Call("STR", (var,)))
        return f"{quote(text)}   (the text of its IRI)"
    if isinstance(node, Membership):
        names = [_name(one, file) for one in node.members if isinstance(one, Literal)]
        return quote(replace(node, members=tuple(names)))
    assert isinstance(node, Comparison)
    return f"{quote(instead(node, literal, _name(literal, file)))}   (a name has no quotes)"


def _name(literal: Literal, file: QueryFile) -> Name:
    """The text in quotes as a name: an IRI, or one with a prefix."""
    text = literal.lexical
    if _LOCAL.fullmatch(text):
        return Name(f":{text}", "")
    prefix, colon, local = text.partition(":")
    if colon and prefix in namespaces(file) and _LOCAL.fullmatch(local):
        return Name(text, "")
    return Name(f"<{text}>" if _IRI.fullmatch(text) else "<http://…>", "")
