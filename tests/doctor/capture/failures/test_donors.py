"""The calls that may have deleted an array: those that ran, on the array that the variable holds now."""

from __future__ import annotations

import pytest
from failing_cells import Cell

#: A library, whose lines are not the user's.
LIBRARY = """
class Layer:
    def __init__(self, w): self.w = w
    def __call__(self, x): return x * self.w
current = {}
def apply(function, state, x):
    current.update(state)
    return function(x)
def scaled(x): return x * current['w']
"""

#: Code that uses it.
NET = f"""exec(compile({LIBRARY!r}, "/opt/site-packages/layers/layer.py", "exec"))
class Net:
    def __init__(self, w): self.layer = Layer(w)
    def __call__(self, x): return self.layer(x)  # here
net = Net(x)
"""
BODY = f"""exec(compile({LIBRARY!r}, "/opt/site-packages/layers/layer.py", "exec"))
def body(x): return scaled(x)  # here
"""

#: Code after ``f`` and ``g``, which donate; and what is said of them.
CODE = {
    "a branch that never runs": (
        "if False:\n    g(x)\nelse:\n    f(x)\nx + 1  # here",
        ["Probably donated by f(x)"],
        ["g(x)"],
    ),
    "one of two branches": (
        "if flag:\n    g(x)\nelse:\n    f(x)\nx + 1  # here",
        ["It may have been donated by f(x)", "It may have been donated by g(x)", "what the donating call returned"],
        ["Probably"],
    ),
    "the other branch": (
        "y = x\nf(y)\nif flag:\n    g(x)\nelse:\n    x + 1  # here",
        ["Probably donated by f(y)"],
        ["g(x)"],
    ),
    "the other branch, in an earlier round": (
        "for i in range(2):\n    if i == 0:\n        g(x)\n    else:\n        x + 1  # here",
        ["Probably donated by g(x)"],
        ["unknown"],
    ),
    "a later line of a loop": (
        "for i in range(2):\n    y = x + 1  # here\n    g(x)",
        ["Probably donated by g(x)", "in an earlier round."],
        ["unknown"],
    ),
    "a later line": ("y = x\nf(y)\nx + 1  # here\ng(x)", ["Probably donated by f(y)"], ["g(x)"]),
    "delete()": (
        "x.delete()\nx + 1  # here",
        ["Probably deleted by x.delete()", "Delete x after its last use"],
        ["donating"],
    ),
    "delete() of what a call returned": (
        "x = f(x)\nx.delete()\nx + 1  # here",
        ["Probably deleted by x.delete()"],
        ["f(x)"],
    ),
    "a variable that has got another array since": (
        "y = f(x)\nx = y\nf(y)\nx + 1  # here",
        ["Probably donated by f(y)"],
        ["f(x)"],
    ),
    "an earlier name of the array": (
        "old = x\nx = f(x)\nold + 1  # here",
        ["Probably donated by f(x)"],
        ["unknown"],
    ),
    "an earlier name that has got another array before": (
        "old = x\nx = x + 1\nx = f(x)\nold.delete()\nold + 1  # here",
        ["Probably deleted by old.delete()"],
        ["f(x)"],
    ),
    "a part of a state": (
        "state = {'w': x}\nw = state['w']\nstate = jax.jit(lambda s: s, donate_argnums=0)(state)\nw + 1  # here",
        ["is unknown"],
        [],
    ),
    "a part of a state that a named function donates": (
        "state = {'w': x}\nw = state['w']\nstate = f2(state)\nw + 1  # here",
        ["Probably donated by f2(state)"],
        ["unknown"],
    ),
    "a function that calls the one that donates": (
        "def train(a, b):\n    b = b + 1\n    return f(a)\ntrain(x, 1)\nx + 1  # here",
        ["Probably donated by train(x, 1)"],
        ["unknown"],
    ),
    "a function that donates another argument": (
        "def train(a, b):\n    return f(b)\ntrain(x, x + 1)\nx.delete()\nx + 1  # here",
        ["Probably deleted by x.delete()"],
        ["train"],
    ),
    "two functions around it": (
        "def inner(a): return f(a)\ndef train(b): return inner(b)\ntrain(b=x)\nx + 1  # here",
        ["Probably donated by train(b=x)"],
        ["unknown"],
    ),
    "a method": (
        "class T:\n    step = staticmethod(f)\n    def __init__(self, w): self.w = w\n"
        "    def run(self): self.step(self.w)\nt = T(x)\nt.run()\nt.w + 1  # here",
        ["Probably donated by t.run()"],
        ["unknown"],
    ),
    "a jitted method": (
        "class T:\n    @functools.partial(jax.jit, static_argnums=0, donate_argnums=1)\n"
        "    def step(self, a, b): return a + b\ny = x + 1\nT().step\nt = T()\nt.step(x, y)\nx + 1  # here",
        ["Probably donated by t.step(x, y)", "x.copy()"],
        ["unknown"],
    ),
    "a partial": (
        "h = functools.partial(jax.jit(lambda k, s: s + k, donate_argnums=1), 1)\nh(x)\nx + 1  # here",
        ["Probably donated by h(x)"],
        ["unknown"],
    ),
    "a global that a jitted function captured": (
        "j = jax.jit(lambda a: a + x)\nf(x)\nj(1.0)  # here",
        ["x was donated or deleted", "Probably donated by f(x)", "x.copy()"],
        ["unknown"],
    ),
    "a variable that a jitted function captured": (
        "def make():\n    w = jnp.ones(3)\n    j = jax.jit(lambda a: a + w)\n    f(w)\n    j(1.0)  # here\nmake()",
        ["w was donated or deleted", "Probably donated by f(w)"],
        ["unknown"],
    ),
    "an array that the body of a loop reads": (
        "def body(c, _): return c + x, None\nf(x)\nlax.scan(body, jnp.zeros(3), None, length=2)  # here",
        ["x was donated or deleted", "Probably donated by f(x)"],
        ["unknown"],
    ),
    "another array that the body of a loop reads": (
        "y = jnp.ones(3)\ndef body(c, _): return c + x + y.sum(), None\nf(x)\ng(y + 1)\n"
        "lax.scan(body, jnp.zeros(3), None, length=2)  # here",
        ["x was donated or deleted", "Probably donated by f(x)"],
        ["y was", "g(y"],
    ),
    "a caller's array": (
        "def use(a):\n    return a + 1  # here\nf(x)\nuse(x)",
        ["a was donated or deleted", "Probably donated by f(x)", "in place of x", "x.copy()"],
        ["unknown"],
    ),
    "a part of what a caller of a caller has": (
        "def use(a):\n    return a['w'] + 1  # here\ndef run(b):\n    return use(b)\ns = {'w': x}\nf2(s)\nrun(s)",
        ["a['w'] was donated or deleted", "Probably donated by f2(s)", "jax.tree.map(jnp.copy, s)"],
        ["unknown"],
    ),
    "an array that the caller makes for the failing function": (
        "def use(a):\n    a.delete()\n    return a + 1  # here\nf(x + 1)\nuse(x)",
        ["Probably deleted by a.delete()"],
        ["f(x"],
    ),
    "a caller that has donated another array": (
        "def use(a):\n    return a + 1  # here\ny = jnp.ones(3)\nf(y)\nz = x\ng(z)\ndel z\nuse(x)",
        ["is unknown"],
        ["f(y)"],
    ),
    "a global that a function reads which a jitted one calls": (
        "def inner(c, _): return c + x, None\ndef outer(c): return lax.scan(inner, c, None, length=2)\n"
        "j = jax.jit(outer)\nf(x)\nj(jnp.zeros(3))  # here",
        ["x was donated or deleted", "Probably donated by f(x)"],
        ["unknown"],
    ),
    "another name of a part of a state": (
        "s = {'w': x}\nf2(s)\nx + 1  # here",
        ["x was donated or deleted", "Probably donated by f2(s)", "jax.tree.map(jnp.copy, s)"],
        ["unknown"],
    ),
    "a weight of a layer of a library": (
        f"{NET}f(net.layer.w)\nnet(1.0)",
        ["self.layer.w was donated or deleted", "Probably donated by f(net.layer.w)", "net.layer.w.copy()"],
        ["unknown"],
    ),
    "a state that shares a weight with a layer of a library": (
        f"{NET}s = {{'w': net.layer.w}}\nf2(s)\nnet(1.0)",
        ["self.layer.w was donated or deleted", "Probably donated by f2(s)", "jax.tree.map(jnp.copy, s)"],
        ["unknown"],
    ),
    "a weight of a layer of a library that no call donated": (
        f"{NET}net.layer.w.delete()\nf(jnp.ones(3))\nnet(1.0)",
        ["self.layer.w was donated or deleted", "Probably deleted by net.layer.w.delete()"],
        ["unknown"],
    ),
    "a state that a library keeps while it calls the failing function": (
        f"{BODY}s = {{'w': x}}\nf2(s)\napply(body, s, 1.0)",
        ["s['w'] was donated or deleted", "Probably donated by f2(s)", "jax.tree.map(jnp.copy, s)"],
        ["unknown"],
    ),
    "an attribute beside it": (
        "class S: pass\ns = S()\ns.w, s.b = x, 1\nf(s.w)\ns.b = 2\ns.w + 1  # here",
        ["Probably donated by f(s.w)"],
        ["unknown"],
    ),
}


