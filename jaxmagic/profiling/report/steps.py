"""Sentences and a table about the steps of a profile."""

from __future__ import annotations

from ... import units
from ...statistics.medians import median
from ..analysis.devices.step_parts import PARTS, StepParts, mean_parts, step_parts
from ..analysis.devices.steps import MOST_STEPS
from ..record.profile import Profile

#: Smaller shares of a step are not mentioned.
_WORTH_A_WORD = 0.05

_BOUND = {
    "compute": "bound by computation",
    "collectives": "bound by exposed communication",
    "memcpy": "bound by exposed memcpy",
    "input": "bound by its input, because the host moves data or fetches the next item of an iterator meanwhile",
    "host": "bound by the host",
    "idle": "bound by waits of unknown cause",
}

_DOES = {
    "compute": "computes for {}",
    "collectives": "communicates for {}",
    "memcpy": "copies for {}",
    "input": "waits for input for {}",
    "host": "waits for the host for {}",
    "idle": "waits for unknown causes for {}",
}


def about_steps(profile: Profile) -> list[str]:
    """Describe step times, their parts, and the part that bounds them."""
    parts = step_parts(profile.step_times)
    if parts is None:
        return []
    first = profile.step_times[0]
    known_by = {
        "steps": "as the profiler marks them",
        "program": f"from one execution of {first.name} to the next",
        "annotation": f"as {first.name} marks them",
    }[first.known_by]
    kept = f" (only the first {MOST_STEPS:,} are kept)" if parts.steps >= MOST_STEPS else ""
    spread = "" if parts.steps == 1 else f" ({units.time(parts.low_ns)} to {units.time(parts.high_ns)})"
    count = units.count(parts.steps, "step")
    return [
        f"{count}, {known_by}{kept}: median {units.time(parts.median_ns)}{spread}.",
        _bound(parts, own=profile.runs is not None),
    ]


def _bound(parts: StepParts, *, own: bool) -> str:
    """Return the evidence, and for a recording made elsewhere the verdict; other profiles have one on the run."""
    shares = sorted(parts.shares.items(), key=lambda each: -each[1])
    does = [
        _DOES[name].format(units.percent(share))
        for name, share in shares
        if share >= _WORTH_A_WORD or name == parts.bound
    ]
    device = f"In a step the device {' and '.join(filter(None, (', '.join(does[:-1]), does[-1])))}"
    if own:
        return f"{device}."
    slow = " The profiler slows the host down." if parts.bound in ("host", "input", "idle") else ""
    return f"{device}: {_BOUND[parts.bound]}.{slow}" if parts.bound else f"{device}; no single part bounds it."


def step_table(profile: Profile, most: int) -> list[tuple[str, ...]]:
    """Make one row per device with the median step time and the parts of the mean step; empty without steps."""
    steps = [each for each in profile.step_times if each.time_ns]
    if not steps:
        return []
    parts = [mean_parts(each) for each in steps]
    shown = [name for name, _ in PARTS if any(each[name] for each in parts)]
    heads = ("device", "steps", "median", "mean", *shown)
    rows = [
        (
            each.device,
            f"{len(each.time_ns):,}",
            units.time(median(each.time_ns)),
            units.time(sum(each.time_ns) / len(each.time_ns)),
            *(units.time(mean[name]) for name in shown),
        )
        for each, mean in zip(steps[:most], parts, strict=False)
    ]
    return [heads, *rows]
