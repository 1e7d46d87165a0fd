"""Tells which arguments of a function jit traces, which have to be static, and which it does not take."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from .....records.names import one_or_tuple
from ....record.evidence import Evidence, Input
from ....record.library_use import ModuleLibrary
from ...host.syntax import assigned
from ..meanings import path_at
from .jittable import ON_VALUES

#: Kinds of inputs that jit does not trace.
_OBJECTS = "function", "iterator", "object"

#: Kinds of inputs that may be objects of a class that is a pytree.
_PYTREES = "module of arrays", "other"

#: Types of containers of Python, whose methods are Python's, and of what has none.
_CONTAINERS = "dict", "list", "tuple", "NoneType"

#: Types of inputs that select a program rather than being data.
_FLAGS = "bool", "str"

#: The same, and integers, which may be sizes or axes.
_SELECTING = *_FLAGS, "int"


class Arguments(NamedTuple):
    """The parameters of a function, by what they get.

    Attributes:
        static: those that get a flag, a text, an integer or a function, which jit has to know.
        functions: those of them that get a function.
        called: the functions of the user's that these get, by their first lines.
        modules: those that get a module of a library, or one inside a container.
        library: this library.
        pytrees: those that get an object of a class that is a pytree, such as a ``TrainState``, whose methods jit
            traces like functions.
    """

    static: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()
    called: tuple[Frame, ...] = ()
    modules: frozenset[str] = frozenset()
    library: ModuleLibrary | None = None
    pytrees: frozenset[str] = frozenset()


def untraced(inputs: Iterable[Input]) -> set[str]:
    """Return the variables that jit does not trace: objects that are no arrays, and flags."""
    return {each.path for each in inputs if each.kind in _OBJECTS or each.type in _FLAGS}


def objects(inputs: Iterable[Input]) -> set[str]:
    """Return the variables that are functions and other objects, except modules that a library's jit takes."""
    return {each.path for each in inputs if each.kind in ("function", "object") and each.library is None}


def given_by(
    call: ast.Call, function: ast.FunctionDef | ast.AsyncFunctionDef | None
) -> Iterator[tuple[str, ast.expr]]:
    """Yield the parameters of a function and what a call passes; only keywords if its definition is unknown."""
    arguments = None if function is None else function.args
    positional = [] if arguments is None else [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    yield from zip(positional, call.args, strict=False)
    yield from ((each.arg, each.value) for each in call.keywords if each.arg is not None)


def counted_in(node: ast.AST) -> set[str]:
    """Return the variables of loops that count: static, they would compile a function in each round."""
    return {name for each in ast.walk(node) for name in _counted(each)}


def _counted(node: ast.AST) -> set[str]:
    match node:
        case ast.For(target=target, iter=ast.Call(func=ast.Name(id="range"))):
            return assigned(target)
        case ast.For(target=ast.Tuple(elts=[number, *_]), iter=ast.Call(func=ast.Name(id="enumerate"))):
            return assigned(number)
    return set()


def arguments_of(
    given: Sequence[tuple[str, ast.expr]], evidence: Evidence, changing: set[str], counted: set[str]
) -> Arguments | None:
    """Return what some calls of a function pass for its parameters; ``None`` if jit cannot take that.

    Args:
        given: the parameters, and the expressions that are passed for them.
        evidence: what is known about the variables of the code.
        changing: the variables that the code assigns: static ones would compile the function for each value.
        counted: those of them that count.
    """
    inputs = {each.path: each for each in evidence.inputs}
    paths = {name: path for each in evidence.names if each.function is None for name, path in each.paths}
    named = [(parameter, ast.unparse(value), value) for parameter, value in given]
    if any(isinstance(value, ast.Lambda) or text in counted for _, text, value in named):
        return None
    passed = [(parameter, inputs[text]) for parameter, text, _ in named if text in inputs]
    modules = {parameter: each.library for parameter, each in passed if each.library is not None}
    libraries = set(modules.values())
    others = [(parameter, each) for parameter, each in passed if parameter not in modules]
    functions = {parameter: each.public for parameter, each in others if each.kind == "function"}
    functions |= {
        name: path_at(value, paths) for name, text, value in named if text not in inputs and paths.get(text)
    }
    known = {parameter for parameter, each in others if each.function is not None}
    flags = {parameter for parameter, each in others if each.type in _SELECTING}
    flags |= {parameter for parameter, _, value in named if _is_flag(value)}
    numbers = {parameter for parameter, each in others if each.kind == "number"} if libraries else set()
    bound = {parameter for parameter, text, _ in named if text in changing}
    if (
        len(libraries) > 1
        or bound & (flags | numbers | set(functions))  # each round would compile
        or any(each.kind in _OBJECTS and each.type != "str" and name not in functions for name, each in others)
        or any(name not in known and not _is_of_jax(path) for name, path in functions.items())
    ):
        return None
    return Arguments(
        static=tuple(sorted(flags | set(functions))),
        functions=tuple(functions),
        called=tuple(each.function for _, each in others if each.function is not None),
        modules=frozenset(modules),
        library=next(iter(libraries), None),
        pytrees=frozenset(name for name, each in others if each.kind in _PYTREES and each.type not in _CONTAINERS),
    )


def static_option(static: Sequence[str], donated: Sequence[str] = ()) -> str:
    """Return the options of jit that declare static and donated arguments, as they are written after the function.

    >>> static_option(["axis"]), static_option(["axis", "mode"], ["x"])
    (', static_argnames="axis"', ', static_argnames=("axis", "mode"), donate_argnames="x"')
    """
    options = {"static_argnames": static, "donate_argnames": donated}
    return "".join(f", {option}={one_or_tuple(names)}" for option, names in options.items() if names)


def _is_flag(value: ast.expr) -> bool:
    return isinstance(value, ast.Constant) and isinstance(value.value, bool | int | str)


def _is_of_jax(path: str) -> bool:
    """Return whether a library's function may be one for arrays of JAX, as jit needs it."""
    return bool(path) and path.partition(".")[0] not in (*ON_VALUES, "builtins")
