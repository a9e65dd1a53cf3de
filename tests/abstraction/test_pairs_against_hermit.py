"""The matcher's answers equal HermiT's where items have two individuals and T mixes kinds of axioms.

OBEP_EXAMPLES says how many worlds are tried, each with four items. `python
tests/abstraction/against_hermit.py FIRST LAST` compares those of the seeds in between, with six items each.
"""

from __future__ import annotations

import os

import pytest
from against_hermit import Compared, compare
from pair_worlds import KINDS, Maker

from obep.model import RDF_TYPE

EXAMPLES = int(os.environ.get("OBEP_EXAMPLES", "20"))
FIRST = 120
"""World 136 is one in which a shared witness of counting made two individuals one."""


@pytest.mark.java
def test_items_with_two_individuals_are_read_as_hermit_reads_them() -> None:
    count = Compared()
    for seed in range(FIRST, FIRST + EXAMPLES):
        if different := compare(seed, 4, count):
            pytest.fail(different, pytrace=False)
    assert count.refused <= EXAMPLES / 3
    assert count.exact >= 0.3 * count.worlds  # there is no second look at what rules decide
    assert count.asked >= 0.05 * count.items
    assert count.entailed >= count.items / 2


def test_every_item_has_two_individuals_and_every_kind_of_axiom_occurs() -> None:
    said: set[str] = set()
    for seed in range(400):
        made = Maker(seed)
        world = made.world(3)
        said.update(made.kinds)
        for item in world.items:
            assert len({s for s, p, _ in item if p == RDF_TYPE}) >= 2
    assert said == KINDS.keys()
