"""Tells from the syntax whether jit can compile a function as it is, without static arguments."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import numpy as np

from .syntax import last_name, parameters

#: Statements and expressions of functions that do more than compute.
_NOT_PLAIN = (
    *(ast.BoolOp, ast.Match),
    *(ast.If, ast.IfExp, ast.While, ast.Try, ast.With, ast.Assert, ast.Raise, ast.Delete),
    *(ast.Yield, ast.YieldFrom, ast.Await, ast.Global, ast.Nonlocal),
)

#: Functions and modules that need values, and not what stands for them while JAX traces.
_OF_PYTHON = frozenset({
    "all", "any", "bool", "float", "int", "len", "math", "max", "min", "np", "numpy", "onp", "open", "print", "repr",
    "round", "sorted", "str",
})  # fmt: skip

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
    "linspace": (2, 3),
}

#: Keyword arguments that have to be known while JAX traces.
_STATIC_KEYWORDS = frozenset({"axis", "length", "num", "num_classes", "num_segments", "repeats", "reps", "shape"})


def computes_only(function: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    """Return whether a function seems to do nothing but compute, so that jit can trace it."""
    if isinstance(function, ast.AsyncFunctionDef) or any(
        last_name(_maker(e)) not in _KEEPING for e in function.decorator_list
    ):
        return False
    for each in ast.walk(function):
        if isinstance(each, _NOT_PLAIN):
            return False
        if isinstance(each, ast.Expr) and isinstance(each.value, ast.Call):  # called for its effect
            return False
        if isinstance(each, ast.Return) and _has_other(each.value):
            return False
        if isinstance(each, ast.comprehension) and each.ifs:
            return False
        if isinstance(each, ast.Subscript | ast.Attribute) and not isinstance(each.ctx, ast.Load):
            return False
        if isinstance(each, ast.Call):
            called = ast.unparse(each.func)
            if called.split(".")[0] in _OF_PYTHON:
                return False
            if called.endswith((".item", ".tolist")):
                return False
    return True


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


def takes_arrays(function: ast.FunctionDef | ast.AsyncFunctionDef, others: set[str]) -> bool:
    """Return whether all arguments of a function seem to be arrays, or pytrees of arrays, which jit can trace.

    Args:
        function: the function.
        others: the variables that are known to be something else.
    """
    given = parameters(function)
    if function.decorator_list or "self" in given or given & others:
        return False
    for node in ast.walk(function):
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in given:
                return False
            case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)) if name in given:
                if not hasattr(np.ndarray, method):
                    return False
            case ast.Slice(lower=lower, upper=upper, step=step):
                if any(_sizes(each) & given for each in (lower, upper, step) if each is not None):
                    return False
        if isinstance(node, ast.Call) and any(_sizes(each) & given for each in _static(node)):
            return False
    return True


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


def _sizes(node: ast.expr) -> set[str]:
    """Return the names whose values an expression reads, but not those of which it reads the shape."""
    if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size", "dtype"):
        return set()
    if isinstance(node, ast.Call) and last_name(node.func) == "len":
        return set()
    if isinstance(node, ast.Name):
        return {node.id}
    return {name for each in ast.iter_child_nodes(node) if isinstance(each, ast.expr) for name in _sizes(each)}
