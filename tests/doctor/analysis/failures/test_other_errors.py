"""The other errors: what is named, and that a rewritten line computes the right numbers."""

from __future__ import annotations

import re

import jax
import numpy as np
import pytest
from failing_cells import Cell

from jaxmagic.doctor.report.errors import ERROR_NOTES


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("y = np.sin(x)", "y = jnp.sin(x)", np.sin([1, 2, 3])),
        ("y = np.where(x > 1, x, 0)", "y = jnp.where(x > 1, x, 0)", [0, 2, 3]),
        ("y = np.concatenate([x, x], axis=0)", "y = jnp.concatenate([x, x], axis=0)", [1, 2, 3, 1, 2, 3]),
        ("y = np.asarray(x)", "y = jnp.asarray(x)", [1, 2, 3]),
        ("y = np.clip(x, 0, 2)", "y = jnp.clip(x, 0, 2)", [1, 2, 2]),  # these are functions in Python
        ("y = np.linalg.norm(x)", "y = jnp.linalg.norm(x)", 14**0.5),
        ("y = np.concatenate([x, x], dtype=float)", None, None),
        ("y = np.arange(3)[x > 1]", None, None),
    ],
)
def test_numpy_on_a_traced_value(line: str, code: str | None, expected: object) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            {line}  # here
            return y
        result = f(jnp.array([1.0, 2.0, 3.0]))
    """)
    assert cell.failure.error == "TracerArrayConversionError"
    assert cell.finding.line == cell.here
    assert "argument x of f" in cell.said
    assert cell.finding.code == code
    if code is not None:
        again = cell.rewritten(code)
        assert again.error is None
        np.testing.assert_allclose(again.names["result"], expected, rtol=1e-6)


@pytest.mark.parametrize(
    ("imports", "called", "remedy"),
    [
        ("from numpy.linalg import det", "det", "Use jnp.linalg.det in place of det."),
        ("from numpy import sin", "sin", "Use jnp.sin in place of sin."),
        ("import numpy.fft as fourier", "fourier.fft", "Use jnp.fft.fft in place of fourier.fft."),
        ("import random", "np.random.standard_gamma", "Use a function of jax.random with a key"),
    ],
)
def test_a_function_of_numpy_under_another_name(imports: str, called: str, remedy: str) -> None:
    cell = Cell(f"""
        {imports}
        @jax.jit
        def f(x):
            return {called}(x)  # here
        f(jnp.eye(2))
    """)
    assert cell.finding.line == cell.here
    assert remedy in cell.said


@pytest.mark.parametrize("imports", ["import scipy.special as s; erf = s.erf", "from scipy.special import erf"])
def test_a_function_of_scipy_under_another_name(imports: str) -> None:
    pytest.importorskip("scipy.special")
    cell = Cell(f"""
        {imports}
        @jax.jit
        def f(x):
            return erf(x)  # here
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    assert "x (f32[]) is traced, so it has no value yet, but erf needs a NumPy array." in cell.said
    assert "Use jax.scipy.special.erf in place of erf, after import jax.scipy.special." in cell.said


@pytest.mark.parametrize(
    ("called", "advice"),
    [
        ("special.logsumexp(x, axis=0)", "Use jax.scipy.special.logsumexp in place of special.logsumexp, after"),
        ("logsumexp(x)", "Use jax.scipy.special.logsumexp in place of logsumexp, after import jax.scipy.special."),
        ("special.jv(1, x)", "Use jax.scipy, which has many functions under SciPy's names, in place of special.jv"),
    ],
)
def test_a_function_that_jax_has_under_the_name_of_scipy(called: str, advice: str) -> None:
    pytest.importorskip("scipy.special")
    cell = Cell(f"""
        from scipy import special
        from scipy.special import logsumexp
        jax.grad(lambda x: {called}.sum())(jnp.ones(3))  # here
    """)
    assert cell.finding.line == cell.here
    assert "x (f32[3]) is traced, so it has no value yet, but " in cell.said
    assert advice in cell.said
    assert "pure_callback" not in cell.said


@pytest.mark.parametrize(
    ("call", "value"),
    [
        ("np.abs(x - 1)", "x - 1 (f32[3])"),
        ("np.maximum(x, 1)", "x (f32[3])"),
        ("np.maximum(x, -x)", "A value (f32[3])"),
        ("np.sum([x, x])", "A value (f32[3])"),
        ("np.abs(jnp.sin(x))", "A value (f32[3])"),
    ],
)
def test_the_argument_that_becomes_an_array_is_named(call: str, value: str) -> None:
    cell = Cell(f"jax.jit(lambda x: {call})(jnp.ones(3))")
    assert f"{value} is traced, so it has no value yet, but np." in cell.said


