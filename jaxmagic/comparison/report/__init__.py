"""The reports of comparisons and sweeps."""

from ..record.comparison import Comparison
from ..record.sweep import Sweep
from . import comparison, sweep

REPORTS = {Comparison: comparison.report, Sweep: sweep.report}
