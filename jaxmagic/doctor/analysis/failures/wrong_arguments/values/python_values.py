"""Explains an array where Python needs one truth value, one number, or a hash."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failure import Failure
from ...conditions import use_of
from ...expression import Expression, expression_of, spelled, with_imports
from ...known_values.defaults import replaced_default, tested_default
from ...known_values.math_functions import MATH, functions_of_math
from ..explained import Explained, Rule
from ..operands import fact, shortened
from .membership import membership

#: The functions of a larger table are not listed.
_MOST_FUNCTIONS = 4


def explain_truth(failure: Failure) -> Explained:
    """Explain "The truth value of an array with more than one element is ambiguous"."""
    failing = expression_of(failure)
    use = "" if failing is None or failure.library is not None else use_of(failing)
    jnp = spelled(failure, "jax.numpy")
    found = note("doctor.error_truth", value="" if failing is None else _tested(failing), use=use)
    default = replaced_default(failure, failing, use) if failing is not None and use in ("and", "or") else None
    if failing is not None and use in ("if", "if … else", "not"):
        default = tested_default(failure, failing)
    if default is not None:
        return Explained(found, *default)
    if use in ("and", "or", "not", "chain"):
        name = {"or": "logical_or", "not": "logical_not"}.get(use, "logical_and")
        operator = "" if use == "chain" else use
        return Explained(found, note("doctor.write_elementwise", function=f"{jnp}.{name}", operator=operator))
    if use in ("max", "min"):
        whole = f"{jnp}.{use}"
        return Explained(found, note("doctor.write_extreme", function=use, replacement=f"{whole}imum", whole=whole))
    if use == "in":
        return Explained(found, *membership(failure, failing))
    return Explained(found, note("doctor.write_one_truth", jnp=jnp))


def _tested(failing: Expression) -> str:
    """Return the text of the array that is tested; empty where it is a part of the expression, and unknown which."""
    node = failing.node
    if isinstance(node, ast.If | ast.While | ast.Assert | ast.IfExp):
        node = node.test
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        node = node.operand
    single = isinstance(node, ast.Compare) and len(node.ops) == 1 and not isinstance(node.ops[0], ast.In | ast.NotIn)
    lists = any(isinstance(each, ast.List | ast.Tuple | ast.Dict | ast.Set) for each in ast.walk(node))
    return shortened(ast.unparse(node)) if (single and not lists) or isinstance(node, ast.Name) else ""


def explain_scalar(failure: Failure) -> Explained:
    """Explain an array with axes that had to be a Python number."""
    failing = expression_of(failure)
    called = "" if failing is None or failure.library is not None else failing.called or ""
    found = note("doctor.error_scalar", function=called, axes=int(fact(failure, "axes")))
    name = called.removeprefix("math.")
    if called.startswith("math.") and name in MATH:
        return Explained(found, *functions_of_math(failure, failing, called))
    return Explained(found, note("doctor.write_one_number"))


def explain_truncated(failure: Failure) -> Explained:
    """Explain ``math.trunc(x)`` of a traced value, which is the only function of ``math`` that converts none."""
    failing = expression_of(failure)
    called = "" if failing is None else failing.called or ""
    found = note("doctor.error_number", value="", type="", need=called or "number")
    if called.startswith("math.") and called.removeprefix("math.") in MATH:
        return Explained(found, *functions_of_math(failure, failing, called))
    return Explained(found, note("doctor.write_library", function=called or "The function"))


def explain_hash(failure: Failure) -> Explained:
    """Explain an array that was hashed, as a key of a dictionary or an element of a set."""
    failing = expression_of(failure)
    traced = fact(failure, "type").endswith("Tracer")
    found = note("doctor.error_hash", traced=traced)
    if failing is not None and isinstance(failing.node, ast.Compare):
        memo = _dictionary(failure, failing.node)
        if memo is not None:
            key = shortened(ast.unparse(failing.node.left))
            return Explained(found, note("doctor.write_memo", memo=shortened(memo), key=key, traced=traced))
        return Explained(found, *membership(failure, failing))
    table = None if failing is None else of_table(failure, failing, traced)
    if table is not None:
        return Explained(found, *table)
    return Explained(found, note("doctor.write_no_hash", jnp=spelled(failure, "jax.numpy"), traced=traced))


def of_table(failure: Failure, failing: Expression, traced: bool) -> tuple[Note, str | None] | None:
    """Return the advice for a dictionary whose keys or values are known, and the code; ``None`` for other ones."""
    node, parent = failing.node, failing.parent
    match node:
        case ast.Subscript(value=table, slice=key):
            pass
        case ast.Call(func=ast.Attribute(value=table, attr="get"), args=[key, *_]):
            pass
        case _:
            return None
    parent = parent if isinstance(parent, ast.Call) and parent.func is node else None
    elements = fact(failure, "elements") or ("functions" if parent else "")
    known = fact(failure, "keys")
    keys = int(known) if known.isdecimal() else 0
    if elements in ("array", "rows") and traced and keys and _default(node) is None:
        return _array_of(failure, failing, table, key, keys)
    if elements in ("array", "rows") and traced and known and not isinstance(table, ast.Dict):
        return _by_place(failure, failing, table, key)
    if elements in ("", "array", "rows"):
        return None
    text, index = ast.unparse(table), ast.unparse(key)
    if not traced:
        return note("doctor.write_python_key", key=index), None
    if elements != "functions":
        return note("doctor.write_no_table", table=text, key=index, text=elements == "text"), None
    advice = note(
        "doctor.write_switch_table",
        items=_items(table, keys),
        table=text,
        index=index,
        given="x" if parent is None else ", ".join(map(ast.unparse, parent.args)),
        keywords=parent is not None and bool(parent.keywords),
        lax=spelled(failure, "jax.lax"),
    )
    return advice, None


def _array_of(
    failure: Failure, failing: Expression, table: ast.expr, key: ast.expr, keys: int
) -> tuple[Note, str | None]:
    """Return the advice to index an array of a dictionary's values, whose keys are 0, 1, 2, …, and the code."""
    listed = _items(table, keys)
    array = f"{spelled(failure, 'jax.numpy')}.array({listed})"
    node = ast.parse(f"{array}[{ast.unparse(key)}]", mode="eval").body
    advice = note("doctor.write_table", table=ast.unparse(table), last=keys - 1)
    return advice, _instead(failure, failing, node) if listed else None


