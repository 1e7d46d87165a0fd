"""Explains keywords that JAX has under other names, and what PyTorch's functions compute that take them."""

from __future__ import annotations

import ast
import copy

from ......records.note import note
from .....record.failure import Failure
from ...expression import Expression, expression_of, spelled
from ..explained import Explained
from ..operands import fact, shortened

#: Keywords of PyTorch and of older versions of JAX, and what JAX and NumPy call them.
RENAMED = {"dim": "axis", "keepdim": "keepdims", "a_min": "min", "a_max": "max"}

#: The same of functions that swap axes, and of NumPy's random numbers.
_OF_SOME = {"dim0": "axis1", "dim1": "axis2", "low": "minval", "high": "maxval", "size": "shape"}

#: All of them, with one that has another meaning.
KEYWORDS = {**RENAMED, **_OF_SOME, "unbiased": "ddof"}

#: Functions that return values and indices in PyTorch, and those that return the indices in JAX.
INDICES = {"max": "argmax", "min": "argmin", "sort": "argsort"}

#: Functions that compute something else than PyTorch's of the same name.
_OTHERS = *INDICES, "std", "var", "median", "nanmedian", "split"


def explain_renamed(failure: Failure) -> Explained:
    """Explain ``x.sum(dim=1)``."""
    failing, given = expression_of(failure), fact(failure, "keywords")
    node, names = None if failing is None else failing.node, given.split(" and ")
    called = "" if failing is None else failing.called or ""
    function = called.rpartition(".")[2]
    other = function if function in _OTHERS and {"dim", "keepdim", "unbiased"} & set(names) else ""
    code, indices = None, ""
    if failing is not None and isinstance(node, ast.Call):
        for each in node.keywords:
            each.arg = {**RENAMED, **_OF_SOME}.get(each.arg or "", each.arg)
        if other in INDICES:
            indices, code = values_and_indices(failing, node)
        elif other in ("std", "var"):
            code = failing.with_node(node) if _divides_as_pytorch(node) else None
        elif not other:
            code = failing.with_node(node)
    found = note("doctor.error_renamed", function=shortened(called), keywords=given)
    remedy = note(
        "doctor.write_renamed",
        keywords=" and ".join(f"{KEYWORDS[each]}=" for each in names),
        other=other,
        indices=indices,
        jnp=spelled(failure, "jax.numpy"),
    )
    return Explained(found, remedy, code if fact(failure, "free") else None)


def values_and_indices(failing: Expression, values: ast.Call) -> tuple[str, str | None]:
    """Return the call that returns the indices, and the statement with what it takes of values and indices."""
    indices = copy.deepcopy(values)
    if not isinstance(indices.func, ast.Attribute):
        return "", None
    indices.func.attr = INDICES[indices.func.attr]
    return shortened(ast.unparse(indices)), _for_pair(failing, values, indices)


def _for_pair(failing: Expression, values: ast.Call, indices: ast.Call) -> str | None:
    """Return the statement with what it takes of the pair; ``None`` where the pair may be used as a whole."""
    whole = failing.parent
    match whole:
        case ast.Assign(targets=[ast.Tuple(elts=[first, second])]):
            if isinstance(first, ast.Name) and first.id == "_":
                return ast.unparse(ast.fix_missing_locations(ast.Assign([second], indices)))
            if isinstance(second, ast.Name) and second.id == "_":
                return ast.unparse(ast.fix_missing_locations(ast.Assign([first], values)))
            return failing.with_node(ast.Tuple([values, indices], ast.Load()))
        case ast.Subscript(slice=ast.Constant(value=0)) | ast.Attribute(attr="values"):
            return Expression(failing.statement, whole, None).with_node(values)
        case ast.Subscript(slice=ast.Constant(value=1)) | ast.Attribute(attr="indices"):
            return Expression(failing.statement, whole, None).with_node(indices)
        case ast.BinOp() | ast.UnaryOp() | ast.Compare() | ast.Attribute():  # which a pair does not have
            return failing.with_node(values)
    return None


def _divides_as_pytorch(call: ast.Call) -> bool:
    """Divide by what PyTorch divides by; return whether that is known."""
    known = {each.arg: each for each in call.keywords}
    if any(isinstance(each, ast.Constant) and isinstance(each.value, bool) for each in call.args):
        return False
    if "unbiased" in known:
        value = known["unbiased"].value
        if not isinstance(value, ast.Constant) or not isinstance(value.value, bool):
            return False
        call.keywords.remove(known["unbiased"])
        if not value.value:
            return True
    if not {"ddof", "correction"} & set(known):
        call.keywords.append(ast.keyword(arg="ddof", value=ast.Constant(value=1)))
    return True
