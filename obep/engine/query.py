"""A compiled query: parsed, checked, linked to its ontology, planned. It never changes; engines share it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from obep.errors import Diagnostic, ObepError, fail
from obep.guards.block_queries import Asks, asks
from obep.model import Term
from obep.plan.build_plan import plan
from obep.plan.event_strata import derived
from obep.plan.plan import Plan

if TYPE_CHECKING:
    from obep.engine.engine import Engine
    from obep.query.link import Linked


@dataclass(frozen=True)
class Query:
    """What `obep.load` gives. `warnings` are what the compiler has to say and goes on."""

    linked: Linked
    bundle: Any
    warnings: tuple[Diagnostic, ...] = ()

    @cached_property
    def asks(self) -> Asks:
        return asks(self.linked)

    @cached_property
    def plan(self) -> Plan:
        return plan(self.linked, self.asks, self.bundle)

    @cached_property
    def derived(self) -> dict[Term, frozenset[Term]]:
        """The events that may be found in the occurrences of others, each with those."""
        return derived(self.linked, self.bundle)

    @property
    def hash(self) -> str:
        """The same for the same query, ontology and static graph."""
        return str(self.bundle.hash)

    def require_returns(self) -> None:
        """Refuse to run what returns nothing."""
        if not self.linked.returns:
            raise fail(
                "OBEP572",
                "the query returns nothing",
                reason="A file without RETURN can be checked and included, not run.",
                remedy="RETURN ALL",
            )

    def engine(self, **settings: Any) -> Engine:
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
        from obep.ontology.bundle.packing import from_path

        bundle = from_path(path)
        return cls(bundle.linked, bundle)

    @classmethod
    def from_bytes(cls, data: bytes) -> Query:
        """The query that `to_bundle` has made bytes of."""
        from obep.ontology.bundle.packing import from_bytes

        bundle = from_bytes(data)
        return cls(bundle.linked, bundle)

    def explain(self) -> str:
        """The plan as a tree."""
        return str(self.plan)


def load(
    path: str | Path | None = None,
    *,
    text: str | None = None,
    folder: str | Path | None = None,
    allowed: tuple[Path, ...] = (),
    catalogue: Mapping[str, Path] | None = None,
    java: bool = True,
    strict: bool = False,
    require_complete: bool = False,
    cache_dir: str | Path | None = None,
    max_explanations: int | None = None,
    max_work: int | None = None,
) -> Query:
    """Read and compile a query, from a file or from `text` (whose paths are relative to `folder`).

    Raises ObepError with all that is wrong with it. `java=False` never starts the reasoner; `strict` holds
    guards to the vocabulary of their events (SPEC D7); `require_complete` refuses events that need the
    reasoner where there is no Java, which otherwise run as a lower bound; `max_explanations` is how many of
    one event and individual are looked for in an item (SPEC D4), `max_work` how many steps an item may take
    before it is a dead letter (OBEP628); both hold on every engine.
    """
    from obep.lints.check_project import examine
    from obep.query.link import link
    from obep.query.parse.parser import parse, read_query

    if (path is None) == (text is None):
        raise TypeError("load takes a path or text=, one of them")
    if path is not None:
        file, home = read_query(Path(path)), Path(path).resolve().parent
    else:
        file, home = parse(text or ""), Path(folder or ".")
    linked = link(file, home, allowed=allowed)
    found = examine(
        linked,
        catalogue or {},
        java=java,
        strict=strict,
        require_complete=require_complete,
        cache_dir=Path(cache_dir) if cache_dir else None,
        max_explanations=max_explanations,
        max_work=max_work,
    )
    if found.errors:
        raise ObepError(*found.errors)
    return Query(linked, found.bundle, found.diagnostics)
