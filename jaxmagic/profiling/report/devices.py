"""Sentences and tables about the devices of a profile: load, communication and copies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from ... import units
from ...report.blocks import Table
from ...xla.hlo import Sharded
from ..record.communication import CollectiveTime, ProgramTime, TransferTime
from ..record.profile import DeviceUse, Profile
from .lines import whole

#: One device has no table if its copies and collectives take a smaller share of the device time.
_WORTH_A_TABLE = 0.01

#: At most this many arrays of a program are named; the rest is in ``to_frame("programs")``.
_MOST_ARRAYS = 6

#: The load is uneven if the busiest device computes this many times as long as the mean.
_UNEVEN = 1.05

Rows = list[tuple[str, ...]]


def device_tables(profile: Profile, most: int) -> Iterator[Table]:
    """Tabulate devices, collectives and transfers."""
    if _has_more_than_computation(profile):
        rows, there_are = _devices(profile.device_uses[:most], profile), len(profile.device_uses)
        yield Table(rows=rows, there_are=there_are, noun="device", where="devices()", continued=True)
    if profile.collectives:
        rows, there_are = _collectives(profile.collectives[:most], profile), len(profile.collectives)
        yield Table(
            rows=rows, there_are=there_are, noun="collective", where='to_frame("collectives")', continued=True
        )
    if profile.transfers:
        rows, there_are = _transfers(profile.transfers[:most], profile), len(profile.transfers)
        yield Table(rows=rows, there_are=there_are, noun="transfer", where='to_frame("transfers")')


def about_devices(profile: Profile) -> list[str]:
    """Report idle devices and uneven load, and the sharding of the program with most time."""
    sentences = [f"No events of {_devices_named(profile.idle_devices)}."] if profile.idle_devices else []
    if len(profile.device_uses) < 2:
        return sentences
    computed = [each for each in profile.device_uses if each.compute_ns]
    moved = [each.device for each in profile.device_uses if not each.compute_ns]
    if moved and computed:
        sentences.append(f"{_devices_named(moved)} computed nothing.")
    times = [each.compute_ns / (profile.runs or 1) for each in computed]
    mean = sum(times) / max(len(times), 1)
    shared = all("CPU:" in each.device for each in computed)  # devices of a CPU share its cores
    if not shared and mean and max(times) >= _UNEVEN * mean:
        busiest = max(computed, key=lambda each: each.compute_ns)
        sentences.append(
            f"Uneven load: devices compute for {units.time(min(times))} to {units.time(max(times))}; "
            f"{busiest.device} is {units.percent(max(times) / mean - 1)} above the mean."
        )
    return sentences + [line for each in profile.programs[:1] if (line := _about_program(each))]


def about_allocators(profile: Profile) -> list[str]:
    """Report the peak of allocated device memory, and the function that JAX was dispatching then."""
    uses = [each for each in profile.allocator_uses if each.peak_bytes and not _is_hosts(each.allocator)]
    if not uses:
        return []
    most, least = uses[0], uses[-1]
    when = f", while {most.program} was dispatched" if most.program else ""
    if len(uses) == 1:
        return [f"Peak of allocated memory: {units.size(most.peak_bytes)} ({most.allocator}){when}."]
    sizes = [units.size(each.peak_bytes) for each in (least, most)]
    peaks = sizes[0] if sizes[0] == sizes[1] else f"{sizes[0]} to {sizes[1]}"
    return [f"Peak of allocated memory: {peaks} on each of {len(uses)} devices{when}."]


def _is_hosts(allocator: str) -> bool:
    """Return whether an allocator gives memory of the host, whatever the host itself is called.

    >>> _is_hosts("xla_gpu_host_bfc"), _is_hosts("host-a GPU_0_bfc")
    (True, False)
    """
    return "host" in allocator.rpartition(" ")[2]


def _devices_named(devices: Sequence[str]) -> str:
    """List names, with consecutive numbers as a range.

    >>> _devices_named(["GPU:0", "GPU:2", "GPU:3", "GPU:4", "TPU:1"])
    'GPU:0, GPU:2 to GPU:4, TPU:1'
    """
    ordered = sorted(devices, key=_place)
    rows: list[list[str]] = []
    for each in ordered:
        if rows and _place(rows[-1][-1]) == (_place(each)[0], _place(each)[1] - 1):
            rows[-1].append(each)
        else:
            rows.append([each])
    return ", ".join(f"{row[0]} to {row[-1]}" if len(row) > 2 else ", ".join(row) for row in rows)


def _place(device: str) -> tuple[str, int]:
    kind, _, number = device.rpartition(":")
    return (kind, int(number)) if number.isdecimal() else (device, 0)


def _about_program(program: ProgramTime) -> str:
    divided = [each for each in (*program.inputs, *program.outputs) if each.pieces is not None]
    if program.devices < 2 or not divided:
        return ""
    inputs = _arrays(program.inputs)
    outputs = _arrays(program.outputs)
    return f"{program.name}, on each of {program.devices} devices: {inputs or 'nothing'} → {outputs or 'nothing'}."


def _arrays(arrays: Sequence[Sharded]) -> str:
    named = [f"{each.name} {each.shape}{_pieces(each)}".strip() for each in arrays[:_MOST_ARRAYS]]
    return ", ".join(named) + (f", and {len(arrays) - len(named)} more" if len(arrays) > len(named) else "")


def _pieces(array: Sharded) -> str:
    """Describe the sharding of an array.

    >>> _pieces(Sharded(name="x", shape="f32[8,8]", pieces=(2, 4)))
    ' (sharded 2 ways on axis 0 and 4 ways on axis 1)'
    """
    if array.pieces is None:
        return ""
    axes = [f"{ways} ways on axis {axis}" for axis, ways in enumerate(array.pieces) if ways > 1]
    return f" (sharded {' and '.join(axes)})" if axes else " (replicated)"


def _has_more_than_computation(profile: Profile) -> bool:
    """Return whether there are several devices, or copies or collectives that take some time."""
    least = _WORTH_A_TABLE * profile.device_ns
    moved = sum(each.copy_ns + each.collective_ns + each.callback_ns for each in profile.device_uses)
    return len(profile.device_uses) > 1 or moved > least


def _devices(devices: Sequence[DeviceUse], profile: Profile) -> Rows:
    """Tabulate devices without empty columns."""
    runs = profile.runs or 1
    kinds = [
        (name, field)
        for name, field in (
            ("compute", "compute_ns"),
            ("collectives", "collective_ns"),
            ("exposed", "exposed_collective_ns"),
            ("memcpy", "copy_ns"),
            ("exposed", "exposed_copy_ns"),
            ("at barriers", "barrier_ns"),
            ("in callbacks", "callback_ns"),
        )
        if any(getattr(each, field) for each in devices) or field == "compute_ns"
    ]
    heads = ("device", "busy", "share", *(name for name, _ in kinds), "idle")
    rows = [
        (
            each.device,
            units.time(each.busy_ns / runs),
            units.share(each.busy_ns, max(profile.recorded_ns, 1)),
            *(units.time(getattr(each, field) / runs) for _, field in kinds),
            units.time(each.idle_ns / runs),
        )
        for each in devices
    ]
    return [heads, *rows]


def _collectives(collectives: Iterable[CollectiveTime], profile: Profile) -> Rows:
    """Tabulate collectives, with means per run and device."""
    runs = profile.runs or 1
    rows = [
        (
            each.name,
            each.kind,
            "" if each.payload_bytes is None else units.size(each.payload_bytes),
            units.time(each.total_ns / each.devices / runs),
            units.time(each.exposed_ns / each.devices / runs),
            "" if each.wait_ns is None else units.time(each.wait_ns / each.devices / runs),
            whole(each.count, each.devices * runs),
        )
        for each in collectives
    ]
    return _filled([("collective", "kind", "payload", "time", "exposed", "straggler wait", "count"), *rows])


def _transfers(transfers: Sequence[TransferTime], profile: Profile) -> Rows:
    runs = profile.runs or 1
    unknown = "unknown" if any(each.device for each in transfers) else ""
    rows = [
        (
            each.direction,
            each.device or unknown,
            whole(each.count, runs),
            "" if each.size_bytes is None else units.size(each.size_bytes / runs),
            units.time(each.time_ns / runs),
            "" if each.bytes_per_s is None else units.rate(each.bytes_per_s, "bytes"),
        )
        for each in transfers
    ]
    return _filled([("transfer", "device", "count", "size", "time", "rate"), *rows])


def _filled(rows: Rows) -> Rows:
    """Leave empty columns out."""
    kept = [number for number, column in enumerate(zip(*rows[1:], strict=True)) if any(column)]
    return [tuple(row[number] for number in kept) for row in rows]
