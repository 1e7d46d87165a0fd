"""Rewrites a condition in an expression or a loop to ``jnp.where``, ``lax.while_loop`` and others, if it can.

A rewritten line must compute the same numbers. Hence both branches have to be arithmetic on traced values of the same
shape: they are computed whatever the condition is.
"""

from __future__ import annotations

import ast
import itertools

from ....record.failure import Failure
from ..expression import MOST_VALUES, Expression, call, spelled, value_named, with_imports
from .shapes import COMPARED, same_shape, shape_of

#: Functions of ``jax.numpy`` that are finite for finite numbers, with finite derivatives, and those of conditions.
_FINITE = "abs", "sin", "cos", "tanh", "square", "negative", "sign", "logical_not", "logical_and", "logical_or"

#: Containers that are written out.
_DISPLAYS = ast.List | ast.Tuple | ast.Dict | ast.Set | ast.ListComp | ast.DictComp | ast.SetComp

#: Parts of arithmetic that raises no error by itself.
_ARITHMETIC = ast.Name, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.expr_context


def rewritten(failure: Failure, failing: Expression) -> str | None:
    """Return the statement without the condition; ``None`` if that is not mechanical."""
    statement, node = failing.statement, failing.node
    code: str | None = None
    if not all(computes_alike(failure, each) for each in _tests(failing)):
        return None
    if isinstance(statement, ast.While) and node in (statement, *ast.walk(statement.test)):
        return _while(failure, statement)
    chosen = [each for each in ast.walk(statement) if isinstance(each, ast.IfExp) and _tests_node(each, node)]
    if chosen and computes_alike(failure, chosen[0].test) and same_shape(failure, chosen[0].body, chosen[0].orelse):
        value = where(failure, chosen[0].test, chosen[0].body, chosen[0].orelse)
        code = Expression(statement, chosen[0], None).with_node(value)
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        code = failing.with_node(as_array(failure, node))
    elif isinstance(node, ast.Call) and failing.called in ("max", "min") and not node.keywords:
        code = failing.with_node(node) if _with_extremes(failure, failing) else None
    return None if code is None else with_imports(failure, code, "jax.numpy")


def _tests_node(choice: ast.IfExp, node: ast.AST) -> bool:
    """Return whether a node is what an expression tests, with ``not`` before it or without."""
    test: ast.AST = choice.test
    while test is not node and isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        test = test.operand
    return test is node


def _with_extremes(failure: Failure, failing: Expression) -> bool:
    """Write ``max`` and ``min`` of traced numbers as functions of arrays; return whether the failing one is."""
    names = {"max": "maximum", "min": "minimum"}
    done = False
    for each in reversed(list(ast.walk(failing.statement))):  # inner calls first
        if not isinstance(each, ast.Call) or ast.unparse(each.func) not in names or each.keywords:
            continue
        traced = any(value_named(failure, name) is not None for name in loaded(each))
        if traced and len(each.args) == 2 and same_shape(failure, *each.args):
            each.func = call(f"{spelled(failure, 'jax.numpy')}.{names[ast.unparse(each.func)]}").func
            done = done or each is failing.node
    return done


def may_diverge(code: str) -> bool:
    """Return whether what ``where()`` chooses from in some code, or the code itself without one, may be infinite.

    Sums and products of finite numbers are finite, except for overflows, and so are their derivatives.

    >>> may_diverge("y = jnp.where(x > 0, 2 * x, -x)"), may_diverge("y = jnp.where(x > 0, 1 / x, x)")
    (False, True)
    """
    tree = ast.parse(code)
    calls = [each for each in ast.walk(tree) if isinstance(each, ast.Call)]
    chosen: list[ast.AST] = [part for each in calls if _name_of(each) == "where" for part in each.args[1:]]
    return any(_diverges(part) for each in chosen or [tree] for part in ast.walk(each))


def _diverges(node: ast.AST) -> bool:
    if isinstance(node, ast.Call):
        return _name_of(node) not in _FINITE
    if not isinstance(node, ast.BinOp) or isinstance(node.op, ast.Add | ast.Sub | ast.Mult):
        return False
    number = node.right.value if isinstance(node.right, ast.Constant) else 0
    return not isinstance(number, int | float) or number < 1


