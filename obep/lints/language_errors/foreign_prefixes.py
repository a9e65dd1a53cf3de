"""Prefixes of a query whose namespace the ontology does not use at all.

One wrong letter in a PREFIX makes every name behind it unknown. That is one mistake, so it is said once,
where it was made, with the namespace that was probably meant.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from difflib import get_close_matches

from obep.errors import Diagnostic, Span
from obep.model import Term
from obep.query import ast
from obep.query.diagnostics import listed, say
from obep.query.nearest_name import split
from obep.query.parse.file_scope import PREDECLARED, namespaces


@dataclass
class Foreign:
    """The names of one file that stand behind one such prefix."""

    file: ast.QueryFile
    prefix: str
    namespace: str
    names: list[ast.Name] = field(default_factory=list)


def foreign_prefixes(
    file: ast.QueryFile, unknown: Iterable[ast.Name], known: Iterable[Term]
) -> list[tuple[Foreign, Diagnostic]]:
    """The prefixes of a file with nothing in the ontology, of those that stand before unknown names."""
    locals_of = _by_namespace(known)
    declared = namespaces(file)
    groups: dict[str, Foreign] = {}
    for name in unknown:
        prefix = name.text.partition(":")[0] if ":" in name.text else ""
        namespace = declared.get(prefix)
        if name.text.startswith("<") or namespace is None or prefix in PREDECLARED:
            continue
        if locals_of and not any(_reaches(f"<{namespace}", one) for one in locals_of):
            groups.setdefault(prefix, Foreign(file, prefix, namespace)).names.append(name)
    others = {
        local
        for prefix, iri in declared.items()
        if prefix not in groups
        for local in locals_of.get(f"<{iri}", ())
    }
    return [
        (group, _nothing_in(group, locals_of))
        for group in groups.values()
        if not any(split(name.text)[1] in others for name in group.names)  # another prefix was forgotten
    ]


def _reaches(namespace: str, other: str) -> bool:
    """Whether names of another namespace can stand behind a prefix: not if it only lacks its end."""
    return other == namespace or (other.startswith(namespace) and other[len(namespace) :].strip("/#") != "")


def _by_namespace(known: Iterable[Term]) -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for term in known:
        namespace, local = split(term)
        found.setdefault(namespace, set()).add(local)
    return found


def _nothing_in(group: Foreign, locals_of: dict[str, set[str]]) -> Diagnostic:
    wanted = {split(name.text)[1] for name in group.names}
    best = max(sorted(locals_of), key=lambda namespace: len(wanted & locals_of[namespace]))
    near = (
        [best[1:]]
        if wanted & locals_of[best]
        else get_close_matches(group.namespace, [namespace[1:] for namespace in sorted(locals_of)], 1, 0.8)
    )
    uses = listed([f"<{namespace[1:]}>" for namespace in sorted(locals_of, key=lambda n: -len(locals_of[n]))])
    declaration = next((one for one in group.file.prefixes if one.prefix == group.prefix), None)
    span: Span = declaration.span if declaration else group.names[0].span
    stands_for = f"{group.prefix}: stands for <{group.namespace}>"
    names = listed(list(dict.fromkeys(name.text for name in group.names)))
    reason = f"So {names} cannot be known. The ontology uses {uses}."
    if declaration is None:
        reason = f"Without PREFIX {group.prefix}: the name has this namespace. {reason}"
    return say(
        "OBEP306", group.file, span, f"{stands_for}, and the ontology has nothing there", reason,
        f"PREFIX {group.prefix}: <{near[0] if near else '…'}>",
    )  # fmt: skip
