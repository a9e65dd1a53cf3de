"""A duration with a slip is answered with one that can stand in its place."""

from __future__ import annotations

import pytest

from obep.errors import Diagnostic, ObepError
from obep.query.ast import Language
from obep.query.parse.other_durations import other_duration
from obep.query.parse.parser import parse

MEANT = {
    "15min30": '930 s, or "PT15M30S"',
    "15 min 30": '930 s, or "PT15M30S"',
    "15min30s": '930 s, or "PT15M30S"',
    "15 min and 30 s": '930 s, or "PT15M30S"',
    "15 min, 30 s": '930 s, or "PT15M30S"',
    "15minutes30seconds": '930 s, or "PT15M30S"',
    "15 minuts 30 secnds": '930 s, or "PT15M30S"',
    "15:30": '930 s, or "PT15M30S"',
    "15:30 h": '930 min, or "PT15H30M"',
    "1:30:00": '90 min, or "PT1H30M"',
    "1h30": '90 min, or "PT1H30M"',
    "1 h 30 min": '90 min, or "PT1H30M"',
    "1d12h": '36 h, or "P1DT12H"',
    "15s30ms": '15030 ms, or "PT15.03S"',
    "15mn": "15 min",
    "15 minuts": "15 min",
    "15_min": "15 min",
    "15-min": "15 min",
    "min 15": "15 min",
    "3 hrs": "3 h",
    "2 weeks": "14 d",
    "1 month": "30 d",
    "1 year": "365 d",
    "1,5 h": "90 min",
    "1/2 h": "30 min",
    "an hour": "1 h",
    "half an hour": "30 min",
    "fifteen minutes": "15 min",
    "-5 min": "5 min",
    "-1h30": '90 min, or "PT1H30M"',
    "5 foo": "5 min",
    "5": "5 s, or 5 min",
    "PT15": '15 min, or "PT15M"',
    "PT15M30": '930 s, or "PT15M30S"',
    "P1W": '7 d, or "P7D"',
    "pt5m": '5 min, or "PT5M"',
    '"15min30"': '930 s, or "PT15M30S"',
    '"P1M"': '30 d, or "P30D"',
    '"P1Y2M"': '425 d, or "P425D"',
}
"""Misspelt durations, and the remedies."""

PLACES = (
    "EVENT X MATCH A SEQ B WITHIN {}",
    "EVENT X MATCH A SEQ B WITHIN {}\nRETURN X",
    "EVENT X MATCH A NOT FOLLOWED BY B WITHIN {}",
    "EVENT X MATCH A REPEATED EVERY {} AT MOST 3 TIMES",
    "STATE S(?k) FROM A(?k) TO B(?k) TIMEOUT {}",
    "STATE S(?k) FROM A(?k) TO B(?k) LIMIT {}\nRETURN S",
    "STATE S(?k) OVER A(?k) WITHIN {} HAVING (COUNT(*) > 1)",
    "STATE S(?k) OVER A(?k) WITHIN 9 d STEP {} HAVING (COUNT(*) > 1)",
    "FROM NAMED WINDOW <w> ON <s> [RANGE {}]",
    "FROM NAMED WINDOW <w> ON <s> [LATEST {} STEP 1 s]",
    "FROM NAMED WINDOW <w> ON <s> [RANGE 9 d STEP {}]",
)
ONLY_WITH_A_DIGIT = (
    "EVENT X MATCH S(?k) FOR {}",
    "EVENT X MATCH END S(?k) FOR {}",
    "RETURN S FOR {} AS ALERTS",
)
"""FOR is a keyword only before what may be a duration."""


def first_error(text: str, language: Language = "obep") -> Diagnostic:
    with pytest.raises(ObepError) as caught:
        parse(text, language=language)
    return caught.value.diagnostics[0]


def check_remedy(place: str, duration: str, language: Language = "obep") -> None:
    """The remedy is the expected one, and what is underlined can be replaced by each of its durations."""
    text = place.format(duration)
    found = first_error(text, language)
    assert (found.code, found.remedy) == ("OBEP013", MEANT[duration])
    assert found.span is not None
    for remedy in found.remedy.split(", or "):
        parse(text[: found.span.start] + remedy + text[found.span.end :], language=language)


@pytest.mark.parametrize("duration", MEANT)
def test_a_misspelt_duration_gets_a_remedy_that_parses(duration: str) -> None:
    for place in PLACES:
        if "," not in duration or "[" not in place:  # there the comma separates RANGE and STEP
            check_remedy(place, duration)


@pytest.mark.parametrize("duration", [one for one in MEANT if one.strip('-"')[0].isdigit()])
def test_also_after_for(duration: str) -> None:
    for place in ONLY_WITH_A_DIGIT:
        check_remedy(place, duration)


@pytest.mark.parametrize("duration", ["15min30", "15 min 30", "2 weeks", "1 h 30 min"])
def test_also_in_windows_of_other_languages(duration: str) -> None:
    place = "SELECT ?s FROM STREAM <http://e/s> [RANGE {} STEP 1 m] WHERE {{ ?s ?p ?o }}"
    check_remedy(f"REGISTER QUERY q AS {place}", duration, "csparql")


@pytest.mark.parametrize("rest", ["SEQ", "IF { }", "EVENT Y AS A", "min", "a b"])
def test_what_is_no_duration_is_not_taken_for_one(rest: str) -> None:
    assert "needs a duration" in first_error(f"EVENT X MATCH A SEQ B WITHIN {rest} x").message


def test_a_long_row_of_digits_is_read_in_one_way_only() -> None:
    assert other_duration(f"P{'1' * 200}x") is None  # tried in 2 ** 199 ways, it never ended


def test_numbers_that_are_too_long_to_count_with_are_no_durations() -> None:
    for text in ("{}:30", "1:{}", "{} min", "min {}", "P{}D", "1/{} s"):
        assert other_duration(text.format("1" * 5000)) is None
