"""The recipes of docs/contributing.md are followed in a copy of obep: what they name is all that it takes."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent.parent
QUERY = """PREFIX : <http://e/>
FROM STREAM <s>
EVENT A AS (v some number)
EVENT B AS (w some number)
EVENT H(?x) MATCH {pattern} WITHIN 5 min
RETURN H
"""
SAID = ((1, "v"), (1, "w"), (2, "v"), (3, "w"))
ITEMS = "".join(f'{{"time": {at}, "graph": "<http://e/x> <http://e/{p}> 1 ."}}\n' for at, p in SAID)

NODE = '''
@dataclass(frozen=True)
class Twin(Binary):
    """`L TWIN R`: l ⋈ r that begin together."""

    @property
    def label(self) -> str:
        return "TWIN"

    @cached_property
    def aliases(self) -> tuple[Alias, ...]:
        return self.left.aliases + self.right.aliases


@plans(ast.Twin)
def _(pattern: ast.Twin, plan: Planning) -> Node:
    return reduce(Twin, map(plan.node, pattern.operands))
'''
OPERATOR = '''"""TWIN: two that begin together."""

from __future__ import annotations

from collections.abc import Iterable

from obep.operators.candidates import START, Candidate, Emit
from obep.operators.memory import Memory
from obep.operators.operator import Operator, Place, grows
from obep.operators.pair import Union, kept_for
from obep.plan import nodes


class Twin(Operator):
    state = ("lefts", "rights")

    def __init__(self, node: nodes.Twin, emit: Emit) -> None:
        self.emit = emit
        self.union = Union(node, "JOIN")
        self.lefts = Memory(self.union.key_left, *kept_for(node))
        self.rights = Memory(self.union.key_right, *kept_for(node))

    def take_left(self, left: Candidate) -> None:
        for right in self.rights.partners(left, self.union.key_left, None, None):
            self._try(left, right)
        self.lefts.add(left)

    def take_right(self, right: Candidate) -> None:
        for left in self.lefts.partners(right, self.union.key_right, None, None):
            self._try(left, right)
        self.rights.add(right)

    def _try(self, left: Candidate, right: Candidate) -> None:
        pair = self.union(left, right)
        if pair is not None and left[START] == right[START]:
            self.emit(pair)

    def memories(self) -> Iterable[Memory]:
        return (self.lefts, self.rights)


@grows(nodes.Twin)
def _(node: nodes.Twin, place: Place) -> Operator | None:
    operator = Twin(node, place.emit)
    place.grow(node.left, operator.take_left)
    place.grow(node.right, operator.take_right)
    return place.add(operator)
'''
RULE = '''"""a pattern that begins with LAST

What it does: Finds LAST.

Why: This is a trial.

Example:

    EVENT H MATCH (LAST A) SEQ B

Fix:

    EVENT H MATCH A SEQ B
