"""Is it the line? What a profile tells of one slow line, beside what the program takes less without the line.

``python tests/benchmarks/lines.py 21 docs/tables/lines.md`` writes the table of the manual.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from time import perf_counter_ns
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))

import jax
from lines_table import HEAD, PROFILES, cells
from planted import Planted, programs

import jaxmagic
from jaxmagic.profiling.analysis.source_lines import line_times


def measure(program: Planted, rounds: int) -> dict[str, Any]:
    """The share of the slow line, told and found."""
    (slow, arguments), (fast, others) = program.build(True), program.build(False)
    told, nowhere, first = [], [], 0
    for _ in range(PROFILES):
        profile = jaxmagic.profile(slow, *arguments)
        lines = line_times(profile)
        at = {(each.frame.file, each.frame.line): each.time_ns for each in lines if each.frame}
        told.append(100 * at.get((program.file, program.line), 0) / profile.device_ns)
        nowhere.append(100 * sum(each.time_ns for each in lines if each.frame is None) / profile.device_ns)
        frame = lines[0].frame
        first += frame is not None and (frame.file, frame.line) == (program.file, program.line)
    found = []
    for turn in range(rounds):
        both = [(slow, arguments), (fast, others)]
        took = [_took_ns(*each) for each in (both if turn % 2 else both[::-1])]
        with_it, without = took if turn % 2 else took[::-1]
        found.append(100 * (1 - without / with_it))
    return {"name": program.name, "told": told, "found": found, "nowhere": max(nowhere), "first": first}


def _took_ns(function: Callable[..., Any], arguments: tuple[Any, ...]) -> int:
    jax.block_until_ready(function(*arguments))  # the caches are those of this function
    started = perf_counter_ns()
    jax.block_until_ready(function(*arguments))
    return perf_counter_ns() - started


def main() -> None:
    """Measure all programs whose libraries are installed; write a table, or print what a benchmark reads."""
    rounds = int(sys.argv[1])
    rows = [measure(each, rounds) for each in programs() if not each.missing]
    if len(sys.argv) > 2:
        table = [f"JAX {jax.__version__}, {PROFILES} profiles and {rounds} rounds for each program.\n"]
        table += [f"| {' | '.join(HEAD)} |", "| --- | --: | --: | --: | --: |"]
        table += [f"| {' | '.join(cells(each))} |" for each in rows]
        Path(sys.argv[2]).write_text("\n".join(table) + "\n", encoding="utf-8")
    print(json.dumps(rows))


if __name__ == "__main__":
    main()
