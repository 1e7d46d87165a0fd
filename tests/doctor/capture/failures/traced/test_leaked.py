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


#: A function that hands a value to others, of which one stores it, beside a call that stores nothing.
HANDING = """
    class Tracker:
        def __init__(self):
            self.history, self.last = [], None
        def log(self, **values):
            self.history.append(values)  # escapes in the list
        def keep(self, value):
            self.last = value  # escapes in the attribute
        def both(self, value):
            self.keep(value)
    class Optimizer:
        def update(self, value):
            return value * 0.5, 1
    def store(kept, value):
        kept.append(value)  # escapes in the argument
    tracker, optimizer, others = Tracker(), Optimizer(), []
    def loss(x):
        y = x > 0
        {call}
        return x * 2
    @jax.jit
    def step(x):
        g = jax.grad(loss)(x)
        g, n = optimizer.update(g)
        return g
    step(1.0)
    {use} + 1  # here
"""


@pytest.mark.parametrize(
    ("call", "use", "where"),
    [
        ("tracker.log(loss=y)", 'tracker.history[0]["loss"]', "in the list"),
        ("tracker.keep(y)", "tracker.last", "in the attribute"),
        ("tracker.both(y)", "tracker.last", "in the attribute"),
        ("store(others, y)", "others[0]", "in the argument"),
        ("store(kept=others, value=y)", "others[0]", "in the argument"),
        ("store(tracker.history, y)", "tracker.history[0]", "in the argument"),
    ],
)
def test_a_value_escaped_in_a_function_that_got_it(call: str, use: str, where: str) -> None:
    cell = Cell(HANDING.format(call=call, use=use))
    escaped = next(number for number, line in enumerate(cell.source.splitlines(), 1) if where in line)
    assert f"It escaped at {cell.file}:{escaped}: " in cell.said
    assert "may have escaped" not in cell.said


@pytest.mark.parametrize(
    ("call", "use", "where"),
    [
        ("tracker.log(loss=y)", 'tracker.history[0]["loss"]', "in the list"),
        ("tracker.keep(y)", "tracker.last", "in the attribute"),
        ("tracker.both(y)", "tracker.last", "in the attribute"),
    ],
)
def test_a_method_stored_it_where_jax_does_not_say_which_function_was_traced(call: str, use: str, where: str) -> None:
    cell = Cell(HANDING.format(call=call, use=use).replace("y = x > 0", "y = x * 2"))
    escaped = next(number for number, line in enumerate(cell.source.splitlines(), 1) if where in line)
    assert "It is unknown which function that was." in cell.said
    assert f"It escaped at {cell.file}:{escaped}: " in cell.said


SEVERAL = """
    acts, others = [], []
    def net(w):
        h = w * 2
        acts.append(h)  # escapes
        return h
    def other(acts):
        acts.append(1.0)
    {more}
    jax.grad(net)(1.0)
    {use}  # here
"""


def test_the_only_function_that_stores_in_a_list_stored_it() -> None:
    cell = Cell(SEVERAL.format(more="def third(w): others.append(w)", use="print(float(sum(acts)))"))
    escaped = next(number for number, line in enumerate(cell.source.splitlines(), 1) if "# escapes" in line)
    assert "It is unknown which function that was." in cell.said
    assert f"It escaped at {cell.file}:{escaped}: acts.append(h)" in cell.said
    assert cell.said.count("scaped at") == 1


def test_no_line_of_jax_stored_it() -> None:
    cell = Cell("""
        class Model:
            def __init__(self):
                self.w = jnp.ones(3)
            @functools.partial(jax.jit, static_argnums=0)
            def step(self, x):
                self.w = self.w - jax.grad(lambda w: (x @ w).sum())(self.w)
                return self.w.sum()
        model = Model()
        model.step(jnp.ones((4, 3)))
        model.step(jnp.ones((5, 3)))  # here
    """)
    assert "escaped at" in cell.said
    assert "/jax/_src/" not in cell.said


def test_several_values_are_told_in_the_plural() -> None:
    cell = Cell(SEVERAL.format(more="jax.grad(net)(2.0)", use="acts[0] + acts[1]"))
    assert "were used after the function that traced them had ended." in cell.said


