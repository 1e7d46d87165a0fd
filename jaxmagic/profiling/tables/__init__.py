"""Tables of a profile: the columns with their types, and the rows."""

from __future__ import annotations

from collections.abc import Iterable

from ...compilation.tables import compilations
from ...report.table import MOMENT, Table
from ..record.profile import Profile
from .by_device import collectives, devices, memory, programs, steps, transfers
from .by_operation import kernels, lines, operations, scopes

_PROFILE = {
    "started_at": MOMENT,
    "code": "string",
    "runs": "Int64",
    "wall_ns": "Int64",
    "recorded_ns": "Int64",
    "device_ns": "Int64",
    "devices": "Int64",
    "error": "string",
    "kept": "string",
}

_EVENT = {
    "track": "string",
    "device": "string",
    "shows": "string",
    "name": "string",
    "activity": "string",
    "start_ns": "Int64",
    "length_ns": "Int64",
    "detail": "string",
}


def profiles(profiles: Iterable[Profile]) -> Table:
    """Make one row per profile."""
    rows = [
        (
            *(each.started_at, each.code, each.runs, each.wall_ns, each.recorded_ns, each.device_ns),
            *(len(each.device_uses), each.error, each.kept),
        )
        for each in profiles
    ]
    return Table(_PROFILE, rows)


def timeline(profile: Profile) -> Table:
    """Make one row per event of a device or of the host, and per gap of a device."""
    rows: list[tuple[object, ...]] = []
    for track in profile.timeline.tracks if profile.timeline else ():
        labels = [profile.timeline.labels[number] for number in track.labels] if profile.timeline else []
        for label, start_ns, length_ns in zip(labels, track.start_ns, track.length_ns, strict=True):
            where = (track.name, track.device, track.shows)
            rows.append((*where, label.name, label.activity, start_ns, length_ns, label.detail or None))
    return Table(_EVENT, rows)


TABLES = {
    Profile: {
        "lines": lines,
        "operations": operations,
        "kernels": kernels,
        "scopes": scopes,
        "devices": devices,
        "steps": steps,
        "memory": memory,
        "collectives": collectives,
        "transfers": transfers,
        "programs": programs,
        "timeline": timeline,
        "compilations": lambda record: compilations([record]),
    }
}
