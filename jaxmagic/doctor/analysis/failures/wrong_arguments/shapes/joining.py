"""Explains arrays that cannot be concatenated or stacked, and scalars among them."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ......records.note import Note, note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import call, expression_of, spelled, with_imports
from ..explained import SHAPES, Explained, Rule
from ..operands import Shape, fact, in_one, listed, shapes_in, shortened, with_shapes, written
from .broadcasting import called_in

#: Functions that join arrays along the axis that they are given.
_WITH_AXIS = "concatenate", "concat", "append"

#: Functions that stack the arrays in a list.
_OF_LISTS = "array", "asarray"

#: Functions that join the arrays in one list.
_OF_ONE_LIST = "concatenate", "concat", "stack", "vstack", "hstack", "dstack", "column_stack", *_OF_LISTS

#: At most this many scalars are named.
_MOST = 3

#: The axis along which other functions join arrays of two axes.
_ALONG = {"vstack": 0, "hstack": 1, "column_stack": 1}


def explain_joined(failure: Failure) -> Explained:
    """Explain arrays that do not fit in ``concatenate()``, or in a function that calls it."""
    called = called_in(failure)
    if called.rpartition(".")[2] in _OF_LISTS:  # each array has got an axis of its own before
        return _stacked(failure, [])
    shapes = shapes_in(fact(failure, "shapes"))
    texts = with_shapes(failure, shapes) or []
    axis = fact(failure, "axis")
    ranks = list(dict.fromkeys(map(len, shapes)))
    beside = _beside_scalars(failure, called, shapes)
    if beside is not None:
        return beside
    if len(ranks) > 1:
        found = note("doctor.error_ranks", operands=listed(texts, shapes), ranks=" and ".join(map(str, ranks)))
        jnp = spelled(failure, "jax.numpy")
        return Explained(found, note("doctor.write_ranks", jnp=jnp, index=_missing_axis(failure, shapes)))
    others = [
        each for each in range(len(shapes[0])) if each != int(axis) and len({shape[each] for shape in shapes}) > 1
    ]
    has_axis = not called or (called.rpartition(".")[2] in _WITH_AXIS and not called.startswith(("lax.", "jax.lax.")))
    found = note(
        "doctor.error_joined",
        operands=listed(texts, shapes) if texts or has_axis else "",
        axis=int(axis),
        other=others[0],
        sizes=" and ".join(map(str, dict.fromkeys(shape[others[0]] for shape in shapes))),
        function="" if has_axis else shortened(called),
    )
    along = [
        each
        for each in range(len(shapes[0]))
        if len({shape[:each] + shape[each + 1 :] for shape in shapes}) == 1 and each != int(axis)
    ]
    fits = str(along[0]) if len(along) == 1 and called and has_axis else ""
    return Explained(found, note("doctor.write_joined", fits=fits))


def _missing_axis(failure: Failure, shapes: Sequence[Shape]) -> str:
    """Return how the arrays with one axis less get it, as ``[:, None]``; empty if that is not evident."""
    failing = expression_of(failure)
    keywords = failing.node.keywords if failing is not None and isinstance(failing.node, ast.Call) else []
    given = next((each.value for each in keywords if each.arg == "axis"), ast.Constant(0))
    try:
        axis = int(ast.literal_eval(given))
    except (ValueError, TypeError):
        return ""
    most = max(map(len, shapes))
    whole = [each for each in shapes if len(each) == most]
    lacking = [each for each in shapes if len(each) == most - 1]
    if len(whole) + len(lacking) < len(shapes) or not -most <= axis < most:
        return ""
    axis %= most
    fits = all((*each[:axis], *each[axis + 1 :]) in lacking for each in whole) and len(set(lacking)) == 1
    return f"[{', '.join([':'] * axis + ['None'])}]" if fits else ""


def explain_stacked(failure: Failure) -> Explained:
    """Explain arrays that do not fit in ``stack()``."""
    return _stacked(failure, shapes_in(fact(failure, "shapes")))


def _stacked(failure: Failure, shapes: list[Shape]) -> Explained:
    shapes = shapes or [each.shape or () for each in _joined(failure)]
    beside = _beside_scalars(failure, called_in(failure), shapes)
    if beside is not None:
        return beside
    texts = with_shapes(failure, shapes) or []
    differ = len(set(map(len, shapes))) > 1
    return Explained(
        note("doctor.error_stacked", operands=listed(texts, shapes) if shapes else ""),
        note("doctor.write_stacked", jnp=spelled(failure, "jax.numpy"), axes=differ),
    )


def explain_joined_numbers(failure: Failure) -> Explained:
    """Explain ``concatenate()`` whose first array is a scalar."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    called = called_in(failure)
    beside = _beside_scalars(failure, called, [])
    if beside is not None:
        return beside
    arrays = _joined(failure)
    known = bool(arrays) and not any(each.shape for each in arrays)
    found = note("doctor.error_joined_numbers", function=shortened(called), all=known)
    code, node = None, None if failing is None else failing.node
    direct = called == f"{jnp}.concatenate" and isinstance(node, ast.Call) and not node.keywords
    given = node.args[0] if isinstance(node, ast.Call) and len(node.args) == 1 else None
    if known and direct and isinstance(given, ast.List | ast.Tuple) and failing is not None:
        code = failing.with_node(call(f"{jnp}.stack", given))
    return Explained(found, note("doctor.write_joined_numbers", jnp=jnp), code)


