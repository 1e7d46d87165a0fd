"""Words functions that JAX calls with other arguments than they take, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted

#: What JAX's functions pass to the functions that they call.
_PASSED = {
    "scan": "scan calls its body with two arguments, body(carry, x), where x is one element of what it goes over.",
    "fori_loop": "fori_loop calls its body with two arguments, body(i, carry).",
    "while_loop": "while_loop calls both of its functions with one argument, the state: a tuple for several values.",
    "cond": "cond calls its branches with what follows them: lax.cond(condition, f, g, x) calls f(x) or g(x), and "
    "lax.cond(condition, f, g) calls them without arguments.",
    "switch": "switch calls its branches with what follows them: lax.switch(i, [f, g], x) calls f(x) or g(x).",
    "lax.map": "lax.map calls its function with one argument: with a tuple, if it goes over a tuple of arrays.",
    "associative_scan": "associative_scan calls its function with two arguments, each a pytree like the elements.",
    "tree.map": "tree.map calls its function with one leaf of each tree that it gets.",
    "tree_map": "tree_map calls its function with one leaf of each tree that it gets.",
}


def _signature(called: str, function: str, takes: int, given: int, missing: str) -> str:
    who = f"{quoted(called)} calls {quoted(function)}"
    if missing:
        return f"{who} without {missing}."
    if given < 0:
        return f"{who} with another number of arguments than it takes."
    return f"{who} with {given} {'argument' if given == 1 else 'arguments'}, but it takes {takes}."


def _write_signature(called: str) -> str:
    ends = [text for name, text in _PASSED.items() if f".{called}".endswith(f".{name}")]
    return ends[0] if ends else "Write the function with as many parameters as it is called with."


SIGNATURE_NOTES: dict[str, Callable[..., str]] = {
    "error_signature": _signature,
    "write_signature": _write_signature,
    "error_callable": lambda called, text: (
        f"{quoted(called) or 'A function of JAX'} gets "
        f"{f'the result of {quoted(text)}' if text else 'a value'} where it needs a function."
    ),
    "write_callable": lambda called, branches: (
        "Pass functions, as in lax.cond(condition, lambda: a, lambda: b). Between two values, "
        "jnp.where(condition, a, b) chooses."
        if branches
        else f"Pass the function itself, and the arguments to what {quoted(called) or 'it'} returns."
    ),
    "error_generator": lambda function, called: (
        f"{quoted(function)} contains yield, so it returns a generator, but {quoted(called) or 'JAX'} needs a "
        "function that returns arrays."
    ),
    "write_no_generator": lambda: (
        "Return all values in a list, or stacked by jax.lax.scan; or jit the function that computes one of them, and "
        "yield outside of it."
    ),
}
