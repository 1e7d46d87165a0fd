"""Turn a statement into a function that can be called repeatedly, as ``%timeit`` does.

The setup becomes a function, with functions for the code before every sample and for each statement inside it::

    def setup(<parameters>):
        <setup>
        def each(): <each>
        def body0(): <statement>; return its value
        return each, body0

So assignments are local, all functions see the names that the setup binds, and tracebacks point at the user's own
lines.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from IPython.core.error import UsageError

Statements = list[ast.stmt]

#: Names of the generated functions, which must not hide the user's.
_SETUP, _EACH = "__jaxmagic_setup__", "__jaxmagic_each__"


class Repeatable(NamedTuple):
    """The functions for :class:`~jaxmagic.benchmarking.capture.runner.Runner`.

    Attributes:
        bodies: one function per statement, which runs it and returns its value.
        each: the function that runs before every sample, if any.
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
    """Return a function that runs the setup, and returns functions of the statements and the code before samples.

    Args:
        statements: the statements to be repeated, each by itself.
        setup: the code that runs once in each call of the returned function.
        each: the code that runs before every sample.
        namespace: the globals of all code, to which nothing is added.
        filename: the name under which IPython keeps the source.
        parameters: the parameters of the returned function, which the setup and all statements see.

    Raises:
        UsageError: a statement awaits, which is not possible in a function that is not asynchronous.
    """
    shared = {*_names(setup), *_names(each), *parameters}
    names = [f"__jaxmagic_body{number}__" for number in range(len(statements))]
    bodies = []
    for name, body in zip(names, statements, strict=True):
        own = _names(body)
        # A name that is read before it is assigned, as in ``y = f(y)``, begins with the value that it has outside.
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
    exec(_named_as_a_cell(compile(tree, filename, "exec")), namespace, scratch)

    def run(**values: Any) -> Repeatable:
        each_function, *body_functions = scratch[_SETUP](**values)
        return Repeatable(tuple(body_functions), each_function if each else None)

    return run


def _named_as_a_cell(code: CodeType) -> CodeType:
    """Name the generated functions as the code of a cell is named.

    There is no ``def`` of them in the source. Under another name, a traceback in a kernel of IPython 9 looks for one,
    and shows the first statement of the cell in place of the line that failed.
    """
    inside = tuple(_named_as_a_cell(each) if isinstance(each, CodeType) else each for each in code.co_consts)
    if not code.co_name.startswith("__jaxmagic_"):
        return code.replace(co_consts=inside)
    return code.replace(co_consts=inside, co_name="<module>", co_qualname="<module>")


def called_without_arguments(statement: Statements, namespace: Mapping[str, Any]) -> Any:
    """Return ``f`` if the statement is ``f()`` and nothing else."""
    if len(statement) == 1 and isinstance(statement[0], ast.Expr):
        call = statement[0].value
        if isinstance(call, ast.Call) and isinstance(call.func, ast.Name) and not call.args and not call.keywords:
            return namespace.get(call.func.id)
    return None


def _function(
    name: str, body: Statements, begin: Sequence[str], outside: set[str], *, parameters: Sequence[str] = ()
) -> ast.FunctionDef:
    """Return ``def name(x=x, …): nonlocal …; body`` without a location; only the user's statements have one."""
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
    """Return the same statements, with the value of the last one returned if it has any."""
    *others, last = body
    if isinstance(last, ast.Expr):
        return [*others, ast.copy_location(ast.Return(last.value), last)]
    if isinstance(last, ast.Assign):
        last.targets.append(ast.Name("__jaxmagic_value__", ast.Store()))
        return [*others, last, ast.copy_location(ast.Return(ast.Name("__jaxmagic_value__", ast.Load())), last)]
    return body


def _names(body: Statements) -> set[str]:
    """Return the names that statements assign, import, define or delete, according to Python's compiler."""
    if not body:
        return set()
    tree = ast.Module([_function("f", body, [], set())], [])
    ast.fix_missing_locations(tree)
    try:
        compile(ast.Module(body, []), "", "exec")  # return and yield are allowed only in a function
        module = compile(tree, "", "exec")
    except SyntaxError as error:
        word = next((each for each in ("await", "async", "yield", "return") if each in str(error)), None)
        if word is None:
            raise
        raise UsageError(
            f"{word} cannot be repeated: the statement runs inside a function of jaxmagic's. "
            + ("Time one run with %jaxtime." if word in ("await", "async") else "Put it into a function of your own.")
        ) from None
    function = next(each for each in module.co_consts if isinstance(each, CodeType))
    return {*function.co_varnames, *function.co_cellvars}


def _assign_none(name: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
