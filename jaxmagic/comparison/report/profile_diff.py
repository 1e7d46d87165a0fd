"""Writes sentences and tables about the profiles of candidates, for every medium."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ... import units
from ...benchmarking.record.versus import Versus, judge
from ...benchmarking.report.versus import headline
from ...profiling.record.profile import COMPILED_EARLIER, Profile
from ...statistics.estimate import Estimate
from ...statistics.medians import FEWEST_FOR_INTERVAL
from ..analysis.device_scaling import device_scaling, devices_used, has_device_counts, is_device_count
from ..analysis.profile_diff import NOTICEABLE, By, Difference, call_ns, differences, profiled
from ..record.comparison import Comparison
from ..record.sweep import Sweep

Rows = list[tuple[str, ...]]

#: Lines and operations with less than this share of a call's device time are not shown.
_LEAST_SHARE = 0.005


def about_profiles(comparison: Comparison) -> list[str]:
    """Say how long devices are busy in a call of each candidate, and why that is unknown for some."""
    profiles = profiled(comparison)
    sentences = []
    if profiles:
        times = ", ".join(f"{label} {units.time(call_ns(profile))}" for label, profile in profiles)
        sentences.append(
            f"Device time per call, under the profiler: {times}. The verdict is about the wall time without "
            f"the profiler{_but(comparison, profiles)}."
        )
    for each in comparison.candidates:
        if each.profile is not None:
            notes: Sequence[object] = [note for note in each.profile.notes if note.kind == COMPILED_EARLIER]
            if not each.profile.device_uses:
                notes = each.profile.notes or ("no device time was recorded.",)
            sentences += [f"{each.label}: {note}" for note in notes]
    return sentences


def _but(comparison: Comparison, profiles: Sequence[tuple[str, Profile]]) -> str:
    """Name the candidates whose device time contradicts the verdict."""
    (baseline, before), *others = profiles
    contrary = [
        label
        for label, profile in others
        if (versus := comparison[label]).baseline == baseline
        and ((versus.verdict == "faster" and call_ns(profile) > call_ns(before))
             or (versus.verdict == "slower" and call_ns(profile) < call_ns(before)))
    ]  # fmt: skip
    if not contrary:
        return ""
    who = " and ".join(contrary)
    return f", and is the opposite for {who}: wall time includes the host, and the profiler takes time"


def profile_tables(comparison: Comparison, most: int) -> Iterator[tuple[Rows, int]]:
    """Tabulate lines, then operations, of each candidate against the first, with the total number of rows."""
    profiles = profiled(comparison)
    for label, profile in profiles[1:]:
        baseline, before = profiles[0]
        least = _LEAST_SHARE * max(call_ns(before), call_ns(profile))
        for by in ("line", "operation"):
            rows = differences(before, profile, by)
            shown = [each for each in rows if max(each.before_ns, each.after_ns) >= least][:most]
            yield _table(shown, by, baseline, label), len(rows)


def _table(rows: list[Difference], by: By, baseline: str, label: str) -> Rows:
    cells = [
        (
            each.name,
            units.time(each.before_ns) if each.before_ns else "–",
            units.time(each.after_ns) if each.after_ns else "–",
            _change(each),
        )
        for each in rows
    ]
    return [(by, baseline, label, "change"), *cells]


def _change(difference: Difference) -> str:
    if difference.change == "the same":
        return f"less than {units.percent(NOTICEABLE)}"
    if difference.change in ("appeared", "vanished"):
        return difference.change
    return f"{units.time(abs(difference.change_ns))} {difference.change}"


#: An efficiency above this, which would be more than perfect, says nothing.
_NO_BOUND = 2.0


def about_scaling(sweep: Sweep) -> list[str]:
    """Say whether a call of each candidate is faster on the most devices than on the fewest."""
    scaled = device_scaling(sweep)
    sentences = []
    for label in dict.fromkeys(each.label for each in scaled):
        first, *_, last = [each for each in scaled if each.label == label]
        ratio = last.speedup.inverse if last.speedup.confidence else None
        versus = Versus(
            label=f"{label} on {units.count(last.devices, 'device')}",
            baseline=f"{label} on {units.count(first.devices, 'device')}",
            ratio=ratio,
            verdict=judge(ratio),
            break_even_calls=None,
        )
        lacking = min(first.rounds, last.rounds)
        needed = "" if ratio is not None else f" ({lacking} of the {FEWEST_FOR_INTERVAL} that it takes)"
        sentences.append(f"{headline(versus)}{needed}.")
    return [*sentences, *(_about_virtual(sweep) if sentences else ())]


def _about_virtual(sweep: Sweep) -> list[str]:
    if sweep.environment.backend != "cpu" or sweep.environment.process_count != 1:
        return []
    return [
        "These devices are virtual and share the cores of one CPU: this does not show how the code scales over real "
        "devices."
    ]


def about_missing_profiles(sweep: Sweep) -> list[str]:
    """Say what a sweep over devices does not show, and why."""
    points = [each.comparison for each in sweep.points if each.comparison is not None]
    if len(sweep.variables) > 1 and any(is_device_count(each, sweep.environment) for each in sweep.variables):
        return ["Speed-up and efficiency need a sweep over the number of devices alone.", *_about_virtual(sweep)]
    if not has_device_counts(sweep):
        return []
    if any(each.profile is not None for point in points for each in point.candidates):
        return [] if device_scaling(sweep) else _about_same_number(sweep)
    return [
        "Measure with --profile (profile=True) to see speed-up and efficiency, and how long devices communicate or "
        "are idle.",
        *_about_virtual(sweep),
    ]


def _about_same_number(sweep: Sweep) -> list[str]:
    """Say which candidates ran on the same number of devices at each point."""
    used = {label: set(devices_used(sweep, label)) for label in sweep.labels}
    return [
        f"{label} ran on {units.count(each, 'device')} at each point: shard its arrays over the devices to see how "
        "it scales."
        for label, counts in used.items()
        if len(counts) == 1 and len(sweep.points) > 1
        for each in counts
    ]


def scaling_table(sweep: Sweep) -> Rows:
    """Tabulate speed-up, efficiency and communication by the number of devices; empty if that does not vary."""
    rows = [
        (
            each.label,
            str(each.devices),
            units.time(each.time.value),
            units.factor(each.speedup.value),
            _efficiency(each.efficiency),
            units.percent(each.exposed_share) if each.exposed_share else "0 %",
            units.percent(each.idle_share) if each.idle_share else "0 %",
        )
        for each in device_scaling(sweep)
    ]
    return (
        [("candidate", "devices", "time", "speed-up", "efficiency", "exposed comm.", "idle"), *rows] if rows else []
    )


def _efficiency(share: Estimate) -> str:
    """Return a share in percent, with its interval, or why it has none."""
    value, low, high = (units.percent(each) for each in (share.value, share.low, share.high))
    if not share.confidence:
        return "too few rounds"
    if share.high > _NO_BOUND:
        return f"{value} (at least {low})"
    return value if share.low == share.high else f"{value} ({low.removesuffix(' %')} to {high})"
