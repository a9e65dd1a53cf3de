"""Exit status 2 for mistakes of the user, with their name; status 1 for a failure during a run."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from pathlib import Path

import pytest
from shell import embedded, hot, obep, reading

from obep.errors import Stopped
from obep.run.checkpoint import Checkpoint, Standing
from obep.spark.driver.start_errors import not_started, require_master


@pytest.mark.parametrize("topic", ["a/#", "a/+/b", "#"])
@pytest.mark.parametrize("engine", ["embedded", "spark"])
def test_an_mqtt_sink_has_one_topic(folder: Path, topic: str, engine: str) -> None:
    sink = f"mqtt://127.0.0.1:1/{topic}"
    said = obep("run", hot(folder), "--engine", engine, "--source", f"s={folder}/s.jsonl", "--sink", sink)
    assert (said.status, said.err[:7]) == (2, "OBEP512")
    assert "messages go to one topic" in said.err


@pytest.mark.parametrize("path", ["a b", "größe", "a\nb"])
def test_the_url_of_a_webhook_is_one(folder: Path, path: str) -> None:
    said = embedded(hot(folder), "--source", f"s={folder}/s.jsonl", "--sink", f"https://127.0.0.1:1/{path}")
    assert (said.status, said.err[:7]) == (2, "OBEP512")


@pytest.mark.parametrize("command", ["run", "check", "explain"])
def test_an_allowed_folder_is_there(folder: Path, command: str) -> None:
    for path, says in ((folder / "nope", "not there"), (folder / "s.jsonl", "no folder")):
        said = obep(command, hot(folder), "--allow-path", path)
        assert (said.status, said.err[:7]) == (2, "OBEP518")
        assert f"--allow-path {path}: it is {says}" in said.err


@pytest.mark.parametrize("option", [("--master", "local[2]"), ("--conf", "spark.ui.enabled=true")])
def test_options_of_spark_are_refused_on_the_other_engine(folder: Path, option: tuple[str, str]) -> None:
    said = embedded(hot(folder), "--source", f"s={folder}/s.jsonl", *option)
    assert (said.status, said.err[:7]) == (2, "OBEP518")
    assert option[0] in said.err
    (folder / "obep.toml").write_text(
        '[spark]\nmaster = "local[2]"\nconf = { "spark.ui.enabled" = "true" }\n'
    )
    assert embedded(hot(folder), "--source", f"s={folder}/s.jsonl").status == 0, (
        "one file serves both engines"
    )


# ── Spark that does not start ─────────────────────────────────────────────────────────────────────

MASTERS = "local local[1] local[*] local[4,2] local[*,3] local-cluster[2,1,1024] spark://a:7077 yarn"


@pytest.mark.parametrize("master", [*MASTERS.split(), "spark://a:7077,b:7077", "k8s://https://h:443"])
def test_masters_of_spark(master: str) -> None:
    require_master(master)


@pytest.mark.parametrize(
    "master",
    [
        "bogus://x",
        "local[x]",
        "local[0]",
        "local[",
        "mesos://h:5050",
        "spark://h",
        "sc://h",
        "Local",
        "yarn-client",
    ],
)
def test_what_is_no_master_is_refused_before_java_starts(folder: Path, master: str) -> None:
    pytest.importorskip("pyspark")
    source = ("--source", f"s={folder}/s.jsonl")
    said = obep("run", hot(folder), *source, "--master", master)
    assert (said.status, said.err[:7]) == (2, "OBEP587")
    assert f"--master: {master!r} is no master of Spark" in said.err
    (folder / "obep.toml").write_text(f'[spark]\nmaster = "{master}"\n')
    said = obep("run", hot(folder), *source)
    assert (said.status, said.err[:7]) == (2, "OBEP587")
    assert f"spark.master in {folder}/obep.toml" in said.err


LOGS = {
    "Invalid maximum heap size: -Xmxabc\nError: Could not create the Java Virtual Machine.\n": (
        "Invalid maximum heap size: -Xmxabc"
    ),
    "WARNING: Using incubator modules: jdk.incubator.vector\n"
    'Exception in thread "main" org.apache.spark.SparkException: Executor memory must be a positive number\n'
    "\tat org.apache.spark.deploy.SparkSubmit.main(SparkSubmit.scala)\n": "Executor memory must be",
    "26/11/17 03:13:31 WARN A: skipping\n26/11/17 03:13:35 ERROR SparkContext: Failed to add x.jar\n": (
        "Failed to add x.jar"
    ),
    "bin/spark-class: line 71: /nope/bin/java: No such file or directory\n": "/nope/bin/java: No such file",
    "": "[JAVA_GATEWAY_EXITED] Java gateway",
}


@pytest.mark.parametrize("log", LOGS)
def test_java_is_quoted_where_it_does_not_start(tmp_path: Path, log: str) -> None:
    (tmp_path / "spark.log").write_text(log)
    gone = RuntimeError("[JAVA_GATEWAY_EXITED] Java gateway process exited before sending its port number.")
    error = not_started(gone, tmp_path / "spark.log", "local[1]", {"spark.driver.memory": "hush"})
    assert error.code == "OBEP587"
    assert f"Spark does not start on local[1]: {LOGS[log]}" in str(error).replace(
        "bin/spark-class: line 71: ", ""
    )
    assert "These settings were given: spark.driver.memory" in str(error)
    assert "hush" not in str(error)


@pytest.mark.slow
def test_a_setting_with_which_java_does_not_start_is_the_users_to_mend(folder: Path) -> None:
    pytest.importorskip("pyspark")
    (folder / "obep.toml").write_text('[spark]\nconf = { "spark.driver.memory" = "abc" }\n')
    done = subprocess.run(
        [
            sys.executable,
            "-m",
            "obep",
            "run",
            hot(folder),
            "--source",
            folder / "s.jsonl",
            "--master",
            "local[1]",
        ],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert (done.returncode, done.stderr[:7]) == (2, "OBEP587")
    assert "-Xmxabc" in done.stderr and "spark.driver.memory" in done.stderr


# ── Full disks ────────────────────────────────────────────────────────────────────────────────────


def run_to(stdout: str, *words: str | Path, limit: int = 0) -> subprocess.CompletedProcess[str]:
    with Path(stdout).open("w") as out:
        return subprocess.run(
            [sys.executable, "-m", "obep", *words],
            stdout=out,
            stderr=subprocess.PIPE,
            text=True,
            timeout=120,
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit)) if limit else None,
        )


@pytest.mark.slow
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
@pytest.mark.parametrize("command", ["run", "explain"])
def test_a_full_disk_is_no_mistake_of_ours(folder: Path, command: str) -> None:
    more = ("--engine", "embedded", "--source", f"s={folder}/s.jsonl") if command == "run" else ()
    done = run_to("/dev/full", command, hot(folder), *more)
    assert (done.returncode, done.stderr[:7]) == (1, "OBEP554"), done.stderr
    assert "No space left on device" in done.stderr
    assert "Traceback" not in done.stderr and "Exception ignored" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("option", ["--sink", "--dead-letters"])
def test_a_file_that_may_not_grow_is_named(folder: Path, option: str) -> None:
    good, bad = "".join(reading(n, "a", 35) for n in range(200)), "no JSON\n" * 200
    (folder / "s.jsonl").write_text(good + bad)
    out = folder / "out.jsonl"
    words = ("run", hot(folder), "--engine", "embedded", "--source", f"s={folder}/s.jsonl")
    done = run_to(os.devnull, *words, option, out, limit=4096)
    assert (done.returncode, done.stderr[:7]) == (1, "OBEP554"), done.stderr
    assert f"{out} cannot be written: File too large" in done.stderr


def test_a_checkpoint_without_room_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    checkpoint = Checkpoint(tmp_path)

    def full(number: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(Stopped) as caught:
        checkpoint.save(Standing("", b"", {}, {}))
    assert caught.value.code == "OBEP554"
    assert str(tmp_path) in str(caught.value)
