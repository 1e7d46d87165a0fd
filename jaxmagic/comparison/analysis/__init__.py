"""Compares comparisons with earlier ones, and profiles with each other."""

from ...benchmarking.analysis import Comparer
from ..record.comparison import Comparison
from ..record.sweep import Sweep
from .regression import label_by_label, point_by_point

COMPARERS: dict[type, Comparer] = {Comparison: label_by_label, Sweep: point_by_point}
