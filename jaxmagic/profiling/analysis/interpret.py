"""Adds to a trace what can be inferred from it: ends of CPU operations, causes of copies, ops of CUDA graphs."""

from __future__ import annotations

from ..record.recording import Interpreted, Trace
from .cpu_completion import with_ends
from .devices.command_buffers import with_ops_of_graphs
from .devices.driver_calls import with_calls_of_copies


def interpreted(recording: Trace) -> Interpreted:
    """Return the trace with reconstructed ends of CPU operations, the calls behind copies, and the ops in graphs."""
    return Interpreted(with_ops_of_graphs(with_calls_of_copies(with_ends(recording))))
