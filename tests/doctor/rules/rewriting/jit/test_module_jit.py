"""Functions that get modules of Equinox or flax.nnx are advised the jit of that library."""

from __future__ import annotations

import ast
import linecache
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jaxmagic.doctor.record.evidence import (
    Evidence,
    FunctionShare,
    HostShare,
    HostWait,
    Input,
    LibraryNames,
)
from jaxmagic.doctor.record.library_use import ModuleLibrary
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host.jitting.advice import compile_called
from jaxmagic.doctor.rules.host.jitting.transformed_calls import jitted, made_of
from jaxmagic.doctor.rules.rewriting.called_function import called_function, transformed_around
from jaxmagic.doctor.rules.rewriting.jit.module_jit import jit_of, jit_of_modules, libraries_used
from jaxmagic.doctor.rules.rewriting.syntax import tree_of
from jaxmagic.records import cell_names
from jaxmagic.records.call_stack import Frame

SOURCE = """
class MLP(eqx.Module):
    def __init__(self, key):
        self.layers = [linear(each) for each in range(3)]

    def __call__(self, x):
        for layer in self.layers:
            x = layer(x)
        return x

def loss(model, x, y):
    return jnp.mean((model(x) - y) ** 2)

def step(model, opt_state, x, y):
    value, grads = eqx.filter_value_and_grad(loss)(model, x, y)
    updates, opt_state = opt.update(grads, opt_state, model)
    return eqx.apply_updates(model, updates), opt_state, value

def train(model, opt_state, batches):
    for x, y in batches:
        model, opt_state, value = step(model, opt_state, x, y)
    return model

def nnx_step(model, optimizer, x, y):
    value, grads = nnx.value_and_grad(loss)(model, x, y)
    optimizer.update(model, grads)
    return value

def logs(model, x):
    logger.info(model)
    return model(x)

def predict(model, x, train):
    y = model(x)
    return y * 2 if train else y

def doubled(model, x):
    return model(x) * 2

def repeated(model, x, n):
    for _ in range(n):
        x = model(x)
    return x

def sized(model, n):
    return model(jnp.ones(n))

def of_global(x):
    return net(x)

def applied(act, x):
    return act(x)

def act(x):
    return jnp.tanh(x)

def decides(x):
    return x if x > 0 else -x

def branches(x, train):
    if train and len(x) > 0:
        x = x * 2
    return x if train else -x

class Noisy(eqx.Module):
    def noisy(self, x):
        return x + rng.normal()
"""
FUNCTIONS = [each for each in ast.parse(SOURCE).body if isinstance(each, ast.FunctionDef)]


@pytest.fixture
def evidence(tmp_path: Path, timing: Any) -> Evidence:
    """The functions of a file have run, and so has the method of the model."""
    file = tmp_path / "train.py"
    file.write_text(SOURCE)
    ran = [Frame(function=each.name, file=str(file), line=each.lineno) for each in FUNCTIONS]
    ran += [Frame(function=name, file=str(file), line=line) for name, line in (("__init__", 3), ("__call__", 6))]
    names = tuple(
        LibraryNames(function=each, paths=(("eqx", "equinox"), ("nnx", "flax.nnx"), ("jnp", "jax.numpy")))
        for each in ran
    )
    shares = tuple(FunctionShare(function=each, called="", samples=1, time_ns=1) for each in ran)
    return Evidence(code="", first=timing(), observed=timing(), functions=shares, programs=(), waits=(), names=names)


MODEL = Input(path="model", kind="function", type="MLP", library="equinox")
STATE = Input(path="opt_state", kind="other", type="tuple", library="equinox")


def advice(evidence: Evidence, code: str, *inputs: Input, count: int = 100, **changes: Any) -> str | None:
    seen = replace(evidence, code=code, inputs=inputs, **changes)
    called = called_function(seen, count, most_unrolled=200)
    return None if called is None else compile_called(called, seen)[1]


@pytest.mark.parametrize(
    "code",
    [
        "step",
        "step(model, opt_state, x, y)",
        "for x, y in xs:\n    model, opt_state, v = step(model, opt_state, x, y)",
    ],
)
def test_a_step_with_a_module_is_compiled_by_equinox(evidence: Evidence, code: str) -> None:
    assert advice(evidence, code, MODEL, STATE) == "step = eqx.filter_jit(step)"
    assert (
        advice(evidence, code, MODEL, STATE, count=1000) == "step = eqx.filter_jit(step)"
    )  # layers are no long loop


