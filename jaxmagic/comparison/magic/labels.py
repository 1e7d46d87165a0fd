"""A cell of labelled expressions: the setup above them, and what of each expression is called."""

from __future__ import annotations

import ast
import keyword
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from IPython.core.error import UsageError

from ...magics.repeatable import Statements
from ..capture.derivatives import Mode, in_modes


class Labelled(NamedTuple):
    """An expression under its label.

    Attributes:
        label: its name.
        expression: what is timed.
        code: its source.
        mode: whether that is the expression itself or a derivative of the function that it calls.
        like: the label of the one whose output it should have; ``None`` for the baseline's.
    """

    label: str
    expression: ast.expr
    code: str
    mode: Mode = "forward"
    like: str | None = None

    @property
    def body(self) -> Statements:
        """The expression as a statement."""
        return [ast.copy_location(ast.Expr(self.expression), self.expression)]


def split_cell(tree: ast.Module, source: str, least: int) -> tuple[Statements, list[Labelled]]:
    """The setup, and the labelled expressions below it.

    A label with an expression is an annotation to Python: ``numpy: f(x)``.

    Args:
        tree: the cell.
        source: of the cell.
        least: how many candidates there have to be.

    Raises:
        UsageError: fewer candidates, two of the same label, or something else behind the first one.
    """
    first = next((index for index, each in enumerate(tree.body) if _label(each)), len(tree.body))
    candidates: list[Labelled] = []
    for node in tree.body[first:]:
        label = _label(node)
        _refuse_assignment(node)
        if label is None or not isinstance(node, ast.AnnAssign):
            raise UsageError(
                f"line {node.lineno} is no candidate: behind the first label there are only lines such as "
                "label: expression. Put what has to run before above them."
            )
        if label in [each.label for each in candidates]:
            raise UsageError(f"there are two candidates {label!r}. Give each a label of its own.")
        code = ast.get_source_segment(source, node.annotation) or ast.unparse(node.annotation)
        candidates.append(Labelled(label, node.annotation, code))
    if len(candidates) < least:
        for node in tree.body:
            _refuse_assignment(node)
        wanted = "at least two candidates" if least > 1 else "at least one candidate"
        raise UsageError(
            f"%%jaxcompare: expected {wanted}, got {len(candidates)}. "
            "Write each on a line of its own: label: expression"
        )
    return tree.body[:first], candidates


def _refuse_assignment(node: ast.stmt) -> None:
    """``jit: y = f(x)`` is an assignment with an annotation."""
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        raise UsageError(
            f"line {node.lineno}: behind the label {node.target.id} there is an assignment. Write the expression "
            f"alone: {node.target.id}: {ast.unparse(node.value)[:60]}"
        )


def explain_label(error: SyntaxError) -> None:
    """Say what is wrong with a label that Python does not take as one.

    Raises:
        UsageError: the line of `error` begins with such a label.
    """
    found = re.match(r"""\s*(["']?[^\s:=()\[\]{}"'#][^:=()\[\]{}"'#]*["']?)\s*:\s*\S""", error.text or "")
    if found is None or found[1].isidentifier() or found[1].split()[0] in keyword.kwlist:
        return
    name = re.sub(r"\W+", "_", found[1].strip("\"'")).strip("_") or "label"
    raise UsageError(
        f"line {error.lineno}: the label {found[1]} has to be a name of Python, such as {name}."
    ) from None


def with_modes(candidates: Sequence[Labelled], modes: Sequence[Mode], baseline: str) -> list[Labelled]:
    """Each candidate once for each mode: the function that it calls, or a derivative of that.

    Args:
        candidates: of the cell.
        modes: what of each function is called.
        baseline: the label that the others are compared with.

    Raises:
        UsageError: a mode that is none, or a derivative is asked for of something that is not a call of a function
            with an argument.
    """
    by_label = {each.label: each for each in candidates}
    try:
        in_all = in_modes(list(by_label), modes, baseline)
    except ValueError as error:
        raise UsageError(f"--{error}. Write for example --modes forward,grad") from None
    found = []
    for moded in in_all:
        each, mode = by_label[moded.of], moded.mode
        if mode != "forward":
            if not (isinstance(each.expression, ast.Call) and each.expression.args):
                raise UsageError(
                    f"--modes {mode}: {each.label} is no call of a function with an argument, so that there is no "
                    "derivative. Write for example loss: f(params, x)"
                )
            each = each._replace(code=f"{mode} of {each.code}")
        found.append(each._replace(label=moded.label, mode=mode, like=moded.like))
    return found


def differentiated(each: Labelled, name: str) -> Labelled:
    """The same with the call of a function ``f(x)`` as a call of its derivative: ``name(lambda: f)(x)``."""
    call = each.expression
    assert isinstance(call, ast.Call)
    made = ast.Call(ast.Name(name, ast.Load()), [_later(call.func)], [])
    changed = ast.Call(ast.copy_location(made, call.func), call.args, call.keywords)
    return each._replace(expression=ast.copy_location(changed, call))


def called(each: Labelled) -> Statements:
    """A statement with the value of ``(function, arguments, keywords)`` that an expression calls.

    If it calls more than one function, it is all of it that is called, without arguments.
    """
    call = each.expression
    if isinstance(call, ast.Call) and not any(isinstance(node, ast.Call) for node in _operands(each)):
        kwargs = ast.Dict(
            [None if each.arg is None else ast.Constant(each.arg) for each in call.keywords],
            [each.value for each in call.keywords],
        )
        parts: list[ast.expr] = [call.func, ast.Tuple(call.args, ast.Load()), kwargs]
    else:
        parts = [_later(call), ast.Tuple([], ast.Load()), ast.Dict([], [])]
    return [ast.copy_location(ast.Expr(ast.Tuple(parts, ast.Load())), call)]


def is_one_call(each: Labelled) -> bool:
    """Tell whether an expression calls one function and does nothing else, such as ``model.loss(params, x, n=3)``."""
    return isinstance(each.expression, ast.Call) and all(isinstance(node, _READS) for node in _operands(each))


def _operands(each: Labelled) -> Iterator[ast.AST]:
    """Walk the arguments of a call, and its function unless that is a derivative, which is made once."""
    call = each.expression
    assert isinstance(call, ast.Call)
    for part in (*call.args, *call.keywords, *([call.func] if each.mode == "forward" else [])):
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


def _label(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name):
        return node.target.id
    return None