def _joined(failure: Failure) -> list[Operand]:
    """Return the arrays that the line joins; none if one is unknown."""
    function = called_in(failure).rpartition(".")[2]
    positional = [each for each in failure.operands if each.keyword is None]
    if function == "append":
        arrays = positional[:2]
    elif function in _OF_ONE_LIST and positional:
        arrays = list(positional[0].items)
    else:
        return []
    return arrays if all(each.shape is not None for each in arrays) else []


def _beside_scalars(failure: Failure, called: str, shapes: list[Shape]) -> Explained | None:
    """Explain scalars beside arrays that have axes; ``None`` without any.

    Args:
        failure: the failure.
        called: the function that joins them.
        shapes: the shapes in the message, which may be those of arrays that the function made of what it got.
    """
    own = _joined(failure)
    shapes = [each.shape or () for each in own] or shapes
    scalars = [place for place, shape in enumerate(shapes) if not shape]
    arrays = list(dict.fromkeys(each for each in shapes if each))
    if not scalars or not arrays:
        return None
    texts = [each.text for each in own]
    places, _ = in_one(texts)
    found = note(
        "doctor.error_beside_scalars",
        operands=listed(texts, shapes),
        scalars=", ".join(shortened(places[place]) for place in scalars[:_MOST]) if texts else "",
        count=len(scalars),
    )
    if {len(each) for each in arrays} != {1} or called.rpartition(".")[2] not in ("", *_WITH_AXIS):
        return Explained(found, _as_array(failure, called, arrays))
    remedy = note("doctor.write_scalar_axis", jnp=spelled(failure, "jax.numpy"))
    return Explained(found, remedy, _with_axes(failure, called, scalars))


def _as_array(failure: Failure, called: str, arrays: list[Shape]) -> Note:
    """Return how a scalar becomes an array that fits beside those of some shapes."""
    function, rank = called.rpartition(".")[2], len(arrays[0])
    axis = _given_axis(failure) if function in _WITH_AXIS else _ALONG.get(function) if rank > 1 else None
    shape = arrays[0]
    if axis is not None and -rank <= axis < rank:
        axis %= rank
        shape = (*shape[:axis], 1, *shape[axis + 1 :])
        alike = {each[:axis] + each[axis + 1 :] for each in arrays if len(each) == rank}
    else:
        alike = set(arrays)
    fits = len(alike) == 1 and len(set(map(len, arrays))) == 1 and (axis is not None or function not in _WITH_AXIS)
    return note(
        "doctor.write_scalar_array",
        jnp=spelled(failure, "jax.numpy"),
        shape="" if not fits or not called else str(shape[0]) if len(shape) == 1 else written(shape),
        one_axis=all(len(each) == 1 for each in arrays),
        flat=function in ("concatenate", "concat"),
    )


