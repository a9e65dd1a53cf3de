"""The options that a source or sink hands on to Kafka's client, and what is said where it refuses one."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from obep.config import Config
from obep.errors import ObepError, fail

CODE = "OBEP586"
MECHANISM = "sasl.mechanism"
MECHANISMS = "PLAIN, SCRAM-SHA-256, SCRAM-SHA-512 or OAUTHBEARER"
USUAL = """
    acks allow.auto.create.topics api.version.request batch.num.messages batch.size broker.address.family
    check.crcs client.dns.lookup client.id client.rack compression.codec compression.level compression.type
    connections.max.idle.ms delivery.timeout.ms enable.idempotence enable.ssl.certificate.verification
    fetch.error.backoff.ms fetch.max.bytes fetch.message.max.bytes fetch.min.bytes fetch.wait.max.ms group.id
    group.instance.id heartbeat.interval.ms isolation.level linger.ms max.in.flight.requests.per.connection
    max.partition.fetch.bytes max.poll.interval.ms message.max.bytes message.send.max.retries
    message.timeout.ms metadata.max.age.ms partitioner queue.buffering.max.kbytes
    queue.buffering.max.messages queue.buffering.max.ms queued.max.messages.kbytes queued.min.messages
    receive.message.max.bytes reconnect.backoff.max.ms reconnect.backoff.ms request.required.acks
    request.timeout.ms retries retry.backoff.max.ms retry.backoff.ms sasl.kerberos.keytab
    sasl.kerberos.principal sasl.kerberos.service.name sasl.mechanism sasl.oauthbearer.client.id
    sasl.oauthbearer.client.secret sasl.oauthbearer.config sasl.oauthbearer.method sasl.oauthbearer.scope
    sasl.oauthbearer.token.endpoint.url sasl.password sasl.username security.protocol session.timeout.ms
    socket.keepalive.enable socket.timeout.ms ssl.ca.location ssl.ca.pem ssl.certificate.location
    ssl.certificate.pem ssl.cipher.suites ssl.crl.location ssl.endpoint.identification.algorithm
    ssl.key.location ssl.key.password ssl.key.pem ssl.keystore.location ssl.keystore.password
    statistics.interval.ms transaction.timeout.ms transactional.id
"""
"""Options of librdkafka that somebody may have meant; it knows more, and tells which it does not."""


def client(
    make: Callable[[Any], Any], conf: Mapping[str, Any], given: Mapping[str, Any], config: Config
) -> Any:
    """A client of confluent-kafka; an option that it does not take is the user's to mend."""
    from confluent_kafka import KafkaException

    if conf.get("group.id") == "":  # librdkafka ends the whole process for it
        raise not_taken("group.id", "it is empty", given, config)
    try:
        return make(dict(conf))
    except TypeError as error:  # one of the functions by which it calls us
        raise not_taken(_named(str(error)), str(error), given, config) from None
    except KafkaException as error:
        words = error.args[0].str() if error.args and hasattr(error.args[0], "str") else ""
        if not words:
            raise
        raise not_taken(_named(words), words.strip(), given, config) from None


def not_taken(name: str, why: str, given: Mapping[str, Any], config: Config) -> ObepError:
    """The error about an option, in the client's words, with what it was probably meant to be."""
    place = place_of(given, config)
    file = str(config.path or "") if place else ""
    why = re.sub(r"^Failed to create \w+: ", "", why)
    if name.startswith("ssl.") and name not in given.get("options", {}):
        return fail("OBEP508", f"{place}: the certificates cannot be used: {why}", file=file)
    where = f"{place}.options.{name}" if place and name else place or "options"
    if "No such configuration property" in why:
        return unknown(name, USUAL.split(), given, config)
    remedy = f'"{MECHANISM}" = one of {MECHANISMS}' if name == MECHANISM else ""
    return fail(CODE, f"{where}: Kafka's client does not take it", reason=why, remedy=remedy, file=file)


def unknown(name: str, known: Any, given: Mapping[str, Any], config: Config) -> ObepError:
    """The error about an option that there is not, with the nearest one of those that are known."""
    place = place_of(given, config)
    near = get_close_matches(name, list(known), 1)
    return fail(
        CODE,
        f"{place}.options.{name}: Kafka's client has no such option",
        remedy=f'"{near[0]}" = …' if near else "",
        file=str(config.path or ""),
    )


def place_of(given: Mapping[str, Any], config: Config) -> str:
    """The table of obep.toml in which these settings stand; nothing if they stand in none."""
    for table, named in (("sources", config.sources), ("sinks", config.sinks)):
        for name, settings in named.items():
            if settings is given:
                return f"{table}.{name}"
    return ""


def _named(words: str) -> str:
    """The option that the client speaks of."""
    if "SASL mechanism" in words:
        return MECHANISM
    found = re.search(r'property:? "([\w.]+)"|: (ssl\.[\w.]+)|expected (\w+) property', words)
    return next(filter(None, found.groups()), "") if found else ""
