"""Tells which functions the user wrote, and what they see."""

from __future__ import annotations

import dis
import types
from collections.abc import Iterator
from typing import Any

from ....records.call_stack import Frame, is_users
from ....records.cell_names import known_as
from ....runtime.around import enclosed, is_exactly
from ....runtime.functions import is_jitted
from ...rules.rule import source_at


def is_users_function(value: Any) -> bool:
    """Return whether a value is a plain function that the user wrote."""
    if not is_exactly(value, types.FunctionType):
        return False
    code = value.__code__
    return is_users(Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno))


def seen_by(function: types.FunctionType) -> dict[str, Any]:
    """Return what a function closes over, its defaults, and the globals that it reads if the user wrote it."""
    held = function.__globals__ if is_users_function(function) else {}
    defaults = (*(function.__defaults__ or ()), *(function.__kwdefaults__ or {}).values())
    return {
        **{name: held[name] for name in global_names(function.__code__) if name in held},
        **enclosed(function),
        **{f"<default {number}>": value for number, value in enumerate(defaults)},
    }


def global_names(code: types.CodeType) -> Iterator[str]:
    """Yield the names that some code, and the functions defined in it, may read from its globals."""
    for inner in all_codes(code):
        yield from inner.co_names


def loaded_globals(code: types.CodeType) -> set[str]:
    """Return the names that it does read from there, rather than as attributes of something else, which takes longer.

    >>> sorted(loaded_globals((lambda x: x.mean() * scale).__code__))
    ['scale']
    """
    steps = (each for inner in all_codes(code) for each in dis.get_instructions(inner))
    return {each.argval for each in steps if each.opname in ("LOAD_GLOBAL", "LOAD_NAME")}


def all_codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """Yield some code and the code of all functions defined in it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from all_codes(constant)


def jitted_functions(read: dict[str, Any]) -> Iterator[Any]:
    """Yield the jitted functions among some variables, and those that the user's functions among them lead to."""
    queue, met = list(read.values()), set()
    for each in queue:  # grows meanwhile
        if id(each) in met:
            continue
        met.add(id(each))
        if is_jitted(each):
            yield each
        elif is_users_function(each):
            queue += seen_by(each).values()


def users_functions(read: dict[str, Any]) -> Iterator[types.FunctionType]:
    """Yield the user's functions among some variables, and those that these lead to, nearest first."""
    queue, met = [each for each in read.values() if is_users_function(each)], set()
    for each in queue:  # grows meanwhile
        if id(each) not in met:
            met.add(id(each))
            yield each
            queue += [inner for inner in seen_by(each).values() if is_users_function(inner)]


def functions_seen(function: Any) -> Iterator[types.FunctionType]:
    """Yield a function and the functions that it leads to, nearest first, also through functions of libraries."""
    queue, met = [function], set()
    for each in queue:  # grows meanwhile
        if type(each) is types.FunctionType and id(each) not in met:
            met.add(id(each))
            yield each
            queue += seen_by(each).values()


def lines_of(function: types.FunctionType) -> set[str]:
    """Return the lines of a function and of those defined in it, such as ``"cell 3:2"``."""
    file = known_as(function.__code__.co_filename)
    return {f"{file}:{line}" for code in all_codes(function.__code__) for _, _, line in code.co_lines() if line}


def definition_of(function: types.FunctionType) -> tuple[str, str]:
    """Return the line that defines a function, such as ``"cell 3:1"``, and its text."""
    code = function.__code__
    line = Frame(function=code.co_name, file=code.co_filename, line=code.co_firstlineno)
    return f"{known_as(line.file)}:{line.line}", source_at(line) or ""
