"""What to say when a server does not let us in, whichever client has found that out."""

from __future__ import annotations

from obep.errors import ObepError, fail

WHO = 'username = "…" and password = "${VARIABLE}" of this source or sink in obep.toml'
WHOM = 'ca = "FILE.pem" of this source or sink in obep.toml: the certificate by which to know the server'


def refused(where: str, why: str, *, certificate: bool) -> ObepError:
    """A server (as it may be printed) that did not take our name, or whose `certificate` we do not trust."""
    if certificate:
        return fail("OBEP552", f"{where} is not trusted: {why}", remedy=WHOM)
    return fail("OBEP552", f"{where} refuses: {why}", remedy=WHO)
