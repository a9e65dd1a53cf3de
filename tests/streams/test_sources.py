"""Sources that need no broker: files, pipes, folders, TCP; and several of them as one."""

from __future__ import annotations

import gzip
import os
import socket
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from threading import Event, Thread

import pytest

from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.formats.input_limits import Limits
from obep.formats.stream_reader import Reading
from obep.model import DeadLetter, Item
from obep.streams.sources.arriving_lines import Arriving
from obep.streams.sources.batches import Batch, Source
from obep.streams.sources.files import FileSource, FolderSource, PipeSource
from obep.streams.sources.merge import Turn, merged
from obep.streams.sources.open_sources import open_source
from obep.streams.stream_uri import parse_address


def line(time: int, stream: str = "s") -> str:
    return f'{{"stream": "{stream}", "time": {time}, "graph": ""}}\n'


def times(batches: Iterator[Batch]) -> list[object]:
    return [r.at // 1_000_000 if isinstance(r, Item) else r.code for batch in batches for r in batch.records]


@pytest.fixture
def config(tmp_path: Path) -> Config:
    return Config(tmp_path)


@pytest.mark.parametrize("name", ["a.jsonl", "a.jsonl.gz", "a.ndjson"])
def test_a_file_is_read_by_its_ending(config: Config, name: str) -> None:
    data = "".join(map(line, range(600))).encode()
    path = config.folder / name
    path.write_bytes(gzip.compress(data) if name.endswith(".gz") else data)
    source = open_source("", str(path), config)
    assert times(source.batches({})) == list(range(600))
    assert times(source.batches({"records": 590})) == list(range(590, 600))


def test_positions_count_records_and_going_on_from_any_gives_the_rest(config: Config) -> None:
    path = config.folder / "a.jsonl"
    path.write_text("".join(line(n) if n % 7 else "\nbroken\n" for n in range(1, 700)))
    source = open_source("", str(path), config)
    everything = times(source.batches({}))
    for batch in list(source.batches({})):
        rest = times(source.batches(batch.position))
        assert rest == everything[len(everything) - len(rest) :]
    assert len(everything) == 699


def test_a_gzip_bomb_stops_and_says_so(config: Config) -> None:
    path = config.folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(b"x" * 80 + b"\n" + b"0" * (4 << 20)))
    small = Config(config.folder, limits=Limits(item_bytes=1000, gzip_free_bytes=1 << 16, gzip_ratio=100))
    assert times(open_source("", str(path), small).batches({})) == ["OBEP600", "OBEP608"]
    lenient = Config(config.folder, limits=Limits(item_bytes=1000, gzip_ratio=100))
    assert times(open_source("", str(path), lenient).batches({})) == ["OBEP600", "OBEP605"]


@pytest.mark.parametrize("cut", [5, 30])
def test_a_torn_gzip_file_gives_what_it_has_and_a_dead_letter(config: Config, cut: int) -> None:
    path = config.folder / "a.jsonl.gz"
    data = gzip.compress("".join(map(line, range(50))).encode())
    path.write_bytes(data[:-cut])
    assert times(open_source("", str(path), config).batches({}))[-1] == "OBEP608"
    path.write_bytes(b"no gzip at all")
    assert times(open_source("", str(path), config).batches({})) == ["OBEP608"]


def test_members_of_a_gzip_file_follow_one_another(config: Config) -> None:
    path = config.folder / "a.jsonl.gz"
    path.write_bytes(gzip.compress(line(1).encode()) + gzip.compress(line(2).encode()) + b"\0" * 10)
    assert times(open_source("", str(path), config).batches({})) == [1, 2]


def test_a_name_binds_and_a_stream_is_for_records_without_one(config: Config) -> None:
    (config.folder / "a.jsonl").write_text(line(1, "x") + '{"time": 2, "graph": ""}\n')
    path = str(config.folder / "a.jsonl")

    def streams(source: Source) -> list[str]:
        return [r.stream for batch in source.batches({}) for r in batch.records]

    assert streams(open_source("doors", path, config)) == ["doors", "doors"]
    assert streams(open_source("", path, config, stream="doors")) == ["x", "doors"]


