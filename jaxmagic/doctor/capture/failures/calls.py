"""Finds the jitted function that a line calls, its arguments, and the same call without jit."""

from __future__ import annotations

import ast
import sys
from collections.abc import Mapping, Sequence
from types import FrameType, FunctionType, MethodType, ModuleType
from typing import Any, Protocol

from ....records.call_stack import Frame
from ....runtime.around import attribute, attributes, is_a, is_exactly, member, of_type
from ....runtime.private_api import static_arguments
from ....runtime.tracing import is_array, is_tracer
from ...record.failure import JitCall, Passed
from .libraries.jitted import Behind, behind
from .statement import Place, definition
from .unjitted import unjitted_call

#: Stands for a value that cannot be had without running code.
MISSING = object()

#: Types whose values can be hashed, whatever they are.
_HASHABLE = int, float, complex, bool, str, bytes, type(None)

#: Loops of Python.
_LOOPS = ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp

#: The types of literals.
_DISPLAYS = {
    ast.List: "list",
    ast.ListComp: "list",
    ast.Dict: "dict",
    ast.DictComp: "dict",
    ast.Set: "set",
    ast.SetComp: "set",
    ast.Tuple: "tuple",
}


class Names(Protocol):
    """The variables that code sees: those of a frame, or of a function that is not running."""

    @property
    def f_locals(self) -> Mapping[str, Any]:
        """Return the local variables."""

    @property
    def f_globals(self) -> Mapping[str, Any]:
        """Return the variables of the module."""


def value_of(node: ast.AST, frame: Names) -> Any:
    """Return the value of a name or of an attribute of one, without running code; ``MISSING`` if that is impossible.

    A method is returned as the function in its class.
    """
    if isinstance(node, ast.Name):
        for names in (frame.f_locals, frame.f_globals):
            if node.id in names:
                return names[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        owner = value_of(node.value, frame)
        if owner is MISSING:
            return MISSING
        found = attribute(owner, node.attr)
        if found is None and is_a(owner, type):
            found = member(owner, node.attr)
        return MISSING if found is None or is_exactly(found, property) else found
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub):
        number = value_of(node.operand, frame)
        return -number if is_exactly(number, int, float) else MISSING
    if isinstance(node, ast.Subscript):
        owner, key = value_of(node.value, frame), value_of(node.slice, frame)
        if is_exactly(owner, list, tuple, dict) and is_exactly(key, int, str):
            try:
                return owner[key]
            except (LookupError, TypeError):
                return MISSING
    return MISSING


def called_name(place: Place, frame: FrameType, packages: Sequence[str] = ("numpy", "scipy")) -> str | None:
    """Return the full name of a function of NumPy or SciPy that an expression calls, such as ``"numpy.linalg.det"``.

    A method is named after the module of its object's class.

    Args:
        place: the expression.
        frame: the frame in which it was evaluated.
        packages: the packages whose functions are named.
    """
    return None if not isinstance(place.node, ast.Call) else _full_name(place.node.func, frame, packages)


def functions_called(
    statement: ast.AST | None, frame: FrameType, packages: Sequence[str] = ("numpy", "scipy")
) -> dict[str, str]:
    """Return the functions that a statement calls, as they are written, with their full names.

    That of ``np.vectorize(f)(x)`` is ``"numpy.vectorize()"``, that of ``np.add.reduce(x)`` is ``"numpy.add.reduce"``,
    and that of a method of an array ``"numpy.ndarray.dot"``.
    """
    named: dict[str, str] = {}
    for each in ast.walk(statement) if statement is not None else ():
        if not isinstance(each, ast.Call):
            continue
        function: ast.expr = each.func
        behind = ""
        if isinstance(function, ast.Call):
            function, behind = function.func, "()"
        elif isinstance(function, ast.Attribute) and _is_ufunc(value_of(function.value, frame)):
            behind = f".{function.attr}"
            function = function.value
        name = _full_name(function, frame, packages)
        if name is not None:
            if isinstance(function, ast.Attribute) and not is_a(value_of(function.value, frame), ModuleType):
                name = f"{name.partition('.')[0]}.ndarray.{function.attr}"
            named[ast.unparse(each.func)] = name + behind
    return named


