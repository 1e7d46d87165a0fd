"""Finds how the user's code jits a function, with constants for its static arguments."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from typing import NamedTuple

from ...rewriting.jit.arguments import static_option
from ...rewriting.syntax import parameters

#: How code calls JAX's jit.
_JITS = "jax.jit", "jit"


class Jit(NamedTuple):
    """The call of JAX's jit for a function, or the decorator of the function.

    Attributes:
        call: the call.
        static: the names of static arguments.
        others: the code of all other options.
    """

    call: ast.Call
    static: set[str]
    others: list[str]


def jit_with_options(function: ast.FunctionDef, tree: ast.Module) -> Jit | None:
    r"""Return the only jit of a function; ``None`` if it is another one than JAX's, or if its options are unknown.

    >>> tree = ast.parse("def f(x, n): return x * n\ng = jax.jit(f, static_argnums=1, donate_argnums=0)")
    >>> jit_with_options(tree.body[0], tree)[1:]
    ({'n'}, ['donate_argnums=0'])
    """
    call = _decorating(function) or _applied(function, tree)
    return None if call is None else _with_options(call, function)


def jit_tracing(argument: str, jit: Jit, function: ast.FunctionDef, tree: ast.Module) -> str | None:
    r"""Write the assignment of a function whose jit traces an argument that was static; ``None`` if it has no name.

    >>> tree = ast.parse("def f(x, n): return x * n\ng = jax.jit(f, static_argnums=1)")
    >>> jit_tracing("n", jit_with_options(tree.body[0], tree), tree.body[0], tree)
    'g = jax.jit(f)'
    """
    name = function.name if function.decorator_list else _assigned(jit.call, tree)
    inner = f"{function.name}.__wrapped__" if function.decorator_list else function.name
    given = ", ".join([inner, *jit.others]) + static_option(sorted(jit.static - {argument}))
    return None if name is None or "self" in parameters(function) else f"{name} = jax.jit({given})"


def _assigned(jit: ast.Call, tree: ast.Module) -> str | None:
    for each in ast.walk(tree):
        match each:
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if value is jit:
                return name
    return None


def _decorating(function: ast.FunctionDef) -> ast.Call | None:
    """Return the only decorator of a function if it is JAX's jit with options, with ``partial`` or without."""
    match function.decorator_list:
        case [ast.Call(func=ast.Name(id="partial") | ast.Attribute(attr="partial"), args=[jit]) as call] if (
            ast.unparse(jit) in _JITS
        ):
            return call
        case [ast.Call(func=jit, args=[]) as call] if ast.unparse(jit) in _JITS:
            return call
    return None


def _applied(function: ast.FunctionDef, tree: ast.Module) -> ast.Call | None:
    """Return the only call of JAX's jit with a function that has no decorators."""
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call) and ast.unparse(each.func) in _JITS]
    found = [each for each in calls if [*map(ast.unparse, each.args)] == [function.name]]
    return found[0] if len(found) == 1 and not function.decorator_list else None


def _with_options(call: ast.Call, function: ast.FunctionDef) -> Jit | None:
    """Return a jit with its options; ``None`` if its static arguments are not constants."""
    places = [each.arg for each in (*function.args.posonlyargs, *function.args.args)]
    jit = Jit(call, set(), [])
    for each in call.keywords:
        given = _constants(each.value) if each.arg in ("static_argnames", "static_argnums") else None
        if given is not None:
            jit.static.update(name for one in given for name in _named(one, places))
        elif each.arg in ("static_argnames", "static_argnums"):
            return None
        else:
            jit.others.append(ast.unparse(each))
    return jit


def _named(given: object, places: Sequence[str]) -> list[str]:
    if isinstance(given, int):
        return [places[given]] if -len(places) <= given < len(places) else []
    return [str(given)]


def _constants(node: ast.expr) -> list[object] | None:
    try:
        value = ast.literal_eval(node)
    except ValueError:
        return None
    return [*value] if isinstance(value, tuple | list) else [value]
