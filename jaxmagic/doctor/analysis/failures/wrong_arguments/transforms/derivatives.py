"""Explains what ``jax.grad`` and its relatives cannot differentiate."""

from __future__ import annotations

import ast

from ......records.inside import library_module
from ......records.note import note
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ...messages import short_type
from ..explained import SHAPE, Explained, Rule
from ..operands import fact, shortened

#: How containers are written that a function returns in place of a number.
_CONTAINERS = {"(": "tuple", "[": "list", "{": "dictionary"}


def explain_grad_output(failure: Failure) -> Explained:
    """Explain a function that returns no scalar, or no real one."""
    jax = spelled(failure, "jax")
    shape, dtype, value = fact(failure, "shape"), fact(failure, "dtype"), fact(failure, "value")
    if dtype:
        found = note("doctor.error_grad_dtype", dtype=dtype, transform=fact(failure, "transform"))
        if dtype.startswith("complex"):
            argument, jnp = _complex_argument(failure), spelled(failure, "jax.numpy")
            return Explained(found, note("doctor.write_real", argument=argument, jnp=jnp))
        return Explained(found, note("doctor.write_float_output"))
    if shape:
        found = note("doctor.error_grad_shape", shape=shape, function=fact(failure, "function"))
        return Explained(found, note("doctor.write_scalar", jax=jax))
    if value in _CONTAINERS:
        found = note("doctor.error_grad_container", container=_CONTAINERS[value], function=fact(failure, "function"))
        library = None if failure.library is None else library_module(failure.library.file)
        if library is not None:
            return Explained(found, note("doctor.write_library_aux", library=library.partition(".")[0]))
        return Explained(found, note("doctor.write_has_aux", jax=jax, pair=value == "("))
    return Explained(note("doctor.error_grad_value", none=value == "None"), note("doctor.write_returns_scalar"))


def _complex_argument(failure: Failure) -> str:
    """Return the first complex argument of the failing call, as ``w`` if it is no variable; empty without one."""
    texts = [each.text for each in failure.operands if (each.type or "").startswith(("c64", "c128", "complex"))]
    return next((each if each.isidentifier() else "w" for each in texts), "")


def explain_grad_input(failure: Failure) -> Explained:
    """Explain an argument of integers or bools."""
    dtype = fact(failure, "dtype")
    one = _of_dtype(failure, dtype)
    found = note(
        "doctor.error_grad_input",
        argument=shortened(one),
        dtype=dtype,
        transform=fact(failure, "transform"),
    )
    jnp = spelled(failure, "jax.numpy")
    if dtype.startswith("complex"):
        return Explained(found, note("doctor.write_holomorphic"))
    state = fact(failure, "optimizer state")
    if state:
        return Explained(found, note("doctor.write_parameters", state=shortened(state)))
    return Explained(found, note("doctor.write_float_input", jnp=jnp, one=one if one.isidentifier() else ""))


def _of_dtype(failure: Failure, dtype: str) -> str:
    """Return the only leaf of the positional arguments that may have a dtype; empty if there are others.

    JAX names the dtype that it gives a value: int32 for an int64 of NumPy, unless 64 bits are enabled.
    """
    positional = [each for each in failure.operands if each.keyword is None]
    leaves = [leaf for each in positional for leaf in (each.items or (each,))]
    if failure.library is not None or any(each.shape is None for each in leaves):
        return ""
    kind = short_type(f"{dtype}[]").rstrip("[]0123456789")
    python = {"i": "int", "bool": "bool", "c": "complex"}.get(kind)
    matching = [
        each.text
        for each in leaves
        if each.type == python or (each.type or "").partition("[")[0].rstrip("0123456789") == kind
    ]
    return matching[0] if len(matching) == 1 else ""


def explain_grad_argument(failure: Failure) -> Explained:
    """Explain ``argnums`` beyond the positional arguments."""
    keywords = [each.keyword for each in failure.operands if each.keyword]
    return Explained(
        note(
            "doctor.error_grad_argument",
            argnums=fact(failure, "argnums"),
            given=int(fact(failure, "given")),
        ),
        note("doctor.write_positional", keywords=", ".join(filter(None, keywords))),
    )


def explain_aux(failure: Failure) -> Explained:
    """Explain a function with ``has_aux=True`` that does not return a pair."""
    return Explained(note("doctor.error_aux"), note("doctor.write_aux"))


