"""Runs the W3C's OWL 2 test cases through obep: `python tests/w3c_owl.py DIR`.

DIR holds files in the format of the W3C's export (all.rdf, or one file a case): `test:TestCase` with
`test:rdfXmlPremiseOntology` and so on. Cases for the direct semantics are run: a premise is T; consistency
is that of T, and a conclusion is asked for axiom by axiom, each as an event over an item. What obep cannot
ask is named with the reason. Exit status 1 if a case fails.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from w3c_report import report

from obep.abstraction.matcher import Matcher
from obep.errors import ObepError
from obep.model import RDF_TYPE, DeadLetter, Item, Term, Triple
from obep.ontology.bundle.compile import compile_bundle
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Axiom, ClassExpression
from obep.ontology.owl.literals import parts
from obep.ontology.owl.load import read_rdf
from obep.ontology.owl.rdf_to_owl import axioms_of
from obep.query.link import link
from obep.query.parse.parser import parse

TEST = "http://www.w3.org/2007/OWL/testOntology#"
W = "urn:obep:w3c#"
QUERY = link(parse(f"PREFIX w: <{W}>\nEVENT w:Asked AS (w:Marked and w:Goal)\nRETURN w:Asked\n"))
MARKED, GOAL = ax.Class(f"<{W}Marked>"), ax.Class(f"<{W}Goal>")
X, Y, Z = (f"<{W}{name}>" for name in "xyz")
KINDS = ("ConsistencyTest", "InconsistencyTest", "PositiveEntailmentTest", "NegativeEntailmentTest")
NO_ANSWER = ("OBEP342", "OBEP343", "OBEP303", "OBEP302", "OBEP304", "OBEP312")


class NotExpressible(Exception):
    """Something that obep has no way to ask, and why."""


@dataclass
class Case:
    """A test case."""

    name: str
    kinds: list[str] = field(default_factory=list)
    values: dict[str, str] = field(default_factory=dict)

    def axioms(self, which: str) -> Axioms:
        """One of its ontologies."""
        text = self.values.get(f"rdfXml{which}Ontology")
        if text is None:
            raise NotExpressible(f"there is no rdfXml{which}Ontology")
        if "owl:imports" in text or "owl#imports" in text:
            raise NotExpressible("it imports another ontology")
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "ontology.rdf"
            path.write_text(text)
            return axioms_of(dict.fromkeys(read_rdf(path)))


def cases(folder: Path) -> Iterator[Case]:
    """The cases for the direct semantics in the files of a folder."""
    for path in sorted(p for p in folder.rglob("*") if p.suffix in (".rdf", ".owl", ".xml")):
        found: dict[Term, Case] = {}
        direct: set[Term] = set()
        for s, p, o in read_rdf(path):
            case = found.setdefault(s, Case(s))
            if p == RDF_TYPE and o.startswith(f"<{TEST}"):
                case.kinds.append(o[len(TEST) + 1 : -1])
            elif (s, p, o) == (s, f"<{TEST}semantics>", f"<{TEST}DIRECT>"):
                direct.add(s)
            elif p == f"<{TEST}identifier>":
                case.name = parts(o)[0]
            elif p.startswith(f"<{TEST}"):
                case.values[p[len(TEST) + 1 : -1]] = parts(o)[0]
        yield from (case for s, case in found.items() if s in direct and set(case.kinds) & set(KINDS))


# --- asking


def consistent(t: Axioms) -> bool:
    """Whether T has a model."""
    try:
        _matcher(t, ax.TOP)
    except ObepError as error:
        if error.code == "OBEP345":
            return False
        raise
    return True


def _matcher(t: Axioms, goal: ClassExpression, *more: Axiom) -> Matcher:
    said = (*more, ax.EquivalentClasses((GOAL, goal)))
    classes = frozenset({MARKED.iri, GOAL.iri})
    return Matcher(compile_bundle(QUERY, t | Axioms(said, classes)))


def asked(t: Axioms, goal: ClassExpression, item: tuple[Triple, ...], who: Term, *more: Axiom) -> bool:
    """Whether T and the item entail that somebody is of a class; a contradiction entails it."""
    whole = Item("", 0, (*item, (who, RDF_TYPE, MARKED.iri)))
    try:
        matched = _matcher(t, goal, *more).match(whole)
    except ObepError as error:
        if error.code != "OBEP344":
            raise
        return _contradicts(t, whole, *more)
    return isinstance(matched, DeadLetter) or any(one.individual == who for one in matched.occurrences)


def _contradicts(t: Axioms, item: Item, *more: Axiom) -> bool:
    """Whether an item contradicts T: then it entails what nothing can be."""
    try:
        return isinstance(_matcher(t, ax.TOP, *more).match(item), DeadLetter)
    except ObepError as error:
        if error.code != "OBEP344":
            raise
        return True


def entails(t: Axioms, axiom: Axiom) -> bool:
    """Whether T entails an axiom."""
    match axiom:
        case ax.ClassAssertion(expression, individual):
            return _of(t, individual, expression)
        case ax.PropertyAssertion(role, subject, object):
            return _of(t, subject, ax.Value(role, _named(object)))
        case ax.NegativePropertyAssertion(role, subject, object):
            return _of(t, subject, ax.Not(ax.Value(role, _named(object))))
        case ax.DataAssertion(role, subject, literal):
            return _of(t, subject, ax.DataValue(role, literal))
        case ax.NegativeDataAssertion(role, subject, literal):
            return _of(t, subject, ax.Not(ax.DataValue(role, literal)))
        case ax.SameIndividual((first, *rest)):
            return all(_of(t, first, ax.OneOf((_named(one),))) for one in rest)
        case ax.DifferentIndividuals(individuals):
            pairs = [(a, b) for n, a in enumerate(individuals) for b in individuals[:n]]
            return all(_of(t, a, ax.Not(ax.OneOf((_named(b),)))) for a, b in pairs)
    return _entails_schema(t, axiom)


def _named(individual: Term) -> Term:
    if not individual.startswith("<"):
        raise NotExpressible("the conclusion speaks of an individual without a name")
    return individual


def _of(t: Axioms, individual: Term, expression: ClassExpression) -> bool:
    return asked(t, expression, (), _named(individual))


def _entails_schema(t: Axioms, axiom: Axiom) -> bool:
    def below(sub: ClassExpression, sup: ClassExpression) -> bool:
        return asked(t, sup, (), X, ax.SubClassOf(MARKED, sub))

    def leads(path: tuple[ax.ObjectProperty, ...], goal: ClassExpression) -> bool:
        steps = [(one.property, True) if isinstance(one, ax.Inverse) else (one, False) for one in path]
        names = (*(X, Y, Z)[: len(path)], f"<{W}end>")
        edges = [
            (names[n + 1], role, names[n]) if back else (names[n], role, names[n + 1])
            for n, (role, back) in enumerate(steps)
        ]
        return asked(t, goal, tuple(edges), X)

    end = f"<{W}end>"
    match axiom:
        case ax.SubClassOf(sub, sup):
            return below(sub, sup)
        case ax.EquivalentClasses(operands):
            ring = zip(operands, operands[1:] + operands[:1], strict=True)
            return all(below(sub, sup) for sub, sup in ring)
        case ax.DisjointClasses(operands):
            pairs = [(a, b) for n, a in enumerate(operands) for b in operands[:n]]
            return all(below(ax.And(pair), ax.BOTTOM) for pair in pairs)
        case ax.Domain(role, expression):
            return below(ax.Some(role, ax.TOP), expression)
        case ax.Range(role, expression):
            return below(ax.TOP, ax.Only(role, expression))
        case ax.DataDomain(role, expression):
            return below(ax.DataSome(role, ax.ANY_LITERAL), expression)
        case ax.DataPropertyRange(role, range):
            return below(ax.TOP, ax.DataOnly(role, range))
        case ax.Functional(role):
            return below(ax.TOP, ax.Max(1, role, ax.TOP))
        case ax.InverseFunctional(role):
            return below(ax.TOP, ax.Max(1, ax.inverse(role), ax.TOP))
        case ax.FunctionalData(role):
            return below(ax.TOP, ax.DataMax(1, role, ax.ANY_LITERAL))
        case ax.Reflexive(role):
            return below(ax.TOP, ax.HasSelf(role))
        case ax.Irreflexive(role):
            return below(ax.HasSelf(role), ax.BOTTOM)
        case ax.SubProperty(sub, sup) | ax.SubChain((sub,), sup):
            return leads((sub,), ax.Value(sup, end))
        case ax.SubChain(chain, sup) if len(chain) <= 3:
            return leads(chain, ax.Value(sup, end))
        case ax.Transitive(role):
            return leads((role, role), ax.Value(role, end))
        case ax.Symmetric(role):
            return leads((role,), ax.Value(ax.inverse(role), end))
        case ax.Asymmetric(role):
            return leads((role,), ax.Not(ax.Value(ax.inverse(role), end)))
        case ax.InverseProperties(first, second):
            there = leads((first,), ax.Value(ax.inverse(second), end))
            return there and leads((second,), ax.Value(ax.inverse(first), end))
        case ax.EquivalentProperties(operands):
            ring_ = zip(operands, operands[1:] + operands[:1], strict=True)
            return all(leads((sub,), ax.Value(sup, end)) for sub, sup in ring_)
        case ax.DisjointProperties(operands):
            pairs_ = [(a, b) for n, a in enumerate(operands) for b in operands[:n]]
            return all(leads((a,), ax.Not(ax.Value(b, end))) for a, b in pairs_)
    raise NotExpressible(f"{type(axiom).__name__} in the conclusion")


# --- running


def run(case: Case, kind: str) -> bool:
    """Whether obep answers as it should."""
    t = case.axioms("Premise")
    if kind in ("ConsistencyTest", "InconsistencyTest"):
        return consistent(t) == (kind == "ConsistencyTest")
    positive = kind == "PositiveEntailmentTest"
    wanted = case.axioms("Conclusion" if positive else "NonConclusion")
    names = Axioms((), wanted.classes, wanted.object_properties, wanted.data_properties, wanted.datatypes)
    if not consistent(t | names):
        return positive
    return all(entails(t | names, axiom) for axiom in wanted.axioms) == positive


def results(folder: Path) -> Iterator[tuple[str, str, str]]:
    """For each case and kind: `pass`, `fail` or `not expressible`, with its name and a reason."""
    for case in cases(folder):
        for kind in sorted(set(case.kinds) & set(KINDS)):
            name = f"{case.name} ({kind})"
            try:
                yield ("pass" if run(case, kind) else "fail"), name, ""
            except NotExpressible as error:
                yield "not expressible", name, str(error)
            except ObepError as error:
                one = error.diagnostics[0]
                what = "not expressible" if one.code in NO_ANSWER else "fail"
                yield what, name, f"{one.code} {one.message} {one.reason}".strip()


if __name__ == "__main__":
    sys.exit(report(results, __doc__))
