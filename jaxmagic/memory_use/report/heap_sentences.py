"""What is said about memory by call stack, in every medium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import units
from ...records.call_stack import Stack, owner
from ...records.inside import library_module
from ...records.paths import short_source
from ...report.inside_words import inside_shares
from ..record.heap import HeapDifference, StackTotal

#: Calls of a stack that a row of a table names; the rest is left to the flame graph and the frame.
_MOST_CALLS = 3


def headline(found: HeapDifference) -> str:
    """Tell how much is held, how much that is more, and what it is where it is not arrays alone."""
    after = found.after
    if not after.total_bytes and not found.change_bytes:
        return "By call stack: nothing is held"
    kinds = {kind: size for kind, size in after.by_kind.items() if size}
    what = f" ({', '.join(f'{kind} {units.size(size)}' for kind, size in kinds.items())})" if len(kinds) > 1 else ""
    delta = "" if found.change_bytes is None else f", {units.size_change(found.change_bytes)}"
    return f"By call stack: {units.size(after.total_bytes)} held{what}{delta}"


def stack_table(rows: Sequence[StackTotal]) -> list[tuple[str, ...]]:
    """Stacks as rows below their heads; how much changed only where that is known."""
    compared = any(row.change_bytes is not None for row in rows)
    heads = ("held", *(("change",) if compared else ()), "put there by")
    return [heads, *(_row(each, compared) for each in rows)]


def _row(row: StackTotal, compared: bool) -> tuple[str, ...]:
    change = (units.size_change(row.change_bytes or 0),) if compared else ()
    return units.size(row.size_bytes), *change, put_by(row)


def put_by(row: StackTotal) -> str:
    """The user's innermost calls, and the library function that the first of them called.

    >>> from jaxmagic.records.call_stack import Frame
    >>> step = Frame(function="step", file="/home/me/train.py", line=17)
    >>> put_by(StackTotal(stack=(step,), size_bytes=8, count=1, inside={"flax.linen.Dense": 8}))
    'step (train.py:17) in flax.linen.Dense'
    >>> dense = Frame(function="__call__", file="/opt/lib/python3.12/site-packages/flax/linen/linear.py", line=263)
    >>> put_by(StackTotal(stack=(dense,), size_bytes=8, count=1, inside={"flax.linen.Dense": 8}))
    'no line of yours: __call__ (linear.py:263) in flax.linen.Dense'
    """
    stack, own = row.stack, owner(row.stack) is not None
    if not own:  # then JAX's own calls are in it
        stack = tuple(frame for frame in stack if library_module(frame.file)) or stack
    inner, arrow, outer = calls(stack).partition(" ← ")
    told = " ".join(filter(None, (inner, inside_shares(row.inside, row.size_bytes or -(row.change_bytes or 0)))))
    return f"{'' if own or not stack else 'no line of yours: '}{told}{arrow}{outer}"


def calls(stack: Stack) -> str:
    """The innermost calls, the innermost first.

    >>> from jaxmagic.records.call_stack import Frame
    >>> train = Frame(function="train", file="/home/me/train.py", line=30)
    >>> calls((train, Frame(function="step", file="/home/me/train.py", line=17)))
    'step (train.py:17) ← train (train.py:30)'
    >>> calls(())
    'not known'
    """
    inner = [f"{frame.function} ({short_source(frame.location)})" for frame in reversed(stack[-_MOST_CALLS:])]
    more = ["…"] if len(stack) > _MOST_CALLS else []
    return " ← ".join([*inner, *more]) or "not known"


def about_devices(found: HeapDifference) -> Iterator[str]:
    """Return what lies on each device, where there are several."""
    devices = {name: size for name, size in found.after.by_device.items() if name is not None}
    if len(devices) > 1:
        yield f"By device: {', '.join(f'{name} {units.size(size)}' for name, size in devices.items())}."
