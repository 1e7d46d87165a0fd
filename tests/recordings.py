"""Recordings of the JAX profiler that several tests share: real ones, and fabricated ones."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import jax

from jaxmagic.profiling.analysis.interpret import interpreted
from jaxmagic.profiling.capture.xplane import xspace_messages
from jaxmagic.profiling.capture.xspace import read_recording
from jaxmagic.profiling.record.recording import Trace
from jaxmagic.xla.hlo import HloInstruction, HloModule
from jaxmagic.xla.read_hlo import read_module

#: Where they lie; one with the notebook that opens it.
_FOLDERS = Path(__file__).parent / "recorded", Path(__file__).parents[1] / "notebooks" / "recordings"

#: A fact that differs from event to event and one that does not, a name for a value, the module of a program, what
#: ties the mark of an end to an operation, the node of a graph, the times by a device's clock, and a program.
NAMES = dict(
    enumerate(
        (
            "hlo_op", "run_id", "device_ordinal", "dot.1", "size", "hlo_module", "jit_f", "_p", "_c",
            "cuda_graph_node_id", "cuda_graph_id", "device_offset_ps", "device_duration_ps", "program_id",
        ),
        start=1,
    )
)  # fmt: skip


def space(*planes: dict[str, Any]) -> bytes:
    """Planes as their name and, for each line, its events: name, offset, duration, and statistics."""
    made = xspace_messages()["XSpace"]()
    event_message = _writable()
    for plane in planes:
        message = made.planes.add(name=plane["name"].encode())
        for key, name in NAMES.items():
            message.names.add(key=key).value.name = name.encode()
        numbers: dict[str, int] = {}
        for name, events in plane["lines"].items():
            line = message.lines.add(name=name.encode(), start_ns=plane.get("start_ns", 0))
            for kind, offset, duration, stats in events:
                number = numbers.setdefault(kind, len(numbers) + 1)
                line.events.append(event_message(number, offset, duration, stats))
        for kind, number in numbers.items():
            message.events.add(key=number).value.name = kind.encode()
    return bytes(made.SerializeToString())


def _writable() -> Any:
    def event(kind: int, offset: int, duration: int, stats: list[dict[str, Any]]) -> bytes:
        made = xspace_messages()["XEvent"](kind=kind)
        for stat in stats:
            made.stats.append(xspace_messages()["XStat"](**stat).SerializeToString())
        return bytes(made.SerializeToString()) + _number(2, offset) + _number(3, duration)

    return event


def _number(field: int, value: int) -> bytes:
    found = bytearray([field << 3])
    while value > 127:
        found.append(value & 127 | 128)
        value >>= 7
    return bytes((*found, value))


def operation(run: int, device: int = 0) -> list[dict[str, Any]]:
    return [{"name": 1, "reference": 4}, {"name": 2, "signed": run}, {"name": 3, "signed": device}]


def trace(name: str) -> Path:
    """The file of a real recording."""
    return next(file for each in _FOLDERS if (file := each / f"{name}.xplane.pb").exists())


def recording_of(name: str) -> Trace:
    """A real recording, read, with what follows from it."""
    return interpreted(read_recording([("", trace(name).read_bytes())]))


def module_of(function: Any, *args: Any) -> HloModule:
    """The compiled module of a function."""
    return read_module(serialized(jax.jit(function).lower(*args).compile()))


def serialized(compiled: Any) -> bytes:
    """The module of something compiled, as an ``HloModuleProto``."""
    return bytes(compiled.runtime_executable().hlo_modules()[0].as_serialized_hlo_module_proto())


def all_of(module: HloModule, opcode: str) -> list[HloInstruction]:
    return [each for each in module.instructions.values() if each.opcode == opcode]
