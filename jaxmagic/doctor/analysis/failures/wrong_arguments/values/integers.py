"""Explains floats for axes, counts and bounds of slices, and writes integers in their place."""

from __future__ import annotations

import ast
import re

from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import before_dot, expression_of, spelled, value_named
from ...known_values.static_options import options_for
from ..explained import Explained, Rule
from ..operands import fact, shortened


def as_integer(node: ast.expr, operands: tuple[Operand, ...] = ()) -> ast.expr:
    """Return an integer in place of a float: ``n // 2`` for ``n / 2``, ``1`` for ``1.0``, and ``int(x)``.

    >>> [ast.unparse(as_integer(ast.parse(each, mode="eval").body)) for each in ("n / 2", "1.0", "x", "n / 0.5")]
    ['n // 2', '1', 'int(x)', 'int(n / 0.5)']
    """
    sides = [node.left, node.right] if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Div) else []
    if isinstance(node, ast.BinOp) and sides and not any(is_float(each, operands) for each in sides):
        return ast.BinOp(left=node.left, op=ast.FloorDiv(), right=node.right)
    if isinstance(node, ast.Constant) and isinstance(node.value, float) and node.value.is_integer():
        return ast.Constant(value=int(node.value))
    return ast.Call(func=ast.Name("int", ast.Load()), args=[node], keywords=[])


def explain_float(failure: Failure) -> Explained:
    """Explain a float for an axis or a number of things, as a division makes it."""
    failing, parameter, place = expression_of(failure), fact(failure, "parameter"), int(fact(failure, "place") or -1)
    node = None if failing is None else failing.node
    code, text, given = None, "", None
    if failing is not None and isinstance(node, ast.Call):
        given = node.args[place] if place >= 0 else next((e.value for e in node.keywords if e.arg == parameter), None)
    if given is not None and failing is not None and isinstance(node, ast.Call):
        text, new = shortened(ast.unparse(given)), as_integer(given)
        node.args = [new if each is given else each for each in node.args]
        for each in node.keywords:
            each.value = new if each.value is given else each.value
        code = failing.with_node(node)
    called = "" if failing is None else shortened(failing.called or "")
    return Explained(
        note("doctor.error_float", function=called, text=text, parameter=parameter),
        note("doctor.write_integer", divides="/" in text),
        code,
    )


def explain_float_bound(failure: Failure) -> Explained:
    """Explain a float for a bound of a slice."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    found = note("doctor.error_float_bound")
    if failing is None or not isinstance(node, ast.Subscript):
        return Explained(found, note("doctor.write_integer", divides=True))
    divides, code = False, None
    for each in ast.walk(node.slice):
        for name in ("lower", "upper", "step") if isinstance(each, ast.Slice) else ():
            bound = getattr(each, name)
            if is_float(bound, failure.operands):
                divides = divides or (isinstance(bound, ast.BinOp) and isinstance(bound.op, ast.Div))
                setattr(each, name, as_integer(bound, failure.operands))
                code = failing.with_node(node)
    return Explained(found, note("doctor.write_integer", divides=divides), code)


def is_float(node: ast.AST | None, operands: tuple[Operand, ...] = ()) -> bool:
    """Return whether an expression is surely a float: a quotient, a number with a point, or arithmetic with one.

    >>> [is_float(ast.parse(each, mode="eval").body) for each in ("n / 2", "0.5 * n", "n // 2", "x.shape[0] * 2")]
    [True, True, False, False]
    """
    if isinstance(node, ast.BinOp):
        return isinstance(node.op, ast.Div) or is_float(node.left, operands) or is_float(node.right, operands)
    if isinstance(node, ast.UnaryOp):
        return is_float(node.operand, operands)
    if isinstance(node, ast.Constant):
        return type(node.value) is float
    types = [each.type or "" for each in operands if node is not None and each.text == ast.unparse(node)]
    return any(each == "float" or re.match(r"b?f\d", each) is not None for each in types)


def explain_size(failure: Failure) -> Explained:
    """Explain a shape with a float, as a division makes it."""
    sizes = re.sub(r"np\.float\d+\(([\d.e+-]+)\)", r"\1", fact(failure, "sizes"))
    if not re.fullmatch(r"[(\[][\d., e+-]*[)\]]", sizes):
        return Explained(
            note("doctor.error_size", sizes=sizes),
            note("doctor.write_sizes", nested=re.search(r"[(,] ?\(", sizes) is not None),
        )
    divides = "/" in (failure.source or "").replace("//", "")
    remedy = note("doctor.write_size", divides=divides)
    return Explained(note("doctor.error_size", sizes=sizes), remedy, _with_sizes(failure, sizes))


def _with_sizes(failure: Failure, sizes: str) -> str | None:
    """Return the statement with integers in its shape, if the line shows the sizes of the message."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    if failing is None or not isinstance(node, ast.Call) or any(isinstance(e, ast.Starred) for e in ast.walk(node)):
        return None
    got = [each.strip() for each in sizes[1:-1].split(",") if each.strip()]
    given = [*node.args, *(each.value for each in node.keywords if each.arg == "shape")]
    lists = [each.elts for each in given if isinstance(each, ast.List | ast.Tuple) and len(each.elts) == len(got)]
    method = isinstance(node.func, ast.Attribute) and node.func.attr == "reshape" and len(node.args) == len(got) > 1
    if len(lists) == 1:
        changed = _as_integers(lists[0], got)
    elif method and not lists:
        changed = _as_integers(node.args, got)
    elif (
        len(got) == 1
        and not lists
        and len(places := [place for place, e in enumerate(node.args) if is_float(e)]) == 1
    ):
        node.args[places[0]] = as_integer(node.args[places[0]])
        changed = True
    else:
        changed = False
    return failing.with_node(node) if changed else None


