"""Explains a traced value that was passed to NumPy, and an array that was indexed with a traced mask."""

from __future__ import annotations

import ast
from dataclasses import replace

from ....records.note import Note, note
from ...record.failing_code import Value
from ...record.failure import Failure
from ...record.finding import RuleFinding
from .conditions import explain_condition
from .expression import (
    ABOUT,
    Expression,
    call,
    expression_of,
    gets_traced,
    is_jax,
    spelled,
    value_named,
    with_imports,
)
from .known_values.size_use import sizes_in
from .known_values.sized_results import is_sized, write_sized
from .known_values.stored_number import stored_number
from .mask_rows import mask_remedy
from .numbers import explain_number
from .origin import error_finding
from .wrong_arguments.values.at_elements import stored

#: Functions that ``jax.numpy`` has under NumPy's name, with the same arguments and results.
# fmt: off
_SHARED = frozenset((
    "abs", "add", "all", "allclose", "any", "arccos", "arcsin", "arctan", "arctan2", "argmax", "argmin",
    "argsort", "asarray", "array", "broadcast_to", "clip", "concatenate", "cos", "cosh", "cross", "cumprod",
    "cumsum", "deg2rad", "diag", "diff", "divide", "dot", "einsum", "equal", "exp", "expm1", "eye", "flip",
    "floor", "full_like", "greater", "hstack", "hypot", "inner", "isfinite", "isnan", "kron", "less", "linspace",
    "log", "log10", "log1p", "log2", "logical_and", "logical_not", "logical_or", "matmul", "max", "maximum",
    "mean", "median", "min", "minimum", "mod", "moveaxis", "multiply", "negative", "ones_like", "outer", "pad",
    "power", "prod", "ravel", "reciprocal", "repeat", "reshape", "roll", "round", "sign", "sin", "sinh", "sort",
    "sqrt", "square", "squeeze", "stack", "std", "subtract", "sum", "swapaxes", "tan", "tanh", "tensordot",
    "tile", "trace", "transpose", "tril", "triu", "var", "vstack", "where", "zeros_like", "ceil", "expand_dims",
    "average", "convolve", "corrcoef", "cov", "interp", "nanmax", "nanmean", "nanmin", "nansum", "percentile",
    "quantile", "take", "trapezoid", "vdot", "absolute", "arccosh", "arcsinh", "arctanh", "array_split", "atleast_1d",
    "cbrt", "column_stack", "conj", "copysign", "count_nonzero", "degrees", "digitize", "dstack", "exp2", "fabs",
    "fliplr", "flipud", "floor_divide", "fmod", "full", "gradient", "greater_equal", "heaviside", "imag", "isclose",
    "isinf", "less_equal", "logaddexp", "logical_xor", "meshgrid", "nan_to_num", "nanstd", "nanvar", "not_equal",
    "ptp", "rad2deg", "radians", "real", "remainder", "rint", "rot90", "searchsorted", "select", "sinc", "split",
    "take_along_axis", "true_divide", "trunc", "unwrap", "bool_", "float16", "float32", "int8", "int16", "int32",
    "uint8", "uint32",
    *(f"linalg.{name}" for name in (
        "cholesky", "cond", "det", "eigh", "eigvalsh", "inv", "lstsq", "matrix_power", "matrix_rank", "norm", "pinv",
        "qr", "slogdet", "solve", "svd",
    )),
    *(f"fft.{name}" for name in (
        "fft", "fft2", "fftn", "fftshift", "ifft", "ifft2", "ifftn", "ifftshift", "irfft", "rfft",
    )),
))
# fmt: on

#: Those of them that take a list of arrays, or a list of sizes or axes; the others take arrays alone.
# fmt: off
_WITH_LISTS = frozenset((
    "array", "array_split", "asarray", "broadcast_to", "column_stack", "concatenate", "dstack", "einsum",
    "expand_dims", "flip", "full", "hstack", "moveaxis", "pad", "reshape", "roll", "select", "split", "squeeze",
    "stack", "tensordot", "tile", "transpose", "vstack",
))
# fmt: on

