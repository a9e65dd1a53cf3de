"""obep.toml: what is known, what is wrong with it, what stays secret, and where files may lie."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.config.toml_file import MAPPING, Config, below, load_config
from obep.config.toml_values import Secret, shown_uri
from obep.errors import ObepError
from obep.formats.record_mapping import SETTINGS
from obep.query.parse.spelling import to_micros

FULL = """
[sources.doors]
uri = "mqtt://${USER_NAME}:${WORD}@localhost/doors/#"
unit = "ms"
password = "${WORD}"
mapping = "thermo"

[sources.smoke]
uri = "smoke.csv"
[sources.smoke.mapping]
context = "context.jsonld"

[sinks.alarm]
uri = "https://example.org/hook"
events = ["Fire"]
headers = { Authorization = "Bearer ${WORD}" }
timeout = "5s"

[mappings.thermo]
template = ":x :p {v} ."
prefixes = { "" = "http://e/" }
units = { v = "degF -> degC" }

[ontology]
catalogue = { "http://e/sosa" = "sosa.ttl" }
cache = "remembered"

[engine]
lateness = "5 min"
idle = 30

[spark]
master = "local[2]"
conf = { "spark.ui.enabled" = "false" }

[limits]
nesting = 7
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("USER_NAME", "me")
    monkeypatch.setenv("WORD", "hush")
    return tmp_path


def load(folder: Path, text: str) -> Config:
    (folder / "obep.toml").write_text(text)
    return load_config(None, folder)


def test_a_byte_order_mark_is_no_part_of_it(folder: Path) -> None:
    (folder / "obep.toml").write_bytes(b"\xef\xbb\xbf[engine]\nidle = 30\n")
    assert load_config(None, folder).engine["idle"] == 30_000_000


def test_every_section_is_read(folder: Path) -> None:
    (folder / "context.jsonld").write_text('{"@context": {"@vocab": "http://e/"}}')
    config = load(folder, FULL)
    assert config.sources["doors"]["uri"].reveal() == "mqtt://me:hush@localhost/doors/#"
    assert config.sinks["alarm"]["timeout"] == 5_000_000
    assert config.engine == {"lateness": 300_000_000, "idle": 30_000_000}
    assert config.catalogue == {"http://e/sosa": folder / "sosa.ttl"}
    assert config.cache == folder / "remembered"
    assert config.limits.nesting == 7
    mapping = config.mapping_of("doors")
    assert mapping is not None
    assert mapping[1] == "mappings.thermo"
    smoke = config.mapping_of("smoke")
    assert smoke is not None
    assert smoke[0]["context"] == {"@vocab": "http://e/"}
    assert config.mapping_of("other") is None


def test_without_a_file_the_defaults_hold(tmp_path: Path) -> None:
    assert load_config(None, tmp_path) == Config(tmp_path.resolve())


def test_secrets_are_never_printed(folder: Path) -> None:
    (folder / "context.jsonld").write_text("{}")
    config = load(folder, FULL + '\n[sources.plain]\nuri="mqtt://a:literal@h/t"\npassword="literal"\n')
    for shown in (repr(config), str(config), f"{config.sources}", str(config.sinks["alarm"]["headers"])):
        assert "hush" not in shown
        assert "literal" not in shown
    assert "${WORD}" in repr(config.sources["doors"]["password"])
    assert str(config.sources["plain"]["uri"]) == "mqtt://***@h/t"
    assert shown_uri("file.jsonl") == "file.jsonl"
    assert f"{Secret('x')}" == "***"


