"""Items that say something in several triples, evaluated as items of single triples.

In: an item with unnamed classes, negative assertions or AllDifferent. Out: what a matcher finds in it, each
explanation with the triples that the item really has. An unnamed class gets a name and T an axiom for it, so
there is a matcher for each set of such classes; the last ones are kept.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import replace
from hashlib import blake2b
from typing import TYPE_CHECKING

from obep.formats.stream_reader import as_sent
from obep.formats.units import converted_assertions
from obep.model import (
    RDF_TYPE,
    Assertion,
    DeadLetter,
    EagerOccurrence,
    Item,
    LazyOccurrence,
    Occurrence,
    Term,
    Triple,
    as_converted,
    without_record,
)
from obep.ontology.bundle.compile import Bundle
from obep.ontology.bundle.relevant_names import SAID
from obep.ontology.closure.work_budget import MAX_WORK, OVER_BUDGET
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.item_axioms import STRUCTURAL, Refusal, Said, part_of_more, read_item
from obep.ontology.owl.verbalise import show

if TYPE_CHECKING:
    from obep.abstraction.matcher import Matched, Matcher

KEPT = 8
"""Matchers for sets of unnamed classes."""
STEPS = 10
"""The steps to compile an axiom of T, or to close a triple of K, for a new unnamed class."""
_UNSAFE = re.compile(r"[^\w.-]+")


class Statements:
    """Reads items of several triples, and keeps a matcher for what they say."""

    def __init__(self, bundle: Bundle, make: Callable[[Bundle], Matcher], plain: Matcher) -> None:
        """`make`: a matcher for another bundle; `plain`: the one for what single triples say."""
        self._bundle, self._make, self._plain = bundle, make, plain
        self._matchers: OrderedDict[frozenset[ax.Axiom], Matcher] = OrderedDict()

    def match(self, item: Item) -> Matched | DeadLetter:
        """Find occurrences in an item."""
        said = self._read(item.triples)
        if isinstance(said, Refusal):
            return DeadLetter(item.stream, item.at, said.code, said.reason, as_sent(item))
        matcher, made_of = self._matcher(said)
        found = matcher.match(item._replace(triples=(*said.plain, *made_of)))
        self._count(matcher)
        if isinstance(found, DeadLetter):
            return found._replace(raw=as_sent(item))
        again = tuple([_restated(one, made_of, without_record(item)) for one in found.occurrences])
        return found._replace(item=item, occurrences=again)

    def match_derived(self, occurrence: Occurrence) -> Matched | DeadLetter:
        """Find occurrences in an occurrence whose explanation has statements of several triples."""
        when = dict(occurrence.explanation)
        said = self._read(tuple(when))
        if isinstance(said, Refusal):
            return DeadLetter("", occurrence.detected, said.code, said.reason)
        matcher, made_of = self._matcher(said)
        plain = [(triple, when[triple]) for triple in said.plain]
        plain += [(triple, when[group[0]]) for triple, group in made_of.items()]
        inner = replace(occurrence, explanation=tuple(sorted(plain, key=_order)))
        found = matcher.match_derived(inner)
        self._count(matcher)
        occurrence.solutions = inner.solutions
        if isinstance(found, DeadLetter):
            return found
        for one in found.occurrences:
            one.explanation = as_converted(_as_said(one.explanation, made_of), occurrence.explanation)
        return found

    def _read(self, triples: Sequence[Triple]) -> Said | Refusal:
        """What an item says; refused where T and K are too large to be compiled with its unnamed classes.

        That counts whether or not they were compiled before: an item is refused always, or never.
        """
        said = read_item(triples, self._bundle.t)
        if isinstance(said, Said) and any(one.expression is not None for one in said.statements):
            most = self._bundle.max_work or MAX_WORK
            steps = STEPS * (len(self._bundle.t.axioms) + len(self._bundle.k))
            if steps > most:
                return Refusal(
                    OVER_BUDGET,
                    f"an unnamed class, for which the ontology and the static graph are compiled once more; "
                    f"that takes {steps} steps, and an item has {most}: name the class in the ontology, or "
                    "raise max_work under [engine] in obep.toml",
                )
        return said

    def admit(self, item: Item) -> Item | DeadLetter:
        """An item of single triples, for a window; what they cannot say is refused."""
        for _, p, o in item.triples:
            if (p == RDF_TYPE or p in STRUCTURAL) and part_of_more(p, o):
                break
        else:
            return item
        said = read_item(item.triples, self._bundle.t)
        if isinstance(said, Said) and any(one.expression is not None for one in said.statements):
            said = Refusal("OBEP622", "an unnamed class or a negative assertion, which no window takes")
        if isinstance(said, Refusal):
            return DeadLetter(item.stream, item.at, said.code, said.reason, as_sent(item))
        pairs = dict.fromkeys(pair for one in said.statements for pair in one.pairs)
        return item._replace(triples=(*said.plain, *pairs))

    def _matcher(self, said: Said) -> tuple[Matcher, dict[Triple, tuple[Triple, ...]]]:
        """The matcher for some statements, and the single triples that stand for each."""
        made_of: dict[Triple, tuple[Triple, ...]] = {}
        named: dict[Term, ax.ClassExpression] = {}
        for one in said.statements:
            if one.expression is None:
                made_of.update(dict.fromkeys(one.pairs, one.triples))
            else:
                name = _name(one.expression)
                named[name] = one.expression
                made_of[one.individual, RDF_TYPE, name] = one.triples
        return self._for(named) if named else self._plain, made_of

    def _for(self, named: dict[Term, ax.ClassExpression]) -> Matcher:
        axioms = [ax.SubClassOf(ax.Class(name), expression) for name, expression in sorted(named.items())]
        key = frozenset[ax.Axiom](axioms)
        matcher = self._matchers.get(key)
        if matcher is None:
            matcher = self._matchers[key] = self._make(self._bundle.extended(axioms))
        self._matchers.move_to_end(key)
        while len(self._matchers) > KEPT:
            self._matchers.popitem(last=False)
        return matcher

    def _count(self, matcher: Matcher) -> None:
        """Take over the counters of another matcher."""
        if matcher is not self._plain:
            for counter in ("unknown", "capped", "undecided"):
                setattr(self._plain, counter, getattr(self._plain, counter) + getattr(matcher, counter))
                setattr(matcher, counter, 0)


def _name(expression: ax.ClassExpression) -> Term:
    """A name for an unnamed class, which says what it is."""
    digest = blake2b(repr(expression).encode(), digest_size=6).hexdigest()
    return f"<{SAID}{digest}#{_UNSAFE.sub('_', show(expression)).strip('_')[:60]}>"


def _restated(one: Occurrence, made_of: dict[Triple, tuple[Triple, ...]], item: Item) -> Occurrence:
    """An occurrence in the triples of the item; one that shares its explanation gets its own."""
    converted = converted_assertions(item.at, item.converted)
    explanation = as_converted(_as_said(one.explanation, made_of), converted)
    if isinstance(one, LazyOccurrence):
        at = one.start
        fields = one.event, one.individual, explanation, at, at, at, at, one.solutions
        one = EagerOccurrence(*fields, bounded=one.bounded)
    one.explanation, one.items = explanation, (item,)
    return one


def _as_said(
    explanation: Iterable[Assertion], made_of: dict[Triple, tuple[Triple, ...]]
) -> tuple[Assertion, ...]:
    """An explanation in the triples of the item."""
    found = {(one, at): None for triple, at in explanation for one in made_of.get(triple, (triple,))}
    return tuple(sorted(found, key=_order))


def _order(assertion: Assertion) -> tuple[Triple, int]:
    triple, at = assertion
    return triple, -1 if at is None else at
