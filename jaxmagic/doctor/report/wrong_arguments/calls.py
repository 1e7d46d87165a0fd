"""Words arguments that JAX's functions do not take, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted


def _update(array: str, target: str) -> str:
    if not target:
        return "An element of a JAX array cannot be assigned: JAX arrays are immutable."
    return f"{quoted(target)} cannot be assigned: {quoted(array)} is a JAX array, and JAX arrays are immutable."


def _write_at(array: str, method: str, root: str, repeated: bool) -> str:
    array = quoted(array)
    caller = f" The caller's {quoted(root)} stays as it is: return the new one." if root else ""
    more = " An index that occurs several times then counts each time, unlike in NumPy." if repeated else ""
    return (
        f"Make a new array: {array} = {array}.at[…].{method}(…). Under jit, XLA can update it in place.{more}{caller}"
    )


def _write_at_new(array: str, method: str, holder: str) -> str:
    """Word the advice for an array that cannot be assigned where it is held, or may not be."""
    array = quoted(array)
    new = f"Make a new array, {array}.at[…].{method}(…)"
    frozen = f"{array} cannot be assigned either: it is a field of"
    ways = {
        "dataclass": f"{frozen} a frozen dataclass. {new}, and a new object with it, with dataclasses.replace().",
        "equinox": f"{frozen} a module of Equinox, immutable outside of its __init__. {new}, and a new module with "
        "it, with equinox.tree_at().",
        "namedtuple": f"{frozen} a named tuple. {new}, and a new tuple with it, with its method _replace().",
        "property": f"{array} cannot be assigned either: it is a property without a setter. {new}, and assign it "
        "where the property takes the array from.",
        "attribute": f"{new}, and assign it to the attribute. If its object is immutable, make a new object with it, "
        "for example with dataclasses.replace().",
    }
    return ways.get(holder, f"{new}, and use it in place of the old one.")


def _write_at_divided(array: str, type: str) -> str:
    array = quoted(array)
    holds = f"{array} has type {quoted(type)}, and " if type else f"If {array} holds integers, "
    return (
        f"Make a new array with {array}.at[…].divide(…). {holds}dividing makes all of it floats, unlike in NumPy, "
        f"which keeps integers or raises. To keep integers, use {array}.at[…].set(…) with //, which rounds down."
    )


def _write_at_cut_off(array: str, type: str, method: str) -> str:
    array = quoted(array)
    return (
        f"Make a new array, and convert the result to its type, {quoted(type)}: the fraction is cut off, as in NumPy "
        f"for one element. {array}.at[…].{method}(…) alone warns that it will be an error. To keep fractions, begin "
        f"with floats: {array} = {array}.astype(float)."
    )


def _format(value: str, type: str) -> str:
    what = f"{quoted(value)} ({type}) is traced" if value else "A value is traced"
    return f"{what}, so it has no value yet that could be formatted."


def _write_printed(debug: str, printed: bool) -> str:
    if printed:
        return f"Use {debug}(), which prints when the compiled function runs."
    return (
        f'To print it, use {debug}("{{}}", x), which prints when the compiled function runs. For a text that is used '
        "otherwise, return the value, and format it outside of the traced function."
    )


def _not_array(argument: str, parameter: str, function: str, type: str) -> str:
    needs = "but JAX traces arrays, numbers and pytrees of them"
    called = quoted(function) or "a function of JAX"
    if not argument and not parameter:
        return f"A value of type {quoted(type)} is passed to {called}, or returned in it, {needs}."
    what = f"{quoted(argument)} ({quoted(type)})" if argument else f"A value of type {quoted(type)}"
    passed = f" for {quoted(parameter)}" if parameter and parameter != argument else ""
    return f"{what} is passed to {called}{passed}, {needs}."


def _result(function: str, location: str, path: str, type: str, transform: str) -> str:
    who = f"{quoted(function)} ({quoted(location)})" if function else "The mapped function"
    at = f" at {quoted(path)} of its result" if path else ""
    value = f"a value of type {quoted(type)}{at}"
    return f"{who} returns {value}, but under {quoted(transform)} a function returns arrays and numbers."


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


def _grad_input(argument: str, dtype: str, transform: str) -> str:
    who = f"{quoted(argument)} has" if argument else "An argument to differentiate by has"
    return f"{who} dtype {quoted(dtype)}, but {quoted(transform)} differentiates by floats."


def _write_float_input(jnp: str, one: str) -> str:
    what = quoted(one) or "x"
    return (
        f"Pass floats: 1.0 in place of 1, or {jnp}.asarray({what}, {jnp}.float32). Integers that are not to be "
        "differentiated, such as counts, go into another argument: argnums= says which ones are."
    )


CALL_NOTES: dict[str, Callable[..., str]] = {
    "error_update": _update,
    "write_at": _write_at,
    "write_at_new": _write_at_new,
    "write_at_divided": _write_at_divided,
    "write_at_cut_off": _write_at_cut_off,
    "write_at_outside": lambda array, root: (
        f"{quoted(root)} is not a local variable of this function. Return the new array, "
        f"{quoted(array)}.at[…].set(…), and assign it where {quoted(root)} is made."
    ),
    "error_format": _format,
    "write_printed": _write_printed,
    "error_not_array": _not_array,
    "write_array": lambda type: (
        f"Leave the {quoted(type)} out of the arguments that are traced: close over it, as in "
        "functools.partial(f, option=…), or convert numbers to an array."
    ),
    "write_taken_out": lambda path, argument: (
        f"Pass {quoted(path)} as an argument of its own that is static, and only arrays and numbers in "
        f"{quoted(argument)}."
    ),
    "write_object": lambda argument, type: (
        f"{quoted(argument)} is a pytree with a value of type {quoted(type)} in it. If it holds no arrays, close "
        "over it, or declare it static if it is hashable. If it does, pass its arrays alone: equinox.filter_jit "
        "does that for modules of Equinox."
    ),
    "write_numbers": lambda jnp: (
        f"Its elements are no numbers: {jnp} has arrays of bools, integers, floats and complex numbers. Encode text "
        "as integers, and convert arrays of objects with .astype()."
    ),
    "write_self": lambda type: (
        f"Make {quoted(type)} a pytree, for example with jax.tree_util.register_dataclass, or jit a function that "
        "gets its arrays as arguments. A static self would be compiled once per object, and would not see later "
        "changes."
    ),
    "write_static_or_pytree": lambda argument, type: (
        f"If {quoted(type)} holds arrays, make it a pytree, for example with jax.tree_util.register_dataclass. If it "
        f'holds settings and is hashable, declare it static: static_argnames="{quoted(argument)}".'
    ),
    "write_static_argument": lambda argument, anew: (
        f'Declare it static where the function is jitted: static_argnames="{quoted(argument)}". It is then compiled '
        f"once per value{', and again for each new lambda' if anew else ''}."
    ),
    "error_result": _result,
    "write_result": lambda: (
        "Return arrays and numbers alone, in tuples, lists or dictionaries, and add the rest outside of the function."
    ),
    "error_predicate": _predicate,
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
    "write_branch_index": lambda: (
        "Pass one integer, for example x.astype(int) of a scalar. jax.vmap of a function with switch chooses for "
        "each element."
    ),
    "error_bounds": _bounds,
    "write_bounds": lambda: "Pass integers for both, for example 0 and int(n), or n.astype(int) of a traced number.",
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
        "next carry, and what it puts out."
    ),
    "write_pair": lambda: "Return (carry, output), or (carry, None) if there is no output.",
    "error_grad_shape": lambda shape: (
        f"The differentiated function returns an array of shape {shape}, but only a scalar has a gradient."
    ),
    "write_scalar": lambda jax: (
        f"Reduce the result, with .sum() or .mean(). {jax}.vmap({jax}.grad(f)) gives the gradient of each element of "
        f"a batch, {jax}.jacrev(f) all derivatives of all outputs."
    ),
    "error_grad_tuple": lambda: "The differentiated function returns a tuple, but only a scalar has a gradient.",
    "write_has_aux": lambda jax: (
        f"If the first of two results is the number and the other one is extra, use {jax}.value_and_grad(f, "
        "has_aux=True), or grad with has_aux=True."
    ),
    "error_grad_value": lambda none: (
        f"The differentiated function returns {'None' if none else 'something else than a number'}, but only "
        "a scalar has a gradient."
    ),
    "write_returns_scalar": lambda: "Return a scalar from it. A function without a return statement returns None.",
    "error_grad_dtype": lambda dtype, transform: (
        f"The differentiated function returns {quoted(dtype)}, but {quoted(transform)} needs a real float."
    ),
    "write_real": lambda: (
        "Return a real number, such as jnp.abs(z) ** 2 or z.real; holomorphic=True is for holomorphic functions of "
        "complex inputs."
    ),
    "write_float_output": lambda: (
        "Return a float. Rounding, comparing, argmax() and conversions to integers have no useful gradient."
    ),
    "error_grad_input": _grad_input,
    "write_float_input": _write_float_input,
    "write_holomorphic": lambda: (
        "Differentiate by the real and the imaginary part, or pass holomorphic=True for a holomorphic function."
    ),
    "error_grad_argument": lambda argnums, given: (
        f"argnums={quoted(argnums)} is beyond the positional arguments of the call: it has {given}, counted from 0."
    ),
    "write_positional": lambda keywords: (
        f"Pass {quoted(keywords)} by position, since argnums= counts positional arguments alone."
        if keywords
        else "Pass the argument by position, or correct argnums=."
    ),
    "error_aux": lambda: "With has_aux=True, the function has to return a pair: the number, and what is extra.",
    "write_aux": lambda: "Return (loss, extra), or leave out has_aux=True.",
    "error_vmap_sizes": lambda axes: f"The mapped axes have different sizes: {printable(axes)}.",
    "write_in_axes": lambda: (
        "in_axes= says which axis of each argument is mapped; None for an argument that is the same for all."
    ),
    "error_vmap_rank": lambda argument, axis, shape: (
        f"{quoted(argument) or 'An argument'} has shape {shape}, so it has no axis {axis} that jax.vmap could map."
    ),
    "write_not_mapped": lambda axes: (
        f"If it is the same for all elements, write in_axes={axes}."
        if axes
        else "Correct in_axes=, where None stands for an argument that is the same for all elements."
    ),
    "error_vmap_nothing": lambda: "in_axes= maps no argument.",
    "write_one_axis": lambda: "Map an axis of at least one argument, as in in_axes=(0, None), or pass axis_size=.",
    "error_vmap_out": lambda: (
        "out_axes= is None for a result that depends on a mapped argument, so it has a mapped axis."
    ),
    "write_out_axes": lambda axis: "Give the axis at which it is stacked, out_axes=0, or return what is not mapped.",
    "error_vmap_entries": lambda entries, given: (
        f"in_axes= has {entries} {'entry' if entries == 1 else 'entries'} for {given} positional "
        f"{'argument' if given == 1 else 'arguments'}."
    ),
    "write_in_axes_entries": lambda: (
        "Write one entry per positional argument; arguments with keywords are always mapped along axis 0."
    ),
    "error_jit_names": lambda option, names: f"{option}= names {quoted(names)}, which the function does not take.",
    "write_jit_names": lambda option: "Write the name of a parameter as in the function's def line.",
    "error_jit_numbers": lambda option, numbers, count: (
        f"{option}={quoted(numbers)}, but the function takes {count} positional "
        f"{'argument' if count == 1 else 'arguments'}."
    ),
    "write_jit_numbers": lambda option, last: (
        f"Positions count from 0, so the last one is {last}. Names are safer: "
        f"{option.replace('argnums', 'argnames')}=."
    ),
    "error_nondiff": lambda rule: (
        f"A traced value is passed for an argument that {quoted(rule)} has in nondiff_argnums. It has to be known "
        "when the function is traced."
    ),
    "write_nondiff": lambda rule: (
        "Take the argument out of nondiff_argnums, and return None or zeros as its cotangent from the backward rule; "
        "or pass a Python value, static in the functions that are jitted."
        if rule == "custom_vjp"
        else "Take the argument out of nondiff_argnums, or pass a Python value, static in the functions that are "
        "jitted."
    ),
}
