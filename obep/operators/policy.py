"""SEQ under a policy, and OPTIONAL: for each r, which l it goes with (SPEC §4, §6)."""

from __future__ import annotations

from collections.abc import Iterable

from obep.operators.candidates import DONE, END, PARTS, ROWS, START, Candidate, Emit, Rows
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, grows
from obep.operators.pair import PairsOfRight, Union, kept_for
from obep.operators.row_join import widener
from obep.operators.selection import first_of, last_of
from obep.operators.time_relations import RELATIONS
from obep.operators.view import Shown
from obep.plan import nodes

CHOICES = {"first": first_of, "last": last_of}


class Choosing(PairsOfRight):
    """Looks at each r with all the l that fit it, when one of them is new."""

    state = ("lefts", "rights", "_new_left", "_new_right")

    def __init__(self, node: nodes.Pick | nodes.Fallback, relation: str, emit: Emit, *, eager: bool) -> None:
        union = Union(node, relation)
        super().__init__(
            union,
            Memory(union.key_left, *kept_for(node)),
            Memory(union.key_right, *kept_for(node)),
            emit,
            eager=eager,
        )
        self.relation = RELATIONS[relation]
        self._choose = CHOICES.get(node.which)
        self._plain = self._all_join and relation == "SEQ" and not union.held
        """All under one key fit, but for the horizon: the chosen ones stand at one end."""
        self._last = node.which == "last"
        self._instants = node.left.point
        self._keeps_rights = not eager and not node.right.view

    def _with_lefts(self, lefts: list[Candidate], rights: list[Candidate], at: int) -> None:
        if lefts:
            self._with_new_lefts(lefts, at)
        if self._keeps_rights:
            for right in rights:
                self.rights.add(right)
        self._at_the_end(at)

    def _at_the_end(self, at: int) -> None:
        """For a policy that looks at all there is."""

    def _with_new_lefts(self, lefts: list[Candidate], at: int) -> None:
        for right in self._older_rights(lefts, at):
            for pair in self._chosen(self._fitting(right)):
                if pair[DONE] == at:
                    self.emit(pair)

    def _with_right(self, right: Candidate) -> None:
        for pair in self._chosen(self._fitting(right)):
            self.emit(pair)

    def _older_rights(self, lefts: list[Candidate], at: int) -> Iterable[Candidate]:
        """Earlier candidates of the right side that fit one of the new left ones."""
        found: dict[int, Candidate] = {}
        fits: set[int] = set()
        for left in lefts:
            for right in self._right.partners(left, self.union.key_left, *self.relation.rights(left)):
                if right[DONE] < at:
                    found[id(right)] = right
                    if id(right) not in fits and self.union(left, right) is not None:
                        fits.add(id(right))
        older = [right for key, right in found.items() if key in fits]
        return self._right.arranged(older) if isinstance(self._right, Shown) else older

    def _lefts(self, right: Candidate) -> Iterable[Candidate]:
        return self._left.partners(right, self.union.key_right, *self.relation.lefts(right))

    def _fitting(self, right: Candidate) -> list[tuple[Candidate, Candidate]]:
        """Each l that fits (or at least those that may be chosen), with the pair that it makes."""
        if self._plain and self._choose is not None and self.left_view is None and len(right[ROWS]) == 1:
            return self._nearest(right)
        pairs = ((left, self.union(left, right)) for left in self._lefts(right))
        return [(left, pair) for left, pair in pairs if pair is not None]

    def _nearest(self, right: Candidate) -> list[tuple[Candidate, Candidate]]:
        """Fitting candidates, from the end that the policy prefers, until no other can be chosen."""
        key, before = self.union.key_right(right[ROWS][0]), right[START] - 1
        found: list[tuple[Candidate, Candidate]] = []
        bound: int | None = None
        for left in self.lefts.latest(key, before) if self._last else self.lefts.earliest(key, before):
            if bound is not None and (
                left[END] < bound if self._last else self._instants and left[END] > bound
            ):
                break
            pair = self.union(left, right)
            if pair is not None:
                found.append((left, pair))
                if not self._last:
                    bound = found[0][0][END]
                elif bound is None or left[START] > bound:
                    bound = left[START]
        return found

    def _chosen(self, fitting: list[tuple[Candidate, Candidate]]) -> list[Candidate]:
        if self._choose is None or len(fitting) < 2:
            return [pair for _, pair in fitting]
        chosen = {id(left) for left in self._choose(left for left, _ in fitting)}
        return [pair for left, pair in fitting if id(left) in chosen]

    def memories(self) -> Iterable[Memory]:
        return (self.lefts, self.rights)