def _is_ufunc(value: object) -> bool:
    return bool(of_type("__name__", type(value)) == "ufunc")


def _full_name(node: ast.expr, frame: FrameType, packages: Sequence[str]) -> str | None:
    name = module = None
    if isinstance(node, ast.Attribute):
        owner, name = value_of(node.value, frame), node.attr
        module = attribute(owner, "__name__") if is_a(owner, ModuleType) else of_type("__module__", type(owner))
    elif isinstance(node, ast.Name):
        function = value_of(node, frame)
        name, module = attribute(function, "__name__"), attribute(function, "__module__")
        if _is_ufunc(function):
            name, module = getattr(function, "__name__", None), _home_of(function)
    if not is_exactly(module, str) or not is_exactly(name, str):
        return None
    return f"{module}.{name}" if str(module).partition(".")[0] in packages else None


def _home_of(ufunc: object) -> str | None:
    """Return the module that exports a universal function, which does not say so itself."""
    names = "numpy", "scipy.special"
    loaded = ((name, sys.modules.get(name)) for name in names)
    return next((name for name, each in loaded if any(ufunc is it for it in (attributes(each) or {}).values())), None)


def is_missing(value: object) -> bool:
    """Return whether a value is what :func:`value_of` returns where it is impossible to tell the value."""
    return value is MISSING


def jit_call(place: Place, frame: FrameType, where: Frame, traced: Any = None) -> JitCall | None:
    """Return the call of a jitted function at which a frame stopped.

    Where no function was traced, it may be that of a method, such as ``jax.jit(net.apply)``, or of ``nnx.jit``.

    Args:
        place: where the frame stopped.
        frame: the frame.
        where: the same for the record.
        traced: the code of the function that was traced; if given, the call has to be of a function with that code.
    """
    node = place.node
    if not isinstance(node, ast.Call):
        return None
    jitted = value_of(node.func, frame)
    own = wrapped_function(jitted)
    found = Behind(own, own, jitted) if own is not None else behind(jitted) if traced is None else None
    if found is None or (traced is not None and found.function.__code__ is not traced):
        return None
    function = found.function
    given = _bound(node)
    method = _method(node.func, jitted, frame)
    if given is None or method is None:
        return None
    code = function.__code__
    parameters = found.positional(len(given[0]))
    passed = [*zip(parameters[len(method) :], given[0], strict=False), *given[1].items()]
    home = definition(_tree(place, code.co_filename), function.__name__, code.co_firstlineno)
    called = ast.unparse(node.func)
    variables = _loop_variables(place)
    arguments = tuple(_passed(name, each, frame, variables) for name, each in passed)
    static = _static(found.jitted, parameters)
    unjitted = unjitted_call(called, function, home, frame, method, node, arguments, static)
    return JitCall(
        function=called,
        frame=where,
        arguments=arguments,
        static=static,
        unjitted=None if found.library else unjitted,
        decorator=_decorator(home),
        unfit=_unfit(home),
    )


def wrapped_function(jitted: Any) -> FunctionType | None:
    """Return the Python function that was jitted, if `jitted` was made by ``jax.jit`` of just that."""
    if jitted is MISSING or of_type("__name__", type(jitted)) != "PjitFunction":
        return None
    function = attribute(jitted, "__wrapped__")
    return function if is_exactly(function, FunctionType) else None


def _method(node: ast.AST, jitted: Any, frame: FrameType) -> tuple[str, ...] | None:
    """Return what a call passes as ``self``: nothing, or the object whose class has the jitted function."""
    if not isinstance(node, ast.Attribute):
        return ()
    owner = value_of(node.value, frame)
    if is_a(owner, type) or is_exactly(owner, type(ast), MethodType):
        return ()
    return (ast.unparse(node.value),) if member(type(owner), node.attr) is jitted else ()


