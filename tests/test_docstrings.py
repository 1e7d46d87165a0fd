"""Every example in a docstring runs."""

from __future__ import annotations

import builtins
import doctest
import importlib
import inspect
import pkgutil
import re
from collections.abc import Iterator

import pytest

import jaxmagic
import jaxmagic.testing
from jaxmagic.magics.declare import JaxMagics, declared, help_of
from jaxmagic.subjects import magics

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


def public_docstrings() -> Iterator[tuple[str, str]]:
    """Yield what ``help()``, ``?``, ``-h`` and ``%config`` show, by the name of what is asked about."""
    for name in magics():
        yield f"%{name} -h", help_of(declared(name))
        yield f"%{name}?", declared(name).__doc__
    for name, each in JaxMagics.class_traits(config=True).items():
        yield f"%config JaxMagics.{name}", str(each.help)
    for module in (jaxmagic, jaxmagic.testing):
        yield module.__name__, str(module.__doc__)
        for name in filter(lambda name: not name.startswith("_"), dir(module)):
            public = getattr(module, name)
            yield name, inspect.getdoc(public) or ""
            if inspect.isclass(public):
                members = ((name, inspect.getattr_static(public, name)) for name in dir(public) if name[0] != "_")
                yield from ((f"{public.__name__}.{name}", inspect.getdoc(each) or "") for name, each in members)


def test_docstrings_are_read_in_any_terminal() -> None:
    docs = dict(public_docstrings())
    assert len(docs) > 300
    assert {"%jaxtime?", "benchmark", "Benchmark.latency", "assert_faster", "%config JaxMagics.digits"} <= docs.keys()
    assert [name for name, each in docs.items() if not each.isascii()] == []


def test_public_docstrings_read_well_as_text() -> None:
    """``help()`` shows no role of Sphinx."""
    assert {name for name, text in public_docstrings() if re.search(r":\w+:`", text)} == set()