#: Keywords that mean the same in both.
_KEYWORDS = {"axis", "keepdims", "ddof"}

#: Keywords of NumPy's ``clip()`` that have other names in JAX.
_BOUNDS = {"a_min": "min", "a_max": "max"}

#: Functions that take the type of the result in both.
_WITH_DTYPE = "array", "asarray", "full", "full_like", "ones_like", "zeros_like", "sum", "mean", "prod", "cumsum"

#: Types that JAX has, too; 64 bits are an option of it.
_DTYPES = "float32", "float16", "int32", "int16", "int8", "uint8", "uint32", "bool", "bool_"

#: Methods of arrays with other arguments than the function of the same name.
_OWN_METHODS = "reshape", "transpose"

#: Statements and expressions with a condition.
_TESTING = ast.If | ast.While | ast.Assert | ast.IfExp

#: Expressions of which Python 3.12 and later do not say which part failed.
_COMPREHENSIONS = ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp


def explain_numpy(failure: Failure) -> RuleFinding:
    """Explain ``TracerArrayConversionError``."""
    failing = expression_of(failure)
    if _is_size_of_jax(failure, failing):
        return explain_number(replace(failure, kind="shape"))
    function, value = _need(failing), _converted(failure, failing)  # before the expression is rewritten
    if _is_traced_by_jax(failure, function):
        return error_finding(
            failure,
            found=note("doctor.error_own_argument", function=function),
            remedy=note("doctor.write_arguments", function=function),
        )
    remedy, code = _numpy_remedy(failure, failing)
    then = None if failing is None or remedy.kind != "doctor.write_functions" else _condition(failure, failing)
    if then is not None:
        remedy = replace(remedy, facts=remedy.facts | {"then": str(then.remedy or "")})
        code = None if remedy.facts["left"] or remedy.facts["other"] else then.code
    return error_finding(
        failure,
        found=note("doctor.error_numpy", function=function, type=failure.type or "", value=value),
        remedy=remedy,
        code=code,
    )


def _is_size_of_jax(failure: Failure, failing: Expression | None) -> bool:
    """Return whether a function of JAX gets a list with a traced size, of which it makes an array of NumPy."""
    called = _called(failing)
    return failing is not None and is_jax(failure, called) and bool(sizes_in(failure, failing))


def _is_traced_by_jax(failure: Failure, function: str) -> bool:
    """Return whether a function of JAX, which the failing line calls, has traced its own arguments."""
    return ("traced by", "jax") in failure.said and is_jax(failure, function)


def _called(failing: Expression | None) -> str:
    """Return what the failing expression calls, or an empty string."""
    return "" if failing is None else failing.called or ""


def _converted(failure: Failure, failing: Expression | None) -> str:
    """Return the argument that a function of NumPy or SciPy would make an array of; empty if it is not certain."""
    node = None if failing is None else failing.node
    if failing is None or not isinstance(node, ast.Call) or failure.type is None:
        return ""
    traced = [each for each in node.args if gets_traced(failure, failing, each)]
    if len(traced) != 1 or not (failure.detail or "").startswith(("numpy.", "scipy.")):
        return ""
    value = value_named(failure, ast.unparse(traced[0]))
    known = isinstance(traced[0], ast.BinOp) if value is None else value.type == failure.type
    keywords = any(gets_traced(failure, failing, each.value) for each in node.keywords)
    return ast.unparse(traced[0]) if known and not keywords else ""


def _need(failing: Expression | None) -> str:
    """Return what needs a NumPy array: a function, or the array that is indexed."""
    if failing is not None and isinstance(failing.node, ast.Subscript):
        return ast.unparse(failing.node)
    return _called(failing)


