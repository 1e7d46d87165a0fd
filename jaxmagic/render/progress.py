"""How far something long is: a bar, where a terminal or a notebook shows one."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeVar

from tqdm.auto import tqdm

_Item = TypeVar("_Item")

#: What is over sooner needs no bar.
_DELAY_S = 1.0


def progress_bar(items: Sequence[_Item]) -> Iterable[_Item]:
    """`items`, with a bar that is gone when they are through.

    >>> list(progress_bar([1, 2]))
    [1, 2]
    """
    bar: Iterable[_Item] = tqdm(items, unit="point", leave=False, delay=_DELAY_S)
    return bar
