"""Tells at which lines the host was, where it keeps the device idle and no rule knows what to do about it."""

from __future__ import annotations

from collections import Counter

from .... import units
from ....records.note import Note, note
from ...record.evidence import Evidence
from .host_time import best_run, host_time
from .loading import MANY_SAMPLES

#: The device is idle for at least this share of a run, and findings explain less than this share of the idle time.
_MOSTLY = 0.5

#: Lines with a smaller share of the samples are left out, and so are further ones.
_LEAST_SHARE = 0.1
_MOST_LINES = 3


def host_lines(evidence: Evidence, found_ns: float) -> Note | None:
    """Return a note on the lines where the host was most; ``None`` if the device is busy, or samples are few.

    Args:
        evidence: the observations of the runs.
        found_ns: the time per run that findings about the host explain; there is no note if that is most of it.
    """
    time, shares = host_time(evidence), evidence.host or ()
    samples = sum(each.samples for each in shares)
    if time is None or samples < MANY_SAMPLES:
        return None
    if time.idle_ns < _MOSTLY * best_run(evidence).wall_ns or found_ns >= _MOSTLY * time.idle_ns:
        return None
    counts: Counter[str] = Counter()
    for each in shares:
        if each.line is not None:
            counts[f"{each.line.location}{f' in {each.called}' if each.called else ''}"] += each.samples
    most = [(place, count) for place, count in counts.most_common(_MOST_LINES) if count >= _LEAST_SHARE * samples]
    listed = ", ".join(f"{units.share(count, samples)} at {place}" for place, count in most)
    return note("doctor.host_lines", lines=listed) if listed else None
