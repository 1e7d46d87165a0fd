"""Fresh processes: what they are given, what they give back, and what is left of them."""

from __future__ import annotations

import os
import signal
import sys
import threading
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import jax
import jax.numpy as jnp
import psutil
import pytest
from settings import enabled_x64

import jaxmagic
from jaxmagic.benchmarking.capture import launches
from jaxmagic.benchmarking.capture.launched import Failure, settings
from jaxmagic.benchmarking.capture.launches import Statement, _result_of, launch, statement_of, take_launches
from jaxmagic.benchmarking.capture.plan import Plan
from jaxmagic.benchmarking.capture.runner import runner_of
from jaxmagic.benchmarking.capture.sending import pack
from jaxmagic.benchmarking.record.benchmark import Benchmark

pytestmark = pytest.mark.clock

QUICK = Plan(budget_ns=10**7, samples=6)


class Told:
    """A progress that remembers what it was told."""

    def __init__(self) -> None:
        self.events: list[tuple[Any, ...]] = []

    def stage(self, text: str, total: int | None = None) -> None:
        self.events.append((text, total))

    def advance(self, done: float, total: float | None = None) -> None:
        self.events.append((done, total))


@pytest.mark.slow
@pytest.mark.parametrize("guard", ["disallow", "disallow_explicit"])
def test_arrays_reach_a_process_under_a_guard_of_transfers(guard: str) -> None:
    given = (jnp.ones(8), jax.random.key(0))
    f = jax.jit(lambda x, key: x + jax.random.uniform(key))
    with jax.transfer_guard(guard):
        record = take_launches(statement_of(f, given, {}), QUICK, 1)
    assert len(record.trials[0].samples_ns) == 6


@pytest.mark.slow
def test_a_guard_of_transfers_is_that_of_the_function_in_a_process() -> None:
    def f() -> Any:
        return jax.device_put(1.0)

    with (
        jax.transfer_guard("disallow_explicit"),
        pytest.raises(jaxmagic.LaunchError, match="Disallowed host-to-device transfer"),
    ):
        take_launches(statement_of(f, (), {}), QUICK, 1)


@pytest.mark.slow
def test_each_process_gives_its_own_samples_and_all_are_of_as_many_calls() -> None:
    weight = jnp.ones((8, 8))

    @jax.jit
    def f(x: Any) -> Any:
        return x @ weight

    progress = Told()
    record = take_launches(statement_of(f, (jnp.ones((8, 8)),), {}), QUICK, 2, code="f", progress=progress)
    assert [len(each.samples_ns) for each in record.trials] == [6, 6]
    assert [each.stopped_by for each in record.launches] == ["count", "count"]
    assert all(each.compile_ns > 0 for each in record.launches)
    assert record.code == "f"
    assert record.value is None
    assert record.pipelined is None
    assert record.environment.device_count == len(jax.devices())
    assert progress.events == [("fresh processes", 2), (0, 2), (1, 2), (2, 2)]
    assert not psutil.Process().children()


def test_the_first_process_chooses_how_many_calls_a_sample_is(monkeypatch: Any, benchmark: Benchmark) -> None:
    plan, plans = Plan(samples=5), []

    def launched(job: partial[Benchmark], argument: bytes, who: str) -> Benchmark:
        assert job.keywords["plan"] == plan  # else a later process would take the number of calls for the user's
        plans.append((job.keywords["evaluations"], job.keywords["device"], who))
        return replace(benchmark, latency=replace(benchmark.latency, evaluations=7))

    monkeypatch.setattr(launches, "launch", launched)
    record = take_launches(statement_of(abs, (1,), {}), plan, 3, device=True)
    assert plans == [(None, True, "process 1 of 3"), (7, False, "process 2 of 3"), (7, False, "process 3 of 3")]
    assert record.latency.evaluations == 7


@pytest.mark.slow
def test_a_process_shares_directory_path_variables_and_settings_but_not_the_users_prints(
    monkeypatch: Any, tmp_path: Path, capfd: Any
) -> None:
    empty = tmp_path / "temporary"
    empty.mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("TMPDIR", str(empty))
    # A shell of IPython 7 adds this folder, and the package `tests` in it goes before the folder of these tests.
    monkeypatch.setattr(
        sys, "path", [each for each in sys.path if Path(each).parts[-2:] != ("IPython", "extensions")]
    )
    monkeypatch.syspath_prepend(str(tmp_path / "modules"))

    def look(_: None) -> Any:
        import sys

        print("on standard output")
        config = settings()
        return os.getcwd(), sys.path, os.environ.get("XLA_PYTHON_CLIENT_PREALLOCATE"), config, os.getpid()

    with jax.default_matmul_precision("highest"), enabled_x64():
        here = settings()
        there = launch(_call, pack(look, {}), "process 1 of 1")
    assert there[:3] == (str(tmp_path), sys.path, "false")
    assert there[3] == here
    assert here["jax_enable_x64"]
    assert here["jax_default_matmul_precision"] == "highest"
    assert there[4] != os.getpid()
    assert capfd.readouterr() == ("", "")
    assert list(empty.iterdir()) == []


