"""Evidence about programs on several devices: where their arguments lie, and where the programs need them."""

from __future__ import annotations

from dataclasses import dataclass

from ...records.call_stack import Frame

#: Arrays on one device alone count from this share of its memory on.
LEAST_ALONE = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Placement:
    """An array of the user that a program on several devices took as a parameter.

    Attributes:
        parameter: the number of the parameter; of an array of ``jax.device_put``, its place among those.
        path: how the code reaches the array, such as ``"params['w']"``.
        type: element type and shape, such as ``"float32[1000,1000]"``.
        size_bytes: its size.
        lies_on: on how many devices it lies; 0 for an array of NumPy.
        devices: on how many devices the program runs.
        moved_bytes: the bytes that devices lack when the call begins, over all devices; 0 if the array lies as the
            program needs it.
        spec: the entries of the ``PartitionSpec`` that the program needs, as Python source; ``None`` if unknown.
        sharding: an expression for the sharding that the program needs, with the user's own names; ``None`` if none
            of the variables leads to it.
        mesh: an expression for the mesh, likewise.
        mesh_axes: the names and sizes of its axes; empty if unknown.
    """

    parameter: int
    path: str
    type: str
    size_bytes: int
    lies_on: int
    devices: int
    moved_bytes: int = 0
    spec: str | None = None
    sharding: str | None = None
    mesh: str | None = None
    mesh_axes: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class DevicePut:
    """An array that ``jax.device_put`` moved in the first run, at one line: between devices, or from the host.

    Attributes:
        line: the user's line; ``None`` if there was none on the stack.
        count: how often this line moved this array to the same sharding.
        moved_bytes: the bytes that devices lacked each time, over all devices.
        type: element type and shape, such as ``"float32[1000,1000]"``.
        placement: how the code reaches the array and what is needed; ``None`` if no variable leads to it.
        places: to how many different shardings the array was brought, at any line.
        on_host: whether it is an array of NumPy.
        same_values: whether it is known to have had the same values each time. Arrays of NumPy are compared at some
            of the times.
    """

    line: Frame | None
    count: int
    moved_bytes: int
    type: str
    placement: Placement | None = None
    places: int = 1
    on_host: bool = False
    same_values: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class UnevenShards:
    """An array in a program that is sharded along an axis which the devices do not divide.

    XLA gives each device as many elements as the first one, and pads the last ones.

    Attributes:
        line: the user's line; ``None`` if unknown.
        type: element type and shape, such as ``"float32[5,1000]"``.
        axis: the axis.
        size: its length.
        pieces: the number of parts.
        size_bytes: the bytes of the parts together, without padding.
    """

    line: Frame | None
    type: str
    axis: int
    size: int
    pieces: int
    size_bytes: int

    @property
    def lengths(self) -> tuple[int, ...]:
        """The length of each part, without padding."""
        whole = -(-self.size // self.pieces)
        return tuple(max(min(whole, self.size - number * whole), 0) for number in range(self.pieces))

    @property
    def largest_bytes(self) -> int:
        """The bytes of the largest part, which are those that each device takes."""
        return self.size_bytes // self.size * self.lengths[0]


@dataclass(frozen=True, slots=True, kw_only=True)
class DeviceArrays:
    """Arrays on a device that are alive before the first run and after the last.

    Attributes:
        device: the name of the device, such as ``"gpu:0"``.
        size_bytes: their bytes.
        alone: the names and bytes of large arrays that lie on no other device, largest first.
    """

    device: str
    size_bytes: int
    alone: tuple[tuple[str, int], ...] = ()
