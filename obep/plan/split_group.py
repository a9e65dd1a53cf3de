"""Whether a group can be split by a variable: no row depends on what is said of other values.

Every pattern over a window has the variable as its subject (over a window of items: or as its object), and so
has every state atom that is split. What K says needs no such thing: all of it is known everywhere.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping

from obep.model import RDF_TYPE, Term
from obep.query import ast
from obep.query.function_signatures import CHANGING
from obep.query.walk import walk

BY_ITEMS = frozenset({"range", "now", "landmark", "fixed"})
"""The windows that are the union of some items, each of which comes and leaves by its own instant."""

Follows = Callable[[ast.Atom], bool]
"""Whether what an atom asks for is there, in the bucket of a value of the variable."""


def splits_by(
    definition: ast.GroupState,
    key: str,
    windows: Mapping[str, ast.Window],
    reaching: frozenset[Term] | None,
    follows: Follows,
) -> bool:
    """Whether a state by a group can be split by its parameter `key`.

    `reaching` are the classes that other subjects' triples may decide; `None`: T may reach anywhere.
    """
    looks = definition.on is not None or any(isinstance(one, ast.WindowGroup) for one in walk(definition))
    calls = [one.function for one in walk(definition) if isinstance(one, ast.Call)]
    if not CHANGING.isdisjoint(one for one in calls if isinstance(one, str)):
        return False
    if looks and reaching is None:
        return False
    on = windows[definition.on] if definition.on is not None else None
    try:
        if on is not None:
            _require(_is_split(on))
        _Group(key, windows, reaching or frozenset(), follows).sure(definition.group, on)
    except _Across:
        return False
    return True


def splits_rows(
    select: ast.Select,
    key: str,
    windows: Mapping[str, ast.Window],
    reaching: frozenset[Term],
    around: ast.Window | None,
) -> bool:
    """Whether the rows of a query can be split by a variable that all of them have of items.

    `around`: what its patterns outside of WINDOW look at; `None`: K alone.
    """
    calls = [one.function for one in walk(select) if isinstance(one, ast.Call)]
    if not CHANGING.isdisjoint(one for one in calls if isinstance(one, str)):
        return False
    try:
        _Group(key, windows, reaching, lambda atom: False, of_items=True).sure(select, around)
    except _Across:
        return False
    return True


def _is_split(window: ast.Window) -> bool:
    return window.event is None and not window.by and (window.kind in BY_ITEMS or window.kind == "latest")


class _Across(Exception):
    """A part of the group needs facts about other values."""


def _require(holds: bool) -> None:
    if not holds:
        raise _Across


class _Group:
    def __init__(
        self,
        key: str,
        windows: Mapping[str, ast.Window],
        reaching: frozenset[Term],
        follows: Follows,
        *,
        of_items: bool = False,
    ) -> None:
        """`of_items`: what K alone binds does not count."""
        self._key, self._windows, self._reaching, self._follows = key, windows, reaching, follows
        self._of_items = of_items

    def sure(self, group: ast.Group | ast.Select, window: ast.Window | None) -> set[str]:
        """The variables that all solutions bind; `window`: what its patterns are about, if not K alone."""
        if isinstance(group, ast.Select):
            return self._select(group, window)
        sure: set[str] = set()
        filters: list[ast.Filter] = []
        for element in group.elements:
            if isinstance(element, ast.Filter):
                filters.append(element)
            else:
                sure |= self._element(element, window, sure)
        for one in filters:
            for inner in walk(one):
                if isinstance(inner, ast.Exists):
                    self._beside(inner.group, window, sure)
        return sure

    def _element(self, element: ast.GroupElement, window: ast.Window | None, sure: set[str]) -> set[str]:
        """The variables that an element certainly binds."""
        match element:
            case ast.Bgp():
                return self._triples(element, window)
            case ast.Group() | ast.Select():
                return self.sure(element, window)
            case ast.GroupUnion(groups):
                return set.intersection(*[self.sure(one, window) for one in groups])
            case ast.SideBySide(groups):
                return set.union(*[self.sure(one, window) for one in groups])
            case ast.TimedJoin():
                return self._timed(element, window)
            case ast.Timewindow():
                return set()
            case ast.GroupOptional(group) | ast.GroupMinus(group):
                self._beside(group, window, sure)
                return set()
            case ast.WindowGroup(name, group):
                _require(isinstance(name, str) and name in self._windows)
                inner = self._windows[str(name)]
                _require(_is_split(inner))
                return self.sure(group, inner)
            case ast.Atom():
                _require(self._follows(element))
                return {one.name for one in element.parameters}
            case ast.Values(variables, rows):
                if self._of_items:
                    return set()
                return {v.name for n, v in enumerate(variables) if all(row[n] is not None for row in rows)}
            case ast.Bind():
                _require(element.variable.name != self._key and not _has_group(element))
                return set()
        raise _Across

    def _timed(self, join: ast.TimedJoin, window: ast.Window | None) -> set[str]:
        left, right = self._element(join.left, window, set()), self._element(join.right, window, set())
        if join.operator in ("SEQ", "EQUALS"):
            return left | right
        main = right if join.operator == "OPTIONALSEQ" else left
        _require(self._key in main)
        return main

    def _beside(self, group: ast.Group, window: ast.Window | None, sure: set[str]) -> None:
        """OPTIONAL, MINUS, EXISTS: they look for what goes with a row, which must have a value already."""
        looks = window is not None or any(isinstance(one, ast.WindowGroup | ast.Atom) for one in walk(group))
        _require(not looks or self._key in sure)
        self.sure(group, window)

    def _triples(self, bgp: ast.Bgp, window: ast.Window | None) -> set[str]:
        found: set[str] = set()
        for pattern in bgp.patterns:
            ends = [one.name for one in (pattern.subject, pattern.object) if isinstance(one, ast.Var)]
            found.update(ends)
            if isinstance(pattern, ast.TriplePattern) and isinstance(pattern.predicate, ast.Var):
                found.add(pattern.predicate.name)
            if window is not None:
                _require(isinstance(pattern, ast.TriplePattern) and self._is_own(pattern, window))
        return set() if self._of_items and window is None else found

    def _is_own(self, pattern: ast.TriplePattern | ast.PathPattern, window: ast.Window) -> bool:
        if not isinstance(pattern, ast.TriplePattern) or not isinstance(pattern.predicate, ast.Name):
            return False
        if pattern.predicate.iri == RDF_TYPE:
            kind = pattern.object
            if not isinstance(kind, ast.Name) or kind.iri in self._reaching:
                return False
        places: Iterable[object] = (pattern.subject,)
        if window.kind in BY_ITEMS:
            places = (pattern.subject, pattern.object)
        return any(isinstance(one, ast.Var) and one.name == self._key for one in places)

    def _select(self, select: ast.Select, window: ast.Window | None) -> set[str]:
        inner = self.sure(select.where, window)
        _require(select.limit is None and not select.offset and self._key in inner)
        shown = {one.variable.name for one in select.projection if one.expression is None}
        _require(not select.projection or self._key in shown)
        outside = (*select.projection, *select.having, *select.order_by, *select.group_by)
        _require(not any(_has_group(one) for one in outside))
        if select.group_by or any(isinstance(one, ast.Aggregate) for part in outside for one in walk(part)):
            _require(self._key in {one.variable.name for one in select.group_by if one.expression is None})
        return inner & shown if select.projection else inner


def _has_group(node: ast.Node) -> bool:
    return any(isinstance(one, ast.Exists) for one in walk(node))
