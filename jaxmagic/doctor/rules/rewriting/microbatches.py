"""Rewrites a function that computes a gradient so that it takes its batch in parts, and sums their gradients."""

from __future__ import annotations

import ast
import re
import textwrap
from typing import NamedTuple

from ....records.cell_names import text_of
from ...record.evidence import Evidence
from ...record.program import Program
from .syntax import around, file_of, tree_of

_GRADIENTS = ("jax.grad", "jax.value_and_grad")


class GradientCall(NamedTuple):
    """A statement in a function that assigns a gradient with respect to one argument of the function.

    Attributes:
        file: the file or cell.
        function: the function.
        statement: the statement.
        gradient: the text of what is called, such as ``"jax.grad(loss)"``.
        loss: the name of the function that is differentiated.
        differentiated: the argument with respect to which it is.
        batch: the other arguments of the call.
    """

    file: str
    function: ast.FunctionDef
    statement: ast.Assign
    gradient: str
    loss: str
    differentiated: str
    batch: tuple[str, ...]


def gradient_call(program: Program, evidence: Evidence) -> GradientCall | None:
    """Return the only gradient that the function of a program computes; ``None`` if it is of another form."""
    place = file_of(program.location, evidence)
    return None if place is None or program.function is None else gradient_in(*place, program.function)


def gradient_in(file: str, line: int, name: str) -> GradientCall | None:
    """Return the only gradient that the function at a line computes; ``None`` if it is of another form."""
    tree = tree_of(file)
    if tree is None:
        return None
    function = next(
        (each for each in around(tree, line) if isinstance(each, ast.FunctionDef) and each.name == name), None
    )
    if function is None:
        return None
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Attribute | ast.Name) and _is_gradient(each)]
    found = [
        (each, each.value.func)
        for each in function.body
        if isinstance(each, ast.Assign) and isinstance(each.value, ast.Call) and isinstance(each.value.func, ast.Call)
    ]
    found = [(statement, call) for statement, call in found if _is_gradient(call.func)]
    if len(calls) != 1 or len(found) != 1:
        return None
    ((statement, call),) = found
    assert isinstance(statement.value, ast.Call)
    passed = [each.id for each in statement.value.args if isinstance(each, ast.Name)]
    before = function.body[: function.body.index(statement)]
    plain = len(passed) == len(statement.value.args) and not statement.value.keywords and not call.keywords
    own = {each.arg for each in (*function.args.posonlyargs, *function.args.args)}
    if not plain or len(passed) < 2 or len(set(passed)) != len(passed) or not set(passed) <= own - _assigned(before):
        return None
    if len(call.args) != 1 or not isinstance(call.args[0], ast.Name):
        return None
    text = ast.unparse(call)
    return GradientCall(file, function, statement, text, call.args[0].id, passed[0], tuple(passed[1:]))


def returns_mean(call: GradientCall) -> bool:
    """Return whether the only ``return`` of the differentiated function is evidently a mean of everything."""
    tree = tree_of(call.file)
    defined = [
        each
        for each in ([] if tree is None else ast.walk(tree))
        if isinstance(each, ast.FunctionDef) and each.name == call.loss
    ]
    if len(defined) != 1:
        return False
    returned = [each.value for each in ast.walk(defined[0]) if isinstance(each, ast.Return)]
    mean = returned[0] if len(returned) == 1 else None
    if not isinstance(mean, ast.Call) or not isinstance(mean.func, ast.Attribute) or mean.keywords:
        return False
    module = ast.unparse(mean.func.value) in ("jnp", "jax.numpy")
    return mean.func.attr == "mean" and len(mean.args) == (1 if module else 0)


def in_microbatches(call: GradientCall, parts: int) -> str | None:
    """Return the function with the gradient summed over parts of the batch; ``None`` if its source cannot be read."""
    lines = text_of(call.file)
    first = min([call.function.lineno, *(each.lineno for each in call.function.decorator_list)])
    statement, last = call.statement, call.function.end_lineno or 0
    if len(lines) < last or statement.end_lineno is None:
        return None
    text = "\n".join(lines)
    jnp = "jnp" if re.search(r"\bjax\.numpy as jnp\b|\bjax import numpy as jnp\b", text) else "jax.numpy"
    taken = {each.id for each in ast.walk(call.function) if isinstance(each, ast.Name)} | _arguments(call.function)
    add, batches, zeros, total = (_free(each, taken) for each in ("add_part", "batches", "zeros", "total"))
    batch = f"({', '.join(call.batch)}{',' if len(call.batch) == 1 else ''})"
    nothing = ast.Assign(targets=statement.targets, value=ast.Name(id="_", ctx=ast.Load()), lineno=0)
    targets = ast.unparse(nothing).removesuffix(" = _")
    arguments = ", ".join((call.differentiated, *call.batch))
    new = [
        f"def {add}(total, batch):",
        f"    return jax.tree.map({jnp}.add, total, {call.gradient}({call.differentiated}, *batch)), None",
        "",
        f"{batches} = jax.tree.map(lambda x: x.reshape({parts}, -1, *x.shape[1:]), {batch})",
        f"{zeros} = jax.tree.map({jnp}.zeros_like, jax.eval_shape({call.gradient}, {arguments}))",
        f"{total}, _ = jax.lax.scan({add}, {zeros}, {batches})",
        f"{targets} = jax.tree.map(lambda x: x / {parts}, {total})",
    ]
    indent = " " * statement.col_offset
    rewritten = [
        *lines[first - 1 : statement.lineno - 1],
        *(f"{indent}{each}" if each else "" for each in new),
        *lines[statement.end_lineno : last],
    ]
    code = textwrap.dedent("\n".join(rewritten))
    try:
        ast.parse(code)
    except SyntaxError:  # several statements on one line
        return None
    return code


def _is_gradient(node: ast.expr) -> bool:
    return ast.unparse(node) in _GRADIENTS


def _assigned(body: list[ast.stmt]) -> set[str]:
    names = [node for each in body for node in ast.walk(each) if isinstance(node, ast.Name)]
    return {each.id for each in names if not isinstance(each.ctx, ast.Load)}


def _arguments(function: ast.FunctionDef) -> set[str]:
    return {each.arg for each in ast.walk(function) if isinstance(each, ast.arg)}


def _free(name: str, taken: set[str]) -> str:
    while name in taken:
        name += "_"
    return name
