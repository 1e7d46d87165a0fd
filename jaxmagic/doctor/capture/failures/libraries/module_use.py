"""Finds the module of Equinox or of flax.nnx that a failing call gets, and the call that takes it."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import replace
from types import FrameType, FunctionType, MemberDescriptorType
from typing import Any, Literal

from .....runtime.around import attribute, attributes, enclosed, is_exactly, member, of_type
from .....runtime.tracing import is_array, is_tracer, type_of
from ....analysis.failures.messages import is_jax_file
from ....record.library_use import ModuleUse
from ..calls import MISSING, value_of
from ..modules import module_names
from ..statement import Place

#: JAX's transformations, and the ones of each library that take its modules.
_FILTERED = {
    "equinox": {
        "grad": "filter_grad",
        "value_and_grad": "filter_value_and_grad",
        "hessian": "filter_hessian",
        "jacrev": "filter_jacrev",
        "jacfwd": "filter_jacfwd",
        "jit": "filter_jit",
        "vmap": "filter_vmap",
        "checkpoint": "filter_checkpoint",
        "eval_shape": "filter_eval_shape",
        "make_jaxpr": "filter_make_jaxpr",
    },
    "nnx": {"grad": "grad", "value_and_grad": "value_and_grad"},
}

#: Transformations by the function that JAX returns for them.
_RETURNED = {
    "grad_f": "grad",
    "grad_f_aux": "grad",
    "value_and_grad_f": "value_and_grad",
    "vmap_f": "vmap",
    "fun_remat": "checkpoint",
}

#: What Python's values may become, by their types.
_DTYPES: dict[type, tuple[str, ...]] = {bool: ("bool",), int: ("int32", "int64")}

#: Modules inside of modules and containers are searched down to this depth.
_DEPTH = 20

#: A larger container is not searched.
_LARGEST = 1000

#: Options of a transformation that the library's takes as well.
_SHARED_OPTIONS = ("has_aux",)


#: Where a variable of nnx keeps its value; in Flax 0.12.0, in the second.
_SLOTS = "_raw_value", "raw_value"


def library_of(value: object) -> Literal["equinox", "nnx"] | None:
    """Return the library of whose modules a value is one."""
    for kind in of_type("__mro__", type(value)):
        home = of_type("__module__", kind)
        if of_type("__name__", kind) == "Module" and is_exactly(home, str):
            if home.partition(".")[0] == "equinox":
                return "equinox"
            if home.startswith("flax.nnx"):
                return "nnx"
    return None


def name_of(library: Literal["equinox", "nnx"], frame: FrameType) -> str:
    """Return the name that the user's code has for a library, or its full one."""
    module = sys.modules.get("equinox" if library == "equinox" else "flax.nnx")
    names = [*frame.f_locals.items(), *frame.f_globals.items()]
    own = (name for name, value in names if value is module and name.isidentifier())
    return next(own, "equinox" if library == "equinox" else "nnx")


def module_given(place: Place, frame: FrameType, said: dict[str, str]) -> ModuleUse | None:
    """Return the module among the arguments of a call that holds what JAX cannot take.

    Args:
        place: where the user's code stopped.
        frame: its frame.
        said: what JAX's message says: the type of a value, or the dtype of an array.
    """
    node = place.node
    if not isinstance(node, ast.Call):
        return None
    given = [*node.args, *(each.value for each in node.keywords)]
    values = [(each, value_of(each, frame)) for each in given]
    modules = [
        (library, ast.unparse(each) if inner is value else "", inner)
        for each, value in values
        for inner in _modules(_known(each, value, frame))
        if (library := library_of(inner)) is not None
    ]
    holding = [each for each in modules if _holds(each[2], said)]
    others = [value for _, value in values if value is not MISSING and library_of(value) is None]
    if len(holding) != 1 or any(_is_meant(each, said) for each in others):
        return None
    library, text, _ = holding[0]
    name = name_of(library, frame)
    transforms = _transforms(node.func, frame)
    known = _FILTERED[library]
    filtered = [f"{name}.{known[each]}" for each in transforms if each in known]
    complete = bool(transforms) and len(filtered) == len(transforms)
    return ModuleUse(
        library=library,
        name=name,
        text=text,
        transform=transforms[-1] if transforms else "",
        filtered=tuple(filtered) if complete else (),
        call=_with_filtered(node, filtered) if complete else None,
    )


