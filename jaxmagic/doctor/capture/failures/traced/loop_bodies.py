"""Finds the operation inside a loop or a branch that returned the first NaN, by computing its equations one by one.

The values are those of the failing call, and nothing of the user's code runs: only what JAX has traced of it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from functools import partial
from types import FrameType
from typing import Any, NamedTuple

from .....runtime.clock import Clock, now_ns
from .....runtime.jaxprs.equations import sizes_of_scan
from .....runtime.jaxprs.frames import Applied, applied_in
from .....runtime.tracing import count_equations
from ....analysis.failures.messages import is_jax_file
from .computed import Step, first, results_with_steps
from .reasons import reason_of_operands
from .unchecked import unchecked

#: The steps of a loop after its first one, which compiles, are computed for at most this long.
LONGEST_NS = 2 * 10**9

#: A longer body is not compiled once more.
_MOST_EQUATIONS = 500

#: Operations with bodies of their own.
_LOOPS = "scan", "while", "cond"

#: The functions of JAX that apply them; the outermost is what was called.
_FUNCTIONS = frozenset({"cond", "fori_loop", "map", "scan", "switch", "while_loop"})


class FirstInLoop(NamedTuple):
    """The operation that returned the first NaN from which one in the result of a loop comes.

    Attributes:
        origin: its equation.
        loop: the function of JAX that was called for the outermost loop or branch, such as ``"fori_loop"``.
        step: the number of the first step of this loop whose results have NaN, from 1; 0 in a branch.
        number: what this step has as its own number: in ``fori_loop`` the value that the body gets first, in ``scan``
            and ``map`` the index into what is scanned; ``None`` if there is none.
        length: how many steps ``scan`` and ``map`` have; ``None`` for others.
    """

    origin: Origin
    loop: str
    step: int
    number: int | None
    length: int | None


class Origin(NamedTuple):
    """The equation that made a value with NaN or infinity.

    Attributes:
        chain: the equation, behind those whose jaxprs it is in, the outermost first.
        reason: why an equation made NaN, in the words of `reason_of_operands`.
        infinite: the equation that made this infinity; ``None`` if that is unknown.
    """

    chain: tuple[Any, ...]
    reason: str = ""
    infinite: Origin | None = None

    @property
    def name(self) -> str:
        """The name of the operation."""
        return str(self.chain[-1].primitive.name)


class Unknown(Exception):
    """It cannot be told, or not in the time."""


class FromInput(Unknown):
    """The NaN was in an input already.

    Attributes:
        number: the number of the input.
    """

    def __init__(self, number: int) -> None:
        super().__init__(number)
        self.number = number


def first_in_loop(
    frames: Sequence[FrameType], *, infinite: bool, longest_ns: int, clock: Clock = now_ns
) -> FirstInLoop | None:
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
        step, inputs, origin = Search(infinite, longest_ns, clock).inside(applied)
    except Exception:
        return None
    loop = _called(frames) or applied.name
    number, length = _number(loop, applied, step, inputs)
    return FirstInLoop(origin, loop, step, number, length)


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


class Search:
    """Computes jaxprs, and follows NaN back to the equation that made it."""

    def __init__(self, infinite: bool, longest_ns: int, clock: Clock) -> None:
        self._infinite = infinite
        self._longest_ns = longest_ns
        self._clock = clock

    def inside(self, applied: Applied) -> tuple[int, list[Any], Origin]:
        """Return the step whose results have the first NaN, its inputs, and the equation that made it."""
        deadline_ns = None
        for step, (body, inputs, outputs) in enumerate(_steps(applied), 1):
            if self._is_bad(inputs) or (deadline_ns is not None and self._clock() > deadline_ns):
                raise Unknown
            if self._is_bad(outputs()):
                return 0 if applied.name == "cond" else step, inputs, self.origin(body, inputs)
            deadline_ns = deadline_ns or self._clock() + self._longest_ns
        raise Unknown

    def origin(self, body: Any, inputs: Sequence[Any]) -> Origin:
        """Return the equation that made the first NaN from which one in the results of a jaxpr comes.

        Args:
            body: the jaxpr.
            inputs: its inputs.
        """
        results = results_with_steps(_checked(body), inputs)
        value = None if results is None else first(results, self._infinite)
        if value is None:
            raise Unknown
        if value.step is None:
            raise Unknown if value.number is None else FromInput(value.number)
        return self._made_by(value.step)

    def _made_by(self, step: Step) -> Origin:
        """Return the equation itself, or the one inside of its loop or branch."""
        chain = (*step.callers, step.equation)
        if step.name in _LOOPS:
            with suppress(Exception):
                operands = tuple(each.array for each in step.operands)
                inner = self.inside(Applied(step.name, operands, step.equation.params))[2]
                return inner._replace(chain=(*chain, *inner.chain))
        reason = "" if self._infinite else reason_of_operands(step.name, [each.array for each in step.operands])
        made = first(step.operands, True) if reason.count("infinity") else None
        if made is None or made.step is None:
            return Origin(chain, reason)
        of_infinity = Search(True, self._longest_ns, self._clock)
        return Origin(chain, reason, of_infinity._made_by(made.step))

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
    part = unchecked(lambda stacked, number: [xs[number] for xs in stacked])
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

    return unchecked(lambda *inputs: jax.core.eval_jaxpr(body.jaxpr, body.consts, *inputs))


def _checked(body: Any) -> Any:
    """Return a body; raise if computing it calls Python, does more than compute, or takes long to compile."""
    counted = count_equations(body)
    if counted is None or body.effects or sum(counted.values()) > _MOST_EQUATIONS:
        raise Unknown
    if any("callback" in each.primitive for each in counted):
        raise Unknown
    return body
