"""Classifies HLO instructions and estimates their work."""

from __future__ import annotations

from math import log2
from typing import Literal as OneOf

from ..hlo import HloInstruction, HloModule
from . import weights
from .kernel_parts import parts_of_kernel
from .operand_utilization import elements_of, instructions_of, parts_of, updated

#: The categories of operations.
Category = OneOf[
    "matmul", "convolution", "elementwise fusion", "elementwise", "reduce", "sort", "fft", "random numbers", "gather",
    "copy", "layout change", "slicing", "collective", "host callback", "infeed", "attention", "custom call",
    "control flow", "other",
]  # fmt: skip

_COLLECTIVES = (
    "all-reduce", "all-gather", "all-to-all", "reduce-scatter", "collective-permute", "collective-broadcast",
    "ragged-all-to-all", "send", "recv",
)  # fmt: skip

#: The category by opcode, without ``-start``, ``-done`` and ``-update``.
_BY_OPCODE: dict[str, Category] = {
    **dict.fromkeys(_COLLECTIVES, "collective"),
    **dict.fromkeys(("concatenate", "pad", "slice", "reverse"), "slicing"),
    **dict.fromkeys(("transpose", "reshape", "bitcast"), "layout change"),
    "copy": "copy",
    **dict.fromkeys(("gather", "scatter", "dynamic-slice", "dynamic-update-slice"), "gather"),
    **dict.fromkeys(("reduce", "reduce-window", "select-and-scatter"), "reduce"),
    **dict.fromkeys(("rng", "rng-bit-generator", "rng-get-and-update-state"), "random numbers"),
    **dict.fromkeys(("infeed", "outfeed"), "infeed"),
    **dict.fromkeys(("while", "conditional", "call", "async"), "control flow"),
    "dot": "matmul",
    "convolution": "convolution",
    "sort": "sort",
    "fft": "fft",
    "custom-call": "custom call",
}

#: The category of custom calls by a part of the target's name; the first match counts.
_BY_TARGET: tuple[tuple[str, Category], ...] = (
    ("callback", "host callback"),
    ("fmha", "attention"),
    ("attn", "attention"),
    ("attention", "attention"),
    ("gemm", "matmul"),
    ("matmul", "matmul"),
    ("conv", "convolution"),
    ("topk", "sort"),
    ("sort", "sort"),
    ("fft", "fft"),
)

#: Instructions that provide, rename or rearrange values without work.
_NO_WORK = frozenset((
    "parameter", "constant", "tuple", "get-tuple-element", "bitcast", "broadcast", "iota", "reshape", "after-all",
    "opt-barrier", "domain", "partition-id", "replica-id", "add-dependency",
))  # fmt: skip


#: Categories that move or compare elements.
_MOVES = ("copy", "layout change", "slicing", "gather", "collective", "sort")

#: Instructions whose operations are counted when the module is read, where dimension numbers determine them.
_COUNTED = ("custom-call", "fft", "cholesky", "triangular-solve", "dot", "convolution")


def multiplied(module: HloModule, instruction: HloInstruction) -> str:
    """Return the element type of an instruction's heaviest product, such as ``"bf16"``; empty if it has none."""
    parts = parts_of(module, instruction) if instruction.opcode == "fusion" else ((instruction, 1.0),)
    products = [each for each, _ in parts if _own_category(each) in ("matmul", "convolution", "attention")]
    if not products:
        return ""
    heaviest = max(products, key=lambda each: each.flops or 0)
    taken = module.instructions.get(heaviest.operand_ids[0]) if heaviest.operand_ids else None
    return "" if taken is None else taken.shape.partition("[")[0]


def category(module: HloModule, instruction: HloInstruction) -> Category:
    """Return the category of an instruction, or of most of the work of a fusion or of a loop in one kernel."""
    if instruction.opcode == "fusion" or instruction.one_kernel:
        kinds: dict[Category, float] = {}
        parts = parts_of_kernel if instruction.one_kernel else parts_of
        for inner, share in parts(module, instruction):
            kind = _own_category(inner)
            kinds[kind] = kinds.get(kind, 0) + share * work(module, inner)
        heaviest: Category = max(kinds, key=lambda each: kinds[each], default="other")
        return "elementwise fusion" if heaviest in ("elementwise", "other") else heaviest
    return _own_category(instruction)


def _own_category(instruction: HloInstruction) -> Category:
    opcode = instruction.opcode.removesuffix("-start").removesuffix("-done").removesuffix("-update")
    found = _BY_OPCODE.get(opcode)
    if instruction.changes_layout:
        return "layout change"
    if found == "custom call":
        target = instruction.custom_call_target.lower()
        return next((kind for part, kind in _BY_TARGET if part in target), "custom call")
    if found is not None:
        return found
    return "other" if opcode in _NO_WORK else "elementwise"


def work(module: HloModule, instruction: HloInstruction) -> float:
    """Estimate the work of an instruction in additions, to compare the parts of one fusion."""
    opcode, elements = instruction.opcode, instruction.elements
    if opcode in _NO_WORK:
        return 0
    if instruction.flops:
        return instruction.flops
    if opcode == "sort":
        return elements * log2(max(elements, 2))
    if opcode in ("reduce", "reduce-window"):
        taken = instruction.operand_ids
        return sum(elements_of(module, each) for each in taken[: len(taken) // 2 or 1])
    if opcode == "dynamic-update-slice":
        return sum(elements_of(module, each) for each in instruction.operand_ids[1:2])
    if opcode == "scatter":
        tables = updated(instruction)
        written = sum(elements_of(module, each) for each in instruction.operand_ids[tables + 1 :])
        return written + 2 * tables * _accesses(module, instruction, tables, written // tables)  # read and write
    if opcode in ("gather", "dynamic-slice"):
        return elements + _accesses(module, instruction, 1, elements)
    return elements * weights.of_element(instruction)


def _accesses(module: HloModule, instruction: HloInstruction, tables: int, elements: int) -> int:
    """Return the cost of an instruction's random accesses: one per index, and at most one per element."""
    table = module.instructions.get(instruction.operand_ids[0]) if instruction.operand_ids else None
    indices = sum(elements_of(module, each) for each in instruction.operand_ids[tables : tables + 1])
    return 0 if table is None else min(elements, indices) * weights.of_access(table.size_bytes)


def flops(module: HloModule, instruction: HloInstruction) -> int | None:
    """Count the floating-point operations of one execution; a multiply-add counts as two.

    ``None`` where the module does not determine them, as for loops, calls and unknown custom calls. Sorts, copies and
    lookups have none. An exponential counts as one, as in XLA's own analysis.
    """
    opcode = instruction.opcode
    if opcode in ("while", "conditional", "call"):
        return None
    if opcode == "fusion":
        parts = [(flops(module, each), share) for each, share in parts_of(module, instruction)]
        unknown = any(each is None for each, _ in parts)
        return None if unknown else sum(round(share * (each or 0)) for each, share in parts)
    if instruction.flops is not None:
        return instruction.flops
    kind = _own_category(instruction)
    if opcode == "scatter":
        return _combined(module, instruction)
    if opcode in _NO_WORK or kind in _MOVES:
        return 0
    if opcode in _COUNTED:
        return None
    return round(work(module, instruction) / weights.of_element(instruction))


def _combined(module: HloModule, instruction: HloInstruction) -> int:
    """Count the operations that a scatter applies to each element it updates."""
    tables = updated(instruction)
    written = sum(elements_of(module, each) for each in instruction.operand_ids[tables + 1 :])
    inside = instructions_of(module, instruction).values()
    return written // tables * sum(_own_category(each) == "elementwise" for each in inside)
