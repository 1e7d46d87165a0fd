"""Finds calls of jitted functions in the code, and compiles them for the types of their arguments."""

from __future__ import annotations

import ast
import inspect
import types
import warnings
from collections import OrderedDict
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from functools import partial
from typing import Any, NamedTuple

from .....memory_use.capture.executables import need_of
from .....runtime.around import is_exactly
from .....runtime.copies import unguarded
from .....runtime.functions import is_jitted
from ..tried_code import TriedCode

#: Larger arrays are not made for a trial.
_MOST_MADE_BYTES = 2**28


class Call(NamedTuple):
    """A call of a jitted function in the code.

    Attributes:
        function: the function.
        arguments: its arguments, by the names of the parameters, in their order.
        keywords: the parameters whose arguments are given by keyword.
    """

    function: Any
    arguments: dict[str, Any]
    keywords: frozenset[str] = frozenset()

    @classmethod
    def of(cls, function: Any, args: Iterable[Any], kwargs: Mapping[str, Any]) -> Call:
        """Return the call of a function with some arguments.

        Raises:
            TypeError: the function cannot be called so.
        """
        arguments = dict(inspect.signature(function).bind(*args, **kwargs).arguments)
        return cls(function, arguments, frozenset(kwargs).intersection(arguments))

    @property
    def own(self) -> Any:
        """The user's function inside the jitted one; ``None`` if it is unknown."""
        return getattr(self.function, "__wrapped__", None)

    def traced(self) -> dict[str, Any]:
        """Return the arguments that consist of arrays, with types and shapes in their place."""
        import jax

        every = {name: abstract(value) for name, value in self.arguments.items()}
        return {name: value for name, value in every.items() if all(map(_is_abstract, jax.tree.leaves(value)))}

    def prepared(self, function: Callable[..., Any]) -> tuple[Callable[..., Any], dict[str, Any]]:
        """Return how to call `function` with the rest of the arguments, and those that it is then compiled for."""
        given = self.traced()
        return self.taking(given, function), given

    def values(self, names: Collection[str]) -> dict[str, Any]:
        """Return some arguments as they were passed; their arrays may be deleted by now."""
        return {name: self.arguments[name] for name in names}

    def in_order(self, names: Collection[str]) -> list[str]:
        """Return some parameters in the order of their arrays in the program: JAX sorts keywords."""
        by_keyword = sorted(self.keywords.intersection(names))
        return [*(each for each in self.arguments if each in names and each not in self.keywords), *by_keyword]

    def taking(self, names: Collection[str], function: Any) -> Callable[..., Any]:
        """Return a function that takes some arguments in dictionaries, and calls `function` with these and the rest.

        The rest are no arrays, and may be static.
        """
        signature = inspect.signature(function)
        rest = {name: value for name, value in self.arguments.items() if name not in names}

        def called(*given: dict[str, Any]) -> Any:
            both = {name: value for each in (*given, rest) for name, value in each.items()}
            bound = inspect.BoundArguments(signature, OrderedDict((name, both[name]) for name in self.arguments))
            return function(*bound.args, **bound.kwargs)

        return called


def jitted_calls(code: TriedCode) -> Iterator[Call]:
    """Yield the calls of jitted functions whose arguments are known without running any code of the user."""
    tree = code.tree
    for node in () if tree is None else ast.walk(tree):
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Name):
            continue
        function: Any = code.variables.get(node.func.id)
        if not is_jitted(function):
            continue
        try:
            args = [_value(each, code.variables) for each in node.args]
            kwargs = {str(each.arg): _value(each.value, code.variables) for each in node.keywords if each.arg}
            if len(kwargs) == len(node.keywords):
                yield Call.of(function, args, kwargs)
        except (LookupError, TypeError, ValueError, RuntimeError):  # such as an array that was deleted
            continue


