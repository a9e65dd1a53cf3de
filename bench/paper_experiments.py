"""The experiments of the papers on EP-SPARQL and Sparkwave (issue 15), on one core; answers are counted.

    python bench/paper_experiments.py                    all of them
    python bench/paper_experiments.py --items 20000      over more items

- 000, Test 1: the mean of the prices of the last ten seconds, by rules of EP-SPARQL that add one price after
  the other (queries 5 and 6 of the paper), and as an aggregate over a window.
- 000, Test 2: whether a subject is an instance of a class with 40,080 subclasses, against one with 10.
- 004: offers (pattern 1) whose product has a type in a hierarchy of 4, 329 and 22,527 classes, from text,
  against the parser alone.

Esper, warm, has the same prices as Test 1, from a file to a file; it needs Maven and `javac`, and is named as
missing otherwise. ETALIS is in no package registry, and its figures are not measured here. Times are those of
the processor.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path
from random import Random
from tempfile import TemporaryDirectory

from large_ontologies import HEADER, tree
from w1 import esper_classes

import obep
from obep.engine.query import Query
from obep.formats import read_graph
from obep.model import SECOND, Item

NS = "http://example.org/large#"
TYPE = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
LENGTH = 10
"""How many seconds a mean is about."""
ROUNDS = 3
LONGER = 25
RULES = f"""PREFIX : <{NS}>
CONSTRUCT {{ _:one :hasCount 1 . _:one :hasSum ?price }}
WHERE {{ :ACME :hasStockPrice ?price }}
CONSTRUCT {{ _:more :hasCount ?count . _:more :hasSum ?sum }}
WHERE {{ {{ SELECT (?before + 1 AS ?count) (?all + ?price AS ?sum)
  WHERE {{ {{ {{ ?point :hasCount ?before . ?point :hasSum ?all }} SEQ {{ :ACME :hasStockPrice ?price }} }}
    EQUALSOPTIONAL {{ {{ ?point :hasCount ?before . ?point :hasSum ?all }}
      SEQ {{ :ACME :hasStockPrice ?between }} SEQ {{ :ACME :hasStockPrice ?price }}
      FILTER(getDURATION() < {LENGTH} s) }}
    FILTER(!BOUND(?between) && getDURATION() < {LENGTH} s) }} }} }}
