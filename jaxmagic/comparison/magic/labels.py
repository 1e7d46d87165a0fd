"""Splits a cell into its setup and labelled expressions, and makes calls of derivatives."""

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
        label: its label.
        expression: the expression to time.
        code: its source.
        mode: whether to time the expression itself or a derivative of the function that it calls.
        like: the label of the candidate whose output it should have; ``None`` for the baseline.
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
    """Split a cell into the setup and the labelled expressions below it.

    To Python, a label with an expression is an annotation: ``numpy: f(x)``.

    Args:
        tree: the cell.
        source: its source.
        least: the least number of candidates.

    Raises:
        UsageError: there are fewer candidates, two with the same label, or something else after the first one.
    """
    first = next((index for index, each in enumerate(tree.body) if _label(each)), len(tree.body))
    candidates: list[Labelled] = []
    for node in tree.body[first:]:
        label = _label(node)
        _refuse_assignment(node)
        if label is None or not isinstance(node, ast.AnnAssign):
            raise UsageError(
                f"line {node.lineno} is not a candidate: after the first label, every line has to be "
                "label: expression. Move other code above the first label."
            )
        if label in [each.label for each in candidates]:
            raise UsageError(f"there are two candidates with the label {label!r}. Rename one of them.")
        code = ast.get_source_segment(source, node.annotation) or ast.unparse(node.annotation)
        candidates.append(Labelled(label, node.annotation, code))
    if len(candidates) < least:
        for node in tree.body:
            _refuse_assignment(node)
        expected = "at least two candidates" if least > 1 else "at least one candidate"
        raise UsageError(
            f"%%jaxcompare: expected {expected}, got {len(candidates)}. Write each on its own line: label: expression"
        )
    return tree.body[:first], candidates


def _refuse_assignment(node: ast.stmt) -> None:
    """Refuse ``jit: y = f(x)``, which is an assignment with an annotation."""
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        raise UsageError(
            f"line {node.lineno}: the label {node.target.id} is followed by an assignment. Write only the "
            f"expression: {node.target.id}: {ast.unparse(node.value)[:60]}"
        )


def explain_label(error: SyntaxError) -> None:
    """Say what is wrong with a label that is not a Python name.

    Raises:
        UsageError: the line of `error` begins with such a label.
    """
    labelled = re.match(r"""\s*(["']?[^\s:=()\[\]{}"'#][^:=()\[\]{}"'#]*["']?)\s*:\s*\S""", error.text or "")
    if labelled is None or labelled[1].isidentifier() or labelled[1].split()[0] in keyword.kwlist:
        return
    name = re.sub(r"\W+", "_", labelled[1].strip("\"'")).strip("_") or "label"
    raise UsageError(
        f"line {error.lineno}: the label {labelled[1]} has to be a Python name, such as {name}."
    ) from None


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
        in_all = in_modes(list(by_label), modes, baseline)
    except ValueError as error:
        raise UsageError(f"--{error}. Write for example --modes forward,grad") from None
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


def _label(node: ast.stmt) -> str | None:
    if isinstance(node, ast.AnnAssign) and node.value is None and isinstance(node.target, ast.Name):
        return node.target.id
    return None
