"""Writes sentences and tables about the profiles of candidates, for every medium."""

from __future__ import annotations

from collections.abc import Iterator

from ... import units
from ...statistics.estimate import Estimate
from ..analysis.device_scaling import device_scaling
from ..analysis.profile_diff import By, Difference, call_ns, differences, profiled
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
        sentences.append(f"Device time per call, under the profiler: {times}.")
    for each in comparison.candidates:
        if each.profile is not None and not each.profile.device_uses:
            notes = each.profile.notes or ("no device time was recorded.",)
            sentences += [f"{each.label}: {note}" for note in notes]
    return sentences


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
    if difference.change in ("appeared", "vanished", "the same"):
        return difference.change
    return f"{units.time(abs(difference.change_ns))} {difference.change}"


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
    """Return a share in percent, with its interval if it has one."""
    value, low, high = (units.percent(each) for each in (share.value, share.low, share.high))
    return value if share.low == share.high else f"{value} ({low.removesuffix(' %')} to {high})"
