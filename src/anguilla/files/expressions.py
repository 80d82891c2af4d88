"""Formulas written as text: a whitelist of operators and functions over named numbers. Nothing is passed to eval.

The syntax is that of Python: `0.01 * cos(2 * pi * X / 0.3)`, `5 if t < 1 else 0`, `(0, 0, min(t, 1))`.
"""

from __future__ import annotations

import ast
import inspect
import math
import operator
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from anguilla.describe.description import as_points, did_you_mean
from anguilla.errors import DescriptionError, as_array, refuse

__all__ = ["CONSTANTS", "FUNCTIONS", "Expression", "Table"]

Environment = dict[str, float]
Evaluator = Callable[[Environment], Any]

MOST_CHARACTERS = 2000
MOST_DEPTH = 60
CONSTANTS = {"pi": math.pi, "tau": math.tau}
VARIABLES = ("X", "x", "t")  # arc length [m], normalised arc length, time [s]; the order of arguments


def _sign(x: float) -> float:
    return float((x > 0.0) - (x < 0.0))


def _clip(x: float, low: float, high: float) -> float:
    return min(max(x, low), high)


# name -> function, fewest and most arguments
FUNCTIONS: dict[str, tuple[Callable[..., float], int, int]] = {
    name: (getattr(math, name), 1, 1)
    for name in (
        "sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "log", "sqrt", "radians", "degrees",
    )
} | {
    "atan2": (math.atan2, 2, 2),
    "hypot": (math.hypot, 2, 3),
    "abs": (operator.abs, 1, 1),
    "floor": (lambda x: float(math.floor(x)), 1, 1),
    "ceil": (lambda x: float(math.ceil(x)), 1, 1),
    "sign": (_sign, 1, 1),
    "min": (min, 2, 8),
    "max": (max, 2, 8),
    "clip": (_clip, 3, 3),
}  # fmt: skip

_BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
_UNARY: dict[type[ast.unaryop], Callable[[Any], Any]] = {
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Not: lambda x: float(not x),
}
_COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], bool]] = {
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
}
_ALLOWED = "numbers, + - * / % **, comparisons, and/or/not, 'a if condition else b', and the functions "


class Expression:
    """A function written as text, that files can hold: ``Expression("5 * sin(2 * pi * t)")``.

    Its arguments are the variables it uses, in the order X [m], x [-], t [s]; called with them it returns a number, or a
    tuple if it was given a sequence.

    Args:
        text: a formula, or a (nested) sequence of formulas and numbers.
        arguments: its arguments, some of "X", "x", "t", to fix them whether used or not.
        names: values of other names the formula may use; they become part of it.

    """

    def __init__(
        self, text: Any, *, arguments: Sequence[str] | None = None, names: Mapping[str, float] | None = None
    ) -> None:
        self._tree, used = _parse_nested(text, dict(names or {}))
        order = [name for name in VARIABLES if name in used]
        if arguments is not None:
            if any(name not in VARIABLES for name in arguments):
                raise refuse("Expression.arguments", f"some of {', '.join(VARIABLES)}", arguments)
            extra = [name for name in order if name not in arguments]
            if extra:
                allowed = " and ".join(arguments) or "no variable"
                raise DescriptionError(f"Expression {text!r} uses {', '.join(extra)}, but may use {allowed} only.")
            order = list(arguments)
        self.arguments = tuple(order)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in order])
        self._run = _compile_nested(self._tree)

    def __call__(self, *values: float) -> Any:
        """Return the value for its arguments."""
        if len(values) != len(self.arguments):
            raise DescriptionError(f"{self!r} takes ({', '.join(self.arguments)}); got {len(values)} values.")
        environment = {name: float(value) for name, value in zip(self.arguments, values, strict=True)}
        try:
            return self._run(environment)
        except (ArithmeticError, ValueError, TypeError) as error:
            where = ", ".join(f"{name} = {value:g}" for name, value in environment.items())
            reason = "it is too large" if isinstance(error, OverflowError) else error
            raise DescriptionError(f"{self!r} has no value{' at ' + where if where else ''}: {reason}.") from None

    @property
    def text(self) -> Any:
        """The formula as text, or as a sequence of texts; names that were given have become numbers."""
        return _unparse_nested(self._tree)

    def __repr__(self) -> str:
        return f"Expression({self.text!r})"

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Expression) and (self.text, self.arguments) == (other.text, other.arguments)

    def __hash__(self) -> int:
        return hash((repr(self.text), self.arguments))


def _parse_nested(text: Any, names: dict[str, float]) -> tuple[Any, set[str]]:
    if isinstance(text, (list, tuple)):
        pairs = [_parse_nested(item, names) for item in text]
        return [tree for tree, _ in pairs], {name for _, used in pairs for name in used}
    if isinstance(text, (int, float)) and not isinstance(text, bool):
        text = repr(float(text))
    if not isinstance(text, str):
        raise refuse("Expression", "a formula such as '5 * sin(t)', or a sequence of them", text)
    tree = _parse(text)
    used: set[str] = set()
    checked = _Check(text, names, used).visit(tree)
    return checked, used


