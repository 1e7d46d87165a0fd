"""Lists the functions in which JAX waits for arrays, as far as they are where JAX has had them."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple


class WaitPoint(NamedTuple):
    """A function in which JAX waits for arrays.

    Attributes:
        owner: the class or module that the function is an attribute of.
        name: the name of that attribute.
        original: the function, or a property.
        is_ready: whether its first argument needs no waiting; ``None`` if the function does nothing but wait.
    """

    owner: Any
    name: str
    original: Any
    is_ready: Callable[[Any], bool] | None


#: Methods that wait for an array to read it. ``float(y)``, ``print(y)``, :func:`jax.device_get` and, on accelerators,
#: ``np.asarray(y)`` use ``_value``. NumPy reads arrays on the CPU itself, through ``__buffer__``.
_READS_ONE = ("_value", "item", "__dlpack__", "__buffer__")


def wait_points() -> list[WaitPoint]:
    """Return the functions in which the calling thread waits for arrays, as far as this JAX and Python have them.

    Before Python 3.12, reads through ``__buffer__`` cannot be observed.
    """
    points = []
    with suppress(ImportError, AttributeError, KeyError):
        from jax._src.array import ArrayImpl

        members = vars(ArrayImpl)
        points = [WaitPoint(ArrayImpl, name, members[name], _is_ready) for name in _READS_ONE if name in members]
        points.append(WaitPoint(ArrayImpl, "block_until_ready", members["block_until_ready"], None))
    with suppress(ImportError, AttributeError):
        from jax._src.api import xc

        points.append(WaitPoint(xc, "batched_block_until_ready", xc.batched_block_until_ready, None))
    with suppress(ImportError, AttributeError, KeyError):
        from jax._src.dispatch import RuntimeTokenSet

        tokens = vars(RuntimeTokenSet)["block_until_ready"]
        points.append(WaitPoint(RuntimeTokenSet, "block_until_ready", tokens, None))
    return points


def _is_ready(array: Any) -> bool:
    return array.is_deleted() or array.is_ready()  # on JAX 0.10, is_ready() of a deleted array crashes
