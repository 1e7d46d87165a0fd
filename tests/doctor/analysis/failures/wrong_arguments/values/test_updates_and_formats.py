"""Assigned elements of JAX arrays, and formatted traced values: the rewritten line does the same."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from failing_cells import Cell


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[0] = 9", "x = x.at[0].set(9)"),
        ("x[1, 2] = 9", "x = x.at[1, 2].set(9)"),
        ("x[:, 1] = 9", "x = x.at[:, 1].set(9)"),
        ("x[x > 4] = 0", "x = jnp.where(x > 4, 0, x)"),
        ("x[i] += 2", "x = x.at[i].add(2)"),
        ("x[-1] -= 2", "x = x.at[-1].subtract(2)"),
        ("x[0] *= 2", "x = x.at[0].multiply(2)"),
        ("x[0] /= 2", "x = x.at[0].divide(2)"),
        ("x[0] **= 2", "x = x.at[0].power(2)"),
        ("x[0] //= 2", "x = x.at[0].set(x[0] // 2)"),
        ("x[1][2] = 9", "x = x.at[1, 2].set(9)"),
        ("x[1][:2] += 9", "x = x.at[1, :2].add(9)"),
    ],
)
def test_an_element_is_assigned_as_in_numpy(line: str, code: str) -> None:
    cell = Cell(f"i = 1\nx = jnp.arange(6.0).reshape(2, 3)\n{line}  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    expected = {"i": 1, "x": np.arange(6.0).reshape(2, 3)}
    exec(line, expected)
    np.testing.assert_allclose(cell.rewritten(code).names["x"], expected["x"])


@pytest.mark.filterwarnings("error::FutureWarning")
@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[1] *= 0.5", "x = x.at[1].set((x[1] * 0.5).astype(x.dtype))"),
        ("x[1] += -1.5", "x = x.at[1].set((x[1] + -1.5).astype(x.dtype))"),
        ("x[i] -= 2 * y", "x = x.at[i].set((x[i] - 2 * y).astype(x.dtype))"),
        ("x[1] *= 3 / 2", "x = x.at[1].set((x[1] * (3 / 2)).astype(x.dtype))"),
        ("x[0] **= 1.5", "x = x.at[0].set((x[0] ** 1.5).astype(x.dtype))"),
        ("x[1] //= 2.5", "x = x.at[1].set((x[1] // 2.5).astype(x.dtype))"),
        ("x[1] *= 2", "x = x.at[1].multiply(2)"),
        ("x[1] //= 2", "x = x.at[1].set(x[1] // 2)"),
        ("x[1] **= 2", "x = x.at[1].power(2)"),
        ("x[i] += i", "x = x.at[i].add(i)"),
    ],
)
def test_integers_stay_integers_as_in_numpy(line: str, code: str) -> None:
    cell = Cell(f"i, y = 1, 0.4\nx = jnp.array([5, -7, 9])\n{line}  # here")
    assert cell.finding.code == code
    assert ("the fraction is cut off" in cell.said) == ("astype" in code)
    expected = {"i": 1, "y": 0.4, "x": np.array([5, -7, 9])}
    exec(line, expected)
    got = np.asarray(cell.rewritten(code).names["x"])
    assert got.dtype.kind == "i"
    np.testing.assert_array_equal(got, expected["x"])


@pytest.mark.parametrize("transform", ["f(jnp.ones(3))", "jax.jit(f)(jnp.ones(3))", "jax.vmap(f)(jnp.ones((2, 3)))"])
def test_in_a_function_the_new_array_has_to_be_returned(transform: str) -> None:
    cell = Cell(f"def f(x):\n    x[0] = 2  # here\n    return x\nresult = {transform}")
    assert cell.finding.line == cell.here
    assert "The caller's x stays as it is: return the new one." in cell.said
    result = np.asarray(cell.rewritten(cell.finding.code or "").names["result"])
    np.testing.assert_array_equal(result.reshape(-1, 3)[0], [2, 1, 1])


def test_arrays_in_containers_and_objects() -> None:
    cell = Cell("xs = [jnp.ones(3), jnp.ones(3)]\nxs[1][0] = 5  # here")
    assert cell.finding.code == "xs[1] = xs[1].at[0].set(5)"
    assert np.asarray(cell.rewritten(cell.finding.code).names["xs"][1])[0] == 5
    cell = Cell("""
        class State: pass
        def put(state, k):
            state.buffer[k] = 5  # here
        state = State()
        state.buffer = jnp.ones(3)
        put(state, 1)
    """)
    assert cell.finding.code == "state.buffer = state.buffer.at[k].set(5)"
    assert "caller" not in cell.said
    assert np.asarray(cell.rewritten(cell.finding.code).names["state"].buffer).tolist() == [1, 5, 1]


def test_repeated_indices_count_each_time() -> None:
    cell = Cell("i = jnp.array([0, 0])\nx = jnp.zeros(3)\nx[i] += 1  # here")
    assert "An index that occurs several times then counts each time, unlike in NumPy." in cell.said
    assert np.asarray(cell.rewritten(cell.finding.code or "").names["x"])[0] == 2
    assert "several times" not in Cell("i = 1\nx = jnp.zeros(3)\nx[i] += 1").said
    assert "several times" not in Cell("i = jnp.array([0, 0])\nx = jnp.zeros(3)\nx[i] = 1").said


@pytest.mark.parametrize(
    "code",
    [
        "def f():\n    x[0] = 1  # here\nf()",
        "def g(x):\n    def f():\n        x[0] = 1  # here\n    f()\ng(x)",
        "def f():\n    global x\n    x[0] = 1  # here\nf()",
    ],
)
def test_a_variable_of_an_outer_function_is_not_assigned(code: str) -> None:
    cell = Cell(f"x = jnp.zeros(3)\n{code}")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert "x is not a local variable of this function." in cell.said


@pytest.mark.parametrize("line", ["x[0], y = 1, 2", "x[0] = y = 1", "for x[0] in [1]: pass", "x[i][0] = 1"])
def test_statements_that_do_more_are_not_rewritten(line: str) -> None:
    cell = Cell(f"i = jnp.array([0, 1])\nx = jnp.ones((2, 3))\n{line}  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert "x = x.at[…].set(…)" in cell.said


#: Objects whose attributes cannot be assigned, or may not be.
HELD = """
    __name__ = "__main__"
    import collections, dataclasses
    @dataclasses.dataclass(frozen=True)
    class Frozen: w: object
    @dataclasses.dataclass(frozen=True, slots=True)
    class FrozenSlots: w: object
    class Child(Frozen): pass
    Row = collections.namedtuple("Row", "w")
    class ReadOnly:
        @property
        def w(self): return jnp.ones(3)
    class Guarded:
        def __init__(self): self.__dict__["w"] = jnp.ones(3)
        def __setattr__(self, name, value): raise TypeError
    class Module: pass
    Module.__module__ = "equinox._module"
    class Linear(Module):
        def __init__(self): self.w = jnp.ones(3)
    class Plain:
        def __init__(self): self.w = jnp.ones(3)
    class Slots:
        __slots__ = ("w",)
        def __init__(self): self.w = jnp.ones(3)
    def get(): return jnp.ones(3)
