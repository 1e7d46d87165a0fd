"""Mended functions beside the call without jit: the same outputs, and how much faster they are."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from failing_cells import Cell

import jaxmagic
from jaxmagic.doctor.capture.failures.jit_calls import mended, mended_function
from jaxmagic.doctor.record.finding import Verified


@pytest.fixture(autouse=True)
def brief(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Measure for a tenth of a second where no speed matters."""
    if request.node.get_closest_marker("clock") is None:
        monkeypatch.setattr(mended, "_LONGEST_NS", 10**8)


def tried(cell: str) -> Verified:
    diagnosis = jaxmagic.explain_error(Cell(cell).error, verify=True, budget_s=600)
    (finding,) = diagnosis.findings
    assert finding.verified is not None
    return finding.verified


def kinds(verified: Verified) -> list[str]:
    return [each.kind.removeprefix("doctor.") for each in verified.notes]


MENDED = {
    "an if statement": """
        @jax.jit
        def f(x):
            if x > 0:  # here
                y = x * 2
            else:
                y = -x
            return y
        f(jnp.float32(3))
    """,
    "a while loop in a closure": """
        def outer(limit):
            @jax.jit
            def f(x, step=2.0):
                while x < limit:  # here
                    x = x * 2.0
                return x
            return f(jnp.float32(1))
        outer(50.0)
    """,
    "a size that becomes static": """
        @jax.jit
        def f(x, n):
            for _ in range(n):  # here
                x = x * x
            return x
        f(jnp.ones(3), 3)
    """,
    "two sizes that become static": """
        @jax.jit
        def f(x, first, last):
            return x[first:last]  # here
        f(jnp.arange(6.0), 1, 3)
    """,
    "a slice whose size becomes static": """
        @jax.jit
        def f(x, i, n):
            return x[i * n:(i + 1) * n]  # here
        f(jnp.arange(6.0), 1, 2)
    """,
    "a list of static sizes": """
        def f(x, sizes):
            return x.reshape(sizes)
        g = jax.jit(f, static_argnames="sizes")
        g(jnp.ones(6), sizes=[2, 3])  # here
    """,
    "a static list with a name": """
        sizes = [2, 3]
        f = jax.jit(lambda x, sizes: x.reshape(sizes), static_argnames="sizes")
        f(jnp.ones(6), sizes)  # here
    """,
    "a static set": """
        @functools.partial(jax.jit, static_argnums=1)
        def f(x, chosen):
            return x * len(chosen)
        f(jnp.ones(6), {"a", "b"})  # here
    """,
    "a static dictionary": """
        settings = {"scale": 3.0, "kind": "relu"}
        @functools.partial(jax.jit, static_argnames="cfg")
        def f(x, cfg):
            return getattr(jax.nn, cfg["kind"])(x) * cfg["scale"]
        f(jnp.ones(6), settings)  # here
    """,
    "a conversion that is left out": """
        @jax.jit
        def f(x):
            return float(x) + 1  # here
        f(jnp.float32(2))
    """,
    "a function of NumPy": """
        @jax.jit
        def f(x):
            return np.maximum(np.asarray(x), 0)  # here
        f(jnp.ones(3))
    """,
    "a mask": """
        @jax.jit
        def f(x):
            return jnp.mean(x[x > 1])  # here
        f(jnp.arange(4.0))
    """,
    "an index of a list": """
        @jax.jit
        def f(x, i):
            return [1.0, 2.0, 3.0][i] * x  # here
        f(jnp.float32(2), jnp.int32(1))
    """,
}


@pytest.mark.parametrize("cell", MENDED.values(), ids=MENDED)
def test_a_mended_function_computes_the_same_and_is_measured(cell: str) -> None:
    verified = tried(cell)
    assert verified.outputs_agree is True, verified
    assert verified.before_ns is not None
    assert verified.after_ns is not None
    assert kinds(verified)[0] == "mended"
    assert kinds(verified)[-1] == "mended_runs"


