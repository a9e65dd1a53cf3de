"""A compiled query: parsed, checked, linked to its ontology, planned. It never changes; engines share it."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias, TypedDict, Unpack

from obep.errors import Diagnostics, fail, monospaced
from obep.guards.block_queries import Asks, asks
from obep.model import DeadLetter, Item, Occurrence, Term, local_name
from obep.plan.build_plan import plan
from obep.plan.event_strata import Below, derived
from obep.plan.plan import Plan
from obep.query.state_expansion import expand

if TYPE_CHECKING:
    from datetime import timedelta

    from obep.engine.admission import OnDeadLetter
    from obep.engine.engine import Engine
    from obep.engine.knowledge.prepared_items import PreparedItems
    from obep.engine.observer import Observer
    from obep.query.link import Linked


NONE = Diagnostics()
Duration: TypeAlias = "float | str | timedelta | None"
"""Seconds, or text such as `5 s`."""


class EngineSettings(TypedDict, total=False):
    """What `Engine` takes beside its query, and says about it."""

    lateness: Duration
    idle: Duration
    future: Duration
    on_dead_letter: OnDeadLetter | None
    now: Callable[[], int] | None
    steady: Callable[[], int] | None
    max_explanations: int | None
    max_keys: int | None
    max_because: int | None
    remember: int | None
    observer: Observer | None
    matcher: Any
    prepares: Callable[[], PreparedItems | None]
    gives_empty: bool


@dataclass(frozen=True)
class Query:
    """What `obep.load` gives. `warnings` are what the compiler has to say and goes on.

    >>> import obep
    >>> query = obep.load(text="EVENT A AS Room\\nEVENT B MATCH A SEQ A WITHIN 5 s\\nRETURN B")
    >>> query, query.warnings
    (<Query <query>: A, B>, ())
    >>> query.explain().splitlines()[0]
    '<query>: 2 events in 2 strata'
    """

    linked: Linked
    bundle: Any
    warnings: Diagnostics = NONE

    def __repr__(self) -> str:
        names = [local_name(one) for one in (*self.linked.events, *self.linked.states, *self.linked.queries)]
        return f"<Query {self.linked.file.name}: {', '.join(names) or 'nothing'}>"

    @cached_property
    def expanded(self) -> Linked:
        """The query with hidden events for its states."""
        return expand(self.linked)

    @cached_property
    def asks(self) -> Asks:
        return asks(self.expanded)

    @cached_property
    def plan(self) -> Plan:
        return plan(self.expanded, self.asks, self.bundle)

    @cached_property
    def derived(self) -> dict[Term, Below]:
        """The events that may be found in the occurrences of others, each with those."""
        return derived(self.expanded, self.bundle)

    def over(self, bundle: Any) -> Query:
        """The same query and plan over the K of another bundle."""
        found = replace(self, bundle=bundle)
        made = (name for name in ("expanded", "asks", "plan") if name in self.__dict__)
        found.__dict__.update({name: self.__dict__[name] for name in made})
        return found

    @property
    def hash(self) -> str:
        """A hash that is equal for the same query, ontology and static graph."""
        return str(self.bundle.hash)

    @property
    def names(self) -> str:
        """The IRI of its empty prefix; that of examples, if it has none."""
        prefixes = self.linked.file.prefixes
        return next((one.iri for one in prefixes if one.prefix == ""), "http://example.org/")

    def require_returns(self) -> None:
        """Refuse to run what returns nothing."""
        if not (self.linked.returns or self.linked.queries):
            raise fail(
                "OBEP572",
                "the query returns nothing",
                reason="A file without RETURN can be checked and included, not run.",
                remedy="RETURN ALL",
            )

    def engine(self, **settings: Unpack[EngineSettings]) -> Engine:
        """An engine that runs it; see `Engine` for the settings."""
        from obep.engine.engine import Engine

        return Engine(self, **settings)

    def to_bundle(self) -> bytes:
        """All of it as bytes, for another process."""
        from obep.ontology.bundle.packing import to_bytes

        return to_bytes(self.bundle)

    @classmethod
    def from_bundle(cls, path: Path) -> Query:
        """The query in a file that `to_bundle` has filled; processes on one machine share its K."""
        from obep.guards.safe_regex import text_test
        from obep.ontology.bundle.packing import from_path

        bundle = from_path(path, text_test)
        return cls(bundle.linked, bundle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Query:
        """The query that `to_bundle` has made bytes of."""
        from obep.guards.safe_regex import text_test
        from obep.ontology.bundle.packing import from_bytes

        bundle = from_bytes(data, text_test)
        return cls(bundle.linked, bundle)

    def explain(self) -> str:
        """Describe the query as `obep explain` does; `str(query.plan)` has the operators."""
        from obep.plan.explain_text import explained

        return "\n".join(explained(self.linked, self.bundle, self.plan))

    def _repr_html_(self) -> str:
        from obep.plan.query_html import definitions_table, drawn_plan

        plan = f"<details><summary>plan</summary>{monospaced(escape(self.explain()))}</details>"
        return definitions_table(self.linked) + drawn_plan(self.linked) + plan + self.warnings._repr_html_()


def run(
    query: Query, items: Iterable[Item | DeadLetter], **settings: Unpack[EngineSettings]
) -> list[Occurrence]:
    """Everything that the query finds in items that are all there; `settings` are those of `Engine`.

    >>> import obep
    >>> query = obep.load(text="PREFIX : <http://e/>\\nEVENT A AS Room\\nRETURN A")
    >>> kind = "<http://www.w3.org/1999/02/22-rdf-syntax-ns#type>"
    >>> [hit.start for hit in obep.run(query, [obep.Item("", 5, (("<http://e/a>", kind, "<http://e/Room>"),))])]
    [5]
    """
    engine = query.engine(**settings)
    return [*engine.push_items(items), *engine.close()]
