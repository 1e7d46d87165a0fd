"""Tables of devices, steps, memory, collectives, transfers and programs."""

from __future__ import annotations

from ...report.table import Table
from ..record.profile import Profile

_DEVICE = {
    "device": "string",
    "busy_ns": "Int64",
    "compute_ns": "Int64",
    "copy_ns": "Int64",
    "collective_ns": "Int64",
    "exposed_copy_ns": "Int64",
    "exposed_collective_ns": "Int64",
    "barrier_ns": "Int64",
    "callback_ns": "Int64",
    "idle_ns": "Int64",
    "compile_idle_ns": "Int64",
    "transfer_idle_ns": "Int64",
    "peak_flops": "Float64",
    "peak_bytes": "Float64",
    "peaks_from": "string",
    "peak_flops_from": "string",
    "model": "string",
}


_MEMORY = {
    "allocator": "string",
    "time_ns": "Int64",
    "held_bytes": "Int64",
}


_STEP = {
    "device": "string",
    "step": "Int64",
    "name": "string",
    "start_ns": "Int64",
    "time_ns": "Int64",
    "compute_ns": "Int64",
    "collective_ns": "Int64",
    "copy_ns": "Int64",
    "input_ns": "Int64",
    "host_ns": "Int64",
    "idle_ns": "Int64",
}


_COLLECTIVE = {
    "operation": "string",
    "kind": "string",
    "module": "string",
    "devices": "Int64",
    "count": "Int64",
    "payload_bytes": "Int64",
    "total_ns": "Int64",
    "exposed_ns": "Int64",
    "wait_ns": "Int64",
}


_TRANSFER = {
    "direction": "string",
    "device": "string",
    "count": "Int64",
    "size_bytes": "Int64",
    "total_ns": "Int64",
    "time_ns": "Int64",
    "bytes_per_s": "Float64",
}


_PROGRAM = {
    "program": "string",
    "devices": "Int64",
    "time_ns": "Int64",
    "array": "string",
    "name": "string",
    "shape": "string",
    "pieces": "string",
}


def devices(profile: Profile) -> Table:
    """Make one row per device."""
    texts = [name for name in _DEVICE if _DEVICE[name] == "string"]
    return Table(
        _DEVICE,
        [
            tuple(getattr(each, name) or None if name in texts else getattr(each, name) for name in _DEVICE)
            for each in profile.device_uses
        ],
    )


def memory(profile: Profile) -> Table:
    """Make one row per allocation or deallocation."""
    rows = [
        (each.allocator, time_ns, held_bytes)
        for each in profile.allocator_uses
        for time_ns, held_bytes in zip(each.time_ns, each.held_bytes, strict=True)
    ]
    return Table(_MEMORY, rows)


def steps(profile: Profile) -> Table:
    """Make one row per step and device."""
    rows = [
        (device.device, number, device.name, *(getattr(device, name)[number] for name in list(_STEP)[3:]))
        for device in profile.step_times
        for number in range(len(device.time_ns))
    ]
    return Table(_STEP, rows)


def collectives(profile: Profile) -> Table:
    """Make one row per collective, over all devices."""
    rows = [(each.name, *(getattr(each, name) for name in list(_COLLECTIVE)[1:])) for each in profile.collectives]
    return Table(_COLLECTIVE, rows)


def transfers(profile: Profile) -> Table:
    """Make one row per direction and device."""
    return Table(_TRANSFER, [tuple(getattr(each, name) for name in _TRANSFER) for each in profile.transfers])


def programs(profile: Profile) -> Table:
    """Make one row per input and output of a program, each with the time of the program."""
    rows = []
    for each in profile.programs:
        for kind, arrays in (("input", each.inputs), ("output", each.outputs)):
            for array in arrays:
                pieces = None if array.pieces is None else ",".join(map(str, array.pieces))
                program = (each.name, each.devices, each.time_ns)
                rows.append((*program, kind, array.name or None, array.shape, pieces))
    return Table(_PROGRAM, rows)
