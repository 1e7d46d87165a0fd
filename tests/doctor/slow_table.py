"""Compares what a finding promises with what its remedy gains, for each slow program.

``python -m tests.doctor.slow_table docs/tables/slow.md`` writes the table of the manual.
"""

from __future__ import annotations

import hashlib
import inspect
import sys
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from statistics import median
from time import perf_counter_ns
from typing import Any, NamedTuple

import jax

import jaxmagic
from jaxmagic import units
from jaxmagic.comparison.capture.check_outputs import check_output
from jaxmagic.doctor.capture.remedies.measured_remedy import Run, measured
from jaxmagic.doctor.record.diagnosis import Diagnosis
from jaxmagic.doctor.record.finding import RuleFinding, Verified
from jaxmagic.doctor.verbs.diagnose import examination

from . import slow_cache, slow_more
from .slow import MENDED, PROGRAMS, Slow

#: Pairs of first runs.
_PAIRS = 6

__all__ = ["PROGRAMS", "Row", "measure", "missing", "slow_cache", "slow_more", "table"]


class Row(NamedTuple):
    """A slow program, its costliest finding of the expected rules, and the gain.

    Attributes:
        name: the program.
        found: the finding; ``None`` if there is none.
        diagnosis: all findings.
        way: how the remedy was applied: ``"applied"`` mechanically, ``"by hand"``, ``"in new processes"``, or ``""``
            if not at all.
        gained: the remedy, measured; ``None`` if it was not.
    """

    name: str
    found: RuleFinding | None
    diagnosis: Diagnosis
    way: str
    gained: Verified | None

    @property
    def promised(self) -> float | None:
        """The share of a run, or of a first run, that the finding costs; the share of the memory for bytes.

        It is what was known before the trial, which lowers a cost to what the remedy gained.

        Where the trial compared compile times, it is a share of the compile time.

        The persistent cache does not spare all of the time to compile: what the trial has shown of it counts, by the
        lower end of its interval.
        """
        found, gained = self.found, self.gained
        if found is None:
            return None
        if found.cost_bytes is not None:
            before = None if gained is None else gained.before_bytes
            return None if not before else found.cost_bytes / before
        if found.cost_ns is None:
            return None
        if self.compiles and gained is not None and gained.before_ns:
            return min(found.cost_ns / gained.before_ns, 1.0)
        run = self.diagnosis.first
        run_ns = self.diagnosis.wall_ns if found.per == "run" else None if run is None else run.wall_ns
        share = 1.0
        if self.way == "in new processes":
            if found.verified is None or found.verified.low is None:
                return None
            share -= 1 / found.verified.low
        return None if not run_ns else min(share * found.cost_ns / run_ns, 1.0)

    @property
    def compiles(self) -> bool:
        """Whether the trial compared compile times."""
        return self.gained is not None and any(each.kind == "doctor.tried_compile_time" for each in self.gained.notes)

    @property
    def share(self) -> tuple[float, float, float] | None:
        """The gained share, with its 95 % interval; ``None`` if it was not measured."""
        gained, found = self.gained, self.found
        if gained is None or found is None:
            return None
        if found.cost_bytes is not None:
            if not gained.before_bytes or gained.after_bytes is None:
                return None
            share = 1 - gained.after_bytes / gained.before_bytes
            return share, share, share
        if gained.speedup is None or gained.low is None or gained.high is None:
            return None
        return 1 - 1 / gained.speedup, 1 - 1 / gained.low, 1 - 1 / gained.high

    @property
    def kept(self) -> bool | None:
        """Whether the gain is at least the promise, within its interval; ``None`` if one of them is unknown."""
        if self.promised is None or self.share is None:
            return None
        return self.promised <= self.share[2] + 0.005


def missing(name: str) -> str:
    """Return which devices this program waits for; empty if it can be tried."""
    slow = PROGRAMS[name]
    return f"{slow.devices} devices" if len(jax.devices()) < slow.devices else ""


