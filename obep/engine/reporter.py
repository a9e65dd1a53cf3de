"""From candidates to occurrences: each is reported once, with the bindings of all that it was (SPEC D1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from functools import cached_property, lru_cache, partial
from itertools import pairwise
from operator import itemgetter
from typing import Any, overload

from obep.abstraction.decided_occurrences import Decided
from obep.engine.construct import construct
from obep.model import (
    Assertion,
    EagerOccurrence,
    Item,
    Occurrence,
    Part,
    Stamp,
    Term,
    Triple,
    assertions_text,
    id_digest,
    id_prefix,
    identity,
)
from obep.operators.candidates import END, PARTS, ROWS, SINCE, START, Candidate, Parts
from obep.operators.wire import Carried, Content
from obep.output.event_lines import EventLines
from obep.output.json_writer import line_bytes
from obep.plan.nodes import Check, Node, Pair, Read, Within
from obep.plan.plan import EventPlan
from obep.query.state_parts import apart, is_moment

Key = tuple[object, ...]
_extent = itemgetter(START, END)
_new = tuple.__new__  # a `Part` without the detour by its own constructor


class Detected(EagerOccurrence):
    """An occurrence of a composite event. Its fields are computed when they are first read."""

    __slots__ = ("_by", "_found")

    def __init__(self, by: Reporter, found: Candidate | list[Candidate]) -> None:
        """`found` is what it was found as: a candidate, or several that are the same occurrence."""
        self._by = by
        self._found = found
        self._id = self.style = ""

    @property
    def event(self) -> Term:  # type: ignore[override]  # it is that of its reporter
        return self._by.plan.event

    @property
    def partition(self) -> tuple[Term, ...]:  # type: ignore[override]
        return self._by.partition

    @property
    def id(self) -> str:
        if not self._id:
            found = self._found
            self._id = "" if isinstance(found, list) else self._by.id_of(found)
            if not self._id:
                self._tell()
        return self._id

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value. Such a call costs as much as what it is for: so what is
        # cheap comes at once, and what nearly everybody wants together, too.
        compute = _LATER.get(name)
        if compute is not None:
            value = compute(self)
            setattr(self, name, value)
            return value
        if name in _AT_ONCE:
            self._settle()
        elif name in _TOGETHER:
            self._tell()
        else:
            raise AttributeError(name)
        return getattr(self, name)

    def _settle(self) -> None:
        found = self._found
        if isinstance(found, list):
            self.start, self.end, self.detected, _, _, _ = found[0]
            self.since = min([candidate[SINCE] for candidate in found])
        else:
            self.start, self.end, self.detected, self.since, _, _ = found

    def _tell(self) -> None:
        self._settle()
        by, found = self._by, self._found
        if isinstance(found, list):
            self.parts = parts = min([by.parts(candidate) for candidate in found], key=_order)
        else:
            self.parts = parts = by.parts(found)
        self.bindings = self.bound()
        self.bounded = by.plan.bounded or any(part[1].bounded for part in parts)
        if not self._id and not isinstance(found, list):
            self._id = by.id_of(found)
        if not self._id:
            counted = by.counted(self.candidates[0], self.explanation)
            self._id = identity(self.event, counted, self.start, self.end, individuals(parts), self.partition)

    def bound(self) -> tuple[dict[str, Term], ...]:
        """Its bindings, which need nothing else of it."""
        found = self._found
        rows = [row for one in found for row in one[ROWS]] if isinstance(found, list) else found[ROWS]
        return bindings_of(self._by.plan, rows)

    @property
    def by(self) -> Reporter:
        """The reporter: its event and its partition."""
        return self._by

    @property
    def found(self) -> Candidate | list[Candidate]:
        """Its candidate, or several candidates of the same occurrence."""
        return self._found

    @property
    def candidates(self) -> list[Candidate]:
        """Its candidates; all of them are the same occurrence."""
        return self._found if isinstance(self._found, list) else [self._found]

    @property
    def guards(self) -> tuple[str, ...]:
        """The blocks and filters that it met."""
        here = {part.alias.split("#")[0] for part in self.parts} | {""}
        found = (text for name, texts in self._by.plan.blocks.items() if name in here for text in texts)
        return tuple(dict.fromkeys(found))

    def individuals(self) -> tuple[Term, ...]:
        return individuals(self.parts)


def _order(parts: tuple[Part, ...]) -> list[tuple[object, ...]]:
    return [(p.alias, p.occurrence.start, p.occurrence.end, p.occurrence.id) for p in parts]


_AT_ONCE = frozenset(("start", "end", "detected", "since"))
_TOGETHER = frozenset(("parts", "bounded"))
_LATER: dict[str, Callable[[Detected], object]] = {
    "solutions": lambda it: {},
    "bindings": lambda it: it.bound(),
    "_written": lambda it: None,
    "_stamp": lambda it: None,
    "explanation": lambda it: it._by.explanation(it.candidates[0]),
    "items": lambda it: items_of(it.candidates[0][PARTS]),
    "individual": lambda it: f"<{it.id}>",
    "constructed": lambda it: construct(it._by.plan.construct, it),
}


def bindings_of(plan: EventPlan, rows: Sequence[tuple[Term | None, ...]]) -> tuple[dict[str, Term], ...]:
    """Rows as people see them: by name, each once, in an order that the data does not change."""
    visible = plan.visible
    if len(rows) == 1:
        (row,) = rows
        only = {name: value for name, at in visible if (value := row[at]) is not None}
        return (only,) if only else ()
    shown = {tuple((name, value) for name, at in visible if (value := row[at]) is not None) for row in rows}
    return () if shown == {()} else tuple(dict(row) for row in sorted(shown))


def individuals(parts: Iterable[Part]) -> tuple[Term, ...]:
    """The individuals of the leaves, which are part of the identity; a bare NOT has none."""
    return tuple(sorted([part.occurrence.individual for part in parts if not part.context])) or ("",)


def counted(one: Occurrence) -> tuple[Assertion, ...]:
    """The assertions that make what it is part of the same as another: not those of states (D43)."""
    if is_moment(one):
        return ()
    held = [part.occurrence for part in one.parts if not part.context]
    own = [counted(part) for part in held]
    if all(mine == part.explanation for mine, part in zip(own, held, strict=True)):
        return one.explanation
    shown = {assertion for part in held for assertion in part.explanation}
    rest = tuple([assertion for assertion in one.explanation if assertion not in shown])
    return united([*own, rest])


def stamp_of(part: Occurrence) -> Stamp | None:
    """The stamp of a logical occurrence for ids; None where it depends on more than its explanation."""
    if type(part) is Decided and (by := part.by).fixed:
        part._stamp = found = (by.stamp or by.make_stamp())(part.terms, part.start)
        return found
    if type(part) is Carried and not part.content.named:
        first, last, seen, text = _content_stamp(part.content)
        if not text:
            return None
        at = part.start
        part._stamp = stamp = (
            (first, at if seen[0] else None),
            (last, at if seen[-1] else None),
            text % ((at,) * sum(seen)),
            part.individual,
        )
        return stamp
    explanation = part.explanation
    if not explanation or part.parts or (part._id and is_moment(part)):
        return None
    part._stamp = stamp = (explanation[0], explanation[-1], assertions_text(explanation), part.individual)
    return stamp


@lru_cache(1 << 14)
def _content_stamp(content: Content) -> tuple[Triple, Triple, tuple[bool, ...], str]:
    """The first and the last triple, which of all were seen, and their text with `%d` for the instant."""
    triples = [triple for triple, _ in content.explanation] or [("", "", "")]
    said = assertions_text((triple, "\0" if own else None) for triple, own in content.explanation)
    text = said.replace("%", "%%").replace(" \0\0", " %d\0")
    return triples[0], triples[-1], tuple([own for _, own in content.explanation]), text


def items_of(parts: Iterable[Occurrence | None]) -> tuple[Item | Occurrence | Term, ...]:
    """The items that some occurrences were found in, each once."""
    return tuple(dict.fromkeys([item for part in parts if part is not None for item in part.items]))


def united(explanations: Sequence[tuple[Assertion, ...]]) -> tuple[Assertion, ...]:
    """Explanations, each sorted, as one, sorted; of equal triples that of K (without an instant) first."""
    if len(explanations) == 1:
        return explanations[0]
    try:
        if len(explanations) == 2:
            one, other = explanations
            if one and other and one[-1] < other[0]:
                return one + other
        return tuple(sorted({assertion for explanation in explanations for assertion in explanation}))
    except TypeError:  # a triple that is both seen and known
        return tuple(sorted(set().union(*explanations), key=_by_triple))


def _by_triple(assertion: Assertion) -> tuple[object, ...]:
    triple, at = assertion
    return triple, at is not None, at or 0


class Reports(Sequence[Occurrence]):
    """Very many occurrences: made when they are read."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Reporter, Sequence[Candidate | list[Candidate]]]] = []
        self._made: list[Occurrence] = []

    def add(self, by: Reporter, candidates: Sequence[Candidate], untied: bool) -> None:
        """Add the new candidates of an event; see `Reporter.distinct`."""
        self._waiting.append((by, by.distinct(candidates, untied)))

    def add_made(self, occurrences: Iterable[Occurrence]) -> None:
        """Add occurrences that are made already."""
        self._made.extend(occurrences)

    def __len__(self) -> int:
        return len(self._made) + sum(len(found) for _, found in self._waiting)

    @overload
    def __getitem__(self, index: int) -> Occurrence: ...
    @overload
    def __getitem__(self, index: slice) -> list[Occurrence]: ...
    def __getitem__(self, index: int | slice) -> Occurrence | list[Occurrence]:
        return self._all()[index]

    def __iter__(self) -> Iterator[Occurrence]:
        return iter(self._all())

    def _all(self) -> list[Occurrence]:
        for by, found in self._waiting:
            self._made.extend(Detected(by, one) for one in found)
        self._waiting.clear()
        return self._made


