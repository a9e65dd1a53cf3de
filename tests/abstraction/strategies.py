"""Random T, K and items of the exact fragment, small enough to try all subsets."""

from __future__ import annotations

from hypothesis import strategies as st

from obep.model import RDF_TYPE, Term, Triple
from obep.ontology import axioms as ax
from obep.ontology.axioms import Axioms

NS = "http://e/"


def name(local: str) -> Term:
    return f"<{NS}{local}>"


CLASSES = [name(f"C{n}") for n in range(4)]
ROLES = [name(f"r{n}") for n in range(3)]
DATA = [name("d")]
INDIVIDUALS = [name(f"i{n}") for n in range(4)]
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
graphs: st.SearchStrategy[list[Triple]] = st.lists(triples, max_size=5, unique=True)


def ontology(some: list[ax.Axiom]) -> Axioms:
    """T with all the names declared."""
    return Axioms(tuple(some), frozenset(CLASSES), frozenset(ROLES), frozenset(DATA))
