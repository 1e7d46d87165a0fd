"""A traced value has leaked if its trace had ended, whoever traced the function."""

from __future__ import annotations

from collections.abc import Iterator

import jax
import pytest
from failing_cells import Cell


@pytest.fixture(autouse=True, params=["tracebackhide", "quiet_remove_frames"])
def _filtering(request: pytest.FixtureRequest) -> Iterator[None]:
    """What JAX does with its own frames: IPython has them hidden, scripts removed."""
    before = jax.config.jax_traceback_filtering
    jax.config.update("jax_traceback_filtering", request.param)
    yield
    jax.config.update("jax_traceback_filtering", before)


#: Functions that keep a traced value, and how each is traced.
KEEPING = """
    kept = []
    def f(x):
        kept.append(x * 2)
        return x
    {traced}
    {line}  # here
"""


@pytest.mark.parametrize(
    "line",
    ['print(f"{kept[-1]:.2f}")', "kept[0] + 1", "float(kept[-1])", "if kept[0]: pass", 'print("%.2f" % kept[0])'],
)
@pytest.mark.parametrize(
    "traced", ["jax.jit(f)(1.0)", "jax.vmap(f)(jnp.arange(3.0))", "jax.jit(jax.vmap(f))(jnp.arange(3.0))"]
)
def test_a_value_that_is_used_after_its_function_was_traced(traced: str, line: str) -> None:
    cell = Cell(KEEPING.format(traced=traced, line=line))
    assert cell.failure.kind == "leak"
    assert "kept.append(x * 2)" in cell.said
    assert "used after" in cell.said
    assert cell.said.count("kept[") == 1
    assert "f32[]" in cell.said


def test_a_value_that_jax_grad_traced_has_an_unknown_function() -> None:
    cell = Cell(KEEPING.format(traced="jax.grad(f)(1.0)", line='print(f"{kept[-1]:.2f}")'))
    assert cell.failure.kind == "leak"
    assert "It is unknown which function that was." in cell.said


def test_a_value_of_an_earlier_call_of_the_same_function() -> None:
    cell = Cell("""
        kept = []
        @jax.jit
        def f(x):
            if kept and bool(kept[-1]):  # here
                x = x + 1
            kept.append(x)
            return x
        f(1.0); f(2)
    """)
    assert cell.failure.kind == "leak"
    assert "x (" not in cell.said.splitlines()[0]


#: A layer of a library, whose lines are not the user's.
LAYER = """
    exec(compile("def dense(x):\\n    return jnp.tanh(x)", "/opt/site-packages/layers/dense.py", "exec"))
    kept = []
"""


@pytest.mark.parametrize(
    "code",
    [
        """
    def f(x):
        kept.append(dense(x))  # escapes
        return x
        """,
        """
    def inner(x):
        y = dense(x)
        kept.append(y)  # escapes
        return y
    def f(x):
        return inner(x)
        """,
        """
    def inner(x):
        return dense(x)
    def outer(x):
        y = inner(x)
        kept.append(y)  # escapes
        return y
    def f(x):
        return outer(x)
        """,
    ],
    ids=["in the traced function", "in one that calls the library", "in one around it"],
)
def test_the_result_of_a_layer_of_a_library_escaped_in_the_users_code(code: str) -> None:
    cell = Cell(f"{LAYER}{code}\n    jax.jit(f)(1.0)\n    kept[-1] + 1  # here")
    lines = cell.source.splitlines()
    computed = max(number for number, line in enumerate(lines, 1) if "dense(x)" in line and "exec" not in line)
    escaped = next(number for number, line in enumerate(lines, 1) if "# escapes" in line)
    assert cell.finding.line == cell.here
    assert f"It was computed at {cell.file}:{computed}." in cell.said
    assert f"It escaped at {cell.file}:{escaped}: kept.append(" in cell.said


#: Code that fails while JAX traces it, though the function that JAX names is not running, or is one of JAX.
RUNNING = {
    "lax.map": "jax.lax.map(lambda a: a if a > 0 else -a, jnp.ones(8))  # here",
    "a generator of jax": "jax.jit(lambda x: jax.tree.map(lambda k: float(k), x))([1.0])  # here",
    "pmap": "jax.pmap(lambda a: a if a > 0 else -a)(jnp.ones(1))  # here",
    "numpy in lax.map": "jax.lax.map(np.sin, jnp.ones(3))  # here",
    "backward rule": """
        @jax.custom_vjp
        def op(y):
            return y
        def backward(r, g):
            return (g,) if r > 0 else (-g,)  # here
        op.defvjp(lambda y: (y, y), backward)
        jax.jit(jax.grad(op))(1.0)
    """,
    "thread": """
        from concurrent.futures import ThreadPoolExecutor
        def f(x):
            with ThreadPoolExecutor(1) as pool:
                return pool.submit(float, x).result()  # here
        jax.jit(f)(1.0)
    """,
}


@pytest.mark.parametrize("name", RUNNING)
def test_what_is_being_traced_has_not_leaked_and_no_function_of_jax_is_named(name: str) -> None:
    cell = Cell(RUNNING[name])
    assert cell.failure.kind in ("bool", "number", "numpy")
    assert cell.finding.line == cell.here
    assert "/jax/_src/" not in cell.said
    assert "_fun" not in cell.said


def test_the_function_of_a_library_around_that_of_the_user_has_no_line() -> None:
    pytest.importorskip("equinox")
    cell = Cell("""
        import equinox as eqx
        stored = []
        @eqx.filter_jit
        def step(x):
            stored.append(x * 2)
            return x
        step(jnp.ones(3))
        y = stored[0] + 1  # here
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith(
        "stored[0] (f32[3]) was traced by step (for jit) and used after that tracing had ended."
    )
