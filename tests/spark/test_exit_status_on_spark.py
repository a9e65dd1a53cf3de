"""Mistakes of the user on Spark: options of Kafka's client, sinks that fail, and their exit status."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from cli.shell import hot, obep, reading
from kafka_broker import NoKafka, connector_jars

from obep.config.toml_file import Config
from obep.errors import ObepError
from obep.output.form_texts import Found
from obep.run.run_spec import Inlet, Order, aim
from obep.spark.connectors.spark_sources import require_options
from obep.spark.driver.console_run import explained, status_of
from obep.spark.driver.delivery import Delivery
from obep.spark.driver.tally import Tally
from obep.streams.sinks.webhook import WebhookSink

KAFKA = '[sources.s]\nuri = "kafka://127.0.0.1:1/t"\noptions = {{ {} }}\n'


@pytest.mark.spark
def test_an_option_that_javas_client_does_not_have_is_named(spark: Any, tmp_path: Path) -> None:
    try:
        connector_jars()
    except NoKafka as reason:
        pytest.skip(str(reason))
    (tmp_path / "obep.toml").write_text(KAFKA.format('"fetch.min.byte" = "1"'))
    said = obep("run", hot(tmp_path), "--engine", "spark", "--master", "local[2]")
    assert (said.status, said.err[:7]) == (2, "OBEP586"), said.err
    assert "sources.s.options.fetch.min.byte" in said.err
    assert '"fetch.min.bytes" = …' in said.err


@pytest.mark.spark
def test_a_mechanism_that_javas_client_does_not_have_is_named(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", "SEKRET")
    (tmp_path / "obep.toml").write_text(
        KAFKA.format('"sasl.mechanism" = "${PW}", "security.protocol" = "SASL_SSL"')
    )
    said = obep("run", hot(tmp_path), "--engine", "spark", "--master", "local[2]")
    assert (said.status, said.err[:7]) == (2, "OBEP586"), said.err
    assert "SEKRET" not in said.err


def test_a_mechanism_of_somebody_elses_is_let_through(tmp_path: Path) -> None:
    options = {"sasl.mechanism": "AWS_MSK_IAM", "sasl.jaas.config": "x"}
    require_options({"options": options}, Config(tmp_path), known=options)
    del options["sasl.jaas.config"]
    with pytest.raises(ObepError):
        require_options({"options": options}, Config(tmp_path), known=options)


def test_what_javas_client_says_of_an_option_is_the_users_to_mend(tmp_path: Path) -> None:
    order = Order(Path("-"), Config(tmp_path), (Inlet("s", "kafka://h/t", trusted=True),), ())
    java = (
        "org.apache.kafka.common.config.ConfigException: Invalid value x for configuration y SQLSTATE: X\n at"
    )
    text = explained(RuntimeError(f"terminated with exception: {java}"), order)
    assert text.startswith("OBEP586  s=kafka://h/t")
    assert "Invalid value x for configuration y" in text
    assert status_of(text, Tally()) == 2
    assert status_of(text, Tally(pending={0: 1})) == 1


def test_whatever_a_sink_raises_ends_the_micro_batch(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def bewildered(*_: object) -> None:
        raise ValueError("nobody thought of it")

    monkeypatch.setattr(WebhookSink, "send", bewildered)
    order = Order(Path("-"), Config(tmp_path), (), aim(("https://127.0.0.1:1/",), "", Config(tmp_path)))
    delivery = Delivery(order, {"<http://e/A>": "event"}, tmp_path / "notes.json")
    found = Found("http://e/A", "urn:1", 0, 0, 0, {"event": "{}\n"})
    with pytest.raises(ObepError, match="nobody thought of it"):
        delivery.take(0, [found], [])
    assert '"after":null' in (tmp_path / "notes.json").read_text(), "the next run delivers it again"


@pytest.mark.spark
def test_a_webhook_that_does_not_answer_is_said_without_its_secret(
    spark: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PW", "SEKRET")
    (tmp_path / "s.jsonl").write_text(reading(1, "a", 35))
    (tmp_path / "obep.toml").write_text(
        '[sources.s]\nuri = "s.jsonl"\n[sinks.w]\nuri = "https://127.0.0.1:1/x/${PW}?t=${PW}"\nretries = 0\n'
    )
    said = obep("run", hot(tmp_path), "--engine", "spark", "--master", "local[2]", "--log-format", "json")
    assert said.status == 1
    assert "OBEP555" in said.err and "https://127.0.0.1:1/x/${PW}?t=${PW}" in said.err
    assert "SEKRET" not in said.err
