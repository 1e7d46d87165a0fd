"""Tells from a compiled program which work on constants XLA did while it compiled."""

from __future__ import annotations

from ....xla.hlo import HloModule
from ...record.constant_work import ConstantWork

#: Primitives whose instructions carry their name. Those that only move elements do not count.
_NAMED = {
    *("sort", "dot_general", "conv_general_dilated", "fft", "cholesky", "triangular_solve", "top_k"),
    *("scatter", "scatter-add", "reduce_sum", "reduce_max", "reduce_min", "reduce_prod", "reduce_window_sum"),
    *("add", "sub", "mul", "div", "max", "min", "pow", "integer_pow", "exp", "log", "log1p", "expm1", "tanh"),
    *("logistic", "erf", "erf_inv", "sin", "cos", "tan", "atan2", "sqrt", "rsqrt"),
}

#: Primitives whose instructions carry another name, on the CPU; elsewhere they may be lowered otherwise.
_RENAMED = {"cumsum": "reduce_window_sum", "cumprod": "reduce_window", "cummax": "reduce_window_max"}


def is_folded(work: ConstantWork, module: HloModule, backend: str | None) -> bool:
    """Return whether a compiled program has no instruction of an equation but constants.

    Instructions of its primitive whose line is unknown may belong to it.
    """
    name = work.primitive if work.primitive in _NAMED else _RENAMED.get(work.primitive) if backend == "cpu" else None
    at = work.line.file, work.line.line
    return name is not None and not any(
        each.opcode not in ("constant", "parameter")
        and each.op_name.rpartition("/")[2] == name
        and (not each.stack or each.traced_for or at in ((frame.file, frame.line) for frame in each.stack))
        for each in module.instructions.values()
    )
