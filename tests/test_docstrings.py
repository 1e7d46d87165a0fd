"""Every example in a docstring runs."""

from __future__ import annotations

import builtins
import doctest
import importlib
import pkgutil

import pytest

import jaxmagic

MODULES = sorted(module.name for module in pkgutil.walk_packages(jaxmagic.__path__, "jaxmagic."))


@pytest.mark.parametrize("name", MODULES)
def test_examples_run(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(builtins, "_", None, raising=False)  # doctest leaves it, and IPython then keeps off its own
    result = doctest.testmod(importlib.import_module(name), optionflags=doctest.ELLIPSIS)
    assert result.failed == 0


def test_every_public_function_has_an_example() -> None:
    names = "stopwatch", "fence", "history", "last", "benchmark", "compare", "sweep", "explore", "save", "load"
    for name in (*names, "memory", "live", "memory_requirement"):
        assert ">>>" in getattr(jaxmagic, name).__doc__, name


@pytest.mark.parametrize("name", MODULES)
def test_every_module_says_why_it_exists(name: str) -> None:
    assert importlib.import_module(name).__doc__