"""


@pytest.mark.parametrize(
    ("made", "advice"),
    [
        (
            "Frozen(jnp.ones(3))",
            "a frozen dataclass. Make a new array, a.w.at[…].set(…), and a new object with it, "
            "with dataclasses.replace().",
        ),
        ("FrozenSlots(jnp.ones(3))", "dataclasses.replace()."),
        ("Child(jnp.ones(3))", "dataclasses.replace()."),
        ("Row(jnp.ones(3))", "with its method _replace()."),
        ("ReadOnly()", "a.w cannot be assigned either: it is a property without a setter."),
        ("Linear()", "with equinox.tree_at()."),
        ("Guarded()", "If its object is immutable, make a new object with it, for example with"),
    ],
)
def test_an_attribute_that_cannot_be_assigned_is_not_assigned(made: str, advice: str) -> None:
    cell = Cell(f"{HELD}\n    a = {made}\n    a.w[0] = 1  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert advice in cell.said
    assert "a.w = " not in cell.said
    if made != "Linear()":  # only named like a module of Equinox, and can be assigned
        assert isinstance(cell.rewritten("a.w = a.w.at[0].set(1)").error, AttributeError | TypeError)


@pytest.mark.parametrize("made", ["Plain()", "Slots()"])
def test_an_attribute_that_can_be_assigned_is(made: str) -> None:
    cell = Cell(f"{HELD}\n    a = {made}\n    a.w[0] = 5  # here")
    assert cell.finding.code == "a.w = a.w.at[0].set(5)"
    assert np.asarray(cell.rewritten(cell.finding.code).names["a"].w).tolist() == [5, 1, 1]


@pytest.mark.parametrize(
    ("line", "new"),
    [
        ("get()[0] = 2", "get().at[…].set(…)"),
        ("get()[0] += 2", "get().at[…].add(…)"),
        ("pair[0][1] = 2", "pair[0].at[…].set(…)"),
        ("pair[1][0][1] = 2", "pair[1].at[…].set(…)"),
        ("(pair[0] + 1)[0] = 2", "(pair[0] + 1).at[…].set(…)"),
    ],
)
def test_what_is_no_place_is_not_assigned(line: str, new: str) -> None:
    cell = Cell(f"{HELD}\n    pair = (jnp.ones(3), jnp.ones((2, 3)))\n    {line}  # here")
    assert cell.finding.code is None
    assert f"Make a new array, {new}, and use it in place of the old one." in cell.said.splitlines()


@pytest.mark.parametrize(("given", "line"), [("x", "x[1] /= 2"), ("x", "x[:2] /= 2"), ("[x]", "x[0][1] /= 2")])
def test_a_division_of_integers_is_not_rewritten(given: str, line: str) -> None:
    cell = Cell(f"x = jnp.arange(3)\nx = {given}\n{line}  # here")
    assert cell.finding.code is None
    array = "x" if given == "x" else "x[0]"
    assert f"{array} has type i32[3], and dividing makes all of it floats, unlike in NumPy" in cell.said
    assert jnp.arange(3).at[1].divide(2).dtype == jnp.float32


def test_a_division_of_an_unknown_type_is_not_rewritten() -> None:
    cell = Cell("k = 'a'\nx = {'a': jnp.ones(3)}\nx[k][0] /= 2  # here")
    assert cell.finding.code is None
    assert "If x[k] holds integers, dividing makes all of it floats" in cell.said
    cell = Cell("x = {'a': jnp.ones(3)}\nx['a'][0] /= 2  # here")
    assert cell.finding.code == "x['a'] = x['a'].at[0].divide(2)"


@pytest.mark.parametrize(
    "line",
    [
        'print(f"loss {x:.3f} in step {step:03d} of {{{name}}}")',
        'print(f"{x=:.2f}")',
        'print("loss %.3f, %s, 100%%" % (x, name))',
        'print("step %d" % n)',
        'print("loss {:.3f} {}".format(x, n))',
    ],
)
def test_the_same_text_is_printed_when_the_function_runs(line: str, capsys: pytest.CaptureFixture[str]) -> None:
    source = f"""
        @jax.jit
        def f(x, n):
            step, name = 7, "a"
            {line}  # here
            return x
        f(1.25, 3)
    """
    cell = Cell(source)
    assert cell.finding.line == cell.here
    assert cell.finding.code is not None
    assert cell.finding.code.startswith("jax.debug.print(")
    capsys.readouterr()
    assert cell.rewritten(cell.finding.code).error is None
    jax.effects_barrier()
    printed = capsys.readouterr().out
    exec(line, {"x": 1.25, "n": 3, "step": 7, "name": "a"})
    assert printed == capsys.readouterr().out != ""


@pytest.mark.parametrize(
    ("line", "written"),
    [
        ('print(f"loss {x.mean():.3f}")', "jax.debug.print('loss {:.3f}', x.mean())"),
        ('print(f"{jnp.sqrt(jnp.mean(x)):.3f} {n:d}")', "jax.debug.print('{:.3f} {:d}', jnp.sqrt(jnp.mean(x)), n)"),
        ('print("%.3f" % (x * 2).sum())', "jax.debug.print('{:.3f}', (x * 2).sum())"),
        ('print("{:.1e} {}".format(-x[0] / n, x.shape))', "jax.debug.print('{:.1e} {}', -x[0] / n, x.shape)"),
    ],
)
def test_the_same_text_is_printed_of_a_computed_scalar(line: str, written: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x, n):\n    {line}  # here\n    return x\nf(jnp.ones(3), 1)")
    assert cell.finding.line == cell.here
    assert cell.finding.code == written
    assert cell.rewritten(written).error is None


@pytest.mark.parametrize(
    ("line", "arguments"),
    [
        ('print(f"{x:.3f}")', "jnp.ones(3), 1"),  # an array has no format specification when the function runs either
        ('print(f"{x.sum(axis=0):.3f}")', "jnp.ones(3), 1"),
        ('print(f"{x[0]:.3f}")', "jnp.ones((3, 3)), 1"),
        ('print(f"{x * 2:.3f}")', "jnp.ones(3), 1"),
        ('print(f"{x:.3f}", end="")', "1.0, 1"),
        ('print(f"{x:.{n}f}")', "1.0, 1"),
        ('text = f"{x:.3f}"', "1.0, 1"),
        ('print("%d" % x)', "1.0, 1"),
        ('print("%5.2f" % x)', "1.0, 1"),
        ('print("{0:.3f} {0}".format(x))', "1.0, 1"),
    ],
)
def test_other_texts_are_not_rewritten(line: str, arguments: str) -> None:
    cell = Cell(f"@jax.jit\ndef f(x, n):\n    {line}  # here\n    return x\nf({arguments})")
    assert cell.failure.kind == "format"
    assert cell.finding.line == cell.here
    assert cell.finding.code is None
    assert "jax.debug.print" in cell.said


def test_the_traced_value_and_its_argument_are_named() -> None:
    cell = Cell("""
        def body(carry, x):
            print(f"{carry:.1f}")
            return carry, x
        lax.scan(body, 0.0, jnp.ones(3))
    """)
    assert cell.said.startswith("carry (f32[]) is traced, so it has no value yet that could be formatted.")
    assert "depends on the argument carry of body" in cell.said
    assert "for scan" in cell.said


def test_a_class_of_the_user_with_a_similar_name_is_not_explained() -> None:
    from jaxmagic.doctor.capture.failures.recognize import recognize

    cell = Cell("class FooTracer: pass\nf'{FooTracer():.3f}'")
    assert isinstance(cell.error, TypeError)
    assert recognize(cell.error) is None


@pytest.mark.parametrize(
    ("line", "value", "argument"),
    [
        ('f"{x} {y:.1f}"', "y (f32[])", "y"),
        ('f"{x[0]:.3f}"', "x[0]", "x"),
        ('f"{x.shape[0]:d} {y:.1f} {x[0]:.1f}"', "y (f32[])", "y"),
        ('f"mean {x.mean():.2f} of {x.shape[0]:d}"', "x.mean()", "x"),
        ('print(f"{x.max():.3f}", end="")', "x.max()", "x"),
        ('"%d" % x[0]', "x[0]", "x"),
        ('"%s %d%% %.2f" % (x, y, x[0])', "y (f32[])", "y"),
        ('"{:.2f} {}".format(x[0], y)', "x[0]", "x"),
        ('"{1} {0:.2f}".format(x[0], y)', "x[0]", "x"),
        ('"{} {b:.2f}".format(x, b=y)', "y (f32[])", "y"),
        ('format(x[0], ".2f")', "x[0]", "x"),
        ("percent % x.sum()", "x.sum()", "x"),
    ],
)
def test_the_formatted_value_is_named_and_printed(line: str, value: str, argument: str) -> None:
    cell = Cell(f"""
        percent = "%.3f"
        @jax.jit
        def f(x, y):
            {line}  # here
            return x
        f(jnp.arange(4.0), 2.0)
    """)
    assert cell.said.startswith(f"{value} is traced, so it has no value yet that could be formatted.")
    assert f"depends on the argument {argument} of f" in cell.said
    printed = f'jax.debug.print("{{}}", {value.partition(" ")[0]})'
    assert printed in cell.said
    assert cell.rewritten(printed).error is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ('print(f"{float(x.mean()):.3f}")', "jax.debug.print('{:.3f}', x.mean())"),
        ('print("%.2f" % x.mean().item())', "jax.debug.print('{:.2f}', x.mean())"),
        ('print("{:.1f}".format(float(x.sum())))', "jax.debug.print('{:.1f}', x.sum())"),
        ('print(f"{float(x.sum()):.1f} {float(x.mean())}")', None),
        ('print(f"{int(x.sum()):d}")', None),
        ('print("loss", float(x.mean()))', None),
        ('text = f"{float(x.mean()):.3f}"', None),
    ],
)
def test_a_number_that_is_converted_for_a_text(line: str, code: str | None) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            {line}  # here
            return x
        f(jnp.ones(3))
    """)
    assert cell.finding.line == cell.here
    assert "jax.debug.print" in cell.said
    assert "leave out" not in cell.said
    assert cell.finding.code == code
    assert code is None or cell.rewritten(code).error is None


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("x[0], x[1] = x[1], x[0]", "x = x.at[0].set(x[1]).at[1].set(x[0])"),
        ("x[0], x[1], x[2] = x[2], x[0], x[1]", "x = x.at[0].set(x[2]).at[1].set(x[0]).at[2].set(x[1])"),
    ],
)
def test_elements_that_are_exchanged(line: str, code: str) -> None:
    cell = Cell(f"x = jnp.array([1, 2, 3])\n{line}  # here")
    assert cell.finding.line == cell.here
    assert cell.finding.code == code
    names = {"x": np.array([1, 2, 3])}
    exec(line if len(line) > 30 else "x[[0, 1]] = x[[1, 0]]", names)
    np.testing.assert_array_equal(cell.rewritten(code).names["x"], names["x"])


@pytest.mark.parametrize("line", ["x[0], y = 1, 2", "x[0], y[1] = 1, 2", "(x[0], x[1]), z = (1, 2), 3"])
def test_other_assignments_to_several_places_get_no_code(line: str) -> None:
    cell = Cell(f"x = y = jnp.array([1, 2, 3])\n{line}")
    assert cell.finding.code is None


@pytest.mark.filterwarnings("ignore:you are shuffling")
@pytest.mark.parametrize(
    ("line", "written"),
    [
        ("np.random.shuffle(x)", "x = jax.random.permutation(key, x)."),
        (
            "__import__('random').shuffle(x)",
            "changes what it gets in place. Give it a copy that can be changed, np.array(x)",
        ),
    ],
)
def test_functions_that_change_what_they_get(line: str, written: str) -> None:
    cell = Cell(f"x = jnp.array([3, 2, 1])\n{line}  # here")
    assert cell.finding.line == cell.here
    assert written in cell.said
