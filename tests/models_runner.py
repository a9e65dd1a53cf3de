"""Runs the SHACL rules of Brick and 223P on small models: `python tests/models_runner.py DIR [--pyshacl]`.

DIR is the folder `ontologies` of PyPI's `brickschema` (`pip download --no-deps brickschema`, unpacked). For
each model it prints how many rules were read and not read, the triples that they add, processor time and
memory. With `--pyshacl` the same is computed by pyshacl and compared; exit status 1 if a triple differs.
Blank nodes that rules make are counted, not compared. The files are not part of this repository.
"""

from __future__ import annotations

import re
import resource
import sys
import time
import warnings
from collections.abc import Callable, Iterable
from pathlib import Path

from obep.model import Triple
from obep.ontology.owl.load import _parse, read_rdf
from obep.ontology.shacl.read_rules import read_rules
from obep.ontology.shacl.read_shapes import ShapeReader
from obep.ontology.shacl.run_rules import RuleRun
from obep.ontology.shacl.triple_index import TripleIndex

BUILDING = """@prefix brick: <https://brickschema.org/schema/Brick#> . @prefix : <http://example.org/b#> .
@prefix unit: <http://qudt.org/vocab/unit/> .
:b a brick:Building ; brick:hasPart :f1 . :f1 a brick:Floor ; brick:hasPart :r1, :r2 .
:r1 a brick:Room . :r2 a brick:Room .
:ahu a brick:AHU ; brick:feeds :vav1, :vav2 ; brick:hasPoint :sat .
:vav1 a brick:VAV ; brick:feeds :z1 ; brick:hasPoint :zt1 . :vav2 a brick:VAV ; brick:feeds :z2 .
:z1 a brick:HVAC_Zone ; brick:hasPart :r1 . :z2 a brick:HVAC_Zone ; brick:hasPart :r2 .
:zt1 a brick:Zone_Air_Temperature_Sensor ; brick:hasUnit unit:DEG_C ; brick:isPointOf :z1 .
:sat a brick:Supply_Air_Temperature_Sensor . :m a brick:Electrical_Meter ; brick:meters :b .
:ev a brick:Electric_Vehicle_Charging_Station .
"""
TAGGED = """@prefix brick: <https://brickschema.org/schema/Brick#> . @prefix : <http://example.org/b#> .
@prefix tag: <https://brickschema.org/schema/BrickTag#> .
:r brick:hasTag tag:Ablutions, tag:Location, tag:Room, tag:Space .
:h brick:hasTag tag:Absolute, tag:Air, tag:Humidity, tag:Point, tag:Sensor .
:c brick:hasTag tag:Absorption, tag:Chiller, tag:Equipment .
:x brick:hasTag tag:Absorption, tag:Chiller .
"""
PLANT = """@prefix s223: <http://data.ashrae.org/standard223#> . @prefix : <http://example.org/p#> .
:fan a s223:Fan ; s223:hasConnectionPoint :out .
:out a s223:OutletConnectionPoint ; s223:connectsThrough :duct .
:duct a s223:Duct ; s223:connectsAt :out, :in . :in a s223:InletConnectionPoint ; s223:connectsThrough :duct .
:coil a s223:CoolingCoil ; s223:hasConnectionPoint :in . :out s223:hasMedium s223:Fluid-Air .
:sensor a s223:TemperatureSensor ; s223:observes :t . :fan s223:hasProperty :t .
:t a s223:QuantifiableObservableProperty .
"""
MODELS = (
    ("Brick 1.3", ("1.3/Brick.ttl",), BUILDING),
    ("Brick 1.4", ("1.4/Brick.ttl",), BUILDING),
    ("Brick 1.5", ("1.5/Brick.ttl",), BUILDING),
    ("tags of Brick 1.5", ("1.5/extensions/brick_extension_shacl_tag_inference.ttl",), TAGGED),
    ("223P of Brick 1.5", ("1.5/extensions/223p.ttl",), PLANT),
)


def by_re(pattern: str, flags: str) -> Callable[[str], bool]:
    return lambda text: re.search(pattern, text) is not None


def by_obep(files: Iterable[Path], model: str) -> tuple[set[Triple], str]:
    """What the rules add, and a line about it."""
    begin = time.process_time()
    graph = TripleIndex(triple for path in files for triple in read_rdf(path))
    graph.update(_parse(model.encode(), "turtle"))
    rules, unread = read_rules(ShapeReader(graph, by_re))
    found = set(RuleRun(rules, graph).run())
    took = time.process_time() - begin
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024
    reasons = "".join(f"\n    not read: {one.shape}: {one.reason}" for one in unread)
    return (
        found,
        f"{len(rules)} rules, {len(found)} triples added, {took:.1f} s, at most {memory} MB{reasons}",
    )


def by_pyshacl(files: Iterable[Path], model: str) -> tuple[set[Triple], str]:
    """The same by pyshacl, until it adds nothing."""
    import pyshacl
    import rdflib

    begin = time.process_time()
    shapes = rdflib.Graph()
    for path in files:
        shapes.parse(path)
    data = rdflib.Graph()
    data += shapes
    data.parse(data=model, format="turtle")
    before, size = set(data), -1
    while size != len(data):
        size = len(data)
        pyshacl.shacl_rules(data, shacl_graph=shapes, advanced=True, iterate_rules=True, inplace=True)
    new = rdflib.Graph()
    for triple in set(data) - before:
        new.add(triple)
    found = set(_parse(new.serialize(format="nt").encode(), "ntriples"))
    return found, f"pyshacl: {len(found)} triples added, {time.process_time() - begin:.1f} s"


def _named(triples: set[Triple]) -> set[Triple]:
    return {one for one in triples if not one[0].startswith("_") and not one[2].startswith("_")}


def main(folder: Path, *, compare: bool, wanted: list[str]) -> int:
    wrong = 0
    for name, paths, model in MODELS:
        files = [folder / path for path in paths]
        if wanted and name not in wanted:
            continue
        if not all(path.exists() for path in files):
            print(f"{name}: {', '.join(paths)} is not in {folder}")
            continue
        ours, said = by_obep(files, model)
        print(f"{name}: {said}", flush=True)
        if compare:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")
                theirs, said = by_pyshacl(files, model)
            more, less = _named(ours) - _named(theirs), _named(theirs) - _named(ours)
            print(f"    {said}; only obep {len(more)}, only pyshacl {len(less)}", flush=True)
            for one in sorted(more | less)[:20]:
                print(f"    {'only obep' if one in more else 'only pyshacl'}: {' '.join(one)}")
            wrong += bool(more or less or len(ours) != len(theirs))
    return 1 if wrong else 0


if __name__ == "__main__":
    names = [one for one in sys.argv[2:] if not one.startswith("--")]
    sys.exit(main(Path(sys.argv[1]), compare="--pyshacl" in sys.argv, wanted=names))