class Pick(Choosing):
    """`L SEQ R` under POLICY chronological or recent."""

    field_name = "sequence with a policy (SEQ)"

    def __init__(self, node: nodes.Pick, emit: Emit) -> None:
        calm = node.left.punctual and not (node.left.view or node.right.view)
        super().__init__(node, "SEQ", emit, eager=calm)


class Fallback(Choosing):
    """`OPTIONAL(L) SEQ R`, `OPTIONAL(L) AND R`: r goes alone with the rows that no l fits."""

    field_name = "outer join (OPTIONAL)"

    def __init__(self, node: nodes.Fallback, emit: Emit) -> None:
        calm = node.left.punctual and not (node.left.view or node.right.view)
        self._naive = node.which == "naive"
        eager = calm and node.relation == "SEQ" and not self._naive
        super().__init__(node, node.relation, emit, eager=eager)
        self._unmatched = (None,) * len(node.left.aliases)
        self._widen = widener(node.right.variables, node.variables)
        self._final = emit
        if node.held:
            self.emit = self._wrap

    def _wrap(self, candidate: Candidate) -> None:
        start, end, done, since, parts, rows = candidate
        self._final((start, end, done, since, parts, (rows,)))

    def _with_right(self, right: Candidate) -> None:
        fitting = self._fitting(right)
        if not self._naive:
            for pair in self._chosen(fitting):
                self.emit(pair)
        start, end, done, since, parts, _ = right
        alone = self._alone(right, fitting)
        if alone:
            widened = alone if self._widen is None else self._widen(alone)
            self.emit((start, end, done, since, self._unmatched + parts, widened))

    def _with_new_lefts(self, lefts: list[Candidate], at: int) -> None:
        if not self._naive:
            super()._with_new_lefts(lefts, at)

    def _at_the_end(self, at: int) -> None:
        """naive: only the last l with the last r."""
        if self._naive:
            lefts = self.lefts if self.left_view is None else self.left_view.live()
            rights = self.rights if self.right_view is None else self.right_view.live()
            last = Shown(lambda: last_of(lefts), self.union.key_left)
            for right in last_of(rights):
                for left in last.partners(right, self.union.key_right, *self.relation.lefts(right)):
                    pair = self.union(left, right)
                    if pair is not None and pair[DONE] == at:
                        self.emit(pair)

    def _alone(self, right: Candidate, fitting: list[tuple[Candidate, Candidate]]) -> Rows:
        rows: Rows = right[ROWS]
        if len(rows) == 1:
            return () if fitting else rows
        return tuple(
            row
            for row in rows
            if not any(
                self.union.rows_of(left[ROWS], (row,), pair[PARTS], pair[0], pair[1])
                for left, pair in fitting
            )
        )


@grows(nodes.Pick, nodes.Fallback)
def _(node: nodes.Pick | nodes.Fallback, place: Place) -> Operator | None:
    operator = Pick(node, place.emit) if isinstance(node, nodes.Pick) else Fallback(node, place.emit)
    operator.left_view = place.grow(node.left, operator.take_left)
    operator.right_view = place.grow(node.right, operator.take_right)
    return place.add(operator)
