"""The function to jit is the one that calls nearly all operations of the code, if jit can compile it."""

from __future__ import annotations

import ast
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from fabricate import hlo
from gathered_evidence import evidence_of

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, FunctionShare, HostShare, HostUse, HostWait, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.rewriting.called_function import CalledFunction, called_function, transformed_run
from jaxmagic.doctor.rules.rewriting.jit.arguments import static_option
from jaxmagic.records.call_stack import Frame

SOURCE = """
def loss(w, x):
    return jnp.mean((x @ w) ** 2)

def step(w, x):
    value, grad = jax.value_and_grad(loss)(w, x)
    return w - 0.1 * grad, value

def rows(w, x):
    for row in x:
        w = w + row
    return w

def draws(w, x):
    return w + np.random.normal(size=3)

def decides(w, x):
    if w.sum() > 0:
        return w
    return x

def sized(w, n):
    return jnp.zeros(n) + w

def sized_from(w, n, seed=3):
    return jnp.zeros(n) + w + seed

def sized_inside(w, n):
    return sized(w, n) * 2

def named(w, x):
    return {"w": w, "name": "run"}

def scaled(w, x):
    return w * loss + x

def either(w, x):
    return w * (x or 1.0)

def chosen(w, x):
    match x:
        case 1: return w
    return w + 1

def filtered(w, x):
    return [w * each for each in x if each > 0]

def larger(w, x):
    return w * max(x, 1.0)

def typed(w, x):
    return w, w.dtype

def made(w, x):
    return Out(w)

@jax.jit
def jitted(w, x):
    return w + x

def helper(w):
    return w * 2

def middle(w):
    return helper(w) + 1

def outer(w):
    return middle(w) * 3

def draws_too(w):
    return outer(w) + np.random.normal(size=3)

def outermost(w):
    return draws_too(w) + update(w, w)

def train():
    w, x = jnp.ones(3), jnp.ones((3, 3))
    for _ in range(20):
        w, value = step(w, x)
    return w

def update(params, grads):
    return [p - 0.1 * g for p, g in zip(params, grads)]

def predict(layers, x):
    for w, b in layers[:-1]:
        x = jnp.tanh(x @ w + b)
    return x

def pairs(xs, ys):
    for x, y in zip(xs, ys):
        xs = xs + x * y
    return xs

def mapped(w, x):
    return jnp.stack([w * n for w, n in zip(x, jax.random.split(w, len(x)))])

def powers(x):
    return [x**n for n in range(100)]

def of_state(state, x):
    def inner(params):
        return state.apply_fn(params, x)
    return state.apply_gradients(grads=jax.grad(inner)(state.params))

def listed(w, x):
    names = ["a", "b"]
    return jnp.sin(w) * x, names

class State(TrainState):
    def __init__(self, step):
        self.step = step if step else 0

    def rate(self):
        return 1.0 if self.step else 0.1

    def twice(self):
        return self.step * 2
"""
"""The functions of a file of the user's, all of which have run."""


@pytest.fixture
def evidence(tmp_path: Path) -> Evidence:
    file = tmp_path / "train.py"
    file.write_text(SOURCE)
    functions = [each for each in ast.parse(SOURCE).body if isinstance(each, ast.FunctionDef)]
    ran = [Frame(function=each.name, file=str(file), line=each.lineno) for each in functions]
    shares = tuple(FunctionShare(function=each, called="", samples=1, time_ns=1) for each in ran)
    return replace(evidence_of(lambda x: x, jnp.ones(3)), functions=shares, programs=(), waits=(), inputs=())


def found(evidence: Evidence, code: str, count: int = 100, **changes: Any) -> str | None:
    function = called_function(replace(evidence, code=code, **changes), count, most_unrolled=200)
    return None if function is None else function.function.name


@pytest.mark.parametrize(
    "code",
    [
        "step(w, x)",
        "step",
        "w, value = step(w, x)",
        "for _ in range(20):\n    w, value = step(w, x)",
        "for number, x in enumerate(batches):\n    w, value = step(w, x)\n    print(number)",
        "w = jnp.zeros(3)\nfor x in batches:\n    w, value = step(w, x=x)",
        "step(w, 0.5)",
        "step(*both)",
    ],
)
def test_it_is_the_only_function_of_the_users(evidence: Evidence, code: str) -> None:
    assert found(evidence, code) == "step"


