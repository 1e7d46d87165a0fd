"""Finds what the host did while the device was idle, in a recording: calls, copies, and waits before them.

Executions of programs are as long as from their first operation to their last: on the CPU and on GPUs a device is
briefly idle between operations, which is not the host's doing.

Another process or the profiler itself may stop the host for a while. What takes much longer than it usually does
therefore counts as if it had taken as long as usual.
"""

from __future__ import annotations

import itertools
import re
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import numpy as np

from ...profiling.analysis.attribution import Ints, Segments, overlap, union_of
from ...profiling.analysis.devices.idle_gaps import host_stretches
from ...profiling.analysis.interpret import interpreted
from ...profiling.record.recording import Interpreted, Trace
from ...timing.capture.waits import WaitLog
from ..analysis.program_names import name_in_xla
from ..record.evidence import Dispatch, HostUse

#: JAX's event for a call of a jitted function or an eager operation, with its name; and for handing over an array.
_CALL = re.compile(r"PjitFunction\((.*)\)$")
_PUT = "DevicePut"

#: The same outside of calls, as by ``jax.device_put``, and inside of a call that JAX makes in Python, as when arrays
#: that are passed are observed.
_PUT_OUTSIDE = "DevicePutWithSharding"

#: Our mark at the end of a wait of the code, and our programs.
_WAITED = "jaxmagic: waited"
_OURS = "jaxmagic_fence"

#: The time in which a function of JAX may be at work in Python before it calls its program.
_BEFORE_PS = 50_000_000


#: A step of the host is disturbed if the device is idle in it for this many times as long as in half of its kind, and
#: longer than that by at least this: threads that compute wake up within less, and schedulers stop a process for
#: more. Of fewer steps, nobody knows how long they usually take.
_DISTURBED = 3
_LEAST_DISTURBED_PS = 500_000_000
_FEWEST_STEPS = 5


@contextmanager
def marked_waits() -> Iterator[None]:
    """Mark the ends of the waits in the block in a recording."""
    log = WaitLog()
    log.start(noticed=mark_wait)
    try:
        yield
    finally:
        log.stop()


def mark_wait(_: str, wait_ns: int) -> None:
    """Mark in a recording that a wait has just ended, if there was anything to wait for."""
    if wait_ns:
        from jax.profiler import TraceAnnotation

        with TraceAnnotation(_WAITED):
            pass


class _Event(NamedTuple):
    """An event of the host, in picoseconds."""

    start: int
    end: int


def host_use_of(trace: Trace) -> HostUse | None:
    """Return what the host did; ``None`` if no device ran a program that was called."""
    recording = interpreted(trace)
    calls, puts, outside, waited = _of_host(recording)
    ran = _executions(recording)
    if not calls or not any(ran.values()):
        return None
    device = max(ran, key=lambda each: sum(end - start for _, start, end in ran[each]))
    programs = ran[device]
    busy = _segments([(start, end) for _, start, end in programs])
    begin = min(each.start for group in calls.values() for each in group) - _BEFORE_PS
    whole = _segments([(begin, max(int(busy.end[-1]), begin + 1))])
    idle = overlap(whole, busy, inside=False)
    compiling = _around(calls, host_stretches(recording)["compilation"])
    idle = overlap(idle, compiling, inside=False)
    disturbed, lost_ns = _disturbed(calls, idle)
    usual_ns = _length_ns(overlap(idle, disturbed, inside=True)) - lost_ns
    idle = overlap(idle, disturbed, inside=False)
    by_name: dict[str, list[tuple[int, int]]] = defaultdict(list)
    for name, start, end in programs:
        by_name[name_in_xla(name)].append((start, end))
    after_wait = _containing(idle, waited, _called(calls, by_name))
    before = _before(calls)
    dispatches = [
        _dispatch(name, group, before[name], by_name.get(name_in_xla(name), []), puts, idle, after_wait, disturbed)
        for name, group in calls.items()
    ]
    return HostUse(
        dispatches=tuple(sorted(dispatches, key=lambda each: -each.exposed_ns)),
        idle_ns=_length_ns(idle) + usual_ns,
        disturbed_ns=lost_ns,
        waited_ns=_length_ns(after_wait),
        waits=len(waited),
        put_ns=_length_ns(_segments(outside)),
        puts=len(outside),
    )