@pytest.mark.parametrize(
    ("text", "code", "says"),
    [
        ("[source.doors]", "OBEP502", "source: there is no such setting"),
        ("[sources.doors]\nurl = 'x'", "OBEP502", "Try:  sources.doors.uri"),
        ("[engine]\nlatness = '5s'", "OBEP502", "Try:  engine.lateness"),
        ("[sources.doors]\nuri = 5", "OBEP503", "sources.doors.uri: expected a URI, got a number"),
        ("[engine]\nlateness = 'soon'", "OBEP503", "engine.lateness: 'soon' is no duration"),
        ("[engine]\nname = 'flink'", "OBEP503", "not one of spark, embedded"),
        ("[sources.doors]\ntimezone = 'Europe/Berlin'", "OBEP502", "Try:  sources.doors.zone"),
        ("[sources.doors.mapping]\ntz = '+01:00'", "OBEP502", "Try:  sources.doors.mapping.zone"),
        ("[sources.doors]\nzone = 'Europe/Berln'", "OBEP503", 'Try:  zone = "Europe/Berlin"'),
        ("[mappings.m]\nzone = 'berlin'", "OBEP503", 'Try:  zone = "Europe/Berlin"'),
        ("[sources.doors]\nzone = 'GMT+2'", "OBEP503", 'Try:  zone = "+02:00"'),
        ("[sources.doors]\nzone = 'CEST'", "OBEP503", 'or an offset such as "+02:00"'),
        ("[sources.doors]\nzone = 'Europe'", "OBEP503", "'Europe' is no zone"),
        ("[sources.doors]\nzone = '../x'", "OBEP503", "is no zone"),
        ("[sources.doors]\nzone = 2", "OBEP503", "expected a zone"),
        ("[sources.doors]\nunit = 'hour'\nuri = 'x'", "OBEP503", "sources.doors.unit"),
        ("[sources.doors]\npassword = ['hush']\nuri = 'x'", "OBEP503", "got an array"),
        ("sources = 5", "OBEP503", "sources: expected a table"),
        ("[sources.doors]\nuri = '${NOT_SET_AT_ALL}'", "OBEP504", "NOT_SET_AT_ALL is not set"),
        ("[ontology]\ncatalogue = {'http://e/' = '../x.ttl'}", "OBEP505", "--allow-path"),
        ("[ontology]\ncache = '/somewhere'", "OBEP505", "--allow-path"),
        ("[sinks.alarm]\nas = 'rdf'", "OBEP512", "sinks.alarm: there is no uri"),
        ("a = ", "OBEP500", "not TOML"),
        ("[limits]\nnesting = " + "1" * 5000, "OBEP500", "not TOML"),
        ("a = " + "[" * 3000 + "]" * 3000, "OBEP500", "nested too deeply"),
        ("a = " + "{a=" * 3000 + "1" + "}" * 3000, "OBEP500", "nested too deeply"),
        (
            "[a]\nb = x",
            "OBEP500",
            "obep.toml:2:5\n    2 | b = x\n      |     ^\n  Try:  text stands in quotes",
        ),
        (
            '[sources.doors]\nuri = "x\n',
            "OBEP500",
            'obep.toml:2:9\n    2 | uri = "x\n      |         ^\n  Try:  close',
        ),
        (
            "[sources.doors]\nuri = 'x\n",
            "OBEP500",
            "Try:  close the quotes on the line where they open",
        ),
        (
            '[sources.doors.mapping]\ntemplate = ":a :b "{powerW}" ."',
            "OBEP500",
            """a line; a text with " in it stands in '''…''', as template = ''':a :b "{c}" .'''""",
        ),
        ('[sources.doors]\nuri = "a\\b\\x"', "OBEP500", "Try:  \\\\ is a backslash, or put the text in '…'"),
        ("a: 5", "OBEP500", 'obep.toml:1:2\n    1 | a: 5\n      |  ^\n  Try:  name = "value"'),
        ("a = 1\na = 2", "OBEP500", "Try:  each name once in a table"),
        ("[sources", "OBEP500", "obep.toml:1:9\n    1 | [sources\n      |         ^"),
        ("[sources.doors]\npassword = hush", "OBEP500", "obep.toml:2:12\n  Try:  text stands in quotes"),
        ("[sources.doors]\nuri = mqtt://me:hush@host/x", "OBEP500", "obep.toml:2:7\n  Try:  text stands"),
    ],
)
def test_what_is_wrong_is_said_with_its_place(folder: Path, text: str, code: str, says: str) -> None:
    with pytest.raises(ObepError) as caught:
        load(folder, text)
    assert caught.value.code == code
    assert says in str(caught.value)
    assert "obep.toml" in str(caught.value)
    assert "hush" not in str(caught.value)


def test_a_configuration_named_by_hand_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(ObepError) as caught:
        load_config(tmp_path / "other.toml", tmp_path)
    assert caught.value.code == "OBEP500"


