"""What an element costs, in additions, to compare the parts of one kernel with each other.

Measured on a CPU by ``tests/benchmarks/elements.py`` and rounded: other devices differ. An addition is counted with
the memory that it reads; in a chain of them the further ones are nearly free.
"""

from __future__ import annotations

from ..hlo import HloInstruction

#: Of elementwise instructions that take more than an addition does.
_HARD = {
    **dict.fromkeys(("divide", "sqrt", "rsqrt"), 2),
    **dict.fromkeys(("exponential", "log", "tanh", "logistic", "erf"), 8),
    **dict.fromkeys(("exponential-minus-one", "log-plus-one"), 16),
    **dict.fromkeys(("sine", "cosine", "power"), 40),
    **dict.fromkeys(("tan", "atan2", "cbrt"), 120),
}

#: Of what is left of a division, of integers and of others: the second is a function of C's library.
_REMAINDER, _FLOAT_REMAINDER = 2, 64

#: To go to a place that only an index tells, in a table that the caches hold and in a larger one.
_NEAR, _FAR = 5, 60
_CACHES_BYTES = 16 * 2**20


def of_element(instruction: HloInstruction) -> int:
    """Return what an element of an elementwise instruction costs."""
    if instruction.opcode == "remainder":
        return _REMAINDER if instruction.shape.startswith(("s", "u")) else _FLOAT_REMAINDER
    return _HARD.get(instruction.opcode, 1)


def of_place(table_bytes: int) -> int:
    """Return what it costs to go to a place in a table of this size."""
    return _NEAR if table_bytes <= _CACHES_BYTES else _FAR