@pytest.mark.parametrize(
    "code",
    [
        "step(helper(w), x)",  # two of them
        "for _ in range(20):\n    w, value = step(w, x)\n    w = w * 2",  # the loop calls operations itself
        "for _ in range(20):\n    w, value = step(w, x)\n    jnp.sum(w)",
        "w = jnp.sin(w) + jnp.cos(x) - jnp.tan(x * 2)\nstep(w, x)",  # 6 of 100 are called outside of it
        "step(w, lambda: x)",
        "step(**both)",
        "model.step(w, x)",
        "for number in range(20):\n    w, value = step(w, number)",  # static, it would compile in each round
        "for number, x in enumerate(xs):\n    w, value = step(x, number)",
        "loss = 2.0\nscaled(w, x)",  # jit would keep the value that it reads
        "jitted(w, x)",
        "listed(w, x)",  # jit returns no text
        "unknown(w, x)",
        "step(w, x",
        "",
    ],
)
def test_nothing_is_named_where_it_may_not_help_or_not_work(evidence: Evidence, code: str) -> None:
    assert found(evidence, code) is None


BESIDE = "for x in batches:\n    w, value = step(w, jnp.asarray(x))\n    "


@pytest.mark.parametrize(
    ("beside", "rounds", "name"),
    [
        ("losses.append(value.item())", 1, "step"),  # 3 of 100 operations at most
        ("losses.append(value.item())", 2, None),
        ("np.save(path, np.asarray(w))", 1, "step"),
        ("total = total + float(value)", 1, "step"),
        ("value.block_until_ready()", 2, "step"),
        ("w = project(w)", 1, None),  # which may call any number
        ("w = jnp.linalg.qr(w)[0]", 1, None),
        ("w = jax.tree.map(f, w)", 1, None),
    ],
)
def test_a_loop_may_call_a_few_operations_itself(
    evidence: Evidence, executable: Any, beside: str, rounds: int, name: str | None
) -> None:
    inside = evidence.functions[1].function
    module: Any = SimpleNamespace(instructions={"sub": SimpleNamespace(stack=(inside,))})
    sub = Program(executable=executable(name="jit_sub"), module=module, function="sub", eager=True)
    calls = [
        Dispatch(name=each, count=count, host_ns=1, exposed_ns=1) for each, count in (("sub", rounds), ("add", 9))
    ]
    use = HostUse(dispatches=tuple(calls), idle_ns=1, waited_ns=0, waits=0)
    assert found(evidence, BESIDE + beside, programs=(sub,), host_use=use) == name
    assert found(evidence, BESIDE + beside) is None  # without a recording, the number of rounds is unknown


@pytest.mark.parametrize(
    "function",
    ["draws", "decides", "sized", "sized_inside", "named", "either", "chosen", "filtered", "larger", "typed", "made"],
)
def test_a_function_that_jit_cannot_compile_is_not_named(evidence: Evidence, function: str) -> None:
    assert found(evidence, f"{function}(w, x)") is None


def test_a_loop_inside_is_unrolled_if_that_is_short(evidence: Evidence) -> None:
    assert found(evidence, "rows(w, x)", count=200) == "rows"
    assert found(evidence, "rows(w, x)", count=201) is None
    assert found(evidence, "step(w, x)", count=201) == "step"


def test_numpy_arrays_that_a_function_reads_would_be_kept(evidence: Evidence) -> None:
    data = Input(path="loss", kind="numpy array", type="float32[3]")
    assert found(evidence, "scaled(w, x)") == "scaled"
    assert found(evidence, "scaled(w, x)", inputs=(data,)) is None
    assert found(evidence, "scaled(w, x)", inputs=(replace(data, kind="jax array"),)) == "scaled"


def test_objects_that_are_no_arrays_are_not_traced(evidence: Evidence) -> None:
    assert found(evidence, "step(w, x)", inputs=(Input(path="x", kind="jax array", type="f32[3]"),)) == "step"
    assert found(evidence, "step(w, x)", inputs=(Input(path="x", kind="function", type="function"),)) is None
    assert found(evidence, "step(w, x)", inputs=(Input(path="x", kind="object", type="Config"),)) is None
    assert found(evidence, "step", inputs=(Input(path="x", kind="iterator", type="generator"),)) is None


