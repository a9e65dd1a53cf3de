"""The OpenAPI document says what the service does: all routes are in it, and all that they answer."""

from __future__ import annotations

from typing import Any

import hypothesis
import pytest
from serve.conftest import Open, line

from obep.serve.api.openapi_document import document
from obep.serve.api.routes import ROUTES

ENDLESS = "/watch"


def test_every_route_is_in_the_document() -> None:
    described = {(method.upper(), path) for path, one in document()["paths"].items() for method in one}
    sockets = {("WS", one["path"]) for one in document()["x-websockets"]}
    assert described | sockets == {(route.method, route.path) for route in ROUTES}


@pytest.mark.slow
def test_every_answer_to_any_request_is_one_that_the_document_names(local: Open) -> None:
    """Whatever is sent: a status and a type of the document, and never 500."""
    import schemathesis
    from schemathesis.specs.openapi.checks import positive_data_acceptance

    service = local()
    service.post(line(1), line(2))
    schema = schemathesis.openapi.from_dict(service.client.get("/openapi.json").json())
    for result in schema.get_all_operations():
        operation = result.ok()
        if operation.path == ENDLESS:
            continue

        @hypothesis.given(case=operation.as_strategy())
        @hypothesis.settings(
            max_examples=8,
            deadline=None,
            derandomize=True,
            database=None,
            suppress_health_check=list(hypothesis.HealthCheck),
        )
        def holds(case: Any) -> None:
            sent = case.as_transport_kwargs(base_url="http://127.0.0.1")
            sent.pop("cookies", None)
            if "data" in sent:
                sent["content"] = sent.pop("data")
            # a text that the schema allows may be no instant, no query and no item
            case.validate_response(service.client.request(**sent), excluded_checks=[positive_data_acceptance])

        holds()
