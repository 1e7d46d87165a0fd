"""Words for the notes of profiles."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...compilation.report import lines_before_0_10
from ...records.note import Note
from ..record.profile import Profile


def _no_recorded_end(operations: int) -> str:
    if operations == 1:
        return "1 operation has no recorded end; its duration is a lower bound."
    return f"{operations:,} operations have no recorded end; their durations are lower bounds."


def _cut(complete_runs: int, runs: int, limit_ns: int, limit_events: int) -> str:
    part = "the first part of the run"
    if complete_runs:
        part = f"the first {units.count(complete_runs, 'run')} of {runs}"
    limit, more = units.time(limit_ns), "most_s=20, or --most 20s"
    if limit_events:
        limit += f", about {limit_events:,} events of this code,"
        more = "most_events=4_000_000, or --most-events 4000000"
    return (
        f"Recorded: {part}, because recordings end after {limit} to stay readable. The rest ran without the "
        f"profiler. To record more: {more}."
    )


def _many_events(events: int, limit_events: int, runs: int = 1, estimated: bool = False) -> str:
    why = "which relies on the event rate of the first run" if estimated else "since the first run gave no event rate"
    fewer = " Fewer runs have fewer: runs=1, or -n 1." if runs > 1 else ""
    return f"The recording has {events:,} events, more than the limit of {limit_events:,}, {why}.{fewer}"


def _damaged_times(events: int, lines: str) -> str:
    were = "was" if events == 1 else "were"
    return (
        f"The recording is damaged: {units.count(events, 'event')} more than a day away from the rest {were} dropped "
        f"({lines})."
    )


#: By the kind behind ``profiling.``; each gets the facts of the note.
NOTES: dict[str, Callable[..., str]] = {
    "no_backends": lambda: "Nothing was recorded, because no device worked: the code has not started JAX's backends.",
    "backends_started": lambda: (
        "JAX's profiler started the backends before the code ran, so their start is not in the recording. "
        "If you use jax.distributed.initialize(), call it before profiling."
    ),
    "hosts": lambda hosts, names: (
        f"Read as one run on {hosts} hosts, with a file for each: {names}. If they are different runs, give one file."
    ),
    "no_program": lambda runs: (
        f"No JAX program ran in the {'recorded run' if runs == 1 else units.count(runs, 'recorded run')}."
    ),
    "not_called": lambda function: f"{function} was not called: %jaxprof {function}(x)",
    "nested": lambda: "jaxmagic is already profiling; profiles cannot be nested. Nothing was recorded.",
    "yielded": lambda: (
        "The code starts JAX's profiler itself, and a process has only one: nothing else was recorded, so what the "
        "devices did is unknown here. Remove the profiler from the code to see it."
    ),
    "left_running": lambda: (
        "The code leaves JAX's profiler running, and a process has only one: the code ran once, and nothing was "
        "recorded."
    ),
    "profiler_in_use": lambda: (
        "The JAX profiler is running already, and a process has only one: it was left alone, and nothing was "
        "recorded here. Stop it with jax.profiler.stop_trace() first."
    ),
    "profiler_failed": lambda done, error: f"The JAX profiler could not be {done}: {error}. Nothing was recorded.",
    "profiler_message": lambda text: f"The profiler says: {text}",
    "gpu_without_events": lambda host: (
        f"{host or 'The host'} called the GPU driver, but the recording has no events of a GPU."
    ),
    "damaged_times": _damaged_times,
    "nothing_written": lambda: "The profiler wrote no recording.",
    "lost_run_markers": lambda: "The profiler dropped some run markers, so per-run results are unavailable.",
    "not_profiled": lambda error: f"Not profiled: {error}.",
    "ended_before_recording": lambda: "Nothing was recorded: the code ended before the recording began.",
    "donated_input": lambda: (
        "The code runs several times, and an earlier run donated or deleted an input. Reassign it, as in "
        "state = step(state), or record a single run: --cold, or cold=True."
    ),
    "interrupted": lambda: "Interrupted while the recording was read, so device times are unavailable.",
    "unreadable": lambda error: f"The recording cannot be read ({error}).",
    "cut": _cut,
    "many_events": _many_events,
    "no_recorded_end": _no_recorded_end,
    "unread_modules": lambda programs, errors: (
        f"The compiled modules of {units.count(programs, 'program')} could not be read ({errors}), so operations of "
        "these programs have no lines."
    ),
    "lines_of_earlier_calls": lines_before_0_10,
    "compiled_earlier": lambda functions: (
        f"Compiled by earlier calls: {functions}. JAX records the lines of those calls, so it is unknown which lines "
        "call them now."
    ),
    "source_of_now": lambda: (
        "The recording has no source: lines are shown from the files on this machine as they are now."
    ),
    "command_buffers": lambda: (
        "Kernels ran in CUDA graphs (XLA's command buffers), where the trace names the graph and not the HLO op. "
        "Kernels were matched to ops by name, node and order; those with no match have no line. For exact lines of a "
        "jitted function f: jaxmagic.profile(f, x, command_buffers=False). For a whole process: set the environment "
        "variable XLA_FLAGS to --xla_gpu_enable_command_buffer= before JAX starts."
    ),
    "without_command_buffers": lambda: (
        "Compiled again without command buffers (CUDA graphs), so that each kernel keeps its operation and line. "
        "Runs may take longer than in your program, which uses them."
    ),
    "peaks_under_load": lambda: (
        "Peak rates were measured on a busy machine and may be too low, so '% of roof' may be too high."
    ),
    "written_for_perfetto": lambda path: f"Written for Perfetto: {path}. Open it at https://ui.perfetto.dev.",
    "not_written": lambda error: f"Not written for Perfetto: {error}.",
    "not_kept": lambda error: f"The recording could not be kept: {error}.",
    "not_listed": lambda error: f"The run could not be added to the list: {error}",
}

#: The note that stands beside the peak rates.
ABOUT_THE_ROOF = "profiling.peaks_under_load"

#: Notes that can be folded: the first numbers of a report mean the same without them.
_ASIDE = frozenset(
    f"profiling.{kind}"
    for kind in (
        "backends_started", "command_buffers", "lines_of_earlier_calls", "many_events", "peaks_under_load",
        "profiler_message", "source_of_now",
    )
)  # fmt: skip


def matters(note: Note, profile: Profile) -> bool:
    """Return whether a note has to be read with the first numbers; all have to if there are no numbers."""
    return note.kind not in _ASIDE or not profile.device_uses
