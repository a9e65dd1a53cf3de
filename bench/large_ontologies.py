"""Large ontologies, made anew with a fixed seed: how long a first and a second start take.

`python bench/large_ontologies.py [small|tree|cells|relations]…` starts each twice, each time in a process of
its own, with a folder to remember things in that is empty at first, and prints CPU seconds and memory.
Without a name all of them are started. The cells take a minute or two, and HermiT gives up on them.
"""

from __future__ import annotations

import os
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

NS = "http://example.org/large#"
HEADER = f"""@prefix : <{NS}> .
@prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
"""


def tree(classes: int = 40_080, children: int = 9) -> Iterator[str]:
    """A tree of subclasses."""
    yield ":C0 a owl:Class . :p a owl:ObjectProperty ."
    for n in range(1, classes + 1):
        yield f":C{n} a owl:Class ; rdfs:subClassOf :C{(n - 1) // children} ."


def cells(classes: int = 3_300, seed: int = 7) -> Iterator[str]:
    """Like an ontology of cells: existential restrictions, definitions by genus and difference, disjointness.

    About 40,000 triples; a third of the classes are defined.
    """
    pick = random.Random(seed)
    roles = [
        "partOf",
        "hasPart",
        "developsFrom",
        "capableOf",
        "expresses",
        "locatedIn",
        "adjacentTo",
        "derivesFrom",
    ]
    for role in roles:
        yield f":{role} a owl:ObjectProperty ."
    yield ":partOf a owl:TransitiveProperty ; owl:inverseOf :hasPart ."
    yield ":developsFrom a owl:TransitiveProperty ; rdfs:subPropertyOf :derivesFrom ."
    yield ":locatedIn owl:propertyChainAxiom ( :locatedIn :partOf ) . :partOf rdfs:subPropertyOf :locatedIn ."
    yield ":derivesFrom owl:propertyChainAxiom ( :derivesFrom :developsFrom ) ."
    for n in range(classes):
        yield f':C{n} a owl:Class ; rdfs:label "cell {n}" .'
        if n:
            yield f":C{n} rdfs:subClassOf :C{pick.randrange(n // 2, n)} ."
        for _ in range(pick.choice([0, 1, 1, 2])):
            yield f":C{n} rdfs:subClassOf {_some(pick, roles, n)} ."
        if n > 10 and n % 3 == 0:
            genus = f":C{pick.randrange(n)}"
            parts = " ".join(_some(pick, roles, n) for _ in range(pick.choice([1, 1, 2])))
            yield f":C{n} owl:equivalentClass [ a owl:Class ; owl:intersectionOf ( {genus} {parts} ) ] ."
        if n > 100 and n % 50 == 0:
            yield f":C{n - 1} owl:disjointWith :C{n - 37} ."


def _some(pick: random.Random, roles: list[str], n: int) -> str:
    filler = pick.randrange(max(1, n))
    return f"[ a owl:Restriction ; owl:onProperty :{pick.choice(roles)} ; owl:someValuesFrom :C{filler} ]"


def relations(properties: int = 600, seed: int = 11) -> Iterator[str]:
    """Like an ontology of relations: a hierarchy of properties with inverses, chains, domains and ranges."""
    pick = random.Random(seed)
    for n in range(60):
        yield (
            f":C{n} a owl:Class . :C{n} rdfs:subClassOf :C{max(0, n - pick.randint(1, 5))} ."
            if n
            else ":C0 a owl:Class ."
        )
    for n in range(50):
        yield f":C{n + 9} owl:disjointWith :N{pick.randrange(5)} ."
    for n in range(properties):
        up = max(0, n - pick.randint(1, 40))
        yield f':p{n} a owl:ObjectProperty ; rdfs:label "relation {n}" ; rdfs:comment "as in {up}" .'
        if n:
            yield f":p{n} rdfs:subPropertyOf :p{up} ."
        if n % 2:
            yield f':p{n} owl:inverseOf :q{n} . :q{n} a owl:ObjectProperty ; rdfs:label "inverse {n}" .'
        if n % 11 == 3:
            yield f":p{n} a owl:TransitiveProperty ."
        if n % 13 == 5:
            yield f":p{n} rdfs:domain :C{pick.randrange(60)} ; rdfs:range :C{pick.randrange(60)} ."
        if n % 4 == 1 and n > 8:
            first, second = (n, pick.randrange(n)) if pick.random() < 0.5 else (pick.randrange(n), n)
            yield f":p{max(0, n - pick.randint(0, 3))} owl:propertyChainAxiom ( :p{first} :p{second} ) ."


KINDS: dict[str, tuple[Callable[[], Iterator[str]], str]] = {
    "small": (
        lambda: iter([":C0 a owl:Class . :p a owl:ObjectProperty ."]),
        "EVENT H AS C0\nEVENT G AS p some C0",
    ),
    "tree": (tree, "EVENT H AS C0\nEVENT G AS p some C0"),
    "cells": (cells, "EVENT H AS C40 and partOf some C7\nEVENT G AS developsFrom some C90"),
    "relations": (relations, "EVENT H AS p20 some C3\nEVENT G AS p7 some (p100 some Thing)"),
}


def write(kind: str, folder: Path) -> Path:
    """The ontology and a query about it."""
    lines, events = KINDS[kind]
    (folder / "large.ttl").write_text(HEADER + "\n".join(lines()) + "\n")
    query = folder / "query.obep"
    query.write_text(f"PREFIX : <{NS}>\nVOCAB <large.ttl>\nFROM STREAM <s>\n\n{events}\n\nRETURN H, G\n")
    return query


def start(query: Path) -> None:
    """One start, in this process."""
    import obep

    loaded = obep.load(query)
    with loaded.engine() as engine:
        engine.push(f"@prefix : <{NS}> . :x a :C1 .", at=1)
    used = resource.getrusage(resource.RUSAGE_SELF)
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    seconds = time.process_time() + children.ru_utime
    status = sorted({words[:60] for words in loaded.bundle.status.values()})
    print(f"{seconds:.2f} s of CPU, {used.ru_maxrss / 1024:.0f} MB, {status}", flush=True)


def main() -> None:
    """All of them, or one."""
    if sys.argv[1:2] == ["--start"]:
        start(Path(sys.argv[2]))
        return
    for kind in sys.argv[1:] or KINDS:
        with tempfile.TemporaryDirectory() as folder:
            query = write(kind, Path(folder))
            for what in ("first", "second"):
                print(f"{kind}, {what} start: ", end="", flush=True)
                environment = {**os.environ, "OBEP_CACHE": f"{folder}/remembered"}
                command = [sys.executable, __file__, "--start", str(query)]
                subprocess.run(command, env=environment, check=False)


if __name__ == "__main__":
    main()
