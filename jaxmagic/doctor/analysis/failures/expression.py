"""Finds how the failing expression uses a traced value, in the statement as it is written."""

from __future__ import annotations

import ast
from dataclasses import dataclass

from ...record.failing_code import Value
from ...record.failure import Failure
from ..replaced_node import ReplacedNode

#: Names of modules if the user's code has none of its own.
_USUAL = {"jax": "jax", "jax.numpy": "jnp", "jax.lax": "lax", "numpy": "np"}
_USUAL |= {each: each for each in ("functools", "dataclasses")}

#: Functions of NumPy that use no elements, and attributes that are known during tracing.
ABOUT = "shape", "ndim", "size", "dtype", "result_type", "issubdtype", "isscalar", "iscomplexobj"

#: A failing statement has at most this many traced values that are described.
MOST_VALUES = 8

#: A longer statement is not rewritten.
_LONGEST = 2000


@dataclass(frozen=True, slots=True)
class Expression:
    """The failing expression in its statement.

    Attributes:
        statement: the statement.
        node: the expression, or the statement where Python tells no more.
        parent: what the expression is a part of; ``None`` for the statement.
        other_return: the ``return`` that follows on an ``if`` without ``else`` that returns as well.
    """

    statement: ast.stmt
    node: ast.AST
    parent: ast.AST | None
    other_return: ast.Return | None = None

    @property
    def text(self) -> str:
        """The expression on one line."""
        node = self.node
        if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
            node = node.test
        return ast.unparse(node)

    @property
    def called(self) -> str | None:
        """The called function, such as ``"range"`` or ``"np.sin"``; ``None`` if the expression is no call."""
        return ast.unparse(self.node.func) if isinstance(self.node, ast.Call) else None

    def with_node(self, new: ast.expr) -> str | None:
        """Return the statement with another expression; ``None`` if it is a compound statement."""
        if not isinstance(self.statement, ast.Return | ast.Assign | ast.AugAssign | ast.AnnAssign | ast.Expr):
            return None
        code = ast.unparse(ast.fix_missing_locations(ReplacedNode(self.node, new).visit(self.statement)))
        return code if len(code) <= _LONGEST else None


def with_operand(failing: Expression, place: int, function: str) -> str | None:
    """Return the statement with one side of its operator passed through a function; ``None`` for anything else."""
    node = failing.node
    if not isinstance(node, ast.BinOp):
        return None
    sides = [call(function, each) if side == place else each for side, each in enumerate((node.left, node.right))]
    return failing.with_node(ast.BinOp(left=sides[0], op=node.op, right=sides[1]))


def expression_of(failure: Failure) -> Expression | None:
    """Parse the failing statement; ``None`` if it or the expression is unknown. Each call returns a new tree."""
    if failure.statement is None or failure.node is None:
        return None
    body = statements(failure.statement)
    if not body:
        return None
    statement = body[0]
    nodes = list(ast.walk(statement))
    if failure.node >= len(nodes):
        return None
    node = nodes[failure.node]
    unpacked = isinstance(node, ast.Tuple | ast.List) and isinstance(node.ctx, ast.Store)
    if failure.kind == "number" and unpacked and isinstance(statement, ast.Assign) and node in statement.targets:
        node = statement.value  # a, b = map(int, c)
    parent = next((each for each in nodes if node in ast.iter_child_nodes(each)), None)
    other = next((each for each in body[1:] if isinstance(each, ast.Return)), None)
    return Expression(statement, node, parent, other)


def loop_of(failing: Expression) -> ast.While | None:
    """Return the loop whose condition failed."""
    loop = failing.statement
    return loop if isinstance(loop, ast.While) and failing.node in (loop, *ast.walk(loop.test)) else None


def assigns(failure: Failure, loop: ast.While, operand: str) -> bool:
    """Return whether the body of a loop assigns to a variable of a condition; the shape of a traced one stays."""
    names = {each.id for each in ast.walk(ast.parse(operand)) if isinstance(each, ast.Name)}
    names = {each for each in names if value_named(failure, each) is None}
    nodes = (node for each in loop.body for node in ast.walk(each) if isinstance(node, ast.Name))
    return any(each.id in names and not isinstance(each.ctx, ast.Load) for each in nodes)


