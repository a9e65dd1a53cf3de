"""Names that do not matter, renamed so that alike questions look the same.

Entailment does not care what an individual is called unless T names it (REASONING 4.3). The new names come
from refining colours (what is said of an individual, then of its neighbours, …); where that leaves a tie, one
is picked and the refinement goes on. Ties between individuals that are not interchangeable may be broken
differently for two alike questions: that costs one more evaluation, never a wrong answer, because the key is
the renamed question itself.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.hermit.reasoner_protocol import Answer, Goal, Question

Names = Mapping[Term, Term]
LARGE = 5_000
"""Triples of a question for which it does not pay to look for alike ones."""
Edge = tuple[str, Term, str]
"""The origin of a statement, its property, and its direction, class or literal."""


def canonical(question: Question, fixed: Collection[Term]) -> tuple[Question, dict[Term, Term]]:
    """The question with new names for all individuals that are not `fixed`, and the way back to the old."""
    if len(question.item) + len(question.background) > LARGE:
        return renamed(question, {}), {}
    colours = _discrete(*_neighbours(question, fixed))
    order = sorted(colours, key=colours.__getitem__)
    names = {old: f"_:n{i}" if old.startswith("_:") else f"<urn:obep:n{i}>" for i, old in enumerate(order)}
    return renamed(question, names), {new: old for old, new in names.items()}


def renamed(question: Question, names: Names) -> Question:
    """The question in other names, its parts sorted."""
    return Question(
        tuple(sorted(_triple(t, names) for t in question.item)),
        tuple(sorted(_triple(t, names) for t in question.background)),
        tuple(sorted((event, names.get(c, c)) for event, c in question.goals)),
        _sets(question.lower, names),
        question.check_consistency,
        question.max_explanations,
        question.max_asked,
    )


def renamed_answer(answer: Answer, names: Names) -> Answer:
    """The answer in other names."""
    clash = None if answer.clash is None else frozenset(_triple(t, names) for t in answer.clash)
    return Answer(_sets(answer.explanations, names), clash, answer.capped, answer.asked)


def _sets(
    found: Mapping[Goal, tuple[frozenset[Triple], ...]], names: Names
) -> dict[Goal, tuple[frozenset[Triple], ...]]:
    return {
        (event, names.get(c, c)): tuple(frozenset(_triple(t, names) for t in one) for one in sets)
        for (event, c), sets in found.items()
    }


def _triple(triple: Triple, names: Names) -> Triple:
    s, p, o = triple
    return names.get(s, s), p, o if p == RDF_TYPE else names.get(o, o)


def _neighbours(
    question: Question, fixed: Collection[Term]
) -> tuple[dict[Term, list[Edge]], dict[Term, list[tuple[str, Term, Term]]]]:
    """For each renameable individual: the statements about it alone, and its edges to other such
    individuals."""
    alone: dict[Term, list[Edge]] = defaultdict(list)
    edges: dict[Term, list[tuple[str, Term, Term]]] = defaultdict(list)
    for place, triples in (("item", question.item), ("background", question.background)):
        for s, p, o in triples:
            free_object = p != RDF_TYPE and not o.startswith('"') and o not in fixed
            if s not in fixed:
                alone[s]
                if free_object and o != s:
                    edges[s].append((place, f"{p}>", o))
                else:
                    alone[s].append((place, p, ">self" if o == s else f">{o}"))
            if free_object:
                alone[o]
                if s in fixed:
                    alone[o].append((place, p, f"<{s}"))
                elif o != s:
                    edges[o].append((place, f"{p}<", s))
    for event, individual in question.goals:
        if individual not in fixed:
            alone[individual].append(("goal", event, ""))
    for name, said in alone.items():
        said.append(("kind", name[:1], ""))
        said.sort()
    return alone, edges


def _discrete(
    alone: dict[Term, list[Edge]], edges: dict[Term, list[tuple[str, Term, Term]]]
) -> dict[Term, int]:
    """Give each individual its own colour, from the statements about it and around it."""
    colours = _ranked({name: tuple(said) for name, said in alone.items()})
    while True:
        colours = _refined(colours, edges)
        classes: dict[int, list[Term]] = defaultdict(list)
        for name, colour in colours.items():
            classes[colour].append(name)
        tied = sorted(colour for colour, names in classes.items() if len(names) > 1)
        if not tied:
            return colours
        single = {colour for colour, names in classes.items() if len(names) == 1}
        twins = [c for c in tied if all(colours[o] in single for _, _, o in edges[classes[c][0]])]
        for colour in twins or tied[:1]:  # twins differ in nothing but their names
            names = classes[colour] if twins else classes[colour][:1]
            for i, name in enumerate(names):
                colours[name] = -1 - len(colours) * colour - i


def _refined(colours: dict[Term, int], edges: dict[Term, list[tuple[str, Term, Term]]]) -> dict[Term, int]:
    count = 0
    while count < (count := len(set(colours.values()))):
        colours = _ranked(
            {
                name: (colour, sorted((place, p, colours[other]) for place, p, other in edges[name]))
                for name, colour in colours.items()
            }
        )
    return colours


def _ranked(signatures: Mapping[Term, object]) -> dict[Term, int]:
    ranks = {text: i for i, text in enumerate(sorted({repr(s) for s in signatures.values()}))}
    return {name: ranks[repr(signature)] for name, signature in signatures.items()}
