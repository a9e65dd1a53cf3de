"""FIRST and LAST: views of what there is (SPEC §4), and where the rows below them are settled (D9)."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Set
from typing import Any

from obep.operators.candidates import DONE, END, PARTS, SINCE, START, Candidate, Emit
from obep.operators.either import Either
from obep.operators.memory import FEW
from obep.operators.operator import Operator, Place, grows
from obep.operators.row_join import Gathering, compile_test
from obep.operators.state_values import Pack, Unpack
from obep.operators.view import bound_of
from obep.plan import nodes


def first_of(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The members that no other one precedes."""
    found = list(candidates)
    bound = min((candidate[END] for candidate in found), default=0)
    return [candidate for candidate in found if candidate[START] <= bound]


def last_of(candidates: Iterable[Candidate]) -> list[Candidate]:
    """The members that no other one follows."""
    found = list(candidates)
    bound = max((candidate[START] for candidate in found), default=0)
    return [candidate for candidate in found if candidate[END] >= bound]


class Choice(Operator):
    """Emits what is first (last) when it comes; shows what is first (last) now.

    One that is not first is never first later, unless what was is consumed: only then all are kept.
    """

    field_name = "selection (FIRST, LAST)"
    state = ("_members", "_new")

    def __init__(self, node: nodes.Choice, emit: Emit, *, consumes: bool) -> None:
        self.emit = emit
        self.below: Operator | None = None
        self.choose = first_of if node.which == "first" else last_of
        self._bound = bound_of(node)
        self._eager = node.prompt
        self.waits = not self._eager
        self._keep_all = consumes
        self._horizon = node.horizon
        self._window = node.horizon if node.windowed else None
        self._now = 0
        self._members: list[Candidate] = []
        self._chosen = 0
        """The number of members when others were last dropped."""
        self._new: list[Candidate] = []
        self._watching: list[Callable[[Candidate], None]] = []

    def take(self, candidate: Candidate) -> None:
        for seen in self._watching:
            seen(candidate)
        self._now = candidate[DONE]
        if self.below is None:
            self._members.append(candidate)
            self._bound.add(candidate)
            if len(self._members) > 2 * self._chosen + FEW:
                self._drop_others()
        if not self._eager:
            self._new.append(candidate)
        elif self._bound.shows(candidate, self._members, self._now):
            self.emit(candidate)

    def close(self, at: int) -> None:
        self._now = at
        if self._new:
            new, self._new = self._new, []
            for candidate in self._shown(new):
                self.emit(candidate)

    def _shown(self, new: list[Candidate]) -> list[Candidate]:
        """The new candidates that the view shows."""
        if self.below is None:
            return [one for one in new if self._bound.shows(one, self._members, self._now)]
        shown = list(self.live())
        self._bound.forget()
        return [one for one in new if self._bound.shows(one, shown, self._now)]

    def live(self) -> Iterable[Candidate]:
        if self.below is not None:
            return self.choose(self._in_window(self.below.live()))
        self._drop_others()
        return self.choose(self._members) if self._keep_all or self._window is not None else self._members

    def _in_window(self, shown: Iterable[Candidate]) -> Iterable[Candidate]:
        """The members of another view without those outside the window, which it drops later."""
        if self._window is None:
            return shown
        before = self._now - self._window
        return [candidate for candidate in shown if candidate[SINCE] > before]

    def _drop_others(self) -> None:
        """Forget the members that can never be chosen again."""
        if self._window is not None:
            before = self._now - self._window
            self._members = [member for member in self._members if member[SINCE] > before]
        elif not self._keep_all:
            self._members = self.choose(self._members)
        self._chosen = len(self._members)

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        self._watching.append(seen)

    @property
    def lasting(self) -> bool:
        """Whether one that hides another hides it for ever."""
        return not self._keep_all and self._window is None

    def dump(self, pack: Pack) -> list[Any]:
        self._drop_others()
        return super().dump(pack)

    def load(self, data: list[Any], unpack: Unpack) -> None:
        super().load(data, unpack)
        self._bound.forget()

    def prune(self, at: int) -> None:
        if self._horizon is not None:
            self._drop_others()
            before = at - self._horizon
            self._members = [member for member in self._members if member[SINCE] > before]
            self._bound.forget()

    def consume(self, gone: Set[int], at: int) -> None:
        self._members = [m for m in self._members if not any(id(part) in gone for part in m[PARTS])]
        self._bound.forget()

    def size(self) -> int:
        self._drop_others()
        return len(self._members)


class Settle(Operator):
    """Joins the rows that were kept apart below, and decides the conditions over them.

    With `keep` a candidate goes on without rows: the operator above chooses before it looks at them.
    """

    field_name = "selection (FIRST, LAST)"

    def __init__(self, node: nodes.Settle, emit: Emit) -> None:
        self.emit = emit
        self.below: Operator | None = None
        self._gather = Gathering(node.operand.factors, node.variables)
        self._test = compile_test(node.conditions, node.variables, node.aliases)
        self._keep = node.keep

    def take(self, candidate: Candidate) -> None:
        settled = self._settled(candidate)
        if settled is not None:
            self.emit(settled)

    def live(self) -> Iterable[Candidate]:
        assert self.below is not None
        found = (self._settled(candidate) for candidate in self.below.live())
        return [candidate for candidate in found if candidate is not None]

    def watch(self, seen: Callable[[Candidate], None]) -> None:
        assert self.below is not None
        self.below.watch(seen)

    def _settled(self, candidate: Candidate) -> Candidate | None:
        start, end, done, since, parts, lots = candidate
        rows = self._gather(lots)
        if rows and self._test is not None:
            rows = self._test(rows, parts, start, end)
        return (start, end, done, since, parts, rows) if rows or self._keep else None


@grows(nodes.Choice)
def _(node: nodes.Choice, place: Place) -> Operator | None:
    operator = Choice(node, place.emit, consumes=place.consumes)
    operator.below = place.grow(node.operand, operator.take)
    if isinstance(operator.below, Either) and operator.lasting:
        operator.below.narrow(operator.choose)
    return place.add(operator)


@grows(nodes.Settle)
def _(node: nodes.Settle, place: Place) -> Operator | None:
    operator = Settle(node, place.emit)
    operator.below = place.grow(node.operand, operator.take)
    return place.add(operator)
