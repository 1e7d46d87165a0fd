"""Words carries, branches and pytrees whose types or structures differ, and what to write."""

from __future__ import annotations

import re
from collections.abc import Callable

from ...records.names import truncated
from ...terminal import printable
from .quoted import quoted

#: Of a longer expression for a pytree, only the beginning is shown.
_LONGEST_TREE = 40


def _carry(loop: str, leaf: str, expected: str, got: str, aspect: str) -> str:
    if not expected:
        return f"The carry of {quoted(loop)} ends with another type or structure than it began with."
    return (
        f"{quoted(leaf) or 'The carry'} of {quoted(loop)} begins as {_kind(expected)} and ends as "
        f"{_kind(got)}{_differing(aspect)}."
    )


def _kind(text: str) -> str:
    """Put an article before a word such as ``tuple``; types such as ``f32[3]`` have none."""
    if text == "NoneType":
        return "None"
    leaf = text in ("leaf", "pytree leaf", "ArrayImpl") or text.endswith("Tracer")
    text = "single value" if leaf else quoted(text)
    return f"{'an' if text[:1] in 'aeiouAEIO' else 'a'} {text}" if text.replace(" ", "").isalpha() else text


def _differing(aspect: str) -> str:
    if aspect in ("varying manual axes", "manual axis types"):
        return ": they vary along other axes of the mesh, which are in braces"
    return "" if aspect in ("", "structure", "metadata") else f": the {quoted(aspect)} differ"


def _branches(
    function: str, leaf: str, expected: str, got: str, aspect: str, branch: str = "", other: str = ""
) -> str:
    if not expected:
        return f"The branches of {quoted(function)} return different types or structures."
    at = f" at {quoted(leaf)}" if leaf else ""
    first, second = (branch[:1].upper() + branch[1:] if branch.startswith("branch ") else branch), other
    return (
        f"{quoted(first) or 'One branch'} of {quoted(function)} returns {_kind(expected)}{at}, and "
        f"{quoted(second) or 'another'} {_kind(got)}{_differing(aspect)}."
    )


def _pytree(path: str, expected: str, got: str, tree: str = "", other: str = "", placed: int = 1) -> str:
    """Word where two pytrees differ.

    Args:
        path: where they differ; empty for the whole.
        expected: the node of the first pytree.
        got: the node of the other one.
        tree: the first pytree as the failing line writes it; empty if unknown.
        other: likewise, the other one.
        placed: whether the place is known; an older JAX does not say it.
    """
    if not expected:
        return "Two pytrees that must have the same structure differ. JAX's message says where."
    if not tree and not other:
        at = f" at {quoted(path)}" if path else ""
        return (
            f"Two pytrees that must have the same structure differ{at}: one has {quoted(expected)}, the other "
            f"{quoted(got)}."
        )
    both = f"{_short(tree) or 'A pytree'} and {_short(other) or 'another pytree'} must have the same structure"
    if not placed:
        return f"{both}: at one place, one has {quoted(expected)}, the other {quoted(got)}."
    behind = path if all(map(_is_path, filter(None, (tree, other)))) else ""
    at = f", and differ at {quoted(path)}" if path != behind else ""
    first, last = (_short(each) + quoted(behind) if each else "" for each in (tree, other))
    has = expected.startswith(("the ", "no "))
    kinds = (quoted(expected), quoted(got)) if has else (_whole(expected), _whole(got))
    return (
        f"{both}{at}: {first or 'the first'} {'has' if has else 'is'} {kinds[0]}, {last or 'the other'} {kinds[1]}."
    )


def _write_init_again(
    state: str, code: str, function: str = "", outside: bool = False, gradient: str = "", container: str = ""
) -> str:
    where = f", before the first call of {quoted(function)}" if function else ", where the caller makes it" * outside
    if gradient:
        there = f"a {container} there" if container else "other containers"
        convert = f"If these have a {container}, convert the gradient: {container}({quoted(gradient)})."
        return (
            f"{quoted(state)} was made for parameters with {there}, and a gradient has the containers of its "
            f"parameters. {convert if container else 'Convert the gradient if it was put together by hand.'} "
            f"Otherwise make the state once, after making the parameters{where}: {quoted(code)}. Its moments then "
            "begin at zero."
        )
    return (
        f"{quoted(state)} was made for other parameters than those of the gradient. If the state is wrong, make it "
        f"once, after making the parameters{where}: {quoted(code)}. Its moments then begin at zero. If the gradient "
        "lacks some, differentiate with respect to all parameters that the state was made for."
    )


