"""Describe the arguments of a call without their data: types, placements, static values.

This happens inside the user's own call of JAX, while it compiles, so as little of the user's code as possible runs: a
registered pytree is flattened once more, but no ``__repr__``, ``__eq__`` or ``__hash__`` is called.
"""

from __future__ import annotations

import inspect
import re
from collections import OrderedDict
from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import Any, NamedTuple

import numpy as np

from ...runtime.around import inherits, is_a, is_exactly, of_type
from ...runtime.private_api import device_order
from ..record.events import Held, Leaf, Node, WrapperKind
from .attributes import attributes_read, is_written, name_of_class
from .contents import contents, contents_of
from .function_identity import defined_at, function_id, innermost, source_id
from .pytrees import nodes, static_fields
from .static_values import static_words

#: At most this many leaves are recorded for one call.
_MOST_LEAVES = 250

#: A function in words.
_FUNCTION = re.compile(r"[\w.<>]+ \(object 0x\w+\)")

#: Words that describe a value completely; for other values, their contents are recorded as well.
_COMPLETE = re.compile(r"(?!.*(0x|\ba \w|…)).{0,60}", re.DOTALL)

#: An attribute at the beginning of a path from an object on.
_ATTRIBUTE = re.compile(r"\.(\w+)")

#: The default of a parameter that has none.
_NONE = inspect.Parameter.empty


class Described(NamedTuple):
    """The arguments of one call.

    Attributes:
        leaves: its arrays and numbers, by path (``x``, ``params['w']``).
        static_args: its static arguments by name, in words.
        static_functions: the static arguments that are functions: a number for their source, and where it is defined.
        static_wrappers: those of them that are no functions but call one: their kind, and the name of their class.
        static_contents: the values that each static argument holds.
        containers: the container types of each argument that has any, by name.
        nodes: these containers, by path.
        call_signature: the number of arguments passed by position, and the names of those passed by keyword.
        names: the names of all arguments that were passed, including those without leaves.
    """

    leaves: Mapping[str, Leaf]
    static_args: Mapping[str, str]
    static_functions: Mapping[str, tuple[int, str]]
    static_wrappers: Mapping[str, tuple[WrapperKind, str]]
    static_contents: Mapping[str, Mapping[str, Held]]
    containers: Mapping[str, str]
    nodes: Mapping[str, Node]
    call_signature: tuple[int, tuple[str, ...]]
    names: tuple[str, ...]


def describe(
    function: Any, args: Any, kwargs: Any, static: Collection[str], *, arrays_only: bool = False
) -> Described:
    """Describe arguments by the names of the function's own parameters, if its signature can be read.

    Args:
        function: the function whose parameters name the arguments.
        args: the arguments by position.
        kwargs: the arguments by keyword.
        static: the names of the static arguments.
        arrays_only: whether each leaf that is not an array is static, too.
    """
    import jax

    call_signature = len(args), tuple(sorted(kwargs))
    try:
        binding = inspect.signature(function).bind(*args, **kwargs)
        bound = binding.arguments
        for name in static:  # a static argument that is left out has its default value
            default = binding.signature.parameters[name].default if name in binding.signature.parameters else _NONE
            if name not in bound and default is not _NONE:
                bound[name] = default
        if arrays_only:
            binding.apply_defaults()
            bound = binding.arguments
    except (TypeError, ValueError):
        bound = {f"args[{i}]": arg for i, arg in enumerate(args)} | dict(kwargs)
    given = {name: bound[name] for name in bound if name in static}
    leaves: dict[str, Leaf] = {}
    containers: dict[str, str] = {}
    inside: dict[str, Node] = {}
    for name, value in bound.items():
        if name in static:
            continue
        found, structure = jax.tree_util.tree_flatten_with_path(value)
        if structure.node_data() is not None:
            containers[name] = _containers(structure)
            inside |= nodes(structure, name)
            given |= static_fields(structure, name, arrays_only=arrays_only)
        for path, leaf in found:
            if len(leaves) + len(given) >= _MOST_LEAVES:
                break
            if arrays_only and not _is_array(leaf):
                given[name + jax.tree_util.keystr(path)] = leaf
            else:
                leaves[name + jax.tree_util.keystr(path)] = _leaf(leaf)
    words = static_words(given)
    functions = _functions(given, words)
    held = {
        name: contents(each) if name in functions else object_contents(function, name, each)
        for name, each in given.items()
        if not _COMPLETE.fullmatch(words[name])
    }
    around = {name: wrapper for name in functions if (wrapper := _wrapper(given[name])) is not None}
    return Described(leaves, words, functions, around, held, containers, inside, call_signature, tuple(bound))