def measure(name: str) -> Row:
    """Diagnose a slow program, and measure the program with the remedy."""
    slow = PROGRAMS[name]
    before = jax.config.jax_enable_x64
    jax.config.update("jax_enable_x64", "double" in name)
    try:
        run, arguments = slow.make()
        if slow.statement:
            diagnosis = _of_statement(slow, run, arguments)
        else:
            diagnosis = jaxmagic.diagnose(run, *arguments, verify=True, budget_s=slow.budget_s, repeat=slow.repeat)
        expected = [each for each in diagnosis.findings if each.rule in slow.rules]
        found = _before_trial(expected[0]) if expected else None
        gained = None if found is None else found.verified
        if found is not None and found.remedy is not None and found.remedy.kind == "doctor.compile_time_cache":
            return Row(name, found, diagnosis, "in new processes", slow_cache.in_new_processes())
        if gained is not None and (gained.speedup is not None or gained.before_bytes is not None):
            if gained.outputs_agree is None and name in MENDED:  # the tool has only compiled the remedy
                gained = replace(gained, outputs_agree=_agree(name))
            return Row(name, found, diagnosis, "applied", gained)
        if name not in MENDED or found is None:
            return Row(name, found, diagnosis, "", gained)
        by_hand = _bytes_by_hand(name) if found.cost_bytes else _by_hand(name, first=found.per == "first run")
        return Row(name, found, diagnosis, "by hand", replace(by_hand, outputs_agree=_agree(name)))
    finally:
        jax.config.update("jax_enable_x64", before)


def _before_trial(finding: RuleFinding) -> RuleFinding:
    """Return a finding with the cost that it had before its trial, which lowers it to what the remedy gained."""
    notes = () if finding.verified is None else finding.verified.notes
    before = next((each.facts for each in notes if each.kind == "doctor.given_before"), {})
    if "size_bytes" in before:
        return replace(finding, cost_bytes=int(before["size_bytes"]))
    return replace(finding, cost_ns=float(before["time_ns"])) if before else finding


def _of_statement(slow: Slow, run: Any, arguments: tuple[Any, ...]) -> Diagnosis:
    """Examine a statement as the magic does."""
    statement = slow.statement
    names = dict(zip(inspect.signature(run).parameters, arguments, strict=True))
    variables = {run.__name__: run, **names}
    watch = examination(verify=True, budget_s=slow.budget_s)
    watch.see(statement, variables)
    watch.start()
    for _ in watch.runs():
        exec(statement, variables)
        watch.returned()
    watch.stop(code=statement)
    return watch.record


def _by_hand(name: str, *, first: bool) -> Verified:
    """Measure the program that was mended by hand beside the slow one, in turns."""
    slow, mended = PROGRAMS[name].make, MENDED[name]
    if first:
        return _first_runs(slow, mended)
    (before, given), (after, others) = slow(), mended()
    budget_ns = round(PROGRAMS[name].budget_s * 1e9)
    return measured(
        Run(lambda: before(*given)),
        Run(lambda: after(*others)),
        budget_ns=budget_ns // 4,
        deadline_ns=perf_counter_ns() + 2 * budget_ns,
        clock=perf_counter_ns,
    ).verified


def _bytes_by_hand(name: str) -> Verified:
    """Compare what a slow program and the one that was mended by hand need, as they are compiled."""
    needed = []
    for make in (PROGRAMS[name].make, MENDED[name]):
        run, arguments = make()
        sizes = run.lower(*arguments).compile().memory_analysis()
        held = sizes.argument_size_in_bytes + sizes.output_size_in_bytes - sizes.alias_size_in_bytes
        needed.append(held + sizes.temp_size_in_bytes)
    return Verified(before_bytes=needed[0], after_bytes=needed[1])


def _agree(name: str) -> bool:
    """Return whether a slow program and the one that was mended by hand compute the same, each made anew."""
    (before, given), (after, others) = PROGRAMS[name].make(), MENDED[name]()
    return check_output(after(*others), before(*given), "allclose").passed


