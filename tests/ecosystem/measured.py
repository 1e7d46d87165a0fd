"""Runs a program by hand, and then in a real shell under every magic."""

from __future__ import annotations

import importlib
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import jax
from shells import open_shell

from jaxmagic.benchmarking.record.benchmark import Benchmark
from jaxmagic.comparison.record.comparison import Comparison
from jaxmagic.memory_use.record.memory_profile import MemoryProfile
from jaxmagic.profiling.record.profile import Profile
from jaxmagic.timing.record import Timing

from . import by_hand
from .percent import Program

#: Correctness is what is looked at: as little as an interval takes.
_BUDGET = "--budget 150ms"

#: Of `%%jaxtimeit` and `%%jaxprof`, for a step that compiles whenever it is run.
_ONCE = "-n1 -r1", "--cold"


@dataclass(frozen=True, slots=True, kw_only=True)
class ByHand:
    """What is true of a program.

    Attributes:
        compilations: by cell, the step's twice, as the first run of it and the second.
        fastest_ns: the fastest of some more runs of the step; ``None`` if each of them compiles.
    """

    compilations: tuple[Counter[str], ...]
    fastest_ns: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """What the magics say of it; of every cell the timing, and of the step all records.

    Attributes:
        needed: what the step needs by ``compiled.memory_analysis()``; ``None`` where nobody can ask.
        loaded: all loaded programs with what each needs.
        held_bytes: what arrays took of each device behind `%%jaxmem`.
        recorded: what is in the recording of the profile.
    """

    program: Program
    by_hand: ByHand
    timings: tuple[Timing, ...]
    benchmark: Benchmark
    comparison: Comparison
    memory: MemoryProfile
    profile: Profile
    needed: by_hand.Memory | None
    loaded: set[tuple[str, by_hand.Memory]]
    held_bytes: dict[str, int]
    recorded: by_hand.Recorded
    reports: tuple[str, ...]


def run_by_hand(program: Program) -> ByHand:
    """Run all cells as a script does, with a listener of JAX's own."""
    for each in program.imports:  # some compile when they are imported, and that happens once in a process
        importlib.import_module(each)
    jax.clear_caches()
    variables: dict[str, Any] = {"__name__": "__main__"}
    counts = []
    for cell in (*program.prepare, program.step, program.step):
        with by_hand.compilations() as counter:
            exec(compile(cell, program.name, "exec"), variables)
            jax.block_until_ready(jax.live_arrays())
        counts.append(counter)
    code = compile(program.step, program.name, "exec")
    fastest_ns = None if counter else by_hand.fastest_ns(lambda: exec(code, variables))
    return ByHand(compilations=tuple(counts), fastest_ns=fastest_ns)


def measure(program: Program, folder: Path) -> Measured:
    """Run all cells under `%%jaxtime`, the step under every other magic, and the comparison."""
    truth = run_by_hand(program)
    samples, recorded = _ONCE if truth.compilations[-1] else (_BUDGET, "")
    jax.clear_caches()
    with open_shell() as session:
        session.run("%load_ext jaxmagic")
        found = session.shell.user_ns
        timings = []
        for cell in (*program.prepare, program.step, program.step):
            session.run(f"%%jaxtime -v found\n{cell}")
            timings.append(found["found"])
        session.run(_with_options(program.repeat, f"-v repeated {samples}"))
        session.run(f"%%jaxmem -v memory\n{program.step}")
        loaded, held_bytes = by_hand.loaded(), by_hand.held_bytes()
        session.run(f"%%jaxprof {recorded} -v profile --logdir {folder}\n{program.step}")
        session.run(program.requirement)
        session.run(program.candidates)
        session.run(_with_options(program.compare, f"-q -v compared {_BUDGET}"))
        compiled = found.get("compiled")
        made = Measured(
            program=program,
            by_hand=truth,
            timings=tuple(timings),
            benchmark=found["repeated"],
            comparison=found["compared"],
            memory=found["memory"],
            profile=found["profile"],
            needed=None if compiled is None else by_hand.memory(compiled.memory_analysis()),
            loaded=loaded,
            held_bytes=held_bytes,
            recorded=by_hand.recorded(folder),
            reports=tuple(str(each["text/plain"]) for each in session.published if "text/plain" in each),
        )
        found.clear()  # IPython keeps a shell for good
    return made


def _with_options(cell: str, options: str) -> str:
    """The same with more options for its magic."""
    first, _, rest = cell.partition("\n")
    return f"{first} {options}\n{rest}"
