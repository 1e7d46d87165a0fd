"""A fabricated profile that several tests share, so that every number of it is known."""

from __future__ import annotations

from typing import Any

from jaxmagic.profiling.record.profile import Code, DeviceUse, OperationTime, PlaceTime, Profile
from jaxmagic.records.call_stack import Frame

MS = 10**6
CALLER = Frame(function="f", file="/tmp/cell.py", line=5, cell="cell 3")
HELPER = Frame(function="helper", file="/tmp/cell.py", line=2, cell="cell 3")
OTHER = Frame(function="f", file="/tmp/cell.py", line=6, cell="cell 3")


def place(time_ns: int, *stack: Frame, scope: str = "", name: str = "op", split: bool = False) -> PlaceTime:
    return PlaceTime(stack=stack, scope=scope, time_ns=time_ns, count=2, operations=(name,), split=split)


def operation(name: str, time_ns: int, **changes: Any) -> OperationTime:
    values: dict[str, Any] = {
        "module": "jit_f", "category": "sort", "device": "CPU:0", "count": 2, "total_ns": time_ns, "self_ns": time_ns,
        "source": "cell 3:2", "accessed_bytes": 4000, "flops": None,
    }  # fmt: skip
    return OperationTime(name=name, time_ns=time_ns, **(values | changes))


def use(device: str, busy_ns: int, **changes: int) -> DeviceUse:
    nothing = dict.fromkeys(("copy_ns", "collective_ns", "exposed_copy_ns", "exposed_collective_ns"), 0)
    idle_ns = 40 * MS - busy_ns
    return DeviceUse(device=device, busy_ns=busy_ns, compute_ns=busy_ns, idle_ns=idle_ns, **(nothing | changes))


def fabricated() -> Profile:
    """Two runs of 20 ms, of which 15 ms each: 10 in a helper, 4 in a line, 1 nowhere."""
    return Profile(
        code="f(x)",
        runs=2,
        recorded_ns=40 * MS,
        device_uses=(use("CPU:0", 30 * MS),),
        operation_times=(operation("sort.0", 20 * MS), operation("fusion", 10 * MS, category="elementwise fusion")),
        place_times=(
            place(20 * MS, CALLER, HELPER, scope="jit(f)/layer/sort", name="sort.0"),
            place(8 * MS, OTHER, scope="jit(f)/add", name="fusion", split=True),
            place(2 * MS, name="copy.1"),
        ),
        codes=(
            Code(
                file="/tmp/cell.py",
                cell="cell 3",
                first=1,
                lines=(
                    "def helper(x):",
                    "    return jnp.sort(x)",
                    "",
                    "def f(x):",
                    "    y = helper(x)",
                    "    return y",
                ),
            ),
        ),
    )