class Reporter:
    """Makes one occurrence of all candidates that are the same (SPEC D1), once."""

    def __init__(self, plan: EventPlan, partition: tuple[Term, ...] = ()) -> None:
        assert plan.root is not None
        self.plan: EventPlan = plan
        self.partition: tuple[Term, ...] = partition
        aliases = list(enumerate(plan.root.aliases))
        self._named = [(place, alias.name, alias.context) for place, alias in aliases if alias.event]
        """The parts that people see; what NOT leaves of an item has no alias."""
        self._held = [place for place, alias in aliases if not alias.context]
        """The parts whose assertions explain it."""
        self._of_states = any(apart(alias.event) is not None for _, alias in aliases)
        """Whether a part may be a moment of a state."""
        seen = [place for place, _, context in self._named if not context]
        self._plain = not self._of_states and seen == self._held
        """Whether ids are made of what the parts add to them."""
        self._id_head = f"{plan.event}\0"
        self._id_middle = "\0".join(["", *partition, "|", ""])
        self._id_prefix = id_prefix(plan.event)
        self._punctual = plan.root.punctual
        self._two = _two_instants(plan.root)
        self.reported: dict[Key, int] = {}
        """For events that may be found again later: what was reported, and its start."""

    def report(self, candidates: Sequence[Candidate]) -> list[Detected]:
        """The occurrences among these candidates that were not reported before."""
        return [Detected(self, found) for found in self.distinct(candidates)]

    def distinct(
        self, candidates: Sequence[Candidate], untied: bool = False
    ) -> Sequence[Candidate | list[Candidate]]:
        """What makes one occurrence each, without those that were reported before.

        Candidates of one instant come together; those of several may. `untied`: no two occurrences ever
        came at the same instant, so two instants tell which occurrences they are.
        """
        if self._two and untied:
            return list(candidates)
        if self._punctual and len(set(map(_extent, candidates))) == len(candidates):
            return list(candidates)
        same: dict[Key, list[Candidate]] = {}
        for candidate in candidates:
            same.setdefault(self._key(candidate), []).append(candidate)
        if not self._punctual:
            same = {key: found for key, found in same.items() if key not in self.reported}
            self.reported.update((key, found[0][START]) for key, found in same.items())
        return list(same.values())

    @cached_property
    def lines(self) -> EventLines:
        """The writer of its occurrences as lines of JSON."""
        bindings = partial(bindings_of, self.plan)
        return EventLines(self.plan.event, self._named, bindings, bounded=self.plan.bounded)

    def line(self, one: Detected, style: str | None) -> bytes:
        """The line of JSON of one of its occurrences, as `to_line` has it."""
        found = one._found
        if type(found) is tuple and self._plain and (name := one._id or self.id_of(found)):
            one._id = name
            if line := self.lines.of(found, name, style or one.style):
                return line
        return line_bytes(one, style)

    def parts(self, candidate: Candidate) -> tuple[Part, ...]:
        """The occurrences that aliases are bound to."""
        parts = candidate[PARTS]
        return tuple(
            [
                _new(Part, (name, part, context))
                for place, name, context in self._named
                if (part := parts[place]) is not None
            ]
        )

    def is_bounded(self, parts: Parts) -> bool:
        """Whether what was found as these parts is a lower bound."""
        named = (parts[place] for place, _, _ in self._named)
        return self.plan.bounded or any(part.bounded for part in named if part is not None)

    def explanation(self, candidate: Candidate) -> tuple[Assertion, ...]:
        """A: all assertions of the parts, but not of contexts."""
        parts = candidate[PARTS]
        return united([part.explanation for place in self._held if (part := parts[place]) is not None])

    def id_of(self, candidate: Candidate) -> str:
        """The id of an occurrence that was found once; nothing: it must be worked out (`identity`).

        The assertions of a part stand together in it, unless they lie between those of another one.
        """
        if not self._plain:
            return ""
        start, end, _, _, parts, _ = candidate
        stamps: list[Stamp] = []
        for place in self._held:
            part = parts[place]
            if part is None:
                continue
            stamp = part._stamp or stamp_of(part)
            if stamp is None:
                return ""
            stamps.append(stamp)
        try:
            if len(stamps) == 2:
                (first, last, text, name), (other_first, other_last, other, other_name) = stamps
                if last < other_first:
                    text += other
                elif other_last < first:
                    text = other + text
                else:
                    return ""
                names = f"{name}\0{other_name}" if name < other_name else f"{other_name}\0{name}"
            else:
                if len(stamps) > 1:
                    stamps.sort()
                if not stamps or any(one[1] >= other[0] for one, other in pairwise(stamps)):
                    return ""
                text = "".join([text for _, _, text, _ in stamps])
                names = "\0".join(sorted([name for _, _, _, name in stamps]))
        except TypeError:  # a triple that is both seen and known
            return ""
        head = f"{self._id_head}{start}\0{end}{self._id_middle}"
        return self._id_prefix + id_digest(f"{head}{names}\0|\0{text}".encode())

    def counted(self, candidate: Candidate, explanation: tuple[Assertion, ...]) -> tuple[Assertion, ...]:
        """A without what explains states: their moments are distinguished by name (D43)."""
        parts = candidate[PARTS]
        held = [part for place in self._held if (part := parts[place]) is not None]
        if not self._of_states and not any(part.parts for part in held):
            return explanation
        return united([counted(part) for part in held])

    def _key(self, candidate: Candidate) -> Key:
        start, end = candidate[START], candidate[END]
        counted = self.counted(candidate, self.explanation(candidate))
        return (start, end, counted, individuals(self.parts(candidate)))

    def prune(self, at: int) -> None:
        """Forget what cannot be found again."""
        horizon = self.plan.horizon
        if horizon is not None and self.reported:
            self.reported = {k: start for k, start in self.reported.items() if start > at - horizon}


def _two_instants(node: Node) -> bool:
    """Whether a candidate is two occurrences that each are an instant, one after the other."""
    while isinstance(node, Within | Check):
        node = node.operand
    if not isinstance(node, Pair) or node.relation != "SEQ":
        return False
    return all(isinstance(one, Read) and one.point and one.punctual for one in (node.left, node.right))


def line_of(occurrence: Occurrence, style: str | None = None) -> bytes:
    """The line of JSON of any occurrence, as UTF-8 with its end."""
    if type(occurrence) is Detected:
        return occurrence.by.line(occurrence, style)
    return line_bytes(occurrence, style)
