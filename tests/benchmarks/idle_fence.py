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

from jaxmagic.capture.fence import Fence


def main(rounds: int) -> dict[str, dict[str, Any]]:
    """Nanoseconds of an idle fence, and how often it found work, in each of the circumstances."""
    function, argument, _ = calibrated(WORKLOADS["sharded" if jax.device_count() > 1 else "matmul"], 1e6)
    fence, chance = Fence(), random.Random(0)
    fence.prepare()
    circumstances = {
        "in a loop": fence.wait,
        "after 1 ms of Python": lambda: _keep_busy(1_000_000),
        "after 1 ms of work, waited for": lambda: function(argument).block_until_ready(),
    }
    found: dict[str, dict[str, Any]] = {when: {"took_ns": [], "found_work": 0} for when in circumstances}
    for _ in range(rounds):
        for when in chance.sample(list(circumstances), len(circumstances)):
            circumstances[when]()
            start = clock()
            waited = fence.wait()
            found[when]["took_ns"].append(clock() - start)
            found[when]["found_work"] += bool(waited.found_work)
    return found


def _keep_busy(time_ns: int) -> None:
    until = clock() + time_ns
    while clock() < until:
        pass


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
