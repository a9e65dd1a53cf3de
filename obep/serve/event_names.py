"""The events, states and queries that a request names."""

from __future__ import annotations

from collections.abc import Iterable

from obep.output.json_writer import iri
from obep.run.run_spec import wanted_events
from obep.serve.query_set import returned_by
from obep.serve.service import Service


def events_named(names: Iterable[str], service: Service) -> frozenset[str]:
    """Their IRIs as the journal has them; raises OBEP517 for one that no query returns or has returned.

    What a query has reported stays, also when the query goes.
    """
    returned = [name for query in service.queries.queries.values() for name in returned_by(query.plan)]
    reported = [f"<{name}>" for name in service.journal.events()]
    return frozenset(map(iri, wanted_events(names, dict.fromkeys((*returned, *reported)))))
