"""Packages that JAX imports to lower a program are noted; other imports, and Python's finders, are left alone."""

from __future__ import annotations

import importlib
import itertools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from jax.extend.core import Primitive
from jax.interpreters import mlir

from jaxmagic.doctor.capture.lowering_imports import LoweringImports


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """A package of three modules that nothing has imported."""
    name = "jaxmagic_test_lowering"
    (tmp_path / name).mkdir()
    (tmp_path / name / "__init__.py").write_text("")
    (tmp_path / name / "inner.py").write_text(f"from {name} import innermost")
    (tmp_path / name / "innermost.py").write_text("")
    monkeypatch.syspath_prepend(tmp_path)
    yield name
    for each in [each for each in sys.modules if each.startswith(name)]:
        del sys.modules[each]


def jitted_with_import(package: str) -> Any:
    """Return a jitted function whose lowering imports a package, as that of ``svd`` imports SciPy."""
    primitive = Primitive("imports")
    primitive.def_abstract_eval(lambda x: x)

    def lower(context: Any, x: Any) -> Any:
        importlib.import_module(f"{package}.inner")
        return [x]

    mlir.register_lowering(primitive, lower)
    return jax.jit(lambda x: primitive.bind(x) + 1)


def test_a_package_is_noted_with_its_modules_and_its_time(package: str) -> None:
    imports = LoweringImports(clock=itertools.count(0, 100).__next__)
    before = list(sys.meta_path)
    with imports:
        jitted_with_import(package)(np.ones(3))
    (noted,) = [each for each in imports.imports() if each.package == package]
    assert noted.modules == 3
    assert noted.least_ns == 200  # by hand: three looks at a clock that advances by 100
    assert sys.meta_path == before


def test_what_is_imported_otherwise_is_not_noted(package: str) -> None:
    @jax.jit
    def traced(x: Any) -> Any:
        importlib.import_module(package)
        return jnp.sin(x)

    imports = LoweringImports()
    with imports:
        traced(np.ones(3))
        importlib.import_module(f"{package}.inner")
    assert [each.package for each in imports.imports() if each.package == package] == []


def test_finders_are_restored_after_an_error(package: str) -> None:
    before = list(sys.meta_path)
    with pytest.raises(ModuleNotFoundError), LoweringImports():
        importlib.import_module(f"{package}.missing")
    assert sys.meta_path == before
