"""Items of one shape are closed and joined once: the answers are those of each item by itself.

OBEP_CASES is the number of random cases, OBEP_SEED where their seeds begin.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable
from pathlib import Path
from random import Random

import pytest

import obep
from obep.abstraction.item_news import ItemNews
from obep.algebra.timed.timed_bgp import TimedBgp
from obep.algebra.timed.timed_node import Round
from obep.engine.queries.timed_run import TimedRun
from obep.model import RDF_TYPE, SECOND, Item, Term, Triple

CASES = int(os.environ.get("OBEP_CASES", "60"))
SEED = int(os.environ.get("OBEP_SEED", "0"))
EX = "http://e/"
PREFIX = f"PREFIX : <{EX}>\n"
T = """
@prefix : <http://e/> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
:A a owl:Class . :B a owl:Class ; rdfs:subClassOf :A . :C a owl:Class ; rdfs:subClassOf :A . :D a owl:Class .
:p a owl:ObjectProperty ; rdfs:subPropertyOf :q ; rdfs:domain :D . :q a owl:ObjectProperty .
:t a owl:ObjectProperty , owl:TransitiveProperty .
:v a owl:DatatypeProperty . :w a owl:DatatypeProperty .
:A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :q ; owl:hasValue :k ] .
[] rdfs:subClassOf :D ; a owl:Restriction ; owl:onProperty :v ;
   owl:someValuesFrom [ a rdfs:Datatype ; owl:onDatatype xsd:integer ; owl:withRestrictions ([ xsd:minInclusive 3 ]) ] .
