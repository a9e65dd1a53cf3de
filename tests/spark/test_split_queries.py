"""Random queries that are split by a variable: the buckets give the rows of one engine (DIALECTS 11).

OBEP_SPLIT_TRIALS says how many seeds, OBEP_SEED where they begin.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from random import Random
from types import SimpleNamespace
from typing import Any

import pytest
from split_runs import split

import obep
from obep.model import RDF_TYPE, Item, Occurrence
from obep.output.row_writer import rows_of
from obep.query.ast import Language
from obep.spark.stages.worker import components_of

SEED = int(os.environ.get("OBEP_SEED", "0"))
TRIALS = int(os.environ.get("OBEP_SPLIT_TRIALS", "60"))
INTEGER = "<http://www.w3.org/2001/XMLSchema#integer>"
T = """@prefix : <http://e/> . @prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
:C1 a owl:Class ; rdfs:subClassOf :C0 . :C0 a owl:Class . :p0 a owl:ObjectProperty ; rdfs:domain :C1 .
:p1 a owl:ObjectProperty ; rdfs:subPropertyOf :p0 . :v a owl:DatatypeProperty ."""
K = "@prefix : <http://e/> . :n0 :v 3 ; a :C0 . :n1 :v 4 . :n2 :p0 :n1 . :n3 :limit 5 . :n1 :limit 2 ."


class Draws:
    """A random query whose patterns mostly have ?r as an end, and its items."""

    def __init__(self, seed: int) -> None:
        self.random = Random(seed)
        self.language: Language = self.random.choice(("rspql", "csparql", "epsparql"))
        with_t, self.with_k = self.random.random() < 0.5, self.random.random() < 0.5
        head = "PREFIX : <http://e/>\n" + ("VOCAB <t.ttl>\n" if with_t else "")
        head += "FROM GRAPH <k.ttl>\n" if self.with_k and self.language != "csparql" else ""
        self.text = (
            head + {"rspql": self._rspql, "csparql": self._csparql, "epsparql": self._timed}[self.language]()
        )

    def _one(self, some: Iterable[str]) -> str:
        return self.random.choice([*some])

    def _triple(self) -> str:
        return self._one(
            (
                f"?r :p{self.random.randrange(2)} ?{self._one('xy')} .",
                f"?{self._one('xy')} :p0 ?r .",
                "?r :v ?h .",
                f"?r a :C{self.random.randrange(2)} .",
                *(["?x :p1 ?y ."] if self.random.random() < 0.1 else []),
            )
        )

    def _block(self) -> str:
        return " ".join(self._triple() for _ in range(self.random.choice((1, 1, 2))))

    def _group(self) -> str:
        more = self._one(
            (
                "",
                f"OPTIONAL {{ {self._block()} }}",
                f"MINUS {{ {self._triple()} }}",
                f"FILTER NOT EXISTS {{ {self._triple()} }}",
                f"{{ {self._triple()} }} UNION {{ {self._triple()} }}",
                "FILTER(?h > 2)",
                "BIND(2 AS ?b)",
            )
        )
        return f"{self._block()} {more}"

    def _select(self) -> tuple[str, str]:
        return self.random.choice(
            (
                ("SELECT ?r", ""),
                ("SELECT DISTINCT ?r", ""),
                ("SELECT *", ""),
                ("SELECT ?r (COUNT(*) AS ?n) (MAX(?h) AS ?m)", " GROUP BY ?r"),
                ("SELECT ?r (SUM(?h) AS ?n)", " GROUP BY ?r HAVING (?n > 3)"),
            )
        )

    def _rspql(self) -> str:
        select, end = self._select()
        frames = [f"FROM NAMED WINDOW <{name}> ON <{name}> [{self._frame()}]" for name in "st"]
        static = self._one(("", "?r :limit ?l .", "OPTIONAL { ?r :limit ?l }")) if self.with_k else ""
        second = self._one(("", "", f"WINDOW <t> {{ {self._group()} }}"))
        operator = self._one(("RSTREAM", "ISTREAM", "DSTREAM"))
        group = f"{static} WINDOW <s> {{ {self._group()} }} {second}"
        return f"REGISTER {operator} <q> AS {select} {' '.join(frames)} WHERE {{ {group} }}{end}"

    def _frame(self) -> str:
        return self._one(
            ("RANGE 3 s STEP 1 s", "RANGE 2 s STEP 2 s", "RANGE 2 s", "FROM NOW - 3 s TO NOW - 1 s")
        )

    def _csparql(self) -> str:
        select, end = self._select()
        every = self._one(("COMPUTE EVERY 1 s ", "COMPUTE EVERY 2 s ", ""))
        frame = self._one(("RANGE 3 s STEP 1 s", "RANGE 2 s STEP 2 s", "RANGE 2 s"))
        if end and not every and "STEP" not in frame:
            select, end = "SELECT *", ""  # a pattern has no aggregates
        return (
            f"REGISTER QUERY q {every}AS {select} FROM STREAM <s> [{frame}] WHERE {{ {self._group()} }}{end}"
        )

    def _timed(self) -> str:
        select, end = self._select()
        operators = ("SEQ", "EQUALS", "OPTIONALSEQ", "EQUALSOPTIONAL")
        pair = f"{{ {self._group()} }} {self._one(operators)} {{ {self._group()} }}"
        whole = self._one((f"{{ {pair} }}", f"{{ {pair} }} {self._one(operators)} {{ {self._block()} }}"))
        return f"{select} WHERE {{ {whole} FILTER(getDURATION() < 3 s) }}{end}"

    def items(self) -> list[Item]:
        random = self.random
        found, at = [], 0
        for _ in range(random.randint(10, 40)):
            at += random.choice((0, 250_000, 500_000, 1_000_000))
            graph = {self._said() for _ in range(random.choice((1, 1, 2)))}
            found.append(Item(random.choice("sst"), at, tuple(sorted(graph))))
        return found

    def _said(self) -> tuple[str, str, str]:
        own, other = (f"<http://e/n{self.random.randrange(4)}>" for _ in "ab")
        return self.random.choice(
            (
                (own, f"<http://e/p{self.random.randrange(2)}>", other),
                (own, "<http://e/v>", f'"{self.random.randrange(6)}"^^{INTEGER}'),
                (own, RDF_TYPE, f"<http://e/C{self.random.randrange(2)}>"),
            )
        )


def rows(found: Iterable[Occurrence]) -> Counter[tuple[Any, ...]]:
    """The rows of answers, with their instants."""
    every = (row for one in found for row in rows_of(one))
    return Counter(
        (row.query, row.at, row.start, row.end, row.op, tuple(sorted(row.row.items()))) for row in every
    )


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "t.ttl").write_text(T)
    (tmp_path / "k.ttl").write_text(K)
    return tmp_path


@pytest.mark.slow
def test_buckets_give_the_rows_of_one_engine(folder: Path) -> None:
    seen: Counter[str] = Counter()
    for seed in range(SEED, SEED + TRIALS):
        draws = Draws(seed)
        query = obep.load(text=draws.text, dialect=draws.language, folder=folder, java=False, lints=False)
        if not all(one.keyed for one in components_of(query)):
            continue
        items = draws.items()
        end = items[-1].at + 5_000_000
        engine = query.engine(remember=0)
        wanted = rows([*engine.push_items(items), *engine.advance(end / 1_000_000), *engine.close()])
        case: Any = SimpleNamespace(items=items, end=end)
        found = rows(split(query, case, draws.random.choice((2, 3, 5)), draws.random))
        assert found == wanted, f"seed {seed}\n{draws.text}\n{found - wanted}\n{wanted - found}"
        seen[draws.language] += 1
        seen["answered"] += bool(wanted)
    floor = TRIALS / 20
    assert min(seen[one] for one in ("rspql", "csparql", "epsparql", "answered")) >= floor, seen
