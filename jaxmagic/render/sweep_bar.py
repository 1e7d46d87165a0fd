"""A bar for the points of a sweep, where a terminal or a notebook shows one."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any, TypeVar

from tqdm.auto import tqdm

_Item = TypeVar("_Item")

#: What is over sooner needs no bar.
_DELAY_S = 1.0


def progress_bar(items: Sequence[_Item]) -> Iterator[_Item]:
    """`items`, with a bar that is gone when they are through.

    >>> list(progress_bar([1, 2]))
    [1, 2]
    """
    notebook = sys.modules.get("tqdm.notebook")  # where tqdm.auto has chosen that
    if notebook is not None and issubclass(tqdm, notebook.tqdm_notebook):
        yield from _in_notebook(items)
    else:
        yield from tqdm(items, unit="point", leave=False, delay=_DELAY_S)


def _in_notebook(items: Sequence[_Item]) -> Iterator[_Item]:
    """A bar whose output is emptied at the end: a saved notebook would show a widget that is gone."""
    from IPython.display import display

    bar: Any = tqdm(total=len(items), unit="point", leave=False, display=False)
    shown: Any = None
    try:
        for each in items:
            if shown is None and bar.format_dict["elapsed"] > _DELAY_S:
                shown = display(bar.container, display_id=True)
            yield each
            bar.update()
    finally:
        bar.close()
        if shown is not None:
            shown.update({"text/plain": ""}, raw=True)
