"""The advice to jit says what becomes of arguments that are no arrays."""

from __future__ import annotations

from typing import Any

import pytest

from jaxmagic.records.note import note


def advice(**facts: Any) -> str:
    return str(note("doctor.not_jitted_remedy", **{"way": "function", "function": "step"} | facts))


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        ({}, "Compile step as one program."),
        ({"library": "equinox"}, "It compiles again for another value of anything else, even a number"),
        ({"library": "equinox"}, "pass an array for one that changes, unless a shape, axis, range() or if needs its"),
        ({"library": "equinox", "rounds": "range(n)"}, "range(n) needs the number. A jax.lax.fori_loop in its place"),
        ({"library": "nnx"}, "nnx.jit takes modules and optimizers, and keeps what the function changes in them."),
        ({"functions": "act"}, "act is static: pass the same function in each call"),
        ({"functions": "act, norm"}, "act, norm are static: pass the same functions in each call"),
        ({"way": "group", "jit": "nnx.jit"}, "Put these operations into a function under nnx.jit."),
        ({"way": "group", "objects": "cfg"}, "jit does not trace cfg: pass what the code computes with as arguments"),
        ({"way": "group", "objects": "cfg, f"}, "jit does not trace cfg, f: pass what the code computes with as"),
    ],
)
def test_what_is_no_array_is_named(facts: dict[str, str], sentence: str) -> None:
    assert sentence in advice(**facts)


@pytest.mark.parametrize(
    ("jit", "scan", "loop", "vmap"),
    [
        ("jax.jit", "jax.lax.scan", "jax.lax.while_loop", "jax.vmap"),
        ("eqx.filter_jit", "jax.lax.scan", "jax.lax.while_loop", "eqx.filter_vmap"),
        ("flax.nnx.jit", "flax.nnx.scan", "flax.nnx.while_loop", "flax.nnx.vmap"),
    ],
)
def test_loops_of_modules_are_those_of_their_library(jit: str, scan: str, loop: str, vmap: str) -> None:
    assert f"into a function under {jit}; or jit all of it, with {scan} or {vmap}" in advice(way="loop", jit=jit)
    assert f"under {jit} and decide outside; or use {loop}, and" in advice(way="until", jit=jit)
    assert f"into a function under {jit} and decide outside." in advice(way="asked", jit=jit)


@pytest.mark.parametrize(
    ("facts", "sentence"),
    [
        (
            {},
            "No call needs the result of another: make one call of jax.jit(jax.vmap(step)) with the",
        ),
        (
            {"within": "cell 2:3"},
            "The calls in one pass of the loop at cell 2:3 do not need each other's results: in each",
        ),
        ({"within": "cell 2:3", "counts": 1}, "jax.lax.scan over the passes spares these calls as well."),
        (
            {"caller": "advance"},
            "The calls in one call of advance do not need each other's results: make one call of",
        ),
    ],
)
def test_calls_are_mapped_as_far_as_they_need_no_result(facts: dict[str, Any], sentence: str) -> None:
    assert sentence in str(note("doctor.dispatch_bound_vmap", function="step", **facts))