def explain_no_rule(failure: Failure) -> Explained:
    """Explain a function with ``custom_vjp`` or ``custom_jvp`` whose rule is not defined."""
    function, rule = fact(failure, "function"), fact(failure, "rule")
    remedy = note("doctor.write_vjp", function=function)
    if rule == "JVP":
        remedy = note("doctor.write_jvp", function=function)
    return Explained(note("doctor.error_no_rule", function=function, rule=rule), remedy)


def explain_loop_gradient(failure: Failure) -> Explained:
    """Explain reverse mode through a loop with an unknown number of steps."""
    jnp, lax = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    return Explained(note("doctor.error_loop_gradient"), note("doctor.write_known_steps", jnp=jnp, lax=lax))


def explain_tangents(failure: Failure) -> Explained:
    """Explain tangents or cotangents that do not fit the values that they belong to."""
    needed, returned = short_type(fact(failure, "needed")), short_type(fact(failure, "given"))
    forward = bool(fact(failure, "forward"))
    named = [each.text for each in failure.operands if each.keyword is None and each.text.isidentifier()]
    found = note("doctor.error_tangents", needed=needed, given=returned, forward=forward)
    example = named[1] if forward and len(named) > 1 else "y"
    return Explained(
        found, note("doctor.write_tangents", forward=forward, value=example, jnp=spelled(failure, "jax.numpy"))
    )


def explain_no_tuple(failure: Failure) -> Explained:
    """Explain primals and tangents of ``jvp()`` that are not in tuples."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call) and len(node.args) == 3 and not node.keywords:
        tuples = [ast.Tuple(elts=[each], ctx=ast.Load()) for each in node.args[1:]]
        bare = not any(isinstance(each, ast.Tuple | ast.List | ast.Starred) for each in node.args)
        code = (
            failing.with_node(ast.Call(func=node.func, args=[node.args[0], *tuples], keywords=[])) if bare else None
        )
    return Explained(note("doctor.error_no_tuple"), note("doctor.write_tuples", jax=spelled(failure, "jax")), code)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "grad output", explain_grad_output,
        rf"Gradient only defined for scalar-output functions\. Output had shape: (?P<shape>{SHAPE})"),
    Rule("TypeError", "grad output", explain_grad_output,
        r"Gradient only defined for scalar-output functions\. Output was (?P<value>[({\[]|None|)"),
    Rule("TypeError", "grad output", explain_grad_output,
        r"(?P<transform>\w+) requires real-valued outputs \(.*?\), but got (?P<dtype>\w+)\."),
    Rule("TypeError", "grad input", explain_grad_input,
        r"(?P<transform>\w+) requires real-(?: or complex-)?valued inputs \(.*?\), but got (?P<dtype>\w+)\."),
    Rule("TypeError", "grad argument", explain_grad_argument,
        r"differentiating with respect to argnums=(?P<argnums>.+?) requires at least (?P<needed>\d+) "
        r"positional arguments to be passed by the caller, but got only (?P<given>\d+)"),
    Rule("TypeError", "aux", explain_aux,
        r"expected function with aux output to return a two-element tuple, but got type"),
    Rule("AttributeError", "no rule", explain_no_rule,
        r"No (?P<rule>VJP|JVP) defined for custom_\w+ function (?P<function>.+) using def"),
    Rule("ValueError", "loop gradient", explain_loop_gradient,
        r"Reverse-mode differentiation does not work for lax\.while_loop or lax\.fori_loop"),
    Rule("ValueError", "tangents", explain_tangents,
        rf"(?P<forward>jvp) called with different primal and tangent shapes; ?Got primal shape (?P<needed>{SHAPE}) "
        rf"and tangent shape as (?P<given>{SHAPE})"),
    Rule("TypeError", "tangents", explain_tangents,
        r"primal and tangent arguments to jax\.(?P<forward>jvp) do not match; dtypes[\s\S]*?expected tangent dtype "
        r"(?P<needed>\w+), but got tangent dtype (?P<given>\w+)"),
    Rule("ValueError", "tangents", explain_tangents,
        r"unexpected JAX type \(e\.g\. shape/dtype\) for argument to (?:vjp|VJP) function: got (?P<given>\S+), but "
        r"expected (?P<needed>\S+) because"),
    Rule("TypeError", "no tuple", explain_no_tuple,
        r"primal and tangent arguments to jax\.jvp must be tuples or lists; found "),
)
# fmt: on