def test_a_loop_over_data_is_not_unrolled(evidence: Evidence) -> None:
    assert advice(evidence, "train(model, opt_state, batches)", MODEL, STATE) == "train = eqx.filter_jit(train)"
    assert advice(evidence, "train(model, opt_state, batches)", MODEL, STATE, count=201) is None


def sampled(evidence: Evidence, *names: str) -> dict[str, Any]:
    shares = [each for each in evidence.functions if each.function.function in names]
    line = evidence.functions[0].function
    return {
        "functions": tuple(replace(each, samples=10, called="jax.numpy.sin") for each in shares),
        "host": (HostShare(line=line, called="jax.numpy.sin", samples=10),),
    }


def test_a_loop_over_what_may_be_a_loader_is_not_compiled(evidence: Evidence) -> None:
    samples = sampled(evidence, "train", "loss", "__call__")
    assert advice(evidence, "main()", **samples) is None


def test_a_step_inside_another_function_is_known_by_what_it_calls(evidence: Evidence) -> None:
    samples = sampled(evidence, "train", "step", "loss", "__call__")
    jitted = "# in train.py, below step()\nstep = eqx.filter_jit(step)"
    assert advice(evidence, "main()", count=1000, **samples) == jitted
    unknown = tuple(replace(each, paths=()) for each in evidence.names)
    assert advice(evidence, "main()", count=1000, names=unknown, **samples) is None


NET = (
    Input(path="model", kind="function", type="Net", library="nnx"),
    Input(path="optimizer", kind="other", type="Optimizer", library="nnx"),
)


def test_a_step_with_a_module_is_compiled_by_nnx(evidence: Evidence) -> None:
    assert advice(evidence, "nnx_step(model, optimizer, x, y)", *NET) == "nnx_step = nnx.jit(nnx_step)"
    flagged = 'predict = nnx.jit(predict, static_argnames="train")'
    assert advice(evidence, "predict(model, x, True)", *NET) == flagged
    assert advice(evidence, "predict(model, x, True)", MODEL) == "predict = eqx.filter_jit(predict)"


def test_a_call_for_its_effect_is_kept_by_nnx_alone(evidence: Evidence) -> None:
    assert advice(evidence, "nnx_step(model, optimizer, x, y)", MODEL) is None
    assert advice(evidence, "logs(model, x)", *NET) is None


def test_two_libraries_have_no_common_jit(evidence: Evidence) -> None:
    assert advice(evidence, "nnx_step(model, optimizer, x, y)", MODEL, NET[1]) is None


def test_changes_of_a_global_module_are_not_kept(evidence: Evidence) -> None:
    net = replace(NET[0], path="net")
    assert advice(evidence, "of_global(x)", net) is None
    assert advice(evidence, "of_global(x)", replace(net, library="equinox")) == "of_global = jax.jit(of_global)"


def test_methods_of_the_module_are_read_as_well(evidence: Evidence) -> None:
    wait = HostWait(
        line=Frame(function="__call__", file=evidence.functions[0].function.file, line=8),
        function="__bool__",
        library=None,
        count=1,
        wait_ns=0,
    )
    assert advice(evidence, "step", MODEL, STATE, waits=(wait,)) is None
    share = evidence.functions[0]
    noisy = replace(
        share, function=replace(share.function, function="noisy", line=SOURCE[: SOURCE.index("rng")].count("\n") + 1)
    )
    assert advice(evidence, "step", MODEL, STATE, functions=(*evidence.functions, noisy)) is None


def test_sizes_are_no_arrays_beside_a_module(evidence: Evidence) -> None:
    assert advice(evidence, "sized(model, n)", MODEL) is None
    n = Input(path="n", kind="number", type="int")
    assert advice(evidence, "sized(model, n)", NET[0], n) == 'sized = nnx.jit(sized, static_argnames="n")'


def test_the_library_has_the_users_own_name(evidence: Evidence) -> None:
    named = Input(path="model", kind="function", type="MLP", library="equinox")

    def with_names(*paths: tuple[str, str]) -> str | None:
        names = tuple(replace(each, paths=paths) for each in evidence.names)
        return advice(evidence, "predict(model, x, True)", named, names=names)

    assert with_names(("equinox", "equinox")) == "predict = equinox.filter_jit(predict)"
    assert with_names() == "import equinox as eqx\npredict = eqx.filter_jit(predict)"
    (function,) = (each for each in FUNCTIONS if each.name == "predict")
    flax = LibraryNames(function=None, paths=(("fx", "flax"),))
    assert jit_of("nnx", function, "", (flax,)) == ("fx.nnx.jit", "")
    assert jit_of("nnx", function, "", ()) == ("nnx.jit", "from flax import nnx")


