"""Finds the call whose program failed, and compiles it again without running any code for it."""

from __future__ import annotations

import ast
from types import FrameType, ModuleType
from typing import Any, NamedTuple

from .....runtime.around import is_exactly
from .....runtime.executed_programs import Origin
from .....runtime.functions import compiled_for
from .....runtime.tracing import is_tracer
from ...remedies.compiled.calls import Call, abstract
from ..calls import is_missing, value_of, wrapped_function
from ..libraries.jitted import jits_itself
from ..statement import Place


class FailedCall(NamedTuple):
    """A call of a jitted function.

    Attributes:
        jitted: the function.
        args: its positional arguments.
        kwargs: its arguments by keyword.
        plain: the call as one of ``jax.jit``; ``None`` where a library converts the arguments before.
    """

    jitted: Any
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    plain: Call | None

    def compiled(self) -> tuple[Any, Origin]:
        """Compile its program again, which does not run; return it with its origin."""
        if self.plain is None:
            return compiled_for(self.jitted, self.args, self.kwargs)
        return compiled_for(self.jitted, abstract(self.args), abstract(self.kwargs))


def failed_call(place: Place, frame: FrameType) -> FailedCall:
    """Return the call of the jitted function at which a frame stopped.

    Raises:
        LookupError: there is none, or an argument cannot be known without running code.
    """
    node = place.node
    if not isinstance(node, ast.Call) or (isinstance(node.func, ast.Attribute) and _is_method(node.func, frame)):
        raise LookupError
    jitted = value_of(node.func, frame)
    of_library = jits_itself(jitted)
    if wrapped_function(jitted) is None and not of_library:
        raise LookupError
    args = tuple(_value(each, frame) for each in node.args)
    kwargs = {str(each.arg): _value(each.value, frame) for each in node.keywords if each.arg}
    if len(kwargs) < len(node.keywords) or any(map(is_tracer, _leaves((args, kwargs)))):
        raise LookupError
    try:
        return FailedCall(jitted, args, kwargs, None if of_library else Call.of(jitted, args, kwargs))
    except (TypeError, ValueError):
        raise LookupError from None


def _is_method(node: ast.Attribute, frame: FrameType) -> bool:
    """Return whether a call may pass an object by itself, so that its arguments are not those that are written."""
    return not is_exactly(value_of(node.value, frame), ModuleType)


def _value(node: ast.expr, frame: FrameType) -> Any:
    """Return the value of an argument without running code.

    Raises:
        LookupError: that is impossible.
    """
    if isinstance(node, ast.Tuple | ast.List):
        values = [_value(each, frame) for each in node.elts]
        return tuple(values) if isinstance(node, ast.Tuple) else values
    if isinstance(node, ast.Dict) and all(isinstance(each, ast.Constant) for each in node.keys):
        return {
            key.value: _value(value, frame)
            for key, value in zip(node.keys, node.values, strict=True)
            if isinstance(key, ast.Constant)
        }
    if is_missing(found := value_of(node, frame)):
        raise LookupError
    return found


def _leaves(value: Any) -> list[Any]:
    import jax

    return list(jax.tree.leaves(value))
