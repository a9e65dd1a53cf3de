"""A syntax tree as bytes and back, in msgpack with a version: what travels in place of a query's text.

A node is a map from the name of its class to the values of its fields, a tuple is a list. What is read must
fit the types that the classes declare; only classes of the syntax tree can come out, and nothing is pickled.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cache
from types import UnionType
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

import msgspec

from obep.errors import Span
from obep.query import ast

VERSION = 2


def pack_files(files: Iterable[ast.QueryFile]) -> bytes:
    """The files of a query, without their texts."""
    return msgspec.msgpack.encode([VERSION, [_packed(replace(file, text="")) for file in files]])


def unpack_files(data: bytes | memoryview) -> list[ast.QueryFile]:
    """The files again; ValueError (msgspec's errors are such) if these bytes are none."""
    try:
        version, packed = msgspec.msgpack.decode(data, type=tuple[int, Any])
        if version != VERSION:
            raise ValueError(f"its syntax tree has version {version}, this obep reads version {VERSION}")
        files: list[ast.QueryFile] = list(_unpacked(packed, _form(tuple[ast.QueryFile, ...])))
    except RecursionError:
        raise ValueError("its syntax tree is nested too deeply") from None
    return files


def _packed(value: Any) -> Any:
    if isinstance(value, ast.Node | ast.Extent):
        kind: Any = type(value)
        return {kind.__name__: [_packed(getattr(value, name)) for name, _ in _fields(kind)]}
    if isinstance(value, tuple):
        return [_packed(one) for one in value]
    if isinstance(value, Mapping):
        return {key: _packed(one) for key, one in value.items()}
    return value


@dataclass
class _Form:
    """The allowed values of a field."""

    classes: dict[str, type] = field(default_factory=dict)
    """The classes of the syntax tree that are declared there, by name."""
    scalars: set[type] = field(default_factory=set)
    choices: set[str] = field(default_factory=set)
    items: list[Any] = field(default_factory=list)
    """The type of the members, if it may be a tuple."""
    spans: bool = False
    by_name: bool = False
    """It may be a mapping from names to spans."""

    def allow(self, hint: Any) -> None:
        origin = get_origin(hint)
        if isinstance(hint, UnionType) or origin is Union:  # `Choice[…] | None` is typing's
            for one in get_args(hint):
                self.allow(one)
        elif origin is Literal:
            self.choices.update(get_args(hint))
        elif origin is tuple:
            self.items.append(get_args(hint)[0])
        elif origin is Mapping:
            self.by_name = True
        elif hint is Span:
            self.spans = True
        elif hint in (str, int, bool, type(None)):
            self.scalars.add(hint)
        else:
            self.classes[hint.__name__] = hint


@cache
def _form(hint: Any) -> _Form:
    form = _Form()
    form.allow(hint)
    return form


@cache
def _fields(kind: Any) -> tuple[tuple[str, _Form], ...]:
    """The fields of a class in order, each with what may stand in it."""
    hints = get_type_hints(kind, localns=vars(ast))
    return tuple((one.name, _form(hints[one.name])) for one in fields(kind))


def _unpacked(value: Any, form: _Form) -> Any:
    if isinstance(value, dict):
        if form.by_name:
            return {_unpacked(key, _form(str)): _unpacked(one, _form(Span)) for key, one in value.items()}
        if len(value) == 1:
            ((name, given),) = value.items()
            if name in form.classes and isinstance(given, list):
                return _node(form.classes[name], given)
            raise ValueError(f"{name!r} stands in its syntax tree where {_listed(form)} may")
    elif isinstance(value, list):
        if form.spans and len(value) == len(Span._fields):
            return Span(*(_unpacked(one, _form(int)) for one in value))
        if form.items:
            members = _form(form.items[0])
            return tuple([_unpacked(one, members) for one in value])
    elif type(value) in form.scalars or (isinstance(value, str) and value in form.choices):
        return value
    raise ValueError(f"{type(value).__name__} stands in its syntax tree where {_listed(form)} may")


def _node(kind: type, given: list[Any]) -> Any:
    expected = _fields(kind)
    if len(given) != len(expected):
        raise ValueError(f"{kind.__name__} has {len(expected)} fields, not {len(given)}")
    return kind(**{name: _unpacked(one, form) for (name, form), one in zip(expected, given, strict=True)})


def _listed(form: _Form) -> str:
    found = sorted([*form.classes, *form.choices, *(one.__name__ for one in form.scalars)])
    found += ["a tuple"] * bool(form.items) + ["a span"] * form.spans + ["spans by name"] * form.by_name
    return ", ".join(found[:6]) + (", …" if len(found) > 6 else "")
