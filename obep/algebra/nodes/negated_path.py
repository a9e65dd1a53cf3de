"""Negated property sets: `!(p | ^q)`."""

from __future__ import annotations

from obep.algebra.bag_node import PathEnds, onto
from obep.algebra.evaluation import Evaluation, Row, Slots, check_solutions
from obep.model import Term


class NegatedPath(PathEnds):
    """The pairs that some other property connects, once for each such property."""

    def __init__(self, subject: Term | int, object_: Term | int, refused: frozenset[Term]) -> None:
        super().__init__(subject, object_)
        self.refused = refused

    def extend(self, run: Evaluation, rows: list[Row], outer: Slots) -> list[Row]:
        subject, object_ = self.subject, self.object
        slots = [place for place in (subject, object_) if isinstance(place, int)]
        found: list[Row] = []
        for row in rows:
            start = row[subject] if isinstance(subject, int) else subject
            end = row[object_] if isinstance(object_, int) else object_
            for s, p, o in run.match(start, None, end):
                if p not in self.refused:
                    values = [v for v, place in ((s, subject), (o, object_)) if isinstance(place, int)]
                    if (one := onto(row, slots, values)) is not None:
                        found.append(one)
            check_solutions(len(found))
        return found