def _numpy_remedy(failure: Failure, failing: Expression | None) -> tuple[Note, str | None]:
    called = _called(failing)
    full, jnp = failure.detail or "", spelled(failure, "jax.numpy")
    name = full.removeprefix("numpy.")
    after = stored_number(failure, failing, called) if full in ("numpy.asarray", "numpy.array") else None
    if after is not None:
        return after, None
    node = None if failing is None else failing.node
    of_numpy = full.startswith("numpy.")
    if failing is not None and of_numpy and isinstance(node, ast.Call) and is_sized(failure, failing, node, name):
        return write_sized(failure, failing, f"{jnp}.{name}", name, replaced=called), None
    if failing is not None and of_numpy and name in _SHARED:
        return _all_replaced(failure, failing, jnp)
    if full.startswith("numpy.random.") or called.startswith(f"{spelled(failure, 'numpy')}.random."):
        return note("doctor.write_random", function=called, jax=spelled(failure, "jax")), None
    if full.startswith("scipy."):
        return note("doctor.write_scipy", function=called, twin=dict(failure.said).get("twin", "")), None
    if failure.library is not None and not full:
        return note("doctor.write_library", function=called or failure.library.function), None
    if failing is not None and isinstance(failing.node, ast.Subscript) and isinstance(failing.node.ctx, ast.Store):
        return stored(failure, failing, failing.node)
    if failing is not None and isinstance(failing.node, ast.Subscript) and (failure.type or "").startswith("bool"):
        return mask_remedy(failure, ast.unparse(failing.node.value), failing.node.slice), None
    if failing is not None and isinstance(failing.node, ast.Subscript):
        if isinstance(failing.node.ctx, ast.Store):
            return note("doctor.write_stored", array=ast.unparse(failing.node.value), jnp=jnp), None
        return note("doctor.write_indexed_array", array=ast.unparse(failing.node.value), jnp=jnp), None
    if failing is not None and isinstance(failing.node, _COMPREHENSIONS):
        remedy, code = _all_replaced(failure, failing, jnp)
        if remedy.facts["functions"]:
            return remedy, code
    return note("doctor.write_no_numpy", jnp=jnp), None


def _all_replaced(failure: Failure, failing: Expression, jnp: str) -> tuple[Note, str | None]:
    """Replace the functions of NumPy, and the methods of its arrays, that get traced values in the failing statement.

    There is no code if one of them cannot be replaced: it would fail next.
    """
    failure = _with_converted(failure, failing)
    named = {text: full for text, full in failure.said if full.startswith(("numpy.", "scipy."))}
    functions: dict[str, str] = {}
    left: dict[str, None] = {}
    other: dict[str, None] = {}
    complete = True
    for each in _inner_first(failing.statement):
        if not isinstance(each, ast.Call) or not gets_traced(failure, failing, each):
            continue
        text = ast.unparse(each.func)
        module, _, own = named.get(text, "").partition(".")
        text = text.replace(", ", ",")  # it is one of a list
        complete = complete and not _needs_number(each) and not _is_method_of_made(failure, failing, each, named)
        if not module or own in ABOUT:
            continue
        method = own.removeprefix("ndarray.") if own.startswith("ndarray.") else ""
        function = method or own
        if module != "numpy" or function not in _SHARED or method in _OWN_METHODS:
            left[text] = None
            continue
        functions[text] = f"{jnp}.{function}"
        other |= {functions[text]: None} if not all(_is_shared(function, one) for one in each.keywords) else {}
        given = _given(failure, each, function, jnp)
        complete = complete and given is not None and not is_sized(failure, failing, each, function, bool(method))
        if given is not None:
            owner = [each.func.value] if method and isinstance(each.func, ast.Attribute) else []
            each.func, each.args = call(f"{jnp}.{function}").func, [*owner, *given]
    code = failing.with_node(failing.node) if complete and not left and isinstance(failing.node, ast.expr) else None
    random = [text for text, full in named.items() if full.startswith("numpy.random.")]
    code = None if code is None or random else with_imports(failure, code, "jax.numpy")
    remedy = note(
        "doctor.write_functions",
        functions=", ".join(functions),
        replacements=", ".join(functions.values()),
        left=", ".join(left),
        other=", ".join(other),
        random=", ".join(random),
    )
    return remedy, code


