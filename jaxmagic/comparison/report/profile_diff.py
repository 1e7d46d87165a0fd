"""What is said of the profiles of candidates, in every medium."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...statistics.estimate import Estimate
from ..analysis.device_scaling import device_scaling
from ..analysis.profile_diff import By, Difference, call_ns, differences, profiled
from ..record.comparison import Comparison
from ..record.sweep import Sweep

Rows = list[tuple[str, ...]]

#: What is less than this share of a call's device time is not told.
_LEAST_SHARE = 0.005


def about_profiles(comparison: Comparison) -> list[str]:
    """Tell how long devices work in a call of each candidate, and why that is not known of some."""
    found = profiled(comparison)
    told = []
    if found:
        times = ", ".join(f"{label} {units.time(call_ns(profile))}" for label, profile in found)
        told.append(f"Device time of a call, under the profiler: {times}.")
    for each in comparison.candidates:
        if each.profile is not None and not each.profile.device_uses:
            told += [f"{each.label}: {note}" for note in each.profile.notes or ("no device time was recorded.",)]
    return told


def profile_tables(comparison: Comparison, most: int) -> Iterator[tuple[Rows, int]]:
    """For each candidate beside the first: its lines, then its operations; and how many rows there are."""
    found = profiled(comparison)
    for label, profile in found[1:]:
        baseline, before = found[0]
        least = _LEAST_SHARE * max(call_ns(before), call_ns(profile))
        for by in ("line", "operation"):
            rows = differences(before, profile, by)
            shown = [each for each in rows if max(each.before_ns, each.after_ns) >= least][:most]
            yield _table(shown, by, baseline, label), len(rows)


def _table(rows: list[Difference], by: By, baseline: str, label: str) -> Rows:
    told = [
        (
            each.name,
            units.time(each.before_ns) if each.before_ns else "–",
            units.time(each.after_ns) if each.after_ns else "–",
            _change(each),
        )
        for each in rows
    ]
    return [(by, baseline, label, ""), *told]


def _change(found: Difference) -> str:
    if found.change in ("appeared", "vanished", "the same"):
        return found.change
    return f"{units.time(abs(found.change_ns))} {found.change}"


def scaling_table(sweep: Sweep) -> Rows:
    """Speed-up, efficiency and the share of exchange by the number of devices; empty where that does not vary."""
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
    return [("", "devices", "time", "speed-up", "efficiency", "exchange", "idle"), *rows] if rows else []


def _efficiency(found: Estimate) -> str:
    """A share in per cent, with its interval where it has one."""
    value, low, high = (units.percent(each) for each in (found.value, found.low, found.high))
    return value if found.low == found.high else f"{value} ({low.removesuffix(' %')} to {high})"
