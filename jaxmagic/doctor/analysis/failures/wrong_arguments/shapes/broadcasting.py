"""Explains shapes that do not broadcast, or hold another number of elements."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failure import Failure
from ...expression import expression_of, spelled, with_imports
from ..explained import SHAPE, SHAPES, Explained, Rule
from ..operands import (
    Shape,
    attribute_of,
    broadcast,
    elements,
    fact,
    fitting,
    listed,
    shapes_in,
    shortened,
    with_shapes,
    written,
)
from ..values.membership import is_membership
from .matrices import square
from .missing_axes import widened

#: Functions that average a matrix and its transpose first, before JAX 0.12.
_SYMMETRIC = "cholesky", "eigh", "eigvalsh"


def explain_broadcast(failure: Failure) -> Explained:
    """Explain operands that do not broadcast to each other."""
    shapes = shapes_in(fact(failure, "shapes"))
    failing = expression_of(failure)
    compares = failing is not None and failure.library is None and is_membership(failing.node)
    texts = None if compares else with_shapes(failure, shapes)  # it compares with an item, which has no text
    axis, sizes = _differing(shapes)
    if not texts and called_in(failure).endswith(_SYMMETRIC):
        return square(failure, called_in(failure), shapes[0])
    found = note(
        "doctor.error_broadcast",
        operands=listed(texts or [], shapes),
        operation="" if texts else fact(failure, "operation"),
        axis=axis,
        sizes=" and ".join(map(str, sizes)),
    )
    if compares:
        return Explained(found, note("doctor.write_identity"))
    if _has_integer_labels(failure, shapes):
        return Explained(found, note("doctor.write_integer_labels", jax=spelled(failure, "jax")))
    wider = widened(failure, failing, texts, shapes) if texts and failing is not None else []
    if wider and failing is not None and (fits := fitting([each[:2] for each in wider], failing)) is not None:
        return Explained(found, fits, wider[0].code)
    inside = failure.library is not None and not texts
    return Explained(found, _fitting(failure, shapes, texts) or note("doctor.write_broadcast", inside=inside))


def _has_integer_labels(failure: Failure, shapes: list[Shape]) -> bool:
    """Return whether a function of optax that takes one label per class gets labels with one axis less."""
    library = failure.library
    if library is None or "/optax/" not in library.file.replace("\\", "/"):
        return False
    return library.function == "softmax_cross_entropy" and len({len(each) for each in shapes}) == 2


def _differing(shapes: list[Shape]) -> tuple[int, list[int]]:
    """Return the last axis, counted from the end, at which shapes differ, and its sizes in order."""
    for axis in range(1, max(map(len, shapes)) + 1):
        sizes = list(dict.fromkeys(each[-axis] for each in shapes if len(each) >= axis and each[-axis] != 1))
        if len(sizes) > 1:
            return -axis, sizes
    return 0, []


def _fitting(failure: Failure, shapes: list[Shape], texts: list[str] | None) -> Note | None:
    """Return a note on the same operation with one operand transposed, or with an axis after its last one."""
    failing = expression_of(failure)
    if texts is None or len(shapes) != 2 or failing is None or not isinstance(failing.node, ast.BinOp):
        return None
    node = failing.node
    sides = (node.left, node.right)
    if [ast.unparse(each) for each in sides] != texts:
        sides, shapes = (node.right, node.left), shapes
        if [ast.unparse(each) for each in sides] != texts:
            return None
    options: list[tuple[ast.expr, Shape]] = []
    for place, (side, shape) in enumerate(zip(sides, shapes, strict=True)):
        other = shapes[1 - place]
        changed: tuple[ast.expr, Shape] | None = None
        if 1 < len(shape) == len(other) == 2:
            changed = attribute_of(side, "T"), shape[::-1]
        elif 0 < len(shape) < len(other):
            changed = _with_last_axis(side), (*shape, 1)
        result = None if changed is None else broadcast([changed[1], other])
        if changed is not None and result is not None:
            kept = node.right if side is node.left else node.left
            left, right = (changed[0], kept) if side is node.left else (kept, changed[0])
            options.append((ast.BinOp(left=left, op=node.op, right=right), result))
    return fitting(options, failing)


def _with_last_axis(node: ast.expr) -> ast.expr:
    """Make ``a[..., None]``."""
    index = ast.Tuple(elts=[ast.Constant(value=...), ast.Constant(value=None)], ctx=ast.Load())
    return ast.Subscript(value=node, slice=index, ctx=ast.Load())


def explain_broadcast_to(failure: Failure) -> Explained:
    """Explain a value whose shape does not broadcast to the one that is asked for."""
    shape, requested = shapes_in(fact(failure, "shape"))[0], shapes_in(fact(failure, "requested"))[0]
    failing = expression_of(failure)
    target = ""
    node = None if failing is None else failing.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and failure.library is None:
        where = node.func.value
        if isinstance(where, ast.Subscript) and isinstance(where.value, ast.Attribute) and where.value.attr == "at":
            target = ast.unparse(ast.Subscript(value=where.value.value, slice=where.slice, ctx=ast.Load()))
    known = [each.text for each in failure.operands if each.shape == shape and each.text]
    return Explained(
        note(
            "doctor.error_broadcast_to",
            value=shortened(known[0]) if len(known) == 1 else "",
            shape=written(shape),
            requested=written(requested),
            target=shortened(target),
        ),
        note("doctor.write_broadcast_to"),
    )


def called_in(failure: Failure) -> str:
    """Return the function of JAX that the failing line calls; ``""`` if a library calls it, or if it is no call."""
    failing = expression_of(failure)
    if failing is None or failure.library is not None:
        return ""
    if isinstance(failing.node, ast.Subscript):  # jnp.r_[a, b]
        return ast.unparse(failing.node.value)
    return failing.called or ""


def explain_reshaped(failure: Failure) -> Explained:
    """Explain a new shape that has another number of elements."""
    shape, asked = shapes_in(fact(failure, "shape"))[0], fact(failure, "requested")
    requested = (int(asked),) if asked.isdecimal() else shapes_in(asked)[0]
    known = [each.text for each in failure.operands if each.shape == shape and each.text and each.keyword is None]
    size = int(fact(failure, "size"))
    fixed = elements(tuple(each for each in requested if each >= 0))
    free = -1 in requested
    computed = []
    for axis, _ in enumerate(requested):
        rest = elements(tuple(requested[:axis] + requested[axis + 1 :]))
        if not free and rest > 0 and size % rest == 0:
            computed.append(written((*requested[:axis], -1, *requested[axis + 1 :])))
    return Explained(
        note(
            "doctor.error_reshaped",
            array=shortened(known[0]) if known else "",
            shape=written(shape),
            size=size,
            requested=written(requested),
            needed=fixed,
            free=free,
        ),
        note("doctor.write_reshaped", size=size, fits=" or ".join(computed)),
    )


def explain_select(failure: Failure) -> Explained:
    """Explain ``lax.select(condition, a, b)`` of several shapes, which it does not broadcast."""
    cases, which = shapes_in(fact(failure, "cases")), shapes_in(fact(failure, "which"))
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    node = None if failing is None or failure.library is not None else failing.node
    known = which or [each.shape for each in failure.operands[:1] if each.shape is not None]
    code = None
    if failing is not None and isinstance(node, ast.Call) and len(node.args) == len(failure.operands) == 3:
        fits = (failing.called or "").endswith(".select") and known and broadcast([*known, *cases]) is not None
        node.func = ast.parse(f"{jnp}.where", mode="eval").body
        code = failing.with_node(node) if fits else None
        code = None if code is None else with_imports(failure, code, "jax.numpy")
    found = note(
        "doctor.error_select",
        which=written(which[0]) if which else "",
        cases=" and ".join(dict.fromkeys(map(written, reversed(cases)))),
    )
    return Explained(found, note("doctor.write_select", jnp=jnp), code)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "broadcast", explain_broadcast,
        rf"(?P<operation>[\w.-]+) got incompatible shapes for broadcasting: (?P<shapes>{SHAPES})"),
    Rule("ValueError", "broadcast", explain_broadcast,
        rf"Incompatible shapes for broadcasting: shapes=\[(?P<shapes>{SHAPES})\]"),
    Rule("ValueError", "broadcast to", explain_broadcast_to,
        rf"Incompatible shapes for broadcasting: (?P<shape>{SHAPE}) and requested shape "
        rf"(?P<requested>{SHAPE})"),
    Rule("ValueError", "broadcast to", explain_broadcast_to,
        r"Incompatible types for broadcasting: input type=(?P<shape>\w+\[[\d,]*\]) and requested "
        r"type=(?P<requested>\w+\[[\d,]*\])"),
    Rule("ValueError", "broadcast to", explain_broadcast_to,
        rf"Cannot broadcast to shape with fewer dimensions: arr_shape=(?P<shape>{SHAPE}) "
        rf"shape=(?P<requested>{SHAPE})"),
    Rule("TypeError", "select", explain_select,
        rf"select cases must have the same shapes, got \[(?P<cases>{SHAPES})\]"),
    Rule("TypeError", "select", explain_select,
        rf"select `which` must be scalar or have the same shape as cases, got `which` shape (?P<which>{SHAPE}) but "
        rf"case shape (?P<cases>{SHAPE})"),
    Rule("TypeError", "reshaped", explain_reshaped,
        rf"cannot reshape array of shape (?P<shape>{SHAPE}) \(size (?P<size>\d+)\) into shape "
        r"(?P<requested>\([-\d, ]*\)|\d+) (?:\(size|because)"),
    Rule("TypeError", "reshaped", explain_reshaped,
        r"reshape total size must be unchanged, got new_sizes (?P<requested>\([\d, ]*\)) \(of total size "
        rf"\d+\) for shape (?P<shape>{SHAPE}) \(of total size (?P<size>\d+)\)"),
)
# fmt: on
