"""Draws charts of comparisons and sweeps."""

from ...charts.chart_of import Pictured
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from .choices import latencies
from .ratios import forest
from .sweep import sweep_chart, times_chart

_NO_POINT = "no point of the sweep could be measured"

CHARTS = {
    Comparison: {"ratios": Pictured(forest), "distributions": Pictured(latencies)},
    Sweep: {
        "curves": Pictured(sweep_chart, _NO_POINT),
        "times": Pictured(times_chart, _NO_POINT),
    },
}
