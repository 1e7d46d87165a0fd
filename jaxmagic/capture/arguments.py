"""The arguments of a call, in words and without their data: types, places, static values.

A call is described inside the user's own call of JAX, while it compiles. So as little as possible of the user's
is run here: a registered pytree is flattened once more, but no ``__repr__``, ``__eq__`` or ``__hash__`` is called.
"""

from __future__ import annotations

import inspect
from collections.abc import Collection, Mapping
from types import MethodType
from typing import Any, NamedTuple

import numpy as np

from ..model.spans import Leaf
from .identity import defined_at, innermost, name_of, source_id

#: Leaves of an argument list that are remembered for one call.
_MOST_LEAVES = 250

#: In the place of the default of a parameter that has none.
_NONE = inspect.Parameter.empty

#: Of a static argument in words; it is compared in full, and shown in part.
_MOST_CHARACTERS = 2000


class Described(NamedTuple):
    """The arguments of one call.

    Attributes:
        leaves: its arrays and numbers, by path (``x``, ``params['w']``).
        statics: its static arguments by name, in words.
        static_functions: those that are functions: what they were made from, and where that is defined.
        containers: of each argument that has any, by name.
        passed: how many were passed by position, and the names of those passed by keyword.
        names: of the arguments that were passed, also of those without leaves.
    """

    leaves: Mapping[str, Leaf]
    statics: Mapping[str, str]
    static_functions: Mapping[str, tuple[int, str]]
    containers: Mapping[str, str]
    passed: tuple[int, tuple[str, ...]]
    names: tuple[str, ...]


def describe(
    function: Any, args: Any, kwargs: Any, static: Collection[str], *, arrays_only: bool = False
) -> Described:
    """The arguments by the names of the function's own parameters, where its signature can be read.

    Args:
        function: whose parameters name them.
        args: by position.
        kwargs: by keyword.
        static: names of those that are static.
        arrays_only: whether each leaf that is no array is static, too.
    """
    import jax

    passed = len(args), tuple(sorted(kwargs))
    try:
        binding = inspect.signature(function).bind(*args, **kwargs)
        bound = binding.arguments
        for name in static:  # one that is left out has its default as value
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
    for name, value in bound.items():
        if name in static:
            continue
        found, structure = jax.tree_util.tree_flatten_with_path(value)
        if structure.node_data() is not None:
            containers[name] = _containers(structure)
        for path, leaf in found:
            if len(leaves) + len(given) >= _MOST_LEAVES:
                break
            if arrays_only and not _is_array(leaf):
                given[name + jax.tree_util.keystr(path)] = leaf
            else:
                leaves[name + jax.tree_util.keystr(path)] = _leaf(leaf)
    return Described(leaves, static_words(given), _functions(given), containers, passed, tuple(bound))


def _containers(structure: Any, depth: int = 0) -> str:
    """The types of nested containers, without their keys: ``"dict[list[*], *]"``."""
    data, children = structure.node_data(), structure.children()
    if data is None:
        return "None" if structure.num_leaves == 0 else "*"
    shown = "…" if depth > 3 else ", ".join(_containers(each, depth + 1) for each in children[:8])
    return f"{data[0].__name__}[{shown}]"


def static_words(values: Mapping[str, Any]) -> dict[str, str]:
    """Static values in words; none of their own code is run."""
    return {name: _in_words(value) for name, value in values.items()}


def _functions(values: Mapping[str, Any]) -> dict[str, tuple[int, str]]:
    """The sources of those that are functions, and where these are defined."""
    functions = {name: each for name, each in values.items() if "(object 0x" in _in_words(each)}
    sources = {name: source_id(each) for name, each in functions.items()}
    return {name: (source, defined_at(functions[name])) for name, source in sources.items() if source is not None}


def _is_array(leaf: Any) -> bool:
    import jax

    return issubclass(type(leaf), jax.Array | jax.core.Tracer | np.ndarray | np.generic)


def _leaf(leaf: Any) -> Leaf:
    import jax

    try:
        kind = jax.typeof(leaf)
    except TypeError:
        return Leaf(type=type(leaf).__name__, placement=None)
    words = kind.str_short(short_dtypes=True) if hasattr(kind, "str_short") else str(kind)
    traced = isinstance(leaf, jax.core.Tracer)
    return Leaf(
        type=words,
        weak=bool(getattr(kind, "weak_type", False)),
        placement=_placement(leaf) if issubclass(type(leaf), jax.Array) and not traced else None,
        traced=traced,
        number=type(leaf) in (bool, int, float, complex),
    )


def _placement(array: Any) -> str:
    """Where an array lies, in the words of its sharding."""
    import jax

    sharding = array.sharding
    if isinstance(sharding, jax.sharding.SingleDeviceSharding):
        where = str(next(iter(sharding.device_set)))
    elif isinstance(sharding, jax.sharding.NamedSharding):
        shape = ", ".join(f"{axis}={size}" for axis, size in sharding.mesh.shape.items())
        where = f"{sharding.spec} over mesh ({shape})".replace("PartitionSpec", "P")
    else:
        where = str(sharding)
    committed = getattr(array, "_committed", None)
    return where if committed is None else f"{where} ({'committed' if committed else 'uncommitted'})"


def _by_identity(kind: type) -> bool:
    """Whether objects of this type are equal to no other."""
    compare: Any = kind.__eq__
    return compare is object.__eq__ or compare is type.__eq__


def _in_words(value: Any, depth: int = 0) -> str:
    kind = type(value)
    if value is None or kind in (bool, int, float, complex, str, bytes):
        text = repr(value)
    elif (kind is tuple or kind is list) and depth < 4:
        items: Any = value
        inner = ", ".join(_in_words(item, depth + 1) for item in items[:100]) + (", …" if len(items) > 100 else "")
        text = f"[{inner}]" if kind is list else f"({inner},)" if len(items) == 1 else f"({inner})"
    elif isinstance(value, np.generic):
        text = f"{kind.__name__}({value.item()!r})"
    elif kind is MethodType:  # made anew whenever it is asked for, and equal
        text = f"{name_of(value.__func__)} (object {id(value.__self__):#x})"
    elif callable(value) and _by_identity(kind) and (name := name_of(innermost(value))) is not None:
        text = f"{name} (object {id(value):#x})"
    elif _by_identity(kind):
        text = f"{kind.__name__} object {id(value):#x}"
    else:
        text = f"a {kind.__name__}"  # two of them may be equal, and only their own code could tell
    return text if len(text) <= _MOST_CHARACTERS else text[: _MOST_CHARACTERS - 1] + "…"
