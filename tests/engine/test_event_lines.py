"""Lines and ids of very many occurrences: the same as if each were written by itself, whatever is in it."""

from __future__ import annotations

import pytest
from engine_cases import engine
from hypothesis import given
from hypothesis import strategies as st
from test_output_lines import ODD, expected

from obep.engine.reporter import Detected, Reporter
from obep.model import EagerOccurrence, Occurrence, Part, Term
from obep.operators.candidates import Candidate
from obep.operators.wire import Content, carried
from obep.output.json_writer import to_line
from obep.plan.plan import EventPlan

E = "http://e/#"
TERMS = (f"<{E}x>", f"<{E}%s>", "<http://e/é%20ü>", ODD, '"chat"@fr', '"%d \\u0007"', '"5"^^<http://e/t>')
INSTANTS = st.integers(-(10**6), 4 * 10**12).map(lambda ms: ms * 1000)


QUERY = """PREFIX : <http://e/#>
EVENT A AS ClassA
EVENT B AS ClassB
EVENT H(?v) MATCH A AS a %s B AS b IF { EVENT a { ?this :p ?v . } }
RETURN H
"""


def composite(relation: str) -> EventPlan:
    return next(one for one in engine(QUERY % relation).query.plan.events if one.root is not None)


SEQ, DURING = composite("SEQ"), composite("DURING")
REPORTERS = (Reporter(SEQ), Reporter(SEQ, (f"<{E}room>", ODD)), Reporter(DURING))


@st.composite
def parts(draw: st.DrawFn, event: str) -> Occurrence:
    """A logical occurrence with some assertions, seen or known; as it came, or as Spark carries it."""
    names = st.sampled_from(TERMS[:3])
    drawn = draw(st.sets(st.tuples(names, names, st.sampled_from(TERMS)), min_size=1, max_size=3))
    at = draw(INSTANTS)
    explanation = tuple((triple, draw(st.booleans())) for triple in sorted(drawn))
    individual = draw(names)
    if draw(st.booleans()):
        return carried(at, Content(f"<{E}{event}>", individual, explanation, {}))
    seen = tuple((triple, at if own else None) for triple, own in explanation)
    start = draw(st.sampled_from((at, at - 5_001_000)))
    return EagerOccurrence(f"<{E}{event}>", individual, seen, start, at, at, start)


def told(by: Reporter, a: Occurrence, b: Occurrence, value: Term | None) -> tuple[Candidate, Occurrence]:
    """What a pattern finds, and the same as an occurrence with all its fields."""
    assert by.plan.root is not None
    context = [alias.context for alias in by.plan.root.aliases]
    held = [one for one, apart in zip((a, b), context, strict=True) if not apart]
    start, end = min(one.start for one in held), max(one.end for one in held)
    candidate = (start, end, max(a.detected, b.detected), start, (a, b), ((value,),))
    seen = {one for part in held for one in part.explanation}
    said = tuple(sorted(seen, key=lambda one: (one[0], one[1] is not None, one[1] or 0)))
    shown = tuple(Part(alias, one, apart) for alias, one, apart in zip("ab", (a, b), context, strict=True))
    bindings = () if value is None else ({"v": value},)
    done, event, bounded = candidate[2], by.plan.event, a.bounded or b.bounded
    whole = EagerOccurrence(
        event, "", said, start, end, done, start, parts=shown, bindings=bindings, bounded=bounded
    )
    whole.partition = by.partition
    return candidate, whole


@pytest.mark.slow
@given(
    st.integers(0, 2),
    parts("A"),
    st.lists(parts("B"), min_size=1, max_size=3),
    st.sampled_from((*TERMS, None)),
)
def test_a_line_and_its_id_are_those_of_the_occurrence_alone(
    which: int, a: Occurrence, several: list[Occurrence], value: Term | None
) -> None:
    by = REPORTERS[which]
    for style in ("iso", "integer"):
        for b in several:
            candidate, whole = told(by, a, b, value)
            line = by.line(Detected(by, candidate), style).decode()
            assert line == expected(whole, style) + "\n"
            assert to_line(Detected(by, candidate), style) + "\n" == line
            assert Detected(by, candidate).id == whole.id
