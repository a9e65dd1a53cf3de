"""The SHACL rules of a model, applied to K together with T until nothing new follows, and remembered on disk.

In: T, K and the files of T. Out: T and K with what the rules add, and a report of the rules. It is kept under
a hash of the files, of K and of this code: a changed byte anywhere, and the rules run again.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import msgspec

from obep import __version__
from obep.errors import Diagnostic, sentence
from obep.model import RDF_TYPE, Term, Triple
from obep.ontology import shacl
from obep.ontology.bundle.cache import content_hash, seal, unseal
from obep.ontology.bundle.packed_axioms import UNREADABLE, pack_axioms, unpack_axioms
from obep.ontology.closure.entailed_triples import Entailment
from obep.ontology.closure.runnable import Contradiction
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import OWL, RDFS
from obep.ontology.owl.rdf_nodes import BUILT_IN, Unreadable
from obep.ontology.owl.rdf_to_owl import ANNOTATIONS, axioms_of
from obep.ontology.owl.static_graph import Graph
from obep.ontology.shacl.clause_axioms import ClauseAxioms
from obep.ontology.shacl.read_rules import SparqlRule, TripleRule, Unread, read_rules
from obep.ontology.shacl.read_shapes import MakePattern, ShapeReader
from obep.ontology.shacl.rule_clauses import KOnly, clauses_of
from obep.ontology.shacl.rule_dependencies import ANY, NO_NAMES, Names, all_of, names_of
from obep.ontology.shacl.run_rules import RuleRun
from obep.ontology.shacl.shacl_terms import OF_SHACL, sh
from obep.ontology.shacl.triple_index import TripleIndex

_MAGIC = b"obep-s5\n"


class RuleLine(msgspec.Struct, frozen=True, array_like=True):
    """A rule, for people."""

    label: str
    shape: Term
    k_only: str = ""
    """Why it is applied to K only; nothing where it is applied to items, too."""


class RuleNames(msgspec.Struct, frozen=True, array_like=True):
    """The names of triples of K on which it depends what the rules add."""

    k_only: Names
    """By rules that are applied to K only; for others T entails it."""
    every: Names


class Applied(NamedTuple):
    """T and K with what the rules say."""

    axioms: Axioms
    k: Graph
    inferred: tuple[Triple, ...] = ()
    """What the rules have added to K."""
    rules: tuple[RuleLine, ...] = ()
    unread: tuple[Unread, ...] = ()
    model: Model | None = None
    """What they were applied to, where there are rules: they are applied again when K changes."""
    names: RuleNames | None = None

    @property
    def beside(self) -> Iterator[Triple]:
        """What the rules have added and K does not say, since T entails it now."""
        return (triple for triple in self.inferred if triple not in self.k)


class _Kept(msgspec.Struct, array_like=True):
    key: str
    inferred: list[Triple]
    added: list[Triple]
    """Those of them that T, with the axioms of rules, does not entail by itself."""
    rules: list[RuleLine]
    unread: list[Unread]
    names: RuleNames
    axioms: memoryview


AnyRule = TripleRule | SparqlRule


class _Ready(NamedTuple):
    """The rules of a model, as they are applied to any K."""

    base: TripleIndex
    """The triples of T's files."""
    rules: list[AnyRule]
    unread: list[Unread]
    lines: list[RuleLine]
    of_k: set[int]
    """The ids of the rules that are applied to K only."""
    names: RuleNames
    axioms: Axioms
    """Those of the rules."""
    entailment: Entailment
    """Of T alone."""
    with_rules: Entailment


