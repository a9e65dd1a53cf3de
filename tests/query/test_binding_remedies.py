"""What OBEP120 suggests binds the variable: the query with it has no such error any more."""

from __future__ import annotations

import pytest

from obep.lints.check_query import check
from obep.query.link import link
from obep.query.parse.parser import parse

HEAD = """EVENT A AS (x some number)
EVENT B AS (y some number)
STATE S(?k) FROM A(?k) TO B(?k) LIMIT 1 h
"""
CASES = {
    "EVENT X(?k, ?w) MATCH BEGIN S(?k) {}": ("", "IF { EVENT S { ?k :property ?w } }"),
    "EVENT X(?w) MATCH S(?k) FOR 5 min {}": ("", "IF { EVENT S { ?k :property ?w } }"),
    "EVENT X(?w) MATCH {}": ("A", "A(?w)   or IF { EVENT A { ?this :property ?w } }"),
    "EVENT X MATCH A IF {{ FILTER(?v > 3) {} }}": (
        "",
        "A(?v)   or EVENT A { ?this :property ?v }   in its IF",
    ),
    "EVENT X AS A IF {{ ?this :x ?y FILTER(?v > 3) {} }}": ("", "?this :property ?v   in its IF"),
    "STATE T(?k) OVER A(?k) WITHIN 1 h {} HAVING (AVG(?v) > 3)": ("", "IF { EVENT A { ?k :property ?v } }"),
    "STATE T(?k) OVER {} WITHIN 1 h HAVING (COUNT(*) > 3)": ("A", "A(?k)"),
    "STATE T(?k) OVER A(?x) WITHIN 1 h {} HAVING (COUNT(*) > 3)": ("", "IF { EVENT A { ?x :property ?k } }"),
    "STATE T(?k) FROM A(?k) OR {} TO A(?k) LIMIT 1 h": ("B", "B(?k)"),
    "STATE T(?k) AS {{ ?z :p ?t {} }}": ("", "?k :property ?t   in every alternative of the group"),
    "STATE T(?b) DAILY FROM 10:00 TO 12:00 {}": ("", "IF { ?b a :Building }"),
}


def said(text: str) -> list[str]:
    found = check(link(parse(f"{HEAD}{text}\n")))
    return [one.remedy for one in found if one.code == "OBEP120"]


@pytest.mark.parametrize("query", CASES)
def test_a_remedy_binds_the_variable(query: str) -> None:
    written, remedy = CASES[query]
    assert said(query.format(written)) == [remedy]
    for clause in remedy.split("   or "):
        if written.isalpha() == ("{" in clause):  # the other alternative, which stands elsewhere
            continue
        helped = clause.partition("   ")[0]
        space = " . " if helped.startswith("?") else " "
        assert said(query.format(space + helped)) == []
