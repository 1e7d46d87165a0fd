"""Functions are compiled without command buffers, or an error says what to write."""

from __future__ import annotations

from types import SimpleNamespace

import jax
import jax.numpy as jnp
import pytest

import jaxmagic
from jaxmagic.profiling.capture.command_buffers import _OPTIONS, without_command_buffers
from jaxmagic.records.note import note


def test_a_profile_without_them_says_so_and_is_that_of_the_function() -> None:
    @jax.jit
    def scaled(x: jax.Array, by: float = 1.0) -> jax.Array:
        return jnp.sort(x) * by

    x = jnp.ones(1000)
    profile = jaxmagic.profile(scaled, x, by=2.0, command_buffers=False)
    assert note("profiling.without_command_buffers") in profile.notes
    assert profile.code == jaxmagic.profile(scaled, x).code
    assert {each.module for each in profile.operation_times} == {"jit_scaled"}
    assert without_command_buffers(scaled, x, by=2.0)(x, by=2.0).tolist() == scaled(x, by=2.0).tolist()


def test_the_option_is_one_of_xla() -> None:
    compiled = jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options=_OPTIONS)
    assert float(compiled(1.0)) == 2.0
    with pytest.raises(Exception, match="no_such_option"):
        jax.jit(lambda x: x + 1).lower(1.0).compile(compiler_options={"no_such_option": ""})


def test_what_cannot_be_compiled_alone_says_what_to_write_and_runs_nothing() -> None:
    ran = []
    with pytest.raises(jaxmagic.NotMeasured, match=r"jax.profile|profile\(jax.jit\(f\), x, command_buffers=False\)"):
        jaxmagic.profile(ran.append, 1, command_buffers=False)
    repeated = jax.jit(lambda x, n: x * n, static_argnums=1)
    with pytest.raises(jaxmagic.NotMeasured, match="expected a function without static arguments, got one"):
        jaxmagic.profile(repeated, jnp.ones(3), 2, command_buffers=False)
    with pytest.raises(jaxmagic.NotMeasured, match="Not compiled without command buffers: TypeError"):
        jaxmagic.profile(jax.jit(lambda x: x + 1), "text", command_buffers=False)
    with pytest.raises(jaxmagic.NotMeasured, match=r"got one made by tests\. Write profile\(jax.jit\(lambda x"):
        jaxmagic.profile(Filtered(), jnp.ones(3), command_buffers=False)
    assert ran == []


class Filtered:
    """A function of a library with a lower() of its own, as that of ``equinox.filter_jit``."""

    def __call__(self, x: jax.Array) -> None:
        pytest.fail("it ran")

    def lower(self, x: jax.Array) -> object:
        return SimpleNamespace(compile=lambda compiler_options: self)
