"""Explains arguments and results that are no arrays, no numbers and no pytrees of them."""

from __future__ import annotations

import ast
import re

from ......records.cell_names import known_as
from ......records.note import note
from .....record.failing_code import Operand
from .....record.failure import Failure
from ...expression import Expression, call, expression_of, spelled, with_imports, with_operand
from ...known_values.joined_lists import joined_arrays
from ...known_values.static_argument import static_argument, static_decorator, write_static
from ...known_values.static_options import options_for
from ..classes import receiver, write_attributes
from ..explained import Explained, Rule
from ..operands import fact, shortened
from ..shapes.joining import explain_list_among
from .carried import explain_carried
from .non_numbers import index_of_text, string_index

#: Types whose values are equal if they mean the same, so that a static argument compiles once per meaning.
_PLAIN = (
    "str",
    "bytes",
    "function",
    "builtin_function_or_method",
    "type",
    "PjitFunction",
    "custom_jvp",
    "custom_vjp",
    "ufunc",
)

#: How values that hold numbers become arrays, by their types.
_CONVERTED = {"generator": "list({})", "range": "list({})", "DataFrame": "{}.to_numpy()", "Series": "{}.to_numpy()"}

#: Functions that take several arrays as one sequence.
_OF_SEQUENCES = "concatenate", "stack", "vstack", "hstack", "dstack", "column_stack"


def explain_not_array(failure: Failure) -> Explained:
    """Explain an argument that JAX cannot trace, and make it static where it selects a program."""
    kind = fact(failure, "type").rpartition(".")[2]
    path = "" if failure.library is not None else fact(failure, "path")
    name, inside = _split(path)
    call, failing = failure.call, expression_of(failure)
    passed = None if call is None else next((each for each in call.arguments if each.name == name), None)
    operand = _operand(failure, kind)
    text = operand.text if operand is not None else ""
    if passed is not None:
        text = passed.text + inside if passed.text.isidentifier() or not inside else ""
    elif name == "self":
        text = receiver(failing) if not inside else ""
    found = note(
        "doctor.error_not_array",
        argument=shortened(text),
        parameter=path,
        function="" if failing is None else failing.called or "",
        type="dtype" if _is_dtype(kind) else kind,
    )
    collected = inside and name in ("args", "kwargs")  # by a function that takes any arguments
    if kind in _CONVERTED:
        converted = _CONVERTED[kind].format(text if text.isidentifier() else "x")
        return Explained(
            found, note("doctor.write_as_numbers", converted=converted, jnp=spelled(failure, "jax.numpy"))
        )
    if kind == "ndarray" and path:
        return Explained(found, note("doctor.write_numbers", jnp=spelled(failure, "jax.numpy")))
    if not path or collected or (failure.detail or "").partition(".")[0] == "jax":
        if _is_own(fact(failure, "type")):
            return Explained(found, note("doctor.write_pytree", type=kind, jax=spelled(failure, "jax")))
        return Explained(found, note("doctor.write_array", type=kind))
    if inside.startswith("."):
        return Explained(found, note("doctor.write_object", argument=name, type=kind))
    if inside:
        return Explained(found, note("doctor.write_taken_out", path=path, argument=name))
    changed = [] if call is None else [each for each in call.changed if each.partition(".")[0] == name]
    if changed:
        return Explained(found, write_attributes(failure, name, changed), None if call is None else call.returning)
    if name == "self":
        return Explained(found, note("doctor.write_self", type=kind))
    if kind not in _PLAIN and not _is_dtype(kind):
        option = options_for(failure, (name,))
        return Explained(found, note("doctor.write_static_or_pytree", type=kind, option=option))
    remedy = note("doctor.write_static_argument", option=options_for(failure, (name,)), anew=kind == "function")
    return Explained(found, remedy, static_decorator(failure, name))


def _is_own(kind: str) -> bool:
    """Return whether a type is neither Python's nor one of JAX or NumPy, by its full name."""
    return "." in kind and kind.partition(".")[0] not in ("jax", "jaxlib", "numpy", "ml_dtypes")


def _is_dtype(kind: str) -> bool:
    """Return whether a type is one of dtypes: of ``jnp.float16``, or of ``x.dtype``."""
    return kind == "_ScalarMeta" or kind.endswith("DType")


def _split(path: str) -> tuple[str, str]:
    """Split ``opts['m']`` into the parameter and the place in it.

    >>> _split("opts['m']"), _split("mode")
    (('opts', "['m']"), ('mode', ''))
    """
    match = re.match(r"\w*", path)
    name = match[0] if match is not None else ""
    return name, path[len(name) :]


