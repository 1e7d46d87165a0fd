"""The part of a run that one function has, by samples that were never taken."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from fabricate import hlo

from jaxmagic.doctor.record.evidence import Evidence, FunctionShare, HostShare
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.inside_function import SourceRange, inside_function, inside_transformed
from jaxmagic.doctor.rules.host.syntax import Function
from jaxmagic.records.call_stack import Frame

FILE = "train.py"
(STEP,) = (each for each in ast.parse("def step(x):\n    return x\n").body if isinstance(each, Function))
AT_STEP = Frame(function="step", file=FILE, line=2)
LOADER = Frame(function="loader", file=FILE, line=9)
LOOP = Frame(function="train", file=FILE, line=12)
OPTAX = Frame(function="update", file="/lib/site-packages/optax/alias.py", line=1)


@pytest.fixture
def evidence(timing: Any, executable: Any) -> Callable[..., Evidence]:
    def make(called: str, *others: HostShare, stack: tuple[Frame, ...] = (LOOP, AT_STEP, OPTAX)) -> Evidence:
        """Take 60 samples of the step, and others."""
        program = Program(
            executable=executable(name="jit_sin"),
            module=hlo.module(hlo.instruction("sine", stack=stack), name="jit_sin"),
            function="sin",
            eager=True,
        )
        first = Frame(function="step", file=FILE, line=1)
        return Evidence(
            code=None,
            first=timing(),
            observed=timing(),
            programs=(program,) if stack else (),
            host=(HostShare(line=AT_STEP, called=called, samples=60, stack=(AT_STEP, LOOP)), *others),
            functions=(FunctionShare(function=first, called=called, samples=60, time_ns=1),),
        )

    return make


def share_of(made: Evidence) -> float | None:
    found = inside_function(STEP, FILE, made)
    return None if found is None else found.share


@pytest.mark.parametrize(
    ("called", "counts"),
    [
        ("jax.numpy.sin", True),
        ("jax._src.traceback_util.api_boundary.<locals>.reraise_with_filtered_traceback", True),
        ("jax._src.source_info_util.ExtendNameStackContextManager.__call__.<locals>.wrapper", True),
        ("optax.transforms._combining.chain.<locals>.update_fn", True),  # it led to an operation
        ("pandas.core.frame.DataFrame.sum", False),
        ("jax._src.array.ArrayImpl._value", False),
        ("", True),
    ],
)
def test_what_leads_to_operations_counts(evidence: Any, called: str, counts: bool) -> None:
    other = HostShare(line=LOOP, called="jax.numpy.cos", samples=40, stack=(LOOP,))
    assert share_of(evidence(called, other)) == pytest.approx(0.6 if counts else 0)


def test_a_loader_that_calls_no_operation_has_none_of_them(evidence: Any) -> None:
    loading = HostShare(
        line=LOADER, called="jax._src.numpy.array_constructors.asarray", samples=40, loading=(LOADER, LOOP)
    )
    assert share_of(evidence("jax.numpy.sin", loading)) == 1
    augments = (LOOP, LOADER)
    assert share_of(evidence("jax.numpy.sin", loading, stack=augments)) == pytest.approx(0.6)
    assert share_of(evidence("jax.numpy.sin", loading, stack=())) == pytest.approx(0.6)  # nothing is known


def test_rows_of_an_array_are_operations(evidence: Any) -> None:
    rows = HostShare(line=LOOP, called="", samples=40, loading=(LOOP,))
    assert share_of(evidence("jax.numpy.sin", rows)) == pytest.approx(0.6)


class TestInsideTransformed:
    """``jax.grad(step)(x)`` at the line of the loop: forwards inside the function, backwards outside of it."""

    CALLED_AT = (SourceRange(FILE, LOOP.line, LOOP.line),)
    BACKWARD = "jax._src.traceback_util.api_boundary.<locals>.reraise_with_filtered_traceback"

    def share(self, made: Evidence) -> float | None:
        found = inside_transformed(STEP, FILE, self.CALLED_AT, made)
        return None if found is None else found.share

    @pytest.mark.parametrize(
        ("called", "share"),
        [
            (BACKWARD, 1.0),
            ("flax.nnx.transforms.autodiff.grad.<locals>.grad_wrapper", 1.0),
            ("jax._src.tree.map", 0.6),  # such as an update on the same line
            ("jax._src.numpy.array_methods.deferring_binary_op", 0.6),
        ],
    )
    def test_what_the_call_itself_does_is_inside(self, evidence: Any, called: str, share: float) -> None:
        stack = (LOOP, AT_STEP, Frame(function="grad_wrapper", file="/lib/site-packages/flax/nnx/grad.py", line=1))
        calls = HostShare(line=LOOP, called=called, samples=40, stack=(LOOP,))
        made = evidence("jax.numpy.sin", calls, stack=stack)
        everywhere = 1.0 if "tree" in called else share  # it is not known to lead to operations
        assert self.share(made) == pytest.approx(everywhere)

    def test_what_the_function_calls_is_inside(self, evidence: Any) -> None:
        model = Frame(function="__call__", file=FILE, line=20)
        inner = HostShare(line=model, called="jax.numpy.cos", samples=30, stack=(model, AT_STEP, LOOP))
        other = HostShare(line=model, called="jax.numpy.cos", samples=10, stack=(model, LOOP))
        assert self.share(evidence("jax.numpy.sin", inner, other)) == pytest.approx(0.9)

    def test_what_other_lines_call_the_function_for_is_not_inside(self, evidence: Any) -> None:
        direct = HostShare(line=AT_STEP, called="jax.numpy.cos", samples=40, stack=(AT_STEP, LOADER))
        assert self.share(evidence("jax.numpy.sin", direct)) == pytest.approx(0.6)

    def test_the_time_is_bounded_from_both_sides(self, evidence: Any) -> None:
        other = HostShare(line=LOOP, called="jax.numpy.cos", samples=40, stack=(LOOP,))
        made = evidence("jax.numpy.sin", other)
        found = inside_transformed(STEP, FILE, self.CALLED_AT, made)
        assert found is not None
        assert found.least_ns < 0.6 * made.first.wall_ns < found.most_ns

    def test_few_samples_tell_nothing(self, evidence: Any) -> None:
        made = evidence("jax.numpy.sin")
        few = replace(made, host=tuple(replace(each, samples=3) for each in made.host))
        assert self.share(few) is None


@pytest.mark.parametrize("compile_ms", [0, 900])
def test_samples_are_of_the_time_in_which_nothing_was_compiled(evidence: Any, timing: Any, compile_ms: int) -> None:
    """60 of 100 samples stand for 60 of 100 ms, and not for 600 of the 1000 ms of a run that compiles for 900 ms."""
    compile_ns = compile_ms * 1_000_000
    dispatch_ns = 100_000_000 + compile_ns
    run = replace(timing(), dispatch_ns=dispatch_ns, wait_ns=0, compilation_ns=compile_ns, compilations=())
    run = replace(run, tracing_ns=0, lowering_ns=0, cache_retrieval_ns=0, code_wait_ns=0)
    other = HostShare(line=LOOP, called="jax.numpy.cos", samples=40, stack=(LOOP,))
    made = evidence("jax.numpy.sin", other)
    share = replace(made.functions[0], time_ns=60_000_000)
    found = inside_function(STEP, FILE, replace(made, first=run, observed=run, functions=(share,)))
    assert found is not None
    margin = 2 * (0.6 * 0.4 / 100) ** 0.5 + 1 / 100
    assert found.least_ns == pytest.approx((0.6 - margin) * 100_000_000)
    assert found.most_ns == pytest.approx((0.6 + margin) * 100_000_000)
