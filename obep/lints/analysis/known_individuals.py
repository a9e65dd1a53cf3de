"""Match individuals of items against the static graph and suggest corrections."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from functools import cached_property
from typing import TYPE_CHECKING

from obep.lints.analysis.static_names import COMPARED, individuals_of, unknown_to
from obep.model import RDF_TYPE, Term
from obep.query.nearest_name import misspelt, split

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

MOST_KNOWN = 1_000_000
"""Triples of a static graph that is looked through for individuals."""
FEWEST = 3
"""Unknown individuals that show how they are called."""
EXAMPLES = 10
"""Unknown individuals that are looked for, the commonest."""


class Known:
    """The individuals of T and K, among those that are asked for."""

    def __init__(self, bundle: Bundle, asked: Iterable[Term]) -> None:
        self._bundle = bundle
        self._unknown = unknown_to(bundle.k, set(asked) - bundle.t.individuals)

    def __contains__(self, individual: Term) -> bool:
        return individual not in self._unknown

    def hint(self, unknown: Counter[Term], asked: Collection[Term], *, alone: bool) -> str:
        """An unknown one and the known one that was probably meant; nothing where they may be right.

        `asked` are the classes and properties that must be said of them. That most of them are misspelt,
        or all of a namespace that K never uses, or called in another way than all that it knows (5 for
        bay-5), is no chance. Else K may list the few that matter. `alone`:
        no others, here or in another stream, are known or mentioned, for which the query may well be meant.
        """
        facts, words = self._bundle.k.facts, self._bundle.saying(asked)
        if words.isdisjoint((*facts.classes, *facts.properties)):
            return ""
        some = sorted(unknown, key=lambda one: (-unknown[one], one))[:EXAMPLES]
        meant = {one: other for one in some if (other := self._meant(one))}
        if 2 * len(meant) >= len(some):
            one, other = next(iter(meant.items()))
            return f"is {one.strip('<>')} {other.strip('<>')}?"
        if not alone:
            return ""
        said = [(s, o if p == RDF_TYPE else p) for s, p, o in self._bundle.k.once()]
        if any(split(one)[0] in self._namespaces for one in unknown):
            right = {s for s, word in said if word in asked and s[0] == "<"}
            named = sorted(right, key=lambda one: (len(one), one))
            return _called_otherwise(some, named) if len(unknown) >= FEWEST else ""
        other = min(s for s, word in said if word in words)
        if other[0] != "<":
            return ""
        return f"it knows {other.strip('<>')}, but none of the namespace of {some[0].strip('<>')}"

    def _meant(self, individual: Term) -> Term | None:
        namespace, local = split(individual)
        same = self._by_name.get(local.lower(), ())
        here = [one for one in same if split(one)[0] == namespace]
        if here:
            return min(here)
        if namespace not in self._namespaces:
            return min((one for one in same if any(map(str.isalpha, local))), default=None)
        return misspelt(individual, self._all) if len(self._all) <= COMPARED else None

    @cached_property
    def _all(self) -> frozenset[Term]:
        return individuals_of(self._bundle.k)

    @cached_property
    def _namespaces(self) -> frozenset[str]:
        return frozenset(split(one)[0] for one in self._all)

    @cached_property
    def _by_name(self) -> Mapping[str, list[Term]]:
        found: dict[str, list[Term]] = {}
        for one in self._all:
            found.setdefault(split(one)[1].lower(), []).append(one)
        return found


_PIECES = re.compile(r"[^\W\d_]+|\d+")
"""The words and numbers of a name: `bay-5` has two."""


def _called_otherwise(unknown: Sequence[Term], known: Sequence[Term]) -> str:
    """An unknown one and a known one, where the ones have numbers in another place than the others.

    >>> bays = [f"<http://e/#bay-{n}>" for n in (1, 5, 15)]
    >>> _called_otherwise(["<http://e/#5>", "<http://e/#1>", "<http://e/#7>"], bays)
    'is http://e/#5 http://e/#bay-5?'
    >>> _called_otherwise(["<http://e/#7>", "<http://e/#8>", "<http://e/#9>"], bays)
    'it knows http://e/#bay-1, but none that is called like http://e/#7'
    >>> _called_otherwise(["<http://e/#bay-7>", "<http://e/#bay-8>", "<http://e/#bay-9>"], bays)
    ''
    """
    ways, others = ({_way(one) for one in some} for some in (unknown, known))
    if not known or ways & others or not all(re.search("#", way) for way in ways | others):
        return ""
    pieces = {one: _pieces(one) for one in known}
    for one in unknown:
        for other in known:
            if _lies_in(_pieces(one), pieces[other]) or _lies_in(pieces[other], _pieces(one)):
                return f"is {one.strip('<>')} {other.strip('<>')}?"
    if len(ways) > 1 or len(others) > 1:
        return ""
    return f"it knows {known[0].strip('<>')}, but none that is called like {unknown[0].strip('<>')}"


def _pieces(individual: Term) -> list[str]:
    return [piece.lower() for piece in _PIECES.findall(split(individual)[1])]


def _way(individual: Term) -> str:
    """The pattern of an individual's name, without its numbers."""
    return " ".join("#" if piece.isdigit() else piece for piece in _pieces(individual))


def _lies_in(short: Sequence[str], long: Sequence[str]) -> bool:
    places = range(len(long) - len(short) + 1)
    return bool(short) and any(list(long[at : at + len(short)]) == list(short) for at in places)