def _operand(failure: Failure, kind: str) -> Operand | None:
    """Return the only argument of the failing call with a type, or the only such item of one."""
    items = (part for each in failure.operands for part in (each, *each.items))
    matching = [each for each in items if each.type == kind]
    return matching[0] if len(matching) == 1 else None


def explain_result(failure: Failure) -> Explained:
    """Explain a traced function that returns something else than arrays."""
    path, kind = fact(failure, "path"), fact(failure, "type").rpartition(".")[2]
    file, _, line = fact(failure, "location").rpartition(":")
    return Explained(
        note(
            "doctor.error_result",
            function=fact(failure, "function"),
            location=f"{known_as(file)}:{line}" if line else "",
            path=path if path.startswith(("[", ".")) else "",
            type=kind,
            transform=fact(failure, "transform") or "vmap",
        ),
        note("doctor.write_result", own=_is_own(fact(failure, "type")), type=kind, jax=spelled(failure, "jax")),
    )


def explain_listed(failure: Failure) -> Explained:
    """Explain a list, or None, for an argument or an operand that has to be an array or a number."""
    failing, kind = expression_of(failure), fact(failure, "type")
    jnp, function = spelled(failure, "jax.numpy"), fact(failure, "function")
    node = None if failing is None or failure.library is not None else failing.node
    called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
    direct = called == f"{jnp}.{function}" or isinstance(node, ast.BinOp)
    number = int(fact(failure, "number") or -1)
    places = [place for place, each in enumerate(failure.operands) if each.type == kind and each.keyword is None]
    place = number if number >= 0 else places[0] if len(places) == 1 else -1
    operand = failure.operands[place] if direct and place in places else None
    if (
        kind == "NoneType"
        and function == "where"
        and isinstance(node, ast.Call)
        and len(node.args) + len(node.keywords) == 2
    ):
        found = note("doctor.error_other_arguments", called=called, missing="y", given=0)
        return Explained(found, note("doctor.write_other_arguments", parameters="condition, x, y"))
    if direct and function in _OF_SEQUENCES and failure.operands and failure.operands[0].type in ("list", "tuple"):
        return explain_list_among(failure, kind, called, number)
    found = note(
        "doctor.error_listed",
        argument=shortened(operand.text) if operand is not None and operand.text != "None" else "",
        type=kind,
        function=called if direct and called else function,
    )
    if kind == "NoneType":
        return Explained(found, note("doctor.write_no_none"))
    if kind == "dict":
        jax = spelled(failure, "jax")
        return Explained(
            found, note("doctor.write_each_of_dict", function=called if direct and called else function, jax=jax)
        )
    if kind not in ("list", "tuple"):
        return Explained(found, note("doctor.write_no_object", type=kind))
    if operand is not None and operand.text in fact(failure, "slices").split(", "):
        going, whole = fact(failure, "going"), fact(failure, "whole")
        return Explained(
            found, note("doctor.write_stacked_items", items=operand.text, going=going, whole=whole, jnp=jnp)
        )
    if failing is not None and kind == "tuple" and (failing.called or "").rpartition(".")[2] == "apply_updates":
        return Explained(found, note("doctor.write_updates"))
    joined, meant = joined_arrays(failure, failing, jnp) if function == "+" else ("", False)
    if meant:
        return Explained(
            found, note("doctor.write_joined_arrays", arrays=joined, jnp=jnp, traced=bool(failure.values))
        )
    code = None if operand is None or failing is None else _as_array(failure, failing, operand, place)
    return Explained(found, note("doctor.write_listed", jnp=jnp, alike=code is not None, joined=joined), code)


def _as_array(failure: Failure, failing: Expression, operand: Operand, place: int) -> str | None:
    """Return ``jnp.sum(jnp.array([1, 2]))`` for ``jnp.sum([1, 2])``, if its items have one known shape."""
    node, shapes = failing.node, {each.shape for each in operand.items}
    if len(shapes) != 1 or None in shapes:
        return None
    function = f"{spelled(failure, 'jax.numpy')}.array"
    if isinstance(node, ast.BinOp):
        code = with_operand(failing, place, function)
    elif isinstance(node, ast.Call) and place < len(node.args):
        node.args = [call(function, each) if number == place else each for number, each in enumerate(node.args)]
        code = failing.with_node(node)
    else:
        return None
    return None if code is None else with_imports(failure, code, "jax.numpy")


