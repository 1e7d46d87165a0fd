"""What can be read of the memory at this moment: of the process, its arrays and its devices. Starts no backend."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from io import FileIO
from typing import Any

from ...records.note import Note, note
from ...runtime import private_api
from .array_bytes import bytes_of, device_bytes


class DeviceMemory:
    """What devices say of their memory."""

    def __init__(self, ask: Callable[[], Sequence[Any] | None]) -> None:
        self.before: dict[str, int | None] = {}
        self.after: dict[str, int | None] = {}
        self.limits: dict[str, int] = {}
        self._ask = ask
        self._problems: dict[tuple[str, str], dict[str, None]] = {}
        self._unknown = False
        self._silent: set[str] = set()
        self._looked = False

    @property
    def mute(self) -> bool:
        """Whether there are devices, and none of them has anything to say."""
        return bool(self._silent) and not self.before

    def look(self) -> dict[str, int]:
        """Bytes in use, for each device that says so. Peaks and limits are kept here."""
        found: dict[str, int] = {}
        devices = self._ask()
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
                found[name] = in_use
            else:
                self._problem(name, "bytes_in_use")
            self.before.setdefault(name, 0 if self._looked else peak)
            if peak is not None:
                self.after[name] = peak
            else:
                self._problem(name, "peak_bytes_in_use")
            if limit is not None:
                self.limits[name] = limit
        self._looked = True
        return found

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
    """Return what a device says of its memory, without what it does not know: that is -1.

    >>> known({"bytes_in_use": 512, "bytes_limit": -1})
    {'bytes_in_use': 512}
    """
    return {name: value for name, value in stats.items() if value >= 0}


def started_devices() -> tuple[Any, ...] | None:
    """The local devices of the backends that run, none where none does; ``None`` if this JAX does not tell."""
    jax = sys.modules.get("jax")
    if jax is None or getattr(jax.__spec__, "_initializing", False):  # an import of ours would wait for the user's
        return ()
    started = private_api.backends_started()
    if started is None:
        return None
    return private_api.local_devices() if started else ()


def array_bytes(devices: Sequence[Any] | None) -> int | None:
    """Return what the living arrays of `devices` take on them.

    ``None`` if it is not known which devices there are.
    """
    if devices is None:
        return None
    total, addresses = 0, set()
    for client in {id(device.client): device.client for device in devices}.values():
        arrays = client.live_arrays()
        while arrays:  # let each go at once: its owner may wait for the memory
            array = arrays.pop()
            address = _address_of(array)
            if address is None or address not in addresses:  # what is printed has an alias ever after
                total += _size_of(array)
                addresses.add(address)
            del array
    return total


def _address_of(array: Any) -> int | None:
    """Find where its memory begins; ``None`` for one on several devices, or that was deleted. Waits for nothing.

    Nor is it told by JAX before 0.10, which would make another array of the same memory to tell it, and keep that.
    """
    if getattr(sys.modules.get("jax"), "__version_info__", ()) < (0, 10):
        return None
    try:
        return int(array.unsafe_buffer_pointer())
    except Exception:
        return None


def _size_of(array: Any) -> int:
    """Bytes on all of its devices; 0 for one that was deleted or donated. Waits for nothing."""
    if array.is_deleted():
        return 0
    try:
        return device_bytes(array)
    except Exception:  # another thread has donated it since, or its backend does not say
        return 0 if array.is_deleted() else bytes_of(array.size, array.dtype)


class Devices:
    """The devices that there are, asked for until there are some: from then on they stay the same."""

    def __init__(self, ask: Callable[[], Sequence[Any] | None]) -> None:
        self._ask = ask
        self._found: Sequence[Any] | None = ()

    def __call__(self) -> Sequence[Any] | None:
        """``None`` if they are unknown."""
        self._found = self._found or self._ask()
        return self._found


class ProcessSize:
    """Reads the resident set size of this process, on Linux in 2 µs."""

    def __init__(self) -> None:
        self._file: FileIO | None = None
        self._page_bytes: int | None = None

    def __call__(self) -> int:
        """In bytes."""
        if self._file is None:
            self._find()
        if self._file is not None and self._page_bytes:
            return int(os.pread(self._number, 64, 0).split(None, 2)[1]) * self._page_bytes
        import psutil

        return int(psutil.Process().memory_info().rss)

    def _find(self) -> None:
        """Open Linux's file, once."""
        if self._page_bytes is None:
            self._page_bytes = 0
            with suppress(OSError, AttributeError, ValueError):
                page_bytes = os.sysconf("SC_PAGE_SIZE")
                self._file = FileIO("/proc/self/statm")
                self._number = self._file.fileno()
                self._page_bytes = page_bytes

    def close(self) -> None:
        """Close the file; what is read from then on costs more."""
        file, self._file = self._file, None
        if file is not None:
            file.close()


def high_water_bytes() -> int | None:
    """The largest resident set size in the life of the process, on Linux."""
    try:
        with FileIO("/proc/self/status") as file:
            lines = file.readall().splitlines()
        return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(b"VmHWM:"))
    except (OSError, StopIteration, ValueError):
        return None