"""

from __future__ import annotations

from collections.abc import Iterator

from obep.errors import Diagnostic
from obep.lints.analysis.pattern_layout import Scope
from obep.query.ast import Last
from obep.query.diagnostics import quote, say
from obep.query.pattern_walk import patterns

CODE = "OBEP298"
NAME = "last-of-a-trial"
SEVERITY = "warning"


def check_pattern(scope: Scope) -> Iterator[Diagnostic]:
    for node in patterns(scope.event.pattern):
        if isinstance(node, Last):
            yield say(CODE, scope.file, node.span, f"{quote(node)} is there", "This is a trial.", "A SEQ B")
'''


class Copy:
    """A copy of obep that is changed, and run in processes of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.touched: set[str] = set()
        for name in ("obep", "grammar", "ontologies", "docs"):
            shutil.copytree(ROOT / name, folder / name, ignore=shutil.ignore_patterns("__pycache__", "page"))
        (folder / "s.jsonl").write_text(ITEMS)

    def change(self, name: str, before: str, after: str) -> None:
        path = self.folder / name
        text = path.read_text("utf-8")
        assert before in text, f"{name} has changed: give this trial another place for {after!r}"
        path.write_text(text.replace(before, after, 1), "utf-8")
        self.touched.add(name)

    def add(self, name: str, text: str) -> None:
        (self.folder / name).write_text(text, "utf-8")
        self.touched.add(name)

    def python(self, *words: str) -> str:
        environment = {**os.environ, "PYTHONPATH": str(self.folder)}
        ran = subprocess.run(
            [sys.executable, "-m", *words],
            cwd=self.folder,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ran.returncode == 0, ran.stderr
        return ran.stdout + ran.stderr

    def found(self, pattern: str, *options: str) -> list[str]:
        (self.folder / "q.obep").write_text(QUERY.format(pattern=pattern))
        run = ("run", "q.obep", "--engine", "embedded", "--quiet", "--source", "s=s.jsonl")
        return self.python("obep", *run, *options).splitlines()


@pytest.fixture
def copy(tmp_path: Path) -> Copy:
    return Copy(tmp_path)


@pytest.mark.slow
def test_an_operator_takes_the_files_of_its_recipe(copy: Copy) -> None:
    nodes, binary = "obep/query/ast/pattern_nodes.py", "obep/plan/nodes/binary.py"
    copy.change("grammar/terminals.lark", "JOIN.5:", 'TWIN.5: "twin"i END\nJOIN.5:')
    copy.change(
        "grammar/obep.lark", "| JOIN unary -> join\n", "| JOIN unary -> join\n        | TWIN unary -> twin\n"
    )
    copy.change(nodes, '    "Times",\n', '    "Times",\n    "Twin",\n')
    copy.change(nodes, "    | Join\n", "    | Join\n    | Twin\n")
    twin = '@dataclass(frozen=True, slots=True)\nclass Twin(Chain):\n    WORD = "TWIN"\n\n\n'
    before = "@dataclass(frozen=True, slots=True)\nclass Join(Chain):"
    copy.change(nodes, before, twin + before)
    copy.change(binary, '    "Silence",\n', '    "Silence",\n    "Twin",\n')
    copy.change(binary, "\n@plans(ast.Join)", f"{NODE}\n\n@plans(ast.Join)")
    copy.add("obep/operators/twin.py", OPERATOR)
    copy.change("obep/operators/tree.py", "state_context, within\n", "state_context, twin, within\n")
    copy.change("obep/operators/tree.py", "state_context, within)", "state_context, twin, within)")
    copy.python("obep.query.parse.parse_table")
    assert len(copy.found("A(?x) TWIN B(?x)", "--as", "ids")) == 1
    assert len(copy.found("(A(?x) TWIN B(?x)) SEQ A(?x)", "--as", "ids")) == 1
    assert "├─ TWIN" in copy.python("obep", "explain", "q.obep")
    assert (
        "(A(?x) TWIN B(?x)) SEQ"
        in copy.python("obep", "fmt", "q.obep") + (copy.folder / "q.obep").read_text()
    )
    assert len(copy.touched | {"tests/oracle", "docs/operators.md", "docs/scripts/timelines.py"}) == 9


@pytest.mark.slow
def test_a_warning_takes_two_files_and_an_output_format_two(copy: Copy) -> None:
    copy.add("obep/lints/rules/query/last_of_a_trial.py", RULE)
    copy.change(
        "obep/codes.py", '    "OBEP240":', '    "OBEP298": "a pattern that begins with LAST",\n    "OBEP240":'
    )
    assert len(copy.touched) == 2
    copy.change(
        "obep/config/output_forms.py", '    "ids":', '    "times": OutputForm((".times",)),\n    "ids":'
    )
    writer = '    "times": lambda one, style, columns: [f"{one.start} {one.end}\\n"],\n'
    copy.change("obep/output/form_texts.py", '    "rows": _rows,', f'{writer}    "rows": _rows,')
    assert len(copy.touched) == 4
    assert copy.found("(LAST A(?x)) SEQ B(?x)", "--as", "times") == ["2000000 3000000"]
    assert copy.found("(LAST A(?x)) SEQ B(?x)", "--sink", "found.times") == []
    assert (copy.folder / "found.times").read_text() == "2000000 3000000\n"
    assert "OBEP298  warning: LAST A(?x) is there" in copy.python("obep", "check", "q.obep")
    assert "OBEP298" not in copy.python("obep", "check", "q.obep", "--ignore", "OBEP298")
    copy.python("obep.lints.error_pages")
    assert "Finds LAST." in copy.python("obep", "rule", "OBEP298")
    assert "### OBEP298 · a pattern that begins with LAST" in (copy.folder / "docs/errors.md").read_text(
        "utf-8"
    )