@pytest.mark.parametrize(
    ("code", "static"),
    [
        ("step(w, x)", ()),
        ("step(w, 1.0)", ()),
        ("step(w, True)", ("x",)),
        ("step(w, 3)", ("x",)),
        ("step(w, x='mean')", ("x",)),
        ("step(w, mode)", ("x",)),
        ("for _ in range(3):\n    w, value = step(w, training)", ("x",)),
    ],
)
def test_flags_and_texts_are_static(evidence: Evidence, code: str, static: tuple[str, ...]) -> None:
    flags = Input(path="training", kind="number", type="bool"), Input(path="mode", kind="object", type="str")
    function = called_function(replace(evidence, code=code, inputs=flags), 100, most_unrolled=200)
    assert function is not None
    assert function.arguments.static == static


def test_a_function_that_gets_nothing_to_trace_is_not_to_be_jitted(evidence: Evidence) -> None:
    assert found(evidence, "sized(w, 3)") == "sized"
    assert found(evidence, "sized(2, 3)") is None  # jit would compile for each number, and XLA compute it then
    assert found(evidence, "sized_from(w, 3)") == "sized_from"
    assert found(evidence, "sized_from(2, 3)") is None


@pytest.mark.parametrize(
    ("static", "code"),
    [
        ((), "f = jax.jit(f)"),
        (("a",), 'f = jax.jit(f, static_argnames="a")'),
        (("a", "b"), 'f = jax.jit(f, static_argnames=("a", "b"))'),
    ],
)
def test_the_code_declares_static_arguments(static: tuple[str, ...], code: str) -> None:
    assert f"f = jax.jit(f{static_option(static)})" == code
    exec(code, {"jax": jax, "f": lambda x, a=True, b="": x if a else b})


def test_flags_among_the_arguments_of_a_call(evidence: Evidence) -> None:
    flag = Input(path="x", kind="number", type="bool")
    function = called_function(replace(evidence, code="step", inputs=(flag,)), 100, most_unrolled=200)
    assert function is not None
    assert function.arguments.static == ("x",)


def test_a_function_that_waits_is_not_named(evidence: Evidence) -> None:
    inside = replace(evidence.functions[0].function, line=3)
    assert inside.function == "loss"
    wait = HostWait(line=inside, function="__float__", library=None, count=1, wait_ns=0)
    assert found(evidence, "step(w, x)", waits=(wait,)) is None
    assert found(evidence, "step(w, x)", waits=(replace(wait, line=None),)) == "step"


def sampled(evidence: Evidence, **samples: int) -> dict[str, Any]:
    """Return changes: each function has some of ten samples in which an operation may have been called."""
    shares = tuple(replace(each, samples=samples.get(each.function.function, 0)) for each in evidence.functions)
    line = evidence.functions[0].function
    host = HostShare(line=line, called="jax.numpy.sin", samples=10)
    return {"functions": tuple(replace(each, called="jax.numpy.sin") for each in shares), "host": (host,)}


def test_inside_another_function_the_samples_tell(evidence: Evidence) -> None:
    assert found(evidence, "train()", **sampled(evidence, train=10, step=10, loss=10)) == "step"
    assert found(evidence, "train()", **sampled(evidence, train=10, step=8, loss=8)) is None
    assert found(evidence, "train()", **sampled(evidence, train=9, step=9, loss=9)) == "step"
    assert found(evidence, "train()", **sampled(evidence, train=10, rows=10)) == "rows"
    assert found(evidence, "train()", count=201, **sampled(evidence, train=10, rows=10)) is None


def test_what_is_transformed_is_not_jitted_inside(evidence: Evidence) -> None:
    assert found(evidence, "train()", **sampled(evidence, train=10, loss=10)) is None
    assert found(evidence, "loss(w, x)") is None


@pytest.mark.parametrize(
    ("more", "name"),
    [("", "loss"), ("slope = jax.jit(jax.grad(loss))\n", "loss"), ("slope = jax.grad(loss)\n", None)],
)
def test_a_transformation_that_jit_compiles_is_none_of_each_call(
    more: str, name: str | None, evidence: Evidence, tmp_path: Path
) -> None:
    text = SOURCE.replace("def step(w, x):", "@jax.jit\ndef step(w, x):")
    (tmp_path / "train.py").write_text(text + more)
    assert found(evidence, "train()", **sampled(evidence, train=10, loss=10)) == name


def called_through(
    evidence: Evidence, *stacks: tuple[int, tuple[str, ...]], without: str = ""
) -> CalledFunction | None:
    """Return the function to jit, for so many samples of stacks of functions, the innermost one first."""
    first = {each.function.function: each.function for each in evidence.functions}
    lines = {name: replace(frame, line=frame.line + 1) for name, frame in first.items()}
    host = tuple(
        HostShare(line=lines[names[0]], called="jax.numpy.sin", samples=samples, stack=tuple(lines[n] for n in names))
        for samples, names in stacks
    )
    ran = tuple(replace(each, samples=0) for each in evidence.functions if each.function.function != without)
    made = replace(evidence, code="run()", host=host, functions=ran)
    return called_function(made, 100, most_unrolled=200, line=lines[stacks[0][1][0]])


