"""Explains attributes that arrays of other libraries have, and writes what JAX has in their place."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ...expression import expression_of, spelled
from ..explained import Explained, Rule
from ..operands import fact, shortened

#: What has the meaning of a method or an attribute, where the modules and the array are put in.
_REPLACED = {
    "numpy": "{np}.asarray({x})",
    "cpu": "{jax}.device_get({x})",
    "cuda": "{jax}.device_put({x}, device)",
    "detach": "{jax}.lax.stop_gradient({x})",
    "clone": "{x}.copy()",
    "append": "{x} = {jnp}.append({x}, value), or {x} = {jnp}.concatenate([{x}, row[None]]) for rows",
    "extend": "{x} = {jnp}.concatenate([{x}, values])",
    "insert": "{x} = {jnp}.insert({x}, index, value, axis=0)",
    "fill": "{x} = {jnp}.full_like({x}, value)",
    "clamp": "{jnp}.clip({x}, low, high)",
    "dim": "{x}.ndim",
    "numel": "{x}.size",
    "t": "{x}.T",
    "add_": "{x} = {x} + value",
    "mul_": "{x} = {x} * value",
    "zero_": "{x} = {jnp}.zeros_like({x})",
    "to": "{x}.astype(dtype), or {jax}.device_put({x}, device)",
    "double": "{x}.astype({jnp}.float64)",
    "half": "{x}.astype({jnp}.float16)",
    "type": "{x}.astype(dtype)",
    "requires_grad_": "{jax}.grad(f)(…)",
    "expand": "{jnp}.broadcast_to({x}, shape)",
    "index_select": "{jnp}.take({x}, indices, axis)",
    "gather": "{jnp}.take_along_axis({x}, indices, axis)",
    "masked_fill": "{jnp}.where(mask, value, {x})",
    "unsqueeze": "{jnp}.expand_dims({x}, axis)",
    "permute": "{x}.transpose(axes)",
    "float": "{x}.astype({jnp}.float32)",
    "long": "{x}.astype({jnp}.int32)",
    "norm": "{jnp}.linalg.norm({x})",
    "backward": "{jax}.grad(loss)(params)",
    **{name: f"{{jnp}}.{name}({{x}})" for name in ("exp", "log", "sqrt", "sin", "cos", "tanh", "square")},
    **{name: f"{{jax}}.nn.{name}({{x}})" for name in ("relu", "sigmoid", "softmax")},
}

#: Those that move an array, which a traced value has none of.
_OUTSIDE = "numpy", "cpu", "cuda"


def explain_attribute(failure: Failure) -> Explained:
    """Explain a method or an attribute that JAX arrays do not have."""
    name, jnp = fact(failure, "name"), spelled(failure, "jax.numpy")
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    array = shortened(ast.unparse(node.value)) if isinstance(node, ast.Attribute) else ""
    found = note("doctor.error_attribute", array=array, name=name)
    if fact(failure, "tracer") and name in _OUTSIDE:
        return Explained(found, note("doctor.write_no_numpy", jnp=jnp))
    names = {"x": array or "x", "jax": spelled(failure, "jax"), "jnp": jnp, "np": spelled(failure, "numpy")}
    return Explained(found, note("doctor.write_attribute", replacement=_REPLACED[name].format(**names)))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("AttributeError", "attribute", explain_attribute,
        r"(?:'jaxlib[\w.]*\.ArrayImpl'|'?(?P<tracer>\w+Tracer)'?)(?: object)? has no attribute "
        rf"'?(?P<name>{'|'.join(_REPLACED)})'?$"),
)
# fmt: on