def test_what_the_line_calls_is_named_rather_than_what_the_library_calls_itself() -> None:
    cell = Cell("""
        import statistics
        @jax.jit
        def f(x):
            return statistics.NormalDist(0.0, x)  # here
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    assert "statistics.NormalDist needs numbers, not traced values" in cell.said


def test_a_traced_value_in_the_place_of_a_static_one_is_no_leak() -> None:
    cell = Cell("""
        @functools.partial(jax.custom_vjp, nondiff_argnums=(1,))
        def f(x, n):
            return x * n
        f.defvjp(lambda x, n: (f(x, n), ()), lambda n, _, g: (g * n,))
        jax.jit(jax.grad(f))(1.0, 2)
    """)
    assert isinstance(cell.error, jax.errors.UnexpectedTracerError)
    assert cell.failure.kind == "nondiff"
    assert "after that tracing had ended" not in cell.said


def test_a_library_that_needs_numpy_arrays_is_named() -> None:
    cell = Cell("""
        import statistics
        @jax.jit
        def f(x):
            return statistics.fmean([x, x])  # here
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    assert "fmean" in cell.said
    assert (
        "jax.pure_callback() calls it on the host from within the traced function, but jax.grad does not" in cell.said
    )
    assert cell.finding.code is None


@pytest.mark.parametrize(
    ("line", "code", "expected"),
    [
        ("y = x[m].sum()", "y = jnp.where(m, x, 0).sum()", 5),
        ("y = x[x > 1].mean()", "y = x.mean(where=x > 1)", 2.5),
        ("y = x[m]", None, None),
        ("y = x[m].max()", "y = x.max(where=m, initial=-jnp.inf)", 3),
        ("y = jnp.min(x[m]) + 1", "y = jnp.min(x, where=m, initial=jnp.inf) + 1", 3),
        ("y = jnp.prod(x[m])", "y = jnp.prod(x, where=m)", 6),
        ("y = x[m].std()", "y = x.std(where=m)", 0.5),
        ("y = jnp.sum(x[x > 2])", "y = jnp.sum(x, where=x > 2)", 3),
        ("y = jnp.median(x[m])", "y = jnp.nanmedian(jnp.where(m, x, jnp.nan))", 2.5),
        ("y = x.astype(int)[m].max()", None, None),
        ("y = x[m].max(axis=0)", "y = x.max(axis=0, where=m, initial=-jnp.inf)", 3),
        ("y = x[m].max(initial=0)", None, None),
        ("y = jnp.argmax(x[m])", None, None),
        ("y = x.at[m].set(-1)", "y = jnp.where(m, -1, x)", [1, -1, -1]),
        ("y = x.at[x > 2].add(1)", "y = jnp.where(x > 2, x + 1, x)", [1, 2, 4]),
        ("y = x.at[m].set(2 * x)", "y = jnp.where(m, 2 * x, x)", [1, 4, 6]),
        ("y = x.at[m].divide(2)", "y = jnp.where(m, x / 2, x)", [1, 1, 1.5]),
    ],
)
def test_a_traced_mask(line: str, code: str | None, expected: object) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            m = x > 1
            {line}  # here
            return y
        result = f(jnp.array([1.0, 2.0, 3.0]))
    """)
    assert cell.failure.error == "NonConcreteBooleanIndexError"
    assert cell.finding.line == cell.here
    assert "argument x of f" in cell.said
    assert "bool[3]" in cell.said
    assert cell.finding.code == code
    if code is not None:
        again = cell.rewritten(code)
        assert again.error is None
        np.testing.assert_allclose(again.names["result"], expected)


@pytest.mark.parametrize(
    ("store", "read", "name"),
    [
        ("cache.append(y)", "cache[0]", "cache[0]"),
        ("cache.append(x)", "cache[0]", "cache[0]"),
        ("book['y'] = y", "book['y']", "book['y']"),
        ("box.y = y", "box.y", "box.y"),
        ("global kept; kept = y", "kept", "kept"),
    ],
)
def test_a_leak_is_traced_to_the_line_where_it_escaped(store: str, read: str, name: str) -> None:
    cell = Cell(f"""
        class Box: pass
        cache, book, box = [], {{}}, Box()
        @jax.jit
        def f(x):
            local = []
            y = jnp.sin(x)
            local.append(y)
            {store}
            return y
        f(1.0)
        {read} + 1  # here
    """)
    assert cell.failure.error == "UnexpectedTracerError"
    assert cell.finding.line == cell.here
    assert f"{name} (f32[]) was traced by f" in cell.said
    assert f"It escaped at {cell.file}:9: {store.rpartition('; ')[2]}" in cell.said
    assert "local" not in cell.said


@pytest.mark.parametrize(
    "use",
    ["[float(each) for each in cache]", "np.array(cache)", "cache[0].item()", "jnp.zeros(cache[0])", "cache[0] or 1"],
)
def test_a_value_that_is_needed_after_its_tracing_has_leaked(use: str) -> None:
    cell = Cell(f"""
        cache = []
        @jax.jit
        def f(x):
            cache.append(x + 1)  # it escapes
            return x
        f(1)
        {use}  # here
    """)
    assert cell.failure.error != "UnexpectedTracerError"
    assert cell.finding.line == cell.here
    assert "traced by f" in cell.said
    assert f"It escaped at {cell.file}:5: cache.append(x + 1)" in cell.said
    assert "has no value yet" not in cell.said


def test_where_a_value_escaped_under_another_name_is_unknown() -> None:
    cell = Cell("""
        cache = []
        keep = cache.append
        @jax.jit
        def f(x):
            keep(x * 2)
            return x
        f(1.0)
        cache[0] + 1  # here
    """)
    assert "Where it escaped is unknown" in cell.said
    assert "jax.checking_leaks()" in cell.said


@pytest.mark.parametrize("use", ["jnp.stack(kept)", "sum(kept)"])
def test_a_leak_through_a_function_that_the_traced_one_calls(use: str) -> None:
    cell = Cell(f"""
        kept = []
        def layer(x):
            y = jnp.tanh(x)
            kept.append(y)
            return y
        @jax.jit
        def net(x):
            return layer(layer(x))
        net(1.0)
        {use}  # here
    """)
    assert cell.finding.line == cell.here
    assert "kept[0], kept[1] (f32[]) were traced by net" in cell.said
    assert f"It escaped at {cell.file}:5: kept.append(y)" in cell.said


def test_a_leak_through_a_cache() -> None:
    cell = Cell("""
        @functools.lru_cache
        def table(n):
            return jnp.arange(n) * 2
        @jax.jit
        def f(x):
            return x + table(3)
        @jax.jit
        def g(x):
            return x - table(3)
        f(1)
        g(1)
    """)
    assert f"It may have escaped at {cell.file}:2: @functools.lru_cache" in cell.said
    assert "Leave out @functools.lru_cache" in cell.said


def test_a_cached_property_that_leaks_becomes_a_property() -> None:
    cell = Cell("""
        class Grid:
            @functools.cached_property
            def points(self):
                return jnp.linspace(0, 1, 3)
        grid = Grid()
        jax.jit(lambda x: x * grid.points)(2.0)
        result = grid.points + 1  # here
    """)
    assert "Write @property in place of @functools.cached_property, which keeps" in cell.said
    mended = Cell(cell.source.partition("\n")[2].replace("@functools.cached_property", "@property"))
    assert list(mended.names["result"]) == [1, 1.5, 2]


#: Functions that fill a cache, and how it is emptied.
FILLED = {
    "attribute": ("if box.y is None: box.y = jnp.arange(3.0) * 2\n        return box.y", "box.y", "box.y = None"),
    "dictionary": (
        "if 3 not in cache: cache[3] = jnp.arange(3.0) * 2\n        return cache[3]",
        "cache",
        "cache.clear()",
    ),
    "setdefault": ("return cache.setdefault(3, jnp.arange(3.0) * 2)", "cache", "cache.clear()"),
    "error": (
        "try: return cache[3]\n        except KeyError: cache[3] = jnp.arange(3.0) * 2\n        return cache[3]",
        "cache",
        "cache.clear()",
    ),
}


@pytest.mark.parametrize("name", FILLED)
@pytest.mark.parametrize("way", ["NumPy", "before", "anew"])
def test_a_cache_that_is_filled_in_a_traced_function(name: str, way: str) -> None:
    body, cache, emptied = FILLED[name]
    cell = Cell(f"""
        class Box: y = None
        cache, box = {{}}, Box()
        def table():
            {body.replace(chr(10) + "        ", chr(10) + "            ")}
        f = jax.jit(lambda x: x + table())
        f(1)
        result = table() - 1  # here
    """)
    assert f"{cache} is filled on first use, here while JAX traced <lambda>, and keeps what was traced." in cell.said
    assert "Empty it, and compute the value in each call without storing it." in cell.said
    assert "the call before" not in cell.said
    source = cell.source.partition("\n")[2]
    if way == "NumPy":
        source = source.replace("jnp.arange", "np.arange")
    elif way == "before":
        source = source.replace("f(1)\n", f"{emptied}; table(); f(1)\n")
    else:
        begin, _, rest = source.partition("def table():\n")
        source = f"{begin}def table():\n    return jnp.arange(3.0) * 2\nf = {rest.partition('f = ')[2]}"
    mended = Cell(source)
    assert mended.error is None
    np.testing.assert_allclose(mended.names["result"], [-1, 1, 3])


def test_a_state_that_begins_as_a_cache_is_passed_on() -> None:
    cell = Cell("""
        class Model: mean = None
        model = Model()
        @jax.jit
        def step(x):
            if model.mean is None:
                model.mean = 0 * x
            model.mean = 0.9 * model.mean + x
            return x
        step(1.0)
        model.mean + 1  # here
    """)
    assert "model.mean is read there before a new value is assigned, so each call needs what the call" in cell.said
    assert "filled" not in cell.said


def test_two_leaked_values_are_not_computed_on_one_line() -> None:
    source = """
        kept = {{}}
        @jax.jit
        def f(x):
            kept["a"] = x * 3
            kept["b"] = x - 1
            return x
        f(1.0)
        {use}  # here
    """
    assert "It was computed at" in Cell(source.format(use="kept['a'] + 1")).said
    both = Cell(source.format(use="kept['a'] + kept['b']")).said
    assert "were traced by f" in both
    assert "computed at" not in both


def test_a_constant_that_is_stored_has_not_leaked() -> None:
    cell = Cell("""
        class Model:
            steps, last = 0, None
            def step(self, x):
                self.steps += 1
                self.last = x * 2
                return x
        model = Model()
        jax.jit(model.step)(jnp.ones(3))
        model.last + 1
    """)
    assert "It escaped at" in cell.said
    assert "self.last = x * 2" in cell.said
    assert "self.steps" not in cell.said


def test_a_donated_array_and_the_call_that_donated_it() -> None:
    cell = Cell("""
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x = jnp.ones(3)
        y = f(x)
        def other():
            f(x)
        x + 1  # here
    """)
    assert cell.finding.line == cell.here
    assert "x was donated or deleted" in cell.said
    assert f"Probably donated by f(x) ({cell.file}:4)" in cell.said
    assert f"{cell.file}:6" not in cell.said


def test_a_donated_array_in_a_dictionary_that_is_passed_again() -> None:
    cell = Cell("""
        @functools.partial(jax.jit, donate_argnames="state")
        def step(state):
            return {"w": state["w"] + 1}
        def train(state):
            step(state=state)
            return step(state=state)  # here
        train({"w": jnp.ones(3)})
    """)
    assert cell.finding.line == cell.here
    assert "state['w'] was donated or deleted" in cell.said
    assert "Probably donated by step(state=state)" in cell.said


@pytest.mark.parametrize(
    ("held", "leaf"),
    [("{'w': jnp.ones(3)}", "['w']"), ("State(jnp.ones(3))", ".w"), ("Params(jnp.ones(3))", ".w")],
)
def test_a_line_in_a_loop_that_donated_its_state_in_the_round_before(held: str, leaf: str) -> None:
    cell = Cell(f"""
        import collections, dataclasses
        State = collections.namedtuple("State", "w")
        Params = jax.tree_util.register_dataclass(dataclasses.make_dataclass("Params", ["w"]))
        class Trainer:
            def __init__(self):
                self.state = {held}
                self.step = jax.jit(lambda s: jax.tree.map(lambda x: x + 1, s), donate_argnums=0)
            def fit(self):
                for _ in range(2):
                    self.step(self.state)  # here
        Trainer().fit()
    """)
    assert cell.finding.line == cell.here
    assert f"self.state{leaf} was donated or deleted" in cell.said
    assert "itself, when this line ran before with the same array" in cell.said
    assert "Use what self.step(self.state) returned in place of self.state" in cell.said
    assert "a copy, jax.tree.map(jnp.copy, self.state)" in cell.said


def test_an_earlier_donating_call_comes_before_an_earlier_run_of_the_line() -> None:
    cell = Cell("""
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x = jnp.ones(3)
        y = f(x)
        z = f(x)  # here
    """)
    assert f"Probably donated by f(x) ({cell.file}:4)." in cell.said
    assert "itself" not in cell.said
    assert "Use what f(x) returned in place of x, or pass a copy, x.copy(), to this call" in cell.said


@pytest.mark.parametrize(
    ("line", "before"),
    [
        ("y = f(x) + x.sum()", False),
        ("y = f(x) + x", False),
        ("y = jnp.add(f(x), x)", False),
        ("y = f(x); z = x.sum()", False),
        ("y = f(x) + f(x)", False),
        ("y = x.sum() if f(x) is not None else 0", False),
        ("y = [f(x) for _ in range(2)]", True),
        ("[(x.sum(), f(x)) for _ in range(2)]", True),
        ("for i in range(2): y = x.sum() if i else f(x)", True),
        ("for i in range(2): y = f(x) if i == 0 else x.sum()", True),
        ("for _ in range(2): y = x.sum() + f(x)", True),
        ("for _ in range(2): y = x.sum(); f(x)", True),
    ],
)
def test_a_call_on_the_same_line_donated_before_only_if_it_comes_later(line: str, before: bool) -> None:
    cell = Cell(f"""
        f = jax.jit(lambda x: x + 1, donate_argnums=0)
        x = jnp.ones(3)
        {line}  # here
    """)
    assert cell.finding.line == cell.here
    assert "x was donated or deleted" in cell.said
    assert f"Probably donated by f(x) ({cell.file}:4)" in cell.said
    assert ("itself, when this line ran before" in cell.said) == before


def test_who_deleted_an_array_may_be_unknown() -> None:
    cell = Cell("""
        x = jnp.ones(3)
        y = x
        y.delete()
        print(x)  # here
    """)
    assert cell.finding.line == cell.here
    assert "Which call donated or deleted it is unknown" in cell.said


@pytest.mark.parametrize(("line", "operation"), [("jnp.log(y)", "log"), ("(y + 1) / (y + 1)", "div")])
def test_nan_inside_of_a_jitted_function(line: str, operation: str) -> None:
    cell = Cell(f"""
        @jax.jit
        def f(x):
            y = x - 1
            return {line}  # here
        with jax.debug_nans(True):
            f(jnp.float32(0))
    """)
    assert cell.finding.line == cell.here
    assert f"{operation} returned NaN" in cell.said


def test_nan_in_a_derivative_is_traced_back_to_the_line_of_the_operation() -> None:
    cell = Cell("""
        def f(x):
            return jnp.sqrt(x * x)
        with jax.debug_nans(True):
            jax.grad(f)(jnp.float32(0))  # here
    """)
    assert cell.finding.line == cell.here
    assert "that JAX transformed: return jnp.sqrt(x * x)" in cell.said


CARRIES = {
    "scan, dtype": ("lax.scan(lambda c, x: (c + x, x), jnp.int32(0), jnp.arange(3.0))", "c", "i32[]", "f32[]"),
    "scan, leaf": (
        "lax.scan(lambda c, x: ({'a': (c['a'][0], c['a'][1][:1])}, x), {'a': (0, jnp.ones(2))}, jnp.arange(3.0))",
        "c['a'][1]",
        "f32[2]",
        "f32[1]",
    ),
    "while": (
        "lax.while_loop(lambda s: s[0] < 3, lambda s: (s[0] + 1, s[1][:1]), (0, jnp.ones(2)))",
        "s[1]",
        "f32[2]",
        "f32[1]",
    ),
    "fori": ("lax.fori_loop(0, 3, lambda i, c: c + 1.5, jnp.int32(0))", "carry", "i32[]", "f32[]"),
    "structure": ("lax.while_loop(lambda s: s[0] < 3, lambda s: [s[0] + 1, s[1]], (0, 1.0))", "s", "tuple", "list"),
}


@pytest.mark.parametrize("name", CARRIES)
def test_a_carry_that_changes(name: str) -> None:
    line, leaf, expected, got = CARRIES[name]
    cell = Cell(f"""
        @jax.jit
        def f(x):
            return {line}  # here
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    facts = cell.finding.found.facts
    assert (facts["leaf"], facts["expected"], facts["got"]) == (leaf, expected, got)


def test_a_carry_with_another_function_in_it() -> None:
    begin = """
import dataclasses
class State:
    pass
State.__annotations__ = {"w": object, "step": object}
State = jax.tree_util.register_dataclass(dataclasses.dataclass(State), ["w"], ["step"])
state = State(1.0, lambda w: w + 1)
"""
    cell = Cell(f"{begin}lax.scan(lambda s, _: (State(s.step(s.w), lambda w: w + 1), None), state, length=3)")
    assert "s of scan begins as a State and ends as a State with other metadata." in cell.said
    assert "dataclasses.replace()" in cell.said
    mended = "lax.scan(lambda s, _: (dataclasses.replace(s, w=s.step(s.w)), None), state, length=3)"
    assert Cell(begin + mended).error is None


def test_all_leaves_of_a_carry_that_change_are_named() -> None:
    cell = Cell(
        "lax.scan(lambda c, x: ((c[0] + x, c[1] * 1j), x), (jnp.int32(0), jnp.ones(2)), jnp.arange(3.0))  # here"
    )
    assert "c[0] of scan begins as i32[] and ends as f32[]: the dtypes differ." in cell.said
    assert "c[1] differs as well: f32[2] and c64[2]." in cell.said


@pytest.mark.parametrize(
    ("line", "words"),
    [
        (
            "lax.cond(True, lambda x: x, lambda x: x.astype(int), x)",
            "returns f32[], and false_fun i32[]: the dtypes differ",
        ),
        (
            "lax.cond(True, lambda x: {'a': x}, lambda x: {'a': x[None]}, x)",
            "returns f32[] at ['a'], and false_fun f32[1]",
        ),
        ("lax.switch(1, [lambda x: (x, x), lambda x: [x, x]], x)", "returns a tuple, and branch 1 a list"),
    ],
)
def test_branches_that_differ(line: str, words: str) -> None:
    cell = Cell(f"""
        x = jnp.float32(1)
        {line}  # here
    """)
    assert cell.finding.line == cell.here
    assert words in cell.said


@pytest.mark.parametrize(
    ("call", "code"),
    [
        ("lax.cond(x > 0, lambda x: x, lambda x: {}, jnp.float32(2))", "0"),
        ("lax.cond(x > 0, lambda x: x, lambda x: {}, jnp.float32(2))", "True"),
        ("lax.cond(x > 0, lambda x: {}, lambda x: x, jnp.bfloat16(2))", "jnp.int8(3)"),
        ("lax.switch(1, [lambda x: 1.5, lambda x: {}], x)", "1"),
        ("lax.scan(lambda c, x: ({}, x), jnp.float32(0), jnp.arange(3))", "1"),
        ("lax.while_loop(lambda c: c < 1, lambda c: {}, jnp.float32(0))", "1"),
    ],
)
def test_conversion_that_is_advised_also_takes_numbers_of_python(call: str, code: str) -> None:
    cell = Cell(f"""
        x = jnp.float32(1)
        {call.format(code)}  # here
    """)
    advised = re.findall(r"jnp\.asarray\([^,]+, (jnp\.\w+)\)", cell.said)[-1]
    again = Cell(f"""
        x = jnp.float32(1)
        {call.format(f"jnp.asarray({code}, {advised})")}
    """)
    assert again.error is None
    assert "astype" not in cell.said


def test_a_key_cannot_be_converted() -> None:
    cell = Cell("lax.cond(True, lambda: jax.random.key(0), lambda: 1.0)  # here")
    assert "Return the same type from each branch, key<fry>[] or f32[]." in cell.said.replace("float32[]", "f32[]")


TREES = """
params, grads = {"b": 1.0, "w": 2.0}, {"w": 2.0}
state, other = {"layers": [params, params]}, {"layers": [params, grads]}
pair, triple, items = (1, 2), (1, 2, 3), [1, 2]
Pair = collections.namedtuple("Pair", "first second")
def first(a, *b): return a
def reduced(x): return {"w": x}
"""


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("jax.tree.map(first, params, grads)", "params and grads @: params has the keys b and w, grads only w."),
        ("jax.tree.map(first, grads, params)", "grads and params @: grads has the key w, params the keys b and w."),
        (
            "jax.tree.map(first, params, params, grads)",
            "params and grads @: params has the keys b and w, grads only w.",
        ),
        (
            "jax.tree.map(first, params, grads, params)",
            "params and grads @: params has the keys b and w, grads only w.",
        ),
        (
            "jax.tree.map(first, state, state, other)",
            "state and other @: state['layers'][1] has the keys b and w, other['layers'][1] only w.",
        ),
        (
            "jax.tree_util.tree_map_with_path(first, state['layers'], other['layers'])",
            "state['layers'] and other['layers'] @: state['layers'][1] has the keys b and w, other['layers'][1] only "
            "w.",
        ),
        (
            "jax.tree.map(first, params, reduced(1.0))",
            "params and reduced(1.0) @: params has the keys b and w, reduced(1.0) only w.",
        ),
        (
            "jax.tree.map(first, {'p': params}, {'p': grads})",
            "{'p': params} and {'p': grads} @, and differ at ['p']: {'p': params} has the keys b and w, {'p': grads} "
            "only w.",
        ),
        (
            "jax.tree.map(first, params, jax.tree.map(lambda leaf: leaf + 1, grads))",
            "params and jax.tree.map(lambda leaf: leaf + 1, gra… @: params has the keys b and w, "
            "jax.tree.map(lambda leaf: leaf + 1, gra… only w.",
        ),
        (
            "jax.tree.map(first, *[params, grads])",
            "Two pytrees that @ differ: one has the keys b and w, the other only w.",
        ),
        (
            "functools.partial(jax.tree.map, first)(params, grads)",
            "params and grads @: params has the keys b and w, ",
        ),
        (
            "jax.jit(lambda p, q: jax.tree.map(first, p, q))(params, grads)",
            "p and q @: p has the keys b and w, q only w.",
        ),
        (
            "jax.tree.map(first, {'a': 1, 'b': 2}, {'a': 1, 'c': 2})",
            "{'a': 1, 'b': 2} and {'a': 1, 'c': 2} @: {'a': 1, 'b': 2} has the keys a and b, {'a': 1, 'c': 2} "
            "the keys a and c.",
        ),
        (
            "jax.tree.map(first, pair, triple)",
            "pair and triple @: pair is a tuple of length 2, triple one of length 3.",
        ),
        ("jax.tree.map(first, pair, items)", "pair and items @: pair is a tuple, items a list."),
        ("jax.tree.map(first, params, 1.0)", "params and 1.0 @: params is a dict, 1.0 a single value."),
        ("jax.tree.map(first, params, None)", "params and None @: params is a dict, None None."),
        ("jax.tree.map(first, Pair(1, 2), pair)", "Pair(1, 2) and pair @: Pair(1, 2) is a Pair, pair a tuple."),
        (
            "jax.tree.transpose(jax.tree.structure(params), None, grads)",
            "Two pytrees that @ differ: one has the keys b and w, the other only w.",
        ),
    ],
)
def test_pytrees_that_differ(line: str, said: str) -> None:
    cell = Cell(f"import collections\n{TREES}\n{line}  # here")
    assert cell.failure.kind == "pytree"
    assert cell.finding.line == cell.here
    _assert_said(cell, said)
    assert "tree_map" not in cell.said


