"""Check and compile a query with its ontology and static graph, for `obep check` and `obep run`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from obep.config.catalogue import looked_up, mappings_of
from obep.errors import Diagnostic, ObepError
from obep.lints.apply_rules import apply_ontology_rules, without_redundant
from obep.lints.check_query import find_all
from obep.lints.context import OntologyContext
from obep.lints.ignore import without_ignored
from obep.lints.registry import rules
from obep.model import RDF_TYPE, Triple
from obep.query.diagnostics import say

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.ontology.bundle.kept_ontologies import Ontology
    from obep.ontology.bundle.shacl_model import Applied
    from obep.ontology.owl.axioms import Axiom, Axioms
    from obep.ontology.owl.static_graph import Graph
    from obep.query.link import Linked

_AS_A_WHOLE = ("OBEP243", "OBEP242", "OBEP303", "OBEP312", "OBEP345", "OBEP833")


class Examined(NamedTuple):
    """The compiled query, unless there are errors among the diagnostics."""

    bundle: Bundle | None
    diagnostics: tuple[Diagnostic, ...]

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        return tuple(one for one in self.diagnostics if one.severity == "error")


def examine(
    linked: Linked,
    catalogue: Mapping[str, Path],
    *,
    java: bool = True,
    strict: bool = False,
    require_complete: bool = False,
    cache_dir: Path | None = None,
    max_explanations: int | None = None,
    max_work: int | None = None,
    ignore: Collection[str] = (),
    lints: bool = True,
) -> Examined:
    """Check a query, load its ontology and its static graph, and compile them; `lints`: with all rules."""
    said = find_all(linked, lints=lints)
    bundle = None
    try:
        (axioms, words, _, missing, _), k, named, rules = _read(linked, catalogue, cache_dir)
        said += _about_rules(rules)
    except ObepError as error:
        said += error.diagnostics
    else:
        from obep.lints.language_errors.vocabulary_errors import check_names

        names = check_names(linked, axioms, k)
        said += [one for one in names if one.severity == "error"]
        try:
            if not any(one.severity == "error" for one in said):
                from obep.ontology.bundle.compile import compile_bundle

                bundle = compile_bundle(
                    linked,
                    axioms,
                    k,
                    named=named,
                    java=java,
                    cache_dir=cache_dir,
                    max_explanations=max_explanations,
                    max_work=max_work,
                )
                bundle.shacl, bundle.looked_up = rules, looked_up(catalogue)
        except ObepError as error:
            said += error.diagnostics
        if bundle is not None and (mappings := mappings_of(catalogue)):
            from obep.lints.language_errors.mapped_units import check_mapped_units

            said += check_mapped_units(bundle, mappings)
        if lints:
            said += apply_ontology_rules(OntologyContext(words, names, missing), bundle)
        if bundle is not None:
            said += _errors_of(bundle, strict=strict, require_complete=require_complete, lints=lints)
    said = [_placed(one, linked) for one in said]
    if lints:
        said = without_ignored(said, linked, ignore)
        said = without_redundant(said, linked)  # a finding that is ignored makes no other one redundant
    order = {file.name: number for number, file in enumerate(linked.files)}
    said.sort(key=lambda d: (order.get(d.file, len(order)), d.span.start if d.span else 0))
    found = Examined(bundle, tuple(said))
    return found._replace(bundle=None) if found.errors else found


def _read(
    linked: Linked, catalogue: Mapping[str, Path], cache_dir: Path | None
) -> tuple[Ontology, Graph, dict[str, Graph], Applied]:
    """The ontology of a query, its static graph, those that have names, and the SHACL rules of the two."""
    from obep.ontology.bundle.cache import cache_dir as default_dir
    from obep.ontology.bundle.kept_ontologies import load_t
    from obep.ontology.bundle.shacl_model import Model
    from obep.ontology.owl.load import load_graph, ontology_files

    folder = cache_dir or default_dir()
    named = {name: load_graph((path,), folder) for name, path in linked.named.items()}
    ontology, k = load_t(linked.vocab, catalogue, folder), load_graph(linked.graphs, folder)
    if named and linked.file.language != "obep":
        ontology = ontology._replace(axioms=_without_static(ontology.axioms, k))

    read = [ontology.files]
    ontology = ontology._replace(files=None)

    def files() -> Mapping[Path, list[Triple]]:
        found, read[0] = read[0], None  # they are large, and are seldom needed again
        return ontology_files(linked.vocab, catalogue) if found is None else found

    rules = Model(ontology.axioms, k, ontology.shapes, files, make_pattern, folder).applied()
    return ontology._replace(axioms=rules.axioms), rules.k, named, rules


def make_pattern(pattern: str, flags: str) -> Callable[[str], bool]:
    """The test of a regular expression of SHACL, in the time that its text allows."""
    from obep.guards.safe_regex import Matcher
    from obep.guards.typed_values import ExpressionError

    matcher = Matcher(pattern, flags)

    def matches(text: str) -> bool:
        try:
            return matcher.search(text)
        except ExpressionError:
            return False

    return matches


def _about_rules(rules: Applied) -> list[Diagnostic]:
    if not rules.unread:
        return []
    from obep.ontology.bundle.shacl_model import unread_rules

    return unread_rules(rules.unread)


def _without_static(axioms: Axioms, k: Graph) -> Axioms:
    """T without what FROM graphs only assert: that is K (D13), which a graph with a name does not see."""
    from obep.ontology.owl.axioms import Class, ClassAssertion, DataAssertion, PropertyAssertion

    said = frozenset(k)

    def is_static(axiom: Axiom) -> bool:
        match axiom:
            case ClassAssertion(Class(name), individual):
                return (individual, RDF_TYPE, name) in said
            case PropertyAssertion(str(name), subject, object_) | DataAssertion(name, subject, object_):
                return (subject, name, object_) in said
        return False

    return replace(axioms, axioms=tuple(one for one in axioms.axioms if not is_static(one)))


def _placed(one: Diagnostic, linked: Linked) -> Diagnostic:
    """Give a finding about K or T as a whole the place of the clause that names it."""
    if one.span is not None or one.file:
        return one
    for kind in ("graph", "vocab") if one.code in _AS_A_WHOLE else ():
        for file in linked.files:
            for source in file.sources:
                if source.kind == kind:
                    placed = say(one.code, file, source.span, one.message, one.reason, one.remedy)
                    return replace(placed, severity=one.severity)
    return one


def _errors_of(bundle: Bundle, *, strict: bool, require_complete: bool, lints: bool) -> list[Diagnostic]:
    """Errors that only the compiled query shows, and those that strict settings ask for."""
    from obep.lints.language_errors.circular_by_ontology import check_circles
    from obep.lints.language_errors.vocabulary_errors import check_strict, incomplete

    known = {rule.code for rule in rules("ontology")} if lints else set()
    found = [
        one for one in bundle.diagnostics if one.code not in known and (lints or one.severity == "error")
    ]
    found += check_circles(bundle)
    found += check_strict(bundle) if strict else []
    return found + (incomplete(bundle) if require_complete and not bundle.java else [])
