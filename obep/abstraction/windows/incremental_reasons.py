"""Why the closure of a window, or a group over windows, cannot be kept while triples come and go."""

from __future__ import annotations

from collections.abc import Iterable

from obep.abstraction.windows.window_names import WindowNames
from obep.algebra.evaluation import Match
from obep.algebra.live.build_live import NotIncremental
from obep.algebra.live.fact_source import DEFAULT_GRAPH
from obep.algebra.live.live_group import triples_wanted
from obep.algebra.nodes.basic_graph_pattern import TripleMatch
from obep.algebra.select_node import SelectNode
from obep.model import RDF_TYPE
from obep.ontology.bundle.compile import Bundle
from obep.ontology.rules.role_relations import SAME


class Matching:
    """A graph by what looks things up in it."""

    def __init__(self, match: Match) -> None:
        self.match = match


def why_evaluated_anew(
    bundle: Bundle, select: SelectNode, on: str | None, *, written: bool = False
) -> str | None:
    """Why a group over windows (`on`: the one that is its default graph, else K is) cannot be kept.

    `written`: triples of names that neither T nor the file has count, too.
    """
    static = {} if on is not None else {DEFAULT_GRAPH: Matching(lambda s, p, o: ())}
    try:
        wanted = triples_wanted(select, static)
    except NotIncremental as reason:
        return str(reason)
    patterns = [pattern for some in wanted.values() for pattern in some]
    if not patterns:
        return None
    why = why_closed_anew(bundle) or why_not_followed(bundle, patterns)
    return why or (_unknown_name(bundle, patterns) if written else None)


def _unknown_name(bundle: Bundle, patterns: Iterable[TripleMatch]) -> str | None:
    """Why a pattern may match triples whose names are not in the closure of a window."""
    names = WindowNames(bundle)
    for _, predicate, object_ in (pattern.constants for pattern in patterns):
        if predicate == RDF_TYPE:
            if object_ is None:
                return "a pattern whose class is a variable"
            if object_ not in names.classes:
                return "a class that the rules do not know"
        elif predicate is None or predicate not in names.relations:
            return "a property that the rules do not know"
    return None


def why_closed_anew(bundle: Bundle) -> str | None:
    """Why the closure of a window cannot be kept."""
    if bundle.open_in_guards:
        return "the rules do not decide all that groups ask for"
    if bundle.lower_asserted.by_value:
        return "the ontology compares literals by their values"
    return None


def why_not_followed(bundle: Bundle, patterns: Iterable[TripleMatch]) -> str | None:
    """Why the changes of a window's closure do not say all about what some patterns match."""
    program, names = bundle.lower_asserted, WindowNames(bundle)
    for pattern in patterns:
        _, predicate, object_ = pattern.constants
        if predicate is None:
            return "a pattern whose predicate is a variable"
        if predicate == RDF_TYPE:
            asked = names.classes.values() if object_ is None else [names.classes.get(object_, -1)]
            if not program.universal.isdisjoint(asked):
                return "a class that has everything in it"
        elif predicate in names.relations:
            relation, _ = names.relations.of(predicate)
            if relation == SAME or relation in program.reflexive:
                return "a property that leads from each thing to itself"
    return None
