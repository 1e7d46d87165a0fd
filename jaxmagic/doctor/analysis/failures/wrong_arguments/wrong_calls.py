"""Explains calls of JAX whose arguments stand apart or are no shape, and calls that PyTorch takes."""

from __future__ import annotations

import ast
import re
from collections.abc import Callable

from .....records.note import note
from ....record.failure import Failure
from ....record.failure_kind import Kind
from ..expression import call as make_call
from ..expression import expression_of, spelled
from .explained import Explained, Rule
from .operands import fact, shapes_in, shortened, written

#: Messages that several problems share, by the exception's type: the arguments of the call tell which one it is.
# fmt: off
_SHARED: tuple[tuple[str, str, tuple[Kind, ...]], ...] = (
    ("TypeError", r"vmap in_axes must be an int, None, or ", ("called apart", "float")),
    ("TypeError", r"lax\.\w+: [\w ]+ arguments? should be (?:a )?callable", ("order",)),
    ("ValueError", r"`jax\.device_put` only accepts ", ("device",)),
    ("ValueError", r"sharding=.* must be an instance of jax\.sharding\.Sharding", ("device",)),
    ("AttributeError", r"'(?:str|int)' object has no attribute '_is_concrete'", ("device",)),
    ("TypeError", r"JAX encountered invalid PRNG key data", ("no key",)),
    ("TypeError", r"unexpected PRNG key type ", ("no key",)),
    ("TypeError", r"\w+\(\) (?:missing 1 required positional|got multiple values for) argument:? 'key'",
        ("no key", "other arguments")),
    ("TypeError", r"[\w.<>]+(?<!__init__)\(\) missing \d+ required [\w-]+ arguments?: ", ("other arguments",)),
    ("TypeError", r"\w+\.__init__\(\) missing 1 required keyword-only argument: '(?:rngs|key)'", ("layer key",)),
    ("TypeError", r"\w+\.__init__\(\) takes (?:from \d+ to )?\d+ positional arguments? but \d+ were given",
        ("layer key",)),
    ("AttributeError", r"'[\w.]+' object has no attribute '(?:params|dropout)'", ("layer key",)),
    ("TypeError", r"Array\.__contains__: ", ("apply order",)),
    ("TypeError", r"'str' object cannot be interpreted as an integer", ("other option",)),
    ("TypeError", r"'int' object is not iterable", ("other option",)),
    ("TypeError", r"object of type 'int' has no len\(\)", ("starts",)),
    ("ValueError", r"array split does not result in an equal division", ("uneven",)),
    ("KeyError", r"'\w+'$", ("field", "axis name")),
    ("AssertionError", r"$", ("axis name",)),
    ("TypeError", r"\w+\(\) got an unexpected keyword argument 'axes'", ("named axes",)),
    ("ValueError", r"(?:not enough|too many) values to unpack", ("unpacked", "array unpacked")),
    ("IndexError", r"tuple index out of range$", ("axis", "array axis", "field")),
    ("ValueError", r"axis -?\d+ is out of bounds for array of dimension \d+$", ("tiled", "array axis")),
    ("IndexError", r"Replacement index \d+ out of range for positional args tuple$", ("field",)),
    ("ValueError", r"Unused (?:positional|keyword) arguments to `jax\.debug\.print`", ("field",)),
    ("ValueError", r"cannot select an axis to squeeze out which has size not equal to one", ("squeeze", "pmap rows")),
    ("TypeError", r"iteration over a 0-d key array", ("unpacked",)),
    ("ValueError", r"Passing an array as a dtype argument is no longer supported", ("arrays apart", "number dtype")),
    ("TypeError", r"cannot reshape array of shape ", ("sizes apart",)),
    ("ValueError", r"Unexpected value for 'order' argument: ", ("sizes apart", "flattened")),
    ("ValueError", r"Zero-dimensional arrays cannot be concatenated", ("arrays apart",)),
    ("TypeError", r"[Oo]nly integer scalar arrays can be converted to a scalar index",
        ("arrays apart", "array axis", "called apart")),
    ("TypeError", r"Argument '<", ("order",)),
    ("ValueError", r"scan got value with no leading axis to scan over: <", ("order",)),
    ("TypeError", r"Cannot construct a dtype from an array", ("arrays apart", "number dtype")),
    ("TypeError", r"unhashable type: '[\w.]*(?:ArrayImpl|Tracer)'", ("arrays apart",)),
    ("TypeError", r"[\w.<>]+\(\) got multiple values for argument '\w+'",
        ("arrays apart", "sizes apart", "other arguments")),
    ("TypeError", r"\w+\(\) takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given",
        ("arrays apart", "sizes apart", "number dtype", "called apart", "other arguments", "tiled")),
    ("TypeError", r"Cannot interpret '-?\d+' as a data type",
        ("arrays apart", "view", "sizes apart", "number dtype")),
    ("TypeError", r"Cannot interpret '(?:True|False)' as a data type", ("kept axis",)),
    ("NotImplementedError", r"The 'out' argument to jnp\.\w+ is not supported", ("arrays apart", "kept axis")),
    ("TypeError", r"repeat requires ndarray or scalar arguments, got <class '(?:tuple|list)'>", ("tiled",)),
    ("TypeError", r"_?flatten\(\) got an unexpected keyword argument 'start_dim'", ("flattened",)),
    ("TypeError", r"Cannot interpret '-?[\d.e+-]+' as a data type", ("number dtype",)),
    ("TypeError", r"'(?:numpy\.)?float\d*' object (?:is not iterable|cannot be interpreted as an integer)",
        ("no shape", "float", "float bound", "called apart")),
    ("TypeError", r"'(?:tuple|list)' object cannot be interpreted as an integer", ("arrays apart",)),
    ("TypeError", r"iteration over a 0-d array", ("no shape",)),
    ("TypeError", r"Shapes must be 1D sequences of concrete values of integer type, got (?!\()", ("no shape",)),
    ("NotImplementedError", r"`type` argument of array\.view\(\) is not supported", ("view",)),
    ("TypeError", r"\w+\(\) got an unexpected keyword argument "
        r"'(?:dim[01]?|keepdim|a_min|a_max|low|high|size|unbiased)'", ("renamed",)),
    ("TypeError", r"'[\w.]+' object is not callable", ("called attribute",)),
    ("TypeError", r"[\w.<>]+\(\) got an unexpected keyword argument '\w+'", ("other arguments",)),
    ("TypeError", r"[\w.<>]+\(\) takes (?:from \d+ to )?\d+ positional arguments? but \d+ (?:was|were) given",
        ("other arguments",)),
)
# fmt: on

