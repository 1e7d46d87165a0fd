"""`memory`: programs are compared with the memory that there is."""

from __future__ import annotations

import gc
from collections import deque
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import pytest
from gathered_evidence import evidence_of, with_memory

import jaxmagic
from jaxmagic.doctor.record.evidence import KeptArrays
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.examine import examine
from jaxmagic.doctor.rules.memory import RULE
from jaxmagic.records.note import note

#: Two arguments and a result of 1 MB each.
X = jnp.ones((500, 500))
ADD = jax.jit(lambda x, y: x + y)
NEEDS = 3_000_000


@pytest.mark.parametrize(
    ("memory_bytes", "sentence", "cost_bytes"),
    [
        (NEEDS - 1, "<lambda> needs 2.86 MiB, more than the 2.86 MiB of a device.", 1),
        (NEEDS // 2, "<lambda> needs 2.86 MiB, more than the 1.43 MiB of a device.", NEEDS // 2),
        (NEEDS, "<lambda> needs 2.86 MiB, 100 % of the 2.86 MiB of a device.", None),
        (int(NEEDS / 0.9), "<lambda> needs 2.86 MiB, 90 % of the 3.18 MiB of a device.", None),
    ],
)
def test_program_that_hardly_fits_is_found(memory_bytes: int, sentence: str, cost_bytes: int | None) -> None:
    (found,) = jaxmagic.diagnose(ADD, X, X + 1, only=["memory"], memory_bytes=memory_bytes).findings
    assert (str(found.found), found.cost_bytes) == (sentence, cost_bytes)
    assert str(found.evidence[0]).startswith("Arguments 1.91 MiB, results 977 KiB, temporaries 0 B.")


@pytest.mark.parametrize("memory_bytes", [int(NEEDS / 0.9) + 2, 10 * NEEDS, None])
def test_program_that_fits_is_left_alone(memory_bytes: int | None) -> None:
    assert jaxmagic.diagnose(ADD, X, X + 1, only=["memory"], memory_bytes=memory_bytes).findings == ()


def test_that_more_than_was_counted_may_be_needed_is_said_beside_a_limit() -> None:
    evidence = evidence_of(ADD, X, X + 1)
    (program,) = evidence.programs or ()
    more = note("memory_use.uncounted", calls=1, names="__ynn_fusion", lines="")
    larger = replace(program, executable=replace(program.executable, notes=(more,)))
    limited = replace(evidence, programs=(larger,), limit_bytes=10 * NEEDS)
    (said,) = examine(limited, only=["memory"]).notes
    assert str(said).startswith("<lambda> needs at least 2.86 MiB: library calls may allocate more while they run, ")
    assert examine(replace(limited, limit_bytes=None), only=["memory"]).notes == ()
    assert examine(replace(evidence, limit_bytes=10 * NEEDS), only=["memory"]).notes == ()


def test_donated_arguments_count_once() -> None:
    donating: Any = jax.jit(lambda x, y: x + y, donate_argnums=0)
    assert jaxmagic.diagnose(donating, X + 2, X, only=["memory"], memory_bytes=2_500_000).findings == ()


@pytest.mark.parametrize(("resident_bytes", "found"), [(8_000_000 - 1, False), (8_000_000, True), (None, False)])
def test_arrays_beside_the_arguments_count(resident_bytes: int | None, found: bool) -> None:
    evidence = with_memory(evidence_of(ADD, X, X + 1), argument_bytes=2_000_000)
    evidence = replace(evidence, resident_bytes=resident_bytes, limit_bytes=10_000_000)
    findings = list(RULE.look(evidence))
    assert bool(findings) is found
    if found:
        assert str(findings[0].found) == (
            "<lambda> needs 2.86 MiB, and other arrays hold at least 5.72 MiB: together 90 % of the 9.54 MiB of a "
            "device."
        )


def test_resident_arrays_are_alive_on_every_device() -> None:
    everywhere = [jax.device_put(X, each) for each in jax.local_devices()]
    resident_bytes = evidence_of(ADD, X, X).resident_bytes
    assert resident_bytes is not None
    assert resident_bytes >= X.nbytes
    assert len(everywhere) == len(jax.local_devices())


#: An array of 6 MB is kept per run.
LARGE = jnp.ones((1500, 1000))
SCALE = jax.jit(lambda x: x * 2)


def kept_by(function: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    return list(jaxmagic.diagnose(function, *args, only="memory", repeat=True).findings)


class Trainer:
    def __init__(self) -> None:
        self.outputs: list[Any] = []
        self.by_name: dict[Any, Any] = {}
        self.last: Any = None
        self.recent: deque[Any] = deque(maxlen=50)
        self.losses: list[Any] = []

    def append(self, x: Any) -> Any:
        self.outputs.append(SCALE(x))
        return self.outputs[-1]

    def store(self, x: Any) -> None:
        self.by_name[len(self.by_name)] = {"y": SCALE(x), "z": SCALE(x + 1)}

    def replace(self, x: Any) -> None:
        self.last = SCALE(x)

    def remember(self, x: Any) -> None:
        self.recent.append(SCALE(x))

    def collect(self, x: Any) -> Any:
        self.losses.append(SCALE(x).sum())
        return self.losses

    def fetch(self, x: Any) -> None:
        self.outputs.append(jax.device_get(SCALE(x)))

    def fill(self, x: Any) -> Any:
        return self.by_name.setdefault("table", SCALE(x))


def test_list_that_grows_is_found() -> None:
    trainer = Trainer()

    def step(x: Any) -> Any:
        return trainer.append(x)

    (found,) = kept_by(step, LARGE)
    kept = sum(each.nbytes for each in trainer.outputs) // len(trainer.outputs)
    assert (found.cost_bytes, found.basis, found.line) == (kept, "measured", None)
    assert "trainer.outputs[*]) grew by 1 array (5.72 MiB) per run, in the " in str(found.found)
    assert found.found.facts["runs"] <= len(trainer.outputs) - 1


def test_states_of_an_optimizer_that_are_kept_are_found() -> None:
    optax = pytest.importorskip("optax")
    optimizer = optax.adam(1e-3)
    checkpoints: list[Any] = []

    def step(params: Any) -> Any:
        updates, state = optimizer.update(params, optimizer.init(params))
        checkpoints.append(state)
        return optax.apply_updates(params, updates)

    (found,) = kept_by(step, LARGE)
    assert str(found.found.facts["name"]).partition("checkpoints")[2].strip(")") == "[*]"
    assert found.found.facts["arrays"] == 3  # two moments and the count
    assert found.cost_bytes == 2 * LARGE.nbytes + 4


def test_containers_in_a_dictionary_are_found() -> None:
    trainer = Trainer()

    def step(x: Any) -> None:
        trainer.store(x)

    found = kept_by(step, LARGE)
    assert sum(each.cost_bytes or 0 for each in found) == 2 * LARGE.nbytes


@pytest.mark.parametrize("method", ["replace", "remember", "collect", "fetch", "fill"])
def test_what_does_not_pile_up_is_left_alone(method: str) -> None:
    trainer = Trainer()

    def step(x: Any) -> Any:
        return getattr(trainer, method)(x)

    assert kept_by(step, LARGE) == []


def test_code_that_runs_once_is_not_judged() -> None:
    outputs: list[Any] = []

    def step(x: Any) -> None:
        outputs.append(SCALE(x))

    diagnosis = jaxmagic.diagnose(step, LARGE, only="memory")
    assert (diagnosis.findings, len(outputs)) == ((), 1)


def test_results_that_are_discarded_do_not_pile_up() -> None:
    assert kept_by(lambda x: [SCALE(x), SCALE(x) + 1], LARGE) == []


@pytest.mark.parametrize(("size_bytes", "found"), [(2**20 - 1, False), (2**20, True)])
def test_little_per_run_is_left_alone(size_bytes: int, found: bool) -> None:
    kept = (KeptArrays(name="outputs[*]", arrays=1, size_bytes=size_bytes, runs=3),)
    findings = list(RULE.look(replace(evidence_of(ADD, X, X), kept=kept)))
    assert bool(findings) is found


@pytest.mark.parametrize(
    ("names", "found"),
    [
        (["states[*].mu", "states[*].nu"], ["states[*]"]),
        (["states[*][*].mu['w']", "states[*][*].nu['w']", "losses[*]"], ["states[*]", "losses[*]"]),
        (["(step: states[*].mu)", "(step: states[*].nu)"], ["(step: states[*])"]),
        (["states[*].mu[*]"], ["states[*].mu[*]"]),
        (["self.a[*]", "self.b[*]"], ["self.a[*]", "self.b[*]"]),
        (["first", "second"], ["first", "second"]),
    ],
)
def test_a_container_that_grows_is_one_finding(names: list[str], found: list[str]) -> None:
    kept = tuple(KeptArrays(name=each, arrays=1, size_bytes=2**20, runs=3) for each in names)
    findings = list(RULE.look(replace(evidence_of(ADD, X, X), kept=kept)))
    assert [each.found.facts["name"] for each in findings] == found
    assert sum(each.cost_bytes or 0 for each in findings) == len(names) * 2**20


def test_no_array_is_kept_alive_by_the_diagnosis() -> None:
    before = sum(each.nbytes for each in jax.live_arrays())
    kept_by(lambda x: SCALE(x), LARGE)
    gc.collect()
    assert sum(each.nbytes for each in jax.live_arrays()) <= before
