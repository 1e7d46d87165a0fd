"""Objects that can be called, as libraries make them of functions."""

from __future__ import annotations

import functools
from typing import Any


class Twice:
    def __init__(self, f: Any) -> None:
        self.f = f
        functools.update_wrapper(self, f)

    def __call__(self, x: Any) -> Any:
        return 2 * self.f(x)


class Scaled:
    def __init__(self, factor: float) -> None:
        self.factor = factor

    def __call__(self, x: Any) -> Any:
        return self.factor * x