def _by_place(failure: Failure, failing: Expression, table: ast.expr, key: ast.expr) -> tuple[Note, str | None]:
    """Return the advice to find the place of a key among those of a dictionary, which are other numbers."""
    text, jnp = ast.unparse(table), spelled(failure, "jax.numpy")
    found, default = f"{jnp}.array(list({text})) == {ast.unparse(key)}", _default(failing.node)
    value = f"{jnp}.array(list({text}.values()))[{jnp}.argmax({found})]"
    value = value if default is None else f"{jnp}.where(({found}).any(), {value}, {ast.unparse(default)})"
    node = ast.parse(value, mode="eval").body
    advice = note("doctor.write_by_place", table=text, default=default is not None)
    return advice, _instead(failure, failing, node)


def _default(node: ast.AST) -> ast.expr | None:
    """Return what ``get()`` returns for a key that is missing; ``None`` if that is not written."""
    return node.args[1] if isinstance(node, ast.Call) and len(node.args) == 2 else None


def _instead(failure: Failure, failing: Expression, new: ast.expr) -> str | None:
    """Return the statement with an expression in place of a lookup."""
    code = failing.with_node(new)
    return None if code is None else with_imports(failure, code, "jax.numpy")


def _items(table: ast.expr, count: int) -> str:
    """Return the list of a dictionary's values by their keys 0, 1, 2, …; empty if these are not its keys."""
    if not count:
        return ""
    if isinstance(table, ast.Dict):
        by_key = {
            each.value: ast.unparse(value)
            for each, value in zip(table.keys, table.values, strict=True)
            if isinstance(each, ast.Constant)
        }
        return f"[{', '.join(by_key[key] for key in range(count))}]" if len(by_key) == count else ""
    name = ast.unparse(table)
    if count > _MOST_FUNCTIONS:
        return f"[{name}[key] for key in range({count})]"
    return f"[{', '.join(f'{name}[{key}]' for key in range(count))}]"


def _dictionary(failure: Failure, node: ast.Compare) -> str | None:
    """Return the text of the dictionary in which an expression looks for a key; ``None`` for other containers."""
    text = ast.unparse(node.comparators[-1])
    given = next((each for each in failure.operands if each.text == text), None)
    return text if given is not None and (given.type or "").lower().endswith("dict") else None


def explain_iterated(failure: Failure) -> Explained:
    """Explain a scalar that was unpacked, as the gradient that ``jax.grad`` returns without the value."""
    failing, jax = expression_of(failure), spelled(failure, "jax")
    found = note("doctor.error_iterated")
    statement = None if failing is None or failure.library is not None else failing.statement
    unpacked = isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Tuple | ast.List)
    if failing is None or not unpacked or not isinstance(statement, ast.Assign):
        return Explained(found, note("doctor.write_no_iteration"))
    value = statement.value
    if not isinstance(value, ast.Call):
        return Explained(found, note("doctor.write_one_name"))
    maker = value.func.func if isinstance(value.func, ast.Call) else None
    code = None
    if maker is not None and ast.unparse(maker) == f"{jax}.grad":
        code = ast.unparse(statement).replace(f"{jax}.grad(", f"{jax}.value_and_grad(", 1)
    return Explained(found, note("doctor.write_value_and_grad", jax=jax), code)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("ValueError", "truth", explain_truth,
        r"The truth value of an array with more than one element is ambiguous"),
    Rule("TypeError", "iterated", explain_iterated, r"iteration over a 0-d array"),
    Rule("TypeError", "scalar", explain_scalar,
        r"Only scalar arrays can be converted to Python scalars; got arr\.ndim=(?P<axes>\d+)"),
    Rule("TypeError", "truncated", explain_truncated,
        r"type (?P<tracer>\w+Tracer) doesn't define __trunc__ method"),
    Rule("TypeError", "hash", explain_hash,
        r"unhashable type: '(?:[\w.]+\.)?(?P<type>\w*Tracer|ArrayImpl)'"),
)
# fmt: on
