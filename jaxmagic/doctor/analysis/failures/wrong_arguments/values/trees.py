"""Explains arithmetic with dictionaries of arrays, and writes it with ``jax.tree.map``."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, call, expression_of, spelled, with_imports
from ..explained import Explained, Rule
from ..operands import fact


def explain_tree_arithmetic(failure: Failure) -> Explained:
    """Explain ``params - 0.1 * grads`` of dictionaries."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    trees = fact(failure, "trees").split("\n")
    found = note("doctor.error_tree_arithmetic", trees=", ".join(trees), count=len(trees))
    code = None
    if failing is not None and fact(failure, "known"):
        code = _mapped(failing, trees, jax)
    remedy = note("doctor.write_tree_map", jax=jax)
    return Explained(found, remedy, None if code is None else with_imports(failure, code, "jax"))


def whole_expression(statement: ast.stmt, node: ast.AST) -> ast.AST:
    """Return the largest arithmetic expression around a node; an augmented assignment is one with its variable."""
    parents = {id(inner): each for each in ast.walk(statement) for inner in ast.iter_child_nodes(each)}
    while isinstance(parents.get(id(node)), ast.BinOp | ast.UnaryOp | ast.AugAssign):
        node = parents[id(node)]
    return node


def leaves(node: ast.AST) -> Iterator[ast.expr]:
    """Iterate over the operands of an arithmetic expression, in their order."""
    match node:
        case ast.BinOp(left=left, right=right) | ast.AugAssign(target=left, value=right):
            yield from leaves(left)
            yield from leaves(right)
        case ast.UnaryOp(operand=operand):
            yield from leaves(operand)
        case ast.expr():
            yield node


def _mapped(failing: Expression, trees: list[str], jax: str) -> str | None:
    """Return the statement with ``jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)``."""
    whole = whole_expression(failing.statement, failing.node)
    operands = {text: ast.parse(text, mode="eval").body for text in trees}
    names = _names(trees, whole)
    if isinstance(whole, ast.AugAssign):
        inner: ast.expr = ast.BinOp(
            left=operands.get(ast.unparse(whole.target), whole.target), op=whole.op, right=whole.value
        )
    elif isinstance(whole, ast.expr):
        inner = whole
    else:
        return None
    text = ast.unparse(whole.target) if isinstance(whole, ast.AugAssign) else ""
    body: ast.expr = _Renamed(names).visit(ast.parse(ast.unparse(inner), mode="eval").body)
    arguments = ast.arguments(
        posonlyargs=[],
        args=[ast.arg(arg=each) for each in names.values()],
        kwonlyargs=[],
        kw_defaults=[],
        defaults=[],
    )
    new = call(f"{jax}.tree.map", ast.Lambda(args=arguments, body=body), *operands.values())
    if text:
        return f"{text} = {ast.unparse(ast.fix_missing_locations(new))}"
    return Expression(failing.statement, whole, None).with_node(new)


def _names(trees: list[str], whole: ast.AST) -> dict[str, str]:
    """Return a short name for each tree: its first letter, or a number after it where that is taken."""
    others = [each for each in leaves(whole) if ast.unparse(each) not in trees]
    taken = {each.id for other in others for each in ast.walk(other) if isinstance(each, ast.Name)}
    names = dict[str, str]()
    for text in trees:
        letter = next((each for each in text.lower() if each.isalpha()), "x")
        options = [letter, *(f"{letter}{number}" for number in range(2, 99))]
        names[text] = next(each for each in options if each not in taken)
        taken.add(names[text])
    return names


class _Renamed(ast.NodeTransformer):
    """Puts names in place of expressions."""

    def __init__(self, names: dict[str, str]) -> None:
        self.names = names

    def visit(self, node: ast.AST) -> Any:
        name = self.names.get(ast.unparse(node)) if isinstance(node, ast.expr) else None
        return super().visit(node) if name is None else ast.Name(name, ast.Load())


#: The messages that are explained here, which Python words.
# fmt: off
RULES = (
    Rule("TypeError", "tree arithmetic", explain_tree_arithmetic,
        r"unsupported operand type\(s\) for \S+: (?:'dict' and '[\w.]+'|'[\w.]+' and 'dict')"),
)
# fmt: on
