"""Errors of each kind inside a flax module, and inside the body of a scan: the line, and the argument behind it."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from typing import NamedTuple

import jax
import pytest
from failing_cells import Cell

BEFORE = """
@functools.partial(jax.jit, static_argnames="by")
def scaled(x, by):
    return x * by[0]
kept = []
scale = jnp.ones(3)
step = jax.jit(lambda s: jax.tree.map(lambda a: a * 2, s), donate_argnums=0)
"""

LINEN = """
import flax.linen as nn
class Net(nn.Module):
    @nn.compact
    def __call__(self, x):
        x = nn.Dense(3)(x)
@LINES
        return x
params = {"params": {"Dense_0": {"kernel": jnp.ones((2, 3)), "bias": jnp.zeros(3)}}}
net = Net()
@jax.jit
def predict(params, x):
    return net.apply(params, x)
"""

NNX = """
from flax import nnx
class Net(nnx.Module):
    def __init__(self, rngs):
        self.dense = nnx.Linear(2, 3, rngs=rngs)
    def __call__(self, x):
        x = self.dense(x)
@LINES
        return x
net = Net(nnx.Rngs(0))
@nnx.jit
def predict(net, x):
    return net(x)
"""

SCAN = """
def run(w):
    def body(x, t):
@LINES
        return x, t
    return lax.scan(body, w, jnp.arange(3.0))
jitted = jax.jit(run)
"""


class Around(NamedTuple):
    """Code around the failing lines.

    Attributes:
        code: the module, or the function with the body of a scan.
        call: the call that traces it.
        eager: the call that does so without ``jit``.
        traced: the function that JAX names as the one it traced.
        argument: the arguments behind ``x``.
    """

    code: str
    call: str
    eager: str
    traced: str
    argument: str


AROUND = {
    "linen": Around(
        LINEN,
        "predict(params, jnp.ones((1, 2)))",
        "net.apply(params, jnp.ones((1, 2)))",
        "predict",
        "params['params']['Dense_0']['kernel'], x of predict",
    ),
    "nnx": Around(NNX, "predict(net, jnp.ones((1, 2)))", "net(jnp.ones((1, 2)))", "predict", "x of predict"),
    "scan": Around(SCAN, "jitted(jnp.ones(3))", "run(jnp.ones(3))", "body", "argument x of body"),
}

TRACED = {
    "bool": "if x.sum() > 0:  # here\n    x = -x",
    "number": "x = x * float(x.sum())  # here",
    "index": "x = x * [1.0, 2.0][x.astype(int).sum()]  # here",
    "numpy": "x = x + np.sin(x)  # here",
    "mask": "x = x[x > 0]  # here",
}

#: The line, and what is said of it: the argument, the leaf or the key. ``{n}`` is the shape of ``x``.
OTHERS = {
    "static": [("x = scaled(x, [2.0])", "by of scaled is static, but the list passed for it")],
    "branches": [
        (
            "x = lax.cond(x.sum() > 0, lambda v: v, lambda v: (v, v), x)",
            "true_fun of cond returns a single value, and false_fun a tuple.",
        ),
        (
            "x = lax.cond(x.sum() > 0, lambda v: {'a': v, 'b': v}, lambda v: {'a': v, 'c': v}, x)",
            "true_fun of cond returns dict with the key 'b', and false_fun dict with 'c' in its place.",
        ),
        (
            "x = lax.cond(x.sum() > 0, lambda v: v, lambda v: v.astype(jnp.int32), x)",
            "true_fun of cond returns f32[{n}], and false_fun i32[{n}]: the dtypes differ.",
        ),
        (
            "x = lax.cond(x.sum() > 0, lambda v: v[..., :1], lambda v: v, x)",
            "true_fun of cond returns f32[{one}], and false_fun f32[{n}]: the shapes differ.",
        ),
        (
            "x = lax.switch(x.sum().astype(int), [lambda v: v, lambda v: v[..., 0]], x)",
            "Branch 0 of switch returns f32[{n}], and branch 1 f32[",
        ),
    ],
    "pytree": [
        (
            "old, new = {'m': x, 'v': x}, {'m': x, 'w': x}\nx = jax.tree.map(lambda a, b: a + b, old, new)['m']",
            "old and new must have the same structure: ",
        ),
        (
            "x = jax.tree.map(lambda a, b: a + b, {'m': x, 'v': x}, {'m': x})['m']",
            "{'m': x, 'v': x} and {'m': x} must have the same structure: ",
        ),
        (
            "x = jax.tree.map(lambda a, b: a + b, (x, x), (x, x, x))[0]",
            "(x, x) and (x, x, x) must have the same structure: ",
        ),
    ],
    "carry": [
        (
            "x, _ = lax.scan(lambda v, t: (v[..., :1], t), x, jnp.arange(2))",
            "v of scan begins as f32[{n}] and ends as f32[{one}]: the shapes differ.",
        ),
        (
            "x, _ = lax.scan(lambda v, t: ({'a': v['a'], 'b': v['b'][..., :1]}, t), {'a': x, 'b': x}, jnp.arange(2))",
            "v['b'] of scan begins as f32[{n}] and ends as f32[{one}]: the shapes differ.",
        ),
        (
            "x = lax.while_loop(lambda v: v[1] < 3, lambda v: (v[0], v[1] / 2), (x, jnp.int32(8)))[0]",
            "v[1] of while_loop begins as i32[] and ends as f32[]: the dtypes differ.",
        ),
        (
            "x = lax.fori_loop(0, 3, lambda i, v: {'a': v['a'].astype(jnp.bfloat16)}, {'a': x})['a']",
            "fori_loop begins as f32[{n}] and ends as bf16[{n}]: the dtypes differ.",
        ),
        (
            "x, _ = lax.scan(lambda v, t: ({'a': v['a'], 'c': v['b']}, t), {'a': x, 'b': x}, jnp.arange(2))",
            "v of scan begins as dict with the key 'b' and ends as dict with 'c' in its place.",
        ),
        (
            "x, _ = lax.scan(lambda v, t: ({**v, 'c': t}, t), {'a': x, 'b': x}, jnp.arange(2))",
            "v of scan begins as dict with 2 children and ends as dict with 3 children, and only one of the two has "
            "'c'.",
        ),
    ],
}

#: The line that returns NaN, what comes before it, the operation, and the line with its operand kept in the domain.
NANS = {
    "log": ("", "x = jnp.log(x - 9)", "log", "jnp.log(jnp.where(x - 9 > 0, x - 9, 1))"),
    "div": ("d = x - x", "x = d / d", "div", "d / jnp.where(d != 0, d, 1)"),
}


@pytest.fixture(autouse=True)
def as_in_ipython() -> Iterator[None]:
    """JAX marks its own frames as hidden, and flags of its debugging are put back."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", "tracebackhide")
    yield
    jax.config.update("jax_traceback_filtering", before)
    jax.config.update("jax_debug_nans", False)