#: Attributes of arrays that are methods in PyTorch.
CALLED = "size", "shape", "ndim", "T", "dtype", "device", "sharding", "nbytes", "itemsize", "real", "imag"


def shared(name: str, text: str) -> tuple[Kind, ...]:
    """Return the problems that may be behind a message; the call has to tell which one is.

    >>> shared("TypeError", "iteration over a 0-d array")
    ('no shape',)
    """
    return next((kinds for each, words, kinds in _SHARED if each == name and re.match(words, text)), ())


def explain_arrays_apart(failure: Failure) -> Explained:
    """Explain ``jnp.vstack(a, b)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call):
        return Explained(
            note("doctor.error_arrays_apart", function=""), note("doctor.write_one_list", code="jnp.stack([a, b])")
        )
    function, count = ast.unparse(node.func), int(fact(failure, "count"))
    first, *others = node.args[:count]
    items: list[ast.expr] = [first]
    if isinstance(first, ast.List | ast.Tuple):
        items = first.elts
    elif fact(failure, "listed"):
        items = [ast.Starred(value=first, ctx=ast.Load())]
    if isinstance(first, ast.List | ast.Tuple):
        others = [part for each in others for part in _parts(each)]
    joined: ast.expr = ast.List(elts=[*items, *others], ctx=ast.Load())
    if fact(failure, "starred") and len(items) == 1 and not others and isinstance(items[0], ast.Starred):
        joined = items[0].value
    node.args = [joined, *node.args[count:]]
    text = ast.unparse(make_call(function, joined))
    whole = not isinstance(joined, ast.List)
    return Explained(
        note("doctor.error_arrays_apart", function=shortened(function)),
        note("doctor.write_without_star", code=text) if whole else note("doctor.write_one_list", code=text),
        failing.with_node(node),
    )


def _parts(node: ast.expr) -> list[ast.expr]:
    return node.elts if isinstance(node, ast.List | ast.Tuple) else [node]


def explain_no_shape(failure: Failure) -> Explained:
    """Explain a float, an array or a text for a shape."""
    failing, parameter = expression_of(failure), fact(failure, "parameter")
    node = None if failing is None else failing.node
    place, kind = int(fact(failure, "place") or -1), fact(failure, "type")
    given: ast.expr | None = None
    if isinstance(node, ast.Call):
        named = (each.value for each in node.keywords if each.arg == parameter)
        given = node.args[place] if place >= 0 else next(named, None)
    text = "" if given is None else ast.unparse(given)
    shapes = shapes_in(kind)
    new = None if given is None else _as_shape(given, fact(failure, "number"), kind)
    if place >= 0 and isinstance(node, ast.Call) and len(node.args) > place + 1 and kind == "float":
        new = None  # such as the mean and the scale that NumPy's function takes
    code = None
    if new is not None and failing is not None and isinstance(node, ast.Call):
        node.args = [new if each is given else each for each in node.args]
        for each in node.keywords:
            each.value = new if each.value is given else each.value
        code = failing.with_node(node)
    found = note(
        "doctor.error_no_shape",
        function="" if failing is None else shortened(failing.called or ""),
        text=shortened(text),
        type=kind,
        parameter=parameter,
    )
    remedy = note(
        "doctor.write_shape",
        text=shortened(text),
        axes=len(shapes[0]) if shapes else -1,
        is_shape=parameter == "shape",
        is_float=kind == "float",
        parameters=fact(failure, "parameters"),
    )
    return Explained(found, remedy, code)


def _as_shape(given: ast.expr, number: str, kind: str) -> ast.expr | None:
    """Return what is meant in place of an argument that is no shape; ``None`` if that is uncertain."""
    shapes = shapes_in(kind)
    if shapes and len(shapes[0]) > 1:
        return ast.Attribute(value=given, attr="shape", ctx=ast.Load())
    if shapes and not shapes[0]:
        return make_call("int", given)
    if isinstance(given, ast.BinOp) and isinstance(given.op, ast.Div) and kind == "float":
        return ast.BinOp(left=given.left, op=ast.FloorDiv(), right=given.right)
    if not isinstance(given, ast.Constant) or not number or not float(number).is_integer():
        return None
    return ast.Constant(value=int(float(number))) if float(number) > 0 else None


def explain_sizes_apart(failure: Failure) -> Explained:
    """Explain ``jnp.zeros(2, 3)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call):
        return Explained(
            note("doctor.error_sizes_apart", function=""), note("doctor.write_one_tuple", shape="(2, 3)")
        )
    first, end = int(fact(failure, "first")), int(fact(failure, "end"))
    shape = ast.Tuple(elts=node.args[first:end], ctx=ast.Load())
    node.args = [*node.args[:first], shape, *node.args[end:]]
    return Explained(
        note("doctor.error_sizes_apart", function=shortened(failing.called or "")),
        note("doctor.write_one_tuple", shape=ast.unparse(shape)),
        failing.with_node(node),
    )


