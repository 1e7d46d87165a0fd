"""Words of a diagnosis's own notes: how the code was run, and what could not be examined."""

from __future__ import annotations

from collections.abc import Callable

from ... import units
from ...terminal import printable
from ..rules.host.loading import LEAST_SAMPLES

#: What is missing where a rule cannot look, by the kind of evidence.
_MISSING = {
    "programs": "this JAX does not show which programs run",
    "profile": "there is no device time from the profiler",
    "repeated": "the code ran only once",
    "waits": "waits cannot be observed",
    "lines": "the host's lines were not sampled",
}


def _once(why: str) -> str:
    return f"The code ran only once, because {why}. --repeat runs it several times, which some rules need."


def _why_unjudged(samples: int, slower_ns: int) -> str:
    found = f"{samples} samples of the host, which are 1 ms apart, show it"
    if not slower_ns:
        return f"{found}, and fewer than {LEAST_SAMPLES} may be chance"
    return f"{found}, but the run with samples took {units.time(slower_ns)} longer than another, which may be these"


NOTES: dict[str, Callable[..., str]] = {
    "once_rebound": lambda names: _once(f"it assigns what it reads ({printable(names)})"),
    "once_donated": lambda names: _once(f"it donates or deletes what it reads ({printable(names)})"),
    "once_changed": lambda names: _once(f"it changes what it reads ({printable(names)})"),
    "once_written": lambda names: _once(f"it writes, moves or removes files ({printable(names)})"),
    "once_called": lambda names: _once(f"it changes what no variable shows ({printable(names)})"),
    "once_started": lambda names: _once(f"it starts other programs ({printable(names)})"),
    "once_traced": lambda: _once("it records a trace with JAX's profiler, which writes a directory each time"),
    "once_profiler": lambda: (
        "The code ran only once, because it leaves JAX's profiler running. A process has only one, so what the "
        "devices did is unknown."
    ),
    "changes_of_some": lambda objects: (
        f"The code can reach more than {objects:,} objects. Changes to others than the nearest of them are not seen: "
        "if it makes any, each run did something else."
    ),
    "twice_changed": lambda names: (
        f"The code ran only twice, because its second run changed {printable(names)}, which the first one had made. "
        "--repeat runs it several times."
    ),
    "jit_disabled": lambda inside: (
        f"jit was disabled {'in a part of the code (jax.disable_jit)' if inside else '(jax_disable_jit)'}: jitted "
        "functions run operation by operation there, and loops of JAX as loops of Python. What was found is about "
        "that; switch jit on again to see what the code costs with it."
    ),
    "ended_early": lambda: "The code did not complete a run.",
    "interrupted": lambda complete: (
        "The last run was interrupted." if complete else "The code was interrupted: what is known ends there."
    ),
    "failed_later": lambda error: (
        f"The first run completed, but a later one raised {printable(error)}: the code does something else when it "
        "runs again."
    ),
    "unread": lambda part, error: f"Not available: {part} ({printable(error)}).",
    "rule_failed": lambda rule, error: f"Rule {rule} failed ({printable(error)}); the others were applied.",
    "host_unjudged": lambda rules, count, times: (
        f"{rules} could not judge: the run under the profiler took {units.number(times, 2)} times as long as one "
        f"without it. If all of it was slowed down alike, {'it finds' if count == 1 else 'they find'} nothing; if "
        "the host kept its pace, it loses time. Run %jaxdoctor again to tell."
    ),
    "input_unjudged": lambda samples, slower_ns: (
        f"It is unknown whether loading of data keeps the device waiting: {_why_unjudged(samples, slower_ns)}. "
        "Diagnose more iterations at once to tell."
    ),
    "host_lines": lambda lines: f"Where the host was, by samples: {printable(lines)}.",
    "made_by_the_code": lambda functions, count, compile_ns: (
        f"Each run compiles {printable(functions)} for {units.time(compile_ns)}, because this code makes "
        f"{'it' if count == 1 else 'them'}. Compiling once is necessary, so this is no finding. If the code "
        f"runs repeatedly, make {'it' if count == 1 else 'them'} in earlier code, which runs once."
    ),
    "recorded_part": lambda recorded_ns: (
        f"The profiler recorded {units.time(recorded_ns)} of a run, because recordings end at a limit to stay "
        "readable. Counts, and costs with ≥, are those of this part: the rest of the run may have more."
    ),
    "reads_unseen": lambda python: (
        f"On Python {printable(python)}, waits of np.asarray for arrays on the CPU are not seen: whether the device "
        "is idle because of them is unknown. Python 3.12 shows them."
    ),
    "not_looked": lambda rules, need: f"Rules not applied, because {_MISSING[need]}: {rules}.",
}
