"""MQTT as a streaming source of Spark (`obep-mqtt`): messages are spooled to files, then acknowledged.

A message is acknowledged to the broker when it is safely in the spool: nothing acknowledged is lost.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pyspark.sql.datasource import DataSource, DataSourceStreamReader

from obep.spark.connectors.spark_spool import SCHEMA, SpooledReader

if TYPE_CHECKING:
    from obep.streams.mqtt import Subscription

TEXTS = ("username", "password", "client_id", "ca", "certificate", "key")


class MqttDataSource(DataSource):
    """`spark.readStream.format("obep-mqtt").option("uri", "mqtt://host/topic").option("spool", FOLDER)`."""

    @classmethod
    def name(cls) -> str:
        return "obep-mqtt"

    def schema(self) -> str:
        return SCHEMA

    def streamReader(self, schema: Any) -> DataSourceStreamReader:
        return MqttReader(dict(self.options))


class MqttReader(SpooledReader):
    """By obep's own connection, which supports TLS and passwords; acknowledged by hand."""

    _connection: Subscription | None = None

    def acknowledge(self, tokens: Sequence[Any]) -> None:
        if self._connection is not None:
            self._connection.acknowledge(tokens)

    def stop(self) -> None:
        if self._connection is not None:
            self._connection.close()

    def listen(self) -> None:
        from obep.config.toml_file import Config
        from obep.streams.mqtt import Subscription
        from obep.streams.stream_uri import parse_address

        reader = self

        class Spooling(Subscription):
            def turned(self) -> None:
                reader.report_connection(self.lost)

        options = self._options
        settings: dict[str, Any] = {name: options[name] for name in TEXTS if name in options}
        if "qos" in options:
            settings["qos"] = int(options["qos"])
        settings["tls"] = options.get("tls", "False") == "True"
        connection = Spooling(parse_address(options["uri"]), settings, Config(Path("/")))
        self._connection = connection
        connection.client.manual_ack_set(True)
        connection.client.on_message = self._arrived
        connection.open()

    def _arrived(self, client: Any, userdata: Any, message: Any) -> None:
        connection = self._connection
        if connection is not None and not connection.is_again(message):
            self.take(message.topic, bytes(message.payload), connection.token(message))
