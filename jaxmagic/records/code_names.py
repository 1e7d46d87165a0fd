"""Finds the qualified name of a library's function, for stacks that have the bare name only.

JAX's heap profile names ``__call__`` in ``flax/linen/linear.py``, line 263. The module's byte code, which Python has
compiled when it imported the module, knows that this is ``Dense.__call__``. Nothing is imported and nothing runs.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from functools import lru_cache
from importlib.machinery import SourceFileLoader
from types import CodeType

from .inside import library_module


def qualified_name(file: str, function: str, line: int) -> str | None:
    """Return the qualified name of a function in an installed library.

    Args:
        file: where it is written.
        function: its bare name, as code objects have it.
        line: a line of it.

    Returns:
        ``None`` where the file is not that of a module that is loaded here, or has no such function at this line.

    >>> import numpy.ma
    >>> line = numpy.ma.MaskedArray.mean.__code__.co_firstlineno
    >>> qualified_name(numpy.ma.core.__file__, "mean", line + 1)
    'MaskedArray.mean'
    >>> qualified_name(numpy.ma.core.__file__, "mean", 1), qualified_name("/home/me/train.py", "mean", 1)
    (None, None)
    """
    module = library_module(file)
    if module is None or getattr(sys.modules.get(module), "__file__", None) != file:
        return None
    found = [
        (first, name) for first, last, name in _functions(module, file).get(function, ()) if first <= line <= last
    ]
    return max(found)[1] if found else None  # of functions of one name the innermost


@lru_cache(maxsize=256)
def _functions(module: str, file: str) -> dict[str, list[tuple[int, int, str]]]:
    """By bare name, the first and the last line of each function of a file, and its qualified name."""
    found: dict[str, list[tuple[int, int, str]]] = {}
    try:
        code = SourceFileLoader(module, file).get_code(module)
    except Exception:  # gone since it was imported, or of another version of Python
        return found
    for each in _within(code) if code is not None else ():
        last = max((line for _, _, line in each.co_lines() if line is not None), default=each.co_firstlineno)
        found.setdefault(each.co_name, []).append((each.co_firstlineno, last, each.co_qualname))
    return found


def _within(code: CodeType) -> Iterator[CodeType]:
    """All code objects of a file, without recursion."""
    waiting = [code]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [each for each in code.co_consts if isinstance(each, CodeType)]
