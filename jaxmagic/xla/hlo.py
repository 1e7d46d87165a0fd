"""A compiled module as a profile needs it: what each instruction does, how much, and from which lines it comes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ..records.call_stack import Stack


class HloInstruction(NamedTuple):
    """One instruction of a module.

    Attributes:
        name: as in the text of the module, without ``%``.
        opcode: what it does, in XLA's words, such as ``"dot"`` or ``"fusion"``.
        shape: of its result, such as ``"f32[256,512]"``, without the workspace of a library.
        elements: of its result, altogether.
        size_bytes: of its result, altogether.
        operands: numbers of the instructions whose results it takes.
        called: numbers of the computations that it runs, or that say how it combines two numbers.
        target: what a ``custom-call`` calls; empty for others.
        flops: of a product, a convolution, a transform or a decomposition, also as a call of a library, how many
            floating-point operations it takes; ``None`` for others, and where its dimension numbers do not tell.
        groups: of a collective operation, among how many groups of devices it exchanges; 0 if that is not known.
        op_name: the path of JAX's operation, such as ``"jit(f)/layer/dot_general"``.
        stack: the calls of Python that wrote it; older compilers tell the innermost alone. Empty if not known.
        parameter: of a ``parameter``, the number of the operand of the computation that it stands for.
        traced_for: the function that JAX traced it for, an earlier caller, where the calls of the one that ran are
            not known; ``stack`` then begins behind both.
        one_kernel: of a ``call``, whether all that it runs is compiled as one, and recorded as one event.
        relayout: of a ``copy``, whether it arranges the same numbers in another order.
        trips: of a ``while``, how often its body runs; 0 if that is not known before.
    """

    name: str
    opcode: str
    shape: str
    elements: int
    size_bytes: int
    operands: tuple[int, ...]
    called: tuple[int, ...]
    target: str
    flops: int | None
    groups: int
    op_name: str
    stack: Stack
    parameter: int = 0
    traced_for: str = ""
    one_kernel: bool = False
    relayout: bool = False
    trips: int = 0


class Module(NamedTuple):
    """A compiled module.

    Attributes:
        name: such as ``"jit_f"``.
        instructions: of all its computations, by their numbers.
        computations: the numbers of the instructions of each, by its own number.
        named: the number of an instruction, by its name.
        inputs: what it takes, in order.
        outputs: what it gives, in order.
    """

    name: str
    instructions: Mapping[int, HloInstruction]
    computations: Mapping[int, tuple[int, ...]]
    named: Mapping[str, int]
    inputs: tuple[Sharded, ...] = ()
    outputs: tuple[Sharded, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sharded:
    """An array that a program takes or gives.

    Attributes:
        name: of the argument, as JAX names it, such as ``"params['w']"``; empty for what is given.
        shape: type and sizes of what one device has of it, such as ``"f32[256,512]"``.
        pieces: into how many pieces each of its axes is divided; all 1 where each device has all of it. ``None`` if
            that is not known.
    """

    name: str
    shape: str
    pieces: tuple[int, ...] | None
