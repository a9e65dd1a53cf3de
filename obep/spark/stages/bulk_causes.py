"""Causes of very many occurrences as columns: what they have in common is worked out once.

Occurrences whose parts have the same content differ only in their instants: they share a `Shape`.
Comes in: occurrences. Goes out: the same causes as an occurrence gives by itself.
"""

from __future__ import annotations

from collections.abc import Sequence
from operator import attrgetter
from typing import Any, NamedTuple

from obep.engine.reporter import Reporter
from obep.model import Occurrence, Part, Triple, local_name
from obep.operators.candidates import Parts
from obep.operators.wire import Carried, Content
from obep.output.json_writer import iri
from obep.query.state_parts import state_part


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

    __slots__ = ("_shown", "bounded", "numbers", "regular")

    def __init__(self, by: Reporter, parts: Parts, causes: Causes) -> None:
        plan = by.plan
        assert plan.root is not None
        aliases = plan.root.aliases
        self._shown = [at for at, part in enumerate(parts) if part is not None and aliases[at].event]
        """The places of the parts that people see."""
        named = [(aliases[at], part) for at in self._shown if (part := parts[at]) is not None]
        self.numbers = [causes.number(alias.name, part, alias.context) for alias, part in named]
        """The number of the cause that each of them is."""
        self.bounded = plan.bounded or any(part.bounded for _, part in named)
        self.regular = self._shown == list(range(len(parts)))
        """Whether each part is a cause: so are nearly all."""

    def extents(self, parts: Parts) -> list[int]:
        """Start and end of each cause."""
        found: list[int] = []
        for place in self._shown:
            part = parts[place]
            assert part is not None
            found += (part.start, part.end)
        return found


class Causes:
    """The shapes of some occurrences, and the causes in them, each once."""

    def __init__(self) -> None:
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
