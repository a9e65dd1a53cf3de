"""The nodes that a path leads to from a node, for paths that repeat (SPARQL 1.1, 18.4)."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Literal as Choice

from obep.algebra.evaluation import Evaluation, check_steps
from obep.model import Term
from obep.query.ast import (
    Name,
    Path,
    PathAlternative,
    PathInverse,
    PathNegated,
    PathRepeat,
    PathSequence,
)

Successors = Callable[[Evaluation, Term], Iterable[Term]]


def successors(path: Path, backward: bool = False) -> Successors:
    """The function from a node to the nodes that a path leads to from it, or comes from to it."""
    if isinstance(path, Name):
        return _one_step(path.iri, backward)
    if isinstance(path, PathInverse):
        return successors(path.path, not backward)
    if isinstance(path, PathAlternative):
        branches = [successors(branch, backward) for branch in path.branches]
        return lambda run, node: {other for branch in branches for other in branch(run, node)}
    if isinstance(path, PathSequence):
        steps = [successors(step, backward) for step in path.steps]
        return _in_turn(steps[::-1] if backward else steps)
    if isinstance(path, PathRepeat):
        inner, times = successors(path.path, backward), path.times
        return lambda run, node: walked(run, inner, node, times)
    return _any_but(path, backward)


def walked(run: Evaluation, step: Successors, node: Term, times: Choice["?", "*", "+"]) -> list[Term]:
    """The nodes reached by a path that repeats, each once."""
    if times == "?":
        return list(dict.fromkeys((node, *step(run, node))))
    seen: dict[Term, None] = {node: None} if times == "*" else {}
    waiting = [node]
    while waiting:
        for other in step(run, waiting.pop()):
            if other not in seen:
                seen[other] = None
                check_steps(len(seen))
                waiting.append(other)
    return list(seen)


def _one_step(predicate: Term, backward: bool) -> Successors:
    if backward:
        return lambda run, node: [s for s, _, _ in run.match(None, predicate, node)]
    return lambda run, node: [o for _, _, o in run.match(node, predicate, None)]


def _in_turn(steps: list[Successors]) -> Successors:
    def follow(run: Evaluation, node: Term) -> Iterable[Term]:
        nodes: Iterable[Term] = (node,)
        for step in steps:
            nodes = {other for one in nodes for other in step(run, one)}
        return nodes

    return follow


def _any_but(path: PathNegated, backward: bool) -> Successors:
    ahead = frozenset(name.iri for name in path.forward) if path.forward or not path.backward else None
    behind = frozenset(name.iri for name in path.backward) if path.backward else None
    if backward:
        ahead, behind = behind, ahead

    def other(run: Evaluation, node: Term) -> Iterable[Term]:
        found: set[Term] = set()
        if ahead is not None:
            found |= {o for _, p, o in run.match(node, None, None) if p not in ahead}
        if behind is not None:
            found |= {s for s, p, _ in run.match(None, None, node) if p not in behind}
        return found

    return other
