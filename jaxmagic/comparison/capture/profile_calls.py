"""Profiles some calls of a candidate: where devices spend the time."""

from __future__ import annotations

from collections.abc import Iterable

from ...benchmarking.capture.runner import Runner
from ...compilation.record.compilation import Compilation
from ...errors import message_of
from ...profiling.analysis.interpret import interpreted
from ...profiling.analysis.summarize import ProfileSummary, summarize
from ...profiling.capture.make_record import make_profile
from ...profiling.capture.profiler_session import NotRecorded, Profiler, mark_run, windows_of
from ...profiling.record.profile import Profile
from ...records.note import note

#: The number of calls that are profiled.
_CALLS = 3


def profile_of(runner: Runner, code: str | None, compiled: Iterable[Compilation] = ()) -> Profile:
    """Profile some more calls, without making their arguments.

    Errors of the profiler and of the code are not raised: the record is empty then, and its notes say why.

    Args:
        runner: calls the candidate.
        code: its source.
        compiled: what its first call compiled.
    """
    profiler, notes = Profiler(), []
    summary, recording = ProfileSummary(0, (), (), ()), None
    try:
        profiler.start()
        for number in range(_CALLS):
            runner.call_within(mark_run(number))
        recording = interpreted(profiler.stop())
        windows = windows_of(recording)
        if len(windows) != _CALLS:
            raise NotRecorded(note("profiling.lost_run_markers"))
        summary = summarize(recording, windows)
    except NotRecorded as problem:
        notes.append(problem.why)
    except Exception as problem:
        notes.append(note("profiling.not_profiled", error=f"{type(problem).__name__}: {message_of(problem)}"))
    finally:
        profiler.cancel()
    return make_profile(summary, recording, code=code, compiled=compiled, runs=_CALLS, notes=notes)
