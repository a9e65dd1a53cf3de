"""Parse the question to `why-not`: an event, and perhaps the individuals that it should be about."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from obep.errors import ObepError, fail
from obep.model import Alert, Occurrence, Term
from obep.output.why_tree import short
from obep.plan.nodes import Read
from obep.plan.plan import EventPlan
from obep.plan.state_plan import StatePlan
from obep.query.ast import QueryFile
from obep.query.nearest_name import nearest
from obep.query.parse.file_scope import namespaces
from obep.query.parse.spelling import IriError, resolve_iri, unescape_local

_ASKED = re.compile(r"(<[^<>]*>|[^()<>]+?)\s*\((.*)\)", re.DOTALL)
_ARGUMENT = re.compile(r"\s*(<[^<>\s]*>|(?:\\.|[^\s,<>\\])+)\s*(?:,|$)")
_NAME = re.compile(r"([^\W\d_][\w.-]*)?:((?:[\w.:%-]|\\.)+)|([^\W\d](?:[\w.%-]|\\.)*)")
ANY = "_"


def _call(name: str, arguments: Sequence[str]) -> str:
    """A name with its arguments in brackets, if there are any."""
    return f"{name}({', '.join(arguments)})" if arguments else name


@dataclass(frozen=True)
class Question:
    """An event with the values of its parameters; `None` for any. Without values it is about them all."""

    plan: EventPlan
    values: tuple[Term | None, ...] = ()

    def __str__(self) -> str:
        return _call(self.plan.name, [ANY if value is None else short(value) for value in self.values])

    @property
    def written(self) -> str:
        """The question as it can be asked again, with every name as an IRI."""
        return _call(self.plan.event, [ANY if value is None else value for value in self.values])

    @property
    def individual(self) -> Term | None:
        """The individual that a logical event should have been about."""
        return self.values[0] if self.values and self.plan.root is None else None

    @cached_property
    def bound(self) -> Mapping[str, Term]:
        """The parameters of a composite event that have a value."""
        if self.plan.root is None:
            return {}
        pairs = zip(self.plan.parameters, self.values, strict=False)
        return {name: value for name, value in pairs if value is not None}

    def fits(self, occurrence: Occurrence) -> bool:
        """Whether an occurrence of the event is one that was asked for."""
        if self.individual is not None:
            return occurrence.individual == self.individual
        wanted = self.bound.items()
        return not wanted or any(wanted <= binding.items() for binding in occurrence.bindings)

    def takes(self, leaf: Read, occurrence: Occurrence) -> bool:
        """Whether an occurrence can be a part of one that was asked for, in the place of a leaf."""
        wanted = [(at, self.bound[name], name) for name, at in leaf.columns if name in self.bound]
        if any(name in leaf.single and occurrence.individual != value for _, value, name in wanted):
            return False
        others = [(at, value) for at, value, name in wanted if name not in leaf.single]
        rows = occurrence._rows_of(leaf.ask)
        if others and not rows:  # its block finds nothing: compare with its triples
            about = {
                occurrence.individual,
                *(term for triple, _ in occurrence.explanation for term in triple),
            }
            return all(value in about for _, value in others)
        return not others or any(all(row[at] in (value, None) for at, value in others) for row in rows)


@dataclass(frozen=True)
class StateQuestion:
    """A state with the values of its parameters; `None` for any."""

    plan: StatePlan
    values: tuple[Term | None, ...] = ()

    def __str__(self) -> str:
        return _call(self.plan.name, [ANY if value is None else short(value) for value in self.values])

    @property
    def written(self) -> str:
        """The question as it can be asked again, with every name as an IRI."""
        return _call(self.plan.state, [ANY if value is None else value for value in self.values])

    def fits(self, alert: Alert) -> bool:
        """Whether an alert of the state is about what was asked for."""
        pairs = zip(self.plan.parameters, self.values, strict=False)
        return all(value in (None, alert.labels.get(name)) for name, value in pairs)


def split(text: str) -> tuple[str, str | None]:
    """The event of a question, and its arguments as they are written; `None` where it has none.

    >>> split("Low(:PenA)"), split("Low")
    (('Low', ':PenA'), ('Low', None))
    """
    text = text.strip()
    if found := _ASKED.fullmatch(text):
        return found[1], found[2]
    if "(" in text and not text.startswith("<"):
        raise _unread(f"{text} is no question", text.partition("(")[0], 1)
    return text, None


def question(plan: EventPlan, arguments: str | None, file: QueryFile) -> Question:
    """The question about an event; names are those of the query file."""
    places = len(plan.parameters) if plan.root is not None else 1
    return Question(plan, _values(plan.name, places, arguments, file))


def state_question(plan: StatePlan, arguments: str | None, file: QueryFile) -> StateQuestion:
    """The question about a state."""
    return StateQuestion(plan, _values(plan.name, len(plan.parameters), arguments, file))


def _values(name: str, places: int, arguments: str | None, file: QueryFile) -> tuple[Term | None, ...]:
    """The values in the arguments of a question about an event or state with so many parameters."""
    if arguments is None:
        return ()
    written: list[str] = []
    at = 0
    while at < len(arguments):
        found = _ARGUMENT.match(arguments, at)
        if found is None:
            raise _unread(f"{arguments} cannot be read", name, places)
        written.append(found[1])
        at = found.end()
    if arguments.rstrip().endswith(","):
        raise _unread(f"{arguments} cannot be read", name, places)
    if len(written) != places:
        has = "no parameters" if places == 0 else "one parameter" if places == 1 else f"{places} parameters"
        given = f", not {len(written)}" if places else ""
        raise _unread(f"{name} has {has}{given}", name, places)
    return tuple(_value(one, name, places, file) for one in written)


def _value(word: str, event: str, places: int, file: QueryFile) -> Term | None:
    if word == ANY:
        return None
    if word.startswith("<"):
        try:
            return f"<{resolve_iri(file.base, word[1:-1])}>"
        except IriError:
            raise _unread(f"{word} is a relative IRI, and the query has no BASE", event, places) from None
    name = _NAME.fullmatch(word)
    if name is None:
        raise _unread(f"{word} is not a name of an individual", event, places)
    known = namespaces(file)
    prefix, local = name[1] or "", name[2] or name[3]
    if prefix not in known:
        near = nearest(prefix, [one for one in known if one])
        raise fail(
            "OBEP579",
            f"the query has no prefix {prefix}:",
            reason="Names are read with the prefixes of the query.",
            remedy=f"{near}:{local}" if near else f"PREFIX {prefix}: <http://…> in the query, or the <iri>",
        )
    return f"<{known[prefix]}{unescape_local(local)}>"


def _unread(message: str, event: str, places: int) -> ObepError:
    if places == 0:
        reason = "Only the parameters of EVENT H(?v, …) MATCH can be given."
        return fail("OBEP579", message, reason=reason, remedy=f"{event}, or EVENT {event}(?v) MATCH … first")
    return fail(
        "OBEP579",
        message,
        reason="An individual is a name as in the query or an <iri>; _ stands for any.",
        remedy=f"{event}({', '.join([':name', *[ANY] * (places - 1)])})",
    )