def _assert_said(cell: Cell, said: str) -> None:
    """Where JAX says at which place two trees differ, all of it is said; else, only which trees."""
    said = said.replace("@", "must have the same structure")
    if "at key path" not in str(cell.error) and not said.startswith("Two pytrees"):
        assert ": at one place, one has " in cell.said
        said = said.partition(" and ")[0]
    assert cell.said.startswith(said)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("optax.apply_updates(params, grads)", "params and grads @: params has the keys b and w, grads only w."),
        (
            "optax.apply_updates(params, {'w': 1.0})",
            "params and another pytree @: params has the keys b and w, the other ",
        ),
        (
            "optimizer.update(grads, moments, params)",
            "grads and moments[0].trace @: grads has the key w, moments[0].trace the keys b and w.",
        ),
    ],
)
def test_pytrees_that_differ_inside_of_a_library(line: str, said: str) -> None:
    pytest.importorskip("optax")
    before = "import collections\nimport optax\noptimizer = optax.sgd(0.1, momentum=0.9)\n"
    cell = Cell(f"{before}{TREES}\nmoments = optimizer.init(params)\n{line}  # here")
    assert cell.failure.kind == "pytree"
    assert cell.finding.line == cell.here
    _assert_said(cell, said)


def test_out_of_memory_lists_what_is_alive() -> None:
    cell = Cell("""
        activations = jnp.ones((4000, 4000))  # larger than what other tests hold
        jnp.ones((10**13,)).block_until_ready()  # here
    """)
    assert cell.finding.line == cell.here
    assert "activations f32[4000,4000]" in cell.said
    assert "donate" in cell.said


