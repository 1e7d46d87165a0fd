"""Takes the calls of candidates apart, and makes calls of derivatives of the functions that they call."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Sequence

from IPython.core.error import UsageError

from ...magics.repeatable import Statements
from ..capture.derivatives import Mode, in_modes
from .labels import Labelled


def with_modes(candidates: Sequence[Labelled], modes: Sequence[Mode], baseline: str) -> list[Labelled]:
    """Make each candidate once per mode: the function that it calls, or a derivative of that function.

    Args:
        candidates: the candidates of the cell.
        modes: which of the function and its derivatives to call.
        baseline: the label that the others are compared with.

    Raises:
        UsageError: a mode is unknown, or a derivative was requested of something that is not a function call with an
            argument.
    """
    by_label = {each.label: each for each in candidates}
    try:
        in_all = in_modes(list(by_label), modes, baseline, write="--modes forward,grad")
    except ValueError as error:
        raise UsageError(f"--{error}.") from None
    labelled = []
    for moded in in_all:
        candidate, mode = by_label[moded.of], moded.mode
        if mode != "forward":
            if not (isinstance(candidate.expression, ast.Call) and candidate.expression.args):
                raise UsageError(
                    f"--modes {mode}: {candidate.label} is not a function call with an argument, so it has no "
                    "derivative. Write for example loss: f(params, x)"
                )
            candidate = candidate._replace(code=f"{mode} of {candidate.code}")
        labelled.append(candidate._replace(label=moded.label, mode=mode, like=moded.like))
    return labelled


def differentiated(candidate: Labelled, name: str) -> Labelled:
    """Replace the call of a function ``f(x)`` by a call of its derivative: ``name(lambda: f)(x)``."""
    call = candidate.expression
    assert isinstance(call, ast.Call)
    made = ast.Call(ast.Name(name, ast.Load()), [_later(call.func)], [])
    changed = ast.Call(ast.copy_location(made, call.func), call.args, call.keywords)
    return candidate._replace(expression=ast.copy_location(changed, call))


def called(candidate: Labelled) -> Statements:
    """Make a statement whose value is the ``(function, arguments, keywords)`` that an expression calls.

    If the expression calls more than one function, the function is the whole expression, without arguments.
    """
    call = candidate.expression
    if isinstance(call, ast.Call) and not any(isinstance(node, ast.Call) for node in _operands(candidate)):
        kwargs = ast.Dict(
            [None if each.arg is None else ast.Constant(each.arg) for each in call.keywords],
            [each.value for each in call.keywords],
        )
        parts: list[ast.expr] = [call.func, ast.Tuple(call.args, ast.Load()), kwargs]
    else:
        parts = [_later(call), ast.Tuple([], ast.Load()), ast.Dict([], [])]
    return [ast.copy_location(ast.Expr(ast.Tuple(parts, ast.Load())), call)]


def is_one_call(candidate: Labelled) -> bool:
    """Return whether an expression only calls one function, such as ``model.loss(params, x, n=3)``."""
    return isinstance(candidate.expression, ast.Call) and all(
        isinstance(node, _READS) for node in _operands(candidate)
    )


def _operands(candidate: Labelled) -> Iterator[ast.AST]:
    """Walk the arguments of a call, and its function unless that is a derivative, which is made once."""
    call = candidate.expression
    assert isinstance(call, ast.Call)
    for part in (*call.args, *call.keywords, *([call.func] if candidate.mode == "forward" else [])):
        yield from ast.walk(part)


#: Syntax that names objects and puts them together.
_READS = (
    ast.Name,
    ast.Attribute,
    ast.Constant,
    ast.Tuple,
    ast.List,
    ast.Dict,
    ast.Starred,
    ast.keyword,
    ast.expr_context,
)


def _later(expression: ast.expr) -> ast.Lambda:
    nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
    return ast.copy_location(ast.Lambda(nothing, expression), expression)
