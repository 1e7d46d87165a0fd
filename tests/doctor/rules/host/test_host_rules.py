"""The rules about the host, on real programs: what is planted is found, and programs that look alike are clean."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import host_programs as programs
import jax
import jax.numpy as jnp
import numpy as np
import pytest
from shells import Session

import jaxmagic
from jaxmagic.doctor.record.finding import RuleFinding

pytestmark = pytest.mark.clock

planted = pytest.mark.usefixtures("at_any_cost")

NAMES = ("host-wait", "not-jitted", "dispatch-bound", "input-bound", "transfer")
TINY, SHORT, LONG, WIDE = programs.TINY, programs.SHORT, programs.LONG, programs.WIDE


#: It is converted in the call. What the CPU copies without that, it copies while other programs run.
DOUBLE = WIDE.astype(np.float64)


def diagnosed(fn: Callable[..., Any], *args: Any) -> dict[str, RuleFinding]:
    diagnosis = jaxmagic.diagnose(fn, *args, only=NAMES)
    assert not [each for each in diagnosis.notes if "rule_failed" in each.kind or "unread" in each.kind]
    assert str(diagnosis)
    shown = {each.rule: each for each in diagnosis.findings}
    run_ns = max(each.wall_ns for each in diagnosis.warm)
    assert sum(each.cost_ns or 0 for each in diagnosis.findings) <= run_ns
    return shown


def line_of(finding: RuleFinding) -> str:
    assert finding.line is not None
    assert finding.line.startswith(str(Path(programs.__file__)))
    return finding.source or ""


@planted
class TestHostWait:
    def test_reading_each_loss_is_found_at_its_line(self) -> None:
        found = diagnosed(programs.reads_each_loss, SHORT)["host-wait"]
        assert line_of(found) == "losses.append(float(loss))"
        assert found.found.facts["count"] == 12
        assert found.code is not None
        assert found.code.splitlines()[0].strip() == "losses.append(loss)"
        assert found.remedy is not None
        assert found.remedy.facts == {"decides": 0, "called": ""}

    def test_printing_each_loss_is_found_at_its_line(self) -> None:
        found = diagnosed(programs.prints_each_loss, SHORT)["host-wait"]
        assert line_of(found) == "print(i, loss)"
        assert found.found.facts["count"] == 12
        assert str(found.remedy).startswith("Keep the arrays and read them after the loop")

    def test_numbers_that_a_list_reads_one_by_one_are_read_together(self) -> None:
        found = diagnosed(programs.reads_in_a_list, SHORT)["host-wait"]
        assert line_of(found) == "return [last_of(x).item() for _ in range(12)]"
        assert found.found.facts["loop"] == 1
        assert found.cost_ns is not None
        assert found.code == ("return [each.item() for each in jax.device_get([last_of(x) for _ in range(12)])]")

    def test_a_function_that_reads_what_it_returns_is_told_to_return_the_array(self) -> None:
        found = diagnosed(programs.calls_what_reads, SHORT)["host-wait"]
        assert line_of(found) == "return float(last_of(x))"
        assert found.cost_ns is not None
        assert found.code is None
        assert str(found.remedy).startswith(
            "Return the array from last_number, and read it after the loop that calls"
        )

    def test_a_decision_of_each_step_gets_another_remedy(self) -> None:
        found = diagnosed(programs.decides_each_step, SHORT)["host-wait"]
        assert line_of(found) == "if loss < best:"
        assert found.code is None
        assert found.remedy is not None
        assert found.remedy.facts == {"decides": 1, "called": ""}

    def test_blocking_in_each_step_is_found(self) -> None:
        found = diagnosed(programs.blocks_each_step, SHORT)["host-wait"]
        assert line_of(found) == "x.block_until_ready()"
        assert found.remedy is not None
        assert found.remedy.kind == "doctor.host_wait_leave_out"
        assert found.code is None  # the line does nothing else

    @pytest.mark.parametrize("code", ["jax.block_until_ready(step(x))", "step(x).block_until_ready()"])
    def test_what_only_blocks_is_left_out(self, code: str, session: Session) -> None:
        session.run(
            "import jax, host_programs\nstep = lambda x: host_programs.ordered(x)[0]\nx = host_programs.SHORT"
        )
        loop = f"for _ in range(12):\n    x = {code}\n    host_programs.busy_host()"
        session.run(f"%%jaxdoctor -q -v found --only host-wait\n{loop}")
        (found,) = session.shell.user_ns["found"].findings
        assert found.code == "x = step(x)"

    def test_a_wait_inside_a_library_is_found_at_the_users_line(self, tmp_path: Path, monkeypatch: Any) -> None:
        package = tmp_path / "site-packages" / "metrics_of_others"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text("def log(value):\n    return float(value)\n")
        monkeypatch.syspath_prepend(str(package.parent))
        import metrics_of_others  # type: ignore[import-not-found]

        def train(x: Any) -> Any:
            for _ in range(12):
                x, loss = programs.ordered(x)
                metrics_of_others.log(loss)
                programs.busy_host()
            return x

        found = diagnosed(train, SHORT)["host-wait"]
        assert found.source == "metrics_of_others.log(loss)"
        assert found.found.facts["library"] == "metrics_of_others.log"
        assert str(found.remedy).startswith("metrics_of_others.log waits by itself.")

    def test_reading_the_loss_of_an_optimizer_is_found(self) -> None:
        optax = pytest.importorskip("optax")
        optimizer = optax.sgd(1e-3)

        @jax.jit
        def update(params: Any, state: Any) -> Any:
            loss, grads = jax.value_and_grad(lambda each: (jnp.sort(each) ** 2).sum())(params)
            updates, state = optimizer.update(grads, state)
            return optax.apply_updates(params, updates), state, loss

        def train(params: Any) -> Any:
            state, losses = optimizer.init(params), []
            for _ in range(12):
                params, state, loss = update(params, state)
                losses.append(loss.item())
                programs.busy_host()
            return params

        found = diagnosed(train, SHORT)["host-wait"]
        assert found.source == "losses.append(loss.item())"
        assert found.found.facts["count"] == 12

    def test_the_cost_is_no_more_than_without_the_line(self) -> None:
        """The host works for as long as before, and the device meanwhile."""
        diagnosis = jaxmagic.diagnose(programs.reads_each_loss, SHORT, only=("host-wait",))
        (found,) = diagnosis.findings
        assert diagnosis.profile is not None
        busy_ns = diagnosis.profile.device_uses[0].busy_ns
        assert found.cost_ns is not None
        assert found.cost_ns <= max(each.wall_ns for each in diagnosis.warm) - busy_ns / 2

    def test_a_callback_in_a_loop_is_found_at_its_line(self) -> None:
        @jax.jit
        def slow(x: Any) -> Any:
            shape = jax.ShapeDtypeStruct(x.shape, x.dtype)

            def body(x: Any, _: Any) -> Any:
                return jax.pure_callback(lambda a: np.sort(-np.asarray(a)), shape, x), None

            return jax.lax.scan(body, x, length=10)[0]

        found = diagnosed(slow, LONG)["host-wait"]
        assert found.found.facts == {"primitive": "pure_callback", "count": 10}
        assert found.line is not None
        assert found.line.startswith(__file__)
        assert found.source == "return jax.pure_callback(lambda a: np.sort(-np.asarray(a)), shape, x), None"

    def test_printing_from_the_device_is_found(self) -> None:
        @jax.jit
        def noisy(x: Any) -> Any:
            def body(x: Any, _: Any) -> Any:
                jax.debug.print("{}", x[0])
                return x + 1, None

            return jax.lax.scan(body, x, length=50)[0]

        with redirect_stdout(io.StringIO()):
            found = diagnosed(noisy, TINY)["host-wait"]
        assert found.remedy is not None
        assert found.remedy.facts == {"printing": 1}
        assert found.source == 'jax.debug.print("{}", x[0])'


@pytest.fixture
def nothing_compiled() -> None:
    jax.clear_caches()


@planted
@pytest.mark.usefixtures("nothing_compiled")
class TestNotJitted:
    def test_a_long_eager_loop_is_found(self) -> None:
        found = diagnosed(programs.eager_loop, TINY)["not-jitted"]
        assert line_of(found) == "x = jnp.sin(x) * 0.5 + jnp.cos(x)"
        assert found.found.facts["count"] == 1200
        assert found.remedy is not None
        assert found.remedy.facts["way"] == "round"
        assert found.code is not None
        assert found.code.startswith("@jax.jit\ndef eager_loop_step(x):\n    x = jnp.sin(x) * 0.5 + jnp.cos(x)\n")

    def test_a_short_one_can_be_jitted_as_it_is(self) -> None:
        found = diagnosed(programs.eager_line, TINY)["not-jitted"]
        assert found.code == "eager_line = jax.jit(eager_line)"
        assert set(diagnosed(jax.jit(programs.eager_line), TINY)) == set()

    def test_the_line_of_an_earlier_caller_is_not_named(self) -> None:
        programs.eager_line(TINY)
        found = diagnosed(programs.eager_loop, TINY).get("not-jitted")
        assert found is not None
        assert found.source in (None, "x = jnp.sin(x) * 0.5 + jnp.cos(x)")

    def test_a_loop_over_rows_is_found(self) -> None:
        found = diagnosed(programs.over_rows, jnp.ones((100, 8)))["not-jitted"]
        assert line_of(found) in ("out = out + jnp.sum(row * row)", "for row in x:")

    def test_an_optimizer_outside_of_jit_is_found(self) -> None:
        optax = pytest.importorskip("optax")
        optimizer = optax.adam(1e-3)
        params = {str(number): TINY for number in range(10)}

        def update(params: Any) -> Any:
            updates, _ = optimizer.update(params, optimizer.init(params), params)
            return optax.apply_updates(params, updates)

        found = diagnosed(update, params)["not-jitted"]
        assert found.code == "# in test_host_rules.py, below update()\nupdate = jax.jit(update)"
        assert found.line is not None
        assert found.line.startswith(__file__)

    def test_a_layer_outside_of_jit_is_found(self) -> None:
        eqx = pytest.importorskip("equinox")
        model = eqx.nn.MLP(8, 8, 8, 6, key=jax.random.key(0))

        def forward(x: Any) -> Any:
            return model(x) + model(x * 2)

        assert "not-jitted" in diagnosed(forward, jnp.ones(8))


@planted
class TestDispatchBound:
    def test_short_calls_are_found_with_a_scan_that_runs(self) -> None:
        found = diagnosed(programs.short_calls, TINY, TINY)["dispatch-bound"]
        assert line_of(found) == "w, loss = step(w, x)"
        assert found.found.facts["count"] == 300
        assert found.code is not None
        names = {"jax": jax, "step": programs.step, "w": TINY, "x": TINY}
        exec(found.code, names)
        w, loss = programs.short_calls(TINY, TINY)
        np.testing.assert_allclose(names["w"], w, rtol=1e-5)
        np.testing.assert_allclose(names["loss"], loss, rtol=1e-5)

    def test_nested_loops_are_found(self) -> None:
        found = diagnosed(programs.short_calls_in_two_loops, TINY, TINY)["dispatch-bound"]
        assert found.found.facts["count"] == 400

    def test_a_step_of_a_model_is_found(self) -> None:
        nnx = pytest.importorskip("flax.linen")
        model = nnx.Dense(8)
        params = model.init(jax.random.key(0), TINY)
        forward = jax.jit(lambda params, x: model.apply(params, x))

        def steps(x: Any) -> Any:
            for _ in range(300):
                x = forward(params, x)
            return x

        assert "dispatch-bound" in diagnosed(steps, TINY)


@planted
class TestInputBound:
    def test_a_slow_generator_is_found_at_its_line(self) -> None:
        found = diagnosed(programs.slow_input)["input-bound"]
        assert "default_rng(number)" in line_of(found)

    def test_a_generator_that_makes_its_items_arrays_of_jax_is_found(self) -> None:
        found = diagnosed(programs.slow_input_on_the_device)["input-bound"]
        assert "default_rng(number)" in line_of(found)

    def test_an_item_that_is_made_in_the_call_of_the_step_is_found(self) -> None:
        found = diagnosed(programs.slow_input_in_the_call)["input-bound"]
        assert line_of(found) == "out = total(loaded(number))"
        assert found.code is None  # which items to compute ahead cannot be read there
        assert "input-bound" not in diagnosed(programs.slow_work_on_the_last_result)

    def test_slow_rows_of_a_loader_are_found_at_their_line(self) -> None:
        found = diagnosed(programs.slow_rows)["input-bound"]
        assert "np.sort" in line_of(found)

    def test_slow_input_of_a_model_is_found(self) -> None:
        nn = pytest.importorskip("flax.linen")
        model = nn.Dense(1)
        params = model.init(jax.random.key(0), TINY[0])
        forward = jax.jit(lambda params, batch: model.apply(params, batch.reshape(-1, 8)).sum())

        def train(params: Any) -> Any:
            for batch in programs.batches(40):
                loss = forward(params, batch)
            return loss

        found = diagnosed(train, params)["input-bound"]
        assert "default_rng(number)" in line_of(found)

    def test_a_slow_iterator_of_a_library_is_found(self, tmp_path: Path, monkeypatch: Any) -> None:
        package = tmp_path / "site-packages" / "loader_of_others"
        package.mkdir(parents=True)
        (package / "__init__.py").write_text(
            "import numpy as np\n"
            "class Loader:\n"
            "    def __iter__(self):\n"
            "        for number in range(40):\n"
            "            yield np.sort(np.random.default_rng(number).normal(size=100_000)).astype('f4')\n"
        )
        monkeypatch.syspath_prepend(str(package.parent))
        import loader_of_others  # type: ignore[import-not-found]

        def train() -> Any:
            out = None
            for batch in loader_of_others.Loader():
                out = programs.total(batch)
            return out

        found = diagnosed(train)["input-bound"]
        assert found.source == "for batch in loader_of_others.Loader():"


@planted
@pytest.mark.usefixtures("nothing_compiled")
class TestTransfer:
    def test_an_array_that_is_copied_each_time_is_found_by_its_name(self) -> None:
        found = diagnosed(programs.copies_each_time, DOUBLE)["transfer"]
        assert found.code == "x = jax.device_put(x)"
        assert line_of(found) == "out = total(x)"
        assert found.found.facts["size_bytes"] == 30 * jax.device_put(DOUBLE).nbytes
        assert str(found.found).endswith(" per run, converted from float64 to float32 in each call.")
        assert "transfer" not in diagnosed(programs.copies_each_time, jax.device_put(WIDE))

    def test_an_array_that_has_another_name_inside_is_found(self) -> None:
        def fit(images: Any) -> Any:
            return programs.copies_each_time(images)

        found = diagnosed(fit, DOUBLE)["transfer"]
        assert found.code == "# outside of copies_each_time:\nimages = jax.device_put(images)"
        assert line_of(found) == "out = total(x)"

    def test_an_array_inside_a_dict_is_found(self) -> None:
        def train(data: Any) -> Any:
            out = None
            for _ in range(30):
                out = programs.total(data["x"])
            return out

        found = diagnosed(train, {"x": DOUBLE})["transfer"]
        assert found.code == "data['x'] = jax.device_put(data['x'])"

    def test_an_array_that_a_model_gets_each_time_is_found(self) -> None:
        nn = pytest.importorskip("flax.linen")
        model = nn.Dense(1)
        params = model.init(jax.random.key(0), jnp.ones(1024))

        @jax.jit
        def forward(params: Any, x: Any) -> Any:
            return model.apply(params, x).sum()

        def train(params: Any, images: Any) -> Any:
            return [forward(params, images) for _ in range(10)]

        assert diagnosed(train, params, DOUBLE)["transfer"].code == "images = jax.device_put(images)"

    def test_a_lambda_that_another_one_leads_to_is_found(self) -> None:
        forward = jax.jit(lambda w, x: (x * w).sum())

        def train(w: Any, images: Any) -> Any:
            return [forward(w, images) for _ in range(10)]

        found = (lambda: diagnosed(train, jnp.ones(1024), DOUBLE))()["transfer"]
        assert found.code == "images = jax.device_put(images)"
        assert found.source == "return [forward(w, images) for _ in range(10)]"

    def test_an_argument_by_keyword_is_found(self) -> None:
        def train(data: Any) -> Any:
            out = None
            for _ in range(30):
                out = programs.total(x=data)
            return out

        assert diagnosed(train, DOUBLE)["transfer"].code == "data = jax.device_put(data)"

    @pytest.mark.parametrize(
        ("jitted", "loop"),
        [
            ("total = jax.jit(lambda x: x.sum())", "for _ in range(10):\n    out = total(x)"),
            (
                "largest = jax.jit(lambda x: x.max())\ntotal = jax.jit(lambda x: x.sum())",
                "out = [total(x) for _ in range(10)]",
            ),
            (
                "def sums():\n    return jax.jit(lambda x: x.sum())\ntotal = sums()",
                "for _ in range(10): out = total(x)",
            ),
            (
                "def sums():\n    def summed(x):\n        return x.sum()\n    return jax.jit(summed)\ntotal = sums()",
                "for _ in range(10):\n    out = total(x)",
            ),
        ],
    )
    def test_what_an_earlier_cell_jitted_is_found_by_its_variable(
        self, session: Session, jitted: str, loop: str
    ) -> None:
        session.run("import jax, numpy as np\nx = np.ones((1024, 1024))")
        session.run(jitted)
        (found,) = session.run(f"%%jaxdoctor -o --only transfer\n{loop}").findings
        assert found.code == "x = jax.device_put(x)"
        assert str(found.found).startswith("Each of 10 calls of total copies x to the device: ")

    def test_of_two_lambdas_the_line_is_known(self, session: Session) -> None:
        session.run("import jax, numpy as np\nx = np.ones((1024, 1024))")
        session.run("first = jax.jit(lambda x: x[0])\nlast = jax.jit(lambda x: x[-1])")
        cell = "%%jaxdoctor -o --only transfer\nfor _ in range(10):\n    out = first(x), last(x)"
        (found,) = session.run(cell).findings
        assert found.source == "out = first(x), last(x)"
        assert found.code is None
        assert str(found.found).startswith("<lambda> gets x of NumPy in 20 calls, and copies it")


@pytest.mark.parametrize(
    ("function", "args"),
    [
        (programs.reads_once, (LONG,)),
        (programs.reads_all_at_the_end, (LONG,)),
        (programs.waits_for_a_busy_device, (LONG,)),
        (programs.long_eager, (SHORT,)),
        (programs.long_calls, (LONG,)),
        (programs.scanned, (TINY, TINY)),
        (programs.quick_input, (LONG,)),
        (programs.copies_once, (WIDE,)),
        (programs.copies_each_batch, ([np.asarray(LONG)] * 1 + [np.array(LONG) for _ in range(9)],)),
        (programs.ordered, (LONG,)),
        (programs.ordered, (np.asarray(LONG),)),
    ],
    ids=lambda each: getattr(each, "__name__", ""),
)
def test_a_clean_program_has_no_finding(function: Callable[..., Any], args: Any) -> None:
    assert {name: str(each.found) for name, each in diagnosed(function, *args).items()} == {}


@pytest.mark.skipif(sys.version_info < (3, 12), reason="NumPy reads arrays on the CPU itself")
@planted
def test_reading_arrays_with_numpy_is_found() -> None:
    def read(x: Any) -> Any:
        for _ in range(12):
            x, _loss = programs.ordered(x)
            np.asarray(x)
            programs.busy_host()
        return x

    assert diagnosed(read, SHORT)["host-wait"].source == "np.asarray(x)"


@planted
def test_a_cell_that_runs_once_is_examined_as_well(session: Any) -> None:
    session.run(
        "import jax, jax.numpy as jnp\n"
        "@jax.jit\n"
        "def order(x):\n"
        "    x = jnp.sort(-x)\n"
        "    return x, x[0]\n"
        "state = jnp.linspace(0., 1., 100_000); state = order(state)[0]; _ = order(state)"
    )
    diagnosis = session.run(
        "%%jaxdoctor -o --only host-wait\n"
        "losses = []\n"
        "for _ in range(12):\n"
        "    state, loss = order(state)\n"
        "    losses.append(float(loss))\n"
        "    sum(range(1_000_000))\n"
    )
    (found,) = diagnosis.findings
    assert found.source == "losses.append(float(loss))"
    assert found.line is not None
    assert found.line.startswith("cell ")
    assert found.line.endswith(":5")
    assert found.cost_ns is not None
