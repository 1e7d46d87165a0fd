"""Tests for the explanation of classes that are no pytrees, and of functions that change attributes."""

from failing_cells import Cell

TRAINER = """
    class Trainer:
        def __init__(self):
            self.step, self.params, self.rate = 0, {"w": jnp.ones(3)}, 0.5
        @jax.jit
        def update(self, x):
            grads = jax.grad(lambda p: jnp.sum(p["w"] * x))(self.params)
            self.params = jax.tree.map(lambda p, g: p - self.rate * g, self.params, grads)
            self.step += 1
            return x.sum()
    tr = Trainer()
"""


def test_a_method_that_changes_attributes_is_written_as_a_function_that_returns_them() -> None:
    cell = Cell(f"{TRAINER}    tr.update(jnp.ones(3))  # here")
    assert "update changes self.params and self.step." in cell.said
    assert "would be lost without an error" in cell.said
    assert "register_dataclass" not in cell.said
    assert cell.finding.code is not None
    function, calling = cell.finding.code.split("\n\n")
    assert calling == "_, tr.params, tr.step = update(tr.params, tr.step, tr.rate, jnp.ones(3))"
    names = Cell(f"{TRAINER}\n    pass").names
    exec(f"{function}\nfor _ in range(3):\n    {calling}", names)
    assert int(names["tr"].step) == 3
    assert names["tr"].params["w"].tolist() == [-0.5, -0.5, -0.5]


def test_the_result_of_the_method_comes_first() -> None:
    cell = Cell(f"{TRAINER}    loss = tr.update(jnp.ones(3))  # here")
    assert cell.finding.code is not None
    assert cell.finding.code.endswith("loss, tr.params, tr.step = update(tr.params, tr.step, tr.rate, jnp.ones(3))")


def test_only_the_call_is_shown_where_the_function_cannot_be_written_surely() -> None:
    for rest in (
        "self.other = jnp.sin",  # not traced
        "step = 2",  # a variable of that name
        "return self.n",  # an integer that may be a size
        "jax.debug.print('{}', self)",
        "add(self)",
        "self.log.append(x)",
        "def inner(): self.w = 1",
        "if self.w is None: return x",
    ):
        cell = Cell(f"""
            class C:
                def __init__(self):
                    self.w, self.step, self.n, self.log, self.other = jnp.ones(3), 0, 3, [], jnp.cos
                @jax.jit
                def update(self, x):
                    self.w = self.w * x
                    self.step += 1
                    {rest}
            def add(c): c.step = 2
            c = C()
            c.update(2.0)  # here
        """)
        assert cell.finding.code is None, rest
        assert "c.w, c.step" in cell.said, rest
        assert "= update(c.w, c.step" in cell.said, rest


def test_a_function_that_changes_an_argument() -> None:
    cell = Cell("""
        class State: pass
        @jax.jit
        def update(x, state): state.w = x
        s = State()
        y = update(1.0, state=s)  # here
    """)
    assert "update changes state.w." in cell.said
    assert "the new ones: y, s.w = update(s.w, 1.0)." in cell.said


def test_an_object_without_a_name_gets_no_call() -> None:
    cell = Cell("""
        class C:
            @jax.jit
            def update(self, x): self.w = x
        C().update(1.0)  # here
    """)
    assert "update changes self.w." in cell.said
    assert "returns the new ones." in cell.said
    assert cell.finding.code is None


def test_a_class_that_is_no_dataclass() -> None:
    cell = Cell("""
        @jax.tree_util.register_dataclass  # here
        class Model:
            def __init__(self): self.w = 1
    """)
    assert cell.finding.line == cell.here
    assert cell.said.startswith("Model is no dataclass")
    assert "Put @dataclass below it" in cell.said
    assert "register_pytree_node_class and the methods tree_flatten and tree_unflatten" in cell.said
    assert "What a traced method assigns to attributes of self is lost" in cell.said
