"""REGEX and REPLACE: XPath's dialect, and time that nobody can make explode."""

from __future__ import annotations

import re
import time

import pytest
from conditions import holds, value
from hypothesis import given, settings
from hypothesis import strategies as st

from obep.guards.regex_automaton import Automaton
from obep.guards.safe_regex import LONGEST_TEXT, MOST_STEPS, Matcher, matcher
from obep.guards.typed_values import ExpressionError
from obep.query.xpath_regex import RegexError, parse_regex
from obep.query.xpath_regex_tree import cost

HOSTILE = [
    ("^(a+)+$", "a" * 5_000 + "b"),
    ("^(a|aa)+$", "a" * 5_000 + "b"),
    ("^(a*)*b", "a" * 5_000),
    (".*.*.*.*x", "a" * 5_000),
    ("a?" * 100 + "a" * 100, "a" * 99),
    ("(x+x+)+y", "x" * 5_000),
    ("([a-z]+)*[0-9]", "a" * 5_000),
    ("(.*)(.*)(.*)(.*)(.*)(.*)z", "a" * 2_000),
]


@pytest.mark.parametrize(("pattern", "text"), HOSTILE, ids=[pattern[:20] for pattern, _ in HOSTILE])
def test_a_hostile_pattern_takes_time_that_grows_with_the_text(pattern: str, text: str) -> None:
    """Python's `re` needs hours for most of these. The bound is generous, and far from any of that."""
    before = time.process_time()
    assert matcher(pattern).search(text) is False
    assert time.process_time() - before < 5


@pytest.mark.parametrize(("pattern", "text"), HOSTILE, ids=[pattern[:20] for pattern, _ in HOSTILE])
def test_replace_refuses_what_it_cannot_bound(pattern: str, text: str) -> None:
    with pytest.raises(ExpressionError):
        matcher(pattern).replace(text, "-")


def test_a_text_that_is_too_long_is_an_error() -> None:
    with pytest.raises(ExpressionError):
        matcher("(a+)+b").search("a" * (LONGEST_TEXT + 1))
    assert matcher("b").search("a" * 1000 + "b")


atoms = st.sampled_from(["a", "b", ".", "[ab]", "[^a]", r"\d", r"\.", "c", r"\w", "[a-c]", " "])
trees = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, min_size=1, max_size=3).map("".join),
        st.lists(inner, min_size=2, max_size=3).map(lambda parts: f"({'|'.join(parts)})"),
        st.builds(
            "(?:{}){}".format, inner, st.sampled_from(["*", "+", "?", "{2}", "{0,2}", "{1,}", "*?", "+?"])
        ),
    ),
    max_leaves=6,
)
patterns = st.builds("{}{}{}".format, st.sampled_from(["", "^"]), trees, st.sampled_from(["", "$"]))
texts = st.text(alphabet="abcA. 1\n", max_size=8)
flags = st.sampled_from(["", "i", "s", "m", "im"])


def in_python(pattern: str, flags: str) -> re.Pattern[str]:
    options = {"i": re.IGNORECASE, "s": re.DOTALL, "m": re.MULTILINE}
    total = 0
    for flag in flags:
        total |= options[flag]
    return re.compile(
        pattern if "m" in flags else pattern.removesuffix("$") + r"\Z" * pattern.endswith("$"), total
    )


@pytest.mark.slow
@settings(max_examples=400, deadline=None)
@given(patterns, texts, flags)
def test_the_automaton_finds_what_python_finds(pattern: str, text: str, flags: str) -> None:
    expected = in_python(pattern, flags).search(text) is not None
    assert Automaton(parse_regex(pattern, flags), flags).search(text) is expected
    assert Matcher(pattern, flags).search(text) is expected


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(patterns, st.text(alphabet="ab", max_size=8))
def test_replace_replaces_what_python_replaces(pattern: str, text: str) -> None:
    python = in_python(pattern, "")
    try:
        found = Matcher(pattern, "").replace(text, "[$0]")
    except ExpressionError:
        assert python.search("") is not None or cost(parse_regex(pattern)) is None
        return
    assert found == python.sub(lambda match: f"[{match[0]}]", text)


