"""That no program ran is said only if the trace proves it."""

from __future__ import annotations

import numpy as np
import pytest

from jaxmagic.profiling.analysis.devices.programs_run import ran_no_program
from jaxmagic.profiling.analysis.run_windows import Window
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine

FENCE = "PjitFunction(jit(jaxmagic_fence))"
RUN = Window(0, 100)

Event = tuple[str, int, int]


def trace(*threads: list[Event]) -> Trace:
    names = sorted({name for events in threads for name, _, _ in events})
    lines = []
    for number, events in enumerate(threads):
        kinds, start, end = (
            np.array(column, np.int64)
            for column in zip(*[(names.index(name), begin, until) for name, begin, until in events], strict=True)
        )
        lines.append(
            TraceLine(name=f"thread {number}", device=None, role="host", kinds=kinds, start_ps=start, end_ps=end)
        )
    return Trace(tracks=tuple(lines), kinds=tuple(EventMetadata(name, {}) for name in names), devices={}, modules={})


def test_the_fence_alone_proves_that_nothing_else_ran() -> None:
    within = ("CommonPjRtLoadedExecutable::ExecutePrepare", 85, 90)
    assert ran_no_program(trace([("jaxmagic: run", 0, 99), (FENCE, 80, 95), within]), [RUN])


def test_without_the_fence_nothing_is_known() -> None:
    assert not ran_no_program(trace([("jaxmagic: run", 0, 99)]), [RUN])
    assert not ran_no_program(trace([(FENCE, 80, 95)]), [RUN, Window(100, 200)])
    assert not ran_no_program(trace([(FENCE, 80, 95)]), [])
    assert not ran_no_program(Trace(tracks=(), kinds=(), devices={}, modules={}), [RUN])


@pytest.mark.parametrize(
    "name",
    [
        "PjitFunction(f)",
        "PjitFunction(jit(<lambda>))",
        "PmapFunction(f)",
        "CommonPjRtLoadedExecutable::Execute (jit_f)",
        "GpuExecutable::ExecuteAsyncOnStream",
    ],
)
def test_a_dispatch_besides_the_fence_is_a_program(name: str) -> None:
    assert not ran_no_program(trace([(name, 10, 20), (FENCE, 80, 95)]), [RUN])
    assert not ran_no_program(trace([(FENCE, 80, 95)], [(name, 82, 90)]), [RUN])  # in another thread


def test_threads_of_the_cpu_that_execute_the_fence_are_no_dispatch() -> None:
    pool = [("[1] CommonPjRtLoadedExecutable::Execute (jit_jaxmagic_fence)", 82, 90)]
    assert ran_no_program(trace([(FENCE, 80, 95)], [*pool, ("ThunkExecutor::Execute (wait)", 96, 97)]), [RUN])
