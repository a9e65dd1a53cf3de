"""A project's obep.toml runs nothing unless the user says so: no sink does, and no setting of a library."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from cli.shell import hot, obep
from hypothesis import given
from hypothesis import strategies as st

from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.spark.connectors.spark_sources import kafka_options
from obep.spark.driver import allowed_settings as of_spark
from obep.streams.kafka_allowed import FILES, OPTIONS, STRATEGY
from obep.streams.kafka_options import harmless
from obep.streams.sinks.open_sinks import open_sink
from obep.streams.sources.open_sources import open_source
from obep.streams.stream_uri import parse_address

URI = "kafka://127.0.0.1:1/t"
RUNS = {
    # librdkafka
    "plugin.library.paths": "./evil.so",
    "sasl.kerberos.kinit.cmd": "touch /tmp/x",
    "sasl.kerberos.keytab": '"; touch /tmp/x; "',
    "sasl.kerberos.principal": "$(touch /tmp/x)",
    "ssl.engine.location": "./evil.so",
    "ssl.providers": "./evil.so",
    "sasl.oauthbearer.assertion.private.key.file": "/etc/shadow",
    "sasl.oauthbearer.token.endpoint.url": "file:///etc/passwd",
    "offset.store.path": "/etc",
    "https.ca.location": "/etc/passwd",
    "bootstrap.servers": "elsewhere:9092",
    "metadata.broker.list": "elsewhere:9092",
    # Java's client
    "sasl.jaas.config": "com.sun.security.auth.module.JndiLoginModule required;",
    "sasl.login.callback.handler.class": "Evil",
    "sasl.client.callback.handler.class": "Evil",
    "sasl.login.class": "Evil",
    "sasl.oauthbearer.jwks.endpoint.url": "file:///etc/passwd",
    "ssl.engine.factory.class": "Evil",
    "security.providers": "Evil",
    "interceptor.classes": "Evil",
    "metric.reporters": "Evil",
    "config.providers": "Evil",
    "key.deserializer.class": "Evil",
}
MECHANISM = "sasl.mechanism"


def project(folder: Path, options: dict[str, str], *, allow_exec: bool = False) -> Config:
    table = ", ".join(f"'{name}' = '''{value}'''" for name, value in options.items())
    text = "".join(f'[{t}.x]\nuri = "{URI}"\noptions = {{ {table} }}\n' for t in ("sources", "sinks"))
    (folder / "obep.toml").write_text(text)
    return load_config(None, folder, allow_exec=allow_exec)


def doors(config: Config) -> list[tuple[str, Callable[[], Any]]]:
    """Every way from the options of obep.toml to a client of Kafka."""
    return [
        ("sources", lambda: open_source("x", URI, config)),
        ("sinks", lambda: open_sink(URI, config.sinks["x"], config)),
        ("sources", lambda: kafka_options(parse_address(URI), config.sources["x"], config)),
    ]


@pytest.mark.parametrize("name", RUNS)
def test_an_option_that_may_run_something_reaches_no_client(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    kafka = pytest.importorskip("confluent_kafka")
    reached: list[object] = []
    for client in ("Consumer", "Producer"):
        monkeypatch.setattr(kafka, client, reached.append)
    for table, open_it in doors(project(tmp_path, {name: RUNS[name]})):
        with pytest.raises(ObepError) as caught:
            open_it()
        assert caught.value.code == "OBEP516"
        for part in (f"{table}.x.options.{name}", "--allow-exec", str(tmp_path / "obep.toml")):
            assert part in str(caught.value)
    assert not reached


def test_with_allow_exec_all_options_reach_the_client(tmp_path: Path) -> None:
    config = project(tmp_path, RUNS, allow_exec=True)
    assert harmless(config.sources["x"], config) == RUNS


@given(name=st.text("abcdefghijklmnopqrstuvwxyz._", min_size=1) | st.sampled_from([f"{n}s" for n in OPTIONS]))
def test_an_option_that_is_on_no_list_is_refused(name: str) -> None:
    if name in OPTIONS or name in FILES:
        return
    with pytest.raises(ObepError) as caught:
        harmless({"options": {name: "x"}}, Config(Path()))
    assert caught.value.code in ("OBEP516", "OBEP586")


def test_kerberos_which_runs_kinit_needs_consent(tmp_path: Path) -> None:
    for name in (MECHANISM, f"{MECHANISM}s"):
        with pytest.raises(ObepError) as caught:
            config = project(tmp_path, {name: "GSSAPI"})
            harmless(config.sources["x"], config)
        assert "--allow-exec" in str(caught.value)


def test_a_strategy_that_java_would_load_as_a_class_needs_consent(tmp_path: Path) -> None:
    for value in ("org.evil.Assignor", "range, org.evil.Assignor", ""):
        with pytest.raises(ObepError) as caught:
            config = project(tmp_path, {STRATEGY: value})
            harmless(config.sources["x"], config)
        assert "--allow-exec" in str(caught.value)
    config = project(tmp_path, {STRATEGY: "range, cooperative-sticky"})
    assert harmless(config.sources["x"], config) == {STRATEGY: "range, cooperative-sticky"}


def test_a_password_of_several_lines_stays_one_word_of_the_login_of_java() -> None:
    named = {"username": "a\nb", "password": 'x\r\n"; org.evil.Module required;'}
    found = kafka_options(parse_address(URI), named, Config(Path()))["sasl.jaas.config"]
    assert found.isprintable()
    assert found.endswith(r"""required username="a\nb" password="x\r\n\"; org.evil.Module required;";""")


def test_options_that_name_files_obey_the_rule_for_files(tmp_path: Path) -> None:
    for name in FILES:
        config = project(tmp_path, {name: "sub/ca.pem"})
        assert harmless(config.sources["x"], config) == {name: str(tmp_path.resolve() / "sub" / "ca.pem")}
        for allow_exec in (False, True):
            config = project(tmp_path, {name: "/etc/passwd"}, allow_exec=allow_exec)
            with pytest.raises(ObepError) as caught:
                harmless(config.sources["x"], config)
            assert caught.value.code == "OBEP505", "--allow-path is what allows files"


def test_options_of_the_list_are_handed_on_as_they_are(tmp_path: Path) -> None:
    given = {"acks": "all", "fetch.min.bytes": "1", MECHANISM: "SCRAM-SHA-512", "ssl.ca.location": "probe"}
    config = project(tmp_path, given)
    assert harmless(config.sources["x"], config) == given


def test_no_option_of_the_list_looks_as_if_it_ran_something() -> None:
    """A second look at the list by another rule than the one that made it."""
    bad = ("class", "plugin", "jaas", "kerberos", "engine", "provider", "cmd", "handler", "reporter", "_cb")
    assert not [name for name in OPTIONS if any(part in name for part in bad)]
    assert not [name for name in OPTIONS if name.endswith((".location", ".file", ".path", ".url"))]


# ── Spark ─────────────────────────────────────────────────────────────────────────────────────────

RUNS_ON_SPARK = {
    "spark.driver.extraJavaOptions": "-agentpath:/tmp/evil.so",
    "spark.driver.defaultJavaOptions": "-agentpath:/tmp/evil.so",
    "spark.executor.extraJavaOptions": "-javaagent:evil.jar",
    "spark.driver.extraClassPath": "evil.jar",
    "spark.executor.extraClassPath": "evil.jar",
    "spark.driver.extraLibraryPath": ".",
    "spark.executor.extraLibraryPath": ".",
    "spark.jars": "evil.jar",
    "spark.jars.packages": "org.evil:evil:1",
    "spark.jars.repositories": "https://evil.example.org",
    "spark.jars.ivySettings": "ivy.xml",
    "spark.plugins": "Evil",
    "spark.files": "/etc/passwd",
    "spark.archives": "evil.zip",
    "spark.submit.pyFiles": "evil.py",
    "spark.pyspark.python": "./evil",
    "spark.pyspark.driver.python": "./evil",
    "spark.python.daemon.module": "evil",
    "spark.python.worker.module": "evil",
    "spark.sql.extensions": "Evil",
    "spark.extraListeners": "Evil",
    "spark.sql.queryExecutionListeners": "Evil",
    "spark.sql.streaming.streamingQueryListeners": "Evil",
    "spark.sql.catalog.x": "Evil",
    "spark.sql.hive.metastore.jars": "evil.jar",
    "spark.sql.warehouse.dir": "/etc",
    "spark.hadoop.fs.file.impl": "Evil",
    "spark.io.compression.codec": "Evil",
    "spark.serializer": "Evil",
    "spark.sql.streaming.stateStore.providerClass": "Evil",
    "spark.kryo.registrator": "Evil",
    "spark.metrics.conf": "evil.properties",
    "spark.ui.filters": "Evil",
    "spark.ui.enabled": "true",
    "spark.ui.port": "4040",
    "spark.local.dir": "/etc",
    "spark.driver.bindAddress": "0.0.0.0",
    "spark.master": "spark://elsewhere:7077",
    "spark.kubernetes.driver.podTemplateFile": "pod.yml",
    "spark.executorEnv.LD_PRELOAD": "./evil.so",
    "spark.driver.memory": "1g -agentpath:/tmp/evil.so",
}


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Orders that were handed to Spark, which is not started."""
    pytest.importorskip("pyspark")
    import obep.spark.driver.console_run as engine

    orders: list[Any] = []
    monkeypatch.setattr(engine, "run_on_spark", lambda order: orders.append(order) or 0)
    return orders


