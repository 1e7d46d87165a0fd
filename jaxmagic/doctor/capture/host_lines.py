"""Samples the user's lines at which a thread is, to tell where the host's time goes.

A sample is taken when the sampling thread gets Python's lock. Python code keeps the lock for 5 ms unless the switch
interval is shorter, which it therefore is meanwhile: lines that release the lock, as calls of programs do, would have
several times their share of the samples. While a function written in C holds the lock, no sample is taken, so a line
that calls such functions has fewer samples than its share.

Samples during which JAX traces, lowers or compiles are left out: what they show happens once, however often the line
runs.
"""

from __future__ import annotations

import dis
import sys
import threading
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from itertools import islice
from types import FrameType
from typing import NamedTuple, TypeAlias

from ...compilation.capture.compiling_times import CompilingTimes
from ...compilation.capture.thread_stack import stack_of
from ...interrupts import begins, ends
from ...records.call_stack import Frame, is_users
from ...runtime.clock import Clock, now_ns
from ..record.evidence import FunctionShare, HostShare
from .frames import known

#: The time between two samples.
INTERVAL_NS = 1_000_000

#: The switch interval of Python is the time between two samples, divided by this. Code that computes for less than
#: that before it calls a program, which releases the lock, has fewer samples than its share.
_SWITCHES = 100

#: Python counts the switch interval in whole microseconds.
_LEAST_SWITCH_S = 1e-6

#: The instruction at which a frame is while a loop of it gets its next item.
_FOR_ITER = dis.opmap["FOR_ITER"]

#: The inline cache behind an instruction: a frame of Python 3.12 is there while a generator computes its next item.
_CACHE = 0

#: At most this many frames of a stack are searched.
_DEEPEST = 200

#: At most this many lines of the user's are kept of a stack.
_MOST_LINES = 12

#: The functions that run the code which is examined, with their files: of a verb, of a magic that is called, and of a
#: cell.
_RUNNERS = {
    "record_calls": "/jaxmagic/timing/capture/recorded_calls.py",
    "_execute": "/jaxmagic/magics/called_magic.py",
    "run_code": "/IPython/core/interactiveshell.py",
}


#: A frame and where it was when it was read.
_Line: TypeAlias = tuple[FrameType, Frame]


class _Place(NamedTuple):
    """Where samples were taken: what they have in common."""

    line: Frame | None
    called: str
    in_jax: str
    loading: tuple[Frame, ...]
    stack: tuple[Frame, ...]
    functions: frozenset[Frame]


class LineSampler:
    """Samples the lines of the thread that starts it.

    Args:
        interval_ns: the time between two samples.
        clock: the clock, in nanoseconds.

    Attributes:
        paused: whether no samples are taken, as at the start.
    """

    def __init__(self, interval_ns: int = INTERVAL_NS, clock: Clock = now_ns) -> None:
        self.interval_ns = interval_ns
        self.paused = True
        self._clock = clock
        self._ended_ns: dict[_Place, array[int]] = {}
        self._passed_ns: dict[_Place, array[int]] = {}
        self._compiling = CompilingTimes()
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._switch_s: float | None = None

    @begins("stop")
    def start(self) -> None:
        """Prepare to sample this thread, which begins when `paused` is cleared."""
        target = threading.get_ident()
        self._compiling.start()
        self._switch_s = sys.getswitchinterval()
        sys.setswitchinterval(min(self._switch_s, max(self.interval_ns / _SWITCHES / 1e9, _LEAST_SWITCH_S)))
        self._thread = threading.Thread(target=self._run, args=(target,), name="jaxmagic-lines", daemon=True)
        self._thread.start()

    @ends
    def stop(self) -> tuple[HostShare, ...]:
        """Stop, and return the lines, those with most samples first. A second call returns the same."""
        thread, self._thread = self._thread, None
        before_s, self._switch_s = self._switch_s, None
        if before_s is not None:
            sys.setswitchinterval(before_s)
        self._over.set()
        if thread is not None:
            thread.join()
        self._compiling.stop()
        counts = Counter[tuple[Frame | None, str, str, tuple[Frame, ...], tuple[Frame, ...]]]()
        for place, times_ns in self._kept():
            counts[place[:5]] += len(times_ns)
        return tuple(
            HostShare(
                line=known(line),
                called=called,
                samples=samples,
                in_jax=in_jax,
                loading=tuple(filter(None, map(known, loading))),
                stack=tuple(filter(None, map(known, stack))),
            )
            for (line, called, in_jax, loading, stack), samples in counts.most_common()
        )

    def functions(self) -> tuple[FunctionShare, ...]:
        """Return in which functions of the user the samples were; after the end."""
        counts, passed_ns = Counter[tuple[Frame, str]](), Counter[tuple[Frame, str]]()
        for place, times_ns in self._kept():
            for each in place.functions:
                counts[each, place.called] += len(times_ns)
                passed_ns[each, place.called] += sum(times_ns)
        return tuple(
            FunctionShare(function=function, called=called, samples=samples, time_ns=passed_ns[line, called])
            for (line, called), samples in counts.most_common()
            if (function := known(line)) is not None
        )

    def _kept(self) -> Iterator[tuple[_Place, list[int]]]:
        """Yield the places of samples while nothing was compiled, with the time since the sample before each."""
        compiling = self._compiling
        for place, ended_ns in self._ended_ns.items():
            times = zip(ended_ns, self._passed_ns[place], strict=True)
            kept = [passed - compiling.within(end - passed, end) for end, passed in times if end not in compiling]
            if kept:
                yield place, kept

    def _run(self, target: int) -> None:
        before_ns: int | None = None
        while not self._over.wait(self.interval_ns / 1e9):
            frames = [] if self.paused else list(_with_lines(stack_of(target, _DEEPEST)))
            if frames:
                time_ns = self._clock()
                line, called = place_of(frames)
                loading = loading_of(frames)
                stack = () if loading else lines_of(frames)
                place = _Place(line, called, in_jax_of(frames), loading, stack, frozenset(functions_of(frames)))
                self._ended_ns.setdefault(place, array("q")).append(time_ns)
                passed_ns = self.interval_ns if before_ns is None else time_ns - before_ns
                self._passed_ns.setdefault(place, array("q")).append(passed_ns)
                before_ns = time_ns
            else:
                before_ns = None
            del frames  # they would keep the user's variables alive


