"""Arrays of which a loop passes parts are found, if it passes all of them more than once per run."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fabricate import hlo
from fabricate.profiling import MS, use

from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse, Input
from jaxmagic.doctor.record.program import Program
from jaxmagic.doctor.rules.host import transfer
from jaxmagic.memory_use.record.memory_profile import Executable
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.records.call_stack import Frame
from jaxmagic.timing.record import Timing
from jaxmagic.xla.hlo import Sharded

X = Input(path="x", kind="numpy array", type="float32[1000,256,16]", size_bytes=16 * 2**20)
Y = Input(path="y", kind="numpy array", type="float32[1000]", size_bytes=4000)

PERMUTED = """
def train(w, x, y):
    for _ in range(3):
        order = rng.permutation(len(x))
        for start in range(0, len(x), 100):
            rows = order[start : start + 100]
            w = step(w, x[rows], y[rows])
    return w
"""
SLICED = PERMUTED.replace("x[rows], y[rows]", "x[start:start + 100], y[start:start + 100]")
NAMED = PERMUTED.replace("w = step(w, x[rows], y[rows])", "a, b = x[rows], y[rows]\n            w = step(w, a, b)")
SPLIT = """
def train(w, x, y):
    for _ in range(3):
        for a, b in zip(np.split(x, 10), np.array_split(y, 10)):
            w = step(w, a, b)
"""
COMPREHENDED = """
def train(w, x, y):
    return [step(w, x[rows], y[rows]) for _ in range(3) for rows in parts]
"""


WHOLE = """
def train(w, x, y):
    for _ in range(30):
        w = step(x, y)
"""
IN_TURN = """
def train(w, x):
    for _ in range(3):
        for batch in x:
            w = step(w, batch)
