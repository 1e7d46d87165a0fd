"""Explain why an operation outside ``jit`` compiled: types or parameters, a transfer, or tracing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..record.compilation import Cause
from ..record.events import Call
from .call_diff import differences, most_alike, placement_difference
from .remedies import cause, combined

#: Operations that copy their operand to a device, if it is on the host.
_FROM_HOST = ("stage", "convert_element_type", "copy", "copy_p")

#: Parameters that are sizes or types; calls that differ only in these are the same use of an operation.
_SIZES = ("shape", "new_sizes", "slice_sizes", "start_indices", "limit_indices", "dtype", "new_dtype")

#: Functions of JAX that move arrays between devices.
_BETWEEN_DEVICES = ("_multi_slice", "_identity_fn")

_ENABLE_JIT = "jit was disabled (jax_disable_jit), so jitted functions ran operation by operation; enable it again"


def operation_cause(call: Call, earlier: Sequence[Call]) -> Cause:
    """Find why an eager operation compiled.

    Args:
        call: the operation, with its operands.
        earlier: earlier calls of the same operation, oldest first.
    """
    if call.while_tracing:
        during = f"while {call.outer} was traced" if call.outer else "while a function was traced"
        return Cause(kind="while tracing", reason=f"run {during}")
    if call.name in _BETWEEN_DEVICES:
        return Cause(kind="transfer", reason="JAX split an array over devices or moved it between them")
    if (
        call.name in _FROM_HOST
        and call.leaves
        and not any(leaf.placement or leaf.traced for leaf in call.leaves.values())
    ):
        return _from_host(call)
    if call.jit_disabled:
        return Cause(kind="eager", reason="an operation while jit was disabled", remedy=_ENABLE_JIT)
    alike = most_alike(call, [each for each in earlier if _same_use(call, each)])
    if alike is not None and (differing := differences(call, alike)):
        return combined(differing)
    return placement_difference(call, earlier) or cause("eager", "an operation outside jax.jit")


def _same_use(now: Call, before: Call) -> bool:
    """Return whether two calls differ in sizes and types only; if not, they have only the operation in common."""
    same_names = (
        now.call_signature == before.call_signature
        and now.leaves.keys() == before.leaves.keys()
        and now.static_args.keys() == before.static_args.keys()
    )
    if not same_names or _sources(now) != _sources(before):
        return False
    types = [(leaf.type, before.leaves[path].type) for path, leaf in now.leaves.items()]
    values = [(name, value, before.static_args[name]) for name, value in now.static_args.items()]
    return all(_dimensions(one) == _dimensions(other) for one, other in types) and all(
        one == other or (name in _SIZES and one.count(",") == other.count(","))
        for name, one, other in values
        if name not in now.static_functions
    )


def _sources(call: Call) -> dict[str, int]:
    return {name: source for name, (source, _) in call.static_functions.items()}


def _dimensions(type_: str) -> int:
    """Count the dimensions of a type such as ``float32[3,4]``."""
    return 0 if type_.endswith("[]") else 1 + type_.count(",")


def _from_host(call: Call) -> Cause:
    leaf = next(iter(call.leaves.values()))
    if leaf.number or leaf.type.endswith("[]"):
        return Cause(kind="transfer", reason=f"a number from the host became an array: {leaf.type}")
    return replace(cause("transfer", f"values of the host copied to the device: {leaf.type}"), now=leaf.type)
