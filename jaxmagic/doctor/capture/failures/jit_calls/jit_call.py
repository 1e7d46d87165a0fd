"""Finds the jitted function that a line calls, its arguments, and the same call without jit."""

from __future__ import annotations

import ast
import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from types import FrameType, FunctionType, MethodType
from typing import Any

from .....runtime.around import attributes, is_a, is_exactly, member, of_type
from .....runtime.private_api import static_arguments
from .....runtime.tracing import is_array, is_tracer
from ....analysis.failures.known_values.python_needs import python_need, read_by_key
from ....record.failing_code import JitCall, Passed
from ..calls import MISSING, value_of, wrapped_function
from ..entries import Entry
from ..libraries.jitted import Behind, behind
from ..libraries.module_use import library_of, name_of
from ..modules import module_names
from ..statement import Place
from .call_values import CallValues
from .changed_attributes import changed_attributes
from .hashable import hashable
from .left_traced import left_traced
from .returned_attributes import with_attributes_returned
from .static_options import definition_of, jit_code, static_options
from .unhashable import HASHABLE, not_traced, pairs_of, unhashable_parts, written_in
from .unjitted import meets_jit_again, unjitted_call

#: Loops of Python.
_LOOPS = ast.For, ast.While, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp

#: So many parts of an argument that cannot be hashed are kept.
_MOST_PARTS = 16

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


def jit_call(entry: Entry, innermost: FrameType, traced: Any = None) -> JitCall | None:
    """Return the call of a jitted function at which a frame stopped.

    Where no function was traced, it may be that of a method, such as ``jax.jit(net.apply)``, or of ``nnx.jit``.

    Args:
        entry: the entry of the traceback.
        innermost: the frame that failed.
        traced: the code of the function that was traced; if given, the call has to be of a function with that code.
    """
    place, frame, node = entry.place, entry.frame, entry.place.node
    if not isinstance(node, ast.Call):
        return None
    jitted, created = value_of(node.func, frame), False
    if jitted is MISSING:
        jitted = _of_created(node.func, frame)
        created = jitted is not MISSING
    own = wrapped_function(jitted)
    found = Behind(own, own, jitted) if own is not None else behind(jitted) if traced is None else None
    if found is None or (traced is not None and found.function.__code__ is not traced):
        return None
    function = found.function
    given = _bound(node)
    method = ("self",) if created else _method(node.func, jitted, frame)
    if given is None or method is None:
        return None
    parameters = found.positional(len(given[0]))
    passed = [*zip(parameters[len(method) :], given[0], strict=False), *given[1].items()]
    home = definition_of(function, place)
    called = ast.unparse(node.func)
    variables = _loop_variables(place)
    values = CallValues(place, frame, innermost)
    places = {name: position for position, name in enumerate(parameters)}
    static = _static(found.jitted, parameters)
    made_hashable = partial(_with_hashable, value_at=values.value_of, modules=dict(module_names(frame)), home=home)
    arguments = tuple(
        replace(
            _passed(name, each, values.value_of, variables),
            position=places.get(name),
            jit=f"{name_of('equinox', frame)}.filter_jit" if library_of(values.value_of(each)) == "equinox" else "",
        )
        for name, each in passed
    )
    arguments = tuple(
        made_hashable(one, each) if one.name in static else one
        for one, (_, each) in zip(arguments, passed, strict=True)
    )
    unread = any(
        _is_unread(one, each, values.value_of, home) for one, (_, each) in zip(arguments, passed, strict=True)
    )
    runs = (
        values.hold()
        and not unread
        and not found.library
        and not created
        and not meets_jit_again(function, home, innermost)
    )
    unjitted = unjitted_call(called, function, home, frame, method, place, arguments, static) if runs else None
    parts = [(ast.unparse(each), values.value_of(each)) for each in _parts(node, method)]
    owners = {name: values.value_of(each) for name, each in passed}
    if method:
        owners = {parameters[0]: MISSING if created else values.value_of(_parts(node, method)[0]), **owners}
    changed = _changed(function, owners, place) if traced is None else {}
    return JitCall(
        function=called,
        frame=entry.where,
        arguments=arguments,
        static=static,
        unjitted=unjitted,
        decorator=_decorator(home),
        jit=jit_code(node, home, place),
        unfit=_unfit(home),
        options=static_options(node.func, home, place),
        left=() if traced is None else left_traced(function, parts),
        changed=tuple(f"{name}.{each}" for name, found in changed.items() for each in found),
        returning=_returning(home, changed, owners, place) if method and set(changed) == {parameters[0]} else None,
    )


def _changed(function: FunctionType, owners: Mapping[str, Any], place: Place) -> dict[str, tuple[str, ...]]:
    """Return the attributes of its arguments that a function changes, by parameter."""

    def home_of(called: FunctionType) -> ast.FunctionDef | None:
        return definition_of(called, place)

    found = {name: changed_attributes(function, name, owner, home_of) for name, owner in owners.items()}
    return {name: each for name, each in found.items() if each}


def _returning(
    home: ast.FunctionDef | None, changed: Mapping[str, tuple[str, ...]], owners: Mapping[str, Any], place: Place
) -> str | None:
    """Return a jitted method as a function that returns the attributes that it changes, and its call."""
    (name, names), call, statement = *changed.items(), place.node, place.statement
    values = attributes(owners[name])
    if home is None or _decorator(home) is None or values is None:
        return None
    if not isinstance(call, ast.Call) or not isinstance(statement, ast.stmt):
        return None
    return with_attributes_returned(home, names, values, call, statement)


