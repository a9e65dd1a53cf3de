"""Why an event was not reported: what came furthest, and what it waits for or what refused it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

from obep.errors import monospaced, printable
from obep.formats.timestamps import Style, show_instant
from obep.guards.block_queries import Asks
from obep.model import Item, Occurrence, Part, Term, body_of
from obep.output.json_writer import LOOKS_LIKE_NUMBERS
from obep.output.why_tree import short
from obep.plan.build_plan import VocabularyOf
from obep.plan.nodes import Either, Fallback, Node, Pair, Read, Unary, walk
from obep.query.print.printer import show
from obep.query.state_parts import apart
from obep.why_not.class_parts import Nearest
from obep.why_not.literal_mismatch import Said, other_terms, said_in
from obep.why_not.near_matches import Nearly, Recent, nearly, parts_below, with_unique_aliases
from obep.why_not.refusals import Reason, deadline, reasons
from obep.why_not.state_history import StatesSeen, Telling
from obep.why_not.state_refusals import in_states, missing_moments
from obep.why_not.target import Question

UNKNOWN = Reason("unknown", "another one was chosen, or the cause is older than the items that are kept")
FEW = 3
"""The most of each that are shown."""
LATEST = 100
"""So many occurrences of each event are looked at."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """Occurrences that came in the right order, and all that kept them from being reported."""

    parts: tuple[Part, ...]
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Waiting:
    """Occurrences that would be a part of it, and the aliases that have not come.

    Where none is missing, the end of an instant or a deadline is.
    """

    parts: tuple[Part, ...]
    missing: tuple[str, ...]
    until: int | None = None
    """The deadline at which it is decided."""


@dataclass(frozen=True, slots=True)
class WhyNot:
    """The report about an event that was not reported."""

    event: str
    reported: int
    """The number of times that it was reported after all."""
    seen: Mapping[str, int]
    """The number of recent occurrences of each of its parts."""
    refusals: tuple[Refusal, ...]
    waiting: tuple[Waiting, ...]
    style: Style
    now: int = 0
    """The current time."""
    ended: bool = False
    """Whether nothing more can come."""
    forgotten: bool = False
    """Whether it was reported more often than is remembered."""
    nearest: Nearest | None = None
    """For a logical event: what an item has of its class expression, and what not."""
    unseen: str = ""
    """Set if no item is about the given individual."""
    states: tuple[str, ...] = ()
    """The history of states that it needs, or of the given state, line by line."""
    is_state: bool = False
    """Whether a state was asked for: `reported` is how many episodes it had."""
    restored: int | None = None
    """The instant of the snapshot from which the engine resumed: nothing before it is known."""
    remembers: bool = True
    """Whether anything is remembered; if not, only what holds now is known."""

    def __str__(self) -> str:
        return "\n".join((*self._head(), *self.details()))

    def _head(self) -> Iterator[str]:
        """The number of times that it was reported, as far as that is known."""
        if not self.remembers:
            done = "held before" if self.is_state else "was reported"
            yield f"Whether {self.event} {done} is not known: nothing is remembered. Try: remember=100"
            return
        often = f"{'at least ' if self.forgotten else ''}{_times(self.reported)}"
        since = ""
        if self.restored is not None:
            since = f" since the restore at {show_instant(self.restored, self.style)}"
        if not self.is_state:
            yield f"{self.event} was reported {often}{since}."
        elif self.reported:
            yield f"{self.event} held {often}{since}."
        else:
            yield f"{self.event} never held{since}."
        for name, count in self.seen.items():
            yield f"  {name}: {_times(count)} lately"

    def _repr_html_(self) -> str:
        first, *rest = str(self).split("\n")
        lines = escape("\n".join(map(printable, rest)))
        return f"<div><b>{escape(printable(first))}</b>{monospaced(lines)}</div>"

    def details(self) -> Iterator[str]:
        """The nearest matches, line by line."""
        for refusal in self.refusals:
            order = " in the right order" if len(refusal.parts) > 1 else ""
            yield f"{_described(refusal.parts, self.style)} came{order}, but"
            yield from (f"  {reason.text}" for reason in refusal.reasons)
        yield from (f"{_described(one.parts, self.style)} {self._waits(one)}" for one in self.waiting)
        yield from self.states
        if self.nearest is not None:
            yield from self.nearest.lines(self.style)
        elif self.unseen:
            yield self.unseen

    def _waits(self, one: Waiting) -> str:
        if one.until is None:
            return f"waits for {', '.join(one.missing) or 'the end of its instant'}"
        until, now = show_instant(one.until, self.style), show_instant(self.now, self.style)
        if self.ended:
            return f"is decided at {until}; the stream ended before, at {now}"
        return f"is decided at {until}; time has come to {now}"


def why_not(
    asked: Question,
    asks: Asks,
    vocabulary: VocabularyOf,
    recent: Mapping[Term, Sequence[Occurrence]],
    reported: Sequence[Occurrence],
    now: int | None,
    *,
    known_since: int | None = None,
    ended: bool = False,
    came_in: Style | None = None,
    items: Sequence[Item] = (),
    states: StatesSeen | None = None,
    restored: int | None = None,
) -> WhyNot:
    """The candidates that came furthest; those with the fewest reasons against them first."""
    plan, said = asked.plan, said_in(items)
    of_states: tuple[str, ...] = ()
    seen = {leaf.alias: len(_taken(asked, leaf, recent)) for leaf in plan.leaves}
    at = now or 0
    style = style_at(at, came_in)
    telling = Telling(style, at, ended, restored)
    refusals: list[tuple[int, int, Refusal]] = []
    waiting: list[Waiting] = []
    if plan.root is not None:
        plan = replace(plan, root=with_unique_aliases(plan.root))
        assert plan.root is not None
        lately: Recent = {leaf.alias: _taken(asked, leaf, recent)[-LATEST:] for leaf in plan.leaves}
        shown = {
            _same(one.start, one.end, [p.occurrence for p in one.parts if not p.context]) for one in reported
        }
        if states is not None and not reported:
            of_states = tuple(missing_moments(replace(asked, plan=plan), asks, lately, states, telling))
        contexts = {alias.name for alias in plan.root.aliases if alias.context}
        for candidate in nearly(plan.root, lately):
            extent = parts_below(plan.root, candidate) or candidate
            held = [part for alias, part in candidate.parts.items() if alias not in contexts]
            if known_since is not None and extent.done <= known_since:
                continue  # what was reported then has been forgotten
            if _same(extent.start, extent.end, held) not in shown:
                looked = in_states(plan.root, candidate, states, telling) if states is not None else ()
                against = tuple(reasons(plan, asks, vocabulary, candidate, lately, style, said, looked))
                until = deadline(plan.root, candidate, at)
                if not against and until is None and (ended or candidate.done < at):
                    against = (UNKNOWN,)
                if against:
                    refusals.append((len(against), -candidate.done, Refusal(_parts(candidate), against)))
                else:
                    waiting.append(Waiting(_parts(candidate), (), until))
        if not (refusals or waiting or reported):
            waiting = [one for branch in _branches(plan.root) for one in _waiting(branch, lately)]
    elif plan.guard_ask is not None:
        refusals = [
            (1, -one.parts[0].occurrence.detected, one) for one in _refused(asked, asks, recent, said)
        ]
    refusals.sort(key=lambda one: one[:2])
    chosen = tuple(refusal for _, _, refusal in refusals[:FEW])
    return WhyNot(
        str(asked),
        len(reported),
        seen,
        chosen,
        tuple(waiting[-FEW:]),
        style,
        at,
        ended,
        known_since is not None and bool(reported),
        states=of_states,
        restored=restored,
    )


def style_at(at: int, came_in: Style | None = None) -> Style:
    """The style of instants: that of the input, or else by their size."""
    return came_in or ("integer" if abs(at) < LOOKS_LIKE_NUMBERS else "iso")


def _same(start: int, end: int, parts: Sequence[Occurrence]) -> tuple[object, ...]:
    """The identity of a candidate's occurrence (SPEC D1)."""
    seen = frozenset(assertion for part in parts for assertion in part.explanation)
    return start, end, seen, tuple(sorted(part.individual for part in parts))