@pytest.mark.clock
def test_a_loop_under_jit_is_faster_than_without() -> None:
    diagnosis = jaxmagic.explain_error(
        Cell(MENDED["a while loop in a closure"].replace("50.0", "1e30")).error, verify=True, budget_s=3
    )
    verified = diagnosis.findings[0].verified
    assert verified is not None
    assert verified.low is not None
    assert verified.low > 2
    assert "times as fast (95 % interval" in str(diagnosis)


NOT_MENDED = {
    "not_mended": """
        @jax.jit
        def f(x):
            if x > 0:  # here
                return x
            x = x - 1
            return 0.0 * x
        f(jnp.float32(3))
    """,
    "argument_unknown": """
        def size():
            return 3
        @functools.partial(jax.jit, static_argnames="sizes")
        def f(x, sizes):
            return x * sizes[0]
        f(jnp.float32(3), [size()])  # here
    """,
    "fallback_changes": """
        seen = []
        @jax.jit
        def f(x):
            seen.append(1)
            return float(x) + 1  # here
        f(jnp.float32(3))
    """,
    "fallback_foreseen": """
        seen = []
        @jax.jit
        def f(x):
            exec("seen.append(1)")
            return float(x) + 1  # here
        f(jnp.float32(3))
    """,
    "fallback_failed": """
        @jax.jit
        def f(x):
            y = float(x) + 1  # here
            return y.missing
        f(jnp.float32(3))
    """,
    "not_mended_kind": """
        jnp.ones((2, 3)) @ jnp.ones((4, 5))  # here
    """,
    "no_fallback": """
        def f(x):
            return float(x) + 1  # here
        jax.vmap(f)(jnp.ones(3))
    """,
}


@pytest.mark.parametrize("kind", NOT_MENDED)
def test_what_cannot_be_compared_is_said(kind: str) -> None:
    verified = tried(NOT_MENDED[kind])
    assert kinds(verified) == [kind] or kind == "fallback_failed"
    assert verified.speedup is None
    assert verified.outputs_agree is None


def test_a_function_that_writes_a_file_under_a_condition_runs_once(tmp_path: Path) -> None:
    verified = tried(f"""
        def write(x):
            if x is not None:
                with open({str(tmp_path / "log")!r}, "a") as file:
                    file.write("1")
        @jax.jit
        def f(x):
            write(x)
            return float(x) + 1  # here
        f(jnp.float32(3))
    """)
    assert kinds(verified) == ["fallback_changes"]
    assert (tmp_path / "log").read_text() == "11"  # by the failing call, and once more


def test_an_argument_that_the_users_code_made_is_compared_and_not_made_again() -> None:
    verified = tried("""
        made = []
        def data():
            made.append(1)
            return jnp.float32(3)
        @jax.jit
        def f(x):
            return float(x) + x.dtype.itemsize  # here
        f(data())
    """)
    assert verified.outputs_agree


def test_what_was_passed_is_compared_and_not_what_a_comprehension_hides() -> None:
    verified = tried("""
        x = 3
        @jax.jit
        def f(x):
            return float(x) + x.dtype.itemsize  # here
        made = [f(x) for x in (jnp.float32(1), jnp.float32(2))]
    """)
    if sys.version_info < (3, 12):
        assert verified.outputs_agree
    else:  # its variable is no longer to be found, and the one outside has another value
        assert kinds(verified) == ["no_fallback"]


def test_a_remedy_that_leads_to_the_next_error_is_shown_as_such() -> None:
    verified = tried("""
        @jax.jit
        def f(x):
            if x > 0:  # here
                y = x * 2
            else:
                y = -x
            if y > 3:
                y = y * 2
            return y
        f(jnp.float32(3))
    """)
    assert verified.outputs_agree is None
    assert "TracerBoolConversionError" in str(verified.notes)


def test_other_outputs_are_shown_as_such(monkeypatch: Any) -> None:
    real = mended_function._with_statement
    monkeypatch.setattr(mended_function, "_with_statement", lambda *given: real(*given[:2], "y = x * 3"))
    verified = tried(MENDED["an if statement"])
    assert verified.outputs_agree is False
    assert verified.survives is False


