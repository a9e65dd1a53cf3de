"""How long a change of ten triples takes: `python bench/knowledge_changes.py 10000 [rules]`, the size of K.

It prints the processor time of the first change (which makes what later ones use), of later ones, and of the
item after each, which is judged anew. With `rules` there are five SHACL rules: two are axioms of OWL, two are
DL-safe rules, and one has a negation, and reads nothing that the changes say.
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
RULES = """
@prefix sh: <http://www.w3.org/ns/shacl#> . @prefix rdf: <http://www.w3.org/1999/02/22-rdf-syntax-ns#> .
:Near a owl:Class . :Twin a owl:Class . :Top a owl:Class . :beside a owl:ObjectProperty .
:hosts a owl:ObjectProperty . :on a owl:ObjectProperty .
<urn:o> sh:declare [ sh:prefix "" ; sh:namespace "urn:" ] .
:S1 sh:targetClass :Sensor ; sh:rule
    [ a sh:TripleRule ; sh:subject [ sh:path :in ] ; sh:predicate :hosts ; sh:object sh:this ] ,
    [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate :on ; sh:object [ sh:path ( :in :partOf ) ] ] ,
    [ a sh:SPARQLRule ; sh:prefixes <urn:o> ;
      sh:construct "CONSTRUCT { $this a :Near } WHERE { $this :in ?r ; :by ?x . ?x :in ?r }" ] .
:S2 sh:targetClass :Lab ; sh:rule
    [ a sh:SPARQLRule ; sh:prefixes <urn:o> ;
      sh:construct "CONSTRUCT { $this a :Twin } WHERE { $this :beside ?r . ?r :beside $this }" ] .
:S3 sh:targetClass :Floor ; sh:rule
    [ a sh:TripleRule ; sh:subject sh:this ; sh:predicate rdf:type ; sh:object :Top ;
      sh:condition [ sh:property [ sh:path :beside ; sh:maxCount 0 ] ] ] .
"""
QUERY = """
PREFIX : <urn:>
VOCAB <t.ttl>
FROM GRAPH <k.nt>
FROM STREAM <s>
EVENT InLab AS :by some (:partOf some :Lab)
RETURN ALL
"""
FOUND = "EVENT Close AS :Near and (:in some :Lab)\nEVENT OnFloor AS :by some (:on some :Floor)\nRETURN"
WITH_RULES = QUERY.replace("RETURN", FOUND)


def main(size: int, *, rules: bool = False) -> None:
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder)
        (home / "t.ttl").write_text(T + RULES if rules else T)
        (home / "q.obep").write_text(WITH_RULES if rules else QUERY)
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
    main(int(sys.argv[1]), rules="rules" in sys.argv[2:])
