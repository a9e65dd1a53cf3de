"""Answers whose rows several buckets give: one for each instant, in the order of the embedded engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import msgspec

from obep.algebra.term_order import written
from obep.model import Answer, Term
from obep.output.form_texts import Found, text_in_form
from obep.plan.plan import Plan


def joined_answers(parts: Iterable[Mapping[str, Any]], plan: Plan, forms: Sequence[str]) -> Iterator[Found]:
    """The answers that parts are of, with their texts in some forms; those of one answer have one id."""
    answers: dict[str, list[Mapping[str, Any]]] = {}
    for part in parts:
        answers.setdefault(part["id"], []).append(part)
    columns = {one.iri: one.columns for one in plan.queries}
    for name, of in answers.items():
        first = of[0]
        event, times = f"<{first['event']}>", (first["start"], first["end"], first["detected"])
        rows: list[dict[str, Term]] = []
        for part in of:
            style, op, own = part["texts"]
            rows += msgspec.json.decode(own)
        rows.sort(key=lambda row: written(tuple(map(row.get, columns[event]))))
        answer = Answer(event, "", (), *times, first["start"], bindings=tuple(rows), _id=name, op=op)
        texts = {form: text_in_form(answer, form, style or None, plan) for form in forms}
        yield Found(first["event"], name, *times, texts, answer=True)
