"""By which variable the work of a query can be split, so that its answers stay the same (DIALECTS 11).

Every pattern that a stream may match has the variable as its subject or object, and every row binds it. So
all that a row is made of is in items that name its value, and a bucket that has these items has the row.
"""

from __future__ import annotations

from collections.abc import Sequence

from obep.model import Term
from obep.plan.plan import Plan
from obep.plan.split_group import BY_ITEMS, splits_rows
from obep.query import ast
from obep.query.linked_queries import LinkedQuery

ANY_ITEM = ast.Window("", "", "range")
"""What the patterns of a query over timed triples look at."""


def query_keys(plan: Plan, queries: Sequence[LinkedQuery]) -> tuple[dict[Term, str], str]:
    """The variable of each query of a component; or why they have one bucket."""
    keys: dict[Term, str] = {}
    called = frozenset(one.name for one in queries)
    for query in queries:
        reason = _why_whole(plan, query)
        if query.reads(called):
            reason = "a query reads another one"
        if reason:
            return {}, reason
        key = next((name for name in query.columns if _splits(plan, query, name)), None)
        if key is None:
            return {}, "no variable is in all patterns and rows of the query"
        keys[query.iri] = key
    return keys, ""


def _why_whole(plan: Plan, query: LinkedQuery) -> str:
    form, settings = query.register.form, query.settings
    stepless = not query.timed and query.register.operator == "rstream" and not query.steps
    reasons = {
        "a rule feeds all statements": query.timed and isinstance(form, ast.ConstructQuery),
        "only the rows of SELECT can be split": not isinstance(form, ast.Select),
        "MATCH looks at all items": query.match is not None,
        "T may lead from one subject to another": plan.reaching is None,
        "ORDER BY, LIMIT and OFFSET look at all rows": bool(
            query.select.order_by or query.select.limit is not None or query.select.offset
        ),
        "POLICY looks at all solutions": settings.get("policy", "unrestricted") != "unrestricted",
        "REPORT change looks at all items": settings.get("report") == "change",
        "without STEP, RSTREAM answers whenever an item comes": stepless,
        "the static graph is a part of its default graph": bool(_default(query))
        and not query.timed
        and plan.has_k,
    }
    return next((words for words, holds in reasons.items() if holds), "")


def _default(query: LinkedQuery) -> list[ast.Window]:
    return [one for one in query.windows if one.role == "default"]


def _splits(plan: Plan, query: LinkedQuery, key: str) -> bool:
    windows = {one.name: one for one in query.windows}
    default = _default(query)
    if query.timed:
        around: ast.Window | None = ANY_ITEM
    elif any(one.kind not in BY_ITEMS for one in default):
        return False
    else:
        around = default[0] if default else None
    return splits_rows(query.select, key, windows, plan.reaching or frozenset(), around)
