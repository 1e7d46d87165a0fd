"""Kernels of CUDA graphs, which the profiler files under their graph and not under their HLO op.

XLA for NVIDIA GPUs groups ops into command buffers, which run as CUDA graphs. The events of their kernels then have
``hlo_op=command_buffer`` or ``command_buffer.1``, whichever op they belong to. The name of a kernel is that of its op
with an underscore for all but letters, digits and underscores: ``loop_add_fusion_1`` of ``loop_add_fusion.1``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from ..model.hlo import Module
from ..model.recording import EventKind

_NOTE = (
    "Kernels ran in CUDA graphs (XLA's command buffers), where the trace names the graph and not the HLO op. Kernels "
    "were matched to ops by name; those with no match have no line. For exact lines, profile once with "
    "XLA_FLAGS=--xla_gpu_enable_command_buffer= set before JAX starts."
)


def in_command_buffer(kind: EventKind) -> bool:
    """Whether an event is a kernel that the profiler files under a command buffer."""
    return str(kind.facts.get("hlo_op", "")).startswith("command_buffer")


def op_of_kernel(kernel: str, module: Module | None) -> str:
    """The name of the HLO op that a kernel was compiled from, or the kernel's name where that is not certain.

    Without a module, a number at the end is taken for that of an op.

    >>> op_of_kernel("loop_add_fusion_1", None), op_of_kernel("ampere_sgemm_128x64_tn", None)
    ('loop_add_fusion.1', 'ampere_sgemm_128x64_tn')
    """
    if module is None:
        return re.sub(r"_(\d+)$", r".\1", kernel)
    if kernel in module.named:
        return kernel
    found = [name for name in module.named if sanitized(name) == kernel]
    return found[0] if len(found) == 1 else kernel


def about_graphs(kinds: Iterable[EventKind]) -> list[str]:
    """Say that kernels ran in CUDA graphs, and how to profile without these."""
    return [_NOTE] if any(map(in_command_buffer, kinds)) else []


def sanitized(name: str) -> str:
    """What a kernel is called that was compiled for an op of this name."""
    return re.sub(r"\W", "_", name)