"""  # noqa: E501
K = "@prefix : <http://e/> . :k :q :l . :l a :B .\n"
PATTERNS = (
    "?x a :A",
    "?x a :D",
    "?y a :B",
    "?x :q ?y",
    "?y :q ?z",
    "?x :t ?y",
    "?x :v ?n",
    "?y :w ?n",
    "?x :w ?m",
    "?x :q :k",
    "?x :u ?y",
    "?x :w 4",
)


def name(local: str) -> Term:
    return f"<{EX}{local}>"


class Case:
    """A random query, with K and T or without, and items of few shapes, some of which share names."""

    def __init__(self, seed: int, folder: Path) -> None:
        self.random = random = Random(seed)
        (folder / "t.ttl").write_text(T + (K if random.random() < 0.3 else ""), encoding="utf-8")
        settings = "VOCAB <t.ttl>\n" if random.random() < 0.9 else ""
        self.dialect = random.choice(("epsparql", "csparql"))
        if self.dialect == "csparql":
            frames = random.choice(("[RANGE 4 s]", "", "[RANGE 9 s]"))
            source = f"FROM STREAM <s> {frames} FROM <t.ttl> WHERE {{ {self.group(3)} }}"
            form = random.choice(("SELECT *", "CONSTRUCT { ?x :said ?y }"))
            self.text = f"{PREFIX}REGISTER QUERY q AS {form} {source}"
        else:
            body = self.group(2)
            for _ in range(random.randint(0, 2)):
                body = (
                    f"{{ {body} }} {random.choice(('SEQ', 'EQUALS', 'OPTIONAL', ''))} {{ {self.group(2)} }}"
                )
            rule = f"CONSTRUCT {{ ?x :u ?y }} WHERE {{ {self.group(2)} }}\n" if random.random() < 0.4 else ""
            within = "FILTER(getDURATION() < 5 s)" if random.random() < 0.7 else ""
            self.text = f"{PREFIX}{settings}{rule}SELECT * WHERE {{ {body} {within} }}"
        self.query = obep.load(text=self.text, dialect=self.dialect, folder=folder, java=False, lints=False)
        self.items = [*self._items()]

    def group(self, most: int) -> str:
        some = self.random.sample(PATTERNS, self.random.randint(1, most))
        return " . ".join(some) + self.random.choice((" .", " . FILTER(?n > 2)", " ."))

    def _items(self) -> list[Item]:
        random = self.random
        shapes = [[self._triple() for _ in range(random.randint(4, 9))] for _ in range(4)]
        items, at = [], 0
        for number in range(30):
            at += random.randint(0, 2)
            names: dict[str, Term] = {}
            for one in "0123":
                fresh = random.random() < 0.7
                kind = random.random()
                names[one] = (
                    f"_:b{number}x{one}" if kind < 0.1 else name(f"n{number}x{one}") if fresh
                    else name(random.choice(("a", "b", "k", "A", "B")))
                )  # fmt: skip
                names["n" + one] = f'"{random.randint(1, 5)}"^^<http://www.w3.org/2001/XMLSchema#integer>'
            triples: list[Triple] = [
                (names[s], p, o if o[0] == "<" else names[o]) for s, p, o in random.choice(shapes)
            ]
            items.append(Item("s", at * SECOND, tuple(dict.fromkeys(triples))))
        return items

    def _triple(self) -> Triple:
        random = self.random
        subject, kind = random.choice("00112"), random.random()
        if kind < 0.35:
            return (subject, RDF_TYPE, name(random.choice("ABCDEF")))
        if kind < 0.65:
            return (subject, name(random.choice("pqtuo")), random.choice("0111223"))
        return (subject, name(random.choice("vvwwo")), "n" + random.choice("0123"))

    def answers(self) -> list[str]:
        engine = self.query.engine(remember=0)
        half = len(self.items) // 2
        found = engine.push_items(self.items[:half])
        state = engine.snapshot()
        engine = self.query.engine(remember=0)
        engine.restore(state)
        found += [*engine.push_items(self.items[half:]), *engine.close()]
        return [f"{one!r} {one.constructed} {one.bindings}" for one in found]


def compared(seeds: range, folder: Path) -> Counter[str]:
    count: Counter[str] = Counter()
    for seed in seeds:
        case = Case(seed, folder)
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(ItemNews, "of", lambda self, triples, lead: self.closed([*dict.fromkeys(triples)]))
            wanted = case.answers()
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(TimedBgp, "found", counted(TimedBgp.found, count))
            found = case.answers()
        assert Counter(found) == Counter(wanted), (seed, case.text)
        count["cases"] += 1
        count["answers"] += len(wanted)
    return count


def counted(found: Callable[[TimedBgp, Round], object], count: Counter[str]) -> object:
    def call(self: TimedBgp, round_: Round) -> object:
        shaped = round_.shaped
        count["again"] += shaped is not None and self in shaped.shape.rows and bool(shaped.shape.rows[self])
        return found(self, round_)

    return call


@pytest.mark.slow
def test_items_of_one_shape_have_the_answers_of_each_by_itself(tmp_path: Path) -> None:
    count = compared(range(SEED, SEED + CASES), tmp_path)
    assert count["cases"] == CASES
    assert count["answers"] >= 10 * CASES
    assert count["again"] >= CASES, "solutions are looked up by the shape"


def test_offers_are_closed_and_joined_once(tmp_path: Path) -> None:
    """Sparkwave's kind of stream: each item has names of its own, of which later items say nothing."""
    shared = ":A rdfs:subClassOf [ a owl:Restriction ; owl:onProperty :q ; owl:hasValue :k ] .\n"
    assert shared in T
    (tmp_path / "t.ttl").write_text(T.replace(shared, ""), encoding="utf-8")
    query = obep.load(
        text=f"{PREFIX}REGISTER QUERY q AS SELECT ?x ?y ?n FROM STREAM <s> [RANGE 9 s] FROM <t.ttl>\n"
        "WHERE { ?x :q ?y . ?y a :A . ?x :w ?n }",
        dialect="csparql",
        folder=tmp_path,
        java=False,
    )
    engine = query.engine(remember=0)
    closed: list[object] = []
    joined: list[object] = []
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(ItemNews, "closed", noted(ItemNews.closed, closed))
        patch.setattr(TimedBgp, "_found", noted(TimedBgp._found, joined))
        rows = [
            row
            for at in range(20)
            for one in engine.push_items([offer(at, "BC"[at % 2])])
            for row in one.bindings
        ] + [row for one in engine.close() for row in one.bindings]
    assert rows == [{"x": name(f"x{n}"), "y": name(f"y{n}"), "n": f'"{n}"'} for n in range(20)]
    assert (len(closed), len(joined)) == (1, 1), "B and C lead to the same"
    [run] = [one for one in engine.running.runtime._runs if isinstance(one, TimedRun)]
    assert not run._program._old._indexed


def offer(at: int, kind: str) -> Item:
    x, y = name(f"x{at}"), name(f"y{at}")
    triples = ((x, name("p"), y), (y, RDF_TYPE, name(kind)), (x, name("w"), f'"{at}"'))
    return Item("s", at * SECOND, triples)


def noted(function: Callable[..., object], calls: list[object]) -> object:
    def call(*arguments: object) -> object:
        calls.append(arguments)
        return function(*arguments)

    return call
