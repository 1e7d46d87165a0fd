"""Compiles a function without XLA's command buffers, so that a profiler sees each of its operations."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from ...errors import NotMeasured, message_of

#: The kinds of commands that XLA may put into command buffers: none.
_OPTIONS = {"xla_gpu_enable_command_buffer": ""}


def without_command_buffers(function: Callable[..., Any], *args: Any, **kwargs: Any) -> Callable[..., Any]:
    """Compile a jitted function for these arguments without running it.

    Raises:
        NotMeasured: the function is not made by jax.jit, has static arguments, or XLA refuses.
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
        reason = f"{type(error).__name__}: {message_of(error)}"
        raise NotMeasured(
            f"Not compiled without command buffers: {reason}. Leave command_buffers=False out to profile it as it is."
        ) from error
    if compiled is None:  # another library's, which splits its arguments in its own way
        library = type(function).__module__.partition(".")[0]
        raise NotMeasured(
            f"command_buffers=False: expected a function made by jax.jit, got one made by {library}. "
            "Write profile(jax.jit(lambda x: f(x)), x, command_buffers=False)."
        )
    import jax

    if jax.tree.structure(info) != jax.tree.structure((args, kwargs)):
        raise NotMeasured(
            "command_buffers=False: expected a function without static arguments, got one that has some. "
            "Write profile(jax.jit(lambda x: f(x, 3)), x, command_buffers=False)."
        )
    return compiled
