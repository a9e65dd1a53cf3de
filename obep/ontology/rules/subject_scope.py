"""How far T reaches: whether what follows about a subject follows from the triples of that subject alone.

A window that is split by subjects then answers as the whole one does. What is known here to stay with its
subject are hierarchies and domains; of definitions what tests values and names. All else reaches further.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from obep.model import Term
from obep.ontology.owl import axioms as ax


def reaching_classes(
    axioms: Iterable[ax.Axiom], bodies: Mapping[Term, ax.ClassExpression]
) -> set[Term] | None:
    """The classes whose members other subjects' triples may decide; `None`: T may reach anywhere.

    `bodies` are the definitions of events.
    """
    above: dict[Term, set[Term]] = {}
    for axiom in axioms:
        if not _stays(axiom):
            return None
        match axiom:
            case ax.SubClassOf(ax.Class(sub), ax.Class(sup)):
                above.setdefault(sub, set()).add(sup)
            case ax.EquivalentClasses(operands):
                names = {one.iri for one in operands if isinstance(one, ax.Class)}
                for name in names:
                    above.setdefault(name, set()).update(names)
    if not all(_only_asks(body) for body in bodies.values()):
        return None
    found: set[Term] = set()
    before = -1
    while len(found) > before:
        before = len(found)
        found |= {event for event, body in bodies.items() if not _tests_itself(body, found)}
        found |= {sup for name in list(found) for sup in above.get(name, ())}
    return found


def _stays(axiom: ax.Axiom) -> bool:
    match axiom:
        case ax.SubClassOf(ax.Class(), ax.Class(sup)):
            return sup != ax.NOTHING
        case ax.EquivalentClasses(operands):
            return all(isinstance(one, ax.Class) and one.iri != ax.NOTHING for one in operands)
        case ax.SubProperty(sub, sup):
            return isinstance(sub, str) and isinstance(sup, str) and sup not in ax.UNIVERSAL
        case ax.EquivalentProperties(operands):
            return all(isinstance(one, str) and one not in ax.UNIVERSAL for one in operands)
        case ax.Domain(property, ax.Class(iri)):
            return isinstance(property, str) and iri != ax.NOTHING
        case ax.DataDomain(_, ax.Class(iri)):
            return iri != ax.NOTHING
        case ax.SubDataProperty() | ax.EquivalentDataProperties() | ax.DatatypeDefinition():
            return True
    return False


def _only_asks(body: ax.ClassExpression) -> bool:
    """Whether an item that asserts the event itself says nothing that another one could contradict."""
    match body:
        case ax.And(operands) | ax.Or(operands):
            return all(map(_only_asks, operands))
        case ax.Some(_, filler) | ax.Min(_, _, filler):
            return _only_asks(filler)
        case ax.Value(property):
            return isinstance(property, str)
        case ax.Class(iri):
            return iri != ax.NOTHING
    return isinstance(body, ax.DataSome | ax.DataValue | ax.DataMin)


def _tests_itself(body: ax.ClassExpression, reaching: set[Term]) -> bool:
    """Whether a body looks at the triples of its individual alone."""
    match body:
        case ax.And(operands) | ax.Or(operands):
            return all(_tests_itself(one, reaching) for one in operands)
        case ax.Class(iri):
            return iri not in reaching
        case ax.Some(property, filler):
            return isinstance(property, str) and filler == ax.Class(ax.THING)
        case ax.Value(property):
            return isinstance(property, str)
    return isinstance(body, ax.DataSome | ax.DataValue | ax.DataMin)
