"""The errors of a server that refuses a login, for all clients."""

from __future__ import annotations

from obep.errors import ObepError, fail

WHO = 'username = "…" and password = "${VARIABLE}" of this source or sink in obep.toml'
WHOM = 'ca = "FILE.pem" of this source or sink in obep.toml: the certificate that identifies the server'


def refused(where: str, why: str, *, certificate: bool) -> ObepError:
    """A server (as it may be printed) that did not take our name, or whose `certificate` we do not trust."""
    if certificate:
        return fail("OBEP552", f"{where} is not trusted: {why}", remedy=WHOM)
    return fail("OBEP552", f"{where} refuses: {why}", remedy=WHO)