@pytest.mark.parametrize(
    ("elements", "advice"),
    [
        (
            '["the", "cat"]',
            "JAX has no arrays of text. Return the index, n, and read items outside of the traced function.",
        ),
        ('"text"', "JAX has no arrays of text."),
        ('[("slow", 0.1), ("fast", 1.0)]', "JAX has no arrays of text."),
        (
            "[jnp.ones(2), jnp.ones(3)]",
            "The arrays in items have different shapes, so they cannot become one array. Pad them to one shape, join "
            "them with jnp.stack, and mask the padding; or use lax.switch(n, [functools.partial(f, each) for each in",
        ),
        ("[jnp.ones(2), 1.0]", "The arrays in items have different shapes"),
        ("[{'w': 1.0}, {'w': 2.0}]", "The elements of items cannot become one array. Use lax.switch(n, ["),
        ("[jnp.sin, jnp.cos]", "Functions are chosen with lax.switch(n, items, x)."),
        ("[1, 2.5, np.float32(3)]", "Make the sequence an array: jnp.array(items)[n]."),
        ("(jnp.ones(2), np.zeros(2))", "Make the sequence an array: jnp.array(items)[n]."),
        ("[[1, 2], [3, 4]]", "Make the sequence an array: jnp.array(items)[n]."),
    ],
)
def test_an_index_of_a_list_depends_on_its_elements(elements: str, advice: str) -> None:
    cell = Cell(f"""
        items = {elements}
        @jax.jit
        def f(n):
            return items[n]  # here
        f(jnp.array(1))
    """)
    assert cell.finding.line == cell.here
    assert advice in cell.said
    assert ("jnp.array(items)" in cell.said) == ("jnp.array(items)" in advice)


