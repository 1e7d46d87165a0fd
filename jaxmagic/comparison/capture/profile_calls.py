"""Profiles some calls of a candidate: where devices spend the time."""

from __future__ import annotations

from ...benchmarking.capture.runner import Runner
from ...errors import NotMeasured, message_of
from ...profiling.analysis.interpret import interpreted
from ...profiling.analysis.summarize import ProfileSummary, summarize
from ...profiling.capture.make_record import make_profile
from ...profiling.capture.profiler_session import Profiler, mark_run, windows_of
from ...profiling.record.profile import Profile

#: The number of calls that are profiled.
_CALLS = 3


def profile_of(runner: Runner, code: str | None) -> Profile:
    """Profile some more calls, without making their arguments.

    It does not raise if the profiler or the code does. Then the record is empty, and its notes say why.
    """
    profiler, notes = Profiler(), []
    times, recording = ProfileSummary(0, (), (), ()), None
    try:
        profiler.start()
        for number in range(_CALLS):
            runner.call_within(mark_run(number))
        recording = interpreted(profiler.stop())
        windows = windows_of(recording)
        if len(windows) != _CALLS:
            raise NotMeasured("The profiler has lost some of the calls.")
        times = summarize(recording, windows)
    except NotMeasured as problem:
        notes.append(str(problem))
    except Exception as problem:
        notes.append(f"Not profiled: {type(problem).__name__}: {message_of(problem)}.")
    finally:
        profiler.cancel()
    return make_profile(times, recording, code=code, runs=_CALLS, notes=notes)
