"""Words of the rule ``precision``."""

from __future__ import annotations

import re
from collections.abc import Callable

from ... import units
from ...terminal import printable
from .runs import at_least


def _inputs(argument: str, shape: str, equations: int, double_ns: float, least: int = 0) -> str:
    given = f"{printable(argument)} is {printable(shape)}. " if argument else ""
    return (
        f"{given}{units.count(equations, 'equation')} in float64, "
        f"{at_least(units.time(double_ns), least)} of device time per run; in float32 it would be about half."
    )


def _line_remedy(arrays: str = "") -> str:
    if arrays:
        return f"If float32 is accurate enough, convert {printable(arrays)} once, with .astype(np.float32)."
    return (
        "If float32 is accurate enough, turn NumPy's numbers into Python's with float(), convert NumPy's arrays with "
        ".astype(x.dtype), and give new arrays the dtype of the others, as in dtype=x.dtype."
    )


def _argument_remedy(arguments: str = "", several: int = 0) -> str:
    if not several:
        return "If float32 is accurate enough, convert the argument before the call."
    more = several - arguments.count(", ") - 1
    named = f"{printable(arguments)}{f' and {more} more' if more else ''}"
    return (
        f"If float32 is accurate enough, convert all {several} arguments that are float64 before the call: {named}."
    )


#: Names of types, and the largest relative error of rounding a number to each.
_TYPES = {"bf16": ("bfloat16", "0.2 %"), "tf32": ("TF32", "0.05 %"), "f32": ("full float32", "")}


def _slow_products(function: str, now: str, products_ns: float, run_ns: float, least: int = 0) -> str:
    return (
        f"{printable(function)} spends {at_least(units.time(products_ns), least)} per run in products of "
        f"float32, {units.share(products_ns, run_ns)} of the run. This GPU computes them in {_TYPES[now][0]}."
    )


def _faster_products(faster: str, products_ns: float, faster_ns: float) -> str:
    return (
        f"They reach at least half of its peak rate. At the same share of the peak rate of {_TYPES[faster][0]}, with "
        f"conversions, they would take {units.time(faster_ns)} instead of {units.time(products_ns)}."
    )


def _faster_remedy(faster: str) -> str:
    name, error = _TYPES[faster]
    return (
        f"If products in {name} are accurate enough, request them. Each factor is rounded by up to {error}; sums "
        "stay in float32. --verify shows how much the outputs differ."
    )


def _cast(function: str, name: str, shape: str, share: float, given: str, through: str, to: str) -> str:
    first = f"to {printable(through)} and " if through else ""
    back = "back " if given == to else ""
    return (
        f"{printable(function)} converts {printable(name)}, {printable(shape)}, {first}{back}to {printable(to)} in "
        f"each call, for {units.percent(share)} of the run."
    )


def _cast_remedy(name: str, given: str, through: str, to: str) -> str:
    if given == to:
        return (
            f"The program computes with {printable(to)} all the same. Leave the cast out; or if the rounding to "
            f"{printable(through)} is meant, round {printable(name)} once before the calls."
        )
    bits = [int(re.sub(r"\D", "", each)) for each in (given, to)]
    larger = f" In {printable(to)} it takes {bits[1] // bits[0]} times the memory." if bits[1] > bits[0] else ""
    return (
        f"Convert {printable(name)} once before the calls.{larger} If it changes between calls, as parameters do in "
        f"training, keep it in {printable(to)}, or convert it in the program that changes it."
    )


NOTES: dict[str, Callable[..., str]] = {
    "double_line": lambda function: f"{printable(function)} computes in float64 from this line on.",
    "double_argument": lambda function, argument, shape: (
        f"{printable(function)} computes in float64 because {printable(argument)} is {printable(shape)}."
    ),
    "double_inputs": _inputs,
    "slow_products": _slow_products,
    "faster_products": _faster_products,
    "faster_products_remedy": _faster_remedy,
    "double_captured": lambda array, type: f"{printable(array)} is {printable(type)}.",
    "double_line_remedy": _line_remedy,
    "cast": _cast,
    "cast_remedy": _cast_remedy,
    "double_argument_remedy": _argument_remedy,
}
