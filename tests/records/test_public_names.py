"""The name under which a library exports a function is found, for a library made for the test and its JAX calls."""

from __future__ import annotations

import importlib
import sys
import textwrap
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.memory_use.capture.executables import requirement
from jaxmagic.records.inside import inside, line_of
from jaxmagic.records.public_names import public_name
from jaxmagic.xla.lines.callers import with_own_callers

FILES = {
    "__init__.py": "from ._private import wrapped\n",
    "nn/__init__.py": "from .layers import Layer\n",
    "nn/layers.py": """
        import jax
        class Layer:
            def __call__(self, x):
                return jax.lax.sort(x)
            def apply(self, x):
                return _helper(x)
        class Unlisted:
            def __call__(self, x):
                return Layer()(x)
        def _helper(x):
            return Layer()(x)
        class _Base:
            def __call__(self, x):
                return x
            def shared(self, x):
                return x
        class First(_Base):
            pass
        class _Between(_Base):
            pass
        class Second(_Between):
            def shared(self, x):
                return x + 1
        class _Alone:
            def __call__(self, x):
                return x
        class _Many:
            def __call__(self, x):
                return x
        class A(_Many): pass
        class B(_Many): pass
        class C(_Many): pass
        """,
    "_private.py": """
        from .nn.layers import Layer, _helper
        def wrapped(x):
            return Layer()(x)
        class Hidden:
            def __call__(self, x):
                return wrapped(x)
        class Elsewhere:
            pass
        """,
    "extra.py": "from ._private import Elsewhere\n",
}


@pytest.fixture
def library(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A package in a folder of packages, loaded."""
    folder = tmp_path / "site-packages"
    for name, text in FILES.items():
        file = folder / "pretended" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(textwrap.dedent(text))
    monkeypatch.syspath_prepend(folder)
    for name in ("pretended", "pretended.nn", "pretended._private", "pretended.extra"):
        importlib.import_module(name)
    yield folder / "pretended"
    for name in [each for each in sys.modules if each.partition(".")[0] == "pretended"]:
        del sys.modules[name]


@pytest.mark.parametrize(
    ("file", "function", "name"),
    [
        ("nn/layers.py", "Layer.__call__", "pretended.nn.Layer"),
        ("nn/layers.py", "Layer.apply", "pretended.nn.Layer.apply"),
        ("nn/layers.py", "Unlisted.__call__", "pretended.nn.layers.Unlisted"),
        ("nn/layers.py", "_helper", None),
        ("nn/layers.py", "_Base.__call__", "pretended.nn.layers.First or pretended.nn.layers.Second"),
        ("nn/layers.py", "_Base.shared", "pretended.nn.layers.First.shared"),
        ("nn/layers.py", "_Base.missing", None),
        ("nn/layers.py", "_Alone.__call__", None),
        ("nn/layers.py", "_Many.__call__", None),
        ("nn/layers.py", "Removed.__call__", None),
        ("nn/layers.py", "<lambda>", None),
        ("nn/layers.py", "", None),
        ("_private.py", "wrapped.<locals>.body", "pretended.wrapped"),
        ("_private.py", "Hidden.__call__", None),
        ("_private.py", "Elsewhere", "pretended.extra.Elsewhere"),
        ("not_loaded.py", "f", None),
    ],
)
def test_it_is_the_outermost_public_one(library: Path, file: str, function: str, name: str | None) -> None:
    assert public_name(str(library / file), function) == name


def test_a_class_of_the_users_does_not_stand_for_the_librarys(library: Path) -> None:
    layers = importlib.import_module("pretended.nn.layers")
    mine = type("Mine", (layers._Alone,), {})
    assert public_name(str(library / "nn" / "layers.py"), f"{mine.__base__.__name__}.__call__") is None


def test_another_machines_file_is_not_taken_for_the_one_that_is_loaded_here(library: Path) -> None:
    assert public_name("/elsewhere/site-packages/pretended/nn/layers.py", "Layer.__call__") is None


def test_a_module_that_loads_when_it_is_used_is_not_loaded(library: Path) -> None:
    class Lazy(ModuleType):
        def __getattribute__(self, name: str) -> Any:
            raise AssertionError("it was used")

    sys.modules["pretended.lazy"] = Lazy("pretended.lazy")
    assert public_name(str(library / "_private.py"), "Elsewhere") == "pretended.extra.Elsewhere"


def user(x: Any) -> Any:
    from pretended import _private  # type: ignore[import-not-found]

    return _private.Hidden()(x)


def expected(library: Path) -> set[tuple[str | None, str | None]]:
    """The user's line and the function; JAX before 0.10 may tell the innermost line alone, without the function."""
    mine = (f"{__file__}:{user.__code__.co_firstlineno + 3}", "pretended.wrapped")
    innermost = (f"{library / 'nn' / 'layers.py'}:5", "pretended.nn.layers")
    return {mine} if jax.__version_info__ >= (0, 10) else {mine, innermost}


def test_an_operation_has_the_users_line_and_the_function(library: Path) -> None:
    """The calls: ``user``, a private class, an exported function, and a layer."""
    module = with_own_callers(module_of(user, jnp.ones(300)))
    (sort,) = [each for each in module.instructions.values() if each.opcode == "sort"]
    line = line_of(sort.stack)
    assert line is not None
    assert (line.location, inside(sort.stack)) in expected(library)


def test_a_buffer_has_the_users_line_and_the_function(library: Path) -> None:
    program = requirement(jax.jit(user).lower(jnp.ones(30_000)).compile().runtime_executable())
    buffers = [each for allocation in program.allocations or () for each in allocation.buffers]
    found = {(each.source, each.inside) for each in buffers if each.source}
    assert found
    assert found <= expected(library)
