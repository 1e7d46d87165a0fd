"""Find the containers of pytrees and their static fields, which JAX compares in addition to the arrays."""

from __future__ import annotations

from collections import OrderedDict, defaultdict
from collections.abc import Iterator, Sequence
from types import NoneType
from typing import Any

from ...runtime.around import is_a, member, members, of_type
from ..record.events import Node
from .attributes import is_written, name_of_class

#: At most this many nodes are visited.
_MOST = 500

#: What flax keeps for itself among the attributes of its modules.
_OWN = "_pytree__", "_length"


def static_fields(structure: Any, name: str, *, arrays_only: bool = False) -> dict[str, Any]:
    """Return the auxiliary data of the nodes of a pytree, by path.

    Args:
        structure: the ``PyTreeDef``.
        name: the name of the argument.
        arrays_only: whether a library compares the auxiliary data: then only that of named fields is returned.

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
    for path, kind, aux, _ in _containers(structure, name):
        names = _field_names(kind)
        if names is not None:
            values = aux[1:] if _is_module(kind) else aux
            static |= {f"{path}.{field}": value for field, value in zip(names[1], values, strict=False)}
        elif not arrays_only and is_written(kind) and aux is not None and not is_a(aux, type):
            static |= {path: aux, **graph_attributes(aux, path.rpartition(".")[0])}
    return static


def nodes(structure: Any, name: str) -> dict[str, Node]:
    """Return the containers of a pytree by path, without those of thousands of elements.

    Args:
        structure: the ``PyTreeDef``.
        name: the name of the argument.

    >>> import jax
    >>> nodes(jax.tree.structure({"a": [1.0, None]}), "p")  # doctest: +NORMALIZE_WHITESPACE
    {'p': Node(kind='dict', count=1, names=("'a'",)), "p['a']": Node(kind='list', count=2, names=()),
     "p['a'][1]": Node(kind='None', count=0, names=())}
    """
    found = {}
    for path, kind, aux, children in _containers(structure, name):
        named = _keys(kind, aux) is not None or _fields(kind, aux) is not None
        steps = [each[len(path) :] for each in children] if named else []
        names = tuple(each[1:] if each.startswith(".") else each[1:-1] for each in steps)
        if len(children) <= _MOST:
            found[path] = Node("None" if kind is NoneType else name_of_class(kind), len(children), names)
    return found


def _containers(structure: Any, name: str) -> Iterator[tuple[str, type, Any, list[str]]]:
    """Yield the path, class, auxiliary data and the paths of the elements of each node, from the outside in."""
    pending = [(name, structure)]
    for _ in range(_MOST):
        if not pending:
            break
        path, node = pending.pop()
        data = node.node_data()
        if data is None:
            continue
        kind, aux = data
        inside = node.children()
        children = list(_children(path, kind, aux, len(inside)))
        yield path, kind, aux, children
        pending += reversed(list(zip(children, inside, strict=False)))


def _field_names(kind: type) -> tuple[tuple[str, ...], tuple[str, ...]] | None:
    """Return the names of the data and static fields of a registered dataclass, or of a module of Equinox."""
    from ...runtime.private_api import pytree_registration  # which describes calls with this

    if _is_module(kind):
        fields = member(kind, "__dataclass_fields__")
        static = tuple(name for name, each in fields.items() if each.metadata.get("static"))
        return tuple(name for name in fields if name not in static), static
    names = pytree_registration(kind)
    return names if names is not None and type(names[0]) is tuple else None


def _is_module(kind: type) -> bool:
    """Return whether a class is that of a module of Equinox, whose auxiliary data are first its own, then its fields.

    So it is since Equinox 0.12.
    """
    bases = (members(each) for each in of_type("__mro__", kind))
    is_equinoxs = any(each.get("__module__") == "equinox._module._module" for each in bases)
    return is_equinoxs and type(member(kind, "__dataclass_fields__")) is dict


def _keys(kind: type, aux: Any) -> Sequence[Any] | None:
    """Return the keys of a dict; ``None`` for any other class."""
    if kind is dict or kind is OrderedDict:
        return aux
    return aux[1] if kind is defaultdict else None


def _fields(kind: type, aux: Any) -> Sequence[str] | None:
    """Return the names of the elements of a dataclass or a named tuple; ``None`` for any other class."""
    if (names := _field_names(kind)) is not None:
        return names[0]
    return members(kind).get("_fields") if not is_written(type(aux)) else None


def _children(path: str, kind: type, aux: Any, count: int) -> Iterator[str]:
    if (keys := _keys(kind, aux)) is not None:
        yield from (f"{path}[{key!r}]" if type(key) in (str, int) else f"{path}[…]" for key in keys)
        return
    names = _fields(kind, aux) or ()
    yield from (f"{path}.{each}" for each in names)
    yield from (f"{path}[{number}]" for number in range(len(names), count))


def graph_attributes(graph: Any, path: str) -> dict[str, Any]:
    """Return the attributes that a graph of modules of flax.nnx holds as static values; ``{}`` if unknown.

    JAX compares them as one value.

    Args:
        graph: the ``GraphDef``.
        path: the path of its module.
    """
    if _class(graph) != "GraphDef":
        return {}
    found: dict[str, Any] = {}
    try:
        _walk(iter(graph.nodes), iter(graph.attributes), path, found)
    except (AttributeError, TypeError, ValueError, StopIteration, RecursionError):  # of another version of flax
        return {}
    return found


def _walk(nodes: Iterator[Any], attributes: Iterator[Any], path: str, found: dict[str, Any]) -> None:
    """Collect the attributes of the next node: nodes and attributes are in the order of a walk in depth."""
    node = next(nodes)
    if _class(node) != "NodeDef":
        return
    for _ in range(node.num_attributes):
        key, value = next(attributes)
        inside = f"{path}.{key}" if isinstance(key, str) and key.isidentifier() else f"{path}[{key!r}]"
        if _class(value) == "NodeAttr":
            _walk(nodes, attributes, inside, found)
        elif _class(value) == "Static" and not str(key).startswith(_OWN):
            found[inside] = value.value


def _class(value: Any) -> str:
    """Return the name of a class of flax.nnx; empty for anything else."""
    module = members(type(value)).get("__module__")
    is_nnxs = isinstance(module, str) and module.startswith("flax.nnx")
    return str(of_type("__name__", type(value))) if is_nnxs else ""
