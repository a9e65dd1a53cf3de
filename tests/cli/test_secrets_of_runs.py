"""Values that obep.toml takes from the environment are in no output of obep, nor in its errors."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from shell import HOT, embedded, hot, obep

from obep.config.toml_file import Config, load_config
from obep.errors import Diagnostic, ObepError, fail
from obep.model import DeadLetter
from obep.run.dead_letters import Letters
from obep.run.metrics_endpoint import prometheus
from obep.run.progress import Progress
from obep.run.run_spec import Order
from obep.secrets import Discreet, forget, hide, hide_in, remember
from obep.spark.driver.console_run import explained

SOURCE = '[sources.s]\nuri = "s.jsonl"\n'


@pytest.fixture
def project(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("PW", "SEKRET")
    hot(folder)
    return folder


@pytest.mark.parametrize(
    ("settings", "status", "code"),
    [
        (f'{SOURCE}[sinks.w]\nretries = 0\nuri = "https://127.0.0.1:1/x?token=${{PW}}"', 1, "OBEP555"),
        (f'{SOURCE}[sinks.w]\nretries = 0\nuri = "https://127.0.0.1:1/services/${{PW}}"', 1, "OBEP555"),
        ('[sources.s]\nuri = "mqtt://127.0.0.1:1/a/${PW}"', 2, "OBEP552"),
        ('[sources.s]\nuri = "${PW}.jsonl"', 2, "OBEP550"),
        ('[sources.s]\nuri = "dir:${PW}"', 2, "OBEP550"),
        ('[sources.s]\nuri = "../${PW}.jsonl"', 2, "OBEP505"),
        ('[sources.s]\nuri = "${PW}://x"', 2, "OBEP512"),
        ('[sources.s]\nuri = "tcp://127.0.0.1:${PW}"', 2, "OBEP512"),
        ('[sources.s]\nuri = "s.jsonl"\nformat = "${PW}"', 2, "OBEP510"),
        ('[sources.s]\nuri = "s.jsonl"\nmapping = "${PW}"', 2, "OBEP502"),
        (f'{SOURCE}[sinks.w]\nuri = "exec:${{PW}}"', 2, "OBEP5"),
        (f'{SOURCE}[sinks.w]\nuri = "${{PW}}/found.jsonl"', 2, "OBEP554"),
    ],
)
def test_a_value_of_the_environment_is_said_as_its_reference(
    project: Path, settings: str, status: int, code: str
) -> None:
    (project / "obep.toml").write_text(settings)
    for form in ("text", "json"):
        said = embedded(project / "q.obep", "--log-format", form, "--allow-exec")
        assert said.status == status, said.err
        assert code in said.err
        assert "SEKRET" not in said.err + said.out
        assert "${PW}" in said.err


def test_the_option_of_a_client_is_said_as_its_reference(project: Path) -> None:
    pytest.importorskip("confluent_kafka")
    (project / "obep.toml").write_text(
        '[sources.s]\nuri = "kafka://127.0.0.1:1/t"\n'
        'options = { "sasl.mechanism" = "${PW}", "security.protocol" = "sasl_ssl" }\n'
    )
    said = embedded(project / "q.obep")
    assert said.status == 2
    assert "SEKRET" not in said.err


def test_users_of_the_library_are_not_told_either(project: Path) -> None:
    (project / "obep.toml").write_text('[sources.s]\nuri = "${PW}.jsonl"\n')
    config = load_config(None, project)
    from obep.streams.sources.open_sources import open_source

    with pytest.raises(ObepError) as caught:
        open_source("s", config.sources["s"]["uri"].reveal(), config, trusted=False)
    assert "${PW}.jsonl" in str(caught.value)
    for shown in (str(caught.value), repr(caught.value), json.dumps(caught.value.diagnostics[0].to_json())):
        assert "SEKRET" not in shown


def test_a_value_is_known_however_it_is_written() -> None:
    remember('a "b"/é\n', "${W}")
    for way in (
        'a "b"/é\n',
        'a "b"/é',
        "a%20%22b%22/%C3%A9",
        'a \\"b\\"/\\u00e9',
        'a "b"/é\\n',
        'a\n  "b"/é',
    ):
        assert "b" not in hide(f"<{way}>"), way
        assert "${W}" in hide(f"<{way}>"), way


def test_a_reference_stays_one_however_often_it_is_said() -> None:
    remember("PASSWORD", "${PASSWORD}")
    remember("PASS", "${P}")
    remember("PASSWORDS", "${MORE}")
    once = hide("PASSWORDS PASSWORD PASS ${PASSWORD}")
    assert once == "${MORE} ${PASSWORD} ${P} ${PASSWORD}"
    assert hide(once) == once


def test_a_very_short_value_is_no_secret() -> None:
    """It would be found in ordinary words, and say what it is by what is left of them."""
    remember("in", "${A}")
    remember("abc", "${B}")
    remember("", "${C}")
    assert hide("in the beginning abc") == "in the beginning abc"


def test_a_long_reason_is_hidden_before_it_is_cut_or_wrapped() -> None:
    remember("first second third", "${W}")
    error = fail(
        "OBEP599", "x" * 490 + "first second third" + "y" * 490, reason="z" * 90 + " first second third"
    )
    assert "second" not in str(error)
    assert "first" not in str(error)


def test_numbers_of_records_stay_numbers() -> None:
    remember("9092", "${PORT}")
    assert hide_in({"items": 9092, "holding": {"at 9092": 9092}, "all": ["9092"]}) == {
        "items": 9092,
        "holding": {"at ${PORT}": 9092},
        "all": ["${PORT}"],
    }
    assert prometheus(hide_in({"items_total": {"9092": 9092}})).endswith('{stream="${PORT}"} 9092\n')


def test_reasons_of_dead_letters_are_hidden_and_their_text_is_as_it_came(tmp_path: Path) -> None:
    remember("SEKRET", "${PW}")
    letters = Letters(tmp_path / "dead.jsonl")
    letters.take(DeadLetter("s", None, "OBEP600", "no SEKRET", '{"a": "SEKRET"}'))
    letters.close()
    written = json.loads((tmp_path / "dead.jsonl").read_text())
    assert (written["reason"], written["raw"]) == ("no ${PW}", '{"a": "SEKRET"}')
    assert letters.first["OBEP600"].reason == "no ${PW}"


def test_what_others_say_of_a_run_is_hidden(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """Java's words, and those of workers, which have read no obep.toml."""
    order = Order(tmp_path / "q.obep", Config(tmp_path), (), ())
    worker = str(Diagnostic("OBEP552", "mqtt://h/SEKRET does not answer"))
    remember("SEKRET", "${PW}")
    for words in (
        worker,
        "java.lang.Exception: no SEKRET",
        "a\norg.apache.kafka.common.errors.XException: SEKRET",
    ):
        assert "SEKRET" not in explained(Exception(words), order)
    out = io.StringIO()
    monkeypatch.setattr(sys, "stderr", out)
    for as_json in (False, True):
        Progress(as_json=as_json).warn("OBEP552", "no SEKRET", "take SEKRET")
    assert "SEKRET" not in out.getvalue()
    assert out.getvalue().count("${PW}") == 4


