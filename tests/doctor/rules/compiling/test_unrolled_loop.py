"""Loops of Python in jitted functions are found, with a loop of JAX to paste; other long programs are not."""

from __future__ import annotations

import ast
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest

import jaxmagic
from jaxmagic.doctor.capture.compiled.programs import programs_of, watch
from jaxmagic.doctor.capture.remedies.compiled.shortened import find_loop
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import unrolled_loop
from jaxmagic.doctor.rules.rewriting.loops.loop_code import loop_code

X = np.linspace(0, 1, 900, dtype=np.float32).reshape(30, 30)
WS = [X + n for n in range(40)]


@pytest.fixture
def whatever_it_takes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let short compilations count as well, so that nothing here depends on the clock."""
    monkeypatch.setattr(unrolled_loop, "_SHORT_NS", 0)
    monkeypatch.setattr(unrolled_loop, "_LEAST_NS", 1)


def found(fn: Any, *args: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(fn, *args, only=["unrolled-loop"]).findings)


def the_one(fn: Any, *args: Any) -> RuleFinding:
    (finding,) = found(fn, *args)
    return finding


def pasted(code: str | None, **names: Any) -> dict[str, Any]:
    assert code is not None
    namespace = {"jax": jax, "jnp": jnp, **names}
    exec(code, namespace)
    return namespace


def power(x: Any) -> Any:
    for _ in range(50):
        x = jnp.sin(x) @ x
    return x


def fibonacci(x: Any) -> Any:
    a = x
    b = 2 * x
    for _ in range(3, 43):
        c = a + jnp.cos(b)
        a, b = b, c
    return a * b


def layers(x: Any, ws: Any) -> Any:
    for w in ws:
        h = x @ w
        x = jnp.tanh(h)
    return x.sum()


def apply_layer(x: Any, w: Any) -> Any:
    return jnp.where(x > 0, x @ w, 0.1 * x)


def calls(x: Any, ws: Any) -> Any:
    for w in ws:
        x = apply_layer(x, w)
    return x


def with_index(x: Any) -> Any:
    for i in range(40):
        x = jnp.sin(x + i)
    return x


@pytest.mark.usefixtures("whatever_it_takes")
def test_a_counted_loop_becomes_a_fori_loop() -> None:
    finding = the_one(jax.jit(power), X)
    assert finding.source == "x = jnp.sin(x) @ x"
    assert finding.found.facts["equations"] == 100  # by hand: 50 of each
    assert finding.found.facts["primitives"] == "sin 50, dot_general 50"
    assert finding.basis == "estimated"
    code = pasted(finding.code, x=X)
    np.testing.assert_allclose(code["x"], jax.jit(power)(X), rtol=1e-4)


@pytest.mark.usefixtures("whatever_it_takes")
def test_equations_of_a_comprehension_count_once() -> None:
    def stacked(x: Any) -> Any:
        return jnp.stack([jnp.sin(x) * jnp.tanh(x @ x) for _ in range(30)])

    def summed(x: Any) -> Any:
        return sum(
            jnp.sin(x) * jnp.tanh(x @ x)  # a generator has a call of its own in each Python
            for _ in range(30)
        )

    for function in (stacked, summed):
        facts = the_one(jax.jit(function), X).found.facts
        assert "dot_general 30" in str(facts["primitives"])
        assert 120 <= int(facts["equations"]) <= int(facts["total"])  # by hand: 4 in each iteration


@pytest.mark.usefixtures("whatever_it_takes")
def test_a_loop_with_two_carried_names_becomes_a_fori_loop() -> None:
    code = pasted(the_one(jax.jit(fibonacci), X).code, x=X, a=X, b=2 * X)
    np.testing.assert_allclose(code["a"] * code["b"], jax.jit(fibonacci)(X), rtol=1e-4)


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize("transformed", [lambda f: f, jax.grad])
def test_a_loop_over_layers_becomes_a_scan(transformed: Any) -> None:
    finding = the_one(jax.jit(transformed(layers)), X, WS)
    code = pasted(finding.code, x=X, ws=WS)
    np.testing.assert_allclose(code["x"].sum(), layers(X, WS), rtol=1e-4)


def total_power(x: Any) -> Any:
    return power(x).sum()


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(
    ("transform", "function", "x"), [(jax.vmap, power, np.stack([X, X])), (jax.grad, total_power, X)]
)
def test_a_loop_is_found_where_the_jitted_function_is_transformed_outside(
    transform: Any, function: Any, x: Any
) -> None:
    jitted = jax.jit(function)
    finding = the_one(lambda: transform(jitted)(x))
    assert finding.source == "x = jnp.sin(x) @ x"
    assert finding.found.facts["function"] == function.__name__
    assert "sin 50" in str(finding.found.facts["primitives"])
    assert len(finding.compiles) == (2 if transform is jax.grad else 1)  # the forward and the backward pass
    pasted(finding.code, x=X)


def test_a_backward_pass_has_the_lines_of_its_function() -> None:
    jitted = jax.jit(total_power)
    with watch() as observed:
        jax.grad(jitted)(X)
    found = [each for each in programs_of(observed, None) or () if each.transformed_at is not None]
    assert sorted(each.transformed or "" for each in found) == ["", "total_power"]
    assert len({each.transformed_at for each in found}) == 1
    for each in found:
        assert each.repeated_lines is not None
        assert max(line.rounds for line in each.repeated_lines) == 50


@pytest.mark.usefixtures("whatever_it_takes")
def test_equations_of_what_a_loop_calls_count_for_the_loop() -> None:
    finding = the_one(jax.jit(calls), X, WS)
    assert finding.source == "x = apply_layer(x, w)"
    assert finding.found.facts["equations"] == finding.found.facts["total"]


LAYERS = [dict.fromkeys("abcd", w) for w in WS]


def apply_block(p: Any, x: Any) -> Any:
    h = jnp.tanh(x @ p["a"])
    h = jnp.tanh(h @ p["b"])
    h = jnp.tanh(h @ p["c"])
    h = jnp.tanh(h @ p["d"])
    return x + h


def blocks(params: Any, x: Any) -> Any:
    for p in params:
        x = apply_block(p, x)
    return x


@pytest.mark.usefixtures("whatever_it_takes")
def test_rounds_are_counted_and_not_the_equations_of_a_round() -> None:
    finding = the_one(jax.jit(blocks), LAYERS[:12], X)
    assert finding.found.facts["primitives"] == "dot_general 48, tanh 48, add 12"  # by hand: 12 blocks
    assert finding.cost_ns == pytest.approx(float(finding.evidence[0].facts["time_ns"]) * 9 / 12)
    code = pasted(finding.code, x=X, params=LAYERS[:12], apply_block=apply_block)
    np.testing.assert_allclose(code["x"], blocks(LAYERS[:12], X), rtol=1e-4)


@pytest.mark.usefixtures("whatever_it_takes")
def test_few_layers_with_many_equal_equations_are_no_finding() -> None:
    assert found(jax.jit(blocks), LAYERS[:4], X) == []  # 16 products of one shape


def test_code_to_paste_is_none_where_it_would_overwrite_a_variable() -> None:
    def function(source: str) -> Any:
        return ast.parse(source).body[0]

    for name, has_code in (("other", True), ("body", False), ("carry", False)):
        around = function(f"def f(x, ws, {name}):\n  for w in ws:\n    x = x @ w\n  return x + {name}")
        assert (loop_code(around.body[0], around) is not None) == has_code


@pytest.mark.usefixtures("whatever_it_takes")
def test_a_loop_that_computes_with_its_index_becomes_a_fori_loop() -> None:
    code = pasted(the_one(jax.jit(with_index), X).code, x=X)
    np.testing.assert_allclose(code["x"], jax.jit(with_index)(X), rtol=1e-4)


def indexed(x: Any, ws: Any) -> Any:
    out = []
    for i in range(40):
        x = jnp.tanh(x + ws[i])
        out.append(x)
    return jnp.stack(out)


def over_rows(x: Any, rows: Any) -> Any:
    out = []
    for row in rows:
        x = jnp.tanh(x + row)
        out.append(x)
    return jnp.stack(out)


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(("function", "name"), [(indexed, "ws"), (over_rows, "rows")])
def test_a_loop_over_an_array_that_collects_becomes_a_scan_over_it(function: Any, name: str) -> None:
    ws = jnp.stack(WS)[:, 0]
    finding = the_one(jax.jit(function), X[0], ws)
    assert finding.remedy is not None
    assert finding.remedy.facts == {"loop": "scan", "over": name, "collected": "out"}
    assert "jnp.stack" not in (finding.code or "")
    code = pasted(finding.code, x=X[0], **{name: ws})
    np.testing.assert_allclose(code["out"], function(X[0], ws), rtol=1e-5)


def now_and_then(x: Any, ws: Any) -> Any:
    out = []
    for i, w in enumerate(ws):
        x = jnp.tanh(x + w)
        if i % 10 == 0:
            out.append(x)
    return sum(out) + x


@pytest.mark.usefixtures("whatever_it_takes")
def test_values_that_a_loop_appends_now_and_then_are_to_be_selected() -> None:
    finding = the_one(jax.jit(now_and_then), X[0], [w[0] for w in WS])
    assert "It returns a value of every iteration: select those that belong into out." in str(finding.remedy)


def indexed_and_sliced(x: Any, ws: Any) -> Any:
    out = []
    for i in range(40):
        x = jnp.roll(x, 1) + ws[i]  # slices x, and not ws
        out.append(x)
    return jnp.stack(out)


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize("function", [indexed, indexed_and_sliced])
def test_a_list_that_is_indexed_is_stacked(function: Any) -> None:
    ws = [w[0] for w in WS]
    finding = the_one(jax.jit(function), X[0], ws)
    assert finding.remedy is not None
    assert finding.remedy.facts["over"] == ""
    code = pasted(finding.code, x=X[0], ws=ws)
    np.testing.assert_allclose(code["out"], function(X[0], ws), rtol=1e-5)


def descend(x: Any) -> Any:
    for _ in range(30):
        g = jax.grad(lambda p: jnp.sum(jnp.sin(p) ** 2))(x)
        x = x - 0.1 * g
    return x


def scaled(x: Any) -> Any:
    for _ in range(30):
        step = lambda y: jnp.sin(y) * 2  # noqa: E731
        x = step(x)
    return x


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize("function", [descend, scaled])
def test_a_loop_that_makes_a_function_in_each_iteration_is_found(function: Any) -> None:
    finding = the_one(jax.jit(function), X)
    code = pasted(finding.code, x=X)
    np.testing.assert_allclose(code["x"], jax.jit(function)(X), rtol=1e-4)


@pytest.mark.usefixtures("whatever_it_takes")
def test_iterations_that_need_no_other_are_mapped() -> None:
    def mapped(xs: Any) -> Any:
        return [jnp.sin(xs[i]) * jnp.cos(xs[i]) for i in range(30)]

    finding = the_one(jax.jit(mapped), X)
    assert finding.code is None
    assert str(finding.remedy).startswith("No iteration needs the result of another. Use jax.vmap")


def rows_in_a_list(w: Any, xs: Any) -> Any:
    return jnp.stack([jnp.sin(jnp.tanh(w @ x)) for x in xs])


def rows_in_a_loop(w: Any, xs: Any) -> Any:
    out = []
    for x in xs:
        y = jnp.tanh(w @ x)
        out.append(jnp.sin(y))
    return jnp.stack(out)


def rows_on_one_line(w: Any, xs: Any) -> Any:
    out = []
    for x, y in zip(xs, xs): out.append(jnp.sin(jnp.tanh(w @ x)) + y)  # fmt: skip  # noqa: E701, B905
    return jnp.stack(out)


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize("function", [rows_in_a_list, rows_in_a_loop, rows_on_one_line])
def test_a_loop_over_rows_that_carries_nothing_is_mapped(function: Any) -> None:
    finding = the_one(jax.jit(function), X, X)
    assert (finding.code, finding.remedy is not None and finding.remedy.facts["loop"]) == (None, "vmap")
    assert finding.cost_ns is not None


@pytest.mark.usefixtures("whatever_it_takes")
def test_the_map_that_is_advised_computes_the_same() -> None:
    finding = the_one(jax.jit(lambda w, xs: rows_in_a_list(w, xs)), X, X)
    assert finding.remedy is not None
    mapped = finding.remedy.facts["mapped"]
    assert mapped == "jax.vmap(lambda x: jnp.sin(jnp.tanh(w @ x)))(xs)"
    names = pasted(f"result = {mapped}", w=X, xs=X)
    assert np.allclose(names["result"], rows_in_a_list(X, X), atol=1e-6)
    assert f"Use {mapped} instead, which" in str(finding.remedy)
    assert found(jax.jit(lambda w, xs: jax.vmap(lambda x: jnp.sin(jnp.tanh(w @ x)))(xs)), X, X) == []


@pytest.mark.usefixtures("whatever_it_takes")
def test_rows_that_a_module_of_equinox_computes_are_mapped() -> None:
    eqx = pytest.importorskip("equinox")
    model = eqx.nn.MLP(30, 4, 16, 2, key=jax.random.key(0))

    @eqx.filter_jit
    def predict(model: Any, xs: Any) -> Any:
        return jnp.stack([model(x) for x in xs])

    finding = the_one(predict, model, X)
    assert finding.remedy is not None
    assert finding.remedy.facts["mapped"] == "jax.vmap(lambda x: model(x))(xs)"


def outer_loop(x: Any) -> Any:
    for _ in range(20):
        for _ in range(4):
            h = jnp.sin(x)
            x = h * x
        x = x + 2
    return x


def inner_loop(x: Any) -> Any:
    y = x
    for i in range(3):
        for _ in range(30):
            x = jnp.sin(x) + x
        y = (x + y) * i
    return x + y


def stacked(x: Any, ws: Any) -> Any:
    for i in range(20):
        for w in ws:
            x = jnp.tanh(x @ w)
        x = x + i
    return x


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(
    ("fn", "args", "first", "saved"),
    [
        (outer_loop, (X,), "for _ in range(20):", 17 / 20),
        (inner_loop, (X,), "x = jnp.sin(x) + x", 180 / 187 * 27 / 30),  # a round of the outer one multiplies and adds
        (stacked, (X, WS[:3]), "for i in range(20):", 17 / 20),
    ],
)
def test_of_loops_in_each_other_the_one_that_saves_most_is_found(
    fn: Any, args: Any, first: str, saved: float
) -> None:
    finding = the_one(jax.jit(fn), *args)
    assert finding.source == first
    assert finding.cost_ns is not None
    (took,) = [each.facts["time_ns"] for each in finding.evidence if each.kind == "doctor.unrolled_compile"]
    assert finding.cost_ns / took == pytest.approx(saved, rel=0.03)
    loop = find_loop(fn, finding.line)
    assert loop is not None
    assert finding.code is not None
    replaced = loop.with_code(finding.code)
    assert replaced is not None
    assert jnp.allclose(jax.jit(replaced)(*args), fn(*args), rtol=1e-4)


def powers(x: Any) -> Any:
    for _ in range(24):
        x = jnp.sin(x) @ x
    return x.sum()


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(("fn", "left"), [(powers, 3 / 24), (jax.grad(powers), 6 / 24)], ids=["value", "gradient"])
def test_what_a_loop_of_jax_takes_to_compile_is_not_spared_and_a_gradient_has_two(fn: Any, left: float) -> None:
    finding = the_one(jax.jit(fn), X)
    assert finding.cost_ns is not None
    facts = finding.found.facts
    share = int(facts["equations"]) / int(facts["total"])
    assert finding.cost_ns / finding.evidence[0].facts["time_ns"] == pytest.approx(share * (1 - left))


@pytest.mark.usefixtures("whatever_it_takes")
def test_how_often_a_loop_in_another_one_runs_may_be_unknown() -> None:
    def nested(x: Any) -> Any:
        while len(seen) < 5:
            seen.append(len(seen))
            for _ in seen + seen:
                x = jnp.sin(x)
        return x

    seen: list[int] = []
    finding = the_one(jax.jit(nested), X)
    assert finding.source == "while len(seen) < 5:"
    assert finding.cost_ns is None
    assert finding.code is None


def test_what_a_loop_leaves_to_the_next_round_of_the_one_around_it_is_no_code() -> None:
    source = """
