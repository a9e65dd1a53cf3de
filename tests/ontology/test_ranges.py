"""Sizes of data ranges, and how they lie, against an enumeration of all values of small datatypes."""

from __future__ import annotations

import os
import random
from collections import Counter
from itertools import product
from struct import pack, unpack

import pytest
from owl import c, facet, lit, ontology, t, xsd

from obep.model import Term
from obep.ontology.hermit.reasoner import Reasoner
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.data_ranges import cells, lies, size_of
from obep.ontology.owl.literals import holds, value

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "30"))
_ONE = unpack("<I", pack("<f", 1.0))[0]
NEAR = [lit(repr(unpack("<f", pack("<I", _ONE + n))[0]), "float") for n in range(-4, 5)]
ZEROS = [lit(word, "float") for word in ("-1.401298464324817e-45", "-0.0", "0.0", "1.401298464324817e-45")]
TEXTS = [lit("".join(letters), "string") for n in range(4) for letters in product("ab", repeat=n)]
HEX = ["", *(f"{n:02X}" for n in range(256))]
SMALL: list[tuple[ax.DataRange, list[Term]]] = [
    (facet("integer", minInclusive=lit(-4), maxInclusive=lit(4)), [lit(n) for n in range(-4, 5)]),
    (facet("float", minInclusive=NEAR[0], maxInclusive=NEAR[-1]), NEAR),
    (facet("float", minInclusive=ZEROS[0], maxInclusive=ZEROS[-1]), ZEROS),
    (facet("string", pattern='"[ab]*"', maxLength=lit(3)), TEXTS),
    (ax.Datatype(xsd("boolean")), [lit("true", "boolean"), lit("false", "boolean")]),
    (facet("hexBinary", maxLength=lit(1)), [lit(word, "hexBinary") for word in HEX]),
]  # fmt: skip
"""Ranges with few values, and all of them."""
SIDES = ("minInclusive", "minExclusive", "maxInclusive", "maxExclusive")
PATTERNS = ("a*", "(ab)*", "[^a]+", "a.*|b", "(a|b)b?", ".{2}", r"\w+b", "^a$|^$", "b{1,2}a*")


class Ranges:
    """Random data ranges that cut the small ones in many ways."""

    def __init__(self, seed: int) -> None:
        self.pick = random.Random(seed)

    def any(self, depth: int = 3) -> ax.DataRange:
        kind = self.pick.randrange(5) if depth else 0
        if kind < 2:
            return self._simple()
        if kind == 2:
            return ax.DataNot(self.any(depth - 1))
        operands = tuple(self.any(depth - 1) for _ in range(self.pick.randint(1, 3)))
        return ax.DataAnd(operands) if kind == 3 else ax.DataOr(operands)

    def _simple(self) -> ax.DataRange:
        pick = self.pick
        match pick.randrange(6):
            case 0:
                bounds = {side: lit(pick.randint(-5, 5)) for side in pick.sample(SIDES, pick.randint(1, 2))}
                return facet(pick.choice(("integer", "decimal", "byte")), **bounds)
            case 1:
                return facet("float", **{pick.choice(SIDES): pick.choice(NEAR + ZEROS)})
            case 2:
                return facet("string", pattern=lit(pick.choice(PATTERNS).replace("\\", "\\\\"), "string"))
            case 3:
                length = pick.choice(("length", "minLength", "maxLength"))
                return facet(
                    pick.choice(("string", "hexBinary", "token")), **{length: lit(pick.randint(0, 4))}
                )
            case 4:
                every = [one for _, some in SMALL for one in some[:20]]
                return ax.DataOneOf(tuple(pick.sample(every, 3)))
        names = ("integer", "decimal", "float", "string", "boolean", "nonNegativeInteger", "NCName", "short")
        return ax.Datatype(xsd(pick.choice(names)))


def test_the_size_of_a_range_is_the_number_of_its_values() -> None:
    sizes = set()
    for seed in range(EXAMPLES):
        range_ = Ranges(seed).any()
        for small, members in SMALL:
            wanted = len({value(one) for one in members if holds(range_, one)})
            sizes.add(wanted)
            assert size_of(ax.DataAnd((range_, small)), {}) == wanted, (seed, range_, small)
            assert size_of(ax.DataAnd((small, ax.DataNot(range_))), {}) == len(members) - wanted
    assert sizes >= {0, 1, 2, 3, 9, 15}


def test_ranges_lie_to_each_other_as_their_values_do() -> None:
    seen = set()
    for seed in range(EXAMPLES):
        ranges = Ranges(seed)
        outer = ranges.any()
        for small, members in SMALL:
            inner = ax.DataAnd((ranges.any(), small))
            inside = {holds(outer, one) for one in members if holds(inner, one)}
            place = "perhaps" if len(inside) == 2 else "apart" if False in inside else "inside"
            assert lies(inner, outer, {}) == place, (seed, inner, outer)
            seen.add(place)
    assert seen == {"inside", "apart", "perhaps"}


