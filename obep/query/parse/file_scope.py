"""One file while it is read: its prefixes, what its words stand for, and what is wrong with it so far."""

from __future__ import annotations

import re

from obep.errors import Diagnostic, Span
from obep.model import RDF_TYPE
from obep.query.ast import NOWHERE, Duration, Language, Literal, Name, PrefixDecl, QueryFile, Slip
from obep.query.nearest_name import nearest
from obep.query.parse.lalr import Token
from obep.query.parse.other_durations import other_duration
from obep.query.parse.spelling import (
    DurationError,
    IriError,
    is_absolute,
    resolve_iri,
    span_between,
    to_micros,
    unescape,
    unescape_local,
)

XSD = "http://www.w3.org/2001/XMLSchema#"
OWL = "http://www.w3.org/2002/07/owl#"
DEFAULT_NAMESPACE = "http://example.org/obep#"
"""The namespace of `:` in a file that declares neither `PREFIX :` nor BASE."""
PREDECLARED = {
    "rdf": "http://www.w3.org/1999/02/22-rdf-syntax-ns#",
    "rdfs": "http://www.w3.org/2000/01/rdf-schema#",
    "owl": OWL,
    "xsd": XSD,
}
WELL_KNOWN = PREDECLARED | {
    "prov": "http://www.w3.org/ns/prov#",
    "sosa": "http://www.w3.org/ns/sosa/",
    "ssn": "http://www.w3.org/ns/ssn/",
    "foaf": "http://xmlns.com/foaf/0.1/",
    "schema": "https://schema.org/",
    "skos": "http://www.w3.org/2004/02/skos/core#",
    "dcterms": "http://purl.org/dc/terms/",
    "qudt": "http://qudt.org/schema/qudt/",
    "geo": "http://www.opengis.net/ont/geosparql#",
    "time": "http://www.w3.org/2006/time#",
}
NUMBER = "urn:obep:number"
"""The datatype `number` of SPEC §2: decimal, double or float."""
CLASS_WORDS = {
    "Thing": OWL + "Thing",
    "Nothing": OWL + "Nothing",
    **{word: XSD + word for word in ("integer", "decimal", "float", "string")},
    "number": NUMBER,
}


COUNTED = {
    "TIMES": "A TIMES 3 is three of A, one right after the other.",
    "ROWS": "[ROWS 5] is a window over the last five items.",
    "STEP": "[ROWS 5 STEP 5] is looked at after every five items.",
    "TRIPLES": "[RANGE TRIPLES 100] is a window over the last hundred triples.",
    "LIMIT": "LIMIT 10 keeps ten rows of a sub-select.",
    "OFFSET": "OFFSET 10 leaves out the first ten rows of a sub-select.",
    "AT MOST": "AT MOST 24 TIMES ends a repetition after the 24th.",
    **dict.fromkeys(("min", "max", "exactly"), "min, max and exactly count individuals or values."),
}
"""Explanations of whole numbers, by keyword."""


BARE_NAMES = ("obep", "epsparql")
"""The languages in which a bare name takes the prefix `:`."""


