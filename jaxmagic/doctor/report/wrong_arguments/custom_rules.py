"""Words rules of ``custom_vjp`` and ``custom_jvp`` that do not fit, and what to write."""

from __future__ import annotations

from collections.abc import Callable

from ..quoted import quoted


def _cotangents(arguments: int, count: int, path: str) -> str:
    needs = f"one cotangent for each of the {arguments} arguments" if arguments > 1 else "a tuple of one cotangent"
    if not count:
        return f"The backward rule returns no tuple, but it has to return {needs}."
    if count < 0 or (count == arguments and not path):
        return "The backward rule returns another structure than the tuple of the arguments."
    if count == arguments:
        return f"The backward rule returns another pytree at {quoted(path)} than the argument there."
    returns = f"{count} {'cotangent' if count == 1 else 'cotangents'}"
    return f"The backward rule returns {returns}, but it has to return {needs}."


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
    "error_cotangent_type": lambda path, needed, returned: (
        f"The backward rule returns a cotangent of type {quoted(returned)} at {quoted(path)}, but the argument there "
        f"has type {quoted(needed)}."
    ),
    "write_cotangent_type": lambda: (
        "A cotangent has the shape and the dtype of its argument. For y = x @ w, these are g @ w.T and x.T @ g. For "
        "an argument that was broadcast, sum over the axes that it does not have, or with size 1."
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
    "error_tangent_output": lambda needed, returned: (
        f"The JVP rule returns a tangent of type {quoted(returned)}, but its output needs {quoted(needed)}."
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
