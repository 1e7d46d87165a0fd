"""Names the parts of an object as its users do, where an attribute is how a library has written it.

``state.mu`` of a named tuple and not ``state[1]``; ``frozen['w']`` and not ``frozen._dict['w']``; ``model.kernel``
and not ``model.kernel._raw_value``. No code of a library runs for that: its classes are looked at.
"""

from __future__ import annotations

from collections import namedtuple
from collections.abc import Callable, Mapping
from typing import Any

#: How an object leads to another one: ``("attribute", "w")``, ``("item", 0)``, ``("closure", "w")``.
Step = tuple[str, Any]

#: JAX's classes of arrays, as the end of what ``type`` writes for them.
_ARRAYS = (".ArrayImpl'>", ".PRNGKeyArray'>")

#: The class of a named tuple's fields.
_FIELD: type = type(vars(namedtuple("_Example", ("field",)))["field"])


def field_names(members: Mapping[str, Any]) -> tuple[str, ...]:
    """Return the fields of a named tuple in their order; none of another tuple.

    Args:
        members: all attributes of its class.
    """
    names = members.get("_fields")
    if type(names) is not tuple or not all(type(each) is str for each in names):
        return ()
    return names if all(type(members.get(each)) is _FIELD for each in names) else ()


def step_to(name: str, value: Any, attributes: Mapping[str, Any], *, mapping: bool, sequence: bool) -> Step:
    """Return how a user writes the step from an object of a library to its attribute.

    Args:
        name: that of the attribute.
        value: the attribute.
        attributes: all attributes of the object.
        mapping: whether it is a mapping: then its only private dictionary has its items.
        sequence: whether it has items: then an attribute named by a number is one, as in ``flax.nnx.List``.

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
    """Return the private names of what has another name, such as ``_fun`` beside ``__wrapped__``."""
    private = [name for name in attributes if _is_private(name)]
    if not private:
        return frozenset()
    others = {id(value) for name, value in attributes.items() if not _is_private(name)}
    return frozenset(name for name in private if id(attributes[name]) in others)


def _is_private(name: str) -> bool:
    return name.startswith("_") and not name.startswith("__")


def _only(attributes: Mapping[str, Any], value: Any, kind: Callable[[Any], bool]) -> bool:
    """Tell whether a value is of a kind, and no other attribute is."""
    return kind(value) and sum(map(kind, list(attributes.values()))) == 1


def _is_array(value: Any) -> bool:
    """Tell whether it is one of JAX's, as far as its class tells; :func:`isinstance` would ask the object."""
    kind = type(value)
    module = type.__dict__["__dict__"].__get__(kind).get("__module__")
    return (
        type(module) is str
        and module.partition(".")[0] in ("jax", "jaxlib")
        and type.__repr__(kind).endswith(_ARRAYS)
    )