def object_contents(function: Any, name: str, value: Any) -> dict[str, Held]:
    """Return what a static argument holds, marked as to whether the function reads it.

    Args:
        function: the function that is jitted.
        name: its parameter.
        value: what it takes for that.
    """
    held, within = contents_of(value, name), innermost(function)
    read = attributes_read(within, name, type(value)) if is_exactly(within, FunctionType) else None
    if read is None:
        return held
    first = {path: _ATTRIBUTE.match(path, len(name)) for path in held}
    return {
        path: each if (found := first[path]) is None else replace(each, read=found[1] in read)
        for path, each in held.items()
    }


def _containers(structure: Any, depth: int = 0) -> str:
    """Return the types of nested containers, without their keys: ``"dict[list[*], *]"``.

    The keys of an ``OrderedDict`` belong to its type, in their order.
    """
    data, children = structure.node_data(), structure.children()
    if data is None:
        return "None" if structure.num_leaves == 0 else "*"
    shown = "…" if depth > 3 else ", ".join(_containers(each, depth + 1) for each in children[:8])
    kind, aux = data
    # To JAX, a re-created class is a different one, whatever its name.
    number = f" (class {function_id(kind)})" if is_written(kind) else ""
    keys = ""
    if kind is OrderedDict:
        keys = f"({', '.join(repr(key) if is_exactly(key, str, int) else '…' for key in aux)})"
    return f"{name_of_class(kind)}{number}{keys}[{shown}]"


def _functions(values: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """Return the sources of the values that are functions, and where they are defined."""
    functions = {name: each for name, each in values.items() if _FUNCTION.fullmatch(words[name])}
    sources = {name: source_id(each) for name, each in functions.items()}
    return {name: (source, defined_at(functions[name])) for name, source in sources.items() if source is not None}


def _wrapper(value: Any) -> tuple[WrapperKind, str] | None:
    """Return what a callable value is if it is not a function, and the name of its class."""
    if is_exactly(value, FunctionType, BuiltinFunctionType) or is_a(value, type):
        return None
    if is_a(value, partial):
        return "partial", "partial"
    if is_exactly(value, MethodType):
        return "method", name_of_class(type(value.__self__))
    return "object", name_of_class(type(value))


def _is_array(leaf: Any) -> bool:
    import jax

    return inherits(type(leaf), jax.Array, jax.core.Tracer, np.ndarray, np.generic)


def _leaf(leaf: Any) -> Leaf:
    import jax

    try:
        kind = jax.typeof(leaf)
    except TypeError:
        return Leaf(type=of_type("__name__", type(leaf)), placement=None)
    words = kind.str_short(short_dtypes=True) if hasattr(kind, "str_short") else str(kind)
    traced = inherits(type(leaf), jax.core.Tracer)
    return Leaf(
        type=words,
        weak=bool(getattr(kind, "weak_type", False)),
        placement=_placement(leaf) if inherits(type(leaf), jax.Array) and not traced else None,
        traced=traced,
        number=is_exactly(leaf, bool, int, float, complex),
        numpy_scalar=is_a(leaf, np.generic),
        mesh=_mesh(kind, words),
    )


def _mesh(kind: Any, words: str) -> str:
    """Return the axes of the mesh that is part of a type, if this JAX tells them: two meshes are two programs."""
    try:
        mesh = str(kind.str_short(short_dtypes=True, mesh_axis_types=True)).removeprefix(words)
    except (AttributeError, TypeError):
        return ""
    return "" if mesh == "({})" else mesh


def _placement(array: Any) -> str:
    """Describe the sharding of an array, and whether it is committed."""
    import jax

    sharding = array.sharding
    if isinstance(sharding, jax.sharding.SingleDeviceSharding):
        where = str(next(iter(sharding.device_set)))
    elif isinstance(sharding, jax.sharding.NamedSharding):
        shape = ", ".join(f"{axis}={size}" for axis, size in sharding.mesh.shape.items())
        where = f"{sharding.spec} over mesh ({shape}{device_order(sharding)})".replace("PartitionSpec", "P")
    else:
        where = str(sharding)
    committed = getattr(array, "_committed", None)
    return where if committed is None else f"{where} ({'committed' if committed else 'uncommitted'})"
