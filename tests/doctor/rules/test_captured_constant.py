"""Large arrays that are built into programs are found, with the function that takes them as arguments."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.compiled.programs import programs_of, run_ended, watch
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.captured_constant import RULE
from jaxmagic.doctor.rules.rewriting.syntax import with_imports
from jaxmagic.units import size

X = np.ones((8, 1200), np.float32)
W = jax.random.normal(jax.random.key(0), (1200, 1200))  # 5.5 MiB
ON_HOST = np.asarray(W)
LARGE_ON_HOST = np.random.default_rng(0).random((1200, 16000), np.float32)  # 73 MiB
ZEROS = jnp.zeros((1200, 1200))
SMALL = jax.random.normal(jax.random.key(1), (1200, 100))  # 0.46 MiB

SIZE_BYTES = 1200 * 1200 * 4


def found(fn: Any, *args: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(fn, *args, only=["captured-constant"]).findings)


def the_one(fn: Any, *args: Any) -> RuleFinding:
    (finding,) = found(fn, *args)
    return finding


@jax.jit
def project(x):  # type: ignore[no-untyped-def]
    return jnp.tanh(x @ W)


@jax.jit
def project_on_host(x):  # type: ignore[no-untyped-def]
    return jnp.tanh(x @ ON_HOST)


@jax.jit
def project_large(x):  # type: ignore[no-untyped-def]
    return jnp.tanh(x @ LARGE_ON_HOST)


@pytest.mark.parametrize("kept", [True, False])
def test_of_programs_that_are_freed_with_their_functions_one_counts(timing: Any, kept: bool) -> None:
    functions = []
    with watch() as observed:
        for number in (1.0, 2.0, 3.0):
            functions.append(jax.jit(lambda x, number=number: jnp.tanh(x @ W) + number))
            functions[-1](X).block_until_ready()
        if not kept:
            functions.clear()
        run_ended(observed)
    programs = programs_of(observed, {"W": W})
    evidence = Evidence(code="run()", first=timing(), observed=timing(), programs=programs)
    (finding,) = RULE.look(evidence)
    assert finding.cost_bytes == SIZE_BYTES * (3 if kept else 1)
    freed = "" if kept else " in all. By the end of the run, all of these programs had been freed"
    assert str(finding.found).endswith(f"3 programs of <lambda>: {size(3 * SIZE_BYTES)}{freed}.")


def test_an_array_on_a_device_is_there_twice() -> None:
    finding = the_one(project, X)
    assert finding.cost_bytes == SIZE_BYTES
    assert finding.basis == "measured"
    assert finding.source == "return jnp.tanh(x @ W)"
    assert finding.remedy is not None
    assert finding.remedy.facts == {"names": "W", "on_host": "", "sooner": False}
    assert "sooner" not in str(finding.remedy)


@jax.jit
def total(x):  # type: ignore[no-untyped-def]
    return jnp.tanh(x @ W).sum()


def test_an_array_inside_of_a_fusion_is_there_twice() -> None:
    """XLA's compiler for the CPU fuses the product with what follows, and no buffer assignment has the constant."""
    finding = the_one(total, X)
    assert finding.cost_bytes == SIZE_BYTES
    assert finding.source == "return jnp.tanh(x @ W).sum()"
    assert finding.remedy is not None
    assert finding.remedy.facts == {"names": "W", "on_host": "", "sooner": False}
    assert jaxmagic.memory_requirement(total, X).constant_bytes == pytest.approx(SIZE_BYTES, abs=64)


def test_the_pasted_function_has_no_constant_and_computes_the_same() -> None:
    finding = the_one(project, X)
    assert finding.code is not None
    namespace: dict[str, Any] = {"jax": jax, "jnp": jnp, "W": W}
    exec(finding.code, namespace)
    pasted = namespace["project"]
    np.testing.assert_array_equal(pasted(X, W), project(X))
    assert jaxmagic.memory_requirement(pasted, X, W).constant_bytes < 2**20
    assert jaxmagic.memory_requirement(project, X).constant_bytes >= SIZE_BYTES


@jax.jit
def both_ways(v):  # type: ignore[no-untyped-def]
    return W.T @ (W @ v)


def test_what_xla_has_computed_of_a_constant_is_told_since_calls_would_compute_it_again() -> None:
    finding = the_one(both_ways, jnp.ones(W.shape[1]))
    folded = [each.facts["size_bytes"] for each in finding.evidence if each.kind == "doctor.captured_folded"]
    constants = jaxmagic.memory_requirement(both_ways, jnp.ones(W.shape[1])).constant_bytes
    assert folded == ([constants - SIZE_BYTES] if constants > 1.5 * SIZE_BYTES else [])
    assert not any(each.kind == "doctor.captured_folded" for each in the_one(project, X).evidence)