def test_libraries_are_used_by_functions_on_modules(evidence: Evidence) -> None:
    file = evidence.functions[0].function.file
    by_name = {each.name: (each, file) for each in FUNCTIONS}
    assert libraries_used([by_name["step"]], evidence.names) == {"equinox"}
    assert libraries_used([by_name["nnx_step"], by_name["step"]], evidence.names) == {"equinox", "nnx"}
    assert libraries_used([by_name["predict"]], evidence.names) == set()
    other = (LibraryNames(function=evidence.functions[1].function, paths=(("eqx", ""), ("nnx", ""))),)
    assert libraries_used([by_name["step"]], other) == set()


@pytest.fixture
def defined(evidence: Evidence) -> Callable[[str], Frame]:
    return lambda name: next(each.function for each in evidence.functions if each.function.function == name)


def test_a_function_as_an_argument_is_static(evidence: Evidence, defined: Callable[[str], Frame]) -> None:
    code = 'applied = jax.jit(applied, static_argnames="act")'
    given = Input(path="act", kind="function", type="function", function=defined("act"))
    assert advice(evidence, "applied", given) == code
    assert advice(evidence, "applied(act, x)", given) == code
    assert advice(evidence, "applied(act=act, x=x)", given) == code
    assert advice(evidence, "applied(act, x)", replace(given, function=None, public="jax.nn.relu")) == code
    assert advice(evidence, "applied(act, x)", replace(given, function=defined("decides"))) is None
    assert advice(evidence, "applied(act, x)", replace(given, function=None, public="numpy.tanh")) is None
    made = replace(defined("act"), function="<lambda>")
    assert advice(evidence, "applied(act, x)", replace(given, function=made)) is None


def test_static_arguments_may_decide(evidence: Evidence) -> None:
    flag = Input(path="train", kind="number", type="bool")
    assert advice(evidence, "predict(model, x, train)", NET[0], flag) is not None
    assert advice(evidence, "branches(x, True)") is None  # len(x) is read as well
    data = Input(path="train", kind="jax array", type="bool[]")
    assert advice(evidence, "predict(model, x, train)", NET[0], data) is None


@pytest.mark.parametrize(
    ("code", "library", "advised"),
    [
        ("eqx.filter_value_and_grad(loss)(model, x, y)", "equinox",
         ("loss_value_and_grad = eqx.filter_jit(eqx.filter_value_and_grad(loss))", "eqx.filter_jit")),
        ("for x, y in xs:\n    v, g = nnx.value_and_grad(loss)(model, x, y)", "nnx",
         ("loss_value_and_grad = nnx.jit(nnx.value_and_grad(loss))", "nnx.jit")),
        ("slope = nnx.grad(loss)\ng = slope(model, x, y)", "nnx", ("slope = nnx.jit(nnx.grad(loss))", "nnx.jit")),
        ("eqx.filter_grad(loss)(model, x, y)", None,
         ("loss_grad = eqx.filter_jit(eqx.filter_grad(loss))", "eqx.filter_jit")),
        ("nnx.grad(loss)(model, x, y)", None, ("loss_grad = nnx.jit(nnx.grad(loss))", "nnx.jit")),
        ("jax.grad(loss)(model, x, y)", "equinox", None),
        ("jax.grad(loss)(model, x, y)", "nnx", None),
    ],
)  # fmt: skip
def test_what_transforms_a_module_is_compiled_by_the_same_library(
    evidence: Evidence, code: str, library: ModuleLibrary | None, advised: tuple[str, str] | None
) -> None:
    """Where another cell transforms the function, too."""
    kind = "function" if library == "equinox" else "other"
    model = Input(path="model", kind=kind, type="MLP", library=library)
    inputs = (model, *(Input(path=each, kind="jax array", type="ArrayImpl") for each in "xy"))
    seen = replace(evidence, code=code, inputs=inputs if library else inputs[1:])
    file = evidence.functions[0].function.file
    line = Frame(function="loss", file=file, line=SOURCE.splitlines().index("def loss(model, x, y):") + 2)
    function = next(
        each for each in ast.walk(tree_of(file)) if isinstance(each, ast.FunctionDef) and each.name == "loss"
    )
    assert "loss" in transformed_around(function, file, seen)
    made = [each for each in made_of("loss", line.file, seen) if ast.unparse(each[1]) in code]
    assert len(made) == 1
    assert jitted(*made[0], line.file, seen) == advised


