"""A statistic with its confidence interval."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A statistic of samples, with the interval that covers its true value.

    Attributes:
        value: the estimate.
        low: the lower end of the interval, in the unit of the value.
        high: its upper end.
        confidence: the minimum share of such intervals that cover the true value.
    """

    value: float
    low: float
    high: float
    confidence: float

    @property
    def relative_width(self) -> float:
        """Distance to the farther end of the interval, as a share of the value; infinite where that is 0.

        >>> Estimate(value=100.0, low=98.0, high=101.0, confidence=0.95).relative_width
        0.02
        """
        farther = max(self.high - self.value, self.value - self.low)
        return farther / abs(self.value) if self.value else float("inf") if farther else 0.0

    @property
    def inverse(self) -> Estimate:
        """The estimate of the inverse ratio.

        >>> Estimate(value=2.0, low=1.0, high=4.0, confidence=0.95).inverse
        Estimate(value=0.5, low=0.25, high=1.0, confidence=0.95)
        """
        return Estimate(value=1 / self.value, low=1 / self.high, high=1 / self.low, confidence=self.confidence)