def outwards(frame: FrameType | None) -> Iterator[_Line]:
    """Yield the frames of a stack of this thread with their lines, from the innermost to the examined code's own."""
    return _with_lines(islice(_outwards(frame), _DEEPEST))


def _outwards(frame: FrameType | None) -> Iterator[FrameType]:
    while frame is not None:
        yield frame
        frame = frame.f_back


def _with_lines(frames: Iterable[FrameType]) -> Iterator[_Line]:
    """Yield frames with their lines up to the function that runs the examined code."""
    for each in frames:
        code = each.f_code
        runner = _RUNNERS.get(code.co_name)
        if runner is not None and code.co_filename.replace("\\", "/").endswith(runner):
            return
        yield each, Frame(function=code.co_name, file=code.co_filename, line=each.f_lineno or 0)


def place_of(stack: Iterable[_Line]) -> tuple[Frame | None, str]:
    """Return the user's innermost line on a stack, and the function that it called; empty if it called none.

    A stack of libraries alone has no line.
    """
    called: FrameType | None = None
    for current, line in stack:
        if is_users(line):
            return line, "" if called is None else _name_of(called)
        called = current
    return None, ""


def in_jax_of(stack: Iterable[_Line]) -> str:
    """Return the outermost function of JAX below the user's innermost line; empty if there is none."""
    outermost: FrameType | None = None
    for current, line in stack:
        if is_users(line):
            break
        if _module_of(current).partition(".")[0] == "jax":
            outermost = current
    return "" if outermost is None else _name_of(outermost)


def loading_of(stack: Iterable[_Line]) -> tuple[Frame, ...]:
    """Return the user's lines on a stack, outwards to the innermost loop that is getting its next item.

    Empty if there is none. The loop itself has to have called something written in Python for that.
    """
    lines: list[Frame] = []
    for depth, (current, line) in enumerate(stack):
        if is_users(line):
            lines.append(line)
            if depth > 0 and _instruction(current) == _FOR_ITER:
                return tuple(lines)
    return ()


def lines_of(stack: Iterable[_Line]) -> tuple[Frame, ...]:
    """Return the user's lines on a stack, innermost first."""
    return tuple(islice((line for _, line in stack if is_users(line)), _MOST_LINES))


def functions_of(stack: Iterable[_Line]) -> set[Frame]:
    """Return the user's functions on a stack, each by its first line."""
    return {replace(line, line=current.f_code.co_firstlineno) for current, line in stack if is_users(line)}


def _instruction(frame: FrameType) -> int | None:
    """Return the instruction at which a frame is; ``None`` if it has not begun."""
    code, offset = frame.f_code.co_code, frame.f_lasti
    while offset > 0 and code[offset] == _CACHE:
        offset -= 2
    return code[offset] if offset >= 0 else None


def _name_of(frame: FrameType) -> str:
    module, name = _module_of(frame), getattr(frame.f_code, "co_qualname", frame.f_code.co_name)
    return f"{module}.{name}" if module else str(name)


def _module_of(frame: FrameType) -> str:
    module = frame.f_globals.get("__name__")
    return module if type(module) is str else ""