def test_settings_of_a_source_come_from_the_configuration(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text("""
        [sources.thermo]
        uri = "data/thermo"
        format = "csv"
        missing_time = "arrival"
        [sources.thermo.mapping]
        template = "<http://e/{id}> <http://e/t> {t:double} ."
        time = "ts"
        unit = "ms"
    """)
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "thermo").write_text("id,t,ts\na,21.5,1500\nb,x,1500\nc,1,\n")
    config = load_config(None, tmp_path)
    source = open_source("thermo", config.sources["thermo"]["uri"].reveal(), config, trusted=False)
    [batch] = source.batches({})
    first, second, third = batch.records
    assert isinstance(first, Item)
    assert (first.stream, first.at, len(first.triples)) == ("thermo", 1_500_000, 1)
    assert isinstance(second, DeadLetter)
    assert second.reason.startswith("t: ")
    assert isinstance(third, Item)


def test_a_file_that_is_not_there_is_answered_with_who_names_it_and_the_nearest(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text('[sources.climate]\nuri = "data/climat.jsonl"\n')
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "climate.jsonl").touch()
    (tmp_path / "data" / "doors.csv").touch()
    config = load_config(None, tmp_path)
    for trusted, uri in ((False, "data/climat.jsonl"), (True, f"{tmp_path}/data/climat.jsonl")):
        with pytest.raises(ObepError) as caught:
            open_source("climate", uri, config, trusted=trusted)
        [found] = caught.value.diagnostics
        assert found.code == "OBEP550"
        assert found.message.startswith(f"{tmp_path}/data/climat.jsonl cannot be read: ")
        named = "" if trusted else f"It is named by sources.climate.uri in {tmp_path}/obep.toml."
        assert found.reason == named
        assert found.remedy == (f"{tmp_path}/data/climate.jsonl" if trusted else "climate.jsonl")


@pytest.mark.parametrize(
    ("name", "trusted", "remedy"),
    [
        ("probes", True, "--source probes=dir:{}"),
        ("", True, "--source dir:{}"),
        ("probes", False, 'uri = "dir:{}"'),
    ],
)
@pytest.mark.parametrize("folder", ["d", "d.jsonl"])
def test_a_folder_that_is_given_as_a_file_is_told_how_it_is_read(
    config: Config, folder: str, name: str, trusted: bool, remedy: str
) -> None:
    path = config.folder / folder
    path.mkdir()
    with pytest.raises(ObepError) as caught:
        open_source(name, str(path), config, trusted=trusted)
    [found] = caught.value.diagnostics
    assert (found.code, found.message) == ("OBEP550", f"{path} is a folder")
    assert found.remedy == remedy.format(path)


def test_standard_input_may_be_compressed(config: Config) -> None:
    data = BytesIO(gzip.compress(line(1).encode()))
    source = PipeSource("", "-.jsonl.gz", Reading(), raw=data)
    assert times(source.batches({})) == [1]


@pytest.mark.parametrize(
    ("uri", "code"),
    [
        ("missing.jsonl", "OBEP550"),
        ("a.docx", "OBEP510"),
        ("dir:missing", "OBEP550"),
        ("tcp://127.0.0.1", "OBEP512"),
        ("tcp://127.0.0.1:1", "OBEP552"),
        ("tcp://127.0.0.1:x", "OBEP512"),
        ("mqtt://127.0.0.1:1/topic", "OBEP552"),
        ("mqtt://127.0.0.1", "OBEP512"),
        ("ftp://host/file", "OBEP512"),
        ("https://host/file", "OBEP512"),
        ("exec:ls", "OBEP512"),
    ],
)
def test_what_cannot_be_opened_is_an_error_with_its_code(config: Config, uri: str, code: str) -> None:
    (config.folder / "a.docx").write_text("")
    target = f"{config.folder}/{uri}" if "." in uri and ":" not in uri else uri
    with pytest.raises(ObepError) as caught:
        open_source("", target, config)
    assert caught.value.code == code


