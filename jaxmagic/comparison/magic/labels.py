"""Splits a cell into its setup and its candidates, and makes calls of derivatives."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from IPython.core.error import UsageError

from ...magics.repeatable import Statements
from ..capture.derivatives import Mode, in_modes
from .keyword_labels import hint
from .label_lines import relabel


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


def split_cell(
    tree: ast.Module, source: str, labels: Mapping[int, str], least: int
) -> tuple[Statements, list[Labelled]]:
    """Split a cell into the setup and the candidates below it.

    To Python, a label with an expression is an annotation: ``numpy: f(x)``. Below the first label, the source of an
    expression without a label is its label. Without any label, the expressions at the end of the cell are the
    candidates.

    Args:
        tree: the cell.
        source: its source.
        labels: the labels that are not Python names, by the number of their line.
        least: the least number of candidates.

    Raises:
        UsageError: there are fewer candidates, two with the same label, or something else after the first one.
    """
    first = _first_candidate(tree.body)
    candidates: list[Labelled] = []
    for node in tree.body[first:]:
        candidate = _candidate(node, source, labels)
        if candidate.label in [each.label for each in candidates]:
            raise UsageError(
                f"line {node.lineno}: there are two candidates with the label {candidate.label!r}. "
                "Give one of them another label."
            )
        candidates.append(candidate)
    if len(candidates) < least:
        for node in tree.body:
            _refuse_assignment(node)
        expected = "at least two candidates" if least > 1 else "at least one candidate"
        above = [each for each in tree.body[first - 1 : first] if candidates and _is_expression(each)]
        setup = "".join(f" Line {each.lineno} is setup, as it is above the first label." for each in above)
        raise UsageError(
            f"%%jaxcompare: expected {expected}, got {len(candidates)}.{setup} "
            f"Write each on its own line: label: expression.{_first_hint(tree.body[:first], source)}"
        )
    return tree.body[:first], candidates


def _first_hint(setup: Statements, source: str) -> str:
    """Say of one of the lines above the candidates that it may be a label, if there is such a line."""
    return next(filter(None, (hint(each, source) for each in setup)), "")


def _first_candidate(body: Statements) -> int:
    """Return the index of the first candidate: the first label, or the first of the expressions at the end."""
    labelled = next((index for index, each in enumerate(body) if _is_labelled(each)), None)
    if labelled is not None:
        return labelled
    first = len(body)
    while first and _is_expression(body[first - 1]):
        first -= 1
    return first


def _candidate(node: ast.stmt, source: str, labels: Mapping[int, str]) -> Labelled:
    _refuse_assignment(node)
    if _is_labelled(node):
        assert isinstance(node, ast.AnnAssign)
        code = ast.get_source_segment(source, node.annotation) or ast.unparse(node.annotation)
        return Labelled(labels.get(node.lineno) or ast.unparse(node.target), node.annotation, code)
    if not _is_expression(node):
        raise UsageError(
            f"line {node.lineno} is not a candidate: after the first label, every line has to be "
            f"label: expression.{hint(node, source) or ' Move other code above the first label.'}"
        )
    assert isinstance(node, ast.Expr)
    code = ast.get_source_segment(source, node.value) or ast.unparse(node.value)
    return Labelled(" ".join(code.split()), node.value, code)


def _is_labelled(node: ast.stmt) -> bool:
    return isinstance(node, ast.AnnAssign) and node.value is None


#: Functions whose calls show something, and of which nobody compares the time.
_SHOWING = frozenset({"print", "display", "get_ipython"})


def _is_expression(node: ast.stmt) -> bool:
    """Return whether a statement may be a candidate without a label; neither ``print(x)`` nor ``!ls`` is meant so."""
    if not isinstance(node, ast.Expr) or isinstance(node.value, ast.Constant):
        return False
    called = [each.func for each in ast.walk(node.value) if isinstance(each, ast.Call)]
    return not any(isinstance(each, ast.Name) and each.id in _SHOWING for each in called)


def _refuse_assignment(node: ast.stmt) -> None:
    """Refuse ``jit: y = f(x)``, which is an assignment with an annotation."""
    if isinstance(node, ast.AnnAssign) and node.value is not None and isinstance(node.target, ast.Name):
        raise _followed_by_assignment(node.lineno, node.target.id, ast.unparse(node.value))


def _followed_by_assignment(line: int, label: str, expression: str) -> UsageError:
    return UsageError(
        f"line {line}: the label {label} is followed by an assignment. Write only the expression: "
        f"{label}: {expression[:60]}"
    )


_LABEL = re.compile(r"(?P<label>[^\s:#\"'][^:#\"']*?)\s*:\s*(?P<rest>\S.*)")


def labels_of(cell: str) -> list[str]:
    """Return the labels in a cell, without those of expressions without one; none if the cell is no Python."""
    named = relabel(cell)
    try:
        body = ast.parse(named.source).body
    except (SyntaxError, ValueError):
        return []
    found = [each for each in body if isinstance(each, ast.AnnAssign) and each.value is None]
    return [named.labels.get(each.lineno) or ast.unparse(each.target) for each in found]


def as_python(cell: str) -> str:
    """Return a cell with names of Python in the place of its labels.

    Raises:
        UsageError: a line has a label but is no candidate.
    """
    source = relabel(cell).source
    try:
        ast.parse(source)
    except SyntaxError as error:
        explain_label(error)
    return source


def explain_label(error: SyntaxError) -> None:
    """Say what is wrong with a line that has a label but is no candidate.

    Raises:
        UsageError: the line of `error` begins with a label that has to be in quotes, or goes on with an assignment.
    """
    found = _LABEL.match(error.text or "")
    if found is None or found["label"].isidentifier():
        return
    try:
        (rest,) = ast.parse(found["rest"]).body
    except (SyntaxError, ValueError):
        return
    label = found["label"]
    if isinstance(rest, ast.Assign):
        raise _followed_by_assignment(error.lineno or 0, label, ast.unparse(rest.value)) from None
    if isinstance(rest, ast.Expr):
        raise UsageError(
            f"line {error.lineno}: {error.msg}. If {label!r} is a label, put it in double quotes: "
            f'"{label}": {found["rest"].strip()[:60]}'
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
