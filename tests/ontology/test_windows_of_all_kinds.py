"""What a window finds item by item is what one item finds that says all of it, whatever T is made of."""

from __future__ import annotations

from collections import Counter
from dataclasses import replace

import pytest
from comparing import NS, _name, text
from random_ontologies import KINDS, World, world

from obep.abstraction.matcher import Matched, Matcher
from obep.errors import ObepError
from obep.model import DeadLetter, Item, Term, Triple
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.owl.axioms import SAME_AS
from obep.query.link import link
from obep.query.parse.parser import parse

Found = set[tuple[Term, Term, frozenset[Triple]]]
MANY = 1000


def bundle(of: World, on: str, java: bool) -> Bundle:
    events = "\n".join(f"EVENT {_name(event)}{on} AS {text(body)}" for event, body in of.events)
    file = f"PREFIX : <{NS}>\nFROM NAMED WINDOW <w> ON <s> [LANDMARK 0]\n{events}\n"
    return compile_bundle(link(parse(file)), of.t(), of.k, java=java)


def one_by_one(matcher: Matcher, of: World, items: list[Item]) -> Found | None:
    """All that is found, when it is found; `None` when the items contradict each other."""
    together = matcher.together("w", [event for event, _ in of.events])
    found: Found = set()
    for item in items:
        some = together.find([(MANY, item)], item.at)
        if isinstance(some, DeadLetter):
            return None
        for one in some:
            key = (one.event, one.individual, frozenset(triple for triple, _ in one.explanation))
            seen = [at for _, at in one.explanation if at is not None]
            assert one.end == item.at == max(seen) and one.start == min(seen)
            found.add(key)
        together.keep([(MANY, item)])
    return found


def all_in_one(matcher: Matcher, items: list[Item]) -> Found | None:
    whole = Item("s", 0, tuple(dict.fromkeys(triple for item in items for triple in item.triples)))
    matched = matcher.match(whole)
    if isinstance(matched, DeadLetter):
        return None
    assert isinstance(matched, Matched)
    return {
        (one.event, one.individual, frozenset(triple for triple, _ in one.explanation))
        for one in matched.occurrences
    }


def compare(kind: str, worlds: int, java: bool) -> Counter[str]:
    count: Counter[str] = Counter()
    seed = 0
    while count["worlds"] < worlds:
        seed += 1
        of = world(kind, seed, items=3)
        of = replace(of, k=of.k[:3], items=tuple(triples[:3] for triples in of.items))
        if sum(p == SAME_AS for triples in (of.k, *of.items) for _, p, _ in triples) > 1:
            continue  # then equality has too many ways to come about
        try:
            windowed, plain = (bundle(of, on, java) for on in (" ON <w>", ""))
        except ObepError:  # an event that cannot be, a T and K that contradict each other
            continue
        single = Matcher(plain, max_explanations=MANY)
        items = [
            item
            for item in (Item("s", at, triples) for at, triples in enumerate(of.items))
            if not isinstance(single.match(item), DeadLetter)
        ]
        matcher = Matcher(windowed, max_explanations=MANY)
        expected = all_in_one(single, items)
        if single.capped:
            continue
        found = one_by_one(matcher, of, items)
        assert found == expected, (kind, seed)
        count["worlds"] += 1
        count["clash"] += found is None
        count["found"] += bool(found)
        count["asked"] += matcher.evaluator.asked > 0
    return count


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["rl", "el", "equality", "data"])
def test_rules_find_the_same_across_items(kind: str) -> None:
    count = compare(kind, 40, java=False)
    assert count["found"] >= 10, count


@pytest.mark.slow
@pytest.mark.java
@pytest.mark.parametrize("kind", [kind for kind, made in KINDS.items() if made.has_gap])
def test_rules_and_reasoner_find_the_same_across_items(kind: str) -> None:
    count = compare(kind, 12, java=True)
    assert count["found"] >= 3 and count["asked"], count
