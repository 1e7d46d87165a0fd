"""What follows from a recording and is not in it: ends, causes of copies, and operations in CUDA graphs."""

from __future__ import annotations

from ..record.recording import Interpreted, Trace
from .cpu_completion import with_ends
from .devices.command_buffers import with_ops_of_graphs
from .devices.driver_calls import with_calls_of_copies


def interpreted(recording: Trace) -> Interpreted:
    """The recording with the ends of the CPU's operations, the calls behind copies, and the operations in graphs."""
    return Interpreted(with_ops_of_graphs(with_calls_of_copies(with_ends(recording))))
