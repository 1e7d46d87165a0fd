"""Programs that ran out of memory are compiled again, and variants until one fits. None of them runs."""

from __future__ import annotations

import builtins
import gc
import textwrap
from collections.abc import Callable
from typing import Any

import jax
import jax._src.compiler as compiler
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell
from jax.sharding import NamedSharding, PartitionSpec

import jaxmagic
from jaxmagic.doctor.capture.failures.failure import read_failure
from jaxmagic.doctor.capture.failures.memory import out_of_memory
from jaxmagic.doctor.capture.failures.memory.out_of_memory import Limits
from jaxmagic.doctor.capture.remedies.compiled import smaller, split_batch
from jaxmagic.doctor.record.out_of_memory import FailedProgram, OutOfMemory, Smaller

MIB = 2**20

Failing = Callable[[str], Cell]

#: A text of XLA's allocator for GPUs.
TEXT = "RESOURCE_EXHAUSTED: Out of memory while trying to allocate 209715200 bytes."

#: 200 iterations, each of which keeps several arrays of 256 KB for the backward pass.
TRAINING = """
    state = {"w": jnp.ones((256, 256)), "m": jnp.ones((256, 256))}
    xs = jnp.ones((256, 256))
    def block(w, h):
        for _ in range(2):
            h = jnp.tanh(h @ w) + jnp.sin(h)
        return h
    def loss(state, xs):
        h, _ = lax.scan(lambda h, _: (block(state["w"], h), None), xs, None, length=200)
        return h.sum()
    @jax.jit
    def step(state, xs):
        return jax.tree.map(lambda a, b: a - b, state, jax.grad(loss)(state, xs))
    fail()
    state = step(state, xs)  # here
"""

#: One argument of 4 MB that is replaced.
REPLACING = """
    params = jnp.ones((1024, 1024))
    @jax.jit
    def step(params):
        return params * 0.5
    fail()
    params = step(params)  # here
"""


@pytest.fixture
def failing(monkeypatch: pytest.MonkeyPatch) -> Failing:
    """Return a function that runs a cell, in which compiling fails as on a device without memory after ``fail()``."""
    kind: Any = getattr(jax.errors, "JaxRuntimeError", None) or jax._src.lib.xla_client.XlaRuntimeError  # type: ignore[attr-defined]
    names: dict[str, Any] = {"kind": kind, "text": TEXT}
    exec(compile("def failing(*args, **kwargs):\n    raise kind(text)\n", "/env/jax/_src/planted.py", "exec"), names)

    def run(source: str) -> Cell:
        with monkeypatch.context() as patched:
            patched.setattr(builtins, "wait", names["failing"], raising=False)
            patched.setattr(
                builtins,
                "fail",
                lambda: patched.setattr(compiler, "compile_or_get_cached", names["failing"]),
                raising=False,
            )
            return Cell(source)

    return run


def memory_of(cell: Cell, **limits: Any) -> OutOfMemory:
    assert cell.error is not None
    failure = read_failure(cell.error, Limits(**limits))
    assert failure is not None
    assert failure.kind == "memory"
    assert failure.memory is not None
    return failure.memory


def program_of(cell: Cell, **limits: Any) -> FailedProgram:
    program = memory_of(cell, **{"budget_ns": 600 * 10**9} | limits).program
    assert program is not None
    return program


def need(source: str, dtype: Any = None, **options: Any) -> int:
    """Return what the step of a cell needs if it is jitted, or called, in another way, as JAX itself says."""
    names = Cell(source.split("fail()")[0]).names
    function = names["step"].__wrapped__
    arguments = [names[each] for each in function.__code__.co_varnames[: function.__code__.co_argcount]]
    if dtype is not None:
        arguments = jax.tree.map(lambda each: each.astype(dtype), arguments)
    stats: Any = jax.jit(function, **options).lower(*arguments).compile().memory_analysis()
    parts = stats.argument_size_in_bytes + stats.output_size_in_bytes + stats.temp_size_in_bytes
    return int(parts - stats.alias_size_in_bytes)


