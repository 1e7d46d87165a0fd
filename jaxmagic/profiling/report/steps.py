"""Words and tables for the steps of a profile."""

from __future__ import annotations

from ... import units
from ..analysis.devices.step_parts import PARTS, StepParts, mean_parts, step_parts, step_totals
from ..analysis.devices.steps import MOST_STEPS
from ..record.profile import Profile

#: Shares of a step from which on a part is worth a word, and a column.
_WORTH_A_WORD = 0.05

_BOUND = {
    "computes": "bound by computation",
    "exchanges": "bound by exchange between devices that no computation hides",
    "copies": "bound by copies that no computation hides",
    "input": "bound by its input: the host moves data or fetches the next of an iterator, and the device waits",
    "host": "bound by the host: the device waits for what it does",
    "idle": "mostly waiting, for what the recording does not tell",
}

_DOES = {
    "computes": "computes for {}",
    "exchanges": "exchanges data for {}",
    "copies": "copies for {}",
    "input": "waits for input for {}",
    "host": "waits for the host for {}",
    "idle": "waits for {} for what the recording does not tell",
}

#: Names of other marks that are told.
_MOST_NAMES = 4

#: A device that does more of its work than this outside of marked steps does what the marks do not show.
_OUTSIDE = 0.1


def about_steps(profile: Profile) -> list[str]:
    """Describe step times, their parts, and the part that bounds them."""
    found = step_parts(profile.step_times)
    if found is None:
        return []
    first = profile.step_times[0]
    of = {
        "steps": "as the profiler marks them",
        "program": f"from one run of {first.name} to the next",
        "annotation": f"as {first.name} marks them",
    }[first.known_by]
    names = [*first.other_names[:_MOST_NAMES], *["…"] * (len(first.other_names) > _MOST_NAMES)]
    others = f" (other marks: {', '.join(names)})" if names else ""
    if names and first.known_by == "program":
        others = f" and not as marked ({', '.join(names)}), where less than half of the device's work lies"
    cut = any(each.all_steps is not None for each in profile.step_times)
    kept = f" (the first {MOST_STEPS:,} are in steps())" if cut else ""
    spread = "" if found.steps == 1 else f", {units.time(found.low_ns)} to {units.time(found.high_ns)}"
    told = f"{units.count(found.steps, 'step')}, {of}{others}{kept}: {_medians(found)}{spread}."
    return [told, _bound(found, own=profile.runs is not None), *_outside(profile)]


def _outside(profile: Profile) -> list[str]:
    """Tell that devices work outside of the steps that the code marked: a mark may be around the dispatch alone."""
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


def _medians(found: StepParts) -> str:
    """Tell the median of one device, or of several from the least to the most."""
    least, most = (units.time(each) for each in found.medians_ns)
    return f"{least} in the median" if least == most else f"{least} to {most} in the median of a device"


def _bound(found: StepParts, *, own: bool) -> str:
    """The evidence, and the verdict where a recording was made elsewhere: a profile of our own has one of its run."""
    shares = sorted(found.shares.items(), key=lambda each: -each[1])
    does = [
        _DOES[name].format(units.percent(share))
        for name, share in shares
        if share >= _WORTH_A_WORD or name == found.bound
    ]
    device = f"In a step the device {' and '.join(filter(None, (', '.join(does[:-1]), does[-1])))}"
    if own:
        return f"{device}."
    slow = " The profiler slows the host down." if found.bound in ("host", "input", "idle") else ""
    return f"{device}: {_BOUND[found.bound]}.{slow}" if found.bound else f"{device}; nothing bounds it alone."


def step_table(profile: Profile, most: int) -> list[tuple[str, ...]]:
    """A row a device: how long a step takes in the median, and the parts of the mean one; empty without steps."""
    steps = [each for each in profile.step_times if each.time_ns]
    if not steps:
        return []
    parts, totals = [mean_parts(each) for each in steps], [step_totals(each) for each in steps]
    shown = [name for name, _ in PARTS if any(each[name] for each in parts)]
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