def module_of_arrays(place: Place, frame: FrameType, said: dict[str, str]) -> ModuleUse | None:
    """Return the module of Equinox that a function gets which computes with each leaf, as those of optax do.

    Args:
        place: where the user's code stopped.
        frame: its frame.
        said: what the message says: the type of a value that is no array.
    """
    use = module_given(place, frame, said)
    if use is None or use.library != "equinox" or not isinstance(place.node, ast.Call):
        return None
    arrays = f"{use.name}.filter({use.text}, {use.name}.is_array)"
    call = _with_argument(place.node, use.text, arrays) if use.text else None
    return replace(use, filtered=(), call=call, as_arrays=True)


def module_as_function(place: Place, frame: FrameType, innermost: FrameType | None) -> ModuleUse | None:
    """Return the module of Equinox that JAX gets as a function: with arrays inside, it has no hash, which JAX needs.

    Args:
        place: where the user's code stopped.
        frame: its frame.
        innermost: the frame that failed.
    """
    node = place.node
    if innermost is None or innermost.f_code.co_name != "__hash__" or not isinstance(node, ast.Call):
        return None
    if library_of(innermost.f_locals.get("self")) != "equinox":
        return None
    made = node.func if isinstance(node.func, ast.Call) else node  # jax.jit(model)(x), or lax.scan(model, x, xs)
    transforms = [*filter(None, [_jax_name(value_of(made.func, frame))])] or _transforms(node.func, frame)
    if not transforms:
        return None
    text = next((ast.unparse(each) for each in made.args if _is_module(each, frame)), "")
    name, known = name_of("equinox", frame), _FILTERED["equinox"].get(transforms[0])
    filtered = [f"{name}.{known}"] if known is not None else []
    call = _with_filtered(node, filtered) if filtered and made is not node else None
    return ModuleUse(
        library="equinox",
        name=name,
        text=text,
        transform=transforms[0],
        filtered=tuple(filtered),
        call=call if filtered else _with_lambda(node, text),
        as_function=True,
    )


def _is_module(node: ast.expr, frame: FrameType) -> bool:
    """Return whether an expression is a module of Equinox, or a method of one."""
    owner = node.value if isinstance(node, ast.Attribute) else node
    return any(library_of(value_of(each, frame)) == "equinox" for each in (node, owner))


def _with_lambda(node: ast.Call, text: str) -> str | None:
    """Return a call with a function that calls the module in place of the module."""
    return _with_argument(node, text, f"lambda *args: {text}(*args)") if text else None


def _with_argument(node: ast.Call, text: str, other: str) -> str:
    """Return a call with another argument in place of one."""
    copy = ast.parse(ast.unparse(node), mode="eval").body
    assert isinstance(copy, ast.Call)
    new = ast.parse(other, mode="eval").body
    copy.args = [new if ast.unparse(each) == text else each for each in copy.args]
    for each in copy.keywords:
        each.value = new if ast.unparse(each.value) == text else each.value
    return ast.unparse(copy)


def _known(node: ast.expr, value: Any, frame: FrameType) -> Any:
    """Return the value of an argument; that of a tuple, a list or a dictionary is the list of those of its items."""
    if value is MISSING and isinstance(node, ast.Tuple | ast.List | ast.Dict):
        return [value_of(each, frame) for each in (node.values if isinstance(node, ast.Dict) else node.elts)]
    return value


def _modules(value: Any, depth: int = 2) -> Iterator[Any]:
    if value is MISSING or library_of(value) is not None:
        yield value
    elif depth and is_exactly(value, list, tuple, dict) and len(value) <= _LARGEST:
        for each in value.values() if is_exactly(value, dict) else value:
            yield from _modules(each, depth - 1)


