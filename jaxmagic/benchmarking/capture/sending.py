"""Sends a function with its arguments to a fresh process: pickled with ``cloudpickle``, arrays with their sharding.

Functions defined in a notebook or a script are sent by value, together with the globals that they refer to. Functions
of a module are sent by name. Pytree classes of a notebook are registered again. Arrays are sent as NumPy data and put
back on their devices, with their sharding and weak type, because a NumPy argument would be copied to the device in
every call. JAX's own objects, such as jitted functions of ``jax.numpy`` and caches, are looked up by the name that a
module of JAX has for them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields, is_dataclass
from importlib import import_module
from operator import attrgetter
from types import CodeType
from typing import Any

import cloudpickle

from ...errors import LaunchError
from ...runtime import private_api
from ...runtime.copies import unguarded

_ADVICE = (
    "Define what the function needs at module or notebook level or inside the function, and pass plain "
    "data and arrays."
)

#: The file name that cloudpickle gives to code.
_DYNAMIC = "<dynamic-code>"

#: The length of the tuple to which :mod:`cloudpickle` reduces a class that is sent by value.
_PARTS_BY_VALUE = 6


def pack(task: Any, parts: Mapping[str, object]) -> bytes:
    """Pickle `task`, so that :func:`pickle.load` reads it in another process.

    Args:
        task: the object to send.
        parts: the objects that it refers to, under names that the user knows, for error messages.

    Raises:
        LaunchError: part of it cannot be pickled; the message names that part.
    """
    packed, error = _try(task)
    if packed is not None:
        return packed
    for name, part in parts.items():
        bytes_of_part, why = _try(part)
        if bytes_of_part is None:
            inner = _inside(part)
            where = f"{inner}, which {name} refers to," if inner else name
            raise LaunchError(f"Cannot send {where} to a fresh process: {_describe(why)}. {_ADVICE}") from why
    raise LaunchError(f"Cannot send this function to a fresh process: {_describe(error)}. {_ADVICE}") from error


def _try(value: Any) -> tuple[bytes | None, Exception | None]:
    file = io.BytesIO()
    try:
        unguarded(_Pickler(file).dump, value)
    except Exception as error:  # pickling runs arbitrary code of the objects
        return None, error
    return file.getvalue(), None


def _describe(error: Exception | None) -> str:
    return f"{type(error).__name__}: {error}".rstrip(".: ")


def _inside(part: Any) -> str | None:
    """Return the first name in a function's closure or globals whose value cannot be sent."""
    function = getattr(part, "__wrapped__", part)
    code = getattr(function, "__code__", None)
    if code is None:
        return None
    named: dict[str, Any] = {}
    for name, cell in zip(code.co_freevars, function.__closure__ or (), strict=True):
        with suppress(ValueError):  # an empty cell
            named[name] = cell.cell_contents
    named |= {name: function.__globals__[name] for name in code.co_names if name in function.__globals__}
    return next((name for name, value in named.items() if _try(value)[0] is None), None)


class _Pickler(cloudpickle.Pickler):
    """Also pickles arrays, devices and the objects that JAX has by name."""

    def __init__(self, file: io.BytesIO) -> None:
        super().__init__(file)
        self._names = _names_in_jax()

    def reducer_override(self, obj: Any) -> Any:
        """Return how to rebuild `obj`. Pickle calls this for everything but plain containers and numbers."""
        reduced = _reduced(obj, self._names)
        if reduced is not None:
            return reduced
        if isinstance(obj, CodeType):  # cloudpickle 3.1.3 replaces the file's name, and tracebacks have no lines then
            make, arguments = self.dispatch_table[CodeType](obj)
            return make, tuple(obj.co_filename if each == _DYNAMIC else each for each in arguments)
        reduced = super().reducer_override(obj)
        by_value = isinstance(obj, type) and isinstance(reduced, tuple) and len(reduced) == _PARTS_BY_VALUE
        return _registering(obj, reduced) if by_value else reduced


def _registering(kind: type, reduced: tuple[Any, ...]) -> tuple[Any, ...]:
    """Add the registration as a pytree to how a class is rebuilt by value."""
    registration = private_api.pytree_registration(kind)
    if registration is None:
        return reduced
    make, arguments, state, items, pairs, set_state = reduced
    return make, arguments, (set_state, state, registration), items, pairs, _set_and_register


