"""Code that jits a function is offered only if the caller gets what it got before; the truth is what jit returns."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import pytest

from jaxmagic.doctor.record.evidence import Evidence, Input
from jaxmagic.doctor.rules.host.jitting.advice import remedy_at
from jaxmagic.doctor.rules.rewriting.jit.results import changed_results
from jaxmagic.records.call_stack import Frame
from jaxmagic.timing.record import Timing

IMPORTS = "import jax.numpy as jnp\n"


@pytest.fixture
def told(tmp_path: Path, timing: Callable[..., Timing]) -> Callable[..., tuple[Any, Any]]:
    """The advice about the first function of a program, and the code."""

    def tell(program: str, code: str = "go()", inputs: tuple[Input, ...] = ()) -> tuple[Any, Any]:
        file = tmp_path / "train.py"
        file.write_text(IMPORTS + program)
        line = Frame(function="f", file=str(file), line=3)
        evidence = Evidence(code=code, first=timing(), observed=timing(), inputs=inputs)
        return remedy_at(line, 60, evidence)

    return tell


COUNTED = """\
def f(x, k):
    y = jnp.sin(x * k)
    return y.sum(), k % 7
def go(n=9):
    found = {}
    for k in range(n):
        v, m = f(jnp.ones(3), k)
        found[m] = v
    return found
"""

SEEDED = """\
def f(x, seed):
    seed = (seed * 6364136223846793005 + 1442695040888963407) % 2**64
    return jnp.sin(x) + (seed >> 33) / 2**31, seed
def go():
    x, seed = jnp.ones(3), 42
    for _ in range(3):
        x, seed = f(x, seed)
    return x, seed
"""

TIMED = """\
def f(t, y, dt):
    y = y + dt * jnp.sin(t) * y
    return t + dt, y
def go(start=1000.0):
    t, y = start, jnp.ones(3)
    for _ in range(9):
        t, y = f(t, y, 1e-5)
    return t, y
"""

ARRAYS = """\
def f(w, grads, rate):
    w = w - rate * grads
    return w * 0.5, grads + 1
def go():
    w = jnp.ones(3)
    for i in range(9):
        w, grads = f(w, jnp.ones(3) * i, 0.1)
    return w
