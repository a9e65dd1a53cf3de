"""Answer why-not from the state of an engine: its latest items, occurrences and episodes."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from obep.engine.answers.group_answers import item_lines
from obep.engine.answers.state_answers import StateAnswers
from obep.engine.query import Query
from obep.engine.runtime import Runtime
from obep.errors import fail
from obep.formats.timestamps import Style
from obep.model import Item, Occurrence, Term, body_of, local_name
from obep.output.rdf_writer import triples
from obep.output.why_tree import short
from obep.plan.plan import EventPlan
from obep.query.ast import LogicalEvent, Name
from obep.query.nearest_name import nearest
from obep.query.state_parts import GRAPH, part_of
from obep.query.walk import walk
from obep.why_not.class_parts import nearest as nearest_to
from obep.why_not.latest import Latest
from obep.why_not.report import WhyNot, style_at, why_not
from obep.why_not.state_history import FEW, Key, Telling, spell_text
from obep.why_not.target import Question, StateQuestion, question, split, state_question


class WhyNotAnswers:
    """Answers questions about an engine as it is now; called under its lock."""

    def __init__(
        self,
        query: Query,
        runtime: Runtime,
        latest: Latest,
        matcher: Any,
        *,
        style: Style | None = None,
        ended: bool = False,
    ) -> None:
        self._query, self._runtime, self._latest, self._matcher = query, runtime, latest, matcher
        self._style, self._ended = style, ended
        self._now = runtime.now or 0
        self._telling = Telling(style_at(self._now, style), self._now, ended, latest.restored)
        self._states = StateAnswers(query, runtime, latest, self._telling, self._part)

    def ask(self, text: str) -> WhyNot:
        """The answer to `Low`, `Low(:PenA)` or `TooHot(:z1)`."""
        name, arguments = split(text)
        file = self._query.linked.file
        for state in self._query.plan.states:
            if state.state in self._query.linked.states and name in _names(state.state, state.name):
                return self._of_state(state_question(state, arguments, file))
        return self._of_event(question(self._plan_of(name), arguments, file))

    def _plan_of(self, event: str) -> EventPlan:
        known = [plan for plan in self._query.plan.events if not plan.hidden]
        for plan in known:
            if event in _names(plan.event, plan.name):
                return plan
        states = [plan.name for plan in self._query.plan.states if plan.state in self._query.linked.states]
        names = ", ".join([*(plan.name for plan in known), *states])
        raise fail("OBEP100", f"the query defines no event {event}", reason=f"It defines {names}.")

    def _of_state(self, asked: StateQuestion) -> WhyNot:
        """The episodes of a state, and what keeps it from holding now."""
        plan = asked.plan
        key: Key = asked.values or (None,) * len(plan.parameters)
        spells = self._states.spells(plan.state, key)
        lines = []
        if len(spells.all) > FEW:
            lines.append(f"the last {FEW}:")
        for one in spells.all[-FEW:]:
            held = "holds" if one.ended is None else "held"
            text = spell_text(plan.state, one, self._states, self._telling)
            lines.append(f"{self._states.name(plan.state, one.key)} {held} {text}")
        if not any(one.ended is None for one in spells.all):
            lines += self._states.against(plan.state, key) if self._latest.most != 0 else ()
        return WhyNot(
            str(asked),
            len(spells.all),
            {},
            (),
            (),
            self._telling.style,
            self._now,
            self._ended,
            spells.known_since is not None and spells.known_since != self._latest.restored,
            states=tuple(lines),
            is_state=True,
            restored=self._latest.restored,
            remembers=self._latest.most != 0,
        )

    def _part(self, plan: EventPlan, bound: Mapping[str, Term]) -> WhyNot:
        """Why the pattern of a state did not occur with some values of its variables."""
        named = replace(plan, parameters=tuple(bound))
        return self._of_event(Question(named, tuple(bound.values())))

    def _of_event(self, asked: Question) -> WhyNot:
        plan, recent = asked.plan, self._latest.occurrences
        if self._latest.most == 0:
            return WhyNot(str(asked), 0, {}, (), (), self._telling.style, self._now, remembers=False)
        latest = recent.get(plan.event, ())
        forgotten = len(latest) == self._latest.most
        known_since = latest[0].detected if latest and forgotten else None
        reported = [one for one in latest if asked.fits(one)]
        items = list(self._latest.items)
        found = why_not(
            asked,
            self._query.asks,
            self._query.bundle.vocabulary,
            self._with_refused(plan),
            reported,
            self._runtime.now,
            known_since=known_since,
            ended=self._ended,
            came_in=self._style,
            items=items,
            states=self._states,
            restored=self._latest.restored,
        )
        graph = self._query.expanded.on_items.get(part_of(plan.event, GRAPH))
        if graph is not None and not reported:
            lines = item_lines(graph, items, dict(asked.bound), self._states, self._telling, self._matcher)
            return replace(found, states=(*found.states, *lines))
        defined = self._query.expanded.events[plan.event]
        if reported or found.refusals or not isinstance(defined, LogicalEvent):
            return found
        for one in walk(defined.description):
            if isinstance(one, Name):  # an occurrence of a composite is an item of the next stratum
                items += [Item("", o.detected, triples(o)) for o in recent.get(one.iri, ()) if o.parts]
        near = nearest_to(self._query.bundle, defined, items, asked.individual)
        unseen = self._unseen(asked.individual, items) if asked.individual and near is None else ""
        return replace(found, nearest=near, unseen=unseen)

    def _unseen(self, individual: Term, items: Iterable[Item]) -> str:
        """Report that no item is about an individual, and suggest another one."""
        known = {term for item in items for s, _, o in item.triples for term in (s, o)}
        if individual in known:
            return f"{short(individual)} is in the items, but has nothing of the definition"
        known |= {term for s, _, o in self._query.bundle.k for term in (s, o)}
        near = None if individual in known else nearest(individual, (one for one in known if one[0] == "<"))
        return f"no item says anything of {short(individual)}{f'; is it {near}?' if near else ''}"

    def _with_refused(self, plan: EventPlan) -> Mapping[Term, Sequence[Occurrence]]:
        """The latest occurrences, with those that the guard of a logical event refused at once."""
        recent = self._latest.occurrences
        bodies = getattr(self._matcher, "bodies", None)
        if plan.guard_ask is None or bodies is None:
            return recent
        body = body_of(plan.event)
        known = recent.get(body, ())
        keys = {one.key for one in known}
        more = [one for one in bodies(self._latest.items, body) if one.key not in keys]
        return {**recent, body: sorted([*known, *more], key=lambda one: one.detected)}


def _names(iri: Term, text: str) -> tuple[str, ...]:
    """The names of an event or a state."""
    return iri, iri[1:-1], text, local_name(iri)