def explain_repeated(failure: Failure) -> Explained:
    """Explain ``[x] * n``, where `n` is an integer of JAX; other arrays are to be multiplied by the items."""
    failing, kind = expression_of(failure), fact(failure, "type")
    operands = failure.operands if failing is not None and isinstance(failing.node, ast.BinOp) else ()
    number = operands[0 if fact(failure, "first") else 1] if len(operands) == 2 else None
    is_integer = number is not None and re.fullmatch(r"[iu]\d+\[\]", number.type or "") is not None
    if number is not None and number.type is not None and not is_integer:
        return explain_listed(failure)
    text = "" if number is None else shortened(number.text)
    traced = bool(failure.values)
    items = next((shortened(each.text) for each in operands if each is not number), "")
    found = note("doctor.error_listed", argument=items, type=kind, function="*")
    if is_integer and failure.traced is not None and number is not None:
        found = note("doctor.error_number", value=text, type=number.type or "", need="length")
        static = static_argument(failure, failing, of_size=True)
        if static is not None and static.certain == "yes":
            return Explained(found, *write_static(failure, static))
    return Explained(found, note("doctor.write_repeated", number=text, type=kind, traced=traced))


def explain_index_type(failure: Failure) -> Explained:
    """Explain a float as an index."""
    return explain_carried(failure) or Explained(
        note("doctor.error_index_type", dtype=fact(failure, "dtype")), note("doctor.write_index_type")
    )


def explain_index_list(failure: Failure) -> Explained:
    """Explain a list as an index."""
    failing, jnp = expression_of(failure), spelled(failure, "jax.numpy")
    text = index_of_text(failing)
    if text and failing is not None:
        return string_index(failing.node, text)
    found, remedy = note("doctor.error_index_list"), note("doctor.write_index_list", jnp=jnp)
    node = None if failing is None else failing.node
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        node = node.func.value  # x.at[[0, 1]].set(y)
    index = node.slice if isinstance(node, ast.Subscript) else None
    if failing is None or not isinstance(node, ast.Subscript) or not isinstance(index, ast.List):
        return Explained(found, remedy)
    if not index.elts or not all(isinstance(each, ast.Constant) and type(each.value) is int for each in index.elts):
        return Explained(found, remedy)
    new = ast.Subscript(value=node.value, slice=call(f"{jnp}.array", index), ctx=node.ctx)
    code = Expression(failing.statement, node, None).with_node(new)
    return Explained(found, remedy, None if code is None else with_imports(failure, code, "jax.numpy"))


#: The messages that are explained here.
# fmt: off
RULES = (
    Rule("TypeError", "not array", explain_not_array,
        r"Error interpreting argument to [\s\S]+? as an abstract array\. The problematic value is "
        r"of type <class '(?P<type>.+?)'> and was passed to the function at path (?P<path>.+)\.$"),
    Rule("TypeError", "not array", explain_not_array,
        r"Argument '(?:[\s\S]*)' of type '?<class '(?P<type>.+?)'>'? is not a valid JAX type"),
    Rule("TypeError", "result", explain_result,
        r"function (?P<function>.+) at (?P<location>.+:\d+) traced for (?P<transform>[\w /]+?) returned a "
        r"value of type <class '(?P<type>.+?)'>(?: at output component (?P<path>.*?))?, which is not a "
        r"valid JAX type"),
    Rule("TypeError", "result", explain_result,
        r"Output from batched function [\s\S]* with type <class '(?P<type>.+?)'> is not a valid JAX"),
    Rule("TypeError", "listed", explain_listed,
        r"(?:jnp\.)?(?P<function>[\w.]+) requires ndarray or scalar arguments, got <class '(?P<type>.+?)'> at "
        r"position (?P<number>\d+)"),
    Rule("TypeError", "listed", explain_listed,
        r"unsupported operand type\(s\) for (?P<function>[^\s*]+): '(?:[\w.]*ArrayImpl|\w+Tracer)' and "
        r"'(?P<type>list|tuple|NoneType)'"),
    Rule("TypeError", "listed", explain_listed,
        r"unsupported operand type\(s\) for (?P<function>[^\s*]+): '(?P<type>list|tuple|NoneType)' and "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)'"),
    Rule("TypeError", "listed", explain_listed,
        r"unsupported operand type\(s\) for (?P<function>\*{1,2})(?: or pow\(\))?: "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)' and '(?P<type>NoneType)'"),
    Rule("TypeError", "repeated", explain_repeated,
        r"unsupported operand type\(s\) for (?P<function>\*): '(?P<type>list|tuple)' and "
        r"'(?:[\w.]*ArrayImpl|\w+Tracer)'"),
    Rule("TypeError", "repeated", explain_repeated,
        r"unsupported operand type\(s\) for (?P<function>\*): '(?P<first>[\w.]*ArrayImpl|\w+Tracer)' and "
        r"'(?P<type>list|tuple)'"),
    Rule("TypeError", "index type", explain_index_type,
        r"Indexer must have integer or boolean type, got indexer with type (?P<dtype>\w+)"),
    Rule("TypeError", "index list", explain_index_list,
        r"Using a non-tuple sequence for multidimensional indexing is not allowed"),
)
# fmt: on
