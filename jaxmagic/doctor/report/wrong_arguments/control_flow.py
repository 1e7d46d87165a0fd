"""Words wrong arguments of JAX's loops and branches, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted


def _predicate(condition: str, shape: str, type: str, called: str) -> str:
    who = quoted(condition) or "The condition"
    got = f"shape {shape}" if shape else f"type {quoted(type)}"
    return f"{who} has {got}, but {quoted(called)} needs a single true or false."


def _loop_condition(function: str, type: str, tree: bool) -> str:
    who = quoted(function) or "The condition of the loop"
    got = "more than one value" if tree else f"{quoted(type)}"
    return f"{who} returns {got}, but while_loop needs a single bool, of type bool[]."


def _branch_index(index: str, shape: str, type: str) -> str:
    who = quoted(index) or "The index"
    got = f"shape {shape}" if shape else f"type {quoted(type)}"
    return f"{who} has {got}, but switch needs a single integer."


def _bounds(lower: str, lower_type: str, upper: str, upper_type: str) -> str:
    first, last = quoted(lower) or "The lower bound", quoted(upper) or "the upper bound"
    return f"{first} is {lower_type} and {last} is {upper_type}, but both bounds of fori_loop need the same type."


def _scan_sizes(operands: str, sizes: str, length: str) -> str:
    if length:
        over = quoted(operands) or "what it iterates over"
        return f"scan gets length={length}, but {over} has leading axes of size {sizes}."
    return f"scan iterates over leading axes of sizes {sizes}{f': {quoted(operands)}' if operands else ''}."


def _carried(
    index: str,
    computed: bool,
    part: bool,
    loop: str,
    counted: bool,
    single: bool,
    body: str,
    parameters: str,
    carry: str,
) -> str:
    which = f"{'computed of ' if computed else ''}{'a part of ' if part else ''}the carry of {quoted(loop)}"
    found = f"{quoted(index)} is a float, and no index: it is {which}"
    if single:
        return f"{found}, whose types are those of the value that it begins with."
    order = "the counter first and the carry second" if counted else "the carry first and the element second"
    called = f"{body}({parameters})" if body else f"lambda {parameters}"
    other = "its counter" if counted else "an element of what it iterates over"
    return f"{found}, not {other}. The loop passes {order}: {quoted(called)} gets the carry for {quoted(carry)}."


def _write_carried(body: str, swapped: str) -> str:
    begin = "let the loop begin with an integer for it, and keep it one"
    if not swapped:
        return f"If it is to be an index, {begin}."
    called = f"{body}({swapped})" if body else f"lambda {swapped}"
    return (
        f"If the parameters are in the wrong order, swap them: {printable(called)}. If it is to be an index, {begin}."
    )


CONTROL_FLOW_NOTES: dict[str, Callable[..., str]] = {
    "error_predicate": _predicate,
    "error_carried": _carried,
    "write_carried": _write_carried,
    "write_predicate": lambda jnp: (
        f"To choose for each element, use {jnp}.where(condition, a, b), which computes both. To make one decision, "
        "reduce the condition with .all() or .any()."
    ),
    "write_boolean": lambda: (
        "Compare, as in mode == 'train'. A condition that Python knows needs no cond: an if statement decides it."
    ),
    "error_loop_condition": _loop_condition,
    "error_loop_bounds": lambda called, type: (
        f"A bound of {quoted(called)} is an array, so that comparing it with the index gives {quoted(type)}."
    ),
    "write_scalar_bounds": lambda: (
        "Pass scalar bounds, such as n.max(), or map the loop over the bounds with jax.vmap."
    ),
    "write_one_condition": lambda: "Return one value from it: combine conditions with &, |, .all() or .any().",
    "write_comparison": lambda: "Return a comparison, such as x > 0, or x != 0 for the truth value of a number.",
    "write_any": lambda jnp: (
        f"Reduce it: {jnp}.any(…) goes on while one element needs it, {jnp}.all(…) while each does. jax.vmap of the "
        "loop gives each element a loop of its own."
    ),
    "error_branch_index": _branch_index,
    "write_branch_index": lambda integer, maps: (
        "Pass one integer, for example x.astype(int) of a scalar. jax.vmap of a function with switch chooses for "
        "each element."
        if maps
        else f"Pass an integer: {quoted(integer)} cuts off the fraction."
    ),
    "error_bounds": _bounds,
    "write_bounds": lambda: "Pass integers for both, for example 0 and int(n), or n.astype(int) of a traced number.",
    "write_array_bound": lambda operand, shape, lower: (
        f"Both bounds are single integers, but {quoted(operand)} has shape {shape}. It may be what the loop begins "
        "with: that is init_val, the last one of lower, upper, body_fun, init_val. To loop "
        f"{'from' if lower else 'to'} another number for each element, map the loop over the bounds with jax.vmap."
    ),
    "error_scan_sizes": _scan_sizes,
    "write_scan_sizes": lambda: (
        "Slice or pad them to the same size. What is the same in each step needs no axis: the body can close over it."
    ),
    "write_scan_length": lambda length: "Leave out length=, or slice the arrays to it.",
    "error_scan_nothing": lambda: "scan has nothing to iterate over, and no length=.",
    "write_length": lambda: "Pass length=n, the number of steps.",
    "error_scan_axis": lambda operand: (
        f"scan iterates over the leading axis of each array, but {quoted(operand) or 'one of them'} has none."
    ),
    "write_axis": lambda jnp: (
        f"Pass arrays, such as {jnp}.arange(n) in place of range(n), or None with length=n. What is the same in each "
        "step needs no axis: the body can close over it."
    ),
    "error_scan_pair": lambda function, got: (
        f"{quoted(function) or 'The body of scan'} returns {quoted(got)}, but a body of scan returns two things: the "
        "next carry, and the output of the step."
    ),
    "write_pair": lambda: "Return (carry, output), or (carry, None) if there is no output.",
}