def test_a_cell_that_did_not_run_again_may_transform_the_function(
    evidence: Evidence, monkeypatch: pytest.MonkeyPatch
) -> None:
    cells = {
        "<cell 1>": "def loss(model, x, y):\n    return jnp.mean((jax.vmap(model)(x) - y) ** 2)\n",
        "<cell 2>": "n = int(3)\nslope = eqx.filter_grad(loss)\n",
        "<cell 3>": "def train(model, x, y):\n    return slope(model, x, y)\n",
    }

    def naming(file: str) -> str | None:
        return file.strip("<>") if file in cells else None

    monkeypatch.setattr(cell_names, "_namings", [])
    cell_names.add_naming(naming)
    for name, text in cells.items():
        monkeypatch.setitem(linecache.cache, name, (len(text), None, text.splitlines(keepends=True), name))
    line = Frame(function="loss", file="<cell 1>", line=2)
    share = HostShare(line=replace(line, function="train", file="<cell 3>"), called="", samples=1)
    model = Input(path="model", kind="function", type="MLP", library="equinox")
    seen = replace(evidence, code="train(model, x, y)", inputs=(model,), host=(share,))
    tree = tree_of("<cell 1>")
    assert tree is not None
    function = tree.body[0]
    assert isinstance(function, ast.FunctionDef)
    assert transformed_around(function, "<cell 1>", seen) == ["loss"]
    (made,) = made_of("loss", line.file, seen)
    assert jitted(*made, line.file, seen) == ("slope = eqx.filter_jit(eqx.filter_grad(loss))", "eqx.filter_jit")


def test_the_jit_of_all_that_the_code_reads(evidence: Evidence) -> None:
    assert jit_of_modules(evidence) == "jax.jit"
    assert jit_of_modules(replace(evidence, inputs=(MODEL, STATE))) == "eqx.filter_jit"
    assert jit_of_modules(replace(evidence, inputs=NET)) == "nnx.jit"
    assert jit_of_modules(replace(evidence, inputs=(MODEL, *NET))) == "jax.jit"


@pytest.mark.parametrize(("function", "jit"), [("train", "jax.jit"), ("of_global", "eqx.filter_jit")])
def test_modules_that_only_jitted_functions_read_need_no_jit_of_their_own(
    evidence: Evidence, function: str, jit: str
) -> None:
    (ran,) = (each.function for each in evidence.functions if each.function.function == function)
    host = (HostShare(line=replace(ran, line=ran.line + 1), called="jax.numpy.sin", samples=10),)
    net = replace(MODEL, path="net")  # which the loop in `train` does not read
    assert jit_of_modules(replace(evidence, code="main()", inputs=(net,), host=host)) == jit


@pytest.mark.parametrize(("code", "rounds"), [("repeated(model, x, 3)", "range(n)"), ("doubled(model, x)", "")])
def test_a_number_of_rounds_stays_a_number(evidence: Evidence, code: str, rounds: str) -> None:
    seen = replace(evidence, code=code, inputs=(MODEL,))
    called = called_function(seen, 100, most_unrolled=200)
    assert called is not None
    remedy, _ = compile_called(called, seen)
    assert remedy.facts["rounds"] == rounds
    assert ("jax.lax.fori_loop" in str(remedy)) == bool(rounds)


def called(executable: Any, library: ModuleLibrary, *, eager: bool = True) -> Program:
    return Program(executable=executable(name="jit_tanh"), module=None, eager=eager, library=library)


def test_modules_that_the_code_makes_need_the_jit_of_their_library(evidence: Evidence, executable: Any) -> None:
    """Also where it reads a module of another library and calls none of that."""
    made = replace(evidence, programs=(called(executable, "nnx"), called(executable, "equinox", eager=False)))
    assert jit_of_modules(made) == "nnx.jit"
    assert jit_of_modules(replace(made, inputs=(MODEL,))) == "nnx.jit"
    assert advice(made, "model = Net()\ndoubled(model, x)") == "doubled = nnx.jit(doubled)"
    assert advice(evidence, "model = Net()\ndoubled(model, x)") is None