def line_of(cell: Cell, text: str) -> int:
    return next(number for number, line in enumerate(cell.source.splitlines(), 1) if text in line)


CHECKPOINTED = TRAINING.replace("    def block", "    @jax.checkpoint\n    def block")


def test_each_variant_needs_what_jax_says(failing: Failing) -> None:
    cell = failing(TRAINING)
    program = program_of(cell)
    found = {(each.by, each.checkpointed): each.need_bytes for each in program.variants}
    assert program.need_bytes == need(TRAINING)
    assert found[("donate",), ()] == need(TRAINING, donate_argnums=0)
    assert found[("checkpoint",), ("block",)] == need(CHECKPOINTED)
    assert found[("donate", "checkpoint"), ("block",)] == need(CHECKPOINTED, donate_argnums=0)
    assert found[("bfloat16",), ()] == need(TRAINING, dtype=jnp.bfloat16)
    assert program.best is not None
    assert (program.best.donated, program.best.checkpointed) == (("state",), ("block",))
    assert program.held[0].line == f"{cell.file}:{line_of(cell, 'lax.scan')}"
    assert program.held[0].size_bytes > 0.8 * program.need_bytes


@pytest.mark.parametrize(
    ("body", "why"),
    [
        ("jax.grad(lambda x: jnp.sin(jnp.sin(x)).sum())(x)", "inside"),
        ("jnp.sin(x)", "no gradient"),
        ("jax.grad(lambda x: outer(jnp.sin(x)).sum())(x)", ""),
    ],
)
def test_why_no_function_is_recomputed(failing: Failing, body: str, why: str) -> None:
    cell = failing(f"""
        x = jnp.ones((64, 64))
        def outer(x):
            return jnp.sin(x)
        @jax.jit
        def step(x):
            return {body}
        fail()
        y = step(x)  # here
    """)
    assert program_of(cell).uncheckpointed == why
    assert program_of(cell, memory_bytes=2**50).uncheckpointed == ""


def test_compiling_stops_when_a_variant_fits(failing: Failing) -> None:
    cell = failing(TRAINING)
    of_other_tests = sum(each.nbytes for each in jax.live_arrays() if not each.is_deleted())
    limit = need(CHECKPOINTED) + of_other_tests + 16 * MIB
    assert cell.error is not None
    diagnosis = jaxmagic.explain_error(cell.error, memory_bytes=limit)
    (finding,) = diagnosis.findings
    assert finding.line == cell.here
    assert "while allocating 200 MiB" in str(finding.found)
    assert "Decorate block with @jax.checkpoint" in str(finding.remedy)
    assert "which fits" in str(finding.remedy)
    assert not any("bfloat16" in str(each) for each in finding.evidence)


def test_argument_that_is_replaced_is_donated(failing: Failing) -> None:
    program = program_of(failing(REPLACING))
    (variant,) = [each for each in program.variants if each.by == ("donate",)]
    assert (variant.donated, variant.need_bytes) == (("params",), 4 * MIB)
    assert program.need_bytes == 8 * MIB
    assert program.best is variant


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("params = step(params)", "new = step(params)"),  # may be read in the next cell
        ("fail()", "old = params\n    fail()"),
        ("fail()", "def read():\n        return params.sum()\n    fail()"),
        ("params * 0.5", "params.astype(int)"),  # no result has its type
        ("@jax.jit", "@functools.partial(jax.jit, donate_argnums=0)"),  # is donated already
    ],
)
def test_argument_that_is_needed_is_not_donated(failing: Failing, before: str, after: str) -> None:
    program = program_of(failing(REPLACING.replace(before, after)), memory_bytes=1)
    assert program.best is None or not program.best.donated


def test_array_that_is_passed_twice_is_not_donated(failing: Failing) -> None:
    source = REPLACING.replace("step(params)", "step(params, other)").replace(
        "def step(params, other)", "def step(a, b)"
    )
    source = source.replace("return params * 0.5", "return a * b").replace("fail()", "other = params\n    fail()")
    assert not any(each.donated for each in program_of(failing(source)).variants)


