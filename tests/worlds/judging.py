"""A process of judges: reasoners in a Java machine of their own, asked by lines of JSON.

obep's own Java machine holds HermiT 1.3.8 with OWL API 3; the judges need OWL API 5, and one process has one
Java machine. So this module runs by itself (`python -m worlds.judging JAR…`). A request holds axioms in
functional syntax: `base`, which is loaded once, and `questions`, each with what is `said` beside it and
what is asked. A reply holds, for each judge, an answer for each question: "inconsistent", a list of truth
values, or {"error": …}.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TextIO

from worlds.vocabulary import NS, PREFIXES

SECONDS = 4
"""How long a judge may think about one task."""
BUDGET = 10.0
"""Seconds of CPU time that a judge may take for all questions of a request: what is left has no answer."""
OPTIONS = ("-Xmx2g", "-Xss16m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Quick compilation only: the judges are restarted often, and the thorough one costs more than it saves."""
_PREFIXES = "\n".join(f"Prefix({name}:=<{iri}>)" for name, iri in PREFIXES.items())


class Bench:
    """The judges, and the OWL API that they share."""

    def __init__(self, jars: list[str]) -> None:
        import jpype
        import jpype.imports

        quiet = "-Dorg.slf4j.simpleLogger.defaultLogLevel=off"
        jpype.startJVM(*OPTIONS, quiet, classpath=jars)
        self._java: Callable[[str], Any] = jpype.JClass
        self._throwable = jpype.JException
        self._iri = self._java("org.semanticweb.owlapi.model.IRI")
        self._format = self._java("org.semanticweb.owlapi.formats.FunctionalSyntaxDocumentFormat")
        self._source = self._java("org.semanticweb.owlapi.io.StringDocumentSource")
        self._manager = self._java("org.semanticweb.owlapi.apibinding.OWLManager").createOWLOntologyManager()
        self._factory = self._manager.getOWLDataFactory()

    def answer(self, request: dict[str, Any]) -> dict[str, list[Any]]:
        if "turtle" in request:
            return self._read_twice(request)
        return {judge: self._ask(judge, request) for judge in request["judges"]}

    def _read_twice(self, request: dict[str, Any]) -> dict[str, list[Any]]:
        """What only one of the two texts of an ontology says, and where it is not OWL 2 DL."""
        written = self._parse(request["functional"])
        turtle = self._java("org.semanticweb.owlapi.formats.TurtleDocumentFormat")()
        name = self._iri.create("urn:turtle")
        read = self._manager.loadOntologyFromOntologyDocument(
            self._source(request["turtle"], name, turtle, None)
        )
        one, other = (self._java("java.util.HashSet")(each.getLogicalAxioms()) for each in (written, read))
        profile = self._java("org.semanticweb.owlapi.profiles.OWL2DLProfile")().checkOntology(read)
        self._manager.removeOntology(written)
        self._manager.removeOntology(read)
        return {
            "written": [str(axiom) for axiom in one if not other.contains(axiom)],
            "read": [str(axiom) for axiom in other if not one.contains(axiom)],
            "not DL": [str(violation) for violation in profile.getViolations()],
        }

    def _ask(self, judge: str, request: dict[str, Any]) -> list[Any]:
        """The answers of one judge: a reasoner over the base, what is said laid over it and taken away."""
        base = self._parse(request["base"])
        fixed = base.getAxioms()
        reasoner, answers, begin = None, [], time.process_time()
        try:
            for question in request["questions"]:
                said = self._java("java.util.HashSet")(self._axioms(question["said"]))
                said.removeAll(fixed)  # taking them away must not take them out of the base
                try:
                    self._manager.addAxioms(base, said)
                    for again in (reasoner is not None, False):
                        try:
                            if reasoner is None:
                                reasoner = self._reasoner(judge, base)
                            reasoner.flush()
                            answers.append(self._decide(reasoner, question))
                            break
                        except self._throwable as error:
                            _dispose(reasoner, self._throwable)
                            reasoner = None
                            if not again or "TimeOut" in str(error):
                                answers.append({"error": _first_line(error)})
                                break
                finally:
                    self._manager.removeAxioms(base, said)
                if time.process_time() - begin > BUDGET:
                    answers.append({"error": "no time left"})
                    break
                if "TimeOut" in str(answers[-1]):  # the next question about this base would take as long
                    break
                if request.get("anew"):
                    _dispose(reasoner, self._throwable)
                    reasoner = None
        finally:
            _dispose(reasoner, self._throwable)
            self._manager.removeOntology(base)
        asked = len(request["questions"])
        return (answers + [answers[-1]] * (asked - len(answers)))[:asked]

    def _decide(self, reasoner: Any, question: dict[str, Any]) -> Any:
        if not reasoner.isConsistent():
            return "inconsistent"
        answers = [bool(reasoner.isSatisfiable(self._class(name))) for name in question.get("possible", ())]
        for name, individual in question.get("goals", ()):
            goal = self._factory.getOWLClassAssertionAxiom(self._class(name), self._individual(individual))
            answers.append(bool(reasoner.isEntailed(goal)))
        return answers

    def _parse(self, axioms: list[str]) -> Any:
        text = "\n".join((_PREFIXES, "Ontology(", *axioms, ")"))
        source = self._source(text, self._iri.create("urn:said"), self._format(), None)
        return self._manager.loadOntologyFromOntologyDocument(source)

    def _axioms(self, axioms: list[str]) -> Any:
        ontology = self._parse(axioms)
        self._manager.removeOntology(ontology)
        return ontology.getAxioms()

    def _class(self, name: str) -> Any:
        return self._factory.getOWLClass(self._iri.create(name.replace(":", NS, 1)))

    def _individual(self, name: str) -> Any:
        return self._factory.getOWLNamedIndividual(self._iri.create(name.replace(":", NS, 1)))

    def _reasoner(self, judge: str, ontology: Any) -> Any:
        if judge == "hermit":
            configuration = self._java("org.semanticweb.HermiT.Configuration")()
            configuration.individualTaskTimeout = SECONDS * 1000
            factory = self._java("org.semanticweb.HermiT.ReasonerFactory")()
            return factory.createReasoner(ontology, configuration)
        reasoner = "org.semanticweb.owlapi.reasoner."
        configuration = self._java(reasoner + "SimpleConfiguration")(SECONDS * 1000)
        names = {
            "openllet": "openllet.owlapi.OpenlletReasonerFactory",
            "jfact": "uk.ac.manchester.cs.jfact.JFactFactory",
        }
        return self._java(names[judge])().createReasoner(ontology, configuration)


def _dispose(reasoner: Any, throwable: Any) -> None:
    if reasoner is not None:
        with suppress(throwable):  # a reasoner that failed may fail here once more
            reasoner.dispose()


def _first_line(error: Any) -> str:
    lines = str(error).splitlines() or [""]
    return f"{type(error).__name__}: {lines[0]}"[:200]


def serve(requests: TextIO, replies: TextIO, jars: list[str]) -> None:
    bench = Bench(jars)
    for line in requests:
        replies.write(json.dumps(bench.answer(json.loads(line))) + "\n")
        replies.flush()


if __name__ == "__main__":
    out = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # what libraries print must not end up among the replies
    serve(sys.stdin, out, sys.argv[1:])