@pytest.mark.slow
def test_values_are_divided_by_all_ranges_together_as_by_each() -> None:
    for seed in range(EXAMPLES):
        ranges = Ranges(seed)
        some = [ranges.any() for _ in range(4)]
        for small, members in SMALL:
            wanted: Counter[int] = Counter()
            for one in {value(one): one for one in members}.values():
                wanted[sum(holds(range_, one) << n for n, range_ in enumerate((*some, small)))] += 1
            found = {cell.inside: cell.size for cell in cells((*some, small)) if cell.inside >> len(some)}
            assert found == wanted, (seed, some, small)


@pytest.mark.java
def test_data_is_counted_as_its_values_are() -> None:
    """HermiT's own datatypes give wrong answers here to one question in five."""
    d, x, H = t("d"), t("x"), c("H")
    yes = 0
    for seed in range(EXAMPLES // 3):
        ranges = Ranges(seed)
        range_, count = ranges.any(2), ranges.pick.randint(1, 3)
        T = ontology(ax.EquivalentClasses((H, ax.DataMin(count, d, range_))))
        reasoner = Reasoner()
        for _ in range(3):
            given = ranges.pick.sample([one for _, some in SMALL for one in some[:9]], 4)
            wanted = len({value(one) for one in given if holds(range_, one)}) >= count
            abox = [ax.DataAssertion(d, x, one) for one in given]
            assert reasoner.entails(T, abox, [ax.ClassAssertion(H, x)]) == [wanted], (seed, range_, given)
            yes += wanted
    assert yes > EXAMPLES // 6


@pytest.mark.java
def test_numbers_that_are_in_neither_range_of_a_union_are_not_counted() -> None:
    union = ax.DataOr((facet("decimal", maxInclusive=lit(0)), facet("string", minLength=lit(4))))
    T = ontology(ax.EquivalentClasses((c("H"), ax.DataMin(2, t("d"), union))))
    abox = [ax.DataAssertion(t("d"), t("b"), one) for one in (lit(2), lit("3.0", "decimal"))]
    assert Reasoner().entails(T, abox, [ax.ClassAssertion(c("H"), t("b"))]) == [False]


@pytest.mark.java
def test_what_is_said_of_everything_is_not_said_of_values() -> None:
    """Values are individuals to HermiT: an axiom about Thing must leave them alone."""
    one = ax.SubClassOf(ax.TOP, ax.OneOf((t("a"),)))
    some = ax.SubClassOf(ax.TOP, ax.DataMin(3, t("d"), ax.Datatype(xsd("integer"))))
    outside = ax.SubClassOf(ax.Not(c("A")), c("B"))
    reflexive, top = ax.Reflexive(t("r")), ax.SubClassOf(c("A"), ax.Only(ax.TOP_OBJECT_PROPERTY, c("A")))
    T = ontology(one, some, outside, reflexive, top, data="d", classes="A B")
    reasoner = Reasoner()
    assert reasoner.consistent(T, [ax.ClassAssertion(c("A"), t("x"))])
    goals = [ax.SameIndividual((t("x"), t("a"))), ax.ClassAssertion(ax.Or((c("A"), c("B"))), t("x"))]
    assert reasoner.entails(T, [ax.DataAssertion(t("d"), t("x"), lit(7))], goals) == [True, True]
    everything = ontology(ax.SubClassOf(ax.TOP, c("A")), some, classes="B")
    hierarchy = reasoner.classify(everything)
    assert (ax.THING, c("A").iri) in set(hierarchy.subsumptions())  # type: ignore[union-attr]


@pytest.mark.java
def test_an_abox_may_bring_ranges_and_many_values() -> None:
    few = facet("integer", minInclusive=lit(1), maxInclusive=lit(40))
    fewer = facet("integer", minInclusive=lit(1), maxInclusive=lit(3))
    T = ontology(ax.SubClassOf(c("A"), ax.DataSome(t("d"), few)), classes="A")
    x, d = t("x"), t("d")
    given = [ax.DataAssertion(d, x, lit(n)) for n in range(1, 41)]
    assert Reasoner().consistent(T, given)
    assert not Reasoner().consistent(T, [ax.ClassAssertion(ax.DataMin(41, d, few), x)])
    assert Reasoner().consistent(T, [ax.ClassAssertion(ax.DataMin(3, d, fewer), x)])
    two = ax.ClassAssertion(ax.DataMax(2, d, ax.ANY_LITERAL), x)
    assert not Reasoner().consistent(T, [ax.ClassAssertion(ax.DataMin(3, d, fewer), x), two])
    odd = ax.ClassAssertion(ax.DataOnly(d, facet("integer", minInclusive=lit(3))), x)
    assert not Reasoner().consistent(T, [odd, given[0]])
    plain = ontology(roles="r", data="d")
    assert Reasoner().entails(plain, given[:1], given[:2]) == [True, False]