def test_parameter_of_the_same_name_in_another_function_does_not_matter(failing: Failing) -> None:
    source = REPLACING.replace("fail()", "def other(params):\n        return params.sum()\n    fail()")
    assert program_of(failing(source)).variants[0].donated == ("params",)


def test_other_arrays_count(failing: Failing) -> None:
    gc.collect()  # arrays of other tests
    before = program_of(failing(REPLACING)).others_bytes
    gc.collect()
    after = program_of(failing(REPLACING.replace("fail()", "kept = jnp.ones((2048, 1024))\n    fail()"))).others_bytes
    assert before is not None
    assert after is not None
    assert 8 * MIB <= after - before < 9 * MIB


def test_budget_and_interrupt_keep_what_there_is(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    cell = failing(REPLACING)
    program = program_of(cell, budget_ns=1)
    assert (program.need_bytes, program.incomplete, program.variants) == (8 * MIB, "budget", ())

    def interrupted(*args: Any) -> Any:
        raise KeyboardInterrupt

    monkeypatch.setattr(out_of_memory, "need_with", interrupted)
    program = program_of(cell)
    assert (program.need_bytes, program.incomplete, program.variants) == (8 * MIB, "interrupted", ())


def test_options_that_would_get_lost_prevent_variants(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(out_of_memory, "need_with", lambda *_: 9 * MIB)
    program = program_of(failing(REPLACING))
    assert (program.incomplete, program.variants) == ("differs", ())


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("= step(params)", "= step(params + 1)"),  # would have to run
        ("= step(params)", "= jax.vmap(step)(params)"),
        ("= step(params)", "= step(*[params])"),
    ],
)
def test_program_is_unknown_if_its_arguments_are(failing: Failing, before: str, after: str) -> None:
    memory = memory_of(failing(REPLACING.replace(before, after).replace("fail()", "params + 1; fail()")))
    assert (memory.program, memory.unknown) == (None, "call")


#: 256 MiB of temporaries, more than the message says was asked for, and a program without any.
WAITING = """
    x = jnp.ones(8192)
    @jax.jit
    def large(x):
        return (x[:, None] * x) @ x
    @jax.jit
    def small(x):
        return x * 2
    y = large(x)
    wait(y)  # here
"""


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = large(x)\n    wait(y)", "wait(large(x))"),
        ("y = large(x)\n    wait(y)", "y, n = wait(large(x)), 1"),
        ("wait(y)", "wait(y)"),
        ("wait(y)", "wait(y.sum())"),
        ("wait(y)", "z = wait(y) if x.ndim else 0"),
        ("y = large(x)\n    wait(y)", "for each in [wait(large(x))]: small(x)"),
        ("y = large(x)\n", "y = small(x)\n    y = large(x)\n"),
        ("wait(y)", "y = small(y); wait(y)"),
        ("wait(y)", "z = small(y)\n    wait(z[0])"),
        ("wait(y)", "for each in (1, 2):\n        z = small(y)\n        wait(z)"),
    ],
)
def test_program_whose_result_is_waited_for_is_found(failing: Failing, before: str, after: str) -> None:
    cell = failing(WAITING.replace(before, after))
    program = program_of(cell)
    assert program.function == "large"
    assert program.temporary_bytes >= 256 * MIB
    if "# here" in cell.source:
        assert cell.finding.line == cell.here


def test_program_in_a_function_of_the_user_that_waits_is_found(failing: Failing) -> None:
    source = WAITING.replace(
        "y = large(x)\n    wait(y)", "def run(x):\n        y = large(x)\n        wait(y)\n    run(x)"
    )
    assert program_of(failing(source)).function == "large"


