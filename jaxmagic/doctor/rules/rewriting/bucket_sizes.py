"""Finds sizes to which the sizes that were seen can be padded."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable
from typing import NamedTuple

_SHAPE = re.compile(r"\[([\d,]*)\]")


class Buckets(NamedTuple):
    """Sizes to pad to.

    Attributes:
        axis: the axis whose size varies.
        rank: the number of axes.
        seen: the sizes that were seen, smallest first.
        sizes: the sizes to pad to, smallest first.
    """

    axis: int
    rank: int
    seen: tuple[int, ...]
    sizes: tuple[int, ...]

    @property
    def padding(self) -> float:
        """The share of elements that padding adds, if all sizes are equally frequent."""
        return sum(map(self.padded, self.seen)) / sum(self.seen) - 1

    @property
    def least(self) -> int:
        """The size that an array is padded to at least; 1 if the next power of two will always do."""
        return self.sizes[0] if self.sizes[0] > _power_of_two(self.seen[0]) else 1

    def padded(self, size: int) -> int:
        """Return the size to pad one of the sizes to that were seen."""
        return next(each for each in self.sizes if each >= size)


def _power_of_two(size: int) -> int:
    return 1 << max(size - 1, 0).bit_length()


def buckets(types: Iterable[str]) -> Buckets | None:
    """Return powers of two for the one axis that varies; ``None`` if other axes do, or if they are hardly fewer.

    Args:
        types: types of an argument, such as ``"f32[17,8]"``.

    >>> buckets(["f32[17,8]", "f32[23,8]", "f32[31,8]", "f32[44,8]"])
    Buckets(axis=0, rank=2, seen=(17, 23, 31, 44), sizes=(32, 64))
    """
    found = powers_of_two(types)
    return None if found is None or 2 * len(found.sizes) > len(found.seen) else found


def powers_of_two(types: Iterable[str]) -> Buckets | None:
    """Return powers of two for the one axis that varies, however many; ``None`` if other axes do, or if one is empty.

    >>> powers_of_two(["s32[17]", "s32[44]"])
    Buckets(axis=0, rank=1, seen=(17, 44), sizes=(32, 64))
    """
    shapes = set(shapes_of(types))
    axis = varying_axis(shapes)
    if axis is None:
        return None
    seen = tuple(sorted({each[axis] for each in shapes}))
    if 0 in seen:
        return None
    return Buckets(axis, len(next(iter(shapes))), seen, tuple(sorted(set(map(_power_of_two, seen)))))


def shapes_of(types: Iterable[str]) -> list[tuple[int, ...]]:
    """Return the sizes of all axes of each type that has any.

    >>> shapes_of(["f32[17,8]", "f32[]"])
    [(17, 8)]
    """
    found = (_SHAPE.search(each) for each in types)
    return [tuple(map(int, each[1].split(","))) for each in found if each is not None and each[1]]


def varying_axis(shapes: Collection[tuple[int, ...]]) -> int | None:
    """Return the one axis along which shapes vary; ``None`` if none or several do."""
    if len({len(each) for each in shapes}) != 1:
        return None
    varying = [axis for axis, sizes in enumerate(zip(*shapes, strict=True)) if len(set(sizes)) > 1]
    return varying[0] if len(varying) == 1 else None


def sizes_along(types: Iterable[str], axis: int) -> list[str]:
    """Return the size of each type along an axis.

    >>> sizes_along(["f32[17,8]", "f32[23,8]"], 0)
    ['17', '23']
    """
    return [found[1].split(",")[axis] for each in types if (found := _SHAPE.search(each))]
