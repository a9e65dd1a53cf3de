"""From candidates to occurrences: each is reported once, with the bindings of all that it was (SPEC D1)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from hashlib import blake2b
from typing import Any

from obep.engine.construct import construct
from obep.model import Assertion, Occurrence, Part, Term
from obep.operators.candidates import END, PARTS, ROWS, SINCE, START, Candidate, Parts
from obep.plan.plan import EventPlan

Key = tuple[object, ...]


class Detected(Occurrence):
    """An occurrence of a composite event. What nobody asks for (its id, its explanation) is not computed."""

    __slots__ = ("_candidates", "_plan")

    def __init__(self, plan: EventPlan, partition: tuple[Term, ...], candidates: Sequence[Candidate]) -> None:
        self._plan = plan
        self._candidates = candidates
        self.start, self.end, self.detected, self.since = candidates[0][:4]
        if len(candidates) > 1:
            self.since = min(candidate[SINCE] for candidate in candidates)
        self.event = plan.event
        self.partition = partition
        self.solutions = {}

    def __getattr__(self, name: str) -> Any:
        # Only called for a slot without a value.
        compute = _LATER.get(name)
        if compute is None:
            raise AttributeError(name)
        value = compute(self)
        setattr(self, name, value)
        return value

    @property
    def key(self) -> tuple[object, ...]:
        """What makes it the same one (SPEC D1)."""
        return (self.event, self.explanation, self.start, self.end, individuals(self.parts), self.partition)

    @property
    def candidates(self) -> Sequence[Candidate]:
        """What it was found as; all of them are the same occurrence."""
        return self._candidates


def _explanation(occurrence: Detected) -> tuple[Assertion, ...]:
    return explanation_of(occurrence._candidates[0][PARTS], occurrence._plan)


def _parts(occurrence: Detected) -> tuple[Part, ...]:
    plan = occurrence._plan
    found = [parts_of(candidate[PARTS], plan) for candidate in occurrence._candidates]
    return min(found, key=_order) if len(found) > 1 else found[0]


def _order(parts: tuple[Part, ...]) -> list[tuple[object, ...]]:
    return [(p.alias, p.occurrence.start, p.occurrence.end, p.occurrence.id) for p in parts]


def _bindings(occurrence: Detected) -> tuple[dict[str, Term], ...]:
    return occurrence._plan.bindings(row for one in occurrence._candidates for row in one[ROWS])


def _id(occurrence: Detected) -> str:
    event, explanation, start, end, individuals, partition = occurrence.key
    digest = blake2b(digest_size=16)
    for piece in (event, str(start), str(end), *partition, "|", *individuals, "|"):  # type: ignore[misc]
        digest.update(piece.encode() + b"\0")
    for (s, p, o), at in explanation:  # type: ignore[attr-defined]
        digest.update(f"{s} {p} {o} {'' if at is None else at}\0".encode())
    return f"urn:obep:{local_name(occurrence.event)}:{digest.hexdigest()}"


_LATER: dict[str, Callable[[Detected], object]] = {
    "_id": _id,
    "individual": lambda occurrence: f"<{occurrence.id}>",
    "explanation": _explanation,
    "parts": _parts,
    "bindings": _bindings,
    "bounded": lambda occurrence: any(part.occurrence.bounded for part in occurrence.parts),
    "constructed": lambda occurrence: construct(
        occurrence._plan.construct, occurrence.individual, occurrence.bindings
    ),
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


class Reporter:
    """Makes one occurrence of all candidates that are the same (SPEC D1), once."""

    def __init__(self, plan: EventPlan, partition: tuple[Term, ...] = ()) -> None:
        assert plan.root is not None
        self._plan = plan
        self.partition = partition
        self._punctual = plan.root.punctual
        self.reported: dict[Key, int] = {}
        """For events that may be found again later: what was reported, and its start."""

    def report(self, candidates: Sequence[Candidate]) -> list[Detected]:
        """The occurrences among the candidates of one instant that were not reported before."""
        plan, partition = self._plan, self.partition
        if self._punctual and len({candidate[:2] for candidate in candidates}) == len(candidates):
            return [Detected(plan, partition, (candidate,)) for candidate in candidates]
        same: dict[Key, list[Candidate]] = {}
        for candidate in candidates:
            same.setdefault(self._key(candidate), []).append(candidate)
        if not self._punctual:
            same = {key: found for key, found in same.items() if key not in self.reported}
            self.reported.update((key, found[0][START]) for key, found in same.items())
        return [Detected(plan, partition, found) for found in same.values()]

    def _key(self, candidate: Candidate) -> Key:
        parts = parts_of(candidate[PARTS], self._plan)
        return (
            candidate[START],
            candidate[END],
            explanation_of(candidate[PARTS], self._plan),
            individuals(parts),
        )

    def prune(self, at: int) -> None:
        """Forget what cannot be found again."""
        horizon = self._plan.horizon
        if horizon is not None and self.reported:
            self.reported = {k: start for k, start in self.reported.items() if start > at - horizon}
