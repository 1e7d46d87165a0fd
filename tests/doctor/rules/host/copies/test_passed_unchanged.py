"""Arrays that a function gets again and again are found, however the code passes them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from fabricate import hlo

import jaxmagic
from jaxmagic.doctor.record.conversion import Conversion
from jaxmagic.doctor.record.evidence import Evidence
from jaxmagic.doctor.record.finding import RuleFinding
from jaxmagic.doctor.rules.host.copies import cost
from jaxmagic.doctor.rules.host.copies import passed_unchanged as rule
from jaxmagic.doctor.rules.host.host_time import host_time
from jaxmagic.xla.hlo import Sharded

WIDE = np.ones((1024, 1000), np.float32)
ROWS = {"x": WIDE, "y": np.ones((1000, 1024), np.float32)}


@jax.jit
def total(rows: Any) -> Any:
    return sum(map(jnp.sum, jax.tree.leaves(rows)))


FUNCTIONS = {"total": total}


def of_a_table(rows: Any) -> Any:
    return [FUNCTIONS["total"](rows) for _ in range(10)]


def by_map(rows: Any) -> Any:
    return list(map(total, [rows] * 10))


def inner(batch: Any) -> Any:
    return 1.0 + total(batch)


def below_a_loop(rows: Any) -> Any:
    out = 0.0
    for _ in range(10):
        out = inner(rows)
    return out


def in_a_new_container(rows: Any) -> Any:
    return [total([*jax.tree.leaves(rows)]) for _ in range(10)]


def new_values(rows: Any) -> Any:
    return [FUNCTIONS["total"](jax.tree.map(lambda each: each + step, rows)) for step in range(10)]


def written_in_place(rows: Any) -> Any:
    out = 0.0
    for step in range(10):
        rows["x"][0, 0] = step
        out = inner(rows)
    return out


def on_the_device(rows: Any) -> Any:
    return [inner(rows) for _ in range(10)]


@pytest.fixture
def at_any_cost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cost, "matters", lambda cost_ns, evidence: True)


def found(run: Callable[..., Any], *args: Any) -> list[RuleFinding]:
    findings = jaxmagic.diagnose(run, *args, only=["transfer"]).findings
    return [each for each in findings if each.found.kind == "doctor.passed_unchanged"]


@pytest.mark.clock
@pytest.mark.usefixtures("at_any_cost")
class TestPrograms:
    @pytest.mark.parametrize("run", [of_a_table, by_map, below_a_loop, in_a_new_container])
    def test_it_is_found_however_it_is_written(self, run: Any) -> None:
        (one,) = found(run, ROWS)
        assert one.found.facts | {"names": ""} == {
            "function": "total",
            "names": "",
            "arrays": 2,
            "count": 10,
            "size_bytes": 10 * sum(each.nbytes for each in ROWS.values()),
        }
        assert one.found.facts["names"] == "rows['x'], rows['y']"
        assert "gets rows['x'], rows['y'] of NumPy in 10 calls each, and copies them" in str(one.found)

    @pytest.mark.parametrize(
        ("run", "rows"),
        [
            (new_values, ROWS),
            (written_in_place, {each: array.copy() for each, array in ROWS.items()}),
            (on_the_device, ROWS),
            (of_a_table, {"x": np.ones((10, 10), np.float32)}),
        ],
    )
    def test_nothing_is_said_of_what_changes_or_is_there_already_or_is_small(self, run: Any, rows: Any) -> None:
        rows = jax.device_put(rows) if run is on_the_device else rows
        assert all(each.found.facts["names"] == "rows['y']" for each in found(run, rows))
        assert len(found(run, rows)) == (run is written_in_place)


SOURCE = """def run(n):
    for i in range(n):
        s = f({})
