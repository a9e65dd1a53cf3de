"""What is said about wrong syntax: one golden file for each code, and laws that hold for all messages.

`python tests/query/test_syntax_errors.py` writes the golden files anew; read each before you commit it.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from obep.codes import CODES
from obep.errors import Diagnostic, ObepError
from obep.query.languages import LANGUAGES
from obep.query.link import link
from obep.query.parse.parse_table import load_table
from obep.query.parse.parser import parse, parse_bytes
from obep.query.syntax_errors.error_context import situation_of
from obep.query.syntax_errors.expected_words import KEYWORDS, keywords
from obep.query.syntax_errors.mistakes import explain, mistakes

ERRORS = Path(__file__).parent / "data" / "errors"
GOLDEN = sorted(ERRORS.glob("*.obep"))


def diagnostics(path: Path) -> tuple[Diagnostic, ...]:
    try:
        link(parse_bytes(path.read_bytes(), path.name), ERRORS)
    except ObepError as error:
        return error.diagnostics
    return ()


def said(path: Path) -> str:
    text = "\n\n".join(str(one) for one in diagnostics(path)) + "\n"
    return text.replace(str(ERRORS), "FOLDER")


@pytest.mark.parametrize("path", GOLDEN, ids=lambda path: path.stem)
def test_golden(path: Path) -> None:
    assert said(path) == path.with_suffix(".expected").read_text(encoding="utf-8")


def test_every_code_of_syntax_has_a_golden_file() -> None:
    found = {one.code for path in GOLDEN for one in diagnostics(path)}
    syntax = {code for code in CODES if "OBEP000" < code < "OBEP100" or "OBEP430" < code < "OBEP443"}
    assert syntax <= found


def test_a_golden_file_is_named_by_its_first_code() -> None:
    for path in GOLDEN:
        if path.stem[0].isdigit():
            assert diagnostics(path)[0].code == f"OBEP{path.stem[:3]}", path.stem


def test_every_message_says_where_why_and_what_to_do() -> None:
    for path in GOLDEN:
        for one in diagnostics(path):
            assert one.code in CODES
            assert one.reason, path.stem
            assert one.code in ("OBEP001", "OBEP006") or one.remedy, path.stem
            if one.code != "OBEP006":
                assert one.span is not None, path.stem
                assert one.line_text, path.stem


def test_a_shown_line_is_the_files_own() -> None:
    for path in GOLDEN:
        lines = path.read_bytes().decode("utf-8", "replace").split("\n")
        for one in diagnostics(path):
            if one.span is not None and one.file == path.name:
                assert one.line_text == lines[one.span.line - 1].rstrip("\r"), path.stem


# --- the examples ---------------------------------------------------------------------------------------

EXAMPLES = [(mistake, example) for mistake in mistakes() for example in mistake.examples]


def test_every_example_gets_the_message_it_stands_for() -> None:
    wrong = []
    for mistake, example in EXAMPLES:
        situation = situation_of(example)
        assert situation is not None, f"{example} is right"
        found = explain(situation)
        blanks = dict.fromkeys(("word", "upper", "lower", "previous", "expected", "chunk"), "\0")
        message = re.escape(mistake.message.format_map(blanks)).replace(re.escape("\0"), ".*")
        if found.code != mistake.code or not re.fullmatch(message, found.message):
            wrong.append(f"{example}: {found.message} instead of {mistake.message}")
    assert wrong == []


def test_no_message_leaves_a_blank_unfilled() -> None:
    for _, example in EXAMPLES:
        situation = situation_of(example)
        assert situation is not None
        text = str(explain(situation))
        assert not re.search(r"\{(word|upper|lower|previous|expected|chunk)\}", text), example


def test_the_keywords_of_the_messages_are_those_of_the_grammar() -> None:
    terminals = {kind: words for one in LANGUAGES for kind, words in load_table(one).terminals.items()}
    assert set(KEYWORDS) <= set(terminals)
    looked_for = {kind for one in LANGUAGES for _, does, _ in load_table(one).states for kind in does}
    for terminal in looked_for - {"$END"}:
        for word in keywords(terminal):
            if word != "PARTITION":
                follows = (
                    f"{word} {next_word}" for next_word in ("<x>", "{", "x", "x(?k) FROM", "5 s", "QUERY x")
                )
                assert any(re.match(terminals[terminal], text) for text in follows), word


# --- several at once ------------------------------------------------------------------------------------


def places(text: str) -> list[tuple[str, int]]:
    with pytest.raises(ObepError) as caught:
        parse(text)
    return [(one.code, one.span.line if one.span else 0) for one in caught.value.diagnostics]


def test_errors_of_different_events_are_reported_together() -> None:
    text = "EVENT A MATCH B SEQ\nEVENT C AS D\nEVENT E AS F and\n\nRETURN A,\nEVENT G AS ex:H\n"
    assert places(text) == [("OBEP066", 1), ("OBEP079", 3), ("OBEP049", 5), ("OBEP007", 6)]


def test_one_error_is_one_error() -> None:
    assert places("EVENT A MATCH (B SEQ C\nEVENT D AS E\nRETURN A\n") == [("OBEP003", 1)]
    assert places("EVENT A MATCH B IF { EVENT B { ?x :p ?y }\nEVENT D AS E\nRETURN A\n") == [("OBEP003", 2)]


def test_a_broken_prologue_hides_the_prefixes_it_declares() -> None:
    assert places("PREFIX ex <http://e.org/>\nEVENT A AS ex:B\nEVENT C MATCH D SEQ\n") == [
        ("OBEP049", 1),
        ("OBEP066", 3),
    ]


def test_errors_in_the_prologue_and_after_it() -> None:
    assert places("VOCAB x.ttl\nFROM STREAM <s>\nINCLUDE y\nEVENT A AS\n") == [
        ("OBEP042", 1),
        ("OBEP042", 3),
        ("OBEP079", 4),
    ]


def test_the_caret_is_under_the_word() -> None:
    with pytest.raises(ObepError) as caught:
        parse("EVENT A AS Room\nEVENT B MATCH A SEQ A WTIHIN 5 min", "rooms.obep")
    assert str(caught.value).splitlines()[1:4] == [
        "  rooms.obep:2:23",
        "    2 | EVENT B MATCH A SEQ A WTIHIN 5 min",
        "      |                       ^^^^^^",
    ]


if __name__ == "__main__":
    for golden in GOLDEN:
        golden.with_suffix(".expected").write_text(said(golden), encoding="utf-8")
