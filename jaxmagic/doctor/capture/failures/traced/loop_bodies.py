"""Finds the operation inside a loop or a branch that returned the first NaN, by computing its equations one by one.

The values are those of the failing call, and nothing of the user's code runs: only what JAX has traced of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from types import FrameType, MappingProxyType
from typing import Any, NamedTuple

import numpy as np

from .....records.call_stack import Frame
from .....runtime.clock import Clock, now_ns
from .....runtime.tracing import Applied, applied_in, count_equations, line_of, results_of, sizes_of_scan
from ....analysis.failures.messages import is_jax_file
from ...frames import known

#: The steps of a loop after its first one, which compiles, are computed for at most this long.
_LONGEST_NS = 2 * 10**9

#: A longer body is not compiled once more.
_MOST_EQUATIONS = 500

#: Operations with bodies of their own.
_LOOPS = "scan", "while", "cond"

#: The functions of JAX that apply them; the outermost is what was called.
_FUNCTIONS = frozenset({"cond", "fori_loop", "map", "scan", "switch", "while_loop"})

#: Operations that only evaluate the jaxpr in one of their parameters.
_CALLS = {
    **dict.fromkeys(("pjit", "jit", "remat2", "checkpoint", "remat"), "jaxpr"),
    **dict.fromkeys(("closed_call", "core_call", "custom_jvp_call", "custom_vjp_call"), "call_jaxpr"),
}


class FirstNan(NamedTuple):
    """The operation that returned the first NaN from which one in the result comes.

    Attributes:
        operation: its name.
        line: the line that applies it.
        loop: the function of JAX that was called for the outermost loop or branch, such as ``"fori_loop"``.
        step: the number of the first step of this loop whose results have NaN, from 1; 0 in a branch.
        number: what this step has as its own number: in ``fori_loop`` the value that the body gets first, in ``scan``
            and ``map`` the index into what is scanned; ``None`` if there is none.
        length: how many steps ``scan`` and ``map`` have; ``None`` for others.
    """

    operation: str
    line: Frame
    loop: str
    step: int
    number: int | None
    length: int | None


class _Unknown(Exception):
    """It cannot be told, or not in the time."""


def first_nan(
    frames: Sequence[FrameType], *, infinite: bool, longest_ns: int = _LONGEST_NS, clock: Clock = now_ns
) -> FirstNan | None:
    """Return the operation inside the loop or branch that JAX applied last; ``None`` if that cannot be told.

    Args:
        frames: the calls of the traceback.
        infinite: whether infinity is looked for, and not NaN.
        longest_ns: how long the steps after the first one may be computed in each loop.
        clock: the clock.
    """
    applied = applied_in(frames)
    if applied is None or applied.name not in _LOOPS:
        return None
    try:
        step, inputs, equation = _Search(infinite, longest_ns, clock).inside(applied)
    except Exception:
        return None
    place = line_of(equation)
    if place is None:
        return None
    function, file, line = place
    named = known(Frame(function=function, file=file, line=line))
    assert named is not None
    loop = _called(frames) or applied.name
    number, length = _number(loop, applied, step, inputs)
    return FirstNan(str(equation.primitive.name), named, loop, step, number, length)


def _called(frames: Sequence[FrameType]) -> str:
    """Return the function of JAX for loops and branches that was called last from outside; empty if unknown."""
    called = ""
    for frame in reversed(frames):
        file, name = frame.f_code.co_filename.replace("\\", "/"), frame.f_code.co_name
        if not is_jax_file(file):
            break
        if name in _FUNCTIONS and "/lax/control_flow/" in file:
            called = name
    return called


def _number(loop: str, applied: Applied, step: int, inputs: Sequence[Any]) -> tuple[int | None, int | None]:
    """Return the number that a step has in the user's terms, and how many steps there are if these are indices."""
    params = applied.params
    if loop == "fori_loop" and applied.name in ("scan", "while"):
        counter = inputs[sizes_of_scan(params)[0] if applied.name == "scan" else params["body_nconsts"]]
        return (None, None) if getattr(counter, "shape", ()) else (int(counter), None)
    if applied.name == "scan":
        length = int(params["length"])
        return (length - step if params["reverse"] else step - 1), length
    return None, None