def test_an_interrupt_of_the_call_without_jit_keeps_the_explanation() -> None:
    cell = Cell("""
        def pause():
            raise KeyboardInterrupt
        @jax.jit
        def f(x, n):
            for _ in range(n):
                x = x * 2
            pause()
            return x
        f(1.0, 3)
    """)
    diagnosis = jaxmagic.explain_error(cell.error, verify=True, budget_s=600)
    (finding,) = diagnosis.findings
    assert finding.verified is not None
    assert [str(each) for each in finding.verified.notes] == [
        "Not tried: interrupted.",
        "To try it, the function ran once without jit, and not once with the remedy.",
    ]
    assert jaxmagic.last() is diagnosis


def test_nothing_runs_unasked() -> None:
    (finding,) = jaxmagic.explain_error(Cell(MENDED["an if statement"]).error).findings
    assert finding.verified is None


def test_wrong_budgets() -> None:
    with pytest.raises(ValueError, match="budget_s"):
        jaxmagic.explain_error(ValueError(), verify=True, budget_s=0)


def test_outputs_are_compared_with_those_of_the_precision_that_jax_has() -> None:
    verified = tried("""
        @jax.jit
        def f(x):
            y = x * 100000.1
            if y > 0:  # here
                y = y - 10000.0
            else:
                y = -y
            return y
        f(0.1)
    """)
    assert verified.outputs_agree
    assert "mended_arrays" in kinds(verified)


@pytest.mark.parametrize(
    ("body", "call"),
    [
        ("return x[: int(frac * x.shape[0])].sum()", "f(jnp.arange(100.0), 0.29)"),
        (
            "k = int(x.size * frac)\n            return jnp.ones(k) * x.sum()",
            "f(jnp.arange(100.0), frac=0.58)",
        ),
        ("return jnp.zeros(int(frac * 100)) + x.sum()", "f(jnp.ones(4), 0.57)"),
        ("return x[: int(frac * x.shape[0])].sum() * scale", "f(jnp.arange(100.0), 0.29, 0.1)"),
    ],
    ids=range(4),
)
def test_a_float_that_becomes_static_is_compared_as_the_user_passes_it(body: str, call: str) -> None:
    verified = tried(f"""
        @jax.jit
        def f(x, frac, scale=2.0):
            {body}  # here
        {call}
    """)
    assert verified.outputs_agree, kinds(verified)


def test_outputs_of_floats_may_differ_for_another_reason() -> None:
    verified = tried("""
        @jax.jit
        def f(x):
            x = x * (3 if isinstance(x, jax.core.Tracer) else 2)
            if x > 0:  # here
                y = x * 1.5
            else:
                y = -x
            return y
        f(1.5)
    """)
    assert verified.outputs_agree is False


@pytest.mark.parametrize("given", ["{'k': 2.0}", "[1.0, 2.0]"])
def test_what_the_caller_passed_is_not_changed(given: str) -> None:
    cell = Cell(f"""
        @functools.partial(jax.jit, static_argnums=1)
        def f(x, given):
            given.clear()
            return x
        given = {given}
        f(2, given)
    """)
    diagnosis = jaxmagic.explain_error(cell.error, verify=True, budget_s=600)
    (finding,) = diagnosis.findings
    assert finding.verified is not None
    (refused,) = finding.verified.notes
    assert "changes the argument given" in str(refused)
    assert repr(cell.names["given"]) == given


def test_outputs_that_agree_in_value_alone_are_shown_as_such() -> None:
    cell = """
        @jax.jit
        def f(x):
            if x > 3:  # here
                y = x
            else:
                y = 0.5
            return y
        f(VALUE)
    """
    found = tried(cell.replace("VALUE", "jnp.int32(5)"))
    assert found.outputs_agree is None
    told = next(str(each) for each in found.notes if each.kind == "doctor.outputs_dtype")
    assert told == ("The outputs agree in value, but not in dtype: float32 with the remedy, int32 without it.")
    assert tried(cell.replace("VALUE", "5")).outputs_agree, "the dtype of a Python number depends on its use"
