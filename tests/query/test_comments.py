"""Comments stay, and stay where they are: with what they stand before, inside the event that they are in."""

from __future__ import annotations

from dataclasses import replace
from functools import cache

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from loose import written
from strategies import query_files

from obep.query.parse.lalr import Machine, Token
from obep.query.parse.parse_table import load_table
from obep.query.parse.parser import parse
from obep.query.print.comments import places
from obep.query.print.printer import show

EVERYWHERE = """\
# the file

# of two parts
BASE <http://example.org/>
# what : is
PREFIX : <http://example.org/building#>

# where T is
VOCAB <building.ttl>

# a room
EVENT Busy AS
    # it
    Room
    # and more
    and armedWith some Sensor
  # only these
  IF {
    # its temperature
    ?this :temp ?t .
    # high
    FILTER(?t > 30)
    # that is all
  }

EVENT Entering MATCH
    # first
    Free
    # then
    SEQ Busy
    # soon
    WITHIN 5 min
  # each room by itself
  PARTITION BY ?room
  # the last one
  POLICY recent
  # the same
  IF {
    # of the first
    EVENT Free {
      # where
      ?room :in ?x .
      # not there
      FILTER(?x != :y)
      # end
    }
    # of the second
    EVENT Busy { ?room :in ?x . }
  }
  # tell
  CONSTRUCT {
    # where
    ?this :in ?room .
    # done
  }

# after all

# what is wanted
RETURN Entering AS EVENT STREAM

# the end

# really
"""


def test_comments_may_stand_before_every_line() -> None:
    assert show(parse(EVERYWHERE)) == EVERYWHERE


@pytest.mark.parametrize(
    ("text", "canonical"),
    [
        ("EVENT A AS Room # a room", "EVENT A AS Room  # a room\n"),
        ("EVENT A AS Room\n# its own line\n# another\n", "EVENT A AS Room\n\n# its own line\n# another\n"),
        (
            "EVENT H # one\nMATCH # two\nA # three\nSEQ ((B)) # four",
            "# two\nEVENT H MATCH  # one\n    A  # three\n    SEQ B  # four\n",
        ),
        (
            "EVENT A AS ((Room # in\n)) # out\nIF { # if\n?this ?p 1. # one\n} # end\nRETURN A #r",
            "EVENT A AS  # in\n    Room  # out\n  IF {  # if\n    ?this ?p 1 .  # one\n  }  # end\n\n"
            "RETURN A AS EVENT STREAM  #r\n",
        ),
        (
            "VOCAB <t> FROM STREAM <s> # the doors\nEVENT A AS B EVENT C AS D # about C",
            "VOCAB <t>\nFROM STREAM <s>  # the doors\n\nEVENT A AS B\n\nEVENT C AS D  # about C\n",
        ),
        (
            "EVENT A AS (Room and\n# deep\n(p some (Thing\n# deeper\n)))",
            "EVENT A AS\n    Room\n    # deep\n    # deeper\n    and p some Thing\n",
        ),
        (
            "NAMED EVENT :H { # head\nMATCH every (:A\n# arrow\n-> :B) WITHIN (5 s)\n# last\n}\nEVENT A AS B",
            "NAMED EVENT :H MATCH  # head\n    # arrow\n    EVERY (:A SEQ :B)\n    # last\n    WITHIN 5 s\n\n"
            "EVENT A AS B\n",
        ),
        (
            "EVENT H IF { FILTER(1 < 2) # so it is\n}\n# matched\nMATCH A",
            "EVENT H MATCH  # so it is\n    # matched\n    A\n  IF {\n    FILTER(1 < 2)\n  }\n",
        ),
    ],
)
def test_where_comments_go(text: str, canonical: str) -> None:
    assert show(parse(text)) == canonical
    assert parse(canonical) == parse(text)


@cache
def bare_machine() -> Machine:
    """It reads, and builds nothing."""
    names = {shape.callback for origin, _, shape in load_table().rules if not origin.startswith("_")}
    return Machine(load_table(), dict.fromkeys(names, lambda children: None))


@st.composite
def commented(draw: st.DrawFn) -> tuple[str, str]:
    """A query as somebody may write it, and the same with comments anywhere, some at the ends of lines."""
    _, text = draw(written(query_files().map(lambda file: replace(file, comments=()))))
    words: list[Token] = []
    bare_machine().run(text, words.append)
    gaps = [word.span.start for word in words] + [len(text)]
    pieces, before = [], 0
    for number, gap in enumerate(sorted(draw(st.lists(st.sampled_from(gaps), max_size=4)))):
        pieces.append(f"{text[before:gap]}{draw(st.sampled_from(chr(10) + ' '))}# c{number}\n")
        before = gap
    return text, "".join(pieces) + text[before:]


@pytest.mark.slow
@given(commented())
@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
def test_no_comment_is_lost_or_leaves_its_event(pair: tuple[str, str]) -> None:
    plain, text = pair
    file = parse(text)
    assert replace(file, comments=()) == parse(plain)
    canonical = show(file)
    again = parse(canonical)
    assert again == file
    assert show(again) == canonical
    assert sorted(comment.text for comment in file.comments) == [f"# c{n}" for n in range(len(file.comments))]
    ends = [place.until for place in places(file)]
    for comment in file.comments:
        for event in file.events:
            if event.span.start <= comment.span.start < event.extent.end:
                assert ends[comment.before] == event.extent.end
