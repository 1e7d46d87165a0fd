"""Counts the memory that other arrays take beside the arguments of a program."""

from __future__ import annotations

from collections import Counter
from typing import Any

from .....memory_use.capture.array_survey import alive, share, survey
from .....runtime.private_api import local_devices
from .....runtime.tracing import is_array


def bytes_beside(arguments: Any, constant_bytes: int, *, everywhere: bool = False) -> int | None:
    """Return the bytes that the arguments leave to no other array, on the fullest of their devices.

    These are live arrays that are not among the arguments, and the program's constants. ``None`` if they are unknown.

    Args:
        arguments: the arguments.
        constant_bytes: the program's constants.
        everywhere: whether to take the fullest of all devices.
    """
    import jax

    leaves = jax.tree.leaves(arguments)
    own, total = set(map(id, leaves)), Counter[str]()
    try:
        for fact in share(survey(alive())):
            if id(fact.array) not in own:
                total.update(fact.own_bytes())
        arrays = survey([each for each in leaves if is_array(each)])
        used = {name for fact in arrays for name in fact.place.names}
        used = used or {f"{each.platform}:{each.id}" for each in local_devices()[:1]}
    except Exception:  # a device that is out of memory may answer nothing more
        return None
    return max((total[name] for name in (total if everywhere else used)), default=0) + constant_bytes
