"""One world, asked of the matcher and of HermiT."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from owl import NS
from random_ontologies import World

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple
from obep.ontology.bundle.compile import Bundle, compile_bundle
from obep.ontology.hermit.hermit_gap import HermitGap, explain
from obep.ontology.hermit.reasoner import INCONSISTENT, Inconsistent, shared_reasoner
from obep.ontology.hermit.reasoner_protocol import Answer, Question
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Assertion
from obep.ontology.owl.literals import parts
from obep.ontology.rules.locality import fixed_names
from obep.query.link import link
from obep.query.parse.parser import parse

Pair = tuple[Term, Term]
_FACETS = {"minInclusive": ">=", "minExclusive": ">", "maxInclusive": "<=", "maxExclusive": "<"}


def text(node: object) -> str:
    """A class expression or data range as a query writes it."""
    match node:
        case ax.Class(iri) | ax.Datatype(iri):
            return _name(iri)
        case ax.And(operands) | ax.DataAnd(operands):
            return f"({' and '.join(map(text, operands))})"
        case ax.Or(operands) | ax.DataOr(operands):
            return f"({' or '.join(map(text, operands))})"
        case ax.Not(operand) | ax.DataNot(operand):
            return f"(not {text(operand)})"
        case ax.OneOf(members) | ax.DataOneOf(members):
            return f"{{{', '.join(map(_name, members))}}}"
        case ax.Some(role, filler) | ax.DataSome(role, filler):
            return f"({_role(role)} some {text(filler)})"
        case ax.Only(role, filler) | ax.DataOnly(role, filler):
            return f"({_role(role)} only {text(filler)})"
        case ax.Value(role, value) | ax.DataValue(role, value):
            return f"({_role(role)} value {_name(value)})"
        case ax.HasSelf(role):
            return f"({_role(role)} Self)"
        case ax.Min(count, role, filler):
            return f"({_role(role)} min {count} {text(filler)})"
        case ax.Max(count, role, filler):
            return f"({_role(role)} max {count} {text(filler)})"
        case ax.Restricted(datatype, facets):
            limits = ((facet[1:-1].rsplit("#")[-1], bound) for facet, bound in facets)
            return f"{_name(datatype)}[{', '.join(f'{_FACETS.get(f, f)} {_name(b)}' for f, b in limits)}]"
    raise ValueError(node)


def _name(term: Term) -> str:
    if not term.startswith('"'):
        return term.replace(f"<{NS}", ":").rstrip(">") if term.startswith(f"<{NS}") else term
    lexical, datatype, _ = parts(term)
    return f'"{lexical}"^^{datatype}'


def _role(role: ax.ObjectProperty) -> str:
    return f"inverse {_name(role.property)}" if isinstance(role, ax.Inverse) else _name(role)


def query(world: World) -> str:
    """The world's events as a query file."""
    events = "\n".join(f"EVENT {_name(event)} AS {text(body)}" for event, body in world.events)
    return f"PREFIX : <{NS}>\n{events}\n"


def bundle(world: World) -> Bundle:
    return compile_bundle(link(parse(query(world))), world.t(), world.k)


def individuals(triples: Iterable[Triple]) -> list[Term]:
    found: dict[Term, None] = {}
    for s, p, o in triples:
        found[s] = None
        if p != RDF_TYPE and not o.startswith('"'):
            found[o] = None
    return list(found)


@dataclass
class Count:
    """What was compared."""

    worlds: int = 0
    refused: int = 0
    items: int = 0
    inconsistent: int = 0
    gap: int = 0
    questions: int = 0
    entailed: int = 0
    occurrences: int = 0


class Counted:
    """A gap that counts what it is asked."""

    def __init__(self, gap: HermitGap) -> None:
        self.asked = 0
        self._gap = gap

    def decide(self, question: Question) -> Answer:
        self.asked += 1
        return self._gap.decide(question)


