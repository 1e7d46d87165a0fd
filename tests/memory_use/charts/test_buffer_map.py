"""The memory map: each rectangle is a buffer, and a note counts what is left out."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jaxmagic.charts.chart_of import chart_of
from jaxmagic.memory_use.charts.buffer_map import map_chart
from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer, Executable


def buffer(first: int, last: int, size: int, offset: int = 0, **changes: Any) -> Buffer:
    values: dict[str, Any] = {
        "offset_bytes": offset,
        "size_bytes": size,
        "first": first,
        "last": last,
        "instruction": f"made.{first}",
        "shape": "f32[2]",
        "op_name": "jit(f)/add",
        "source": "cell.py:1",
    }
    return Buffer(**(values | changes))


def allocation(kind: Any, size: int, *buffers: Buffer, aliased: bool = False) -> Allocation:
    return Allocation(kind=kind, size_bytes=size, aliased=aliased, space=0, buffers=buffers)


def program(steps: int, *allocations: Allocation) -> Executable:
    return Executable(
        name="jit_f",
        argument_bytes=0,
        output_bytes=0,
        alias_bytes=0,
        temporary_bytes=0,
        generated_code_bytes=0,
        steps=steps,
        allocations=allocations,
    )


def test_what_was_captured_is_told_of_its_rectangle() -> None:
    found = map_chart(program(4, allocation("argument", 100, buffer(0, 3, 100, captured=("w", "v")))))
    assert found is not None
    assert found.boxes[0].lines == ("made.0  f32[2]", "w or v", "cell.py:1", "argument")


def test_arguments_are_the_ground_and_temporaries_lie_on_top() -> None:
    found = map_chart(
        program(
            4,
            allocation("temporary", 50, buffer(1, 2, 30, 10)),
            allocation("argument", 100, buffer(0, 3, 100)),
            allocation("output", 20, buffer(2, 3, 20)),
            allocation("constant", 999, buffer(0, 3, 999)),
        )
    )
    assert found is not None
    assert {(found.kinds[each.kind], each.x, each.y) for each in found.boxes} == {
        ("argument", (0, 4), (0, 100)),
        ("output", (2, 4), (100, 120)),
        ("temporary", (1, 3), (130, 160)),
    }
    assert (found.x.high, found.y.high) == (4, 170)
    assert found.curve.y == (100, 130, 150, 120, 120)
    assert (found.mark.label, found.mark.at) == ("peak 150 B at step", 3)


def test_a_box_says_what_it_is() -> None:
    found = map_chart(program(3, allocation("argument", 8, buffer(0, 2, 8, source=None), aliased=True)))
    assert found is not None
    assert found.boxes[0].lines == ("made.0  f32[2]", "jit(f)/add", "", "donated argument")


def test_a_box_names_its_pass_and_an_argument_keeps_its_name() -> None:
    scopes = ("jit(sgd)/jvp(Dense_0)/dot_general", "jit(sgd)/transpose(jvp(Dense_0))/dot_general")
    made = allocation("temporary", 16, *(buffer(0, 2, 8, 8 * at, op_name=each) for at, each in enumerate(scopes)))
    given = allocation("argument", 8, buffer(0, 2, 8, op_name="params['a/jvp(b)/c']"))
    found = map_chart(program(3, made, given))
    assert found is not None
    assert {each.lines[1] for each in found.boxes} == {
        "jit(sgd)/forward of Dense_0/dot_general", "jit(sgd)/backward of Dense_0/dot_general", "params['a/jvp(b)/c']",
    }  # fmt: skip


def test_what_is_too_small_to_be_seen_is_left_out_and_said() -> None:
    small = [buffer(0, 0, 1, offset) for offset in range(500)]
    found = map_chart(program(9, allocation("temporary", 1500, *small, buffer(0, 8, 1000, 500))))
    assert found is not None
    assert len(found.boxes) == 400
    assert found.boxes[0].y == (500, 1500)
    assert found.note == "101 smaller buffers not drawn"


@given(st.integers(1, 3000), st.integers(0, 10**6))
def test_the_curve_is_thinned_and_keeps_its_peak(steps: int, at: int) -> None:
    at %= steps
    found = map_chart(
        program(
            steps, allocation("argument", 10, buffer(0, steps - 1, 10)), allocation("temporary", 5, buffer(at, at, 5))
        )
    )
    assert found is not None
    assert max(each or 0 for each in found.curve.y) == 15
    assert len(found.curve.y) <= 401
    assert found.mark.at == at + 1


def test_where_there_is_nothing_to_draw_there_is_no_chart() -> None:
    assert map_chart(program(0)) is None
    assert map_chart(program(3, allocation("constant", 9, buffer(0, 2, 9)))) is None
    with pytest.raises(ValueError, match="there is nothing to draw"):
        chart_of(program(0))
