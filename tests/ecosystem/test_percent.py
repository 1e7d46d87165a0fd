"""Programs are read as editors read them."""

from __future__ import annotations

import builtins
import doctest
from typing import Any

import pytest

from . import percent


def test_the_example_runs(monkeypatch: Any) -> None:
    monkeypatch.setattr(builtins, "_", None, raising=False)  # doctest leaves it, and IPython then keeps off its own
    assert doctest.testmod(percent).failed == 0


def test_there_are_ten_and_each_has_one_planted_line() -> None:
    found = percent.programs()
    assert len(found) == 10
    assert all(each.planted in "\n".join(each.prepare) for each in found)


def test_two_planted_lines_are_an_error() -> None:
    with pytest.raises(ValueError, match="too many values"):
        percent.read("# %% step\na  # planted\nb  # planted\n# %% compare\n# %%jaxcompare\n# a: 1", "two")
