"""`validate` under a source in obep.toml: its shapes, made ready to check items."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import msgspec

from obep.errors import fail, sentence
from obep.model import Triple
from obep.ontology.owl.axioms import Class, SubClassOf

if TYPE_CHECKING:
    from obep.config.toml_file import Config
    from obep.engine.knowledge.prepared_items import PreparedItems
    from obep.formats.item_checks import Checks
    from obep.ontology.bundle.compile import Bundle


class Preparation(msgspec.Struct, frozen=True):
    """What sources ask for that K decides of their items, by stream; plain values, for another process."""

    lookups: dict[str, tuple[dict[str, Any], str]]
    """The settings of mappings that look something up, and where they stand."""
    shapes: dict[str, list[Triple]]
    units: tuple[str, ...]
    file: str
    """That of the settings."""

    def made(self, bundle: Bundle) -> PreparedItems:
        """What prepares the items."""
        from obep.engine.knowledge.prepared_items import PreparedItems
        from obep.formats.quantities import Quantities

        asked = bundle.definitions.units
        units = {name: Quantities(asked) for name in self.units}
        return PreparedItems(self.lookups, self._checks(bundle), units)

    def _checks(self, bundle: Bundle) -> Checks:
        """By stream, the check of its items."""
        if not self.shapes:
            return {}
        from obep.guards.safe_regex import text_test
        from obep.ontology.shacl.validation import item_check

        above = tuple(_above(bundle))
        found = {}
        for stream, shapes in self.shapes.items():
            check, unread = item_check(shapes, above, bundle.with_rules(), text_test)
            if unread:
                shape, reason = unread[0]
                raise fail(
                    "OBEP804",
                    f"sources.{stream}.validate: the shape {shape} cannot be used to check items",
                    file=self.file,
                    reason=sentence(reason),
                    remedy="remove it from the file, or set sh:deactivated true",
                )
            found[stream] = check
        return found


def preparation(config: Config) -> Preparation | None:
    """What the sources of a project ask for, with the shapes of their files."""
    from obep.ontology.owl.load import read_rdf

    sources = config.sources.items()
    shapes = {name: [*read_rdf(config.file(one["validate"]))] for name, one in sources if "validate" in one}
    units = tuple(name for name, one in sources if "units" in one)
    lookups = {name: (dict(settings), where) for name, (settings, where) in config.lookups().items()}
    if not (lookups or shapes or units):
        return None
    return Preparation(lookups, shapes, units, str(config.path or ""))


def prepared_items(config: Config, bundle: Bundle) -> PreparedItems | None:
    """What prepares the items of sources by K, if some source asks for that."""
    asked = preparation(config)
    return None if asked is None else asked.made(bundle)


def _above(bundle: Bundle) -> Iterator[Triple]:
    """Which class of T lies below which."""
    from obep.ontology.shacl.shacl_terms import SUB_CLASS_OF

    for axiom in bundle.t.axioms:
        if isinstance(axiom, SubClassOf) and isinstance(axiom.sub, Class) and isinstance(axiom.sup, Class):
            yield axiom.sub.iri, SUB_CLASS_OF, axiom.sup.iri
