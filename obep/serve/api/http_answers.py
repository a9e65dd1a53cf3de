"""Answers over HTTP: JSON, and what is said when a request is refused, without any path of the machine."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

import msgspec
from starlette.responses import Response

from obep.errors import Diagnostic, ObepError
from obep.ontology.owl.load import SUFFIXES
from obep.secrets import hide
from obep.serve.busy import Busy

STATUS = {
    "OBEP100": 404,
    "OBEP517": 404,
    "OBEP530": 404,
    "OBEP579": 422,
    "OBEP855": 404,
    "OBEP856": 507,
    "OBEP857": 413,
    "OBEP858": 408,
    "OBEP859": 400,
    "OBEP860": 401,
    "OBEP861": 403,
    "OBEP862": 403,
    "OBEP863": 415,
    "OBEP864": 429,
    "OBEP865": 503,
}
"""By the code of an error; any other one is about what was sent (422)."""
RETRY_S = 1
HEADERS = {
    "Cache-Control": "no-store",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "X-Frame-Options": "DENY",
}
"""Of every answer."""
_SHOWN = frozenset((".obep", *SUFFIXES))


class Plain:
    """Texts as they may leave the machine: files are named from the project's folder on.

    What is wrong with a file is said if it is one of `queries`, or its ending is that of a query, an ontology
    or a graph. Messages quote what they are about, so a query could read the first word of any file.
    """

    def __init__(self, *folders: Path, queries: Iterable[str] = ()) -> None:
        self._queries = frozenset(queries)
        found = {f"{way}/" for folder in folders for way in (folder, folder.resolve())}
        found |= {one.rstrip("/") for one in found}
        self._folders = sorted(found - {"", "/", "."}, key=len, reverse=True)

    def text(self, said: str) -> str:
        for folder in self._folders:
            if folder in said:
                said = said.replace(folder, "")
        return hide(said)

    def diagnostic(self, one: Diagnostic) -> dict[str, object]:
        """A diagnostic as `obep check --format json` writes it."""
        if one.file and one.file not in self._queries and Path(one.file).suffix.lower() not in _SHOWN:
            one = Diagnostic(
                one.code,
                "the file cannot be read",
                one.file,
                reason="By its ending it is no query, ontology or graph, so nothing of it is shown.",
                remedy=f"give it the ending of its format: {' '.join(sorted(_SHOWN))}",
                severity=one.severity,
            )
        return {
            key: self.text(value) if isinstance(value, str) else value for key, value in one.to_json().items()
        }


def answer(body: object, status: int = 200, headers: Mapping[str, str] | None = None) -> Response:
    """JSON."""
    return Response(
        msgspec.json.encode(body), status, {**HEADERS, **(headers or {})}, media_type="application/json"
    )


def refusal(error: Exception, plain: Plain) -> Response:
    """What an error is over HTTP."""
    if isinstance(error, Busy):
        busy = Diagnostic(
            "OBEP864",
            "too much waits for the engine",
            reason="More comes than it processes.",
            remedy=f"send it again after {RETRY_S} s",
        )
        return errors((busy,), plain)
    assert isinstance(error, ObepError)
    return errors(error.diagnostics, plain)


def errors(diagnostics: Iterable[Diagnostic], plain: Plain, status: int = 0) -> Response:
    """Why a request is refused: `{"errors": [...]}`, with the status of the first error."""
    found = tuple(diagnostics)
    first = next((one.code for one in found if one.severity == "error"), "")
    status = status or STATUS.get(first, 422)
    headers = {"Retry-After": str(RETRY_S)} if status in (429, 503) else {}
    if status == 401:
        headers["WWW-Authenticate"] = 'Bearer realm="obep"'
    return answer({"errors": [plain.diagnostic(one) for one in found]}, status, headers)