@pytest.mark.parametrize("name", RUNS_ON_SPARK)
def test_a_setting_of_spark_that_may_run_something_needs_consent(
    tmp_path: Path, started: list[Any], name: str
) -> None:
    value = RUNS_ON_SPARK[name]
    (tmp_path / "obep.toml").write_text(f'[spark.conf]\n"{name}" = "{value}"\n')
    run = ("run", hot(tmp_path), "--engine", "spark", "--source", f"s={tmp_path}/s.jsonl")
    said = obep(*run)
    assert (said.status, said.err[:7]) == (2, "OBEP516"), said.err
    assert f"spark.conf.{name}" in said.err and "--allow-exec" in said.err and not started
    assert obep(*run, "--allow-exec").status == 0
    assert obep(*run, "--conf", f"{name}=typed").status == 0
    assert [order.conf[name] for order in started] == [value, "typed"]


def test_a_master_elsewhere_needs_consent(tmp_path: Path, started: list[Any]) -> None:
    run = ("run", hot(tmp_path), "--engine", "spark", "--source", f"s={tmp_path}/s.jsonl")
    for master in ("spark://elsewhere:7077", "k8s://https://h:443", "yarn"):
        (tmp_path / "obep.toml").write_text(f'[spark]\nmaster = "{master}"\n')
        said = obep(*run)
        assert (said.status, said.err[:7]) == (2, "OBEP516"), said.err
        assert not started
        assert obep(*run, "--allow-exec").status == 0
        started.clear()
    (tmp_path / "obep.toml").write_text('[spark]\nmaster = "local[2]"\n')
    assert obep(*run).status == 0 and obep(*run, "--master", "yarn").status == 0


@pytest.mark.slow
@given(name=st.text("abcdefghijklmnopqrstuvwxyzC.", min_size=1), value=st.text())
def test_a_setting_of_spark_that_is_on_no_list_is_not_harmless(name: str, value: str) -> None:
    listed = of_spark.SETTINGS.keys() | of_spark.CHOICES.keys()
    assert f"spark.{name}" in listed or not of_spark.is_harmless(f"spark.{name}", value)


@given(name=st.sampled_from(sorted(of_spark.CHOICES)), value=st.text("abcXYZ.", min_size=1))
def test_a_class_of_somebody_elses_is_not_harmless(name: str, value: str) -> None:
    assert not of_spark.is_harmless(name, f"org.{value}")


def test_the_settings_that_obep_makes_itself_are_harmless() -> None:
    from obep.spark.driver.session import SETTINGS

    assert all(of_spark.is_harmless(name, value) for name, value in SETTINGS.items())


def test_a_program_as_a_sink_needs_consent_too(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text('[sinks.x]\nuri = "exec:touch made"\n')
    said = obep("run", hot(tmp_path), "--engine", "embedded", "--source", f"s={tmp_path}/s.jsonl")
    assert (said.status, said.err[:7]) == (2, "OBEP516")
