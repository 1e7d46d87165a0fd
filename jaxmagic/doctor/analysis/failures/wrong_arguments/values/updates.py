"""Explains an assignment to an element of a JAX array, and writes it with ``.at``."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ....written_paths import variable_of
from ...expression import Expression, call, expression_of, spelled
from ..explained import Explained, Rule
from ..operands import fact
from .at_elements import METHODS, chosen_by_mask, is_outer, takes
from .integers import is_float
from .masked import is_mask, with_known
from .non_numbers import index_of_text, string_index


def explain_update(failure: Failure) -> Explained:
    """Explain ``x[0] = 1``."""
    failing = expression_of(failure)
    target = None if failing is None or not isinstance(failing.node, ast.Subscript) else failing.node
    text = index_of_text(failing)
    if text:
        return string_index(target, text)
    found = note(
        "doctor.error_update",
        array="" if target is None else ast.unparse(target.value),
        target="" if target is None else ast.unparse(target),
    )
    if target is None or failing is None:
        if failure.library is not None:
            called = "" if failing is None else failing.called or ""
            jax, jnp, np = (spelled(failure, each) for each in ("jax", "jax.numpy", "numpy"))
            return Explained(found, note("doctor.write_at_copied", function=called, jax=jax, jnp=jnp, np=np))
        return Explained(found, note("doctor.write_at", array="x", method="set", root="", repeated=False))
    root = variable_of(target)
    if failure.outer:
        outside = note("doctor.write_at_outside", array=ast.unparse(target.value), root=root)
        return Explained(found, outside)
    array, index = _replaced(failure, target)
    taken, lost = fact(failure, "taken"), fact(failure, "lost")
    if lost:
        whole = taken if fact(failure, "over") else ""
        return Explained(
            found, note("doctor.write_at_lost", array=ast.unparse(target.value), taken=taken, whole=whole)
        )
    chosen = chosen_by_mask(failure, failing.statement, target, target.value)
    if chosen is not None:
        return Explained(found, *chosen)
    operator = failing.statement.op if isinstance(failing.statement, ast.AugAssign) else None
    method = "set" if operator is None else METHODS.get(type(operator), "set")
    if array is None or failure.holder != "open":
        at = ast.Attribute(value=target.value if array is None else array, attr="at", ctx=ast.Load())
        new = ast.unparse(at).removesuffix(".at")  # with parentheses where they are needed
        return Explained(
            found, note("doctor.write_at_new", array=new, method=method, holder=_held_by(failure, array))
        )
    if method == "divide" and not _holds_floats(failure, target):
        return Explained(
            found, note("doctor.write_at_divided", array=ast.unparse(array), type=_type(failure, target))
        )
    if operator is not None and _is_cut_off(failure, failing, target):
        code = None if index is None else _written(failing, target, array, index, "set", cut_off=True)
        text, kind = ast.unparse(array), _type(failure, target)
        return Explained(found, note("doctor.write_at_cut_off", array=text, type=kind, method=method), code)
    remedy = note(
        "doctor.write_at",
        array=ast.unparse(array),
        method=method,
        root=root if root in failure.parameters and isinstance(array, ast.Name) else "",
        repeated=method != "set" and not _is_single(target.slice, failure.operands),
        taken=taken,
        back=fact(failure, "back"),
        masked=is_mask(with_known(failure), target.slice),
    )
    code = None if index is None else _written(failing, target, array, index, method)
    return Explained(found, remedy, code)


def _held_by(failure: Failure, array: ast.expr | None) -> str:
    """Return what holds the array; empty if it is unknown and no attribute, which may be one that can be assigned."""
    return failure.holder or ("attribute" if isinstance(array, ast.Attribute) else "")


def _type(failure: Failure, target: ast.Subscript) -> str:
    """Return the type of the array, such as ``"i32[3]"``; empty if it is unknown."""
    text = ast.unparse(target.value)
    owner = failure.operands[:1]
    known = [*owner, *(each for operand in owner for each in operand.items)]
    root = ast.unparse(target.value.value) if isinstance(target.value, ast.Subscript) else text
    types = [each.type or "" for each in known if each.text == text or (each.text == root and each.shape is not None)]
    return types[0] if types else ""


def _holds_floats(failure: Failure, target: ast.Subscript) -> bool:
    """Return whether the array is known to hold floats or complex numbers, which a division keeps."""
    return _type(failure, target).startswith(("f", "bf", "c"))


def _is_cut_off(failure: Failure, failing: Expression, target: ast.Subscript) -> bool:
    """Return whether an array is known to hold integers, and what changes it is known to be no integer."""
    value = failing.statement.value if isinstance(failing.statement, ast.AugAssign) else None
    integers = _type(failure, target).startswith(("i", "u", "bool"))
    return integers and value is not None and is_float(value, failure.operands)


def _replaced(failure: Failure, target: ast.Subscript) -> tuple[ast.expr | None, ast.expr | None]:
    """Return the array that has to be replaced, and the index of the element in it; ``None`` if unknown.

    In ``x[0][1] = 2``, this is ``x[0]`` if ``x`` is a list or a dictionary, and ``x`` with the index ``0, 1`` if it
    is an array.
    """
    array = target.value
    if not isinstance(array, ast.Subscript):
        return array, target.slice
    owner = failure.operands[0] if failure.operands else None
    if owner is not None and owner.type in ("list", "dict") and isinstance(array.slice, ast.Constant | ast.Name):
        return array, target.slice
    if owner is None or owner.shape is None:
        return None, None
    if not isinstance(array.slice, ast.Constant) or type(array.slice.value) is not int:
        return array.value, None
    rest = target.slice.elts if isinstance(target.slice, ast.Tuple) else [target.slice]
    return array.value, ast.Tuple(elts=[array.slice, *rest], ctx=ast.Load())


def _written(
    failing: Expression, target: ast.Subscript, array: ast.expr, index: ast.expr, method: str, cut_off: bool = False
) -> str | None:
    """Return ``x = x.at[0].set(1)`` for ``x[0] = 1``; ``None`` if the statement assigns to something else as well.

    With `cut_off`, the new element is converted to the type of the array.
    """
    statement = failing.statement
    value: ast.expr
    if isinstance(statement, ast.Assign) and statement.targets == [target]:
        value = statement.value
    elif isinstance(statement, ast.AugAssign) and statement.target is target:
        value = statement.value
        if type(statement.op) not in METHODS or cut_off:
            if any(isinstance(each, ast.Call) for each in ast.walk(target)):
                return None
            value = ast.BinOp(left=target, op=statement.op, right=value)
        if cut_off:
            dtype = ast.Attribute(value=array, attr="dtype", ctx=ast.Load())
            value = ast.Call(ast.Attribute(value=value, attr="astype", ctx=ast.Load()), args=[dtype], keywords=[])
    else:
        return _exchanged(failing, target, array, method)
    if not variable_of(array) or any(
        isinstance(each, ast.NamedExpr | ast.Await | ast.Yield) for each in ast.walk(statement)
    ):
        return None
    at = ast.Attribute(value=array, attr="at", ctx=ast.Load())
    element = ast.Subscript(value=at, slice=index, ctx=ast.Load())
    changed = ast.Call(func=ast.Attribute(value=element, attr=method, ctx=ast.Load()), args=[value], keywords=[])
    return ast.unparse(ast.fix_missing_locations(ast.Assign(targets=[array], value=changed, lineno=1)))


def _exchanged(failing: Expression, target: ast.Subscript, array: ast.expr, method: str) -> str | None:
    """Return ``x = x.at[0].set(x[1]).at[1].set(x[0])`` for ``x[0], x[1] = x[1], x[0]``: both read the old array."""
    match failing.statement:
        case ast.Assign(targets=[ast.Tuple(elts=places)], value=ast.Tuple(elts=values)) if len(places) == len(values):
            text, changed = ast.unparse(target.value), ast.unparse(array)
            if method != "set" or changed != text or not isinstance(array, ast.Name):
                return None
            for place, value in zip(places, values, strict=True):
                if not isinstance(place, ast.Subscript) or ast.unparse(place.value) != text:
                    return None
                index = ast.unparse(ast.Subscript(ast.Name("x"), place.slice)).removeprefix("x")
                changed += f".at{index}.set({ast.unparse(value)})"
            return f"{text} = {changed}"
    return None


def _is_single(index: ast.expr, operands: tuple[Operand, ...]) -> bool:
    """Return whether no element occurs twice: the index consists of numbers, slices and names of numbers."""
    parts = index.elts if isinstance(index, ast.Tuple) else [index]
    numbers = {each.text for each in operands if each.shape == () and (each.type or "").startswith(("int", "i", "u"))}
    return all(
        isinstance(each, ast.Slice | ast.Constant)
        or ast.unparse(each) in numbers
        or (isinstance(each, ast.UnaryOp) and isinstance(each.operand, ast.Constant))
        for each in parts
    )


def explain_at_element(failure: Failure) -> Explained:
    """Explain ``x.at[0] = 1``."""
    failing = expression_of(failure)
    target = None if failing is None else failing.node
    at = target.value if isinstance(target, ast.Subscript) else None
    array = at.value if isinstance(at, ast.Attribute) and at.attr == "at" else None
    known = array is not None and variable_of(array) != ""
    found = note("doctor.error_at_element", target=ast.unparse(target) if known and target is not None else "")
    remedy = note("doctor.write_at_method", array=ast.unparse(array) if known and array is not None else "")
    if failing is None or not isinstance(target, ast.Subscript) or array is None or failure.holder != "open":
        return Explained(found, remedy)
    outer = is_outer(failure, array)
    chosen = chosen_by_mask(failure, failing.statement, target, array)
    if chosen is not None:
        return Explained(found, chosen[0], None if outer else chosen[1])
    index, jnp = target.slice, spelled(failure, "jax.numpy")
    if isinstance(index, ast.List) and "jax.numpy" in dict(failure.names):
        index = call(f"{jnp}.array", index)
    if outer or not takes(failure, index):
        return Explained(found, remedy)
    return Explained(found, remedy, _written(failing, target, array, index, "set"))


def explain_in_place(failure: Failure) -> Explained:
    """Explain ``jnp.fill_diagonal(x, 1)``, and ``jnp.put`` and the like, that get no ``inplace=False``."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    array = node.args[0] if isinstance(node, ast.Call) and node.args else None
    text = "" if array is None else ast.unparse(array)
    found = note("doctor.error_in_place", function="" if failing is None else failing.called or "", array=text)
    code = None
    if failing is not None and isinstance(node, ast.Call) and all(each.arg != "inplace" for each in node.keywords):
        node.keywords.append(ast.keyword(arg="inplace", value=ast.Constant(value=False)))
        code = failing.with_node(node)
        if isinstance(failing.statement, ast.Expr):  # whose result would be lost
            named = isinstance(array, ast.Name) and failing.statement.value is node and not failure.outer
            code = f"{text} = {code}" if named else None
    return Explained(found, note("doctor.write_in_place"), code)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "update", explain_update,
        r"(?:.*\n?)?.*JAX arrays are immutable and do not support in-place item assignment"),
    Rule("TypeError", "at element", explain_at_element,
        r"'_IndexUpdateHelper' object does not support item assignment"),
    Rule("NotImplementedError", "in place", explain_in_place,
        r"JAX arrays are immutable, must use inplace=False"),
    Rule("ValueError", "in place", explain_in_place,
        r"jax\.numpy\.\w+ cannot modify arrays in-place, because JAX arrays ?are immutable"),
)
# fmt: on
