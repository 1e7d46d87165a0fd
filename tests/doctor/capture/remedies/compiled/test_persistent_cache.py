"""What a later session would load from the persistent cache is compiled, and loaded, beside each other."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from jax.experimental import serialize_executable

from jaxmagic.doctor.capture.remedies.compiled.persistent_cache import propose
from jaxmagic.doctor.capture.remedies.remedy import Builds, NotTried
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.records.note import note

from .....reported import COMPILED, LOWERED, TRACED, reported

X = jnp.linspace(0.0, 1.0, 24).reshape(4, 6)


def proposed(source: str, function: str, **variables: Any) -> Builds:
    found = note("doctor.compile_time", function=function, programs=1, time_ns=1, stage="XLA", stage_ns=1, same=0)
    return propose(RuleFinding(rule="compile-time", found=found), TriedCode(source, variables))


def reason(source: str, function: str, **variables: Any) -> str:
    with pytest.raises(NotTried) as caught:
        proposed(source, function, **variables)
    (told,) = caught.value.notes
    return told.kind.removeprefix("doctor.")


def prefix_sums(x: Any) -> Any:
    return jax.lax.associative_scan(lambda a, b: a * b + 1, x)


def scaled(x: Any, times: int, *, shift: Any) -> Any:
    return {"y": jnp.sort(x, axis=1)[:, ::-1] * times + shift}


@pytest.mark.parametrize(
    ("source", "jitted"),
    [
        ("f(x)", jax.jit(prefix_sums)),
        ("x = f(x)", jax.jit(jax.grad(lambda x: jnp.tanh(prefix_sums(x)).sum()))),
        ("f(x, 3, shift=x)", jax.jit(scaled, static_argnums=1)),
        ("g(x)\nf(x)", jax.jit(prefix_sums, donate_argnums=0)),
    ],
)
def test_the_program_is_compiled_once_and_then_loaded(source: str, jitted: Any) -> None:
    builds = proposed(source, jitted.__wrapped__.__name__, f=jitted, g=jax.jit(jnp.cos), x=X)
    with reported() as compiled:
        before = builds.before()
    with reported() as loaded:
        after = builds.after()
    assert (compiled[COMPILED], loaded[COMPILED]) == (1, 0)
    assert all(compiled[each] and loaded[each] == compiled[each] for each in (TRACED, LOWERED))
    assert before is not None
    assert after is not None
    expected = jitted(X.copy(), 3, shift=X) if "shift" in source else jitted(X.copy())
    for program, given in zip((before, after), builds.given, strict=True):
        assert jax.tree.all(jax.tree.map(partial(jnp.array_equal), program(*given), expected))


def test_a_program_on_another_device_is_loaded_there() -> None:
    if len(jax.devices()) < 2:
        pytest.skip("this process has one device")
    x = jax.device_put(X, jax.devices()[1])
    after = proposed("f(x)", "prefix_sums", f=jax.jit(prefix_sums), x=x).after()
    assert after is not None
    assert after({"x": x}).devices() == {jax.devices()[1]}


def test_the_sessions_own_cache_keeps_nothing_of_it(tmp_path: Path) -> None:
    before = jax.config.jax_compilation_cache_dir
    jax.config.update("jax_compilation_cache_dir", str(tmp_path))
    try:
        builds = proposed("f(x)", "prefix_sums", f=jax.jit(prefix_sums), x=X)
        assert builds.before()
        assert builds.after()
        assert list(tmp_path.iterdir()) == []
    finally:
        jax.config.update("jax_compilation_cache_dir", before)


def test_only_the_function_of_the_finding_is_tried() -> None:
    assert reason("f(x)", "other", f=jax.jit(prefix_sums), x=X) == "not_mechanical"


def test_what_cannot_be_serialized_is_not_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def printing(x: Any) -> Any:
        jax.debug.print("{}", x[0, 0])
        return x

    f = jax.jit(printing)
    assert reason("f(x)", "printing", f=f, x=X) == "not_tried_cache"

    def refuses(*_: Any, **__: Any) -> Any:
        raise ValueError("Compilation does not support serialization")

    monkeypatch.setattr(serialize_executable, "serialize", refuses)
    assert reason("f(x)", "prefix_sums", f=jax.jit(prefix_sums), x=X) == "not_tried_cache"
