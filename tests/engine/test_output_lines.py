"""A line of JSON, and the id in it: written from pieces that are kept, the same as if written anew."""

from __future__ import annotations

import json
from hashlib import blake2b

from engine_cases import engine, ttl

from obep.formats.timestamps import show_instant
from obep.model import EagerOccurrence, Occurrence, Part, Term
from obep.output.json_writer import to_line

E = "http://e/#"
ODD = '"quo\\"te \\\\ tab\\t é \U0001f600 \x7f"'
"""A literal with all that JSON writes in its own way, and some that it does not."""


def leaf(name: str, at: int, *objects: Term, known: bool = False) -> Occurrence:
    subject = f"<{E}{name.lower()}>"
    seen = tuple(((subject, f"<{E}p>", o), None if known else at) for o in sorted(objects))
    return EagerOccurrence(f"<{E}{name}>", subject, seen, at, at, at, at)


def whole(*parts: Part, bindings: tuple[dict[str, Term], ...] = ()) -> Occurrence:
    held = [part.occurrence for part in parts if not part.context]
    seen = tuple(sorted({one for o in held for one in o.explanation}))
    start, end = min(o.start for o in held), max(o.end for o in held)
    return EagerOccurrence(
        f"<{E}H>", "", seen, start, end, end, start, parts=parts, bindings=bindings, partition=(f"<{E}room>",)
    )


def expected_part(part: Part, style: str) -> dict[str, object]:
    o = part.occurrence
    record: dict[str, object] = {
        "event": o.event[1:-1],
        "alias": part.alias,
        "individual": o.individual[1:-1],
        "start": show_instant(o.start, style),  # type: ignore[arg-type]
        "end": show_instant(o.end, style),  # type: ignore[arg-type]
        "assertions": [f"{s} {p} {o} ." for (s, p, o), _ in o.explanation],
    }
    if any(at != o.end for _, at in o.explanation):
        record["seen"] = [None if at is None else show_instant(at, style) for _, at in o.explanation]  # type: ignore[arg-type]
    return record | ({"context": True} if part.context else {})


def expected_id(o: Occurrence) -> str:
    leaves = sorted(part.occurrence.individual for part in o.parts if not part.context)
    digest = blake2b(digest_size=16)
    for piece in (o.event, str(o.start), str(o.end), *o.partition, "|", *leaves, "|"):
        digest.update(piece.encode() + b"\0")
    for (s, p, obj), at in o.explanation:
        digest.update(f"{s} {p} {obj} {'' if at is None else at}\0".encode())
    return f"urn:obep:H:{digest.hexdigest()}"


def expected(o: Occurrence, style: str) -> str:
    record = {
        "event": f"{E}H",
        "id": expected_id(o),
        "start": show_instant(o.start, style),  # type: ignore[arg-type]
        "end": show_instant(o.end, style),  # type: ignore[arg-type]
        "detected": show_instant(o.detected, style),  # type: ignore[arg-type]
        "bindings": list(o.bindings),
        "because": [expected_part(part, style) for part in o.parts],
    }
    return json.dumps(record, ensure_ascii=False, separators=(",", ":"))


def test_a_line_is_what_the_standard_library_would_write():
    a, b = leaf("A", 1_500_000, ODD, f"<{E}x>"), leaf("B", 3_000_000, '"5"')
    hit = whole(Part("A", a), Part("b", b), bindings=({"v": ODD}, {"v": '"5"', "w": f"<{E}x>"}))
    assert to_line(hit) == expected(hit, "integer")
    assert to_line(hit, "iso") == expected(hit, "iso")
    assert hit.to_json() == json.loads(expected(hit, "integer"))


def test_what_is_kept_of_a_part_serves_every_alias_style_and_context():
    a, b, c = (
        leaf("A", 1_000_000, '"1"'),
        leaf("B", 2_000_000, '"2"'),
        leaf("C", 1_000_000, '"3"', known=True),
    )
    for style in ("integer", "iso", "integer"):
        for hit in (
            whole(Part("A", a), Part("B", b)),
            whole(Part("B", b), Part("other", a, True), Part("C", c)),
        ):
            assert to_line(hit, style) == expected(hit, style)


def test_a_composite_that_is_nothing_but_a_rest_keeps_its_id_in_a_snapshot():
    """Its id is what NOT leaves, and no leaf has an individual: it cannot be worked out from its parts."""
    query = "EVENT A AS ClassA\nEVENT B AS ClassB\nEVENT N MATCH NOT A\nEVENT H MATCH N SEQ B\nRETURN N, H"
    straight, before, after = engine(query), engine(query), engine(query)
    first, second = (ttl(":x a :ClassC ."), 1), (ttl(":y a :ClassB ."), 2)
    hits = [hit for graph, at in (first, second) for hit in straight.push(graph, at=at)] + straight.close()
    before.push(*first)
    before.advance(1.5)
    after.restore(before.snapshot())
    again = after.push(*second) + after.close()
    assert {hit.id for hit in again if hit.parts} == {hit.id for hit in hits if hit.parts}
    [one], [other] = [[hit for hit in found if hit.parts] for found in (hits, again)]
    assert [part.occurrence.id for part in other.parts] == [part.occurrence.id for part in one.parts]
