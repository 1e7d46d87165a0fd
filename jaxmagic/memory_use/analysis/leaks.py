"""What grows from look to look under the same name, and should perhaps not."""

from __future__ import annotations

import re
from collections.abc import Sequence
from itertools import pairwise

from ..record.live_arrays import LiveArrays
from ..record.memory_profile import Suspect

#: Looks in a row in which something has to have grown.
_LEAST_LOOKS = 3

#: Subscripts of a path: what is in them may be another number in each look.
_SUBSCRIPT = re.compile(r"\[[^\[\]]*\]")

#: Other names of IPython's for what is in ``Out``.
_OUTPUT = re.compile(r"_(?:_{0,2}|\d+)(?![^.\[])")


def suspects(looks: Sequence[LiveArrays]) -> tuple[Suspect, ...]:
    """Return what took more at each of the last looks than at the one before, the largest growth first.

    Args:
        looks: the newest last.
    """
    last = [_by_path(look) for look in looks[-_LEAST_LOOKS:]]
    if len(last) < _LEAST_LOOKS:
        return ()
    found = []
    for path, (_, arrays) in last[-1].items():
        if not all(path in each for each in last):
            continue
        seen = tuple(each[path][0] for each in last)
        if all(more > less for less, more in pairwise(seen)):
            found.append(Suspect(path=path, bytes_seen=seen, arrays=arrays))
    return tuple(sorted(found, key=lambda each: each.bytes_seen[0] - each.bytes_seen[-1]))


def _by_path(look: LiveArrays) -> dict[str, tuple[int, int]]:
    """Bytes and number of the arrays at each path, where subscripts do not tell paths apart."""
    found: dict[str, tuple[int, int]] = {}
    for array in look.arrays:
        if array.names and not array.names[0].startswith("("):  # the value of the code: each time another one
            path = general(array.names[0])
            size_bytes, arrays = found.get(path, (0, 0))
            found[path] = size_bytes + array.own_bytes, arrays + 1
    return found


def general(name: str) -> str:
    """A path without what is in its subscripts; each cell's value is in ``Out``.

    >>> general("params['layer1'][0].w"), general("_3.w")
    ('params[*][*].w', 'Out[*].w')
    """
    return _SUBSCRIPT.sub("[*]", _OUTPUT.sub("Out[0]", name, count=1) if _OUTPUT.match(name) else name)
