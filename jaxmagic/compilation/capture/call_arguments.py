"""The arguments of a call, in words and without their data: types, places, static values.

A call is described inside the user's own call of JAX, while it compiles. So as little as possible of the user's
is run here: a registered pytree is flattened once more, but no ``__repr__``, ``__eq__`` or ``__hash__`` is called.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Collection, Mapping
from typing import Any, NamedTuple

import numpy as np

from ...runtime.around import inherits, is_exactly, of_type
from ...runtime.private_api import device_order
from ..record.events import Held, Leaf
from .attributes import is_written, name_of_class
from .contents import contents, contents_of
from .function_identity import defined_at, function_id, source_id
from .pytrees import static_fields
from .static_values import static_words

#: Leaves of an argument list that are remembered for one call.
_MOST_LEAVES = 250

#: A function in words.
_FUNCTION = re.compile(r"[\w.<>]+ \(object 0x\w+\)")

#: Words that tell all of a value, with no object in it; of others it is taken down what they hold.
_COMPLETE = re.compile(r"(?!.*(0x|\ba \w|…)).{0,60}", re.DOTALL)

#: In the place of the default of a parameter that has none.
_NONE = inspect.Parameter.empty


class Described(NamedTuple):
    """The arguments of one call.

    Attributes:
        leaves: its arrays and numbers, by path (``x``, ``params['w']``).
        statics: its static arguments by name, in words.
        static_functions: those that are functions: what they were made from, and where that is defined.
        static_contents: what each of them holds.
        containers: of each argument that has any, by name.
        passed: how many were passed by position, and the names of those passed by keyword.
        names: of the arguments that were passed, also of those without leaves.
    """

    leaves: Mapping[str, Leaf]
    statics: Mapping[str, str]
    static_functions: Mapping[str, tuple[int, str]]
    static_contents: Mapping[str, Mapping[str, Held]]
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
            given |= {} if arrays_only else static_fields(structure, name)
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
        name: contents(each) if name in functions else contents_of(each, name)
        for name, each in given.items()
        if not _COMPLETE.fullmatch(words[name])
    }
    return Described(leaves, words, functions, held, containers, passed, tuple(bound))


def _containers(structure: Any, depth: int = 0) -> str:
    """The types of nested containers, without their keys: ``"dict[list[*], *]"``."""
    data, children = structure.node_data(), structure.children()
    if data is None:
        return "None" if structure.num_leaves == 0 else "*"
    shown = "…" if depth > 3 else ", ".join(_containers(each, depth + 1) for each in children[:8])
    kind = data[0]
    # A class that was made anew is another one for JAX, whatever its name.
    made = f" (class {function_id(kind)})" if is_written(kind) else ""
    return f"{name_of_class(kind)}{made}[{shown}]"


def _functions(values: Mapping[str, Any], words: Mapping[str, str]) -> dict[str, tuple[int, str]]:
    """The sources of those that are functions, and where these are defined."""
    functions = {name: each for name, each in values.items() if _FUNCTION.fullmatch(words[name])}
    sources = {name: source_id(each) for name, each in functions.items()}
    return {name: (source, defined_at(functions[name])) for name, source in sources.items() if source is not None}


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
    )


def _placement(array: Any) -> str:
    """Find where an array lies, in the words of its sharding."""
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
