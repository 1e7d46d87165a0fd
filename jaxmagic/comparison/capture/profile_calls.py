"""The profile of a candidate: where devices spend the time of its calls."""

from __future__ import annotations

from ...benchmarking.capture.runner import Runner
from ...errors import message_of
from ...profiling.analysis.interpret import interpreted
from ...profiling.analysis.summarize import ProfileSummary, summarize
from ...profiling.capture.make_record import make_profile
from ...profiling.capture.profiler_session import NotRecorded, Profiler, mark_run, windows_of
from ...profiling.record.profile import Profile
from ...records.note import note

#: Calls that are recorded.
_CALLS = 3


def profile_of(runner: Runner, code: str | None) -> Profile:
    """Some more calls, under the profiler; what makes their arguments is not in it.

    Never raises what the profiler or the code does: then the record is empty, and its notes say why.
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
            raise NotRecorded(note("profiling.lost_run_markers"))
        times = summarize(recording, windows)
    except NotRecorded as problem:
        notes.append(problem.why)
    except Exception as problem:
        notes.append(note("profiling.not_profiled", error=f"{type(problem).__name__}: {message_of(problem)}"))
    finally:
        profiler.cancel()
    return make_profile(times, recording, code=code, runs=_CALLS, notes=notes)
