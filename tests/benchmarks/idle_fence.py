"""What the fence costs when there is nothing to wait for, and how often it then believes that there was something.

In a loop, as its idle cost is measured; after a millisecond of other Python, when the worker threads have gone to
sleep; and right after a computation that was waited for, as at the end of a measurement.
"""

from __future__ import annotations

import json
import random
import sys
from time import perf_counter_ns as clock
from typing import Any

import jax
from workloads import WORKLOADS, calibrated

from jaxmagic.timing.capture.fence import Fence

#: Fences that are made in one run: each measures its idle cost anew, and some are luckier than others.
_FENCES = 10


def main(rounds: int) -> dict[str, dict[str, Any]]:
    """Nanoseconds of an idle fence, and how often it found work, in each of the circumstances."""
    function, argument, _ = calibrated(WORKLOADS["sharded" if jax.device_count() > 1 else "matmul"], 1e6)
    found: dict[str, dict[str, Any]] = {}
    for _ in range(_FENCES):
        fence = Fence()
        fence.prepare()
        circumstances = {
            "in a loop": fence.wait,
            "after 1 ms of Python": lambda: _keep_busy(1_000_000),
            "after 1 ms of work, waited for": lambda: function(argument).block_until_ready(),
        }
        _take_turns(fence, circumstances, rounds // _FENCES, found)
    return found


def _take_turns(fence: Fence, circumstances: dict[str, Any], rounds: int, found: dict[str, dict[str, Any]]) -> None:
    for _ in range(rounds):
        for when in random.sample(list(circumstances), len(circumstances)):
            circumstances[when]()
            start = clock()
            waited = fence.wait()
            took_ns = clock() - start
            row = found.setdefault(when, {"took_ns": [], "found_work": 0})
            row["took_ns"].append(took_ns)
            row["found_work"] += bool(waited.found_work)


def _keep_busy(time_ns: int) -> None:
    until = clock() + time_ns
    while clock() < until:
        pass


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
