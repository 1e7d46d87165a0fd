"""Explains wrong arguments of ``cond``, ``switch``, ``while_loop``, ``fori_loop`` and ``scan``."""

from __future__ import annotations

import ast

from ......records.note import Note, note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import before_dot, expression_of, spelled
from ...messages import short_type
from ..explained import SHAPE, Explained, Rule
from ..operands import fact, listed, shapes_in, shortened
from .loop_order import order_of

#: The elements of a longer expression are named as those of ``xs``.
_LONGEST_NAME = 20


def explain_predicate(failure: Failure) -> Explained:
    """Explain a condition that is not a scalar."""
    first = _argument(failure, 0, "pred")
    shape, kind = fact(failure, "shape"), fact(failure, "type")
    known = first is not None and (first.shape is None or first.shape == next(iter(shapes_in(shape)), None))
    found = note(
        "doctor.error_predicate",
        condition=shortened(first.text) if known and first is not None else "",
        shape=shape,
        type=kind.rpartition(".")[2],
        called=_called(failure) or "cond",
    )
    jnp = spelled(failure, "jax.numpy")
    return Explained(found, note("doctor.write_predicate", jnp=jnp) if shape else note("doctor.write_boolean"))


def explain_loop_condition(failure: Failure) -> Explained:
    """Explain a loop whose condition is not a scalar bool."""
    type, tree = short_type(fact(failure, "type")), fact(failure, "tree")
    called = _called(failure)
    jnp = spelled(failure, "jax.numpy")
    if called.rpartition(".")[2] == "fori_loop":
        found = note("doctor.error_loop_bounds", called=called, type=type)
        return _array_bound(failure, found) or Explained(found, note("doctor.write_scalar_bounds"))
    first = _argument(failure, 0, "cond_fun") if called.rpartition(".")[2] == "while_loop" else None
    function = "" if first is None else shortened(first.text)
    found = note("doctor.error_loop_condition", function=function, type=type, tree=bool(tree))
    if tree:
        return Explained(found, note("doctor.write_one_condition"))
    if type.endswith("[]"):
        return Explained(found, note("doctor.write_comparison"))
    return Explained(found, note("doctor.write_any", jnp=jnp))


def explain_branch_index(failure: Failure) -> Explained:
    """Explain an index of ``switch()`` that is no integer scalar."""
    first = _argument(failure, 0, "index")
    text = "x" if first is None else first.text
    integer = f"{spelled(failure, 'jax.numpy')}.asarray({text}, int)"  # of a number as well as of an array
    if first is not None and first.type is not None:
        integer = f"int({text})" if first.type == "float" else f"{before_dot(text)}.astype(int)"
    return Explained(
        note(
            "doctor.error_branch_index",
            index="" if first is None else shortened(first.text),
            shape=fact(failure, "shape"),
            type=fact(failure, "type"),
        ),
        note("doctor.write_branch_index", integer=shortened(integer), maps=bool(fact(failure, "shape"))),
    )


def explain_bounds(failure: Failure) -> Explained:
    """Explain bounds of ``fori_loop()`` of two types."""
    lower, upper = _argument(failure, 0, "lower"), _argument(failure, 1, "upper")
    found = note(
        "doctor.error_bounds",
        lower="" if lower is None else shortened(lower.text),
        lower_type=fact(failure, "lower"),
        upper="" if upper is None else shortened(upper.text),
        upper_type=fact(failure, "upper"),
    )
    return _array_bound(failure, found) or Explained(found, note("doctor.write_bounds"))


def _array_bound(failure: Failure, found: Note) -> Explained | None:
    """Explain an array with a shape in place of a bound, which is perhaps what the loop begins with."""
    failing = expression_of(failure)
    bounds = [_argument(failure, 0, "lower"), _argument(failure, 1, "upper")]
    arrays = [each for each in bounds if each is not None and each.shape]
    if len(arrays) != 1 or failing is None or not isinstance(failing.node, ast.Call):
        return None
    order = order_of("fori_loop", failing.node, [2], failure.operands, [])
    remedy = note(
        "doctor.write_array_bound",
        operand=shortened(arrays[0].text),
        shape=str(arrays[0].shape),
        lower=arrays[0] is bounds[0],
    )
    if order is None:
        return Explained(found, remedy)
    failing.node.args = [failing.node.args[place] for place in order]
    return Explained(found, remedy, failing.with_node(failing.node))