def _name_of(node: ast.Call) -> str:
    return ast.unparse(node.func).rpartition(".")[2]


def _tests(failing: Expression) -> list[ast.expr]:
    """Return the conditions that are rewritten as functions of arrays."""
    parts = failing.statement, failing.parent, failing.node
    tests = [each.test for each in parts if isinstance(each, ast.If | ast.While | ast.IfExp)]
    return [*tests, failing.node] if isinstance(failing.node, ast.UnaryOp) else tests


def computes_alike(failure: Failure, test: ast.expr) -> bool:
    """Return whether a condition may be computed as a whole: ``and`` and ``or`` guard nothing, and it is traced."""
    if any(isinstance(each, ast.Compare) and not may_be_traced(failure, each) for each in ast.walk(test)):
        return False
    return not any(isinstance(each, ast.BoolOp) for each in ast.walk(test)) or is_traced(failure, test)


def may_be_traced(failure: Failure, node: ast.expr) -> bool:
    """Return whether an expression can be a traced value: no constant, no list, and no comparison of those alone."""
    if isinstance(node, ast.Constant | ast.JoinedStr | _DISPLAYS):
        return False
    if isinstance(node, ast.BinOp):
        return may_be_traced(failure, node.left) or may_be_traced(failure, node.right)
    if isinstance(node, ast.Compare) and len(node.ops) == 1:
        sides = node.left, node.comparators[0]
        if any(
            isinstance(part, ast.List | ast.Tuple | ast.Dict | ast.Set) for side in sides for part in _outside(side)
        ):
            return False
        known = len(failure.values) < MOST_VALUES and all(isinstance(each, ast.Name | ast.Constant) for each in sides)
        return not known or any(value_named(failure, ast.unparse(each)) is not None for each in sides)
    return True


def _outside(node: ast.AST) -> list[ast.AST]:
    """Return the parts of an expression that are no arguments of a call, and no indices."""
    if isinstance(node, ast.Call | ast.Subscript):
        return [node]
    return [node, *(part for child in ast.iter_child_nodes(node) for part in _outside(child))]


def is_traced(failure: Failure, test: ast.expr) -> bool:
    """Return whether each operand of ``and``, ``or`` and ``not`` is a traced value or compares one with a number."""
    if isinstance(test, ast.BoolOp):
        return all(is_traced(failure, each) for each in test.values)
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return is_traced(failure, test.operand)
    if isinstance(test, ast.Name):
        return value_named(failure, test.id) is not None
    if isinstance(test, ast.Call):
        return _is_traced_call(failure, test)
    if not isinstance(test, ast.Compare) or not all(isinstance(each, COMPARED) for each in test.ops):
        return False
    sides = [test.left, *test.comparators]
    simple = all(_is_arithmetic(failure, each) for each in sides)
    pairs = itertools.pairwise(sides)
    return simple and all(any(_holds_traced(failure, side) for side in pair) for pair in pairs)


def _is_traced_call(failure: Failure, test: ast.Call) -> bool:
    """Return whether a call is ``x.any()``, ``jnp.all(x)`` or ``jnp.isnan(x)`` of a traced value."""
    owner = test.func.value if isinstance(test.func, ast.Attribute) else None
    if not isinstance(test.func, ast.Attribute) or owner is None or test.keywords:
        return False
    of_jax = ast.unparse(owner) == spelled(failure, "jax.numpy")
    if of_jax and test.func.attr in ("isnan", "isinf", "isfinite") and len(test.args) == 1:
        return _holds_traced(failure, test.args[0])
    reduced = test.args if of_jax else [owner, *test.args]
    return test.func.attr in ("any", "all") and len(reduced) == 1 and is_traced(failure, reduced[0])


def _is_arithmetic(failure: Failure, node: ast.expr) -> bool:
    return all(isinstance(part, _ARITHMETIC) for part in ast.walk(node)) or shape_of(failure, node) is not None


