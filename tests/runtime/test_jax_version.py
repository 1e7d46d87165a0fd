"""JAX missing, or too old."""

from __future__ import annotations

import sys
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from recordings import module_of

from jaxmagic.errors import JaxNotAvailable
from jaxmagic.runtime.jax_version import keeps_lines, require_jax


def test_a_jax_that_is_missing_says_how_to_install_it(monkeypatch: Any) -> None:
    monkeypatch.setitem(sys.modules, "jax", None)
    monkeypatch.delitem(sys.modules, "jax.monitoring", raising=False)
    with pytest.raises(JaxNotAvailable, match="cannot be imported.*pip install"):
        require_jax()


def test_a_jax_that_is_too_old_says_which_and_what_to_do_also_where_it_was_imported_before(monkeypatch: Any) -> None:
    monkeypatch.setattr(jax, "__version_info__", (0, 7, 1))
    monkeypatch.setattr(jax, "__version__", "0.7.1")
    with pytest.raises(JaxNotAvailable, match="needs JAX 0.7.2 or newer, got 0.7.1. It does not upgrade JAX"):
        require_jax()


def test_the_line_of_a_call_is_that_of_an_earlier_one_only_where_we_say_so() -> None:
    def first(x: Any) -> Any:
        return jnp.sort(x)

    def second(x: Any) -> Any:
        return jnp.sort(x)

    modules = [module_of(each, jnp.ones(307)) for each in (first, second)]
    lines = [{one.stack[-1].line for one in each.instructions.values() if one.opcode == "sort"} for each in modules]
    assert lines[0] == {first.__code__.co_firstlineno + 1}
    assert lines[1] == {second.__code__.co_firstlineno + 1} or not keeps_lines()


def test_this_jax_will_do() -> None:
    require_jax()
