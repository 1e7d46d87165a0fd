"""Words what to write where Python or JAX would have to decide by a traced value."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted

#: How to keep the size of what a mask selects, where the shapes are unknown.
MASKED = (
    "jnp.where(mask, array, 0) for a sum, or jnp.mean(array, where=mask) for a mean (for a mask over rows, "
    "mask[:, None])"
)


def spoiled_gradient(jnp: str, gradient: bool, mapped: bool = False) -> str:
    """Word when ``where()`` spoils a gradient, or ``cond()`` inside of ``jax.vmap``."""
    if not gradient:
        return ""
    discarded = "that is not chosen" if mapped else "that where() discards"
    return (
        f" jax.grad can return NaN if the value {discarded}, or its derivative, is NaN or infinite. Then replace the "
        f"inputs, too, as in {jnp}.sqrt({jnp}.where(x > 0, x, 1))."
    )


def _unchained(chain: str, whole: str) -> str:
    """Word how a chained comparison, which Python cuts into two conditions, becomes one condition."""
    return f"Write {printable(chain)} as {printable(whole)}. " if chain else ""


def _mapped(lax: str, mapped: bool) -> str:
    """Word what ``cond()`` is inside of ``jax.vmap``."""
    if not mapped:
        return ""
    return (
        f" Inside jax.vmap, {lax}.cond() computes both as well if the condition depends on what is mapped, and "
        "selects for each element."
    )


def _joined(dtype: str = "", number: str = "", joined: str = "", other: str = "") -> str:
    """Word what becomes of dtypes that differ where a function returns one dtype in both cases."""
    if number:
        return f" {printable(number)} does not fit into {dtype}, the dtype of the other value: convert that first."
    if other:
        return f" The values are {dtype} and {other}: convert both to one dtype that holds them."
    if not dtype:
        return ""
    rounded = ", and integers beyond 2**24 are rounded" if joined == "float32" and dtype[-2:] in ("32", "64") else ""
    return f" The result has one dtype in both cases: {dtype} becomes {joined}{rounded}."


def _write_selection(
    jnp: str,
    lax: str,
    gradient: bool = False,
    chain: str = "",
    whole: str = "",
    mapped: bool = False,
    **dtypes: str,
) -> str:
    runs = "" if mapped else ", which runs one of two functions"
    return (
        f"{_unchained(chain, whole)}Choose between two results with {jnp}.where(condition, a, b), which computes "
        "both, or with "
        f"{lax}.cond(condition, f, g, x){runs}."
        f"{_mapped(lax, mapped)}{_joined(**dtypes)}{spoiled_gradient(jnp, gradient, mapped)}"
    )


def _write_decided(decides: str, jax: str, jnp: str, lax: str, mapped: bool = False) -> str:
    """Word the advice for a condition that decides what JAX cannot choose."""
    loop = (
        "JAX traces every step of a Python loop, so a traced condition cannot end it. Use "
        f"{lax}.while_loop(condition, body, state), through which jax.grad does not work; or run a known number of "
        f"steps, with done = False before them, each assignment as x = {jnp}.where(done, x, new_x), for a "
        f"dict or another pytree within {jax}.tree.map, and done = done | (condition) where the loop would end, so "
        "that an assignment before that still takes place."
    )
    ways = {
        "recursion": "JAX traces both results, so with where() or cond() the function would call itself without end, "
        f"unless a condition on Python values ends it. Write a loop, {lax}.while_loop(condition, body, state), or "
        "make the condition one on Python values, such as static arguments.",
        "raise": "Whether Python raises cannot depend on a traced value. Use "
        "jax.experimental.checkify.check(condition, message), which fails if the condition is false, and "
        "checkify.checkify(f); or test the value outside of the traced function.",
        "break": loop,
        "return": loop,
        "continue": "JAX traces every step of a Python loop, so a traced condition cannot skip the rest of one. "
        "Compute the step in any case, and keep each value where it is to be skipped: "
        f"x = {jnp}.where(condition, x, new_x).{spoiled_gradient(jnp, True)}",
        "print": f"Inside jax.vmap, {lax}.cond() runs both functions, and prints whatever the condition is. "
        f'Print the condition as well: {jax}.debug.print("{{}} …", condition), in place of the if.'
        if mapped
        else f'Print when the compiled function runs: {lax}.cond(condition, lambda: {jax}.debug.print("…"), '
        "lambda: None).",
        "container": "Which elements a Python container has, or a generator yields, cannot depend on a traced value. "
        f"Keep an array of full size with a mask, or choose between values with {jnp}.where(condition, a, b).",
        "value": "JAX chooses between arrays and numbers, not between texts or None. Return the condition, or a "
        "number that stands for each case, and choose the text or None outside of the traced function.",
    }
    return ways[decides]


def _write_logical(function: str, operator: str, chain: str = "", whole: str = "") -> str:
    what = f"{function}(…) in place of {operator}" if operator else f"{function}(a < b, b < c) in place of a < b < c"
    how = _unchained(chain, whole) or f"Write {what}. "
    return f"{how}Where the result decides what is computed, use where(), cond() or while_loop() as well."


def _write_extreme(function: str, replacement: str, whole: str, **dtypes: str) -> str:
    jnp = whole.rpartition(".")[0]
    return (
        f"Use {replacement}(a, b) in place of {function}(a, b), and {whole}(x) for the elements of one array, to "
        f"which {jnp}.stack([…]) joins those of a list. With key=, compare the keys in {jnp}.where."
        f"{_joined(**dtypes)}"
    )


def _write_default(
    operator: str, first: str, other: str, jnp: str, gradient: bool = False, optional: bool = False
) -> str:
    first, other = quoted(first), quoted(other)
    new = (
        f"{other} if {first} is None else {first}" if operator == "or" else f"{first} if {first} is None else {other}"
    )
    if optional:
        return f"{first} is None by default: write {new}. The operator {operator} would test its elements."
    chosen = f"{first}, {other}" if operator == "or" else f"{other}, {first}"
    return (
        f"The operator {operator} returns one of its operands, by the value of the first. To test for None, write "
        f"{new}. {jnp}.where({first} != 0, {chosen}) chooses for each element.{spoiled_gradient(jnp, gradient)}"
    )


#: How to look for an array among others of the same shape.
_EQUAL = "any((x == each).all() for each in items), if all have one shape."


def _chosen(jnp: str, traced: bool) -> str:
    """Word how to use a condition that is traced."""
    return f" That is traced as well: use it in {jnp}.where(condition, a, b), not in an if." if traced else ""


def _write_mask(
    jnp: str,
    gradient: bool = False,
    array: str = "",
    index: str = "",
    mask: str = "",
    wide: str = "",
    rows: bool = False,
) -> str:
    array, mask, wide, index = (printable(array), printable(mask), printable(wide), printable(index))
    if not array:
        array, mask, wide, index = "array", "mask", "mask", "mask"
    of_rows = " In where() and where=, a mask over rows is mask[:, None]." if rows else ""
    return (
        f"Keep the size. For a sum, put 0 in place of what is left out: {jnp}.where({wide}, {array}, 0). For a mean, "
        f"leave it out: {jnp}.mean({array}, where={wide}). For a median, put NaN: "
        f"{jnp}.nanmedian({jnp}.where({wide}, {array}, {jnp}.nan)).{of_rows} {jnp}.where({wide}, 1, {array}) is "
        f"{array}.at[{index}].set(1), and {jnp}.nonzero({mask}, size=8) returns 8 indices, padded."
        + spoiled_gradient(jnp, gradient)
    )


CONDITION_REMEDIES: dict[str, Callable[..., str]] = {
    "write_selection": _write_selection,
    "write_decided": _write_decided,
    "write_while": lambda lax, chain="", whole="": (
        f"{_unchained(chain, whole)}Use {lax}.while_loop(condition, body, state): both functions take the state, and "
        "body returns the next one. jax.grad does not work through it."
    ),
    "write_assert": lambda: (
        "Check values with jax.experimental.checkify.check() and checkify.checkify(f), or outside of the traced "
        "function. An assertion on a shape or a dtype works as it is."
    ),
    "write_logical": _write_logical,
    "write_passed_condition": lambda function, replacement: (
        f"If {quoted(function)} decides by this value while it is traced, as a dropout layer does, pass a Python "
        "value: make its operands static in the function that is jitted. If it computes with it, write "
        f"{replacement}(…)."
    ),
    "write_nested": lambda python, jnp, lax, gradient=False, loop=False, mapped=False: (
        f"Test {quoted(python)} with a Python if around the rest: {jnp}.logical_and() and {jnp}.logical_or() compute "
        "both operands, and Python can skip one. Within it, use "
        f"{f'{lax}.while_loop()' if loop else f'{jnp}.where() or {lax}.cond()'} for the traced part."
        + _mapped(lax, mapped and not loop)
        + spoiled_gradient(jnp, gradient, mapped)
    ),
    "write_default": _write_default,
    "write_given": lambda name, test: (
        f"{quoted(name)} is None by default. To ask whether it is given, write {quoted(test)}."
    ),
    "write_extreme": _write_extreme,
    "write_reduced": lambda function, replacement: (
        f"Make the conditions one array, and use {replacement} of this array in place of {function}. It takes no "
        "generator and no list."
    ),
    "write_any_equal": lambda jnp="jnp", traced=False: (
        f"Compare all elements at once: (x == value).any() in place of value in x.{_chosen(jnp, traced)}"
    ),
    "write_identity": lambda jnp="jnp", traced=False: (
        "Python's in compares with == and needs one truth value of each comparison. For the same object, write "
        "any(x is each for each in items); for arrays with equal elements, "
        + (f"{jnp}.stack([{jnp}.array_equal(x, each) for each in items]).any()." if traced else _EQUAL)
        + _chosen(jnp, traced)
    ),
    "write_membership": lambda jnp, traced=False: (
        f"Use {jnp}.isin(x, {jnp}.array([…])) in place of x in […].{_chosen(jnp, traced)}"
    ),
    "write_kept_condition": lambda jnp, lax, gradient=False, mapped=False: (
        f"Keep the array, and use it in {jnp}.where(condition, a, b) or {lax}.cond(condition, f, g, x)."
        + _mapped(lax, mapped)
        + spoiled_gradient(jnp, gradient, mapped)
    ),
    "write_no_condition": lambda jnp, lax, gradient=False: (
        f"Keep it an array: {jnp}.where chooses between results, {lax}.cond between functions, and "
        f"{lax}.while_loop repeats a function." + spoiled_gradient(jnp, gradient)
    ),
    "write_sorted": lambda function, jnp: (
        f"Make the values one array, and use {jnp}.sort(x) in place of {quoted(function)}, with descending=True for "
        f"reverse=True. y[{jnp}.argsort(keys)] puts an array into the order of its keys, as key= does."
    ),
    "write_found": lambda function, jnp: (
        f"Make the items an array. {jnp}.argmax(items == x) is the position of the first item that is equal, or 0 if "
        f"none is, and {jnp}.sum(items == x) is how many are, in place of {quoted(function)}."
    ),
    "write_mask": _write_mask,
}
