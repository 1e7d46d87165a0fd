"""Sentences and a table about the steps of a profile."""

from __future__ import annotations

from ... import units
from ...records.names import listed
from ..analysis.devices.step_parts import PARTS, StepParts, mean_parts, step_parts, step_totals
from ..analysis.devices.steps import MOST_STEPS
from ..record.profile import Profile

#: Smaller shares of a step are not mentioned.
_WORTH_A_WORD = 0.05

#: What a part is besides its name, if it bounds a step.
_EXPOSED = ("collectives", "memcpy")
_MEANWHILE = {"input wait": ", because the host moves data or fetches the next item of an iterator meanwhile"}

#: The parts that the profiler makes longer, because it slows the host down.
_OF_THE_HOST = ("input wait", "host wait", "unexplained wait")

#: At most this many other marks are named.
_MOST_NAMES = 4

#: From this share of a step on, it is said what the wait for the host includes.
_MUCH = 0.25

#: Marked steps that cover less than this of the time from the first to the last leave much between them.
_MOST_COVERED = 0.9

#: More work than this outside of marked steps is reported.
_OUTSIDE = 0.1


def about_step_bound(profile: Profile) -> list[str]:
    """Say what bounds the steps of a recording made elsewhere; other profiles have a verdict on the run."""
    parts = step_parts(profile.step_times)
    return [] if parts is None or profile.runs is not None else [_bound(parts, own=False)]


def about_steps(profile: Profile) -> list[str]:
    """Describe step times and their parts."""
    parts = step_parts(profile.step_times)
    if parts is None:
        return []
    first = profile.step_times[0]
    known_by = {
        "steps": "marked by the profiler",
        "program": f"from one execution of {first.name} to the next",
        "annotation": f"marked as {first.name}",
    }[first.known_by]
    names = listed(first.other_names, _MOST_NAMES)
    others = f" (other marks: {names})" if names else ""
    if names and first.known_by == "program":
        others = f", not as marked ({names}), where less than half of the device's work lies"
    cut = any(each.all_steps is not None for each in profile.step_times)
    kept = f" (the first {MOST_STEPS:,} are in steps())" if cut else ""
    spread = "" if parts.steps == 1 else f" ({units.time(parts.low_ns)} to {units.time(parts.high_ns)})"
    count = units.count(parts.steps, "step")
    return [
        f"{count}, {known_by}{others}{kept}: {_medians(parts)}{spread}.",
        *([] if profile.runs is None else [_bound(parts, own=True)]),
        *_between(profile),
        *_outside(profile),
    ]


def _between(profile: Profile) -> list[str]:
    """Report how much time lies between marked steps, whose parts say nothing about it.

    Between several recorded runs there is time that is not the code's.
    """
    steps = profile.step_times[0]
    if steps.known_by != "annotation" or not steps.time_ns or (profile.runs or 1) > 1:
        return []
    ends = [start + time for start, time in zip(steps.start_ns, steps.time_ns, strict=True)]
    covered, span = sum(steps.time_ns), max(ends) - min(steps.start_ns)
    if covered >= _MOST_COVERED * span:
        return []
    return [
        f"These steps cover {units.time(covered)} of the {units.time(span)} from the first to the last, "
        f"{units.share(covered, span)}: the rest is between them, for example in the loader of a loop around the "
        "marks."
    ]


def _outside(profile: Profile) -> list[str]:
    """Report work outside of the marked steps: a mark may surround the dispatch alone."""
    marked = {each.device: each for each in profile.step_times if each.known_by == "annotation" and each.time_ns}
    uses = [each for each in profile.device_uses if each.device in marked]
    work = sum(each.busy_ns - each.callback_ns for each in uses)
    totals = [step_totals(each) for each in marked.values()]
    inside = sum(each.compute_ns + each.collective_ns + each.copy_ns for each in totals)
    if not uses or work - inside <= _OUTSIDE * work:
        return []
    whose = "the device's" if len(uses) == 1 else "the devices'"
    return [
        f"{units.share(work - inside, work)} of {whose} work lies outside of these steps: a step ends with its mark, "
        "and what it dispatched may run later."
    ]


def _medians(parts: StepParts) -> str:
    """Word the median of one device, or of several from the smallest to the largest."""
    least, most = (units.time(each) for each in parts.medians_ns)
    return f"median {least}" if least == most else f"medians of the devices {least} to {most}"


def _bound(parts: StepParts, *, own: bool) -> str:
    """Return the evidence, and for a recording made elsewhere the verdict; other profiles have one on the run."""
    shares = sorted(parts.shares.items(), key=lambda each: -each[1])
    has = [
        f"{units.percent(share)} {name}" for name, share in shares if share >= _WORTH_A_WORD or name == parts.bound
    ]
    step = f"A step of the device is {' and '.join(filter(None, (', '.join(has[:-1]), has[-1])))}"
    if own:
        loader = " Host wait includes Python code, such as a data loader's."
        return f"{step}.{loader if parts.shares['host wait'] >= _MUCH else ''}"
    if not parts.bound:
        return f"{step}; no single part bounds it."
    bound = f"exposed {parts.bound}" if parts.bound in _EXPOSED else parts.bound
    slow = " The profiler slows the host down." if parts.bound in _OF_THE_HOST else ""
    return f"{step}: bound by {bound}{_MEANWHILE.get(parts.bound, '')}.{slow}"


def step_table(profile: Profile, most: int) -> list[tuple[str, ...]]:
    """Make one row per device with the median step time and the parts of the mean step, the longest part first.

    Where a terminal has no room for all, the shortest are left out. Empty without steps.
    """
    steps = [each for each in profile.step_times if each.time_ns]
    if not steps:
        return []
    parts, totals = [mean_parts(each) for each in steps], [step_totals(each) for each in steps]
    means = {name: sum(each[name] for each in parts) for name, _ in PARTS}
    shown = sorted(filter(means.get, means), key=lambda name: -means[name])
    heads = ("device", "steps", "median", "mean", *shown)
    rows = [
        (
            each.device,
            f"{total.steps:,}",
            units.time(total.median_ns),
            units.time(total.time_ns / total.steps),
            *(units.time(mean[name]) for name in shown),
        )
        for each, total, mean in zip(steps[:most], totals, parts, strict=False)
    ]
    return [heads, *rows]
