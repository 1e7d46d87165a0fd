"""The thresholds of the rules about the host, on evidence that was never measured."""

from __future__ import annotations

import ast
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate import hlo
from fabricate.profiling import MS, operation, use

from jaxmagic.doctor.record.evidence import (
    Dispatch,
    FunctionShare,
    HostShare,
    HostWait,
    Input,
    LibraryNames,
    StaticParameters,
)
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import dispatch_bound, input_bound, not_jitted, transfer, wait
from jaxmagic.doctor.rules.host.functions.spared import OWN_CALL, Part, Spared
from jaxmagic.doctor.rules.host.functions.transformed_function import TransformedFunction
from jaxmagic.doctor.rules.host.host_time import host_time, jitted_operations, matters
from jaxmagic.doctor.rules.host.jitting import advice
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.call_stack import Frame
from jaxmagic.xla.hlo import HloModule, Sharded

RUN_NS = 100 * MS


@pytest.fixture
def source(tmp_path: Any) -> str:
    file = tmp_path / "train.py"
    file.write_text(
        "def train(x):\n"
        "    losses = []\n"
        "    for batch in loader:\n"
        "        x, loss = step(x)\n"
        "        losses.append(float(loss))\n"
        "    return float(loss)\n"
    )
    return str(file)


def waits_at(file: str, line: int, count: int = 100, wait_ns: int = 50 * MS, library: str | None = None) -> HostWait:
    frame = Frame(function="train", file=file, line=line)
    return HostWait(line=frame, function="_value", library=library, count=count, wait_ns=wait_ns)


