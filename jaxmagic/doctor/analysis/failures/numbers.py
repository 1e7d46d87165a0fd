"""Explains a traced value that had to be a Python number: in ``float``, as an index, in ``range``, in a shape."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ....records.note import Note, note
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .expression import Expression, expression_of, gets_traced, spelled, value_named
from .known_values.known_number import known_number
from .known_values.lookups import choice, indexed, looked_up, table_of
from .known_values.math_functions import MATH, SPECIAL, functions_of_math
from .known_values.passed_functions import converted, passed_on, unmapped
from .known_values.size_use import parts_in, size_use
from .known_values.sized_results import LENGTHS, SIZED, write_sized
from .known_values.slices import dynamic_slice
from .known_values.static_argument import (
    is_jitted_itself,
    library_remedy,
    static_argument,
    write_static,
)
from .known_values.stored_number import stored_number
from .origin import error_finding
from .wrong_arguments.values.at_elements import stored
from .wrong_arguments.values.formats import formatted

#: Functions and methods that convert a value to a Python number.
_CONVERSIONS = "float", "int", "complex", "item", "tolist", "__index__"


def explain_number(failure: Failure) -> RuleFinding:
    """Explain ``ConcretizationTypeError``, ``TracerIntegerConversionError``, and sizes that are traced."""
    failing = expression_of(failure)
    value, need = "" if failing is None else _value(failure, failing), _need(failure, failing)
    remedy, code = _remedy(failure, failing)
    sized = remedy.kind == "doctor.write_sized"
    found = note("doctor.error_number", value=value, type=failure.type or "", need=need)
    return error_finding(
        failure,
        found=note("doctor.error_sized", function=need) if sized else found,
        remedy=remedy,
        code=code,
    )


def _value(failure: Failure, failing: Expression) -> str:
    """Return the text of the value that has no number, if it is known which one it is."""
    if failure.selector is not None and is_jitted_itself(failure) and failure.selector.type != "tuple":
        return failure.selector.argument
    node = _used(failing.node)
    if node is not None and not isinstance(node, ast.List | ast.Tuple | ast.Dict | ast.Slice):
        value = value_named(failure, ast.unparse(node))
        if value is not None and value.type == failure.type:
            return value.name
    if passed_on(failure, failing):
        return ""
    if node is not None and isinstance(node, ast.Call | ast.BinOp) and failure.detail in _CONVERSIONS:
        return ast.unparse(node)
    direct = {each.id for each in _operands(failure, failing) if isinstance(each, ast.Name)}
    sized = failure.type is None and bool(
        parts_in(failure, failing)
    )  # as if JAX says no more than that it has no hash
    named = [each.name for each in failure.values if each.name in direct and (sized or each.type == failure.type)]
    arguments = () if failure.traced is None else failure.traced.arguments
    named = named if len(named) == 1 else [each for each in named if each in arguments]  # JAX names the first one
    return named[0] if len(named) == 1 else _computed_size(failure, failing)


def _computed_size(failure: Failure, failing: Expression) -> str:
    """Return the expression that decides a size in the failing call, such as ``ids.max() + 1``, if there is one."""
    if failure.library is not None or not (failure.type or "").endswith("[]"):
        return ""
    node, bounds = failing.node, ast.Name | ast.Slice | ast.Tuple | ast.List | ast.Constant
    sliced = isinstance(node, ast.Subscript) and failure.kind == "shape"
    parts = _with_inner([node.slice] if isinstance(node, ast.Subscript) and sliced else parts_in(failure, failing))
    computed = [each for each in parts if not isinstance(each, bounds)]
    texts = [ast.unparse(each) for each in computed if gets_traced(failure, failing, each)]
    return texts[0] if len(texts) == 1 else ""


def _operands(failure: Failure, failing: Expression) -> list[ast.AST]:
    """Return the sizes or the arguments of a call, or the bounds of a slice; also those in a tuple or a list."""
    node = failing.node
    if isinstance(node, ast.Call):
        given: list[ast.AST] = [*parts_in(failure, failing)] or [*node.args, *(each.value for each in node.keywords)]
    elif isinstance(node, ast.Subscript):
        given = [node.slice]
    else:
        return []
    return _with_inner(given)


def _with_inner(nodes: Sequence[ast.AST]) -> list[ast.AST]:
    """Return nodes, and what is in tuples, lists and slices among them; also in a slice that a tuple has."""
    inside = [each for each in nodes if isinstance(each, ast.Tuple | ast.List | ast.Slice)]
    return [
        *nodes,
        *(_with_inner([part for each in inside for part in ast.iter_child_nodes(each)]) if inside else []),
    ]


def _used(node: ast.AST) -> ast.expr | None:
    """Return the only argument of a call, the index of a subscript, or the object of a method."""
    if isinstance(node, ast.Subscript) and isinstance(node.ctx, ast.Load):
        return node.slice
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in ("item", "tolist"):
        return node.func.value
    if isinstance(node, ast.Call) and len(node.args) == 1 and not node.keywords:
        return node.args[0]
    return None


def _need(failure: Failure, failing: Expression | None) -> str:
    """Return what needs a number, in a word that the report knows, or as the text of a call."""
    called = None if failing is None else failing.called
    if failure.kind == "shape":
        sliced = failing is not None and isinstance(failing.node, ast.Subscript)
        return "slice" if sliced or failure.error == "IndexError" else "shape"
    if failure.kind == "number" and failing is not None and isinstance(failing.node, ast.Subscript):
        return ast.unparse(failing.node)
    if failure.kind == "index" and failing is not None and isinstance(failing.node, ast.Subscript):
        return "index"
    return passed_on(failure, failing) or called or failure.detail or "number"


def _remedy(failure: Failure, failing: Expression | None) -> tuple[Note, str | None]:
    jnp, lax = spelled(failure, "jax.numpy"), spelled(failure, "jax.lax")
    need = _need(failure, failing)
    name = need.rpartition(".")[2]
    size = "" if failing is None or failure.library is not None else size_use(failure, failing)
    if _is_known(failure) and (size or (failure.library is None and failure.kind in ("index", "shape"))):
        return note("doctor.write_in_python"), None
    static = static_argument(failure, failing, of_size=bool(size) or name == "arange")
    if size and (need in ("int", "round") or name in ("item", "tolist") or need.startswith("math.")):
        return known_number(failure, failing, static, size)
    if failure.library is not None:
        if failure.selector is not None and static is not None and failure.detail not in ("float", "complex"):
            return write_static(failure, static)
        return library_remedy(failure, failing, failure.library), None
    if failing is not None and isinstance(failing.node, ast.Subscript) and failure.kind == "number":
        return stored(failure, failing, failing.node)
    if failing is not None and passed_on(failure, failing):
        return stored_number(failure, failing, need) or unmapped(failure, failing, need), None
    if need in ("float", "int", "complex", "bool") or name in ("item", "tolist"):
        lookup = None if failing is None else looked_up(failure, failing, static)
        if lookup is not None:
            return lookup
        text = None if failing is None else formatted(failure, failing)
        if text is not None:
            return text
        after = stored_number(failure, failing, name)
        if after is not None:
            return after, None
        remedy = note("doctor.write_kept_number", need=name, dtype=converted(failure.type, name))
        return remedy, _without_conversion(failure, failing, name)
    if failure.detail == "__reduce__":
        return note("doctor.write_stored_outside", function=need), None
    if need.startswith("math.") and name in MATH:
        return functions_of_math(failure, failing, need)
    if need.startswith("math.") and name in SPECIAL:
        replacement = f"{spelled(failure, 'jax')}.scipy.special.{SPECIAL[name]}"
        return note("doctor.write_function", function=need, replacement=replacement), None
    if failure.detail in ("float", "int", "complex") and need != failure.detail:
        return note("doctor.write_library", function=need), None
    functions = name, (failure.detail or "").rpartition(".")[2]
    sized = next((each for each in functions if each in (*SIZED, *LENGTHS)), "")
    if sized in SIZED and not _is_given(failure, failing, "size"):
        return write_sized(failure, failing, need, sized), None
    sliced = dynamic_slice(failure, failing) if failing is not None and need == "slice" else None
    if sliced is not None:
        return sliced
    if static is not None and static.certain == "yes":
        return write_static(failure, static, "" if size or need != "index" else table_of(failure, failing, jnp))
    if sized in LENGTHS and not _is_given(failure, failing, LENGTHS[sized]):
        if (failure.type or "").endswith("[]"):  # how often, which may be a Python number where the call is
            advice = known_number(failure, failing, static, "size")
            if advice[0].kind != "doctor.write_known_size":
                return advice
        return write_sized(failure, failing, need, sized), None
    if need == "range":
        return known_number(failure, failing, static, "range")
    if need == "index" and size == "slice":
        return note("doctor.write_slice", lax=lax, table=table_of(failure, failing, jnp)), None
    if need == "index" and size:
        return known_number(failure, failing, static, size)
    if need == "index":
        return choice(failure, failing, jnp), indexed(failure, failing)
    if need == "slice":
        update = failing is not None and isinstance(failing.node, ast.Call)  # x.at[i:j].set(y)
        if update:
            return note("doctor.write_slice", lax=lax, update=True), None
        return known_number(failure, failing, static, "slice")
    return known_number(failure, failing, static, "size")


def _is_given(failure: Failure, failing: Expression | None, keyword: str) -> bool:
    """Return whether the failing call passes a size, of which the value has to be known as well."""
    if failure.selector is not None:
        return True
    keywords = failing.node.keywords if failing is not None and isinstance(failing.node, ast.Call) else []
    given = next((each.value for each in keywords if each.arg == keyword), None)
    traced = {each.name for each in failure.values}
    return given is not None and any(ast.unparse(each) in traced for each in ast.walk(given))


def _is_known(failure: Failure) -> bool:
    """Return whether JAX computed the value of what is known during tracing, such as shapes: of no argument."""
    traced = failure.traced
    if traced is None or traced.transform != "jit" or failure.vmapped or failure.nested:
        return False
    if traced.arguments or traced.unnamed:
        return False
    origins = [each.origin for each in failure.values if each.origin is not None]
    return not any(each.arguments and each.line != traced.line for each in origins)


def _without_conversion(failure: Failure, failing: Expression | None, name: str) -> str | None:
    """Return ``return x + 1`` for ``return float(x) + 1``: the value stays an array of the same number."""
    if failing is None or not isinstance(failing.statement, ast.Return) or not isinstance(failing.node, ast.Call):
        return None
    node = failing.node
    if name == "item" and isinstance(node.func, ast.Attribute) and not node.args and not node.keywords:
        kept = node.func.value
    elif name in ("float", "int") and len(node.args) == 1 and not node.keywords:
        kept = node.args[0]
    else:
        return None
    value = value_named(failure, ast.unparse(kept))
    if value is None or not isinstance(failing.parent, ast.Return | ast.BinOp):
        return None
    is_float, is_integer = value.type.startswith(("f", "bf")), value.type.startswith(("i", "u"))
    if name == "int" and is_float:
        kept = ast.Call(
            func=ast.Attribute(value=kept, attr="astype", ctx=ast.Load()), args=[ast.Name(id="int")], keywords=[]
        )
    elif not (name == "item" or (name == "float" and is_float) or (name == "int" and is_integer)):
        return None
    return failing.with_node(kept)
