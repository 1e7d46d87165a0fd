"""Finds long compilations, the lines behind them, and whether JAX's persistent cache would spare the next session."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from ...compilation.record.compilation import Compilation
from ...compilation.report import STAGES
from ...records.call_stack import Frame, is_users
from ...records.note import Note, note
from ..record.evidence import Evidence, Program
from ..record.finding import RuleFinding
from .rewriting.syntax import source_of_location
from .rule import Rule, source_at

#: JAX's persistent cache keeps programs whose compilation took at least this long, unless it is configured otherwise.
_LEAST_NS = 1_000_000_000

#: Without the cache, a program has to take at least this long to trace, lower and compile.
_LEAST_TOTAL_NS = 3_000_000_000

#: Lines are shown of programs with at least this many equations, and this many of them.
_LEAST_EQUATIONS = 100
_MOST_LINES = 3

#: A line is shown if it has at least this share of the equations.
_LEAST_SHARE = 0.1

#: Primitives that call Python. JAX writes no program with them to its persistent cache.
_CALLBACKS = ("pure_callback", "io_callback", "debug_callback", "debug_print")


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs of the first run that took long to compile."""
    long = [each for each in evidence.first.compilations if each.thread is None and _is_long(each)]
    if not long:
        return
    longest = max(long, key=lambda each: each.total_ns)
    stage = max(STAGES, key=lambda each: int(getattr(longest, each[1])))
    cacheable = [each for each in long if each.compilation_ns >= _LEAST_NS and not _calls_back(each, evidence)]
    could_help = evidence.cache_dir is None and bool(cacheable)
    spared_ns = sum(each.compilation_ns for each in cacheable)
    yield RuleFinding(
        rule=RULE.name,
        found=note(
            "doctor.compile_time",
            function=longest.function,
            programs=len(long),
            time_ns=longest.total_ns,
            stage=stage[0],
            stage_ns=int(getattr(longest, stage[1])),
        ),
        line=longest.location,
        source=source_of_location(longest.location, evidence),
        evidence=(*_lines(longest, evidence), *_about_cache(evidence, long)),
        cost_ns=float(sum(each.total_ns for each in long)),
        basis="measured",
        per="first run",
        remedy=note("doctor.compile_time_cache", spared_ns=spared_ns) if could_help else None,
        code='jax.config.update("jax_compilation_cache_dir", "jax_cache")' if could_help else None,
    )


def _is_long(compilation: Compilation) -> bool:
    return compilation.compilation_ns >= _LEAST_NS or compilation.total_ns >= _LEAST_TOTAL_NS


def _programs(compilation: Compilation, evidence: Evidence) -> list[Program]:
    """Return the programs of the function of a compilation."""
    return [
        each
        for each in evidence.programs or ()
        if not each.eager
        and (
            each.location == compilation.location
            if each.location and compilation.location
            else each.function == compilation.function
        )
    ]


def _lines(compilation: Compilation, evidence: Evidence) -> Iterator[Note]:
    """Describe the user's lines from which most equations of the program come."""
    for program in _programs(compilation, evidence)[:1]:
        total = sum(each.count for each in program.equations or ())
        counts: Counter[Frame] = Counter()
        for each in program.equations or ():
            if each.line is not None and is_users(each.line):
                counts[each.line] += each.count
        for line, count in counts.most_common(_MOST_LINES):
            if total >= _LEAST_EQUATIONS and count >= _LEAST_SHARE * total:
                yield note(
                    "doctor.compile_time_line",
                    line=line.location,
                    source=source_at(line) or "",
                    equations=count,
                    total=total,
                )


def _calls_back(compilation: Compilation, evidence: Evidence) -> bool:
    return any(
        equation.primitive in _CALLBACKS
        for program in _programs(compilation, evidence)
        for equation in program.equations or ()
    )


def _about_cache(evidence: Evidence, long: Sequence[Compilation]) -> Iterator[Note]:
    if evidence.cache_dir is None:
        yield note("doctor.cache_off")
    elif missed := [each for each in long if each.cache == "miss"]:
        yield note("doctor.cache_missed", programs=len(missed))
    else:
        yield note("doctor.cache_on")
    for each in long:
        if _calls_back(each, evidence):
            yield note("doctor.cache_callbacks", function=each.function)
        elif each.compiled and each.cache != "hit" and each.compilation_ns < _LEAST_NS:
            yield note("doctor.cache_too_short", function=each.function, compilation_ns=each.compilation_ns)


RULE = Rule(
    name="compile-time",
    looks_for="long compilations, and whether the persistent cache would spare them",
    decides="A program takes XLA at least 1 s in the first run, from when on JAX's persistent cache keeps it unless "
    f"configured otherwise; or it takes at least {_LEAST_TOTAL_NS // 10**9} s to trace, lower and compile. The cache "
    f"keeps no program that calls Python. Lines are those with at least {_LEAST_SHARE:.0%} of the equations.",
    source="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    look=look,
)