def test_a_stream_for_people_hides_what_anybody_writes() -> None:
    remember("SEKRET", "${PW}")
    out = io.StringIO()
    stream = Discreet(out)
    print("a SEKRET", file=stream)  # type: ignore[call-overload]
    stream.writelines(["b SEKRET\n"])
    assert out.getvalue() == "a ${PW}\nb ${PW}\n"
    assert stream.isatty() is False
    forget()
    stream.write("SEKRET")
    assert out.getvalue().endswith("SEKRET")


@pytest.mark.slow
def test_a_traceback_that_was_asked_for_hides_it_too(project: Path) -> None:
    (project / "obep.toml").write_text(f'{SOURCE}[sinks.w]\nuri = "https://127.0.0.1:1/${{PW}}"\n')
    broken = (
        "import obep.cli.main, obep.run.embedded as e\n"
        "def fails(order, *_): raise ValueError(order.targets[0].uri)\n"
        "e.open_run = fails\nobep.cli.main.main()"
    )
    for more, says in (((), "OBEP599"), (("--debug",), "Traceback")):
        done = subprocess.run(
            [sys.executable, "-c", broken, *more, "run", project / "q.obep", "--engine", "embedded"],
            capture_output=True,
            text=True,
            timeout=120,
            env={**os.environ, "PW": "SEKRET"},
        )
        assert done.returncode == 1
        assert says in done.stderr
        assert "https://127.0.0.1:1/${PW}" in done.stderr
        assert "SEKRET" not in done.stderr


def test_check_says_no_value_of_the_environment(project: Path) -> None:
    (project / "obep.toml").write_text('[sources.s]\nuri = "s.jsonl"\nformat = "${PW}"\nmapping = "${PW}"\n')
    (project / "q.obep").write_text(HOT.replace("Sensor", "SEKRET"))
    for form in ("text", "json"):
        said = obep("check", project / "q.obep", "--format", form)
        assert "SEKRET" not in said.out + said.err
