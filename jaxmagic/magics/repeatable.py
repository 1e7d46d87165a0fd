"""A statement as a function that can be called again and again, as ``%timeit`` makes one.

Setup, what runs before every sample, and the statement become three functions, one inside the other::

    def setup(<parameters>):
        <setup>
        def each(): <each>
        def body0(): <statement>; return its value
        return each, body0

So assignments are local, names that the setup makes are seen by all, and tracebacks point at the user's own lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from IPython.core.error import UsageError

Statements = list[ast.stmt]

#: Names of the functions that are made, which must not hide the user's.
_SETUP, _EACH = "__jaxmagic_setup__", "__jaxmagic_each__"


class Repeatable(NamedTuple):
    """What :class:`~jaxmagic.benchmarking.capture.runner.Runner` wants.

    Attributes:
        bodies: each runs one of the statements and returns its value.
        each: runs before every sample; ``None`` where there is nothing to run.
    """

    bodies: tuple[Callable[[], Any], ...]
    each: Callable[[], None] | None


def compile_setup(
    statements: Sequence[Statements],
    *,
    setup: Statements,
    each: Statements,
    namespace: dict[str, Any],
    filename: str,
    parameters: Sequence[str] = (),
) -> Callable[..., Repeatable]:
    """A function that runs the setup, and makes functions of the statements and of what runs before every sample.

    Args:
        statements: to be repeated, each by itself.
        setup: runs once in each call of the function that is returned.
        each: runs before every sample.
        namespace: the globals of all. Nothing is put into it.
        filename: under which IPython knows the source.
        parameters: names whose values that function is given, for the setup and all statements to see.

    Raises:
        UsageError: a statement awaits, which a function that is not asynchronous cannot.
    """
    shared = {*_names(setup), *_names(each), *parameters}
    names = [f"__jaxmagic_body{number}__" for number in range(len(statements))]
    bodies = []
    for name, body in zip(names, statements, strict=True):
        own = _names(body)
        # A name that is assigned here and read before, as in ``y = f(y)``, begins with the value that it has outside.
        begin = [each for each in sorted(own - shared) if each in namespace]
        bodies.append(_function(name, _returning(body), begin, shared & own))
    before = _function(_EACH, each, [], _names(each))
    missing = [_assign_none(name) for name in sorted(_names(each) - _names(setup) - set(parameters))]
    made = ast.Tuple([ast.Name(name, ast.Load()) for name in (_EACH, *names)], ast.Load())
    inside = [*missing, *setup, before, *bodies, ast.Return(made)]
    begin = [name for name in sorted(_names(setup) - set(parameters)) if name in namespace]
    outer = _function(_SETUP, inside, begin, set(), parameters=parameters)
    tree = ast.Module([outer], [])
    ast.fix_missing_locations(tree)
    scratch: dict[str, Any] = {}
    exec(compile(tree, filename, "exec"), namespace, scratch)

    def run(**values: Any) -> Repeatable:
        each_function, *body_functions = scratch[_SETUP](**values)
        return Repeatable(tuple(body_functions), each_function if each else None)

    return run


def called_without_arguments(statement: Statements, namespace: Mapping[str, Any]) -> Any:
    """The function that the statement is a call of, if it is ``f()`` and nothing else."""
    if len(statement) == 1 and isinstance(statement[0], ast.Expr):
        call = statement[0].value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args and not call.keywords:
            return namespace.get(call.func.id)
    return None


def _function(
    name: str, body: Statements, begin: Sequence[str], outside: set[str], *, parameters: Sequence[str] = ()
) -> ast.FunctionDef:
    """``def name(x=x, …): nonlocal …; body``, without a place: lines are those of the user's statements only."""
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(each) for each in (*parameters, *begin)],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[ast.Name(each, ast.Load()) for each in begin],
    )
    declared: Statements = [ast.Nonlocal(sorted(outside))] if outside else []
    return ast.FunctionDef(name, arguments, [*declared, *body] or [ast.Pass()], [])


def _returning(body: Statements) -> Statements:
    """The same statements, returning the value of the last one if it has any."""
    *others, last = body
    if isinstance(last, ast.Expr):
        return [*others, ast.copy_location(ast.Return(last.value), last)]
    if isinstance(last, ast.Assign):
        last.targets.append(ast.Name("__jaxmagic_value__", ast.Store()))
        return [*others, last, ast.copy_location(ast.Return(ast.Name("__jaxmagic_value__", ast.Load())), last)]
    return body


def _names(body: Statements) -> set[str]:
    """The names that these statements assign, import, define or delete, as Python's compiler finds them."""
    if not body:
        return set()
    tree = ast.Module([_function("f", body, [], set())], [])
    ast.fix_missing_locations(tree)
    try:
        compile(ast.Module(body, []), "", "exec")  # return and yield are at home in a function only
        module = compile(tree, "", "exec")
    except SyntaxError as error:
        word = next((each for each in ("await", "async", "yield", "return") if each in str(error)), None)
        if word is None:
            raise
        raise UsageError(
            f"{word} cannot be repeated: it would be that of a function of ours. "
            + ("Time one run with %jaxtime." if word in ("await", "async") else "Put it into a function of your own.")
        ) from None
    function = next(each for each in module.co_consts if isinstance(each, CodeType))
    return {*function.co_varnames, *function.co_cellvars}


def _assign_none(name: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