@pytest.mark.parametrize(
    ("before", "after", "why"),
    [
        ("y = large(x)", "y = small(x)", "waited"),  # needs less than was asked for
        ("y = large(x)\n    wait(y)", "wait(x); y = large(x)", "call"),  # runs later
        ("y = large(x)\n    wait(y)", "wait(lambda: large(x))", "call"),
        ("y = large(x)", "y = jnp.sin(x)", "waited"),
        ("y = large(x)", "y = large(x + 0)", "unexamined"),  # it would have to be computed again
        ("y = large(x)", "y = small(x) + large(x + 0)", "unexamined"),
    ],
)
def test_no_program_is_blamed_that_cannot_have_failed(failing: Failing, before: str, after: str, why: str) -> None:
    memory = memory_of(failing(WAITING.replace(before, after)))
    assert (memory.program, memory.unknown) == (None, why)


def test_allocation_that_really_fails() -> None:
    cell = Cell("""
        @jax.jit
        def outer(x):
            y = x[:, None] * x
            return jnp.sin(y) @ jnp.cos(y)
        x = jnp.ones(3_000_000)
        y = jax.block_until_ready(outer(x))  # here
    """)
    memory = memory_of(cell)
    assert memory.shortage.asked_bytes is not None
    assert memory.program is not None
    assert memory.program.need_bytes > 3_000_000**2 * 4
    assert cell.finding.line == cell.here


needs_devices = pytest.mark.skipif(jax.device_count() < 4, reason="needs four devices")

#: 960 examples, whose temporaries are far larger than the parameters.
BATCHES = """
    params = [jnp.full((20, 20), 0.1) for _ in range(2)]
    x, y = jnp.ones((960, 20)), jnp.zeros((960, 20))
    def loss(params, x, y):
        h = x
        for w in params:
            h = jnp.tanh(h @ w)
        return jnp.mean((h - y) ** 2)
    @jax.jit
    def step(params, x, y):
        grads = jax.grad(loss)(params, x, y)
        return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)
    fail()
    new = step(params, x, y)  # here
"""


def split(program: FailedProgram, by: str) -> list[Smaller]:
    return [each for each in program.variants if each.by == (by,)]


@pytest.fixture
def not_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let variants need more than fits, without compiling them."""
    monkeypatch.setattr(out_of_memory, "are_alike", lambda *_: True)
    for each in (out_of_memory, smaller, split_batch):
        monkeypatch.setattr(each, "need_with", lambda *_: MIB)


def test_a_split_batch_needs_what_jax_says(failing: Failing) -> None:
    program = program_of(failing(BATCHES))
    in_parts = split(program, "microbatch")
    assert [(each.batch, each.parts, each.mean) for each in in_parts] == [
        (("x", "y"), parts, "") for parts in (2, 4, 8)
    ]
    assert in_parts[-1].need_bytes < in_parts[0].need_bytes < program.need_bytes
    offered = textwrap.indent(in_parts[0].code or "", "    ")
    assert in_parts[0].need_bytes == need(BATCHES.replace("    fail()", f"{offered}\n    fail()"))
    if jax.device_count() >= 4:
        mesh = jax.sharding.Mesh(jax.devices()[:4], ("batch",))
        whole, sharded = (NamedSharding(mesh, PartitionSpec(*each)) for each in ((), ("batch",)))
        (variant,) = split(program, "shard")
        assert (variant.batch, variant.parts) == (("x", "y"), 4)
        assert variant.need_bytes == need(BATCHES, in_shardings=(whole, sharded, sharded)) < program.need_bytes


@needs_devices
@pytest.mark.usefixtures("not_compiled")
@pytest.mark.parametrize(("examples", "devices"), [(960, [4]), (963, [3]), (961, [])])
def test_devices_have_to_divide_the_batch(failing: Failing, examples: int, devices: list[int]) -> None:
    program = program_of(failing(BATCHES.replace("960", str(examples))), memory_bytes=1)
    assert [each.parts for each in split(program, "shard")] == devices
    assert program.unsplit == ""


@pytest.mark.usefixtures("not_compiled")
def test_one_device_is_said_to_be_too_few(failing: Failing, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(split_batch, "local_devices", lambda: tuple(jax.devices()[:1]))
    program = program_of(failing(BATCHES), memory_bytes=1)
    assert split(program, "shard") == []
    assert split(program, "microbatch")
    assert program.unsplit == "one device"


@needs_devices
@pytest.mark.usefixtures("not_compiled")
def test_arrays_on_the_other_devices_count(failing: Failing) -> None:
    gc.collect()  # arrays of other tests
    last = jax.devices()[-1]
    kept = jax.device_put(np.ones((2048, 1024), np.float32), last)
    (variant,) = split(program_of(failing(BATCHES), memory_bytes=1), "shard")
    on_last = sum(each.nbytes for each in jax.live_arrays() if each.sharding.device_set == {last})
    assert variant.others_bytes is not None
    assert variant.others_bytes >= on_last >= kept.nbytes


@pytest.mark.usefixtures("not_compiled")
def test_a_sum_is_no_mean(failing: Failing) -> None:
    program = program_of(failing(BATCHES.replace("jnp.mean", "jnp.sum")))
    assert {(each.mean, each.code) for each in split(program, "microbatch")} == {("loss", None)}


@pytest.mark.usefixtures("not_compiled")
@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("grads = jax.grad(loss)(params, x, y)", "grads = (jax.grad(loss)(params, x, y), 1)[0]"),
        ("def step(params, x, y):", "def step(params, x, y=None):"),
        ("(960, 20)", "(20, 20)"),  # may be another axis
    ],
)
def test_a_batch_that_is_not_evident_is_not_split(failing: Failing, before: str, after: str) -> None:
    program = program_of(failing(BATCHES.replace(before, after)), memory_bytes=1)
    assert [each for each in program.variants if each.batch] == []
    assert program.unsplit == "unknown"


LINEN = """
    import flax.linen as nn
    class Net(nn.Module):
        @nn.compact
        def __call__(self, x):
            y = nn.Dense(3)(x)
            return jnp.sort(y[:, :1] * y[:, 0])[0]  # peak
    net, x = Net(), jnp.ones((1024, 2))
    params = net.init(jax.random.key(0), x)
    predict = jax.jit(lambda params, x: net.apply(params, x))
    fail()
    predict(params, x)  # here
