"""Find the qualified name of a library's function, for stacks that have only the bare name.

JAX's heap profile names ``__call__`` in ``flax/linen/linear.py``, line 263. According to the byte code that Python
compiled when it imported the module, this is ``Dense.__call__``. Nothing is imported and nothing runs.
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
        file: the file in which it is defined.
        function: its bare name, as in ``co_name``.
        line: a line of the function.

    Returns:
        The qualified name; ``None`` if no loaded module has this file, or it has no such function at this line.

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
    around = [
        (first, name) for first, last, name in _functions(module, file).get(function, ()) if first <= line <= last
    ]
    return max(around)[1] if around else None  # the innermost of functions with the same name


@lru_cache(maxsize=256)
def _functions(module: str, file: str) -> dict[str, list[tuple[int, int, str]]]:
    """Return the first line, last line and qualified name of all functions in a file, by bare name."""
    functions: dict[str, list[tuple[int, int, str]]] = {}
    try:
        code = SourceFileLoader(module, file).get_code(module)
    except Exception:  # deleted since it was imported, or from a different version of Python
        return functions
    for each in code_objects(code) if code is not None else ():
        last = max((line for _, _, line in each.co_lines() if line is not None), default=each.co_firstlineno)
        functions.setdefault(each.co_name, []).append((each.co_firstlineno, last, each.co_qualname))
    return functions


def code_objects(code: CodeType) -> Iterator[CodeType]:
    """Yield some code and all code inside it, such as that of nested functions, from the top down."""
    waiting = [code]
    while waiting:
        code = waiting.pop()
        yield code
        waiting += [each for each in reversed(code.co_consts) if isinstance(each, CodeType)]