class TestWait:
    def test_only_the_idle_time_after_a_wait_is_a_cost(self, evidence: Any, source: str) -> None:
        for waited_ns, cost_ns in ((10 * MS, 10 * MS), (60 * MS, 40 * MS), (5 * MS, 5 * MS), (4_999_999, None)):
            found = list(wait.look(evidence(waited_ns=waited_ns, waits=(waits_at(source, 5, wait_ns=40 * MS),))))
            assert [each.cost_ns for each in found] == ([] if cost_ns is None else [cost_ns])

    @pytest.mark.parametrize(
        ("line", "kind"),
        [
            ("x = x[x > 0]", "host_wait_sized"),
            ("x = jnp.unique(x)", "host_wait_sized"),
            ("x = float(x[x > 0].sum())", "host_wait_remedy"),
            ("x = jnp.unique(x, size=3)", "host_wait_remedy"),
        ],
    )
    def test_a_wait_for_a_size_cannot_be_put_off(self, line: str, kind: str, evidence: Any, source: str) -> None:
        with open(source, "w") as file:
            file.write(f"import jax.numpy as jnp\ndef train(x):\n    for _ in range(9):\n        {line}\n")
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(source, 4),)))
        assert found.remedy.kind == f"doctor.{kind}"
        assert (found.code is None) or kind == "host_wait_remedy"

    @pytest.mark.parametrize(
        ("line", "function", "computed"),
        [
            ("x = np.tanh(step(x))", "__array__", "np.tanh"),
            ("x = jnp.asarray(np.tanh(np.asarray(step(x))))", "__buffer__", "np.tanh"),
            ("means.append(np.mean(step(x)))", "__array__", "np.mean"),
            ("x = np.tanh(np.sin(step(x)))", "__array__", ""),
            ("x = np.random.permutation(step(x))", "__array__", ""),
            ("x = np.linalg.svd(step(x))", "__array__", ""),
            ("x = np.asarray(step(x))", "__array__", ""),
            ("x = jnp.tanh(float(step(x)))", "__float__", ""),
            ("x = mine.tanh(step(x))", "__array__", ""),
        ],
    )
    def test_what_numpy_computes_can_be_computed_on_the_device(
        self, line: str, function: str, computed: str, evidence: Any, source: str
    ) -> None:
        with open(source, "w") as file:
            file.write(f"import numpy as np\ndef train(x):\n    for _ in range(9):\n        {line}\n")
        made = replace(waits_at(source, 4), function=function)
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(made,)))
        assert (found.remedy.kind == "doctor.host_wait_numpy") == bool(computed)
        if computed:
            assert found.code is None
            assert str(found.remedy) == (
                f"{computed} computes on the host, and reads its argument for that. jax.numpy.{computed[3:]} "
                "computes on the device, and nothing is read there."
            )

    def test_a_wait_that_moves_an_array_reads_nothing(self, evidence: Any, source: str) -> None:
        made = replace(waits_at(source, 5), function="device_put")
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(made,)))
        assert (found.remedy.kind, found.code) == ("doctor.host_wait_moved", None)

    @pytest.mark.parametrize("waited_ns", [10 * MS, 60 * MS])
    def test_idle_time_longer_than_a_wait_leaves_no_rest_of_it(
        self, waited_ns: int, evidence: Any, source: str
    ) -> None:
        wait_at = waits_at(source, 5, wait_ns=40 * MS)
        (found,) = wait.look(evidence(waited_ns=waited_ns, waits=(wait_at,)))
        assert found.evidence[0].facts["rest"] == int(waited_ns < wait_at.wait_ns)

    @pytest.mark.parametrize(("backend", "cost_ns"), [("cpu", 10 * MS + 7 * MS), ("gpu", 7 * MS)])
    def test_waits_longer_than_the_work_of_the_device_cost_the_rest(
        self, backend: str, cost_ns: int, evidence: Any, source: str
    ) -> None:
        """Of 50 ms, 40 ms may be the device's work, and the profiler saw 7 ms of idle time after it."""
        made = evidence(waited_ns=7 * MS, waits=(waits_at(source, 5),))
        environment = replace(made.first.environment, backend=backend)
        first, run = (replace(each, environment=environment) for each in (made.first, made.observed))
        (found,) = wait.look(replace(made, first=first, observed=run, timed=(run,)))
        assert found.cost_ns == cost_ns
        latency = [each.facts for each in found.evidence if each.kind == "doctor.host_wait_latency"]
        assert latency == ([{"latency_ns": 10 * MS, "busy_ns": 40 * MS}] if backend == "cpu" else [])
        assert found.evidence[0].facts["rest"] == int(backend == "gpu")

    def test_waits_are_a_share_of_the_run_whose_time_is_told(self, evidence: Any, source: str) -> None:
        """They were observed in a slower one, in which they took longer, and another share."""
        waits = (waits_at(source, 5, wait_ns=160 * MS), waits_at(source, 6, wait_ns=40 * MS))
        made = evidence(waited_ns=7 * MS, waits=waits)
        slower = replace(made.observed, wait_ns=made.observed.wait_ns + 700 * MS)
        (found,) = wait.look(replace(made, observed=slower))
        assert found.found.facts["share"] == pytest.approx(0.4)
        assert "for 40 % of the run in all." in str(found.found)
        also = [str(each) for each in found.evidence if each.kind == "doctor.host_wait_also"]
        assert len(also) == 1
        assert also[0].endswith("100 times, for 10 % of the run.")

    def test_the_cost_is_no_more_than_the_waits_that_are_named(self, evidence: Any, source: str) -> None:
        waits = (waits_at(source, 5, wait_ns=30 * MS), waits_at(source, 6, count=1, wait_ns=20 * MS))
        made = evidence(waited_ns=60 * MS, waits=waits)
        quicker = replace(made.observed, wait_ns=40 * MS, dispatch_ns=60 * MS, code_wait_ns=40 * MS)
        (found,) = wait.look(replace(made, timed=(quicker,)))
        assert found.cost_ns == pytest.approx(24 * MS)
        assert found.found.facts["share"] * quicker.wall_ns >= found.cost_ns * 0.999

    def test_the_code_may_wait_for_one_device_after_the_other(self, evidence: Any, source: str) -> None:
        made = evidence(waited_ns=7 * MS, waits=(waits_at(source, 5),))
        uses = (use("CPU:0", 25 * MS), use("CPU:1", 25 * MS))
        (found,) = wait.look(replace(made, profile=replace(made.profile, device_uses=uses)))
        assert found.cost_ns == 7 * MS

    def test_host_and_device_share_the_processors_of_a_cpu(self, evidence: Any, source: str) -> None:
        made = evidence(waited_ns=40 * MS, waits=(waits_at(source, 5),))
        busy = replace(made.observed, cpu_user_ns=180 * MS)
        (found,) = wait.look(replace(made, observed=busy, timed=(busy,)))
        assert found.cost_ns == pytest.approx(10 * MS, rel=0.01)

    def test_waits_recur_from_the_third_on(self, evidence: Any, source: str) -> None:
        assert not list(wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(source, 5, count=2),))))
        assert list(wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(source, 5, count=3),))))

    def test_a_wait_of_jaxmagic_is_none_of_the_code(self, evidence: Any, source: str) -> None:
        ours = waits_at(source, 5, library="jaxmagic.timing.capture.stopwatch.Stopwatch.returned")
        assert not list(wait.look(evidence(waited_ns=40 * MS, waits=(ours,))))

    def test_a_wait_of_a_library_cannot_be_moved_behind_the_loop(self, evidence: Any, source: str) -> None:
        (own,) = wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(source, 5),)))
        (other,) = wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(source, 5, library="lib.log"),)))
        assert own.code is not None
        assert other.code is None
        assert str(other.remedy) == (
            "lib.log waits by itself. If it only shows or keeps values, call it less often, such as once in ten "
            "steps. If later steps need its result, let one call do several steps, as far as it can."
        )

    def test_a_jit_that_waits_is_told_only_where_the_device_is_not_the_cpu(
        self, evidence: Any, executable: Any, source: str
    ) -> None:
        waits = (waits_at(source, 4, library="equinox.filter_jit"),)
        step = Dispatch(name="step", count=100, host_ns=50 * MS, exposed_ns=0, after_wait_ns=40 * MS, busy_ns=20 * MS)
        programs = (program("step", executable, eager=False),)
        made = evidence((step,), waited_ns=40 * MS, waits=waits, programs=programs)
        assert not list(wait.look(made))
        assert [each.rule for each in dispatch_bound.look(made)] == ["dispatch-bound"]
        environment = replace(made.first.environment, backend="gpu")
        first, run = (replace(each, environment=environment) for each in (made.first, made.observed))
        (found,) = wait.look(replace(made, first=first, observed=run, timed=(run,)))
        assert str(found.found).startswith("The code waits for a result inside equinox.filter_jit 100 times per run")
        assert str(found.remedy).startswith(
            "Each call of what equinox.filter_jit made waits for its result; a call under jax.jit does not."
        )

    @pytest.mark.parametrize(
        ("line", "function", "decides"),
        [
            ("if float(loss) > 2: break", "__float__", 1),
            ("if i % 10 == 0: print(float(loss))", "__float__", 0),
            ("value = float(loss)", "__float__", 1),
            ("other = float(loss)", "__float__", 0),
            ("best = min(best, loss)", "__bool__", 1),
            ("print(float(loss))", "__float__", 0),
        ],
    )
    def test_what_decides_on_the_next_step_is_not_kept_for_later(
        self, evidence: Any, tmp_path: Any, line: str, function: str, decides: int
    ) -> None:
        file = tmp_path / "early.py"
        file.write_text(
            f"def train(x):\n    for i in steps:\n        {line}\n        if value < 1:\n            break\n"
        )
        at = replace(waits_at(str(file), 3), function=function)
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(at,)))
        assert found.remedy is not None
        assert found.remedy.facts == {"decides": decides, "called": ""}

    def test_a_wait_in_a_function_that_a_loop_calls_costs_as_much_as_one_in_the_loop(
        self, evidence: Any, tmp_path: Any
    ) -> None:
        file = tmp_path / "called.py"
        file.write_text("def loss_of(x):\n    return float(f(x))\nfor x in xs:\n    loss_of(x)\n")
        made = waits_at(str(file), 2, wait_ns=40 * MS)
        lines = tuple(Frame(function=name, file=str(file), line=at) for name, at in (("loss_of", 2), ("<module>", 4)))
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(replace(made, stack=lines),)))
        assert (found.cost_ns, found.basis, found.code) == (40 * MS, "estimated", None)
        assert str(found.remedy).startswith("Return the array from loss_of, and read it after the loop that calls it")

    @pytest.mark.parametrize(
        ("line", "code"),
        [
            (
                "losses = [float(f(x)) for x in xs]",
                "losses = [float(each) for each in jax.device_get([f(x) for x in xs])]",
            ),
            (
                "return [f(x).item() for x in xs]",
                "return [each.item() for each in jax.device_get([f(x) for x in xs])]",
            ),
            ("losses = [float(f(x)) for x in xs if x.any()]", None),
            ("losses = np.mean([float(f(x)) for x in xs])", None),
            ("losses = {x: float(f(x)) for x in xs}", None),
            ("losses = [int(f(x)) for x in xs]", None),
        ],
    )
    def test_a_list_of_numbers_is_read_at_once(
        self, evidence: Any, tmp_path: Any, line: str, code: str | None
    ) -> None:
        file = tmp_path / "listed.py"
        file.write_text(f"def evaluate(xs):\n    {line}\n")
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(str(file), 2),)))
        assert found.code == code
        assert found.found.facts["loop"] == 1
        assert str(found.remedy).startswith("Keep the arrays and read them after the loop")

    @pytest.mark.parametrize(
        ("read", "array"),
        [
            ("float(loss)", "loss"),
            ("loss[0].item()", "loss[0]"),
            ("float(f(loss) / 2)", "f(loss) / 2"),
            ("float(loss) + 1", None),
            ("float(f(float(loss)))", None),
        ],
    )
    def test_what_a_list_keeps_is_read_after_the_loop(
        self, evidence: Any, tmp_path: Any, read: str, array: str | None
    ) -> None:
        file = tmp_path / "kept.py"
        loop = f"for i in range(9):\n        x = f(x)\n        kept.append({read})\n"
        file.write_text(f"def train(x):\n    kept = []\n    {loop}")
        (found,) = wait.look(evidence(waited_ns=40 * MS, waits=(waits_at(str(file), 5),)))
        number = "float(each)" if read.startswith("float") else "each.item()"
        after = f"# after the loop\nkept = [{number} for each in jax.device_get(kept)]"
        assert found.code == (None if array is None else f"    kept.append({array})\n{after}")

    def test_callbacks_cost_the_time_in_which_the_device_does_nothing_else(self, evidence: Any) -> None:
        for callback_ns, cost_ns in ((20 * MS, 20 * MS), (4_999_999, None)):
            profile = Profile(
                runs=1,
                recorded_ns=RUN_NS,
                device_uses=(use("CPU:0", 40 * MS, callback_ns=callback_ns),),
                operation_times=(operation("pure_callback.0", 30 * MS, category="host callback"),),
                place_times=(),
            )
            found = list(wait.look(replace(evidence(), profile=profile)))
            assert [each.cost_ns for each in found] == ([] if cost_ns is None else [cost_ns])

    def test_without_a_recording_nothing_is_known(self, evidence: Any, source: str) -> None:
        assert host_time(evidence(host_use=None)) is None
        assert not list(wait.look(evidence(host_use=None, waits=(waits_at(source, 5),))))


def program(name: str, executable: Callable[..., Executable], *, eager: bool) -> Program:
    return Program(executable=executable(name=f"jit_{name}"), module=None, function=name, eager=eager)