def _whole(text: str) -> str:
    """Put an article before a type with a length as well.

    >>> _whole("tuple of length 2"), _whole("one of length 3"), _whole("list")
    ('a tuple of length 2', 'one of length 3', 'a list')
    """
    kind, space, rest = text.partition(" ")
    return quoted(text) if kind == "one" else f"{_kind(kind)}{space}{quoted(rest)}"


def _short(text: str) -> str:
    return truncated(quoted(text), _LONGEST_TREE)


def _is_path(text: str) -> bool:
    """Return whether code is a name, or something that a name leads to."""
    return re.fullmatch(r"\w+(\.\w+|\[[^\[\]]*\])*", text) is not None


def _dtype(jnp: str, name: str) -> str:
    return f"{jnp}.{'bool_' if name == 'bool' else name}"


def _write_carry_dtype(
    leaf: str,
    expected: str,
    got: str,
    expected_dtype: str = "",
    got_dtype: str = "",
    jnp: str = "jnp",
    decides: bool = False,
    lost_at_begin: str = "",
    lost_at_end: str = "",
) -> str:
    """Word how a carry keeps its dtype.

    Args:
        leaf: the leaf of the carry.
        expected: the type with which the loop begins.
        got: the type with which the body ends.
        expected_dtype: the dtype of the first; empty if numbers cannot be converted to it.
        got_dtype: that of the other.
        jnp: the name of ``jax.numpy``.
        decides: whether the carry may be the condition of the loop, which has to be a bool.
        lost_at_begin: what a number loses if the loop begins with the other dtype.
        lost_at_end: what a number loses if the body ends with the first dtype.
    """
    if not expected_dtype or not got_dtype:
        return f"Return {quoted(leaf) or 'the carry'} with the type that it came in, {quoted(expected)}."
    first, other = _dtype(jnp, expected_dtype), _dtype(jnp, got_dtype)
    begin, end = (
        f"Begin with {quoted(got)}, as in {jnp}.asarray(…, {other})",
        f"nd the body with {jnp}.asarray(…, {first})",
    )
    keeps = f"so that {quoted(leaf) or 'the carry'} keeps its type"
    if decides:
        return f"E{end}, {keeps}, with what it returns now in place of the dots."
    if lost_at_end:
        return f"{begin}, {keeps}. Converting what the body returns to {first} would {_lose(lost_at_end)}."
    if lost_at_begin:
        return f"E{end}, {keeps}. Beginning with {other} would {_lose(lost_at_begin)}."
    return f"{begin}, or e{end}, {keeps}. Both take an array or a Python number in place of the dots."


def _lose(lost: str) -> str:
    """Word what a conversion loses: the value, if only true and false are left, or else a part of it."""
    return "leave only whether it is zero" if lost == "value" else f"drop its {lost}"


def _write_carry_shape(leaf: str, got: str = "", expected: str = "") -> str:
    """Word what to write for a carry that changes its shape.

    Args:
        leaf: the leaf of the carry.
        got: the type with which the body ends.
        expected: the type with which a loop began whose condition may read the carry; empty for other loops.
    """
    grows = (
        f"If each step changes the shape of {quoted(leaf) or 'the carry'}, as concatenate does, no first shape is "
        "right: a carry cannot grow. Allocate it in full and set its elements with .at[i].set()."
    )
    begin = f"begin with {quoted(got) or 'the type'}, if the body then returns that as well"
    if expected:
        return (
            f"{grows} Otherwise return {quoted(expected)} for it from the body. Or {begin}, and if cond_fun returns "
            "one bool for that, too: a comparison with an array that has axes is no single bool."
        )
    return f"{grows} Otherwise return it from the body with the shape that it has there at first, or {begin}."