@pytest.mark.parametrize(
    ("line", "advice"),
    [
        ("x[:items[n]]", "jnp.array(items)[n] would be traced, too, as no bound of a slice can be. A slice of known"),
        ("x[items[n]:]", "lax.dynamic_slice(x, (start,), (size,))"),
        ("jnp.zeros(items[n])", "Take it from what is known during tracing"),
        ("sum(x for _ in range(items[n] + 1))", "lax.fori_loop"),
        ("x[items[n]]", "Make the sequence an array: jnp.array(items)[n]."),
    ],
)
def test_an_item_that_decides_a_size_is_not_looked_up_in_an_array(line: str, advice: str) -> None:
    cell = Cell(f"""
        items, x = [1, 2], jnp.arange(3.0)
        lax.scan(lambda c, n: (c, {line}), 0.0, jnp.arange(2))  # here
    """)
    assert cell.failure.kind == "index"
    assert cell.finding.line == cell.here
    assert advice in cell.said
    assert ("Make the sequence an array" in cell.said) == ("Make the sequence" in advice)


#: What the remedies without code recommend, under jit.
RECOMMENDED = {
    "write_selection": "lax.cond(x > 0, jnp.sin, jnp.cos, x)",
    "write_while": "lax.while_loop(lambda s: s > 1, lambda s: s / 2, x)",
    "write_logical": "jnp.where(jnp.logical_or(x > 0, x < -1), x, 0)",
    "write_extreme": "jnp.maximum(x, 1) + jnp.max(jnp.stack([x, x]))",
    "write_membership": "jnp.isin(x, jnp.array([1, 2]))",
    "write_mask": "jnp.nonzero(jnp.arange(3) > x, size=2)[0] + jnp.sum(jnp.arange(3), where=jnp.arange(3) > x)",
    "write_sized": "jnp.unique(jnp.stack([x, x]), size=2, fill_value=0)",
    "write_fori": "lax.fori_loop(0, n, lambda i, c: c + i, x)",
    "write_index": "jnp.array([1, 2, 3])[n] + lax.switch(n, [jnp.sin, jnp.cos], x)",
    "write_element": "lax.switch(n, [functools.partial(lambda a, b: a.sum() + b, each, x) for each in ragged])",
    "write_slice": "lax.dynamic_slice(jnp.arange(9), (n,), (2,))",
    "write_stored": "jnp.zeros(3).at[n].set(x)",
    "write_indexed_array": "jnp.asarray(np.arange(3))[n]",
    "write_library": "jax.pure_callback(lambda v: np.float32(math.sin(v)), jax.ShapeDtypeStruct((), jnp.float32), x)",
    "write_scipy": "jax.scipy.special.expit(x)",
    "write_returned": "(jax.debug.print('{}', x), x)[1]",
    "write_in_domain": "jax.grad(lambda x: jnp.log(jnp.where(x > 0, x, 1)))(x)",
    "write_assert": "checkify.checkify(lambda v: checkify.check(v > 0, 'no'))(x)[0]",
}


