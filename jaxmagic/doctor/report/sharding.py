"""Words of the rule ``sharding``."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from .runs import at_least


def _moved_from(type: str, lies_on: int, devices: int, spec: str, known: int) -> str:
    place = f"It is {printable(type)} and lies on {units.count(lies_on, 'device')}"
    return f"{place}; the program takes it {_how(devices, spec, known)}."


def _put_from(type: str, lies_on: int, devices: int, spec: str, known: int) -> str:
    where = f"{printable(type)} and lies on {units.count(lies_on, 'device')}"
    place = f"It is {where if lies_on else f'a NumPy array, {printable(type)}'}"
    return f"{place}; this line copies it {_how(devices, spec, known) if devices > 1 else 'to 1 device'}."


def _how(devices: int, spec: str, known: int) -> str:
    how = f"as PartitionSpec({printable(spec)})" if spec else "replicated" if known else "with another sharding"
    return f"{how}, on {units.count(devices, 'device')}"


def _moved(array: str, function: str, moved_bytes: int, count: int = 0, least: int = 0) -> str:
    often = f" {printable(function)} is called {at_least(count, least)} times per run." if count > 1 else ""
    return (
        f"Each call of {printable(function)} with {printable(array)} first moves {units.size(moved_bytes)} of it "
        f"between devices.{often}"
    )


NOTES: dict[str, Callable[..., str]] = {
    "moved": _moved,
    "put_again": lambda array, count, moved_bytes, arrays: (
        f"This line copies {printable(array)} to the same devices {count} times per run"
        f"{f' ({arrays} arrays)' if arrays > 1 else ''}: {units.size(moved_bytes)} each time."
    ),
    "put_again_from": _put_from,
    "put_again_remedy": lambda array: (
        f"Place {printable(array)} once, before the loop. jax.device_put does not copy an array that is there "
        "already."
    ),
    "moved_from": _moved_from,
    "moved_remedy": lambda array: f"Place {printable(array)} once, as the program takes it.",
    "replicated": lambda array, function, devices, pieces: (
        f"{printable(array)} is replicated on {units.count(devices, 'device')}, and in {printable(function)}, each "
        f"reads only one of {pieces} parts of it."
    ),
    "replicated_size": lambda type, size_bytes, axis: (
        f"It is {printable(type)} and takes {units.size(size_bytes)} on each device; its parts lie along axis {axis}."
    ),
    "replicated_remedy": lambda array, axis: (
        f"Shard {printable(array)} along axis {axis}, unless code that was not run needs all of it on each device."
    ),
    "uneven": lambda type, axis, size, pieces: (
        f"This line shards axis {axis} of {printable(type)} over {pieces} devices, but its length, {size}, is "
        f"not a multiple of {pieces}."
    ),
    "uneven_parts": lambda least, most, size_bytes, even_bytes: (
        f"With padding, each device takes a length of {most} ({units.size(size_bytes)}), although the last one has "
        f"only {least} to hold. Even parts would take {units.size(even_bytes)}."
    ),
    "uneven_remedy": lambda axis, size, pieces: (
        f"Make axis {axis} a multiple of {pieces}, for example {size} with padding that is masked, or shard another "
        "axis."
    ),
    "lopsided": lambda device, arrays, size_bytes, devices: (
        f"{printable(device)} alone holds {printable(arrays)} ({units.size(size_bytes)}), while a program runs on "
        f"{devices} devices."
    ),
    "lopsided_devices": lambda device, most_bytes, others_bytes, limit_bytes: (
        f"Before and after the runs, arrays take {units.size(most_bytes)} of the {units.size(limit_bytes)} of "
        f"{printable(device)}, and at most {units.size(others_bytes)} on each other device."
    ),
    "lopsided_remedy": lambda arrays: (
        f"Shard {printable(arrays)} over the devices, or keep the values on the host in NumPy and move only what a "
        "step needs: the fullest device limits what all of them can do."
    ),
    "straggler": lambda devices, share: (
        f"{units.count(devices, 'device')} wait for the slowest one, for {units.share(share, 1)} of the run on "
        "average."
    ),
    "straggler_times": lambda least_ns, most_ns: (
        f"Per run, one device computes for {units.time(least_ns)} and another one for {units.time(most_ns)}."
    ),
    "straggler_remedy": lambda: "Give all devices the same amount of work, or find out why one is slower.",
    "exposed": lambda devices, share: (
        f"{units.count(devices, 'device')} communicate for {units.share(share, 1)} of the run while they compute "
        "nothing, on average, without the straggler wait."
    ),
    "exposed_most": lambda name, collective, module, count, least=0: (
        f"The longest collective is {printable(name)} ({printable(collective)}) in "
        f"{printable(module) or 'a program'}, which ran {at_least(units.count(count, 'time'), least)}."
    ),
    "exposed_remedy": lambda: (
        "More work per device and step, such as a larger batch, hides more of it, and so may another sharding."
    ),
}
