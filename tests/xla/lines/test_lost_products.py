"""Convolutions that XLA has written anew have the lines that asked for them, or none."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from jax.scipy.signal import convolve2d
from recordings import all_of, module_of

from jaxmagic.records.call_stack import Frame
from jaxmagic.runtime.jax_version import keeps_lines
from jaxmagic.xla.lines.origins import Origins

X = jnp.linspace(0.0, 1.0, 900).reshape(30, 30)
KERNEL = jnp.arange(9.0).reshape(3, 3)


def convolved(x: Any) -> Any:
    y = jnp.tanh(x)
    z = jnp.convolve(y[0], KERNEL[0])  # line 2
    return jnp.clip(z, 0, 1)


def correlated(x: Any) -> Any:
    y = jnp.tanh(x)
    z = jnp.correlate(y[0], KERNEL[0], mode="same")  # line 2
    return jnp.where(z > 0, z, 0)


def gradient(x: Any) -> Any:
    def loss(x: Any, kernel: Any) -> Any:
        z = convolve2d(x, kernel)  # line 2
        return jnp.tanh(z).sum()

    return jax.grad(loss, (0, 1))(x, KERNEL)


def helper(x: Any) -> Any:
    return convolve2d(x, KERNEL, mode="same")  # line 1 of its own


def called_twice(x: Any) -> Any:
    y = helper(x)
    z = jnp.tanh(helper(y))
    return z * z


def one_after_the_other(x: Any) -> Any:
    y = convolve2d(x, KERNEL, mode="same")  # line 1
    z = convolve2d(y, KERNEL[:2, :2], mode="same")  # line 2
    return jnp.tanh(z)


def side_by_side(x: Any) -> Any:
    y = convolve2d(x, KERNEL, mode="same")  # line 1
    z = convolve2d(x, KERNEL.T, mode="same")  # line 2
    return jnp.tanh(y * z)


def beside_a_sum(x: Any) -> Any:
    y = jnp.convolve(x[0], jnp.tanh(x[1]))  # line 1
    z = jnp.cumsum(y)
    return jnp.where(y > z, y, 0)


def before_a_product(x: Any) -> Any:
    y = convolve2d(x, KERNEL, mode="same")  # line 1
    z = convolve2d(jnp.tanh(y), KERNEL[:2, :2], mode="same")  # line 2
    return z @ y


def with_another_axis(x: Any) -> Any:
    y = convolve2d(x, KERNEL, mode="same")
    z = jnp.flip(y)
    return jnp.tanh(z)


def of_several_sizes(x: Any) -> Any:
    y = convolve2d(x, KERNEL, mode="same")
    z = convolve2d(x, KERNEL[:2, :2], mode="same")
    return jnp.tanh(y * z)


def lines_of(function: Callable[[Any], Any]) -> list[dict[int | None, float]]:
    """Return the lines of each convolution relative to the function, in the order of the program."""
    module = module_of(function, X)
    origins, first = Origins(module), function.__code__.co_firstlineno
    found = []
    for each in all_of(module, "convolution"):
        shares = origins.shares(each).items()
        found.append({stack[-1].line - first if stack else None: share for (stack, _), share in shares})
    return found


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (convolved, [{2: 1.0}]),
        (correlated, [{2: 1.0}]),
        (gradient, [{None: 1.0}] * 3),
        (beside_a_sum, [{1: 1.0}]),
        (before_a_product, [{1: 1.0}, {2: 1.0}]),
        (with_another_axis, [{1: 1.0}]),
        (one_after_the_other, [{1: 1.0}, {2: 1.0}]),
        (side_by_side, [{1: 0.5, 2: 0.5}] * 2),
        (of_several_sizes, [{None: 1.0}] * 2),
    ],
)
def test_a_convolution_has_the_line_that_asked_for_it(function: Any, expected: Any) -> None:
    assert lines_of(function) == expected


def test_calls_of_one_function_are_told_apart() -> None:
    module = module_of(called_twice, X)
    origins, first = Origins(module), called_twice.__code__.co_firstlineno
    stacks = [stack for each in all_of(module, "convolution") for stack, _ in origins.shares(each)]
    assert [stack[-1].function.rpartition(".")[2] for stack in stacks] == ["helper", "helper"]
    if keeps_lines():
        assert [stack[-2].line - first for stack in stacks] == [1, 2]


HERE, THERE = (Frame(function="f", file="a.py", line=line) for line in (1, 2))


def fabricated(taker: str, *lost: Frame, **changes: Any) -> dict[int | None, float]:
    """Return the lines of a convolution whose result an instruction with a path takes."""
    convolution = fabricate.hlo.instruction("convolution", **changes)
    user = fabricate.hlo.instruction("bitcast", 0, op_name=taker, stack=(THERE,))
    module = fabricate.hlo.module(convolution, user, lost_stacks=tuple((each,) for each in lost))
    shares = Origins(module).shares(convolution)
    return {stack[-1].line if stack else None: share for (stack, _), share in shares.items()}


def test_a_neighbour_that_has_kept_the_name_has_the_line() -> None:
    assert fabricated("jit(f)/conv_general_dilated", HERE) == {2: 1.0}
    assert fabricated("jit(f)/tanh", HERE) == {1: 1.0}


def test_a_neighbour_within_a_function_that_convolves_has_the_line() -> None:
    assert fabricated("jit(f)/jit(correlate)/jit(_conv)/squeeze") == {2: 1.0}
    assert fabricated("jit(f)/transpose(jvp(jit(convolve)))/rev") == {2: 1.0}


def test_what_takes_the_result_says_nothing_about_the_line() -> None:
    assert fabricated("jit(f)/tanh") == fabricated("jit(convolve)/tanh") == {None: 1.0}
    assert fabricated("jit(f)/jit(convolved)/tanh") == {None: 1.0}


def test_stacks_of_other_programs_do_not_count() -> None:
    other = Frame(function="g", file="a.py", line=7)
    assert fabricated("jit(f)/tanh", HERE, other) == {1: 1.0}


def test_a_convolution_with_metadata_keeps_it() -> None:
    assert fabricated("jit(f)/tanh", HERE, op_name="jit(f)/conv_general_dilated", stack=(THERE,)) == {2: 1.0}