def _value(node: ast.expr, variables: Mapping[str, Any]) -> Any:
    """Return the value of a name, a literal, an item of a container of Python's own, or an array made of such.

    Raises:
        LookupError: it is anything else, or does not exist.
    """
    match node:
        case ast.Name():
            return variables[node.id]
        case ast.Constant() | ast.UnaryOp():
            return ast.literal_eval(node)
        case ast.Attribute():
            module = _value(node.value, variables)
            if is_exactly(module, types.ModuleType):
                return vars(module)[node.attr]
        case ast.Call() if all(each.arg for each in node.keywords):
            args = [_value(each, variables) for each in node.args]
            options = {str(each.arg): _value(each.value, variables) for each in node.keywords}
            return _made(_value(node.func, variables), args, options)
        case ast.Tuple() | ast.List():
            values = [_value(each, variables) for each in node.elts]
            return tuple(values) if isinstance(node, ast.Tuple) else values
        case ast.Subscript(slice=ast.Constant(value=key)):
            held = _value(node.value, variables)
            if type(held) in (dict, list, tuple):
                return held[key]
    raise LookupError


def _made(function: Any, args: list[Any], options: dict[str, Any]) -> Any:
    """Return the array that one of JAX's functions makes.

    Raises:
        LookupError: it is another function, or the array is large.
    """
    import jax

    if not any(function is getattr(module, name) for module, names in _making() for name in names):
        raise LookupError
    made = jax.tree.leaves(jax.eval_shape(lambda: function(*args, **options)))
    if sum(each.size * each.dtype.itemsize for each in made) > _MOST_MADE_BYTES:
        raise LookupError
    return unguarded(partial(function, *args, **options))


def _making() -> Iterator[tuple[types.ModuleType, Collection[str]]]:
    """Yield the modules of JAX with their functions that make an array and do nothing else."""
    import jax

    yield jax.numpy, ("arange", "array", "asarray", "eye", "full", "identity", "linspace", "ones", "zeros")
    yield jax.numpy, ("full_like", "ones_like", "zeros_like")
    yield jax.random, ("PRNGKey", "key", "normal", "uniform")


def need_with(call: Call, donated: tuple[str, ...]) -> int | None:
    """Return the bytes that a call needs on a device if some arguments are donated; it is compiled, and does not run.

    XLA pairs each donated array with the first result of its size, so the arguments have to stay in their order.
    Arguments that are no arrays stay as they are, and may be static.
    """
    return need_of(program_with(call, donated).compiled.runtime_executable()).peak_bytes


class ProgramWith(NamedTuple):
    """The program of a call in which some arguments are donated.

    Attributes:
        compiled: the program.
        names: the parameters for which it takes arrays, in their order.
        computes: whether it does nothing but compute when it runs.
    """

    compiled: Any
    names: tuple[str, ...]
    computes: bool


def program_with(call: Call, donated: Collection[str]) -> ProgramWith:
    """Compile a call in which some arguments are donated."""
    import jax

    traced = call.traced()
    names = call.in_order(traced)
    positions = [number for number, name in enumerate(names) if name in donated]
    taking = call.taking(names, call.function)

    def called(*values: Any) -> Any:
        return taking(dict(zip(names, values, strict=True)))

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that a donated buffer is not usable shows in the bytes
        seen = jax.jit(called, donate_argnums=positions).trace(*(traced[each] for each in names))
        return ProgramWith(seen.lower().compile(), tuple(names), not seen.jaxpr.effects)


def abstract(value: Any) -> Any:
    """Return a pytree with types and shapes in place of its arrays, which may be deleted by now."""
    import jax

    return jax.tree.map(_abstract, value)


def _abstract(value: Any) -> Any:
    import jax

    if isinstance(value, jax.ShapeDtypeStruct):
        return value
    if isinstance(value, jax.Array):
        sharding = value.sharding if getattr(value, "_committed", True) else None
        return jax.ShapeDtypeStruct(value.shape, value.dtype, sharding=sharding)
    if hasattr(value, "shape") and hasattr(value, "dtype"):
        return jax.ShapeDtypeStruct(value.shape, value.dtype)
    return value


def _is_abstract(value: Any) -> bool:
    """Return whether a leaf stands in place of an array."""
    import jax

    return isinstance(value, jax.ShapeDtypeStruct)
