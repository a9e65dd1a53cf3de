"""Check and compile a query with its ontology and static graph, for `obep check` and `obep run`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from obep.config.catalogue import given, looked_up, mappings_of
from obep.errors import Diagnostic, ObepError
from obep.lints.apply_rules import apply_ontology_rules, without_redundant
from obep.lints.ignore import without_ignored
from obep.lints.registry import rules
from obep.model import RDF_TYPE, Triple
from obep.query.diagnostics import say

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.ontology.bundle.kept_bundles import KeptBundles
    from obep.ontology.bundle.kept_ontologies import Ontology
    from obep.ontology.bundle.shacl_model import Applied
    from obep.ontology.owl.axiom_set import Axioms
    from obep.ontology.owl.axioms import Axiom
    from obep.ontology.owl.static_graph import Graph
    from obep.query.link import Linked

_OF_T = ("OBEP833",)
_OF_RULES = ("OBEP800", "OBEP801", "OBEP802")
_AS_A_WHOLE = ("OBEP243", "OBEP242", "OBEP303", "OBEP312", "OBEP345", *_OF_RULES, *_OF_T)


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
    bundle, before, after = _compiled(
        linked,
        catalogue,
        java=java,
        strict=strict,
        require_complete=require_complete,
        cache_dir=cache_dir,
        max_explanations=max_explanations,
        max_work=max_work,
        lints=lints,
    )
    said = before
    if bundle is not None and (mappings := mappings_of(catalogue)):
        from obep.lints.language_errors.mapped_units import check_mapped_units

        said += check_mapped_units(bundle, mappings)
    said = [_placed(one, linked) for one in (*said, *after)]
    if lints:
        said = without_ignored(said, linked, ignore)
        said = without_redundant(said, linked)  # a finding that is ignored makes no other one redundant
    order = {file.name: number for number, file in enumerate(linked.files)}
    said.sort(key=lambda d: (order.get(d.file, len(order)), d.span.start if d.span else 0))
    found = Examined(bundle, tuple(said))
    return found._replace(bundle=None) if found.errors else found


def _compiled(
    linked: Linked,
    catalogue: Mapping[str, Path],
    *,
    java: bool,
    strict: bool,
    require_complete: bool,
    cache_dir: Path | None,
    max_explanations: int | None,
    max_work: int | None,
    lints: bool,
) -> tuple[Bundle | None, list[Diagnostic], list[Diagnostic]]:
    """The bundle, unless there are errors, and what was found before and after it was made; as it was kept,
    if nothing has changed."""
    written = sorted(given(catalogue))
    kept = _kept(
        linked,
        catalogue,
        cache_dir,
        (java, strict, require_complete, str(cache_dir or ""), max_explanations, max_work, lints, *written),
    )
    known = None
    if kept is not None:
        from obep.guards.safe_regex import text_test

        known = kept.read(lambda: _files(linked, catalogue), text_test)
    if known is not None:
        return known
    from obep.lints.check_query import find_all

    before, after = find_all(linked, lints=lints), list[Diagnostic]()
    bundle = None
    try:
        ontology, k, named, rules = _read(linked, catalogue, cache_dir)
        before += _about_rules(rules)
    except ObepError as error:
        return None, [*before, *error.diagnostics], after
    from obep.lints.language_errors.vocabulary_errors import check_names

    names = check_names(linked, ontology.axioms, k, written, named.values())
    before += [one for one in names if one.severity == "error"]
    try:
        if not any(one.severity == "error" for one in before):
            from obep.ontology.bundle.compile import compile_bundle

            bundle = compile_bundle(
                linked,
                ontology.axioms,
                k,
                named=named,
                java=java,
                cache_dir=cache_dir,
                max_explanations=max_explanations,
                max_work=max_work,
            )
            bundle.shacl, bundle.looked_up = rules, looked_up(catalogue)
    except ObepError as error:
        before += error.diagnostics
    if lints:
        from obep.lints.context import OntologyContext

        after += apply_ontology_rules(OntologyContext(ontology.words, names, ontology.missing), bundle)
    if bundle is not None:
        after += _errors_of(bundle, strict=strict, require_complete=require_complete, lints=lints)
        if kept is not None and not any(one.severity == "error" for one in (*before, *after)):
            from obep.ontology.bundle.kept_bundles import Compiled

            _answer_questions(bundle)
            kept.write(Compiled(bundle, before, after), ontology.read)
    return bundle, before, after


def _answer_questions(bundle: Bundle) -> None:
    """Ask about T what a run asks, so that the answers are kept, too."""
    from obep.guards.block_queries import asks
    from obep.ontology.bundle.stream_readers import listening
    from obep.plan.build_plan import plan

    plan(bundle.expanded, asks(bundle.expanded), bundle)
    bundle.ask_of_streams()
    for stream in bundle.linked.streams:
        here = listening(bundle.linked, bundle.definitions, stream)
        for rule in rules("stream"):
            if rule.watch is not None:
                rule.watch(bundle, here)


def _files(linked: Linked, catalogue: Mapping[str, Path]) -> Mapping[Path, list[Triple]]:
    from obep.ontology.owl.load import ontology_files

    return ontology_files(linked.vocab, catalogue)


def _kept(
    linked: Linked, catalogue: Mapping[str, Path], cache_dir: Path | None, settings: tuple[object, ...]
) -> KeptBundles | None:
    """Where a query with large files is kept."""
    from obep.ontology.bundle.cache import cache_dir as default_dir
    from obep.ontology.bundle.kept_bundles import LARGE, MOST, KeptBundles
    from obep.ontology.owl.load import size_of_files

    paths = (*linked.vocab, *linked.graphs, *linked.named.values(), *catalogue.values())
    if not LARGE <= size_of_files(paths) <= MOST:
        return None
    return KeptBundles(linked, catalogue, cache_dir or default_dir(), settings)


def _read(
    linked: Linked, catalogue: Mapping[str, Path], cache_dir: Path | None
) -> tuple[Ontology, Graph, dict[str, Graph], Applied]:
    """The ontology of a query, its static graph, those that have names, and the SHACL rules of the two."""
    from obep.guards.safe_regex import text_test
    from obep.ontology.bundle.cache import cache_dir as default_dir
    from obep.ontology.bundle.kept_bundles import MOST, digests
    from obep.ontology.bundle.kept_ontologies import load_t
    from obep.ontology.bundle.shacl_model import Model
    from obep.ontology.owl.load import load_graph, size_of_files

    folder = cache_dir or default_dir()
    graphs = (*linked.graphs, *linked.named.values())
    static = digests(graphs) if size_of_files(graphs) <= MOST else {}
    named = {name: load_graph((path,), folder) for name, path in linked.named.items()}
    ontology, k = load_t(linked.vocab, catalogue, folder), load_graph(linked.graphs, folder)
    if named and linked.file.language != "obep":
        ontology = ontology._replace(axioms=_without_static(ontology.axioms, k))

    read = [ontology.files]
    ontology = ontology._replace(files=None, read={**ontology.read, **static})

    def files() -> Mapping[Path, list[Triple]]:
        found, read[0] = read[0], None  # they are large, and are seldom needed again
        return _files(linked, catalogue) if found is None else found

    rules = Model(ontology.axioms, k, ontology.shapes, files, text_test, folder).applied()
    return ontology._replace(axioms=rules.axioms), rules.k, named, rules


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
    kinds = ("vocab", "graph") if one.code in _OF_T else ("graph", "vocab")
    for kind in kinds if one.code in _AS_A_WHOLE else ():
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
