"""TLS as obep.toml says it: certificates are always checked."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from typing import Any

from obep.config.toml_file import Config
from obep.errors import fail


def tls_context(settings: Mapping[str, Any], config: Config) -> ssl.SSLContext:
    """The settings `ca`, `certificate` and `key` of a source or sink."""
    try:
        context = ssl.create_default_context(cafile=_file(settings, "ca", config))
        if certificate := _file(settings, "certificate", config):
            context.load_cert_chain(certificate, _file(settings, "key", config))
    except (OSError, ssl.SSLError) as error:
        raise fail("OBEP508", f"the certificates cannot be used: {error}") from None
    return context


def _file(settings: Mapping[str, Any], name: str, config: Config) -> str | None:
    return str(config.file(settings[name])) if name in settings else None
