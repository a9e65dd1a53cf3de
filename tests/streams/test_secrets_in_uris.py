"""A password in a URI is printed nowhere, also one that should have been percent-encoded."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from obep.config.toml_values import shown_uri
from obep.errors import ObepError
from obep.streams.stream_uri import parse_address

SCHEMES = ("mqtt", "mqtts", "kafka", "https", "tcp")


@given(
    scheme=st.sampled_from(SCHEMES),
    before=st.text("ab/?# :@%1", max_size=6),
    after=st.text("ab/?# :@%1", max_size=6),
)
def test_no_piece_of_a_password_is_shown(scheme: str, before: str, after: str) -> None:
    uri = f"{scheme}://me:{before}SEKRET{after}@host/topic"
    assert "SEKRET" not in shown_uri(uri)
    try:
        said = repr(parse_address(uri))
    except ObepError as error:
        said = str(error)
    assert "SEKRET" not in said


@pytest.mark.parametrize(
    "uri",
    ["mqtt://host:1883/t", "kafka://a:9092,b:9092/t", "kafka://host/a@b", "mqtt://host/a@b", "-", "a.jsonl"],
)
def test_what_holds_no_password_is_shown_as_it_is(uri: str) -> None:
    assert shown_uri(uri) == uri
