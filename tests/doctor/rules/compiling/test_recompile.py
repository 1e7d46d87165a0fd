"""Functions that compile again are found, with code that makes them once; those that compile by design are not."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.compilation.record.compilation import Cause
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.compiling import padding, recompile
from jaxmagic.doctor.rules.compiling.recompile import RULE
from jaxmagic.doctor.rules.rewriting.bucket_sizes import buckets
from jaxmagic.records.note import note

X = np.linspace(0, 1, 10_000, dtype=np.float32).reshape(100, 100)


def found(fn: Any, *args: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(fn, *args, only=["recompile"]).findings)


def the_one(fn: Any, *args: Any) -> RuleFinding:
    (finding,) = found(fn, *args)
    return finding


def run_pasted(code: str | None, call: str, **names: Any) -> Any:
    """Run code to paste, and call what it defines twice; return the result, and what the second call compiled."""
    assert code is not None
    namespace = {"jax": jax, "jnp": jnp, "np": np, "partial": partial, "x": X, **names}
    exec(code, namespace)
    eval(call, namespace)
    with jaxmagic.stopwatch() as watch:
        value = eval(call, namespace)
    return value, len(watch.timing.compilations)


def step_with_a_lambda(x: Any) -> Any:
    # what a user writes
    g = jax.jit(lambda y: jnp.sin(y) @ y)
    return g(x)


def step_with_an_inline_lambda(x: Any) -> Any:
    for _ in range(3):
        x = jax.jit(lambda y: jnp.sin(y) @ y)(x)
    return x


def step_with_a_decorated_function(x: Any) -> Any:
    @jax.jit
    def g(y: Any) -> Any:
        return jnp.cos(y * 2)

    return g(x)


def loss(w: Any, x: Any) -> Any:
    return jnp.sum(jnp.sin(w * x))


def step_with_a_gradient(x: Any) -> Any:
    return jax.jit(jax.grad(loss))(x, x)


def gradient_of(fn: Any, x: Any) -> Any:
    return jax.jit(jax.grad(fn))(x, x)


@pytest.mark.parametrize(
    ("code", "new", "line"),
    [
        ("jax.jit(jax.grad(loss))(X, X)", "jax.grad(loss)", "cell 3:2"),
        ("gradient_of(loss, X)", "jit is given", "test_"),
    ],
)
def test_what_is_new_is_what_jit_is_given(session: Session, code: str, new: str, line: str) -> None:
    """The function that ``jax.grad`` is given is the same each time."""
    session.shell.user_ns |= {"jax": jax, "loss": loss, "gradient_of": gradient_of, "X": X}
    (finding,) = session.run(f"%%jaxdoctor -o --only recompile\nfound = {code}").findings
    assert f" because {new} " in str(finding.found)
    assert str(finding.line).rpartition("/")[2].startswith(line)


def step_with_a_partial(x: Any) -> Any:
    return jax.jit(partial(loss, x=2.0))(x)


def step_with_a_closure(x: Any) -> Any:
    scale = x.sum()

    @jax.jit
    def g(y: Any) -> Any:
        return y * scale

    return g(x)


FACTOR = 3.0


def step_that_reads_a_variable(x: Any) -> Any:
    return jax.jit(lambda y: y * FACTOR)(x)


@pytest.mark.parametrize(
    ("step", "new"),
    [
        (step_with_a_lambda, "it"),
        (step_with_an_inline_lambda, "it"),
        (step_with_a_decorated_function, "it"),
        (step_with_a_gradient, "jax.grad(loss)"),
        (step_with_a_partial, "partial(loss, x=2.0)"),
    ],
)
def test_pasted_code_compiles_once_and_computes_the_same(step: Any, new: str) -> None:
    finding = the_one(step, X)
    assert f" because {new} is a new function object each time." in str(finding.found)
    assert finding.per == "run"
    assert finding.basis == "measured"
    value, compiled = run_pasted(finding.code, f"{step.__name__}(x)", loss=loss, Any=Any)
    assert compiled == 0
    np.testing.assert_array_equal(value, step(X))


def doubled(x: Any) -> Any:
    return 2 * x


jitted_doubled_once = doubled


def assigns_a_name_that_is_there(x: Any) -> Any:
    doubled = jax.jit(lambda y: y + y)
    return doubled(x)


def defines_a_name_that_is_there(x: Any) -> Any:
    @jax.jit
    def doubled(y: Any) -> Any:
        return y + y

    return doubled(x)


def doubled_once(x: Any) -> Any:
    return jax.jit(lambda y: y + y)(x)


@pytest.mark.parametrize("step", [assigns_a_name_that_is_there, defines_a_name_that_is_there, doubled_once])
def test_no_code_replaces_what_has_the_same_name_outside(step: Any) -> None:
    finding = the_one(step, X)
    assert finding.code is None
    assert str(finding.remedy).startswith("Define and jit the function once, outside")


def test_the_line_is_where_the_function_is_jitted() -> None:
    assert the_one(step_with_a_lambda, X).source == "g = jax.jit(lambda y: jnp.sin(y) @ y)"
    assert the_one(step_with_a_partial, X).source == "return jax.jit(partial(loss, x=2.0))(x)"


def test_a_closure_over_a_local_array_is_to_be_passed_and_not_moved() -> None:
    finding = the_one(step_with_a_closure, X)
    assert finding.code is None
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_pass"
    assert finding.remedy.facts["names"] == "scale"


def test_arrays_of_one_type_are_no_difference_that_is_listed() -> None:
    finding = the_one(lambda x: [jax.jit(lambda y: y * batch)(x) for batch in (jnp.asarray(x), x + jnp.ones(()))], X)
    assert "batch: f32" not in " ".join(map(str, finding.evidence))
    assert finding.remedy is not None
    assert finding.remedy.facts["names"] == "batch"


def test_what_a_function_reads_that_is_jitted_by_its_name_is_to_be_passed() -> None:
    def jits_by_name(x: Any) -> Any:
        out = []
        for k in range(3):

            def scaled(v: Any) -> Any:
                return jnp.sin(v) * k

            out.append(jax.jit(scaled)(x))
        return out

    found = the_one(jits_by_name, X)
    assert found.code is None
    *differs, reads = map(str, found.evidence)
    assert (differs[:2], reads) == (["k: 1 after 0.", "k: 2 after 1."], "It reads k from the code around it.")
    assert found.remedy is not None
    assert (found.remedy.kind, found.remedy.facts["names"]) == ("doctor.recompile_pass", "k")


class Scaled:
    def __init__(self, rate: float) -> None:
        self.rate = rate
        self.jitted = jax.jit(self.scale)

    def scale(self, x: Any) -> Any:
        return jnp.sin(x) @ x * self.rate


@pytest.mark.parametrize(
    ("rates", "differs", "remedy"),
    [
        (
            (2.0, 3.0),
            ["self.rate: 3.0 after 2.0."],
            "the function once, and pass self.rate as an argument, if no shape, axis",
        ),
        ((2.0, 2.0), [], "one function that gets self.rate as an argument, outside the class."),
    ],
)
def test_what_differs_between_new_objects_is_to_be_passed(
    rates: tuple[float, ...], differs: list[str], remedy: str
) -> None:
    """Later runs compile for the same values once more."""

    def scales(x: Any) -> Any:
        return [Scaled(each).jitted(x) for each in rates]

    found = the_one(scales, X)
    *differing, reads = dict.fromkeys(map(str, found.evidence))
    assert (differing, reads) == (differs, "It reads self from the code around it.")
    assert str(found.remedy).startswith(f"Define and jit {remedy}")


class Transformation(NamedTuple):
    """A pair of functions, as optimizers of optax are: it is compared by them, and they by identity."""

    init: Callable[[Any], Any]
    update: Callable[[Any], Any]


def descent(rate: float) -> Transformation:
    return Transformation(lambda x: x, lambda x: x - rate * x)


@pytest.mark.parametrize("rates", [(0.1, 0.2, 0.3), (0.1, 0.1, 0.1)])
def test_what_differs_in_a_run_is_told_apart_from_what_is_the_same_in_the_next(rates: tuple[float, ...]) -> None:
    update = jax.jit(lambda optimizer, x: optimizer.update(x), static_argnums=0)

    def step(x: Any) -> Any:
        for rate in rates:
            x = update(descent(rate), x)
        return x

    finding = the_one(step, X)
    told = {each.kind: str(each) for each in finding.evidence}
    same = "argument optimizer has the same content in new objects, which compare by identity"
    if len({*rates}) == 1:
        assert told["doctor.recompile_reason"].startswith(f"Static {same}")
        assert "doctor.recompile_within" not in told
        return
    assert "doctor.recompile_reason" not in told
    assert told["doctor.recompile_within"] == (
        "In one run, static argument optimizer is a different object with a different optimizer.update.rate: "
        "0.3 now, 0.2 before."
    )
    assert told["doctor.recompile_between"].startswith(f"From run to run, static {same}")


def test_a_function_that_is_jitted_by_its_name_and_reads_nothing_is_not_read_itself() -> None:
    def jits_by_name(x: Any) -> Any:
        def squared(v: Any) -> Any:
            return jnp.sin(v) @ v

        return jax.jit(squared)(x)

    found = the_one(jits_by_name, X)
    assert (found.code, found.evidence) == (None, ())
    assert str(found.remedy).startswith("Define and jit the function once, outside")


def test_a_value_that_a_default_keeps_is_to_be_passed_and_not_moved() -> None:
    def jits_with_default(x: Any) -> Any:
        out = []
        for k in range(3):
            f = jax.jit(lambda v, k=k: jnp.sin(v) * k)
            out.append(f(x))
        return out

    found = the_one(jits_with_default, X)
    assert found.code is None
    assert found.remedy is not None
    assert found.remedy.facts["names"] == "k"


def test_a_function_that_reads_a_variable_of_the_module_is_not_moved() -> None:
    finding = the_one(step_that_reads_a_variable, X)
    assert finding.code is None


def test_a_function_that_calls_a_local_function_is_not_moved() -> None:
    def step(f: Any, x: Any) -> Any:
        return jax.jit(lambda y: f(y))(x)

    finding = the_one(step, jnp.sin, X)
    assert finding.code is None
    assert [each.facts for each in finding.evidence] == [{"names": "f"}]
    assert finding.remedy is not None
    assert str(finding.remedy) == (
        "Define and jit one function for each value of f, outside the loop or the cell that runs again, and keep "
        "them in a dictionary if there are several: a single function would keep the first value. Or pass f as an "
        'argument. f is a function, so declare it static: static_argnames="f". Pass the same function each time: a '
        "new one compiles again."
    )


def test_a_function_that_calls_another_one_in_each_round_is_to_be_made_for_each() -> None:
    def calls(x: Any) -> Any:
        return [jax.jit(lambda v: fn(v @ v))(x) for fn in (jnp.sin, jnp.tanh)]

    def loops(x: Any) -> Any:
        out = []
        for fn in (jnp.sin, jnp.tanh):
            out.append(jax.jit(lambda v: fn(v @ v))(x))
        return out

    for each in (calls, loops):
        finding = the_one(each, X)
        assert finding.code is None
        assert finding.remedy == note(
            "doctor.recompile_each", names="fn", optimizers="", optimizer="", static="fn: function"
        )


def loss_of(p: Any, x: Any) -> Any:
    return jnp.mean((x @ p) ** 2)


def step_of(fn: Any, rate: float, reduction: str) -> Any:
    def update(p: Any, x: Any) -> Any:
        gradient = jax.grad(fn)(p, x)
        return p - rate * (gradient if reduction == "none" else gradient.mean())

    return jax.jit(update)


def test_functions_and_strings_are_to_be_passed_as_static_arguments() -> None:
    def train(x: Any) -> Any:
        p = jnp.ones(100)
        for rate in (0.1, 0.2, 0.3):
            p = step_of(loss_of, rate, "none")(p, x)
        return p

    finding = the_one(train, X)
    assert finding.remedy is not None
    assert {**finding.remedy.facts} == {
        "names": "fn, rate, reduction",
        "static": "fn: function, reduction: string",
    }
    assert str(finding.remedy) == (
        "Define and jit it once, outside, and pass fn, rate, reduction as arguments. fn is a function and reduction "
        'is a string, so declare them static: static_argnames=("fn", "reduction"). Pass the same function each time: '
        "a new one compiles again. Declare rate static if a shape or a Python if depends on it."
    )

    @partial(jax.jit, static_argnames=("fn", "reduction"))
    def update(p: Any, x: Any, fn: Any, rate: Any, reduction: str) -> Any:
        return p - rate * jax.grad(fn)(p, x)

    def as_advised(x: Any) -> Any:
        p = jnp.ones(100)
        for rate in (0.1, 0.2, 0.3):
            p = update(p, x, loss_of, rate, "none")
        return p

    assert found(as_advised, X) == []


def test_a_function_in_one_program_and_an_array_in_another_is_of_no_known_kind() -> None:
    def scaled(by: Any) -> Any:
        return jax.jit(lambda v: v @ v * (jnp.sum(v) if callable(by) else by))

    finding = the_one(lambda x: [scaled(by)(x) for by in (jnp.sin, 2.0, 3.0)], X)
    assert finding.remedy is not None
    assert "static" not in finding.remedy.facts


def test_a_local_object_that_is_called_is_not_to_be_passed() -> None:
    optax = pytest.importorskip("optax")

    def train(x: Any) -> Any:
        optimizer = optax.sgd(0.1)

        @jax.jit
        def update(x: Any) -> Any:
            return optimizer.update(x, optimizer.init(x))[0]

        return update(x)

    finding = the_one(train, X)
    assert finding.code is None
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_each"


def test_the_call_of_a_library_that_makes_a_loop_is_to_be_jitted(tmp_path: Path, monkeypatch: Any) -> None:
    package = tmp_path / "site-packages" / "solvers_of_others"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import jax\n"
        "def solve(x):\n    return _iterate(lambda y: y * 2, x)\n"
        "def _iterate(f, x):\n"
        "    return jax.lax.while_loop(lambda y: y.sum() < 1e3, lambda y: f(y) @ y, x)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import solvers_of_others  # type: ignore[import-not-found]

    def step(x: Any) -> Any:
        return solvers_of_others.solve(x)

    finding = the_one(step, X)
    assert finding.remedy == note("doctor.recompile_in_library", library="solvers_of_others.solve", static=0)
    assert found(jax.jit(step), X) == []


def test_loops_of_a_library_are_found_in_code_that_runs_only_once(tmp_path: Path, monkeypatch: Any) -> None:
    package = tmp_path / "site-packages" / "samplers_of_others"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import jax\n"
        "def move(x):\n"
        "    return jax.lax.scan(lambda y, _: (jax.numpy.sin(y @ y), None), x, None, length=7)[0]\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import samplers_of_others  # type: ignore[import-not-found]

    held = {"state": X}

    def walk() -> None:
        for _ in range(8):
            held["state"] = samplers_of_others.move(held["state"])

    diagnosis = jaxmagic.diagnose(walk, only=["recompile"])
    assert len(diagnosis.warm) == 0
    (finding,) = diagnosis.findings
    assert finding.remedy == note("doctor.recompile_in_library", library="samplers_of_others.move", static=0)
    assert (finding.per, finding.found.facts["function"]) == ("first run", "scan")


@pytest.fixture
def collectors(tmp_path: Path, monkeypatch: Any) -> Any:
    """A library with a jitted loop whose body is static, and that makes the body anew in each call."""
    package = tmp_path / "site-packages" / "collectors_of_others"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "from functools import partial\n"
        "import jax\n"
        "@partial(jax.jit, static_argnums=0)\n"
        "def collect(body, x):\n    return jax.lax.fori_loop(0, 3, lambda _, y: body(y), x)\n"
        "def fit(x):\n    return collect(lambda y: y @ y + 1, x)\n"
        "def fit_to(x):\n    data = x + 1\n    return collect(lambda y: y @ y + data, x)\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    return importlib.import_module("collectors_of_others")


@pytest.mark.parametrize("name", ["fit", "fit_to"])
def test_the_call_of_a_library_that_makes_a_static_function_is_to_be_jitted(name: str, collectors: Any) -> None:
    def step(x: Any) -> Any:
        return getattr(collectors, name)(x)

    finding = the_one(step, X)
    library = f"collectors_of_others.{name}"
    assert finding.remedy == note("doctor.recompile_in_library", library=library, static=1)
    assert str(finding.remedy).startswith(f"{library} makes a function anew in each call, and jits with it")
    assert str(finding.remedy).endswith("So this pays off only if you call the function several times in a session.")
    assert found(jax.jit(step), X) == []


def test_one_program_of_a_jitted_call_serves_all_static_functions_of_a_library(collectors: Any) -> None:
    def step(x: Any) -> Any:
        return [collectors.fit_to(x + number) for number in range(3)]

    finding = the_one(step, X)
    assert finding.found.facts["programs"] == 3
    assert len(finding.compiles) == 2  # one is needed
    assert "object 0x" not in " ".join(map(str, finding.evidence))


def test_a_static_function_that_the_users_code_passes_to_a_library_is_the_users(collectors: Any) -> None:
    def step(x: Any) -> Any:
        return collectors.collect(lambda y: y @ y, x)

    finding = the_one(step, X)
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_remedy"


def test_a_function_that_a_library_jits_anew_is_not_the_users(tmp_path: Path, monkeypatch: Any) -> None:
    package = tmp_path / "site-packages" / "optimizers_of_others"
    package.mkdir(parents=True)
    (package / "__init__.py").write_text(
        "import jax\n"
        "class Optimizer:\n"
        "    def __init__(self, f):\n        self.f, self.update = f, jax.jit(self.update)\n"
        "    def update(self, x):\n        return self.f(x) @ x\n"
    )
    monkeypatch.syspath_prepend(str(package.parent))
    import optimizers_of_others  # type: ignore[import-not-found]

    def step(x: Any) -> Any:
        optimizer = optimizers_of_others.Optimizer(jnp.sin)
        return optimizer.update(x)

    finding = the_one(step, X)
    assert finding.source == "return optimizer.update(x)"
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_in_library"
    assert found(jax.jit(step), X) == []


def test_a_loop_of_the_users_own_is_not_that_of_a_library() -> None:
    def step(x: Any) -> Any:
        return jax.lax.while_loop(lambda y: y.sum() < 1e3, lambda y: y * 2 @ y, x)

    remedy = the_one(step, X).remedy
    assert remedy is not None
    assert remedy.kind == "doctor.recompile_remedy"


def test_a_model_of_flax_that_is_jitted_in_a_step_is_found() -> None:
    nn = pytest.importorskip("flax.linen")
    model = nn.Dense(10)
    params = model.init(jax.random.key(0), X)

    def step(params: Any, x: Any) -> Any:
        return jax.jit(lambda p, x: model.apply(p, x))(params, x)

    finding = the_one(step, params, X)
    assert finding.per == "run"
    assert finding.source == "return jax.jit(lambda p, x: model.apply(p, x))(params, x)"


def test_a_function_jitted_by_equinox_in_a_step_is_found() -> None:
    eqx = pytest.importorskip("equinox")

    def step(x: Any) -> Any:
        @eqx.filter_jit
        def g(y: Any) -> Any:
            return jnp.cos(y * 2)

        return g(x)

    assert the_one(step, X).per == "run"


def test_sizes_of_a_function_jitted_by_equinox_are_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    eqx = pytest.importorskip("equinox")

    @eqx.filter_jit
    def center(y: Any) -> Any:
        return y - jnp.tanh(y).mean(0)

    def step(y: Any) -> None:
        for size in range(101, 106):
            center(y[:size])

    diagnosis = jaxmagic.diagnose(step, np.ones((200, 8), np.float32), only=["recompile"])
    assert not any(each.kind == "doctor.rule_failed" for each in diagnosis.notes)
    (finding,) = diagnosis.findings
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_pad"
    assert finding.code is not None
    assert "np.pad(" in finding.code


def long_step(x: Any) -> Any:
    a = x + 1
    b = a + 1
    c = b + 1
    d = c + 1
    e = d + 1
    g = jax.jit(lambda y: jnp.sin(y) @ y)
    x = g(e)
    x = x + 1
    x = x + 1
    x = x + 1
    return x + a


def test_of_a_long_function_only_what_changes_is_printed() -> None:
    finding = the_one(long_step, X)
    line = long_step.__code__.co_firstlineno + 6
    assert finding.code == f"g = jax.jit(lambda y: jnp.sin(y) @ y)\n\n# Then remove line {line} of long_step."
    exec(finding.code, {"jax": jax, "jnp": jnp})


def test_code_for_a_test_defines_no_other_test() -> None:
    def test_step(x: Any) -> Any:
        return jax.jit(lambda y: jnp.sin(y) @ y)(x)

    code = the_one(test_step, X).code
    assert code is not None
    assert code.startswith("jitted_test_")  # it is moved out of the outermost function, which is this one


def long_step_inline(x: Any) -> Any:
    a = x + 1
    b = a + 1
    c = b + 1
    d = c + 1
    e = d + 1
    x = jax.jit(lambda y: jnp.sin(y) @ y)(e)
    x = x + 1
    x = x + 1
    x = x + 1
    x = x + 1
    return x + a


def test_of_a_long_function_the_line_that_changes_is_printed() -> None:
    finding = the_one(long_step_inline, X)
    line = long_step_inline.__code__.co_firstlineno + 6
    assert finding.code == (
        "jitted_long_step_inline = jax.jit(lambda y: jnp.sin(y) @ y)\n\n"
        f"# Then line {line} of long_step_inline becomes:\n#     x = jitted_long_step_inline(e)"
    )


def loss_with_a_lambda(w: Any, x: Any) -> Any:
    for _ in range(3):
        x = jax.jit(lambda a, b: jnp.tanh(a @ b))(x, w)
    return x.sum()


def test_a_function_made_in_a_loop_below_a_gradient_is_to_be_made_once() -> None:
    finding = the_one(lambda w, x: jax.grad(loss_with_a_lambda)(w, x), X, X)
    assert finding.found.facts["cause"] == "transformation"
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_once"
    value, compiled = run_pasted(finding.code, "jax.grad(loss_with_a_lambda)(x, x)", Any=Any)
    assert compiled == 0
    np.testing.assert_allclose(value, jax.grad(loss_with_a_lambda)(X, X), rtol=1e-5)


def test_the_whole_gradient_jitted_once_compiles_once() -> None:
    assert found(jax.jit(jax.grad(loss_with_a_lambda)), X, X) == []


class Settings:
    rate = 2.0


@partial(jax.jit, static_argnames="settings")
def with_settings(x: Any, settings: Settings) -> Any:
    return jnp.tanh(x * settings.rate) @ x


def test_a_new_object_as_a_static_argument_is_named() -> None:
    finding = the_one(lambda x: [with_settings(x, Settings()) for _ in range(3)], X)
    assert finding.per == "run"
    why, alive = map(str, finding.evidence)
    assert why.startswith("Static argument settings is a different object")
    assert alive.startswith("Programs pile up in memory: ")
    settings = Settings()
    assert found(lambda x: [with_settings(x, settings) for _ in range(3)], X) == []


class Slope:
    """Each run makes one of each rate, which differs from that of the run before in its array alone."""

    def __init__(self, rate: float) -> None:
        self.rate, self.w = rate, jnp.zeros(5)

    @partial(jax.jit, static_argnums=0)
    def step(self, w: Any, x: Any) -> Any:
        return w - self.rate * x[0, :5]


def test_what_differs_within_a_run_is_to_be_passed() -> None:
    finding = the_one(lambda x: [(slope := Slope(rate)).step(slope.w, x) for rate in (0.1, 0.2, 0.3)], X)
    assert str(finding.evidence[0]).endswith("a different self.rate: 0.3 now, 0.2 before.")
    assert "pass self.rate as an argument, if" in str(finding.remedy)  # step does not read self.w


def scaled(x: Any, by: float) -> Any:
    return x * by


@partial(jax.jit, static_argnums=0)
def masked(fn: Any, x: Any, mask: Any) -> Any:
    total = jnp.sin(fn(x)).sum()
    return total if mask is None else total * mask.sum()


def test_programs_of_a_static_object_made_anew_are_spared_with_it() -> None:
    """Made once, it compiles three programs, one for each type and structure of the other arguments."""
    floats, integers = np.ones(1000, np.float32), np.ones(1000, np.int32)

    def run(x: Any) -> list[Any]:
        by = partial(scaled, by=2.0)
        return [masked(by, floats, None), masked(by, integers, None), masked(by, floats, floats)]

    finding = the_one(run, X)
    assert finding.found.facts["programs"] == 3
    assert "3 times in every run: once for different static values, and twice for different types of arguments" in (
        str(finding.found)
    )
    once = partial(scaled, by=2.0)
    jax.clear_caches()
    with jaxmagic.stopwatch() as watch:
        for each in (floats, integers):
            masked(once, each, None)
        masked(once, floats, floats)
        masked(once, floats, None)
    assert len([each for each in watch.timing.compilations if each.function == "masked"]) == 3


class Agent:
    """Compiles its update for each length of an episode."""

    def __init__(self) -> None:
        self.w = jnp.ones(3)

    @partial(jax.jit, static_argnums=0)
    def update(self, w: Any, states: Any, rewards: Any) -> Any:
        return w - 0.1 * (jnp.tanh(states) * rewards[:, None]).mean(0)


def test_shapes_of_one_static_object_are_told_apart_from_the_object() -> None:
    lengths = (9, 12, 10, 15, 11, 14)

    def train() -> Any:
        agent = Agent()
        for length in lengths:
            agent.w = agent.update(agent.w, np.ones((length, 3), "f"), np.ones(length, "f"))
        return agent.w

    finding = the_one(train)
    assert str(finding.found) == (
        "update compiles 6 times in every run: once for different static values, and 5 times for different shapes."
    )
    assert str(finding.evidence[0]).startswith("Static argument self is a different object")
    sizes = "Axis 0 of states had 6 sizes. Powers of two (16) cover them, "
    told = [*map(str, finding.evidence)]
    assert "states: f32[14,3] after f32[11,3]." in told
    assert any(each.startswith(sizes) for each in told)
    assert str(finding.remedy).endswith(
        "Even then, the function compiles once for each shape of states, rewards: if that takes long, pad to a few "
        "shapes, and mask the padding where the result depends on it."
    )
    assert finding.compiles == ()  # the first run needs one for each shape
    agent = Agent()
    jax.clear_caches()
    for _ in range(2):
        for length in lengths:
            agent.update(agent.w, np.ones((length, 3), "f"), np.ones(length, "f"))
    assert Agent.update._cache_size() == len(lengths)  # as the report says of one object


class Net:
    """Jits its own methods in each call."""

    def __init__(self) -> None:
        self.w, self.scale = jnp.ones((100, 100)), 0.5

    def forward(self, x: Any) -> Any:
        return jnp.tanh(x @ self.w) * self.scale + self.w[0]

    def doubled(self, x: Any) -> Any:
        return 2 * self.forward(x)

    def by(self, x: Any, factor: float) -> Any:
        return jax.jit(lambda y: factor * self.forward(y))(x)

    def __call__(self, x: Any) -> Any:
        return jax.jit(self.forward)(x)

    def twice(self, x: Any) -> Any:
        return jax.jit(self.doubled)(x)


def test_a_method_that_is_jitted_anew_gets_what_it_reads_as_arguments() -> None:
    net = Net()
    finding = the_one(lambda x: net(x), X)
    assert finding.remedy is not None
    assert finding.remedy.kind == "doctor.recompile_method"
    assert str(finding.remedy) == (
        "Define and jit one function that gets self.w, self.scale as arguments, outside the class. A method that is "
        "jitted once, as in __init__, would keep the values that self has then."
    )
    net.w = net.w * 2
    assert jnp.array_equal(jax.jit(_forward)(net.w, net.scale, X), net(X))


def _forward(w: Any, scale: Any, x: Any) -> Any:
    """The method as it is advised."""
    return jnp.tanh(x @ w) * scale + w[0]


def test_a_method_that_calls_others_reads_what_they_do() -> None:
    net = Net()
    finding = the_one(lambda x: net.twice(x), X)
    assert str(finding.remedy).startswith("Define and jit one function that gets what doubled reads of self as arg")
    assert the_one(lambda x: net.by(x, 2.0), X).remedy.kind == "doctor.recompile_each"  # type: ignore[union-attr]


def test_shapes_of_a_function_that_is_made_anew_are_spared_with_it() -> None:
    def run(x: Any) -> list[Any]:
        return [(step := jax.jit(lambda x: jnp.tanh(x @ x.T)))(x) + step(x[:5]).sum() for _ in range(2)]

    finding = the_one(run, X)
    assert finding.found.facts["cause"] == "new function"
    assert finding.found.facts["programs"] == 4
    assert ": twice because it is a new function object each time, and twice for different sh" in str(finding.found)
    assert [*map(str, finding.evidence)] == ["x: f32[5,100] after f32[100,100]."]
    assert str(finding.remedy).endswith(
        "Even then, the function compiles once for each shape of x: if that takes long, pad to a few shapes, and "
        "mask the padding where the result depends on it."
    )
    assert len(finding.compiles) == 2  # the first run needs one for each shape

    sizes = iter(range(3, 100))

    def with_new_sizes(x: Any) -> list[Any]:
        jitted = [jax.jit(lambda x: jnp.tanh(x @ x.T)) for _ in range(2)]
        return [(step(x), step(np.ones((next(sizes), 3), "f"))) for step in jitted]

    diagnosis = jaxmagic.diagnose(with_new_sizes, X, only=["recompile"], repeat=True)
    causes = [each.found.facts["cause"] for each in diagnosis.findings]
    assert sorted(causes) == ["new function", "shape"]


@pytest.mark.parametrize(
    ("sizes", "ends"), [((5, 9, 9), " for each shape of x: if that takes long, pad to a few shapes"), ((9, 9), "")]
)
def test_shapes_of_functions_that_are_each_called_once_are_named(sizes: tuple[int, ...], ends: str) -> None:
    def run(x: Any) -> list[Any]:
        return [jax.jit(lambda x: jnp.tanh(x @ x.T))(x[:size]) for size in sizes]

    for _ in range(2):  # calls of earlier runs had the same shapes
        remedy = str(the_one(run, X).remedy)
        assert ("for each shape" in remedy, ends in remedy) == (bool(ends), True)


class Own(Settings):
    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)


def test_of_an_object_with_its_own_equality_it_is_said_that_none_was_equal() -> None:
    def run(x: Any) -> list[Any]:
        made = [Own(), Own()]
        made[1].rate = 3.0
        return [with_settings(x, each) for each in made]

    finding = the_one(run, X)
    if finding.found.facts["cause"] == "unknown":
        assert finding.remedy is None
        pytest.skip("this JAX gives no reason")
    assert str(finding.remedy).startswith("No settings of an earlier run was equal to this one.")


@jax.jit
def total(x: Any) -> Any:
    return jnp.sum(jnp.sin(x) @ x.T)


def test_lengths_that_vary_are_padded_to_powers_of_two() -> None:
    lengths = (17, 23, 31, 44, 57)
    batches = [np.ones((n, 8), np.float32) for n in lengths]
    total.clear_cache()
    finding = the_one(lambda: [total(x) for x in batches])
    assert finding.per == "first run"
    assert finding.basis == "estimated"
    sizes = next(each for each in finding.evidence if each.kind == "doctor.recompile_sizes")
    assert sizes.facts["sizes"] == "32, 64"
    assert sizes.facts["padding"] == pytest.approx((3 * 32 + 2 * 64) / sum(lengths) - 1)
    # The code to paste makes two programs of five.
    assert finding.code is not None
    total.clear_cache()
    with jaxmagic.stopwatch() as watch:
        for x in batches:
            namespace = {"np": np, "x": x}
            exec(finding.code, namespace)
            total(namespace["x"])
    assert [each.function for each in watch.timing.compilations] == ["total", "total"]


def test_an_array_that_grows_outside_of_jit_compiles_for_each_size(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    jax.clear_caches()  # other tests may append to arrays of the same sizes

    def grow(x: Any) -> Any:
        rows = jnp.zeros((0, 37))
        for _ in range(12):
            rows = jnp.concatenate([rows, x])  # grows
        return rows

    findings = found(grow, jnp.ones((1, 37)))
    finding = next(each for each in findings if each.found.facts["function"] == "concatenate")
    assert finding.source == "rows = jnp.concatenate([rows, x])  # grows"
    assert finding.per == "first run"
    assert finding.remedy == note("doctor.recompile_one_size")
    assert finding.code is None


def test_an_operation_outside_of_jit_on_a_few_shapes_is_by_design() -> None:
    assert found(lambda: [jnp.cosh(jnp.ones((n, 29))) for n in (2, 3, 5, 8)]) == []


def test_a_loop_of_jax_whose_body_is_made_anew_is_found_at_its_call() -> None:
    def roll(x: Any) -> Any:
        return jax.lax.scan(lambda c, _: (jnp.sin(c), None), x, None, length=5)  # anew

    finding = the_one(roll, jnp.ones(3))
    assert finding.source is not None
    assert finding.source.endswith("# anew")
    assert "scan compiles once in every run because it is given a new function object" in str(finding.found)


def test_sizes_that_the_session_has_compiled_before_are_counted_as_well(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)

    @jax.jit
    def squares(x: Any) -> Any:
        return jnp.sum(x * x)

    with jaxmagic.stopwatch():
        for n in (9, 70, 100):
            squares(np.ones((n, 8), np.float32))
    finding = the_one(lambda: [squares(np.ones((n, 8), np.float32)) for n in (17, 23, 31, 44, 57)])
    (sizes,) = [each for each in finding.evidence if each.kind == "doctor.recompile_sizes"]
    assert str(sizes).startswith(
        "Axis 0 of x had 8 sizes, 3 of them only in earlier calls. Powers of two (16, 32, 64, 128) cover all sizes, "
        "with "
    )
    assert sizes.facts["padding"] == pytest.approx((16 + 3 * 32 + 2 * 64 + 2 * 128) / (9 + 70 + 100 + 172) - 1)


@pytest.mark.parametrize("used", [False, True], ids=["before only", "again"])
@pytest.mark.parametrize("observed", [False, True])
@pytest.mark.parametrize("measured", [False, True])
def test_a_size_that_was_compiled_before_may_be_one_of_the_code(
    used: bool, observed: bool, measured: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    if not observed:
        monkeypatch.setattr(padding, "programs_of", lambda group, evidence: [])

    @jax.jit
    def waves(x: Any) -> Any:
        return jnp.sum(jnp.sin(x) * x)

    with jaxmagic.stopwatch() if measured else nullcontext():
        waves(np.ones((13, 8), np.float32))
    sizes = (17, 23, 31, 44, *([13] if used else []), 57)
    finding = the_one(lambda: [waves(np.ones((n, 8), np.float32)) for n in sizes])
    (told,) = [each for each in finding.evidence if each.kind == "doctor.recompile_sizes"]
    words, _, rest = str(told).partition(" Powers of two ")
    if not observed:
        assert words == (
            "Axis 0 of x had 6 sizes, 1 of them in earlier calls. Nothing was compiled for this size now, so it is "
            "unknown whether the code has it as well."
        )
    elif used:
        assert words == "Axis 0 of x had 6 sizes."
    else:
        assert words == "Axis 0 of x had 6 sizes, 1 of them only in earlier calls."
    assert rest.startswith(f"(16, 32, 64) cover {'them' if observed and used else 'all sizes'}, with ")


def test_shapes_of_the_session_that_differ_in_another_axis_are_left_out(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)

    @jax.jit
    def cubes(x: Any) -> Any:
        return jnp.sum(x * x * x)

    with jaxmagic.stopwatch():
        for shape in ((9, 8), (9, 7)):
            cubes(np.ones(shape, np.float32))
    finding = the_one(lambda: [cubes(np.ones((n, 8), np.float32)) for n in (17, 23, 31, 44, 57)])
    (sizes,) = [each for each in finding.evidence if each.kind == "doctor.recompile_sizes"]
    assert str(sizes).startswith("Axis 0 of x had 6 sizes, 1 of them only in earlier")
    assert sizes.facts["sizes"] == "16, 32, 64"


@jax.jit
def attend(query: Any, keys: Any, values: Any) -> Any:
    return jax.nn.softmax(query @ keys.T) @ values.T


def test_arguments_that_vary_together_are_padded_together() -> None:
    lengths = (17, 23, 31, 44, 57)
    calls = [(np.ones((3, 8), np.float32), np.ones((n, 8), np.float32), np.ones((8, n), np.float32)) for n in lengths]
    attend.clear_cache()
    finding = the_one(lambda: [attend(*each) for each in calls])
    assert finding.code is not None
    attend.clear_cache()
    with jaxmagic.stopwatch() as watch:
        for query, keys, values in calls:
            namespace = {"np": np, "keys": keys, "values": values}
            exec(finding.code, namespace)
            assert attend(query, namespace["keys"], namespace["values"]).shape == (3, 8)
    assert [each.function for each in watch.timing.compilations] == ["attend", "attend"]


def test_padding_has_the_names_at_the_call() -> None:
    sequences = [np.ones((n, 8), np.float32) for n in (17, 23, 31, 44, 57)]

    def run() -> list[Any]:
        return [total(sequence) for sequence in sequences]

    total.clear_cache()
    code = the_one(run).code
    assert code is not None
    assert code.splitlines()[-1] == "sequence = np.pad(sequence, [(0, size - n), (0, 0)])"


def test_padding_assigns_no_variable_of_the_code() -> None:
    def run() -> list[Any]:
        found, n, size = [], 7, 9
        for length in (17, 23, 31, 44, 57):
            x = np.ones((length, 8), np.float32)
            found += [total(x), n, size]
        return found

    total.clear_cache()
    code = the_one(run).code
    assert code is not None
    assert code.splitlines()[0] == "own_size = x.shape[0]"
    assert code.splitlines()[-1] == "x = np.pad(x, [(0, padded_size - own_size), (0, 0)])"


def test_of_two_calls_on_a_line_it_is_unknown_what_is_padded() -> None:
    def run() -> list[Any]:
        x = np.ones((8, 8), np.float32)
        found = []
        for rows in (17, 23, 31, 44, 57):
            found.append(total(x)); found.append(total(np.ones((rows, 8), np.float32)))  # noqa: E702  # fmt: skip
        return found

    total.clear_cache()
    code = the_one(run).code
    assert code is not None
    assert code.splitlines()[:2] == ["# padded_x is what total gets as x", "n = padded_x.shape[0]"]


@pytest.mark.parametrize("computed", [False, True])
def test_padding_begins_with_what_the_call_computes(computed: bool) -> None:
    def sizes() -> list[Any]:
        return [total(np.ones((size, 8), np.float32)) for size in (17, 23, 31, 44, 57)]

    def parts(x: Any) -> list[Any]:
        return [total(x[:size]) for size in (17, 23, 31, 44, 57)]

    x = np.ones((64, 8), np.float32)
    total.clear_cache()
    code = the_one((lambda: parts(x)) if computed else sizes).code
    assert code is not None
    text = "x[:size]" if computed else "np.ones((size, 8), np.float32)"
    assert code.splitlines()[0] == f"padded_x = np.asarray({text})  # pass this to total"
    names = {"np": np, "x": x, "size": 23}
    exec(code, names)
    assert names["padded_x"].shape == (32, 8)


@jax.jit
def aggregate(weights: Any, nodes: Any, senders: Any) -> Any:
    return jnp.sum(nodes[senders] @ weights)


def graphs_of(*sizes: tuple[int, int]) -> list[tuple[Any, Any]]:
    return [(np.ones((n, 8), np.float32), np.zeros(edges, np.int32)) for n, edges in sizes]


@pytest.mark.parametrize(
    ("sizes", "nodes", "senders", "needed"),
    [
        # By hand: of six pairs of sizes, the powers of two are (16, 64) four times and (32, 64) twice.
        ([(11, 33), (13, 39), (15, 45), (15, 48), (18, 49), (19, 54)], "16, 32", "64", 2),
        # (16, 32), (16, 64) and (32, 64) twice are more than half of four: with the largest sizes, one program does.
        ([(10, 30), (14, 42), (17, 51), (20, 60)], "32", "64", 1),
    ],
)
def test_arguments_that_vary_on_their_own_are_padded_on_their_own(
    monkeypatch: pytest.MonkeyPatch, sizes: list[tuple[int, int]], nodes: str, senders: str, needed: int
) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    graphs, weights = graphs_of(*sizes), np.ones(8, np.float32)
    aggregate.clear_cache()
    finding = the_one(lambda: [aggregate(weights, *each) for each in graphs])
    said = [(each.facts["argument"], each.facts["sizes"]) for each in finding.evidence if "sizes" in each.facts]
    assert said == [("nodes", nodes), ("senders", senders)]
    assert f"they had {len(sizes)} combinations of sizes" in str(finding.evidence[-1])
    assert "a padded 0 in senders is the first element" in str(finding.remedy)
    assert finding.basis == "estimated"
    assert finding.code is not None
    aggregate.clear_cache()
    with jaxmagic.stopwatch() as watch:
        for each, edges in graphs:
            namespace = {"np": np, "nodes": each, "senders": edges}
            exec(finding.code, namespace)
            aggregate(weights, namespace["nodes"], namespace["senders"])
    assert [each.function for each in watch.timing.compilations] == ["aggregate"] * needed


def test_sizes_on_their_own_whose_combinations_stay_many_are_not_padded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 1)
    graphs, weights = graphs_of((5, 90), (6, 30), (12, 33), (24, 70)), np.ones(8, np.float32)
    aggregate.clear_cache()
    assert found(lambda: [aggregate(weights, *each) for each in graphs]) == []


@partial(jax.jit, static_argnames="rate")
def update(x: Any, rate: float) -> Any:
    return x * rate


def test_a_static_number_that_decides_nothing_is_found() -> None:
    update.clear_cache()
    finding = the_one(lambda: [update(X, rate) for rate in (0.1, 0.2, 0.3, 0.4, 0.5)])
    assert finding.per == "first run"
    assert finding.remedy == note("doctor.recompile_traced", function="update", argument="rate")


# Clean programs


@partial(jax.jit, static_argnames="times")
def repeat(x: Any, times: int) -> Any:
    return jnp.tile(x, times)


@jax.jit
def layer(x: Any, w: Any) -> Any:
    return jnp.tanh(x @ w)


@jax.jit
def evaluate(x: Any) -> Any:
    return jnp.tanh(x).sum()


@partial(jax.jit, static_argnames="kind")
def activate(x: Any, kind: str) -> Any:
    return getattr(jax.nn, kind)(x)


def layers_of_different_sizes() -> Any:
    sizes = (784, 300, 200, 150, 70, 10)
    x = np.ones((8, 784), np.float32)
    for ins, outs in pairwise(sizes):
        x = layer(x, np.ones((ins, outs), np.float32))
    return x


def step_with_one_jitted_function(x: Any) -> Any:
    return [evaluate(x) for _ in range(10)]


@pytest.mark.parametrize(
    "run",
    [
        lambda: step_with_one_jitted_function(X),
        lambda: [evaluate(x) for x in (X, X[:50])],  # training and evaluation
        lambda: [repeat(X, times) for times in (1, 2, 3, 4, 5)],  # decides on a shape
        lambda: [activate(X, kind) for kind in ("relu", "gelu", "silu", "elu", "selu")],
        layers_of_different_sizes,
        lambda: [evaluate(X.astype(dtype)) for dtype in ("float32", "float16", "int32", "int8", "bfloat16")],
        lambda: [evaluate(np.ones(2**n, np.float32)) for n in range(6, 12)],  # powers of two already
        lambda: [jax.jit(evaluate)(X) for _ in range(3)],
    ],
)
def test_what_compiles_once_by_design_is_no_finding(run: Any) -> None:
    for each in (evaluate, repeat, layer, activate):
        each.clear_cache()
    assert found(run) == []


# Borders


@pytest.fixture
def seen(timing: Any, compilation: Any) -> Any:
    """Make evidence of compilations with one kind of cause and one duration."""

    def make(kind: Any, total_ns: int, *, first: int = 0, later: Sequence[int] = (), **cause: Any) -> Evidence:
        why = Cause(kind=kind, reason="why", **{"remedy": "do this", **cause})
        each = compilation(cause=why, tracing_ns=0, lowering_ns=0, compilation_ns=total_ns)
        runs = [timing(*[each] * count) for count in later] or [timing()]
        return Evidence(code="f(x)", first=timing(*[each] * first), observed=runs[0], timed=tuple(runs[1:]))

    return make


def test_what_only_some_later_runs_compile_is_not_said_of_every_run(seen: Any) -> None:
    assert [each.per for each in RULE.look(seen("shape", 10**8, later=(1, 1, 1)))] == ["run"]
    assert list(RULE.look(seen("shape", 10**8, later=(1, 0, 1)))) == []
    assert list(RULE.look(seen("shape", 10**8, later=(0, 1, 1)))) == []


def test_compilations_in_the_first_run_count_from_three_on_and_from_50_ms_on(seen: Any) -> None:
    assert len(list(RULE.look(seen("pytree", 20 * 10**6, first=3)))) == 1
    assert list(RULE.look(seen("pytree", 16 * 10**6, first=3))) == []
    assert list(RULE.look(seen("pytree", 20 * 10**8, first=2))) == []
    assert list(RULE.look(seen("dtype", 10**9, first=9))) == []
    assert len(list(RULE.look(seen("weak type", 25 * 10**6, first=2)))) == 1
    assert list(RULE.look(seen("weak type", 24 * 10**6, first=2))) == []


def test_a_function_made_anew_counts_from_the_second_time_on(seen: Any) -> None:
    assert len(list(RULE.look(seen("new function", 25 * 10**6, first=2)))) == 1
    assert list(RULE.look(seen("new function", 24 * 10**6, first=2))) == []
    assert list(RULE.look(seen("new function", 10**9, first=1))) == []


def test_one_compilation_for_a_weak_type_counts_from_500_ms_on(seen: Any) -> None:
    def after_a_first_call(kind: str, total_ns: int) -> list[float | None]:
        once = seen(kind, total_ns, first=1)
        (each,) = once.first.compilations
        begun = replace(each, cause=Cause(kind="first call", reason="why"))
        both = replace(once.first, compilations=(begun, each))
        return [each.cost_ns for each in RULE.look(replace(once, first=both))]

    assert after_a_first_call("weak type", 5 * 10**8) == [5e8]
    assert after_a_first_call("weak type", 499 * 10**6) == []
    assert after_a_first_call("pytree", 5 * 10**8) == []


def test_sizes_are_padded_only_if_that_halves_their_number() -> None:
    assert buckets(["f32[5,3]", "f32[6,3]", "f32[7,3]", "f32[9,3]"]) is not None
    assert buckets(["f32[5,3]", "f32[6,3]", "f32[9,3]"]) is None
    assert buckets(["f32[5,3]", "f32[6,4]", "f32[7,5]", "f32[8,6]"]) is None
    assert buckets(["f32[5]", "f32[6,1]"]) is None
    assert buckets(["f32[]", "f32[]"]) is None
    assert buckets(["f32[0]", "f32[5]", "f32[6]", "f32[7]"]) is None


@pytest.mark.parametrize(
    ("programs", "every_run", "text"),
    [
        (9, 0, "f compiles again 9 times in the first run for different shapes."),
        (1, 0, "f compiles again once in the first run for different shapes."),
        (9, 1, "f compiles 9 times in every run for different shapes."),
    ],
)
def test_the_first_program_of_the_first_run_is_not_counted(programs: int, every_run: int, text: str) -> None:
    facts = {"cause": "shape", "programs": programs, "every_run": every_run, "reason": ""}
    assert str(note("doctor.recompile", function="f", **facts)) == text


@jax.jit
def total_of_products(x: Any) -> Any:
    return jnp.sin(jnp.cumsum(jnp.tanh(x @ x.T), axis=0)).sum()


def test_a_gradient_outside_jit_spares_the_backward_passes_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(recompile, "_LEAST_FIRST_RUN_NS", 0)
    sizes = [jnp.ones((rows, 16)) for rows in (8, 12, 16, 20)]

    def gradients() -> Any:
        return [jax.grad(total_of_products)(x) for x in sizes]

    for _ in range(2):  # the second time, JAX has forgotten the programs and knows the function
        jax.clear_caches()
        findings = jaxmagic.diagnose(gradients, only=["recompile"], repeat=True).findings
        (finding,) = [each for each in findings if each.found.facts["cause"] == "transformation"]
        assert (finding.found.facts["programs"], finding.basis) == (4, "estimated")
        assert finding.remedy is not None
        jitted = jax.jit(jax.grad(total_of_products))
        jax.clear_caches()
        with jaxmagic.stopwatch() as separate:
            gradients()
        with jaxmagic.stopwatch() as joint:
            [jitted(x) for x in sizes]
        of_function = [each for each in separate.timing.compilations if each.function == "total_of_products"]
        of_both = [each for each in joint.timing.compilations if not each.eager]
        assert len(of_function) - len(of_both) == 4
