"""A loop that converts the same NumPy array in every round is found, with its line."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import not_jitted, transfer
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.call_stack import Frame

LOOP = "def run(x, n):\n    for i in range(n):\n        s = f({})\n    return s\n"


@pytest.fixture
def evidence(tmp_path: Path, timing: Any, executable: Any) -> Any:
    """Runs of 100 ms in which 20 conversions take 40 ms of the device's time, and 10 ms before."""

    def make(
        converted: str,
        *,
        source: str = LOOP,
        count: int = 20,
        programs: int = 1,
        code: str = "run(x, 20)",
        **changes: Any,
    ) -> Evidence:
        file = tmp_path / "run.py"
        file.write_text(source.format(converted))
        line = next(n for n, text in enumerate(file.read_text().splitlines(), 1) if converted in text)
        whole = executable(name="jit_stage", output_bytes=2**20)
        program = Program(executable=whole, module=None, function="stage", eager=True)
        program = replace(program, called_at=Frame(function="run", file=str(file), line=line))
        call = Dispatch(name="stage", count=count, host_ns=MS, exposed_ns=10 * MS, busy_ns=40 * MS)
        other = Dispatch(name="f", count=count, host_ns=MS, exposed_ns=0, busy_ns=30 * MS)
        run = timing(dispatch_ns=50 * MS, wait_ns=50 * MS)
        return Evidence(
            code=code,
            first=timing(),
            observed=run,
            timed=(run,),
            profile=Profile(
                runs=1,
                recorded_ns=100 * MS,
                device_uses=(use("CPU:0", 70 * MS),),
                operation_times=(),
                place_times=(),
            ),
            host_use=HostUse(dispatches=(call, other), idle_ns=30 * MS, waited_ns=0, waits=0),
            waits=(),
            host=(),
            programs=(program,) * programs,
            **changes,
        )

    return make


@pytest.mark.parametrize("converted", ["jnp.asarray(x)", "jnp.array(x)", "jax.numpy.asarray(x, jnp.float32)"])
def test_the_same_array_in_every_round(evidence: Any, converted: str) -> None:
    (found,) = transfer.look(evidence(converted))
    assert found.found.kind == "doctor.converted_again"
    assert found.found.facts == {"name": "x", "count": 20, "size_bytes": 20 * 2**20}
    assert found.source == f"s = f({converted})"
    assert found.cost_ns == pytest.approx(50 * MS * 19 / 20)
    assert found.code == f"x = {converted}  # before the loop\ns = f(x)  # in the loop"


def test_an_array_that_the_loop_also_reads_with_numpy_keeps_its_name(evidence: Any) -> None:
    (found,) = transfer.look(evidence("jnp.array(x)", source=LOOP.replace("f({})", "f({}) + x[i]")))
    assert found.code == "x_jax = jnp.array(x)  # before the loop\ns = f(x_jax) + x[i]  # in the loop"


def test_an_array_that_is_donated_is_converted_in_each_round(evidence: Any) -> None:
    made = evidence("jnp.array(x)")
    (program,) = made.programs
    donating = replace(program, function="f", eager=False, donated=(0,))
    assert list(transfer.look(replace(made, programs=(program, donating)))) == []


@pytest.mark.parametrize(
    ("converted", "changes"),
    [
        ("jnp.asarray(i)", {}),  # another one in each round
        ("jnp.asarray(x[i])", {}),
        ("np.asarray(x)", {}),
        ("jnp.asarray(x), jnp.asarray(y)", {}),
        ("jnp.asarray(x)", {"programs": 2}),
        ("jnp.asarray(x)", {"count": 2}),
        ("jnp.asarray(x)", {"source": "def run(x):\n    return f({})\n"}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "x[i] = i; s = ")}),
        ("jnp.asarray(x)", {"source": LOOP.replace("s = ", "rng.shuffle(x); s = ")}),
    ],
)
def test_what_may_be_another_array_is_no_finding(evidence: Any, converted: str, changes: dict[str, Any]) -> None:
    assert list(transfer.look(evidence(converted, **changes))) == []


def test_conversions_are_no_operations_to_be_jitted(evidence: Any) -> None:
    assert list(not_jitted.look(evidence("jnp.asarray(x)", count=200))) == []


EPOCHS = """\
def run(xs, n):
    for _ in range(n):
        for x in xs:
            w = f(w, {})
    return w
"""
XS = (
    Input(path="xs", kind="container", type="list", size_bytes=0),
    *(Input(path=f"xs[{n}]", kind="numpy array", type="float64[131072]", size_bytes=2**20) for n in range(5)),
)


def test_arrays_of_a_list_in_several_epochs(evidence: Any) -> None:
    (found,) = transfer.look(evidence("jnp.asarray(x)", source=EPOCHS, code="run(xs, 4)", inputs=XS))
    assert found.found.facts == {"name": "xs[*]", "count": 20, "size_bytes": 20 * 2**20}
    assert found.cost_ns == pytest.approx(50 * MS * 15 / 20)  # the first round is needed
    assert found.remedy.facts == {"names": "xs", "size_bytes": 5 * 2**20}
    assert found.code == "xs = jax.device_put(xs)"


@pytest.mark.parametrize(
    ("converted", "changes"),
    [
        ("jnp.asarray(x)", {"count": 9}),  # less than two epochs
        ("jnp.asarray(x)", {"limit_bytes": 9 * 2**20}),  # too much for the device
        ("jnp.asarray(x)", {"source": EPOCHS.replace("            w", "            x = x + 1\n            w")}),
        ("jnp.asarray(x)", {"source": EPOCHS.replace("        for", "        xs = load()\n        for")}),
        ("jnp.asarray(x)", {"source": EPOCHS.replace("            w", "            rng.shuffle(x)\n            w")}),
        ("jnp.asarray(x)", {"inputs": ()}),
        ("jnp.array(x)", {}),  # which copies arrays of JAX as well
    ],
)
def test_other_lists_are_no_finding(evidence: Any, converted: str, changes: dict[str, Any]) -> None:
    assert (
        list(transfer.look(evidence(converted, **{"source": EPOCHS, "code": "run(xs, 4)", "inputs": XS, **changes})))
        == []
    )
