"""A digest around bytes that are kept, so that damage is noticed before anything is read from them.

A digest is no signature: it finds a flipped byte or a cut file, not a forged one.
"""

from __future__ import annotations

from hashlib import blake2b

from obep.errors import ObepError, fail

HEAD = b"obep\x00"
SIZE = 16


def digest_of(data: bytes) -> bytes:
    """The digest of some bytes."""
    return blake2b(data, digest_size=SIZE).digest()


def sealed(data: bytes) -> bytes:
    """The bytes, with their digest before them.

    >>> unsealed(sealed(b"state"), "a snapshot", "")
    b'state'
    """
    return HEAD + digest_of(data) + data


def unsealed(data: bytes, what: str, remedy: str) -> bytes:
    """The bytes that were `sealed`; raises OBEP573 if they are not as they were. `what` names them."""
    if not data.startswith(HEAD):
        raise damaged(what, "It does not begin as one, or another version of obep wrote it.", remedy)
    start = len(HEAD) + SIZE
    if len(data) < start or digest_of(data[start:]) != data[len(HEAD) : start]:
        raise damaged(what, "Its digest does not fit: bytes of it were changed, or are missing.", remedy)
    return data[start:]


def damaged(what: str, reason: str, remedy: str) -> ObepError:
    """The refusal of something that was kept and cannot be read any more."""
    return fail("OBEP573", f"{what} is damaged, and nothing was read from it", reason=reason, remedy=remedy)