def _holds_traced(failure: Failure, node: ast.expr) -> bool:
    """Return whether arithmetic on traced values and numbers has a traced value in it."""
    named = any(value_named(failure, name) is not None for name in loaded(node))
    return named and shape_of(failure, node) is not None


def as_array(failure: Failure, test: ast.expr) -> ast.expr:
    """Write ``and``, ``or``, ``not`` and chained comparisons as functions of arrays."""
    jnp = spelled(failure, "jax.numpy")
    if isinstance(test, ast.UnaryOp) and isinstance(test.op, ast.Not):
        return call(f"{jnp}.logical_not", as_array(failure, test.operand))
    if isinstance(test, ast.Compare) and len(test.ops) > 1:
        lefts = [test.left, *test.comparators[:-1]]
        parts: list[ast.expr] = [
            ast.Compare(left=left, ops=[op], comparators=[right])
            for left, op, right in zip(lefts, test.ops, test.comparators, strict=True)
        ]
        return _all(f"{jnp}.logical_and", parts)
    if isinstance(test, ast.BoolOp):
        name = "logical_and" if isinstance(test.op, ast.And) else "logical_or"
        return _all(f"{jnp}.{name}", [as_array(failure, each) for each in test.values])
    return test


def _all(function: str, parts: list[ast.expr]) -> ast.expr:
    whole = parts[0]
    for each in parts[1:]:
        whole = call(function, whole, each)
    return whole


def where(failure: Failure, test: ast.expr, first: ast.expr, other: ast.expr) -> ast.expr:
    """Write a choice between two values."""
    return call(f"{spelled(failure, 'jax.numpy')}.where", as_array(failure, test), first, other)


def _while(failure: Failure, statement: ast.While) -> str | None:
    """Rewrite a ``while`` that assigns to one name, whose type stays the same."""
    if len(statement.body) != 1 or statement.orelse:
        return None
    name, value = _assigned(statement.body[0])
    carried = None if name is None else value_named(failure, name)
    if value is None or carried is None or not carried.type.startswith(("f", "bf")):
        return None
    steady = not any(isinstance(each, ast.Constant) and isinstance(each.value, complex) for each in ast.walk(value))
    if not steady or not same_shape(failure, value, _name(name)) or not is_pure(failure, statement.test):
        return None
    types = {each.type for each in failure.values if each.name in loaded(value)}
    if types != {carried.type}:
        return None
    condition = as_array(failure, statement.test)
    if (
        not isinstance(condition, ast.Compare) and condition is statement.test
    ):  # while_loop() takes nothing but a bool
        return None
    test = ast.unparse(ast.fix_missing_locations(condition))
    lax = spelled(failure, "jax.lax")
    loop = f"{name} = {lax}.while_loop(lambda {name}: {test}, lambda {name}: {ast.unparse(value)}, {name})"
    return with_imports(failure, loop, "jax.lax")


def _assigned(statement: ast.stmt) -> tuple[str | None, ast.expr | None]:
    """Return the name and the value of an assignment to one name."""
    if (
        isinstance(statement, ast.Assign)
        and len(statement.targets) == 1
        and isinstance(statement.targets[0], ast.Name)
    ):
        return statement.targets[0].id, statement.value
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        name = statement.target.id
        return name, ast.BinOp(left=_name(name), op=statement.op, right=statement.value)
    return None, None


def _name(name: str | None) -> ast.Name:
    return ast.Name(id=name or "_", ctx=ast.Load())


def loaded(node: ast.AST) -> set[str]:
    """Return the names in an expression."""
    return {each.id for each in ast.walk(node) if isinstance(each, ast.Name)}


def is_pure(failure: Failure, test: ast.expr) -> bool:
    """Return whether evaluating a condition changes nothing: it calls methods of traced values and JAX alone."""
    ours = {each.name for each in failure.values} | {name for _, name in failure.names}
    calls = (each.func for each in ast.walk(test) if isinstance(each, ast.Call))
    return all(
        isinstance(each, ast.Attribute) and ast.unparse(each).partition(".")[0] in ours for each in calls
    ) and (
        not any(isinstance(each, ast.NamedExpr | ast.Await | ast.Yield | ast.YieldFrom) for each in ast.walk(test))
    )