@pytest.mark.parametrize(
    "jitted",
    ["jax.jit(n)", "jax.jit(n.__call__)", "jax.jit(lambda c: n.run(c))", "jax.jit(partial(n.scaled, 2.0))"],
)
def test_an_array_that_a_method_reads_has_a_name(jitted: str) -> None:
    cell = Cell(f"""
        from functools import partial
        class N:
            def __call__(self, c): return self.run(c)
            def run(self, c): return self.scaled(1.0, c)
            def scaled(self, by, c): return by * c * x
            def unused(self): return other
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x, other, n = jnp.ones(3), jnp.ones(4), N()
        j = {jitted}
        other.delete()
        f(x)
        j(jnp.zeros(3))  # here
    """)
    assert cell.finding.line == cell.here
    assert "x was donated or deleted" in cell.said
    assert "Probably donated by f(x)" in cell.said
    assert "other" not in cell.said.replace("another", "")


def test_an_array_that_a_module_of_flax_reads_has_a_name() -> None:
    pytest.importorskip("flax")
    cell = Cell("""
        from flax import linen as nn
        class Net(nn.Module):
            @nn.compact
            def __call__(self, c): return nn.Dense(3)(c) * x
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x, net = jnp.ones(3), Net()
        params = net.init(jax.random.key(0), jnp.zeros(3))
        apply = jax.jit(net.apply)
        f(x)
        apply(params, jnp.zeros(3))
    """)
    assert "x was donated or deleted" in cell.said
    assert "Probably donated by f(x)" in cell.said