def usable(world: World) -> bool:
    """Whether HermiT can read T, K is consistent, and every event can happen: otherwise there is no query."""
    T, reasoner = world.full(), shared_reasoner()
    try:
        return reasoner.consistent(T, _abox(T, world.k)) and all(
            reasoner.consistent(T, [ax.ClassAssertion(ax.Class(event), "<urn:obep:fresh>")])
            for event, _ in world.events
        )
    except ObepError as error:
        assert error.code == "OBEP342", error
        return False


def compare(world: World, count: Count, *, explanations: bool = True) -> Iterator[str]:
    """Every difference between the matcher and HermiT, in words."""
    T, reasoner = world.full(), shared_reasoner()
    compiled = bundle(world)
    gap = Counted(HermitGap(compiled.module))
    matcher = Matcher(compiled, gap=gap)
    count.worlds += 1
    for item in world.items:
        known = [triple for triple in item if T.assertion(triple)]
        of_t = (name for name in sorted(fixed_names(T)) if not name.startswith('"'))
        names = list(dict.fromkeys((*individuals([*known, *world.k]), *of_t)))
        pairs = [(event, name) for event, _ in world.events for name in names]
        goals = [ax.ClassAssertion(ax.Class(event), name) for event, name in pairs]
        answers = reasoner.entails(T, _abox(T, [*world.k, *known]), goals)
        before = gap.asked
        matched = matcher.match(Item("s", 0, item))
        count.items += 1
        count.gap += gap.asked > before
        if isinstance(answers, Inconsistent) or isinstance(matched, DeadLetter):
            count.inconsistent += isinstance(answers, Inconsistent)
            if isinstance(answers, Inconsistent) != isinstance(matched, DeadLetter):
                yield f"{item}: HermiT {'clash' if answers is INCONSISTENT else 'no clash'}, rules otherwise"
            continue
        found: dict[Pair, set[frozenset[Triple]]] = {}
        for one in matched.occurrences:
            found.setdefault((one.event, one.individual), set()).add(frozenset(x for x, _ in one.explanation))
        count.occurrences += len(matched.occurrences)
        mine = set(individuals(item))
        entailed = {pair for pair, yes in zip(pairs, answers, strict=True) if yes}
        count.questions += sum(name in mine for _, name in pairs)
        count.entailed += sum(name in mine for _, name in entailed)
        if extra := set(found) - entailed:
            yield f"{item}: not entailed {sorted(extra)}"
        yield from _missing(T, world, item, entailed, found, explanations)


def _missing(
    T: Axioms,
    world: World,
    item: tuple[Triple, ...],
    entailed: set[Pair],
    found: dict[Pair, set[frozenset[Triple]]],
    explanations: bool,
) -> Iterator[str]:
    """What follows with the help of the item and was not found, or was explained differently."""
    already = _entailed_by_k(T, world, entailed)
    if explanations:
        answer = explain(T, Question(item, world.k, tuple(sorted(entailed))), shared_reasoner())
        for pair in sorted(entailed):
            wanted = set(answer.explanations.get(pair, ()))
            if wanted != found.get(pair, set()) and not answer.capped:
                yield f"{item}: {pair}: explained by {found.get(pair)}, HermiT by {wanted}"
    elif missing := entailed - already - set(found):
        yield f"{item}: missing {sorted(missing)}"


def _entailed_by_k(T: Axioms, world: World, pairs: set[Pair]) -> set[Pair]:
    ordered = sorted(pairs)
    goals = [ax.ClassAssertion(ax.Class(event), name) for event, name in ordered]
    answers = shared_reasoner().entails(T, _abox(T, world.k), goals)
    assert not isinstance(answers, Inconsistent)
    return {pair for pair, yes in zip(ordered, answers, strict=True) if yes}


def _abox(T: Axioms, triples: Iterable[Triple]) -> list[Assertion]:
    return [assertion for triple in triples if (assertion := T.assertion(triple))]