@pytest.mark.parametrize(
    ("text", "seconds"),
    [("6 minutes", 360), ("1 Hour", 3600), ("2 days", 172_800), ("30 secs", 30), ("90000 millis", 90)],
)
def test_durations_have_the_units_of_queries(text: str, seconds: int, folder: Path) -> None:
    config = load(folder, f"[engine]\nlateness = '{text}'\n")
    assert config.engine["lateness"] == seconds * 1_000_000
    assert to_micros(text) == seconds * 1_000_000


@pytest.mark.parametrize("written", ["30", "'30'", "30.0", "'30.0'", "'30 s'"])
def test_a_bare_number_is_one_of_seconds(written: str, folder: Path) -> None:
    assert load(folder, f"[engine]\nlateness = {written}\n").engine["lateness"] == 30_000_000


@pytest.mark.parametrize("written", ["-30", "'-30'", "true", "1e9", "'1e3'", "'30 30'", "''"])
def test_what_is_no_length_of_time_is_refused(written: str, folder: Path) -> None:
    with pytest.raises(ObepError) as caught:
        load(folder, f"[engine]\nlateness = {written}\n")
    assert caught.value.code == "OBEP503"


@pytest.mark.parametrize(
    ("word", "says"),
    [
        ("hush\n", "a line break"),
        ("hush\r\nHost: elsewhere", "a line break"),
        ("hush€", "the character U+20AC"),
        ("hush\x01", "the character U+0001"),
    ],
)
def test_a_header_that_cannot_be_sent_is_refused_without_its_value(
    folder: Path, monkeypatch: pytest.MonkeyPatch, word: str, says: str
) -> None:
    monkeypatch.setenv("WORD", word)
    with pytest.raises(ObepError) as caught:
        load(folder, '[sinks.w]\nuri = "https://e/"\nheaders = { Authorization = "Bearer ${WORD}" }\n')
    assert caught.value.code == "OBEP503"
    assert f"sinks.w.headers.Authorization: the value cannot be sent: it holds {says}" in str(caught.value)
    assert str(folder / "obep.toml") in str(caught.value)
    assert "hush" not in str(caught.value)


@pytest.mark.parametrize("name", ["A B", "A:", "", "Ä", "A\\n"])
def test_a_header_has_a_name_that_can_be_sent(folder: Path, name: str) -> None:
    with pytest.raises(ObepError) as caught:
        load(folder, f'[sinks.w]\nuri = "https://e/"\nheaders = {{ "{name}" = "x" }}\n')
    assert caught.value.code == "OBEP503"


def test_headers_that_can_be_sent_are(folder: Path) -> None:
    config = load(folder, '[sinks.w]\nuri = "https://e/"\nheaders = { A = "größer\\tals" }\n')
    assert config.sinks["w"]["headers"]["A"].reveal() == "größer\tals"


def test_an_unknown_mapping_is_an_error(folder: Path) -> None:
    with pytest.raises(ObepError) as caught:
        load(folder, "[sources.s]\nuri = 'x'\nmapping = 'm'")
    assert caught.value.code == "OBEP502"


def test_a_context_from_the_web_is_refused(folder: Path) -> None:
    with pytest.raises(ObepError) as caught:
        load(folder, "[sources.s]\nuri = 'x'\nmapping = { context = 'https://schema.org/' }")
    assert caught.value.code == "OBEP522"


def test_files_lie_below_the_folder_links_followed(tmp_path: Path) -> None:
    inside, outside = tmp_path / "in", tmp_path / "out"
    inside.mkdir()
    outside.mkdir()
    (outside / "secret.ttl").write_text("")
    (inside / "link.ttl").symlink_to(outside / "secret.ttl")
    (inside / "folder").symlink_to(outside)
    (inside / "loop").symlink_to(inside / "loop")
    assert below(Path("a/../b.ttl"), inside) == inside / "b.ttl"
    for path in ("link.ttl", "folder/secret.ttl", "../out/secret.ttl", str(outside), "/etc/passwd", "a\0b"):
        with pytest.raises(ObepError) as caught:
            below(Path(path), inside)
        assert caught.value.code == "OBEP505"
    assert below(Path("link.ttl"), inside, (outside,)) == outside / "secret.ttl"


def test_a_mapping_has_the_same_keys_in_obep_toml_and_in_python() -> None:
    assert set(MAPPING) == set(SETTINGS)
