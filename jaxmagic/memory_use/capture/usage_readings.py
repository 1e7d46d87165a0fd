"""Reads the memory of the process, its arrays and its devices. Starts no backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import Any

from ...records.note import Note, note
from ...runtime import private_api
from ...runtime.copies import clone_of
from ...timing.capture.wait import has_failed
from .array_bytes import bytes_of, device_bytes


class DeviceMemory:
    """The memory that devices report."""

    def __init__(self, query: Callable[[], Sequence[Any] | None]) -> None:
        self.before: dict[str, int | None] = {}
        self.after: dict[str, int | None] = {}
        self.limits: dict[str, int] = {}
        self._query = query
        self._problems: dict[tuple[str, str], dict[str, None]] = {}
        self._unknown = False
        self._silent: set[str] = set()
        self._was_read = False

    @property
    def mute(self) -> bool:
        """Whether there are devices, and none of them reports its memory."""
        return bool(self._silent) and not self.before

    def read(self) -> dict[str, int]:
        """Read the bytes in use on each device that reports them, and keep peaks and limits."""
        used: dict[str, int] = {}
        devices = self._query()
        self._unknown = self._unknown or devices is None
        for device in devices or ():
            name = f"{device.platform}:{device.id}"
            if name in self._silent:
                continue
            stats = self._stats(name, device)
            if not stats:
                continue
            in_use, peak, limit = (stats.get(each) for each in ("bytes_in_use", "peak_bytes_in_use", "bytes_limit"))
            if in_use is not None:
                used[name] = in_use
            else:
                self._problem(name, "bytes_in_use")
            self.before.setdefault(name, 0 if self._was_read else peak)
            if peak is not None:
                self.after[name] = peak
            else:
                self._problem(name, "peak_bytes_in_use")
            if limit is not None:
                self.limits[name] = limit
        self._was_read = True
        return used

    def notes(self) -> list[Note]:
        """Return what devices do not report, with one note for each reason."""
        notes = [
            note("memory_use.devices_silent", devices=", ".join(names), missing=missing, error=error)
            for (missing, error), names in self._problems.items()
        ]
        return [*notes, note("memory_use.devices_unknown")] if self._unknown else notes

    def _stats(self, name: str, device: Any) -> dict[str, int]:
        try:
            stats = device.memory_stats()
        except Exception as error:
            stats, failure = None, type(error).__name__
        else:
            failure = ""
        if not stats:
            self._silent.add(name)
            self._problem(name, "memory_stats", failure)
        return known(stats or {})

    def _problem(self, name: str, missing: str, error: str = "") -> None:
        self._problems.setdefault((missing, error), {})[name] = None


def known(stats: Mapping[str, int]) -> dict[str, int]:
    """Return the statistics of a device without unknown values, which are -1.

    >>> known({"bytes_in_use": 512, "bytes_limit": -1})
    {'bytes_in_use': 512}
    """
    return {name: value for name, value in stats.items() if value >= 0}


def started_devices() -> tuple[Any, ...] | None:
    """Return the local devices of started backends; ``None`` if this JAX does not show what has started."""
    jax = sys.modules.get("jax")
    if jax is None or getattr(jax.__spec__, "_initializing", False):  # our import would wait for the user's
        return ()
    started = private_api.backends_started()
    if started is None:
        return None
    return private_api.local_devices() if started else ()


def array_bytes(devices: Sequence[Any] | None) -> int | None:
    """Return the bytes of all live arrays on `devices`; ``None`` if the devices are unknown."""
    if devices is None:
        return None
    total, addresses = 0, set()
    for client in {id(device.client): device.client for device in devices}.values():
        arrays = client.live_arrays()
        while arrays:  # release each at once: its owner may wait for the memory
            array = arrays.pop()
            address = _address_of(array)
            if address is None or address not in addresses:  # JAX keeps an alias of an array that was printed
                total += _size_of(array)
                addresses.add(address)
            del array
    return total


def _address_of(array: Any) -> int | None:
    """Return the address of an array; ``None`` if it is on several devices, being computed, or deleted."""
    try:
        if array.is_deleted() or not array.is_ready() or has_failed(array):
            return None
        clone = clone_of(array)
        return None if clone is None else int(clone.unsafe_buffer_pointer())
    except Exception:
        return None


def _size_of(array: Any) -> int:
    """Return the bytes of an array on all its devices; 0 if it was deleted, donated, or its program has failed."""
    if array.is_deleted() or has_failed(array):
        return 0
    try:
        return device_bytes(array)
    except Exception:  # another thread has just donated it, or its backend does not report it
        return 0 if array.is_deleted() else bytes_of(array.size, array.dtype)


class Devices:
    """The local devices, queried until there are some; from then on they stay the same."""

    def __init__(self, query: Callable[[], Sequence[Any] | None]) -> None:
        self._query = query
        self._devices: Sequence[Any] | None = ()

    def __call__(self) -> Sequence[Any] | None:
        """Return the devices; ``None`` if they are unknown."""
        self._devices = self._devices or self._query()
        return self._devices


class ProcessSize:
    """Reads the resident set size of this process; on Linux this takes 2 µs."""

    def __init__(self) -> None:
        self._file: FileIO | None = None
        self._page_bytes: int | None = None

    def __call__(self) -> int:
        """Return the resident set size in bytes."""
        if self._file is None:
            self._find()
        if self._file is not None and self._page_bytes:
            return int(os.pread(self._number, 64, 0).split(None, 2)[1]) * self._page_bytes
        import psutil

        return int(psutil.Process().memory_info().rss)

    def _find(self) -> None:
        """Open Linux's file, only once."""
        if self._page_bytes is None:
            self._page_bytes = 0
            with suppress(OSError, AttributeError, ValueError):
                page_bytes = os.sysconf("SC_PAGE_SIZE")
                self._file = FileIO("/proc/self/statm")
                self._number = self._file.fileno()
                self._page_bytes = page_bytes

    def close(self) -> None:
        """Close the file; later readings are slower."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def high_water_bytes() -> int | None:
    """Return the peak resident set size in the life of the process, on Linux; ``None`` elsewhere."""
    try:
        with FileIO("/proc/self/status") as file:
            lines = file.readall().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration, ValueError):
        return None
