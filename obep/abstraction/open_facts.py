"""Facts that guards ask for and that the rules leave open: the reasoner decides them, one by one.

In: a fact that perhaps follows from some triples (and K around them). Out: whether it does. Without a
reasoner it counts as not following, and `missed` says how often.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence

from obep.errors import ObepError
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.verdicts import GAVE_UP, NO_ANSWER
from obep.ontology.hermit.reasoner_protocol import Gap
from obep.ontology.rules.locality import Components

_REMEMBERED = 1 << 16


class OpenFacts:
    """Decides what the bounds leave open about single facts."""

    def __init__(self, bundle: Bundle, gap: Gap | None, components: Callable[[], Components]) -> None:
        self._bundle, self._gap, self._components = bundle, gap, components
        self.names = frozenset(bundle.open_in_guards)
        """The classes and properties whose facts the rules may not find completely."""
        self.missed = 0
        self._of_k: dict[Triple, bool] = {}
        """Facts of K alone, independent of the item."""

    def holds(self, fact: Triple, triples: Iterable[Triple], *, with_k: bool) -> bool:
        """Whether a fact follows from the triples, and if so from K."""
        known = self._of_k.get(fact) if with_k else None
        if known is not None:
            return known
        about = dict.fromkeys(t for t in triples if self._bundle.means_something(t))
        alone = False
        if with_k:
            components = self._components()
            around = components.of(_naming(fact))
            alone = not components.reasons and _names((*around, *_naming(fact))).isdisjoint(_names(about))
            about = dict.fromkeys(around if alone else (*about, *components.of((*about, *_naming(fact)))))
        found = self._ask(tuple(about), fact)
        if alone and len(self._of_k) < _REMEMBERED:
            self._of_k[fact] = found
        return found

    def _ask(self, triples: tuple[Triple, ...], fact: Triple) -> bool:
        if self._gap is not None:
            try:
                return self._gap.entails(triples, fact)
            except ObepError as error:
                if error.code not in NO_ANSWER:
                    raise
                if error.code != GAVE_UP:
                    self._gap = None
        self.missed += 1
        return False


def _naming(fact: Triple) -> list[Triple]:
    """Triples that say nothing but name the individuals of a fact."""
    s, p, o = fact
    named = (s,) if p == RDF_TYPE or o.startswith('"') else (s, o)
    return [(one, RDF_TYPE, "") for one in named]


def _names(triples: Sequence[Triple] | dict[Triple, None]) -> set[Term]:
    return {name for s, p, o in triples for name in ((s,) if p == RDF_TYPE else (s, o))}