@pytest.mark.parametrize("name", CODE)
def test_the_calls_that_may_have_deleted_an_array(name: str) -> None:
    code, said, unsaid = CODE[name]
    head = "f, g = (jax.jit(lambda x, n=n: x + n, donate_argnums=0) for n in (1, 2))\nflag, x = False, jnp.ones(3)\n"
    head += "f2 = jax.jit(lambda s: {'w': s['w'] + 1}, donate_argnums=0)\n"
    cell = Cell(head + code)
    assert cell.failure.kind == "deleted"
    assert cell.finding.line == cell.here
    for each in said:
        assert each in cell.said
    for each in unsaid:
        assert each not in cell.said.replace("what f(x) returned", "")


@pytest.mark.parametrize(
    ("donate", "line"), [("all", "m(jnp.ones(2))"), ("all-except-first", "x + 1"), ("all-except-first", "s['x'] + 1")]
)
def test_the_jit_of_equinox_donates(donate: str, line: str) -> None:
    pytest.importorskip("equinox")
    cell = Cell(f"""
        import equinox as eqx
        m, x = eqx.nn.Linear(2, 3, key=jax.random.key(0)), jnp.ones(3)
        s = {{"x": x}}
        step = eqx.filter_jit(lambda m, x: (m.weight + 1, m.bias + x), donate="{donate}")
        step(m, x)
        {line}  # here
    """)
    assert cell.failure.kind == "deleted"
    assert cell.finding.line == cell.here
    assert "Probably donated by step(m, x)" in cell.said


def test_a_weight_of_a_flax_module_is_named() -> None:
    pytest.importorskip("flax")
    cell = Cell("""
        from flax import nnx
        class Net(nnx.Module):
            def __init__(self):
                self.dense = nnx.Linear(2, 3, rngs=nnx.Rngs(0))
            def __call__(self, x):
                return self.dense(x)  # here
        net = Net()
        _, state = nnx.split(net)
        step = jax.jit(lambda state: jax.tree.map(lambda each: 2 * each, state), donate_argnums=0)
        new = step(state)
        net(jnp.ones(2))
    """)
    assert cell.failure.kind == "deleted"
    assert cell.finding.line == cell.here
    assert "self.dense.kernel" in cell.said
    assert "Probably donated by step(state)" in cell.said


def test_without_a_known_call_both_causes_are_possible() -> None:
    cell = Cell("""
        def release(arrays):
            for each in arrays.values():
                each.delete()
        arrays = {"a": jnp.ones(3)}
        release(arrays)
        arrays["a"] + 1  # here
    """)
    assert "Which call donated or deleted it is unknown" in cell.said
    assert "If a call donated arrays['a'], use what that call returned in its place" in cell.said
    assert "If .delete() was called, call it after the last use." in cell.said
