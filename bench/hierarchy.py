"""The concept hierarchy of EP-SPARQL's Test 2: 40,000 classes, eight deep. `python bench/hierarchy.py`"""

from __future__ import annotations

import time

from figures import Figure, show

from obep.abstraction.matcher import Matcher
from obep.model import RDF_TYPE, Item
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Class, SubClassOf
from obep.query.link import link
from obep.query.parse.parser import parse

NS = "http://example.org/h#"


def name(local: object) -> str:
    """A term of the hierarchy."""
    return f"<{NS}{local}>"


def hierarchy(count: int, depth: int = 8) -> Axioms:
    """So many classes below C0, evenly spread over the levels; every class has one parent."""
    levels: list[list[int]] = [[0]]
    width = max(1, (count - 1) // depth)
    number = 1
    axioms = []
    while number < count:
        last = len(levels) == depth
        level = []
        for _ in range(count - number if last else min(width, count - number)):
            parent = levels[-1][len(level) % len(levels[-1])]
            axioms.append(SubClassOf(Class(name(f"C{number}")), Class(name(f"C{parent}"))))
            level.append(number)
            number += 1
        levels.append(level)
    return Axioms(tuple(axioms), frozenset(name(f"C{n}") for n in range(count)), frozenset({name("p")}))


def compiled(count: int) -> Bundle:
    """An event over the top of the hierarchy."""
    query = f"PREFIX : <{NS}>\nEVENT H AS C0\nEVENT G AS p some C0\n"
    return compile_bundle(link(parse(query)), hierarchy(count), (), java=False)


def items(count: int, many: int) -> list[Item]:
    """Each about another class, from the bottom of the hierarchy."""
    return [
        Item("s", n, ((name(f"x{n}"), RDF_TYPE, name(f"C{count - 1 - n % (count // 8)}")),
                      (name(f"y{n}"), name("p"), name(f"x{n}"))))
        for n in range(many)
    ]  # fmt: skip


def figures(rounds: int) -> list[Figure]:
    """The rate must not depend on the number of classes: at least that of 400, but for a quarter."""
    found: list[Figure] = []
    for count in (400, 4_000, 40_000):
        started = time.process_time()
        matcher, some = Matcher(compiled(count), remember=0), items(count, 5_000)
        built = time.process_time() - started
        rates = []
        for _ in range(rounds):
            begin = time.process_time()
            for item in some:
                matcher.match(item)
            rates.append(len(some) / (time.process_time() - begin))
        least = None if not found else 0.75 * found[0].median
        found.append(Figure(f"{count:,} classes, 8 deep, nothing remembered", tuple(rates), least=least))
        found.append(Figure("  compiled in", (built,), "s"))
    return found


if __name__ == "__main__":
    show(figures(5))
