"""Find the static fields of pytrees, which JAX compares in addition to the arrays of a dataclass or a module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ...runtime.around import is_a, members
from .attributes import is_written

#: At most this many nodes are visited.
_MOST = 500


def static_fields(structure: Any, name: str) -> dict[str, Any]:
    """Return the auxiliary data of the nodes of a pytree, by path.

    Args:
        structure: the ``PyTreeDef``.
        name: the name of the argument.

    >>> import jax
    >>> from functools import partial
    >>> from dataclasses import dataclass
    >>> @partial(jax.tree_util.register_dataclass, data_fields=["weight"], meta_fields=["activation"])
    ... @dataclass
    ... class Layer:
    ...     weight: float
    ...     activation: str
    >>> static_fields(jax.tree.structure({"a": Layer(1.0, "relu")}), "net")
    {"net['a'].activation": 'relu'}
    """
    static: dict[str, Any] = {}
    pending = [(name, structure)]
    for _ in range(_MOST):
        if not pending:
            break
        path, node = pending.pop()
        data = node.node_data()
        if data is None:
            continue
        kind, aux = data
        names = _field_names(kind)
        if names is not None:
            children = [f"{path}.{field}" for field in names[0]]
            static |= {f"{path}.{field}": value for field, value in zip(names[1], aux, strict=False)}
        else:
            children = list(_children(path, kind, aux, node.num_nodes))
            if is_written(kind) and aux is not None and not is_a(aux, type):
                static[path] = aux
        pending += reversed(list(zip(children, node.children(), strict=False)))
    return static


def _field_names(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the names of the data and static fields of a registered dataclass; ``None`` for any other class."""
    from ...runtime.private_api import pytree_registration  # which describes calls with this

    names = pytree_registration(kind)
    return names if names is not None and type(names[0]) is tuple else None


def _children(path: str, kind: type, aux: Any, count: int) -> Iterator[str]:
    if kind is dict:
        yield from (f"{path}[{key!r}]" if type(key) in (str, int) else f"{path}[…]" for key in aux)
        return
    names = members(kind).get("_fields") if not is_written(type(aux)) else None
    yield from (f"{path}.{each}" for each in names or ())
    yield from (f"{path}[{number}]" for number in range(len(names or ()), count))