def whole_test(test: ast.expr, jnp: str) -> str:
    """Write ``a > 1 and b`` as ``(a > 1) & (b)``, which computes with arrays."""
    if isinstance(test, ast.BoolOp):
        return (" & " if isinstance(test.op, ast.And) else " | ").join(
            f"({whole_test(each, jnp)})" for each in test.values
        )
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return f"{jnp}.logical_not({whole_test(test.operand, jnp)})"
    return ast.unparse(test)


def statements(text: str) -> list[ast.stmt]:
    """Parse statements, which may be a part of a function, such as ``return x``; none if that is impossible."""
    try:
        return ast.parse(text).body
    except (SyntaxError, ValueError, RecursionError):
        return _inside_function(text)


def _inside_function(statement: str) -> list[ast.stmt]:
    lines = "\n".join(f" {line}" for line in statement.splitlines())
    for head in ("def f():", "async def f():"):
        try:
            function = ast.parse(f"{head}\n{lines}").body[0]
        except (SyntaxError, ValueError, RecursionError):
            continue
        assert isinstance(function, ast.FunctionDef | ast.AsyncFunctionDef)
        return function.body
    return []


def spelled(failure: Failure, module: str) -> str:
    """Return the name that the user's code has for a module, or its usual name."""
    return dict(failure.names).get(module, _USUAL[module])


def with_imports(failure: Failure, code: str, *modules: str) -> str:
    """Put imports before code for the modules that the user's code has not imported."""
    missing = [each for each in modules if each not in dict(failure.names)]
    imports = [f"import {each}" + (f" as {_USUAL[each]}" if each != _USUAL[each] else "") for each in missing]
    return "\n".join([*imports, code])


def value_named(failure: Failure, name: str) -> Value | None:
    """Return the traced value with a name in the failing statement."""
    return next((each for each in failure.values if each.name == name), None)


def gets_traced(failure: Failure, failing: Expression, node: ast.AST) -> bool:
    """Return whether an expression computes with a traced value, rather than with its shape or dtype."""
    if node is failing.node:
        return True
    if isinstance(node, ast.Attribute) and node.attr in ABOUT:
        return False
    if isinstance(node, ast.Call) and ast.unparse(node.func).rpartition(".")[2] in ("len", *ABOUT):
        return False
    named = isinstance(node, ast.Name | ast.Attribute | ast.Subscript)
    if named and value_named(failure, ast.unparse(node)) is not None:
        return True
    return any(gets_traced(failure, failing, each) for each in ast.iter_child_nodes(node))


def operands_in(node: ast.AST) -> list[ast.AST]:
    """Return an expression and the operands of its arithmetic.

    >>> [ast.unparse(each) for each in operands_in(ast.parse("f(a) - 1", mode="eval").body)]
    ['f(a) - 1', 'f(a)', '1']
    """
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) else []
    return [node, *(part for each in sides for part in operands_in(each))]


def passes(node: ast.AST, function: str) -> bool:
    """Return whether an expression passes a built-in function such as ``float`` on, as ``map(float, x)`` does."""
    called = {id(each.func) for each in ast.walk(node) if isinstance(each, ast.Call)}
    return any(
        isinstance(each, ast.Name) and each.id == function and id(each) not in called for each in ast.walk(node)
    )


def call(function: str, *args: ast.expr) -> ast.Call:
    """Make a call of a function that is given by its text."""
    return ast.Call(func=ast.parse(function, mode="eval").body, args=list(args), keywords=[])


def before_dot(text: str) -> str:
    """Return code as it has to be written in front of a dot or a bracket: in parentheses where these are needed.

    >>> [before_dot(each) for each in ("a", "a[0].b", "f(a)", "a + b", "-a[0]", "a if b else c", "a + …")]
    ['a', 'a[0].b', 'f(a)', '(a + b)', '(-a[0])', '(a if b else c)', '(a + …)']
    """
    try:
        node = ast.parse(text, mode="eval").body
    except (SyntaxError, ValueError):  # such as code that was cut
        return f"({text})" if text else ""
    return ast.unparse(ast.Attribute(value=node, attr="x")).removesuffix(".x")


def is_jax(failure: Failure, function: str) -> bool:
    """Return whether a function is one of JAX's modules, which compute with traced values."""
    modules = (spelled(failure, each) for each in ("jax", "jax.numpy", "jax.lax"))
    return function.partition(".")[0] in modules and "." in function