def explain_scan_sizes(failure: Failure) -> Explained:
    """Explain leading axes of different sizes, or another ``length=``."""
    scanned, xs = _scanned(failure), _argument(failure, 2, "xs")
    whole = "" if xs is None or xs.text.isidentifier() or len(xs.text) <= _LONGEST_NAME else xs.text
    texts = [each.text.replace(whole, "xs", 1) if whole else each.text for each in scanned]
    operands = listed(texts, [each.shape or () for each in scanned]) if scanned else ""
    sizes = fact(failure, "sizes")
    length = fact(failure, "length")
    found = note("doctor.error_scan_sizes", operands=operands, sizes=sizes.replace(", ", " and "), length=length)
    return Explained(
        found, note("doctor.write_scan_length", length=length) if length else note("doctor.write_scan_sizes")
    )


def _scanned(failure: Failure) -> list[Operand]:
    """Return the arrays that ``scan()`` iterates over, if their leading axes are the ones in the message."""
    xs = _argument(failure, 2, "xs")
    if xs is None:
        return []
    items = list(xs.items) or [xs]
    sizes = [str((each.shape or ("",))[0]) for each in items]
    said = fact(failure, "sizes").split(", ")
    return items if all(each.shape for each in items) and list(dict.fromkeys(sizes)) == said else []


def explain_scan_length(failure: Failure) -> Explained:
    """Explain a scan over nothing, or over a value without an axis."""
    value = fact(failure, "value")
    xs = _argument(failure, 2, "xs")
    named = shortened(xs.text) if xs is not None and xs.shape == () else ""
    if not value:
        return Explained(note("doctor.error_scan_nothing"), note("doctor.write_length"))
    return Explained(
        note("doctor.error_scan_axis", operand=named), note("doctor.write_axis", jnp=spelled(failure, "jax.numpy"))
    )


def explain_scan_pair(failure: Failure) -> Explained:
    """Explain a body that does not return a carry and an output."""
    first = _argument(failure, 0, "f")
    return Explained(
        note(
            "doctor.error_scan_pair",
            function="" if first is None else shortened(first.text),
            got=short_type(fact(failure, "got")),
        ),
        note("doctor.write_pair"),
    )


def _called(failure: Failure) -> str:
    failing = expression_of(failure)
    return "" if failing is None or failure.library is not None else failing.called or ""


def _argument(failure: Failure, place: int, keyword: str) -> Operand | None:
    """Return an argument of the failing call by its place or its name, if the line calls JAX itself."""
    called = _called(failure).rpartition(".")[2]
    if called not in ("cond", "switch", "while_loop", "fori_loop", "scan"):
        return None
    named = next((each for each in failure.operands if each.keyword == keyword), None)
    positional = [each for each in failure.operands if each.keyword is None]
    return named or (positional[place] if place < len(positional) else None)


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "predicate", explain_predicate,
        rf"Pred must be a scalar, got [\s\S]* of shape (?P<shape>{SHAPE})"),
    Rule("TypeError", "predicate", explain_predicate,
        r"Pred must be a scalar, got [\s\S]* of type <class '(?P<type>.+?)'>"),
    Rule("TypeError", "loop condition", explain_loop_condition,
        r"cond_fun must return a boolean scalar, but got output type\(s\) "
        r"\[(?:ShapedArray\()?(?P<type>\w+\[[\d,]*\])[^\]]*\]"),
    Rule("TypeError", "loop condition", explain_loop_condition,
        r"cond_fun must return a boolean scalar, but got pytree (?P<tree>.*)\."),
    Rule("TypeError", "branch index", explain_branch_index,
        rf"Branch index must be scalar, got [\s\S]* of shape (?P<shape>{SHAPE})"),
    Rule("TypeError", "branch index", explain_branch_index,
        r"Index type must be an integer, got [\s\S]* as (?P<type>\w+)"),
    Rule("TypeError", "bounds", explain_bounds,
        r"lower and upper arguments to fori_loop must have equal types, got (?P<lower>\w+) and "
        r"(?P<upper>\w+)"),
    Rule("ValueError", "scan sizes", explain_scan_sizes,
        r"scan got values with different leading axis sizes: (?P<sizes>\d[\d, ]*)"),
    Rule("ValueError", "scan sizes", explain_scan_sizes,
        r"scan got `length` argument of (?P<length>\d+) which disagrees with leading axis sizes "
        r"\[(?P<sizes>[\d, ]+)\]"),
    Rule("ValueError", "scan length", explain_scan_length,
        r"scan got no values to scan over and `length` not provided"),
    Rule("ValueError", "scan length", explain_scan_length,
        r"scan got value with no leading axis to scan over: (?P<value>[\s\S]*)"),
    Rule("TypeError", "scan pair", explain_scan_pair,
        r"scan body output must be a pair, got (?P<got>.+?)\.?$"),
)
# fmt: on