def f(x):
    h = x
    for _ in range(8):
        y = jnp.sin(h)
        for _ in range(9):
            h = x + y
            x = jnp.sin(h)
    return x
"""
    (function,) = ast.parse(source).body
    (outer, inner) = [node for node in ast.walk(function) if isinstance(node, ast.For)]
    assert loop_code(inner, function, enclosing=[outer]) is None
    assert loop_code(inner, function) is not None


@pytest.mark.usefixtures("whatever_it_takes")
def test_equal_layers_of_flax_are_found() -> None:
    nn = pytest.importorskip("flax.linen")

    class Deep(nn.Module):  # type: ignore[name-defined, misc]
        @nn.compact  # type: ignore[untyped-decorator]
        def __call__(self, x: Any) -> Any:
            for _ in range(24):
                x = nn.tanh(nn.Dense(30)(x))
            return x

    model = Deep()
    params = model.init(jax.random.key(0), X)

    @jax.jit
    def forward(params: Any, x: Any) -> Any:
        return model.apply(params, x)

    finding = the_one(forward, params, X)
    assert finding.source == "x = nn.tanh(nn.Dense(30)(x))"


@pytest.mark.usefixtures("whatever_it_takes")
def test_equal_layers_of_equinox_are_found() -> None:
    eqx = pytest.importorskip("equinox")
    stack = [eqx.nn.Linear(30, 30, key=jax.random.key(n)) for n in range(24)]

    @eqx.filter_jit  # type: ignore[untyped-decorator]
    def forward(stack: Any, x: Any) -> Any:
        for layer in stack:
            x = jax.nn.relu(layer(x))
        return x

    assert the_one(forward, stack, X[0]).source == "x = jax.nn.relu(layer(x))"


# Clean programs


def scanned(x: Any, ws: Any) -> Any:
    return jax.lax.scan(lambda x, w: (jnp.tanh(x @ w), None), x, jnp.stack(ws))[0]


def polynomial(x: Any) -> Any:
    return x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x + x


def update_leaves(params: Any, grads: Any) -> Any:
    return jax.tree.map(lambda p, g: p - 0.1 * g, params, grads)


def update_in_a_comprehension(params: Any, grads: Any) -> Any:
    return [p - 0.1 * g for p, g in zip(params, grads, strict=True)]


def first_rows_of_leaves(params: Any, grads: Any) -> Any:
    return [p[0] - 0.1 * g[0] for p, g in zip(params, grads, strict=True)]


def update_in_a_loop(params: Any, grads: Any) -> Any:
    new = {}
    for name, p in params.items():
        new[name] = p - 0.1 * grads[name]
    return new


def different_sizes(x: Any) -> Any:
    for n in range(1, 31):
        x = jnp.concatenate([jnp.tanh(x), jnp.ones(n)])
    return x


def mostly_different_sizes(x: Any) -> Any:
    y = x
    for n in range(1, 31):
        x, y = jnp.concatenate([jnp.tanh(x), jnp.ones(n)]), jnp.sin(y)
    return x, y


def few_layers(x: Any, ws: Any) -> Any:
    for w in ws[:6]:
        x = jnp.tanh(x @ w)
    return x


def mostly_elsewhere(x: Any) -> Any:
    y = x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x * x + x
    for _ in range(16):
        y = jnp.sin(y)
    return y


def in_a_loop_outside(x: Any) -> Any:
    step = jax.jit(polynomial)
    for _ in range(3):
        x = step(x)
    return x


NAMED = {str(n): w for n, w in enumerate(WS)}


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(
    ("run", "arguments"),
    [
        (jax.jit(scanned), (X, WS)),
        (jax.jit(polynomial), (X,)),
        (jax.jit(update_leaves), (WS, WS)),
        (jax.jit(update_in_a_comprehension), (WS, WS)),
        (jax.jit(first_rows_of_leaves), (WS, WS)),
        (jax.jit(update_in_a_loop), (NAMED, NAMED)),
        (jax.jit(different_sizes), (X[0],)),
        (jax.jit(mostly_different_sizes), (X[0],)),
        (jax.jit(few_layers), (X, WS)),
        (jax.jit(mostly_elsewhere), (X,)),
        (in_a_loop_outside, (X,)),
        (jax.jit(jnp.linalg.inv), (X + np.eye(30, dtype=np.float32),)),
    ],
)
def test_other_long_programs_are_no_finding(run: Any, arguments: Any) -> None:
    assert found(run, *arguments) == []


@pytest.mark.usefixtures("whatever_it_takes")
def test_an_optimizer_over_many_leaves_is_no_finding() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(1e-3)
    state = optimizer.init(WS)

    @jax.jit
    def update(grads: Any, state: Any) -> Any:
        return optimizer.update(grads, state)

    assert found(update, WS, state) == []


def test_a_program_that_compiles_fast_is_no_finding(whatever_it_takes: None, monkeypatch: pytest.MonkeyPatch) -> None:
    def short(x: Any) -> Any:
        for _ in range(16):
            x = jnp.sin(x)
        return x

    assert [each.rule for each in found(jax.jit(short), X[0])] == ["unrolled-loop"]
    monkeypatch.setattr(unrolled_loop, "_LEAST_NS", 10**12)
    assert found(jax.jit(lambda x: short(x)), X[0]) == []


@pytest.mark.clock
def test_the_cost_is_no_more_than_a_loop_of_jax_spares(monkeypatch: pytest.MonkeyPatch) -> None:
    def power(x: Any) -> Any:
        for _ in range(800):
            x = jnp.sin(x) @ x
        return x

    monkeypatch.setattr(unrolled_loop, "_LEAST_NS", 1)
    finding = the_one(jax.jit(power), X)
    looped = jaxmagic.diagnose(jax.jit(lambda x: jax.lax.fori_loop(0, 800, lambda _, x: jnp.sin(x) @ x, x)), X)
    unrolled_ns = next(each.facts["time_ns"] for each in finding.evidence)
    spared_ns = float(unrolled_ns) - sum(each.total_ns for each in looped.compilations)
    assert finding.cost_ns is not None
    assert 0 < finding.cost_ns <= 1.2 * spared_ns


def halved(x: Any) -> Any:
    for _ in range(20):
        x = x * 0.5 + 1
    return x


def counted(x: Any) -> Any:
    for i in range(20):
        x = jnp.tanh(x * i)
    return x


def swapped(x: Any) -> Any:
    a, b = x, x
    for i in range(20):
        a, b = b * 0.5, a + b * i
    return a + b


def added(x: Any) -> Any:
    for i in range(1, 31):
        x = x * i + 1
    return x


def recast(x: Any) -> Any:
    for _ in range(20):
        x = jnp.tanh(x.astype(jnp.float32)).astype(x.dtype)
    return x


FLOATS = "float16", "bfloat16", "float32"
INTEGERS = "int8", "uint8", "int16", "uint32", "int32"


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(
    ("function", "dtypes"),
    [(halved, FLOATS), (counted, FLOATS), (swapped, FLOATS), (added, (*INTEGERS, *FLOATS)), (recast, FLOATS)],
)
def test_the_code_keeps_the_dtype(function: Any, dtypes: Any) -> None:
    for dtype in dtypes:
        x = jnp.ones(4, dtype)
        names = pasted(the_one(jax.jit(function), x).code, x=x, a=x, b=x)
        expected = jax.jit(function)(x)
        result = names["a"] + names["b"] if function is swapped else names["x"]
        assert result.dtype == expected.dtype
        rounding = 8 * jnp.finfo(dtype).eps if dtype in FLOATS else 0  # some processors round bfloat16 less often
        np.testing.assert_allclose(result, expected, rtol=rounding)


@pytest.mark.usefixtures("whatever_it_takes")
@pytest.mark.parametrize(
    ("function", "dtypes", "to"),
    [
        (halved, INTEGERS, "float32"),
        (counted, INTEGERS, "float32"),
        (swapped, INTEGERS, "float32"),
        (added, ("bool",), "int32"),
    ],
)
def test_there_is_no_code_where_the_first_iteration_changes_the_dtype(function: Any, dtypes: Any, to: str) -> None:
    for dtype in dtypes:
        finding = the_one(jax.jit(function), jnp.ones(4, dtype))
        assert finding.code is None
        assert str(finding.evidence[-1]) == (
            f"One iteration converts to {to} and the others do not, as if the first one changes a dtype. A loop of "
            "JAX keeps dtypes: convert what it carries before the loop."
        )
