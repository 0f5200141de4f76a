"""Work out plain arithmetic exactly, without running code.

Numbers are fractions until a root or a logarithm is taken, so that 0.1 + 0.2 is 0.3. What two
people would read differently is refused instead of guessed.
"""

from __future__ import annotations

import ast
import math
import re
import unicodedata
from collections.abc import Callable, Mapping
from fractions import Fraction
from typing import Any

from simpleeval import InvalidExpression, SimpleEval

from config.errors import ErrorCode, Problem
from text.regex import regex

LONGEST = 1_000
"""How many characters an expression may have."""

LARGEST_BITS = 4_096
"""How many binary digits each half of a fraction may have."""

MOST_DECIMALS = 100
"""To how many decimals a number may be rounded, before and after the point."""

PERCENT = "percent"
"""The function that a percent sign after a number stands for."""

Number = int | float

Exact = Fraction | float
"""A number as it is worked with."""

_SIGNS = str.maketrans("×·÷−–", "**/--")
_GROUPS_BY_SPACE = regex(r"(?<=\d)[\u00a0\u2009\u202f'’](?=\d{3}(?!\d))")
_GROUPS_BY_COMMA = regex(r"(?<![\w.,])\d{1,3}(?:,\d{3})+(?!,?\d)")
_CURRENCY = regex(r"[$€£¥](?=\s?[\d.])")
_PERCENT_SIGN = regex(r"(?<!\w)(\d[\d_]*(?:\.\d*)?|\.\d+)\s?%(?!\s*[\d.(])")
_PERCENT_OF = regex(r"(?<=\))\s*of\b")


def evaluate(expression: str) -> Number:
    """Return the value of an expression: an int where it is whole, else a float.

    It may have numbers with thousands separators (`1,234.5`) and percent signs (`15% of 80`), the
    operators `+ - * / // % **` and `^`, brackets, and the functions in `FUNCTIONS`. Halves are
    rounded away from zero. `log` is the natural one unless it is given a base.

    Raises:
        Problem: `expression_invalid`, with what cannot be worked out.
    """
    if len(expression) > LONGEST:
        what = f"it has more than {LONGEST:,} characters"
        raise _refusal(what, expression[:50] + "…")
    try:
        tree = ast.parse(_as_python(expression), mode="eval").body
        _check_percents(tree, expression)
        return _as_number(_Arithmetic().eval(expression, tree))
    except SyntaxError as error:
        raise _refusal("it is not written as an expression", expression) from error
    except (RecursionError, MemoryError) as error:
        raise _refusal("it has too many levels", expression) from error
    except ZeroDivisionError as error:
        raise _refusal("it divides by zero", expression) from error
    except OverflowError as error:
        raise _refusal("its value is too large", expression) from error
    except (InvalidExpression, ValueError, TypeError) as error:
        raise _refusal(str(error), expression) from error


def _refusal(what: str, expression: str) -> Problem:
    said = f"the expression cannot be worked out: {what}"
    return Problem(ErrorCode.EXPRESSION_INVALID, said, where=expression)


def _as_python(expression: str) -> str:
    """Return an expression as Python writes it."""
    text = _GROUPS_BY_SPACE.sub("", expression).translate(_SIGNS)
    text = unicodedata.normalize("NFKC", text).strip().removeprefix("=").strip()
    text = _GROUPS_BY_COMMA.sub(_without_commas, text)
    text = _PERCENT_SIGN.sub(rf"{PERCENT}(\1)", _CURRENCY.sub("", text))
    return _PERCENT_OF.sub(" *", text).replace("^", "**")


def _without_commas(found: re.Match[str]) -> str:
    """Remove the separators of a number, unless they might separate arguments."""
    number = found[0]
    if _stands_in_call(found.string[: found.start()]):
        what = (
            f"{number} may be one number or several: write one without commas, several with spaces"
        )
        raise InvalidExpression(what)
    return number.replace(",", "")


def _stands_in_call(before: str) -> bool:
    """Tell whether a text leaves a list or the arguments of a function open."""
    opened: list[bool] = []
    for place, character in enumerate(before):
        if character in "([":
            opened.append(character == "[" or before[:place].rstrip()[-1:].isalnum())
        elif character in ")]" and opened:
            opened.pop()
    return any(opened)


def _check_percents(tree: ast.AST, expression: str) -> None:
    """Refuse `200 + 10%`, which is 220 to some and 200.1 to others.

    Raises:
        Problem: `expression_invalid`.
    """
    for node in ast.walk(tree):
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Sub):
            sides = node.left, node.right
            percents = [side for side in sides if _is_percent(side)]
            ones = [side for side in sides if isinstance(side, ast.Constant) and side.value == 1]
            if len(percents) == 1 and not ones:
                what = "a percentage of what is added or taken away? Write 200 * (1 + 10%)"
                raise _refusal(what, expression)


def _is_percent(node: ast.AST) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == PERCENT


