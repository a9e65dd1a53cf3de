"""docs/formats.md says what is: its examples are read as it says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import obep
from obep.config.toml_file import load_config
from obep.formats import read_items
from obep.formats.record_mapping import make_mapping
from obep.formats.units import ALIASES, TABLE
from obep.model import Item
from obep.output.rdf_writer import to_rdf

TEXT = (Path(__file__).parents[2] / "docs" / "formats.md").read_text()


def blocks(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", TEXT, re.DOTALL)


@pytest.mark.parametrize("block", blocks("toml"))
def test_every_configuration_is_accepted(block: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("MQTT_PASSWORD", "x")
    monkeypatch.setenv("HOOK_TOKEN", "x")
    (tmp_path / "thermo.jsonld").write_text('{"@context": {"@vocab": "http://example.org/shop#"}}')
    (tmp_path / "obep.toml").write_text(block)
    config = load_config(None, tmp_path)
    for name in config.sources:
        if (found := config.mapping_of(name)) is not None:
            make_mapping(*found)


def test_the_mapping_maps() -> None:
    import tomllib

    settings = tomllib.loads(next(block for block in blocks("toml") if "template" in block))
    mapping = make_mapping(settings["sources"]["readings"]["mapping"], "m")
    record = b'{"device": 2, "temp": 14, "unit": "degF", "door": "open", "ts": 1500, "fan": {}}'
    [item] = read_items(
        record, "json", "s", mapping=mapping, extra={"_levels": ["shop", "aisle 3", "freezer"]}
    )
    assert isinstance(item, Item), item
    assert item.at == 1_500_000
    assert [(p[1:-1].split("#")[1], o) for _, p, o in item.triples] == [
        ("celsius", '"-10.0"^^<http://www.w3.org/2001/XMLSchema#double>'),
        ("door", '"open"'),
        ("note", '"in aisle 3"'),
    ]


def test_the_json_lines_are_items() -> None:
    items, changes = (list(read_items(block.encode(), "jsonl")) for block in blocks("json"))
    assert [i.stream for i in items if isinstance(i, Item)] == ["doors", "doors"]
    place = [
        (f"<urn:s{n}>", "<urn:in>", f"<urn:{where}>") for n, where in ((9, "lab"), (1, "lab"), (9, "hall"))
    ]
    assert [(i.triples, i.removed) for i in changes if isinstance(i, Item)] == [
        ((place[0],), (place[1],)),
        ((place[2],), (place[0],)),
    ]


def test_an_occurrence_has_the_keys_that_are_shown_and_says_whom_it_happened_to() -> None:
    import obep

    [shown] = [block for block in blocks("text") if '"because"' in block]
    shop = "http://example.org/shop#"
    query = obep.load(
        text=f"PREFIX : <{shop}>\nEVENT TooWarm AS (celsius some number[> -10])\nRETURN TooWarm"
    )
    [hit] = query.engine().push(f"<{shop}fridge-2> <{shop}celsius> -8.5 .", at=3)
    record = hit.to_json()
    [cause] = record["because"]
    assert re.findall(r'"(\w+)":', shown) == [*record, *cause]
    assert cause["individual"] == f"{shop}fridge-2" and f'"individual": "{shop}fridge-2"' in shown


def test_the_trig_is_an_item() -> None:
    [block] = blocks("turtle")
    names = {
        "": "http://e/",
        "prov": "http://www.w3.org/ns/prov#",
        "xsd": "http://www.w3.org/2001/XMLSchema#",
    }
    prefixes = "".join(f"@prefix {name}: <{iri}> .\n" for name, iri in names.items())
    [item] = read_items((prefixes + block).encode(), "trig", "s")
    assert isinstance(item, Item)
    assert item.name == "<http://e/g1>"


def test_the_mapping_of_two_kinds_of_devices_maps_both() -> None:
    import tomllib

    settings = tomllib.loads(next(block for block in blocks("toml") if "{probe?}" in block))
    mapping = make_mapping(settings["sources"]["all"]["mapping"], "m")
    lines = b'{"probe": "p1", "ts": 1, "temp": 2.5}\n{"door": "d1", "ts": 2, "pos": "open"}\n'
    items = [item for item in read_items(lines, "jsonl", mapping=mapping) if isinstance(item, Item)]
    shop = "http://example.org/shop#"
    assert [[(s, p) for s, p, _ in item.triples] for item in items] == [
        [(f"<{shop}p1>", f"<{shop}celsius>")],
        [(f"<{shop}d1>", f"<{shop}state>")],
    ]


def test_every_unit_is_named_beside_its_dimension() -> None:
    rows = dict(re.findall(r"^\| (\w+) \| ((?:`[^`]+` ?)+) \|$", TEXT, re.MULTILINE))
    for name in (*TABLE, *ALIASES):
        assert f"`{name}`" in rows[TABLE[ALIASES.get(name, name)].dimension].split()


def test_an_occurrence_that_is_read_back_leads_to_whom_it_happened_to() -> None:
    """By `CONSTRUCT { ?this :about ?f . }` in the one query and `inverse about some Spoil` in the other."""
    head = "PREFIX : <http://e/>\n"
    first = obep.load(
        text=f"{head}FROM STREAM <s>\n"
        "EVENT Warm AS (c some number[> 5])\nEVENT Cold AS (c some number[< 5])\n"
        "EVENT Spoil(?f) MATCH Warm(?f) NEXT Cold(?f) WITHIN 1 h CONSTRUCT { ?this :about ?f . }\n"
        "RETURN Spoil"
    )
    second = obep.load(
        text=f"{head}FROM STREAM <back>\nEVENT SpoiledAt AS (inverse about some Spoil)\n"
        "EVENT Twice(?f) MATCH SpoiledAt(?f) AS once SEQ SpoiledAt(?f) AS again WITHIN 1 h\nRETURN Twice"
    )
    told = [("x", 9), ("y", 9), ("x", 1), ("y", 1), ("x", 8), ("x", 2)]
    quads = ""
    with first.engine() as engine:
        for at, (who, celsius) in enumerate(told):
            hits = engine.push(f"<http://e/{who}> <http://e/c> {celsius} .", at=at)
            quads += "".join(to_rdf(hit, format="nquads") for hit in hits)
    with second.engine() as engine:
        found = engine.push_items(read_items(quads.encode(), "nquads", "back")) + engine.close()
    assert [(hit.start, hit.end, hit.bindings) for hit in found] == [
        (2_000_000, 5_000_000, ({"f": "<http://e/x>"},))
    ]


def test_the_lines_of_a_case_are_expectations(tmp_path: Path) -> None:
    from obep.run.case_comparison import difference
    from obep.run.cases import expected

    [block] = blocks("jsonl")
    (tmp_path / "expected.jsonl").write_text(block)
    wanted = expected(tmp_path / "expected.jsonl")
    shop = "http://example.org/shop#"
    warm = {"event": f"{shop}TooWarm", "id": "urn:x", "detected": 3, "bindings": [], "because": []}
    spoiling = {**warm, "event": f"{shop}Spoiling", "bindings": [{"freezer": f"<{shop}fridge-2>"}]}
    found = [
        {**spoiling, "start": 1, "end": 2},
        {**warm, "start": 3, "end": 3},
        {**warm, "start": 9, "end": 9},
    ]
    assert difference(found, wanted) == []
    assert difference(found[:2], wanted) and difference([*found, found[1]], wanted)