class Scope:
    """Resolves names and collects diagnostics for one text."""

    def __init__(
        self, text: str, name: str, shown: str | None = None, *, language: Language = "obep"
    ) -> None:
        self.text = text
        self.language = language
        self.shown = text if shown is None else shown
        """The file's own text, where parts of `text` are blanked out."""
        self.name = name
        self.diagnostics: list[Diagnostic] = []
        self.slips: list[Slip] = []
        self.open: list[Token] = []
        """The brackets that are open, the innermost last."""
        self.last: Token | None = None
        """The last token that the parser took."""
        self.declaration: int | None = None
        """Where the event or RETURN begins that is being read; none in the prologue."""
        self.base: str | None = None
        self.base_span = NOWHERE
        """Where BASE stands, the whole clause."""
        self.declared: dict[str, str] = {}
        self.prefixes: dict[PrefixDecl, None] = {}
        """The PREFIX lines, each once."""
        self._resolved: dict[str, str] = {}
        self._unknown: set[str] = set()
        self._labels = set(re.findall(r"_:([\w.-]+)", text))
        self._fresh = 0
        self._lines: list[str] | None = None

    # --- diagnostics ---

    def line(self, number: int) -> str:
        """The source line with that number."""
        if self._lines is None:
            self._lines = self.shown.split("\n")
        return self._lines[number - 1].rstrip("\r") if number <= len(self._lines) else ""

    def diagnostic(
        self, code: str, message: str, span: Span, *, reason: str = "", remedy: str = ""
    ) -> Diagnostic:
        """A diagnostic at a place in this text."""
        return Diagnostic(code, message, self.name, span, reason, remedy, self.line(span.line))

    def error(self, code: str, message: str, span: Span, *, reason: str = "", remedy: str = "") -> None:
        """Note what is wrong and go on."""
        self.diagnostics.append(self.diagnostic(code, message, span, reason=reason, remedy=remedy))

    # --- prologue ---

    def set_base(self, iri: str, span: Span) -> None:
        """BASE <iri>."""
        if self.base is not None:
            self.error(
                "OBEP011",
                "BASE stands twice",
                span,
                reason=f"A file has one BASE; the first one is <{self.base}>.",
                remedy="remove one of them",
            )
            return
        if not is_absolute(iri):
            self.error(
                "OBEP010",
                f"BASE needs an absolute IRI, and <{iri}> is not",
                span,
                reason="An absolute IRI begins with a scheme such as http:.",
                remedy="BASE <http://example.org/>",
            )
            return
        if "" in self._resolved and "" not in self.declared:
            self._too_late("BASE", "names without a prefix", span)
        self.base = iri

    def _too_late(self, clause: str, uses: str, span: Span) -> None:
        self.error(
            "OBEP007",
            f"{clause} stands behind a window that uses {uses}",
            span,
            reason="A window can only use prefixes that are declared before it.",
            remedy=f"move {clause} to the top of the file",
        )

    def declare(self, prefix: str, iri: str, span: Span) -> PrefixDecl:
        """PREFIX prefix: <iri>."""
        if prefix in self._resolved and self.declared.get(prefix) != iri:
            self._too_late(f"PREFIX {prefix}:", f"{prefix}:", span)
        before = self.declared.setdefault(prefix, iri)
        if before != iri:
            self.error(
                "OBEP011",
                f"the prefix {prefix}: is declared twice",
                span,
                reason=f"It stands for <{before}> already, so its names would be ambiguous.",
                remedy="give one of them another name",
            )
        found = PrefixDecl(prefix, iri, span=span)
        self.prefixes.setdefault(found)
        return found

    # --- words ---

    def namespace(self, prefix: str) -> str | None:
        """The namespace of a prefix; None if it is not declared."""
        if prefix not in self._resolved:
            if prefix in self.declared:
                try:
                    self._resolved[prefix] = resolve_iri(self.base, self.declared[prefix])
                except IriError:
                    self._resolved[prefix] = self.declared[prefix]
            elif prefix == "":
                self._resolved[prefix] = self.base or DEFAULT_NAMESPACE
            elif prefix in PREDECLARED:
                self._resolved[prefix] = PREDECLARED[prefix]
            else:
                return None
        return self._resolved[prefix]

    def resolve(self, word: Token) -> Name:
        """A bare name, a prefixed name or an IRI, and the term it stands for."""
        text, span = word.value, span_between(word)
        if text.startswith("<"):
            try:
                return Name(text, f"<{resolve_iri(self.base, text[1:-1])}>", span=span)
            except IriError:
                self.error(
                    "OBEP010",
                    f"{text} is a relative IRI, and there is no BASE",
                    span,
                    reason="Without BASE it cannot be resolved.",
                    remedy="BASE <http://example.org/> at the top, or a prefixed name",
                )
                return Name(text, "", span=span)
        prefix, colon, local = text.partition(":")
        if not colon:
            prefix, local = "", text
            if text.lower() == "is" and self.language != "obep":
                self._report_is(text, span)
            elif self.language not in BARE_NAMES:
                self._report_bare(text, span)
        namespace = self.namespace(prefix)
        if namespace is None:
            self._report_prefix(prefix, text, span)
            return Name(text, "", span=span)
        return Name(text, f"<{namespace}{unescape_local(local)}>", span=span)

    def resolve_class(self, word: Token) -> Name:
        """Resolve a name in a class expression, where names of OWL and XSD need no prefix."""
        known = CLASS_WORDS.get(word.value) if self.language in BARE_NAMES else None
        return Name(word.value, f"<{known}>", span=span_between(word)) if known else self.resolve(word)

    def resolve_term(self, word: Token) -> Name:
        """Resolve a name in a guard, where only OWL's two classes need no prefix."""
        return self.resolve_class(word) if word.value in ("Thing", "Nothing") else self.resolve(word)

    def a(self, word: Token) -> Name:
        """SPARQL's `a`."""
        return Name("a", RDF_TYPE, span=span_between(word))

    def xsd(self, local: str, span: Span) -> Name:
        """A datatype that the writer did not write."""
        text = f"xsd:{local}" if self.namespace("xsd") == XSD else f"<{XSD}{local}>"
        return Name(text, f"<{XSD}{local}>", span=span)

    def rdf(self, local: str, span: Span) -> Name:
        """A word of RDF that the writer did not write."""
        iri = PREDECLARED["rdf"] + local
        text = f"rdf:{local}" if self.namespace("rdf") == PREDECLARED["rdf"] else f"<{iri}>"
        return Name(text, f"<{iri}>", span=span)

    def fresh_label(self) -> str:
        """A blank node that the text does not use."""
        while True:
            self._fresh += 1
            label = f"b{self._fresh}"
            if label not in self._labels:
                return f"_:{label}"

    def _report_prefix(self, prefix: str, text: str, span: Span) -> None:
        if prefix in self._unknown:
            return
        self._unknown.add(prefix)
        namespace = WELL_KNOWN.get(prefix)
        close = nearest(prefix, [p for p in (*self.declared, *PREDECLARED) if p])
        if namespace is not None:
            remedy = f"PREFIX {prefix}: <{namespace}>"
        elif close:
            remedy = f"{close}:{text.partition(':')[2]}"
        else:
            remedy = f"PREFIX {prefix}: <http://…> at the top"
        guess = f"; did you mean {close}:?" if close and not namespace else ""
        self.error(
            "OBEP007",
            f"the prefix {prefix}: is unknown{guess}",
            span,
            reason="Every prefix but rdf:, rdfs:, owl:, xsd: and : needs a PREFIX line.",
            remedy=remedy,
        )

    def _report_is(self, text: str, span: Span) -> None:
        self.error(
            "OBEP702",
            f"{text} is not supported",
            span,
            reason="obep does not run Prolog of ETALIS.",
            remedy=f"BIND(5 AS ?z) for ?z is 5; a property of that name is :{text}",
        )

    def _report_bare(self, text: str, span: Span) -> None:
        self.error(
            "OBEP042",
            f"{text} has no prefix",
            span,
            reason="A name is written with a prefix, or as an IRI in < >.",
            remedy=f":{text}",
        )

    # --- values ---

    def string(self, word: Token) -> str:
        """The text of a quoted string."""
        value = word.value
        quote = 3 if value[:3] in ('"""', "'''") and len(value) >= 6 else 1
        return self._unescape(value[quote:-quote], word)

    def _unescape(self, text: str, word: Token) -> str:
        try:
            return unescape(text)
        except ValueError as problem:
            self.error(
                "OBEP016",
                str(problem),
                span_between(word),
                reason=r"The escapes of a string are \t \b \n \r \f \" \' \\ \uXXXX and \UXXXXXXXX.",
                remedy=r"write \\ for a backslash",
            )
            return text

    def number(self, word: Token) -> Literal:
        """A bare number: an integer, a decimal or a double by its looks."""
        text, span = word.value, span_between(word)
        if word.type == "FLOAT":
            return Literal(text[:-1], self.xsd("float", span), span=span)
        kind = "double" if "e" in text.lower() else "decimal" if "." in text else "integer"
        return Literal(text, self.xsd(kind, span), span=span)

    def boolean(self, word: Token) -> Literal:
        """`true` or `false`."""
        return Literal(word.value, self.xsd("boolean", span_between(word)), span=span_between(word))

    def count(self, word: Token, what: str, *, least: int) -> int:
        """A whole number that counts something."""
        if len(word.value) > 18 or int(word.value) < least:
            self.error(
                "OBEP013",
                f"{what} needs a whole number from {least} to 10^18",
                span_between(word),
                reason=COUNTED[what],
                remedy=f"{what} {max(least, 1)}",
            )
            return least
        return int(word.value)

    def duration(self, word: Token) -> Duration:
        """`5 min`, or xsd's `"PT5M"`."""
        span = span_between(word)
        text = self.string(word) if word.type == "STRING" else word.value
        try:
            return Duration(to_micros(text), span=span)
        except DurationError as problem:
            meant = other_duration(text.strip())
            whole = meant is not None and meant.text == text.strip()
            remedy = meant.remedy if meant is not None and whole else problem.remedy
            self.error("OBEP013", str(problem), span, reason=problem.reason, remedy=remedy)
            return Duration(0, span=span)


def namespaces(file: QueryFile) -> dict[str, str]:
    """The namespaces of the prefixes of a file; `:` always has one."""
    scope = Scope("", file.name)
    scope.base = file.base
    scope.declared = {one.prefix: one.iri for one in reversed(file.prefixes)}
    return {prefix: scope.namespace(prefix) or "" for prefix in ("", *PREDECLARED, *scope.declared)}
