"""Each operator is declared once: syntax in its class, rule beside its node, growth beside its operator."""

from __future__ import annotations

import inspect
from typing import get_args

from obep.operators.operator import GROWN
from obep.operators.tree import WITH_OPERATORS
from obep.plan import nodes
from obep.plan.nodes.node import PLANNED
from obep.query import ast

COPIED = {ast.Leaf, ast.Times}  # `build_plan` makes their nodes: what is copied has other names
REPLACED = {ast.GroupLeaf}  # by `link`
IN_THE_TREE = {nodes.Read, nodes.ReadAny, nodes.Within}  # leaves, and what may be a tree of its own


def test_every_operator_of_the_language_has_a_node() -> None:
    assert set(get_args(ast.Pattern)) == PLANNED.keys() | COPIED | REPLACED


def test_every_node_has_an_operator() -> None:
    kinds = {one for one in vars(nodes).values() if inspect.isclass(one) and issubclass(one, nodes.Node)}
    shared = {base for kind in kinds for base in kind.__mro__[1:]} - {nodes.Read}
    assert kinds - shared == GROWN.keys() | IN_THE_TREE
    assert {function.__module__ for function in GROWN.values()} == {one.__name__ for one in WITH_OPERATORS}


def test_every_operator_has_a_keyword_and_names_fields_that_it_has() -> None:
    for kind in get_args(ast.Pattern):
        assert kind.WORD or kind in (ast.Leaf, ast.GroupLeaf, ast.Allen)
        assert set(kind.DENIED) <= set(kind.OPERANDS) <= set(kind.__dataclass_fields__)
