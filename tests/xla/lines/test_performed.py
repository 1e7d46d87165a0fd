"""How often a line ran: in unrolled layers, in helpers, and where XLA duplicates operations."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from fabricate.profiling import fabricated
from recordings import module_of

from jaxmagic.profiling.analysis.source_lines import line_times
from jaxmagic.profiling.analysis.summarize import summarize
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.profiling.record.recording import EventMetadata, Trace, TraceLine


def profile_of(function: Any, *arguments: Any) -> dict[int, int]:
    """Count how often each line ran, relative to the function's first, if each instruction ran once."""
    found = module_of(function, *arguments)
    entry = list(found.computations)[-1]
    names = [found.instructions[number].name for number in found.computations[entry]]
    skipped = ("parameter", "constant", "tuple", "get-tuple-element", "bitcast")
    names = [each for each in names if found.instructions[found.instruction_ids[each]].opcode not in skipped]
    kinds = tuple(EventMetadata(each, {"hlo_op": each, "program_id": 1}) for each in names)
    starts = np.arange(len(names), dtype=np.int64) * 10_000
    numbers = np.arange(len(names), dtype=np.int64)
    track = TraceLine(
        name="", device="CPU:0", role="operations", kinds=numbers, start_ps=starts, end_ps=starts + 10_000
    )
    times = summarize(Trace((track,), kinds, {}, {("", 1): found}))
    lines = line_times(Profile(**times._asdict()))
    first = getattr(function, "__wrapped__", function).__code__.co_firstlineno
    return {each.frame.line - first: each.count for each in lines if each.frame and each.time_ns}


def test_a_line_in_two_unrolled_layers_ran_twice() -> None:
    def layers(x: Any, weights: Any) -> Any:
        for w in weights:
            x = jnp.tanh(x @ w)
        return x

    assert profile_of(layers, jnp.ones((50, 50)), [jnp.ones((50, 50)), jnp.ones((50, 50)) * 2])[2] == 2


def helper(x: Any) -> Any:
    return jax.lax.sort(x, dimension=1)


def test_a_helper_that_three_lines_call_ran_three_times() -> None:
    def calls(x: Any) -> Any:
        y = helper(x)
        z = helper(y.T)
        return helper(z * 2)

    line = helper.__code__.co_firstlineno + 1 - calls.__code__.co_firstlineno
    assert profile_of(calls, jnp.ones((30, 40)))[line] == 3


def test_what_xla_computes_again_ran_once() -> None:
    """The gradient of a pooling reads the pooled array in two fusions."""

    def loss(x: Any) -> Any:
        y = jax.nn.relu(x)
        z = jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 3, 3, 1), (1, 2, 2, 1), "SAME")
        return (z * z).sum()

    found = profile_of(jax.grad(loss), jnp.ones((2, 56, 56, 16)))
    assert found[1] == 1


def test_lines_of_a_record_count_the_ways_that_led_to_them() -> None:
    assert all(each.count for each in line_times(fabricated()) if each.time_ns)