"""


@pytest.fixture
def look(
    timing: Callable[..., Timing], executable: Callable[..., Executable], tmp_path: Path
) -> Callable[..., list[Any]]:
    """Look at 30 calls in a run of 100 ms, for which the device waits 30 ms."""

    def look(
        source: str,
        count: int = 30,
        inputs: tuple[Input, ...] = (X, Y),
        shapes: tuple[tuple[str, ...], ...] = (("f32[16]", "f32[100,256,16]", "f32[100]"),),
        limit_bytes: int | None = None,
        x64: bool = False,
    ) -> list[Any]:
        file = tmp_path / f"epochs_{len([*tmp_path.iterdir()])}.py"
        file.write_text(source)
        at = source[: source.index("step(")].count("\n") + 1
        modules = [
            hlo.module(name="jit_step", inputs=tuple(Sharded(name="p", shape=one, pieces=None) for one in each))
            for each in shapes
        ]
        line = Frame(function="train", file=str(file), line=at)
        steady = timing(dispatch_ns=50 * MS, wait_ns=50 * MS, code_wait_ns=50 * MS, cpu_user_ns=1, cpu_system_ns=1)
        call = Dispatch(
            name="step", count=count, host_ns=0, exposed_ns=0, pending_ns=30 * MS, puts=count, busy_ns=40 * MS
        )
        evidence = Evidence(
            code=None,
            first=replace(timing(), environment=replace(timing().environment, x64=x64)),
            observed=steady,
            timed=(steady,),
            profile=Profile(
                runs=1,
                recorded_ns=100 * MS,
                device_uses=(use("CPU:0", 40 * MS),),
                operation_times=(),
                place_times=(),
            ),
            programs=tuple(
                Program(executable=executable(name="jit_step"), module=each, function="step", called_at=line)
                for each in modules
            ),
            inputs=inputs,
            host_use=HostUse(dispatches=(call,), idle_ns=60 * MS, waited_ns=0, waits=0),
            limit_bytes=limit_bytes,
        )
        return list(transfer.look(evidence))

    return look


@pytest.mark.parametrize("source", [PERMUTED, SLICED, NAMED, SPLIT, COMPREHENDED])
def test_parts_of_arrays_in_several_epochs(look: Callable[..., list[Any]], source: str) -> None:
    (found,) = look(source)
    assert found.found.facts["names"] == "x[*], y[*]"
    assert found.found.facts["size_bytes"] == 3 * (X.size_bytes + Y.size_bytes)
    assert found.remedy.kind == "doctor.transfer_parts"
    assert found.code is None  # each part of an array of JAX would be an operation outside jit


def test_parts_that_are_copied_as_quickly_as_taken_are_no_finding(look: Callable[..., list[Any]]) -> None:
    assert not look(PERMUTED, count=3000)


@pytest.mark.parametrize(
    ("more", "kind"),
    [
        ("n = len(x) + y.shape[0]", "doctor.transfer_once"),
        ("s = x[0].sum()", "doctor.transfer_beside"),
        ("s = np.sum(y)", "doctor.transfer_beside"),
    ],
)
def test_what_a_loop_also_computes_with_numpy_gets_another_name(
    look: Callable[..., list[Any]], more: str, kind: str
) -> None:
    (found,) = look(f"{WHOLE}        {more}\n", shapes=(("f32[1000,256,16]", "f32[1000]"),))
    assert found.remedy.kind == kind
    assert (found.code is None) == (kind == "doctor.transfer_beside")


def test_one_epoch_has_to_copy_all_of_it(look: Callable[..., list[Any]]) -> None:
    assert not look(PERMUTED, count=19)
    (found,) = look(PERMUTED, count=20)
    assert found.found.facts["size_bytes"] == 2 * (X.size_bytes + Y.size_bytes)


def test_the_last_part_of_an_epoch_may_be_smaller(look: Callable[..., list[Any]]) -> None:
    shapes = tuple(("f32[16]", f"f32[{rows},256,16]", f"f32[{rows}]") for rows in (300, 100))
    (found,) = look(PERMUTED, count=12, shapes=shapes)
    assert found.found.facts["size_bytes"] == 3 * (X.size_bytes + Y.size_bytes)
    assert not look(PERMUTED, count=7, shapes=shapes)


def test_single_rows_are_parts(look: Callable[..., list[Any]]) -> None:
    rows = PERMUTED.replace("x[rows], y[rows]", "x[start]").replace("range(0, len(x), 100)", "order")
    more = Input(path="x", kind="numpy array", type="float32[10,256,16]", size_bytes=16 * 2**20)
    (found,) = look(rows, inputs=(more,), shapes=(("f32[16]", "f32[256,16]"),))
    assert found.found.facts["names"] == "x[*]"
    assert found.remedy.kind == "doctor.transfer_all"
    assert found.code == "x = jax.device_put(list(x))  # before the loops"
    assert not look(rows, inputs=(more,), count=9, shapes=(("f32[16]", "f32[256,16]"),))


@pytest.mark.parametrize(
    ("arrays", "names", "code"),
    [
        (("x",), "x", "x = jax.device_put(list(x))"),
        (("x", "y"), "x, y", "x = jax.device_put(list(x))\ny = jax.device_put(list(y))"),
    ],
)
def test_items_that_are_copied_once_per_run_can_be_there_before_it(
    look: Callable[..., list[Any]], arrays: tuple[str, ...], names: str, code: str
) -> None:
    source = "def train(w, x, y):\n    for {} in {}:\n        w = step(w, {})\n    return w\n"
    items = ", ".join(f"{each}_" for each in arrays)
    given = source.format(items, arrays[0] if len(arrays) == 1 else f"zip({', '.join(arrays)})", items)
    inputs = tuple(
        Input(path=each, kind="numpy array", type="float32[30,256,16]", size_bytes=2**20) for each in arrays
    )
    shapes = (("f32[16]", *["f32[256,16]"] * len(arrays)),)
    (found,) = look(given, inputs=inputs, shapes=shapes)
    assert found.cost_ns == pytest.approx(27 * MS)
    assert found.remedy.facts == {"names": names, "size_bytes": len(arrays) * 2**20, "arrays": names}
    assert found.code.replace("  # once, before this code", "") == code
    assert look(given, inputs=inputs, shapes=shapes, limit_bytes=2**20) == []


def test_the_smallest_argument_counts_where_the_order_is_unknown(look: Callable[..., list[Any]]) -> None:
    state = ("f32[16]", "f32[500,256,16]", "f32[100,256,16]", "f32[100]")
    (found,) = look(PERMUTED, shapes=(state,))
    assert found.found.facts["names"] == "x[*]"  # y may be as small as the state
    assert found.found.facts["size_bytes"] == 3 * X.size_bytes


@pytest.mark.parametrize(
    "source",
    [
        PERMUTED.replace("order = rng.permutation(len(x))", "rng.shuffle(x)"),
        PERMUTED.replace("order =", "x = x + 1; order ="),
        PERMUTED.replace("order =", "x[0] = 1; order ="),
        PERMUTED.replace("x[rows], y[rows]", "f(x[rows]), f(y[rows])"),
        NAMED.replace("w = step(w, a, b)", "a = a * 2; b = b * 2; w = step(w, a, b)"),
        NAMED.replace("w = step(w, a, b)", "a += 1; b += 1; w = step(w, a, b)"),
    ],
)
def test_parts_that_change_are_no_finding(look: Callable[..., list[Any]], source: str) -> None:
    assert [each.found.facts["names"] for each in look(source)] in ([], ["y[*]"])


def test_arrays_that_do_not_fit_stay_where_they_are(look: Callable[..., list[Any]]) -> None:
    size_bytes = 2 * (X.size_bytes + Y.size_bytes)
    assert look(PERMUTED, limit_bytes=size_bytes)
    assert not look(PERMUTED, limit_bytes=size_bytes - 1)


def test_other_arrays_are_no_parts(look: Callable[..., list[Any]]) -> None:
    assert not look(PERMUTED, shapes=(("f32[16]", "f32[100,256,8]", "f32[]"),))
    assert not look(PERMUTED, inputs=(Input(path="x", kind="jax array", type=X.type, size_bytes=X.size_bytes),))


@pytest.mark.parametrize(
    ("dtype", "converted"),
    [("float64", "float64 to float32"), ("int64", "int64 to int32"), ("complex128", "complex128 to complex64")],
)
@pytest.mark.parametrize("source", [PERMUTED, WHOLE, IN_TURN])
def test_what_reaches_the_device_is_counted_and_the_conversion_is_told(
    look: Callable[..., list[Any]], source: str, dtype: str, converted: str
) -> None:
    whole = tuple(replace(each, type=each.type.replace("float32", dtype)) for each in (X, Y))
    items = tuple(
        Input(path=f"x[{n}]", kind="numpy array", type=f"{dtype}[100,256,16]", size_bytes=2**21) for n in range(10)
    )
    inputs = (Input(path="x", kind="other", type="list"), *items) if source == IN_TURN else whole
    shapes = (
        (("f32[1000,256,16]", "f32[1000]"),) if source == WHOLE else (("f32[16]", "f32[100,256,16]", "f32[100]"),)
    )
    (found,) = look(source, inputs=inputs, shapes=shapes)
    rounds, given = (30, whole) if source == WHOLE else (3, items if source == IN_TURN else whole)
    assert found.found.facts["size_bytes"] == rounds * sum(each.size_bytes for each in given) // 2
    assert str(found.found).endswith(f" per run, converted from {converted} in each call.")
    (enabled,) = look(source, inputs=inputs, shapes=shapes, x64=True)
    assert enabled.found.facts["size_bytes"] == 2 * found.found.facts["size_bytes"]
    assert str(enabled.found).endswith(" per run.")