@dataclass(frozen=True)
class Model:
    """What the rules are applied to."""

    axioms: Axioms
    k: Graph
    shapes: str
    """A name for the content of T's files, where they have shapes."""
    files: Callable[[], Mapping[Path, list[Triple]]]
    make_pattern: MakePattern
    folder: Path | None = None
    names: RuleNames | None = None
    """As they were found before."""

    def applied(self) -> Applied:
        """T and K with what the rules add."""
        if not self.shapes and sh("rule") not in self.k.facts.properties:
            return Applied(self.axioms, self.k)
        key = content_hash((__version__, _code(), self.shapes, self.k.digest))
        place = (self.folder or Path()) / "shacl" / f"{key}.s"
        kept = self._kept(place, key) if self.folder is not None else None
        if kept is None:
            more, kept = self._apply(key)
            if self.folder is not None:
                kept.axioms = memoryview(pack_axioms(more))
                seal(place, _MAGIC, (msgspec.msgpack.encode(kept),))
        else:
            more = unpack_axioms(kept.axioms)
        k = Graph((*self.k, *kept.added)) if kept.added else self.k
        axioms = self.axioms | more if more != Axioms() else self.axioms
        rules = tuple(kept.rules)
        unread = tuple(replace(one, file=self._file_of(one.shape)) for one in kept.unread)
        model = replace(self, names=kept.names) if rules else None
        return Applied(axioms, k, tuple(kept.inferred), rules, unread, model, kept.names)

    def _file_of(self, shape: Term) -> str:
        """The file of T in which a shape has its rules; empty if the static graph says them."""
        of_t = self.files().items() if self.shapes else ()
        rule = sh("rule")
        return next(
            (str(path) for path, said in of_t if any(s == shape and p == rule for s, p, _ in said)), ""
        )

    def with_k(self, k: Graph) -> Model:
        """The same rules for another K; the files of T are not read again."""
        files = self.files()
        found = replace(self, k=k, files=lambda: files, folder=None)
        if not (self._has_shapes or found._has_shapes):
            found.__dict__["_ready"] = self._ready
        return found

    @cached_property
    def _has_shapes(self) -> bool:
        """Whether K has shapes, or parts of them."""
        return any(name.startswith(OF_SHACL) for name in self.k.facts.properties)

    def _kept(self, place: Path, key: str) -> _Kept | None:
        data = unseal(place, _MAGIC)
        try:
            kept = None if data is None else msgspec.msgpack.decode(data, type=_Kept)
        except (*UNREADABLE, msgspec.MsgspecError):
            return None
        return kept if kept is not None and kept.key == key else None

    @cached_property
    def _ready(self) -> _Ready:
        """The rules, read; and what does not depend on K."""
        files = self.files().values()  # once: they are not kept, and the next call would read them again
        base = TripleIndex(triple for triples in files for triple in triples)
        graph = TripleIndex(self.k, base)
        rules, unread = read_rules(ShapeReader(graph, self.make_pattern))
        clauses = ClauseAxioms(self.axioms)
        lines = [RuleLine(rule.label, rule.shape, _why_k_only(rule, graph, clauses)) for rule in rules]
        of_k = {id(rule) for rule, line in zip(rules, lines, strict=True) if line.k_only}
        with_rules = Entailment(self.axioms | clauses.axioms())
        names = self.names or self._names(rules, of_k, with_rules, files)
        return _Ready(
            base, rules, unread, lines, of_k, names, clauses.axioms(), Entailment(self.axioms), with_rules
        )

    def _apply(self, key: str) -> tuple[Axioms, _Kept]:
        ready = self._ready
        run = RuleRun(ready.rules, TripleIndex(self.k, ready.base), self._file_of)
        found = self._until_nothing_new(run) if ready.rules else []
        inferred = [triple for triple in found if not self._is_of_t(triple[0])]
        said = self._axioms_in(triple for triple in found if self._is_of_t(triple[0]))
        needed = [triple for triple in inferred if id(run.by[triple]) in ready.of_k]
        added = self._without_entailed(inferred, needed, said)
        kept = _Kept(key, inferred, added, ready.lines, ready.unread, ready.names, memoryview(b""))
        return ready.axioms | said, kept

    def _without_entailed(self, inferred: list[Triple], needed: list[Triple], said: Axioms) -> list[Triple]:
        """What the rules have added, but for what T entails since it has their axioms.

        It would be explained twice: by the triple, and by what the rule has read.
        """
        if len(needed) == len(inferred):
            return inferred
        ready = self._ready
        entailment = Entailment(self.axioms | ready.axioms | said) if said.axioms else ready.with_rules
        try:
            entailed = {*entailment.triples([*self.k, *needed])}
        except Contradiction:
            return inferred
        own = {*needed}
        return [triple for triple in inferred if triple in own or triple not in entailed]

    def _until_nothing_new(self, run: RuleRun) -> list[Triple]:
        """What the rules add, where T's axioms are applied in turns with them."""
        found: list[Triple] = []
        while True:
            k = [*self.k, *(triple for triple in found if not self._is_of_t(triple[0]))]
            try:
                triples = self._ready.entailment.triples(k)
                entailed = [one for one in triples if not self._is_of_t(one[0])]
            except Contradiction:  # it is said, with its reasons, when K is closed
                entailed = []
            if not run.add(entailed) and found:
                return found
            new = run.run()
            if not new:
                return found
            found += new

    def _names(
        self, rules: list[AnyRule], of_k: set[int], with_rules: Entailment, files: Collection[list[Triple]]
    ) -> RuleNames:
        if self._has_shapes:  # they may change with K
            return RuleNames(ANY, ANY)
        unsaid, every = self._beyond_t(files), [(rule, names_of(rule)) for rule in rules]
        k_only = all_of(own for rule, own in every if id(rule) in of_k or own.meet(unsaid))

        def leading(names: Names) -> Names:
            if names == NO_NAMES or names.all:
                return names
            found = frozenset(with_rules.leading_to(names.classes, names.properties))
            return Names(found, found)

        return RuleNames(leading(k_only), leading(all_of(own for _, own in every)))

    def _beyond_t(self, files: Collection[list[Triple]]) -> Names:
        """The names of triples of T's files that rules read beside K, and T's axioms do not say."""
        properties: set[Term] = set()
        classes: set[Term] = set()
        for triples in files:
            for triple in triples:
                s, p, o = triple
                name = o if p == RDF_TYPE else p
                if not name.startswith((*BUILT_IN, OF_SHACL)) and (
                    self._is_of_t(s) or self.axioms.assertion(triple) is None
                ):
                    (classes if p == RDF_TYPE else properties).add(name)
        return Names(frozenset(properties), frozenset(classes))

    def _is_of_t(self, node: Term) -> bool:
        """Whether a node is a class or a property, which K does not speak of."""
        known = self.axioms
        return (
            node in known.classes
            or node in known.object_properties
            or node in known.data_properties
            or node in known.annotation_properties
        )

    def _axioms_in(self, triples: Iterable[Triple]) -> Axioms:
        """The axioms among what the rules say of classes and properties."""
        said = [t for t in triples if t[1].startswith((f"<{OWL}", f"<{RDFS}")) and t[1] not in ANNOTATIONS]
        if not said:
            return Axioms()
        try:
            return Axioms(axioms_of(said, also=self.axioms).axioms)
        except Unreadable as error:
            raise error.placed(said) from None


