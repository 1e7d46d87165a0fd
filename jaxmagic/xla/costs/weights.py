"""Weighs the cost per element of instructions, in additions, to compare the parts of one kernel.

The weights are rounded measurements on a CPU (``tests/benchmarks/elements.py``); other devices differ. The cost of an
addition includes reading its memory; in a chain of additions all but the first are nearly free.
"""

from __future__ import annotations

from ..hlo import HloInstruction

#: Elementwise instructions that cost more than an addition.
_EXPENSIVE = {
    **dict.fromkeys(("divide", "sqrt", "rsqrt"), 2),
    **dict.fromkeys(("exponential", "log", "tanh", "logistic", "erf"), 8),
    **dict.fromkeys(("exponential-minus-one", "log-plus-one"), 16),
    **dict.fromkeys(("sine", "cosine", "power"), 40),
    **dict.fromkeys(("tan", "atan2", "cbrt"), 120),
}

#: A remainder of integers, and of floats, which calls the C library's ``fmod``.
_REMAINDER, _FLOAT_REMAINDER = 2, 64

#: A random access to a table that fits in the caches, and to a larger one.
_NEAR, _FAR = 5, 60
_CACHES_BYTES = 16 * 2**20


def of_element(instruction: HloInstruction) -> int:
    """Return the cost of one element of an elementwise instruction."""
    if instruction.opcode == "remainder":
        return _REMAINDER if instruction.shape.startswith(("s", "u")) else _FLOAT_REMAINDER
    return _EXPENSIVE.get(instruction.opcode, 1)


def of_access(table_bytes: int) -> int:
    """Return the cost of a random access to a table of this size."""
    return _NEAR if table_bytes <= _CACHES_BYTES else _FAR
