"""All triples at one instant: the rows of a query are those that SPARQL finds in that graph (DIALECTS 11).

`python tests/algebra/query_trials.py SEED CASES`, with PYTHONPATH=tests, runs random queries: in C-SPARQL
against oxigraph and rdflib, in EP-SPARQL against oxigraph. It prints each
difference, and in how many of the cases with an answer each operator stands; it fails if one is in less than
5 % of them.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent.parent))
sys.path.insert(0, str(Path(__file__).parent))

from memory_dataset import ListedDataset
from other_engines import Bag, bag, by_oxigraph, by_rdflib
from random_groups import EX, Choices, apart, seeded, triples
from random_queries import OPERATORS, Queries, operators
from sparql_text import select_text

import obep
from obep.model import Answer, Item, Occurrence
from obep.query import ast
from obep.query.group_walk import projected
from obep.query.print.print_lines import Lines
from obep.query.print.print_queries import write_query
from obep.query.walk import walk

SECOND = 1_000_000
XSD = "http://www.w3.org/2001/XMLSchema#"
MODES = (*["csparql"] * 7, "rdflib", *["epsparql"] * 2)
BOOLEANS = {
    f'"{digit}"^^<{XSD}boolean>': f'"{word}"^^<{XSD}boolean>'
    for digit, word in (("0", "false"), ("1", "true"))
}
WINDOW = ast.Window("s", "s", "range", ast.Duration(10 * SECOND), ast.Duration(SECOND), role="default")


def text_of(register: ast.Register, language: ast.Language) -> str:
    lines = Lines()
    write_query(register, lines, language)
    return f"PREFIX : <{EX}>\n" + "\n".join(lines.written)


def by_csparql(select: ast.Select, data: ListedDataset) -> Bag:
    """The rows of the one answer of a query over items of one instant."""
    register = ast.Register(ast.Name("q", "q"), select, every=ast.Duration(SECOND), windows=(WINDOW,))
    query = obep.load(text=text_of(register, "csparql"), lints=False, java=False)
    found = [one for one in _reported(query, data) if isinstance(one, Answer)]
    assert len(found) <= 1
    return sum((bag(row, [row.values()]) for one in found for row in one.bindings), Counter())


def by_epsparql(select: ast.Select, data: ListedDataset) -> Bag:
    """The rows of all solutions, which are a set (D23)."""
    query = obep.load(text=text_of(ast.Register(None, select), "epsparql"), lints=False, java=False)
    rows = [row for hit in _reported(query, data) for row in hit.bindings]
    return Counter({one: 1 for row in rows for one in bag(row, [row.values()])})


def _reported(query: obep.Query, data: ListedDataset) -> list[Occurrence | Answer]:
    half = len(data.triples) // 2
    items = [Item("s", SECOND, tuple(some)) for some in (data.triples[:half], data.triples[half:])]
    engine = query.engine()
    return [*engine.push_items(items), *engine.close()]


def comparable(answer: Bag, select: ast.Select) -> Bag:
    """An answer without what SPARQL leaves open: the order in GROUP_CONCAT, how often REDUCED has a row."""
    found: Bag = Counter()
    for row, often in answer.items():
        sorted_parts = frozenset(
            (name, "|".join(sorted(value.strip('"').split("|"))))
            if name.startswith("concat")
            else (name, value)
            for name, value in row
        )
        found[sorted_parts] += 1 if select.reduced else often
    return found


def _reads_itself(select: ast.Select) -> bool:
    """Whether a sub-select in EXISTS has a column like `(COALESCE(?x, 1) AS ?x)`: its group binds no ?x.

    SPARQL puts the value of the outer ?x in for both, which is no column; oxigraph for the first alone.
    """
    columns = (
        column
        for exists in walk(select)
        if isinstance(exists, ast.Exists)
        for one in walk(exists.group)
        if isinstance(one, ast.Select)
        for column in one.projection
    )
    return any(
        column.expression is not None and column.variable in walk(column.expression) for column in columns
    )


def normalised(answer: Bag) -> Bag:
    """An answer with booleans as oxigraph keeps them."""
    found: Bag = Counter()
    for row, often in answer.items():
        found[frozenset((name, BOOLEANS.get(value, value)) for name, value in row)] += often
    return found


def without_empty(answer: Bag) -> Bag:
    """An answer without the rows that bind nothing."""
    return Counter({row: often for row, often in answer.items() if row})


@dataclass
class QueryTrials:
    """What a run has seen."""

    cases: int = 0
    answered: int = 0
    modes: Counter[str] = field(default_factory=Counter)
    seen: Counter[str] = field(default_factory=Counter)
    failures: list[str] = field(default_factory=list)

    def take(self, c: Choices, mode: str) -> None:
        """One case: `csparql`, `rdflib` or `epsparql`."""
        rdflib = mode == "rdflib"
        data = ListedDataset(triples(c, 24, rdflib, least=12))
        select = apart(Queries(c, rdflib, mode == "epsparql").query(), filters=rdflib)
        if _reads_itself(select):
            self.modes["undefined"] += 1
            return
        text, names = select_text(select, {}), projected(select, {})
        self.cases += 1
        self.modes[mode] += 1
        theirs = comparable((by_rdflib if rdflib else by_oxigraph)(text, data, names), select)
        if mode == "epsparql":
            theirs = Counter(set(theirs))
            mine = by_epsparql(select, data)
        else:
            mine = comparable(by_csparql(select, data), select)
        if rdflib:  # it forgets solutions that bind nothing
            mine, theirs = without_empty(mine), without_empty(theirs)
        if (
            rdflib
            and mine != theirs
            and normalised(mine)
            == normalised(without_empty(comparable(by_oxigraph(text, data, names), select)))
        ):
            self.modes["rdflib alone"] += 1  # it joins with the set of the right rows, however many there are
            theirs = mine
        if mine != theirs:
            graph = "\n".join(" ".join(one) for one in data.triples)
            only = f"here only: {mine - theirs}\nthere only: {theirs - mine}"
            self.failures.append(f"{mode}\n{text}\n{graph}\n{only}\n")
        if theirs:
            self.answered += 1
            self.seen.update(set(operators(select)))

    def shortages(self) -> list[str]:
        """What the cases have too little of."""
        found = [] if self.answered >= 0.4 * self.cases else [f"{self.answered} of {self.cases} with answers"]
        rare = {name: self.seen[name] for name in OPERATORS if self.seen[name] < 0.05 * self.answered}
        return found + [f"{name}: {count} of {self.answered}" for name, count in rare.items()]


def main(first: int, cases: int) -> int:
    trials = QueryTrials()
    for seed in range(first, first + cases):
        before = len(trials.failures)
        try:
            trials.take(seeded(seed), MODES[seed % len(MODES)])
        except Exception as crash:  # shown like any other difference
            trials.failures.append(f"{type(crash).__name__}: {crash}")
        if len(trials.failures) > before:
            print(f"seed {seed}:", *trials.failures[before:], flush=True)
    print(f"{trials.cases} cases, {trials.answered} with an answer; {dict(trials.modes)}")
    for name in OPERATORS:
        print(f"{name:22} {trials.seen[name]:7} {trials.seen[name] / max(trials.answered, 1):6.1%}")
    print(f"{len(trials.failures)} differences", *trials.shortages(), sep="\n")
    return bool(trials.failures or trials.shortages())


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
