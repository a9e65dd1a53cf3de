"""Alerts of a run on Spark to an Alertmanager: the driver sends them, again while they fire."""

from __future__ import annotations

from pathlib import Path

import pytest
from streams.test_alertmanager import FAN, alerts, server

from obep.config.toml_file import Config
from obep.model import Alert
from obep.output.form_texts import Found, text_in_form
from obep.output.json_writer import to_line
from obep.run.run_spec import Order, Target
from obep.spark.driver.delivery import Delivery

RUNNING = "<http://e/Running>"


def found(alert: Alert) -> Found:
    texts = {"event": to_line(alert) + "\n"}
    return Found(
        alert.event[1:-1], alert.id, alert.start, alert.end, alert.detected, texts, status=alert.status
    )


def test_alerts_of_a_micro_batch_are_sent_and_those_that_fire_again_by_the_next_run(tmp_path: Path) -> None:
    fired, resolved = alerts((0, "on"), (5, "off"))
    with server() as received:
        uri = f"alertmanager://127.0.0.1:{received.port}?resend=0.001"
        order = Order(Path("-"), Config(tmp_path), (), (Target("am", uri, True, form="event"),))

        def delivery() -> Delivery:
            return Delivery(order, {}, tmp_path / "delivered.json", alerting=[RUNNING])

        first = delivery()
        assert first.forms() == ("event",)
        first.take(0, [found(fired)], ())
        first.close()  # the end of the process
        sent = received.all()
        second = delivery()
        second.open(1)
        again = [one for _ in range(3) for one in received.next()]
        second.take(1, [found(resolved)], ())
        second.close()
        last = received.all()[-1]
        third = delivery()
        third.open(2)
        third.close()
    assert {one["labels"]["fan"] for one in sent} == {FAN}
    assert again == [sent[0]] * 3
    assert last["endsAt"] == "1970-01-01T00:00:05Z"
    assert received.all() == [], "what is resolved is not sent again"


@pytest.mark.parametrize("form", ["event", "rdf", "rows", "ids"])
def test_a_sink_gets_an_alert_in_the_form_that_the_embedded_engine_gives_it(
    tmp_path: Path, form: str
) -> None:
    """An alert to a sink of ids or RDF had no text on Spark."""
    fired, _ = alerts((0, "on"), (5, "off"))
    file = tmp_path / "out.jsonl"
    order = Order(Path("-"), Config(tmp_path), (), (Target("out", str(file), True, form=form),))
    delivery = Delivery(order, {}, alerting=[RUNNING])
    texts = {one: text_in_form(fired, one, None, None) for one in delivery.forms()}
    delivery.take(0, [found(fired)._replace(texts=texts)], ())
    delivery.close()
    written = {"rdf": fired.to_rdf(format="nquads"), "ids": f'"{fired.record_id}"\n'}
    assert file.read_text() == written.get(form, to_line(fired) + "\n")
