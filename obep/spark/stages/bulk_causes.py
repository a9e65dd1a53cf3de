"""Ids and causes of very many occurrences: what they have in common is worked out once.

Occurrences whose parts have the same content differ only in their instants: they share a `Shape`.
Comes in: occurrences. Goes out: the same ids and the same causes as an occurrence gives by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from obep.engine.reporter import Reporter, counted
from obep.model import Occurrence, Part, Term, Triple, id_digest, id_prefix, id_text, local_name
from obep.operators.candidates import Parts
from obep.operators.wire import Carried, Content
from obep.output.json_writer import iri, line_template
from obep.query.state_parts import is_moment, state_part


class Cause(NamedTuple):
    """A part without its instants."""

    event: str
    alias: str
    individual: str
    assertions: tuple[str, ...]
    context: bool
    bounded: bool


class Shape:
    """What occurrences with the same content of their parts have in common."""

    __slots__ = (
        "_seen",
        "_shown",
        "bounded",
        "event",
        "instants",
        "line",
        "name",
        "numbers",
        "regular",
        "stamp",
    )

    def __init__(self, by: Reporter, parts: Parts, causes: Causes) -> None:
        plan = by.plan
        assert plan.root is not None
        aliases = plan.root.aliases
        self.event = plan.event
        shown = [at for at, part in enumerate(parts) if part is not None and aliases[at].event]
        named = [(aliases[at], part) for at in shown if (part := parts[at]) is not None]
        self._shown = shown
        """The places of the parts that people see."""
        self.numbers = [causes.number(alias.name, part, alias.context) for alias, part in named]
        """The number of the cause that each of them is."""
        self.bounded = plan.bounded or any(part.bounded for _, part in named)
        said = [(alias.name, part, alias.context) for alias, part in named]
        self.line = ""
        """A template of their lines; nothing: each must write its own, since a part has causes of its own."""
        if causes.lines and said and all(isinstance(p, Carried) and not p.content.named for _, p in named):
            self.line = line_template(plan.event, self.bounded, said)
        seen = [(at, _seen(part)) for at, (_, part) in zip(shown, named, strict=True)]
        self._seen = seen if any(often for _, often in seen) else []
        """How often the instant of each part stands beside its assertions; nothing if none does."""
        held = [at for at, part in enumerate(parts) if part is not None and not aliases[at].context]
        individuals = sorted(part.individual for alias, part in named if not alias.context) or [""]
        self.name = id_prefix(plan.event)
        self.stamp = b""
        """What an id is the digest of, with places for the instants; nothing: their order depends on them."""
        self.instants: list[int] = []
        """The parts whose starts these are, after start and end of the whole."""
        assertions = _assertions(parts, held)
        if assertions is not None:
            self._set_stamp(plan.event, by.partition, individuals, assertions)
        every = list(range(len(parts)))
        self.regular = self.instants == every and shown == every
        """Whether each part is a cause, and has a place in the stamp, in their order: so are nearly all."""

    def _set_stamp(
        self,
        event: Term,
        partition: tuple[Term, ...],
        individuals: Sequence[Term],
        assertions: Sequence[tuple[Triple, int | None, int | None]],
    ) -> None:
        """The text of `Occurrence.id` with `%d` for the instants."""
        explanation: list[tuple[Triple, int | str | None]] = []
        for triple, at, place in assertions:
            s, p, o = map(_plain, triple)
            explanation.append(((s, p, o), at if place is None else "%d"))
            if place is not None:
                self.instants.append(place)
        named, by = map(_plain, individuals), map(_plain, partition)
        self.stamp = id_text(_plain(event), explanation, "%d", "%d", named, by).encode()

    def extents(self, parts: Parts) -> list[int]:
        """Start and end of each cause."""
        found: list[int] = []
        for place in self._shown:
            part = parts[place]
            assert part is not None
            found += (part.start, part.end)
        return found

    def cause_instants(self, parts: Parts) -> list[int]:
        """The instants of causes that stand in a line, in the order of its template."""
        if not self._seen:
            return self.extents(parts)
        found: list[int] = []
        for place, often in self._seen:
            part = parts[place]
            assert part is not None
            found += (part.start, part.end)
            found += [part.start] * often
        return found

    def id(self, start: int, end: int, parts: Parts) -> str:
        """The id of an occurrence of this shape; nothing: it must say it itself."""
        if not self.stamp:
            return ""
        starts = [part.start for place in self.instants if (part := parts[place]) is not None]
        return self.id_of((start, end, *starts))

    def id_of(self, instants: tuple[int, ...]) -> str:
        """The same for those of the stamp."""
        return self.name + id_digest(self.stamp % instants)


def _assertions(parts: Parts, held: Sequence[int]) -> list[tuple[Triple, int | None, int | None]] | None:
    """The assertions of some parts in their order, each with its instant or the place of the part that has
    it; `None` where the order depends on instants."""
    found: dict[Triple, tuple[Triple, int | None, int | None]] = {}
    for place in held:
        part = parts[place]
        assert part is not None
        own: list[tuple[Triple, int | None, int | None]]
        if isinstance(part, Carried) and not is_moment(part):
            own = [(triple, None, place if timed else None) for triple, timed in part.content.explanation]
        else:
            own = [(triple, at, None) for triple, at in counted(part)]
        for one in own:
            if found.setdefault(one[0], one) != one:
                return None
    return [found[triple] for triple in sorted(found)]


def _seen(part: Occurrence) -> int:
    """How many of its assertions stand in a line with their instant: all that are seen, if some are known."""
    timed = [own for _, own in part.content.explanation] if isinstance(part, Carried) else []
    return 0 if all(timed) else sum(timed)


def _plain(text: str) -> str:
    return text.replace("%", "%%")


class Causes:
    """The shapes of some occurrences, and the causes in them, each once."""

    def __init__(self, lines: bool = False) -> None:
        """`lines`: they are wanted as JSON."""
        self.lines = lines
        self.causes: list[Cause] = []
        self.columns: dict[str, Any] = {}
        """The same as columns, as far as they have been made."""
        self._numbers: dict[tuple[str, object, bool], int] = {}
        self._shapes: dict[tuple[object, ...], Shape] = {}
        self._contents: dict[Content, Content] = {}
        self._said: dict[tuple[object, ...], Content] = {}

    def __len__(self) -> int:
        """How much is remembered."""
        return len(self._shapes) + len(self._numbers) + len(self._contents)

    def shapes(self, reporters: Sequence[Reporter], found: Sequence[Parts]) -> list[Shape]:
        """The shapes of occurrences that were found as these parts."""
        columns = zip(*found, strict=True)
        try:
            keys = list(zip(reporters, *[map(_content, column) for column in columns], strict=True))
        except AttributeError:  # a part is missing, or was derived
            keys = [(by, *map(self._teller, parts)) for by, parts in zip(reporters, found, strict=True)]
        known = self._shapes
        shapes = list(map(known.get, keys))
        for number, shape in enumerate(shapes):
            if shape is None:
                shapes[number] = known[keys[number]] = self._shape(reporters[number], found[number])
        return shapes  # type: ignore[return-value]  # none is missing now

    def _shape(self, by: Reporter, parts: Parts) -> Shape:
        key = (by, *map(self._teller, parts))
        shape = self._shapes.get(key)
        if shape is None:
            shape = self._shapes[key] = Shape(by, parts, self)
        return shape

    def _teller(self, part: Occurrence | None) -> object:
        """One key for all parts with the same content; another part is its own key."""
        if type(part) is not Carried:
            return part
        content = part.content
        known = self._contents.get(content)
        if known is None:
            said = (content.event, content.individual, content.explanation, content.bounded)
            known = self._contents[content] = self._said.setdefault(said, content)
        return known

    def number(self, alias: str, part: Occurrence, context: bool) -> int:
        """The number of the cause that a part is."""
        key = (alias, self._teller(part), context)
        number = self._numbers.get(key)
        if number is None:
            number = self._numbers[key] = len(self.causes)
            content = [triple for triple, _ in _explanation(part)]
            assertions = tuple([f"{s} {p} {o} ." for s, p, o in content])
            state = state_part(part)
            event = part.event if state is None else state.of
            cause = Cause(iri(event), alias, iri(part.individual), assertions, context, part.bounded)
            self.causes.append(cause)
        return number

    def of(self, one: Occurrence) -> list[tuple[int, int, int]]:
        """The causes of any occurrence by number, each with its start and end."""
        parts = one.parts or (Part(local_name(one.event), one),)
        return [
            (self.number(p.alias, p.occurrence, p.context), p.occurrence.start, p.occurrence.end)
            for p in parts
        ]


_content = attrgetter("content")


def _explanation(part: Occurrence) -> Sequence[tuple[Triple, object]]:
    return part.content.explanation if isinstance(part, Carried) else part.explanation