@pytest.mark.slow
@settings(max_examples=500, deadline=None)
@given(
    st.text(alphabet="ab()[]{}*+?|\\^$-.0123,dpPL\u00e9", max_size=12),
    st.text(alphabet="ab0-\u00e9", max_size=6),
)
def test_any_pattern_is_used_or_refused(pattern: str, text: str) -> None:
    try:
        parse_regex(pattern)
    except RegexError as error:
        assert str(error)
        with pytest.raises(ExpressionError):
            matcher(pattern)
    else:
        assert matcher(pattern).search(text) in (True, False)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'REGEX("Zürich", "^\\p{Lu}\\p{Ll}+$")', True),
        (r'REGEX("abc", "^[a-z-[b]]+$")', False),
        (r'REGEX("acd", "^[a-z-[b]]+$")', True),
        (r'REGEX("a-b", "[\\-]")', True),
        (r'REGEX("helloworld", "hello world", "x")', True),
        (r'REGEX("a\nb", "a.b")', False),
        (r'REGEX("a\nb", "a.b", "s")', True),
        (r'REGEX("a\nb", "^b$", "m")', True),
        (r'REGEX("ABC", "b", "i")', True),
        (r'REGEX("sensor-17"@en, "[0-9]{2}$")', True),
        (r'REGEX("x]", "[]]")', True),
        (r'REGEX("Ü", "^(a|\\p{Lu})$")', True),
        (r'REGEX("ü", "^(a|\\p{Lu})$")', False),
    ],
)
def test_the_dialect_of_xpath(text: str, expected: bool) -> None:
    assert holds(text) is expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (r'REPLACE("abcd", "b", "Z")', '"aZcd"'),
        (r'REPLACE("abracadabra", "bra", "*")', '"a*cada*"'),
        (r'REPLACE("abracadabra", "a(.)", "a$1$1")', '"abbraccaddabbra"'),
        (r'REPLACE("AAAA", "A+?", "b")', '"bbbb"'),
        (r'REPLACE("abc"@en, "B", "x", "i")', '"axc"@en'),
        (r'REPLACE("1.5 EUR", "EUR", "\\$")', '"1.5 $"'),
        # `$10` is the tenth group if there are so many, else the first one and a zero.
        (r'REPLACE("abc", "(b)", "[$10]")', '"a[b0]c"'),
        (r'REPLACE("abcdefghij", "(a)(b)(c)(d)(e)(f)(g)(h)(i)(j)", "$10$1")', '"ja"'),
        (r'REPLACE("abc", "(b)", "[$2]")', '"a[]c"'),
    ],
)
def test_replace_as_xpath_says(text: str, expected: str) -> None:
    assert value(text) == expected


@pytest.mark.parametrize(
    "text", [r'REPLACE("abc", "b", "\\x")', r'REPLACE("abc", "b", "$")', 'REPLACE(5, "b", "c")']
)
def test_a_wrong_replacement_is_an_error(text: str) -> None:
    assert value(text) is None


@pytest.mark.parametrize(
    "pattern",
    [
        "(", "a)", "[a", "a**", "*", "a{2", "a{3,2}", r"\1", r"\b", "(?=a)", r"\p{Xx}", "[b-a]", "a{99999}",
        "(" * 60 + ")" * 60, "a" * 1001,
    ],
)  # fmt: skip
def test_what_xpath_does_not_have_or_is_too_large_is_refused(pattern: str) -> None:
    with pytest.raises(RegexError):
        parse_regex(pattern)


def test_a_pattern_from_the_data_that_cannot_be_used_is_not_true() -> None:
    assert holds("REGEX(?s, ?p)", s='"abc"', p='"("') is None
    assert holds("REGEX(?s, ?p, ?f)", s='"abc"', p='"b"', f='"g"') is None
    assert holds("REGEX(?s, ?p)", s='"abc"', p='"b"') is True


def test_quick_patterns_are_left_to_python() -> None:
    """So that the usual guard is fast: the automaton is built only when it is needed."""
    usual = Matcher("^sensor-[0-9]+$", "")
    assert usual.search("sensor-17")
    assert usual._automaton is None
    assert MOST_STEPS < 1_000_000
