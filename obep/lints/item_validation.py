"""`validate` under a source in obep.toml: its shapes, made ready to check items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from obep.errors import fail
from obep.model import Triple
from obep.ontology.owl.axioms import Class, SubClassOf

if TYPE_CHECKING:
    from obep.config.toml_file import Config
    from obep.engine.knowledge.prepared_items import PreparedItems
    from obep.formats.item_checks import Checks
    from obep.ontology.bundle.compile import Bundle


def prepared_items(config: Config, bundle: Bundle) -> PreparedItems | None:
    """What prepares the items of sources by K, if some source asks for that."""
    lookups, checks = config.lookups(), item_checks(config, bundle)
    units = [name for name, one in config.sources.items() if "units" in one]
    if not lookups and not checks and not units:
        return None
    from obep.engine.knowledge.prepared_items import PreparedItems
    from obep.formats.quantities import Quantities

    asked = bundle.definitions.units
    return PreparedItems(lookups, checks, {name: Quantities(asked) for name in units})


def item_checks(config: Config, bundle: Bundle) -> Checks:
    """By stream, the check of its items; nothing where no source asks for one."""
    asked = {name: one["validate"] for name, one in config.sources.items() if "validate" in one}
    if not asked:
        return {}
    from obep.lints.check_project import make_pattern
    from obep.ontology.owl.load import read_rdf
    from obep.ontology.shacl.validation import item_check

    above = tuple(_above(bundle))
    found = {}
    for stream, path in asked.items():
        check, unread = item_check(read_rdf(config.file(path)), above, bundle.k, make_pattern)
        if unread:
            shape, reason = unread[0]
            raise fail(
                "OBEP804",
                f"sources.{stream}.validate: the shape {shape} cannot be used to check items",
                file=str(config.path or ""),
                reason=f"{reason[:1].upper()}{reason[1:].rstrip('.')}.",
                remedy="take it out of the file, or say sh:deactivated true of it",
            )
        found[stream] = check
    return found


def _above(bundle: Bundle) -> Iterator[Triple]:
    """Which class of T lies below which."""
    from obep.ontology.shacl.shacl_terms import SUB_CLASS_OF

    for axiom in bundle.t.axioms:
        if isinstance(axiom, SubClassOf) and isinstance(axiom.sub, Class) and isinstance(axiom.sup, Class):
            yield axiom.sub.iri, SUB_CLASS_OF, axiom.sup.iri
