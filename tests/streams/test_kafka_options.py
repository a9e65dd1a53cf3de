"""Options of Kafka's client that it does not take: they are the user's to mend, before anything is read."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.config.toml_file import load_config
from obep.errors import ObepError
from obep.streams.sinks.open_sinks import open_sink
from obep.streams.sources.open_sources import open_source

pytest.importorskip("confluent_kafka")

WRONG = [
    ('"nope" = "x"', "nope: Kafka's client has no such option", ""),
    ('"fetch.min.byte" = "1"', "fetch.min.byte: Kafka's client has no such option", '"fetch.min.bytes" = …'),
    (
        '"sasl.mechanism" = "${PW}", "security.protocol" = "sasl_ssl"',
        "sasl.mechanism: Kafka's client refuses it",
        "SCRAM-SHA-512",
    ),
    ('"security.protocol" = "${PW}"', "security.protocol: Kafka's client refuses it", ""),
    ('"fetch.min.bytes" = "${PW}"', "fetch.min.bytes: Kafka's client refuses it", ""),
    ('"fetch.min.bytes" = "-5"', "outside allowed range", ""),
    ('"error_cb" = "${PW}"', "error_cb: Kafka's client has no such option", ""),
]


@pytest.mark.parametrize(("options", "says", "remedy"), WRONG)
def test_an_option_that_the_client_does_not_take_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, options: str, says: str, remedy: str
) -> None:
    monkeypatch.setenv("PW", "SEKRET")
    tables = [
        f'[{t}.x]\nuri = "kafka://127.0.0.1:1/t"\noptions = {{ {options} }}\n' for t in ("sources", "sinks")
    ]
    (tmp_path / "obep.toml").write_text("".join(tables))
    config = load_config(None, tmp_path)
    for table, opened in (
        ("sources", lambda: open_source("x", "kafka://127.0.0.1:1/t", config)),
        ("sinks", lambda: open_sink("kafka://127.0.0.1:1/t", config.sinks["x"], config)),
    ):
        with pytest.raises(ObepError) as caught:
            opened()
        assert caught.value.code == "OBEP586"
        for text in (f"{table}.x.options.", says, remedy, str(tmp_path / "obep.toml")):
            assert text in str(caught.value)
        assert "SEKRET" not in str(caught.value)


def test_a_group_without_a_name_does_not_end_the_process(tmp_path: Path) -> None:
    """The client's library aborts."""
    (tmp_path / "obep.toml").write_text(
        '[sources.x]\nuri = "kafka://127.0.0.1:1/t"\noptions = { "group.id" = "" }\n'
    )
    with pytest.raises(ObepError) as caught:
        open_source("x", "kafka://127.0.0.1:1/t", load_config(None, tmp_path))
    assert caught.value.code == "OBEP586"


def test_certificates_that_the_client_cannot_use(tmp_path: Path) -> None:
    (tmp_path / "ca.pem").write_text("none")
    (tmp_path / "obep.toml").write_text(
        '[sources.x]\nuri = "kafka://127.0.0.1:1/t"\ntls = true\nca = "ca.pem"\n'
    )
    with pytest.raises(ObepError) as caught:
        open_source("x", "kafka://127.0.0.1:1/t", load_config(None, tmp_path))
    assert caught.value.code == "OBEP508"
