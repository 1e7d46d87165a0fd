"""Calls in flight together, beside as many that are waited for one by one."""

from __future__ import annotations

import random
from typing import Any, NamedTuple

from ...timing.capture.result_arrays import find_arrays
from ..record.samples import Trial
from .runner import Runner

#: Turns, each with one batch in flight and two that are waited for; and how many calls of how many bytes may be in
#: flight in one.
_FEWEST_TURNS, _TURNS, _MOST_CALLS, _MOST_IN_FLIGHT_BYTES = 4, 7, 100, 2**30

#: Batches in a turn.
_BATCHES = 3


class Pipelined(NamedTuple):
    """Batches of calls, all of as many.

    Attributes:
        pipelined: one for each turn, with one wait at its end.
        waited: two for each turn, one after the other, with a wait after each call.
    """

    pipelined: Trial
    waited: Trial


def take_pipelined(runner: Runner, call_ns: float, budget_ns: float) -> Pipelined | None:
    """Turns of batches in shuffled order, as many as fit.

    ``None`` where too few do, where that is not safe, and where calls cannot overlap: ``runner.serial`` says why.
    """
    if not runner.repeatable:
        return None
    if _may_block_each_other(runner.value):
        runner.serial = "several devices"
        return None
    batch_ns = budget_ns / _BATCHES
    calls = min(int(batch_ns / _TURNS / max(call_ns, 1)), _MOST_CALLS, _fit_in_flight(runner.value))
    calls = max(calls, 2)
    turns = min(int(batch_ns / (calls * max(call_ns, 1))), _TURNS)
    if turns < _FEWEST_TURNS:
        return None
    if runner.look_whether_serial():
        return None
    order = random.Random(0)
    pipelined: list[int] = []
    waited: list[int] = []
    take = [(pipelined, runner.pipelined_sample), (waited, runner.waited_sample), (waited, runner.waited_sample)]
    for _ in range(turns):
        for samples, sample in order.sample(take, _BATCHES):
            samples.append(sample(calls))
    return Pipelined(
        Trial(samples_ns=tuple(pipelined), evaluations=calls), Trial(samples_ns=tuple(waited), evaluations=calls)
    )


def _may_block_each_other(value: Any) -> bool:
    """Tell whether calls that are in flight together may wait for each other without end.

    Several devices of one CPU share its threads: those of one call may be waiting for devices whose threads wait for
    those of another one, and after 40 s XLA ends the process (seen with JAX 0.10.2, four devices and two processors).
    """
    shardings = (getattr(array, "sharding", None) for array in find_arrays(value).arrays)
    places = [sharding.device_set for sharding in shardings if sharding is not None]
    return any(len(each) > 1 and all(device.platform == "cpu" for device in each) for each in places)


def _fit_in_flight(value: Any) -> int:
    size_bytes = sum(array.nbytes for array in find_arrays(value).arrays)
    return _MOST_IN_FLIGHT_BYTES // max(size_bytes, 1)