def test_each_program_has_a_copy() -> None:
    project.clear_cache()
    finding = the_one(lambda: (project(X), project(X[:4])))
    assert finding.cost_bytes == 2 * SIZE_BYTES


def test_an_array_on_the_host_costs_memory_only_in_a_second_program() -> None:
    assert found(project_on_host, X) == []
    project_on_host.clear_cache()
    finding = the_one(lambda: (project_on_host(X), project_on_host(X[:4])))
    assert finding.cost_bytes == SIZE_BYTES


def test_a_large_array_on_the_host_is_put_on_a_device_by_the_code_to_paste() -> None:
    finding = the_one(project_large, X)
    project_large.clear_cache()  # the profiler writes each program that JAX keeps, with its constants, every time
    assert finding.cost_bytes is None
    if finding.code is not None:  # JAX 0.7 does not show which NumPy array it was
        assert "compiles sooner" in str(finding.remedy)
        assert "LARGE_ON_HOST_on_device = jax.device_put(LARGE_ON_HOST)" in finding.code
        namespace: dict[str, Any] = {"jax": jax, "jnp": jnp, "LARGE_ON_HOST": LARGE_ON_HOST}
        exec(finding.code, namespace)


def helper(x: Any) -> Any:
    return x @ W


@jax.jit
def reads_twice(x):  # type: ignore[no-untyped-def]
    return helper(x) + x @ W


@jax.jit
@jax.vmap
def of_rows(x):  # type: ignore[no-untyped-def]
    return x @ W


def maker() -> Any:
    local = W + 1

    @jax.jit
    def inner(x):  # type: ignore[no-untyped-def]
        return x @ local

    return inner


@pytest.mark.parametrize("fn", [reads_twice, of_rows, maker()])
def test_there_is_no_code_where_a_further_parameter_changes_something_else(fn: Any) -> None:
    finding = the_one(fn, X)
    assert finding.remedy is not None
    assert finding.code is None


def test_pasted_code_names_nothing_that_the_cell_has_not() -> None:
    code = the_one(project, X).code
    assert code is not None
    exec(code, {"jax": jax, "jnp": jnp, "W": W})  # no x: it is a parameter


def test_pasted_code_imports_what_the_code_of_the_user_does_not_name() -> None:
    tree = ast.parse("from jax import jit, numpy as jnp")
    assert with_imports("y = jax.device_put(jnp.ones(3))", tree).splitlines()[0] == "import jax"
    assert with_imports("y = jnp.ones(3)", tree) == "y = jnp.ones(3)"


def test_parameters_captured_by_a_model_of_flax_are_found() -> None:
    nn = pytest.importorskip("flax.linen")
    model = nn.Dense(1200)
    params = model.init(jax.random.key(0), X)

    @jax.jit
    def forward(x: Any) -> Any:
        return model.apply(params, x)

    finding = the_one(forward, X)
    assert finding.cost_bytes is not None
    assert finding.cost_bytes >= SIZE_BYTES


@jax.jit
def takes_all(x: Any, w: Any) -> Any:
    return x @ w


@jax.jit
def captures_zeros(x: Any) -> Any:
    return x @ ZEROS


@jax.jit
def captures_small(x: Any) -> Any:
    return x @ SMALL


@jax.jit
def makes_a_range(x: Any) -> Any:
    return x + jnp.arange(1200 * 1200.0).reshape(1200, 1200)[:1]


@jax.jit
def makes_an_identity(x: Any) -> Any:
    return x @ jnp.eye(1200)


@jax.jit
def makes_a_mask(x: Any) -> Any:
    return x @ jnp.where(jnp.tri(1200, dtype=bool), 1.0, -1e9)


@jax.jit
def samples(key: Any) -> Any:
    return jax.random.normal(key, (1200, 1200))


@pytest.mark.parametrize(
    ("run", "arguments"),
    [
        (takes_all, (X, W)),
        (captures_zeros, (X,)),
        (captures_small, (X,)),
        (makes_a_range, (X,)),
        (makes_an_identity, (X,)),
        (makes_a_mask, (X,)),
        (samples, (jax.random.key(0),)),
        (lambda x: jnp.tanh(x @ W), (X,)),  # not jitted
    ],
)
def test_other_programs_have_no_finding(run: Any, arguments: Any) -> None:
    assert found(run, *arguments) == []
