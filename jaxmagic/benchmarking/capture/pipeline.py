"""Measures pipelined calls, alternating with the same number of calls that are waited for one by one."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from ...timing.capture.result_arrays import find_arrays
from ..record.samples import BATCHES, FEWEST_CALLS, FEWEST_TURNS, Trial
from .runner import Runner

#: The usual number of turns, each with one pipelined batch and two waited-for ones; and how many calls with how many
#: bytes of results may be in flight in a batch.
_TURNS, _MOST_CALLS, _MOST_IN_FLIGHT_BYTES = 7, 100, 2**30


class Pipelined(NamedTuple):
    """Batches of calls, all of the same number.

    Attributes:
        pipelined: one batch per turn, with one wait at its end.
        waited: two batches per turn, in the order in which they were taken, with a wait after each call.
    """

    pipelined: Trial
    waited: Trial


def take_pipelined(runner: Runner, call_ns: float, budget_ns: float) -> Pipelined | None:
    """Take turns of batches in shuffled order, as many as fit into the budget.

    Returns ``None`` where too few fit, where it is unsafe, and where calls cannot overlap: see ``runner.serial``.
    """
    if not runner.repeatable:
        return None
    if _may_block_each_other(runner.value):
        runner.serial = "several devices"
        return None
    batch_ns = budget_ns / BATCHES
    calls = min(int(batch_ns / _TURNS / max(call_ns, 1)), _MOST_CALLS, _fit_in_flight(runner.value))
    calls = max(calls, FEWEST_CALLS)
    turns = min(int(batch_ns / (calls * max(call_ns, 1))), _TURNS)
    if turns < FEWEST_TURNS:
        return None
    if runner.detect_serial():
        return None
    order = random.Random(0)
    pipelined: list[int] = []
    waited: list[int] = []
    take = [(pipelined, runner.pipelined_sample), (waited, runner.waited_sample), (waited, runner.waited_sample)]
    for _ in range(turns):
        for samples, sample in order.sample(take, BATCHES):
            samples.append(sample(calls))
    return Pipelined(
        Trial(samples_ns=tuple(pipelined), evaluations=calls), Trial(samples_ns=tuple(waited), evaluations=calls)
    )


def _may_block_each_other(value: Any) -> bool:
    """Return whether calls that are in flight together may deadlock.

    Several devices of one CPU share its threads. The threads of one call may wait for devices whose threads wait for
    another call, and after 40 s XLA ends the process (seen with JAX 0.10.2, four devices and two processors).
    """
    shardings = (getattr(array, "sharding", None) for array in find_arrays(value).arrays)
    device_sets = [sharding.device_set for sharding in shardings if sharding is not None]
    return any(len(each) > 1 and all(device.platform == "cpu" for device in each) for each in device_sets)


def _fit_in_flight(value: Any) -> int:
    size_bytes = sum(array.nbytes for array in find_arrays(value).arrays)
    return _MOST_IN_FLIGHT_BYTES // max(size_bytes, 1)