"""

NNX = """
    from flax import nnx
    class Net(nnx.Module):
        def __init__(self): self.layer = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
        def __call__(self, x):
            y = self.layer(x)
            return jnp.sort(y[:, :1] * y[:, 0])[0]  # peak
    net, x = Net(), jnp.ones((1024, 2))
    predict = nnx.jit(lambda net, x: net(x))
    fail()
    y = predict(net, x)  # here
"""

EQUINOX = """
    import equinox as eqx
    class Net(eqx.Module):
        layer: eqx.nn.Linear
        def __call__(self, x):
            y = jax.vmap(self.layer)(x)
            return jnp.sort(y[:, :1] * y[:, 0])[0]  # peak
    net, x = Net(eqx.nn.Linear(2, 3, key=jax.random.key(0))), jnp.ones((1024, 2))
    @eqx.filter_jit
    def predict(net, x): return net(x)
    fail()
    wait(predict(net, x))  # here
"""


@pytest.mark.parametrize(("library", "source"), [("flax", LINEN), ("flax", NNX), ("equinox", EQUINOX)])
def test_the_peak_is_on_the_line_of_a_module_of_a_library(failing: Failing, library: str, source: str) -> None:
    pytest.importorskip(library)
    cell = failing(source)
    assert cell.finding.line == cell.here
    program = program_of(cell)
    peak = program.held[0]
    number = next(at for at, line in enumerate(source.splitlines(), start=1) if "# peak" in line)
    assert (peak.line or "").endswith(f":{number}")
    assert peak.name == "f32[1024,1024]"
    assert 4 * MIB < program.need_bytes < 9 * MIB
    assert [each.name for each in program.held if each.line is None] == (
        ["x", "params['params']['Dense_0']['kernel']", "params['params']['Dense_0']['bias']"]
        if source is LINEN
        else []
    )
    assert program.incomplete == ("" if source is LINEN else "converted")