@pytest.fixture(params=AROUND)
def around(request: pytest.FixtureRequest) -> Around:
    if request.param != "scan":
        pytest.importorskip("flax")
    return AROUND[request.param]


def cell_of(around: Around, lines: str, after: str) -> Cell:
    """The cell with lines inside of the module or of the body, and those that follow."""
    return Cell(BEFORE + around.code.replace("@LINES", textwrap.indent(lines, " " * 8)) + after)


def line_with(cell: Cell, mark: str) -> str:
    (number,) = (number for number, line in enumerate(cell.source.splitlines(), 1) if mark in line)
    return f"{cell.file}:{number}"


@pytest.mark.parametrize("kind", TRACED)
def test_a_traced_value(around: Around, kind: str) -> None:
    cell = cell_of(around, TRACED[kind], around.call)
    assert cell.failure.kind == kind
    assert cell.finding.line == cell.here
    assert around.argument in cell.said


@pytest.mark.parametrize(
    ("kind", "number"), [(kind, number) for kind in OTHERS for number in range(len(OTHERS[kind]))]
)
def test_another_error(around: Around, kind: str, number: int) -> None:
    line, said = OTHERS[kind][number]
    cell = cell_of(around, f"{line}  # here", around.call)
    assert cell.failure.kind == kind
    assert cell.finding.line == cell.here
    shape, one = ("3", "1") if around is AROUND["scan"] else ("1,3", "1,1")
    assert said.replace("{n}", shape).replace("{one}", one) in cell.said


@pytest.mark.parametrize("kind", NANS)
def test_nan(around: Around, kind: str) -> None:
    before, line, operation, mended = NANS[kind]
    jax.config.update("jax_debug_nans", True)
    cell = cell_of(around, f"{before}\n{line}  # here", around.call)
    jax.config.update("jax_debug_nans", False)
    assert cell.failure.kind == "nan"
    assert cell.finding.line == cell.here
    assert cell.said.startswith(f"{operation} returned NaN, which jax_debug_nans makes an error.")
    assert "put another number in its place before" in cell.said
    assert f": {mended}." in cell.said


