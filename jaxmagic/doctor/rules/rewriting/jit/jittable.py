"""Tells from the syntax whether jit can compile a function as it is."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Set

import numpy as np

from ..meanings import Paths, path_at
from ..syntax import last_name, parameters, stored
from .counted_names import counted_names, values_read
from .type_tests import names_beside, same_under_jit

#: Statements and expressions of functions that do more than compute.
_NOT_PLAIN = (
    *(ast.BoolOp, ast.Match),
    *(ast.If, ast.IfExp, ast.While, ast.Try, ast.With, ast.Assert, ast.Raise, ast.Delete),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal),
)

#: Functions that need values, and not what stands for them while JAX traces.
_OF_PYTHON = frozenset({
    "all", "any", "bool", "chr", "complex", "float", "format", "hash", "int", "isinstance", "max", "min", "open",
    "ord", "print", "repr", "round", "sorted", "str",
})  # fmt: skip

#: Packages whose functions need values.
ON_VALUES = "math", "numpy", "scipy"

#: Methods of containers of arrays that only read them.
_READING = frozenset({"copy", "get", "items", "keys", "values"})

#: Decorators of functions that are traced like others.
_KEEPING = frozenset({"checkpoint", "custom_jvp", "custom_vjp", "grad", "remat", "value_and_grad", "vmap"})

#: The positional arguments, from one to another, that have to be known while JAX traces.
_STATIC_FROM: dict[str, tuple[int, int | None]] = {
    **dict.fromkeys(("arange", "eye", "range"), (0, None)),
    **dict.fromkeys(("empty", "full", "identity", "ones", "zeros"), (0, 1)),
    **dict.fromkeys(
        ("array_split", "broadcast_to", "one_hot", "repeat", "reshape", "split", "tile", "top_k"), (1, 2)
    ),
    **dict.fromkeys(("bernoulli", "normal", "uniform", "randint"), (1, 2)),
    **dict.fromkeys(("dynamic_slice", "dynamic_slice_in_dim", "linspace"), (2, 3)),
}

#: Keyword arguments that have to be known while JAX traces.
_STATIC_KEYWORDS = frozenset({"axis", "length", "num", "num_classes", "num_segments", "repeats", "reps", "shape"})


def computes_only(
    function: ast.FunctionDef | ast.AsyncFunctionDef,
    paths: Paths,
    static: Set[str] = frozenset(),
    *,
    nnx: bool = False,
    arrays: Set[str] = frozenset(),
) -> bool:
    """Return whether a function seems to do nothing but compute, so that jit can trace it.

    Args:
        function: the function.
        paths: what its names stand for.
        static: the parameters that jit knows: it may decide by them.
        nnx: whether ``nnx.jit`` keeps what is changed in its arguments.
        arrays: the variables that are known to be arrays of JAX or containers: it may decide by their types.
    """
    if isinstance(function, ast.AsyncFunctionDef) or any(
        (last_name(_maker(e)) or "").removeprefix("filter_") not in _KEEPING for e in function.decorator_list
    ):
        return False
    own = static & parameters(function) - stored(function.body)
    own |= counted_names(function, own)
    calls = [each for each in ast.walk(function) if isinstance(each, ast.Call)]
    settled = {id(each) for each in calls if same_under_jit(each, paths, arrays | own)}
    raising = _raising(function, own, settled)
    for each in ast.walk(function):
        if id(each) in settled or id(each) in raising:
            continue
        if isinstance(each, _NOT_PLAIN) and not _is_decided(each, own, settled):
            return False
        called = each.value if isinstance(each, ast.Expr) else None  # for its effect
        if isinstance(called, ast.Call) and not (nnx and _is_kept(called, function, paths)):
            return False
        if isinstance(each, ast.Return) and _has_other(each.value):
            return False
        if isinstance(each, ast.comprehension) and not all(_is_known(test, own, settled) for test in each.ifs):
            return False
        if isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            return False
        if isinstance(each, ast.Call):
            if path_at(each.func, paths).partition(".")[0] in (*_OF_PYTHON, *ON_VALUES):
                return False
            if any(_needs_values(path_at(argument, paths)) for argument in each.args if _is_path(argument)):
                return False
            if ast.unparse(each.func).endswith((".item", ".tolist")):
                return False
    return True


def _is_decided(node: ast.AST, static: Set[str], settled: Set[int]) -> bool:
    """Return whether static parameters, or types, alone decide what a statement or an expression does."""
    match node:
        case ast.If(test=test) | ast.IfExp(test=test):
            pass
        case ast.Assert(test=test):
            static = frozenset()
        case ast.BoolOp() as test:
            pass
        case _:
            return False
    return _is_known(test, static, settled)


def _is_known(test: ast.expr, static: Set[str], settled: Set[int]) -> bool:
    names = names_beside(test, settled)
    types = any(id(each) in settled for each in ast.walk(test))
    return names is not None and names <= static and bool(names or types)


def _raising(function: ast.AST, static: Set[str], settled: Set[int]) -> set[int]:
    """Return the identities of the nodes that raise if a type is wrong, which they do before jit as well."""
    decided = [
        each
        for each in ast.walk(function)
        if isinstance(each, ast.If) and settled and _is_decided(each, static, settled)
    ]
    raising = [inner for each in decided for inner in (*each.body, *each.orelse) if isinstance(inner, ast.Raise)]
    return {id(node) for each in raising for node in ast.walk(each)}


def _is_kept(call: ast.Call, function: ast.FunctionDef, paths: Paths) -> bool:
    """Return whether a call changes what ``nnx.jit`` keeps: an object that the function gets."""
    owner = call.func.value if isinstance(call.func, ast.Attribute) else None
    path = path_at(call.func, paths)
    return path == "flax.nnx.update" or (isinstance(owner, ast.Name) and owner.id in parameters(function))


def _is_path(node: ast.expr) -> bool:
    return isinstance(node, ast.Name | ast.Attribute)


def _needs_values(path: str) -> bool:
    """Return whether a path is that of a function of NumPy, which may be passed on to be called with arrays."""
    package, _, name = path.partition(".")
    value = getattr(np, name, None) if package == "numpy" else None
    return callable(value) and not isinstance(value, type)


def _has_other(returned: ast.expr | None) -> bool:
    """Return whether a result has something in it that jit cannot return, as far as its syntax tells."""
    match returned:
        case ast.Constant(value=str() | bytes()) | ast.Lambda() | ast.Attribute(attr="dtype" | "device"):
            return True
        case ast.Call(func=ast.Name(id=name)):
            return name[0].isupper()
        case ast.Tuple(elts=parts) | ast.List(elts=parts) | ast.Dict(values=parts):
            return any(map(_has_other, parts))
    return False


def _maker(decorator: ast.expr) -> ast.expr:
    return decorator.func if isinstance(decorator, ast.Call) else decorator


def takes_arrays(
    function: ast.FunctionDef | ast.AsyncFunctionDef, others: Set[str], known: Set[str] = frozenset()
) -> bool:
    """Return whether all arguments of a function seem to be arrays, or pytrees of arrays, which jit can trace.

    Args:
        function: the function.
        others: the variables that are known to be something else.
        known: the parameters that need not be arrays, as static ones and modules.
    """
    given = parameters(function)
    data = given - known
    if function.decorator_list or "self" in given or data & others:
        return False
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in data:
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in data:
                if not hasattr(np.ndarray, method) and method not in _READING:
                    return False
            case ast.Call(func=called, args=[ast.Name(id=name), *_]) if name in data and _takes_function(called):
                return False
            case ast.Attribute(value=ast.Name(id=name), attr="name" | "value") if name in data:  # of an enumeration
                return False
    return not has_sizes(function, data)


def _takes_function(called: ast.expr) -> bool:
    name = last_name(called) or ""
    return name.removeprefix("filter_") in _KEEPING or name in ("jit", "filter_jit", "scan")


def has_sizes(function: ast.FunctionDef | ast.AsyncFunctionDef, data: Set[str]) -> bool:
    """Return whether a function uses some of its parameters as sizes, or as what else jit has to know."""
    for node in ast.walk(function):
        match node:
            case ast.Slice(lower=lower, upper=upper, step=step):
                if any(values_read(each) & data for each in (lower, upper, step) if each is not None):
                    return True
            case ast.Call():
                if any(values_read(each) & data for each in _static(node)):
                    return True
    return False


def counts_to(function: ast.FunctionDef | ast.AsyncFunctionDef, data: Set[str]) -> str:
    """Return the first ``range()`` of a function that reads one of some parameters; empty if there is none.

    >>> counts_to(ast.parse("def f(n): return [jnp.ones(3) for _ in range(1, n)]").body[0], {"n"})
    'range(1, n)'
    """
    calls = (each for each in ast.walk(function) if isinstance(each, ast.Call) and last_name(each.func) == "range")
    return next((ast.unparse(each) for each in calls if any(values_read(part) & data for part in each.args)), "")


def decides_by(function: ast.FunctionDef | ast.AsyncFunctionDef, data: Set[str]) -> bool:
    """Return whether a function decides by the values of some of its parameters."""
    tests = (
        each.test for each in ast.walk(function) if isinstance(each, ast.If | ast.IfExp | ast.While | ast.Assert)
    )
    return any(values_read(each) & data for each in tests)


def _static(node: ast.Call) -> Iterator[ast.expr]:
    """Yield the arguments of a call that have to be known while JAX traces."""
    name = last_name(node.func) or ""
    yield from (each.value for each in node.keywords if each.arg in _STATIC_KEYWORDS)
    if name in _STATIC_FROM:
        is_method = isinstance(node.func, ast.Attribute) and name in ("reshape", "repeat")
        owner = node.func.value if isinstance(node.func, ast.Attribute) else None
        of_module = isinstance(owner, ast.Name) and owner.id in ("jnp", "jax", "lax")
        first, last = _STATIC_FROM[name]
        yield from node.args[0 if is_method and not of_module else first : last]
