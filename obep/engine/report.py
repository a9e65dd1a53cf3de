"""From candidates to occurrences: each is reported once, with the bindings of all that it was (SPEC D1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from hashlib import blake2b
from operator import itemgetter
from typing import Any, overload

from obep.engine.construct import construct
from obep.model import Assertion, Occurrence, Part, Term
from obep.operators.candidates import DONE, END, PARTS, ROWS, SINCE, START, Candidate, Parts
from obep.plan.nodes import Check, Node, Pair, Read, Within
from obep.plan.plan import EventPlan

Key = tuple[object, ...]
_extent = itemgetter(START, END)


class Detected(Occurrence):
    """An occurrence of a composite event. Whatever nobody asks for is not even computed."""

    __slots__ = ("_by", "_found")

    def __init__(self, by: Reporter, found: Candidate | list[Candidate]) -> None:
        """`found` is what it was found as: a candidate, or several that are the same occurrence."""
        self._by = by
        self._found = found

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        compute = _LATER.get(name)
        if compute is None:
            raise AttributeError(name)
        value = compute(self)
        setattr(self, name, value)
        return value

    @property
    def by(self) -> Reporter:
        """Who reports it: its event and its partition."""
        return self._by

    @property
    def candidates(self) -> list[Candidate]:
        """What it was found as; all of them are the same occurrence."""
        return self._found if isinstance(self._found, list) else [self._found]

    @property
    def guards(self) -> tuple[str, ...]:
        """The blocks and filters that it met."""
        here = {part.alias.split("#")[0] for part in self.parts} | {""}
        found = (text for name, texts in self._by.plan.blocks.items() if name in here for text in texts)
        return tuple(dict.fromkeys(found))

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same one (SPEC D1)."""
        return (self.event, self.explanation, self.start, self.end, individuals(self.parts), self.partition)


def _parts(occurrence: Detected) -> tuple[Part, ...]:
    plan = occurrence._by.plan
    found = [parts_of(candidate[PARTS], plan) for candidate in occurrence.candidates]
    return min(found, key=_order) if len(found) > 1 else found[0]


def _order(parts: tuple[Part, ...]) -> list[tuple[object, ...]]:
    return [(p.alias, p.occurrence.start, p.occurrence.end, p.occurrence.id) for p in parts]


def _id(occurrence: Detected) -> str:
    event, explanation, start, end, individuals, partition = occurrence.key
    digest = blake2b(digest_size=16)
    for piece in (event, str(start), str(end), *partition, "|", *individuals, "|"):  # type: ignore[misc]
        digest.update(piece.encode() + b"\0")
    for (s, p, o), at in explanation:  # type: ignore[attr-defined]
        digest.update(f"{s} {p} {o} {'' if at is None else at}\0".encode())
    return f"urn:obep:{local_name(occurrence.event)}:{digest.hexdigest()}"


_LATER: dict[str, Callable[[Detected], object]] = {
    "event": lambda it: it._by.plan.event,
    "start": lambda it: it.candidates[0][START],
    "end": lambda it: it.candidates[0][END],
    "detected": lambda it: it.candidates[0][DONE],
    "since": lambda it: min(candidate[SINCE] for candidate in it.candidates),
    "solutions": lambda it: {},
    "partition": lambda it: it._by.partition,
    "parts": _parts,
    "explanation": lambda it: explanation_of(it.candidates[0][PARTS], it._by.plan),
    "bindings": lambda it: it._by.plan.bindings(row for one in it.candidates for row in one[ROWS]),
    "bounded": lambda it: it._by.plan.bounded or any(part.occurrence.bounded for part in it.parts),
    "_id": _id,
    "style": lambda it: "",
    "individual": lambda it: f"<{it.id}>",
    "constructed": lambda it: construct(it._by.plan.construct, it.individual, it.bindings),
}


def individuals(parts: Iterable[Part]) -> tuple[Term, ...]:
    """Those of the leaves, which make an occurrence the same as another; a bare NOT has none."""
    return tuple(sorted(part.occurrence.individual for part in parts if not part.context)) or ("",)


def local_name(event: Term) -> str:
    """The end of an IRI, for people and ids."""
    return event.strip("<>").rsplit("#", 1)[-1].rsplit("/", 1)[-1]


def parts_of(parts: Parts, plan: EventPlan) -> tuple[Part, ...]:
    """The occurrences that aliases are bound to. What NOT leaves of an item has no alias."""
    assert plan.root is not None
    return tuple(
        Part(alias.name, part, alias.context)
        for alias, part in zip(plan.root.aliases, parts, strict=True)
        if part is not None and alias.event
    )


def explanation_of(parts: Parts, plan: EventPlan) -> tuple[Assertion, ...]:
    """A: all assertions of the parts, but not of contexts."""
    assert plan.root is not None
    held = [
        part
        for alias, part in zip(plan.root.aliases, parts, strict=True)
        if part is not None and not alias.context
    ]
    return united(part.explanation for part in held)


def united(explanations: Iterable[tuple[Assertion, ...]]) -> tuple[Assertion, ...]:
    """Explanations as one, sorted; those of K (without an instant) first."""
    found = list(explanations)
    if len(found) == 1:
        return found[0]
    return tuple(sorted(set().union(*found), key=_by_triple))


def _by_triple(assertion: Assertion) -> tuple[object, ...]:
    triple, at = assertion
    return triple, at is not None, at or 0


class Reports(Sequence[Occurrence]):
    """Very many occurrences: made when somebody looks at them."""

    def __init__(self) -> None:
        self._waiting: list[tuple[Reporter, Sequence[Candidate | list[Candidate]]]] = []
        self._made: list[Occurrence] = []

    def add(self, by: Reporter, candidates: Sequence[Candidate], untied: bool) -> None:
        """All that is new among the candidates of an event; see `Reporter.distinct`."""
        self._waiting.append((by, by.distinct(candidates, untied)))

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

    def _key(self, candidate: Candidate) -> Key:
        start, end, _, _, parts, _ = candidate
        named = parts_of(parts, self.plan)
        return (start, end, explanation_of(parts, self.plan), individuals(named))

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