def _of_host(recording: Interpreted) -> tuple[dict[str, list[_Event]], list[_Event], list[_Event], list[int]]:
    """Return the outermost calls by name, the copies to the device, those outside of calls, and the ends of waits.

    A thread that calls nothing copies while another one goes on.
    """
    calls: dict[str, list[_Event]] = defaultdict(list)
    puts: list[_Event] = []
    outside: list[_Event] = []
    waited: list[int] = []
    names = {number: found[1] for number, kind in enumerate(recording.kinds) if (found := _CALL.match(kind.name))}
    for line in recording.tracks:
        if line.role != "host":
            continue
        until = -1
        between: list[_Event] = []
        for kind, start, end in zip(line.kinds.tolist(), line.start_ps.tolist(), line.end_ps.tolist(), strict=True):
            name = recording.kinds[kind].name
            if kind in names and start >= until:
                until = end
                if _OURS not in names[kind]:
                    calls[names[kind]].append(_Event(start, end))
            elif name == _PUT or (name == _PUT_OUTSIDE and start < until):
                puts.append(_Event(start, end))
            elif name == _PUT_OUTSIDE:
                between.append(_Event(start, end))
            elif name == _WAITED:
                waited.append(end)
        outside += between if until > 0 else []
    return calls, puts, outside, sorted(waited)


def _executions(recording: Interpreted) -> dict[str, list[tuple[str, int, int]]]:
    """Return name, start and end of the executions of programs on each device, in order."""
    found: dict[str, list[tuple[str, int, int]]] = {}
    recorded = {each.device for each in recording.tracks if each.role == "programs" and len(each.kinds)}
    open_: dict[tuple[str, int, str], tuple[int, int]] = {}
    for number, line in enumerate(recording.tracks):
        if line.device is None or line.role != ("programs" if line.device in recorded else "operations"):
            continue
        runs = range(len(line.kinds)) if line.executions is None else line.executions.tolist()
        rows = zip(line.kinds.tolist(), line.start_ps.tolist(), line.end_ps.tolist(), runs, strict=True)
        for kind, start, end, run in rows:
            name = _program(recording, kind)
            if name is None or _OURS in name:
                continue
            key = (line.device, run if run else -1 - start - number, name)
            begun = open_.get(key)
            open_[key] = (start, end) if begun is None else (min(begun[0], start), max(begun[1], end))
    for (device, _, name), (start, end) in open_.items():
        found.setdefault(device, []).append((name, start, end))
    return {device: sorted(rows, key=lambda each: each[1]) for device, rows in found.items()}


def _program(recording: Interpreted, kind: int) -> str | None:
    metadata = recording.kinds[kind]
    module = None if metadata.program is None else recording.modules.get(metadata.program)
    name = re.sub(r"\(-?\d+\)$", "", metadata.name) if module is None else module.name
    if module is None and not name.startswith("jit_"):
        return None
    return name.removeprefix("jit_")


def _around(calls: dict[str, list[_Event]], compiling: Segments) -> Segments:
    """Return the calls in which something compiled."""
    starts = np.sort(compiling.start)
    found = []
    for group in calls.values():
        for each in group:
            at = int(np.searchsorted(starts, each.start))
            if at < len(starts) and starts[at] < each.end:
                found.append((each.start - _BEFORE_PS, each.end))
    return _segments(found)


def _called(calls: dict[str, list[_Event]], ran: dict[str, list[tuple[int, int]]]) -> dict[int, int]:
    """Return when the calls of programs returned, by the start of each program that is known to be that of a call."""
    return {
        start: call.end
        for name, group in calls.items()
        if len(group) == len(ran.get(name_in_xla(name), ()))
        for call, (start, _) in zip(sorted(group), ran[name_in_xla(name)], strict=True)
    }


def _containing(idle: Segments, waited: list[int], called: dict[int, int]) -> Segments:
    """Return the idle times in which a wait of the code ended, and after which the device had work again.

    Work that the code had called before the wait ended does not begin later because of it.
    """
    marks = np.array(waited, np.int64)
    first = np.searchsorted(marks, idle.start)
    chosen = first < np.searchsorted(marks, idle.end)
    for number in np.flatnonzero(chosen).tolist():
        returned = called.get(int(idle.end[number]))
        chosen[number] = returned is None or returned > marks[first[number]]
    return Segments(idle.start[chosen], idle.end[chosen], np.flatnonzero(chosen))


