"""A line that copies the same NumPy array to the device again and again is found, if that takes time."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import jax
import numpy as np
import pytest
from fabricate.profiling import MS

from jaxmagic.doctor.capture.remedies.all import REMEDIES
from jaxmagic.doctor.capture.remedies.tried_code import TriedCode
from jaxmagic.doctor.record.evidence import Dispatch, Evidence, HostUse, Input
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.record.placement import DevicePut, Placement
from jaxmagic.doctor.rules import sharding
from jaxmagic.doctor.rules.host import transfer
from jaxmagic.records.call_stack import Frame

SOURCE = """
def run(w, n):
    for _ in range(n):
        w = f(w, jax.device_put(X{}))
    return w
"""
PLACEMENT = Placement(
    parameter=0, path="X", type="float32[1024,256]", size_bytes=2**20, lies_on=0, devices=4, spec="'d'", sharding="sh"
)
INPUTS = tuple(Input(path=name, kind="other", type="") for name in ("run", "w", "X", "sh"))


@pytest.fixture
def put(evidence: Callable[..., Evidence], tmp_path: Path) -> Callable[..., Evidence]:
    """Runs of 100 ms, in which copies between the calls take 20 ms."""

    def make(
        cell: str | None = "cell 1", *, given: str = ", sh", puts: int = 8, source: str = SOURCE, **changes: Any
    ) -> Evidence:
        file = tmp_path / "run.py"
        file.write_text(source.format(given))
        at = source[: source.index("device_put")].count("\n") + 1
        line = Frame(function="run", file=str(file), line=at, cell=cell)
        one = DevicePut(
            line=line, count=8, moved_bytes=2**20, type="float32[1024,256]", placement=PLACEMENT, on_host=True
        )
        busy = Dispatch(name="f", count=8, host_ns=0, exposed_ns=0, busy_ns=20 * MS)
        use = HostUse(dispatches=(busy,), idle_ns=80 * MS, waited_ns=0, waits=0, put_ns=20 * MS, puts=puts)
        others = changes.pop("others", ())
        return evidence(
            code="w = run(w, 8)", host_use=use, inputs=INPUTS, device_puts=(replace(one, **changes), *others)
        )

    return make


def found_in(evidence: Evidence) -> list[RuleFinding]:
    assert list(sharding.look(replace(evidence, profile=None))) == []
    return list(transfer.look(evidence))


def test_the_same_array_in_every_round(put: Callable[..., Evidence]) -> None:
    (found,) = found_in(put())
    assert (found.rule, found.basis, found.cost_ns) == ("transfer", "estimated", pytest.approx(20 * MS * 7 / 8))
    assert str(found.found) == "This line copies X to the same devices 8 times per run: 1.00 MiB each time."
    assert [str(each) for each in found.evidence] == [
        "It is a NumPy array, float32[1024,256]; this line copies it as PartitionSpec('d'), on 4 devices."
    ]
    assert found.code == "X = jax.device_put(X, sh)"


@pytest.mark.parametrize(
    ("pending_ns", "moved_bytes", "cost_ns"),
    [
        (4 * MS + 800_000, 2**20, 24 * MS * 7 / 8),  # 0.1 ms of each call is no copy
        (30 * MS + 800_000, 2**20, (20 * MS + 2**23) * 7 / 8),  # no copy takes more than 1 ns per byte
        (90 * MS + 800_000, 2**24, 80 * MS * 7 / 8),  # the device is idle for 80 ms of a run
    ],
)
def test_programs_that_wait_for_copied_arrays_wait_for_the_copies(
    put: Callable[..., Evidence], pending_ns: int, moved_bytes: int, cost_ns: float
) -> None:
    made = put(moved_bytes=moved_bytes)
    assert made.host_use is not None
    (call,) = made.host_use.dispatches
    use = replace(made.host_use, dispatches=(replace(call, pending_ns=pending_ns),))
    (found,) = found_in(replace(made, host_use=use))
    assert found.cost_ns == pytest.approx(cost_ns)
    own = replace(use, dispatches=(replace(call, pending_ns=pending_ns, puts=8),))
    (other,) = found_in(replace(made, host_use=own))
    assert other.cost_ns == pytest.approx(20 * MS * 7 / 8)  # the call itself copies something else


@pytest.mark.parametrize(
    ("options", "code"),
    [
        (
            {"given": "", "placement": replace(PLACEMENT, devices=1, spec=None, sharding=None)},
            "X = jax.device_put(X)",
        ),
        ({"cell": None}, None),  # X is a name of the module of run, which may be another one
        ({"placement": None}, None),
    ],
)
def test_advice_assigns_names_where_they_exist(
    put: Callable[..., Evidence], options: dict[str, Any], code: str | None
) -> None:
    (found,) = found_in(put(**options))
    assert found.code == code


def test_time_is_that_of_the_repeated_copies(put: Callable[..., Evidence]) -> None:
    (all_puts,) = found_in(put())
    other = DevicePut(line=None, count=1, moved_bytes=8 * 2**20, type="float32[8192,256]", on_host=True)
    (half,) = found_in(put(others=(other,)))
    assert half.cost_ns == pytest.approx(all_puts.cost_ns / 2)
    (unseen,) = found_in(put(puts=16))  # half of them were no calls of device_put
    assert unseen.cost_ns == pytest.approx(all_puts.cost_ns / 2)
    assert found_in(put(puts=160)) == []


@pytest.mark.parametrize(
    "changes", [{"same_values": False}, {"places": 2}, {"count": 1}, {"moved_bytes": 2**20 // 8}]
)
def test_other_copies_are_no_finding(put: Callable[..., Evidence], changes: dict[str, Any]) -> None:
    assert found_in(put(**changes)) == []


ITERATED = """
def run(w, n):
    for _ in range(n):
        for b in X:
            w = f(w, jax.device_put(b{}))
    return w
"""
INDEXED = ITERATED.replace("for b in X", "for i in range(len(X))").replace("put(b", "put(X[i]")
NAMED = INDEXED.replace("            w =", "            b = X[i]\n            w =").replace("put(X[i]", "put(b")


@pytest.mark.parametrize("source", [ITERATED, INDEXED, NAMED, ITERATED.replace("b in X", "i, b in enumerate(X)")])
def test_the_parts_of_an_array_in_every_epoch(put: Callable[..., Evidence], source: str) -> None:
    (found,) = found_in(put(source=source, placement=None, given=""))
    assert str(found.found) == "This line copies X[*] to the same devices 8 times per run: 1.00 MiB each time."
    assert str(found.remedy) == "Copy X[*] once, before the loops, if 1.00 MiB fit on the device."
    assert found.code is None


@pytest.mark.parametrize(
    "source", [ITERATED.replace("for _", "X[0] = 1\n    for _"), ITERATED.replace("(b", "(b + 1")]
)
def test_parts_that_change_are_no_finding(put: Callable[..., Evidence], source: str) -> None:
    assert found_in(put(source=source, placement=None, given="")) == []


def test_the_remedy_places_the_array_as_the_line_does(put: Callable[..., Evidence]) -> None:
    (found,) = found_in(put())
    where = jax.sharding.NamedSharding(
        jax.sharding.Mesh(np.array(jax.devices()[:1]), ("d",)), jax.sharding.PartitionSpec("d")
    )
    x = np.ones((4, 4), np.float32)
    (placed,) = REMEDIES["transfer"](found, TriedCode("X + 1", {"X": x, "sh": where})).replacements.values()
    assert placed.sharding == where
