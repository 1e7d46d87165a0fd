"""Fills in what JAX has in place of a method of another library."""

from __future__ import annotations

import ast
import re

from .....record.failure import Failure
from ...expression import spelled
from .methods import EXPRESSIONS, IN_PLACE, IN_WORDS, LEFT_OUT, WITHOUT_EFFECT
from .translated import translated

#: What templates call modules.
MODULES = {"jax": "jax", "jnp": "jax.numpy", "np": "numpy"}

#: Names of devices in PyTorch and JAX.
_DEVICE = re.compile(r"(cpu|cuda|gpu|tpu)(?::(\d+))?")


def template_of(failure: Failure, name: str, path: str, call: ast.AST | None) -> str:
    """Return what is written in place of a method, with the array and the arguments left out.

    Args:
        failure: the failure.
        name: the method.
        path: the full name of the function of JAX that takes the same arguments; empty without one.
        call: the call of the method; ``None`` if it is not called.
    """
    if name in LEFT_OUT or name.startswith("block"):
        return "{x}"
    if name == "to":
        return _moved(call)
    if path:
        module = next(each for each in ("jax.numpy", "jax.lax", "jax") if path.startswith(f"{each}."))
        return f"{spelled(failure, module)}{path.removeprefix(module)}({{x}}, {{args}})"
    return {**EXPRESSIONS, **IN_PLACE, **IN_WORDS}[name]


def _moved(call: ast.AST | None) -> str:
    """Return what ``x.to(…)`` means: another dtype, or another device."""
    if not isinstance(call, ast.Call):
        return IN_WORDS["to"]
    others = [each for each in call.keywords if each.arg not in WITHOUT_EFFECT]
    match [*call.args, *others]:
        case [ast.Constant(value=str(text))] if (device := _DEVICE.fullmatch(text)) is not None:
            platform = "gpu" if device[1] == "cuda" else device[1]
            place = f'{{jax}}.devices("{platform}")[{device[2] or 0}]'
            return f"{{jax}}.device_put({{x}}, {place}){{args:.0}}"  # the argument takes no more room
        case [ast.Attribute(attr=attr)] if re.fullmatch(r"b?float\d+|u?int\d+|bool_?|complex\d+", attr):
            return "{x}.astype({0})"
    return IN_WORDS["to"]


def filled(failure: Failure, name: str, template: str, array: str, call: ast.Call | None) -> str | None:
    """Fill a template with an array and the arguments of a call; ``None`` if one of them has no place."""
    modules = {each: spelled(failure, module) for each, module in MODULES.items()}
    count = len(set(re.findall(r"\{(\d)\}", template)))
    if call is None:
        return None if count or "{args" in template else _written(template.format(x=f"({array})", **modules))
    given = translated(name, call)
    if given is None or (count and len(given.values) != count):
        return None
    values = [f"({ast.unparse(each)})" for each in given.values]
    if "{args" not in template and (given.named or (values and not count)):
        return None
    args = ", ".join([*values, *(f"{each}={ast.unparse(value)}" for each, value in given.named)])
    array = f"({array}).ravel()" if given.flat else f"({array})"
    return _written(template.format(*values, x=array, args=args, **modules))


def _written(text: str) -> str | None:
    """Return an expression as Python writes it; ``None`` for a template in words."""
    try:
        return ast.unparse(ast.parse(text.replace(", )", ")"), mode="eval"))
    except SyntaxError:
        return None
