"""All that there is to say about a query before it runs; `obep check` and `obep run` both ask here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from obep.errors import Diagnostic, ObepError
from obep.lints.check_query import check
from obep.query.diagnostics import say

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle
    from obep.query.link import Linked

_AS_A_WHOLE = ("OBEP243", "OBEP246", "OBEP303", "OBEP312", "OBEP345")


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
) -> Examined:
    """Checks a query, loads its ontology and its static graph, and compiles them."""
    from obep.lints.rules.ontology.circular_definition import check_circles
    from obep.lints.rules.ontology.class_as_individual import check_class_values
    from obep.lints.rules.ontology.event_defined_by_ontology import check_defined_twice
    from obep.lints.rules.ontology.found_by_class import check_found_again
    from obep.lints.rules.ontology.occurrence_as_individual import check_occurrences
    from obep.lints.rules.ontology.outside_explanation import check_explained
    from obep.lints.rules.ontology.property_not_carried import check_handed_on
    from obep.lints.rules.ontology.unknown_static_name import check_individuals, check_static_names
    from obep.lints.rules.ontology.unused_graph import check_silent_graphs
    from obep.lints.rules.ontology.wrong_subject import check_subjects

    said = check(linked)
    bundle = None
    try:
        bundle = _compiled(linked, catalogue, java, cache_dir, (max_explanations, max_work), said)
    except ObepError as error:
        said += error.diagnostics
    if bundle is not None:
        equal = {(one.file, one.span) for one in said if one.code == "OBEP210"}
        said += [
            one
            for one in bundle.diagnostics
            if one.code != "OBEP240" or (one.file, one.span) not in equal  # their texts are equal, too
        ]
        said += check_circles(bundle)
        said += check_defined_twice(bundle)
        said += check_handed_on(bundle)
        said += check_explained(bundle)
        said += check_subjects(bundle)
        said += check_found_again(bundle)
        unknown = check_static_names(bundle)
        said += unknown + check_silent_graphs(bundle, bool(unknown))
        misspelt = check_individuals(bundle)
        said += misspelt + check_class_values(bundle, [one.span for one in misspelt])
        said += check_occurrences(bundle)
        said += _demanded(bundle, strict=strict, require_complete=require_complete)
    said = [_placed(one, linked) for one in said]
    order = {file.name: number for number, file in enumerate(linked.files)}
    said.sort(key=lambda d: (order.get(d.file, len(order)), d.span.start if d.span else 0))
    found = Examined(bundle, tuple(said))
    return found._replace(bundle=None) if found.errors else found


def _compiled(
    linked: Linked,
    catalogue: Mapping[str, Path],
    java: bool,
    cache_dir: Path | None,
    most: tuple[int | None, int | None],
    said: list[Diagnostic],
) -> Bundle | None:
    """The bundle, with the `most` explanations and steps of an item.

    There is none where `said` has an error, which names that are wrong too are added to.
    """
    from obep.lints.rules.ontology.owl_typo import check_owl_words
    from obep.lints.rules.ontology.unknown_vocabulary import check_names
    from obep.ontology.bundle.cache import cache_dir as default_dir
    from obep.ontology.bundle.compile import compile_bundle
    from obep.ontology.owl.load import axioms_in, load_graph, ontology_files

    files = ontology_files(linked.vocab, catalogue)
    said += check_owl_words(files)
    axioms = axioms_in(files)
    k = load_graph(linked.graphs, cache_dir or default_dir())
    said += check_names(linked, axioms, k)
    if any(one.severity == "error" for one in said):
        return None
    max_explanations, max_work = most
    return compile_bundle(
        linked,
        axioms,
        k,
        java=java,
        cache_dir=cache_dir,
        max_explanations=max_explanations,
        max_work=max_work,
    )


def _placed(one: Diagnostic, linked: Linked) -> Diagnostic:
    """What is said about K or T as a whole stands at the clause that names it."""
    if one.span is not None or one.file:
        return one
    for kind in ("graph", "vocab") if one.code in _AS_A_WHOLE else ():
        for file in linked.files:
            for source in file.sources:
                if source.kind == kind:
                    placed = say(one.code, file, source.span, one.message, one.reason, one.remedy)
                    return replace(placed, severity=one.severity)
    return one


def _demanded(bundle: Bundle, *, strict: bool, require_complete: bool) -> list[Diagnostic]:
    """What is wrong only because the user is strict."""
    from obep.lints.rules.ontology.unknown_vocabulary import check_strict, incomplete

    found = check_strict(bundle) if strict else []
    return found + incomplete(bundle) if require_complete and not bundle.java else found