def _write_branch_dtype(expected: str, got: str, dtype: str = "", jnp: str = "jnp", result: str = "") -> str:
    if not dtype:
        return f"Return the same type from each branch, {quoted(expected)} or {quoted(got)}."
    convert = f"Convert the result that is not {_dtype(jnp, dtype)}:"
    if result:
        return (
            f"{convert} write {jnp}.asarray({printable(result)}, {_dtype(jnp, dtype)}) in place of {quoted(result)}."
        )
    return f"{convert} {jnp}.asarray(…, {_dtype(jnp, dtype)}) takes an array or a Python number in place of the dots."


def _write_branch_shape(shape: str, dtype: str, jnp: str = "jnp", result: str = "") -> str:
    """Word how a branch returns the shape and the dtype of another one.

    Args:
        shape: the shape that both can have.
        dtype: the dtype that both can have.
        jnp: the name of ``jax.numpy``.
        result: what the branch returns that has another type, if it is known.
    """
    code = f"{jnp}.broadcast_to({jnp}.asarray({printable(result) or '…'}, {_dtype(jnp, dtype)}), {shape})"
    if result:
        return f"Return one shape and one dtype from each branch, such as {code} in place of {quoted(result)}."
    return (
        f"Return one shape and one dtype from each branch: {code} takes an array or a Python number in place of the "
        "dots."
    )


#: Where a value is made one that varies between devices.
_VARYING = {
    "begin": "Begin the loop with",
    "end": "End the body with",
    "branch": "Return, from the branch whose result varies along fewer,",
}


def _write_carry_structure(expected: str, loop: str = "scan", added: str = "") -> str:
    more = f" Or begin with {printable(added)} in the initial carry as well, of the same shape and dtype."
    alone = (
        "Return the carry alone, with the structure that it came in; only a body of scan() returns something else "
    )
    first = "Return the carry with the structure that it came in; a body of scan() returns it as the first of two "
    return f"{f'{first}things.' if loop == 'scan' else f'{alone}besides.'}{more if added else ''}"


STRUCTURE_NOTES: dict[str, Callable[..., str]] = {
    "error_carry": _carry,
    "error_branches": _branches,
    "error_pytree": _pytree,
    "error_differs_too": lambda leaf, expected, got: (
        f"{quoted(leaf) or 'Another leaf'} differs as well: {quoted(expected)} and {quoted(got)}."
    ),
    "write_carry_dtype": _write_carry_dtype,
    "write_carry_shape": _write_carry_shape,
    "write_carry_metadata": lambda leaf, type: (
        f"Make {quoted(leaf) or 'it'} once, outside of the loop, and change its arrays alone in the body, for "
        f"example with dataclasses.replace(). Other fields of {quoted(type)}, such as functions, must stay equal: a "
        "function that is re-created is another one."
    ),
    "write_varying": lambda place, call: (
        f"{_VARYING[place]} {quoted(call)}. Then it may have another value on each device, as what is computed from "
        "arguments that shard_map splits."
    ),
    "write_carry_structure": _write_carry_structure,
    "write_branch_dtype": _write_branch_dtype,
    "write_branch_shape": _write_branch_shape,
    "write_branch_structure": lambda: "Return the same structure with the same shapes and dtypes from each branch.",
    "write_updates": lambda passed="": (
        "update() of an optimizer returns two things, the updates and its state: updates, state = "
        "optimizer.update(grads, state, params). Pass the updates alone."
        + (
            f" If {quoted(passed)} is the first of them already, update() got the state in place of the gradients, "
            "or gradients in another container: they come first, and have the structure of the parameters."
            if passed
            else ""
        )
    ),
    "write_init_again": _write_init_again,
    "write_same_tree": lambda: (
        "Pass pytrees with the same containers, keys and lengths; jax.tree.structure(x) shows the structure of each."
    ),
    "write_axes_tree": lambda option: (
        f"Give each key of a dictionary its axis in {quoted(option)}=, and None to those that are not mapped, as in "
        '{"w": 0, "b": None}; or write one number, or None, for all leaves of an argument or a result.'
    ),
    "write_none_leaf": lambda: (
        "None is a pytree without leaves, and no leaf. Leave it out of both, or pass is_leaf=lambda x: x is None, so "
        "that the function gets it."
    ),
}