def _of_created(node: ast.expr, frame: FrameType) -> Any:
    """Return the method of an object that the call creates, as in ``Net(3).step(x)``, which its class has."""
    if not isinstance(node, ast.Attribute) or not isinstance(node.value, ast.Call):
        return MISSING
    kind = value_of(node.value.func, frame)
    found = member(kind, node.attr) if is_a(kind, type) else None
    return MISSING if found is None or is_exactly(found, staticmethod, classmethod, property) else found


def _method(node: ast.AST, jitted: Any, frame: FrameType) -> tuple[str, ...] | None:
    """Return what a call passes as ``self``: nothing, or the object whose class has the jitted function."""
    if not isinstance(node, ast.Attribute):
        return ()
    owner = value_of(node.value, frame)
    if is_a(owner, type) or is_exactly(owner, type(ast), MethodType):
        return ()
    return (ast.unparse(node.value),) if member(type(owner), node.attr) is jitted else ()


def _parts(node: ast.Call, method: Sequence[str]) -> list[ast.expr]:
    """Return the arguments of a call, and the object whose method it calls."""
    owner = [node.func.value] if method and isinstance(node.func, ast.Attribute) else []
    return [*owner, *node.args, *(each.value for each in node.keywords)]


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


def _passed(name: str, node: ast.expr, value_at: Callable[[ast.expr], Any], variables: set[str]) -> Passed:
    value = value_at(node)
    kind = _DISPLAYS.get(type(node))
    if isinstance(node, ast.UnaryOp) and isinstance(node.operand, ast.Constant):
        kind = str(of_type("__name__", type(node.operand.value)))
    flat = None
    if value is not MISSING:
        kind = "array" if is_array(value) or is_tracer(value) else str(of_type("__name__", type(value)))
        flat = _flat(value)
    elif isinstance(node, ast.List | ast.Tuple | ast.Set):
        elements = [value_at(each) for each in node.elts]
        flat = None if MISSING in elements else _flat(elements)
    elif isinstance(node, ast.Dict) and None not in node.keys:
        keys, values = ([value_at(each) for each in part if each] for part in (node.keys, node.values))
        flat = None if MISSING in (*keys, *values) else all(is_exactly(each, str) for each in keys) and _flat(values)
    varies = any(isinstance(each, ast.Name) and each.id in variables for each in ast.walk(node))
    return Passed(
        name=name,
        text=ast.unparse(node),
        type=kind,
        flat=flat,
        varies=varies,
        shape=_shape(value, node),
    )


def _with_hashable(
    passed: Passed,
    node: ast.expr,
    value_at: Callable[[ast.expr], Any],
    modules: Mapping[str, str],
    home: ast.FunctionDef | None,
) -> Passed:
    """Add to a static argument what of it cannot be hashed, and what can be passed in its place.

    Args:
        passed: the argument.
        node: its expression.
        value_at: what gives the value of an expression without running code, or ``MISSING``.
        modules: the names that the code has for modules.
        home: the definition of the function.
    """
    name = passed.name
    unhashable = tuple(itertools.islice(unhashable_parts(node, value_at, name), _MOST_PARTS))
    if not unhashable:
        needed = python_need(home, name) if home is not None and passed.type is None else ""
        return replace(passed, needed=needed)
    by_key = home is not None and read_by_key(home, name)
    new = hashable(node, value_at, modules, read_by_key=by_key)
    untraced = next(_not_traced(node, value_at, name), ("", ""))
    return replace(
        passed,
        unhashable=unhashable,
        hashable="" if new is None else new.text,
        restored=() if new is None else tuple(new.lines(name)),
        untraced=untraced,
        needed=python_need(home, name) if home is not None and not untraced[0] else "",
    )


def _is_unread(
    passed: Passed, node: ast.expr, value_at: Callable[[ast.expr], Any], home: ast.FunctionDef | None
) -> bool:
    """Return whether pairs are passed for a dictionary, so that the function fails without jit as well."""
    return home is not None and pairs_of(node, value_at) is not None and read_by_key(home, passed.name)


def _not_traced(node: ast.expr, value_at: Callable[[ast.expr], Any], path: str) -> Iterator[tuple[str, str]]:
    """Iterate over the parts of an argument that cannot be traced, as far as its values or its syntax tell."""
    value = value_at(node)
    if value is not MISSING:
        yield from not_traced(value, path)
    elif isinstance(node, ast.Tuple | ast.List | ast.Dict):
        for place, each in written_in(node, path):
            yield from _not_traced(each, value_at, place)


def _shape(value: Any, node: ast.expr) -> tuple[int, ...] | None:
    """Return the shape of an array; of one that a call makes of a list of numbers, by this list."""
    if is_array(value) or is_tracer(value) or of_type("__name__", type(value)) == "ndarray":
        return tuple(value.shape)
    match node:
        case ast.Call(func=ast.Attribute(attr="array" | "asarray"), args=[ast.List(elts=items), *_]):
            numbers = [each.operand if isinstance(each, ast.UnaryOp) else each for each in items]
            return (len(items),) if all(isinstance(each, ast.Constant) for each in numbers) else None
    return None


def _flat(value: Any) -> bool | None:
    """Return whether a container holds nothing but hashable values; ``None`` for anything else."""
    if is_exactly(value, dict):
        return all(is_exactly(each, str) for each in value) and _flat(list(value.values()))
    return all(is_exactly(each, *HASHABLE) for each in value) if is_exactly(value, list, tuple, set) else None


def _static(jitted: Any, parameters: Sequence[str]) -> tuple[str, ...]:
    known: Mapping[str, Any] = static_arguments(jitted)
    names = tuple(known.get("static_argnames") or ())
    numbers = [each for each in known.get("static_argnums") or () if 0 <= each < len(parameters)]
    return tuple(dict.fromkeys([*(parameters[each] for each in numbers), *names]))


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
