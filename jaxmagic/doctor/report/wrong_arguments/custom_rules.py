"""Words rules of ``custom_vjp`` and ``custom_jvp`` that do not fit, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ....terminal import printable
from ..quoted import quoted


def _cotangents(
    arguments: int,
    count: int,
    path: str,
    names: str = "",
    expected: str = "",
    got: str = "",
    rule: str = "",
    function: str = "",
) -> str:
    rule = _backward(rule)
    of = f" of {quoted(function)}" if function else ""
    listed = f": {quoted(names)}" if names else ""
    needs = f"one cotangent for each of the {arguments} arguments{of}{listed}"
    if arguments <= 1:
        needs = f"a tuple of one cotangent{f', for {quoted(names)}{of}' if names else ''}"
    if not count:
        return f"{rule} returns no tuple, but it has to return {needs}."
    if count < 0 or (count == arguments and not path):
        return f"{rule} returns another structure than the tuple of the arguments."
    if count == arguments:
        differ = f": expected {quoted(expected)}, got {quoted(got)}" if expected and got else ""
        return f"{rule} returns another pytree at {quoted(path)} than the argument there{differ}."
    returns = f"{count} {'cotangent' if count == 1 else 'cotangents'}"
    return f"{rule} returns {returns}, but it has to return {needs}."


def _backward(rule: str) -> str:
    return f"The backward rule {quoted(rule)}" if rule else "The backward rule"


def _cotangent_type(path: str, needed: str, returned: str, rule: str = "", function: str = "") -> str:
    if path.startswith("["):
        return (
            f"{_backward(rule)} returns a cotangent of type {quoted(returned)} at {quoted(path)}, but the argument "
            f"there has type {quoted(needed)}."
        )
    of = f" of {quoted(function)}" if function else ""
    return (
        f"{_backward(rule)} returns {quoted(returned)} as the cotangent of {quoted(path)}, but {quoted(path)}{of} "
        f"has type {quoted(needed)}."
    )


def _rule_at(rule: str, at: str, returned_at: str, code: str) -> str:
    returns = f", and returns at {printable(returned_at)}: {quoted(code)}" if returned_at else "."
    return f"{quoted(rule)} is defined at {printable(at)}{returns}"


def _rule_pair(rule: str, function: str, several: bool, forward: bool) -> str:
    what = "what the function returns, and what the backward rule needs" if forward else "an output and its tangent"
    got = "a tuple of another length" if several else "a single value"
    return f"{quoted(rule)}, a rule of {quoted(function)}, returns {got}, but it has to return a pair: {what}."


CUSTOM_RULE_NOTES: dict[str, Callable[..., str]] = {
    "error_cotangents": _cotangents,
    "write_cotangents": lambda: (
        "Return a tuple with a cotangent for each argument, in their order: (g,) for a single one, None for one "
        "without a gradient, and the same containers as in the argument. Arguments in nondiff_argnums get none: the "
        "backward rule takes them first, before the residuals and the cotangent."
    ),
    "error_cotangent_type": _cotangent_type,
    "error_rule_at": _rule_at,
    "write_cotangent_type": lambda axes="": (
        "A cotangent has the shape and the dtype of its argument. For y = x @ w, these are g @ w.T and x.T @ g. For "
        "an argument that was broadcast, sum over the axes that it does not have, or with size 1."
        + (f" Here that is axis {axes}." if axes else "")
    ),
    "error_rule_pair": _rule_pair,
    "write_forward_pair": lambda function: (
        f"Return {quoted(function)}(…), residuals, where the residuals are one value: a tuple for several arrays, "
        "None if there are none."
    ),
    "write_tangent_pair": lambda function: (
        f"The rule gets two tuples, primals and tangents. Return {quoted(function)}(*primals) and the tangent of it."
    ),
    "error_rule_output": lambda rule, function, returned, needed: (
        f"The first result of the rule {quoted(rule)} is {quoted(returned)}, but {quoted(function)} returns "
        f"{quoted(needed)}."
    ),
    "write_rule_output": lambda function, forward: (
        f"Call the function in its rule, so that both are the same: return {quoted(function)}"
        f"{'(x), residuals' if forward else '(*primals), tangent'}."
    ),
    "error_tangent_output": lambda needed, returned, rule="", function="": (
        f"The JVP rule {f'{quoted(rule)} ' if rule else ''}returns a tangent of type {quoted(returned)}, but "
        f"{f'the output of {quoted(function)}' if function else 'its output'} needs {quoted(needed)}."
    ),
    "error_tangent_structure": lambda needed, returned, rule, function: (
        f"{quoted(rule)}, a rule of {quoted(function)}, returns a tangent with the structure {quoted(returned)}, but "
        f"its output has the structure {quoted(needed)}."
    ),
    "write_tangent_structure": lambda summed: (
        "The tangent has the structure of the output"
        + (
            ": the tangents that come from the arguments are added."
            if summed
            else ", with one tangent for each array in it, not for each argument."
        )
    ),
    "write_tangent_output": lambda: (
        "The tangent has the shape and the dtype of the output: what reduces the primal reduces the tangent as well."
    ),
    "error_forward_mode": lambda: (
        "The line differentiates a custom_vjp function in forward mode, but custom_vjp has a rule for reverse mode "
        "alone."
    ),
    "write_reverse_mode": lambda: (
        "Use jax.grad, jax.vjp or jax.jacrev in place of jax.jvp and jax.jacfwd, and jax.jacrev(jax.grad(f)) in "
        "place of jax.hessian(f); or write the rule with jax.custom_jvp, from which JAX derives both modes."
    ),
    "error_closure": lambda function, names: (
        f"{quoted(function)} is a custom_vjp function that uses {quoted(names)} from outside, which is traced. Its "
        "rules know its arguments alone."
    ),
    "write_closure": lambda function, names: (
        f"Pass {quoted(names)} to {quoted(function)} as an argument, and return its cotangent from the backward "
        "rule. jax.closure_convert() does so for functions that are passed in."
    ),
}
