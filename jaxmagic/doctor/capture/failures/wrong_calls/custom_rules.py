"""Finds the rule of a ``custom_vjp`` or ``custom_jvp`` function that does not fit, which no traceback leads to."""

from __future__ import annotations

import ast
import functools
import linecache
import re
from collections.abc import Iterator, Mapping, Sequence
from types import CodeType, FrameType, FunctionType
from typing import Any

from .....records.cell_names import known_as
from .....runtime.around import attribute, is_exactly, of_type, variables_of
from .....runtime.tracing import running_rule
from ..statement import is_outdated

#: The kinds of errors about a rule, with the attributes of the function with derivatives that have such a rule.
OF_RULES = {
    "cotangents": ("bwd",),
    "cotangent type": ("bwd",),
    "rule pair": ("fwd", "jvp"),
    "rule output": ("fwd", "jvp"),
    "tangent output": ("jvp",),
    "tangent structure": ("jvp",),
}

#: Classes of functions with derivatives of their own.
_CUSTOM = "custom_vjp", "custom_jvp"

_FUNCTIONS = ast.FunctionDef, ast.Lambda


def rule_facts(
    kind: str, said: Mapping[str, str], frame: FrameType, calls: Sequence[FrameType]
) -> Iterator[tuple[str, str]]:
    """Iterate over what is known of the rule: its name and lines, and the arguments that get a cotangent.

    Args:
        kind: the kind of the error.
        said: what JAX says: the name of the rule, or the line that it transformed.
        frame: the call of the user's line.
        calls: the calls that this line led to, where JAX has left them in the traceback.
    """
    running, name, line = _function(running_rule(calls)), said.get("rule", ""), said.get("code", "")
    around = (variables_of(frame), frame.f_globals, {} if running is None else running.__globals__)
    named = [(key, each) for names in around for key, each in names.items() if _is_custom(each)]
    if running is None and line:  # which names the function, unless that is called through others
        named = [(key, each) for key, each in named if re.search(rf"\b{key}\b", line)]
    known = {id(each): each for _, each in named}
    found = [(each, rule) for each in known.values() for rule in _rules(each, OF_RULES[kind])]
    found = [(each, rule) for each, rule in found if running in (None, rule) and name in ("", rule.__name__)]
    if running is None and len(found) != 1:  # another function of a module may be meant
        return
    rule = running or found[0][1]
    if running is not None:
        yield "running", "1"
    yield from (("rule", rule.__name__), ("rule at", f"{known_as(rule.__code__.co_filename)}:{_line(rule.__code__)}"))
    yield from _returned(rule.__code__)
    if len(found) == 1:
        yield from _arguments(found[0][0])


def _is_custom(value: object) -> bool:
    kind = type(value)
    return of_type("__name__", kind) in _CUSTOM and str(of_type("__module__", kind)).startswith("jax.")


def _rules(custom: Any, names: Sequence[str]) -> Iterator[FunctionType]:
    return (rule for name in names if (rule := _function(attribute(custom, name))) is not None)


def _function(value: Any) -> FunctionType | None:
    """Return a function of the user's, which a partial may hold."""
    if is_exactly(value, functools.partial):
        value = value.func
    return value if is_exactly(value, FunctionType) else None


def _arguments(custom: Any) -> Iterator[tuple[str, str]]:
    """Iterate over the name of the function, and those of its arguments that are differentiated."""
    function, nondiff = _function(attribute(custom, "fun")), attribute(custom, "nondiff_argnums")
    if function is None or not is_exactly(nondiff, tuple):
        return
    code = function.__code__
    names = code.co_varnames[: code.co_argcount]
    yield "of", function.__name__
    yield "arguments", ", ".join(each for place, each in enumerate(names) if place not in nondiff)
    yield "apart", ", ".join(names[place] for place in nondiff if place < len(names))


def _definition(code: CodeType) -> ast.FunctionDef | ast.Lambda | None:
    lines = linecache.getlines(code.co_filename)
    if is_outdated(code, lines):
        return None
    try:
        tree = ast.parse("".join(lines))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    found = [each for each in ast.walk(tree) if isinstance(each, _FUNCTIONS) and _begins(each, code)]
    return found[0] if len(found) == 1 else None


def _begins(node: ast.FunctionDef | ast.Lambda, code: CodeType) -> bool:
    name = node.name if isinstance(node, ast.FunctionDef) else "<lambda>"
    decorators = node.decorator_list if isinstance(node, ast.FunctionDef) else []
    first = min([node.lineno, *(each.lineno for each in decorators)])
    arguments = tuple(each.arg for each in node.args.args)
    return (name, first, arguments) == (code.co_name, code.co_firstlineno, code.co_varnames[: len(arguments)])


def _line(code: CodeType) -> int:
    node = _definition(code)
    return code.co_firstlineno if node is None else node.lineno


def _returned(code: CodeType) -> Iterator[tuple[str, str]]:
    """Iterate over the text and the line of what a rule returns, if it returns at one place; and its parameters."""
    node = _definition(code)
    if node is None:
        return
    yield "parameters", ", ".join(each.arg for each in node.args.args)
    if isinstance(node, ast.Lambda):
        yield from (("returned code", ast.unparse(node.body)), ("lambda", "1"))
        return
    returns = [each for each in _own(node) if isinstance(each, ast.Return)]
    if len(returns) == 1 and returns[0].value is not None:
        yield "returned code", ast.unparse(returns[0].value)
        yield "returned at", f"{known_as(code.co_filename)}:{returns[0].lineno}"
        yield "returned line", linecache.getline(code.co_filename, returns[0].lineno).strip()
    tangents = node.args.args[-1].arg if node.args.args else ""
    names = {each.id for one in _own(node) if (found := _unpacked(one, tangents)) for each in found}
    yield "tangents", ", ".join([tangents, *sorted(names)])


def _own(node: ast.AST) -> Iterator[ast.AST]:
    """Iterate over what is in a function, without what is in functions inside of it."""
    for each in ast.iter_child_nodes(node):
        if not isinstance(each, _FUNCTIONS):
            yield each
            yield from _own(each)


def _unpacked(node: ast.AST, name: str) -> list[ast.Name]:
    """Return the variables into which a statement unpacks one, also beside another one: ``(x,), (t,) = p, name``."""
    pairs: list[tuple[ast.expr, ast.expr]] = []
    match node:
        case ast.Assign(targets=[ast.Tuple(elts=parts)], value=ast.Tuple(elts=values)) if len(parts) == len(values):
            pairs = [*zip(parts, values, strict=True)]
        case ast.Assign(targets=[target], value=value):
            pairs = [(target, value)]
    found = [each for each, value in pairs if isinstance(value, ast.Name) and value.id == name]
    return [part for each in found for part in ast.walk(each) if isinstance(part, ast.Name)]
