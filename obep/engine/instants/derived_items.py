"""An occurrence as an item of the next stratum: what is found in it, and what guards ask about it."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Protocol

from obep.engine.states.episodes import Moment
from obep.engine.windows import Gathering
from obep.formats.input_limits import Refused
from obep.guards.block_queries import Ask
from obep.model import DeadLetter, Occurrence, Term, Triple, body_of
from obep.output.rdf_writer import triples
from obep.plan.event_strata import heads
from obep.plan.plan import Plan

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matched


class Deriving(Protocol):
    """As much of a matcher as the strata need."""

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter: ...

    def together(self, window: str, goals: Iterable[Term]) -> Gathering: ...


class DerivedItems:
    """Finds occurrences in the occurrences of composite events and states."""

    def __init__(
        self,
        plan: Plan,
        moments: Mapping[Term, tuple[str, ...]],
        matcher: Deriving | None,
        on_dead_letter: Callable[[DeadLetter], None] | None,
    ) -> None:
        """`moments` are the names of the moments of states, with the parameters of these."""
        self._matcher, self._on_dead_letter = matcher, on_dead_letter
        self._asked: dict[Term, list[Ask]] = {}
        for ask in plan.asks.all:
            self._asked.setdefault(ask.event, []).append(ask)
        self._found_in: dict[Term, Container[Term]] = {
            name: below for event, below in plan.derived.items() for name in (event, body_of(event))
        }
        """The events in whose occurrences an event may be found."""
        patterns = {event.event for event in plan.events if event.hidden}
        self._closed_moments = {
            head
            for head in (patterns | set(moments)) - heads(plan.derived)
            if not any(ask.triples for ask in self._asked.get(head, ()))
        }
        """The moments of states, and what their patterns find, that nothing is found in, and whose triples no
        guard asks for."""
        self._copied: dict[Term, list[tuple[int, list[int]]]] = {}
        """Of the moments of which nothing but parameters is asked: the asks, and the places of these."""
        for head, parameters in moments.items():
            asked = self._asked.get(head, [])
            if head in self._closed_moments and all(ask.copies(parameters) for ask in asked):
                self._copied[head] = [
                    (ask.number, [parameters.index(name) for name in ask.copied or ()]) for ask in asked
                ]

    def found_in(self, occurrence: Occurrence) -> Sequence[Occurrence]:
        """The occurrences in an occurrence; it gets the solutions of the asks about it."""
        copied = self._copied.get(occurrence.event)
        if copied is not None and isinstance(occurrence, Moment) and not occurrence.others:
            held = occurrence.held
            for number, places in copied:
                occurrence.solutions[number] = (tuple([held[place] for place in places]),)
            return ()
        if self._matcher is None or occurrence.event in self._closed_moments:
            for ask in self._asked.get(occurrence.event, ()):
                try:
                    if rows := ask.solve(occurrence, OccurrenceGraph(occurrence)):
                        occurrence.solutions[ask.number] = rows
                except Refused as refused:
                    if self._on_dead_letter is not None:
                        at = occurrence.detected
                        self._on_dead_letter(DeadLetter("", at, refused.code, refused.reason))
            return ()
        matched = self._matcher.match_derived(occurrence)
        if isinstance(matched, DeadLetter):
            if self._on_dead_letter is not None:
                self._on_dead_letter(matched)
            return ()
        found = [one for one in matched.occurrences if occurrence.event in self._found_in.get(one.event, ())]
        for one in found:
            one.items = (occurrence,)
        return found


class OccurrenceGraph:
    """The graph of a composite occurrence without reasoning: A ∪ H(c) ∪ constructed."""

    vocabulary: frozenset[Term] = frozenset()

    def __init__(self, occurrence: Occurrence) -> None:
        self._occurrence = occurrence

    @cached_property
    def _triples(self) -> Sequence[Triple]:
        return triples(self._occurrence)

    def narrow(self, s: Term | None, p: Term | None, o: Term | None) -> Iterable[Triple]:
        """The triples with these terms."""
        return [t for t in self._triples if s in (None, t[0]) and p in (None, t[1]) and o in (None, t[2])]

    wide = narrow