def _why_k_only(rule: AnyRule, graph: TripleIndex, clauses: ClauseAxioms) -> str:
    """Why a rule is applied to K only; nothing where its axioms were taken."""
    try:
        clauses.add(clauses_of(rule, graph))
    except KOnly as error:
        return str(error)
    return ""


def _code() -> list[tuple[str, int, int]]:
    """The modules that carry rules out: while they are worked on, the version stays."""
    here = Path(str(shacl.__file__)).parent
    return sorted((one.name, one.stat().st_size, one.stat().st_mtime_ns) for one in here.glob("*.py"))


def unread_rules(unread: Iterable[Unread]) -> list[Diagnostic]:
    """Each rule that is not applied, with its reason; one line for those of one shape and reason."""
    return [_said(one, count) for one, count in Counter(unread).items()]


def _said(one: Unread, count: int) -> Diagnostic:
    what = f"{one.label} of the shape {one.shape}" + (f" ({count} of them)" if count > 1 else "")
    return Diagnostic(
        "OBEP801" if one.refused else "OBEP800",
        f"{what} cannot be carried out" if one.refused else f"{what} is not applied",
        file=one.file,
        reason=sentence(one.reason),
        remedy="correct the rule, or set sh:deactivated true",
        severity="error" if one.refused else "warning",
    )
