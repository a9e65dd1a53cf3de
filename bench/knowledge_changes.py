"""How long a change of ten triples takes: `python bench/knowledge_changes.py 10000`, the size of K.

It prints the processor time of the first change (which makes what later ones use), of later ones, and of the
item after each, which is judged anew.
"""

from __future__ import annotations

import statistics
import sys
import tempfile
from pathlib import Path
from time import process_time

import obep

T = """
@prefix : <urn:> . @prefix owl: <http://www.w3.org/2002/07/owl#> .
@prefix rdfs: <http://www.w3.org/2000/01/rdf-schema#> .
<urn:o> a owl:Ontology . :Sensor a owl:Class . :Room a owl:Class . :Lab a owl:Class ; rdfs:subClassOf :Room .
:Floor a owl:Class . :in a owl:ObjectProperty . :partOf a owl:ObjectProperty , owl:TransitiveProperty .
:in rdfs:subPropertyOf :partOf . :by a owl:ObjectProperty . :Cold a owl:Class ; owl:disjointWith :Lab .
"""
QUERY = """
PREFIX : <urn:>
VOCAB <t.ttl>
FROM GRAPH <k.nt>
FROM STREAM <s>
EVENT InLab AS :by some (:partOf some :Lab)
RETURN ALL
"""


def main(size: int) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "t.ttl").write_text(T)
        (home / "q.obep").write_text(QUERY)
        a = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
        with (home / "k.nt").open("w") as file:
            for n in range(size // 3):
                file.write(f"<urn:s{n}> {a} <urn:Sensor> .\n<urn:s{n}> <urn:in> <urn:r{n // 10}> .\n")
                if n % 10 == 0:
                    file.write(f"<urn:r{n // 10}> {a} <urn:Lab> .\n")
                    file.write(f"<urn:r{n // 10}> <urn:partOf> <urn:f{n // 1000}> .\n")
        query = obep.load(home / "q.obep")
        engine = query.engine()
        times: dict[str, list[float]] = {"change": [], "item": []}
        for n in range(30):
            engine.push(f"<urn:x> <urn:by> <urn:s{n}> .", 2 * n + 1)
            new = "".join(f"<urn:n{n}> <urn:in> <urn:r{n + m}> ." for m in range(5))
            old = "".join(f"<urn:s{20 * n + m}> <urn:in> <urn:r{(20 * n + m) // 10}> ." for m in range(5))
            start = process_time()
            engine.update(new, old, 2 * n + 2)
            engine.advance(2 * n + 2)  # the change waits for its instant
            middle = process_time()
            engine.push(f"<urn:x> <urn:by> <urn:n{n}> .", 2 * n + 2)
            times["change"].append(middle - start)
            times["item"].append(process_time() - middle)
        assert engine.counters["changes"] == 30 and "missing_deletes" not in engine.counters
        print(f"{len(query.bundle.k)} triples: first change {times['change'][0] * 1000:.1f} ms")
        for name, some in times.items():
            middle, most = (figure * 1000 for figure in (statistics.median(some[1:]), max(some[1:])))
            print(f"  {name}: median {middle:.2f} ms, most {most:.2f} ms")


if __name__ == "__main__":
    main(int(sys.argv[1]))
