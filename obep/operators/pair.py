"""SEQ, AND, JOIN and Allen's relations: l ⋈ r that stand in a relation in time."""

from __future__ import annotations

from collections.abc import Iterable

from obep.operators.candidates import DONE, END, ROWS, SINCE, Candidate, Emit, Parts, Rows
from obep.operators.memory import Measure, Memory
from obep.operators.operator import Operator, clashes
from obep.operators.row_join import Joining, compile_test, key_function
from obep.operators.time_relations import RELATIONS
from obep.operators.view import Shown, shown_by
from obep.plan import nodes


class Union:
    """l ⋈ r for two candidates that stand in the relation, or nothing."""

    def __init__(self, node: nodes.Binary, relation: str) -> None:
        left, right = node.left, node.right
        self.holds = RELATIONS[relation].holds
        self.held = node.held and not isinstance(node, nodes.Next | nodes.Fallback)
        self.joining = Joining(left.variables, right.variables, left.sure, right.sure)
        self.clash = clashes(left.aliases, right.aliases, apart=relation in ("SEQ", "AFTER"))
        self._keeps_left = relation in ("DURING", "CONTAINS")
        self._horizon = node.horizon
        self.test = compile_test(node.conditions, node.variables, left.aliases + right.aliases)
        self.key_left = key_function(()) if self.held else self.joining.key_left
        self.key_right = key_function(()) if self.held else self.joining.key_right

    def __call__(self, left: Candidate, right: Candidate) -> Candidate | None:
        """The two as one, if they fit: in time, in their occurrences and in their rows."""
        pair = self.beside(left, right)
        if pair is None:
            return None
        start, end, done, since, parts, _ = pair
        if self.held:
            return start, end, done, since, parts, left[ROWS] + right[ROWS]
        rows = self.rows_of(left[ROWS], right[ROWS], parts, start, end)
        return (start, end, done, since, parts, rows) if rows else None

    def beside(self, left: Candidate, right: Candidate) -> Candidate | None:
        """The two as one without rows, if they fit in time and in their occurrences."""
        if not self.holds(left, right):
            return None
        start, end, done, since, parts, _ = left
        right_start, right_end, right_done, right_since, right_parts, _ = right
        if self.clash is not None and self.clash(parts, right_parts):
            return None
        if not self._keeps_left:
            if right_start < start:
                start = right_start
            if right_end > end:
                end = right_end
        if right_done > done:
            done = right_done
        if right_since < since:
            since = right_since
        if self._horizon is not None and done - since >= self._horizon:
            return None
        return start, end, done, since, parts + right_parts, ()

    def rows_of(self, left: Rows, right: Rows, parts: Parts, start: int, end: int) -> Rows:
        """The joined rows that meet the conditions."""
        rows = self.joining.join(left, right)
        if rows and self.test is not None:
            return self.test(rows, parts, start, end)
        return rows


def kept_for(node: nodes.Binary) -> tuple[int | None, Measure]:
    """How long an operand is kept, and from which instant on."""
    return (node.horizon, SINCE) if node.keeps is None else (node.keeps, END)


