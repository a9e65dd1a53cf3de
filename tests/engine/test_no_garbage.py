"""Processing items makes no reference cycles, so a run may let the garbage collector run rarely."""

from __future__ import annotations

import gc
from random import Random

import pytest

import obep

HEAD = """PREFIX : <http://e/>
FROM STREAM <s>
FROM NAMED WINDOW <now> ON <s> [LATEST 1 min]
FROM NAMED WINDOW <w> ON <s> [RANGE 20 s STEP 5 s]
EVENT A AS ClassA
EVENT B AS ClassB
EVENT C AS (v some number[> 5])
"""
PATTERNS = (
    "A(?x) SEQ B(?y) WITHIN 50 s",
    "(A(?x) NEXT B(?x)) WITHIN 50 s",
    "A(?x) NOT FOLLOWED BY B(?x) WITHIN 5 s",
    "(A TIMES 3) WITHIN 50 s",
    "((FIRST A) SEQ B) WITHIN 50 s",
    "((LAST A) SEQ B) WITHIN 50 s",
    "((A OR B) SEQ C) WITHIN 20 s",
    "((A SEQ B) WITHOUT C) WITHIN 50 s",
    "(OPTIONAL(A) SEQ B) WITHIN 50 s",
    "(A JOIN (B DURING (A SEQ C))) WITHIN 20 s",
    "A(?x) SEQ B(?x) WITHIN 50 s PARTITION BY ?x",
    "A(?x) SEQ B(?x) WITHIN 50 s POLICY recent",
    """A(?x) AS a SEQ B(?y) AS b WITHIN 50 s
IF { EVENT a { ?x :v ?v } EVENT b { ?y :v ?w } FILTER(?v + 1 < ?w) }""",
)
OTHERS = {
    "a state by events": """STATE S(?x) FROM A(?x) TO B(?x) TIMEOUT 30 s
EVENT H(?x) MATCH S(?x) FOR 3 s
RETURN H""",
    "a state by rows": """STATE S(?x) OVER C(?x) AS r WITHIN 10 s IF { EVENT r { ?this :v ?v } }
AGGREGATE (AVG(?v) AS ?m) (MAX(?v) AS ?most) HAVING (?m > 7)
EVENT H(?x) MATCH END S(?x)
RETURN H""",
    "a state of the latest values": """STATE S(?x) AS { WINDOW <now> { ?x :v ?v FILTER(?v > 7) } }
RETURN S AS ALERTS""",
    "a class over a window": "EVENT H ON <w> AS (v some number[> 8])\nRETURN H",
    "a graph event": "EVENT H(?x) AS { ?x :v ?v FILTER(?v > 7) }\nRETURN H",
    "a query": """REGISTER RSTREAM <q> AS
SELECT ?x (COUNT(*) AS ?n) WHERE { WINDOW <w> { ?x :v ?v } } GROUP BY ?x""",
    "events of events": """EVENT G(?x) MATCH A(?x) SEQ B(?y) WITHIN 20 s
EVENT H(?x) MATCH G(?x) SEQ C(?x) WITHIN 20 s
RETURN H""",
}
CASES = {pattern: f"EVENT H MATCH {pattern}\nRETURN H" for pattern in PATTERNS} | OTHERS


@pytest.mark.parametrize("definitions", [*CASES.values()], ids=[*CASES])
def test_items_leave_no_cycles(definitions: str) -> None:
    engine = obep.load(text=HEAD + definitions, java=False).engine()
    random = Random(1)

    def push(first: int, last: int) -> int:
        return sum(
            len(
                engine.push(
                    f"@prefix : <http://e/> . :x{random.randrange(3)} a :Class{random.choice('AB')} ;"
                    f" :v {random.randrange(10)} .",
                    at=at,
                )
            )
            for at in range(first, last)
        )

    push(1, 60)
    gc.collect()
    gc.disable()
    try:
        assert push(60, 200) > 0
        assert gc.collect() == 0
    finally:
        gc.enable()