SELECT ?point (?sum / ?count AS ?mean)
WHERE {{ ?point :hasCount ?count . ?point :hasSum ?sum FILTER(getDURATION() < {LENGTH} s) }}"""
WINDOW = f"""PREFIX : <{NS}>
REGISTER QUERY mean COMPUTE EVERY 1 s AS SELECT (AVG(?price) AS ?mean)
FROM STREAM <s> [RANGE {LENGTH} s STEP 1 s] WHERE {{ :ACME :hasStockPrice ?price }}"""
INSTANCES = f"""PREFIX : <{NS}>
VOCAB <tree.ttl>
SELECT ?x WHERE {{ ?x a :C0 }}"""
PARTS = ("product", "vendor", "price", "validFrom", "validTo", "deliveryDays", "offerWebpage", "date")
OFFERS = f"""PREFIX : <{NS}>
REGISTER QUERY offers AS SELECT ?offer ?product
FROM STREAM <s> [RANGE 25 s]
FROM <tree.ttl>
WHERE {{ ?offer a :Offer . {" ".join(f"?offer :{part} ?{part} ." for part in PARTS)} ?product a :C1 }}"""


def best(rounds: int, query: Query, items: Callable[[], Iterable[Item]]) -> tuple[float, int]:
    """The least processor time that items take in new engines, and how many rows the last one gives."""
    times = []
    for _ in range(rounds):
        engine = query.engine(remember=0)
        begun = time.process_time()
        found = [*engine.push_items(items()), *engine.close()]
        times.append(time.process_time() - begun)
    return min(times), sum(len(one.bindings) for one in found)


def sliding_mean(number: int) -> None:
    """000, Test 1. The window and Esper take more prices: their figures are of longer runs."""
    random = Random(number)
    prices = [random.randrange(1000) for _ in range(LONGER * number)]
    price = f"<{NS}hasStockPrice>"
    items = [
        Item("s", at * SECOND, ((f"<{NS}ACME>", price, f'"{value}"^^{INTEGER}'),))
        for at, value in enumerate(prices)
    ]
    rules = obep.load(text=RULES, dialect="epsparql", java=False)
    window = obep.load(text=WINDOW, dialect="csparql", java=False)
    spent, found = best(1, rules, lambda: items[:number])
    wanted = sum(min(at + 1, LENGTH) for at in range(number))
    assert found == wanted, f"{found} answers, not {wanted}"
    print(f"000 Test 1, rules: {number / spent:,.0f} items/s, {found:,} means")
    spent, found = best(ROUNDS, window, lambda: items)
    assert found == len(items), f"{found} answers, not {len(items)}"
    print(f"000 Test 1, window: {len(items) / spent:,.0f} items/s, {found:,} means")
    esper_mean(prices)


def esper_mean(prices: list[int]) -> None:
    """000, Test 1 by Esper: its mean after each price."""
    with TemporaryDirectory() as name:
        folder = Path(name)
        lines = [f"{at * 1000},acme,A,{price}\n" for at, price in enumerate(prices)]
        (folder / "prices.csv").write_text("time,room,kind,n\n" + "".join(lines))
        if not (jars := esper_classes(folder)):
            return
        out = folder / "means.jsonl"
        command = ["java", "-cp", jars, "Esper", "mean", "warm", str(folder / "prices.csv"), str(out)]
        ended = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
        means = [json.loads(line)["mean"] for line in out.read_text().splitlines()]
    wanted = [sum(some) / len(some) for some in (prices[max(0, n - 9) : n + 1] for n in range(len(prices)))]
    assert [round(mean, 6) for mean in means] == [round(mean, 6) for mean in wanted]
    spent = float(ended.stdout.split()[-2])
    print(f"000 Test 1, Esper 9, warm: {len(prices) / spent:,.0f} items/s, {len(means):,} means")


def write_tree(folder: Path, classes: int, more: str = "") -> None:
    (folder / "tree.ttl").write_text(HEADER + "\n".join(tree(classes)) + more, encoding="utf-8")


def subclasses(folder: Path, number: int) -> None:
    """000, Test 2."""
    speeds = {}
    for classes in (10, 40_080):
        write_tree(folder, classes)
        query = obep.load(text=INSTANCES, dialect="epsparql", folder=folder, java=False)
        random = Random(number)
        items = [
            Item("s", at * SECOND, ((f"<{NS}x{at}>", TYPE, f"<{NS}C{random.randrange(1, classes + 1)}>"),))
            for at in range(number)
        ]
        spent, found = best(ROUNDS, query, partial(list, items))
        assert found == number, f"{found} answers, not {number}"
        speeds[classes] = number / spent
        print(f"000 Test 2, {classes:,} subclasses: {speeds[classes]:,.0f} items/s, {found:,} instances")
    print(f"000 Test 2: with 40,080 {speeds[40_080] / speeds[10]:.2f} times as fast as with 10")


def offer(at: int, classes: int) -> tuple[str, bool]:
    """The text of an offer, and whether its product is of the type that is looked for."""
    own = at % classes + 1
    name = f"<{NS}offer{at}>"
    lines = [f"{name} {TYPE} <{NS}Offer> .", f"<{NS}product{at}> {TYPE} <{NS}C{own}> ."]
    lines += [f'{name} <{NS}{part}> "{at}" .' for part in PARTS if part != "product"]
    lines.append(f"{name} <{NS}product> <{NS}product{at}> .")
    above = own
    while above > 1:
        above = (above - 1) // 9
    return "\n".join(lines), above == 1


def read(texts: Iterable[str]) -> Iterator[Item]:
    """Offers as items, an offer a second."""
    return (Item("s", at * SECOND, tuple(read_graph(text))) for at, text in enumerate(texts))


def offers(folder: Path, number: int) -> None:
    """004: patterns over schemas of three sizes, from text."""

    speeds = {}
    for classes in (4, 329, 22_527):
        write_tree(folder, classes, "\n:Offer a owl:Class .")
        query = obep.load(text=OFFERS, dialect="csparql", folder=folder, java=False)
        made = [offer(at, classes) for at in range(number)]
        texts, wanted = [text for text, _ in made], sum(fits for _, fits in made)
        begun = time.process_time()
        for text in texts:
            read_graph(text)
        alone = time.process_time() - begun
        spent, found = best(ROUNDS, query, partial(read, texts))
        assert found == wanted, f"{found} answers, not {wanted}"
        speeds[classes] = number / spent
        share = alone / spent
        print(f"004, {classes:,} classes: {speeds[classes]:,.0f} offers/s, {share:.2f} of the parser alone")
    print(f"004: the slowest {min(speeds.values()) / max(speeds.values()):.2f} times as fast as the fastest")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--items", type=int, default=5_000)
    chosen = parser.parse_args()
    with TemporaryDirectory() as name:
        sliding_mean(min(chosen.items, 2_000))
        offers(Path(name), chosen.items)
        subclasses(Path(name), chosen.items)


if __name__ == "__main__":
    main()