class Pair(Operator):
    """Finds a pair when the later of the two is there.

    With a view below it waits for the instant to close, and looks at the view as it is then.
    """

    field_name = "join (AND, relations of intervals)"
    state = ("lefts", "rights", "new_left", "new_right")

    def __init__(self, node: nodes.Pair, emit: Emit) -> None:
        self.emit = emit
        self.relation = RELATIONS[node.relation]
        self.union = Union(node, node.relation)
        self.lefts = Memory(self.union.key_left, *kept_for(node))
        self.rights = Memory(self.union.key_right, *kept_for(node))
        self.left_view: Operator | None = None
        self.right_view: Operator | None = None
        self._shown_left: Shown | None = None
        self._shown_right: Shown | None = None
        # What comes before the other and is on time has come before it: no need to remember the later one.
        self.keep_left = not (node.relation == "AFTER" and node.right.punctual) and not node.left.view
        self.keep_right = not (node.relation == "SEQ" and node.left.punctual) and not node.right.view
        self.waits = node.left.view or node.right.view
        self.new_left: list[Candidate] = []
        self.new_right: list[Candidate] = []

    def take_left(self, left: Candidate) -> None:
        if self.waits:
            self.new_left.append(left)
            return
        for right in self._rights_of(left):
            self._try(left, right)
        if self.keep_left:
            self.lefts.add(left)

    def take_right(self, right: Candidate) -> None:
        if self.waits:
            self.new_right.append(right)
            return
        for left in self._lefts_of(right):
            self._try(left, right)
        if self.keep_right:
            self.rights.add(right)

    def close(self, at: int) -> None:
        if not (self.new_left or self.new_right):
            return
        new_left, self.new_left = self.new_left, []
        new_right, self.new_right = self.new_right, []
        self._shown_left = shown_by(self.left_view, self.union.key_left)
        self._shown_right = shown_by(self.right_view, self.union.key_right)
        for left in new_left:
            for right in self._rights_of(left):
                if right[DONE] < at:
                    self._try(left, right)
        if self.keep_left:
            for left in new_left:
                self.lefts.add(left)
        for right in new_right:
            for left in self._lefts_of(right):
                self._try(left, right)
        if self.keep_right:
            for right in new_right:
                self.rights.add(right)
        self._shown_left = self._shown_right = None

    def _try(self, left: Candidate, right: Candidate) -> None:
        pair = self.union(left, right)
        if pair is not None:
            self.emit(pair)

    def _lefts_of(self, right: Candidate) -> Iterable[Candidate]:
        lefts = self._shown_left or self.lefts
        return lefts.partners(right, self.union.key_right, *self.relation.lefts(right))

    def _rights_of(self, left: Candidate) -> Iterable[Candidate]:
        rights = self._shown_right or self.rights
        return rights.partners(left, self.union.key_left, *self.relation.rights(left))

    def memories(self) -> Iterable[Memory]:
        return (self.lefts, self.rights)


class PairsOfRight(Operator):
    """Looks at each new r with the l before it: at once, or when the instant closes if one may come late."""

    def __init__(self, union: Union, lefts: Memory, rights: Memory, emit: Emit, *, eager: bool) -> None:
        self.emit = emit
        self.union = union
        self.lefts, self.rights = lefts, rights
        self.left_view: Operator | None = None
        self.right_view: Operator | None = None
        self._left: Memory | Shown = lefts
        self._right: Memory | Shown = rights
        self._all_join = union.joining.exact and union.test is None and union.clash is None
        """All under one key join: there are no conditions, and no occurrence can be on both sides."""
        self._eager = eager
        self.waits = not eager
        self._new_left: list[Candidate] = []
        self._new_right: list[Candidate] = []

    def take_left(self, left: Candidate) -> None:
        if self.left_view is None:
            self.lefts.add(left)
        if not self._eager:
            self._new_left.append(left)

    def take_right(self, right: Candidate) -> None:
        if self._eager:
            self._with_right(right)
        else:
            self._new_right.append(right)

    def close(self, at: int) -> None:
        if not (self._new_left or self._new_right):
            return
        new_left, self._new_left = self._new_left, []
        new_right, self._new_right = self._new_right, []
        self._look()
        for right in new_right:
            self._with_right(right)
        self._with_lefts(new_left, new_right, at)
        self._look()  # and keep nothing of it

    def _look(self) -> None:
        """Read the views anew when they are needed next: they are what they are while an instant closes."""
        self._left = shown_by(self.left_view, self.union.key_left) or self.lefts
        self._right = shown_by(self.right_view, self.union.key_right) or self.rights

    def _with_right(self, right: Candidate) -> None:
        raise NotImplementedError

    def _with_lefts(self, lefts: list[Candidate], rights: list[Candidate], at: int) -> None:
        """Look at the new l of an instant, after its new r."""
        raise NotImplementedError
