"""Programs that an earlier call compiled: lines outside jitted code are those of that call."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate.profiling import MS, fabricated, place

import jaxmagic
from jaxmagic.profiling.analysis.stale_callers import compiled_earlier
from jaxmagic.records.call_stack import Frame

MODULE = Frame(function="<module>", file="/tmp/cell.py", line=1, cell="cell 2")
LAMBDA = replace(MODULE, function="<lambda>")
LIBRARY = Frame(function="call", file="/opt/lib/python3.11/site-packages/flax/core.py", line=1)
INSIDE = Frame(function="Model.step", file="/tmp/model.py", line=3)


@pytest.mark.parametrize(
    ("scope", "stack", "names"),
    [
        ("jit(step)/dot", (MODULE, INSIDE), ["step"]),
        ("jit(step)/dot", (INSIDE, MODULE), []),
        ("jit(step)/dot", (LIBRARY, INSIDE), []),
        ("jit(exp)/exp", (MODULE,), ["exp"]),
        ("jit(<lambda>)/mul", (MODULE, replace(MODULE, function="<lambda>")), ["<lambda>"]),
        ("jit(<lambda>)/mul", (replace(MODULE, function="<lambda>"),), []),
        ("jit(<lambda>)/mul", (LAMBDA, MODULE, LAMBDA), ["<lambda>"]),  # the outer one is somebody else's
        ("while/body", (MODULE,), []),
        ("", (), []),
    ],
)
def test_callers_are_those_of_the_call_that_compiled(scope: str, stack: tuple[Frame, ...], names: list[str]) -> None:
    found = replace(fabricated(), place_times=(place(MS, *stack, scope=scope),))
    assert compiled_earlier(found) == names
    assert compiled_earlier(replace(found, runs=None)) == []


def test_what_took_longest_comes_first(timing: Callable[..., Any], compilation: Callable[..., Any]) -> None:
    places = tuple(
        place(ns, MODULE, scope=f"jit({name})/dot") for ns, name in ((3, "a"), (5, "b"), (4, "a"), (9, "c"))
    )
    found = replace(fabricated(), place_times=places)
    assert compiled_earlier(found) == ["c", "a", "b"]
    now = compilation(function="a")
    assert compiled_earlier(replace(found, compilations=(now,))) == ["c", "b"]
    assert compiled_earlier(replace(found, warm_up=timing(now))) == ["c", "b"]


def test_a_real_program_that_was_called_before_is_found() -> None:
    x = jnp.ones(137)
    f = jax.jit(lambda x: jnp.sin(x) * 113)
    assert compiled_earlier(jaxmagic.profile(f, x)) == []
    assert compiled_earlier(jaxmagic.profile(f, x)) == ["<lambda>"]