def test_the_outermost_function_that_nearly_all_calls_of_a_line_came_through(evidence: Evidence) -> None:
    other = 20, ("update", "outermost")
    through = 20, ("helper", "middle", "outer", "draws_too", "outermost")
    called = called_through(evidence, through, other)
    assert called is not None
    assert (called.function.name, called.whole) == ("outer", False)  # draws_too draws random numbers
    called = called_through(evidence, through, other, without="outer")  # which called jaxmagic
    assert called is not None
    assert called.function.name == "middle"
    assert called_through(evidence, (20, ("helper", "scaled")), other) is None  # no name leads from it to helper
    assert called_through(evidence, (20, ("helper", "middle")), (3, ("helper", "draws")), other) is None
    assert called_through(evidence, (9, ("helper", "middle"))) is None


def test_a_loop_over_layers_or_parameters_is_not_long(evidence: Evidence) -> None:
    assert found(evidence, "predict(layers, x)", count=201) == "predict"
    assert found(evidence, "pairs(x, x)", count=200) == "pairs"
    assert found(evidence, "pairs(x, x)", count=201) is None
    assert found(evidence, "update(params, grads)", count=201) == "update"
    assert found(evidence, "mapped(w, x)", count=201) == "mapped"


def test_a_loop_over_a_list_that_is_an_input_has_as_many_rounds_as_that(evidence: Evidence) -> None:
    block = Input(path="params['x'][0]['w']", kind="jax array", type="f32[3]")
    assert found(evidence, "rows(w, params)", count=201) is None
    assert found(evidence, "rows(w, params)", count=201, inputs=(block,)) == "rows"
    assert found(evidence, "powers(x)", count=200) == "powers"
    assert found(evidence, "powers(x)", count=201) is None


def test_a_pytree_of_a_class_has_methods_that_jit_traces(evidence: Evidence) -> None:
    state = Input(path="state", kind="other", type="TrainState")
    assert found(evidence, "of_state(state, x)", inputs=(state,)) == "of_state"
    assert found(evidence, "of_state(state, x)", inputs=(replace(state, kind="object"),)) is None
    assert found(evidence, "of_state(state, x)", inputs=(replace(state, type="dict"),)) is None
    assert found(evidence, "of_state(state, x)") is None


def ran(executable: Any, *stack: Frame, eager: bool = True) -> Program:
    module = hlo.module(hlo.instruction("sine", stack=stack), name="jit_sin")
    return Program(executable=executable(name="jit_sin"), module=module, function="sin", eager=eager)


def test_methods_of_a_pytree_that_need_values_are_not_traced(evidence: Evidence, executable: Any) -> None:
    state = Input(path="state", kind="other", type="State")
    at = {each.function.function: each.function for each in evidence.functions}
    inside = replace(at["of_state"], line=at["of_state"].line + 1)
    (methods,) = (each for each in ast.parse(SOURCE).body if isinstance(each, ast.ClassDef))
    lines = {each.name: each.lineno + 1 for each in methods.body if isinstance(each, ast.FunctionDef)}
    for name, called in (("rate", None), ("twice", "of_state"), ("__init__", "of_state")):
        method = Frame(function=name, file=inside.file, line=lines[name])
        programs = (ran(executable, inside, method),)
        assert found(evidence, "of_state(state, x)", inputs=(state,), programs=programs) == called
        programs = (ran(executable, method, inside),)  # such as one that trains
        assert found(evidence, "of_state(state, x)", inputs=(state,), programs=programs) == "of_state"


def test_stacks_tell_what_is_transformed_around_a_model(evidence: Evidence, executable: Any) -> None:
    at = {each.function.function: each.function for each in evidence.functions}
    model = Frame(function="__call__", file="model.py", line=1)

    inside = replace(at["loss"], line=at["loss"].line + 1)
    forward = replace(evidence, code="step(w, x)", programs=(ran(executable, at["step"], inside, model),))
    assert transformed_run(forward) == ["loss"]
    assert transformed_run(replace(forward, programs=(ran(executable, at["step"], model),))) == []
    assert transformed_run(replace(forward, programs=(ran(executable, at["step"], inside, eager=False),))) == []
