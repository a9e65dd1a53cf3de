"""Puts a mutant into modules that are loaded: the functions that it changes get their new code.

So a process that has loaded obep and collected the tests is forked for each mutant, and only runs them. What
a mutant changes outside of functions (a constant, a default, a decorator) cannot be put in place: then
everything is loaded anew.
"""

from __future__ import annotations

import ast
import gc
import marshal
from collections.abc import Iterator
from types import CodeType, FunctionType


def changed_functions(path: str, before: str, after: str) -> dict[str, CodeType]:
    """The new code of the functions that a mutant changes, by name; empty if it changes more than these.

    `before` and `after` are the module's text without the mutant and with it.
    """
    old, new = (compile(ast.parse(ast.unparse(ast.parse(text))), path, "exec") for text in (before, after))
    if _bare(old) != _bare(new):
        return {}
    pairs = list(zip(_functions(old), _functions(new), strict=False))
    wanted = {code.co_qualname: code for one, code in pairs if marshal.dumps(one) != marshal.dumps(code)}
    if sum(code.co_qualname in wanted for _, code in pairs) != len(wanted):
        return {}  # a property and what sets it have one name
    return wanted


def put_in_place(path: str, wanted: dict[str, CodeType]) -> bool:
    """Whether the functions of a loaded module have this code now; else nothing was changed."""
    gc.unfreeze()  # what is frozen is not among the objects
    found: list[tuple[FunctionType, CodeType]] = []
    for one in gc.get_objects():
        if isinstance(one, FunctionType) and one.__code__.co_filename == path:
            code = wanted.get(one.__code__.co_qualname)
            if code is not None:
                found.append((one, code))
    if not wanted or {one.__code__.co_qualname for one, _ in found} != wanted.keys():
        return False
    if any(one.__code__.co_freevars != code.co_freevars for one, code in found):
        return False
    for one, code in found:
        one.__code__ = code
    return True


def _functions(code: CodeType) -> Iterator[CodeType]:
    """The functions of a module and of its classes; what lies inside them belongs to them."""
    for one in code.co_consts:
        if isinstance(one, CodeType):
            if one.co_flags & _IS_FUNCTION:
                yield one
            else:
                yield from _functions(one)


_IS_FUNCTION = 0x1
"""The flag of code with local variables of its own (CO_OPTIMIZED): not that of a class or a module."""


def _bare(code: CodeType) -> object:
    """Code of a module or class without that of its functions."""
    consts = [
        (_bare(one) if not one.co_flags & _IS_FUNCTION else one.co_qualname)
        if isinstance(one, CodeType)
        else (type(one).__name__, repr(one))
        for one in code.co_consts
    ]
    return code.co_code, code.co_names, consts
