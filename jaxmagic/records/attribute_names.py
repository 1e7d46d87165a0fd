"""Name the parts of an object as its users do, rather than as a library implements them.

For example, this gives ``state.mu`` of a named tuple, not ``state[1]``; ``frozen['w']``, not ``frozen._dict['w']``;
``model.kernel``, not ``model.kernel._raw_value``. Only classes are inspected; no code of a library runs.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

#: A step from an object to one that it refers to: ``("attribute", "w")``, ``("item", 0)``, ``("closure", "w")``.
Step = tuple[str, Any]

#: JAX's classes of arrays, as the end of the class's ``repr``.
_ARRAYS = (".ArrayImpl'>", ".PRNGKeyArray'>")

#: The class of a named tuple's fields.
_FIELD: type = type(vars(namedtuple("_Example", ("field",)))["field"])


def field_names(members: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a named tuple in order; ``()`` for any other tuple.

    Args:
        members: all attributes of its class.
    """
    names = members.get("_fields")
    if type(names) is not tuple or not all(type(each) is str for each in names):
        return ()
    return names if all(type(members.get(each)) is _FIELD for each in names) else ()


def step_to(name: str, value: Any, attributes: Mapping[str, Any], *, mapping: bool, sequence: bool) -> Step:
    """Return how a user writes the step from a library's object to its attribute.

    Args:
        name: the name of the attribute.
        value: the value of the attribute.
        attributes: all attributes of the object.
        mapping: whether the object is a mapping; its only private dictionary then has its items.
        sequence: whether the object has items; an attribute named by a number is then one, as in ``flax.nnx.List``.

    >>> step_to("_dict", {"w": 1}, {"_dict": {"w": 1}, "_hash": None}, mapping=True, sequence=True)
    ('same', None)
    >>> [step_to(name, 1, {name: 1}, mapping=False, sequence=True) for name in ("0", "w")]
    [('item', 0), ('attribute', 'w')]
    """
    if sequence and name.isdecimal():
        return "item", int(name)
    if _is_private(name):
        if mapping and _only(attributes, value, lambda each: type(each) is dict):
            return "same", None
        if _only(attributes, value, _is_array):
            return "same", None
    return "attribute", name


def aliases(attributes: Mapping[str, Any]) -> frozenset[str]:
    """Return the private names of attributes that have another name too, such as ``_fun`` beside ``__wrapped__``."""
    private = [name for name in attributes if _is_private(name)]
    if not private:
        return frozenset()
    others = {id(value) for name, value in attributes.items() if not _is_private(name)}
    return frozenset(name for name in private if id(attributes[name]) in others)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _only(attributes: Mapping[str, Any], value: Any, kind: Callable[[Any], bool]) -> bool:
    """Return whether a value is the only attribute of its kind."""
    return kind(value) and sum(map(kind, list(attributes.values()))) == 1


def _is_array(value: Any) -> bool:
    """Return whether a value is a JAX array, by its class alone; :func:`isinstance` would read its ``__class__``."""
    kind = type(value)
    module = type.__dict__["__dict__"].__get__(kind).get("__module__")
    return (
        type(module) is str
        and module.partition(".")[0] in ("jax", "jaxlib")
        and type.__repr__(kind).endswith(_ARRAYS)
    )
