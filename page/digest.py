"""Write the digest of the page's sources beside the built files, by which a test sees a stale build."""

from __future__ import annotations

import hashlib
from pathlib import Path

HERE = Path(__file__).parent
BUILT = HERE.parent / "obep" / "serve" / "page"


def digest() -> str:
    """Of all that the built files are made of."""
    known = hashlib.sha256()
    names = ("index.html", "package.json", "package-lock.json", "vite.config.js")
    for path in [*(HERE / name for name in names), *sorted((HERE / "src").iterdir())]:
        known.update(f"{path.relative_to(HERE).as_posix()}\n".encode())
        known.update(path.read_bytes())
    return known.hexdigest()


if __name__ == "__main__":
    (BUILT / "sources.sha256").write_text(digest() + "\n")