def test_a_file_that_the_configuration_names_lies_below_it(config: Config) -> None:
    with pytest.raises(ObepError) as caught:
        open_source("s", "/etc/passwd", config, trusted=False)
    assert caught.value.code == "OBEP505"


def test_a_missing_package_is_named_with_the_command_that_brings_it(
    config: Config, monkeypatch: pytest.MonkeyPatch
) -> None:
    import sys

    for module in ("paho.mqtt.client", "paho.mqtt", "paho", "confluent_kafka"):
        monkeypatch.setitem(sys.modules, module, None)
    for uri, extra in (("mqtt://h/t", "obep[mqtt]"), ("kafka://h/t", "obep[kafka]")):
        with pytest.raises(ObepError) as caught:
            open_source("", uri, config)
        assert caught.value.code == "OBEP551"
        assert extra in str(caught.value)


def test_passwords_in_uris_are_not_shown() -> None:
    address = parse_address("mqtt://me:hush@[::1]:1884/a/+/#?qos=0")
    assert (address.host, address.port, address.path) == ("::1", 1884, "a/+/#")
    assert (address.username, address.password, address.option("qos")) == ("me", "hush", "0")
    assert "hush" not in repr(address) + address.shown


# ── Pipes, folders, TCP ───────────────────────────────────────────────────────────────────────────


def test_a_pipe_gives_each_line_as_it_arrives() -> None:
    receive, send = os.pipe()
    with open(receive, "rb", 0) as raw:
        batches = PipeSource("-", "-", Reading(arrival=lambda: 7_000_000), raw=raw).batches({})  # type: ignore[arg-type]
        os.write(send, (line(1) + line(2) + line(3)[:10]).encode())
        assert times(iter([next(batches)])) == [1, 2], "both whole lines, and no waiting for the third"
        os.write(send, (line(3)[10:]).encode())
        assert times(iter([next(batches)])) == [3]
        os.write(send, b'{"graph": ""}')
        os.close(send)
        assert times(batches) == [7]


def test_lines_that_arrive_in_pieces_are_put_together() -> None:
    data = b"ab\ncdef\n\nlong-long-long\nend"

    class Trickle:
        def __init__(self) -> None:
            self._file = BytesIO(data)

        def read(self, n: int, /) -> bytes:
            return self._file.read(min(n, 3))

    arriving = Arriving(Trickle())
    found = []
    while piece := arriving.readline(8):
        found.append(piece)
    assert found == [b"ab\n", b"cdef\n", b"\n", b"long-lon", b"g-long\n", b"end"]
    assert Arriving(Trickle()).read() == data


def test_a_folder_may_be_given_relative_to_where_one_is(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / "a.jsonl").write_text('{"time": 3, "graph": ""}\n')
    source = FolderSource("s", Path("in"), Reading(stream="s"), wait=lambda _: source.stop())
    found = [record for batch in source.batches({}) for record in batch.records]
    assert [(type(one).__name__, one.at) for one in found] == [("Item", 3_000_000)]


def test_a_folder_gives_each_new_file_once(tmp_path: Path) -> None:
    (tmp_path / "b.jsonl").write_text(line(2))
    (tmp_path / "a.jsonl").write_text(line(1))
    (tmp_path / ".hidden.jsonl").write_text(line(9))
    (tmp_path / "c.jsonl.tmp").write_text(line(9))
    (tmp_path / "d.docx").write_text("")
    outside = tmp_path.parent / f"{tmp_path.name}-outside.jsonl"
    outside.write_text(line(9))
    (tmp_path / "e.jsonl").symlink_to(outside)
    rounds = []

    def wait(seconds: float) -> None:
        rounds.append(seconds)
        if len(rounds) == 1:
            (tmp_path / "z.jsonl").write_text(line(3))
        else:
            source.stop()

    source = FolderSource("s", tmp_path, Reading(stream="s"), wait=wait)
    batches = list(source.batches({}))
    assert times(iter(batches)) == [1, 2, "OBEP510", "OBEP505", 3]
    position: dict[str, int] = {}
    for batch in batches:
        position |= batch.position
    again = FolderSource("s", tmp_path, Reading(stream="s"), wait=lambda _: again.stop())
    assert times(again.batches(position)) == []