def _holds(value: Any, said: dict[str, str], depth: int = _DEPTH) -> bool:
    """Return whether a module has what JAX names among its leaves: static fields are none."""
    if _is_meant(value, said):
        return True
    if not depth:
        return False
    if is_exactly(value, list, tuple, dict):
        items = list(value.values() if is_exactly(value, dict) else value) if len(value) <= _LARGEST else []
        return any(_holds(each, said, depth - 1) for each in items)
    if not str(of_type("__module__", type(value))).startswith("flax.nnx") and library_of(value) is None:
        return False
    for name in _SLOTS:
        slot = member(type(value), name)
        if is_exactly(slot, MemberDescriptorType):
            return _holds(slot.__get__(value), said, depth - 1)
    fields: Any = member(type(value), "__dataclass_fields__")
    known = fields if is_exactly(fields, dict) else {}
    return any(
        _holds(each, said, depth - 1)
        for name, each in (attributes(value) or {}).items()
        if name not in known or not known[name].metadata.get("static", False)
    )


def _is_meant(value: Any, said: dict[str, str]) -> bool:
    """Return whether a value has the type or the dtype in JAX's message."""
    kind = said.get("type")
    if kind is not None:
        own = type(value)
        return f"{of_type('__module__', own)}.{of_type('__qualname__', own)}".removeprefix("builtins.") == kind
    if is_exactly(value, bool, int):  # JAX makes arrays of them
        return said.get("dtype") in _DTYPES[type(value)]
    dtype = (type_of(value) or "").partition("[")[0] if is_array(value) or is_tracer(value) else ""
    return bool(dtype) and dtype == said.get("dtype")


def _transforms(function: ast.expr, frame: FrameType) -> list[str]:
    """Return the transformations that a called function consists of, such as ``["jit", "grad"]``."""
    if isinstance(function, ast.Call):  # jax.jit(jax.grad(f))
        outer = _jax_name(value_of(function.func, frame))
        inner = function.args[0] if function.args else None
        return [outer, *_transforms(inner, frame)] if outer and inner is not None else []
    called = value_of(function, frame)
    if of_type("__name__", type(called)) == "PjitFunction":
        return ["jit", *filter(None, [_returned_by(attribute(called, "__wrapped__"))])]
    return [*filter(None, [_jax_name(called) or _returned_by(called)])]


def _jax_name(function: Any) -> str:
    """Return the name of a public function of JAX; empty for another one."""
    if not is_exactly(function, FunctionType) or not str(function.__module__).startswith("jax."):
        return ""
    return str(function.__name__)


def _returned_by(function: Any) -> str:
    """Return the transformation of JAX that made a function; empty if it is none, or unknown."""
    if not is_exactly(function, FunctionType) or not is_jax_file(function.__code__.co_filename):
        return ""
    behind: Any = enclosed(function).get("fun")  # behind the wrapper that filters tracebacks
    inner: Any = behind if is_exactly(behind, FunctionType) and is_jax_file(behind.__code__.co_filename) else function
    return _RETURNED.get(inner.__code__.co_name, "")


def _with_filtered(node: ast.Call, filtered: list[str]) -> str | None:
    """Return a call such as ``jax.grad(f)(model)`` with the library's transformations in place of JAX's."""
    text = ast.unparse(node)
    copy = ast.parse(text, mode="eval").body
    assert isinstance(copy, ast.Call)
    here = copy.func
    for each in filtered:
        if not isinstance(here, ast.Call) or len(here.args) != 1:
            return None
        if any(option.arg not in _SHARED_OPTIONS for option in here.keywords):
            return None
        here.func = ast.parse(each, mode="eval").body
        here = here.args[0]
    return ast.unparse(copy)


def name_of_jax(frame: FrameType) -> str | None:
    """Return the name that the user's code has for JAX."""
    return dict(module_names(frame)).get("jax")
