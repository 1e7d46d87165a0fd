"""JAX missing, or too old."""

from __future__ import annotations

import sys
from typing import Any

import jax
import pytest

from jaxmagic.capture.jax_version import require_jax
from jaxmagic.errors import JaxNotAvailable


def test_a_jax_that_is_missing_says_how_to_install_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "jax.monitoring", raising=False)
    with pytest.raises(JaxNotAvailable, match="cannot be imported.*pip install"):
        require_jax()


def test_a_jax_that_is_too_old_says_which_and_what_to_do(monkeypatch: Any) -> None:
    monkeypatch.delitem(sys.modules, "jax.monitoring", raising=False)
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 2))
    monkeypatch.setattr(jax, "__version__", "0.7.2")
    with pytest.raises(JaxNotAvailable, match="needs JAX 0.8.0 or newer; found 0.7.2.*pip install"):
        require_jax()


def test_this_jax_will_do() -> None:
    require_jax()
