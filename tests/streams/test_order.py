"""Which sources a run has: those given, those of obep.toml, and what belongs together."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.config.toml_file import Config, load_config
from obep.errors import ObepError
from obep.run.run_spec import bind


@pytest.fixture
def config(tmp_path: Path) -> Config:
    (tmp_path / "obep.toml").write_text('[sources.doors]\nuri = "doors.jsonl"\nunit = "ms"\n')
    return load_config(None, tmp_path)


def keys(given: tuple[str, ...], streams: tuple[str, ...], config: Config) -> list[tuple[str, str, str]]:
    return [(inlet.key, inlet.name, inlet.uri) for inlet in bind(given, streams, config)]


def test_a_source_of_the_configuration_is_used_unless_another_is_given(config: Config) -> None:
    assert keys((), ("doors",), config) == [("doors", "doors", "doors.jsonl")]
    assert keys(("doors=x.jsonl",), ("doors",), config) == [("doors", "doors", "x.jsonl")]


def test_a_source_without_a_name_is_that_of_the_only_stream_if_the_configuration_knows_it(
    config: Config,
) -> None:
    assert keys(("x.jsonl",), ("doors",), config) == [("doors", "doors", "x.jsonl")]
    assert keys(("x.jsonl",), ("smoke",), config) == [("x.jsonl", "", "x.jsonl")]
    assert keys(("x.jsonl",), ("doors", "smoke"), config) == [
        ("x.jsonl", "", "x.jsonl"),
        ("doors", "doors", "doors.jsonl"),
    ]


def test_several_sources_of_one_stream_are_all_read(config: Config) -> None:
    assert keys(("doors=a.jsonl", "doors=b.jsonl"), ("doors",), config) == [
        ("doors=a.jsonl", "doors", "a.jsonl"),
        ("doors=b.jsonl", "doors", "b.jsonl"),
    ]
    assert [key for key, _, _ in keys(("a.jsonl", "b.jsonl"), ("smoke",), config)] == ["a.jsonl", "b.jsonl"]


def test_a_source_that_is_given_twice_is_refused(config: Config) -> None:
    for given in (("doors=a.jsonl", "doors=a.jsonl"), ("a.jsonl", "a.jsonl")):
        with pytest.raises(ObepError) as caught:
            bind(given, ("doors",), config)
        assert caught.value.code == "OBEP511"
        assert "twice" in str(caught.value)


def test_a_source_needs_a_uri_only_if_none_is_given(tmp_path: Path) -> None:
    (tmp_path / "obep.toml").write_text('[sources.doors]\nunit = "ms"\n')
    config = load_config(None, tmp_path)
    assert keys(("doors=x.jsonl",), ("doors",), config) == [("doors", "doors", "x.jsonl")]
    with pytest.raises(ObepError) as caught:
        bind((), ("doors",), config)
    assert caught.value.code == "OBEP512"
    assert "--source doors=" in str(caught.value)


@pytest.mark.parametrize(
    ("streams", "reason"),
    [
        (("door",), "obep.toml has [sources.doors]."),
        (("doors", "door"), "The stream doors has one; is it that?"),
        (("doors", "doors2"), ""),  # another number, another stream
        (("doors", "smoke"), ""),
    ],
)
def test_a_stream_without_a_source_is_answered_with_the_nearest_source(
    config: Config, streams: tuple[str, ...], reason: str
) -> None:
    with pytest.raises(ObepError) as caught:
        bind((), streams, config)
    (only,) = caught.value.diagnostics
    assert (only.code, only.message) == ("OBEP511", f"stream {streams[-1]} has no source")
    assert only.reason == reason
