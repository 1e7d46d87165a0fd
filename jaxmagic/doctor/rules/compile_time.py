"""Finds long compilations that JAX's persistent cache would spare the next session."""

from __future__ import annotations

from collections.abc import Iterator

from ...compilation.record.compilation import Compilation
from ...compilation.report import STAGES
from ...records.note import Note, note
from ..record.evidence import Evidence
from ..record.finding import RuleFinding
from .rule import Rule

#: JAX's persistent cache keeps programs whose compilation took at least this long, unless it is configured otherwise.
_LEAST_NS = 1_000_000_000


def look(evidence: Evidence) -> Iterator[RuleFinding]:
    """Find the programs of the first run that took long to compile."""
    long = [each for each in evidence.first.compilations if each.thread is None and each.total_ns >= _LEAST_NS]
    cost_ns = sum(each.total_ns for each in long)
    if not long:
        return
    longest = max(long, key=lambda each: each.total_ns)
    stage = max(STAGES, key=lambda each: int(getattr(longest, each[1])))
    missed = any(each.cache == "miss" for each in long)
    spared_ns = sum(each.compilation_ns for each in long)
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
        evidence=(_about_cache(evidence, missed, long),),
        cost_ns=float(cost_ns),
        basis="measured",
        per="first run",
        remedy=None if evidence.cache_dir else note("doctor.compile_time_cache", spared_ns=spared_ns),
        code=None if evidence.cache_dir else 'jax.config.update("jax_compilation_cache_dir", "jax_cache")',
    )


def _about_cache(evidence: Evidence, missed: bool, long: list[Compilation]) -> Note:
    if evidence.cache_dir is None:
        return note("doctor.cache_off")
    if missed:
        return note("doctor.cache_missed", programs=sum(each.cache == "miss" for each in long))
    return note("doctor.cache_on")


RULE = Rule(
    name="compile-time",
    looks_for="long compilations, and whether the persistent cache would spare them",
    decides="A program takes at least 1 s to trace, lower and compile in the first run, which is from when on JAX's "
    "persistent cache keeps it.",
    source="https://docs.jax.dev/en/latest/persistent_compilation_cache.html",
    look=look,
)
