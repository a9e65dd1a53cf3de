"""Random T, K and items of the exact fragment, small enough to try all subsets."""

from __future__ import annotations

import random

from hypothesis import strategies as st

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology.owl import axioms as ax
from obep.ontology.owl.axiom_set import Axioms

NS = "http://e/"


def name(local: str) -> Term:
    return f"<{NS}{local}>"


CLASSES = [name(f"C{n}") for n in range(3)]
ROLES = [name(f"r{n}") for n in range(2)]
DATA = [name("d")]
INDIVIDUALS = [name(f"i{n}") for n in range(3)]
LITERALS = [f'"{n}"^^<{ax.XSD}integer>' for n in range(3)] + [f'"1.0"^^<{ax.XSD}decimal>']

named = st.sampled_from(CLASSES).map(ax.Class)
roles = st.sampled_from(ROLES)
directed = st.one_of(roles, roles.map(ax.Inverse))
left = st.recursive(
    st.one_of(
        named,
        st.builds(ax.Value, directed, st.sampled_from(INDIVIDUALS)),
        st.builds(ax.HasSelf, roles),
        st.just(
            ax.DataSome(
                DATA[0], ax.Restricted(f"<{ax.XSD}integer>", ((f"<{ax.XSD}minInclusive>", LITERALS[1]),))
            )
        ),
    ),
    lambda inner: st.one_of(
        st.tuples(inner, inner).map(ax.And),
        st.tuples(inner, inner).map(ax.Or),
        st.builds(ax.Some, directed, inner),
    ),
    max_leaves=4,
)
rights = st.one_of(
    named,
    st.builds(ax.Only, directed, named),
    st.builds(ax.Value, roles, st.sampled_from(INDIVIDUALS)),
)
axioms = st.one_of(
    st.builds(ax.SubClassOf, left, rights),
    st.builds(ax.SubProperty, directed, directed),
    st.builds(ax.InverseProperties, roles, roles),
    st.builds(ax.Transitive, roles),
    st.builds(ax.Symmetric, roles),
    st.builds(ax.SubChain, st.tuples(directed, directed), roles),
    st.builds(ax.Domain, roles, named),
    st.builds(ax.Range, roles, named),
    st.builds(ax.Functional, roles),
    st.builds(ax.InverseFunctional, roles),
)
triples = st.one_of(
    st.tuples(st.sampled_from(INDIVIDUALS), st.just(RDF_TYPE), st.sampled_from(CLASSES)),
    st.tuples(st.sampled_from(INDIVIDUALS), st.sampled_from(ROLES), st.sampled_from(INDIVIDUALS)),
    st.tuples(st.sampled_from(INDIVIDUALS), st.just(DATA[0]), st.sampled_from(LITERALS)),
)
graphs: st.SearchStrategy[list[Triple]] = st.lists(triples, max_size=4, unique=True)


def ontology(some: list[ax.Axiom]) -> Axioms:
    """T with all the names declared."""
    return Axioms(tuple(some), frozenset(CLASSES), frozenset(ROLES), frozenset(DATA))


class Small:
    """A small world that things happen in: few names, so that they meet. Always the same for a seed."""

    def __init__(self, seed: int) -> None:
        self._rng = rng = random.Random(seed)
        self.t = ontology([self._axiom() for _ in range(rng.randint(1, 5))])
        self.body = ax.Or((self._body(2), ax.Some(self._role(), self._body(1))))
        self.k = list(dict.fromkeys(self._triple() for _ in range(rng.randint(0, 4))))
        self.item = list(dict.fromkeys(self._triple() for _ in range(rng.randint(2, 5))))

    def some_apart(self, rng: random.Random) -> Axioms:
        """T with the body below `B`, and up to two axioms that a graph can contradict."""
        apart = [
            ax.DisjointClasses(tuple(map(ax.Class, CLASSES[:2]))),
            ax.DisjointProperties(tuple(ROLES)),
            ax.Irreflexive(ROLES[0]),
        ]
        more = (ax.SubClassOf(self.body, ax.Class(name("B"))), *rng.sample(apart, rng.randint(0, 2)))
        return self.t | Axioms(more, frozenset({name("B")}))

    def _class(self) -> ax.Class:
        return ax.Class(self._rng.choice(CLASSES[:2]))

    def _role(self) -> ax.ObjectProperty:
        role = self._rng.choice(ROLES)
        return ax.Inverse(role) if self._rng.random() < 0.3 else role

    def _body(self, depth: int) -> ax.ClassExpression:
        rng = self._rng
        kind = (
            rng.choice(("class", "some", "some", "and", "or", "value", "self", "data")) if depth else "class"
        )
        match kind:
            case "some":
                return ax.Some(self._role(), rng.choice((ax.TOP, self._body(depth - 1))))
            case "and":
                return ax.And((self._body(depth - 1), self._body(depth - 1)))
            case "or":
                return ax.Or((self._body(depth - 1), self._body(depth - 1)))
            case "value":
                return ax.Value(self._role(), rng.choice(INDIVIDUALS))
            case "self":
                return ax.HasSelf(rng.choice(ROLES))
            case "data":
                return ax.DataMin(rng.choice((1, 1, 2)), DATA[0], ax.Datatype(f"<{ax.XSD}integer>"))
        return self._class()

    def _axiom(self) -> ax.Axiom:
        rng = self._rng
        kinds = (
            lambda: ax.SubClassOf(self._body(1), self._class()),
            lambda: ax.SubClassOf(self._class(), ax.Only(self._role(), self._class())),
            lambda: ax.SubClassOf(self._class(), ax.Value(rng.choice(ROLES), rng.choice(INDIVIDUALS))),
            lambda: ax.SubProperty(self._role(), self._role()),
            lambda: ax.Transitive(rng.choice(ROLES)),
            lambda: ax.Symmetric(rng.choice(ROLES)),
            lambda: ax.SubChain((self._role(), self._role()), rng.choice(ROLES)),
            lambda: ax.Domain(rng.choice(ROLES), self._class()),
            lambda: ax.Range(rng.choice(ROLES), self._class()),
            lambda: ax.Functional(rng.choice(ROLES)),
            lambda: ax.InverseFunctional(rng.choice(ROLES)),
            lambda: ax.HasKey(self._class(), (rng.choice(ROLES),), ()),
        )
        return rng.choice(kinds)()

    def _triple(self) -> Triple:
        rng = self._rng
        subject = rng.choice(INDIVIDUALS)
        match rng.choice(("type", "edge", "edge", "data")):
            case "type":
                return (subject, RDF_TYPE, rng.choice(CLASSES[:2]))
            case "edge":
                return (subject, rng.choice(ROLES), rng.choice(INDIVIDUALS))
        return (subject, DATA[0], rng.choice(LITERALS))