def _parse(text: str) -> ast.expr:
    if len(text) > MOST_CHARACTERS:
        raise DescriptionError(f"Expression {text[:30]!r}... must have at most {MOST_CHARACTERS} characters.")
    try:
        return ast.parse(text.strip(), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        reason = (getattr(error, "msg", None) or "it is nested too deeply").rstrip("?.")
        hint = " (in a file, quote a formula that has commas)" if "never closed" in reason else ""
        if re.fullmatch(r"\s*[-+.\de]+\s*[a-zA-Z%/^\d]+\s*", text):
            hint = "; units are not written, all are SI"
        raise DescriptionError(f"Expression {text!r} is not a formula: {reason}{hint}.") from None


def _kind_of(node: ast.AST) -> str:
    """What a piece of a formula is, in words."""
    kind = type(node).__name__
    names = {"Lambda": "the word lambda (write what comes after its colon)", "Attribute": "a name with a dot"}
    return names.get(kind, f"{'an' if kind[0] in 'AEIOU' else 'a'} {kind}")


class _Check(ast.NodeTransformer):
    """Refuse all that is not on the list; put the values of given names in."""

    def __init__(self, text: str, names: dict[str, float], used: set[str]) -> None:
        self.text, self.names, self.used = text, names, used
        self.depth = 0

    def refuse(self, what: str, valid: str) -> DescriptionError:
        return DescriptionError(f"Expression {self.text!r} has {what}; allowed are {valid}.")

    def visit(self, node: ast.AST) -> Any:
        self.depth += 1
        if self.depth > MOST_DEPTH:
            raise self.refuse(f"more than {MOST_DEPTH} levels", "shorter formulas")
        checked = self.allowed(node)
        self.depth -= 1
        return checked

    def allowed(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=bool()):
                pass
            case ast.Constant(value=int() | float()):
                try:
                    value = float(node.value)  # type: ignore[arg-type]  # integers would make 9**9**9 a long wait
                except OverflowError:
                    value = math.inf
                if not math.isfinite(value):
                    raise self.refuse("a number too large", "numbers below 1e308")
                return ast.copy_location(ast.Constant(value), node)
            case ast.Name(id=name):
                return self.name(name, node)
            case ast.Call():
                return self.call(node)
            case ast.BinOp() if type(node.op) in _BINARY:
                node.left, node.right = self.visit(node.left), self.visit(node.right)
            case ast.UnaryOp() if type(node.op) in _UNARY:
                node.operand = self.visit(node.operand)
            case ast.Compare() if all(type(op) in _COMPARE for op in node.ops):
                node.left, node.comparators = self.visit(node.left), [self.visit(item) for item in node.comparators]
            case ast.BoolOp():
                node.values = [self.visit(item) for item in node.values]
            case ast.IfExp():
                node.test, node.body, node.orelse = (
                    self.visit(node.test),
                    self.visit(node.body),
                    self.visit(node.orelse),
                )
            case ast.Tuple() | ast.List():
                node.elts = [self.visit(item) for item in node.elts]
            case ast.BinOp(op=ast.BitXor()):
                raise self.refuse("the operator ^", "+ - * / % and ** for powers")
            case _:
                raise self.refuse(_kind_of(node), _ALLOWED + ", ".join(FUNCTIONS))
        return node

    def name(self, name: str, node: ast.Name) -> ast.expr:
        if name in self.names:
            return ast.copy_location(ast.Constant(float(self.names[name])), node)
        if name in CONSTANTS:
            return node
        if name not in VARIABLES:
            known = [*self.names, *CONSTANTS, *VARIABLES]
            raise self.refuse(f"the unknown name {name!r}{did_you_mean(name, [*known, *FUNCTIONS])}", ", ".join(known))
        self.used.add(name)
        return node

    def call(self, node: ast.Call) -> ast.Call:
        name = node.func.id if isinstance(node.func, ast.Name) else ast.unparse(node.func)
        if name not in FUNCTIONS:
            hint = did_you_mean(name.rpartition(".")[2], FUNCTIONS)  # np.sin is sin
            raise self.refuse(f"the unknown function {name!r}{hint}", "the functions " + ", ".join(FUNCTIONS))
        _, fewest, most = FUNCTIONS[name]
        starred = any(isinstance(item, ast.Starred) for item in node.args)
        if node.keywords or starred or not fewest <= len(node.args) <= most:
            count = f"{fewest}" if fewest == most else f"{fewest} to {most}"
            raise self.refuse(f"{len(node.args)} arguments for {name}", f"{count} plain arguments")
        node.args = [self.visit(item) for item in node.args]
        return node


def _compile_nested(tree: Any) -> Evaluator:
    if not isinstance(tree, list):
        return _number(_compile(tree))
    parts = [_compile_nested(item) for item in tree]
    return lambda env: tuple(part(env) for part in parts)


def _number(evaluate: Evaluator) -> Evaluator:
    def run(env: Environment) -> Any:
        return _real(evaluate(env))

    return run


def _real(value: Any) -> Any:
    if isinstance(value, tuple):
        return tuple(_real(item) for item in value)
    if isinstance(value, complex):
        raise ValueError("the result is not a real number")
    if not math.isfinite(value):
        raise ValueError("the result is not finite")
    return float(value)


def _compile(node: ast.AST) -> Evaluator:
    match node:
        case ast.Constant(value=value):
            number = float(value)  # type: ignore[arg-type]  # as all values here: powers of integers have no end
            return lambda env: number
        case ast.Name(id=name) if name in CONSTANTS:
            return lambda env: CONSTANTS[name]
        case ast.Name(id=name):
            return lambda env: env[name]
        case ast.UnaryOp():
            unary, inner = _UNARY[type(node.op)], _compile(node.operand)
            return lambda env: unary(inner(env))
        case ast.BinOp():
            binary, left, right = _BINARY[type(node.op)], _compile(node.left), _compile(node.right)
            return lambda env: binary(left(env), right(env))
        case ast.IfExp():
            test, body, orelse = _compile(node.test), _compile(node.body), _compile(node.orelse)
            return lambda env: body(env) if test(env) else orelse(env)
        case ast.BoolOp():
            terms, every = [_compile(item) for item in node.values], isinstance(node.op, ast.And)
            return lambda env: float((all if every else any)(term(env) for term in terms))
        case ast.Compare():
            compare = [_COMPARE[type(op)] for op in node.ops]
            return _chain(_compile(node.left), compare, [_compile(item) for item in node.comparators])
        case ast.Tuple() | ast.List():
            items = [_compile(item) for item in node.elts]
            return lambda env: tuple(item(env) for item in items)
    assert isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
    function, arguments = FUNCTIONS[node.func.id][0], [_compile(item) for item in node.args]
    return lambda env: function(*(argument(env) for argument in arguments))


def _chain(first: Evaluator, compare: Sequence[Callable[[Any, Any], bool]], others: Sequence[Evaluator]) -> Evaluator:
    """a < b < c, in which b is computed once: twice would double with every level of brackets."""

    def run(env: Environment) -> float:
        left = first(env)
        for holds, other in zip(compare, others, strict=True):
            right = other(env)
            if not holds(left, right):
                return 0.0
            left = right
        return 1.0

    return run


def _unparse_nested(tree: Any) -> Any:
    return [_unparse_nested(item) for item in tree] if isinstance(tree, list) else ast.unparse(tree)


class Table:
    """A function given by its values at increasing times or arc lengths, straight lines between them, held at the ends.

    Args:
        values: (n, ...) values at the points; (nt, nX, ...) if both t and X are given.
        t: times (nt,) [s].
        X: arc lengths (nX,) [m].
        x: normalised arc lengths (nx,) [-], in place of X.

    """

    def __init__(self, values: Any, *, t: Any = None, X: Any = None, x: Any = None) -> None:
        self.values: NDArray[np.float64] = as_array(values, "Table.values", "finite numbers")
        given = {name: value for name, value in (("t", t), ("X", X), ("x", x)) if value is not None}
        if not given or ("X" in given and "x" in given):
            names = ", ".join(given) or "none"
            raise DescriptionError(f"Table takes t [s], or X [m] or x, or t and one of these; got {names}.")
        self.points: dict[str, NDArray[np.float64]] = {}
        for axis, (name, value) in enumerate(given.items()):
            points = as_array(value, f"Table.{name}", "strictly increasing finite numbers")
            if points.ndim != 1 or not points.size or np.any(np.diff(points) <= 0.0):
                raise refuse(f"Table.{name}", "strictly increasing finite numbers", value)
            if self.values.ndim <= axis or self.values.shape[axis] != points.size:
                raise DescriptionError(
                    f"Table.values must have {points.size} entries along {name}, one per point; "
                    f"got the shape {self.values.shape}."
                )
            self.points[name] = points
        self.arguments = tuple(name for name in VARIABLES if name in given)
        kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
        self.__signature__ = inspect.Signature([inspect.Parameter(name, kind) for name in self.arguments])

    def __call__(self, *values: float) -> Any:
        """Return the value at its arguments."""
        where = dict(zip(self.arguments, values, strict=True))
        found = self.values
        for name, points in self.points.items():  # t first, the leading axis
            place = float(as_points(where[name])[0])
            k = int(np.clip(np.searchsorted(points, place, side="right") - 1, 0, max(points.size - 2, 0)))
            if points.size == 1:
                found = found[0]
                continue
            s = min(max((place - points[k]) / (points[k + 1] - points[k]), 0.0), 1.0)
            found = found[k] if s == 0.0 else found[k + 1] if s == 1.0 else (1.0 - s) * found[k] + s * found[k + 1]
        return float(found) if found.ndim == 0 else found

    def __repr__(self) -> str:
        return f"Table({', '.join(f'{p.size} points in {name}' for name, p in self.points.items())})"

    def __eq__(self, other: object) -> bool:
        return (
            isinstance(other, Table)
            and self.points.keys() == other.points.keys()
            and np.array_equal(self.values, other.values)
            and all(np.array_equal(p, other.points[name]) for name, p in self.points.items())
        )

    __hash__ = None  # type: ignore[assignment]
