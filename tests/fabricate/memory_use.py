"""Makes programs, live arrays, heap profiles and memory profiles."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from jaxmagic.memory_use.record.heap import HeapDifference, HeapProfile, HeapSample
from jaxmagic.memory_use.record.live_arrays import HeldArray, LiveArrays
from jaxmagic.memory_use.record.memory_profile import Allocation, Buffer, Executable, MemoryProfile
from jaxmagic.memory_use.record.usage import MemoryTimeline
from jaxmagic.records.call_stack import Frame
from jaxmagic.records.environment import Environment
from jaxmagic.timing.record import Timing


@pytest.fixture
def executable() -> Callable[..., Executable]:
    """Makes programs of two arguments, a temporary and an output, of 1 KiB each."""

    def buffer(first: int, last: int, instruction: str, **changes: Any) -> Buffer:
        values: dict[str, Any] = {
            "offset_bytes": 0,
            "size_bytes": 1024,
            "first": first,
            "last": last,
            "instruction": instruction,
            "shape": "f32[256]",
            "op_name": f"jit(f)/{instruction}",
            "source": "/home/me/cell.py:3",
        }
        return Buffer(**(values | changes))

    def allocation(kind: Any, *buffers: Buffer) -> Allocation:
        return Allocation(kind=kind, size_bytes=1024, aliased=False, space=0, buffers=buffers)

    def make(**changes: Any) -> Executable:
        values: dict[str, Any] = {
            "name": "jit_f",
            "ran": True,
            "compiled": False,
            "argument_bytes": 2048,
            "output_bytes": 1024,
            "alias_bytes": 0,
            "temporary_bytes": 1024,
            "generated_code_bytes": 0,
            "constant_bytes": 0,
            "steps": 4,
            "allocations": (
                allocation("argument", buffer(0, 3, "a.1", op_name="a", source=None)),
                allocation("argument", buffer(0, 3, "b.1", op_name="b", source=None)),
                allocation("temporary", buffer(2, 3, "dot.1")),
                allocation("output", buffer(3, 3, "add.1")),
            ),
        }
        return Executable(**(values | changes))

    return make


@pytest.fixture
def live_arrays(environment: Environment) -> Callable[..., LiveArrays]:
    """Makes records of live f32 arrays from pairs of bytes and names."""

    def make(*held: tuple[int, tuple[str, ...]] | HeldArray, **changes: Any) -> LiveArrays:
        values: dict[str, Any] = {
            "arrays": tuple(each if isinstance(each, HeldArray) else held_array(*each) for each in held),
            "started_at": "2026-01-02T03:04:05.678+00:00",
            "search_complete": True,
            "environment": environment,
        }
        return LiveArrays(**(values | changes))

    return make


def held_array(size_bytes: int, names: tuple[str, ...], **changes: Any) -> HeldArray:
    """A vector of f32 on the first CPU."""
    values: dict[str, Any] = {
        "shape": f"f32[{size_bytes // 4}]",
        "dtype": "float32",
        "sharding": "SingleDevice cpu:0",
        "size_bytes": size_bytes,
        "device_bytes": (("cpu:0", size_bytes),),
        "names": names,
    }
    return HeldArray(**(values | changes))


@pytest.fixture
def heap_difference() -> Callable[..., HeapDifference]:
    """Makes a difference in which 1 KiB was held before, and `step` allocated 2 KiB."""

    def make(**changes: Any) -> HeapDifference:
        cell = Frame(function="<module>", file="/home/me/cell.py", line=3)
        step = Frame(function="step", file="/home/me/train.py", line=17)

        def held(size_bytes: int, *stack: Frame) -> HeapSample:
            return HeapSample(size_bytes=size_bytes, count=1, kind="buffer", device="cpu:0", stack=stack)

        before = HeapProfile(samples=(held(1024, cell),), started_at=None)
        after = HeapProfile(samples=(held(1024, cell), held(2048, cell, step)), started_at=None)
        return HeapDifference(**({"before": before, "after": after} | changes))

    return make


@pytest.fixture
def memory_profile(
    timing: Callable[..., Timing], executable: Callable[..., Executable], live_arrays: Callable[..., LiveArrays]
) -> Callable[..., MemoryProfile]:
    """Makes records in which `x` of 1 KiB existed before, `y` of 2 KiB is new, and one program ran."""

    def make(**changes: Any) -> MemoryProfile:
        made = held_array(2048, ("y", "model.w"), made=True)
        values: dict[str, Any] = {
            "timing": timing(),
            "before_bytes": (("cpu:0", 1024),),
            "arrays": live_arrays(made, (1024, ("x",))),
            "executables": (executable(),),
            "timeline": MemoryTimeline(
                interval_ns=1_000_000,
                times_ns=(0, 1_000_000, 2_000_000),
                rss_bytes=(100 * 2**20, 103 * 2**20, 101 * 2**20),
                array_bytes=(1024, None, 3072),
            ),
        }
        return MemoryProfile(**(values | changes))

    return make
