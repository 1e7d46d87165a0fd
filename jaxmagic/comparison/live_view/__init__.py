"""Shows comparisons and sweeps interactively."""

from ..record.comparison import Comparison
from ..record.sweep import Sweep
from .comparison import ComparisonView
from .sweep import SweepView

VIEWS = {Comparison: ComparisonView, Sweep: SweepView}
