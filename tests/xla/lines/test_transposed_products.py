"""Products of matrices whose result is transposed have the line that multiplies, also if that is another line."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import fabricate.hlo
import jax
import jax.numpy as jnp
import pytest
from recordings import all_of, module_of

from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.lines.origins import Origins

X = jnp.linspace(0.0, 1.0, 96 * 64).reshape(96, 64)
W = jnp.linspace(-1.0, 1.0, 64 * 80).reshape(64, 80)
B = jnp.linspace(0.0, 1.0, 8 * 48 * 32).reshape(8, 48, 32)


def transposed_later(x: Any) -> Any:
    z = x @ W  # line 1
    return z.T


def of_batches(x: Any) -> Any:
    z = x @ jnp.swapaxes(x, 1, 2)[..., :16]  # line 1
    y = jnp.swapaxes(z, 1, 2)
    return y * 2


def beside_what_has_no_instruction(x: Any) -> Any:
    z = x @ W  # line 1
    r = x.reshape(-1)
    y = z.T
    return y, r.reshape(64, 96)


def one_after_the_other(x: Any) -> Any:
    h = x @ W  # line 1
    g = h.T
    z = W @ jnp.tanh(g)  # line 3
    y = jnp.transpose(z)
    return y * 2


def on_one_line(x: Any) -> Any:
    y = x + 1
    return (y @ W).T  # line 2


def helper(x: Any) -> Any:
    return x @ W


def in_a_helper(x: Any) -> Any:
    z = helper(x)
    return z.T


def derivative(x: Any) -> Any:
    return jax.grad(lambda w: jnp.sin(x @ w).sum())(W)  # line 1


def derivative_of_a_sum(x: Any) -> Any:
    return jax.grad(lambda w: (x @ w).sum())(W)  # line 1


def einsum(x: Any) -> Any:
    y = jnp.tanh(x)
    return jnp.einsum("bij,bkj->bki", y, x)  # line 2


def solved_before(d: Any) -> Any:
    def loss(c: Any) -> Any:
        p = jnp.linalg.inv(c)
        q = jnp.einsum("pni,nij,pnj->pn", d, p, d)  # line 3
        return jnp.exp(-q).sum()

    return jax.grad(loss)(jnp.eye(2) + 0.1 * jnp.ones((30, 2, 2)))


def lines_of(function: Callable[[Any], Any], x: Any) -> set[int | None]:
    """Return the lines of the products relative to the function, without those of small matrices."""
    module = module_of(function, x)
    origins, first = Origins(module), function.__code__.co_firstlineno
    shares = [origins.shares(each) for each in all_of(module, "dot") if (each.flops or 0) > 10_000]
    file = function.__code__.co_filename
    return {
        next((frame.line - first for frame in reversed(stack) if frame.file == file), None)
        for each in shares
        for stack, _ in each
    }


@pytest.mark.parametrize(
    ("function", "x", "expected"),
    [
        (transposed_later, X, {1}),
        (of_batches, B, {1}),
        (beside_what_has_no_instruction, X, {1}),
        (one_after_the_other, X, {1, 3}),
        (on_one_line, X, {2}),
        (in_a_helper, X, {helper.__code__.co_firstlineno + 1 - in_a_helper.__code__.co_firstlineno}),
        (derivative, X, {1}),
        (derivative_of_a_sum, X, {1}),
        (einsum, B, {2}),
        (solved_before, jax.random.normal(jax.random.key(0), (900, 30, 2)), {3}),
    ],
)
def test_a_product_has_the_line_that_multiplies(function: Any, x: Any, expected: set[int | None]) -> None:
    assert lines_of(function, x) == expected


def frame(line: int, function: str = "f") -> Frame:
    return Frame(function=function, file="/home/me/a.py", line=line)


IN_G = frame(5), frame(12, "g")


def of(*lost: tuple[Frame, ...], op_name: str = "jit(f)/transpose", target: str = "") -> dict[int | None, float]:
    """Return the line of a product that has the metadata of line 9."""
    x, w = (fabricate.hlo.instruction("parameter", shape="f32[8,8]") for _ in range(2))
    opcode = "custom-call" if target else "dot"
    written: dict[str, Any] = {"op_name": op_name, "stack": (frame(9),), "custom_call_target": target}
    dot = fabricate.hlo.instruction(opcode, 0, 1, shape="f32[8,8]", **written)
    module = fabricate.hlo.module(x, w, dot, lost_stacks=lost)
    (product,) = all_of(module, opcode)
    return {stack[-1].line if stack else None: share for (stack, _), share in Origins(module).shares(product).items()}


def test_lines_without_an_instruction_decide() -> None:
    assert of() == {9: 1.0}
    assert of((frame(9),), (frame(3),)) == {9: 1.0}  # the line itself has lost a product
    assert of(IN_G) == {12: 1.0}
    assert of((frame(3),), IN_G) == {3: 1.0}
    assert of((frame(3),), (frame(4),)) == {None: 1.0}
    assert of((frame(10),), (frame(11),)) == {None: 1.0}


@pytest.mark.parametrize(("target", "line"), [("__cublas$lt$matmul", 3), ("__cublas$gemm", 3), ("__cudnn$conv", 9)])
def test_so_it_is_with_the_products_of_libraries(target: str, line: int) -> None:
    assert of((frame(3),), target=target) == {line: 1.0}


@pytest.mark.parametrize(("line", "expected"), [(9, 9), (8, 3)])
def test_a_line_that_multiplies_such_arrays_itself_keeps_its_product(line: int, expected: int) -> None:
    """It may do so twice, and another line may have lost something else."""
    arrays = [fabricate.hlo.instruction("parameter", shape=f"f32[8,{each}]") for each in (4, 6)]
    other = fabricate.hlo.instruction(
        "dot", 0, 1, shape="f32[4,6]", op_name="jit(f)/dot_general", stack=(frame(line),)
    )
    dot = fabricate.hlo.instruction("dot", 1, 0, shape="f32[6,4]", op_name="jit(f)/transpose", stack=(frame(9),))
    module = fabricate.hlo.module(*arrays, other, dot, lost_stacks=((frame(3),),))
    ((stack, _),) = Origins(module).shares(dot)
    assert stack[-1].line == expected


def test_only_a_product_with_the_name_of_a_transposition_is_another_lines() -> None:
    assert of((frame(3),), op_name="jit(f)/dot_general") == {9: 1.0}
    assert of((frame(3),), op_name="jit(f)/transpose(jvp())/transpose") == {9: 1.0}  # a derivative
