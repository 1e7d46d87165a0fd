"""Draws the ratios of a comparison with their intervals."""

from __future__ import annotations

from ...charts.distribution import hill
from ...charts.scale import ratio_scale
from ...charts.spec import Forest, Row
from ...statistics.medians import median
from ..record.comparison import Comparison
from ..record.verdict import ratios


def forest(record: Comparison) -> Forest:
    """Draw the ratio of each candidate to the baseline."""
    rows = []
    for hue, label in enumerate(record):
        versus, rounds = record[label], ratios(record, label)
        low, high = versus.interval or (None, None)
        value = versus.ratio.value if versus.ratio else median(rounds)
        if label == record.baseline:
            rows.append(Row(name=label, value=1.0, verdict="baseline", hue=hue))
        else:
            rows.append(
                Row(
                    name=label,
                    value=value,
                    low=low,
                    high=high,
                    verdict=versus.verdict if versus.ratio else "too few rounds to tell",
                    hue=hue,
                    hill=hill(rounds),
                )
            )
    noise = record.noise
    ends = [end for row in rows for end in (row.value, row.low, row.high) if end is not None]
    ends += [place for row in rows for place, _ in row.hill]
    ends += (noise.low, noise.high) if noise else ()
    return Forest(
        title="time of each candidate relative to the baseline",
        x=ratio_scale("time", record.baseline, ends),
        rows=tuple(rows),
        noise=(noise.low, noise.high) if noise else None,
        noise_label=f"{record.twice} compared with itself",
    )
