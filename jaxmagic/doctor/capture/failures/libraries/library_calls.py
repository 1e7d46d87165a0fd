"""Finds the call in a library that a failing line led to, before that called JAX."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ....analysis.failures.messages import is_jax_file

#: The files with the wrappers of functions that ``jax.named_scope``, a context manager or a transformation decorates.
# fmt: off
_WRAPPERS = "/contextlib.py", *(f"/jax/_src/{each}.py" for each in (
    "source_info_util", "traceback_util", "profiler", "api", "api_util", "pjit", "linear_util", "ad_checkpoint",
    "interpreters/partial_eval", "interpreters/batching", "interpreters/ad",
))
# fmt: on


def innermost_library_call(files: Sequence[str]) -> int | None:
    """Return which of the calls beyond the user's line is the innermost one in a library; ``None`` if none is.

    The libraries that JAX itself calls are its own affair, but not the functions that it only wraps.

    >>> wrapper, layer = "/lib/jax/_src/source_info_util.py", "/lib/site-packages/equinox/nn/_linear.py"
    >>> innermost_library_call([wrapper, layer, "/lib/jax/_src/numpy/ufuncs.py", "/lib/opt_einsum/parser.py"])
    1
    >>> innermost_library_call(["/lib/jax/_src/numpy/einsum.py", "/lib/opt_einsum/parser.py"])
    """
    before = itertools.takewhile(lambda each: not is_jax_file(each) or _is_wrapper(each), files)
    theirs = [number for number, each in enumerate(before) if not _is_wrapper(each)]
    return theirs[-1] if theirs else None


def _is_wrapper(file: str) -> bool:
    return file.replace("\\", "/").endswith(_WRAPPERS)
