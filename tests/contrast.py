"""How well text can be read on a background, as WCAG defines it."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]

#: From linear sRGB to XYZ, relative to white.
XYZ = np.array([[0.4339, 0.3762, 0.1899], [0.2126, 0.7152, 0.0722], [0.0177, 0.1095, 0.8728]])


def linear(colour: str) -> Floats:
    """Return the red, green and blue light of a colour."""
    digits = colour.removeprefix("#")
    digits = "".join(2 * each for each in digits) if len(digits) == 3 else digits
    values = np.array([int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)])
    return np.where(values <= 0.04045, values / 12.92, ((values + 0.055) / 1.055) ** 2.4)


def contrast(one: str, other: str) -> float:
    """Return the contrast ratio of two colours as WCAG defines it."""
    dark, light = sorted(float(XYZ[1] @ linear(each)) for each in (one, other))
    return (light + 0.05) / (dark + 0.05)
