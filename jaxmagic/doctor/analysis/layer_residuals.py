"""Finds what functions that the forward pass calls outside of JAX's loops leave for its backward pass."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from typing import NamedTuple

from ...memory_use.analysis.peak import peak_of
from ...memory_use.record.memory_profile import Executable
from ...records.call_stack import Frame, Stack, is_users
from ...xla.hlo import HloModule
from .scan_residuals import BACKWARD

#: JAX's name of a forward pass in the path of an operation, and its names for what is recomputed already.
_FORWARD = "jvp("
_RECOMPUTED = "checkpoint", "remat"


class LayerResiduals(NamedTuple):
    """Temporaries that a function computes in the forward pass and that live until the backward pass.

    Attributes:
        line: the user's line that calls the function.
        function: its name.
        calls: how many calls left values, at least.
        arrays: how many of these values are live at the program's peak.
        kept_bytes: their bytes.
    """

    line: Frame
    function: str
    calls: int
    arrays: int
    kept_bytes: int


def layer_residuals(executable: Executable, module: HloModule, function: str) -> Iterator[LayerResiduals]:
    """Yield what functions leave that a jitted function leads to, most bytes first; outer ones before inner ones.

    Functions that are recomputed in part already are left out. Nothing is known of values whose call stack the
    compiler has not recorded.
    """
    peak = peak_of(executable)
    planned = [each for allocation in executable.allocations or () for each in allocation.buffers]
    backward = min((each.first for each in planned if BACKWARD in each.op_name), default=None)
    if peak is None or backward is None:
        return
    again = [each for each in module.instructions.values() if any(word in each.op_name for word in _RECOMPUTED)]
    recomputed = {call for each in again for call in _calls(each.stack, function)}
    if again and not recomputed:
        return  # whatever it is, some of it is recomputed
    stacks = {each.name: each.stack for each in module.instructions.values()}
    found: dict[tuple[Frame, str], list[tuple[int, object]]] = defaultdict(list)
    for allocation, buffer in peak.live:
        name = buffer.op_name
        if allocation.kind != "temporary" or buffer.last < backward or _FORWARD not in name or BACKWARD in name:
            continue
        stack = stacks.get(buffer.instruction, ())
        for call in _calls(stack, function):
            found[call].append((buffer.size_bytes, (stack, name, buffer.shape)))
    kept = [
        LayerResiduals(
            line=line,
            function=called,
            calls=max(Counter(key for _, key in buffers).values()),
            arrays=len(buffers),
            kept_bytes=sum(size_bytes for size_bytes, _ in buffers),
        )
        for (line, called), buffers in found.items()
        if (line, called) not in recomputed
    ]
    yield from sorted(kept, key=lambda each: -each.kept_bytes)


def _calls(stack: Stack, function: str) -> Iterator[tuple[Frame, str]]:
    """Yield the user's lines below a jitted function with the names of the user's functions that they call."""
    names = [each.function.rpartition(".")[2] for each in stack]
    below = names.index(function) if function in names else len(names)
    for caller, called, name in zip(stack[below:], stack[below + 1 :], names[below + 1 :], strict=False):
        if is_users(caller) and is_users(called) and name.isidentifier():
            yield caller, name
