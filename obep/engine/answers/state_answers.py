"""The states of an engine for why-not: episodes, and what keeps a state from holding."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from datetime import timedelta

from obep.engine.answers.group_answers import group_lines
from obep.engine.answers.over_answers import having_lines, lacked_at_end
from obep.engine.query import Query
from obep.engine.runtime import Runtime
from obep.engine.states.daily_state import EPOCH, DailyState
from obep.engine.states.group_state import GroupState
from obep.engine.states.over_state import OverState
from obep.engine.states.switched_state import SwitchedState
from obep.model import RDF_TYPE, Term
from obep.output.why_tree import short
from obep.plan.plan import EventPlan
from obep.plan.state_plan import StatePlan
from obep.query import ast
from obep.query.walk import walk
from obep.why_not.latest import Latest
from obep.why_not.report import WhyNot
from obep.why_not.state_history import Key, Spell, Spells, Telling, key_text, spell_text

Ask = Callable[[EventPlan, Mapping[str, Term]], WhyNot]
"""Asks about the pattern of a state, with values of its variables."""
SAID = 3
"""The most triples of items that are shown."""


class StateAnswers:
    """The states of an engine as they are now."""

    def __init__(self, query: Query, runtime: Runtime, latest: Latest, telling: Telling, ask: Ask) -> None:
        self._query, self._runtime, self._latest, self._ask = query, runtime, latest, ask
        self._telling = telling
        self._plans: dict[Term, StatePlan] = {plan.state: plan for plan in query.plan.states}

    def name(self, state: Term, key: Key) -> str:
        return f"{self._plans[state].name.removesuffix('#state')}{key_text(key) if any(key) else ''}"

    def parameters(self, state: Term) -> tuple[str, ...]:
        return self._plans[state].parameters

    def spells(self, state: Term, key: Key) -> Spells:
        run = self._runtime.run_of(state)
        if isinstance(run, DailyState):
            return Spells(sorted(self._periods(run, key), key=lambda one: one.begun))
        kept = self._latest.spells.get(state, ())
        known_since = self._latest.restored
        if kept and len(kept) == self._latest.most:
            known_since = kept[0].ended
        now = (Spell(one.key, one.begun) for one in run.episodes.open.values())
        found = [one for one in (*kept, *now) if fits(one.key, key)]
        return Spells(sorted(found, key=lambda one: one.begun), known_since)

    def _periods(self, run: DailyState, key: Key) -> Iterator[Spell]:
        """The periods of a calendar from the first item that is remembered on."""
        items = self._latest.items
        for one in run.calendars:
            if items and fits(one, key):
                yield from run.periods(one, items[0].at, self._telling.now)

    def lacked(self, state: Term, spell: Spell) -> str:
        run = self._runtime.run_of(state)
        return lacked_at_end(run, spell, self) if isinstance(run, OverState) else ""

    def came(self, state: Term, spell: Spell) -> str:
        said = [
            triple
            for item in self._latest.items
            if item.at == spell.ended
            for triple in item.triples
            if not spell.key or any(term in spell.key for term in triple)
        ]
        news = [triple for triple in said if triple[1] != RDF_TYPE] or said
        asked = {node.iri for node in walk(self._plans[state].definition) if isinstance(node, ast.Name)}
        news.sort(key=lambda triple: triple[1] not in asked)
        shown = [" ".join(map(short, triple)) for triple in dict.fromkeys(news)]
        return "; ".join(shown[:SAID]) + ("; …" if len(shown) > SAID else "")

    def against(self, state: Term, key: Key) -> Iterable[str]:
        run = self._runtime.run_of(state)
        match run:
            case SwitchedState():
                yield from self._pattern(run.state.part("from"), self._bound(run.state, key), "FROM")
            case OverState():
                yield from self._rows(run, key)
            case DailyState():
                yield from self._calendar(run, key)
            case GroupState():
                yield from group_lines(run, key, self, self._telling, self._query)

    def _bound(self, plan: StatePlan, key: Key) -> dict[str, Term]:
        pairs = zip(plan.parameters, key, strict=True)
        return {name: value for name, value in pairs if value is not None}

    def _pattern(self, event: Term, bound: Mapping[str, Term], word: str) -> Iterator[str]:
        """Why a pattern of a state did not occur."""
        plan = next(plan for plan in self._query.plan.events if plan.event == event)
        found = self._ask(plan, bound)
        for name, count in found.seen.items():
            yield (
                f"{word} {name}: {f'{count} times' if count != 1 else 'once'} lately"
                if count
                else (f"{word} {name}: never lately")
            )
        yield from found.details()

    def _each(self, each: ast.StateUse, bound: Mapping[str, Term]) -> Iterator[str]:
        """Explain that the state of FOR EACH does not hold."""
        key = tuple(bound.get(one.name) for one in each.parameters)
        spells = self.spells(each.state.iri, key).all
        if any(one.ended is None for one in spells):
            return
        if spells:
            last = spell_text(each.state.iri, spells[-1], self, self._telling)
            yield f"FOR EACH {self.name(each.state.iri, spells[-1].key)}: it held {last}"
            return
        yield f"FOR EACH {self.name(each.state.iri, key)}: it {self._telling.never('held')}"
        yield from (f"  {line}" for line in self.against(each.state.iri, key))

    def _rows(self, run: OverState, key: Key) -> Iterator[str]:
        definition = run.state.definition
        assert isinstance(definition, ast.OverState)
        if definition.each is not None:
            missing = list(self._each(definition.each, self._bound(run.state, key)))
            yield from missing
            if missing:
                return
        lines = list(having_lines(run, key, self, self._telling))
        part, restored = run.state.part("rows"), self._telling.restored
        since = "" if restored is None else f" since the restore at {self._telling.at(restored)}"
        if not lines and any(plan.event == part for plan in self._query.plan.events):
            lines = [f"it has had no row{since}", *self._pattern(part, self._bound(run.state, key), "OVER")]
        yield from lines or [f"it has had no row{since}"]

    def _calendar(self, run: DailyState, key: Key) -> Iterator[str]:
        now = self._telling.now
        known = [one for one in run.calendars if fits(one, key)]
        if not known:
            yield "the static graph gives no calendar for it"
        for one in known[:SAID]:
            calendar, _ = run.calendars[one]
            begin, end = calendar.period(now)
            if begin > now:
                there = (EPOCH + timedelta(microseconds=now)).astimezone(calendar.tz)
                yield (
                    f"at {self._telling.at(now)} it is {there:%a %H:%M} in {calendar.zone}; "
                    f"{self.name(run.state.state, one)} holds next from {self._telling.at(begin)} "
                    f"to {self._telling.at(end)}"
                )


def fits(key: tuple[Term, ...], asked: Key) -> bool:
    """Whether the values of an episode are those that were asked for."""
    return all(wanted in (None, value) for value, wanted in zip(key, asked, strict=False))