def test_out_of_memory(around: Around) -> None:
    """XLA does not say where inside of the program. So the line is that of the call, and the large array is named."""
    large = "jnp.sin(lax.broadcasted_iota(jnp.float32, (10**7, 10**6), 0) * x.sum())"
    lines = f"x = x + lax.sort({large}, dimension=0)[0, 0]  # large"
    given = around.call[around.call.index("jnp.ones") : -1]
    after = f"given = {given}\njax.block_until_ready({around.call.replace(given, 'given')})  # here"
    cell = cell_of(around, lines, after)
    assert cell.failure.kind == "memory"
    assert cell.finding.line == cell.here
    assert f"At its peak: 36.4 TiB at {line_with(cell, '# large')} (f32[10000000,1000000])." in cell.said


@pytest.mark.parametrize("escaped", ["x", "y"])
def test_a_value_that_escapes(around: Around, escaped: str) -> None:
    """It is used after the tracing: on one right line, with the line where it escaped."""
    cell = cell_of(around, f"y = x * 2\nkept.append({escaped})  # escapes", f"{around.call}\nkept[-1] + 1  # here")
    assert cell.failure.kind == "leak"
    assert cell.finding.line == cell.here
    assert cell.said.startswith("kept[-1] (f32[")
    assert f"was traced by {around.traced} ({cell.file}:" in cell.said
    assert f"It escaped at {line_with(cell, '# escapes')}: kept.append({escaped})" in cell.said


def test_a_value_that_has_escaped_before(around: Around) -> None:
    """JAX raises where the compiled function is called."""
    leak = "def leak(v):\n    kept.append(v)  # escapes\njax.jit(leak)(jnp.ones(()))\n"
    cell = cell_of(around, "x = x + kept[0]", f"{leak}{around.call}  # here")
    assert cell.failure.kind == "leak"
    assert "was traced by leak" in cell.said
    assert f"It may have escaped at {line_with(cell, '# escapes')}: kept.append(v)" in cell.said
    assert cell.finding.line == cell.here


@pytest.mark.parametrize("jitted", [False, True], ids=["eager", "jitted"])
def test_a_donated_array_that_is_read_inside(around: Around, jitted: bool) -> None:
    """JAX raises inside of a module that runs eagerly; else where the compiled function is called."""
    call = around.call if jitted else around.eager
    cell = cell_of(around, "x = x * scale  # inside", f"new = step(scale)  # donates\n{call}  # call")
    assert cell.failure.kind == "deleted"
    at = "# call" if jitted else "lax.scan(" if around is AROUND["scan"] else "# inside"
    assert cell.finding.line == line_with(cell, at)
    if not jitted or around is AROUND["scan"]:
        assert cell.said.startswith("scale was donated or deleted")
        assert f"Probably donated by step(scale) ({line_with(cell, '# donates')})." in cell.said
    else:
        assert "scale'] was" in cell.said or cell.said.startswith("scale was donated or deleted")


def test_an_array_that_is_donated_inside() -> None:
    """The call that donates stands inside of the module, before the line that reads the array again."""
    pytest.importorskip("flax")
    for around in (AROUND["linen"], AROUND["nnx"]):
        cell = cell_of(around, "y = step(x)  # donates\nx = x + y  # here", around.eager)
        assert cell.failure.kind == "deleted"
        assert cell.finding.line == cell.here
        assert cell.said.startswith("x was donated or deleted")
        assert f"Probably donated by step(x) ({line_with(cell, '# donates')})." in cell.said


@pytest.mark.parametrize("call", ["predict(params, jnp.ones((1, 2)))", "net.apply(params, jnp.ones((1, 2)))"])
def test_parameters_of_a_module_that_were_donated(call: str) -> None:
    pytest.importorskip("flax")
    cell = cell_of(AROUND["linen"], "x = x + 1", f"new = step(params)  # donates\n{call}  # here")
    assert cell.failure.kind == "deleted"
    assert cell.said.startswith("params['params']['Dense_0']['kernel']")
    assert f"Probably donated by step(params) ({line_with(cell, '# donates')})." in cell.said
    if call.startswith("predict"):
        assert cell.finding.line == cell.here