def test_tcp_gives_lines_until_the_server_ends(config: Config) -> None:
    server = socket.create_server(("127.0.0.1", 0))

    def serve() -> None:
        connection, _ = server.accept()
        connection.sendall((line(1) + "broken\n" + line(2)).encode())
        connection.close()

    Thread(target=serve, daemon=True).start()
    source = open_source("", f"tcp://127.0.0.1:{server.getsockname()[1]}", config)
    assert times(source.batches({})) == [1, "OBEP600", 2]
    source.stop()
    server.close()


# ── Several sources ───────────────────────────────────────────────────────────────────────────────


def test_files_are_merged_by_time_and_resume_from_any_turn(config: Config) -> None:
    for name, step in (("a", 2), ("b", 3), ("c", 500)):
        text = "".join(line(n, name) for n in range(0, 1000, step))
        (config.folder / f"{name}.jsonl").write_text(text + "broken\n" * (name == "c"))

    def run(start: dict[str, dict[str, int]]) -> list[tuple[list[object], dict[str, dict[str, int]]]]:
        sources = {name: open_source("", str(config.folder / f"{name}.jsonl"), config) for name in "abc"}
        positions = {key: dict(value) for key, value in start.items()}
        turns = []
        for turn in merged(sources, start, 1):
            for key, moved in turn.moved.items():
                positions[key] = {**positions.get(key, {}), **moved}
            records = [(r.at, r.stream) if isinstance(r, Item) else r.code for r in turn.records]
            turns.append((records, {key: dict(value) for key, value in positions.items()}))
        return turns

    turns = run({})
    everything = [r for records, _ in turns for r in records]
    instants = [r[0] for r in everything if isinstance(r, tuple)]
    assert instants == sorted(instants)
    assert len(everything) == 500 + 334 + 2 + 1
    for number, (_, positions) in enumerate(turns):
        rest = [r for records, _ in run(positions) for r in records]
        assert rest == [r for records, _ in turns[number + 1 :] for r in records]


class Told:
    """A live source that says what it is told to."""

    live = True
    ends = False

    def __init__(self, name: str, *batches: Batch | Exception) -> None:
        self.name = name
        self._batches = batches

    def batches(self, start: object) -> Iterator[Batch]:
        for batch in self._batches:
            if isinstance(batch, Exception):
                raise batch
            yield batch

    def committed(self, position: object) -> None: ...

    def stop(self) -> None: ...


def test_live_sources_are_read_beside_files(config: Config) -> None:
    (config.folder / "a.jsonl").write_text(line(1) + line(2))
    told = Told("m", Batch([Item("m", 5, ())], {"0": 1}), Batch([Item("m", 6, ())], {"1": 1}))
    sources: dict[str, Source] = {"a": open_source("", str(config.folder / "a.jsonl"), config), "m": told}
    turns = list(merged(sources, {}, 1))
    assert sorted(r.at for t in turns for r in t.records if isinstance(r, Item)) == [
        5,
        6,
        1_000_000,
        2_000_000,
    ]
    positions: dict[str, dict[str, int]] = {}
    for turn in turns:
        for key, moved in turn.moved.items():
            positions[key] = {**positions.get(key, {}), **moved}
    assert positions == {"a": {"records": 2}, "m": {"0": 1, "1": 1}}
    assert sorted(e for t in turns for e in t.ended) == ["a", "m"]


class Piped(Told):
    """A pipe that says what it is told to, once somebody lets it."""

    ends = True

    def __init__(self, name: str, *batches: Batch) -> None:
        super().__init__(name, *batches)
        self.allowed = Event()

    def batches(self, start: object) -> Iterator[Batch]:
        self.allowed.wait(10)
        yield from super().batches(start)


