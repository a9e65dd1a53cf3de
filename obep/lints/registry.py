"""Find the rules: each is a file of `obep.lints.rules`, and this reads what it declares.

A rule has `CODE`, `NAME`, `SEVERITY`, a docstring (title, *What it does*, *Why*, *Example*, *Fix*) and
functions by its kind:

- about a query, an ontology or a configuration: one or more of `check(context)`, `check_pattern(scope)` for
  each composite event, and `check_bundle(bundle)` for the compiled query;
- about streams: `findings(stats, run)`, and, where it counts something in items, `watch(bundle, here)`, which
  prepares what it looks for in the items of a stream, and `observe(watched, item, stats)`.

`SUPPRESSED_BY` names the codes that make its finding about the same declaration, or stream, redundant.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from obep.errors import Diagnostic, Severity

CHECKED = ("query", "states", "languages", "ontology")
"""The rules of `obep check`; the others need a configuration or a stream."""
KINDS = (*CHECKED, "config", "stream")


@dataclass(frozen=True, slots=True)
class Rule:
    """The declarations of a rule file."""

    code: str
    name: str
    severity: Severity
    title: str
    page: str
    """Its docstring without the title."""
    check: Callable[[Any], Iterable[Any]] | None
    check_pattern: Callable[[Any], Iterable[Diagnostic]] | None
    check_bundle: Callable[[Any], Iterable[Diagnostic]] | None
    watch: Callable[[Any, Any], Any] | None
    observe: Callable[[Any, Any, Any], None] | None
    findings: Callable[[Any, Any], Iterable[Any]] | None
    suppressed_by: tuple[str, ...]


@cache
def rules(kind: str) -> tuple[Rule, ...]:
    """Import the rules of one kind, in the order of their codes."""
    package = import_module(f"obep.lints.rules.{kind}")
    found = [_rule(f"{package.__name__}.{info.name}") for info in iter_modules(package.__path__)]
    return tuple(sorted(found, key=lambda rule: rule.code))


def all_rules() -> tuple[Rule, ...]:
    """Import every rule there is."""
    return tuple(sorted((rule for kind in KINDS for rule in rules(kind)), key=lambda rule: rule.code))


def _rule(name: str) -> Rule:
    module = import_module(name)
    title, _, page = (module.__doc__ or "").partition("\n\n")
    return Rule(
        module.CODE,
        module.NAME,
        module.SEVERITY,
        title,
        page.strip(),
        getattr(module, "check", None),
        getattr(module, "check_pattern", None),
        getattr(module, "check_bundle", None),
        getattr(module, "watch", None),
        getattr(module, "observe", None),
        getattr(module, "findings", None),
        getattr(module, "SUPPRESSED_BY", ()),
    )
