"""an unknown name in a mapping

What it does: Finds a property or class in a template or context of obep.toml that is not in the ontology, the
static graph or the query. It is reported if the query uses another name of the same namespace that no mapping
and no static graph has. The message suggests the nearest such name. If the ontology has names of that
namespace, and all streams have mappings, it suggests any such name.

Why: The records are read without an error, but an event over the right name is never found, or its absence
always is. `check` and `run` report it before they read records, unless a guard asks for every property
(`?this ?p ?v`).

Example:

    template = ":{bay} :status {state} ."          # the query has `state value "faulted"`

Fix:

    template = ":{bay} :state {state} ."
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, NamedTuple

from obep.config.toml_file import Config
from obep.formats.record_mapping import Context, make_mapping
from obep.formats.triple_template import Slot, Template
from obep.lints.analysis.static_names import (
    BUILT_IN,
    asks_for_all,
    constructed,
    known_names,
)
from obep.lints.language_errors.vocabulary_errors import as_written
from obep.lints.stream_context import ConfigContext, Finding
from obep.model import RDF_TYPE, Term
from obep.ontology.bundle.following_names import following
from obep.ontology.bundle.stream_readers import listening
from obep.query import ast
from obep.query.diagnostics import listed
from obep.query.nearest_name import misspelt, nearest, split
from obep.query.walk import walk

if TYPE_CHECKING:
    from obep.ontology.bundle.compile import Bundle

CODE = "OBEP584"
NAME = "unknown-mapped-name"
SEVERITY = "warning"

MOST_NAMED = 3
"""Names that a message offers."""


class Given(NamedTuple):
    """The names that a mapping gives to items."""

    where: str
    classes: frozenset[Term]
    properties: frozenset[Term]
    open: bool
    """Whether records may bring other names."""


def check(context: ConfigContext) -> Iterator[Finding]:
    bundle, config = context.bundle, context.config
    if not config.sources or asks_for_all(bundle):
        return
    linked = bundle.linked
    streams = linked.streams
    given = {name: one for name in streams or config.sources if (one := _given(name, config)) is not None}
    facts = bundle.k.facts
    known = known_names(bundle) | {*facts.classes, *facts.properties}
    strange = {
        stream: [name for name in sorted(one.classes | one.properties) if _strange(name, known)]
        for stream, one in given.items()
    }
    if not any(strange.values()):
        return
    whole = all(stream in given and not given[stream].open for stream in streams)
    mapped = {name for one in given.values() for name in (*one.classes, *one.properties)}
    said = following(bundle, {*mapped, *facts.classes, *facts.properties, *constructed(bundle)})
    for stream, names in strange.items():
        missing = _asked(bundle, stream) - said
        near = _near(bundle, stream) - mapped
        for name in names:
            meant = _meant(name, given[stream], bundle, missing, near, whole=whole)
            if meant:
                yield _finding(stream, name, meant, given[stream], bundle)


def _given(stream: str, config: Config) -> Given | None:
    """The names that the mapping of a stream writes, if it has one."""
    setting = config.mapping_of(stream)
    if setting is None:
        return None
    settings, where = setting
    triples = make_mapping(settings, where).triples
    if isinstance(triples, Template):
        patterns = triples.patterns
        named = {p for _, p, _ in patterns if isinstance(p, str)}
        classes = {o for _, p, o in patterns if p == RDF_TYPE and isinstance(o, str)}
        open = any(isinstance(p, Slot) or (p == RDF_TYPE and isinstance(o, Slot)) for _, p, o in patterns)
        return Given(where, frozenset(classes), frozenset(named - {RDF_TYPE}), open)
    assert isinstance(triples, Context)
    return Given(where, frozenset(), triples.names, open=True)


def _strange(name: Term, known: frozenset[Term]) -> bool:
    return name not in known and not name.startswith(BUILT_IN) and bool(split(name)[1])


def _asked(bundle: Bundle, stream: str) -> frozenset[Term]:
    """The names that the definitions and guards of a stream's readers use."""
    here = listening(bundle.linked, bundle.definitions, stream)
    nodes = (node for event in here.events for node in walk(event.description))
    named = frozenset(node.iri for node in nodes if isinstance(node, ast.Name))
    return (named | here.classes | here.roles) - set(bundle.linked.events)


def _near(bundle: Bundle, stream: str) -> frozenset[Term]:
    """The names that the events of a stream use, directly or through other events."""
    return bundle.sought(listening(bundle.linked, bundle.definitions, stream)) - set(bundle.linked.events)


def _meant(
    name: Term,
    given: Given,
    bundle: Bundle,
    missing: Iterable[Term],
    near: Iterable[Term],
    *,
    whole: bool,
) -> list[Term]:
    """The names that were probably meant; none where the name may well be right."""
    axioms, definitions = bundle.definitions.axioms, bundle.definitions
    kind = (
        axioms.classes | definitions.guard_classes
        if name in given.classes
        else axioms.object_properties | axioms.data_properties | definitions.guard_roles
    )
    space = split(name)[0]
    lacking = sorted(one for one in missing if one in kind and split(one)[0] == space)
    meant = nearest(name, lacking) or misspelt(name, (one for one in near if one in kind))
    if meant:
        return [meant]
    t = bundle.t.classes | bundle.t.object_properties | bundle.t.data_properties
    return lacking[:MOST_NAMED] if whole and any(split(one)[0] == space for one in t) else []


def _finding(stream: str, name: Term, meant: list[Term], given: Given, bundle: Bundle) -> Finding:
    file = bundle.linked.file
    shown = as_written(name, file)
    others = [as_written(one, file) for one in meant]
    return Finding(
        stream,
        f"obep.toml: {given.where}: neither the ontology, the static graph nor the query knows {shown}",
        f"{' or '.join(others)} instead of {shown}",
        reason=f"Nothing uses it, and no mapping gives {listed(others, 'or')}, which the query uses.",
        about=name,
    )