def _first_runs(slow: Any, mended: Any) -> Verified:
    """Measure pairs of first runs, each of a program made anew, without what JAX keeps of earlier ones.

    The range of the ratios of six pairs covers their median with a confidence of 97 %.
    """
    times: list[tuple[int, int]] = []
    for _ in range(_PAIRS):
        pair = []
        for make in (slow, mended):
            run, arguments = make()
            jax.clear_caches()
            begin = perf_counter_ns()
            jax.block_until_ready(run(*arguments))
            pair.append(perf_counter_ns() - begin)
        times.append((pair[0], pair[1]))
    ratios = sorted(before / after for before, after in times)
    before_ns, after_ns = (median([each[side] for each in times]) for side in (0, 1))
    return Verified(
        before_ns=before_ns,
        after_ns=after_ns,
        speedup=median(ratios),
        low=ratios[0],
        high=ratios[-1],
    )


def table(lines: Mapping[str, str]) -> str:
    """Return the table of the manual, from its lines by program."""
    head = [
        "| program | rule | line | promised | gained | outputs | remedy |",
        "| --- | --- | --- | ---: | ---: | --- | --- |",
    ]
    made = f"<!-- made by tests/doctor/slow_table.py from {digest()} -->"
    version = f"JAX {jax.__version__}, {jax.default_backend().upper()}."
    return "\n".join([made, "", version, "", *head, *(lines[each] for each in PROGRAMS if each in lines)]) + "\n"


def lines_of(text: str) -> dict[str, str]:
    """Return the lines of a table by program."""
    lines = [each for each in text.splitlines() if each.startswith("| ")][2:]
    return {each.strip("| ").partition(" | ")[0].strip().replace(" ", "_"): each for each in lines}


def digest() -> str:
    """Return what stands for the programs and the code that measures them."""
    folder = Path(__file__).parent
    text = "".join(
        (folder / name).read_text() for name in ("slow.py", "slow_more.py", "slow_cache.py", "slow_table.py")
    )
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _line(row: Row) -> str:
    found = row.found
    name = row.name.replace("_", " ")
    if found is None:
        return f"| {name} | not found |  |  |  |  |  |"
    unit = " of memory" if found.cost_bytes is not None else " of the first run" if found.per == "first run" else ""
    unit = " of compiling" if row.compiles and found.cost_bytes is None else unit
    promised = "unknown" if row.promised is None else f"{row.promised:.0%}{unit}"
    if row.promised is None and found.cost_bytes is not None:
        promised = units.size(found.cost_bytes)
    gained = "not measured"
    if row.share is not None:
        value, low, high = row.share
        gained = f"{value:.0%}" if low == high else f"{value:.0%} ({low:.0%} to {high:.0%})"
    elif row.gained is not None and row.gained.speedup is not None and row.gained.low and row.gained.high:
        value, low, high = (1 - 1 / each for each in (row.gained.speedup, row.gained.low, row.gained.high))
        gained = f"{value:.0%} ({low:.0%} to {high:.0%}) of compiling"
    agree = None if row.gained is None else row.gained.outputs_agree
    outputs = {None: "not compared", True: "agree", False: "differ"}[agree]
    source = "unknown" if found.source is None else f"`{found.source}`".replace("|", "\\|")
    way = row.way or "not applied"
    return f"| {name} | {found.rule} | {source} | {promised} | {gained} | {outputs} | {way} |"


def main(path: str, *names: str) -> None:
    """Measure all programs, or some of them again, and write the table."""
    file = Path(path)
    lines = lines_of(file.read_text()) if names and file.exists() else {}
    for name in names or PROGRAMS:
        if missing(name):
            print(f"{name}: waits for {missing(name)}")
            continue
        row = measure(name)
        lines[name] = _line(row)
        findings = ", ".join(each.rule for each in row.diagnosis.findings)
        print(lines[name], "kept:", row.kept, findings, flush=True)
        if row.kept is not True:
            print(row.diagnosis)
        file.write_text(table(lines))


if __name__ == "__main__":
    main(*sys.argv[1:])
