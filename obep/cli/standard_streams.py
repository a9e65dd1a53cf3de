"""Standard streams that the caller has closed (`2>&-`): the null device stands in for each.

Without that the next file or socket would get the number 0, 1 or 2, and what is meant for a stream would be
written into it.
"""

from __future__ import annotations

import os
import sys


def complete() -> None:
    """Put the null device where a standard stream is missing.

    Standard input is then empty, and what is said on standard error is dropped. Standard output is opened for
    reading: occurrences are not dropped, they cannot be written (OBEP554).
    """
    for number in (0, 1, 2):
        try:
            os.fstat(number)
        except OSError:
            found = os.open(os.devnull, os.O_WRONLY if number == 2 else os.O_RDONLY)
            if found != number:
                os.dup2(found, number)
                os.close(found)
    if sys.stdin is None:
        sys.stdin = os.fdopen(0, "r", closefd=False)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", closefd=False)
