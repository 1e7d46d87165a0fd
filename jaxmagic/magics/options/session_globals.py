"""Finds functions of the session that read a global which a setup assigns.

Assignments of a setup are local, as those of ``%%timeit`` are, and a function of the session still reads the
session's value. The global is not assigned for the time of a measurement, as a function that is jitted in the session
and compiles meanwhile would keep that value.
"""

from __future__ import annotations

import ast
import builtins
import dis
import functools
import types
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from typing import Any

from IPython.core.error import UsageError


def refuse_unread(
    setup: Sequence[ast.stmt], code: Iterable[ast.AST], namespace: Mapping[str, Any], magic: str
) -> None:
    """Refuse a setup that assigns what a function of the session reads as a global, unless its value is the same.

    Args:
        setup: the statements of the setup.
        code: all code that runs, the setup's included.
        namespace: the globals of the session.
        magic: the name of the magic, with its percent signs.

    Raises:
        UsageError: there is such a function.
    """
    assigned = dict.fromkeys(_assigned(setup, namespace))
    for name, function in readers(code, namespace, local=assigned):
        raise UsageError(
            f"{magic}: the setup assigns {name}, but {function}() reads {name} from the session, and assignments "
            f"of a setup are local. Write {name} as an argument of {function}(), or assign it in an earlier cell."
        )


def readers(code: Iterable[ast.AST], namespace: Mapping[str, Any], local: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Yield each of the local names that a function which the code names reads as a global, and that function's name.

    Functions that those functions name are looked at too. A name that is no global yet but one of Python's own counts
    as Python's.
    """
    names = [name for name in local if name in namespace or not hasattr(builtins, name)]
    loaded = {each.id for tree in code for each in ast.walk(tree) if isinstance(each, ast.Name)} - set(names)
    waiting = [namespace[name] for name in sorted(loaded) if name in namespace]
    seen: set[int] = set()
    while waiting and names:
        for function in _functions(waiting.pop()):
            if id(function) in seen or function.__globals__ is not namespace:
                continue
            seen.add(id(function))
            read = set(_globals_read(function.__code__))
            yield from ((name, function.__name__) for name in names if name in read)
            waiting += [namespace[name] for name in sorted(read) if name in namespace]
            waiting += [cell.cell_contents for cell in function.__closure__ or () if _is_full(cell)]


def _functions(value: Any) -> Iterator[types.FunctionType]:
    """Yield the functions of Python that calling a value, or a method of it, may run."""
    for _ in range(20):  # wrappers in wrappers
        if isinstance(value, functools.partial):
            for each in (*value.args, *value.keywords.values()):
                yield from _functions(each)
            value = value.func
        elif isinstance(value, types.MethodType):
            value = value.__func__
        elif isinstance(value, types.FunctionType) or not callable(value) or isinstance(value, type):
            break
        elif (wrapped := _wrapped_by(value)) is not None:
            value = wrapped
        else:
            break
    if isinstance(value, types.FunctionType):
        yield value
        return
    kind = value if isinstance(value, type) else type(value)
    for member in vars(kind).values() if kind.__module__ == "__main__" else ():
        member = getattr(member, "__func__", getattr(member, "fget", member))
        if isinstance(member, types.FunctionType):
            yield member


def _globals_read(code: types.CodeType) -> Iterator[str]:
    """Yield the globals that some code reads, also in functions inside of it, and does not assign itself."""
    steps = list(dis.get_instructions(code))
    own = {each.argval for each in steps if each.opname == "STORE_GLOBAL"}
    yield from (each.argval for each in steps if each.opname == "LOAD_GLOBAL" and each.argval not in own)
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _globals_read(constant)


def _wrapped_by(value: Any) -> Any:
    with suppress(Exception):  # attributes of any object
        return getattr(value, "__wrapped__", None)
    return None


def _is_full(cell: types.CellType) -> bool:
    try:
        _ = cell.cell_contents
    except ValueError:
        return False
    return True


def _assigned(setup: Sequence[ast.stmt], namespace: Mapping[str, Any]) -> Iterator[str]:
    """Yield the names that a setup assigns or defines, without imports and constants that the session has as well."""
    for statement in setup:
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield statement.name
            continue
        if isinstance(statement, ast.Assign) and isinstance(statement.value, ast.Constant):
            names = [each.id for each in statement.targets if isinstance(each, ast.Name)]
            value = statement.value.value
            if all(type(namespace.get(name)) is type(value) and namespace[name] == value for name in names):
                continue
        inner = list(_outside_of_functions(statement))
        yield from (each.id for each in inner if isinstance(each, ast.Name) and isinstance(each.ctx, ast.Store))


def _outside_of_functions(node: ast.AST) -> Iterator[ast.AST]:
    yield node
    kinds = ast.Lambda | ast.FunctionDef | ast.ClassDef | ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp
    for child in ast.iter_child_nodes(node):
        if not isinstance(child, kinds):
            yield from _outside_of_functions(child)
