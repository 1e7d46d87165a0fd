"""Words functions that JAX calls with other arguments than they take, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ....units import count
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
    who = f"{quoted(called) or 'JAX'} calls {quoted(function)}"
    if missing:
        return f"{who} without {missing}."
    if given < 0:
        return f"{who} with another number of arguments than it takes."
    return f"{who} with {given} {'argument' if given == 1 else 'arguments'}, but it takes {takes}."


def _misfit(
    function: str,
    called: str,
    parameters: str,
    missing: str,
    unexpected: str,
    twice: str,
    positional: int,
    named: str,
    jitted: bool,
) -> str:
    """Word how a call of a transformed function of the user's does not fit its parameters.

    Args:
        function: the function of the user's.
        called: what the line calls.
        parameters: its parameters.
        missing: those that the call does not pass.
        unexpected: a keyword that is no parameter.
        twice: a parameter that is passed by position and by name.
        positional: how many arguments are passed by position; -1 if that is unknown.
        named: the names of the others.
        jitted: whether the function is jitted.
    """
    own = called.rpartition(".")[2] == function
    which = f"The {'jitted ' if jitted else ''}function {quoted(function)}"
    who = f"{which}{'' if own or not called else f', which {quoted(called)} calls,'} takes ({printable(parameters)})"
    by_name = f"{printable(named)} by name" if named else ""
    by_position = f"{count(positional, 'argument')} by position" if positional > 0 else ""
    passed = " and ".join(filter(None, [by_position, by_name])) or "nothing"
    got = "" if positional < 0 else f": it gets {passed}"
    if missing:
        return f"{who}, and is called without {printable(missing)}{got}."
    if unexpected:
        return f"{who}, and has no parameter {printable(unexpected)}."
    if twice:
        return f"{who}, and gets {printable(twice)} by position and by name."
    return f"{who}, and is called with other arguments{got}."


def _write_signature(called: str) -> str:
    ends = [text for name, text in _PASSED.items() if f".{called}".endswith(f".{name}")]
    return ends[0] if ends else "Write the function with as many parameters as it is called with."


def _write_rule_parameters(rule: str, function: str, nondiff: int) -> str:
    first = "" if not nondiff else "the argument in nondiff_argnums, then " if nondiff == 1 else f"the {nondiff} "
    first = first if nondiff < 2 else f"{first}arguments in nondiff_argnums, then "
    if rule == "fwd":
        return (
            f"The forward rule of {quoted(function)} takes the same arguments as {quoted(function)}, in their order."
        )
    if rule == "bwd":
        return f"The backward rule takes {first}the residuals, as one value, and the cotangent of the result."
    return f"The rule takes {first}two tuples: the primals and the tangents, with an entry for each other argument."


SIGNATURE_NOTES: dict[str, Callable[..., str]] = {
    "error_signature": _signature,
    "write_signature": _write_signature,
    "error_other_arguments": lambda called, missing, given: (
        f"{quoted(called) or 'A function of JAX'} needs {quoted(missing)} as well."
        if missing
        else f"{quoted(called) or 'A function of JAX'} does not take {given} positional arguments."
    ),
    "write_other_arguments": lambda parameters: f"It takes, in this order: {printable(parameters)}.",
    "error_misfit": _misfit,
    "write_misfit": lambda function, missing: (
        f"Pass {printable(missing)} in the call, or write a default where {quoted(function)} is defined. Static "
        "arguments are passed as well."
        if missing
        else f"Pass what {quoted(function)} takes. Transformations such as jit change no parameters."
    ),
    "write_rule_parameters": _write_rule_parameters,
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