"""


def evidence(converting: Any, passed: str, **changes: Any) -> Evidence:
    """A function that takes 12 ms more than its program, in 20 calls."""
    made: Evidence = converting(passed, source=SOURCE, code="run(20)")
    assert made.programs is not None
    assert made.host_use is not None
    line = made.programs[0].called_at
    assert line is not None
    program = replace(made.programs[0], function="f", eager=False)
    program = replace(program, executable=replace(program.executable, name="jit_f"))
    stage, call = made.host_use.dispatches
    call = replace(call, puts=20, put_ns=12_000_000)
    given = Conversion(
        line=line,
        called_from=(),
        count=20,
        size_bytes=2**20,
        type="float32[512,512]",
        same_values=True,
        function="f",
        path="x",
    )
    return replace(
        made,
        host_use=replace(made.host_use, dispatches=(stage, call)),
        programs=(program,),
        conversions=(replace(given, **changes),),
    )


def findings(made: Evidence, told: tuple[str, ...] = ()) -> list[RuleFinding]:
    time = host_time(made)
    assert time is not None
    return list(rule.passed_unchanged("transfer", made, time, told))


def test_all_copies_but_one_are_the_cost(converting: Any) -> None:
    (one,) = findings(evidence(converting, "x"))
    assert one.cost_ns == pytest.approx(12_000_000 * 19 / 20)
    assert one.basis == "at least"
    assert one.code == "# outside of run:\nx = jax.device_put(x)"
    assert str(one.remedy).startswith("Copy x with jax.device_put once, before these calls")


def test_there_is_no_code_where_the_loop_does_more_with_the_variable_or_it_has_no_name(converting: Any) -> None:
    (beside,) = findings(evidence(converting, "x) + x.mean("))
    assert beside.code is None
    (nameless,) = findings(evidence(converting, "x", path=""))
    assert nameless.code is None
    assert str(nameless.found).startswith("f gets the same array of NumPy in 20 calls, and copies it")
    assert str(nameless.remedy).startswith("Copy the array with jax.device_put once")


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"same_values": False}, ()),
        ({"count": 2, "size_bytes": 2**30}, ()),
        ({"size_bytes": 2**10}, ()),
        ({"function": "g"}, ()),
        ({}, ("f",)),  # another finding has told it
    ],
)
def test_what_changes_or_is_little_or_is_told_already_is_no_finding(
    converting: Any, changes: dict[str, Any], told: tuple[str, ...]
) -> None:
    assert findings(evidence(converting, "x", **changes), told) == []


def test_what_is_donated_has_to_be_copied_each_time(converting: Any) -> None:
    made = evidence(converting, "x")
    assert made.programs is not None
    assert findings(replace(made, programs=(replace(made.programs[0], donated=(0,)),))) == []


def passing(converting: Any, *donated: int, place: int = 1, leaves: int = 2, name: str = "f") -> Evidence:
    """As above, where a program takes two arrays of the same shape, some of which it donates."""
    made = evidence(converting, "x", place=place, leaves=leaves)
    assert made.programs is not None
    (program,) = made.programs
    inputs = tuple(Sharded(name=each, shape="f32[512,512]", pieces=None) for each in ("state", "x"))
    program = replace(program, module=hlo.module(name="jit_f", inputs=inputs))
    if name == "f":
        return replace(made, programs=(replace(program, donated=donated),))
    other = replace(program.executable, name=f"jit_{name}")
    return replace(made, programs=(program, replace(program, function=name, executable=other, donated=donated)))


def test_an_array_beside_a_donated_one_of_its_shape_is_found(converting: Any) -> None:
    assert len(findings(passing(converting, 0))) == 1


@pytest.mark.parametrize(
    ("donated", "changes"),
    [
        ((1,), {}),
        ((0,), {"place": 0}),
        ((0,), {"leaves": 3}),  # the program has dropped one
        ((0,), {"name": "g"}),  # another program may get it as well
    ],
)
def test_an_array_that_may_be_donated_has_to_be_copied_each_time(
    converting: Any, donated: tuple[int, ...], changes: dict[str, Any]
) -> None:
    assert findings(passing(converting, *donated, **changes)) == []


def test_an_array_that_is_donated_in_another_call_has_to_be_copied_each_time(converting: Any) -> None:
    made = passing(converting, 0)
    also = replace(made.conversions[0], place=0, count=1)
    assert findings(replace(made, conversions=(*made.conversions, also))) == []
    assert len(findings(replace(made, conversions=(*made.conversions, replace(also, path="state"))))) == 1
