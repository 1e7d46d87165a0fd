"""Recognizes layers of libraries that are made without random numbers, and fields that cannot be assigned."""

from __future__ import annotations

import ast
from types import TracebackType
from typing import Any

from .....runtime.around import is_a, is_exactly, member, of_type
from .....runtime.tracing import is_array, is_tracer
from ..called import users_last
from ..calls import MISSING, value_of
from ..libraries.module_use import library_of
from ..modules import name_of_module
from ..statement import place_of
from .call import Call

#: The modules of layers, and the library that they are of.
_HOMES = {"flax.nnx": "nnx", "equinox": "equinox"}


def layer_key(call: Call, text: str) -> dict[str, str] | None:
    """Recognize a layer that gets no random numbers, gets them by position, or gets a key of JAX in their place."""
    kind = value_of(call.node.func, call.frame)
    if not is_a(kind, type):
        return None
    home = str(of_type("__module__", kind))
    library = next((name for start, name in _HOMES.items() if f"{home}.".startswith(f"{start}.")), None)
    if library is None or (f"{of_type('__name__', kind)}.__init__" not in text and "attribute" not in text):
        return None
    if "missing" in text:
        return {"library": library}
    if "positional" in text:
        made = [isinstance(each, ast.Call) and ast.unparse(each.func).endswith("Rngs") for each in call.node.args]
        places = [place for place, each in enumerate(call.values) if made[place] or _is_rngs(each)]
        return {"library": library, "place": str(places[0])} if len(places) == 1 and library == "nnx" else None
    given = next((each.value for each in call.node.keywords if each.arg == "rngs"), None)
    return {"library": library, "given": "1"} if given is not None and library == "nnx" else None


def _is_rngs(value: Any) -> bool:
    kind = type(value)
    return of_type("__name__", kind) == "Rngs" and str(of_type("__module__", kind)).startswith("flax.")


def apply_order(call: Call, text: str) -> dict[str, str] | None:
    """Recognize ``model.apply(x, variables)``."""
    function = call.node.func
    if not isinstance(function, ast.Attribute) or function.attr != "apply" or len(call.values) < 2:
        return None
    kinds = (str(of_type("__module__", each)) for each in of_type("__mro__", type(call.owner)))
    first, second = call.values[:2]
    variables = is_a(second, dict) or of_type("__name__", type(second)) == "FrozenDict"
    linen = any(each.startswith("flax.linen") for each in kinds)
    return {} if linen and (is_array(first) or is_tracer(first)) and variables else None


def frozen_field(error: BaseException) -> dict[str, str] | None:
    """Return whose field an assignment failed to change: a module of Equinox, or a dataclass of Flax."""
    kind = type(error)
    if of_type("__name__", kind) != "FrozenInstanceError" or of_type("__module__", kind) != "dataclasses":
        return None
    last: TracebackType | None = users_last(error.__traceback__)
    place = None if last is None else place_of(last.tb_frame.f_code, last.tb_lasti)
    statement = None if place is None else place.statement
    if last is None or not isinstance(statement, ast.Assign) or len(statement.targets) != 1:
        return None
    target = statement.targets[0]
    owner = value_of(target.value, last.tb_frame) if isinstance(target, ast.Attribute) else MISSING
    if owner is MISSING:
        return None
    fields = member(type(owner), "__dataclass_fields__")
    if library_of(owner) == "equinox" and isinstance(target, ast.Attribute) and is_exactly(fields, dict):
        if target.attr not in fields:
            return {"library": "undeclared", "field": target.attr}
        return {"library": "equinox", "module": name_of_module(last.tb_frame, "equinox")}
    flax = member(type(owner), "_flax_dataclass")
    return {"library": "flax"} if is_exactly(flax, bool) and flax else None
