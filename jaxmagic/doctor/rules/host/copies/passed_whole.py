"""Finds the NumPy arrays that a call passes, also inside of containers and objects that it passes whole."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import NamedTuple

from .....records.call_stack import Frame
from ....analysis.written_paths import is_path, is_within, root_of
from ....record.evidence import Evidence, Input
from ....record.program import Program
from ...rewriting.meanings import Paths, path_at, paths_in
from ...rewriting.syntax import parameters
from ..functions.used_in_loop import loops_of
from ..syntax import Function, around, assigned, called_as, calls_of, function_around, tree_of

#: Methods of containers that change nothing.
_READING = frozenset({"copy", "count", "get", "index", "items", "keys", "values"})

#: Functions of Python that leave their arguments as they are.
_HARMLESS = frozenset(dir(builtins)) - {"delattr", "exec", "next", "setattr"}

#: The first step of a path into a value: an attribute, an element of a list, or one of a dictionary.
_STEP = re.compile(r"\.\w+|\[(?P<key>'[^']*'|\"[^\"]*\"|[^'\"\]]+)\]")


class Passed(NamedTuple):
    """An argument that is an array of NumPy, or has some inside that a program takes.

    Attributes:
        path: how the code reaches it.
        name: how the line writes it.
        arrays: the arrays, by their names at the line.
    """

    path: str
    name: str
    arrays: Mapping[str, Input]


def passed_whole(
    calls: Sequence[ast.Call], arrays: Mapping[str, Input], programs: Sequence[Program]
) -> Iterator[Passed]:
    """Yield the arguments of calls that are arrays of NumPy or have some inside.

    An array inside counts if an input of a program has the same place in the argument: JAX names it so.

    Args:
        calls: the calls of a jitted function.
        arrays: the arrays of NumPy that the line sees, by name.
        programs: the programs of the function.
    """
    taken = {
        (each.name, each.shape.partition("[")[2])
        for program in programs
        if program.module is not None
        for each in program.module.inputs
    }
    for name, stars in dict.fromkeys(argument for call in calls for argument in _arguments(call)):
        found = {
            path: each
            for path, each in arrays.items()
            if is_within(path, name) and _is_taken(path[len(name) :], stars, each.type.partition("[")[2], taken)
        }
        for path, each in list(found.items())[:1]:
            yield Passed(each.path[: len(each.path) - len(path) + len(name)], name, found)


def _arguments(call: ast.Call) -> Iterator[tuple[str, str]]:
    """Yield the variables, and paths from them, that a call passes, each with the stars before it."""
    for each in call.args:
        starred = isinstance(each, ast.Starred)
        value = each.value if isinstance(each, ast.Starred) else each
        if is_path(value):
            yield ast.unparse(value), "*" if starred else ""
    for word in call.keywords:
        if is_path(word.value):
            yield ast.unparse(word.value), "" if word.arg is not None else "**"


def _is_taken(inner: str, stars: str, shape: str, taken: Collection[tuple[str, str]]) -> bool:
    """Return whether a program takes an array that has a place in an argument.

    Args:
        inner: the path from the argument to the array, such as ``"['w']"``; empty if it is the array.
        stars: what unpacks the argument.
        shape: the shape of the array.
        taken: the names and shapes of what the program takes.
    """
    step = _STEP.match(inner) if stars else None
    key = "" if step is None else (step["key"] or "").strip("'\"")
    rest = inner if step is None else inner[step.end() :]
    for name, size in taken:
        place = name[len(root_of(name)) :]
        if size != shape:
            continue
        if stars == "**":
            if name == key + rest or place == inner:
                return True
        elif not rest or rest in (place, re.sub(r"^\[\d+\]", "", place)):  # of *args, each has a number
            return True
    return False


def may_change(passed: Passed, line: Frame, evidence: Evidence) -> bool:
    """Return whether the loop around a line may put other arrays in the place of some that it passes.

    It may assign an attribute on the way to them, or call a method of what holds them, or pass this to a function
    that does so. A method in the same file counts if it assigns such an attribute.

    Args:
        passed: the argument.
        line: the line that passes it.
        evidence: the jitted functions, and the names of JAX and NumPy, whose functions change none.
    """
    loops, nodes = loops_of(line)[:1], around(line)
    inside = [node for loop in loops for node in ast.walk(loop)]
    stored = {ast.unparse(each) for each in inside if isinstance(each, ast.Attribute) and not _is_read(each)}
    paths = paths_in(function_around(line) or nodes[0], line.file, evidence.names)
    programs = [each for each in evidence.programs or () if not each.eager]
    jitted = {called_as(each.name, [each], evidence) for each in programs}
    own = {id(call) for name in jitted for loop in loops for call in calls_of(name, loop, line)}
    calls = [each for each in inside if isinstance(each, ast.Call) and id(each) not in own]
    given = {name for each in calls if not _is_harmless(each.func, paths) for name, _ in _arguments(each)}
    methods = [each.func for each in calls if isinstance(each.func, ast.Attribute) and is_path(each.func.value)]
    called = {(ast.unparse(each.value), each.attr) for each in methods if each.attr not in _READING}
    return any(
        any(is_within(array, each) for each in stored)
        or any(_holds(each, array) for each in given)
        or any(_holds(owner, array) and _method_assigns(name, array[len(owner) :], line) for owner, name in called)
        for array in passed.arrays
    )


def _is_read(node: ast.Attribute) -> bool:
    return isinstance(node.ctx, ast.Load)


def _is_harmless(function: ast.expr, paths: Paths) -> bool:
    """Return whether a function changes nothing in the containers that it gets."""
    if isinstance(function, ast.Name) and function.id in _HARMLESS:
        return True
    return path_at(function, paths).startswith(("jax.", "numpy."))


def _holds(outer: str, array: str) -> bool:
    """Return whether an array is inside of something else, and not that itself."""
    return outer != array and is_within(array, outer)


def _method_assigns(method: str, inner: str, line: Frame) -> bool:
    """Return whether a method may assign the attribute in which an array is; one of a container may change it.

    So may a method that the file does not define.
    """
    step = _STEP.match(inner)
    nodes = ast.walk(tree_of(line) or ast.Module([], []))
    own = [each for each in nodes if isinstance(each, Function) and each.name == method]
    attributes = (each for one in own for each in ast.walk(one) if isinstance(each, ast.Attribute))
    stored = {f".{each.attr}" for each in attributes if not isinstance(each.ctx, ast.Load)}
    return not own or step is None or not step[0].startswith(".") or step[0] in stored


def put_once(paths: Sequence[str], line: Frame, evidence: Evidence) -> str | None:
    """Return what copies arrays, or containers of them, to the device; ``None`` if one of them cannot be assigned.

    A variable can be, and so can an element of a dictionary or list, and an attribute of an object of the user's. A
    variable from outside the function that passes it has to be assigned there.
    """
    if not all(_can_be_assigned(each, evidence) for each in paths):
        return None
    function = function_around(line)
    outside = [each for each in paths if function is not None and _is_from_outside(each, function)]
    before = [_put(each) for each in paths if each not in outside]
    name = getattr(function, "name", "the function")
    return "\n".join([*before, *([f"# outside of {name}:", *map(_put, outside)] if outside else [])])


def _put(path: str) -> str:
    return f"{path} = jax.device_put({path})"


def _is_from_outside(path: str, function: Function) -> bool:
    return path.isidentifier() and path not in parameters(function) | assigned(function)


def _can_be_assigned(path: str, evidence: Evidence) -> bool:
    target = ast.parse(path, mode="eval").body
    known = {each.path: each for each in evidence.inputs}
    match target:
        case ast.Subscript(value=ast.Name(id=name)):
            return name not in known or known[name].type in ("dict", "list")
        case ast.Subscript(slice=ast.Constant(value=key)):
            return isinstance(key, str)  # a place in a tuple has a number
        case ast.Attribute(value=ast.Name(id=name)):
            return name in known and known[name].can_change
    return isinstance(target, ast.Name)
