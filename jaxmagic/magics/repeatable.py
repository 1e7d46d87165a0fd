"""Turn a statement into a function that can be called repeatedly, as ``%timeit`` does.

All code becomes functions inside of one, which binds the names that they share::

    def make(<parameters>):
        def setup0(): nonlocal …; <setup>
        setup0()
        def each(): nonlocal …; <each>
        def body0(): nonlocal …; <statement>; return its value
        return each, body0

So assignments are local, all functions see the names that the setup binds, and tracebacks point at the user's own
lines: each function has the name of its own source, because the code of an option is not in the cell.
"""

from __future__ import annotations

import ast
from collections.abc import Callable, Mapping, Sequence
from types import CodeType
from typing import Any, NamedTuple

from IPython.core.error import UsageError

Statements = list[ast.stmt]

#: The names that repeated code has assigned, with the magic that it belongs to.
_local: dict[str, str] = {}

#: Names of the generated functions, which must not hide the user's.
_MAKE, _SETUP, _EACH, _BODY = "__jaxmagic_make__", "__jaxmagic_setup", "__jaxmagic_each__", "__jaxmagic_body"


class Source(NamedTuple):
    """Statements, and where they are from.

    Attributes:
        body: the statements.
        filename: the name under which IPython keeps their source.
    """

    body: Statements
    filename: str


class Repeatable(NamedTuple):
    """The functions for :class:`~jaxmagic.benchmarking.capture.runner.Runner`.

    Attributes:
        bodies: one function per statement, which runs it and returns its value.
        each: the function that runs before every sample, if any.
    """

    bodies: tuple[Callable[[], Any], ...]
    each: Callable[[], None] | None


def compile_setup(
    statements: Sequence[Source],
    *,
    setup: Sequence[Source],
    each: Source | None,
    namespace: dict[str, Any],
    parameters: Sequence[str] = (),
    magic: str = "",
) -> Callable[..., Repeatable]:
    """Return a function that runs the setup, and returns functions of the statements and the code before samples.

    Args:
        statements: the statements to be repeated, each by itself.
        setup: the code that runs once in each call of the returned function.
        each: the code that runs before every sample, if any.
        namespace: the globals of all code, to which nothing is added.
        parameters: the parameters of the returned function, which the setup and all statements see.
        magic: the magic that repeats the code, with its percent signs, for :func:`about_local`.

    Raises:
        UsageError: a statement awaits, which is not possible in a function that is not asynchronous.
    """
    before = [] if each is None else each.body
    set_up = {name for part in setup for name in _names(part.body)} - set(parameters)
    shared = {*set_up, *_names(before), *parameters}
    if magic:
        assigned = {name for part in statements for name in _names(part.body)} | set_up
        _local.update(dict.fromkeys(assigned, magic))
    sources: dict[str, Source] = {}

    def function(name: str, source: Source, body: Statements, begin: Sequence[str] = ()) -> ast.stmt:
        sources[name] = source
        return _function(name, body, begin, shared & _names(source.body))

    parts: Statements = []
    for number, part in enumerate(setup):
        name = f"{_SETUP}{number}__"
        parts += [function(name, part, part.body), ast.Expr(ast.Call(ast.Name(name, ast.Load()), [], []))]
    if each is not None:
        parts.append(function(_EACH, each, before))
    names = [f"{_BODY}{number}__" for number in range(len(statements))]
    for name, source in zip(names, statements, strict=True):
        # A name that is read before it is assigned, as in ``y = f(y)``, begins with the value that it has outside.
        begin = [each for each in sorted(_names(source.body) - shared) if each in namespace]
        parts.append(function(name, source, _returning(source.body), begin))
    inside = [
        *map(_declare, sorted(set_up)),
        *map(_assign_none, sorted(_names(before) - set_up - set(parameters))),
        *parts,
        ast.Return(ast.Tuple([ast.Name(name, ast.Load()) for name in (_EACH, *names)[each is None :]], ast.Load())),
    ]
    begin = [name for name in sorted(set_up) if name in namespace]
    tree = ast.Module([_function(_MAKE, inside, begin, set(), parameters=parameters)], [])
    ast.fix_missing_locations(tree)
    scratch: dict[str, Any] = {}
    exec(_named_as_a_cell(compile(tree, __file__, "exec"), sources), namespace, scratch)

    def run(**values: Any) -> Repeatable:
        made = scratch[_MAKE](**values)
        return Repeatable(made, None) if each is None else Repeatable(made[1:], made[0])

    return run


def about_local(error: NameError, namespace: Mapping[str, Any]) -> str | None:
    """Say that the name which an error is about was local to the code of a magic; ``None`` if it was not.

    Args:
        error: the error of a later cell.
        namespace: the globals of the session.
    """
    magic = _local.get(error.name or "")
    if magic is None or error.name in namespace:
        return None
    return f"{error.name} was assigned in {magic}, whose names are local. Assign it in a cell of its own."


def _named_as_a_cell(code: CodeType, sources: Mapping[str, Source], filename: str = __file__) -> CodeType:
    """Name the generated functions as the code of a cell is named, and all code by its source.

    There is no ``def`` of them in the source. Under another name, a traceback in a kernel of IPython 9 looks for one,
    and shows the first statement of the cell in place of the line that failed.
    """
    ours = code.co_name in sources
    if ours:
        filename = sources[code.co_name].filename
    inside = tuple(
        _named_as_a_cell(each, sources, filename) if isinstance(each, CodeType) else each for each in code.co_consts
    )
    code = code.replace(co_consts=inside, co_filename=filename)
    return code.replace(co_name="<module>", co_qualname="<module>") if ours else code


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
    if outside:
        plain = _WithoutAnnotations()
        body = [ast.Nonlocal(sorted(outside)), *(plain.visit(each) for each in body)]
    return ast.FunctionDef(name, arguments, body or [ast.Pass()], [])


class _WithoutAnnotations(ast.NodeTransformer):
    """Makes ``x = 3`` of ``x: int = 3`` outside of other functions and classes, since nonlocal names have no type."""

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None or not node.simple:
            return ast.copy_location(ast.Pass(), node) if node.simple else node
        return ast.copy_location(ast.Assign([node.target], node.value), node)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.stmt:
        return node

    def visit_AsyncFunctionDef(self, node: ast.AsyncFunctionDef) -> ast.stmt:
        return node

    def visit_ClassDef(self, node: ast.ClassDef) -> ast.stmt:
        return node


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


def _declare(name: str) -> ast.stmt:
    """Return ``name: None``, which makes a name local and does nothing."""
    return ast.AnnAssign(ast.Name(name, ast.Store()), ast.Constant(None), None, 1)


def _assign_none(name: str) -> ast.stmt:
    return ast.Assign([ast.Name(name, ast.Store())], ast.Constant(None))
