"""Words for memory by call stack, in every medium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import units
from ...records.call_stack import Stack, owner
from ...records.inside import library_module
from ...records.paths import short_source
from ...report.inside_words import inside_shares
from ..record.heap import HeapDifference, StackTotal

#: Number of calls of a stack in a row of the table; the flame graph and the frame have all calls.
_MOST_CALLS = 3


def headline(heap: HeapDifference) -> str:
    """Name the bytes held and their growth, by kind if there are several."""
    after = heap.after
    if not after.total_bytes and not heap.change_bytes:
        return "By call stack: nothing held"
    kinds = {kind: size for kind, size in after.by_kind.items() if size}
    what = f" ({', '.join(f'{kind} {units.size(size)}' for kind, size in kinds.items())})" if len(kinds) > 1 else ""
    delta = "" if heap.change_bytes is None else f", {units.size_change(heap.change_bytes)}"
    return f"By call stack: {units.size(after.total_bytes)} held{what}{delta}"


def stack_table(rows: Sequence[StackTotal]) -> list[tuple[str, ...]]:
    """Make the rows of stacks below the column heads; changes have a column only if known."""
    compared = any(row.change_bytes is not None for row in rows)
    heads = ("held", *(("change",) if compared else ()), "allocated by")
    return [heads, *(_row(each, compared) for each in rows)]


def _row(row: StackTotal, compared: bool) -> tuple[str, ...]:
    change = (units.size_change(row.change_bytes or 0),) if compared else ()
    return units.size(row.size_bytes), *change, allocated_by(row)


def allocated_by(row: StackTotal) -> str:
    """Name the user's innermost calls, and the library function that the first of them called.

    >>> from jaxmagic.records.call_stack import Frame
    >>> step = Frame(function="step", file="/home/me/train.py", line=17)
    >>> allocated_by(StackTotal(stack=(step,), size_bytes=8, count=1, inside={"flax.linen.Dense": 8}))
    'step (train.py:17) in flax.linen.Dense'
    >>> dense = Frame(function="__call__", file="/opt/lib/python3.12/site-packages/flax/linen/linear.py", line=263)
    >>> allocated_by(StackTotal(stack=(dense,), size_bytes=8, count=1, inside={"flax.linen.Dense": 8}))
    'no line of yours: __call__ (linear.py:263) in flax.linen.Dense'
    """
    stack, own = row.stack, owner(row.stack) is not None
    if not own:  # the stack has JAX's own calls then
        stack = tuple(frame for frame in stack if library_module(frame.file)) or stack
    inner, arrow, outer = calls(stack).partition(" ← ")
    inner = f"{inner} {inside_shares(row.inside, row.size_bytes or -(row.change_bytes or 0))}".rstrip()
    return f"{'' if own or not stack else 'no line of yours: '}{inner}{arrow}{outer}"


def calls(stack: Stack) -> str:
    """Name the innermost calls, innermost first.

    >>> from jaxmagic.records.call_stack import Frame
    >>> train = Frame(function="train", file="/home/me/train.py", line=30)
    >>> calls((train, Frame(function="step", file="/home/me/train.py", line=17)))
    'step (train.py:17) ← train (train.py:30)'
    >>> calls(())
    'unknown'
    """
    inner = [f"{frame.function} ({short_source(frame.location)})" for frame in reversed(stack[-_MOST_CALLS:])]
    more = ["…"] if len(stack) > _MOST_CALLS else []
    return " ← ".join([*inner, *more]) or "unknown"


def about_devices(heap: HeapDifference) -> Iterator[str]:
    """Name the bytes on each device, if there are several."""
    devices = {name: size for name, size in heap.after.by_device.items() if name is not None}
    if len(devices) > 1:
        yield f"By device: {', '.join(f'{name} {units.size(size)}' for name, size in devices.items())}."