def explain_array_axis(failure: Failure) -> Explained:
    """Explain ``jnp.max(x, y)``, where ``jnp.maximum(x, y)`` may be meant."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Explained(note("doctor.error_array_axis", called="", text=""), note("doctor.write_reduced_axis"))
    called, given = ast.unparse(node.func), shortened(ast.unparse(node.args[1]))
    found = note("doctor.error_array_axis", called=shortened(called), text=given)
    if node.func.attr not in ("max", "min"):
        return Explained(found, note("doctor.write_reduced_axis"))
    node.func.attr = f"{node.func.attr}imum"
    new = shortened(ast.unparse(node))
    return Explained(found, note("doctor.write_larger", replacement=new), failing.with_node(node))


def explain_view(failure: Failure) -> Explained:
    """Explain ``x.view(-1)``."""
    failing = expression_of(failure)
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        return Explained(
            note("doctor.error_view", method="x.view", array="x"),
            note("doctor.write_attribute", replacement="x.reshape"),
        )
    array, method = ast.unparse(node.func.value), ast.unparse(node.func)
    node.func = ast.Attribute(value=node.func.value, attr="reshape", ctx=ast.Load())
    replacement = ast.unparse(node)
    found = note("doctor.error_view", method=shortened(method), array=shortened(array))
    return Explained(found, note("doctor.write_attribute", replacement=replacement), failing.with_node(node))


def explain_called_attribute(failure: Failure) -> Explained:
    """Explain ``x.size(0)``."""
    failing, name = expression_of(failure), fact(failure, "attribute")
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute):
        found = note("doctor.error_called_attribute", attribute=f"x.{name}", name=name)
        return Explained(found, note("doctor.write_attribute", replacement=f"x.{name}"))
    found = note("doctor.error_called_attribute", attribute=shortened(ast.unparse(node.func)), name=name)
    new: ast.expr = node.func
    if name == "size":
        new = ast.Attribute(value=node.func.value, attr="shape", ctx=ast.Load())
    if name in ("size", "shape") and len(node.args) == 1:
        new = ast.Subscript(value=new, slice=node.args[0], ctx=ast.Load())
    return Explained(found, note("doctor.write_attribute", replacement=ast.unparse(new)), failing.with_node(new))


def explain_permutation(failure: Failure) -> Explained:
    """Explain ``x.transpose(0, 1)`` for an array with more axes, which swaps two axes in PyTorch."""
    (permutation,), (shape,) = shapes_in(fact(failure, "permutation")), shapes_in(fact(failure, "shape"))
    failing = expression_of(failure)
    node = None if failing is None or failure.library is not None else failing.node
    found = note("doctor.error_permutation", given=len(permutation), shape=written(shape))
    swaps = len(permutation) == 2 < len(shape)
    remedy = note("doctor.write_permutation", swaps=swaps, rank=len(shape), jnp=spelled(failure, "jax.numpy"))
    code = None
    if swaps and failing is not None and isinstance(node, ast.Call) and not node.keywords:
        new = _swapped(failure, node)
        code = None if new is None else failing.with_node(new)
    return Explained(found, remedy, code)


def _swapped(failure: Failure, node: ast.Call) -> ast.Call | None:
    """Return ``x.swapaxes(0, 1)`` for ``x.transpose(0, 1)``, and the same of ``jnp``; ``None`` for another call."""
    function, arguments = node.func, node.args
    if not isinstance(function, ast.Attribute) or function.attr != "transpose" or not arguments:
        return None
    owner = failure.operands[0] if failure.operands else None
    is_method = owner is not None and owner.text == ast.unparse(function.value) and owner.shape is not None
    axes = arguments if is_method else arguments[1:]
    listed = axes[0].elts if len(axes) == 1 and isinstance(axes[0], ast.Tuple | ast.List) else axes
    if len(listed) != 2:
        return None
    swapped = ast.Attribute(value=function.value, attr="swapaxes", ctx=ast.Load())
    return ast.Call(func=swapped, args=[*arguments[: not is_method], *listed], keywords=[])


#: How the problems are explained that share messages.
CALLS: dict[Kind, Callable[[Failure], Explained]] = {
    "arrays apart": explain_arrays_apart,
    "no shape": explain_no_shape,
    "sizes apart": explain_sizes_apart,
    "array axis": explain_array_axis,
    "view": explain_view,
    "called attribute": explain_called_attribute,
}

#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "permutation", explain_permutation,
        r"transpose permutation isn't a permutation of operand dimensions, got permutation "
        r"(?P<permutation>\([\d, ]*\)) for operand shape (?P<shape>\([\d, ]*\))"),
)
# fmt: on