@pytest.mark.parametrize("kind", RECOMMENDED)
def test_what_a_remedy_recommends_runs_under_jit(kind: str) -> None:
    assert kind in ERROR_NOTES
    cell = Cell(f"""
        from jax.experimental import checkify
        import functools
        import jax.scipy
        ragged = [jnp.ones(2), jnp.ones(3)]
        result = jax.jit(lambda x, n: {RECOMMENDED[kind]})(jnp.float32(1), 1)
    """)
    assert cell.error is None


@pytest.mark.parametrize(
    ("loop", "kind", "warning"),
    [
        ("lax.fori_loop(0, n, lambda i, c: c * 2, x)", "write_fori", "jax.grad needs an n that is static."),
        (
            "lax.while_loop(lambda c: c < n, lambda c: c * 2, x)",
            "write_while",
            "jax.grad does not work through it.",
        ),
    ],
)
def test_a_loop_that_jax_grad_rejects_is_recommended_with_a_warning(loop: str, kind: str, warning: str) -> None:
    cell = Cell(f"jax.grad(jax.jit(lambda x, n: {loop}))(1.0, 3)")
    assert "Reverse-mode differentiation does not work" in str(cell.error)
    assert ERROR_NOTES[kind](lax="lax").endswith(warning)


def test_an_index_that_is_out_of_range_is_clamped() -> None:
    assert int(Cell("result = jax.jit(lambda i: jnp.array([1, 2, 3])[i])(9)").names["result"]) == 3


