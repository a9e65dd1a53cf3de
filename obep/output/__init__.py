"""Write occurrences as JSON, RDF, rows and text for people, and read them back."""

from __future__ import annotations

from obep.model import Occurrence, provide_writers


class _Writers:
    """The writers of this package; each is imported when it is first used."""

    def to_json(self, occurrence: Occurrence, style: str | None) -> dict[str, object]:
        from obep.output.json_writer import to_json

        return to_json(occurrence, style)

    def to_rdf(self, occurrence: Occurrence, style: str | None, format: str) -> str:
        from obep.output.rdf_writer import to_rdf

        return to_rdf(occurrence, style, format)

    def to_rows(self, occurrence: Occurrence, style: str | None) -> list[dict[str, object]]:
        from obep.output.row_writer import to_rows

        return to_rows(occurrence, style)

    def why(self, occurrence: Occurrence) -> str:
        from obep.output.why_tree import why

        return why(occurrence)

    def why_html(self, occurrence: Occurrence) -> str:
        from obep.output.why_tree import why_html

        return why_html(occurrence)


provide_writers(_Writers())