def test_one_of_several_functions_may_have_stored_it() -> None:
    cell = Cell(SEVERAL.format(more="def third(w): acts.append(w)", use="print(float(sum(acts)))"))
    assert cell.said.count("It may have escaped at ") == 2
    assert "It escaped at" not in cell.said


def test_a_call_whose_result_is_used_is_none_of_a_container() -> None:
    cell = Cell(HANDING.format(call="globals()['kept'] = y", use="kept"))
    assert "optimizer.update" not in cell.said
    assert "kept" in cell.said


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


#: Operations that fail on the value that an earlier trace stored, for another reason than that.
FAILING = {
    "shapes": "x * window(x)",
    "product": "jnp.dot(window(x), x)",
    "axis": "jnp.sum(window(x), axis=3)",
    "elements": "window(x).reshape(len(x), 1) + x",
    "joined": "jnp.stack([x, window(x)])",
    "keyword": "jnp.matmul(x, b=window(x))",
    "condition": "x if window(x) else -x",
    "numpy": "x + np.sin(window(x))",
}


@pytest.mark.parametrize("name", FAILING)
def test_an_operand_of_an_earlier_trace_explains_the_error(name: str) -> None:
    if jax.config.jax_traceback_filtering != "tracebackhide":
        pytest.skip("the value of a call is in frames of JAX, which are removed")
    cell = Cell(f"""
        table = None
        def window(x):
            global table
            if table is None:
                table = jnp.exp(-x)
            return table
        window_of = jax.jit(lambda x: window(x))
        window_of(jnp.ones(4))
        @jax.jit
        def smooth(x):
            return {FAILING[name]}  # here
        smooth(jnp.ones(3))
    """)
    assert not isinstance(cell.error, jax.errors.UnexpectedTracerError)
    assert cell.finding.line == cell.here
    assert cell.failure.kind == "leak"
    assert cell.finding.code is None
    assert "was traced by <lambda>" in cell.said
    assert f"It may have escaped at {cell.file}:6: table = jnp.exp(-x)" in cell.said
    assert "table is filled on first use, here while JAX traced <lambda>" in cell.said
    assert "x (" not in cell.said.splitlines()[0].replace("window(x) (", "")


def test_a_variable_of_an_earlier_trace_explains_the_error() -> None:
    cell = Cell(KEEPING.format(traced="jax.jit(f)(jnp.ones(4))", line="jnp.ones(3) + kept[0]"))
    assert cell.failure.kind == "leak"
    assert cell.said.startswith("kept[0] (f32[4]) was traced by f")


#: Operations whose traced operands are still being traced, or that need nothing but the shape of one that is not.
NOT_LEAKED = {
    "nested": "jax.jit(lambda x: jax.jit(lambda y: y * x)(jnp.ones(3)))(jnp.ones(4))  # here",
    "mapped": "jax.vmap(jax.grad(lambda x: (x * jnp.ones(3)).sum()))(jnp.ones((2, 4)))  # here",
    "scan": "lax.scan(lambda c, x: (c, x + jnp.ones(3)), 0.0, jnp.ones((2, 4)))  # here",
    "checkpoint": "jax.grad(jax.checkpoint(lambda x: (x * jnp.ones(3)).sum()))(jnp.ones(4))  # here",
    "axis": "jax.jit(lambda x: jnp.sum(x, axis=3))(jnp.ones(4))  # here",
    "shape": "kept = []; jax.jit(kept.append)(jnp.ones(4)); jnp.ones(3) + jnp.ones(kept[0].shape)  # here",
}


@pytest.mark.parametrize("name", NOT_LEAKED)
def test_an_error_about_other_values_keeps_its_explanation(name: str) -> None:
    cell = Cell(NOT_LEAKED[name])
    assert cell.failure.kind in ("broadcast", "axis")
    assert cell.finding.line == cell.here


def test_a_gradient_whose_function_is_unknown_names_the_line_that_stored_it() -> None:
    cell = Cell("""
        cache = {}
        def loss(w):
            if "w" not in cache:
                cache["w"] = w * 2  # escapes
            return (cache["w"] * w).sum()  # here
        jax.grad(loss)(jnp.ones(3))
        jax.grad(loss)(jnp.ones(3))
    """)
    assert cell.finding.line == cell.here
    assert f"It escaped at {cell.file}:5: cache['w'] = w * 2" in cell.said
    assert "cache is filled on first use" in cell.said
