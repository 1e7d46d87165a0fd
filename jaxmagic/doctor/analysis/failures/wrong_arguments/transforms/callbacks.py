"""Explains callbacks that JAX can neither map nor differentiate as they are."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ..explained import Explained, Rule
from ..operands import fact, shortened


def explain_callback_vmap(failure: Failure) -> Explained:
    """Explain ``jax.pure_callback`` under ``jax.vmap`` without ``vmap_method=``, or with an unknown one."""
    failing, given = expression_of(failure), fact(failure, "given")
    node = None if failing is None else failing.node
    code = None
    if failing is not None and isinstance(node, ast.Call) and (failing.called or "").endswith("pure_callback"):
        method = ast.keyword(arg="vmap_method", value=ast.Constant(value="sequential"))
        node.keywords = [each for each in node.keywords if each.arg not in ("vmap_method", "vectorized")]
        node.keywords.append(method)
        code = failing.with_node(node)
    found = note("doctor.error_callback_vmap", given=shortened(given), here=code is not None)
    return Explained(found, note("doctor.write_callback_vmap"), code)


def explain_callback_ordered(failure: Failure) -> Explained:
    """Explain an ordered callback under ``jax.vmap``."""
    return Explained(
        note("doctor.error_callback_ordered"), note("doctor.write_callback_ordered", jax=spelled(failure, "jax"))
    )


def explain_callback_gradient(failure: Failure) -> Explained:
    """Explain a callback in a function that is differentiated."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    here = failing is not None and (failing.called or "").endswith("_callback")
    function = failure.stack[-1].function if failure.stack and here else ""
    found = note("doctor.error_callback_gradient", here=here)
    name = function if function.isidentifier() else ""
    return Explained(found, note("doctor.write_callback_gradient", function=name, jax=jax))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("NotImplementedError", "callback vmap", explain_callback_vmap,
        r"vmap is only supported for the pure_callback primitive when vmap_method is one of"),
    Rule("ValueError", "callback vmap", explain_callback_vmap,
        r"vmap_method must be on of the allowed methods .*, but got: (?P<given>.+)$"),
    Rule("ValueError", "callback vmap", explain_callback_vmap,
        r"The '(?P<given>vectorized)' argument of jax\.pure_callback was removed"),
    Rule("ValueError", "callback ordered", explain_callback_ordered,
        r"Cannot `vmap` ordered IO callback"),
    Rule("ValueError", "callback gradient", explain_callback_gradient,
        r"(?:Pure|IO) callbacks do not support (?:JVP|transpose)"),
)
# fmt: on