def _bound(node: ast.Call) -> tuple[list[ast.expr], dict[str, ast.expr]] | None:
    """Return positional arguments and keywords; ``None`` if a star passes an unknown number of them."""
    if any(isinstance(each, ast.Starred) for each in node.args):
        return None
    named = {each.arg: each.value for each in node.keywords if each.arg is not None}
    return (list(node.args), named) if len(named) == len(node.keywords) else None


def _loop_variables(place: Place) -> set[str]:
    """Return the variables of the loops around a call: what they go over, and what they count up."""
    loops = [each for each in ast.walk(place.tree) if isinstance(each, _LOOPS)] if place.tree is not None else []
    inside = (part for each in loops if _repeats(each, place.node) for part in ast.walk(each))
    targets = [each.target for each in inside if isinstance(each, ast.For | ast.comprehension | ast.AugAssign)]
    return {each.id for target in targets for each in ast.walk(target) if isinstance(each, ast.Name)}


def _repeats(loop: ast.AST, node: ast.AST | None) -> bool:
    """Return whether a loop has a node, and not in what it goes over."""
    once = ast.walk(loop.iter) if isinstance(loop, ast.For) else ()
    return node in {*ast.walk(loop)}.difference(once)


def _passed(name: str, node: ast.expr, frame: FrameType, variables: set[str]) -> Passed:
    value = value_of(node, frame)
    kind = _DISPLAYS.get(type(node))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        kind = str(of_type("__name__", type(node.operand.value)))
    flat = None
    if value is not MISSING:
        kind = "array" if is_array(value) or is_tracer(value) else str(of_type("__name__", type(value)))
        flat = _flat(value)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        elements = [value_of(each, frame) for each in node.elts]
        flat = None if MISSING in elements else _flat(elements)
    elif isinstance(node, ast.Dict) and None not in node.keys:
        keys, values = ([value_of(each, frame) for each in part if each] for part in (node.keys, node.values))
        flat = None if MISSING in (*keys, *values) else all(is_exactly(each, str) for each in keys) and _flat(values)
    varies = any(isinstance(each, ast.Name) and each.id in variables for each in ast.walk(node))
    return Passed(name=name, text=ast.unparse(node), type=kind, flat=flat, varies=varies)


def _flat(value: Any) -> bool | None:
    """Return whether a container holds nothing but hashable values; ``None`` for anything else."""
    if is_exactly(value, dict):
        return all(is_exactly(each, str) for each in value) and _flat(list(value.values()))
    return all(is_exactly(each, *_HASHABLE) for each in value) if is_exactly(value, list, tuple, set) else None


def _static(jitted: Any, parameters: Sequence[str]) -> tuple[str, ...]:
    known: Mapping[str, Any] = static_arguments(jitted)
    names = tuple(known.get("static_argnames") or ())
    numbers = [each for each in known.get("static_argnums") or () if 0 <= each < len(parameters)]
    return tuple(dict.fromkeys([*(parameters[each] for each in numbers), *names]))


def _tree(place: Place, file: str) -> ast.Module | None:
    """Return the parsed file of a function, if it is the file of its call; else parse it."""
    import linecache

    lines = linecache.getlines(file)
    if tuple(lines) == place.lines:
        return place.tree
    try:
        return ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return None


def _decorator(home: ast.FunctionDef | None) -> str | None:
    """Return the only decorator, if it is ``jit`` without options."""
    if home is None or len(home.decorator_list) != 1:
        return None
    text = ast.unparse(home.decorator_list[0])
    return text if text.rpartition(".")[2] == "jit" else None


def _unfit(home: ast.FunctionDef | None) -> tuple[str, ...]:
    """Return the names that a function assigns to, or an inner one, and those that it uses as arrays."""
    names: dict[str, None] = {}
    for node in ast.walk(home) if home is not None else ():
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names[node.id] = None
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            names[node.value.id] = None
        elif isinstance(node, ast.Nonlocal):
            names |= dict.fromkeys(node.names)
    return tuple(names)
