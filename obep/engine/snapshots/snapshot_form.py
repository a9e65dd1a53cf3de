"""The form of a snapshot: what the parts that all patterns share must be, looked at before any is used.

A digest finds damage, not a snapshot that was written by hand or by another program. What is refused here
would otherwise fail in the midst of a run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Literal

import msgspec

from obep.engine.pushed_values import is_term
from obep.model import Assertion, Sent, Solution, Term, Triple
from obep.operators.wire import Content

MISFITS = (msgspec.MsgspecError, AttributeError, LookupError, TypeError, ValueError, RecursionError)
"""The exceptions of reading a malformed state."""
COUNTED = ("items", "processed", "dead_letters", "occurrences")
"""The counters of every engine."""
_Triples = tuple[Triple, ...]
Waiting = tuple[str, int, _Triples, str, bytes, _Triples | None, bytes, tuple[tuple[Triple, Sent], ...]]
"""An item or a change that waits for the watermark."""
Stored = tuple[bytes, list[Term] | None, list[Term], tuple[int, list[str]], Any]
"""A version of the query: its files (none where it is the query itself), what it was begun for (nothing: for
all), what it decides, what was reported at the instant in which it began, and what its patterns remember."""
KeptChanges = tuple[int | None, list[Triple], list[Triple]]
"""The last instant that was judged, and how K differs from the one at the start: what came, what went."""
Kept = tuple[dict[str, Any], dict[str, int], list[Waiting], list[Stored], KeptChanges]
"""The content of a snapshot: the clock, counters, waiting items, versions of the query, changes of K."""
_Number = dict[Literal["o"], int]


class _ItemForm(msgspec.Struct, array_like=True, forbid_unknown_fields=True, gc=False):
    stream: str
    at: int
    triples: tuple[Triple, ...]
    name: Term
    converted: tuple[tuple[Triple, Sent], ...] = ()


_Item = dict[Literal["i"], _ItemForm]
_Remembered = tuple[
    int | None, list[Any], list[tuple[Term, Any]], list[_Number], list[_Item], list[Content], bool
]
_Carried = tuple[int, int]
_Occurrence = tuple[
    Term,
    Term,
    tuple[Assertion, ...],
    tuple[int, int, int, int],
    list[tuple[int, tuple[Solution, ...]]],
    list[tuple[str, int, bool]],
    list[dict[str, Term]],
    list[Term],
    tuple[Triple, ...],
    bool,
    str,
    list[int | Term],
    tuple[str, ...],
]


def kept_in(plain: Any) -> Kept:
    """The parts of a snapshot; raises ValueError (msgspec's is one) where they have another form."""
    clock, counters, waiting, versions, changes = msgspec.convert(plain, Kept)
    if missing := [name for name in COUNTED if name not in counters]:
        raise ValueError(f"it does not say how many {', '.join(missing)} there were")
    for item in waiting:
        _require_terms((*item[2], *(item[5] or ())))
    for triples in changes[1:]:
        _require_terms(triples)
    if not versions:
        raise ValueError("it has no version of the query")
    for *_, state in versions:
        _require_state(state)
    return clock, counters, waiting, versions, changes


def _require_state(state: Any) -> None:
    _, occurrences, runs, _, items, _, _ = msgspec.convert(state, _Remembered)
    for one in occurrences:
        if len(one) == 2:  # its content is shared
            msgspec.convert(one, _Carried)
        else:
            found = msgspec.convert(one, _Occurrence)
            _require_terms([triple for triple, _ in found[2]])
            _require_terms(found[8])
    for item in items:
        _require_terms(item["i"].triples)
    for _, run in runs:
        _require_meant(run, len(occurrences))


def _require_meant(plain: Any, occurrences: int) -> None:
    """Whatever stands for an occurrence or an item in the state of a pattern is one."""
    if isinstance(plain, list):
        for one in plain:
            _require_meant(one, occurrences)
    elif isinstance(plain, Mapping):
        if "i" in plain:
            _require_terms(msgspec.convert(plain, _Item)["i"].triples)
        elif not 0 <= msgspec.convert(plain, _Number)["o"] < occurrences:
            raise ValueError(f"it means occurrence {plain['o']} of {occurrences}")


def _require_terms(triples: Iterable[Triple]) -> None:
    for triple in triples:
        for term in triple:
            if not is_term(term):
                raise ValueError(f"{term[:60]!r} is no term")
