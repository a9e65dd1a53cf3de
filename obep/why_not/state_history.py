"""The recent history of states for why-not: episodes, how long they held, and how they ended."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple, Protocol

from obep.formats.timestamps import Style, show_instant
from obep.model import Term
from obep.output.why_tree import short
from obep.plan.nodes.node import duration
from obep.query.state_parts import StatePart

Key = tuple[Term | None, ...]
"""The values of a state's parameters; `None` for any."""
FEW = 3
"""The most episodes that are shown."""


class Spell(NamedTuple):
    """An episode: for which values, from when to when, and how it ended, if no item ended it."""

    key: tuple[Term, ...]
    begun: int
    ended: int | None = None
    expired: bool = False
    by_calendar: bool = False
    by_limit: bool = False


class Spells(NamedTuple):
    """The episodes of a state that are remembered."""

    all: Sequence[Spell]
    """The episodes of the given values, in the order of their beginnings."""
    known_since: int | None = None
    """Episodes that ended before this instant may be missing."""


class StatesSeen(Protocol):
    """The states of an engine."""

    def name(self, state: Term, key: Key) -> str:
        """A state with its values, for people: `TooHot(z1)`."""

    def parameters(self, state: Term) -> tuple[str, ...]:
        """The names of a state's parameters."""

    def spells(self, state: Term, key: Key) -> Spells:
        """The episodes of a state that fit."""

    def against(self, state: Term, key: Key) -> Iterable[str]:
        """Explain why a state does not hold, line by line."""

    def lacked(self, state: Term, spell: Spell) -> str:
        """What a state by rows lacked at the end of an episode; empty for others, or if it is not known."""

    def came(self, state: Term, spell: Spell) -> str:
        """The items at the end of an episode that are about its values."""


class Telling(NamedTuple):
    """The style of instants, the current time, and whether the input has ended."""

    style: Style
    now: int
    ended: bool
    restored: int | None = None
    """The instant of the snapshot from which the engine resumed: nothing before it is known."""

    def never(self, did: str) -> str:
        """State that something never happened, as far as that is known: `never held`."""
        if self.restored is None:
            return f"never {did}"
        return f"never {did} since the restore at {self.at(self.restored)}"

    def at(self, instant: int) -> str:
        return str(show_instant(instant, self.style))

    def ahead(self, due: int) -> str:
        """When something is decided that has not been yet."""
        if self.ended:
            return f"it is decided at {self.at(due)}; the stream ended before, at {self.at(self.now)}"
        return f"it is decided at {self.at(due)}; time has come to {self.at(self.now)}"


def moment_lines(part: StatePart, key: Key, states: StatesSeen, telling: Telling) -> Iterator[str]:
    """Why BEGIN, END, an episode or `S FOR d` did not come."""
    spells = states.spells(part.of, key).all
    if not spells:
        yield f"{states.name(part.of, key)} {telling.never('held')}"
        yield from (f"  {line}" for line in states.against(part.of, key))
    elif part.moment == "begin":
        for one in spells[-FEW:]:
            yield f"{states.name(part.of, one.key)} began at {telling.at(one.begun)}, before the first item"
    elif part.lasting is None:
        yield from (_holds(one, part, states, telling) for one in _open(spells))
    else:
        short_ones = [one for one in spells if one.ended is not None and _lasted(one) < part.lasting]
        for one in sorted(short_ones, key=lambda one: (-_lasted(one), one.begun))[:FEW]:
            yield _too_short(one, part, states, telling)
        yield from (_holds(one, part, states, telling) for one in _open(spells))


def spell_text(state: Term, spell: Spell, states: StatesSeen, telling: Telling) -> str:
    """An episode of a state: `from 1 to 8, then z1 temperature "20"`."""
    if spell.ended is None:
        return f"since {telling.at(spell.begun)}"
    return f"from {telling.at(spell.begun)} to {telling.at(spell.ended)}{_then(state, spell, states)}"


def while_text(name: str, spells: Spells, start: int, end: int, telling: Telling) -> str | None:
    """Why a state did not hold from one instant to another; `None` if it did, or if that is not known."""
    if any(one.begun <= start and (one.ended is None or one.ended > end) for one in spells.all):
        return None
    if spells.known_since is not None and end < spells.known_since:
        return None
    when = (
        f"at {telling.at(end)}"
        if start == end
        else f"all the time from {telling.at(start)} to {telling.at(end)}"
    )
    nearest = min(spells.all, key=lambda one: _distance(one, start, end), default=None)
    if nearest is None:
        return f"{name} did not hold {when}; it {telling.never('held')}"
    if nearest.ended is None:
        return f"{name} did not hold {when}; it holds since {telling.at(nearest.begun)}"
    held = f"it held from {telling.at(nearest.begun)} to {telling.at(nearest.ended)}"
    return f"{name} did not hold {when}; {held}"


def _distance(spell: Spell, start: int, end: int) -> int:
    ended = spell.ended if spell.ended is not None else end + 1
    return max(spell.begun - start, 0) + max(end + 1 - ended, 0)


def _open(spells: Sequence[Spell]) -> list[Spell]:
    return [one for one in spells if one.ended is None][:FEW]


def _lasted(spell: Spell) -> int:
    return (spell.ended or 0) - spell.begun


def _too_short(spell: Spell, part: StatePart, states: StatesSeen, telling: Telling) -> str:
    name, asked = states.name(part.of, spell.key), duration(part.lasting or 0)
    return f"{name} held {duration(_lasted(spell))} of {asked}, {spell_text(part.of, spell, states, telling)}"


def _holds(spell: Spell, part: StatePart, states: StatesSeen, telling: Telling) -> str:
    name = states.name(part.of, spell.key)
    if part.lasting is None or part.moment == "end":
        return f"{name} holds since {telling.at(spell.begun)} and has not ended"
    due, asked = spell.begun + part.lasting, duration(part.lasting)
    if due < telling.now:
        return f"{name} holds since {telling.at(spell.begun)}; it had held {asked} before the first item"
    so_far = duration(telling.now - spell.begun)
    return f"{name} holds since {telling.at(spell.begun)}, {so_far} of {asked}; {telling.ahead(due)}"


def _then(state: Term, spell: Spell, states: StatesSeen) -> str:
    if lacked := states.lacked(state, spell):
        return f", then {lacked}"
    if spell.expired:
        return ", then it expired: its last item is too old"
    if spell.by_limit:
        return ", then LIMIT ended it"
    if spell.by_calendar:
        return ", as its calendar says"
    came = states.came(state, spell)
    return f", then came {came}" if came else ", then it ended"


def key_text(key: Key) -> str:
    """The values of a key as a question has them; nothing where there are none."""
    return f"({', '.join('_' if one is None else short(one) for one in key)})" if key else ""
