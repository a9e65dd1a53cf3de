"""Check the options of a source or sink for Kafka's client, and report those that it refuses."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import Any

from obep.config.toml_file import Config, secret_of
from obep.errors import ObepError, fail
from obep.streams.kafka_allowed import FILES, MECHANISMS, OPTIONS, STRATEGIES, STRATEGY, URLS

CODE = "OBEP586"
MECHANISM = "sasl.mechanism"
_MAY_RUN = re.compile(
    r"\b(?:class|classes|cmd|jaas|kerberos|plugin|reporters?|handler|providers?|engine|url|file|path|location"
    r"|interceptors?|stores|servers|list)\b"
)
"""Parts of the names of options that load or run something, read files or name servers."""


def harmless(given: Mapping[str, Any], config: Config) -> dict[str, str]:
    """The options of a source or sink, their files found, if each is known to be harmless.

    What is not is refused, unless the user has allowed obep.toml to run programs.
    """
    found = {}
    for name, value in given.get("options", {}).items():
        text = secret_of(value) or ""
        if name in FILES and text != "probe":  # with which librdkafka looks where systems keep theirs
            text = str(config.file(text))
        elif not (config.allow_exec or _is_harmless(name, text)):
            raise _not_harmless(name, given, config)
        found[name] = text
    return found


def _is_harmless(name: str, value: str) -> bool:
    if name in URLS:
        return value.startswith(("https://", "http://"))
    if name in (MECHANISM, f"{MECHANISM}s"):
        return value in MECHANISMS
    if name == STRATEGY:
        return all(one.strip() in STRATEGIES for one in value.split(","))
    return name in OPTIONS or name in FILES


def _not_harmless(name: str, given: Mapping[str, Any], config: Config) -> ObepError:
    if name in (MECHANISM, f"{MECHANISM}s"):
        return not_taken(name, "Others than these are only taken with --allow-exec.", given, config)
    if name == STRATEGY:
        words = f"Others than {', '.join(STRATEGIES)} are only taken with --allow-exec."
        return not_taken(name, words, given, config)
    if not _MAY_RUN.search(name):
        return unknown(name, (*OPTIONS, *FILES), given, config)
    return fail(
        "OBEP516",
        f"{place_of(given, config)}.options.{name}: this option may run a program or load a library",
        reason="What obep.toml sets for Kafka's client is taken if it is known to be harmless.",
        remedy="leave it out, or use --allow-exec if you trust it",
        file=str(config.path or ""),
    )


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
        return unknown(name, (*OPTIONS, *FILES), given, config)
    remedy = f'"{MECHANISM}" = one of {", ".join(MECHANISMS)}' if name == MECHANISM else ""
    return fail(CODE, f"{where}: Kafka's client refuses it", reason=why, remedy=remedy, file=file)


def unknown(name: str, known: Any, given: Mapping[str, Any], config: Config) -> ObepError:
    """The error about an option that there is not, with the nearest one of those that are known."""
    place = place_of(given, config)
    near = get_close_matches(name, list(known), 1)
    return fail(
        CODE,
        f"{place}.options.{name}: Kafka's client has no such option",
        remedy=f'"{near[0]}" = …' if near else "leave it out   (--allow-exec passes on unknown options)",
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
    """The option that the client's message names."""
    if "SASL mechanism" in words:
        return MECHANISM
    found = re.search(r'property:? "([\w.]+)"|: (ssl\.[\w.]+)|expected (\w+) property', words)
    return next(filter(None, found.groups()), "") if found else ""
