"""Name the library function that the user's line called, from the call stack of an operation.

The line of an operation is the innermost line of the user's own code. The calls below it belong to libraries, and the
outermost of their functions that a library exports is the one the user knows, such as ``flax.linen.BatchNorm``. JAX
does not count as a library here: it leaves its own calls out of the stack of an operation, and the operation's name
has the jitted functions, such as ``jit(softmax)``.
"""

from __future__ import annotations

import re
from functools import lru_cache
from itertools import takewhile

from .call_stack import Frame, Stack, is_users, owner

#: Where packages are installed, on this machine or another one.
_INSTALLED = re.compile(r".*/(?:site|dist)-packages/(?P<module>.+)\.py$", re.DOTALL)

#: JAX, and packages that are not part of the measured code.
_NO_LIBRARIES = ("jax", "jaxlib", "jaxmagic", "IPython", "ipykernel", "jax_plugins")


def line_of(stack: Stack) -> Frame | None:
    """Return the line that an operation belongs to: the user's innermost line, or else a library's."""
    return owner(stack) or (stack[-1] if stack else None)


def inside(stack: Stack) -> str | None:
    """Return the name of the library function that the user's line called; ``None`` if it called none.

    If no call is the user's own, this is the outermost function of a library.

    >>> step = Frame(function="step", file="/home/me/train.py", line=17)
    >>> file = "/opt/lib/python3.11/site-packages/flax/linen/normalization.py"
    >>> norm = Frame(function="BatchNorm.__call__", file=file, line=389, library="flax.linen.BatchNorm")
    >>> stats = Frame(function="_compute_stats", file=file, line=139)
    >>> inside((step, norm, stats)), inside((step, stats)), inside((norm, step))
    ('flax.linen.BatchNorm', 'flax.linen.normalization', None)
    """
    below = stack[next((at for at in range(len(stack), 0, -1) if is_users(stack[at - 1])), 0) :]
    called = [frame for frame in below if library_module(frame.file)]
    exported = next((frame.library for frame in called if frame.library), None)
    public = (frame for frame in called if _is_public(frame.function))
    return exported or (_by_path(next(public, called[0])) if called else None)


def line_in_memory(stack: Stack) -> Frame | None:
    """Return the user's innermost call on the stack of an allocation, or else a library's.

    Such a stack ends in JAX's own calls. ``None`` if all calls are JAX's and Python's.
    """
    return owner(stack) or next((frame for frame in reversed(stack) if library_module(frame.file)), None)


@lru_cache(maxsize=4096)
def library_module(file: str) -> str | None:
    """Return the module name of a library's file; ``None`` for JAX's files and for files that are not installed.

    >>> folder = "/opt/lib/python3.11/site-packages"
    >>> library_module(f"{folder}/flax/linen/__init__.py"), library_module(f"{folder}/jax/_src/api.py")
    ('flax.linen', None)
    """
    installed = _INSTALLED.match(file.replace("\\", "/"))
    steps = [] if installed is None else installed["module"].removesuffix("/__init__").split("/")
    return ".".join(steps) if steps and steps[0] not in _NO_LIBRARIES else None


def steps_of(function: str) -> tuple[str, ...]:
    """Return the public attributes that lead from a module to a function.

    A dunder or private method is represented by its class, and a nested function by the outer function.

    >>> steps_of("BatchNorm.__call__"), steps_of("HMC.sample")
    (('BatchNorm',), ('HMC', 'sample'))
    >>> steps_of("chain.<locals>.update"), steps_of("_call"), steps_of("<lambda>")
    (('chain',), (), ())
    """
    return tuple(takewhile(_is_public, function.split(".")))


def _is_public(name: str) -> bool:
    return bool(name) and not name.startswith(("_", "<"))


def _by_path(frame: Frame) -> str | None:
    """Return the names of module and function, or of the public modules only if the function is private.

    ``None`` if only the package is left, which says as little as the line itself.
    """
    module, steps = library_module(frame.file) or "", steps_of(frame.function)
    parts = (module, *steps) if steps else tuple(takewhile(_is_public, module.split(".")))
    return ".".join(parts) if steps or len(parts) > 1 else None