def _set_and_register(kind: type, state: tuple[Callable[[type, Any], object], Any, tuple[Any, ...]]) -> None:
    """Set the attributes of a class, and register it as it was.

    Raises:
        TypeError: the class registered itself before it had its fields, as :class:`equinox.Module` does.
    """
    import jax

    set_state, own, registration = state
    set_state(kind, own)
    existing = private_api.pytree_registration(kind)
    if existing is not None:
        if not all(map(_same_code, existing, registration)):
            raise TypeError(
                f"{kind.__qualname__} registers itself as a pytree before it has its fields, so it must come from a "
                "module: write it to a file that ends in .py, and import it from there"
            )
    elif callable(registration[0]):
        jax.tree_util.register_pytree_node(kind, *registration)
    else:
        given = {name for names in registration for name in names}
        own_fields = fields(kind) if is_dataclass(kind) else ()
        dropped = [each.name for each in own_fields if each.init and each.name not in given]
        jax.tree_util.register_dataclass(kind, *registration, drop_fields=dropped)


def _same_code(one: Any, other: Any) -> bool:
    one, other = (getattr(each, "func", each) for each in (one, other))  # unwrap a partial
    return one == other or getattr(one, "__code__", None) == getattr(other, "__code__", 0)


def _reduced(obj: Any, names: Mapping[int, tuple[str, str]]) -> tuple[Any, ...] | None:
    import jax

    if isinstance(obj, type):
        return None
    if isinstance(obj, jax.Device):
        return _device, (obj.platform, obj.id)
    if isinstance(obj, jax.core.Tracer):
        raise TypeError(f"a traced value ({obj}) has no data")
    if isinstance(obj, jax.Array):
        return _reduced_array(obj)
    if id(obj) in names:
        return _by_name, names[id(obj)]
    if isinstance(obj, jax.custom_jvp | jax.custom_vjp):  # their own __new__ wants the function
        return _blank, (type(obj),), obj.__dict__
    if hasattr(obj, "lower") and (path := _importable(obj)) is not None:  # a jitted function of a module
        return _by_name, path
    return None


def _reduced_array(array: Any) -> tuple[Any, ...]:
    import jax

    if array.is_deleted():
        raise ValueError(f"an array of shape {array.shape} was donated or deleted")
    if not array.is_fully_addressable:
        raise ValueError(f"an array of shape {array.shape} lies on devices of several processes")
    if jax.dtypes.issubdtype(array.dtype, jax.dtypes.prng_key):
        return _key, (jax.random.key_data(array), jax.random.key_impl(array))
    make, arguments, *_ = array.__reduce__()
    return _array, (make, arguments, array.sharding if array.committed else None)


def _array(make: Any, arguments: tuple[Any, ...], sharding: Any) -> Any:
    import jax

    value = make(*arguments)
    return value if sharding is None else jax.device_put(value, sharding)


def _key(data: Any, impl: Any) -> Any:
    import jax

    return jax.random.wrap_key_data(data, impl=impl)


def _device(platform: str, number: int) -> Any:
    import jax

    for each in jax.devices(platform):
        if each.id == number:
            return each
    raise LookupError(f"this process has no device {platform}:{number}")


def _blank(kind: type) -> Any:
    return object.__new__(kind)


def _by_name(module: str, path: str) -> Any:
    return attrgetter(path)(import_module(module))


def _importable(obj: Any) -> tuple[str, str] | None:
    """Return the module and the qualified name from which `obj` itself can be imported."""
    module, path = getattr(obj, "__module__", None), getattr(obj, "__qualname__", None)
    if not isinstance(module, str) or not isinstance(path, str) or module == "__main__":
        return None
    try:
        return (module, path) if _by_name(module, path) is obj else None
    except (ImportError, AttributeError):
        return None


def _names_in_jax() -> dict[int, tuple[str, str]]:
    """Map the ids of JAX objects to the module and name that they have: primitives, caches, jitted functions."""
    names: dict[int, tuple[str, str]] = {}
    for name, module in list(sys.modules.items()):
        if name.partition(".")[0] not in ("jax", "jaxlib") or module is None:
            continue
        for attribute, value in list(vars(module).items()):
            if type(value).__module__.partition(".")[0] in ("jax", "jaxlib"):
                names.setdefault(id(value), (name, attribute))
    return names