@pytest.mark.slow
def test_the_default_device_is_that_of_the_user() -> None:
    def where(x: Any) -> Any:
        device = (jnp.ones(3) + x).devices().pop()
        assert device.id == 1, device
        return x

    with jax.default_device(jax.devices()[1]):
        statement = statement_of(where, (1.0,), {})
        assert take_launches(statement, QUICK, 1).launches


@pytest.mark.slow
def test_an_error_in_a_process_says_which_one_and_what_was_written() -> None:
    def fails(x: Any) -> Any:
        print("so far so good")
        return 1 / x

    with pytest.raises(jaxmagic.LaunchError, match="process 1 of 2 failed: ZeroDivisionError") as error:
        take_launches(statement_of(fails, (0,), {}), QUICK, 2)
    for told in ("so far so good", "return 1 / x"):
        assert told in str(error.value)
    with pytest.raises(jaxmagic.LaunchError, match="process 1 of 2 failed: no result: it exited with status 3"):
        take_launches(statement_of(lambda: os._exit(3), (), {}), QUICK, 2)


def test_what_the_processes_before_one_that_failed_have_measured_is_kept(
    monkeypatch: pytest.MonkeyPatch, benchmark: Benchmark
) -> None:
    given = iter([benchmark, benchmark])

    def launched(*_: Any) -> Benchmark:
        found = next(given, None)
        if found is None:
            raise jaxmagic.LaunchError("process 3 of 5 failed")
        return found

    monkeypatch.setattr(launches, "launch", launched)
    kept: list[Any] = []
    with pytest.raises(jaxmagic.LaunchError):
        take_launches(statement_of(abs, (1,), {}), Plan(), 5, unfinished=kept.append)
    assert [(len(each.launches), each.stopped_by, each.error) for each in kept] == [(2, "error", "LaunchError")]
    with pytest.raises(jaxmagic.LaunchError):
        take_launches(statement_of(abs, (1,), {}), Plan(), 5, unfinished=kept.append)
    assert len(kept) == 1


@pytest.mark.slow
def test_what_is_used_up_says_so_as_in_this_process() -> None:
    with pytest.raises(jaxmagic.DonatedTwice, match=r"Make fresh copies .* Create x again first if x.is_deleted\(\)"):
        take_launches(statement_of(jax.jit(lambda x: x + 1, donate_argnums=0), (jnp.ones(3),), {}), QUICK, 2)


def test_a_failure_of_our_own_keeps_its_class_and_others_do_not_pass_as_one() -> None:
    import pickle

    own = pickle.dumps(Failure("DonatedTwice", "make copies", "lines"))
    with pytest.raises(jaxmagic.DonatedTwice, match="^make copies$"):
        _result_of(own, "", 0, "process 1 of 1")
    with pytest.raises(jaxmagic.LaunchError, match="process 4 of 5 failed: no result: it exited with status -9"):
        _result_of(b"", "", -9, "process 4 of 5")
    assert _result_of(pickle.dumps([1]), "a warning", 0, "process 1 of 1") == [1]


def interrupting(first_is_through: Path, parent: int) -> Any:
    """A function whose second process interrupts the parent, and never ends by itself."""

    def call() -> int:
        if first_is_through.exists():
            os.kill(parent, signal.SIGINT)
            threading.Event().wait()
        return 1

    def make() -> Any:
        import atexit

        if not first_is_through.exists():
            atexit.register(first_is_through.touch)
        return runner_of(call, (), {})

    return make


@pytest.mark.slow
@pytest.mark.skipif(os.name == "nt", reason="sends a signal")
def test_an_interrupt_ends_the_process_and_keeps_what_the_ones_before_it_have_measured(tmp_path: Path) -> None:
    make = interrupting(tmp_path / "through", os.getpid())
    record = take_launches(Statement(make, {}), QUICK, 5)
    assert record.stopped_by == "interrupt"
    assert len(record.launches) == 1
    with pytest.raises(KeyboardInterrupt):
        take_launches(Statement(make, {}), QUICK, 5)
    assert not psutil.Process().children()


@pytest.mark.slow
def test_the_verb_measures_in_processes_and_checks_their_number(tmp_path: Path) -> None:
    record = jaxmagic.benchmark(lambda x: x + 1, jnp.ones(3), budget_s=0.05, processes=2)
    assert len(record.launches) == 2
    assert jaxmagic.load(record.save(tmp_path / "record.json")) == record
    assert jaxmagic.last() == record
    for wrong in (0, -1, 2.5, True):
        with pytest.raises(ValueError, match="processes: expected an integer of at least 1, got"):
            jaxmagic.benchmark(abs, 1, processes=wrong)


def _call(function: Any) -> Any:
    return function(None)