class _Search:
    """Computes jaxprs, and follows NaN back to the equation that made it."""

    def __init__(self, infinite: bool, longest_ns: int, clock: Clock) -> None:
        self._infinite = infinite
        self._longest_ns = longest_ns
        self._clock = clock

    def inside(self, applied: Applied) -> tuple[int, list[Any], Any]:
        """Return the step whose results have the first NaN, its inputs, and the equation that made it."""
        deadline_ns = None
        for step, (body, inputs, outputs) in enumerate(_steps(applied), 1):
            if self._is_bad(inputs) or (deadline_ns is not None and self._clock() > deadline_ns):
                raise _Unknown
            if self._is_bad(outputs()):
                return 0 if applied.name == "cond" else step, inputs, self._origin(body, inputs)
            deadline_ns = deadline_ns or self._clock() + self._longest_ns
        raise _Unknown

    def _origin(self, body: Any, inputs: Sequence[Any], made: Mapping[int, Any] = MappingProxyType({})) -> Any:
        """Return the equation that made the NaN in the results of a jaxpr.

        Args:
            body: the jaxpr.
            inputs: its inputs.
            made: the equations that made the NaN in some inputs, by their number.
        """
        jaxpr = getattr(body, "jaxpr", body)
        values = dict(zip([*jaxpr.constvars, *jaxpr.invars], [*getattr(body, "consts", ()), *inputs], strict=True))
        origins = {jaxpr.invars[number]: each for number, each in made.items()}
        for equation in jaxpr.eqns:
            given = [each.val if hasattr(each, "val") else values[each] for each in equation.invars]
            results = _jitted(partial(results_of, equation))(given)
            values |= zip(equation.outvars, results, strict=True)
            if self._is_bad(results):
                before = {
                    number: origins[each]
                    for number, each in enumerate(equation.invars)
                    if not hasattr(each, "val") and each in origins
                }
                origin = self._made(equation, given, before)
                pairs = zip(equation.outvars, results, strict=True)
                origins |= {each: origin for each, value in pairs if self._is_bad([value])}
        return next(origins[each] for each in jaxpr.outvars if not hasattr(each, "val") and each in origins)

    def _made(self, equation: Any, given: Sequence[Any], before: Mapping[int, Any]) -> Any:
        """Return the equation that made the NaN in the results of an equation: before it, inside it, or itself."""
        name = str(equation.primitive.name)
        if name in _CALLS:
            return self._origin(equation.params[_CALLS[name]], given, before)
        if len({id(each) for each in before.values()}) > 1 and name == "select_n":
            raise _Unknown  # either of them
        if before:
            return next(iter(before.values()))
        return self.inside(Applied(name, tuple(given), equation.params))[2] if name in _LOOPS else equation

    def _is_bad(self, values: Sequence[Any]) -> bool:
        import jax.numpy as jnp

        test = jnp.isinf if self._infinite else jnp.isnan
        return any(bool(test(each).any()) for each in values if jnp.issubdtype(jnp.result_type(each), jnp.inexact))


_Step = tuple[Any, list[Any], Callable[[], list[Any]]]


def _steps(applied: Applied) -> Iterator[_Step]:
    """Yield the body of each step of a loop, its inputs, and a function that computes its results."""
    params, args = applied.params, list(applied.args)
    if applied.name == "cond":
        branches = params["branches"]
        body = _checked(branches[min(max(int(args[0]), 0), len(branches) - 1)])
        yield body, args[1:], lambda: _compiled(body)(*args[1:])
    elif applied.name == "scan":
        yield from _steps_of_scan(_checked(params["jaxpr"]), args, params)
    else:
        yield from _steps_of_while(_checked(params["body_jaxpr"]), _checked(params["cond_jaxpr"]), args, params)


def _steps_of_scan(body: Any, args: list[Any], params: dict[str, Any]) -> Iterator[_Step]:
    (consts, carried), length = sizes_of_scan(params), params["length"]
    state, run = args[consts : consts + carried], _compiled(body)
    part = _jitted(lambda stacked, number: [xs[number] for xs in stacked])
    for each in reversed(range(length)) if params["reverse"] else range(length):
        inputs = [*args[:consts], *state, *part(args[consts + carried :], each)]
        results = run(*inputs)
        yield body, inputs, partial(list, results)
        state = results[:carried]


def _steps_of_while(body: Any, condition: Any, args: list[Any], params: dict[str, Any]) -> Iterator[_Step]:
    of_condition, of_body = params["cond_nconsts"], params["body_nconsts"]
    first, consts = args[:of_condition], args[of_condition : of_condition + of_body]
    state, run, goes_on = args[of_condition + of_body :], _compiled(body), _compiled(condition)
    while bool(goes_on(*first, *state)[0]):
        inputs = [*consts, *state]
        state = run(*inputs)
        yield body, inputs, partial(list, state)


def _compiled(body: Any) -> Callable[..., list[Any]]:
    import jax

    return _jitted(lambda *inputs: jax.core.eval_jaxpr(body.jaxpr, body.consts, *inputs))


def _jitted(compute: Callable[..., Any]) -> Callable[..., Any]:
    """Return a jitted function whose results JAX does not check for NaN: it sees their bits.

    To switch the check off, even for an empty block, as ``jax.debug_nans(False)`` does, leaves functions that compile
    later unchecked.

    Args:
        compute: returns a list of arrays; those of floats become arrays of NumPy.
    """
    import jax

    dtypes: list[Any] = []

    def in_bits(*inputs: Any) -> list[Any]:
        results = compute(*inputs)
        dtypes[:] = [jax.numpy.result_type(each) for each in results]
        return [_bits(each, dtype) for each, dtype in zip(results, dtypes, strict=True)]

    jitted = jax.jit(in_bits)
    return lambda *inputs: [_from_bits(*each) for each in zip(jitted(*inputs), dtypes, strict=True)]


def _bits(value: Any, dtype: Any) -> Any:
    """Return the bits of floats and of the two parts of complex numbers, and anything else as it is."""
    import jax
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jnp.inexact):
        return value
    parts = jnp.stack([value.real, value.imag], -1) if jnp.issubdtype(dtype, jnp.complexfloating) else value
    return jax.lax.bitcast_convert_type(parts, f"uint{8 * parts.dtype.itemsize}")


def _from_bits(bits: Any, dtype: Any) -> Any:
    import jax.numpy as jnp

    if not jnp.issubdtype(dtype, jnp.inexact):
        return bits
    complex_ = jnp.issubdtype(dtype, jnp.complexfloating)
    return np.asarray(bits).view(dtype)[..., 0] if complex_ else np.asarray(bits).view(dtype)


def _checked(body: Any) -> Any:
    """Return a body; raise if computing it calls Python, does more than compute, or takes long to compile."""
    counted = count_equations(body)
    if counted is None or body.effects or sum(counted.values()) > _MOST_EQUATIONS:
        raise _Unknown
    if any("callback" in each.primitive for each in counted):
        raise _Unknown
    return body
