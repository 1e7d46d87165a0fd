"""Compiles a function without XLA's command buffers, so that a profiler sees each of its operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import NotMeasured, message_of

#: XLA's option: the kinds of commands that command buffers may hold, which is none here.
_OPTIONS = {"xla_gpu_enable_command_buffer": ""}

#: What is said of a profile that was made so.
NOTE = (
    "Compiled again without command buffers (CUDA graphs), so that each kernel keeps its operation and line. "
    "Runs may take longer than in your program, which uses them."
)


def without_command_buffers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """The function compiled for these arguments; nothing runs.

    Raises:
        NotMeasured: it is not made by jax.jit, has static arguments, or XLA refuses.
    """
    lower = getattr(function, "lower", None)
    if lower is None:
        raise NotMeasured(
            "command_buffers=False: expected a function made by jax.jit, got one that is not jitted. "
            "Write profile(jax.jit(f), x, command_buffers=False)."
        )
    try:
        lowered = lower(*args, **kwargs)
        info = getattr(lowered, "args_info", None)
        compiled: Callable[..., Any] | None = None if info is None else lowered.compile(compiler_options=_OPTIONS)
    except Exception as error:
        told = f"{type(error).__name__}: {message_of(error)}"
        raise NotMeasured(f"Not compiled without command buffers: {told}") from error
    if compiled is None:  # another library's, which divides its arguments in its own way
        library = type(function).__module__.partition(".")[0]
        raise NotMeasured(
            f"command_buffers=False: expected a function made by jax.jit, got one made by {library}. "
            "Write profile(jax.jit(lambda x: f(x)), x, command_buffers=False)."
        )
    import jax

    if jax.tree.structure(info) != jax.tree.structure((args, kwargs)):
        raise NotMeasured(
            "command_buffers=False does not support static arguments. "
            "Write profile(jax.jit(lambda x: f(x, 3)), x, command_buffers=False)."
        )
    return compiled
