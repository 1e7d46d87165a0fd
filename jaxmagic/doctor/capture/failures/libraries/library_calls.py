"""Finds the call in a library that a failing line led to, before that called JAX."""

from __future__ import annotations

import itertools
from collections.abc import Sequence

from ....analysis.failures.messages import is_jax_file

#: The files with the wrappers of functions that ``jax.named_scope`` or a context manager decorates.
_WRAPPERS = "/jax/_src/source_info_util.py", "/contextlib.py"


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
