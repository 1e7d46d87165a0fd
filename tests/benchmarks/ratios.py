"""Are ratios true? Scans of 1,000 steps beside scans of some more, again and again.

What a scan of 1,020 steps takes of the time of one of 1,000 is a little less than 1.02, because the call itself takes
its time. So the truth is the median over all rounds of all other comparisons of the same two. Beside what is said now
stands what would have been said before: of the same rounds, by the ratio to the mean of both samples of the baseline,
with the noise of the baseline as a floor.
"""

from __future__ import annotations

import json
import sys
from math import exp, log
from time import perf_counter
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

import jaxmagic
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.comparison.record.verdict import ratios
from jaxmagic.statistics.medians import sign_interval

#: Steps beside 1,000.
STEPS = (1000, 1020, 1050, 1100)


def scan(steps: int) -> Any:
    """A function of its own for each comparison, so that placement and compilation are new."""
    return jax.jit(lambda x: jax.lax.scan(lambda c, _: (jnp.tanh(c * 1.01), None), x, None, length=steps)[0])


def before(comparison: Comparison) -> tuple[float, float, float, str]:
    """The ratio, its interval and the verdict as they were made up to now."""
    baseline, other = (each.latency.calls_ns for each in comparison.candidates)
    again = comparison.again.calls_ns
    both = [(one * two) ** 0.5 for one, two in zip(baseline, again, strict=True)]
    found = sign_interval([log(one / two) for one, two in zip(other, both, strict=True)])
    noise = sign_interval([log(one / two) for one, two in zip(again, baseline, strict=True)])
    if found is None or noise is None:
        return 1.0, 0.0, float("inf"), "too noisy to tell"
    floor = max(abs(noise.low), abs(noise.high))
    verdict = "slower" if found.low > floor else "faster" if found.high < -floor else "no difference"
    if verdict == "no difference" and max(abs(found.low), abs(found.high)) > log(1.03):
        verdict = "too noisy to tell"
    return exp(found.value), exp(found.low), exp(found.high), verdict


def measure(each: int) -> list[dict[str, Any]]:
    """As many comparisons for each number of steps."""
    x = jnp.linspace(0, 1, 64)
    found = []
    for _ in range(each):
        for steps in STEPS:
            candidates = {"1000": scan(1000), "more": scan(steps)}
            started = perf_counter()
            comparison = jaxmagic.compare(candidates, x, check="none", budget_s=2)
            took_s = perf_counter() - started
            versus = comparison["more"]
            assert versus.ratio is not None
            found.append(
                {
                    "steps": steps,
                    "rounds": len(comparison.again.samples_ns),
                    "seconds": took_s,
                    "ratios": [float(each) for each in ratios(comparison, "more")],
                    "now": [versus.ratio.value, versus.ratio.low, versus.ratio.high, versus.verdict],
                    "before": before(comparison),
                }
            )
            print(f"  {steps}: {versus.verdict}", file=sys.stderr)
    return found


def main(each: int) -> list[dict[str, Any]]:
    """For each number of steps how often intervals hold, and what is said."""
    runs = measure(each)
    rows = []
    for steps in STEPS:
        mine = [run for run in runs if run["steps"] == steps]
        row: dict[str, Any] = {"steps": steps, "comparisons": len(mine)}
        row["rounds"] = [run["rounds"] for run in mine]
        row["seconds"] = [run["seconds"] for run in mine]
        row["truth"] = float(np.median([np.median(run["ratios"]) for run in mine]))
        for who in ("now", "before"):
            covered = 0
            for run in mine:
                others = [float(np.median(other["ratios"])) for other in mine if other is not run]
                truth = float(np.median(others)) if others else float(np.median(run["ratios"]))
                covered += run[who][1] <= truth <= run[who][2]
            verdicts = [run[who][3] for run in mine]
            row[who] = {
                "covered": covered,
                "verdicts": {each: verdicts.count(each) for each in sorted(set(verdicts))},
            }
        rows.append(row)
    return rows


if __name__ == "__main__":
    print(json.dumps(main(int(sys.argv[1]))))
