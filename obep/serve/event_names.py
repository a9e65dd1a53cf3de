"""The events, states and queries that a request names."""

from __future__ import annotations

from collections.abc import Iterable

from obep.output.json_writer import iri
from obep.run.run_spec import wanted_events
from obep.serve.service import Service


def events_named(names: Iterable[str], service: Service) -> frozenset[str]:
    """Their IRIs as the journal has them; raises OBEP517 for one that the query does not return."""
    plan = service.engine.query.plan
    known = dict.fromkeys((*plan.returned, *plan.alerting, *(one.iri for one in plan.queries)))
    return frozenset(map(iri, wanted_events(names, known)))
