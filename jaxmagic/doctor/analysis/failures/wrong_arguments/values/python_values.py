"""Explains an array where Python needs one truth value, one number, or a hash."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...conditions import membership, use_of
from ...expression import Expression, expression_of, spelled
from ...numbers import MATH, replaced
from ..explained import SHAPE, Explained, Rule
from ..operands import fact, shortened


def explain_truth(failure: Failure) -> Explained:
    """Explain "The truth value of an array with more than one element is ambiguous"."""
    failing = expression_of(failure)
    use = "" if failing is None or failure.library is not None else use_of(failing)
    jnp = spelled(failure, "jax.numpy")
    found = note("doctor.error_truth", value="" if failing is None else _tested(failing), use=use)
    if use in ("and", "or", "not", "chain"):
        name = {"or": "logical_or", "not": "logical_not"}.get(use, "logical_and")
        operator = "" if use == "chain" else use
        return Explained(found, note("doctor.write_elementwise", function=f"{jnp}.{name}", operator=operator))
    if use in ("max", "min"):
        whole = f"{jnp}.{use}"
        return Explained(found, note("doctor.write_extreme", function=use, replacement=f"{whole}imum", whole=whole))
    if use == "in":
        return Explained(found, note("doctor.write_membership", jnp=jnp))
    return Explained(found, note("doctor.write_one_truth", jnp=jnp))


def _tested(failing: Expression) -> str:
    """Return the text of the array that is tested; empty where it is a part of the expression, and unknown which."""
    node = failing.node
    if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
        node = node.test
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    single = isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(node.ops[0], ast.In | ast.NotIn)
    lists = any(isinstance(each, ast.List | ast.Tuple | ast.Dict | ast.Set) for each in ast.walk(node))
    return shortened(ast.unparse(node)) if (single and not lists) or isinstance(node, ast.Name) else ""


def explain_scalar(failure: Failure) -> Explained:
    """Explain an array with axes that had to be a Python number."""
    failing = expression_of(failure)
    called = "" if failing is None or failure.library is not None else failing.called or ""
    found = note("doctor.error_scalar", function=called, axes=int(fact(failure, "axes")))
    name = called.removeprefix("math.")
    if called.startswith("math.") and name in MATH:
        replacement = f"{spelled(failure, 'jax.numpy')}.{MATH[name]}"
        remedy = note("doctor.write_function", function=called, replacement=replacement)
        return Explained(found, remedy, replaced(failure, failing, replacement))
    return Explained(found, note("doctor.write_one_number"))


def explain_hash(failure: Failure) -> Explained:
    """Explain an array that was hashed, as a key of a dictionary or an element of a set."""
    failing = expression_of(failure)
    traced = fact(failure, "type").endswith("Tracer")
    found = note("doctor.error_hash", traced=traced)
    code = None if failing is None else membership(failure, failing)
    if failing is not None and isinstance(failing.node, ast.Compare):
        return Explained(found, note("doctor.write_membership", jnp=spelled(failure, "jax.numpy")), code)
    return Explained(found, note("doctor.write_no_hash", jnp=spelled(failure, "jax.numpy"), traced=traced))


def explain_key(failure: Failure) -> Explained:
    """Explain a function of ``jax.random`` that does not get one key, or a key that is used as a number."""
    jax, shape = spelled(failure, "jax"), fact(failure, "shape")
    if shape:
        function = fact(failure, "function")
        found = note("doctor.error_several_keys", function=function, shape=shape)
        return Explained(found, note("doctor.write_one_key", function=function, jax=jax))
    operation, array = fact(failure, "operation"), fact(failure, "array")
    if operation or array:
        return Explained(note("doctor.error_key_used", operation=operation), note("doctor.write_other_key", jax=jax))
    got = fact(failure, "number") or fact(failure, "type").rpartition(".")[2].replace("NoneType", "None")
    found = note("doctor.error_no_key", got=got, dtype=fact(failure, "dtype"))
    return Explained(found, note("doctor.write_key", jax=jax))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "truth", explain_truth,
        r"The truth value of an array with more than one element is ambiguous"),
    Rule("TypeError", "scalar", explain_scalar,
        r"Only scalar arrays can be converted to Python scalars; got arr\.ndim=(?P<axes>\d+)"),
    Rule("TypeError", "hash", explain_hash,
        r"unhashable type: '(?:[\w.]+\.)?(?P<type>\w*Tracer|ArrayImpl)'"),
    Rule("ValueError", "key", explain_key,
        rf"(?P<function>\w+) accepts a single key, but was given a key array of shape (?P<shape>{SHAPE}) != \(\)"),
    Rule("TypeError", "key", explain_key,
        r"(?P<operation>[\w-]+) does not accept dtypes .*key<\w+>"),
    Rule("TypeError", "key", explain_key,
        r"unexpected PRNG key type <class '(?P<type>.+?)'>"),
    Rule("TypeError", "key", explain_key,
        r"JAX encountered invalid PRNG key data: expected key_data to have ndim, shape, and dtype attributes\. "
        r"Got (?P<number>-?\d[\w.+-]*)$"),
    Rule("TypeError", "key", explain_key,
        r"JAX encountered invalid PRNG key data: expected key_data\.dtype = uint32; got dtype=(?P<dtype>\w+)"),
    Rule("TypeError", "key", explain_key,
        r"JAX array with PRNGKey dtype cannot be converted to a (?P<array>NumPy) array"),
)
# fmt: on