"""


@pytest.mark.parametrize(
    ("program", "numbers"),
    [
        (COUNTED, "k % 7"),
        (SEEDED, "(seed >> 33) / 2 ** 31"),
        (TIMED, "t + dt"),
        (COUNTED.replace("    y =", "    n = k % 7\n    y =").replace("y.sum(), k % 7", "y.sum(), n"), "n"),
        (COUNTED.replace("k % 7", "(k % 7, 1)").replace("m\n", "m\n"), "k % 7"),
        (COUNTED.replace("k % 7", "{'at': k % 7}"), "k % 7"),
    ],
)
def test_a_function_whose_caller_needs_a_python_number_has_no_code(told: Any, program: str, numbers: str) -> None:
    remedy, code = told(program)
    assert code is None
    assert f"{numbers} would be" in str(remedy)


@pytest.mark.parametrize("program", [COUNTED, SEEDED, TIMED, ARRAYS])
def test_that_is_what_jit_does(program: str) -> None:
    """Each function computes something else under jit, or fails, but for that of arrays alone."""
    names: dict[str, Any] = {"jnp": jnp}
    exec(program, names)
    expected = names["go"]()
    names["f"] = jax.jit(names["f"])
    try:
        found = names["go"]()
        same = all(map(jnp.array_equal, jax.tree.leaves(found), jax.tree.leaves(expected)))
    except (TypeError, OverflowError):
        same = False
    assert same == (program == ARRAYS)


def test_arithmetic_of_arrays_is_jitted(told: Any) -> None:
    _, code = told(ARRAYS)
    assert code == "# in train.py, below f()\nf = jax.jit(f)"


def test_a_number_that_only_scales_arrays_is_traced(told: Any) -> None:
    remedy, code = told(COUNTED.replace("k % 7", "y * k"))
    assert code == "# in train.py, below f()\nf = jax.jit(f)"
    assert "Python number" not in str(remedy)


@pytest.mark.parametrize("kind", ["number", "jax array"])
def test_the_arguments_of_the_examined_call_are_known(told: Any, kind: Any) -> None:
    inputs = (Input(path="x", kind="jax array", type="f32[3]"), Input(path="k", kind=kind, type="int"))
    _, code = told(COUNTED.partition("def go")[0], "f", inputs)
    assert (code is None) == (kind == "number")


CALLED = "def f(x, n):\n    return x + {}\ndef scaled(x, d, one=1.0):\n    return x * (d - one)\n"
CALLED += "def go(given={}):\n    for n in [given]:\n        x = f(jnp.ones(3), n)\n    return x\n"


@pytest.mark.parametrize(
    ("expression", "value", "reason"),
    [
        ("x / ((1 + n) ** 2 - 1)", 1e-10, "(1 + n) ** 2 - 1 would be"),
        ("x / ((1 + n) ** 2 - 1)", 0.3, ""),
        ("scaled(x * 1e9, (1 + n) ** 2)", 1e-9, "d - one would be"),
        ("scaled(x, 1 + n)", 0.5, ""),
        ("x / (n - 1000.0)", 1000.001, "n - 1000.0 would be"),
        ("x[n % 3]", 2**33 + 1, "jit does not take n"),
        ("x[n % 3]", 2**31 - 1, ""),
        ("(n * 1103515245 % 1000)", 7, "n * 1103515245 % 1000 would be"),
        ("n * n / 1e4", 50_000, "n * n / 10000.0 would be"),
        ("(n * n)", 40_000, ""),
        ("2 ** -n", 3, "2 ** (-n) would be"),
        ("(n > 0.1)", 0.1 + 1e-12, "n > 0.1 would be"),
        ("x / (1 - 0.999**n)", 1, ""),
        ("scaled(x, n, abs(n) * 0.1)", 3, ""),
    ],
)
def test_a_number_that_needs_more_than_32_bits_is_not_traced(
    told: Any, expression: str, value: float, reason: str
) -> None:
    program = CALLED.format(expression, value)
    remedy, code = told(program)
    assert (code is None) == bool(reason)
    assert reason in str(remedy)
    names: dict[str, Any] = {"jnp": jnp}
    exec(program, names)
    expected = names["go"]()
    names["f"] = jax.jit(names["f"])
    try:
        same = bool(jnp.allclose(names["go"](), expected, rtol=5e-5))
    except (OverflowError, TypeError):
        same = False
    assert same == (not reason)


@pytest.mark.parametrize("value", [1e-10, 0.5, None])
def test_an_unknown_difference_is_not_traced(told: Any, value: float | None) -> None:
    program = CALLED.format("x / (1 + n - 1)", "cfg.rate")
    inputs = (Input(path="cfg.rate", kind="number", type="float", value=value),)
    _, code = told(program.partition("def go")[0], "f(x, cfg.rate)", inputs)
    assert (code is not None) == (value == 0.5)


@pytest.mark.parametrize(
    ("returned", "sorts"),
    [
        ("{'mean': x, 'a': x}", "mean, a"),
        ("dict(mean=x, a=x)", "mean, a"),
        ("(x, {'mean': x, 'a': x})[1]", "mean, a"),
        ("{'a': x, 'mean': x}", ""),
        ("dict(a=x, mean=x)", ""),
    ],
)
def test_a_dictionary_in_another_order_is_said_to_be_sorted(
    told: Any, timing: Callable[..., Timing], returned: str, sorts: str
) -> None:
    program = f"def f(x):\n    x = jnp.sin(x)\n    return {returned}\n"
    remedy, code = told(program, "for _ in range(3): f(y)")
    assert code == "f = jax.jit(f)"
    assert ("keys sorted" in str(remedy)) == bool(sorts)
    function = ast.parse(program).body[0]
    assert isinstance(function, ast.FunctionDef)
    facts = changed_results(function, "", Evidence(code="", first=timing(), observed=timing()))
    assert facts.get("sorts", "") == sorts
    names: dict[str, Any] = {"jnp": jnp}
    exec(program, names)
    before, after = (list(each(jnp.ones(3))) for each in (names["f"], jax.jit(names["f"])))
    assert (before != after) == bool(sorts)