def _taken(asked: Question, leaf: Read, recent: Mapping[Term, Sequence[Occurrence]]) -> list[Occurrence]:
    """The occurrences that could be a part of what was asked for, in the place of a leaf."""
    return [one for one in recent.get(leaf.event, ()) if asked.takes(leaf, one)]


def _refused(
    asked: Question, asks: Asks, recent: Mapping[Term, Sequence[Occurrence]], said: Said
) -> Iterator[Refusal]:
    """The bodies of a guarded logical event that its guard has refused."""
    plan = asked.plan
    assert plan.guard is not None
    for body in recent.get(body_of(plan.event), ()):
        if asked.fits(body) and not body._rows_of(plan.guard_ask or 0):
            other = other_terms(asks.all[plan.guard_ask or 0], body, said)
            text = f"{' '.join(show(plan.guard).split())} finds nothing in it{other}"
            yield Refusal((Part(plan.name, body),), (Reason("block", text, (plan.name,)),))


def _branches(root: Node) -> list[Node]:
    """The alternatives of a pattern: the branches of an OR at the top."""
    while isinstance(root, Unary):
        root = root.operand
    if isinstance(root, Either):
        return [*_branches(root.left), *_branches(root.right)]
    return [root]


def _waiting(branch: Node, recent: Recent) -> list[Waiting]:
    """The partial matches with the most aliases, and what they lack."""
    best: list[Waiting] = []
    most = 0
    optional = {alias for node in walk(branch) if isinstance(node, Fallback) for alias in node.left.aliases}
    for node in walk(branch):
        if isinstance(node, Pair | Read) and node.aliases != branch.aliases:
            here = {*node.aliases, *optional}
            missing = [alias.name for alias in branch.aliases if alias not in here and alias.name]
            found = nearly(node, recent)
            if found and missing and len(node.aliases) > most:
                most = len(node.aliases)
                best = [Waiting(_parts(one), tuple(missing)) for one in found]
    return best


def _parts(candidate: Nearly) -> tuple[Part, ...]:
    return tuple(Part(alias, occurrence) for alias, occurrence in candidate.parts.items())


def _described(parts: tuple[Part, ...], style: Style) -> str:
    return ", ".join(
        f"{part.alias} at {show_instant(part.occurrence.start, style)} ({_about(part.occurrence)})"
        for part in parts
    )


def _about(occurrence: Occurrence) -> str:
    """The individual of an occurrence; of a state's moment what it holds of."""
    if apart(occurrence.event) is None:
        return short(occurrence.individual)
    return ", ".join(short(value) for row in occurrence.bindings[:1] for value in row.values())


def _times(count: int) -> str:
    return {0: "never", 1: "once"}.get(count, f"{count} times")
