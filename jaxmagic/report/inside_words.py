"""Names the library functions that a line called, for time and for memory, in every medium."""

from __future__ import annotations

from collections.abc import Mapping

from .. import units
from ..records.paths import short_source

#: The number of library functions shown for a line, and the share of its time above which one stands for all of it.
_MOST_INSIDE = 2
_ALL_INSIDE = 0.95


def inside_shares(inside: Mapping[str, int], whole: int) -> str:
    """Name the library functions with the largest parts of a whole, of time or of memory.

    >>> inside_shares({"flax.linen.Dense": 30, "flax.linen.BatchNorm": 60}, 100)
    'in flax.linen.BatchNorm 60 %, flax.linen.Dense 30 %'
    >>> inside_shares({"flax.linen.Dense": 1000, "flax.linen.BatchNorm": 1}, 1001), inside_shares({}, 1001)
    ('in flax.linen.Dense', '')
    """
    if not inside or not whole:
        return ""
    shown = sorted(inside.items(), key=lambda item: -item[1])[:_MOST_INSIDE]
    if shown[0][1] > _ALL_INSIDE * whole:
        return f"in {shown[0][0]}"
    names = [f"{name} {units.share(part, whole)}" for name, part in shown]
    return f"in {', '.join(names)}" + (", …" if len(inside) > len(shown) else "")


def last_names(function: str) -> str:
    """Return the name of a library function without its modules.

    >>> last_names("flax.linen.BatchNorm"), last_names("numpyro.infer.HMC.sample"), last_names("optax.chain")
    ('BatchNorm', 'HMC.sample', 'chain')
    >>> last_names("flax.linen.Conv or flax.linen.ConvLocal")
    'Conv or ConvLocal'
    """
    return " or ".join(dict.fromkeys(map(_last_name, function.split(" or "))))


def _last_name(function: str) -> str:
    *modules, name = function.split(".")
    return f"{modules[-1]}.{name}" if modules and modules[-1][:1].isupper() else name


def place_and_inside(source: str | None, inside: str | None) -> str:
    """Name a line in short form, and the library function that it called.

    >>> place_and_inside("/home/me/train.py:17", "flax.linen.Dense"), place_and_inside("cell 3:2", None)
    ('train.py:17 in flax.linen.Dense', 'cell 3:2')
    """
    return " in ".join(filter(None, (short_source(source or ""), inside)))
