"""Explains attributes that arrays of other libraries have, and writes what JAX has in their place."""

from __future__ import annotations

import ast

from ......records.note import note
from .....record.failure import Failure
from ....written_paths import beginnings, variable_of
from ...expression import Expression, expression_of, spelled
from ..explained import Explained, Rule
from ..operands import fact, shortened
from .chained import completed
from .methods import CHAINED, IN_PLACE, IN_WORDS, LEFT_OUT, OF_NUMPY, OTHERS
from .templates import MODULES, filled, template_of
from .translated import differ_in_chain

#: Those that move an array to the host, where a traced value has nothing to move.
_OUTSIDE = "numpy", "to_numpy", "values", "cpu", "cuda"


def explain_attribute(failure: Failure) -> Explained:
    """Explain a method or an attribute that JAX arrays do not have."""
    name, jnp = fact(failure, "name"), spelled(failure, "jax.numpy")
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    known = isinstance(node, ast.Attribute) and node.attr == name
    array = shortened(ast.unparse(node.value)) if known and isinstance(node, ast.Attribute) else ""
    found = note("doctor.error_attribute", array=array, name=name)
    calls = _calls(failing, node) if known and failing is not None and isinstance(node, ast.Attribute) else []
    names = [ast.unparse(each.func).rpartition(".")[2] for each in calls]
    if fact(failure, "tracer") and (name in _OUTSIDE or "numpy" in names):
        return Explained(found, note("doctor.write_no_numpy", jnp=jnp))
    if fact(failure, "concrete"):
        return Explained(note("doctor.error_traced_attribute", array=array, name=name), note("doctor.write_outside"))
    if fact(failure, "similar"):
        similar = [f"{array or 'x'}.{each}" for each in fact(failure, "similar").split(", ")]
        return Explained(found, note("doctor.write_similar_names", names=", ".join(similar)))
    if fact(failure, "numpy"):
        return Explained(found, note("doctor.write_attribute", replacement=f"{_x(failure)}.{name}"))
    name = "numpy" if "numpy" in names else name
    whole = calls[-1] if calls else node
    new = template_of(failure, name, fact(failure, "replacement"), calls[-1] if calls else None)
    value = None
    if known and isinstance(node, ast.Attribute) and (name == "to" or name not in IN_WORDS):
        new = _by_rank(failure, name, new, calls)
        value = filled(failure, name, new, ast.unparse(node.value), calls[-1] if calls else None)
        value = value if value is None or name in OF_NUMPY else completed(failure, value)
    if value is None or failing is None or not isinstance(node, ast.Attribute) or not isinstance(whole, ast.expr):
        shown = _in_words(failure, new, array or "x")
        shown = f"{array or 'x'} = {shown}" if name in IN_PLACE and (not known or _is_assignable(node)) else shown
        left = ", ".join(map(ast.unparse, (*calls[-1].args, *calls[-1].keywords))) if calls and known else ""
        left = "" if name in IN_WORDS else shortened(left)
        return Explained(found, note("doctor.write_attribute", replacement=shown, left=left))
    code = None
    changed = name not in OF_NUMPY and differ_in_chain(failing.statement, whole)
    if name in IN_PLACE:
        value = f"{array} = {value}" if _is_assignable(node) else value
        own = isinstance(failing.statement, ast.Expr) and failing.statement.value is whole
        code = value if own and isinstance(node.value, ast.Name) and not failure.outer else None
    else:
        replaced = Expression(failing.statement, whole, None)
        code = None if changed else replaced.with_node(ast.parse(value, mode="eval").body)
        code = code if code is None or name in OF_NUMPY else completed(failure, code)
    if name.startswith("block"):
        found = note("doctor.error_traced_attribute", array=array, name=name)
        return Explained(found, note("doctor.write_no_wait"), code)
    if name in LEFT_OUT:
        return Explained(found, note("doctor.write_no_layout"), code)
    if name in OTHERS:
        return Explained(found, note("doctor.write_attribute", replacement=value, other=name))
    return Explained(found, note("doctor.write_attribute", replacement=value), code)


def _is_assignable(node: ast.AST | None) -> bool:
    """Return whether what has an attribute can be assigned, such as ``state["w"]``; not an element of an array.

    >>> [_is_assignable(ast.parse(each, mode="eval").body) for each in ("a['w'].put", "x[0].put", "f(x).put")]
    [True, False, False]
    """
    array = node.value if isinstance(node, ast.Attribute) else None
    parts = [] if array is None else [each.slice for each in beginnings(array) if isinstance(each, ast.Subscript)]
    named = all(isinstance(each, ast.Constant) and isinstance(each.value, str) for each in parts)
    return array is not None and variable_of(array) != "" and named


def _x(failure: Failure) -> str:
    """Return the call that makes a NumPy array of the array."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    array = ast.unparse(node.value) if isinstance(node, ast.Attribute) else "x"
    return f"{spelled(failure, 'numpy')}.asarray({array})"


def _by_rank(failure: Failure, name: str, template: str, calls: list[ast.Call]) -> str:
    """Return what a method of a list, or NumPy's ``itemset()``, means for an array with this number of axes."""
    if len(failure.operands[0].shape or () if failure.operands else ()) == 1:
        return "{jnp}.append({x}, {0})" if name == "append" else template
    match calls[0].args if name == "itemset" and calls else None:
        case [ast.Constant(), _]:  # which counts the elements of all rows
            return "{x}.at[{jnp}.unravel_index({0}, {x}.shape)].set({1})"
        case [other, _] if not isinstance(other, ast.Tuple):
            return "{x}.at[index].set(value), with an index per axis"
    return template


def _calls(failing: Expression, node: ast.Attribute) -> list[ast.Call]:
    """Return the call of a method, and those without arguments that follow, as in ``x.detach().cpu().numpy()``."""
    parents = {id(child): each for each in ast.walk(failing.statement) for child in ast.iter_child_nodes(each)}
    calls: list[ast.Call] = []
    method: ast.AST | None = node
    while isinstance(method, ast.Attribute):
        call = parents.get(id(method))
        if not isinstance(call, ast.Call) or call.func is not method:
            break
        if calls and (method.attr not in CHAINED or call.args or call.keywords):
            break
        calls.append(call)
        method = parents.get(id(call)) if method.attr in CHAINED else None
    return calls


def _in_words(failure: Failure, template: str, array: str) -> str:
    names = {each: spelled(failure, module) for each, module in MODULES.items()}
    return template.format("…", "…", x=array, args="…", **names)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("AttributeError", "attribute", explain_attribute,
        r"(?:'jaxlib[\w.]*\.ArrayImpl'|'?(?P<tracer>\w+Tracer)'?)(?: object)? has no attribute '?(?P<name>\w+)'?$"),
    Rule("AttributeError", "attribute", explain_attribute,
        r"The '(?P<name>block\w+)' method is not available on traced array"),
)
# fmt: on
