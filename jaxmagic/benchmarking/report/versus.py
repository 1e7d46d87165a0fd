"""One time beside another, in words."""

from __future__ import annotations

from collections.abc import Sequence

from ... import units
from ...statistics.estimate import Estimate
from ..record.launches import ENOUGH
from ..record.versus import Versus


def about_earlier(versus: Versus, path: str) -> str:
    """A record beside the one in a file."""
    which = f"{versus.label} " if versus.label == versus.baseline else ""
    if versus.verdict in ("faster", "slower"):
        return f"{which}{_times(versus)} than in {path}"
    return f"{which}beside {path}: {_times(versus)}"


def about_basis(found: Sequence[Versus]) -> list[str]:
    """Say what the verdicts on two records rest on, and the smallest difference that such records show.

    Of several candidates the one that shows least is told.
    """
    known = [(each.basis, each.label == each.baseline) for each in found if each.basis is not None]
    if not known:
        return []
    basis, of_candidates = max(known, key=lambda each: each[0].smallest_ratio or float("inf"))
    counts = {basis.old_processes, basis.new_processes}
    if len(counts) == 1:
        who = f"Each record is {_processes(basis.old_processes)}"
    else:
        earlier, later = _processes(basis.old_processes), _processes(basis.new_processes)
        who = f"The earlier record is {earlier} and the later one {later}"
    sd = units.percent(basis.between_sd)
    told = {
        "records": f"their medians vary by {sd} from process to process",
        "measured": f"medians vary by {sd} from process to process here (measured)",
        "assumed": f"medians are taken to vary by {sd} from process to process, which is assumed and not measured",
    }[basis.source]
    if basis.within_sd > basis.between_sd / 2:
        told += f", and within a process by {units.percent(basis.within_sd)}"
    if basis.smallest_ratio is None:
        told += ", so no difference can be told"
    else:
        told += f", so the smallest difference found in 8 of 10 cases is {units.factor(basis.smallest_ratio)}"
    if min(counts) >= ENOUGH:
        return [f"{who}; {told}."]
    how = "Measure it with %jaxtimeit --processes 5" if of_candidates else "Take both with --processes 5"
    return [f"{who}; {told}. {how} (processes=5)."]


def _processes(count: int) -> str:
    return "one process" if count == 1 else f"{count} processes"


def verdict(versus: Versus) -> str:
    """Return what a candidate is beside the baseline: ``2.01x faster (1.98x to 2.05x)``."""
    if versus.label == versus.baseline:
        return "baseline"
    return _times(versus)


def _times(versus: Versus) -> str:
    ratio = versus.ratio
    if ratio is None:
        return "too few rounds to tell"
    if versus.verdict == "faster":
        return f"{units.factor(1 / ratio.value)} faster ({units.factor_range(1 / ratio.high, 1 / ratio.low)})"
    if versus.verdict == "slower":
        return f"{units.factor(ratio.value)} slower ({units.factor_range(ratio.low, ratio.high)})"
    if versus.verdict == "no difference":
        return f"no difference of more than {units.percent(max(ratio.high - 1, 1 / ratio.low - 1, 0.001))}"
    surely_unequal = not ratio.low <= 1 <= ratio.high  # but not by more than how they were measured may explain
    return f"{'not settled' if surely_unequal else versus.verdict} ({span(ratio)})"


def span(ratio: Estimate) -> str:
    """From where to where a ratio of times may be, in words."""
    if ratio.high <= 1:
        return f"{units.factor_range(1 / ratio.high, 1 / ratio.low)} faster"
    if ratio.low >= 1:
        return f"{units.factor_range(ratio.low, ratio.high)} slower"
    return f"between {units.factor(1 / ratio.low)} faster and {units.factor(ratio.high)} slower"