def test_a_value_that_is_stored_in_a_numpy_array() -> None:
    cell = Cell("""
        @jax.jit
        def f(x):
            a = np.zeros(3)
            a[0] = x  # here
            return a
        f(1.0)
    """)
    assert cell.finding.line == cell.here
    assert "but a[0] needs" in cell.said
    assert "0 (f32[])" not in cell.said
    assert "a.at[index].set(value)" in cell.said


@pytest.mark.parametrize(
    ("loop", "store", "advice"),
    [
        (
            "lax.scan(lambda c, x: (body(c + x), None), 0., jnp.ones(2))",
            "box.peak = jnp.maximum(box.peak, c)",
            "scan",
        ),
        ("lax.fori_loop(0, 2, lambda i, c: body(c), 0.)", "box.peak += c", "carry"),
        ("lax.while_loop(lambda c: c < 2, lambda c: body(c + 1), 0.)", "old = box.peak; box.peak = c + old", "carry"),
        ("jax.jit(body)(1.)", "box.peak = box.peak + c", "call"),
        ("lax.fori_loop(0, 2, lambda i, c: body(c), 0.)", "box.peak = c", ""),
        ("lax.fori_loop(0, 2, lambda i, c: body(c), 0.)", "box.peak = c; c = box.peak * 2", ""),
    ],
)
def test_what_the_next_step_reads_belongs_in_the_carry(loop: str, store: str, advice: str) -> None:
    cell = Cell(f"""
        class Box: peak = jnp.zeros(())
        box = Box()
        def body(c):
            {store}
            return c * 1.5
        {loop}
        box.peak * 2  # here
    """)
    assert cell.finding.line == cell.here
    assert ("box.peak is read there before a new value is assigned" in cell.said) == bool(advice)
    assert ("put it into the carry" in cell.said) == (advice in ("scan", "carry"))
    assert ("As another output of scan" in cell.said) == (advice == "scan")
    assert ("pass it as an argument" in cell.said) == (advice == "call")
    assert ("in place of storing it. To look at it" in cell.said) == (not advice)
