"""K while it changes: a change is applied whole, or refused with its reason and K is as before.

In: changes, as items whose `triples` come and whose `removed` triples go. Out: a matcher that judges by the K
of now. Where the rules are exact, what is closed is kept up to date, so a change costs what depends on it;
where a reasoner, equality or the values of literals count, K is closed anew. SHACL rules that are axioms of T
are part of that. The others are applied to the new K from its start, if a change says anything that they
read: what they added before and do not add now goes.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import ObepError
from obep.formats.stream_reader import as_sent
from obep.model import RDF_TYPE, DeadLetter, Item, Triple, local_name
from obep.ontology.bundle.compile import Bundle
from obep.ontology.closure.changed_graph import ChangedGraph
from obep.ontology.closure.changing_store import ChangingStore
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.owl.axioms import SAME_AS
from obep.ontology.owl.multi_triple import part_of_axiom
from obep.ontology.owl.static_graph import Graph
from obep.ontology.owl.verbalise import show_triple

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matcher
    from obep.ontology.bundle.shacl_model import Applied

Follow = Callable[[Iterable[Triple], Iterable[Triple]], None]
CONTRADICTS, NEEDS_RESTART = "OBEP820", "OBEP822"
"""The codes of changes that are refused."""


class Changed(NamedTuple):
    """The result of a change."""

    come: tuple[Triple, ...]
    gone: tuple[Triple, ...]
    missing: int
    """Triples that were to go and were not there."""


class Knowledge:
    """The K of one engine; the bundle that it began with is shared and stays as it is."""

    def __init__(self, matcher: Matcher) -> None:
        self._matcher, self._first = matcher, matcher.bundle
        self.graph = ChangedGraph(self._first.k)
        """K as it is now, with what SHACL rules add."""
        shacl = self._first.shacl
        self._rules = None if shacl is None or shacl.model is None else shacl.model
        self._names = None if shacl is None else shacl.names
        self._beside = dict.fromkeys(shacl.beside if shacl is not None else ())
        """What SHACL rules add and the graph does not say, since T entails it; kept for who follows."""
        self._follow: Follow | None = None
        self.said = self.graph if self._rules is None else ChangedGraph(self._rules.k)
        """The graph without the triples that SHACL rules derive."""
        self._store: ChangingStore | None = None
        if why_closed_anew(self._first) is None:
            _ = self._first.lower_asserted  # it writes into the store that is shared
            self._store = ChangingStore(self._first.lower.program, self._first.lower.store)

    def follow(self, follow: Follow) -> None:
        """Call this from now on with the triples that have come and gone, those that rules add among them."""
        if self._follow is None and self._rules is not None and (self.said.added or self.said.removed):
            self._beside = dict.fromkeys(self._applied().beside)
        self._follow = follow

    def seen(self) -> Iterator[Triple]:
        """K as it is now, with all that SHACL rules add."""
        yield from self.graph.once()
        yield from self._beside

    def change(self, item: Item) -> Changed | DeadLetter:
        """Apply a change, or say why not; then nothing of it is done."""
        asked = dict.fromkeys(item.removed or ())
        if reason := self._needs_restart((*item.triples, *asked)):
            return DeadLetter(item.stream, item.at, NEEDS_RESTART, reason, as_sent(item))
        gone = {triple: None for triple in asked if self._is_said(triple)}
        new = [one for one in dict.fromkeys(item.triples) if one in gone or not self._is_said(one)]
        come = [triple for triple in new if triple not in gone]
        missing = len(asked) - len(gone)
        for triple in new:  # what goes and comes at one instant stays
            gone.pop(triple, None)
        if come or gone:
            letter = self._apply_with_rules(item, come, [*gone])
            if letter is not None:
                return letter
        return Changed(tuple(come), tuple(gone), missing)

    def undo(self, change: Changed) -> None:
        """Take a change back."""
        self._apply_with_rules(Item("", 0, ()), [*change.gone], [*change.come])

    def load(self, come: Iterable[Triple], gone: Iterable[Triple]) -> None:
        """Go to the K that differs from the first one by these; they come from a snapshot."""
        back = [*self.said.removed], [*self.said.added]
        self._apply_with_rules(Item("", 0, ()), *back)
        if self._apply_with_rules(Item("", 0, ()), [*come], [*gone]) is not None:
            raise ValueError("its static graph contradicts the ontology")

    def _apply_with_rules(self, item: Item, come: list[Triple], gone: list[Triple]) -> DeadLetter | None:
        """Apply a change, and what SHACL rules make of it."""
        if self._rules is None:
            return self._apply_and_tell(item, come, gone, self._beside)
        self.said.change(come, gone)
        letter: DeadLetter | None = None
        if not self._concerns_rules((*come, *gone)):
            letter = self._apply_and_tell(item, come, gone, self._beside)
            if letter is not None:
                self.said.change(gone, come)
            return letter
        try:
            applied = self._applied()
        except ObepError as error:
            words = error.diagnostics[0].message
            letter = DeadLetter(item.stream, item.at, NEEDS_RESTART, words, as_sent(item))
        else:
            if applied.axioms != self._first.t:
                words = "SHACL rules would add other axioms to the ontology than before; restart with it"
                letter = DeadLetter(item.stream, item.at, NEEDS_RESTART, words, as_sent(item))
            else:
                there = dict.fromkeys(applied.k.once())
                more = [triple for triple in there if triple not in self.graph]
                less = [triple for triple in self.graph.once() if triple not in there]
                letter = self._apply_and_tell(item, more, less, dict.fromkeys(applied.beside))
        if letter is not None:
            self.said.change(gone, come)
        return letter

    def _applied(self) -> Applied:
        """The rules, applied to the K of now."""
        assert self._rules is not None
        self._rules = self._rules.with_k(Graph(self.said.once()))
        return self._rules.applied()

    def _concerns_rules(self, triples: Iterable[Triple]) -> bool:
        """Whether what rules add, as far as anyone sees it, may depend on some triples."""
        names = self._names
        return names is None or (names.k_only if self._follow is None else names.every).concern(triples)

    def _apply_and_tell(
        self, item: Item, come: list[Triple], gone: list[Triple], beside: dict[Triple, None]
    ) -> DeadLetter | None:
        """Apply a change; `beside` is what rules add after it, and T entails."""
        letter = self._apply(item, come, gone)
        if letter is None and self._follow is not None:
            before, self._beside = self._beside, beside
            here, there = {*come}, {*gone}
            new = [*come, *(one for one in beside if one not in there)]
            old = [*gone, *(one for one in before if one not in here)]
            self._follow([one for one in new if one not in before], [one for one in old if one not in beside])
        return letter

    def _apply(self, item: Item, come: list[Triple], gone: list[Triple]) -> DeadLetter | None:
        if self._store is None:
            return self._close_anew(item, come, gone)
        store = self._store
        looks_at = store.knowing.looks_at
        less, more = [*filter(looks_at, gone)], [*filter(looks_at, come)]
        store.take_away(less)
        if not store.insert(more):
            self._show()
            letter = self._letter(item, more)
            store.insert(less)
            self._show()
            return letter
        self.graph.change(come, gone)
        self._show()
        return None

    def _show(self) -> None:
        """Let the matcher see the store as it is."""
        assert self._store is not None
        bundle = self._first.with_store(self.graph, self._store)
        self._matcher.change_knowledge(bundle, self._store.note_changes())

    def _close_anew(self, item: Item, come: list[Triple], gone: list[Triple]) -> DeadLetter | None:
        before = self._matcher.bundle
        self.graph.change((), gone)
        letter: DeadLetter | None = None
        if come:
            self._matcher.change_knowledge(self._first.with_k(self.graph), None)
            letter = self._contradiction(item, come)
        if letter is None:
            self.graph.change(come)
            bundle = self._first.with_k(self.graph)
            try:
                _ = bundle.lower
            except Contradiction:
                letter = self._letter(item, come)
                self.graph.change((), come)
            else:
                self._matcher.change_knowledge(bundle, None)
        if letter is not None:
            self.graph.change(gone)
            self._matcher.change_knowledge(before, None)
        return letter

    def _letter(self, item: Item, come: list[Triple]) -> DeadLetter:
        """The letter of a change whose triples contradict T and the rest of K."""
        found = self._contradiction(item, come)
        if found is not None:
            return found
        words = ", ".join(map(show_triple, come[:3]))
        reason = f"contradicts the ontology and the static graph: {words}"
        return DeadLetter(item.stream, item.at, CONTRADICTS, reason, as_sent(item))

    def _contradiction(self, item: Item, come: list[Triple]) -> DeadLetter | None:
        found = self._matcher.contradiction(item._replace(triples=tuple(come)))
        if found is None:
            return None
        found = found._replace(raw=as_sent(item))  # all of the change, not only what K takes of it
        if found.code != "OBEP620":
            return found
        return found._replace(code=CONTRADICTS, reason=f"the static graph stays as it is: {found.reason}")

    def _is_said(self, triple: Triple) -> bool:
        store = self._store
        if store is None or not store.knowing.looks_at(triple):
            return triple in self.said
        if self._rules is not None and self._concerns_rules((triple,)):
            return triple in self.said
        return store.knowing.is_said(triple)

    def _needs_restart(self, triples: Iterable[Triple]) -> str | None:
        """Why a change cannot be made while a query runs: the plan, or T, would be another one."""
        known = self._first.k.facts
        for triple in triples:
            _, p, o = triple
            if part_of_axiom(p, o):
                why = "it is part of an axiom, or of a statement of several triples"
            elif p == SAME_AS and not known.same_as:
                why = "the static graph had no owl:sameAs when the query was compiled"
            elif p == RDF_TYPE and o in self._first.expanded.events and o not in known.classes:
                why = f"{local_name(o)} is an event of the query, which the static graph has not named so far"
            else:
                continue
            return f"{show_triple(triple)} cannot change while the query runs: {why}; restart with it"
        return None


def why_closed_anew(bundle: Bundle) -> str | None:
    """Why K is closed anew after each change; `None` if what is closed can be kept up to date."""
    if not bundle.exact:
        return "the reasoner may be asked"
    if bundle.lower.program.equality:
        return "names may be the same"
    if bundle.lower.program.by_value:
        return "the ontology compares literals by their values"
    return None