def _with_converted(failure: Failure, failing: Expression) -> Failure:
    """Add the variable that NumPy was to convert, if its value is unknown, as that of a comprehension that has ended.

    It has no type: it may be a list of traced values.
    """
    names: list[ast.expr] = []
    match failing.node:
        case ast.Call(args=[name], keywords=[]):
            names = [name]
        case ast.ListComp(generators=parts) | ast.SetComp(generators=parts) | ast.GeneratorExp(generators=parts):
            names = [each.target for each in parts if gets_traced(failure, failing, each.iter)]
    new = [each.id for each in names if isinstance(each, ast.Name) and value_named(failure, each.id) is None]
    return replace(failure, values=(*failure.values, *(Value(name=each, type="") for each in new)))


def _condition(failure: Failure, failing: Expression) -> RuleFinding | None:
    """Explain the condition that the failing expression decides, of which functions of JAX make a traced value.

    The statement has them already.
    """
    statement = failing.statement
    tests = [each for each in ast.walk(statement) if isinstance(each, _TESTING)]
    found = [each for each in tests if any(part is failing.node for part in ast.walk(each.test))]
    if not found or not gets_traced(failure, failing, found[-1].test):
        return None
    calls = [each for each in ast.walk(found[-1].test) if isinstance(each, ast.Call)]
    called = [each.func.id for each in calls if isinstance(each.func, ast.Name)]
    if any(map(_needs_number, calls)) or {*called} - {"len"}:  # it may fail there before
        return None
    following = [] if failing.other_return is None else [failing.other_return]
    text = "\n".join(map(ast.unparse, [statement, *following]))
    place = [*ast.walk(statement)].index(found[-1])
    return explain_condition(replace(failure, kind="bool", statement=text, node=place, type="bool[]", library=None))


def _is_method_of_made(failure: Failure, failing: Expression, node: ast.Call, named: dict[str, str]) -> bool:
    """Return whether a call is of a method of an array that NumPy made of other values, as in ``np.ones(3).dot``."""
    owner = node.func.value if isinstance(node.func, ast.Attribute) else None
    made = isinstance(owner, ast.Call) and ast.unparse(owner.func) in named
    return made and owner is not None and not gets_traced(failure, failing, owner)


def _inner_first(statement: ast.AST) -> list[ast.AST]:
    """Return the nodes of a statement, each behind those inside of it."""
    return [*(part for each in ast.iter_child_nodes(statement) for part in _inner_first(each)), statement]


def _given(failure: Failure, node: ast.AST, name: str, jnp: str) -> list[ast.expr] | None:
    """Return the arguments for the function of ``jax.numpy``, with arrays in place of lists; ``None`` if unknown."""
    if not isinstance(node, ast.Call) or not all(_is_shared(name, each) for each in node.keywords):
        return None
    for each in node.keywords:
        each.arg = _BOUNDS.get(each.arg or "", each.arg)
    if name in _WITH_LISTS:
        return node.args
    first = node.args[0] if node.args else None
    value = value_named(failure, first.id) if isinstance(first, ast.Name) else None
    unknown = isinstance(first, ast.Name) and len(node.args) == 1 and (value is None or not value.type)
    if isinstance(first, ast.GeneratorExp) or unknown:
        return None  # it may be a list
    lists = ast.List | ast.ListComp
    return [call(f"{jnp}.array", each) if isinstance(each, lists) else each for each in node.args]


def _is_shared(name: str, keyword: ast.keyword) -> bool:
    """Return whether a keyword of a function means the same in NumPy and in JAX."""
    if keyword.arg == "dtype":
        return name in _WITH_DTYPE and ast.unparse(keyword.value).strip("'").rpartition(".")[2] in _DTYPES
    return keyword.arg in _KEYWORDS or (name == "clip" and keyword.arg in (*_BOUNDS, *_BOUNDS.values()))


def _needs_number(node: ast.Call) -> bool:
    """Return whether a call makes a Python number: it would fail next."""
    text = ast.unparse(node.func)
    return text in ("float", "int", "bool", "complex") or text.rpartition(".")[2] in ("item", "tolist")