def _as_integers(nodes: list[ast.expr], got: list[str]) -> bool:
    """Replace the nodes that are floats in the message; ``False`` if a constant of the line is another number."""
    if any(
        isinstance(each, ast.Constant) and repr(each.value) != text for each, text in zip(nodes, got, strict=True)
    ):
        return False
    nodes[:] = [as_integer(each) if "." in text else each for each, text in zip(nodes, got, strict=True)]
    return True


def explain_traced_integer(failure: Failure) -> Explained | None:
    """Explain a traced float where Python needs an integer; ``None`` if the value is not traced, or has axes."""
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None or failure.traced is None else failing.node
    if failing is None or failure.traced is None or not isinstance(node, ast.Call | ast.Subscript):
        return None
    given = [node.slice] if isinstance(node, ast.Subscript) else node.args
    named = [value for each in given if (value := value_named(failure, ast.unparse(each))) is not None]
    if any(not each.type.endswith("[]") for each in named):
        return None
    only = named[0] if len(named) == 1 else None
    jnp, lax = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    need = "index" if isinstance(node, ast.Subscript) else failing.called or ""
    found = note(
        "doctor.error_number",
        value="" if only is None else only.name,
        type="" if only is None else only.type,
        need=need,
    )
    passed = () if failure.call is None or only is None or not failure.own else failure.call.arguments
    argument = next(
        (each for each in passed if each.name == getattr(only, "name", "") and each.type == "float"), None
    )
    if argument is not None and need == "range":
        option = options_for(failure, (argument.name,))
        function = failure.traced.function
        return Explained(
            found, note("doctor.write_static_int", argument=argument.name, function=function, option=option)
        )
    if isinstance(node, ast.Subscript):
        items, index = ast.unparse(node.value), before_dot(ast.unparse(node.slice))
        return Explained(found, note("doctor.write_index", jnp=jnp, items=items, index=f"{index}.astype(int)"))
    if need == "range":
        return Explained(found, note("doctor.write_fori", lax=lax, steps="n.astype(int)"))
    return Explained(found, note("doctor.write_library", function=need))


def explain_overflow(failure: Failure) -> Explained:
    """Explain a Python integer that does not fit into the dtype that it would get."""
    text = fact(failure, "value") or _only_large(failure)  # which older versions of JAX do not say
    dtype, value = fact(failure, "dtype"), int(text or 0)
    fits = -(2**63) <= value < 2**63
    found = note("doctor.error_overflow", value=shortened(text), dtype=dtype, fits=fits)
    jax, jnp = spelled(failure, "jax"), spelled(failure, "jax.numpy")
    if dtype not in ("", "int32", "uint32", "int64", "uint64"):
        return Explained(found, note("doctor.write_wider"))
    if not fits:
        unsigned = value if 0 < value < 2**64 else 0
        return Explained(
            found, note("doctor.write_last_bits", jax=jax, jnp=jnp, last=value % 2**32, unsigned=unsigned)
        )
    unsigned = value if 2**31 <= value < 2**32 else 0
    return Explained(found, note("doctor.write_64_bits", jax=jax, jnp=jnp, unsigned=unsigned))


def _only_large(failure: Failure) -> str:
    """Return the only integer of the failing line that 32 bits do not hold; empty if there is none, or several."""
    failing = expression_of(failure)
    nodes = [] if failing is None or failure.library is not None else [*ast.walk(failing.statement)]
    numbers = {each.value for each in nodes if isinstance(each, ast.Constant) and isinstance(each.value, int)}
    large = [each for each in numbers if each >= 2**31]
    return str(large[0]) if len(large) == 1 else ""


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("OverflowError", "overflow", explain_overflow,
        r"Python int(?:eger)? (?P<value>-?\d+) (?:too large to convert to|out of bounds for) (?P<dtype>u?int\d+)"),
    Rule("OverflowError", "overflow", explain_overflow,
        r"An overflow was encountered while parsing an argument to a jitted computation"
        r"(?:.* with value (?P<value>-?\d+))?"),
    Rule("TypeError", "size", explain_size,
        r"Shapes must be 1D sequences of concrete values of integer type, got "
        r"(?P<sizes>(?:(?!Tracer)[\s\S])+?)\.\s*(?:argument of [\s\S]*)?\Z"),
)
# fmt: on
