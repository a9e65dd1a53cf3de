"""The reference for expressions: rdflib's evaluator, put right where it strays from SPARQL 1.1 or SPEC.

Each repair has a test of its own in `test_deliberate_differences.py` that shows what rdflib does without it.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

from rdflib import XSD, BNode, Literal, URIRef, Variable
from rdflib.plugins.sparql import operators
from rdflib.plugins.sparql.parserutils import Expr
from rdflib.plugins.sparql.sparql import FrozenBindings, Prologue, QueryContext, SPARQLError
from rdflib_terms import to_rdflib

from obep.guards.guard_terms import term_of
from obep.model import Term
from obep.query import ast


class Once(Expr):  # type: ignore[misc]
    """An expression that is evaluated once; rdflib's functions read each argument several times, so nested
    ones would take time that doubles with every level."""

    def eval(self, ctx: Any) -> Any:
        try:
            return self.__dict__["known"]
        except KeyError:
            self.__dict__["known"] = known = super().eval(ctx)
            return known


ARGUMENTS: dict[str, tuple[str, ...]] = {
    "SUBSTR": ("arg", "start", "length"),
    "REGEX": ("text", "pattern", "flags"),
    "REPLACE": ("arg", "pattern", "replacement", "flags"),
    "STRDT": ("arg1", "arg2"),
    "STRLANG": ("arg1", "arg2"),
    **dict.fromkeys(
        ("STRSTARTS", "STRENDS", "CONTAINS", "STRBEFORE", "STRAFTER", "LANGMATCHES", "SAMETERM"),
        ("arg1", "arg2"),
    ),
}
NAMES = {
    "SAMETERM": "sameTerm",
    "ISIRI": "isIRI",
    "ISURI": "isIRI",
    "ISBLANK": "isBLANK",
    "ISLITERAL": "isLITERAL",
    "ISNUMERIC": "isNUMERIC",
}


def evaluate(node: ast.Expression, row: Mapping[str, Term], *, repaired: bool = True) -> Any:
    """The node that rdflib gives for an expression, or a SPARQLError."""
    context = QueryContext(initBindings={})
    context.initBindings = context.initBindings or {}
    context.prologue = Prologue()
    bindings = FrozenBindings(context, {Variable(name): to_rdflib(term) for name, term in row.items()})
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        built = _build(node, repaired)
        if isinstance(built, Variable):
            return to_rdflib(row[str(built)]) if str(built) in row else SPARQLError("unbound")
        if not isinstance(built, Expr):
            return built
        try:
            result = built.eval(bindings)
        except Exception as error:  # rdflib lets Python's own errors through
            return SPARQLError(str(error))
    return SPARQLError("unbound") if isinstance(result, Variable) else result


def truth(node: ast.Expression, row: Mapping[str, Term], *, repaired: bool = True) -> bool | None:
    """Whether a condition is true or false; `None` for an error."""
    result = evaluate(node, row, repaired=repaired)
    try:
        return _truth(result) if repaired else operators.EBV(result)
    except SPARQLError:
        return None


def _build(node: ast.Expression, repaired: bool) -> Any:
    def inner(child: ast.Expression) -> Any:
        return _build(child, repaired)

    if isinstance(node, ast.Var):
        return Variable(node.name)
    if isinstance(node, ast.Name | ast.Literal):
        return to_rdflib(term_of(node))
    if isinstance(node, ast.Comparison):
        function = _compare if repaired else operators.RelationalExpression
        return Once(
            "RelationalExpression", function, expr=inner(node.left), op=node.operator, other=inner(node.right)
        )
    if isinstance(node, ast.Membership):
        if repaired:
            return inner(_spelled_out(node))
        sign = "NOT IN" if node.negated else "IN"
        members = [inner(member) for member in node.members]
        return Once(
            "RelationalExpression",
            operators.RelationalExpression,
            expr=inner(node.operand),
            op=sign,
            other=members,
        )
    if isinstance(node, ast.Conjunction | ast.Disjunction):
        return _logic(node, repaired, [inner(operand) for operand in node.operands])
    if isinstance(node, ast.Negation):
        name = {"!": "UnaryNot", "-": "UnaryMinus", "+": "UnaryPlus"}[node.operator]
        function = getattr(operators, name)
        if repaired:
            function = _not if node.operator == "!" else _strict(function, False)
        return Once(name, function, expr=inner(node.operand))
    if isinstance(node, ast.Arithmetic):
        name = "AdditiveExpression" if node.operator in "+-" else "MultiplicativeExpression"
        function = getattr(operators, name)
        if repaired:
            function = _strict(_multiply if node.operator in "*/" else function, False)
        return Once(name, function, expr=inner(node.left), op=[node.operator], other=[inner(node.right)])
    assert isinstance(node, ast.Call)
    arguments = [inner(argument) for argument in node.arguments]
    if isinstance(node.function, ast.Name):
        return Once("Function", operators.Function, iri=URIRef(node.function.iri[1:-1]), expr=arguments)
    if node.function == "IF":
        function = _if if repaired else operators.Builtin_IF
        return Once("Builtin_IF", function, arg1=arguments[0], arg2=arguments[1], arg3=arguments[2])
    name = f"Builtin_{NAMES.get(node.function, node.function)}"
    if node.function in ("COALESCE", "CONCAT"):
        return Once(name, getattr(operators, name), arg=arguments)
    places = ARGUMENTS.get(node.function, ("arg",))
    function = getattr(operators, name)
    if repaired and node.function != "BOUND":
        function = _strict(function, node.function in OVER_TERMS)
    return Once(name, function, **dict(zip(places, arguments, strict=False)))


OVER_TERMS = ("STR", "LANG", "DATATYPE", "SAMETERM", "ISIRI", "ISBLANK", "ISLITERAL")


def _strict(function: Callable[..., Any], of_terms: bool) -> Callable[..., Any]:
    """An error or an unbound variable among the arguments is an error; an ill-typed literal has no value."""

    def call(e: Expr, ctx: Any) -> Any:
        for key in e:
            given = e[key]  # raises
            for one in given if isinstance(given, list) else [given]:
                if isinstance(one, Literal) and one.ill_typed and not of_terms:
                    if function is operators.Builtin_isNUMERIC:
                        return Literal(False)
                    raise SPARQLError("ill-typed")
        return function(e, ctx)

    return call


def _logic(node: ast.Conjunction | ast.Disjunction, repaired: bool, operands: list[Any]) -> Once:
    if repaired:
        function: Callable[..., Any] = _and if isinstance(node, ast.Conjunction) else _or
        return Once("Logic", function, arg=operands)
    name = "ConditionalAndExpression" if isinstance(node, ast.Conjunction) else "ConditionalOrExpression"
    return Once(name, getattr(operators, name), expr=operands[0], other=operands[1:])


# --- repairs --------------------------------------------------------------------------------------------

NUMBERS = {URIRef(XSD + local) for local in (
    "integer", "decimal", "float", "double", "nonPositiveInteger", "negativeInteger", "nonNegativeInteger",
    "positiveInteger", "long", "int", "short", "byte", "unsignedLong", "unsignedInt", "unsignedShort",
    "unsignedByte",
)}  # fmt: skip


def _kind(node: Any) -> str:
    if not isinstance(node, Literal):
        return "iri" if isinstance(node, URIRef) else "blank"
    if node.language:
        return f"@{node.language}"
    if node.ill_typed:
        return "unknown"
    if node.datatype in (None, XSD.string):
        return "string"
    if node.datatype in NUMBERS:
        return "number"
    known = {XSD.boolean: "boolean", XSD.dateTime: "dateTime", XSD.date: "date"}
    return known.get(node.datatype, "unknown")


def _truth(node: Any) -> bool:
    """EBV is an error for all but booleans, strings and numbers; an ill-typed one of these is false."""
    if isinstance(node, Literal) and node.ill_typed and node.datatype in {*NUMBERS, XSD.boolean}:
        return False
    if isinstance(node, Literal) and (node.language or _kind(node) in ("string", "number", "boolean")):
        return bool(operators.EBV(node)) and node.value == node.value
    raise SPARQLError("no boolean value")


def _operands(e: Expr) -> list[bool | None]:
    """The truths of the operands, `None` for errors; rdflib would raise at the first one."""
    found: list[bool | None] = []
    for operand in dict.__getitem__(e, "arg"):
        value = (
            operand.eval(e.ctx)
            if isinstance(operand, Expr)
            else e.ctx.get(operand, operand)
            if isinstance(operand, Variable)
            else operand
        )
        try:
            found.append(_truth(value))
        except SPARQLError:
            found.append(None)
    return found


def _and(e: Expr, ctx: Any) -> Literal:
    truths = _operands(e)
    if False in truths:
        return Literal(False)
    if None in truths:
        raise SPARQLError
    return Literal(True)


def _or(e: Expr, ctx: Any) -> Literal:
    truths = _operands(e)
    if True in truths:
        return Literal(True)
    if None in truths:
        raise SPARQLError
    return Literal(False)


def _not(e: Expr, ctx: Any) -> Literal:
    return Literal(not _truth(e.expr))


def _if(e: Expr, ctx: Any) -> Any:
    return e.arg2 if _truth(e.arg1) else e.arg3


def _compare(e: Expr, ctx: Any) -> Literal:
    """Only what has an order is ordered, and what an unknown literal equals is not known."""
    left, right = e.expr, e.other
    if not isinstance(left, Literal | URIRef | BNode) or not isinstance(right, Literal | URIRef | BNode):
        raise SPARQLError("unbound")
    kinds = {_kind(left), _kind(right)}
    if e.op in ("=", "!="):
        if "unknown" in kinds and isinstance(left, Literal) and isinstance(right, Literal):
            if left != right:
                raise SPARQLError("not known")
            return Literal(e.op == "=")
        if len(kinds) == 2:
            return Literal(e.op == "!=")
        return operators.RelationalExpression(e, ctx)
    if len(kinds) == 2 or kinds & {"iri", "blank", "unknown"}:
        raise SPARQLError("no order")
    return operators.RelationalExpression(e, ctx)


def _multiply(e: Expr, ctx: Any) -> Literal:
    """A double with anything is a double; rdflib multiplies it as a decimal."""
    numbers = [operators.numeric(e.expr), operators.numeric(e.other[0])]
    if any(isinstance(number, float) for number in numbers):
        left, right = map(float, numbers)
        if e.op[0] == "*":
            return Literal(left * right)
        if right == 0:
            return Literal(
                float("nan") if left == 0 or left != left else float("inf") * (1 if left > 0 else -1)
            )
        return Literal(left / right)
    return operators.MultiplicativeExpression(e, ctx)


def _spelled_out(node: ast.Membership) -> ast.Expression:
    """`x IN (a, b)` is `x = a || x = b` (SPARQL 1.1, 17.4.1.9); rdflib compares terms."""
    if node.negated:
        return ast.Conjunction(tuple(ast.Comparison("!=", node.operand, member) for member in node.members))
    return ast.Disjunction(tuple(ast.Comparison("=", node.operand, member) for member in node.members))