def calls(name: str, count: int, exposed_ns: int, **changes: int) -> Dispatch:
    return Dispatch(**{"name": name, "count": count, "host_ns": exposed_ns, "exposed_ns": exposed_ns} | changes)


class TestCalls:
    @pytest.mark.parametrize(
        ("count", "exposed_ns", "cost_ns"),
        [(30, 20 * MS, 20 * MS), (29, 20 * MS, None), (30, 4_999_999, None), (30, 60 * MS, 50 * MS)],
    )
    def test_eager_operations(
        self, evidence: Any, executable: Any, count: Any, exposed_ns: Any, cost_ns: Any
    ) -> None:
        known = (program("sin", executable, eager=True),)
        found = list(not_jitted.look(evidence((calls("sin", count, exposed_ns),), programs=known)))
        assert [each.cost_ns for each in found] == ([] if cost_ns is None else [pytest.approx(cost_ns)])
        assert not list(dispatch_bound.look(evidence((calls("sin", count, exposed_ns),), programs=known)))

    @pytest.mark.parametrize(
        ("waited_ms", "wait_cost_ms", "cost_ms"),
        [(40, 0, 36), (40, 10, 27), (40, 40, 0), (50, 0, 36)],  # of 40 ms after waits, in 10 calls
    )
    def test_idle_time_after_waits_counts_as_far_as_no_wait_costs_it(
        self,
        evidence: Any,
        executable: Any,
        monkeypatch: pytest.MonkeyPatch,
        waited_ms: int,
        wait_cost_ms: int,
        cost_ms: int,
    ) -> None:
        call = calls("step", 10, 0, after_wait_ns=40 * MS)
        known = (program("step", executable, eager=False),)
        made = evidence((call,), waited_ns=waited_ms * MS, programs=known)
        time = host_time(made)
        assert time is not None
        changed = time._replace(wait_cost_ns=float(wait_cost_ms * MS), scale=1.0)
        monkeypatch.setattr(dispatch_bound, "host_time", lambda _: changed)
        found = list(dispatch_bound.look(made))
        assert [each.cost_ns for each in found] == ([pytest.approx(cost_ms * MS)] if cost_ms else [])

    @pytest.mark.parametrize(
        ("operations", "told"),
        [
            ({"multiply": (2, 40), "add": (1, 20)}, True),
            ({"multiply": (2, 60)}, False),  # two of them
            ({"multiply": (2, 30), "add": (1, 19)}, False),  # less than half of the run
            ({"multiply": (2, 5), "add": (28, 5)}, True),  # many
            ({"multiply": (2, 5), "add": (27, 5)}, False),
            ({"multiply": (2, 5), "add": (28, 4)}, False),
            ({"dot_general": (3, 60)}, False),  # their own work
            ({"sqrt": (2, 40), "convert_element_type": (2, 20)}, True),
            ({"_threefry_split": (3, 60)}, False),
            ({"dot_general": (3, 40), "multiply": (3, 55)}, True),
        ],
    )
    def test_eager_operations_for_which_the_device_works(
        self, evidence: Any, executable: Any, operations: dict[str, tuple[int, int]], told: bool
    ) -> None:
        given = tuple(calls(name, count, 0, busy_ns=busy_ms * MS) for name, (count, busy_ms) in operations.items())
        known = tuple(program(name, executable, eager=True) for name in operations)
        found = list(not_jitted.look(evidence(given, programs=known)))
        assert [(each.found.kind, each.cost_ns) for each in found] == (
            [("doctor.eager_on_device", None)] if told else []
        )
        jitted = tuple(program(name, executable, eager=False) for name in operations)
        assert not list(not_jitted.look(evidence(given, programs=jitted)))

    @pytest.mark.parametrize(
        ("count", "exposed_ns", "changes", "cost_ns"),
        [
            (10, 20 * MS, {}, 18 * MS),
            (9, 20 * MS, {}, None),
            (100, 4_999_999, {}, None),
            (10, 20 * MS, {"busy_ns": 39 * MS}, 0.9 * 11 * MS),
            (10, 20 * MS, {"busy_ns": 41 * MS}, None),
            (10, 20 * MS, {"pending_ns": 5 * MS}, 18 * MS),
            (10, 20 * MS, {"pending_ns": 5 * MS, "puts": 10}, 0.9 * (16 * MS - 20 * 1024)),
        ],
    )
    def test_short_calls_but_one(
        self, evidence: Any, executable: Any, count: Any, exposed_ns: Any, changes: Any, cost_ns: Any
    ) -> None:
        known = (program("step", executable, eager=False),)
        found = list(dispatch_bound.look(evidence((calls("step", count, exposed_ns, **changes),), programs=known)))
        assert [each.cost_ns for each in found] == ([] if cost_ns is None else [pytest.approx(cost_ns)])
        assert not list(not_jitted.look(evidence((calls("step", count, exposed_ns, **changes),), programs=known)))

    @pytest.mark.parametrize(
        ("puts", "argument_bytes", "array_bytes", "from_host", "copies_ns"),
        [
            (10, 4, (), (), 40),
            (10, 2**19, (), (), 10 * 2**19),
            (10, 2**21, (), (), None),
            (10, None, (), (), None),
            (10, 2**21, (2**19, 2**18, 4), (), 10 * 2**19),
            (10, 2**21, (2**19, 2**18, 4), (1,), 10 * 2**18),
            (11, 2**21, (2**19, 2**18, 4), (1,), 10 * (2**19 + 2**18)),
            (11, 2**21, (2**19, 2**18, 4), (1, 2), 10 * (2**18 + 4)),
            (20, 2**21, (2**19, 2**18, 4), (), 10 * (2**19 + 2**18)),
            (9, 2**21, (), (), 0),
        ],
    )
    def test_copies_in_short_calls_are_no_part_of_their_cost(
        self,
        evidence: Any,
        executable: Any,
        puts: Any,
        argument_bytes: Any,
        array_bytes: Any,
        from_host: Any,
        copies_ns: Any,
    ) -> None:
        """They take a nanosecond per byte at most, of as many arguments as a call hands over.

        These are known to be from the host, or else the largest ones.
        """
        given = [
            hlo.instruction("parameter", elements=each // 4, parameter_number=number)
            for number, each in enumerate(array_bytes)
        ]
        inputs = tuple(Sharded(name=f"x{number}", shape="", pieces=None) for number in range(len(given)))
        known = replace(
            program("step", executable, eager=False),
            executable=executable(name="jit_step", argument_bytes=argument_bytes),
            module=hlo.module(*given, name="jit_step", inputs=inputs) if given else None,
            from_host=from_host,
        )
        call = calls("step", 10, 20 * MS, puts=puts, put_ns=5 * MS)
        found = list(dispatch_bound.look(evidence((call,), programs=(known,))))
        cost_ns = [] if copies_ns is None else [pytest.approx(0.9 * (15 * MS - copies_ns))]
        assert [each.cost_ns for each in found] == cost_ns

    def test_calls_of_different_shapes_cannot_become_rounds_of_a_scan(self, evidence: Any, executable: Any) -> None:
        def known(*shapes: str) -> tuple[Program, ...]:
            step = program("step", executable, eager=False)
            inputs = [(Sharded(name="x", shape=each, pieces=None),) for each in shapes]
            return tuple(replace(step, module=hlo.module(name="jit_step", inputs=each)) for each in inputs)

        call = calls("step", 10, 20 * MS)
        (same,) = dispatch_bound.look(evidence((call,), programs=known("f32[8]", "f32[8]")))
        assert same.remedy is not None
        (different,) = dispatch_bound.look(evidence((call,), programs=known("f32[8]", "f32[9]")))
        assert different.remedy is not None
        assert different.remedy.kind == "doctor.dispatch_bound_varying"
        assert (different.code, different.cost_ns) == (None, same.cost_ns)
        unknown = replace(program("step", executable, eager=False), module=None)
        (unread,) = dispatch_bound.look(evidence((call,), programs=(*known("f32[8]"), unknown)))
        assert unread.remedy == same.remedy

    @pytest.mark.parametrize(
        ("body", "remedy"),
        [
            ("w = adam(w)", "scan"),
            ("w = [adam(x) for x in w]", "vmap"),
            ("w[i] = float(x)\n        x = adam(x[max(w, key=w.get)])", "chosen"),
        ],
    )
    def test_a_loop_is_advised_by_what_its_rounds_need(
        self, evidence: Any, executable: Any, tmp_path: Any, body: str, remedy: str
    ) -> None:
        file = tmp_path / "train.py"
        file.write_text(f"def train(w, x):\n    for i in range(50):\n        {body}\n")
        line = Frame(function="train", file=str(file), line=3 + body.count("\n"))
        known = replace(program("adam", executable, eager=False), called_at=line)
        (found,) = dispatch_bound.look(evidence((calls("adam", 50, 20 * MS),), programs=(known,)))
        assert found.remedy is not None
        assert found.remedy.kind == f"doctor.dispatch_bound_{remedy}"
        assert ("in one pass of the loop at" in str(found.remedy)) is (remedy == "vmap")
        assert ("With max(w, key=w.get), Python reads values to choose" in str(found.remedy)) is (remedy == "chosen")

    @pytest.mark.parametrize(
        ("static", "remedy"),
        [
            ("t", "static"),
            ("n", "scan"),  # the same in all rounds
        ],
    )
    def test_a_static_argument_that_varies_cannot_be_scanned_over(
        self, evidence: Any, executable: Any, tmp_path: Any, static: str, remedy: str
    ) -> None:
        file = tmp_path / "train.py"
        file.write_text("def train(w, n):\n    for t in range(50):\n        w = adam(w, n, t)\n")
        line = Frame(function="train", file=str(file), line=3)
        known = replace(program("adam", executable, eager=False), called_at=line, arguments=("w", "n", "t"))
        declared = (StaticParameters(function="adam", names=(static,)),)
        made = evidence((calls("adam", 50, 20 * MS),), programs=(known, known), static=declared)
        (found,) = dispatch_bound.look(made)
        assert found.remedy is not None
        assert found.remedy.kind == f"doctor.dispatch_bound_{remedy}"
        assert ("The static argument t differs from call to call" in str(found.remedy)) == (remedy == "static")
        assert "differ in shape or type" not in str(found.remedy)

    @pytest.mark.parametrize(
        ("loop", "remedy"),
        [
            ("for _ in range(99)", "scan"),
            ("while error > 1e-3", "until"),
            ("while time() < end", "until"),
            ("if error > 1e-3", "unknown"),
        ],
    )
    def test_a_scan_replaces_only_a_loop_that_counts(
        self, evidence: Any, executable: Any, tmp_path: Any, loop: str, remedy: str
    ) -> None:
        file = tmp_path / "solve.py"
        file.write_text(f"def solve(x, error):\n    {loop}:\n        x, error = step(x)\n")
        line = Frame(function="solve", file=str(file), line=3)
        known = replace(program("step", executable, eager=False), called_at=line)
        (found,) = dispatch_bound.look(evidence((calls("step", 10, 20 * MS),), programs=(known,)))
        assert found.line == line.location
        assert found.remedy is not None
        assert found.remedy.kind == f"doctor.dispatch_bound_{remedy}"
        assert ("with jax.lax.scan" in str(found.remedy)) == (remedy != "unknown" and "while error" not in loop)
        assert ("with jax.lax.while_loop inside" in str(found.remedy)) == ("while error" in loop)

    def test_the_advice_to_scan_names_what_cannot_stay_in_the_loop(
        self, evidence: Any, executable: Any, tmp_path: Any
    ) -> None:
        file = tmp_path / "steps.py"
        file.write_text("def train(x):\n    for _ in range(9):\n        x = step(x)\n        save(x)\n")
        line = Frame(function="train", file=str(file), line=3)
        known = replace(program("step", executable, eager=False), called_at=line)
        (found,) = dispatch_bound.look(evidence((calls("step", 10, 20 * MS),), programs=(known,)))
        assert found.remedy is not None
        assert found.remedy.facts["once"] == "save"
        assert "save would run only once" in str(found.remedy)

    @pytest.mark.parametrize(
        ("loop", "way", "waits"),
        [
            ("while time.time() < end", "asked", False),
            ("while float(x) > 1", "until", True),
            ("for _ in range(99)", "group", False),
        ],
    )
    def test_the_end_of_a_loop_of_eager_operations(
        self, evidence: Any, executable: Any, tmp_path: Any, loop: str, way: str, waits: bool
    ) -> None:
        file = tmp_path / "loop.py"
        file.write_text(f"def solve(x):\n    {loop}:\n        x = np.asarray(jnp.sin(x))\n    return x\n")
        at = [Frame(function="solve", file=str(file), line=each) for each in (2, 3)]
        host = (HostShare(line=at[1], called="jax.numpy.sin", samples=9, stack=(at[1],)),)
        waited = HostWait(line=at[0], function="__float__", library=None, count=40, wait_ns=MS)
        known = (program("sin", executable, eager=True),)
        made = evidence((calls("sin", 40, 20 * MS),), programs=known, host=host, waits=(waited,) if waits else ())
        (found,) = not_jitted.look(made)
        assert found.remedy is not None
        assert found.remedy.facts["way"] == way
        of_modules = replace(made, programs=(replace(known[0], library="nnx"),))
        (found,) = not_jitted.look(of_modules)
        assert found.remedy is not None
        assert found.remedy.facts["way"] == way
        assert "under nnx.jit" in str(found.remedy)
        assert "jax.jit" not in str(found.remedy)

    @pytest.mark.parametrize(("loads", "drawing"), [(True, None), (False, "rng.normal")])
    def test_what_loads_the_data_is_not_put_under_jit(
        self, evidence: Any, executable: Any, tmp_path: Any, loads: bool, drawing: str | None
    ) -> None:
        file = tmp_path / "train.py"
        file.write_text(
            "import numpy as np\nrng = np.random.default_rng(0)\ndef batches():\n    yield rng.normal(size=3)\n"
            "for x in batches():\n    y = jnp.sin(x)\n"
        )
        names = (LibraryNames(function=None, paths=(("np", "numpy"), ("rng", "numpy.random.Generator"))),)
        own, loop = (Frame(function="<module>", file=str(file), line=each) for each in (6, 5))
        inside = Frame(function="batches", file=str(file), line=4)
        host = (
            HostShare(line=own, called="jax.numpy.sin", samples=9),
            HostShare(line=inside, called="", samples=9, loading=(inside, loop) if loads else ()),
        )
        known = (replace(program("sin", executable, eager=True), called_at=own),)
        (found,) = not_jitted.look(evidence((calls("sin", 40, 20 * MS),), programs=known, host=host, names=names))
        assert found.remedy is not None
        assert found.remedy.facts["way"] == "group"
        assert found.remedy.facts.get("random") == drawing

    @pytest.mark.parametrize("scope", ["global", "nonlocal"])
    def test_a_variable_from_around_the_function_is_to_be_passed(
        self, evidence: Any, executable: Any, tmp_path: Any, scope: str
    ) -> None:
        file = tmp_path / "train.py"
        file.write_text(f"def step(x):\n    {scope} w\n    w = jnp.sin(x) * w\n    return w\n")
        own = Frame(function="step", file=str(file), line=3)
        known = (replace(program("sin", executable, eager=True), called_at=own),)
        host = (HostShare(line=own, called="jax.numpy.sin", samples=9),)
        (found,) = not_jitted.look(evidence((calls("sin", 40, 20 * MS),), programs=known, host=host))
        assert found.remedy is not None
        assert "Under jit, w would be assigned only while JAX traces" in str(found.remedy)

    @pytest.mark.parametrize(
        ("round_", "in_round"),
        [("x = clip(x) + x * 0.1", True), ("x = clip(x)", False), ("y = clip(x) + x * 0.1", False)],
        ids=["more than the function", "the function alone", "rounds for vmap"],
    )
    def test_a_function_that_a_loop_calls_beside_other_operations(
        self, evidence: Any, executable: Any, tmp_path: Any, round_: str, in_round: bool
    ) -> None:
        code = f"@jax.jit\ndef run_step(x):\n    {round_}\n    return"
        file = tmp_path / "train.py"
        file.write_text(
            "def clip(x):\n    return jnp.clip(x * 2 + 1, -1, 1)\n"
            f"def run(x):\n    for _ in range(99):\n        {round_}\n"
        )
        own = Frame(function="clip", file=str(file), line=2)
        stack = (Frame(function="run", file=str(file), line=5), own)
        known = tuple(
            replace(
                program(name, executable, eager=True),
                called_at=own,
                module=hlo.module(hlo.instruction(name, stack=stack), name=f"jit_{name}"),
            )
            for name in ("multiply", "clip")
        )
        often = (calls("multiply", 297, 20 * MS), calls("clip", 99, MS))
        host = (HostShare(line=own, called="jax.numpy.clip", samples=99, stack=stack),)
        (found,) = not_jitted.look(evidence(often, programs=known, host=host))
        assert str(found.code).startswith(code) is in_round

    def test_calls_of_several_functions_with_one_name_are_not_added_up(self, evidence: Any, executable: Any) -> None:
        one = replace(program("<lambda>", executable, eager=False), location="cell 2:1")
        other = replace(one, location="cell 2:5")
        call = calls("<lambda>", 10, 20 * MS)
        assert list(dispatch_bound.look(evidence((call,), programs=(one, one))))
        assert not list(dispatch_bound.look(evidence((call,), programs=(one, other))))

    def test_parts_of_an_eager_derivative_are_no_calls_of_the_user(self, evidence: Any, executable: Any) -> None:
        known = (replace(program("dot", executable, eager=False), function=None),)
        assert not list(dispatch_bound.look(evidence((calls("dot", 10, 20 * MS),), programs=known)))

    def test_costs_do_not_add_up_to_more_than_the_idle_time(self, evidence: Any, executable: Any) -> None:
        known = (program("sin", executable, eager=True), program("step", executable, eager=False))
        made = evidence((calls("sin", 100, 50 * MS), calls("step", 100, 50 * MS)), programs=known)
        both = [*not_jitted.look(made), *dispatch_bound.look(made)]
        assert sum(each.cost_ns or 0 for each in both) == pytest.approx(50 * MS, rel=0.01)


def test_jitted_functions_have_their_operations_in_each_call(evidence: Any, executable: Any) -> None:
    """So many are there if a loop around them is unrolled."""
    module = hlo.module(*(hlo.instruction(f"add.{number}") for number in range(7)), name="jit_step")
    known = (program("sin", executable, eager=True), replace(program("step", executable, eager=False), module=module))
    made = evidence((calls("sin", 100, 1), calls("step", 50, 1), calls("other", 3, 1)), programs=known)
    assert jitted_operations(made) == 50 * len(module.instructions)
    assert jitted_operations(replace(made, host_use=None)) == 0


@pytest.mark.parametrize(
    ("recorded_ms", "disturbed_ms", "scale"),
    [
        (100, 0, 1.0),  # as long as the other runs
        (200, 0, 0.5),  # the profiler slows the host down
        (250, 50, 0.5),  # and something else did
        (150, 100, 1.0),  # without which it is faster than the others: perhaps these steps are long in each run
        (50, 0, 2.0),  # other processes slowed down the other runs
    ],
)
def test_recorded_times_are_shares_of_an_undisturbed_run(
    evidence: Any, recorded_ms: int, disturbed_ms: int, scale: float
) -> None:
    made = evidence()
    changed = replace(
        made,
        profile=replace(made.profile, recorded_ns=recorded_ms * MS),
        host_use=replace(made.host_use, disturbed_ns=disturbed_ms * MS),
    )
    time = host_time(changed)
    assert time is not None
    assert time.scale == pytest.approx(scale)


def test_a_cost_in_the_best_run_is_compared_with_that_run(evidence: Any) -> None:
    made = evidence()
    best = made.observed
    slow = replace(best, wait_ns=best.wait_ns + 300 * MS)
    disturbed = replace(made, observed=slow, timed=(best, slow, slow))
    assert disturbed.run_ns == best.wall_ns
    for cost_ns in (5 * MS, 4_999_999):
        assert matters(cost_ns, disturbed) == matters(cost_ns, made) == (cost_ns == 5 * MS)


def test_a_cost_is_compared_with_a_run_without_its_compilations(evidence: Any) -> None:
    """Code that runs once has no other run, and compiles in it."""
    made = evidence()
    first = replace(made.observed, dispatch_ns=950 * MS, compilation_ns=900 * MS)
    for cost_ns in (5 * MS, 4_999_999):
        assert matters(cost_ns, replace(made, observed=first, timed=())) == (cost_ns == 5 * MS)


class TestOneOfSeveralFunctions:
    """Lines 1 to 6 of `source` are a function; other operations are called elsewhere.

    Each of the 100 calls takes 0.4 ms, and the one call of the function somewhat longer once it is jitted.
    """

    CALL_NS = OWN_CALL * 40 * MS / 100

    @pytest.fixture
    def found(self, evidence: Any, executable: Any, source: str) -> Callable[..., RuleFinding]:
        def find(inside: int, elsewhere: int, first: int = 1, ran_ns: int | None = None) -> RuleFinding:
            """Give samples of the function and of other operations."""
            line = Frame(function="train", file=source, line=4)
            far = Frame(function="other", file="other.py", line=1)
            host = (
                HostShare(line=line, called="jax.numpy.sin", samples=inside),
                HostShare(line=far, called="", samples=elsewhere),
            )
            share = FunctionShare(
                function=replace(line, line=first),
                called="jax.numpy.sin",
                samples=inside,
                time_ns=inside * RUN_NS // (inside + elsewhere) if ran_ns is None else ran_ns,
            )
            (finding,) = not_jitted.look(
                evidence(
                    (calls("sin", 100, 40 * MS),),
                    programs=(program("sin", executable, eager=True),),
                    host=tuple(each for each in host if each.samples),
                    functions=(share,),
                )
            )
            assert isinstance(finding, RuleFinding)
            return finding

        return find

    def test_all_time_counts_if_the_function_has_all_operations(self, found: Callable[..., RuleFinding]) -> None:
        """All but one of 90 samples of operations at the least, in a run of which the device works for half."""
        finding = found(90, 0)
        assert (finding.cost_ns, finding.basis, finding.evidence) == (
            pytest.approx(RUN_NS * (1 - 1 / 90) - 50 * MS - self.CALL_NS),
            "at least",
            (),
        )

    def test_with_others_elsewhere_it_has_its_share_of_the_samples(self, found: Callable[..., RuleFinding]) -> None:
        finding = found(60, 40)
        assert (finding.cost_ns, finding.basis) == (pytest.approx(0.6 * 40 * MS - self.CALL_NS), "at least")
        assert finding.evidence[0].facts["share"] == 0.6
        assert str(finding.evidence[0]).startswith("train has 60")

    def test_it_has_no_more_than_the_time_in_which_it_ran(self, found: Callable[..., RuleFinding]) -> None:
        finding = found(600, 400, ran_ns=10 * MS)
        chance = 2 * (0.1 * 0.9 / 1000) ** 0.5 + 1 / 1000  # of a tenth of a thousand samples
        assert finding.cost_ns == pytest.approx((0.1 + chance) * RUN_NS - self.CALL_NS)

    def test_a_function_with_hardly_any_of_them_is_not_the_one_to_jit(
        self, found: Callable[..., RuleFinding]
    ) -> None:
        finding = found(10, 990)
        assert (finding.cost_ns, finding.basis) == (pytest.approx(40 * MS - self.CALL_NS), "at least")
        assert finding.remedy is not None
        assert finding.remedy.facts["way"] == "group"
        assert str(finding.remedy) == "Put these operations into a function under jax.jit."
        assert (finding.code, finding.evidence) == (None, ())  # no share of a function that the advice does not name

    @pytest.mark.parametrize(
        ("own_ms", "cost_ms", "basis", "told"),
        [
            (10, 30, "at least", []),
            (35, 5, "at least", []),
            (36, 40, "estimated", ["doctor.not_jitted_own_calls"]),  # less than 5 % of the run is left
            (60, 40, "estimated", ["doctor.not_jitted_own_calls"]),
        ],
    )
    def test_where_its_own_calls_take_as_long_only_one_with_the_loop_inside_saves_the_time(
        self,
        found: Callable[..., RuleFinding],
        monkeypatch: pytest.MonkeyPatch,
        own_ms: int,
        cost_ms: int,
        basis: str,
        told: list[str],
    ) -> None:
        monkeypatch.setattr(not_jitted, "spared_by", lambda *_, **__: Spared(0.0, own_ns=own_ms * MS))
        finding = found(10, 990)
        assert (finding.cost_ns, finding.basis) == (pytest.approx(cost_ms * MS), basis)
        assert [each.kind for each in finding.evidence] == told
        assert finding.remedy is not None
        assert (finding.remedy.facts["way"] == "whole") is bool(told)
        assert ("instead of the loop, which would otherwise be unrolled" in str(finding.remedy)) is bool(told)

    def test_what_is_tried_is_what_is_advised(
        self, found: Callable[..., RuleFinding], monkeypatch: pytest.MonkeyPatch, source: str
    ) -> None:
        """The remedy is not applied to a function that hardly has any of the operations."""
        (train,) = ast.parse("def train(x): return x").body
        assert isinstance(train, ast.FunctionDef)
        transformed = TransformedFunction(Part(train, source), [])
        monkeypatch.setattr(advice, "transformed_function", lambda line, evidence: transformed)
        monkeypatch.setattr(advice, "transforms", lambda evidence: True)
        findings = found(90, 0), found(10, 990)
        assert [each.applies_to for each in findings] == ["train", None]
        ways = [each.remedy.facts["way"] for each in findings if each.remedy is not None]
        assert ways == ["outermost", "group"]

    def test_with_few_samples_the_cost_is_that_of_all_operations(self, found: Callable[..., RuleFinding]) -> None:
        finding = found(9, 0)
        assert finding.cost_ns == pytest.approx(40 * MS - self.CALL_NS)
        assert "is unknown" in str(finding.evidence[0])
        assert found(10, 0).evidence == ()

    def test_a_function_of_the_same_name_is_another_one(self, found: Callable[..., RuleFinding]) -> None:
        assert found(95, 5).evidence[0].facts["share"] == 0.95
        remedy = found(95, 5, first=2).remedy
        assert remedy is not None
        assert remedy.facts["way"] == "group"


@pytest.mark.parametrize(
    ("count", "transformed", "is_found"), [(10, "sin", True), (9, "sin", False), (29, None, False)]
)
def test_few_operations_that_are_traced_in_each_call_are_found(
    evidence: Any, executable: Any, count: int, transformed: str | None, is_found: bool
) -> None:
    known = replace(program("sin", executable, eager=True), transformed=transformed)
    found = list(not_jitted.look(evidence((calls("sin", count, 20 * MS),), programs=(known,))))
    assert [each.remedy is not None and each.remedy.facts["way"] for each in found] == ["outermost"] * is_found


class TestLineOfOperations:
    """Lines 4 and 5 of `source` are in its loop, line 2 and 6 beside it."""

    @pytest.fixture
    def found_line(
        self, evidence: Any, executable: Any, timing: Any, compilation: Any, source: str
    ) -> Callable[..., str | None]:
        def find(*first_at: int, compiled: int = 1, samples: int = 0) -> str | None:
            programs = []
            for number in first_at:
                at = Frame(function="train", file=source, line=number)
                programs.append(replace(program("sin", executable, eager=True), called_at=at))
            host = HostShare(
                line=Frame(function="train", file=source, line=4), called="jax.numpy.sin", samples=samples
            )
            made = compilation(function="sin", eager=True, tracing_ns=1)
            (found,) = not_jitted.look(
                evidence(
                    (calls("sin", 100, 20 * MS),),
                    programs=tuple(programs),
                    first=timing(compilations=(made,) * compiled),
                    host=(host,) if samples else (),
                )
            )
            return found.line and found.line.rpartition(":")[2]

        return find

    @pytest.mark.parametrize("compiled", [0, 1, 2])  # an earlier cell may have compiled them
    def test_is_the_one_that_called_them_first(self, found_line: Callable[..., str | None], compiled: int) -> None:
        assert found_line(5, compiled=compiled) == "5"
        assert found_line(5, 5, compiled=compiled) == "5"
        assert found_line(4, 5, 5, compiled=compiled) == "5"

    def test_is_unknown_if_several_lines_called_as_many_first(self, found_line: Callable[..., str | None]) -> None:
        assert found_line(4, 5) is None

    def test_is_not_one_beside_the_loop_that_may_call_them_as_well(
        self, found_line: Callable[..., str | None]
    ) -> None:
        assert found_line(2) is None
        assert found_line(6) is None

    def test_is_the_sampled_one_where_there_are_samples(self, found_line: Callable[..., str | None]) -> None:
        assert found_line(2, samples=3) == "4"
        assert found_line(5, samples=2) == "5"

    @pytest.mark.parametrize(
        ("name", "waits", "line"),
        [
            ("less", {3: ("__bool__", 100)}, "3"),
            ("less", {3: ("__bool__", 50)}, None),
            ("less", {3: ("__float__", 100)}, None),
            ("less", {3: ("__bool__", 100), 5: ("__bool__", 100)}, None),
            ("less", {4: ("__bool__", 100)}, None),
            ("less", {7: ("__bool__", 100)}, None),
            ("less", {9: ("__bool__", 100)}, None),
            ("sin", {3: ("__bool__", 100)}, None),
        ],
    )
    def test_is_that_of_the_condition_that_waits_for_a_comparison(
        self, evidence: Any, executable: Any, tmp_path: Path, name: str, waits: Any, line: str | None
    ) -> None:
        file = tmp_path / "solve.py"
        file.write_text("def solve(x, tol):\n    while True:\n        if x < tol:\n            x = f(x)\n"
                        "        if x > 0 and not g(x):\n            break\n        if x.any():\n"
                        "            x = x > 1\n")  # fmt: skip
        found = [
            HostWait(line=Frame(function="solve", file=str(file), line=at), function=function, library=None,
                     count=count, wait_ns=1) for at, (function, count) in waits.items()
        ]  # fmt: skip
        known = (program(name, executable, eager=True),)
        (finding,) = not_jitted.look(evidence((calls(name, 100, 20 * MS),), programs=known, waits=tuple(found)))
        assert finding.line == (line and f"{file}:{line}")

    def test_is_not_one_at_which_a_jitted_function_was_traced(
        self, evidence: Any, executable: Any, source: str
    ) -> None:
        own, traced, step = (
            Frame(function=name, file=source, line=line) for name, line in (("train", 4), ("loss", 2), ("step", 6))
        )
        host = (
            HostShare(line=traced, called="jax.numpy.sin", samples=60, stack=(traced, step, own)),
            HostShare(line=own, called="jax.numpy.sin", samples=5, stack=(own,)),
        )
        known = (program("sin", executable, eager=True), program("step", executable, eager=False))
        (found,) = not_jitted.look(evidence((calls("sin", 100, 20 * MS),), programs=known, host=host))
        assert found.line == f"{source}:4"

    def test_is_in_the_function_with_most_samples(self, evidence: Any, executable: Any, source: str) -> None:
        at = [Frame(function=name, file=source, line=each) for each, name in ((1, "far"), (4, "train"), (5, "train"))]
        called = "jax.numpy.sin", "jax._src.random.normal", "jax.numpy.sin"
        samples = zip(at, called, (4, 3, 3), strict=True)
        host = tuple(HostShare(line=each, called=of, samples=count) for each, of, count in samples)
        known = (program("sin", executable, eager=True),)
        (found,) = not_jitted.look(evidence((calls("sin", 100, 20 * MS),), programs=known, host=host))
        assert found.line == f"{source}:4"


class TestInput:
    def shares(self, source: str, line: int, samples: int, called: str = "") -> tuple[HostShare, ...]:
        return (HostShare(line=Frame(function="train", file=source, line=line), called=called, samples=samples),)

    @pytest.mark.parametrize(("samples", "cost_ns"), [(10, 10 * MS), (9, None)])
    def test_samples_in_an_iterator(self, evidence: Any, source: str, samples: int, cost_ns: Any) -> None:
        found = list(input_bound.look(evidence(host=self.shares(source, 3, samples))))
        assert [each.cost_ns for each in found] == ([] if cost_ns is None else [cost_ns])

    @pytest.mark.parametrize("called", ["concurrent.futures._base.Future.result", "queue.Queue.get"])
    def test_data_that_another_thread_loads_is_not_loaded_here(self, evidence: Any, source: str, called: str) -> None:
        assert not list(input_bound.look(evidence(host=self.shares(source, 3, 50, called))))

    def test_a_function_that_computes_an_item_is_input_unless_it_is_called_by_one_that_dispatches(
        self, evidence: Any, source: str
    ) -> None:
        frames = [Frame(function=name, file=source, line=9) for name in ("read", "train", "main")]
        host = (HostShare(line=frames[0], called="", samples=50, loading=tuple(frames)),)
        assert list(input_bound.look(evidence(host=host)))
        assert not list(input_bound.look(evidence(host=host, waits=(waits_at(source, 5, count=1),))))

    @pytest.mark.parametrize("target", ["batch", "x, y", "step, (x, y)"])
    def test_the_loop_over_a_loader_is_the_one_to_change(self, evidence: Any, source: str, target: str) -> None:
        with open(source) as file:
            text = file.read()
        with open(source, "w") as file:
            file.write(text.replace("for batch in loader", f"for {target} in loader"))
        frames = tuple(Frame(function=name, file=source, line=line) for name, line in (("read", 9), ("train", 3)))
        host = HostShare(line=frames[0], called="", samples=50, loading=frames)
        (found,) = input_bound.look(evidence(host=(host,)))
        assert found.code is not None
        assert found.code.endswith(f"for {target} in prefetched(loader):")

    @pytest.mark.parametrize(("compile_ms", "hidden_ns"), [(0, 20 * MS), (50, 20 * MS), (70, 10 * MS), (79, None)])
    def test_what_is_loaded_ahead_hides_no_more_than_the_run_takes_besides(
        self, evidence: Any, source: str, timing: Any, compilation: Any, compile_ms: int, hidden_ns: int | None
    ) -> None:
        """Of 100 ms, 20 ms are loading: while one program compiles, one item is loaded."""
        stages = dict.fromkeys(("tracing_ns", "lowering_ns"), 0) | {"compilation_ns": compile_ms * MS}
        only = timing(compilation(**stages), dispatch_ns=100 * MS, wait_ns=0, cpu_user_ns=1, cpu_system_ns=1)
        host = (*self.shares(source, 3, 20), *self.shares(source, 4, 80))
        busy = Dispatch(name="step", count=1, host_ns=0, exposed_ns=0, busy_ns=2 * MS)
        made = evidence((busy,), host=host, observed=only, timed=(), first=only)
        (found,) = input_bound.look(made)
        assert found.remedy is not None
        assert found.remedy.facts.get("hidden_ns") == hidden_ns

    def test_samples_stand_for_the_time_between_them(self, evidence: Any, source: str) -> None:
        made = evidence(host=(*self.shares(source, 3, 20), *self.shares(source, 4, 60)))
        slow = replace(made, observed=replace(made.observed, dispatch_ns=4 * made.run_ns))
        (found,) = input_bound.look(slow)
        whole = slow.run_ns * slow.observed.dispatch_ns / slow.observed.wall_ns
        assert found.found.facts["loading_ns"] == pytest.approx(whole * 20 / 80)

    @pytest.mark.parametrize(
        ("items", "code", "loaders"),
        [
            ("loader", None, "loader"),
            ("enumerate(loader)", None, "loader"),
            ("zip(range(3), batches(x, 2), other.data)", None, "batches(), other.data"),
            ("data.epoch(1)", None, "data.epoch()"),
            ("shown(loader, desc='x')", None, "shown()"),
            ("iter(loader)", None, "loader"),
            ("range(3)", None, None),
            ("x", "train(batches(3))", "batches()"),
            ("x", "y = train(x=loader)", "loader"),
            ("x", "train(a) + train(b)", "x"),
            ("f(x)(1)", None, None),
        ],
    )
    def test_what_is_iterated_over_is_named_for_verifying(
        self, evidence: Any, source: str, items: str, code: str | None, loaders: str | None
    ) -> None:
        with open(source) as file:
            text = file.read()
        with open(source, "w") as file:
            file.write(text.replace("in loader:", f"in {items}:"))
        line = Frame(function="train", file=source, line=3)
        host = (HostShare(line=line, called="", samples=50, loading=(line,)),)
        (found,) = input_bound.look(evidence(host=host, code=code))
        assert found.applies_to == loaders

    def test_an_item_that_a_call_computes_is_input_at_the_line_of_the_loop(self, evidence: Any, source: str) -> None:
        with open(source, "w") as file:
            file.write("def train(n):\n    for i in range(n):\n        batch = load(i)\n        step(batch)\n")
        outer, inner = (Frame(function=name, file=source, line=3) for name in ("train", "load"))
        share = HostShare(line=inner, called="", samples=50, stack=(inner, outer))
        waits = (waits_at(source, 4, count=1),)
        (found,) = input_bound.look(evidence(host=(share,), waits=waits))
        assert found.source == "batch = load(i)"
        assert found.applies_to is None
        assert found.code is not None
        assert found.code.endswith(
            "# replaces for i in range(n): batch = load(i)\n"
            "for i, batch in prefetched((i, load(i)) for i in range(n)):"
        )
        at_line = HostShare(line=outer, called="", samples=50, stack=(outer,))
        assert list(input_bound.look(evidence(host=(at_line,), waits=waits)))
        also_waits = (*waits, waits_at(source, 3, count=1))
        assert not list(input_bound.look(evidence(host=(at_line,), waits=also_waits)))
        elsewhere = HostShare(line=inner, called="queue.Queue.get", samples=50, stack=(inner, outer))
        assert not list(input_bound.look(evidence(host=(elsewhere,), waits=waits)))

    @pytest.mark.parametrize(
        ("item", "called", "kind"),
        [
            ("[[np.sin(v) for v in x] for x in data[i]]", "", "in_numpy"),
            ("[read(v) for v in data[i]]", "", "prefetch"),
            ("[np.load(v) for v in data[i]]", "", "prefetch"),
            ("[load(v) for v in data[i]]", "numpy.load", "prefetch"),
            ("load(i)", "", "prefetch"),
        ],
    )
    def test_what_python_computes_element_by_element_is_not_to_be_prefetched(
        self, evidence: Any, source: str, item: str, called: str, kind: str
    ) -> None:
        with open(source, "w") as file:
            file.write(
                f"def train(n):\n    for i in range(n):\n        batch = np.array({item})\n        step(batch)\n"
            )
        outer, inner = (Frame(function=name, file=source, line=3) for name in ("train", "<listcomp>"))
        share = HostShare(line=inner, called=called, samples=30, stack=(inner, outer))
        (found,) = input_bound.look(evidence(host=(share,), waits=(waits_at(source, 4, count=1),)))
        assert found.remedy is not None
        assert found.remedy.kind == f"doctor.input_bound_{kind}"
        assert (found.code is None) == (kind == "in_numpy")

    def test_statements_that_make_an_item_together_are_input(self, evidence: Any, source: str) -> None:
        with open(source, "w") as file:
            file.write("def train(n):\n    for i in range(n):\n        x = []\n        for v in data[i]:\n"
                       "            x.append(v * 2)\n        fast(x)\n")  # fmt: skip
        line = Frame(function="train", file=source, line=5)
        host = (HostShare(line=line, called="", samples=30, stack=(line,)),)
        waits = (waits_at(source, 6, count=1),)
        jitted = Input(path="fast", kind="function", type="PjitFunction")
        (found,) = input_bound.look(evidence(host=host, waits=waits, inputs=(jitted,)))
        assert (found.source, found.code) == ("x.append(v * 2)", None)
        assert found.remedy is not None
        assert found.remedy.kind == "doctor.input_bound_in_numpy"
        assert not list(input_bound.look(evidence(host=host, waits=waits)))

    def test_other_lines_are_no_input(self, evidence: Any, source: str) -> None:
        assert not list(input_bound.look(evidence(host=self.shares(source, 4, 50))))
        assert not list(
            input_bound.look(evidence(host=self.shares(source, 3, 50, "jax._src.array.ArrayImpl.__iter__")))
        )


class TestTransfer:
    @pytest.mark.parametrize(
        ("size_bytes", "pending_ns", "puts", "found"),
        [
            (2**20 // 4, 30 * MS, 4, True),
            (2**20 // 4 - 1, 30 * MS, 4, False),
            (2**20, 5_399_999, 4, False),
            (2**20, 30 * MS, 3, False),
        ],
    )
    def test_borders(
        self, evidence: Any, executable: Any, source: str, size_bytes: int, pending_ns: int, puts: int, found: bool
    ) -> None:
        module = HloModule(
            name="jit_step",
            instructions={},
            computations={},
            instruction_ids={},
            inputs=(Sharded(name="x", shape="f32[512,512]", pieces=None),),
        )
        known = (replace(program("step", executable, eager=False), module=module),)
        array = Input(path="y", kind="numpy array", type="float32[512,512]", size_bytes=size_bytes)
        host = (HostShare(line=Frame(function="train", file=source, line=4), called="", samples=9),)
        with open(source, "w") as file:
            file.write("def train(y):\n    w = 1\n    for _ in range(4):\n        w = step(y)\n    return w\n")
        call = calls("step", 4, 0, pending_ns=pending_ns, puts=puts)
        rows = list(transfer.look(evidence((call,), programs=known, inputs=(array,), host=host)))
        assert bool(rows) is found
        assert all((each.code, each.basis) == ("y = jax.device_put(y)", "at least") for each in rows)

    @pytest.mark.parametrize(
        "change", ["y[0] = w", "rng.shuffle(y)", "np.copyto(y, x)", "y.sort()", "np.sin(x, out=y)"]
    )
    def test_an_array_that_changes_is_copied_as_it_is(
        self, evidence: Any, executable: Any, tmp_path: Any, change: str
    ) -> None:
        file = tmp_path / "changes.py"
        file.write_text(f"def train(y):\n    w = 1\n    for _ in range(4):\n        w = step(y); {change}\n")
        module = hlo.module(name="jit_step", inputs=(Sharded(name="x", shape="f32[512,512]", pieces=None),))
        line = Frame(function="train", file=str(file), line=4)
        known = (replace(program("step", executable, eager=False), module=module, called_at=line),)
        array = Input(path="y", kind="numpy array", type="float32[512,512]", size_bytes=2**20)
        call = calls("step", 4, 0, pending_ns=30 * MS, puts=4)
        assert list(transfer.look(evidence((call,), programs=known, inputs=(array,)))) == []
        file = tmp_path / "stays.py"
        file.write_text("def train(y):\n    w = 1\n    for _ in range(4):\n        w = step(y) + np.sort(y)\n")
        known = (replace(known[0], called_at=replace(line, file=str(file))),)
        assert len(list(transfer.look(evidence((call,), programs=known, inputs=(array,))))) == 1

    @pytest.mark.parametrize(
        ("count", "exposed_ns", "limit_bytes", "cost_ns"),
        [
            (8, 30 * MS, None, 22 * MS),  # 0.8 ms are calls; the first of four rounds remains
            (8, 30 * MS, 16 * 2**20, 22 * MS),
            (8, 30 * MS, 16 * 2**20 - 1, None),
            (4, 30 * MS, None, 4 * 2**22 * 0.5),
            (3, 30 * MS, None, 3 * 2**22),  # one pass: nothing is copied if all are on the device before
            (8, 800_000, None, None),
            (8, 90 * MS, None, 8 * 2**22 * 0.75),  # no copy is slower than 1 GB/s
        ],
    )
    def test_batches_that_are_given_in_several_rounds(
        self,
        evidence: Any,
        executable: Any,
        tmp_path: Any,
        count: int,
        exposed_ns: int,
        limit_bytes: int | None,
        cost_ns: float | None,
    ) -> None:
        file = tmp_path / "epochs.py"
        file.write_text("def train(ys):\n    for _ in range(4):\n        for y in ys:\n            w = step(y)\n")
        module = hlo.module(name="jit_step", inputs=(Sharded(name="x", shape="f32[1024,1024]", pieces=None),))
        line = Frame(function="train", file=str(file), line=4)
        known = replace(program("step", executable, eager=False), module=module, called_at=line)
        arrays = [
            Input(path=f"ys[{at}]", kind="numpy array", type="float32[1024,1024]", size_bytes=2**22) for at in (0, 1)
        ]
        inputs = (Input(path="ys", kind="other", type="list"), *arrays)
        call = calls("step", count, exposed_ns, puts=count)
        rows = list(transfer.look(evidence((call,), programs=(known,), inputs=inputs, limit_bytes=limit_bytes)))
        assert bool(rows) is (cost_ns is not None)
        when = "before the loops" if count >= 4 else "once, before this code"
        for each in rows:
            assert (each.line, each.code) == (line.location, f"ys = jax.device_put(ys)  # {when}")
            assert each.found.facts["size_bytes"] == count * 2**22
            assert each.cost_ns == pytest.approx(cost_ns, rel=0.05)
