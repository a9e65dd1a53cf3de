"""Each operator says what it is called in the field: the page of a service shows it."""

from __future__ import annotations

import importlib
import pkgutil

import obep.operators
from obep.operators.operator import Operator


def test_every_operator_has_a_name_of_the_field() -> None:
    for module in pkgutil.iter_modules(obep.operators.__path__):
        importlib.import_module(f"obep.operators.{module.name}")
    found: dict[str, str] = {}
    left: list[type[Operator]] = [Operator]
    while left:
        classes = left.pop().__subclasses__()
        found |= {one.__name__: one.field_name for one in classes if one.__module__.startswith("obep.")}
        left += classes
    assert {name for name, called in found.items() if not called} <= {"Choosing", "PairsOfRight"}  # bases
    assert (found["Sequence"], found["Pair"]) == ("sequence (SEQ)", "join (AND, relations of intervals)")
