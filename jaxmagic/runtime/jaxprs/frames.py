"""Find in the frames of JAX's calls what it was computing: an operation, a jitted program, a gradient.

This depends on names that JAX does not promise. If one is missing, the fact is ``None`` or left out: not available on
this JAX.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from types import FrameType
from typing import Any, NamedTuple

from ..tracing import is_tracer


class Applied(NamedTuple):
    """An operation that JAX applied outside of ``jit``, with its arguments and parameters."""

    name: str
    args: tuple[Any, ...]
    params: dict[str, Any]


class Program(NamedTuple):
    """A program that JAX ran, with its arguments.

    Attributes:
        jaxpr: the program.
        args: one value for each of its inputs.
        names: the names of its inputs in the jitted function; empty for the gradient of a program.
        transposed: for the gradient of a program, the equations whose derivatives JAX was computing, the outermost
            first.
    """

    jaxpr: Any
    args: tuple[Any, ...]
    names: tuple[str, ...]
    transposed: tuple[Any, ...] = ()


def applied_in(frames: Sequence[FrameType]) -> Applied | None:
    """Return the operation that the innermost of JAX's calls applied outside of ``jit``; ``None`` if unknown.

    JAX does that again, operation by operation, where a debugging flag has found NaN in the result of a program.
    """
    for frame in reversed(frames):
        code, local = frame.f_code, frame.f_locals
        if code.co_name == "apply_primitive" and _is_in(frame, "dispatch.py"):
            with suppress(Exception):
                return Applied(str(local["prim"].name), tuple(local["args"]), dict(local["params"]))
    return None


def programs_in(frames: Sequence[FrameType]) -> list[Program]:
    """Return the programs that JAX ran in some calls, the outermost first, without those of one operation.

    A program that got traced values is left out.
    """
    found = []
    for number, frame in enumerate(frames):
        if _is_in(frame, "pjit.py"):
            with suppress(Exception):
                program = _program_in(frame, tuple(transposed_in(frames[:number])))
                if program is not None and not any(map(is_tracer, program.args)):
                    found.append(program)
    return found


def _program_in(frame: FrameType, transposed: tuple[Any, ...]) -> Program | None:
    name, local = frame.f_code.co_name, frame.f_locals
    if name in ("_run_python_pjit", "_python_pjit_helper"):  # since JAX 0.8, and before
        given = local["p"]
        is_operation = getattr(local["fun"], "_apply_primitive", False)
        names = tuple(given.arg_names or ())
        return None if is_operation else Program(given.params["jaxpr"], tuple(local["args_flat"]), names)
    if name == "_pjit_transpose_fancy":
        return Program(local["trans_jaxpr"], tuple(local["in_flat"]), (), transposed)
    if name == "_pjit_transpose":  # before JAX 0.8
        return Program(local["transpose_jaxpr"], tuple(local["primals_and_nz_cts_in"]), (), transposed)
    return None


def transposed_in(frames: Sequence[FrameType]) -> list[Any]:
    """Return the equations whose derivatives JAX was computing, the outermost first."""
    found = []
    for frame in frames:
        if frame.f_code.co_name.startswith("backward_pass") and _is_in(frame, "interpreters/ad.py"):
            equation = frame.f_locals.get("eqn")
            if hasattr(equation, "primitive"):
                found.append(equation)
    return found


def _is_in(frame: FrameType, file: str) -> bool:
    return frame.f_code.co_filename.replace("\\", "/").endswith(f"jax/_src/{file}")