def items(turns: Iterator[Turn]) -> list[int]:
    return [r.at for turn in turns for r in turn.records if isinstance(r, Item)]


def counted(stream: str, *instants: int) -> Batch:
    return Batch([Item(stream, at, ()) for at in instants], {"records": len(instants)})


def test_a_file_waits_for_what_standard_input_says(config: Config) -> None:
    (config.folder / "a.jsonl").write_text("".join(map(line, range(1, 600))))
    sources: dict[str, Source] = {
        "a": open_source("", str(config.folder / "a.jsonl"), config),
        "p": (pipe := Piped("p", counted("p", 500_000, 300_500_000, 900_000_000))),
    }
    turns = merged(sources, {}, 0.01)
    while not (turn := next(turns)).waiting:
        assert items(iter([turn])) == [], "it may still say something earlier"
    assert turn.waiting == ("p",)
    pipe.allowed.set()
    found = items(turns)
    assert found == sorted(found)
    assert len(found) == 599 + 3


def test_with_an_idle_time_out_nobody_waits_for_standard_input_here(config: Config) -> None:
    (config.folder / "a.jsonl").write_text(line(1) + line(2))
    sources: dict[str, Source] = {
        "a": open_source("", str(config.folder / "a.jsonl"), config),
        "p": (pipe := Piped("p", counted("p", 500_000))),
    }
    turns = merged(sources, {}, 10, idle=True)
    first: list[int] = []
    while len(first) < 2:
        first += items(iter([next(turns)]))
    assert first == [1_000_000, 2_000_000]
    pipe.allowed.set()
    assert items(turns) == [500_000]


def test_what_is_live_comes_after_what_a_file_has_for_the_same_time(config: Config) -> None:
    (config.folder / "a.jsonl").write_text("".join(map(line, range(1, 600))))
    batch = Batch([Item("m", at * 1_000_000 + 1, ()) for at in (0, 300, 700)], {"0": 3})
    sources: dict[str, Source] = {
        "a": open_source("", str(config.folder / "a.jsonl"), config),
        "m": Told("m", batch),
    }
    turns = list(merged(sources, {}, 1))
    ahead = [at for at in items(iter(turns)) if at % 1_000_000]
    assert ahead == [1, 300_000_001, 700_000_001]
    after = items(iter(turns))
    for at in ahead[1:]:
        assert all(earlier < at for earlier in after[: after.index(at)]), "no item of the file is late by it"
    for turn in turns[: next(n for n, t in enumerate(turns) if t.moved.get("m"))]:
        seen = any(r.stream == "m" for t in turns[: turns.index(turn) + 1] for r in t.records)
        assert turn.whole is not seen, "a position is only said when it is true"


def test_a_source_that_fails_fails_the_run() -> None:
    with pytest.raises(RuntimeError, match="broke"):
        list(merged({"m": Told("m", RuntimeError("broke"))}, {}, 1))


def test_an_empty_turn_is_given_when_nothing_comes() -> None:
    more = Event()

    class Slow(Told):
        def batches(self, start: object) -> Iterator[Batch]:
            more.wait(10)
            yield Batch([Item("m", 5, ())], {})

    turns = merged({"m": Slow("m")}, {}, 0.01)
    assert next(turns).records == []
    more.set()
    assert [r.at for t in turns for r in t.records if isinstance(r, Item)] == [5]


def test_a_named_pipe_is_opened_once_and_read_to_its_end(tmp_path: Path) -> None:
    pipe = tmp_path / "s.jsonl"
    os.mkfifo(pipe)
    writer = Thread(target=lambda: pipe.write_text(line(1) + line(2)), daemon=True)
    writer.start()  # it waits until somebody reads, and an end that closes again would break it
    source = FileSource("s", pipe, Reading("s"))
    assert times(source.batches({})) == [1, 2]
    writer.join()
    assert source.read == 0
