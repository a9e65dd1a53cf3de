"""Records that a template has filled in come back from the log as the items that they are."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import msgspec
from hypothesis import given
from hypothesis import strategies as st
from serve.conftest import Local, Open
from serve.test_service_kills import killed

from obep.formats import read_items
from obep.formats.record_mapping import make_mapping
from obep.formats.tables.mapped_records import Mapped
from obep.model import DeadLetter, Item
from obep.serve.entries import Acted, Came, packed, unpacked
from obep.serve.logged_items import logged_items
from obep.serve.write_log import WriteLog

TEMPLATES = (
    ":{id} :hot {hot} .",
    ':{id} a :Point ; :hot {hot} ; :note "{note?}, at {t}" ; :hot {hot} .',
    ":{id} :in :{room?} . :{room?} :hot {hot} .",
)
RECORDS = st.lists(
    st.fixed_dictionaries(
        {"t": st.integers(0, 9), "id": st.sampled_from(("a", "b c", "é", 7)), "hot": st.booleans()},
        optional={"note": st.sampled_from(('"', "x\n", "ü")), "room": st.sampled_from(("r", ""))},
    ),
    max_size=8,
)
ODD = st.lists(
    st.sampled_from((b"{}", b"[", b'{"t": "1970-01-01T00:00:03Z", "id": "z", "hot": true}')), max_size=2
)


@given(st.sampled_from(TEMPLATES), RECORDS, ODD)
def test_what_is_logged_is_what_came(template: str, records: list[dict[str, Any]], odd: list[bytes]) -> None:
    lines = b"\n".join([b'{"t": 0, "id": "x", "hot": true}', *odd, *map(msgspec.json.encode, records)])
    mapping = make_mapping({"template": template, "time": "t", "prefixes": {"": "http://e/"}}, "mapping")
    lazy, plain = (
        list(read_items(lines, "jsonl", "points", source="points", mapping=mapping, lazily=lazily))
        for lazily in (True, False)
    )
    came = Came.of(lazy, "integer")
    [again] = unpacked(packed([came]))
    assert isinstance(again, Came)
    assert again.as_items() == [one for one in plain if not isinstance(one, DeadLetter)]
    assert again.letters == came.letters == [one for one in plain if isinstance(one, DeadLetter)]
    assert again.accepted == came.accepted == len(again.as_items())


MAPPED = """[sources.points]
mapping = "points"
[mappings.points]
time = "t"
prefixes = { "" = "http://e/" }
template = ":{id} :hot {hot} ."
[serve]
snapshot = "1 h"
"""


def test_many_small_frames_are_answered_each_and_a_replay_finds_the_same(local: Open, project: Path) -> None:
    service = local(MAPPED)
    with service.socket("/streams/points") as socket:
        for n in range(40):
            hot = "true" if n % 3 else "false"
            socket.send_text(f'{{"t": {n // 2}, "id": "p{n % 5}", "hot": {hot}}}\n' + "{}\n" * (n % 10 == 9))
        answers = [socket.receive_json() for _ in range(40)]
    assert [one["frame"] for one in answers] == list(range(40))
    assert [one["accepted"] for one in answers] == [1] * 40
    assert [one["refused"] for one in answers] == [int(n % 10 == 9) for n in range(40)]
    numbers = [one["next"] for one in answers]
    assert numbers == sorted(numbers)
    logged = service.service.log.history()
    assert any(one.filled for _, body in logged for one in unpacked(body) if isinstance(one, Came))
    found = service.client.get("/events?limit=1000").json()
    assert numbers[-1] == found["next"]
    letters = service.client.get("/dead-letters").text
    one_by_one = Local(_beside(project))
    try:
        for n in range(40):
            hot = "true" if n % 3 else "false"
            one_by_one.post(f'{{"t": {n // 2}, "id": "p{n % 5}", "hot": {hot}}}\n')
        assert one_by_one.client.get("/events?limit=1000").json() == found
    finally:
        one_by_one.stop()
    again = Local(killed(service, project))
    try:
        assert again.client.get("/events?limit=1000").json() == found
        assert again.client.get("/dead-letters").text == letters
    finally:
        again.stop()


def _beside(project: Path) -> Path:
    """The same project with a state of its own."""
    folder = project.parent / "beside"
    folder.mkdir()
    for name in ("query.obep", "obep.toml"):
        (folder / name).write_text((project / name).read_text())
    return folder


def test_an_odd_record_among_mapped_ones_keeps_its_place() -> None:
    mapping = make_mapping(
        {"template": ":{id} :hot {hot} .", "time": "t", "prefixes": {"": "http://e/"}}, "m"
    )
    times = (b"0", b"1", b'"1970-01-01T00:00:02Z"', b"3")
    lines = b"\n".join(b'{"t": %b, "id": "x", "hot": true}' % at for at in times)
    read = list(read_items(lines, "jsonl", "points", source="points", mapping=mapping, lazily=True))
    assert {type(one) for one in read} > {Mapped}
    [again] = unpacked(packed([Came.of(read, None)]))
    assert isinstance(again, Came)
    assert [one.at // 1_000_000 for one in again.as_items()] == [0, 1, 2, 3]


def test_an_action_is_an_item_at_the_watermark_of_then(tmp_path: Path) -> None:
    came = [Came.of([Item("points", at, ())], "integer") for at in (-90, -70, -80)]
    acted = Acted(alert="urn:a", action="ack", by="ann", wall=5)
    log = WriteLog(tmp_path)
    for changes in ([acted, came[0]], [came[1], came[2], acted], [acted]):
        log.append(packed(changes))
    found = [(one.stream, one.at) for one in logged_items(log, lateness=2)]
    assert found == [
        ("points", -90), ("points", -80), ("acks", -72), ("acks", -72), ("points", -70), ("acks", 5),
    ]  # fmt: skip
    assert [one.at for one in logged_items(log, 2, before=(1, 2))] == [-90, -80, -70, 5]
