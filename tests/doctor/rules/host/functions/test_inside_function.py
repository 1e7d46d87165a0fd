"""The part of a run that one function has, by samples that were never taken."""

from __future__ import annotations

import ast
from collections.abc import Callable
from typing import Any

import pytest
from fabricate import hlo

from jaxmagic.doctor.record.evidence import Evidence, FunctionShare, HostShare
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.functions.inside_function import inside_function
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