def _given_axis(failure: Failure) -> int | None:
    """Return the axis along which a call joins arrays: 0 if it is left out, ``None`` if it is unknown."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    if not isinstance(node, ast.Call) or any(each.arg is None for each in node.keywords):
        return None
    first = 2 if ast.unparse(node.func).endswith("append") else 1
    places = node.args[first : first + 1] + [each.value for each in node.keywords if each.arg == "axis"]
    if not places:
        return 0
    try:
        given = ast.literal_eval(places[0])
    except (ValueError, TypeError):
        return None
    return given if type(given) is int else None


def _with_axes(failure: Failure, called: str, places: list[int]) -> str | None:
    """Return ``jnp.concatenate([x, jnp.atleast_1d(1.0)])`` for ``jnp.concatenate([x, 1.0])``."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not node.args or _given_axis(failure) not in (0, -1):
        return None
    if called == f"{jnp}.append":
        items = node.args
    elif called in (f"{jnp}.concatenate", f"{jnp}.concat"):
        items = node.args[0].elts if isinstance(node.args[0], ast.List | ast.Tuple) else []
    else:
        return None
    if len(items) <= max(places) or any(isinstance(each, ast.Starred) for each in items):
        return None
    for place in places:
        items[place] = call(f"{jnp}.atleast_1d", items[place])
    return failing.with_node(node)


def explain_list_among(failure: Failure, kind: str, called: str, number: int) -> Explained:
    """Explain a list, or None, among the arrays that ``jnp.concatenate()`` gets as one list."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    node = None if failing is None else failing.node
    given = node.args[0] if isinstance(node, ast.Call) else None
    items = given.elts if isinstance(given, ast.List | ast.Tuple) else []
    item = items[number] if 0 <= number < len(items) else None
    text = "" if item is None else ast.unparse(item)
    found = note(
        "doctor.error_listed", argument=shortened(text if text != "None" else ""), type=kind, function=called
    )
    if kind == "NoneType":
        return Explained(found, note("doctor.write_no_none"))
    if kind not in ("list", "tuple"):
        return Explained(found, note("doctor.write_no_object", type=kind))
    code = None
    if failing is not None and isinstance(node, ast.Call) and _fit(failure, called.rpartition(".")[2], len(items)):
        for place, each in enumerate(failure.operands[0].items):
            items[place] = call(f"{jnp}.array", items[place]) if each.type in ("list", "tuple") else items[place]
        code = failing.with_node(node)
    code = None if code is None else with_imports(failure, code, "jax.numpy")
    return Explained(found, note("doctor.write_listed", jnp=jnp, alike=code is not None), code)


def _fit(failure: Failure, function: str, count: int) -> bool:
    """Return whether arrays are known to fit in a function that joins them, with arrays in place of lists."""
    shapes = [_shape(each) for each in failure.operands[0].items]
    if len(shapes) != count or not shapes or None in shapes:
        return False
    ranks = {len(each) for each in shapes if each is not None}
    along_one = function in ("concatenate", "hstack") and ranks == {1}
    return along_one or (len(set(shapes)) == 1 and (function != "concatenate" or ranks != {0}))


def _shape(operand: Operand) -> tuple[int, ...] | None:
    """Return the shape of an array, or that of a list as an array; ``None`` if it is unknown or it has none."""
    shapes = {each.shape for each in operand.items}
    (inner,) = shapes if len(shapes) == 1 else (None,)
    return operand.shape if inner is None else (len(operand.items), *inner)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "joined", explain_joined,
        r"Cannot concatenate arrays with shapes that differ in dimensions other than the one being "
        rf"concatenated: concatenating along dimension (?P<axis>\d+) for shapes (?P<shapes>{SHAPES})"),
    Rule("TypeError", "joined", explain_joined,
        rf"Cannot concatenate arrays with different numbers of dimensions: got (?P<shapes>{SHAPES})"),
    Rule("ValueError", "stacked", explain_stacked,
        rf"Cannot stack arrays with different [\w ]+: got (?P<shapes>{SHAPES})"),
    Rule("ValueError", "stacked", explain_stacked,
        rf"All input arrays must have the same shape\.(?: Got (?P<shapes>{SHAPES}))?"),
    Rule("ValueError", "joined numbers", explain_joined_numbers,
        r"Zero-dimensional arrays cannot be concatenated"),
)
# fmt: on
