"""Words values that no JAX array holds, and text as an index, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted

#: What an array holds in place of numbers.
_HOLDS = {
    "text": "text",
    "objects": "Python objects",
    "dates": "dates or times",
    "": "values that are no numbers",
}


def _non_number(argument: str, holds: str, asked: str, function: str) -> str:
    but = "but JAX arrays hold numbers and bools."
    if asked:
        return f"dtype {quoted(asked)} is asked of {quoted(function) or 'a function of JAX'}, {but}"
    if holds == "none":
        return f"None is among the values{f' of {quoted(argument)}' if argument else ''}, {but}"
    if holds == "object":
        return f"{quoted(argument)} is no number and no array, {but}"
    if holds == "dict":
        return f"{quoted(argument)} is a dict, {but}"
    return f"{quoted(argument) or 'A value'} holds {_HOLDS[holds]}, {but}"


def _write_non_number(argument: str, holds: str, jax: str, jnp: str, np: str) -> str:
    objects = "If every element is a number, convert the array with .astype(float) first."
    text = (
        "Keep text in NumPy or Python. To compute with it, encode it as integers: labels, codes = "
        f"{np}.unique(texts, return_inverse=True), and pass codes. Numbers in text are converted with .astype(float)."
    )
    return {
        "text": text,
        "objects": f"{objects} Arrays of different shapes stay in a list, or are padded to one shape.",
        "object": "Pass a number, an array, or a list of numbers in its place.",
        "dates": f"Convert them to numbers in NumPy: (t - t[0]) / {np}.timedelta64(1, 's') are seconds.",
        "none": f"For a missing number, write {jnp}.nan. A function without a return statement returns None.",
        "dict": (
            f"Make arrays of its values: {jax}.tree.map({jnp}.asarray, {quoted(argument)}). JAX functions take a "
            "dict of arrays as a pytree."
        ),
        "": f"{text} Of objects: {objects}",
    }[holds]


NON_NUMBER_NOTES: dict[str, Callable[..., str]] = {
    "error_non_number": _non_number,
    "write_non_number": _write_non_number,
    "error_string_index": lambda array, index: (
        f"{quoted(array) or 'A value'} is a JAX array, which has no columns with names, but gets the index "
        f"{quoted(index)}."
    ),
    "write_string_index": lambda: (
        "Index with integers, such as [:, 0]. For columns or parameters with names, keep a dict of arrays, which JAX "
        "functions take as a pytree. If the value should be such a dict, correct the line that passes or assigns it."
    ),
}