def _before(calls: dict[str, list[_Event]]) -> dict[str, list[tuple[int, int]]]:
    """Return the calls with the host's time before each, at most up to the call before it."""
    found: dict[str, list[tuple[int, int]]] = defaultdict(list)
    ended = -1
    for each, name in sorted((each, name) for name, group in calls.items() for each in group):
        found[name].append((min(max(each.start - _BEFORE_PS, ended), each.start), each.end))
        ended = max(ended, each.end)
    return found


def _disturbed(calls: dict[str, list[_Event]], idle: Segments) -> tuple[Segments, int]:
    """Return the steps of the host that were disturbed, and how much longer they took than others of their kind.

    A step goes from the end of a call to the end of the next one. Those between the same two functions are of a kind.
    """
    ordered = sorted((each, name) for name, group in calls.items() for each in group)
    kinds: dict[tuple[str, str], list[tuple[int, int]]] = defaultdict(list)
    for (before, name), (each, following) in itertools.pairwise(ordered):
        kinds[name, following].append((before.end, max(each.end, before.end)))
    found, lost_ps = [], 0.0
    for steps in kinds.values():
        idle_ps = _idle_until(idle, [end for _, end in steps]) - _idle_until(idle, [start for start, _ in steps])
        usual_ps = float(np.median(idle_ps))
        chosen = idle_ps > max(_DISTURBED * usual_ps, usual_ps + _LEAST_DISTURBED_PS)
        if len(steps) >= _FEWEST_STEPS:
            found += [step for step, is_long in zip(steps, chosen, strict=True) if is_long]
            lost_ps += float((idle_ps[chosen] - usual_ps).sum())
    return _segments(found), round(lost_ps) // 1000


def _idle_until(idle: Segments, times: list[int]) -> Ints:
    """Return for how long the device has been idle until some times."""
    lengths = idle.end - idle.start
    number = np.searchsorted(idle.start, np.array(times, np.int64), side="right")
    before = np.concatenate([[0], np.cumsum(lengths)])
    last = np.maximum(number - 1, 0)
    over = (
        np.maximum(idle.end[last] - np.array(times, np.int64), 0) if len(lengths) else np.zeros(len(times), np.int64)
    )
    return np.asarray(before[number] - np.where(number > 0, over, 0), np.int64)


def _dispatch(
    name: str,
    calls: list[_Event],
    before: list[tuple[int, int]],
    ran: list[tuple[int, int]],
    puts: list[_Event],
    idle: Segments,
    after_wait: Segments,
    disturbed: Segments,
) -> Dispatch:
    """Describe the calls of a function; disturbed ones count as if they were like the others."""
    calls = sorted(calls)
    whole = _segments(calls)
    starts = np.array([each.start for each in calls], np.int64)
    inside = []
    for put in puts:
        at = int(np.searchsorted(starts, put.start, side="right")) - 1
        if at >= 0 and put.end <= calls[at].end:
            inside.append((put.start, put.end))
    pending = Segments(*(np.zeros(0, np.int64),) * 3)
    if len(ran) == len(calls):
        late = [(call.end, start) for call, (start, _) in zip(calls, ran, strict=True) if start > call.end]
        pending = overlap(idle, _segments(late), inside=True)
    after_wait_ns = _length_ns(overlap(after_wait, _segments(before), inside=True))
    ends = np.searchsorted(disturbed.end, np.array([each.end for each in calls], np.int64))
    usual = [
        each
        for each, at in zip(calls, ends.tolist(), strict=True)
        if at == len(disturbed.end) or each.end <= disturbed.start[at]
    ]
    weight = len(calls) / len(usual) if usual else 1.0
    return Dispatch(
        name=name,
        count=len(calls),
        host_ns=round(sum(each.end - each.start for each in usual or calls) * weight) // 1000,
        exposed_ns=round((_length_ns(overlap(idle, _segments(before), inside=True)) - after_wait_ns) * weight),
        after_wait_ns=round(after_wait_ns * weight),
        pending_ns=_length_ns(overlap(pending, whole, inside=False)),
        put_ns=_length_ns(overlap(idle, _segments(inside), inside=True)),
        puts=len(inside),
        copied_ns=_length_ns(_segments(inside)),
        busy_ns=sum(end - start for start, end in ran) // 1000,
    )


def _segments(pairs: list[tuple[int, int]] | list[_Event]) -> Segments:
    columns: Ints = np.array(pairs, np.int64).reshape(-1, 2)
    return union_of(columns[:, 0], columns[:, 1])


def _length_ns(segments: Segments) -> int:
    return int((segments.end - segments.start).sum()) // 1000
