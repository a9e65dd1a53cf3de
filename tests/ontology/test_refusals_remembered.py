"""A T that the reasoner cannot read is given to it once, not at every start."""

from __future__ import annotations

from pathlib import Path

import pytest

from obep.errors import ObepError, fail
from obep.ontology.hermit import classify as module
from obep.ontology.owl.axiom_set import Axioms
from obep.ontology.owl.axioms import Class, SubClassOf

T = Axioms((SubClassOf(Class("<http://e/A>"), Class("<http://e/B>")),))


class Refusing:
    """A reasoner that cannot answer."""

    def __init__(self, code: str) -> None:
        self.code, self.asked = code, 0

    def classify(self, axioms: Axioms) -> None:
        self.asked += 1
        raise fail(self.code, "no", reason="because", remedy="do this")


@pytest.mark.parametrize(("code", "asked"), [("OBEP342", 1), ("OBEP343", 2), ("OBEP340", 2)])
def test_only_what_never_changes_is_remembered(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, code: str, asked: int
) -> None:
    reasoner = Refusing(code)
    monkeypatch.setattr(module, "shared_reasoner", lambda: reasoner)
    for _ in range(2):
        with pytest.raises(ObepError) as refused:
            module.classify(T, tmp_path)
        (said,) = refused.value.diagnostics
        assert (said.code, said.message, said.reason, said.remedy) == (code, "no", "because", "do this")
    assert reasoner.asked == asked