class _Arithmetic(SimpleEval):  # type: ignore[misc]
    """An evaluator of numbers alone: no names, attributes, texts or conditions."""

    def __init__(self) -> None:
        super().__init__(operators=dict(OPERATORS), functions=dict(FUNCTIONS), names={})
        kept = ast.UnaryOp, ast.BinOp, ast.Call
        self.nodes: dict[type[ast.AST], Callable[..., Any]] = {
            kind: self.nodes[kind] for kind in kept
        } | {
            ast.Constant: _read_constant,
            ast.List: self._eval_list,
            ast.Tuple: _refuse_commas,
        }

    def _eval(self, node: ast.AST) -> Any:
        """Return the value of a part, unless it has too many digits."""
        if type(node) not in self.nodes:
            raise InvalidExpression("only numbers, operators and functions can be worked with")
        if isinstance(node, ast.Call) and getattr(node.func, "id", "") not in self.functions:
            what = f"only numbers and these functions can be worked with: {', '.join(FUNCTIONS)}"
            raise InvalidExpression(what)
        value = super()._eval(node)
        if isinstance(value, Fraction):
            if max(value.numerator.bit_length(), value.denominator.bit_length()) > LARGEST_BITS:
                raise OverflowError
        elif isinstance(value, complex) or (isinstance(value, float) and not math.isfinite(value)):
            raise InvalidExpression("a part of it is no real number")
        return value

    def _eval_list(self, node: ast.List) -> list[Exact]:
        return _flatten(self._eval(one) for one in node.elts)


def _read_constant(node: ast.Constant) -> Fraction:
    value = node.value
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise InvalidExpression("only numbers, operators and functions can be worked with")
    return Fraction(repr(value))


def _refuse_commas(node: ast.Tuple) -> None:
    raise InvalidExpression("a comma stands between thousands or arguments; decimals have a point")


def _flatten(values: Any) -> list[Exact]:
    flat: list[Exact] = []
    for value in values:
        flat += value if isinstance(value, list) else [value]
    return flat


def _of_all(function: Callable[[list[Exact]], Exact]) -> Callable[..., Exact]:
    """Return a function of numbers and lists of numbers, of which there must be one."""

    def call(*values: Exact | list[Exact]) -> Exact:
        flat = _flatten(values)
        if not flat:
            raise InvalidExpression("a function has no numbers")
        return function(flat)

    return call


def _power(base: Exact, exponent: Exact) -> Exact:
    """Return a power: exact if the exponent is whole and the result has not too many digits."""
    if isinstance(base, Fraction) and isinstance(exponent, Fraction) and exponent.denominator == 1:
        bits = max(base.numerator.bit_length(), base.denominator.bit_length())
        if bits * abs(exponent) > 2 * LARGEST_BITS:
            raise OverflowError
        return Fraction(base**exponent)
    result: object = float(base) ** float(exponent)
    if not isinstance(result, float):
        raise InvalidExpression("a root of a negative number is no real number")
    return result


def _root(value: Exact) -> Exact:
    if value < 0:
        raise InvalidExpression("a root of a negative number is no real number")
    if isinstance(value, Fraction):
        halves = math.isqrt(value.numerator), math.isqrt(value.denominator)
        exact = Fraction(*halves)
        if exact * exact == value:
            return exact
    return math.sqrt(value)


def _logarithm(value: Exact, base: Exact | None = None) -> float:
    if value <= 0 or (base is not None and (base <= 0 or base == 1)):
        raise InvalidExpression("there is no such logarithm")
    if base is None:
        return math.log(value)
    if base == 10:
        return math.log10(value)
    return math.log2(value) if base == 2 else math.log(value, base)


def _round(value: Exact, decimals: Exact = Fraction(0)) -> Fraction:
    """Round to decimals, halves away from zero."""
    if decimals != int(decimals) or not -MOST_DECIMALS <= decimals <= MOST_DECIMALS:
        what = f"numbers are rounded to at most {MOST_DECIMALS} whole decimals"
        raise InvalidExpression(what)
    scale = Fraction(10) ** int(decimals)
    exact = value if isinstance(value, Fraction) else Fraction(repr(value))
    size = Fraction(math.floor(abs(exact) * scale + Fraction(1, 2))) / scale
    return size if exact >= 0 else -size


def _median(values: list[Exact]) -> Exact:
    ordered, half = sorted(values), len(values) // 2
    return ordered[half] if len(values) % 2 else (ordered[half - 1] + ordered[half]) / 2


def _as_number(value: object) -> Number:
    if not isinstance(value, Fraction | float):
        raise InvalidExpression("its value is no number")
    return int(value) if isinstance(value, Fraction) and value.denominator == 1 else float(value)


FUNCTIONS: Mapping[str, Callable[..., Exact]] = {
    "abs": abs,
    "log": _logarithm,
    "max": _of_all(lambda values: max(values)),
    "mean": _of_all(lambda values: sum(values, Fraction(0)) / len(values)),
    "median": _of_all(_median),
    "min": _of_all(lambda values: min(values)),
    PERCENT: lambda value: value / 100,
    "round": _round,
    "sqrt": _root,
    "sum": _of_all(lambda values: sum(values, Fraction(0))),
}
"""The functions of expressions, by name."""

OPERATORS: Mapping[type[ast.AST], Callable[..., Exact]] = {
    ast.Add: lambda one, other: one + other,
    ast.Sub: lambda one, other: one - other,
    ast.Mult: lambda one, other: one * other,
    ast.Div: lambda one, other: one / other,
    ast.FloorDiv: lambda one, other: Fraction(one // other),
    ast.Mod: lambda one, other: one % other,
    ast.Pow: _power,
    ast.UAdd: lambda one: one,
    ast.USub: lambda one: -one,
}
