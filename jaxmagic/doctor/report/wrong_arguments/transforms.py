"""Words what ``jax.grad``, ``jax.vmap`` and ``jax.jit`` do not take, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted


def _positions(given: int | str) -> str:
    """Word how many positional arguments there are, with their numbers."""
    count = int(given)
    if count < 2:
        return "one, number 0" if count else "none"
    return f"{count}, with the numbers {'0 and 1' if count == 2 else f'0 to {count - 1}'}"


def _grad_input(argument: str, dtype: str, transform: str) -> str:
    who = f"{quoted(argument)} has" if argument else "A differentiated argument has"
    return f"{who} dtype {quoted(dtype)}, but {quoted(transform)} differentiates with respect to floats."


def _write_real(argument: str = "", jnp: str = "jnp") -> str:
    real = (
        f"Return a real number, such as {jnp}.abs(z) ** 2 or z.real; holomorphic=True is for holomorphic functions "
        "of complex inputs."
    )
    if not argument:
        return real
    return (
        f"{real} With respect to a complex argument, jax.grad gives the conjugate of the direction of steepest "
        f"ascent: a step downhill is {quoted(argument)} - rate * {jnp}.conj(gradient)."
    )


def _write_float_input(jnp: str, one: str) -> str:
    what = quoted(one) or "x"
    return (
        "Indices, labels and counts have no gradient: differentiate with respect to another argument, such as the "
        "array that they index, and select it with argnums=. Pass a quantity as floats: 1.0 in place of 1, or "
        f"{jnp}.asarray({what}, {jnp}.float32)."
    )


def _same(names: str) -> str:
    if not names:
        return "Two arguments of the call hold the same array"
    return f"{quoted(names)} are one array" if " and " in names else f"{quoted(names)} is passed twice"


def _shape_or_dtype(text: str) -> str:
    return f"shape {text}" if text.startswith("(") else f"type {quoted(text)}"


def _xla(status: str, known: bool) -> str:
    where = " This line calls the program, or waits for what it computes." if known else ""
    what = "does not implement a part of the program" if status == "UNIMPLEMENTED" else "failed inside"
    return f"XLA {what}, and does not say which line of the code it is about.{where}"


#: What each transfer is, and how code makes it explicitly.
_TRANSFERS = {
    "host-to-device": ("a NumPy array or a Python number{type} to a device", "{jax}.device_put(x)"),
    "device-to-host": ("an array{type} to the host", "{jax}.device_get(x)"),
    "device-to-device": ("an array{type} to another device", "{jax}.device_put(x, device)"),
}


def _transfer(direction: str, type: str) -> str:
    what = _TRANSFERS[direction][0].format(type=f" ({quoted(type)})" if type else "")
    return f"The line transfers {what}, which jax.transfer_guard forbids."


def _write_xla(part: str) -> str:
    narrow = "To find the operation, call the function without jit, with jax.disable_jit(), or compile parts of it."
    if part == "ynnpack":
        return (
            "YNNPACK computes products, reductions and convolutions on CPUs. To try without it, set "
            f"XLA_FLAGS=--xla_cpu_experimental_ynn_fusion_type= before JAX starts. {narrow}"
        )
    if part == "cudnn":
        return (
            "cuDNN could not start. Another process may hold the memory of the GPU, as nvidia-smi shows: end it, or "
            "set XLA_PYTHON_CLIENT_PREALLOCATE=false for both. Or jaxlib was built for another version of cuDNN."
        )
    return f"{narrow} Another version of jaxlib may have no such error."


def _differentiated(function: str) -> str:
    if function == "<lambda>":
        return "The differentiated lambda"
    return f"The differentiated function{function and f' {quoted(function)}'}"


def _write_same_sizes(pairs: str, names: str, shape: str, jax: str, elements: str = "") -> str:
    """Word what to write for mapped axes of different sizes: there is one call for each element, or for each pair.

    Args:
        pairs: the call for all pairs; empty if it is unknown, or if it would fail as well.
        names: the arguments that form pairs; empty if they are unknown.
        shape: the mapped axes of the result.
        jax: the name of ``jax``.
        elements: the shapes of the elements of a pair, unless these surely fit.
    """
    if pairs:
        each = (
            f"If the function takes arguments of the shapes {elements}, it can be called for all pairs of "
            f"{quoted(names)}. For that, map it twice"
            if elements
            else f"To call it for all pairs of {quoted(names)}, map it twice"
        )
        each += f": {printable(pairs)}, of which the result begins with the axes ({shape})."
    elif names:
        each = (
            f"Calling it for all pairs of {quoted(names)} would fail as well: arguments of the shapes {elements} do "
        )
        each += "not fit."
    else:
        each = f"To call it for all pairs, map it twice, as in {jax}.vmap({jax}.vmap(f, in_axes=(None, 0)), "
        each += "in_axes=(0, None))(a, b). The elements of a pair have to fit."
    return (
        f"If the elements belong together one by one, the mapped axes need one size: correct the line that made one "
        f"of them. An argument that all elements share, whole, gets None in in_axes=. {each}"
    )


TRANSFORM_NOTES: dict[str, Callable[..., str]] = {
    "error_transfer": _transfer,
    "write_transfer": lambda direction, jax: (
        f"Transfer it explicitly before: {_TRANSFERS[direction][1].format(jax=jax)}. To allow it here, write "
        f'with {jax}.transfer_guard("allow"): around the line.'
    ),
    "error_xla": _xla,
    "write_xla": _write_xla,
    "error_tangents": lambda needed, given, forward: (
        f"A tangent has {_shape_or_dtype(given)}, but its primal needs {_shape_or_dtype(needed)}."
        if forward
        else f"The cotangent has {_shape_or_dtype(given)}, but the output needs {_shape_or_dtype(needed)}."
    ),
    "write_tangents": lambda forward, value, jnp: (
        f"Each value of the second tuple has a tangent of its shape in the third one, such as {jnp}.ones_like(x); "
        "integers have tangents of dtype jax.dtypes.float0."
        if forward
        else f"The function that jax.vjp returns takes a cotangent like the output: {jnp}.ones_like(y) for y, pull = "
        "jax.vjp(f, x). For an output with axes, jax.jacrev gives all derivatives."
    ),
    "error_no_tuple": lambda: "The primals and tangents of jax.jvp are no tuples with an entry per argument.",
    "write_tuples": lambda jax: f"Put them into tuples, also if there is one argument: {jax}.jvp(f, (x,), (t,)).",
    "error_no_rule": lambda function, rule: (
        f"{quoted(function)} is a custom_{rule.lower()} function, but its rule for derivatives is not defined yet."
    ),
    "write_vjp": lambda function: (
        f"Call {quoted(function)}.defvjp(forward, backward) after its definition: forward takes the same arguments "
        "and returns (result, residuals), and backward(residuals, cotangent) returns a tuple with a gradient for "
        "each argument."
    ),
    "write_jvp": lambda function: (
        f"Define it after {quoted(function)}: @{quoted(function)}.defjvp above a function of (primals, tangents), "
        "which returns (result, tangent of the result)."
    ),
    "error_loop_gradient": lambda: (
        "Reverse-mode differentiation, as of jax.grad, does not work through a while_loop, or a fori_loop with "
        "traced bounds: how many steps it takes is unknown when it is traced."
    ),
    "write_known_steps": lambda jnp, lax: (
        f"Take a known number of steps, with {lax}.scan or with {lax}.fori_loop and bounds that are Python numbers, "
        f"and keep each value once the loop is over: {jnp}.where(done, x, new_x). A bound that jit gets as an "
        "argument is a Python number if it is static, as in jax.jit(jax.grad(f), static_argnums=1)(x, n). jax.jvp "
        "and jax.jacfwd work through a while_loop."
    ),
    "error_time": lambda function, time: (
        f"odeint calls {quoted(function)} with the state first and the time second, so {quoted(time)} is "
        "the time here."
    ),
    "write_state_first": lambda function, first, second: (
        f"If {quoted(second)} should be the state, let it be the first parameter of {quoted(function)}: "
        f"({quoted(second)}, {quoted(first)}, …) in place of ({quoted(first)}, {quoted(second)}, …)."
    ),
    "error_loop_at": lambda location, code: (
        f"The loop is at {location}{'' if 'while_loop' in code or 'fori_loop' in code else ', or in what it calls'}"
        f"{f': {quoted(code)}' if code else '.'}"
    ),
    "error_grad_shape": lambda shape, function="": (
        f"{_differentiated(function)} returns an array of shape {shape}, but only a scalar has a gradient."
    ),
    "write_scalar": lambda jax: (
        f"Reduce the result, with .sum() or .mean(). {jax}.vmap({jax}.grad(f)) gives the gradient of each element of "
        f"a batch, {jax}.jacrev(f) all derivatives of all outputs."
    ),
    "error_grad_container": lambda container, function="": (
        f"{_differentiated(function)} returns a {container}, but only a scalar has a gradient."
    ),
    "write_has_aux": lambda jax, pair: (
        f"If the first of two results is the number and the other one is extra, use {jax}.value_and_grad(f, "
        "has_aux=True), or grad with has_aux=True."
        if pair
        else f"Return the number alone. With {jax}.value_and_grad(f, has_aux=True), the function returns a pair: the "
        "number, and the extra result."
    ),
    "write_library_aux": lambda library: (
        f"{quoted(library)} differentiates the function. Return the number alone, or use the option of "
        f"{quoted(library)} for a function with an extra result, if it has one, such as has_aux=True."
    ),
    "error_grad_value": lambda none: (
        f"The differentiated function returns {'None' if none else 'something else than a number'}, but only "
        "a scalar has a gradient."
    ),
    "write_returns_scalar": lambda: "Return a scalar from it. A function without a return statement returns None.",
    "error_grad_dtype": lambda dtype, transform: (
        f"The differentiated function returns {quoted(dtype)}, but {quoted(transform)} needs a real float."
    ),
    "write_real": _write_real,
    "write_float_output": lambda: (
        "Return a float. Rounding, comparing, argmax() and conversions to integers have no useful gradient."
    ),
    "error_grad_input": _grad_input,
    "write_float_input": _write_float_input,
    "write_parameters": lambda state: (
        f"{quoted(state)} holds the state of an optimizer, whose count is an integer. To differentiate with respect "
        "to the parameters, pass them: return and assign both in the same order."
    ),
    "write_holomorphic": lambda: (
        "Differentiate with respect to the real and the imaginary part, or pass holomorphic=True for a "
        "holomorphic function."
    ),
    "error_grad_argument": lambda argnums, given: (
        f"argnums={quoted(argnums)} is beyond the positional arguments of the call. It has {_positions(given)}."
    ),
    "write_positional": lambda keywords: (
        f"Pass {quoted(keywords)} by position, since argnums= counts positional arguments alone."
        if keywords
        else "Pass the argument by position, or correct argnums=."
    ),
    "error_aux": lambda: "With has_aux=True, the function has to return a pair: the number, and the extra result.",
    "write_aux": lambda: "Return (loss, extra), or leave out has_aux=True.",
    "error_vmap_sizes": lambda axes: f"The mapped axes have different sizes: {printable(axes)}.",
    "write_same_sizes": _write_same_sizes,
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
    "error_donated_twice": lambda names, used: (
        f"{_same(names)}, and the call donates it "
        f"{'once, so its memory is reused while the other argument needs it' if used else 'twice'}."
    ),
    "write_donated_copy": lambda copied, jax: (
        f"Pass a copy for one of them{f', {quoted(copied)}' if copied else ''}, or do not donate it. States that "
        f"begin alike, such as parameters and their moving average, are often one array: "
        f"{jax}.tree.map(jax.numpy.copy, params) makes a second one."
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
