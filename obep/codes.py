"""Every code that obep can say, with a short title. `docs/errors.md` has a paragraph for each."""

from __future__ import annotations

CODES: dict[str, str] = {
    # 001-099 syntax and files
    # 100-199 errors of check
    # 200-299 warnings
    # 300-399 ontology and reasoning
    # 400-449 refused: parses, but is not carried out yet
    # 500-549 configuration and command line
    # 550-599 sources, sinks, run time
    # 600-649 reasons of dead letters
    # 650-699 Spark
}
