"""What the compiled rules find in the items of a world, against HermiT."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from pair_worlds import Maker, World, shrunk

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.hermit.reasoner import Inconsistent, Reasoner, shared_reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Assertion
from obep.ontology.owl.verbalise import show
from obep.ontology.rules.locality import fixed_names
from obep.query.link import link
from obep.query.parse.parser import parse


@dataclass
class Compared:
    """What was compared."""

    worlds: int = 0
    refused: int = 0
    items: int = 0
    exact: int = 0
    inconsistent: int = 0
    entailed: int = 0
    asked: int = 0


def usable(world: World) -> bool:
    """Whether HermiT can read T, K is consistent, and every event can happen: otherwise there is no query."""
    T, reasoner = world.full(), Reasoner(timeout=2.0)
    somebody = "<urn:obep:fresh>"
    try:
        return reasoner.consistent(T, _abox(T, world.k)) and all(
            reasoner.consistent(T, [ax.ClassAssertion(ax.Class(event), somebody)])
            for event, _ in world.events
        )
    except ObepError as error:
        assert error.code in ("OBEP342", "OBEP343"), error
        return False


def differences(world: World, count: Compared) -> Iterator[str]:
    """Every difference between the matcher and HermiT, in words."""
    T, reasoner = world.full(), shared_reasoner()
    bundle = compile_bundle(link(parse(world.query())), world.t(), world.k)
    matcher = Matcher(bundle)
    count.worlds += 1
    count.exact += bundle.profile.exact()
    for item in world.items:
        of_t = sorted(name for name in fixed_names(T) if not name.startswith('"'))
        names = list(dict.fromkeys((*_individuals([*item, *world.k]), *of_t)))
        pairs = [(event, name) for event, _ in world.events for name in names]
        goals = [ax.ClassAssertion(ax.Class(event), name) for event, name in pairs]
        answers = reasoner.entails(T, _abox(T, [*world.k, *item]), goals)
        before = matcher.evaluator.asked
        matched = matcher.match(Item("s", 0, item))
        count.items += 1
        count.asked += matcher.evaluator.asked > before
        if isinstance(answers, Inconsistent) or isinstance(matched, DeadLetter):
            count.inconsistent += isinstance(answers, Inconsistent)
            if isinstance(answers, Inconsistent) != isinstance(matched, DeadLetter):
                who = "HermiT" if isinstance(answers, Inconsistent) else "the rules"
                yield f"{item}: a contradiction only for {who}"
            continue
        already = reasoner.entails(T, _abox(T, world.k), goals)
        assert not isinstance(already, Inconsistent)
        entailed = {pair for pair, yes in zip(pairs, answers, strict=True) if yes}
        by_k = {pair for pair, yes in zip(pairs, already, strict=True) if yes}
        found = {(one.event, one.individual) for one in matched.occurrences}
        count.entailed += len(entailed)
        if found - entailed:
            yield f"{item}: reported and not entailed: {sorted(found - entailed)}"
        if entailed - by_k - found:
            yield f"{item}: entailed and not reported: {sorted(entailed - by_k - found)}"


def compare(seed: int, items: int, count: Compared) -> str | None:
    """The smallest world that differs, in words, if the world of a seed does."""
    world = Maker(seed).world(items)
    if not usable(world):
        count.refused += 1
        return None
    if not any(differences(world, count)):
        return None

    def fails(some: World) -> bool:
        return usable(some) and any(differences(some, Compared()))

    small = shrunk(world, fails)
    lines = [f"seed {seed}", *map(show, small.axioms), *map(repr, small.axioms), small.query()]
    lines += [f"K {triple}" for triple in small.k] + [f"item {item}" for item in small.items]
    return "\n".join([*lines, *differences(small, Compared())])


def _individuals(triples: Iterable[Triple]) -> list[Term]:
    found: dict[Term, None] = {}
    for s, p, o in triples:
        found[s] = None
        if p != RDF_TYPE and not o.startswith('"'):
            found[o] = None
    return list(found)


def _abox(T: Axioms, triples: Iterable[Triple]) -> list[Assertion]:
    return [assertion for triple in triples if (assertion := T.assertion(triple))]


def main(first: int, last: int) -> int:
    """Compares the worlds of some seeds, and says which differ."""
    count, differ = Compared(), 0
    for seed in range(first, last):
        if different := compare(seed, 6, count):
            differ += 1
            print(different, end="\n\n", flush=True)
    print(count, f"{differ} differ")
    return differ


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as folder:
        os.environ["OBEP_CACHE"] = folder
        sys.exit(min(main(*map(int, sys.argv[1:3])), 1))
