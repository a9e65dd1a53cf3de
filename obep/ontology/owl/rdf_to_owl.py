"""From RDF triples to axioms: the mapping of OWL 2, read leniently where undeclared names leave no doubt.

In: the triples of ontology files, as N-Triples terms. Out: `Axioms`. What looks like an axiom and cannot be
read is an error, never skipped.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import RDF, XSD
from obep.ontology.owl.literals import known_datatype
from obep.ontology.owl.rdf_nodes import BUILT_IN, COMBINING, Nodes, owl, rdfs

_OBJECT_TYPES: dict[Term, Callable[[ax.ObjectProperty], ax.Axiom]] = {
    owl("TransitiveProperty"): ax.Transitive,
    owl("SymmetricProperty"): ax.Symmetric,
    owl("AsymmetricProperty"): ax.Asymmetric,
    owl("ReflexiveProperty"): ax.Reflexive,
    owl("IrreflexiveProperty"): ax.Irreflexive,
    owl("InverseFunctionalProperty"): ax.InverseFunctional,
}
ANNOTATIONS = {rdfs(n) for n in ("label", "comment", "seeAlso", "isDefinedBy")} | {
    owl(n)
    for n in (
        "versionInfo", "deprecated", "priorVersion", "backwardCompatibleWith", "incompatibleWith", "imports",
        "versionIRI",
    )
}  # fmt: skip
_METADATA = ("<http://purl.org/dc/terms/", "<http://purl.org/dc/elements/1.1/")
"""Dublin Core: annotations, unless they are declared as something else."""
_SYNTAX = (*BUILT_IN, "<http://www.w3.org/ns/shacl#")
"""Words that describe a model: their triples say nothing about individuals."""
_CLASS_TYPES = {owl("Class"), rdfs("Class"), owl("DeprecatedClass")}


def axioms_of(triples: Iterable[Triple], *, also: Axioms | None = None) -> Axioms:
    """The axioms that a graph says; `also` lends declarations of names that another graph declares."""
    return _Mapping(triples, also or Axioms()).read()


class _Mapping(Nodes):
    """Reads one triple after the other, each by the reader of its predicate."""

    def read(self) -> Axioms:
        found: dict[ax.Axiom, None] = {}
        self.annotations |= ANNOTATIONS
        self._declare()
        for triple in self.triples:
            for axiom in self._axioms(*triple):
                found[axiom] = None
        return Axioms(
            tuple(found),
            frozenset(self.classes - {ax.THING, ax.NOTHING}),
            frozenset(self.object_properties),
            frozenset(self.data_properties),
            frozenset(self.datatypes),
            frozenset(self.individuals),
            frozenset(self.annotations - ANNOTATIONS),
        )

    # --- declarations

    def _declare(self) -> None:
        kinds = {
            owl("ObjectProperty"): self.object_properties,
            owl("DatatypeProperty"): self.data_properties,
            owl("AnnotationProperty"): self.annotations,
            rdfs("Datatype"): self.datatypes,
            **dict.fromkeys(_CLASS_TYPES, self.classes),
            **dict.fromkeys(_OBJECT_TYPES, self.object_properties),
        }
        properties: list[tuple[Term, list[Term]]] = []
        for s, p, o in self.triples:
            if s.startswith("<"):
                if p == RDF_TYPE:
                    if o in kinds:
                        kinds[o].add(s)
                    elif o == f"<{RDF}Property>":
                        properties.append((s, []))
                elif p in (rdfs("range"), rdfs("domain"), rdfs("subPropertyOf"), owl("equivalentProperty")):
                    properties.append((s, [o] if p != rdfs("domain") else []))
                elif p == owl("inverseOf"):
                    self.object_properties.update(t for t in (s, o) if t.startswith("<"))
                elif p in (rdfs("subClassOf"), owl("disjointUnionOf")):
                    self.classes.add(s)
            if p in (rdfs("domain"), rdfs("subClassOf")) and o.startswith("<"):
                self.classes.add(o)
            elif p == owl("onProperty") and o.startswith("<"):
                properties.append((o, [*self._fillers(s)]))
        self._guess(properties)

    def _fillers(self, s: Term) -> Iterator[Term]:
        for p in ("someValuesFrom", "allValuesFrom", "hasValue", "onDataRange"):
            yield from self._values(s, owl(p))

    def _guess(self, properties: list[tuple[Term, list[Term]]]) -> None:
        """Undeclared properties: data where a literal, a datatype or a data property is near."""
        changed = True
        while changed:
            changed = False
            for name, near in properties:
                if self._kind_known(name) or name.startswith(_METADATA):
                    continue
                if any(self._is_data(o) for o in near):
                    self.data_properties.add(name)
                    changed = True
        for name, near in properties:
            if not self._kind_known(name):
                if any(o in self.annotations for o in near) or name.startswith(_METADATA):
                    self.annotations.add(name)
                elif not name.startswith(_SYNTAX):
                    self.object_properties.add(name)

    def _kind_known(self, name: Term) -> bool:
        return name in self.object_properties or name in self.data_properties or name in self.annotations

    def _is_data(self, o: Term) -> bool:
        return o.startswith('"') or o in self.data_properties or self._is_range(o)

    def _is_range(self, o: Term) -> bool:
        if o in self.datatypes or known_datatype(o) or o.startswith(f"<{XSD}"):
            return True
        types = self._values(o, RDF_TYPE)
        return rdfs("Datatype") in types or owl("DataRange") in types

    # --- axioms, one triple at a time

    def _axioms(self, s: Term, p: Term, o: Term) -> Iterator[ax.Axiom]:
        if p == RDF_TYPE:
            yield from self._typed(s, o)
        elif (reader := _READERS.get(p)) is not None:
            yield from reader(self, s, o)
        elif p.startswith(_SYNTAX) or p in self.annotations:
            return
        elif p in self.data_properties and o.startswith('"'):
            self._individual(s)
            yield ax.DataAssertion(p, s, o)
        elif p in self.object_properties and not o.startswith('"'):
            yield ax.PropertyAssertion(p, self._individual(s), self._individual(o))
        elif not self._kind_known(p) and self._is_individual(s):
            (self.data_properties if o.startswith('"') else self.object_properties).add(p)
            yield from self._axioms(s, p, o)

    def _is_individual(self, s: Term) -> bool:
        """Whether a subject is used as an individual; annotations of classes are not about one."""
        return any(
            not t.startswith(_SYNTAX) or t == owl("NamedIndividual") for t in self._values(s, RDF_TYPE)
        )

    def _typed(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if o == owl("FunctionalProperty"):
            yield ax.FunctionalData(s) if s in self.data_properties else ax.Functional(self._role(s))
            if s not in self.data_properties and s.startswith("<"):
                self.object_properties.add(s)
        elif o in _OBJECT_TYPES:
            yield _OBJECT_TYPES[o](self._role(s))
        elif o == owl("AllDisjointClasses"):
            yield ax.DisjointClasses(tuple(map(self.expression, self._members(s))))
        elif o == owl("AllDisjointProperties"):
            yield self._disjoint_properties(self._members(s))
        elif o == owl("AllDifferent"):
            members = [
                m
                for p in ("members", "distinctMembers")
                for list_ in self._values(s, owl(p))
                for m in self._list(list_)
            ]
            yield ax.DifferentIndividuals(tuple(map(self._individual, members)))
        elif o == owl("NegativePropertyAssertion"):
            yield self._negative(s)
        elif o == owl("NamedIndividual"):
            self.individuals.add(s)
        elif not o.startswith(_SYNTAX) or o in (ax.THING, ax.NOTHING):
            yield ax.ClassAssertion(self.expression(o), self._individual(s))

    def _members(self, s: Term) -> list[Term]:
        return [m for list_ in self._values(s, owl("members")) for m in self._list(list_)]

    def _negative(self, s: Term) -> ax.Axiom:
        subject = self._individual(self._one(s, owl("sourceIndividual")))
        property = self._one(s, owl("assertionProperty"))
        if self._values(s, owl("targetValue")):
            self.data_properties.add(property)
            return ax.NegativeDataAssertion(property, subject, self._one(s, owl("targetValue")))
        target = self._individual(self._one(s, owl("targetIndividual")))
        return ax.NegativePropertyAssertion(self._role(property), subject, target)

    def _disjoint_properties(self, members: list[Term]) -> ax.Axiom:
        if all(m in self.data_properties for m in members):
            return ax.DisjointDataProperties(tuple(members))
        return ax.DisjointProperties(tuple(map(self._role, members)))

    # --- readers of single predicates

    def sub_class_of(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        sup = self._without_restriction(o)
        yield ax.SubClassOf(self.expression(s), self.expression(o) if sup is None else sup)

    def _without_restriction(self, o: Term) -> ax.ClassExpression | None:
        """What stands for a restriction of a property that lacks its restriction: it says nothing."""
        if not o.startswith("_") or self.about.get(o, {}).keys() - {RDF_TYPE} != {owl("onProperty")}:
            return None
        property = self._one(o, owl("onProperty"))
        if property in self.data_properties:
            return ax.DataMin(0, property, ax.NO_LITERAL)
        return ax.Min(0, self._role(property), ax.BOTTOM)

    def equivalent_class(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s in self.datatypes or (self._is_range(o) and s not in self.classes):
            self.datatypes.add(s)
            yield ax.DatatypeDefinition(s, self.range(o))
        else:
            yield ax.EquivalentClasses((self.expression(s), self.expression(o)))

    def disjoint_with(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield ax.DisjointClasses((self.expression(s), self.expression(o)))

    def disjoint_union_of(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield ax.DisjointUnion(s, tuple(map(self.expression, self._nonempty(s, o))))

    def named_expression(self, p: Term, s: Term, o: Term) -> Iterator[ax.Axiom]:
        """`:C owl:intersectionOf (…)` on a named class: OWL 1's way to define it."""
        if s.startswith("<") and s not in self.datatypes:
            self.classes.add(s)
            yield ax.EquivalentClasses((ax.Class(s), self.combined(p, o)))

    def sub_property_of(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s in self.annotations or o in self.annotations:
            return
        if s in self.data_properties or o in self.data_properties:
            self.data_properties.update((s, o))
            yield ax.SubDataProperty(s, o)
        else:
            yield ax.SubProperty(self._role(s), self._role(o))

    def property_chain(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield ax.SubChain(tuple(map(self._role, self._nonempty(s, o))), self._role(s))

    def equivalent_property(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s in self.data_properties or o in self.data_properties:
            self.data_properties.update((s, o))
            yield ax.EquivalentDataProperties((s, o))
        else:
            yield ax.EquivalentProperties((self._role(s), self._role(o)))

    def property_disjoint(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield self._disjoint_properties([s, o])

    def inverse_of(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s.startswith("<"):
            yield ax.InverseProperties(self._role(s), self._role(o))

    def domain(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s in self.data_properties:
            yield ax.DataDomain(s, self.expression(o))
        elif s not in self.annotations:
            yield ax.Domain(self._role(s), self.expression(o))

    def range_of(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        if s in self.data_properties:
            yield ax.DataPropertyRange(s, self.range(o))
        elif s not in self.annotations:
            yield ax.Range(self._role(s), self.expression(o))

    def has_key(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        properties = self._nonempty(s, o)
        data = tuple(p for p in properties if p in self.data_properties)
        roles = tuple(self._role(p) for p in properties if p not in self.data_properties)
        yield ax.HasKey(self.expression(s), roles, data)

    def same_as(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield ax.SameIndividual((self._individual(s), self._individual(o)))

    def different_from(self, s: Term, o: Term) -> Iterator[ax.Axiom]:
        yield ax.DifferentIndividuals((self._individual(s), self._individual(o)))


def _named(p: Term) -> Callable[[_Mapping, Term, Term], Iterator[ax.Axiom]]:
    return lambda mapping, s, o: mapping.named_expression(p, s, o)


_READERS: dict[Term, Callable[[_Mapping, Term, Term], Iterator[ax.Axiom]]] = {
    rdfs("subClassOf"): _Mapping.sub_class_of,
    owl("equivalentClass"): _Mapping.equivalent_class,
    owl("disjointWith"): _Mapping.disjoint_with,
    owl("disjointUnionOf"): _Mapping.disjoint_union_of,
    **{p: _named(p) for p in COMBINING},
    rdfs("subPropertyOf"): _Mapping.sub_property_of,
    owl("propertyChainAxiom"): _Mapping.property_chain,
    owl("equivalentProperty"): _Mapping.equivalent_property,
    owl("propertyDisjointWith"): _Mapping.property_disjoint,
    owl("inverseOf"): _Mapping.inverse_of,
    rdfs("domain"): _Mapping.domain,
    rdfs("range"): _Mapping.range_of,
    owl("hasKey"): _Mapping.has_key,
    owl("sameAs"): _Mapping.same_as,
    owl("differentFrom"): _Mapping.different_from,
}
